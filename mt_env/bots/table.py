"""An episode played by bots: the plain way, one move after the other, with the log kept."""

from __future__ import annotations

from collections.abc import Sequence

from mt_env.bots.base import Bot, BotLike, ask_bot, start_bot
from mt_env.bots.registry import seat_bots
from mt_env.bots.rule_bots import CompiledBot
from mt_env.core.rollout import BOT_STREAM
from mt_env.game import Game, State
from mt_env.rng import Rng, mix


def bot_seed(episode_seed: int, seat: int) -> int:
    """Seed of the bot in ``seat``: its generator is ``Rng`` of it, and its ``reset`` gets it."""
    return mix(episode_seed, BOT_STREAM + seat)


def next_action(bot: Bot, state: State, rng: Rng) -> int:
    """What ``bot`` chooses for the seat to move of ``state``, checked; a forced move is made unasked.

    Args:
        bot: the bot in that seat; a rule bot gets no view, since it needs none.
        state: a game that is not over.
        rng: the seat's generator.

    Raises:
        BotError: the bot failed.
    """
    if type(bot) is CompiledBot:
        return bot.choose(state.record, state.game.rules_record, rng)
    legal = state.legal_actions()
    if len(legal) == 1:
        return legal[0]
    return ask_bot(bot, state.view(state.current_player()), rng)


def play_episode(game: Game, bots: BotLike | Sequence[BotLike], seed: int | None = None) -> State:
    """Play one episode.

    Args:
        game: the table.
        bots: one for all seats, or a list with one for each, seat 0 first; see `mt_env.bots.seat_bots`.
        seed: of the episode; None takes one from the operating system (``State.seed`` tells it).

    Returns:
        The state at the end.

    Raises:
        BotError: a bot failed.
        ValueError: a bad seed, or bots that are none.
    """
    state = game.new_initial_state(seed)
    seated = seat_bots(bots, game.num_players)
    seeds = [bot_seed(state.seed, seat) for seat in range(game.num_players)]
    rngs = [Rng(one) for one in seeds]
    for seat, bot in enumerate(seated):
        start_bot(bot, game, seat, seeds[seat])
    while not state.is_terminal():
        seat = state.current_player()
        state.apply_action(next_action(seated[seat], state, rngs[seat]))
    return state

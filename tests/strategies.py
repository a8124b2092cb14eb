"""Hypothesis strategies: rules, games, walks through games, and states on the way.

Everything is drawn from the options' own table, so a new option or value is drawn without a change here.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import strategies as st

from mt_env.game import Game, State
from mt_env.rewards import REWARDS
from mt_env.rules import OPTIONS, Rules, largest_hand
from mt_env.rules_options import MAX_SEATS, MIN_SEATS
from mt_env.tiles import MAX_SET, MIN_SET, is_double

MAX_ROUNDS = 4
"""Rounds of a drawn match: more show nothing new and take long."""

_DEAL = ("set", "hand_size", "rounds", "first_engine")


def _go_together(options: dict[str, Any]) -> bool:
    try:
        Rules(**options)
    except ValueError:
        return False
    return True


_OPTIONS = st.fixed_dictionaries(
    {name: st.sampled_from(option.values) for name, option in OPTIONS.items() if name not in _DEAL}
).filter(_go_together)


@st.composite
def rules_for(draw: st.DrawFn, num_players: int) -> Rules:
    """Rules that ``resolve(num_players)`` accepts: all options, the table's deal or any other."""
    rules = Rules(**draw(_OPTIONS))
    if num_players not in rules.seats() or draw(st.booleans()):
        fitting = [
            pips
            for pips in range(MIN_SET, MAX_SET + 1)
            if largest_hand(pips, num_players, rules.engine_from) >= 2
        ]
        max_pip = draw(st.sampled_from(fitting))
        most = largest_hand(max_pip, num_players, rules.engine_from)
        hand_size = draw(st.integers(2, min(most, 15)) | st.just(most))
        rules = rules.replace(set=max_pip, hand_size=hand_size)
    highest = rules.resolve(num_players).set
    first_engine = draw(st.none() | st.integers(0, highest))
    most_rounds = (highest if first_engine is None else first_engine) + 1
    rounds = draw(st.just("all") | st.integers(1, most_rounds))
    return rules.replace(first_engine=first_engine, rounds=rounds)


@st.composite
def games(draw: st.DrawFn, episode: str | None = None) -> Game:
    """Tables of any size; a match has at most `MAX_ROUNDS` rounds.

    Args:
        draw: given by Hypothesis.
        episode: ``"round"`` or ``"match"``; None draws it.
    """
    num_players = draw(st.integers(MIN_SEATS, MAX_SEATS))
    rules = draw(rules_for(num_players))
    kind: Any = episode or draw(st.sampled_from(("round", "match")))
    resolved = rules.resolve(num_players)
    engine: Any = "random"
    if kind == "match":
        rules = rules.replace(rounds=min(resolved.rounds, MAX_ROUNDS))
    elif draw(st.booleans()):
        engine = draw(st.sampled_from(resolved.engines))
    return Game(
        rules,
        num_players,
        episode=kind,
        engine=engine,
        reward=draw(st.sampled_from(REWARDS)),
        reward_scale=draw(st.sampled_from((1.0, 0.25, 3.0))),
    )


Weigh = Callable[[State, int], float]
"""How much a style of play likes an action."""


def _even(state: State, action: int) -> float:
    return 1.0


def _doubles_first(state: State, action: int) -> float:
    if action >= state.game.draw_action:
        return 0.1
    return 30.0 if is_double(action % state.game.num_tiles) else 1.0


def _doubles_last(state: State, action: int) -> float:
    return 0.02 if action < state.game.draw_action and is_double(action % state.game.num_tiles) else 1.0


def _stops(state: State, action: int) -> float:
    return 20.0 if action == state.game.pass_action else 1.0


def _never_stops(state: State, action: int) -> float:
    return 0.02 if action == state.game.pass_action else 1.0


def _elsewhere(state: State, action: int) -> float:
    return 0.05 if action < state.game.num_tiles else 1.0


STYLES: tuple[Weigh, ...] = (_even, _doubles_first, _doubles_last, _stops, _never_stops, _elsewhere)
"""Even play seldom meets some corners of the rules; each style leans towards some."""


class Walk(NamedTuple):
    """One way through a game; the same walk always goes the same way."""

    game: Game
    seed: int
    choices: int
    style: int

    def start(self) -> State:
        """The deal."""
        return self.game.new_initial_state(self.seed)

    def chooser(self, salt: int = 0) -> Callable[[State], int]:
        """What the walk does next; another ``salt`` goes another way."""
        rng, weigh = random.Random(f"{self.choices}/{salt}"), STYLES[self.style]

        def choose(state: State) -> int:
            legal = state.legal_actions()
            return rng.choices(legal, [weigh(state, action) for action in legal])[0]

        return choose

    def moves(self, state: State) -> Iterator[int]:
        """Play ``state`` to the end; yields each action just before it is applied."""
        choose = self.chooser()
        while not state.is_terminal():
            action = choose(state)
            yield action
            state.apply_action(action)


SEEDS = st.integers(0, (1 << 64) - 1)


def walks(episode: str | None = None) -> st.SearchStrategy[Walk]:
    """Walks from the deal to the end."""
    return st.builds(Walk, games(episode), SEEDS, st.integers(0, 1 << 32), st.integers(0, len(STYLES) - 1))


class Stop(NamedTuple):
    """A state on the way, with its walk."""

    walk: Walk
    state: State


@st.composite
def stops(draw: st.DrawFn, episode: str | None = None, *, over: bool = True) -> Stop:
    """States anywhere in a game: the deal, the middle, and (``over``) the end."""
    walk = draw(walks(episode))
    state = walk.start()
    plies = draw(st.integers(0, 120) | st.just(1 << 20 if over else 200))
    choose = walk.chooser()
    while plies and not state.is_terminal():
        after = state.child(choose(state)) if not over else state
        if over:
            state.apply_action(choose(state))
        elif after.is_terminal():
            break
        else:
            state = after
        plies -= 1
    return Stop(walk, state)

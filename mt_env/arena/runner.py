"""Tournaments on equal deals: every deal is played with every bot once in every seat."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from mt_env.arena.match import Clock, CompiledTable, Games, PlainTable, episode_seeds
from mt_env.arena.result import TournamentResult
from mt_env.arena.seating import rotations, unique_labels
from mt_env.arena.stats import RESAMPLES
from mt_env.bots import BotLike, CompiledBot, bot_name, seat_bots
from mt_env.game import Game
from mt_env.rng import check_seed, fresh_seed
from mt_env.rules import Rules
from mt_env.rules_options import MAX_SEATS, MIN_SEATS, as_int

DEALS_AT_ONCE: Final[int] = 64
"""Deals that one call into the core plays: few enough for a living progress bar and Ctrl-C."""


def tournament(
    bots: Sequence[BotLike],
    deals: int = 500,
    seed: int | None = None,
    *,
    rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
    episode: Literal["round", "match"] = "round",
    engine: int | Literal["random"] = "random",
    resamples: int = RESAMPLES,
    progress: bool = False,
) -> TournamentResult:
    """Let bots play each other on equal deals. A bot that fails leaves its deal void, the rest goes on.

    Every deal is played as often as there are seats, all bots one seat on each time. The deal, its engine
    and the generator of the bot in a seat depend on ``seed`` and the deal's number only. If every bot is a
    compiled one, the games are played in the core; the results are the same as with the plain loop.

    Args:
        bots: 2..14, one for each seat: specs for `mt_env.bots.make_bot` (``"planner"``, ``"policy:PATH"``,
            ``"package.module:Bot"``), objects or classes with ``act(view, rng)``, or functions
            ``(view, rng) -> id``. The same name may be given several times: copies.
        deals: how many, at least 1.
        seed: 0..2**64 - 1; None takes one from the operating system.
        rules: as everywhere, see `mt_env.rules.load_rules`.
        episode: ``"round"`` or ``"match"``.
        engine: ``"random"`` or the engine of every single round.
        resamples: bootstrap resamples of the intervals.
        progress: show a progress bar on stderr.

    Raises:
        ValueError: an argument is out of range, or a bot cannot be made.
    """
    if isinstance(bots, str):
        raise ValueError(f"bots={bots!r}: must be a list, as in ['planner', 'random']")
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise ValueError(f"bots: {len(bots)} given, must be {MIN_SEATS} to {MAX_SEATS}, one for each seat")
    for name, value in (("deals", deals), ("resamples", resamples)):
        if (as_int(value) or 0) < 1:
            raise ValueError(f"{name}={value!r}: must be a whole number of at least 1")
    seed = fresh_seed() if seed is None else check_seed(seed)
    game = Game(rules, len(bots), episode=episode, engine=engine)
    players = seat_bots(list(bots), len(bots))
    names = tuple(
        bot if isinstance(bot, str) else bot_name(player) for bot, player in zip(bots, players, strict=True)
    )
    labels, n = unique_labels(names), len(bots)
    seating = rotations(n)
    clock = Clock([0.0] * n, [0] * n)
    games = Games.empty(deals, n)
    table: CompiledTable | PlainTable
    kinds = [bot.kind for bot in players if isinstance(bot, CompiledBot)]
    if len(kinds) == n:
        table, step = CompiledTable(game, kinds, seating), DEALS_AT_ONCE
    else:
        table, step = PlainTable(game, players, labels, seating), 1
    seeds = episode_seeds(seed, deals)
    _warm_up(game, kinds, seating)
    begun = perf_counter()
    with tqdm(total=deals, unit="deal", disable=not progress, leave=False) as bar:
        for first in range(0, deals, step):
            chunk = seeds[first : first + step]
            table.play(chunk, games, first, clock)
            bar.update(len(chunk))
    clock.total = perf_counter() - begun
    where = np.argsort(seating, axis=1)[None]  # [deal, seating, bot]: the seat
    return TournamentResult(
        bots=labels,
        names=names,
        game=game,
        seed=seed,
        deals=deals,
        deal_numbers=np.flatnonzero(games.valid).astype(np.int64),
        game_points=np.take_along_axis(games.points[games.valid], where, axis=2),
        game_ranks=np.take_along_axis(games.ranks[games.valid], where, axis=2),
        game_shares=np.take_along_axis(games.shares[games.valid], where, axis=2),
        ends=games.ends[games.valid],
        failures=tuple(games.failures),
        resamples=resamples,
        clock=clock,
    )


def _warm_up(game: Game, kinds: list[int], seating: NDArray[np.int64]) -> None:
    """Have the kernels compiled or loaded before the clock runs; no bot of the tournament is asked."""
    n = game.num_players
    table: CompiledTable | PlainTable
    if len(kinds) == n:
        table = CompiledTable(game, kinds, seating)
    else:
        table = PlainTable(game, [CompiledBot("random") for _ in range(n)], ["random"] * n, seating[:1])
    table.play(episode_seeds(0, 1), Games.empty(1, n), 0, Clock([0.0] * n, [0] * n))

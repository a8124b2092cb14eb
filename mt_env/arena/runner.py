"""Tournaments on equal deals: every deal is played with every bot equally often in every seat."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from tqdm import tqdm

from mt_env.arena.identity import budget_of, identify, weights_of
from mt_env.arena.match import Clock, Games, Table, episode_seeds, make_table, warm_up
from mt_env.arena.precision import looks
from mt_env.arena.result import TournamentResult
from mt_env.arena.seating import Seatings, check_seatings, unique_labels
from mt_env.arena.stats import RESAMPLES
from mt_env.arena.stream import Stored, Stream, game_fields
from mt_env.arena.timing import sample_decisions
from mt_env.arena.workers import MAX_WORKERS, Job, Workers
from mt_env.bots import Bot, BotLike, bot_name, compiled_kind, seat_bots
from mt_env.game import Game
from mt_env.rng import check_seed, fresh_seed
from mt_env.rules import Rules
from mt_env.rules_options import MAX_SEATS, MIN_SEATS, as_int


def tournament(
    bots: Sequence[BotLike],
    deals: int = 500,
    seed: int | None = None,
    *,
    rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
    episode: Literal["round", "match"] = "round",
    engine: int | Literal["random"] = "random",
    seatings: Seatings = "rotations",
    until: float | None = None,
    time_limit: float | None = None,
    max_failures: int | None = None,
    workers: int = 1,
    stream: str | os.PathLike[str] | None = None,
    resume: bool = False,
    resamples: int = RESAMPLES,
    time_decisions: bool = False,
    progress: bool = False,
) -> TournamentResult:
    """Let bots play each other on equal deals. A bot that fails leaves its deal void, the rest goes on.

    Every deal is played in several orders of the bots, each bot equally often in each seat. The deal, its
    engine and the generator of the bot in a seat depend on ``seed`` and the deal's number only. If every bot
    is a compiled one, the games are played in the core; the results are the same as with the plain loop, and
    the same with any number of workers.

    Args:
        bots: 2..14, one for each seat: specs for `mt_env.bots.make_bot` (``"planner"``, ``"policy:PATH"``,
            ``"package.module:Bot"``), objects or classes with ``act(view, rng)``, or functions
            ``(view, rng) -> id``. The same name may be given several times: copies.
        deals: how many, at least 1; with ``until`` at most so many.
        seed: 0..2**64 - 1; None takes one from the operating system, or that of the file with ``resume``.
        rules: as everywhere, see `mt_env.rules.load_rules`.
        episode: ``"round"`` or ``"match"``.
        engine: ``"random"`` or the engine of every single round.
        seatings: ``"rotations"``, ``"balanced"``, ``"all"`` or a multiple of the number of bots, see
            `mt_env.arena.seating.seating_table`.
        until: stop as soon as the 95% interval of every bot's win share has at most this half width, as 0.01
            for one point of 100. Looked at after the deals that `mt_env.arena.precision.looks` names.
        time_limit: seconds that a bot's ``act`` or ``reset`` may take; longer is a failure. Bots are not
            interrupted, so one that never answers holds up the tournament; compiled ones are not measured.
        max_failures: stop after so many void deals; None plays on.
        workers: processes that play, 1 to 60; 1 plays in this one. Objects among ``bots`` are sent by
            pickle, names and classes are made into bots again in each process.
        stream: a file that gets each deal as it is finished, see `mt_env.arena.stream`. One that exists is
            refused unless ``resume``.
        resume: go on with the tournament in the file ``stream`` if there is one.
        resamples: bootstrap resamples of the intervals.
        time_decisions: where all bots are compiled, time their decisions in a pass of its own.
        progress: show a progress bar on stderr.

    Raises:
        ValueError: an argument is out of range, a bot cannot be made, or ``stream`` holds something else.
        OSError: ``stream`` cannot be written.
        mt_env.arena.WorkerError: a worker process died. What was finished by then is in ``stream``.
    """
    if isinstance(bots, str):
        raise ValueError(f"bots={bots!r}: must be a list, as in ['planner', 'random']")
    if not MIN_SEATS <= len(bots) <= MAX_SEATS:
        raise ValueError(f"bots: {len(bots)} given, must be {MIN_SEATS} to {MAX_SEATS}, one for each seat")
    _check_numbers(deals=deals, resamples=resamples, workers=workers)
    if workers > MAX_WORKERS:
        raise ValueError(f"workers={workers}: must be from 1 to {MAX_WORKERS}")
    if max_failures is not None:
        _check_numbers(max_failures=max_failures)
    until = _above_0("until", until, "half a width of an interval, as 0.01, below 1", 1.0)
    time_limit = _above_0("time_limit", time_limit, "seconds", math.inf)
    if resume and stream is None:
        raise ValueError("resume=True without stream: name the file to go on with")
    seatings = check_seatings(len(bots), seatings)
    if seed is None and resume and stream is not None and _has_content(stream):
        seed = Stored(stream).header["seed"]
    seed = fresh_seed() if seed is None else check_seed(seed)
    game = Game(rules, len(bots), episode=episode, engine=engine)
    players = seat_bots(list(bots), len(bots))
    names = tuple(
        bot if isinstance(bot, str) else bot_name(player) for bot, player in zip(bots, players, strict=True)
    )
    blank = TournamentResult(
        bots=unique_labels(names),
        names=names,
        game=game,
        seed=seed,
        max_deals=int(deals),
        seatings=seatings,
        until=until,
        time_limit=time_limit,
        max_failures=max_failures,
        budgets=tuple(budget_of(name, player) for name, player in zip(names, players, strict=True)),
        weights=tuple(weights_of(player) for player in players),
        sources=tuple(_source_of(player) for player in players),
        resamples=int(resamples),
        end="unfinished",
        **game_fields(Games.empty(0, 0, 1, len(bots))),
    )
    job = Job(game.rules.rules, episode, engine, tuple(bots), blank.bots, seatings, seed, time_limit)
    table = make_table(game, players, blank.bots, blank.seating, time_limit)
    with ExitStack() as stack:
        run = _Run(blank, table, Clock.zero(len(bots)))
        if stream is not None:
            run.stream = stack.enter_context(closing(Stream(stream, blank, resume)))
            run.take_stored()
        warm_up(game, players, blank.seating)  # before any worker does: kernels are compiled once
        if workers > 1 and run.unfinished():
            run.workers = stack.enter_context(Workers(job, workers))
        bar = stack.enter_context(
            tqdm(total=deals, initial=run.deals, unit="deal", disable=not progress, leave=False)
        )
        result = run.play(bar)
    kinds = [kind for player in players if (kind := compiled_kind(player)) is not None]
    if time_decisions and len(kinds) == len(bots):
        sample_decisions(game, kinds, seed, result.clock)
    return result


def _check_numbers(**values: object) -> None:
    for name, value in values.items():
        if (as_int(value) or 0) < 1:
            raise ValueError(f"{name}={value!r}: must be a whole number of at least 1")


def _above_0(name: str, value: object, what: str, below: float) -> float | None:
    if value is None:
        return None
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not good or not 0 < float(value) < below:  # type: ignore[arg-type]
        raise ValueError(f"{name}={value!r}: must be a number above 0, {what}")
    return float(value)  # type: ignore[arg-type]


def _has_content(path: str | os.PathLike[str]) -> bool:
    return Path(path).is_file() and Path(path).stat().st_size > 0


def _source_of(bot: Bot) -> tuple[str, str] | None:
    """Name and SHA-256 of the file that a bot comes from, if it is known and not part of mt_env."""
    told = identify(bot)
    if told.source is None or told.source_sha256 is None:
        return None
    return told.source, told.source_sha256


class _Run:
    """A tournament under way.

    Args:
        blank: the result without games.
        table: plays where there are no workers.
        clock: gets the times.
    """

    def __init__(self, blank: TournamentResult, table: Table, clock: Clock) -> None:
        self.blank = blank
        self.table = table
        self.clock = clock
        self.workers: Workers | None = None
        self.stream: Stream | None = None
        self.deals = 0
        self._parts = [Games.empty(0, 0, blank.num_seatings, blank.num_players)]
        self._failures = 0
        self._ended = False  # whether the file has its last line

    def take_stored(self) -> None:
        """Take over the deals that the file holds."""
        if self.stream is not None and self.stream.games is not None:
            self._ended = self.stream.end != "unfinished"
            self._keep(self.stream.games)

    def _keep(self, games: Games) -> None:
        self._parts.append(games)
        self.deals += len(games)
        self._failures += len(games.failures)

    def unfinished(self) -> bool:
        """Whether deals may have to be played."""
        return not self._ended and self.deals < self.blank.max_deals and not self._failed()

    def _failed(self) -> bool:
        return self.blank.max_failures is not None and self._failures >= self.blank.max_failures

    def _result(self, end: str) -> TournamentResult:
        self._parts = [Games.joined(self._parts)]
        return replace(self.blank, **game_fields(self._parts[0]), end=end, clock=self.clock)

    def play(self, bar: tqdm[Any]) -> TournamentResult:
        """Play what is left."""
        until, deals = self.blank.until, self.blank.max_deals
        begun = perf_counter()
        result = None
        for stop in [deals] if until is None else looks(deals):
            if self.deals < stop and not self._failed():
                with closing(self._games(stop)) as found:
                    for games in found:
                        bar.update(self._accept(games))
                        if self._failed():
                            break
            if self._failed():
                result = self._result("failures")
                break
            # With fewer deals than the file holds: that look was passed when they were played.
            if until is not None and self.deals == stop:
                result = self._result("until")
                if result.within(until):
                    break
                if result.valid_deals > 1:
                    bar.set_postfix_str(f"about {result.deals_for(until)} needed")
                result = None
        self.clock.total = perf_counter() - begun
        if result is None:
            result = self._result("deals")
        if self.stream is not None and not self._ended:
            self.stream.finish(result)
        return result

    def _games(self, stop: int) -> Generator[Games, None, None]:
        """The deals up to ``stop`` that are left, chunk by chunk in order."""
        step = self.table.deals_at_once
        chunks = [range(first, min(first + step, stop)) for first in range(self.deals, stop, step)]
        if self.workers is not None:
            yield from self.workers.play(chunks, self.clock)
            return
        for chunk in chunks:
            seeds = episode_seeds(self.blank.seed, len(chunk), chunk.start)
            yield self.table.play(seeds, chunk.start, self.clock)

    def _accept(self, games: Games) -> int:
        """Keep new games, up to the failure that ends the tournament; returns how many."""
        most = self.blank.max_failures
        if most is not None and self._failures + len(games.failures) >= most:
            last = games.failures[most - self._failures - 1].deal
            games = games.head(last + 1 - games.first)
        self._keep(games)
        if self.stream is not None:
            self.stream.append(games)
        return len(games)

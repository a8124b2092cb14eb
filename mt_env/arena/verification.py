"""Checks of an evaluation's file: is it consistent, and does the bot play these games again?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from tqdm import tqdm

from mt_env import __version__
from mt_env.arena.evaluation import Evaluation, InconsistentError
from mt_env.arena.identity import BotIdentity, identify
from mt_env.arena.match import Clock, Games, episode_seeds
from mt_env.arena.protocols import Protocol, ProtocolTable
from mt_env.arena.seating import unique_labels
from mt_env.arena.workers import MAX_WORKERS, Job, Workers
from mt_env.bots import BotLike
from mt_env.rng import Rng, check_seed, fresh_seed, mix
from mt_env.rules import load_rules
from mt_env.rules_options import as_int


@dataclass(frozen=True)
class Replay:
    """What playing a table again showed."""

    table: str
    deals: int
    """Deals that were played again; fewer than planned where one differed."""
    difference: str | None
    """The first deal that differs, in words; None if all were equal."""


@dataclass(frozen=True)
class Verification:
    """What is known of an evaluation's file after checking it."""

    evaluation: Evaluation | None
    """What the file holds; None if it contradicts itself."""
    problem: str | None
    """Why it could not be verified: inconsistent, or a bot that cannot play again here. None if neither."""
    replays: tuple[Replay, ...] = ()
    """Of each table, if its games were played again."""
    bot: BotIdentity | None = None
    """Who played them again."""
    sample: int | None = None
    """Deals of each table that were drawn; None for all."""
    seed: int | None = None
    """By which they were drawn."""

    @property
    def ok(self) -> bool:
        """Whether the file is consistent and every game that was played again is the same."""
        return self.problem is None and all(replay.difference is None for replay in self.replays)

    @property
    def only_consistent(self) -> bool:
        """Whether the file is consistent, but nobody could play its games again."""
        return self.evaluation is not None and self.problem is not None

    def table(self) -> str:
        """The findings as text, without a newline at the end."""
        if self.evaluation is None:
            return f"NOT verified: {self.problem}"
        lines = [
            f"{self.evaluation.name}, bot {self.evaluation.bot.name}: digests and estimates are consistent"
        ]
        if self.evaluation.version != __version__:
            lines.append(
                f"note: played by mt_env {self.evaluation.version}, this is {__version__}; another version "
                "can give other games"
            )
        if self.replays and self.bot is not None:
            drawn = (
                "all deals" if self.sample is None else f"{self.sample} deals a table, drawn by {self.seed}"
            )
            lines.append(f"played again by {self.bot.name}: {drawn}")
            if self.bot.to_dict() != self.evaluation.bot.to_dict():
                lines.append("note: by its names and digests that is another bot than the file's")
        width = max((len(replay.table) for replay in self.replays), default=0)
        for replay in self.replays:
            equal = f"equal ({replay.deals} deals)"
            lines.append(f"{replay.table.ljust(width)}  {replay.difference or equal}")
        if self.problem is not None:
            lines.append(f"NOT verified, only consistent: {self.problem}")
        else:
            lines.append("verified" if self.ok else "NOT verified: games differ")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()


def verify(
    path: str | os.PathLike[str],
    bot: BotLike | None = None,
    *,
    sample: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    progress: bool = False,
    protocol: Protocol | None = None,
) -> Verification:
    """Check an evaluation's file: first against itself and its protocol, then by playing its games again.

    Args:
        path: of the file.
        bot: who plays again; None for the bot that the file names.
        sample: deals of each table to play, drawn at random; None for all of them.
        seed: by which they are drawn; None takes one from the operating system.
        workers: processes that play.
        progress: show a bar on stderr.
        protocol: by which the file was made, if this package does not know it by name.

    Raises:
        ValueError: it is no file of an evaluation, an argument is wrong, or ``bot`` cannot be made. That the
            bot named by the file cannot be made is part of the result.
        OSError: it cannot be read.
        mt_env.arena.WorkerError: a worker process died.
    """
    for name, value in (("sample", sample), ("workers", workers)):
        if value is not None and (as_int(value) or 0) < 1:
            raise ValueError(f"{name}={value!r}: must be a whole number of at least 1")
    if workers > MAX_WORKERS:
        raise ValueError(f"workers={workers}: must be from 1 to {MAX_WORKERS}")
    seed = fresh_seed() if seed is None else check_seed(seed)
    try:
        evaluation = Evaluation.load(path, protocol)
    except InconsistentError as error:
        return Verification(None, str(error))
    source = evaluation.bot.spec if bot is None else bot
    if evaluation.bot.budget_ms is not None:
        return Verification(evaluation, "its bot plays by the clock, so its games cannot be played again")
    if source is None:
        problem = "it names no bot that can be made from text; give it by bot= (--bot)"
        return Verification(evaluation, problem)
    try:
        identity = identify(source)
    except ValueError as error:
        if bot is not None:
            raise
        return Verification(evaluation, f"its bot cannot be made here, nothing was played again: {error}")
    if identity.budget_ms is not None:
        return Verification(evaluation, f"{identity.name} plays by the clock, so it cannot play games again")
    replays = []
    for number, (table, games) in enumerate(zip(evaluation.tables, evaluation.games, strict=True)):
        deals = _drawn(table.deals, sample, mix(seed, number))
        replays.append(_replay(table, games, source, identity.name, deals, workers, progress))
    return Verification(evaluation, None, tuple(replays), identity, sample, None if sample is None else seed)


def _drawn(deals: int, sample: int | None, seed: int) -> list[int]:
    """The numbers of the deals to play, ascending."""
    if sample is None or sample >= deals:
        return list(range(deals))
    rng, numbers = Rng(seed), list(range(deals))
    for i in range(sample):
        j = i + rng.below(deals - i)
        numbers[i], numbers[j] = numbers[j], numbers[i]
    return sorted(numbers[:sample])


def _chunks(deals: Sequence[int], most: int) -> list[range]:
    """Runs of consecutive numbers, each of at most ``most``."""
    chunks: list[range] = []
    for deal in deals:
        if chunks and chunks[-1].stop == deal and len(chunks[-1]) < most:
            chunks[-1] = range(chunks[-1].start, deal + 1)
        else:
            chunks.append(range(deal, deal + 1))
    return chunks


def _replay(
    table: ProtocolTable,
    stored: Games,
    bot: BotLike,
    name: str,
    deals: Sequence[int],
    workers: int,
    progress: bool,
) -> Replay:
    """Play deals again, up to the first that differs."""
    names = (name, *table.opponents)
    job = Job(
        *(load_rules(table.rules), table.episode, table.engine, (bot, *table.opponents)),
        *(unique_labels(names), table.seatings, table.seed, None),
    )
    played = 0
    with ExitStack() as stack:
        bar = stack.enter_context(
            tqdm(total=len(deals), desc=table.name, unit="deal", disable=not progress, leave=False)
        )
        for games in _play(job, deals, workers, stack):
            for row in range(len(games)):
                difference = _difference(stored, games, row)
                played += 1
                if difference is not None:
                    return Replay(table.name, played, difference)
            bar.update(len(games))
    return Replay(table.name, played, None)


def _play(job: Job, deals: Sequence[int], workers: int, stack: ExitStack) -> Iterator[Games]:
    here = job.table()
    chunks, clock = _chunks(deals, here.deals_at_once), Clock.zero(len(job.bots))
    if workers > 1:
        yield from stack.enter_context(Workers(job, workers)).play(chunks, clock)
        return
    for chunk in chunks:
        yield here.play(episode_seeds(job.seed, len(chunk), chunk.start), chunk.start, clock)


def _difference(stored: Games, games: Games, row: int) -> str | None:
    """How deal ``row`` of ``games`` differs from the one in the file, in words."""
    deal = games.first + row
    failed, again = _failure(stored, deal), _failure(games, deal)
    if failed != again:
        return f"deal {deal} differs first: {_told(failed)} in the file, {_told(again)} when played again"
    if failed is not None:
        return None
    for seating in range(games.points.shape[1]):
        for what in ("points", "ranks", "ends"):
            there = getattr(stored, what)[deal, seating].tolist()
            now = getattr(games, what)[row, seating].tolist()
            if there != now:
                return (
                    f"deal {deal} differs first: seating {seating}, {what} {there} in the file, "
                    f"{now} when played again"
                )
    return None


def _failure(games: Games, deal: int) -> tuple[int, int] | None:
    """Seating and seat in which the bot failed; its words may differ from one Python to another."""
    return next(((f.seating, f.seat) for f in games.failures if f.deal == deal), None)


def _told(failure: tuple[int, int] | None) -> str:
    return "played" if failure is None else f"void in seating {failure[0]}, seat {failure[1]}"

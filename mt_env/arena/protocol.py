"""Evaluations that can be cited: a bot plays a named, frozen protocol, and anybody can check the result.

from mt_env.arena.protocol import evaluate, verify

result = evaluate("mybots:Careful", "mt-eval-v1", out="careful.json")
print(result.table())
assert verify("careful.json", sample=20).ok
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mt_env.arena.evaluation import Evaluation, InconsistentError
from mt_env.arena.identity import BotIdentity, identify
from mt_env.arena.match import Games
from mt_env.arena.protocols import DEFAULT, PROTOCOLS, Protocol, ProtocolTable, find_protocol
from mt_env.arena.result import TournamentResult
from mt_env.arena.runner import tournament
from mt_env.arena.timing import timings
from mt_env.arena.verification import Verification, verify
from mt_env.bots import BotLike
from mt_env.game import Game
from mt_env.rules_yaml import write_text

__all__ = [
    "DEFAULT",
    "PROTOCOLS",
    "Evaluation",
    "InconsistentError",
    "Protocol",
    "ProtocolTable",
    "Verification",
    "evaluate",
    "find_protocol",
    "verify",
    "write_timings",
]

PARTS: Final = ".parts"
"""Ending of the folder beside a result's file that holds the tables while they are played."""

HEAD: Final = "evaluation.json"
"""The file in that folder that says whose it is."""

CHANGED: Final = ".changed"
"""Ending given to the games of a table after which the bot was found to be another one; never read again."""


def evaluate(
    bot: BotLike,
    protocol: str | Protocol = DEFAULT,
    *,
    subset: str | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    workers: int = 1,
    time_decisions: bool = False,
    progress: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Evaluation:
    """Let a bot play a protocol. A deal in which it fails counts as lost, all its games.

    Args:
        bot: a spec for `mt_env.bots.make_bot`, an object or class with ``act(view, rng)``, or a function
            ``(view, rng) -> id``.
        protocol: the name of one, or one of your own.
        subset: None for all of it, ``"slow"`` for the first deals of every table, or the name of a table.
        out: file for the result, written at the end. While the tables are played, their games grow in the
            folder of that name and ``.parts``, which is removed when the file is there.
        resume: go on with what that folder holds, if there is one; a file that is finished is read instead.
            Without it a file or folder that exists is refused.
        workers: processes that play, see `mt_env.arena.tournament`.
        time_decisions: time compiled bots too, in a pass of its own.
        progress: show a bar for each table on stderr.
        tell: called with a line after each table: what is done, and about how long the rest will take.

    Raises:
        ValueError: an argument is wrong, the bot cannot be made, ``out`` exists, or was begun with another
            bot or protocol; or the bot's weights or file changed while it played. What was finished before
            that stays in the folder.
        OSError: a file cannot be written.
        mt_env.arena.WorkerError: a worker process died.
    """
    protocol = find_protocol(protocol)
    tables = protocol.tables_of(subset)
    identity = identify(bot)
    if resume and out is None:
        raise ValueError("resume=True without out: name the file to go on with")
    folder = None
    if out is not None:
        if Path(out).exists():
            if not resume:
                raise ValueError(f"{out}: exists; name another file, or remove it first")
            return _finished(out, protocol, subset, identity)
        folder = _begun(Path(f"{os.fspath(out)}{PARTS}"), protocol, subset, identity, resume)
    games, times, clock = [], [], _TimeLeft(tables)
    with _removed_if_empty(folder):
        for number, table in enumerate(tables, 1):
            stream = None if folder is None else folder / f"{table.name}.jsonl"
            _check_unchanged(bot, identity)
            result = tournament(
                [bot, *table.opponents],
                table.deals,
                table.seed,
                rules=table.rules,
                episode=table.episode,
                engine=table.engine,
                seatings=table.seatings,
                workers=workers,
                stream=stream,
                resume=folder is not None,
                resamples=protocol.resamples,
                time_decisions=time_decisions,
                progress=progress,
            )
            try:
                _check_unchanged(bot, identity, result)
            except ValueError:
                if stream is not None:  # nobody knows which of both played these games
                    os.replace(stream, f"{stream}{CHANGED}")
                raise
            games.append(_games(result))
            times.append({"table": table.name, **timings(result)})
            clock.add(table, result)
            if tell is not None:
                tell(f"{number} of {len(tables)} tables: {table.name}, {table.deals} deals{clock}")
    evaluation = Evaluation(protocol, subset, identity, tuple(games), timings=tuple(times))
    if out is not None and folder is not None:
        evaluation.to_json(out)
        shutil.rmtree(folder)
    return evaluation


def write_timings(evaluation: Evaluation, path: str | os.PathLike[str]) -> None:
    """Write where the time went as JSON: for each table as `mt_env.arena.timing.write_timings` does."""
    write_text(path, json.dumps({"name": evaluation.name, "tables": evaluation.timings}, indent=2) + "\n")


def _games(result: TournamentResult) -> Games:
    games = Games.empty(0, result.deals, result.num_seatings, result.num_players)
    games.valid[:] = False
    games.valid[result.deal_numbers] = True
    games.points[result.deal_numbers] = result.game_points
    games.ranks[result.deal_numbers] = result.game_ranks
    games.ends[result.deal_numbers] = result.ends
    games.failures = list(result.failures)
    return games


def _check_unchanged(bot: BotLike, before: BotIdentity, result: TournamentResult | None = None) -> None:
    """Each table, and each worker, makes the bot anew; so the one identified at first must still be there.

    Args:
        bot: as given to `evaluate`.
        before: what it was then.
        result: of the table that it has just played, if any.

    Raises:
        ValueError: it is another one by now, or another one played.
    """
    try:
        now = identify(bot).to_dict()
    except ValueError as error:
        raise ValueError(f"bot {before.name!r}: changed while it played: {error}") from None
    found = [now] if result is None else [now, {**now, "weights_sha256": result.weights[0]}]
    for identity in found:
        for key, was in before.to_dict().items():
            if identity[key] != was:
                raise ValueError(
                    f"bot {before.name!r}: changed while it played: {key} was {was}, is {identity[key]}; "
                    "leave it alone until the end, or evaluate a copy"
                )


def _settings(protocol: Protocol, subset: str | None, bot: BotIdentity) -> dict[str, object]:
    return {"name": protocol.label(subset), "protocol_sha256": protocol.digest, "bot": bot.to_dict()}


def _check_same(where: str, there: object, here: object) -> None:
    if there != here:
        raise ValueError(
            f"{where}: was begun with other settings: {json.dumps(there)} there, {json.dumps(here)} now"
        )


def _finished(
    out: str | os.PathLike[str], protocol: Protocol, subset: str | None, bot: BotIdentity
) -> Evaluation:
    found = Evaluation.load(out, protocol)
    there, settings = (
        _settings(*of) for of in ((found.protocol, found.subset, found.bot), (protocol, subset, bot))
    )
    _check_same(f"{out}", there, settings)
    folder = Path(f"{os.fspath(out)}{PARTS}")
    if _head(folder) == settings:  # killed after the file was written and before its folder was removed
        shutil.rmtree(folder)
    return found


def _head(folder: Path) -> object:
    """What the folder says whose it is; None if it does not.

    Raises:
        ValueError: that is no JSON.
    """
    head = folder / HEAD
    if not head.is_file():
        return None
    try:
        return json.loads(head.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{head}: is not JSON; remove the folder to begin anew") from None


def _holds_more(folder: Path, *names: str) -> bool:
    """Whether a folder has more than files of these names and what a kill left of a half-written head."""
    left = f".{HEAD}.*.tmp"  # see `write_text`
    return any(path.name not in names and not path.match(left) for path in folder.iterdir())


def _begun(folder: Path, protocol: Protocol, subset: str | None, bot: BotIdentity, resume: bool) -> Path:
    """The folder for tables under way, made if need be.

    Raises:
        ValueError: it is of another evaluation, of none, or is not to be gone on with.
    """
    settings = _settings(protocol, subset, bot)
    if (folder / HEAD).exists():
        if not resume:
            raise ValueError(
                f"{folder}: exists; resume=True (--resume) goes on with it, else remove it first"
            )
        _check_same(f"{folder}", _head(folder), settings)
    elif folder.exists() and _holds_more(folder):
        raise ValueError(f"{folder}: exists, but holds no evaluation; name another file, or remove it first")
    else:
        folder.mkdir(exist_ok=True)
        write_text(folder / HEAD, json.dumps(settings) + "\n")
    return folder


@contextmanager
def _removed_if_empty(folder: Path | None) -> Iterator[None]:
    """After an error, remove the folder if no table got a deal: it would only be in the way."""
    try:
        yield
    except BaseException:
        if folder is not None and not _holds_more(folder, HEAD):
            shutil.rmtree(folder)
        raise


class _TimeLeft:
    """About how long the rest will take, if work is games times seats times rounds."""

    def __init__(self, tables: tuple[ProtocolTable, ...]) -> None:
        self._left = sum(map(self._work, tables))
        self._done, self._seconds = 0.0, 0.0

    @staticmethod
    def _work(table: ProtocolTable) -> float:
        rules = Game(table.rules, table.seats, episode=table.episode).rules
        return table.deals * table.seats**2 * (rules.rounds if table.episode == "match" else 1)

    def add(self, table: ProtocolTable, result: TournamentResult) -> None:
        """A table is done; deals that were read from a file took no time."""
        work = self._work(table)
        self._left -= work
        self._done += work * result.clock.deals / table.deals
        self._seconds += result.clock.total

    def __str__(self) -> str:
        if not self._done or self._left <= 0:
            return ""
        return f", about {self._seconds / self._done * self._left:.0f} s left"

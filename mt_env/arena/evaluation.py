"""What an evaluation by a protocol found: games of every table, the estimates made from them, and its file.

The file holds all games as whole numbers. Everything else in it follows from them and from the protocol, so
reading it makes all of that anew and wants the same. docs/arena.md describes it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env import __version__
from mt_env.arena.checks import impossible_ranks
from mt_env.arena.identity import BotIdentity
from mt_env.arena.match import SHARE_UNIT, Failure, Games, shares_of
from mt_env.arena.protocols import (
    Protocol,
    ProtocolTable,
    canonical,
    find_protocol,
    opponents_text,
    sha256,
)
from mt_env.arena.report import FEW_DEALS, cells, grid
from mt_env.arena.seating import seating_table
from mt_env.arena.stats import LEVEL, RESAMPLE_STREAM, Estimate, bootstrap_sums, interval
from mt_env.game import Game
from mt_env.rng import mix
from mt_env.rules_yaml import write_text

FORMAT: Final = "mt_env evaluation 1"
"""First value of the file; another layout gets another number."""


class InconsistentError(ValueError):
    """A file of an evaluation that contradicts itself or its protocol: damaged, or changed by hand."""


@dataclass(frozen=True)
class Row:
    """What an evaluation says about one table."""

    table: ProtocolTable
    win_share: Estimate
    """Mean win share a game of the evaluated bot; deals in which it failed count as lost."""
    fair: Estimate
    """``win_share`` times seats: 1 is equal play."""
    points: Estimate | None
    """Mean points an episode, few are good; None if a deal is void."""
    difference: Estimate | None
    """``points`` minus the mean of its opponents' points; below 0 is good. None if a deal is void."""
    failures: int
    """Deals in which the bot failed."""

    def to_dict(self) -> dict[str, object]:
        """The estimates as plain values."""
        found = {name: getattr(self, name) for name in ("win_share", "fair", "points", "difference")}
        return {name: None if e is None else e._asdict() for name, e in found.items()}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An evaluation by a protocol, or by a subset of one.

    Equal bots give equal text and files, byte for byte, with any number of workers.
    """

    protocol: Protocol
    subset: str | None
    """None for all of it, else one of `Protocol.subsets`."""
    bot: BotIdentity
    games: tuple[Games, ...]
    """Of each table; bot 0 is the evaluated one."""
    version: str = __version__
    """Of mt_env, by which it was played."""
    timings: tuple[dict[str, object], ...] = field(default=(), repr=False)
    """Where the time went, for each table as in `mt_env.arena.timing.timings`; in no output of this class."""

    @property
    def name(self) -> str:
        """``mt-eval-v1``, or ``mt-eval-v1/slow``: what has to be cited."""
        return self.protocol.label(self.subset)

    @cached_property
    def tables(self) -> tuple[ProtocolTable, ...]:
        """The tables that were played, with their deals."""
        return self.protocol.tables_of(self.subset)

    @cached_property
    def _sums(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each table sums over its deals and over resampled deals.

        int64 ``[1, 3]`` and ``[resamples, 3]``; columns: shares, points, and points times the number of
        opponents minus their points. Void deals are zeros.
        """
        found = []
        for table, games in zip(self.tables, self.games, strict=True):
            shares = shares_of(games.ranks[games.valid])[:, :, 0]
            points = games.points[games.valid]
            own = points[:, :, 0]
            columns = np.zeros((len(games), 3), np.int64)
            for i, values in enumerate((shares, own, table.seats * own - points.sum(axis=2))):
                columns[games.valid, i] = values.sum(axis=1)
            seed = mix(table.seed, RESAMPLE_STREAM)
            resampled = bootstrap_sums(columns, self.protocol.resamples, seed)
            found.append((columns.sum(axis=0)[None], resampled))
        return found

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The estimates of every table."""
        rows = []
        for table, games, (total, resampled) in zip(self.tables, self.games, self._sums, strict=True):
            count = len(games) * games.points.shape[1]

            def mean(
                column: int,
                divisor: int,
                deals: int = len(games),
                total: NDArray[np.int64] = total,
                resampled: NDArray[np.int64] = resampled,
            ) -> Estimate:
                value = float(total[0, column] / divisor)
                return Estimate(value, *interval(resampled[:, column] / divisor, deals))

            share, failed = mean(0, count * SHARE_UNIT), len(games.failures)
            points = None if failed else mean(1, count)
            difference = None if failed else mean(2, count * (table.seats - 1))
            rows.append(Row(table, share, share.scaled(table.seats), points, difference, failed))
        return tuple(rows)

    def _scores(self, resampled: bool) -> NDArray[np.float64]:
        """The score, ``[1]``, or as many as there are resamples. Summed in the order of the tables."""
        total = np.zeros(1)
        for table, games, sums in zip(self.tables, self.games, self._sums, strict=True):
            count = len(games) * games.points.shape[1]
            total = total + table.seats * (sums[resampled][:, 0] / (count * SHARE_UNIT))
        return np.asarray(total / len(self.tables), np.float64)

    @property
    def _fewest(self) -> int:
        return min(len(games) for games in self.games)

    @cached_property
    def score(self) -> Estimate:
        """Mean over the tables of win share times seats, and its interval.

        Deals are resampled within each table; the limits are those of the table with the fewest deals, which
        makes them a little wide.
        """
        return Estimate(float(self._scores(False)[0]), *interval(self._scores(True), self._fewest))

    def minus(self, other: Evaluation) -> Estimate:
        """Score minus that of another bot, paired by deal: both played the same deals.

        Raises:
            ValueError: the other one is of another protocol or subset.
        """
        if (self.name, self.protocol.digest) != (other.name, other.protocol.digest):
            raise ValueError(f"other: is by {other.name}, this one by {self.name}; only equal ones compare")
        value = float(self._scores(False)[0] - other._scores(False)[0])
        return Estimate(value, *interval(self._scores(True) - other._scores(True), self._fewest))

    @property
    def failures(self) -> int:
        """Deals in which the bot failed, which count as lost."""
        return sum(row.failures for row in self.rows)

    def table(self) -> str:
        """The result as text, without a newline at the end."""
        level = f"{LEVEL:.0%}"
        clock = " (plays by the clock: another run may differ)" if self.bot.budget_ms is not None else ""
        header = ["table", "opponents", "deals", "win share", level, "x fair", level]
        lines = [[*header, "points", "to opponents", level, "failed"]]
        for row in self.rows:
            points = ["-", "-", "-"]
            if row.points is not None and row.difference is not None:
                points = [*cells(row.points, 2)[:1], *cells(row.difference, 2, sign=True)]
            lines.append([row.table.name, opponents_text(row.table.opponents), str(row.table.deals)])
            lines[-1] += [*cells(row.win_share, 1, True), *cells(row.fair, 3), *points, str(row.failures)]
        text = [
            f"{self.name}, bot {self.bot.name}{clock}",
            f"score {' '.join(cells(self.score, 3))}: mean over tables of win share x seats, 1 is equal play",
            "",
            *grid(lines, 2),
            "",
        ]
        few = [row.table.name for row in self.rows if row.table.deals < FEW_DEALS]
        if few:
            text.append(
                f"{', '.join(few)}: fewer than {FEW_DEALS} deals: the intervals are too narrow to be trusted"
            )
        if self.failures:
            text.append(f"{self.failures} deals in which the bot failed count as lost")
        text.append(f"content sha256 {self.digest[:16]}, protocol sha256 {self.protocol.digest[:16]}, "
                    f"mt_env {self.version}")  # fmt: skip
        return "\n".join(text)

    def __str__(self) -> str:
        return self.table()

    @cached_property
    def _content(self) -> dict[str, Any]:
        """The file without its digest."""
        tables = []
        for row, games in zip(self.rows, self.games, strict=True):
            played = _packed(games)
            tables.append(
                {
                    "table": row.table.name,
                    "deals": row.table.deals,
                    **row.to_dict(),
                    "failures": [failure.to_dict() for failure in games.failures],
                    "games_sha256": sha256(played),
                    "games": played,
                }
            )
        return {
            "format": FORMAT,
            "name": self.name,
            "protocol": self.protocol.name,
            "subset": self.subset,
            "protocol_sha256": self.protocol.digest,
            "settings": self.protocol.to_dict(),
            "mt_env": self.version,
            "bot": self.bot.to_dict(),
            "score": self.score._asdict(),
            "level": LEVEL,
            "failed_deals": self.failures,
            "tables": tables,
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all that the file holds."""
        return sha256(self._content)

    def to_dict(self) -> dict[str, Any]:
        """What the file holds."""
        return {**self._content, "content_sha256": self.digest}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The file's text, a line for each entry, table and deal; written to ``path`` if one is given."""
        content = self.to_dict()
        tables = []
        for entry in content.pop("tables"):
            played = ",\n".join(canonical(deal) for deal in entry["games"])
            rest = json.dumps({key: value for key, value in entry.items() if key != "games"})
            tables.append(f'{rest[:-1]}, "games": [\n{played}\n]}}')
        end = json.dumps(content.pop("content_sha256"))
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
        lines += ['"tables": [\n' + ",\n".join(tables) + "\n]", f'"content_sha256": {end}']
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        if path is not None:
            write_text(path, text)
        return text

    @classmethod
    def load(cls, path: str | os.PathLike[str], protocol: Protocol | None = None) -> Evaluation:
        """Read a file and check that it is what its own games and its protocol make it.

        Args:
            path: of the file.
            protocol: by which it was made, if this package does not know it by name.

        Raises:
            InconsistentError: something in it was changed or is missing.
            ValueError: it is no such file, or of a protocol that is not known.
            OSError: it cannot be read.
        """
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path}: is no file of an evaluation ({error})") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"{path}: is no file of an evaluation (its first entry is not {FORMAT!r})")
        try:
            known = find_protocol(protocol if protocol is not None else str(data.get("protocol")))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        for key, value in (
            ("protocol", known.name),
            ("protocol_sha256", known.digest),
            ("settings", known.to_dict()),
        ):
            _check(f"{path}: {key}", data.get(key), value, f"that of {known.name}")
        try:
            loaded = cls._from(data, known)
            loaded._compare(f"{path}", data)
        except InconsistentError:
            raise
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InconsistentError(f"{path}: {type(error).__name__}: {error}; it was changed") from None
        return loaded

    @classmethod
    def _from(cls, data: dict[str, Any], protocol: Protocol) -> Evaluation:
        bot = BotIdentity(**data["bot"])
        blank = cls(protocol, data["subset"], bot, (), str(data["mt_env"]))
        entries = data["tables"]
        names = [table.name for table in blank.tables]
        if [entry["table"] for entry in entries] != names:
            raise ValueError(f"its tables must be {', '.join(names)}")
        pairs = zip(blank.tables, entries, strict=True)
        return replace(blank, games=tuple(_unpacked(table, entry) for table, entry in pairs))

    def _compare(self, where: str, data: dict[str, Any]) -> None:
        """Hold the file against what follows from its games."""
        wanted = self.to_dict()
        for mine, theirs in zip(wanted["tables"], data["tables"], strict=True):
            for key in (*mine, *theirs):
                what = f"{where}: table {mine['table']}: {key}"
                _check(what, theirs.get(key), mine.get(key), "what follows from the games")
        for key in (*wanted, *data):
            _check(f"{where}: {key}", data.get(key), wanted.get(key), "what follows from the rest")


def notes(first: Evaluation, second: Evaluation) -> list[str]:
    """What a reader of the difference of two scores has to know beside it, in lines."""
    found = []
    if first.version != second.version:
        found.append(f"played by mt_env {first.version} and {second.version}")
    for evaluation in (first, second):
        if evaluation.bot.budget_ms is not None:
            found.append(f"{evaluation.bot.name} plays by the clock: another run may differ")
        if evaluation.failures:
            found.append(f"{evaluation.failures} deals in which {evaluation.bot.name} failed count as lost")
    return found


def _check(what: str, found: object, wanted: object, meaning: str) -> None:
    # As text, since True is 1 and 1.0 is 1 for Python.
    if json.dumps(found, sort_keys=True) != json.dumps(wanted, sort_keys=True):
        raise InconsistentError(f"{what} is not {meaning}; it was changed")


def _packed(games: Games) -> list[list[Any] | None]:
    """For each deal ``[points, ranks, ends]`` as in the file of a tournament's games; None for a void one."""
    parts = (games.points.tolist(), games.ranks.tolist(), games.ends.tolist())
    return [list(deal) if valid else None for valid, *deal in zip(games.valid.tolist(), *parts, strict=True)]


def _unpacked(table: ProtocolTable, entry: dict[str, Any]) -> Games:
    """The games of a table of a file.

    Raises:
        ValueError: they are not those of so many deals, seatings and seats, no whole numbers, or impossible.
        KeyError, TypeError: something is missing, or of another kind.
    """
    where, rows = f"table {table.name}", entry["games"]
    if len(rows) != table.deals:
        raise ValueError(f"{where}: holds {len(rows)} deals, must be {table.deals}")
    games = Games.empty(0, table.deals, len(seating_table(table.seats, table.seatings)), table.seats)
    games.failures = [Failure(**failure) for failure in entry["failures"]]
    games.valid[:] = [row is not None for row in rows]
    if [failure.deal for failure in games.failures] != np.flatnonzero(~games.valid).tolist():
        raise ValueError(f"{where}: its failures are not those of its void deals")
    played = [row for row in rows if row is not None]
    for i, name in enumerate(("points", "ranks", "ends")):
        to: NDArray[np.int64] = getattr(games, name)
        values = np.array([row[i] for row in played] or to[:0], dtype=None)
        if values.dtype != np.int64 or values.shape != (len(played), *to.shape[1:]):
            raise ValueError(f"{where}: its {name} must be whole numbers for every game")
        to[games.valid] = values
    _check_possible(where, table, games)
    return games


def _check_possible(where: str, table: ProtocolTable, games: Games) -> None:
    """Refuse what no game can be: shares, and so the score, follow from the ranks alone.

    Raises:
        ValueError: impossible points, ranks or endings; the message names the first such game.
    """
    match, seatings = table.episode == "match", games.points.shape[1]
    points, ranks = (a[games.valid].reshape(-1, table.seats) for a in (games.points, games.ranks))
    ends = games.ends[games.valid].reshape(-1, 2)
    rounds = Game(table.rules, table.seats, episode=table.episode).rules.rounds if match else 1
    for what, game in (
        ("ranks do not follow from its points", impossible_ranks(points, ranks, single=not match)),
        ("points are below 0", _first(points.min(axis=1) < 0)),
        (
            f"ends are not those of {rounds} rounds",
            _first(np.logical_or((ends < 0).any(axis=1), ends.sum(axis=1) != rounds)),
        ),
    ):
        if game >= 0:
            deal = np.flatnonzero(games.valid)[game // seatings]
            raise ValueError(f"{where}: deal {deal}, seating {game % seatings}: its {what}")


def _first(wrong: NDArray[np.bool_]) -> int:
    """Index of the first True, or -1."""
    return int(np.argmax(wrong)) if wrong.any() else -1

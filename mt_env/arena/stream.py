"""A tournament's games as a file that grows while they are played, from which the tournament can go on.

JSON lines: a header with all settings, one line for each deal in order, and at the end a line that says how
the tournament ended. docs/arena.md describes them. All values of games are whole numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env import __version__
from mt_env.arena.checks import impossible_ranks
from mt_env.arena.match import Failure, Games, shares_of
from mt_env.arena.seating import seating_table, unique_labels
from mt_env.game import Game
from mt_env.rng import mix
from mt_env.rules_options import MAX_SEATS, MIN_SEATS
from mt_env.rules_yaml import write_text

if TYPE_CHECKING:
    from mt_env.arena.result import TournamentResult

FORMAT: Final = "mt_env games 2"
"""First value of the header; another layout gets another number."""

KEYS: Final = (
    *(
        "format",
        "mt_env",
        "bots",
        "names",
        "weights",
        "sources",
        "budget_ms",
        "seed",
        "deals",
        "until",
        "seats",
        "rules",
    ),
    *("episode", "engine", "seatings", "orders", "time_limit", "max_failures", "resamples"),
)
"""Keys of the header, in order."""


def _listed(source: tuple[str, str] | None) -> list[str] | None:
    return None if source is None else list(source)


def _whole(value: object, low: int, high: int = 2**63 - 1) -> bool:
    return type(value) is int and low <= value <= high


def _one_each(value: object, seats: int, *kinds: type) -> bool:
    return type(value) is list and len(value) == seats and all(type(one) in kinds for one in value)


def _or_none(value: object, kind: type) -> bool:
    return value is None or (type(value) is kind and value > 0)  # type: ignore[operator]


_GOOD: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "seats": lambda value, _: _whole(value, MIN_SEATS, MAX_SEATS),
    "names": lambda value, seats: _one_each(value, seats, str),
    "weights": lambda value, seats: _one_each(value, seats, str, type(None)),
    "sources": lambda value, seats: (
        _one_each(value, seats, list, type(None))
        and all(one is None or _one_each(one, 2, str) for one in value)
    ),
    "budget_ms": lambda value, seats: _one_each(value, seats, float, type(None)),
    "seed": lambda value, _: _whole(value, 0, 2**64 - 1),
    "deals": lambda value, _: _whole(value, 1),
    "until": lambda value, _: _or_none(value, float),
    "rules": lambda value, _: type(value) is str,
    "time_limit": lambda value, _: _or_none(value, float),
    "max_failures": lambda value, _: _or_none(value, int),
    "resamples": lambda value, _: _whole(value, 1),
}
"""For keys of the header: whether a value, beside so many seats, can be. The others are checked by use."""


def header(result: TournamentResult) -> dict[str, object]:
    """All settings: what a tournament that goes on must have in common with the one that began."""
    game = result.game
    return {
        "format": FORMAT,
        "mt_env": __version__,
        "bots": list(result.bots),
        "names": list(result.names),
        "weights": list(result.weights),
        "sources": list(map(_listed, result.sources)),
        "budget_ms": list(result.budgets),
        "seed": result.seed,
        "deals": result.max_deals,
        "until": result.until,
        "seats": result.num_players,
        "rules": game.rules.rules.to_text(),
        "episode": game.episode,
        "engine": game.engine,
        "seatings": result.seatings,
        "orders": result.seating.tolist(),
        "time_limit": result.time_limit,
        "max_failures": result.max_failures,
        "resamples": result.resamples,
    }


def _lines(games: Games) -> list[str]:
    """One for each deal."""
    failures = {failure.deal: failure for failure in games.failures}
    points, ranks, ends = games.points.tolist(), games.ranks.tolist(), games.ends.tolist()
    lines = []
    for row in range(len(games)):
        deal = games.first + row
        line: dict[str, object] = {"deal": deal}
        if deal in failures:
            line["failure"] = failures[deal].to_dict()
        else:
            line |= {"points": points[row], "ranks": ranks[row], "ends": ends[row]}
        lines.append(json.dumps(line))
    return lines


def _footer(result: TournamentResult, lines_sha256: str) -> dict[str, object]:
    """The last line; its digests cover the games, and the bytes of all lines before it."""
    return {
        "end": result.end,
        "deals": result.deals,
        "games_sha256": result.digest,
        "lines_sha256": lines_sha256,
    }


def games_sha256(deals: NDArray[np.int64], points: NDArray[np.int64], ends: NDArray[np.int64]) -> str:
    """SHA-256 over points and endings of ``deals``, arrays as `TournamentResult` has them."""
    content = sha256()
    for array in (deals, points, ends):
        content.update(np.ascontiguousarray(array, "<i8").tobytes())
    return content.hexdigest()


def text(result: TournamentResult) -> str:
    """The whole file; without the last line if the tournament was not finished."""
    games = Games.empty(0, result.deals, result.num_seatings, result.num_players)
    games.points[result.deal_numbers] = result.game_points
    games.ranks[result.deal_numbers] = result.game_ranks
    games.ends[result.deal_numbers] = result.ends
    games.failures = list(result.failures)
    found = "".join(f"{line}\n" for line in [json.dumps(header(result)), *_lines(games)])
    if result.end != "unfinished":
        found += json.dumps(_footer(result, sha256(found.encode()).hexdigest())) + "\n"
    return found


class Stored:
    """What a file holds; a half-written last line is left out.

    Args:
        path: the file.

    Attributes:
        header: its settings, as `header`.
        games: the deals, void ones too.
        end: how the tournament ended, ``"unfinished"`` without a last line.
        digest: the digest in the last line, None without one.
        size: bytes of the lines that count.
        sha256: of those bytes, the last line left out.

    Raises:
        ValueError: it is no such file, or damaged: games that cannot be, or not those of its last line.
        OSError: it cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        data = Path(path).read_bytes()
        self.size = data.rfind(b"\n") + 1
        self.end = "unfinished"
        self.digest: str | None = None
        footer: dict[str, Any] | None = None
        lines = data[: self.size].split(b"\n")[:-1]
        try:
            self.header = self._parsed(lines[0], f"{path}") if lines else {}
        except ValueError:
            self.header = {}
        if self.header.get("format") != FORMAT:
            raise ValueError(
                f"{path}: is no file of games of a tournament (its first line has no {FORMAT!r})"
            )
        if tuple(self.header) != KEYS:
            raise ValueError(f"{path} line 1: must have the keys {', '.join(KEYS)}; the file is damaged")
        self._rounds = self._check_header(f"{path} line 1")
        self._orders, seats = self.header["orders"], self.header["seats"]
        self.games = Games.empty(0, max(0, len(lines) - 1), len(self._orders), seats)
        rows = 0
        for number, line in enumerate(lines[1:], 2):
            where = f"{path} line {number}"
            found = self._parsed(line, where)
            if footer is not None:
                raise ValueError(f"{where}: stands behind the line that ends the file")
            if "end" in found:
                footer = found
                continue
            if type(found.get("deal")) is not int or found["deal"] != rows:
                raise ValueError(f"{where}: must hold deal {rows}, but holds {found.get('deal')!r}")
            self._take(found, rows, where)
            rows += 1
        self.games = self.games.head(rows)
        self._check_ranks(path)
        before = len(lines[-1]) + 1 if footer is not None else 0
        self.sha256 = sha256(data[: self.size - before])
        if footer is not None:
            self._check_end(footer, f"{path} line {len(lines)}")

    def _check_header(self, where: str) -> int:
        """Refuse settings that no tournament has; returns how many rounds each game has.

        Raises:
            ValueError: one of the settings is damaged.
        """
        h = self.header
        try:
            for key, good in _GOOD.items():
                if not good(h[key], h["seats"]):
                    raise ValueError(f"{key}={h[key]!r}")
            game = Game(h["rules"], h["seats"], episode=h["episode"], engine=h["engine"])
            if h["bots"] != list(unique_labels(h["names"])):
                raise ValueError(f"bots={h['bots']!r} with names={h['names']!r}")
            if h["orders"] != seating_table(h["seats"], h["seatings"]).tolist():
                raise ValueError(f"orders are not those of seatings={h['seatings']!r}")
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(f"{where}: {error}; the file is damaged") from None
        return game.rules.rounds if game.episode == "match" else 1

    def _check_ranks(self, path: str | os.PathLike[str]) -> None:
        valid, shape = self.games.valid, (-1, self.games.ranks.shape[-1])
        points, ranks = self.games.points[valid].reshape(shape), self.games.ranks[valid].reshape(shape)
        wrong = impossible_ranks(points, ranks, self.header["episode"] == "round")
        if wrong >= 0:
            row, seating = divmod(wrong, self.games.ranks.shape[1])
            deal = int(np.flatnonzero(valid)[row])
            raise ValueError(
                f"{path} line {deal + 2}: the ranks of seating {seating} cannot be; the file is damaged"
            )

    def _check_end(self, footer: dict[str, Any], where: str) -> None:
        """Hold the last line against the lines before it."""
        fields = game_fields(self.games)
        digest = games_sha256(fields["deal_numbers"], fields["game_points"], fields["ends"])
        wanted = {"games_sha256": digest, "lines_sha256": self.sha256.hexdigest()}
        if any(footer.get(key) != value for key, value in wanted.items()):
            raise ValueError(f"{where}: the games are not those that this last line was written for")
        h, deals, end = self.header, len(self.games), footer["end"]
        possible = {
            "deals": deals == h["deals"],
            "until": h["until"] is not None and deals <= h["deals"],
            "failures": h["max_failures"] is not None and len(self.games.failures) == h["max_failures"],
        }
        if not (isinstance(end, str) and possible.get(end, False)) or footer.get("deals") != deals:
            raise ValueError(
                f"{where}: end {end!r} after {footer.get('deals')!r} deals does not fit the {deals} deals "
                "before it; the file is damaged"
            )
        self.end, self.digest = end, digest

    @staticmethod
    def _parsed(line: bytes, where: str) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            raise ValueError(f"{where}: is not JSON; the file is damaged") from None
        if not isinstance(found, dict):
            raise ValueError(f"{where}: is no JSON object; the file is damaged")
        return found

    def _take(self, found: dict[str, Any], row: int, where: str) -> None:
        games = self.games
        try:
            if "failure" in found:
                games.failures.append(self._failure(found["failure"], row))
                games.valid[row] = False
                return
            for name in ("points", "ranks", "ends"):
                values = np.array(found[name])
                wanted = getattr(games, name)[row]
                if values.shape != wanted.shape or values.dtype != np.int64:
                    raise ValueError(f"{name} must be whole numbers of shape {list(wanted.shape)}")
                wanted[:] = values
            if games.ends[row].min() < 0 or (games.ends[row].sum(axis=1) != self._rounds).any():
                raise ValueError(f"ends must add up to {self._rounds} in each game")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{where}: {type(error).__name__}: {error}; the file is damaged") from None

    def _failure(self, found: dict[str, Any], deal: int) -> Failure:
        """The failure in the line of ``deal``."""
        failure, h = Failure(**found), self.header
        numbers = (failure.deal, failure.seating, failure.seat, failure.seed)
        if any(type(number) is not int for number in numbers) or type(failure.reason) is not str:
            raise ValueError("failure must hold whole numbers and a reason")
        if failure.deal != deal or failure.seed != mix(h["seed"], deal):
            raise ValueError(f"failure must be of deal {deal} and its seed")
        if not (0 <= failure.seating < len(self._orders) and 0 <= failure.seat < h["seats"]):
            raise ValueError("failure must be of a seating and a seat of this tournament")
        if failure.bot != h["bots"][self._orders[failure.seating][failure.seat]]:
            raise ValueError(f"failure names {failure.bot!r}, which did not sit there")
        return failure

    def fields(self) -> dict[str, Any]:
        """The fields of `TournamentResult` that follow from the file."""
        h = self.header
        return {
            "bots": tuple(h["bots"]),
            "names": tuple(h["names"]),
            "weights": tuple(h["weights"]),
            "sources": tuple(None if one is None else tuple(one) for one in h["sources"]),
            "budgets": tuple(h["budget_ms"]),
            "game": Game(h["rules"], h["seats"], episode=h["episode"], engine=h["engine"]),
            "seed": h["seed"],
            "max_deals": h["deals"],
            "until": h["until"],
            "seatings": h["seatings"],
            "time_limit": h["time_limit"],
            "max_failures": h["max_failures"],
            "resamples": h["resamples"],
            **game_fields(self.games),
            "end": self.end,
        }


def game_fields(games: Games) -> dict[str, Any]:
    """The fields of `TournamentResult` that hold ``games``."""
    ranks = games.ranks[games.valid]
    return {
        "deals": len(games),
        "deal_numbers": games.first + np.flatnonzero(games.valid).astype(np.int64),
        "game_points": games.points[games.valid],
        "game_ranks": ranks,
        "game_shares": shares_of(ranks),
        "ends": games.ends[games.valid],
        "failures": tuple(games.failures),
    }


def _check_same(path: str | os.PathLike[str], there: dict[str, Any], here: dict[str, Any]) -> None:
    keys = [key for key in {**here, **there} if there.get(key) != here.get(key) and key != "orders"]
    if there != here:
        told = ", ".join(
            f"{key} {json.dumps(there.get(key))} there, {json.dumps(here.get(key))} now" for key in keys
        )
        raise ValueError(f"{path}: was begun with other settings: {told or 'orders'}")


class Stream:
    """The file of a tournament under way.

    A file appears with its whole header; each line is written and flushed as its deal is finished. When the
    process is killed at most the last line is torn. A power cut may cost more lines; what is left is still
    a beginning.

    Args:
        path: where.
        blank: the tournament without games.
        resume: go on with a file that exists; without it such a file is refused.

    A file that this object made and that got no deal is removed when it is closed.

    Attributes:
        games: what the file holds already; None if nothing.
        end: how the tournament in it ended; ``"unfinished"`` if it did not.

    Raises:
        ValueError: the file exists, is no such file, is damaged, or was begun with other settings.
        OSError: it cannot be written.
    """

    def __init__(self, path: str | os.PathLike[str], blank: TournamentResult, resume: bool) -> None:
        self.games: Games | None = None
        self.end = "unfinished"
        head = header(blank)
        place = Path(path)
        if place.exists() and place.stat().st_size > 0:
            if not resume:
                raise ValueError(
                    f"{path}: exists; resume=True (--resume) goes on with it, else remove it first"
                )
            stored = Stored(path)
            _check_same(path, stored.header, json.loads(json.dumps(head)))
            self.games, self.end, self._sha256 = stored.games, stored.end, stored.sha256
            if place.stat().st_size > stored.size:
                os.truncate(place, stored.size)
        else:
            line = json.dumps(head) + "\n"
            write_text(path, line)
            self._sha256 = sha256(line.encode())
        self._only_begun = self.games is None
        self._place = place
        self._file: IO[bytes] = place.open("ab")

    def append(self, games: Games) -> None:
        """Write the deals ``games``, which must follow those before."""
        self._write("".join(f"{line}\n" for line in _lines(games)))

    def finish(self, result: TournamentResult) -> None:
        """Write how the tournament ended."""
        self._write(json.dumps(_footer(result, self._sha256.hexdigest())) + "\n")

    def _write(self, lines: str) -> None:
        self._only_begun = False
        self._sha256.update(lines.encode())
        self._file.write(lines.encode())
        self._file.flush()

    def close(self) -> None:
        """Close the file; the deals that were written stay."""
        self._file.close()
        if self._only_begun:
            self._place.unlink(missing_ok=True)

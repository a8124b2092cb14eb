"""Ratings of a growing pool of bots, kept in a file; see docs/arena.md.

Needs the extra `ratings` (openskill). The rating is that of R. Weng and C.-J. Lin, "A Bayesian Approximation
Method for Online Ranking", JMLR 12, 2011, algorithm 4 (Plackett-Luce): each bot has a mean mu and a spread
sigma, and each game moves them a little. So the order in which tournaments are fed matters, a little, and
what was learned from bots long gone stays. For bots that all met in one tournament, `mt_env.arena.ratings` is
the better measure.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mt_env.arena.result import TournamentResult
from mt_env.arena.seating import groups
from mt_env.rules_yaml import write_text

FORMAT: Final[str] = "mt_env pool 1"
"""First entry of a pool's file."""


@dataclass(frozen=True)
class PoolRating:
    """What a pool knows of one bot."""

    name: str
    mu: float
    """Mean of the believed strength; a new bot has 25."""
    sigma: float
    """Spread of that belief; a new bot has 25/3. Too small: games of one deal are not independent."""
    games: int
    """Games it was seen in."""

    @property
    def ordinal(self) -> float:
        """``mu - 3 sigma``: a strength that the bot has almost surely; sorted by this."""
        return self.mu - 3 * self.sigma


class Pool:
    """Ratings in a JSON file, which is made by the first `update` and rewritten by each further one.

    Names are taken as they are: whoever changes a bot gives it a new name. Two programs must not update one
    file at the same time: the last one would win.

    Args:
        path: of the file; it need not exist yet.

    Raises:
        ImportError: openskill is not installed.
        ValueError: the file is no pool.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._model = _model()
        self._table: str | None = None
        self._fed: list[dict[str, object]] = []
        self._ratings: dict[str, PoolRating] = {}
        if self.path.exists():
            self._load(self.path.read_text(encoding="utf-8"))

    def _load(self, text: str) -> None:
        try:
            data = json.loads(text)
            if data["format"] != FORMAT:
                raise ValueError(f"its format is {data['format']!r}")
            self._table = str(data["table"])
            self._fed = [dict(fed) for fed in data["fed"]]
            for name, row in data["ratings"].items():
                self._ratings[name] = PoolRating(
                    name, float(row["mu"]), float(row["sigma"]), int(row["games"])
                )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{self.path}: is no pool of ratings ({error}); expected {FORMAT!r}") from None

    @property
    def ratings(self) -> Mapping[str, PoolRating]:
        """By name, the best ``ordinal`` first."""
        return dict(sorted(self._ratings.items(), key=lambda item: (-item[1].ordinal, item[0])))

    def update(self, result: TournamentResult) -> None:
        """Feed all games of a tournament that count, deal by deal and seating by seating, and write the file.

        A game with several copies of a bot moves its rating by the mean of what it would move each copy.

        Raises:
            ValueError: these games were fed before, no deal counts, or the pool's games had other rules or
            episodes.
        """
        if not result.valid_deals:
            raise ValueError("result: every deal is void, there is no game to rate")
        table = f"rules {result.game.rules.rules.to_text()}, episode {result.game.episode}"
        if self._table not in (None, table):
            raise ValueError(f"result: has {table}, but {self.path} has {self._table}; use a pool of its own")
        entry: dict[str, object] = {
            "games_sha256": result.digest,
            "bots": list(result.names),
            "seed": result.seed,
            "games": result.game_ranks.shape[0] * result.game_ranks.shape[1],
        }
        if entry in self._fed:
            raise ValueError(f"result: {self.path} has these games already (sha256 {result.digest[:16]})")
        ratings = self._played(result)
        fed = [*self._fed, entry]
        rows = {
            name: {"mu": row.mu, "sigma": row.sigma, "games": row.games}
            for name, row in sorted(ratings.items())
        }
        data = {"format": FORMAT, "table": table, "fed": fed, "ratings": rows}
        write_text(self.path, json.dumps(data, indent=2, allow_nan=False) + "\n")
        self._table, self._fed, self._ratings = table, fed, ratings

    def _played(self, result: TournamentResult) -> dict[str, PoolRating]:
        """All ratings after the games of ``result``."""
        members = groups(result.names)
        names = list(members)
        number = [names.index(name) for name in result.names]
        new = self._model.rating()
        rated = [self._ratings.get(name) for name in names]
        mu = [new.mu if row is None else row.mu for row in rated]
        sigma = [new.sigma if row is None else row.sigma for row in rated]
        for ranks in result.game_ranks.reshape(-1, len(result.names)).tolist():
            seats = [[self._model.rating(mu=mu[i], sigma=sigma[i])] for i in number]
            after = self._model.rate(seats, ranks=[float(rank) for rank in ranks])
            for i, copies in enumerate(members.values()):
                mu[i] = sum(after[copy][0].mu for copy in copies) / len(copies)
                sigma[i] = sum(after[copy][0].sigma for copy in copies) / len(copies)
        games = result.game_ranks.shape[0] * result.game_ranks.shape[1]
        ratings = dict(self._ratings)
        for i, name in enumerate(names):
            before = rated[i]
            ratings[name] = PoolRating(name, mu[i], sigma[i], games + (0 if before is None else before.games))
        return ratings

    def table(self) -> str:
        """The pool as text, the best first, without a newline at the end."""
        rows = [("bot", "mu - 3 sigma", "mu", "sigma", "games")]
        for row in self.ratings.values():
            rows.append((row.name, f"{row.ordinal:.2f}", f"{row.mu:.2f}", f"{row.sigma:.2f}", str(row.games)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            )
            for row in rows
        ]
        if self._table is not None:
            lines = [f"{len(self._fed)} tournaments, {self._table}", "", *lines]
        return "\n".join(lines)


def _model() -> Any:
    """The Plackett-Luce model of openskill with its defaults."""
    try:
        from openskill.models import PlackettLuce
    except ImportError:
        raise ImportError(
            'Pool needs openskill, of the extra "ratings": python -m pip install "mt-env[ratings]"'
        ) from None
    return PlackettLuce()

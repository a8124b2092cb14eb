"""Ratings of the bots of one tournament: one number each, from the ranks of all games; see docs/arena.md.

The model is Plackett and Luce's, fitted by `mt_env.arena.luce`; intervals come from the bootstrap over deals
of `mt_env.arena.stats`, with the same resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mt_env.arena.luce import count_choices, fit
from mt_env.arena.result import TournamentResult
from mt_env.arena.seating import groups
from mt_env.arena.stats import RESAMPLE_STREAM, Estimate, interval
from mt_env.rng import mix
from mt_env.rules_options import as_int

RATING_RESAMPLES: Final[int] = 1000
"""Bootstrap resamples of the ratings; each one is a fit of its own."""

SCALE: Final[float] = 400 / math.log(10)
"""Rating points of a factor e of strength: 400 points are a factor 10, as with Elo's ratings."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of the distinct bots of a tournament, copies of one bot taken together."""

    names: tuple[str, ...]
    """Distinct names, in order of first appearance."""
    ratings: tuple[Estimate, ...]
    """By name: 400 log10 of the strength, less its mean or that of the anchor."""
    anchor: str | None
    """The bot whose rating is 0; None: the mean of all ratings is."""
    apart: tuple[tuple[str, ...], ...]
    """Groups of which no bot of a later one was ever ahead of a bot of an earlier one, or level with it.

    One group if all ratings rest on games. The distance between two groups has no upper limit in the games:
    only the virtual drawn games of the fit hold it, and the intervals say nothing about it.
    """
    deals: int
    """Deals behind the ratings."""
    resampled: NDArray[np.float64] = field(repr=False)
    """float64 ``[1 + resamples, names]``: ratings of all deals in row 0, then of each resample; mean 0."""

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"bot {name!r}: there are ratings of {', '.join(self.names)}")
        return self.names.index(name)

    def difference(self, first: str, second: str) -> Estimate:
        """Rating of ``first`` minus that of ``second``, paired by deal.

        Raises:
            ValueError: no such name.
        """
        values = self.resampled[:, self._number(first)] - self.resampled[:, self._number(second)]
        return _estimate(values, self.deals)

    def expected(self, first: str, second: str) -> float:
        """Share of the games in which the model has ``first`` ahead of ``second``, level ones counted half.

        Raises:
            ValueError: no such name.
        """
        difference = self.resampled[0, self._number(first)] - self.resampled[0, self._number(second)]
        return 1 / (1 + 10 ** (-float(difference) / 400))


def _estimate(values: NDArray[np.float64], deals: int) -> Estimate:
    """Row 0 with the limits that the further rows give."""
    return Estimate(float(values[0]), *interval(values[1:], deals))


def rate(result: TournamentResult, anchor: str | None = None, resamples: int = RATING_RESAMPLES) -> Ratings:
    """Plackett-Luce ratings of a tournament, with intervals over deals.

    Args:
        result: of a tournament; if every deal is void, there are no ratings.
        anchor: name of the bot whose rating is to be 0; None lets the mean of all be 0.
        resamples: bootstrap resamples, at least 1.

    Raises:
        ValueError: the tournament had no bot of that name, or ``resamples`` is no whole number above 0.
    """
    if not result.valid_deals:
        return Ratings((), (), anchor, (), 0, np.zeros((1, 0)))
    return rate_ranks(result.game_ranks, result.names, result.seed, anchor, resamples)


def rate_ranks(
    ranks: NDArray[np.int64],
    names: Sequence[str],
    seed: int,
    anchor: str | None = None,
    resamples: int = RATING_RESAMPLES,
) -> Ratings:
    """As `rate`, from bare ranks.

    Args:
        ranks: int64 ``[deals, games, bots]``, at least one deal; from 0 up, lower is better, equal is level.
            Below 0: the bot was not in that game, so that bots of several tables can be rated together. Each
            bot is in equally many games of every deal, and every two names meet.
        names: of the bots; copies share one.
        seed: of the tournament.
        anchor: as in `rate`.
        resamples: as in `rate`.

    Raises:
        ValueError: as `rate`, or the games are not as said above.
    """
    if (as_int(resamples) or 0) < 1:
        raise ValueError(f"resamples={resamples!r}: must be a whole number of at least 1")
    members = groups(names)
    distinct = tuple(members)
    if anchor is not None and anchor not in members:
        raise ValueError(f"anchor={anchor!r}: this tournament had {', '.join(distinct)}")
    choices = count_choices(ranks, [distinct.index(name) for name in names])
    resampled = fit(choices, resamples, mix(seed, RESAMPLE_STREAM)) * SCALE
    shift = resampled[:, distinct.index(anchor)][:, None] if anchor is not None else 0.0
    shown = resampled - shift
    ratings = tuple(_estimate(shown[:, i], len(ranks)) for i in range(len(distinct)))
    return Ratings(distinct, ratings, anchor, _apart(ranks, members), len(ranks), resampled)


def _apart(ranks: NDArray[np.int64], members: dict[str, list[int]]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that no game connects, the best one first; see `Ratings.apart`.

    Who was once ahead of whom, or level, is a graph; its strongly connected parts are the groups (assumption
    1 in Hunter's article). Every two names meet, so the groups have an order.
    """
    names = list(members)
    reach = np.eye(len(names), dtype=np.bool_)
    for i, first in enumerate(members.values()):
        for j, second in enumerate(members.values()):
            reach[i, j] |= any(
                ((ranks[:, :, a] >= 0) & (ranks[:, :, a] <= ranks[:, :, b])).any()
                for a in first
                for b in second
            )
    if not (reach | reach.T).all():
        i, j = map(int, np.argwhere(~(reach | reach.T))[0])
        raise ValueError(
            f"ranks: {names[i]} and {names[j]} were in no game together; let every two names meet"
        )
    for k in range(len(names)):
        reach |= reach[:, k : k + 1] & reach[k : k + 1, :]
    found: dict[bytes, list[str]] = {}
    for i in sorted(range(len(names)), key=lambda i: -int(reach[i].sum())):
        found.setdefault(reach[i].tobytes(), []).append(names[i])
    return tuple(tuple(sorted(group, key=names.index)) for group in found.values())

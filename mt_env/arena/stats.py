"""Means with intervals from a bootstrap over deals, equal to the last bit on every platform.

The deal is the unit of chance: all games of one deal share its tiles, so they are resampled together
(a cluster bootstrap). Intervals are *expanded percentile* intervals: the quantiles of the bootstrap means,
taken a little further out than 2.5% and 97.5%, so that for a mean of normal values the width agrees with
Student's t interval (T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
Statistician 69(4), 2015). The plain percentile interval (B. Efron and R. Tibshirani, "An Introduction to the
Bootstrap", 1993) is too narrow where deals are few.

Every value that is summed is a whole number, so the order of a sum does not matter; what follows is a
division or two a value and a choice of order statistics, without interpolation.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import below
from mt_env.core.jit import kernel
from mt_env.rng import Rng, mix

RESAMPLES: Final[int] = 10_000
"""Bootstrap resamples."""

LEVEL: Final[float] = 0.95
"""Confidence level of the intervals."""

RESAMPLE_STREAM: Final[int] = (1 << 64) - 1
"""Deals are resampled by the generator of ``mix(seed, RESAMPLE_STREAM)``; deal ``i`` has ``mix(seed, i)``."""


class Estimate(NamedTuple):
    """A mean and its interval; the limits are NaN where a single deal gives none."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float, shift: float = 0.0) -> Estimate:
        """Value and limits times ``factor`` (above 0), plus ``shift``."""
        return Estimate(*(x * factor + shift for x in self))


EXACT: Final[int] = 1 << 53
"""Whole numbers below this are exact in float64."""

_BLOCK: Final[int] = 1 << 18
"""Draw counts that are held at once."""


@kernel
def _count_draws(rng: Any, counts: Any) -> None:
    """Fill each row of ``counts``: how often each of its columns is drawn in as many draws as it has."""
    resamples, deals = counts.shape
    for b in range(resamples):
        for d in range(deals):
            counts[b, d] = 0.0
        for _ in range(deals):
            counts[b, below(rng, deals)] += 1.0


def bootstrap_sums(values: NDArray[np.int64], resamples: int, seed: int) -> NDArray[np.int64]:
    """Column sums of resampled rows.

    Args:
        values: int64 ``[deals, columns]``.
        resamples: how many.
        seed: of the resampling. Resample b consists of the rows that draws ``b * deals`` and following of
            ``Rng(seed).below(deals)`` name.

    Returns:
        int64 ``[resamples, columns]``.

    Raises:
        ValueError: a sum could reach 2**53.
    """
    deals, columns = values.shape
    if int(np.abs(values).max(initial=0)) * deals >= EXACT:
        raise ValueError(f"{deals} deals of values up to {np.abs(values).max()}: their sums are too large")
    # How often each row was drawn, times the rows: a matrix product, many times quicker than adding row by
    # row. Every number in it is whole and below 2**53, so it is exact in whatever order it is summed.
    rows = np.ascontiguousarray(values, np.float64)
    counts = np.empty((min(resamples, max(1, _BLOCK // deals)), deals))
    sums = np.empty((resamples, columns), np.int64)
    rng = Rng(seed)
    for first in range(0, resamples, len(counts)):
        block = counts[: resamples - first]
        _count_draws(rng.state, block)
        sums[first : first + len(block)] = block @ rows
    return sums


def student_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t, by its expansion around the normal one.

    The error is below 0.1% from 3 degrees of freedom on.
    """
    z = NormalDist().inv_cdf(probability)
    v = float(freedom)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / v + g2 / v**2 + g3 / v**3 + g4 / v**4


def tail(deals: int, level: float = LEVEL) -> float:
    """Share of the bootstrap distribution that is cut off at each side, for this many deals (at least 2)."""
    t = student_quantile((1 + level) / 2, deals - 1)
    return NormalDist().cdf(-t * math.sqrt(deals / (deals - 1)))


def interval(distribution: NDArray[np.float64], deals: int, level: float = LEVEL) -> tuple[float, float]:
    """Expanded percentile limits.

    Args:
        distribution: float64 ``[resamples]``, bootstrap values of the statistic.
        deals: number of deals that were resampled; with fewer than 2 the limits are NaN.
        level: confidence level.
    """
    if deals < 2:
        return math.nan, math.nan
    cut = int(len(distribution) * tail(deals, level))
    ordered = np.sort(distribution)
    return float(ordered[cut]), float(ordered[-1 - cut])


class Bootstrap:
    """Means of columns of whole numbers over deals, with their intervals.

    All statistics come from the same resamples, so that differences are paired by deal.

    Args:
        values: int64 ``[deals, columns]``, one row a deal; at least one row.
        seed: the tournament's.
        resamples: how many.
    """

    def __init__(self, values: NDArray[np.int64], seed: int, resamples: int = RESAMPLES) -> None:
        self.deals = len(values)
        self._sums = values.sum(axis=0)[None]
        self._resampled = bootstrap_sums(values, resamples, mix(seed, RESAMPLE_STREAM))

    def mean(self, columns: list[int], divisor: int) -> Estimate:
        """Mean over deals of the sum of ``columns``, divided by ``divisor``."""
        return self.difference(columns, divisor, [], 1)

    def difference(self, columns: list[int], divisor: int, minus: list[int], by: int) -> Estimate:
        """``mean(columns, divisor) - mean(minus, by)``, paired by deal."""

        def statistic(sums: NDArray[np.int64]) -> NDArray[np.float64]:
            first = sums[:, columns].sum(axis=1) / (self.deals * divisor)
            second = sums[:, minus].sum(axis=1) / (self.deals * by)
            return np.asarray(first - second, np.float64)

        return Estimate(float(statistic(self._sums)[0]), *interval(statistic(self._resampled), self.deals))

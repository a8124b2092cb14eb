"""The Plackett-Luce model of whole rankings: counting choices, and the strengths that fit them best.

A ranking is a row of choices: first place is chosen among all, second among the rest, and so on; in each
choice a bot is taken with a chance proportional to its strength (R. L. Plackett, "The Analysis of
Permutations", Applied Statistics 24, 1975; R. D. Luce, "Individual Choice Behavior", 1959). The likelihood
needs two things only: how often each *choice set* occurred, and how often each bot was taken. Both are whole
numbers, so neither the order of the games nor that of the deals can change a bit of the fit.

Ties: level bots count as the mean over all orders in which lots could put them, each order with an equal part
of the game. For two bots that is half a win each, as in chess. Orders need not be listed: when k bots are
level, each choice set made of s of them and all bots behind them occurs in 1 of binomial(k, s) orders.

The maximum is found by the MM algorithm (D. R. Hunter, "MM algorithms for generalized Bradley-Terry models",
The Annals of Statistics 32(1), 2004). Only plain arithmetic in a fixed order is used, logarithms included, so
equal counts give equal bits on every platform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import below
from mt_env.core.jit import allocating_kernel, kernel
from mt_env.core.state import MAX_SEATS
from mt_env.rng import Rng

CHOICE_UNIT: Final[int] = 360360
"""Choices are counted in units of ``1 / CHOICE_UNIT``, which every binomial(k, s) up to k = 14 divides."""

TOLERANCE: Final[float] = 1e-9
"""The fit ends when no strength changes by more than this part of itself in a step."""

MAX_STEPS: Final[int] = 20_000
"""Steps after which a fit ends in any case."""

assert MAX_SEATS == 14  # CHOICE_UNIT is the least common multiple of 1..15


@dataclass(frozen=True)
class Choices:
    """Choices of all games, by deal, and what the choice sets are made of."""

    names: int
    """Number of distinct bots."""
    first: NDArray[np.int64]
    """int64 ``[deals + 1]``: deal ``d`` has the entries ``first[d]`` up to ``first[d + 1]``."""
    which: NDArray[np.int32]
    """int32 ``[entries]``: the choice set of an entry."""
    weight: NDArray[np.int64]
    """int64 ``[entries]``: how often it occurred in that deal, in units of ``1 / CHOICE_UNIT``."""
    members: NDArray[np.int64]
    """int64 ``[sets, names]``: how many bots of each name a choice set holds."""
    places: NDArray[np.int64]
    """int64 ``[names]``: places that bots of this name take in one deal, in the same units."""

    @property
    def deals(self) -> int:
        """Number of deals."""
        return len(self.first) - 1


@allocating_kernel
def _count(ranks: Any, radix: Any, ways: Any, first: Any, codes: Any, weights: Any, fill: bool) -> None:
    """Choice sets of each deal: how many in a first pass (into ``first``), which in a second (``fill``)."""
    deals, games, n = ranks.shape
    size = 1
    for bot in range(n):
        size += radix[bot]
    seen = np.zeros(size, np.int64)
    touched = np.zeros(size, np.int64)
    order = np.zeros(n, np.int64)
    for d in range(deals):
        number = 0
        for g in range(games):
            there = 0
            for bot in range(n):  # bots by rank, the last one first
                if ranks[d, g, bot] < 0:
                    continue
                i = there
                there += 1
                while i > 0 and ranks[d, g, order[i - 1]] < ranks[d, g, bot]:
                    order[i] = order[i - 1]
                    i -= 1
                order[i] = bot
            behind, i = 0, 0
            while i < there:
                k = 1
                while i + k < there and ranks[d, g, order[i + k]] == ranks[d, g, order[i]]:
                    k += 1
                for subset in range(1, 1 << k):
                    code, s = behind, 0
                    for j in range(k):
                        if subset >> j & 1:
                            code += radix[order[i + j]]
                            s += 1
                    if seen[code] == 0:
                        touched[number] = code
                        number += 1
                    seen[code] += ways[k, s]
                for j in range(k):
                    behind += radix[order[i + j]]
                i += k
        if fill:
            at = first[d]
            for i in range(number):
                codes[at + i] = touched[i]
                weights[at + i] = seen[touched[i]]
        else:
            first[d + 1] = first[d] + number
        for i in range(number):
            seen[touched[i]] = 0


def count_choices(ranks: NDArray[np.int64], name_of: list[int]) -> Choices:
    """The choices that rankings are made of.

    Args:
        ranks: int64 ``[deals, games, bots]``, lower is better, equal is level; any scale from 0 up. Below 0:
            the bot was not in that game.
        name_of: for each bot the number of its name, 0 and up; copies of one bot share one.

    Raises:
        ValueError: a bot was in more games of one deal than of another: the bootstrap draws deals, so each
            must hold the same games.
    """
    deals = len(ranks)
    played = (ranks >= 0).sum(axis=1)
    if (played != played[:1]).any():
        raise ValueError("ranks: a bot was not in as many games of each deal; every deal must have the same")
    copies = np.bincount(name_of)
    # A choice set is coded by how many bots of each name it holds, in a number system of mixed base.
    base = np.concatenate([[1], np.cumprod(copies + 1)[:-1]]).astype(np.int64)
    ways = np.zeros((MAX_SEATS + 1, MAX_SEATS + 1), np.int64)
    for k in range(MAX_SEATS + 1):
        for s in range(k + 1):
            ways[k, s] = CHOICE_UNIT // math.comb(k, s)
    ranks = np.ascontiguousarray(ranks, np.int64)
    radix, first = base[name_of], np.zeros(deals + 1, np.int64)
    nothing = np.zeros(0, np.int64)
    _count(ranks, radix, ways, first, nothing, nothing, False)
    codes, weight = np.zeros(first[-1], np.int64), np.zeros(first[-1], np.int64)
    _count(ranks, radix, ways, first, codes, weight, True)
    used, which = np.unique(codes, return_inverse=True)
    members = used[:, None] // base % (copies + 1)
    places = np.zeros(len(copies), np.int64)
    np.add.at(places, name_of, played[0] * CHOICE_UNIT)
    return Choices(len(copies), first, which.astype(np.int32), weight, members, places)


@kernel
def _ln(x: float) -> float:
    """Natural logarithm by its series, in an order that is the same everywhere; to about 1e-16."""
    fraction, exponent = math.frexp(x)
    if fraction < 0.7071067811865476:
        fraction *= 2.0
        exponent -= 1
    y = (fraction - 1.0) / (fraction + 1.0)
    total = 0.0
    for k in range(25, 0, -2):
        total = total * (y * y) + 2.0 / k
    return total * y + exponent * 0.6931471805599453


@allocating_kernel
def _fit(counts: Any, begin: Any, who: Any, times: Any, taken: Any, prior: float, strength: Any) -> int:
    """Strengths of highest likelihood, from those given; returns the number of steps.

    ``counts[set]`` and ``taken[name]`` are weights; the members of a set are ``who`` and how many of each,
    ``times``, from ``begin[set]`` up to ``begin[set + 1]``. ``prior`` is the weight of the virtual drawn
    games of each bot, spread evenly over the others.
    """
    m = len(strength)
    below_line = np.zeros(m)
    for step in range(MAX_STEPS):
        for i in range(m):
            below_line[i] = 0.0
        for c in range(len(counts)):
            if counts[c] > 0:
                total = 0.0
                for e in range(begin[c], begin[c + 1]):
                    total += times[e] * strength[who[e]]
                part = counts[c] / total
                for e in range(begin[c], begin[c + 1]):
                    below_line[who[e]] += times[e] * part
        for i in range(m):
            for j in range(i):
                part = prior / (m - 1) / (strength[i] + strength[j])
                below_line[i] += part
                below_line[j] += part
        total = 0.0
        for i in range(m):
            below_line[i] = (taken[i] + prior / 2.0) / below_line[i]
            total += below_line[i]
        change = 0.0
        for i in range(m):
            new = below_line[i] * m / total
            change = max(change, abs(new / strength[i] - 1.0))
            strength[i] = new
        if change < TOLERANCE:
            return step + 1
    return MAX_STEPS


@kernel
def _logs(strength: Any, logs: Any) -> None:
    """Natural logarithms, less their mean."""
    total = 0.0
    for i in range(len(strength)):
        logs[i] = _ln(strength[i])
        total += logs[i]
    for i in range(len(strength)):
        logs[i] -= total / len(strength)


@allocating_kernel
def _fit_resamples(
    first: Any, which: Any, weight: Any, single: Any, begin: Any, who: Any, times: Any, places: Any,
    prior: float, rng: Any, strength: Any, logs: Any,
) -> None:  # fmt: skip
    """Row 0 of ``logs``: the fit to all deals; each further row: to as many deals, drawn with replacement."""
    deals, m = len(first) - 1, len(places)
    drawn = np.zeros(deals, np.int64)
    counts = np.zeros(len(single), np.int64)
    taken = np.zeros(m, np.int64)
    start = strength.copy()
    for b in range(len(logs)):
        for d in range(deals):
            drawn[d] = 0 if b else 1
        if b:
            for _ in range(deals):
                drawn[below(rng, deals)] += 1
        for c in range(len(counts)):
            counts[c] = 0
        for d in range(deals):
            if drawn[d]:
                for e in range(first[d], first[d + 1]):
                    counts[which[e]] += drawn[d] * weight[e]
        for i in range(m):
            taken[i] = deals * places[i]
        for c in range(len(counts)):
            if single[c] >= 0:  # who is alone is taken for sure: no choice
                taken[single[c]] -= counts[c]
                counts[c] = 0
        for i in range(m):
            strength[i] = start[i]
        _fit(counts, begin, who, times, taken, prior, strength)
        if b == 0:
            for i in range(m):
                start[i] = strength[i]
        _logs(strength, logs[b])


def fit(choices: Choices, resamples: int, seed: int, prior: float = 1.0) -> NDArray[np.float64]:
    """Natural logarithms of the fitted strengths, mean 0.

    Args:
        choices: of at least one deal.
        resamples: bootstrap resamples; resample b consists of the deals that draws ``b * deals`` and
            following of ``Rng(seed).below(deals)`` name, as in `mt_env.arena.stats.bootstrap_sums`.
        seed: of the resampling.
        prior: virtual games of each bot, all drawn, spread evenly over the others. They keep a bot that
            always wins at a finite distance, and hardly move any other.

    Returns:
        float64 ``[1 + resamples, names]``: row 0 fits all deals, each further row a resample.
    """
    logs = np.zeros((1 + resamples, choices.names))
    if choices.names == 1:
        return logs
    sets, who = np.nonzero(choices.members)
    begin = np.searchsorted(sets, np.arange(len(choices.members) + 1)).astype(np.int64)
    single = np.where(np.diff(begin) == 1, who[begin[:-1]], -1).astype(np.int64)
    times = choices.members[sets, who].astype(np.float64)
    _fit_resamples(
        choices.first, choices.which, choices.weight, single, begin, who.astype(np.int64), times,
        choices.places, prior * CHOICE_UNIT, Rng(seed).state, np.ones(choices.names), logs,
    )  # fmt: skip
    return logs

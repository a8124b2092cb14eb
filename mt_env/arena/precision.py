"""How many deals a wanted precision needs, and when a tournament that wants one looks at it.

The half width of the 95% interval of a mean over D deals is about ``t * s / sqrt(D)`` with s the standard
deviation between deals and t Student's quantile (Student, "The probable error of a mean", Biometrika 6,
1908). Variances are quotients of whole numbers, so equal games give equal values everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mt_env.arena.stats import LEVEL, student_quantile

FIRST_LOOK: Final[int] = 100
"""Deals after which a tournament with ``until`` looks for the first time."""


def looks(deals: int) -> Iterator[int]:
    """Deal counts at which a tournament of at most ``deals`` deals looks at its precision.

    100, then a quarter more each time, rounded down (125, 156, 195, ...), and ``deals`` itself at the end.
    """
    count = FIRST_LOOK
    while count < deals:
        yield count
        count += count // 4
    yield deals


def spread(values: NDArray[np.int64], divisor: int) -> float:
    """Standard deviation between deals of ``values / divisor``.

    Args:
        values: int64 ``[deals]``, one number for each deal; at least two.
        divisor: what their unit is divided by.
    """
    numbers = values.tolist()  # Python's whole numbers: squares of shares would overflow 64 bits when summed
    count, total = len(numbers), sum(numbers)
    scaled = count * sum(x * x for x in numbers) - total * total
    return math.sqrt(scaled / (count * (count - 1))) / divisor


def half_width(values: NDArray[np.int64], divisor: int) -> float:
    """Half the width of Student's 95% interval of the mean of ``values / divisor``; NaN with one deal."""
    count = len(values)
    if count < 2:
        return math.nan
    return student_quantile((1 + LEVEL) / 2, count - 1) * spread(values, divisor) / math.sqrt(count)


def deals_needed(values: NDArray[np.int64], divisor: int, wanted: float) -> int:
    """Deals after which the half width will be about ``wanted``; at least 2.

    Args:
        values: int64 ``[deals]``, what was seen; at least two.
        divisor: as in `spread`.
        wanted: the half width, above 0.
    """
    deviation, needed = spread(values, divisor), 2
    for _ in range(8):  # t depends on the answer a little; this settles after few rounds
        t = student_quantile((1 + LEVEL) / 2, max(3, needed - 1))
        needed = max(2, math.ceil((t * deviation / wanted) ** 2))
    return needed

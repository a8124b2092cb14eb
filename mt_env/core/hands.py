"""Sums over a hand and what of it fits where: what policies and candidate rows have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Int, bit, ctz, drop_lowest, popcount
from mt_env.core.jit import kernel
from mt_env.core.state import FITS, HIGH_OF, LOW_OF

_ZERO = np.uint64(0)


@kernel
def pips_of_hand(hand: Any, r: Any) -> Int:
    """Pips of a bit set of tiles, 0-0 as the rules count it."""
    total: Int = 0
    for word in range(3):
        left = hand[word]
        while left != _ZERO:
            tile = word * 64 + ctz(left)
            total += np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile])
            left = drop_lowest(left)
    if hand[0] & bit(0):
        total += np.int64(r["double_blank"])
    return total


@kernel
def pips_of_tile(tile: Int, r: Any) -> Int:
    """Pips of a tile in a hand, 0-0 as the rules count it."""
    if tile == 0:
        return np.int64(r["double_blank"])
    return np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile])


@kernel
def common(a: Any, b: Any) -> Int:
    """Tiles that two bit sets have in common."""
    return popcount(a[0] & b[0]) + popcount(a[1] & b[1]) + popcount(a[2] & b[2])


@kernel
def mobile_tiles(s: Any, seat: Int, train: Int, new_end: Int, rest: Any) -> Int:
    """Tiles of ``rest`` that fit an end open to ``seat`` once ``train`` shows ``new_end``."""
    n = np.int64(s["num_players"])
    first = second = third = _ZERO
    for other in range(n + 1):
        if other in (n, seat) or s["markers"][other] != 0:
            fits = FITS[new_end if other == train else np.int64(s["ends"][other])]
            first |= fits[0]
            second |= fits[1]
            third |= fits[2]
    return popcount(rest[0] & first) + popcount(rest[1] & second) + popcount(rest[2] & third)

"""Longest chain that a hand can lay from a value: a bounded depth-first search with an explicit stack.

A hand is a graph whose nodes are pip values and whose edges are tiles; a chain is a trail in it. A double
is a loop, so laying it on arrival never shortens the trail. Branches are tried best first (the neighbour
with most tiles left, then the higher value), so a small budget already finds most of the length.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mt_env.core.bits import Int, bit, ctz, drop_lowest, popcount
from mt_env.core.jit import kernel
from mt_env.core.state import HIGH_OF, LOW_OF

_ZERO = np.uint64(0)
_ADJ: Final[int] = 8  # 19 words: neighbours of each value
_NODE: Final[int] = 32  # path of values
_LEFT: Final[int] = 232  # neighbours not tried yet at each depth
_LOOP: Final[int] = 432  # whether the double was laid on arrival
WORK_SIZE: Final[int] = 640
"""Length of the ``int64`` scratch array that a search needs."""

BEST_PIPS: Final[int] = 0
"""Index in the scratch array: pips of the best chain."""
FIRST_TILE: Final[int] = 1
"""Index in the scratch array: first tile of the best chain, -1 without one."""
NODES: Final[int] = 2
"""Index in the scratch array: tiles tried by the search."""


@kernel
def _edge(a: Int, b: Int) -> Int:
    return b * (b + 1) // 2 + a if a <= b else a * (a + 1) // 2 + b


@kernel
def _choose(work: Any, left: Int) -> Int:
    """The neighbour to try next among the bits of ``left``: most tiles left, then the higher value."""
    best = -1
    best_degree = -1
    value = 0
    while left:
        if left & 1:
            degree = popcount(work[_ADJ + value])
            if degree >= best_degree:
                best = value
                best_degree = degree
        left >>= 1
        value += 1
    return best


@kernel
def _keep(work: Any, depth: Int, plan: Any) -> None:
    """Copy the tiles of the path into ``plan`` and note the first one."""
    plan[:] = _ZERO
    first = -1
    for d in range(depth + 1):
        here = work[_NODE + d]
        if d > 0:
            tile = _edge(work[_NODE + d - 1], here)
            plan[tile >> 6] |= bit(tile & 63)
            if first < 0:
                first = tile
        if work[_LOOP + d]:
            tile = _edge(here, here)
            plan[tile >> 6] |= bit(tile & 63)
            if first < 0:
                first = tile
    work[FIRST_TILE] = first


@kernel
def longest_chain(hand: Any, start: Int, budget: Int, blank: Int, work: Any, plan: Any) -> Int:
    """Length of the longest chain of ``hand`` from the value ``start``; the heavier one among equals.

    Args:
        hand: ``uint64[3]`` bit set of tiles; only read.
        start: value that the first tile must match.
        budget: most tiles tried; with enough of it the result is exact.
        blank: pips that 0-0 counts.
        work: scratch, ``int64[WORK_SIZE]``; ``BEST_PIPS``, ``FIRST_TILE`` and ``NODES`` are results.
        plan: written, ``uint64[3]``: the tiles of the chain found.

    Returns:
        Tiles in the chain found, 0 if nothing fits.
    """
    for value in range(19):
        work[_ADJ + value] = 0
    total = 0
    for word in range(3):
        left = hand[word]
        while left != _ZERO:
            tile = word * 64 + ctz(left)
            low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
            work[_ADJ + low] |= 1 << high
            work[_ADJ + high] |= 1 << low
            total += 1
            left = drop_lowest(left)
    plan[:] = _ZERO
    work[FIRST_TILE] = -1
    work[BEST_PIPS] = 0
    work[NODES] = 0
    best = 0
    best_pips = 0
    length = 0
    pips = 0
    nodes = 0
    depth = 0
    here = np.int64(start)
    work[_NODE] = here
    arrived = True
    while True:
        if arrived:
            here = work[_NODE + depth]
            loop = (work[_ADJ + here] >> here) & 1
            work[_LOOP + depth] = loop
            if loop:
                work[_ADJ + here] ^= 1 << here
                length += 1
                pips += 2 * here if here > 0 else blank
            work[_LEFT + depth] = work[_ADJ + here]
            if length > best or (length == best and pips > best_pips):
                best = length
                best_pips = pips
                _keep(work, depth, plan)
                if best == total:
                    break
            arrived = False
        here = work[_NODE + depth]
        left_here = work[_LEFT + depth]
        if left_here != 0 and nodes < budget:
            there = _choose(work, left_here)
            work[_LEFT + depth] = left_here ^ (1 << there)
            work[_ADJ + here] ^= 1 << there
            work[_ADJ + there] ^= 1 << here
            length += 1
            pips += here + there
            nodes += 1
            depth += 1
            work[_NODE + depth] = there
            arrived = True
            continue
        if work[_LOOP + depth]:
            work[_ADJ + here] ^= 1 << here
            length -= 1
            pips -= 2 * here if here > 0 else blank
        if depth == 0:
            break
        depth -= 1
        back = work[_NODE + depth]
        work[_ADJ + here] ^= 1 << back
        work[_ADJ + back] ^= 1 << here
        length -= 1
        pips -= here + back
    work[BEST_PIPS] = best_pips
    work[NODES] = nodes
    return best

"""Compiled rule bots: one kernel each, all through ``policy_action``.

A policy reads only what the seat to move may know: its own hand, sizes, and what lies on the table. It is
given the game's record for speed, and chooses alike when the hidden tiles are reshuffled (tested).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import below, bit, ctz, drop_lowest, popcount
from mt_env.core.chains import BEST_PIPS, FIRST_TILE, WORK_SIZE, longest_chain
from mt_env.core.jit import kernel
from mt_env.core.moves import access, fits_any, legal_actions, opening_turn, play_train
from mt_env.core.state import FITS, HIGH_OF, LOW_OF, MAX_LEGAL

RANDOM: Final[int] = 0
"""Every legal action is as likely."""
HEAVIEST: Final[int] = 1
"""The tile with most pips; its own train among equals."""
PLANNER: Final[int] = 2
"""Keeps its longest chain (400 nodes a search) and gives spare tiles to other trains."""
PLANNER_FAST: Final[int] = 3
"""``PLANNER`` with 30 nodes a search, for playouts."""

PLANNER_NODES: Final[int] = 400
"""Budget of a chain search of ``planner``; part of its name's meaning."""
PLANNER_FAST_NODES: Final[int] = 30
"""Budget of a chain search of ``planner-fast``."""

_CHAIN_TILE: Final[float] = 1.0
_SPARE_TILE: Final[float] = 2.2
_SPARE_PIP: Final[float] = 0.06
_CHAIN_PIP: Final[float] = 0.03
_BARE_DOUBLE: Final[float] = 1.5
_OPEN_OWN: Final[float] = 1.0
_ZERO = np.uint64(0)

Scratch = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]
"""Working memory of a policy: chain search, bit sets ``[3, 3]``, legal action ids."""


def new_scratch() -> Scratch:
    """Working memory for one thread's ``policy_action`` calls; contents carry nothing between calls."""
    return np.zeros(WORK_SIZE, np.int64), np.zeros((3, 3), np.uint64), np.zeros(MAX_LEGAL, np.int64)


@kernel
def _pips_of(hand: Any, r: Any) -> int:
    """Pips of a bit set of tiles, 0-0 as the rules count it."""
    total = 0
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
def _pips(tile: int, r: Any) -> int:
    if tile == 0:
        return np.int64(r["double_blank"])
    return np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile])


@kernel
def heaviest_action(s: Any, r: Any, legal: Any, count: int) -> int:
    """The legal play with most pips, the first in id order among equals; a pass only if nothing else."""
    tiles = np.int64(s["num_tiles"])
    best = np.int64(legal[0])
    most = -1
    for i in range(count):
        action = np.int64(legal[i])
        if action >= r["draw_id"]:
            continue
        weight = _pips(action % tiles, r)
        if weight > most:
            most = weight
            best = action
    return best


@kernel
def _double_is_bare(s: Any, r: Any, seat: int, train: int, value: int, rest: Any) -> bool:
    """Whether the double of ``value`` on ``train`` would leave ``seat`` with no tile to lay after it."""
    fits = FITS[value]
    if (rest[0] & fits[0]) | (rest[1] & fits[1]) | (rest[2] & fits[2]):
        return False
    if r["on_double"] != 0:
        return True
    trains = access(s, r) & ~(1 << train)
    for other in range(np.int64(s["num_players"]) + 1):
        if (trains >> other) & 1:
            fits = FITS[np.int64(s["ends"][other])]
            if (rest[0] & fits[0]) | (rest[1] & fits[1]) | (rest[2] & fits[2]):
                return False
    return True


@kernel
def planner_action(s: Any, r: Any, legal: Any, count: int, budget: int, scratch: Any) -> int:
    """The play that leaves the cheapest hand.

    A hand costs its longest own chain (a tile each) and, dearer, the spare tiles outside it, both with
    their pips. Laying a double that cannot be followed and leaving a marked own train alone cost extra.
    """
    work, sets, _ = scratch
    plan, other_plan, rest = sets[0], sets[1], sets[2]
    seat = np.int64(s["turn"])
    tiles = np.int64(s["num_tiles"])
    hand = s["hands"][seat]
    end = np.int64(s["ends"][seat])
    longest = longest_chain(hand, end, budget, work, plan)
    longest_pips = np.int64(work[BEST_PIPS])
    first = np.int64(work[FIRST_TILE])
    opening = opening_turn(s, r)
    if opening and longest > 0:
        return first
    size = np.int64(s["hand_sizes"][seat])
    pips = _pips_of(hand, r)
    best = np.int64(legal[0])
    cheapest = 1e18
    for i in range(count):
        action = np.int64(legal[i])
        if action >= r["draw_id"]:
            continue
        tile = action % tiles
        train = play_train(s, action)
        own = train == seat
        if own and tile != first:
            continue
        low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
        rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]
        rest[tile >> 6] &= ~bit(tile & 63)
        in_plan = (plan[tile >> 6] & bit(tile & 63)) != _ZERO
        if own:
            chain = longest - 1
            chain_pips = longest_pips - low - high
        elif not in_plan:
            chain = longest
            chain_pips = longest_pips
        else:
            chain = longest_chain(rest, end, budget, work, other_plan)
            chain_pips = np.int64(work[BEST_PIPS])
        spare = size - 1 - chain
        spare_pips = pips - _pips(tile, r) - chain_pips
        cost = _CHAIN_TILE * chain + _SPARE_TILE * spare + _CHAIN_PIP * chain_pips + _SPARE_PIP * spare_pips
        if low == high and _double_is_bare(s, r, seat, train, low, rest):
            cost += _BARE_DOUBLE
        if not own and s["markers"][seat] != 0 and chain > 0:
            cost += _OPEN_OWN
        if cost < cheapest:
            cheapest = cost
            best = action
    return best


@kernel
def policy_action(s: Any, r: Any, kind: int, rng: Any, scratch: Any) -> int:
    """Action id that the policy ``kind`` (``RANDOM``, ``HEAVIEST``, ...) chooses for the seat to move.

    Args:
        s: the game, or what the seat to move may know of it.
        r: the rules.
        kind: which policy.
        rng: ``uint64[1]``, the policy's own generator; read only where there is a choice.
        scratch: from ``new_scratch()``.
    """
    legal = scratch[2]
    count = legal_actions(s, r, legal)
    if count == 1:
        return np.int64(legal[0])
    if kind == RANDOM:
        return np.int64(legal[below(rng, count)])
    if kind == HEAVIEST:
        return heaviest_action(s, r, legal, count)
    budget = PLANNER_NODES if kind == PLANNER else PLANNER_FAST_NODES
    return planner_action(s, r, legal, count, budget, scratch)

"""Compiled rule bots: one kernel each, all through ``policy_action``.

A policy reads only what the seat to move may know: its own hand, sizes, and what lies on the table. It is
given the game's record for speed, and chooses alike when the hidden tiles are reshuffled (tested).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import Int, below, bit
from mt_env.core.chains import BEST_PIPS, FIRST_TILE, WORK_SIZE, longest_chain
from mt_env.core.hands import mobile_tiles, pips_of_hand, pips_of_tile
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions, opening_turn, play_train
from mt_env.core.state import HIGH_OF, LOW_OF, MAX_LEGAL
from mt_env.core.tactics import NUM_TACTICS, WEIGHTS, tactician_action

RANDOM: Final[int] = 0
"""Every legal action is as likely."""
HEAVIEST: Final[int] = 1
"""The tile with most pips; its own train among equals."""
PLANNER: Final[int] = 2
"""Keeps its longest chain (400 nodes a search) and gives spare tiles to other trains."""
PLANNER_FAST: Final[int] = 3
"""``PLANNER`` with 30 nodes a search, for playouts."""
DOUBLES_FIRST: Final[int] = 4
"""A double whenever one may be laid, else as ``HEAVIEST``."""
TACTICIAN: Final[int] = 5
"""Weighs its plan, what the others can do with a play, and how near the end is; `mt_env.core.tactics`."""

PLANNER_NODES: Final[int] = 400
"""Budget of a chain search of ``planner``; part of its name's meaning."""
PLANNER_FAST_NODES: Final[int] = 30
"""Budget of a chain search of ``planner-fast``."""

# What the planner's plays cost, in tiles of its own chain. Found by a random search over matches against
# three heaviest (4 seats, D12, all presets); docs/arena.md has the resulting strength.
_SPARE_TILE: Final[float] = 10.0
_SPARE_PIP: Final[float] = 0.1
_CHAIN_PIP: Final[float] = 0.005
_MOBILE_TILE: Final[float] = 1.0
_DOUBLE_LAID: Final[float] = 5.0
_OWN_PLAY: Final[float] = 3.0
_MARKER_LEFT: Final[float] = 9.0
_DOUBLE_BONUS: Final[int] = 1000  # more pips than any tile counts
_ZERO = np.uint64(0)

Scratch = tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int64]]
"""Working memory of a policy: chain search, bit sets ``[3, 3]``, legal action ids."""


def new_scratch() -> Scratch:
    """Working memory for one thread's ``policy_action`` calls; contents carry nothing between calls."""
    return (
        np.zeros(WORK_SIZE + 2 * NUM_TACTICS, np.int64),
        np.zeros((3, 3), np.uint64),
        np.zeros(MAX_LEGAL, np.int64),
    )


@kernel
def heaviest_action(s: Any, r: Any, legal: Any, count: Int, double_bonus: Int) -> Int:
    """The legal play with most pips, the first in id order among equals; a pass only if nothing else.

    ``double_bonus`` is added to the pips of a double.
    """
    tiles = np.int64(s["num_tiles"])
    best = np.int64(legal[0])
    most = -1
    for i in range(count):
        action = np.int64(legal[i])
        if action >= r["draw_id"]:
            continue
        tile = action % tiles
        weight = pips_of_tile(tile, r)
        if LOW_OF[tile] == HIGH_OF[tile]:
            weight += double_bonus
        if weight > most:
            most = weight
            best = action
    return best


@kernel
def planner_action(s: Any, r: Any, legal: Any, count: Int, budget: Int, scratch: Any) -> Int:
    """The play that leaves the cheapest hand.

    A hand costs its longest own chain (one for each tile) and, much dearer, the spare tiles outside it,
    both with their pips. Tiles that still fit an open end, a double got rid of and a play on its own train
    are worth something; leaving its own train marked costs. In an opening chain it lays the longest chain.
    """
    work, sets, _ = scratch
    plan, other_plan, rest = sets[0], sets[1], sets[2]
    seat = np.int64(s["turn"])
    tiles = np.int64(s["num_tiles"])
    hand = s["hands"][seat]
    end = np.int64(s["ends"][seat])
    blank = np.int64(r["double_blank"])
    rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]  # an array of one kind: one compiled search
    longest = longest_chain(rest, end, budget, blank, work, plan)
    longest_pips = np.int64(work[BEST_PIPS])
    first = np.int64(work[FIRST_TILE])
    if opening_turn(s, r) and longest > 0:
        return first
    size = np.int64(s["hand_sizes"][seat])
    pips = pips_of_hand(hand, r)
    best = np.int64(legal[0])
    cheapest = np.inf
    for i in range(count):
        action = np.int64(legal[i])
        if action >= r["draw_id"]:
            continue
        tile = action % tiles
        train = play_train(s, action)
        own = train == seat
        low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
        laid = pips_of_tile(tile, r)
        rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]
        rest[tile >> 6] &= ~bit(tile & 63)
        in_plan = (plan[tile >> 6] & bit(tile & 63)) != _ZERO
        if own and tile == first:
            chain = longest - 1
            chain_pips = longest_pips - laid
        elif own or in_plan:
            after = low + high - end if own else end
            chain = longest_chain(rest, after, budget, blank, work, other_plan)
            chain_pips = np.int64(work[BEST_PIPS])
        else:
            chain = longest
            chain_pips = longest_pips
        spare = size - 1 - chain
        spare_pips = pips - laid - chain_pips
        cost = chain + _SPARE_TILE * spare + _CHAIN_PIP * chain_pips + _SPARE_PIP * spare_pips
        new_end = low + high - np.int64(s["ends"][train])
        cost -= _MOBILE_TILE * mobile_tiles(s, seat, train, new_end, rest)
        if low == high:
            cost -= _DOUBLE_LAID
        if own:
            cost -= _OWN_PLAY
        elif s["markers"][seat] != 0 and chain > 0:
            cost += _MARKER_LEFT
        if cost < cheapest:
            cheapest = cost
            best = action
    return best


@kernel
def policy_action(s: Any, r: Any, kind: Int, rng: Any, scratch: Any) -> Int:
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
    if kind in (HEAVIEST, DOUBLES_FIRST):
        return heaviest_action(s, r, legal, count, _DOUBLE_BONUS if kind == DOUBLES_FIRST else 0)
    if kind == TACTICIAN:
        return tactician_action(s, r, legal, count, WEIGHTS, scratch)
    budget = PLANNER_NODES if kind == PLANNER else PLANNER_FAST_NODES
    return planner_action(s, r, legal, count, budget, scratch)

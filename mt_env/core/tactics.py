"""The ``tactician``: a weighted sum of what a play does to the hand, the table and the other seats.

`TACTICS` names the quantities. Each has two weights, one for the middle of a round and one that is added as
its end comes near; the play with the lowest sum is chosen. All of it is whole numbers, so it is the same on
every platform. ``training/tune_tactician.py`` found the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import Int, bit, popcount
from mt_env.core.chains import BEST_PIPS, FIRST_TILE, WORK_SIZE, longest_chain
from mt_env.core.hands import common, pips_of_hand, pips_of_tile
from mt_env.core.jit import kernel
from mt_env.core.moves import opening_turn, play_train
from mt_env.core.state import FITS, HIGH_OF, LOW_OF, MAX_TILES, UNABLE_LEVELS

TACTICIAN_NODES: Final[int] = 400
"""Budget of a chain search of ``tactician``."""

DANGER_LEVELS: Final[int] = 8
"""Danger at its highest: the boneyard is empty, or another seat has no tile left."""

CHANCE: Final[int] = 64
"""What a certainty counts in `chance`."""

TACTICS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "chain": "tiles of the longest chain that the hand can lay on its own train afterwards",
        "spare": "tiles outside that chain",
        "chain_pips": "pips of the chain",
        "spare_pips": "pips of the spare tiles",
        "mobile": "tiles that fit an end open to the seat afterwards",
        "spare_mobile": "spare tiles among them",
        "double": "1 for a double",
        "cover": "tiles left that fit that double, at most 3",
        "bare": "1 for a double after which the seat has nothing to lay",
        "own": "1 for a play on its own train",
        "closes": "1 if that takes its marker off",
        "marked": "1 for a play elsewhere while its own train is marked and it has a chain to lay there",
        "marked_chain": "the tiles of that chain",
        "stuck": "1 if tiles are left and none fits its own train",
        "lost": "values of the tile that no other tile of the hand has, at most 2",
        "rare": "tiles not on the table that share a value with the tile",
        "spare_doubles": "doubles among the spare tiles",
        "chain_doubles": "doubles in the chain",
        "next": "how much likelier the next seat can play on that train afterwards, in 64ths",
        "others": "the same, summed over the seats after the next",
        "least": "the same for the seat with the smallest hand, the next one among equals",
        "left": "doubles of this turn that stay open",
        "left_next": "chances that the next seat can cover them, in 64ths",
        "left_mine": "how many of them the seat can cover itself, should they come round",
    }
)
"""Name -> meaning of each quantity of a play, in order."""

NUM_TACTICS: Final[int] = len(TACTICS)
"""Quantities of a play."""

TACTICIAN_WEIGHTS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "chain": (1000, 0),
        "spare": (10000, 0),
        "chain_pips": (5, 0),
        "spare_pips": (100, 0),
        "mobile": (-1000, 0),
        "spare_mobile": (0, 0),
        "double": (-5000, 0),
        "cover": (0, 0),
        "bare": (0, 0),
        "own": (-3000, 0),
        "closes": (0, 0),
        "marked": (9000, 0),
        "marked_chain": (0, 0),
        "stuck": (0, 0),
        "lost": (0, 0),
        "rare": (0, 0),
        "spare_doubles": (0, 0),
        "chain_doubles": (0, 0),
        "next": (0, 0),
        "others": (0, 0),
        "least": (0, 0),
        "left": (0, 0),
        "left_next": (0, 0),
        "left_mine": (0, 0),
    }
)
"""What each quantity costs, always and in addition at full danger; negative: what it is worth."""


def weights_array(weights: Mapping[str, tuple[int, int]]) -> NDArray[np.int64]:
    """Weights as the kernel reads them, int64 ``[2, NUM_TACTICS]``, read-only: always, added at full danger.

    Args:
        weights: a pair for each name of `TACTICS`, whole numbers below 10**9 in size.

    Raises:
        ValueError: other names than those of `TACTICS`.
    """
    if set(weights) != set(TACTICS):
        wrong = sorted(set(weights) ^ set(TACTICS))
        raise ValueError(f"weights: {', '.join(wrong)} missing or unknown; give one pair for each of TACTICS")
    out = np.array([[weights[name][i] for name in TACTICS] for i in range(2)], np.int64)
    out.flags.writeable = False
    return out


WEIGHTS: Final[NDArray[np.int64]] = weights_array(TACTICIAN_WEIGHTS)
"""`TACTICIAN_WEIGHTS` as an array."""

_AT: Final[dict[str, int]] = {name: i for i, name in enumerate(TACTICS)}
_CHAIN, _SPARE = _AT["chain"], _AT["spare"]
_CHAIN_PIPS, _SPARE_PIPS = _AT["chain_pips"], _AT["spare_pips"]
_MOBILE, _SPARE_MOBILE = _AT["mobile"], _AT["spare_mobile"]
_DOUBLE, _COVER, _BARE = _AT["double"], _AT["cover"], _AT["bare"]
_OWN, _CLOSES, _MARKED, _MARKED_CHAIN = _AT["own"], _AT["closes"], _AT["marked"], _AT["marked_chain"]
_STUCK, _LOST, _RARE = _AT["stuck"], _AT["lost"], _AT["rare"]
_SPARE_DOUBLES, _CHAIN_DOUBLES = _AT["spare_doubles"], _AT["chain_doubles"]
_NEXT, _OTHERS, _LEAST = _AT["next"], _AT["others"], _AT["least"]
_LEFT, _LEFT_NEXT, _LEFT_MINE = _AT["left"], _AT["left_next"], _AT["left_mine"]

_ZERO = np.uint64(0)


def _doubles() -> NDArray[np.uint64]:
    out = np.zeros(3, np.uint64)
    for tile in range(MAX_TILES):
        if LOW_OF[tile] == HIGH_OF[tile]:
            out[tile // 64] |= np.uint64(1 << (tile % 64))
    return out


_DOUBLES: Final[NDArray[np.uint64]] = _doubles()


@kernel
def chance(s: Any, other: Int, value: Int, hidden: Int) -> Int:
    """About how likely the seat ``other`` holds a tile with ``value``, from 0 to `CHANCE`.

    With x the number of such tiles that a hand of its size has on average, x / (1 + x), less what it was
    seen to lack. The seat to move knows its own hand and the table.

    Args:
        s: the game, or what the seat to move may know of it.
        other: another seat.
        value: the value.
        hidden: tiles that the seat to move cannot see.
    """
    unseen = np.int64(s["unplayed"][value]) - common(s["hands"][np.int64(s["turn"])], FITS[value])
    mean = CHANCE * unseen * np.int64(s["hand_sizes"][other]) // max(hidden, 1)
    able = UNABLE_LEVELS - np.int64(s["unable"][other, value])
    return CHANCE * mean * able // ((CHANCE + mean) * UNABLE_LEVELS)


@kernel
def _of_the_table(s: Any, tile: Int, train: Int, rest: Any, least: Int, hidden: Int, row: Any) -> None:
    """What laying ``tile`` on ``train`` gives to the other seats and leaves for them to cover."""
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    following = (seat + 1) % n
    old_end = np.int64(s["ends"][train])
    new_end = np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile]) - old_end
    for step in range(1, n):
        other = (seat + step) % n
        change: Int = 0
        if train == seat:  # closed by this play
            if s["markers"][seat] != 0:
                change = -chance(s, other, old_end, hidden)
        elif train == n or train == other or s["markers"][train] != 0:
            change = chance(s, other, new_end, hidden) - chance(s, other, old_end, hidden)
        row[_NEXT if other == following else _OTHERS] += change
        if other == least:
            row[_LEAST] = change
    if row[_DOUBLE] == 0:
        for i in range(np.int64(s["num_owed"])):
            owed = np.int64(s["owed_trains"][i])
            if owed != train:
                value = np.int64(s["ends"][owed])
                row[_LEFT] += 1
                row[_LEFT_NEXT] += chance(s, following, value, hidden)
                row[_LEFT_MINE] += 1 if common(rest, FITS[value]) > 0 else 0


@kernel
def _of_the_hand(s: Any, r: Any, tile: Int, train: Int, rest: Any, plan: Any, row: Any) -> None:
    """What laying ``tile`` on ``train`` leaves in the hand: ``rest``, of which ``plan`` is the chain."""
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
    new_end = low + high - np.int64(s["ends"][train])
    left = row[_CHAIN] + row[_SPARE]
    for word in range(3):
        fits = _ZERO
        for other in range(n + 1):
            if other in (n, seat) or s["markers"][other] != 0:
                fits |= FITS[new_end if other == train else np.int64(s["ends"][other]), word]
        spare = rest[word] & ~plan[word]
        row[_MOBILE] += popcount(rest[word] & fits)
        row[_SPARE_MOBILE] += popcount(spare & fits)
        row[_SPARE_DOUBLES] += popcount(spare & _DOUBLES[word])
        row[_CHAIN_DOUBLES] += popcount(rest[word] & plan[word] & _DOUBLES[word])
    low_left, high_left = common(rest, FITS[low]), common(rest, FITS[high])
    row[_LOST] = (1 if low_left == 0 else 0) + (1 if high_left == 0 and low != high else 0)
    row[_RARE] = np.int64(s["unplayed"][low]) + (np.int64(s["unplayed"][high]) if low != high else 0)
    if low == high:
        row[_DOUBLE] = 1
        row[_COVER] = min(low_left, 3)
        follows = low_left if r["on_double"] != 0 else row[_MOBILE]
        if follows == 0 and (left > 0 or r["out_on_double"] == 0):
            row[_BARE] = 1
    if train == seat:
        row[_OWN] = 1
        row[_CLOSES] = np.int64(s["markers"][seat])
    elif s["markers"][seat] != 0 and row[_CHAIN] > 0:
        row[_MARKED] = 1
        row[_MARKED_CHAIN] = row[_CHAIN]
    if left > 0 and row[_CHAIN] == 0:
        row[_STUCK] = 1


@kernel
def tactician_action(s: Any, r: Any, legal: Any, count: Int, weights: Any, scratch: Any) -> Int:
    """The play whose weighted quantities sum to least, the first in id order among equals.

    In an opening chain it lays the longest chain.

    Args:
        s: the game, or what the seat to move may know of it.
        r: the rules.
        legal: its legal action ids, ascending.
        count: how many.
        weights: from `weights_array`.
        scratch: from `mt_env.core.policies.new_scratch`.
    """
    work, sets, _ = scratch
    plan, other_plan, rest = sets[0], sets[1], sets[2]
    costs, row = work[WORK_SIZE : WORK_SIZE + NUM_TACTICS], work[WORK_SIZE + NUM_TACTICS :]
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    tiles = np.int64(s["num_tiles"])
    hand = s["hands"][seat]
    end = np.int64(s["ends"][seat])
    blank = np.int64(r["double_blank"])
    longest = longest_chain(hand, end, TACTICIAN_NODES, blank, work, plan)
    longest_pips = np.int64(work[BEST_PIPS])
    first = np.int64(work[FIRST_TILE])
    if opening_turn(s, r) and longest > 0:
        return first
    hidden: Int = np.int64(s["boneyard_size"])
    smallest: Int = np.int64(255)
    least: Int = seat
    for step in range(1, n):
        other = (seat + step) % n
        held = np.int64(s["hand_sizes"][other])
        hidden += held
        if held < smallest:
            smallest = held
            least = other
    danger = DANGER_LEVELS if s["boneyard_size"] == 0 else max(DANGER_LEVELS - smallest, 0)
    for i in range(NUM_TACTICS):
        costs[i] = DANGER_LEVELS * weights[0, i] + danger * weights[1, i]
    size = np.int64(s["hand_sizes"][seat])
    pips = pips_of_hand(hand, r)
    best = np.int64(legal[0])
    cheapest = np.int64(0)
    found = False
    for i in range(count):
        action = np.int64(legal[i])
        if action >= r["draw_id"]:
            continue
        tile = action % tiles
        train = play_train(s, action)
        rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]
        rest[tile >> 6] &= ~bit(tile & 63)
        laid = pips_of_tile(tile, r)
        row[:] = 0
        chain: Int = longest
        chain_pips: Int = longest_pips
        kept = plan
        if train == seat and tile == first:
            chain -= 1
            chain_pips -= laid
        elif train == seat or (plan[tile >> 6] & bit(tile & 63)) != _ZERO:
            after = np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile]) - end if train == seat else end
            chain = longest_chain(rest, after, TACTICIAN_NODES, blank, work, other_plan)
            chain_pips = np.int64(work[BEST_PIPS])
            kept = other_plan
        row[_CHAIN] = chain
        row[_SPARE] = size - 1 - chain
        row[_CHAIN_PIPS] = chain_pips
        row[_SPARE_PIPS] = pips - laid - chain_pips
        _of_the_hand(s, r, tile, train, rest, kept, row)
        _of_the_table(s, tile, train, rest, least, hidden, row)
        cost = np.int64(0)
        for k in range(NUM_TACTICS):
            cost += costs[k] * row[k]
        if not found or cost < cheapest:
            found = True
            cheapest = cost
            best = action
    return best

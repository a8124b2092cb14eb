"""The ``tactician``: a weighted sum of what a play does to the hand, the table and the other seats.

`TACTICS` names the quantities. Each has three weights: one for the middle of a round, one that is added as
its end comes near, and one for opening chains; the play with the lowest sum is chosen. All of it is whole
numbers, so it is the same on every platform. ``training/tune_tactician.py`` found the weights.
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
from mt_env.core.state import FITS, HIGH_OF, LOW_OF, UNABLE_LEVELS
from mt_env.tiles import MAX_TILES

TACTICIAN_NODES: Final[int] = 400
"""Budget of a chain search of ``tactician``."""

OPENING_NODES: Final[int] = 2000
"""The same in an opening chain, which lays most of a hand at once."""

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
        "bare": "1 for a double that the seat must cover itself and cannot",
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

# Found by `training/tune_tactician.py --seed 1 --generations 150 --pairs 16`, as it looked in generation 80,
# where it was stopped: with script and kernel as of commit 3181c83, from the planner's weights and with the
# planner's opening chains. The third column is the planner's rule: fewest tiles left, then fewest pips.
# Shorter searches from here (seeds 2 and 3) found nothing better on other deals; strength: docs/arena.md.
TACTICIAN_WEIGHTS: Final[Mapping[str, tuple[int, int, int]]] = MappingProxyType(
    {
        "chain": (-508, 446, 0),
        "spare": (14134, 229, 10000),
        "chain_pips": (23, 15, 0),
        "spare_pips": (231, -98, 100),
        "mobile": (-474, 55, 0),
        "spare_mobile": (944, -880, 0),
        "double": (-8445, -3093, 0),
        "cover": (2751, -1007, 0),
        "bare": (-4767, 1798, 0),
        "own": (-4593, -692, 0),
        "closes": (980, -3709, 0),
        "marked": (7720, -5691, 0),
        "marked_chain": (77, 430, 0),
        "stuck": (2420, 17, 0),
        "lost": (-848, -269, 0),
        "rare": (70, -44, 0),
        "spare_doubles": (1175, 3914, 0),
        "chain_doubles": (259, 533, 0),
        "next": (93, 13, 0),
        "others": (45, 67, 0),
        "least": (82, 108, 0),
        "left": (2473, -1015, 0),
        "left_next": (-48, -50, 0),
        "left_mine": (1332, -586, 0),
    }
)
"""What each quantity costs: always, in addition at full danger, in an opening chain instead of both.

Negative: what it is worth.
"""


def weights_array(weights: Mapping[str, tuple[int, int, int]]) -> NDArray[np.int64]:
    """Weights as the kernel reads them, int64 ``[3, NUM_TACTICS]``, read-only.

    Args:
        weights: three for each name of `TACTICS`, as in `TACTICIAN_WEIGHTS`; below 10**9 in size.

    Raises:
        ValueError: other names than those of `TACTICS`.
    """
    if set(weights) != set(TACTICS):
        wrong = sorted(set(weights) ^ set(TACTICS))
        raise ValueError(
            f"weights: {', '.join(wrong)} missing or unknown; give three numbers for each of TACTICS"
        )
    out = np.array([[weights[name][i] for name in TACTICS] for i in range(3)], np.int64)
    out.flags.writeable = False
    return out


WEIGHTS: Final[NDArray[np.int64]] = weights_array(TACTICIAN_WEIGHTS)
"""`TACTICIAN_WEIGHTS` as an array."""

# A kernel keeps the quantities of the play at hand, then what each costs, behind the search's scratch.
_ROW: Final[int] = WORK_SIZE
_COST: Final[int] = WORK_SIZE + NUM_TACTICS
_AT: Final[dict[str, int]] = {name: _ROW + i for i, name in enumerate(TACTICS)}
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
def _weigh(s: Any, r: Any, tile: Int, train: Int, rest: Any, plan: Any, least: Int, work: Any) -> None:
    """Write into ``work``, where the chain and zeros stand, what laying ``tile`` on ``train`` does.

    ``rest`` is the hand without the tile, ``plan`` its chain, ``least`` the seat with the smallest hand.
    """
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
    old_end = np.int64(s["ends"][train])
    new_end = low + high - old_end
    mine = train == seat
    marked = s["markers"][seat] != 0
    # The hand.
    chain = work[_CHAIN]
    mobile = spare_mobile = spare_doubles = chain_doubles = 0
    for word in range(3):
        fits = _ZERO
        for other in range(n + 1):
            if other in (n, seat) or s["markers"][other] != 0:
                fits |= FITS[new_end if other == train else np.int64(s["ends"][other]), word]
        spare = rest[word] & ~plan[word]
        mobile += popcount(rest[word] & fits)
        spare_mobile += popcount(spare & fits)
        spare_doubles += popcount(spare & _DOUBLES[word])
        chain_doubles += popcount(rest[word] & plan[word] & _DOUBLES[word])
    work[_MOBILE], work[_SPARE_MOBILE] = mobile, spare_mobile
    work[_SPARE_DOUBLES], work[_CHAIN_DOUBLES] = spare_doubles, chain_doubles
    low_left, high_left = common(rest, FITS[low]), common(rest, FITS[high])
    lost = 1 if low_left == 0 else 0
    rare = np.int64(s["unplayed"][low])
    left = chain + work[_SPARE]
    if low != high:
        lost += 1 if high_left == 0 else 0
        rare += np.int64(s["unplayed"][high])
    else:
        work[_DOUBLE] = 1
        work[_COVER] = low_left if low_left < 3 else 3
        # Where the tile owed may go anywhere, the choice of a double never decides whether there is one.
        if r["on_double"] != 0 and low_left == 0 and (left > 0 or r["out_on_double"] == 0):
            work[_BARE] = 1
    work[_LOST], work[_RARE] = lost, rare
    if mine:
        work[_OWN] = 1
        work[_CLOSES] = 1 if marked else 0
    elif marked and chain > 0:
        work[_MARKED] = 1
        work[_MARKED_CHAIN] = chain
    if left > 0 and chain == 0:
        work[_STUCK] = 1
    # The others.
    hidden: Int = np.int64(s["boneyard_size"])
    for other in range(n):
        hidden += np.int64(s["hand_sizes"][other])
    hidden -= np.int64(s["hand_sizes"][seat])
    following = seat + 1 if seat + 1 < n else 0
    for other in range(n):
        if other == seat or not (train in (n, other) or s["markers"][train] != 0):
            continue
        change = -chance(s, other, old_end, hidden)
        if not mine:  # else this play closes the train
            change += chance(s, other, new_end, hidden)
        work[_NEXT if other == following else _OTHERS] += change
        if other == least:
            work[_LEAST] = change
    if low != high:
        for i in range(np.int64(s["num_owed"])):
            owed = np.int64(s["owed_trains"][i])
            if owed != train:
                value = np.int64(s["ends"][owed])
                work[_LEFT] += 1
                work[_LEFT_NEXT] += chance(s, following, value, hidden)
                work[_LEFT_MINE] += 1 if common(rest, FITS[value]) > 0 else 0


@kernel
def tactician_action(s: Any, r: Any, legal: Any, count: Int, weights: Any, scratch: Any) -> Int:
    """The play whose weighted quantities sum to least, the first in id order among equals.

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
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    tiles = np.int64(s["num_tiles"])
    hand = s["hands"][seat]
    end = np.int64(s["ends"][seat])
    blank = np.int64(r["double_blank"])
    rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]
    opening = opening_turn(s, r)
    budget = np.int64(OPENING_NODES if opening else TACTICIAN_NODES)
    longest = longest_chain(rest, end, budget, blank, work, plan)
    longest_pips = np.int64(work[BEST_PIPS])
    first = np.int64(work[FIRST_TILE])
    smallest: Int = np.int64(255)
    least: Int = seat
    for step in range(1, n):
        other = (seat + step) % n
        held = np.int64(s["hand_sizes"][other])
        if held < smallest:
            smallest = held
            least = other
    if s["boneyard_size"] == 0:
        smallest = 0
    danger = DANGER_LEVELS - smallest if smallest < DANGER_LEVELS else 0
    for i in range(NUM_TACTICS):
        cost = DANGER_LEVELS * weights[0, i] + danger * weights[1, i]
        work[_COST + i] = weights[2, i] if opening else cost
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
        for k in range(NUM_TACTICS):
            work[_ROW + k] = 0
        chain: Int = longest
        chain_pips: Int = longest_pips
        kept = plan
        if train == seat and tile == first:
            chain -= 1
            chain_pips -= laid
        elif train == seat or (plan[tile >> 6] & bit(tile & 63)) != _ZERO:
            after = np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile]) - end if train == seat else end
            chain = longest_chain(rest, after, budget, blank, work, other_plan)
            chain_pips = np.int64(work[BEST_PIPS])
            kept = other_plan
        work[_CHAIN] = chain
        work[_SPARE] = size - 1 - chain
        work[_CHAIN_PIPS] = chain_pips
        work[_SPARE_PIPS] = pips - laid - chain_pips
        _weigh(s, r, tile, train, rest, kept, least, work)
        cost = np.int64(0)
        for k in range(NUM_TACTICS):
            cost += work[_COST + k] * work[_ROW + k]
        if not found or cost < cheapest:
            found = True
            cheapest = cost
            best = action
    return best

"""Candidate rows: each legal action as a short row of features.

A network that scores rows one by one learns this game far sooner than one that maps a flat observation to
all action ids. `FEATURES` is the only place where the layout is told. Every feature lies in [0, 1]: a
count is divided by its scale and cut to 1. A row depends only on what the seat to move may know.

Chain lengths come from a bounded search (`NODES`), shared by all candidates that leave the plan as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from mt_env.core.bits import Int, bit, popcount
from mt_env.core.chains import BEST_PIPS, FIRST_TILE, longest_chain
from mt_env.core.hands import mobile_tiles, pips_of_hand, pips_of_tile
from mt_env.core.jit import kernel
from mt_env.core.moves import opening_turn, play_train
from mt_env.core.policies import new_scratch
from mt_env.core.state import FITS, HIGH_OF, LOW_OF, UNABLE_LEVELS
from mt_env.rules import ResolvedRules

NODES: Final[int] = 50
"""Budget of each chain search, in tiles tried; part of the environment version."""

HAND_SCALE: Final[float] = 16.0
"""Tiles in a hand or chain that count as 1."""
FIT_SCALE: Final[float] = 8.0
"""Fitting tiles that count as 1."""
PIP_SCALE: Final[float] = 128.0
"""Pips in a hand that count as 1."""
BONEYARD_SCALE: Final[float] = 32.0
"""Tiles in the boneyard that count as 1."""

FEATURES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "play": "1 for laying a tile",
        "draw": "1 for drawing",
        "pass": "1 for passing, or stopping an opening chain",
        "pips": "pips of the tile / twice the highest value (0-0: what it counts in a hand, cut)",
        "low": "its lower value / the highest value of the set",
        "high": "its higher value / the highest value",
        "double": "1 if it is a double",
        "own": "1 if it goes on my own train",
        "mexican": "1 if it goes on the Mexican Train",
        "other": "1 if it goes on another seat's train",
        "distance": "how many seats after me that seat sits / seats",
        "begins": "1 if it is the first tile of that train",
        "covers": "1 if it covers a double that is open or that I have just laid",
        "new_end": "the end it leaves / the highest value",
        "new_fits": "my other tiles that fit the end it leaves / 8",
        "old_fits": "my other tiles that fit the end it takes away / 8",
        "unseen_fits": "tiles I cannot see that fit the end it leaves / values of the set",
        "chain": "longest chain my hand can lay on my own train afterwards / 16",
        "spare": "my tiles outside that chain / 16",
        "spare_pips": "their pips / 128",
        "hand": "my tiles afterwards / 16",
        "hand_pips": "their pips / 128",
        "empties": "1 if it empties my hand",
        "next_in_chain": "1 if it is the first tile of my longest chain, on my own train",
        "in_chain": "1 if the tile belongs to my longest chain",
        "bare": "1 if it is a double and nothing left in my hand fits it",
        "mobile": "my tiles that fit an end open to me afterwards / 8",
        "marked": "1 if my train bears a marker now",
        "closes": "1 if it takes that marker off",
        "next_unable": "how sure it is that the next seat lacks the end it leaves",
        "others_unable": "the same, mean over the other seats",
        "smallest_hand": "smallest hand among the others / 16",
        "next_hand": "hand of the next seat / 16",
        "markers": "other seats whose train bears a marker / other seats",
        "boneyard": "tiles left to draw / 32",
        "opening": "1 in an opening chain",
        "owes": "1 if I owe a tile for a double of this turn",
        "must_cover": "1 if I may play only on an open double",
        "lap_1": "1 in the first lap",
        "choices": "legal actions / 16",
        "chain_now": "longest chain before the action / 16",
        "hand_now": "my tiles before the action / 16",
    }
)
"""Name -> meaning of each feature, in order."""

NUM_FEATURES: Final[int] = len(FEATURES)
"""Features of a row."""

_ZERO = np.uint64(0)
_AT: Final[dict[str, int]] = {name: i for i, name in enumerate(FEATURES)}
_PLAY, _DRAW, _PASS = _AT["play"], _AT["draw"], _AT["pass"]
_PIPS, _LOW, _HIGH, _DOUBLE = _AT["pips"], _AT["low"], _AT["high"], _AT["double"]
_OWN, _MEXICAN, _OTHER, _DISTANCE = _AT["own"], _AT["mexican"], _AT["other"], _AT["distance"]
_BEGINS, _COVERS, _NEW_END = _AT["begins"], _AT["covers"], _AT["new_end"]
_NEW_FITS, _OLD_FITS, _UNSEEN_FITS = _AT["new_fits"], _AT["old_fits"], _AT["unseen_fits"]
_CHAIN, _SPARE, _SPARE_PIPS = _AT["chain"], _AT["spare"], _AT["spare_pips"]
_HAND, _HAND_PIPS, _EMPTIES = _AT["hand"], _AT["hand_pips"], _AT["empties"]
_NEXT_IN_CHAIN, _IN_CHAIN, _BARE = _AT["next_in_chain"], _AT["in_chain"], _AT["bare"]
_MOBILE, _MARKED, _CLOSES = _AT["mobile"], _AT["marked"], _AT["closes"]
_NEXT_UNABLE, _OTHERS_UNABLE = _AT["next_unable"], _AT["others_unable"]
_SMALLEST, _NEXT_HAND, _MARKERS = _AT["smallest_hand"], _AT["next_hand"], _AT["markers"]
_BONEYARD, _OPENING, _OWES = _AT["boneyard"], _AT["opening"], _AT["owes"]
_MUST_COVER, _LAP_1, _CHOICES = _AT["must_cover"], _AT["lap_1"], _AT["choices"]
_CHAIN_NOW, _HAND_NOW = _AT["chain_now"], _AT["hand_now"]


def max_candidates(rules: ResolvedRules) -> int:
    """Rows that any legal set of these rules needs: on each train the tiles of its end, draw and pass."""
    return rules.num_trains * (rules.set + 1) + 2


@kernel
def _cut(count: Any, scale: Any) -> Any:
    value = count / scale
    return value if value < 1.0 else 1.0


@kernel
def _fitting(hand: Any, value: Int) -> Int:
    fits = FITS[value]
    return popcount(hand[0] & fits[0]) + popcount(hand[1] & fits[1]) + popcount(hand[2] & fits[2])


@kernel
def _context(s: Any, r: Any, count: Int, longest: Int, row: Any) -> None:
    """Write the features that all candidates of a position share."""
    n = np.int64(s["num_players"])
    seat = np.int64(s["turn"])
    opening = opening_turn(s, r)
    owes = s["num_owed"] > 0
    smallest: Int = np.int64(255)
    markers = 0
    for other in range(n):
        if other != seat:
            smallest = min(smallest, np.int64(s["hand_sizes"][other]))
            markers += 1 if s["markers"][other] != 0 else 0
    row[_MARKED] = s["markers"][seat]
    row[_SMALLEST] = _cut(smallest, HAND_SCALE)
    row[_NEXT_HAND] = _cut(np.int64(s["hand_sizes"][(seat + 1) % n]), HAND_SCALE)
    row[_MARKERS] = markers / (n - 1)
    row[_BONEYARD] = _cut(np.int64(s["boneyard_size"]), BONEYARD_SCALE)
    row[_OPENING] = 1.0 if opening else 0.0
    row[_OWES] = 1.0 if owes else 0.0
    row[_MUST_COVER] = 1.0 if s["num_open"] > 0 and not owes and not opening else 0.0
    row[_LAP_1] = 1.0 if s["lap"] == 1 else 0.0
    row[_CHOICES] = _cut(count, HAND_SCALE)
    row[_CHAIN_NOW] = _cut(longest, HAND_SCALE)
    row[_HAND_NOW] = _cut(np.int64(s["hand_sizes"][seat]), HAND_SCALE)


@kernel
def _describe_play(s: Any, r: Any, tile: Int, train: Int, rest: Any, row: Any) -> None:
    """Write the features of laying ``tile`` on ``train``; ``rest`` is the hand without it."""
    n = np.int64(s["num_players"])
    top = np.int64(s["max_pip"])
    seat = np.int64(s["turn"])
    low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
    old_end = np.int64(s["ends"][train])
    new_end = low + high - old_end
    row[_PLAY] = 1.0
    row[_PIPS] = _cut(pips_of_tile(tile, r), 2.0 * top)
    row[_LOW] = low / top
    row[_HIGH] = high / top
    row[_DOUBLE] = 1.0 if low == high else 0.0
    if train == seat:
        row[_OWN] = 1.0
        row[_CLOSES] = s["markers"][seat]
    elif train == n:
        row[_MEXICAN] = 1.0
    else:
        row[_OTHER] = 1.0
        row[_DISTANCE] = ((train - seat + n) % n) / n
    row[_BEGINS] = 1.0 if s["lengths"][train] == 0 else 0.0
    for i in range(np.int64(s["num_open"])):
        if s["open_trains"][i] == train:
            row[_COVERS] = 1.0
    for i in range(np.int64(s["num_owed"])):
        if s["owed_trains"][i] == train:
            row[_COVERS] = 1.0
    row[_NEW_END] = new_end / top
    fitting = _fitting(rest, new_end)
    row[_NEW_FITS] = _cut(fitting, FIT_SCALE)
    row[_OLD_FITS] = _cut(_fitting(rest, old_end), FIT_SCALE)
    unseen = np.int64(s["unplayed"][new_end]) - fitting - 1  # the tile itself holds the new end
    row[_UNSEEN_FITS] = _cut(unseen, top + 1.0)
    row[_BARE] = 1.0 if low == high and fitting == 0 else 0.0
    row[_MOBILE] = _cut(mobile_tiles(s, seat, train, new_end, rest), FIT_SCALE)
    unable = 0.0
    for other in range(n):
        if other != seat:
            unable += np.int64(s["unable"][other, new_end]) / UNABLE_LEVELS
    row[_NEXT_UNABLE] = np.int64(s["unable"][(seat + 1) % n, new_end]) / UNABLE_LEVELS
    row[_OTHERS_UNABLE] = unable / (n - 1)


@kernel
def candidate_rows(s: Any, r: Any, legal: Any, count: Int, rows: Any, scratch: Any) -> None:
    """Write the rows of the legal actions of the seat to move.

    Args:
        s: the game, or what the seat to move may know of it.
        r: the rules.
        legal: its legal action ids, as `mt_env.core.moves.legal_actions` writes them.
        count: how many.
        rows: written, float32 ``[at least count, NUM_FEATURES]``: the first ``count`` rows, whole.
        scratch: from `mt_env.core.policies.new_scratch`; its list of legal actions may be ``legal``.
    """
    work, sets, _ = scratch
    plan, other_plan, rest = sets[0], sets[1], sets[2]
    seat = np.int64(s["turn"])
    tiles = np.int64(s["num_tiles"])
    size = np.int64(s["hand_sizes"][seat])
    hand = s["hands"][seat]
    end = np.int64(s["ends"][seat])
    blank = np.int64(r["double_blank"])
    rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]  # an array of one kind: one compiled search
    budget = np.int64(NODES)
    longest = longest_chain(rest, end, budget, blank, work, plan)
    longest_pips = np.int64(work[BEST_PIPS])
    first = np.int64(work[FIRST_TILE])
    pips = pips_of_hand(hand, r)
    for i in range(count):
        row = rows[i]
        row[:] = 0.0
        _context(s, r, count, longest, row)
        action = np.int64(legal[i])
        chain = longest
        chain_pips: Int = longest_pips
        left: Int = size
        left_pips: Int = pips
        if action == r["draw_id"]:
            row[_DRAW] = 1.0
            left += 1
        elif action == r["pass_id"]:
            row[_PASS] = 1.0
        else:
            tile = action % tiles
            train = play_train(s, action)
            rest[0], rest[1], rest[2] = hand[0], hand[1], hand[2]
            rest[tile >> 6] &= ~bit(tile & 63)
            in_plan = (plan[tile >> 6] & bit(tile & 63)) != _ZERO
            laid = pips_of_tile(tile, r)
            _describe_play(s, r, tile, train, rest, row)
            left -= 1
            left_pips -= laid
            if in_plan:
                row[_IN_CHAIN] = 1.0
            if train == seat and tile == first:
                row[_NEXT_IN_CHAIN] = 1.0
                chain = longest - 1
                chain_pips = longest_pips - laid
            elif train == seat or in_plan:
                after = np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile]) - end if train == seat else end
                chain = longest_chain(rest, after, budget, blank, work, other_plan)
                chain_pips = np.int64(work[BEST_PIPS])
            row[_EMPTIES] = 1.0 if left == 0 else 0.0
        row[_CHAIN] = _cut(chain, HAND_SCALE)
        row[_SPARE] = _cut(left - chain, HAND_SCALE)
        row[_SPARE_PIPS] = _cut(left_pips - chain_pips, PIP_SCALE)
        row[_HAND] = _cut(left, HAND_SCALE)
        row[_HAND_PIPS] = _cut(left_pips, PIP_SCALE)


@kernel
def _write(states: Any, rules: Any, legal: Any, count: Int, rows: Any, actions: Any, scratch: Any) -> None:
    candidate_rows(states[0], rules[0], legal, count, rows, scratch)
    for i in range(count):
        actions[i] = legal[i]


class CandidateWriter:
    """Candidates of one position as arrays, for the environments.

    Args:
        rules: the rules, resolved for a number of seats.

    Attributes:
        spaces: the three entries that a dict observation gains: ``candidates``, the rows, float32
            ``[max, NUM_FEATURES]``, zeros in rows that are not there; ``candidate_actions``, int64 ``[max]``,
            the action id of each row, -1 where there is none; ``candidate_count``, int64 ``[1]``.
    """

    def __init__(self, rules: ResolvedRules) -> None:
        most = max_candidates(rules)
        self.spaces: dict[str, spaces.Box] = {
            "candidates": spaces.Box(0.0, 1.0, (most, NUM_FEATURES), np.float32),
            "candidate_actions": spaces.Box(-1, rules.num_actions - 1, (most,), np.int64),
            "candidate_count": spaces.Box(0, most, (1,), np.int64),
        }
        self._most = most
        self._scratch = new_scratch()

    def write(
        self, states: NDArray[np.void], rules: NDArray[np.void], legal: NDArray[np.int64], count: int
    ) -> dict[str, NDArray[Any]]:
        """The candidates of the seat to move, in arrays of the caller's own.

        Args:
            states: the game, ``(1,)``.
            rules: its rules, ``(1,)``.
            legal: legal action ids; only the first ``count`` are read.
            count: how many; 0 gives no rows.
        """
        rows = np.zeros((self._most, NUM_FEATURES), np.float32)
        actions = np.full(self._most, -1, np.int64)
        if count:
            _write(states, rules, legal, count, rows, actions, self._scratch)
        return self._entries(rows, actions, count)

    def only_pass(self, pass_action: int) -> dict[str, NDArray[Any]]:
        """The candidates where ``pass`` is only a formality: one row that says pass."""
        rows = np.zeros((self._most, NUM_FEATURES), np.float32)
        actions = np.full(self._most, -1, np.int64)
        rows[0, _PASS] = 1.0
        actions[0] = pass_action
        return self._entries(rows, actions, 1)

    @staticmethod
    def _entries(rows: NDArray[Any], actions: NDArray[Any], count: int) -> dict[str, NDArray[Any]]:
        return {
            "candidates": rows,
            "candidate_actions": actions,
            "candidate_count": np.array([count], np.int64),
        }


def features_table() -> str:
    """The table of docs/env.md: Markdown, ended by a newline."""
    lines = ["| column | feature | meaning |", "|---|---|---|"]
    lines += [f"| {i} | `{name}` | {meaning} |" for i, (name, meaning) in enumerate(FEATURES.items())]
    return "\n".join(lines) + "\n"

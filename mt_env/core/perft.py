"""Counting the games that can follow a position, the core's side of ``tests/perft``.

``perft(position, N)`` counts the sequences of exactly N legal actions; a game that ends sooner adds
nothing. Counts test what is legal; a checksum over all states reached tests what actions do. Its hash
is made of plain public values in a fixed order, see `leaf_hash`, so that the referee, or anybody's own
program, computes the same number.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from mt_env.core.bits import Int, mix64
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL, NO_TILE, PLAYING

MAX_DEPTH: Final[int] = 1000
"""More actions than a round has (the longest random one seen had 499); room on the stack is made for them."""

_FACTOR: Final[int] = 0x9E3779B97F4A7C15
_UFACTOR = np.uint64(_FACTOR)
_MASK: Final[int] = (1 << 64) - 1
_BUDGET: Final[int] = 1_000_000


class Perft(NamedTuple):
    """What `perft` counts.

    Attributes:
        nodes: sequences of exactly N legal actions, the last of which may end the round.
        terminals: sequences of at most N legal actions that end the round.
        checksum: sum of `leaf_hash` over the states after those N actions and over the ends met before,
            modulo 2**64.
    """

    nodes: int
    terminals: int
    checksum: int


def fold(h: Any, value: Any) -> Any:
    """``h * 0x9E3779B97F4A7C15 + value`` modulo 2**64: takes the next value into a hash."""
    return np.uint64((int(h) * _FACTOR + int(value)) & _MASK)


@overload(fold)
def _fold(h: Any, value: Any) -> Any:
    def impl(h: Any, value: Any) -> Any:
        return h * _UFACTOR + np.uint64(value)

    return impl


@kernel
def fold_trains(h: Any, trains: Any, count: Int) -> Any:
    """Take a list of trains into a hash: its length, then each train."""
    h = fold(h, count)
    for i in range(count):
        h = fold(h, trains[i])
    return h


@kernel
def leaf_hash(s: Any) -> Any:
    """Hash of a state, ``uint64``: these values are folded (`fold`) into 0, in this order, then mixed.

    1. how the round ended: 0 it goes on, 1 out, 2 blocked;
    2. if it goes on: turn, lap, drew (0 or 1), drawn (0, or the tile's id + 1), the number of open doubles
       and the train of each, oldest first, the number of owed doubles and the train of each; if it is
       over: the points of each seat;
    3. passes, size of the boneyard;
    4. for each train, the Mexican Train last: its end, its length;
    5. for each seat: its marker (0 or 1), its hand as three words, bit ``id % 64`` of word ``id // 64``.

    The mixing is SplitMix64's output function, `mt_env.core.bits.mix64`. The boneyard's content is not among
    the values: its order is fixed in the position and its size tells how much is left.
    """
    n = np.int64(s["num_players"])
    h = np.uint64(0)
    if s["phase"] == PLAYING:
        h = fold(h, 0)
        h = fold(h, s["turn"])
        h = fold(h, s["lap"])
        h = fold(h, s["drew"])
        h = fold(h, 0 if s["drawn"] == NO_TILE else np.int64(s["drawn"]) + 1)
        h = fold_trains(h, s["open_trains"], np.int64(s["num_open"]))
        h = fold_trains(h, s["owed_trains"], np.int64(s["num_owed"]))
    else:
        h = fold(h, s["how"])
        for seat in range(n):
            h = fold(h, s["points"][seat])
    h = fold(h, s["passes"])
    h = fold(h, s["boneyard_size"])
    for train in range(n + 1):
        h = fold(h, s["ends"][train])
        h = fold(h, s["lengths"][train])
    for seat in range(n):
        h = fold(h, s["markers"][seat])
        for word in range(3):
            h = fold(h, s["hands"][seat, word])
    return mix64(h)


@kernel
def walk(stack: Any, r: Any, depth: Int, legal: Any, left: Any, totals: Any, ply: Int, budget: Int) -> Int:
    """Walk on through the tree below ``stack[0]``, which is not over, to ``depth`` (1 or more).

    Args:
        stack: ``GAME_DTYPE[depth + 1]``, the states on the way to the current node.
        r: the rules.
        depth: actions in a sequence.
        legal: ``int64[depth, MAX_LEGAL]``, the legal actions at each ply of the way.
        left: ``int64[depth]``, how many of them are still to be tried; -1: not listed yet. The last goes
            first.
        totals: ``uint64[3]``, nodes, terminals and checksum so far, added to.
        ply: where to go on: 0, or what the last call returned.
        budget: return after about this many actions, so that the caller can be interrupted.

    Returns:
        The ply at which to go on, -1 when the tree is done.
    """
    one = np.uint64(1)
    while ply >= 0:
        if budget <= 0:
            return ply
        if left[ply] < 0:
            left[ply] = legal_actions(stack[ply], r, legal[ply])
        if left[ply] == 0:
            left[ply] = -1
            ply -= 1
            continue
        left[ply] -= 1
        budget -= 1
        stack[ply + 1] = stack[ply]
        s = stack[ply + 1]
        apply_action(s, r, legal[ply, left[ply]])
        over = s["phase"] != PLAYING
        last = ply + 1 == depth
        if over:
            totals[1] += one
        if last:
            totals[0] += one
        if over or last:
            totals[2] = fold_sum(totals[2], leaf_hash(s))
        else:
            ply += 1
    return ply


def fold_sum(a: Any, b: Any) -> Any:
    """``a + b`` modulo 2**64."""
    return np.uint64((int(a) + int(b)) & _MASK)


@overload(fold_sum)
def _fold_sum(a: Any, b: Any) -> Any:
    def impl(a: Any, b: Any) -> Any:
        return a + b

    return impl


def perft(record: NDArray[np.void], rules: NDArray[np.void], depth: int) -> Perft:
    """Count the sequences of ``depth`` legal actions from ``record``.

    Args:
        record: the position, ``GAME_DTYPE`` ``(1,)``; not changed. A match is counted to the end of its
            round.
        rules: its rules, ``RULES_DTYPE`` ``(1,)``.
        depth: 0 to ``MAX_DEPTH``.

    Raises:
        ValueError: ``depth`` is out of range.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth={depth}: must be from 0 to {MAX_DEPTH}")
    over = bool(record["phase"][0] != PLAYING)
    if depth == 0 or over:
        return Perft(int(depth == 0), int(over), int(leaf_hash(record[0])))
    stack = np.zeros(depth + 1, GAME_DTYPE)
    stack[0] = record[0]
    legal = np.empty((depth, MAX_LEGAL), np.int64)
    left = np.full(depth, -1, np.int64)
    totals = np.zeros(3, np.uint64)
    ply = 0
    while ply >= 0:
        ply = walk(stack, rules[0], depth, legal, left, totals, ply, _BUDGET)
    return Perft(*totals.tolist())


def divide(record: NDArray[np.void], rules: NDArray[np.void], depth: int) -> dict[int, Perft]:
    """`perft` to ``depth`` (1 or more), apart for each first action id, ascending.

    The parts add up to the whole; an action that ends the round has a part of its own too.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth={depth}: must be from 1 to {MAX_DEPTH}")
    out = np.empty(MAX_LEGAL, np.int64)
    parts: dict[int, Perft] = {}
    for action in out[: legal_actions(record[0], rules[0], out)].tolist():
        after = record.copy()
        apply_action(after[0], rules[0], action)
        parts[action] = perft(after, rules, depth - 1)
    return parts

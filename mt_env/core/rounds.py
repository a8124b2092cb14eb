"""How a round ends and what it counts (R6), and the standing of a match (R7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Flag, Int, ctz, drop_lowest
from mt_env.core.deal import deal_round
from mt_env.core.jit import kernel
from mt_env.core.moves import fits_any, normal_access, open_access
from mt_env.core.state import GAME_OVER, HIGH_OF, LOW_OF, NO_ROUND, ROUND_OVER

_ZERO = np.uint64(0)


@kernel
def hand_points(s: Any, r: Any, seat: Int) -> Int:
    """Pips left in the hand of ``seat``, 0-0 counted as ``double_blank`` (R6.3)."""
    points: Int = 0
    for word in range(3):
        left = s["hands"][seat, word]
        while left != _ZERO:
            tile = word * 64 + ctz(left)
            points += np.int64(LOW_OF[tile]) + np.int64(HIGH_OF[tile])
            if tile == 0:
                points += np.int64(r["double_blank"])
            left = drop_lowest(left)
    return points


@kernel
def stuck(s: Any, r: Any) -> Flag:
    """R6.2 ``stuck``: nothing left to draw, and no seat would have a play if it were its turn now."""
    if s["boneyard_size"] > 0:
        return False
    for seat in range(np.int64(s["num_players"])):
        trains = open_access(s, r) if s["num_open"] > 0 else normal_access(s, r, seat, 2)
        if fits_any(s, seat, trains):
            return False
    return True


@kernel
def end_round(s: Any, r: Any, how: Int) -> None:
    """Score the round that has just ended (``how``: OUT or BLOCKED) and enter it in the totals."""
    s["how"] = how
    for seat in range(np.int64(s["num_players"])):
        points = hand_points(s, r, seat)
        s["points"][seat] = points
        s["totals"][seat] += points
        if points == 0:
            s["zero_rounds"][seat] += 1
        elif points < s["best_round"][seat]:
            s["best_round"][seat] = points
    s["rounds_done"] += 1
    s["phase"] = GAME_OVER
    if r["match"] != 0 and np.int64(s["round"]) + 1 < r["rounds"]:
        s["phase"] = ROUND_OVER


@kernel
def next_round(s: Any, r: Any) -> None:
    """Deal the next round of a match whose last round has ended (``phase`` is ROUND_OVER)."""
    deal_round(s, r, np.int64(s["round"]) + 1)


@kernel
def ahead(s: Any, r: Any, a: Int, b: Int) -> Int:
    """1 if seat ``a`` stands before seat ``b``, -1 if behind, 0 if level (R7.1, R7.2).

    With no round finished everybody is level.
    """
    if s["totals"][a] != s["totals"][b]:
        return 1 if s["totals"][a] < s["totals"][b] else -1
    if r["zero_rounds"] != 0:
        if s["zero_rounds"][a] != s["zero_rounds"][b]:
            return 1 if s["zero_rounds"][a] > s["zero_rounds"][b] else -1
        best_a, best_b = s["best_round"][a], s["best_round"][b]
        if best_a != best_b and best_a != NO_ROUND and best_b != NO_ROUND:
            return 1 if best_a < best_b else -1
    return 0


@kernel
def standing(s: Any, r: Any, ranks: Any, shares: Any) -> None:
    """Ranks and win shares of the finished rounds.

    Args:
        s: the game.
        r: the rules.
        ranks: written, float ``[num_players]``: 1 is first, ties share the mean of their places.
        shares: written, float ``[num_players]``: ``1/k`` for each of the ``k`` seats that share first place.
    """
    n = np.int64(s["num_players"])
    first = 0
    for a in range(n):
        before = 0
        level = 0
        for b in range(n):
            order = ahead(s, r, b, a)
            if order > 0:
                before += 1
            elif order == 0:
                level += 1
        ranks[a] = before + (level + 1) / 2
        shares[a] = 1.0 if before == 0 else 0.0
        first += before == 0
    for a in range(n):
        shares[a] /= first

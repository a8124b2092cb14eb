"""What the seat to move may do (R3, R4, R5), and how it is numbered.

Action ids are relative to the seat to move: ``relative_train * num_tiles + tile`` with relative train 0 its
own, then the next seats clockwise, the Mexican Train last; then draw, then pass. Lists are ascending.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Flag, Int, ctz, drop_lowest
from mt_env.core.jit import inlined_kernel, kernel
from mt_env.core.state import FITS, NO_TILE

_ZERO = np.uint64(0)


@kernel
def opening_turn(s: Any, r: Any) -> Flag:
    """Whether the seat to move is in an opening chain's turn (R4.1), begun or not."""
    return r["chain"] != 0 and s["lap"] == 1


@kernel
def normal_access(s: Any, r: Any, seat: Int, lap: Int) -> Int:
    """Trains on which ``seat`` may play with no double open or owed, bit by train (R3.1, R4.3 to R4.5).

    ``lap`` is given apart from the record since the blocked test ignores the limits of lap 1 (R6.2).
    """
    n = np.int64(s["num_players"])
    own = 1 << seat
    if r["own_first"] != 0:
        if lap == 1:
            return own
        if s["lengths"][seat] == 0:
            if s["lengths"][n] > 0:
                own |= 1 << n
            return own
    access = own
    for other in range(n):
        if s["markers"][other] != 0:
            access |= 1 << other
    if s["lengths"][n] > 0 or lap > 1 or r["mexican_lap_2"] == 0:
        access |= 1 << n
    return access


@kernel
def open_access(s: Any, r: Any) -> Int:
    """Trains of the open doubles that may be covered now, bit by train (R5.4, R5.5)."""
    if r["any_order"] == 0:
        return 1 << np.int64(s["open_trains"][0])
    access: Int = 0
    for i in range(np.int64(s["num_open"])):
        access |= 1 << np.int64(s["open_trains"][i])
    return access


@kernel
def access(s: Any, r: Any) -> Int:
    """Trains on which the seat to move may play now, bit by train, whether it holds a fitting tile or not."""
    seat = np.int64(s["turn"])
    if opening_turn(s, r):
        return 1 << seat
    if s["num_owed"] > 0:
        if r["on_double"] != 0:
            return 1 << np.int64(s["owed_trains"][np.int64(s["num_owed"]) - 1])
    elif s["num_open"] > 0 and (s["lap"] > 1 or r["chain"] == 0):
        return open_access(s, r)
    return normal_access(s, r, seat, np.int64(s["lap"]))


@kernel
def fits_any(s: Any, seat: Int, trains: Int) -> Flag:
    """Whether ``seat`` holds a tile for the end of one of ``trains`` (bit by train)."""
    hand = s["hands"][seat]
    for train in range(np.int64(s["num_players"]) + 1):
        if (trains >> train) & 1:
            fits = FITS[s["ends"][train]]
            if (hand[0] & fits[0]) | (hand[1] & fits[1]) | (hand[2] & fits[2]):
                return True
    return False


@kernel
def may_draw(s: Any, r: Any) -> Flag:
    """Whether a seat that cannot play draws now rather than passes (R3.3, R4.1)."""
    if s["boneyard_size"] == 0 or opening_turn(s, r):
        return False
    if r["per_turn"] != 0:
        return s["drew"] == 0
    return s["drawn"] == NO_TILE


@inlined_kernel
def legal_plays(s: Any, r: Any, out: Any) -> Int:
    """Write the ids of the legal plays into ``out`` (integers, room for all); returns how many."""
    n = np.int64(s["num_players"])
    tiles = np.int64(s["num_tiles"])
    seat = np.int64(s["turn"])
    trains = access(s, r)
    hand = s["hands"][seat]
    count = 0
    for relative in range(n + 1):
        train = n if relative == n else seat + relative
        if relative < n and train >= n:
            train -= n
        if (trains >> train) & 1:
            fits = FITS[s["ends"][train]]
            for word in range(3):
                left = hand[word] & fits[word]
                while left != _ZERO:
                    out[count] = relative * tiles + word * 64 + ctz(left)
                    count += 1
                    left = drop_lowest(left)
    return count


@kernel
def legal_actions(s: Any, r: Any, out: Any) -> Int:
    """Write the legal action ids, ascending, into ``out``; returns how many, 0 only at the end."""
    if s["phase"] != 0:
        return 0
    count = legal_plays(s, r, out)
    if count == 0:
        out[0] = r["draw_id"] if may_draw(s, r) else r["pass_id"]
        return 1
    stop = opening_turn(s, r) and s["lengths"][np.int64(s["turn"])] > 0
    keep = r["may"] != 0 and s["drawn"] != NO_TILE
    if stop or keep:
        out[count] = r["pass_id"]
        count += 1
    return count


@kernel
def play_train(s: Any, action: Int) -> Int:
    """Train (absolute) of the play ``action`` of the seat to move."""
    n = np.int64(s["num_players"])
    relative = action // np.int64(s["num_tiles"])
    if relative >= n:
        return n
    train = np.int64(s["turn"]) + relative
    return train - n if train >= n else train

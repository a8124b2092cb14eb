"""Applying one action (R3 to R6). Actions are not checked here: the faces above do that."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Flag, Int
from mt_env.core.deal import draw_from_boneyard, give, put_on_table, take
from mt_env.core.jit import kernel
from mt_env.core.moves import access, fits_any, opening_turn, play_train
from mt_env.core.rounds import end_round, stuck
from mt_env.core.state import BLOCKED, HIGH_OF, LOW_OF, NO_TILE, OUT, UNABLE_LEVELS


@kernel
def remove_train(trains: Any, count: Int, train: Int) -> Int:
    """Take ``train`` out of the first ``count`` entries of ``trains``, order kept; returns the new count."""
    kept = 0
    for i in range(count):
        entry = trains[i]
        if entry != train:
            trains[kept] = entry
            kept += 1
    for i in range(kept, count):
        trains[i] = 0
    return kept


@kernel
def lift_dead(s: Any, r: Any) -> None:
    """R5.6 ``lifts``: doubles whose value has no unplayed tile left owe nothing and bind nobody."""
    if r["lifts"] == 0:
        return
    for i in range(np.int64(s["num_open"]) - 1, -1, -1):
        train = np.int64(s["open_trains"][i])
        if s["unplayed"][s["ends"][train]] == 0:
            s["num_open"] = remove_train(s["open_trains"], s["num_open"], train)
    for i in range(np.int64(s["num_owed"]) - 1, -1, -1):
        train = np.int64(s["owed_trains"][i])
        if s["unplayed"][s["ends"][train]] == 0:
            s["num_owed"] = remove_train(s["owed_trains"], s["num_owed"], train)


@kernel
def somebody_is_out(s: Any) -> Flag:
    """Whether any hand is empty."""
    out = False
    for seat in range(np.int64(s["num_players"])):  # not .min(), which takes a second to compile
        out |= s["hand_sizes"][seat] == 0
    return out


@kernel
def end_turn(s: Any, r: Any) -> None:
    """The turn of the seat to move is over: what it leaves, who is out, who follows, is all blocked."""
    for i in range(np.int64(s["num_owed"])):  # R5.3: doubles of this turn that still end a train
        s["open_trains"][np.int64(s["num_open"])] = s["owed_trains"][i]
        s["num_open"] += 1
        s["owed_trains"][i] = 0
    s["num_owed"] = 0
    s["drew"] = 0
    s["drawn"] = NO_TILE
    following: Int = np.int64(s["turn"]) + 1
    if following == s["num_players"]:
        following = 0
    lap_ends = following == s["leader"]
    if opening_turn(s, r):
        if lap_ends and somebody_is_out(s):  # R4.6
            end_round(s, r, OUT)
            return
    elif s["num_open"] == 0 and somebody_is_out(s):  # R5.7: the seats that waited
        end_round(s, r, OUT)
        return
    s["turn"] = following
    if lap_ends:
        s["lap"] += 1
    if r["block_passes"] != 0:
        if s["passes"] >= s["num_players"]:
            end_round(s, r, BLOCKED)
    elif not opening_turn(s, r) and stuck(s, r):
        end_round(s, r, BLOCKED)


@kernel
def apply_play(s: Any, r: Any, train: Int, tile: Int) -> None:
    """The seat to move lays ``tile`` on ``train`` (absolute)."""
    seat = np.int64(s["turn"])
    low, high = np.int64(LOW_OF[tile]), np.int64(HIGH_OF[tile])
    take(s, seat, tile)
    put_on_table(s, tile)
    s["ends"][train] = high if s["ends"][train] == low else low
    s["lengths"][train] += 1
    s["passes"] = 0
    s["drawn"] = NO_TILE
    if train == seat:
        s["markers"][seat] = 0  # R3.5
    if s["num_open"] > 0:
        s["num_open"] = remove_train(s["open_trains"], s["num_open"], train)
    if s["num_owed"] > 0:
        s["num_owed"] = remove_train(s["owed_trains"], s["num_owed"], train)
    out = s["hand_sizes"][seat] == 0
    if opening_turn(s, r):  # R4.1
        if low == high and r["opening_binds"] != 0:
            s["open_trains"][np.int64(s["num_open"])] = train
            s["num_open"] += 1
        lift_dead(s, r)
        if out:
            end_turn(s, r)
        return
    owes = low == high and (r["lifts"] == 0 or s["unplayed"][low] > 0)
    if out and (r["out_on_double"] != 0 or not owes):  # R6.1, R5.7
        end_round(s, r, OUT)
        return
    if low == high and owes:
        s["owed_trains"][np.int64(s["num_owed"])] = train
        s["num_owed"] += 1
    lift_dead(s, r)
    if not owes:
        end_turn(s, r)


@kernel
def note_unable(s: Any, trains: Int, seat: Int) -> None:
    """Everybody has seen that ``seat`` holds no tile for the ends of ``trains`` (bit by train)."""
    for train in range(np.int64(s["num_players"]) + 1):
        if (trains >> train) & 1:
            s["unable"][seat, np.int64(s["ends"][train])] = UNABLE_LEVELS


@kernel
def apply_draw(s: Any, r: Any) -> None:
    """The seat to move cannot play and draws (R3.3)."""
    seat = np.int64(s["turn"])
    note_unable(s, access(s, r), seat)
    tile = draw_from_boneyard(s)
    give(s, seat, tile)
    s["drawn"] = tile
    s["drew"] = 1


@kernel
def fade_unable(s: Any, seat: Int) -> None:
    """``seat`` has kept a tile that nobody knows: what it was seen to lack is a little less sure."""
    for value in range(np.int64(s["max_pip"]) + 1):
        if s["unable"][seat, value] > 0:
            s["unable"][seat, value] -= 1


@kernel
def apply_pass(s: Any, r: Any) -> None:
    """The seat to move passes (R3.4), or stops in its opening chain (R4.1)."""
    seat = np.int64(s["turn"])
    if opening_turn(s, r) and s["lengths"][seat] > 0:  # a stop shows nothing about the hand
        end_turn(s, r)
        return
    trains = access(s, r)
    keeps_playable = s["drawn"] != NO_TILE and fits_any(s, seat, trains)
    if s["drawn"] != NO_TILE:
        fade_unable(s, seat)
    if r["may"] == 0 or s["drawn"] == NO_TILE:
        note_unable(s, trains, seat)  # nothing fits, the drawn tile included
    if s["boneyard_size"] == 0 and not keeps_playable:
        s["passes"] += 1
    s["markers"][seat] = 1
    end_turn(s, r)


@kernel
def apply_action(s: Any, r: Any, action: Int) -> None:
    """Apply a legal ``action`` id of the seat to move; ends the round where it ends (``phase`` tells)."""
    s["moves"] += 1
    if action == r["draw_id"]:
        apply_draw(s, r)
    elif action == r["pass_id"]:
        apply_pass(s, r)
    else:
        tiles = np.int64(s["num_tiles"])
        apply_play(s, r, play_train(s, action), action % tiles)

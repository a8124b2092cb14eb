"""Dealing: the only place where chance enters a game (R2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Flag, Int, bit, draw_below, stream
from mt_env.core.jit import kernel
from mt_env.core.state import HIGH_OF, LOW_OF, NO_ROUND, NO_TILE, PLAYING, RANDOM_ENGINE


@kernel
def put_on_table(s: Any, tile: Int) -> None:
    """Enter ``tile`` among the tiles on the table."""
    s["table"][tile >> 6] |= bit(tile & 63)
    low, high = LOW_OF[tile], HIGH_OF[tile]
    s["unplayed"][low] -= 1
    if high != low:
        s["unplayed"][high] -= 1


@kernel
def give(s: Any, seat: Int, tile: Int) -> None:
    """Put ``tile`` into the hand of ``seat``."""
    s["hands"][seat, tile >> 6] |= bit(tile & 63)
    s["hand_sizes"][seat] += 1


@kernel
def take(s: Any, seat: Int, tile: Int) -> None:
    """Take ``tile``, which is there, out of the hand of ``seat``."""
    s["hands"][seat, tile >> 6] &= ~bit(tile & 63)
    s["hand_sizes"][seat] -= 1


@kernel
def holds(s: Any, seat: Int, tile: Int) -> Flag:
    """Whether ``tile`` is in the hand of ``seat``."""
    return (s["hands"][seat, tile >> 6] & bit(tile & 63)) != np.uint64(0)


@kernel
def draw_from_boneyard(s: Any) -> Int:
    """Take the next tile off the boneyard, which is not empty; returns its id."""
    size = np.int64(s["boneyard_size"]) - 1
    tile = np.int64(s["boneyard"][size])
    s["boneyard"][size] = 0
    s["boneyard_size"] = size
    return tile


@kernel
def clear_round(s: Any, r: Any, round_index: Int) -> None:
    """Empty table: everything that belongs to one round, for round ``round_index`` (R2.3)."""
    n = np.int64(r["num_players"])
    engine = np.int64(r["first_engine"]) - round_index
    s["num_players"] = n
    s["max_pip"] = r["max_pip"]
    s["num_tiles"] = r["num_tiles"]
    s["round"] = round_index
    s["engine"] = engine
    s["moves"] = 0
    s["lap"] = 1
    s["phase"] = PLAYING
    s["leader"] = 0
    s["turn"] = 0
    s["drew"] = 0
    s["drawn"] = NO_TILE
    s["passes"] = 0
    s["num_open"] = 0
    s["num_owed"] = 0
    s["hands"][:] = np.uint64(0)
    s["table"][:] = np.uint64(0)
    s["open_trains"][:] = 0
    s["owed_trains"][:] = 0
    s["ends"][:] = 0
    s["lengths"][:] = 0
    s["markers"][:] = 0
    s["hand_sizes"][:] = 0
    s["unplayed"][:] = 0
    s["unable"][:] = 0
    s["boneyard"][:] = 0
    s["boneyard_size"] = 0
    for train in range(n + 1):
        s["ends"][train] = engine
    for value in range(np.int64(r["max_pip"]) + 1):
        s["unplayed"][value] = r["max_pip"] + 1
    put_on_table(s, engine * (engine + 3) // 2)


@kernel
def deal_round(s: Any, r: Any, round_index: Int) -> None:
    """Shuffle, deal and lay the engine of round ``round_index`` (R2.2 to R2.6).

    Depends on ``s["seed"]``, the rules and the round only: a round of a match and the single round with
    the same engine and seed are the same deal.
    """
    clear_round(s, r, round_index)
    n = np.int64(r["num_players"])
    total = np.int64(r["num_tiles"])
    engine = np.int64(s["engine"])
    engine_tile = engine * (engine + 3) // 2
    shuffle = stream(s["seed"], np.uint64(round_index + 1))
    boneyard = s["boneyard"]
    size = 0
    for tile in range(total):
        if r["dealt"] != 0 or tile != engine_tile:
            boneyard[size] = tile
            size += 1
    for i in range(size - 1, 0, -1):
        j = draw_below(shuffle, size - 1 - i, i + 1)
        swap = boneyard[i]
        boneyard[i] = boneyard[j]
        boneyard[j] = swap
    s["boneyard_size"] = size
    leader = round_index % n
    for seat in range(n):
        for _ in range(np.int64(r["hand_size"])):
            give(s, seat, draw_from_boneyard(s))
    if r["dealt"] != 0:
        holder = -1
        for seat in range(n):
            if holds(s, seat, engine_tile):
                holder = seat
        while holder < 0:  # R2.4: one tile each in turn until somebody draws it
            tile = draw_from_boneyard(s)
            if tile == engine_tile:
                holder = leader
            else:
                give(s, leader, tile)
                leader = (leader + 1) % n
        if holds(s, holder, engine_tile):
            take(s, holder, engine_tile)
        leader = holder
    s["leader"] = leader
    s["turn"] = leader


@kernel
def new_episode(s: Any, r: Any, seed: Int) -> None:
    """Start the episode of ``seed`` (``uint64``): nothing played, round 0 or the single round dealt."""
    s["seed"] = seed
    s["totals"][:] = 0
    s["points"][:] = 0
    s["zero_rounds"][:] = 0
    s["rounds_done"] = 0
    s["how"] = 0
    s["spare"][:] = 0
    s["best_round"][:] = 0
    for seat in range(np.int64(r["num_players"])):
        s["best_round"][seat] = NO_ROUND
    round_index: Int = 0
    if r["match"] == 0:
        if r["engine"] == RANDOM_ENGINE:
            round_index = draw_below(stream(seed, np.uint64(0)), 0, np.int64(r["rounds"]))
        else:
            round_index = np.int64(r["first_engine"]) - np.int64(r["engine"])
    deal_round(s, r, round_index)

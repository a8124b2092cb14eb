"""The records: one game, one resolved rule set.

``GAME_DTYPE`` is the whole game, sized for the largest case (14 seats, D18: 190 tiles, 15 trains), so
there is one compiled version of everything and a clone is one assignment. Unused slots are zero and there
is no padding, so equal games are equal bytes. Trains are numbered by seat, the Mexican Train is number
``num_players``. Bit sets are ``uint64[3]`` over tile ids.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import WORDS
from mt_env.rules import ResolvedRules
from mt_env.tiles import HIGH, LOW, MAX_SET, MAX_TILES

MAX_SEATS: Final[int] = 14
"""Most seats of a game."""

MAX_TRAINS: Final[int] = MAX_SEATS + 1
"""Most trains: one for each seat and the Mexican Train."""

MAX_LEGAL: Final[int] = MAX_TRAINS * (MAX_SET + 1) + 2
"""Room for any legal set: on each train no more tiles fit than hold its end value, then draw and pass."""

NO_TILE: Final[int] = 255
"""Value of ``drawn`` when no drawn tile is waiting to be played."""

PLAYING: Final[int] = 0
"""``phase``: a seat is to move."""
ROUND_OVER: Final[int] = 1
"""``phase``: a round of a match has ended and another follows (``next_round`` deals it)."""
GAME_OVER: Final[int] = 2
"""``phase``: the episode has ended."""

NOT_ENDED: Final[int] = 0
"""``how``: no round has ended yet."""
OUT: Final[int] = 1
"""``how``: the last round ended since a seat was out (R6.1)."""
BLOCKED: Final[int] = 2
"""``how``: the last round ended blocked (R6.2)."""

NO_ROUND: Final[int] = 65535
"""``best_round`` of a seat that has no round with points yet (R7.2)."""

UNABLE_LEVELS: Final[int] = 8
"""``unable`` of a value that a seat has just been seen to lack; one less with every tile kept since."""

_GAME_FIELDS: Final[tuple[tuple[str, type, tuple[int, ...], str], ...]] = (
    ("seed", np.uint64, (), "seed of the episode; round r is dealt from stream(seed, r). 0 in a position."),
    ("hands", np.uint64, (MAX_SEATS, WORDS), "bit set of each seat's tiles (hidden)"),
    ("table", np.uint64, (WORDS,), "bit set of the tiles on the table, engine included"),
    ("totals", np.int32, (MAX_SEATS,), "points of each seat over the finished rounds"),
    ("moves", np.uint16, (), "actions applied in this round"),
    ("lap", np.uint16, (), "from 1; one turn of every seat, from the leader on"),
    ("points", np.uint16, (MAX_SEATS,), "points of each seat in the last finished round"),
    ("best_round", np.uint16, (MAX_SEATS,), "lowest round other than 0 (R7.2), NO_ROUND without one"),
    ("num_players", np.uint8, (), "seats"),
    ("max_pip", np.uint8, (), "highest value of the set: 12 for D12"),
    ("num_tiles", np.uint8, (), "tiles of the set"),
    ("engine", np.uint8, (), "value of the double in the centre"),
    ("round", np.uint8, (), "index of the round from 0: engine = first_engine - round"),
    ("rounds_done", np.uint8, (), "rounds finished in this episode"),
    ("phase", np.uint8, (), "PLAYING, ROUND_OVER or GAME_OVER"),
    ("how", np.uint8, (), "how the last finished round ended: NOT_ENDED, OUT, BLOCKED"),
    ("leader", np.uint8, (), "seat that led the round"),
    ("turn", np.uint8, (), "seat to move"),
    ("drew", np.uint8, (), "1 if the seat to move has drawn in this turn"),
    ("drawn", np.uint8, (), "tile drawn for the tile now owed (hidden), NO_TILE without one"),
    ("passes", np.uint8, (), "passes in a row that count for block_test=passes (R6.2)"),
    ("num_open", np.uint8, (), "open doubles"),
    ("num_owed", np.uint8, (), "doubles of this turn that still end a train"),
    ("boneyard_size", np.uint8, (), "tiles left to draw"),
    ("open_trains", np.uint8, (MAX_TRAINS,), "trains of the open doubles, oldest first"),
    ("owed_trains", np.uint8, (MAX_TRAINS,), "trains of the doubles of this turn, in order"),
    ("ends", np.uint8, (MAX_TRAINS,), "value that the next tile of each train must match"),
    ("lengths", np.uint8, (MAX_TRAINS,), "tiles on each train, 0: not begun"),
    ("markers", np.uint8, (MAX_SEATS,), "1 if the seat's train bears a marker"),
    ("hand_sizes", np.uint8, (MAX_SEATS,), "tiles in each hand"),
    ("zero_rounds", np.uint8, (MAX_SEATS,), "finished rounds with 0 points (R7.2)"),
    ("unplayed", np.uint8, (MAX_SET + 1,), "tiles of each value not on the table"),
    ("unable", np.uint8, (MAX_SEATS, MAX_SET + 1), "how sure it is that the seat lacks the value, 0..8"),
    ("boneyard", np.uint8, (MAX_TILES,), "draw order, the next tile last (hidden)"),
    ("spare", np.uint8, (11,), "zero; brings the size to a multiple of 8"),
)

GAME_DTYPE: Final[np.dtype[np.void]] = np.dtype([field[:3] for field in _GAME_FIELDS])
"""One game. ``GAME_DOC`` tells what each field means."""

GAME_DOC: Final[dict[str, str]] = {name: text for name, _, _, text in _GAME_FIELDS}
"""Meaning of each field of ``GAME_DTYPE``."""

_RULES_FIELDS: Final[tuple[tuple[str, type, str], ...]] = (
    ("num_players", np.int32, "seats"),
    ("max_pip", np.int32, "highest value of the set"),
    ("num_tiles", np.int32, "tiles of the set"),
    ("hand_size", np.int32, "tiles dealt to each seat"),
    ("first_engine", np.int32, "engine of round 0"),
    ("rounds", np.int32, "rounds in a match"),
    ("draw_id", np.int32, "action id of draw"),
    ("pass_id", np.int32, "action id of pass"),
    ("double_blank", np.int32, "what 0-0 counts in a hand (R6.3)"),
    ("match", np.int32, "1: the episode is all rounds, 0: one round"),
    ("engine", np.int32, "engine of a single round, -1: drawn from those of a match"),
    ("dealt", np.int32, "engine_from is dealt"),
    ("chain", np.int32, "opening is chain"),
    ("opening_binds", np.int32, "opening_double_binds"),
    ("mexican_lap_2", np.int32, "mexican_from is lap_2"),
    ("own_first", np.int32, "own_first"),
    ("may", np.int32, "drawn_tile is may"),
    ("per_turn", np.int32, "draws_per is turn"),
    ("on_double", np.int32, "extra_tile is on_double"),
    ("any_order", np.int32, "open_order is any"),
    ("lifts", np.int32, "dead_double is lifts"),
    ("out_on_double", np.int32, "out_on_double"),
    ("block_passes", np.int32, "block_test is passes"),
    ("zero_rounds", np.int32, "tie_break is zero_rounds"),
)

RULES_DTYPE: Final[np.dtype[np.void]] = np.dtype([(name, kind) for name, kind, _ in _RULES_FIELDS])
"""A resolved rule set as the kernels read it; ``RULES_DOC`` tells what each field means."""

RULES_DOC: Final[dict[str, str]] = {name: text for name, _, text in _RULES_FIELDS}
"""Meaning of each field of ``RULES_DTYPE``."""

Records: TypeAlias = NDArray[np.void]
"""Array of ``GAME_DTYPE`` or ``RULES_DTYPE`` records."""

RANDOM_ENGINE: Final[int] = -1
"""``engine`` of ``RULES_DTYPE``: drawn evenly from the engines of a match."""


def rules_record(rules: ResolvedRules, *, match: bool = False, engine: int = RANDOM_ENGINE) -> Records:
    """The record of a rule set, shape ``(1,)`` of ``RULES_DTYPE``.

    Args:
        rules: options resolved for a number of seats.
        match: whether an episode is all rounds of a match.
        engine: value of the engine of a single round, ``RANDOM_ENGINE`` to draw it.
    """
    out = np.zeros(1, RULES_DTYPE)
    r = out[0]
    values: dict[str, Any] = {
        "num_players": rules.num_players,
        "max_pip": rules.set,
        "num_tiles": rules.num_tiles,
        "hand_size": rules.hand_size,
        "first_engine": rules.first_engine,
        "rounds": rules.rounds,
        "draw_id": rules.num_actions - 2,
        "pass_id": rules.num_actions - 1,
        "double_blank": rules.double_blank,
        "match": match,
        "engine": engine,
        "dealt": rules.engine_from == "dealt",
        "chain": rules.opening == "chain",
        "opening_binds": rules.opening_double_binds,
        "mexican_lap_2": rules.mexican_from == "lap_2",
        "own_first": rules.own_first,
        "may": rules.drawn_tile == "may",
        "per_turn": rules.draws_per == "turn",
        "on_double": rules.extra_tile == "on_double",
        "any_order": rules.open_order == "any",
        "lifts": rules.dead_double == "lifts",
        "out_on_double": rules.out_on_double,
        "block_passes": rules.block_test == "passes",
        "zero_rounds": rules.tie_break == "zero_rounds",
    }
    for name in RULES_DTYPE.names or ():
        r[name] = values[name]
    return out


def _fits() -> NDArray[np.uint64]:
    out = np.zeros((MAX_SET + 1, WORDS), np.uint64)
    for tile in range(MAX_TILES):
        for value in {LOW[tile], HIGH[tile]}:
            out[value, tile // 64] |= np.uint64(1 << (tile % 64))
    return out


FITS: Final[NDArray[np.uint64]] = _fits()
"""``FITS[v]``: bit set of the tiles that hold value v, ``[19, 3]``."""

LOW_OF: Final[NDArray[np.uint8]] = np.array(LOW, np.uint8)
"""Lower value of each tile id, ``[190]``."""

HIGH_OF: Final[NDArray[np.uint8]] = np.array(HIGH, np.uint8)
"""Higher value of each tile id, ``[190]``."""

"""What an agent sees, as one vector: the table of fields and the kernels that write it.

`FIELDS` is the only place where the layout is told: space, slices, scales and the tables of docs/env.md
come from it, and tests hold the kernels to it. Every entry of a vector is a count between 0 and the
scale of its field (larger counts are cut to it). The small variant, uint8, holds the counts themselves;
the usual one, float32 in [0, 1], holds count / scale.

An observation depends only on what its seat may know: its own hand, its own drawn tile and public facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from mt_env.core.bits import bit
from mt_env.core.jit import inlined_kernel, kernel
from mt_env.core.state import GAME_DTYPE, PLAYING, UNABLE_LEVELS
from mt_env.core.wide import LEVELS, SHORT_BITS, put_count, spread, spread_levels, spread_short
from mt_env.rules import ResolvedRules

TOTALS_SCALE: Final[int] = 255
"""Points above the lowest total that count as 1 (the most a uint8 holds)."""
SMALLEST_HAND_SCALE: Final[int] = 16
"""Least scale of hand sizes: with very small hands, drawing soon doubles them."""


@dataclass(frozen=True, slots=True)
class Field:
    """One named part of a vector.

    Attributes:
        name: how slices are called.
        shape: names of its axes, keys of `dimensions`; an empty one is a single entry.
        scale: the count that is written as 1: a number, or a key of `dimensions`.
        meaning: what it says, for the docs.
        match_only: whether it is there only when the episode is a match.
    """

    name: str
    shape: tuple[str, ...]
    scale: str | int
    meaning: str
    match_only: bool = False


_PUBLIC: Final[tuple[Field, ...]] = (
    Field("table", ("tiles",), 1, "1 for each tile on the table, the engine included"),
    Field("ends", ("trains", "values"), 1, "one-hot: the value that the next tile of each train must match"),
    Field("begun", ("trains",), 1, "1 if any tile lies on the train"),
    Field("markers", ("seats",), 1, "1 if the seat's train bears a marker"),
    Field(
        "open",
        ("trains",),
        "trains",
        "open double at the end of the train: 0 none, else n + 1 for the oldest (with open_order=oldest the "
        "one to cover next), n for the second, and so on",
    ),
    Field(
        "owed",
        ("trains",),
        "trains",
        "double laid in this turn that still ends the train: 0 none, else n + 1 for the first laid, n for "
        "the second, and so on",
    ),
    Field("lengths", ("trains",), "length", "tiles on the train"),
    Field("engine", ("values",), 1, "one-hot: the double in the centre"),
    Field("hand_sizes", ("seats",), "hand", "tiles in the seat's hand"),
    Field("boneyard", (), "boneyard", "tiles left to draw"),
    Field("lap_1", (), 1, "1 in the first lap: until every seat has had one turn"),
    Field("opening", (), 1, "1 if the turn now played is an opening chain"),
    Field("owes", (), 1, "1 if the seat to move has laid a double in this turn and owes another tile"),
    Field("must_cover", (), 1, "1 if the seat to move may play only on an open double"),
    Field("has_drawn", (), 1, "1 if the seat to move has drawn in this turn"),
    Field("turn", ("seats",), 1, "one-hot: the seat to move; zeros when the episode is over"),
    Field("leader", ("seats",), 1, "one-hot: the seat that led the round"),
    Field("passes", (), "seats", "passes in a row that count for block_test=passes"),
)

_MATCH: Final[tuple[Field, ...]] = (
    Field("round", (), "rounds", "index of the round, from 0", True),
    Field(
        "totals", ("seats",), TOTALS_SCALE, "points over the finished rounds, above the lowest of them", True
    ),
)

_UNABLE: Final[str] = (
    "how sure it is that the seat holds no tile of the value: 8 when it has just been seen unable to play "
    "on it, one less with every tile it has kept since"
)


def _by_name(*fields: Field) -> Mapping[str, Field]:
    return MappingProxyType({field.name: field for field in fields})


FIELDS: Final[Mapping[str, Field]] = _by_name(
    Field("hand", ("tiles",), 1, "1 for each tile in my hand"),
    Field("drawn", ("tiles",), 1, "one-hot: the tile I have drawn for the tile now owed; zeros without one"),
    *_PUBLIC,
    Field("unable", ("others", "values"), UNABLE_LEVELS, f"the other seats, next one first: {_UNABLE}"),
    *_MATCH,
)
"""The observation, in order. Seats are relative: 0 is mine, then clockwise; trains likewise, the Mexican
Train last; tiles by id (``high * (high + 1) / 2 + low``)."""

STATE_FIELDS: Final[Mapping[str, Field]] = _by_name(
    Field("hands", ("seats", "tiles"), 1, "1 for each tile in the hand of each seat (hidden)"),
    Field(
        "drawn", ("tiles",), 1, "one-hot: the tile drawn for the tile now owed (hidden); zeros without one"
    ),
    Field(
        "boneyard_order",
        ("tiles",),
        "tiles",
        "0 if the tile is not in the boneyard, else: all tiles of the set for the next one to be drawn, one "
        "less for the second, and so on (hidden)",
    ),
    *_PUBLIC,
    Field("unable", ("seats", "values"), UNABLE_LEVELS, _UNABLE),
    *_MATCH,
)
"""The full state, in order, for critics that may see everything. Seats are absolute, from 0."""

DIMENSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "seats": "n, the number of seats",
        "others": "n - 1",
        "trains": "n + 1: the seats' trains and the Mexican Train",
        "values": "set + 1: pips from 0 to the highest of the set",
        "tiles": "tiles of the set",
        "hand": "twice the tiles dealt to a seat, at least 16",
        "boneyard": "tiles in the boneyard after the deal, at least 1",
        "length": "twice values",
        "rounds": "rounds of a match",
    }
)
"""Names that shapes and scales use."""


def dimensions(rules: ResolvedRules) -> dict[str, int]:
    """The numbers behind the names of `DIMENSIONS` for a rule set."""
    n, values = rules.num_players, rules.set + 1
    return {
        "seats": n,
        "others": n - 1,
        "trains": n + 1,
        "values": values,
        "tiles": rules.num_tiles,
        "hand": max(SMALLEST_HAND_SCALE, 2 * rules.hand_size),
        "boneyard": max(1, rules.boneyard_size),
        "length": 2 * values,
        "rounds": rules.rounds,
    }


class Encoding:
    """The layout of a vector for one rule set.

    Args:
        rules: the rules, resolved for a number of seats.
        match: whether an episode is a whole match (adds ``round`` and ``totals``).
        fields: `FIELDS` (what one seat sees) or `STATE_FIELDS` (everything).

    Attributes:
        fields: the fields that are there, in order.
        size: entries of a vector.
        slices: name -> where the field lies.
        shapes: name -> shape of the field, as in ``row[slices["ends"]].reshape(shapes["ends"])``.
        scales: float32 ``[size]``, the count that is written as 1; ``uint8 row / scales`` is the float row.
    """

    def __init__(
        self, rules: ResolvedRules, match: bool = False, fields: Mapping[str, Field] = FIELDS
    ) -> None:
        known = dimensions(rules)
        self.fields: tuple[Field, ...] = tuple(f for f in fields.values() if match or not f.match_only)
        self.slices: dict[str, slice] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        parts = []
        at = 0
        for field in self.fields:
            shape = tuple(known[axis] for axis in field.shape)
            size = math.prod(shape)
            self.shapes[field.name] = shape
            self.slices[field.name] = slice(at, at + size)
            at += size
            scale = known[field.scale] if isinstance(field.scale, str) else field.scale
            parts.append(np.full(size, scale, np.float32))
        self.size: int = at
        self.scales: NDArray[np.float32] = np.concatenate(parts)
        self.scales.setflags(write=False)

    def space(self, dtype: DTypeLike = np.float32) -> spaces.Box:
        """The space of these vectors: float32 in [0, 1], or uint8 counts up to each field's scale.

        Raises:
            ValueError: another dtype.
        """
        wanted = observation_dtype(dtype)
        if wanted == np.float32:
            return spaces.Box(0.0, 1.0, (self.size,), np.float32)
        return spaces.Box(np.zeros(self.size, np.uint8), self.scales.astype(np.uint8), dtype=np.uint8)

    def split(self, row: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Views of the fields of ``row`` (``[..., size]``) by name, each in its own shape."""
        ahead = row.shape[:-1]
        return {name: row[..., part].reshape(ahead + self.shapes[name]) for name, part in self.slices.items()}


def observation_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """``dtype`` as one of the two that observations come in.

    Raises:
        ValueError: neither float32 nor uint8.
    """
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        wanted = np.dtype(object)
    if dtype is None or wanted not in (np.dtype(np.float32), np.dtype(np.uint8)):
        raise ValueError(f"observation_dtype={dtype!r}: must be float32 or uint8")
    return wanted


for _name in ("lengths", "hand_sizes", "unable"):  # `spread_levels` reads 16 bytes from each entry on
    assert GAME_DTYPE.fields is not None
    assert GAME_DTYPE.fields[_name][1] + GAME_DTYPE[_name].itemsize + LEVELS <= GAME_DTYPE.itemsize


@inlined_kernel
def _put_set(out: Any, at: Any, words: Any, count: Any) -> None:
    """Write ``count`` tiles of a bit set as 0 or 1."""
    for word in range((count + 63) // 64):
        spread(out, at + 64 * word, words[word], min(64, count - 64 * word))


@inlined_kernel
def _put_order(out: Any, at: Any, trains: Any, count: Any, n: Any, seat: Any) -> None:
    for i in range(count):
        put_count(out, at + _relative(np.int64(trains[i]), seat, n), n + 1 - i, n + 1)


@inlined_kernel
def _relative(train: Any, seat: Any, n: Any) -> Any:
    """Number of an absolute seat or train as ``seat`` counts them; the Mexican Train (``n``) stays last."""
    if train == n:
        return n
    return train - seat if train >= seat else train - seat + n


@inlined_kernel
def _put_around(out: Any, at: Any, counts: Any, n: Any, seat: Any, scale: Any) -> None:
    """Write a count of each seat, that of ``seat`` first."""
    spread_levels(out, at, counts, seat, n - seat, scale)
    if seat > 0:
        spread_levels(out, at + n - seat, counts, 0, seat, scale)


@inlined_kernel
def _public(s: Any, r: Any, seat: Any, out: Any, at: Any, others_only: Any) -> Any:
    """Write what everybody sees, as ``seat`` counts seats, from ``at`` on; returns where it ends.

    Entries up to the field ``lengths`` are zeros before. Written from the front to the back, since each
    wide write (`mt_env.core.wide`) may run into the field behind it.
    """
    n = np.int64(r["num_players"])
    values = np.int64(r["max_pip"]) + 1
    tiles = np.int64(r["num_tiles"])
    _put_set(out, at, s["table"], tiles)
    ends = at + tiles
    begun = ends + (n + 1) * values
    markers = begun + n + 1
    for train in range(n):
        relative = _relative(train, seat, n)
        out[ends + relative * values + np.int64(s["ends"][train])] = 1
        out[begun + relative] = s["lengths"][train] > 0
        out[markers + relative] = s["markers"][train]
    out[ends + n * values + np.int64(s["ends"][n])] = 1
    out[begun + n] = s["lengths"][n] > 0
    at = markers + n
    _put_order(out, at, s["open_trains"], np.int64(s["num_open"]), n, seat)
    _put_order(out, at + n + 1, s["owed_trains"], np.int64(s["num_owed"]), n, seat)
    at += 2 * n + 2
    _put_around(out, at, s["lengths"], n, seat, 2 * values)
    put_count(out, at + n, np.int64(s["lengths"][n]), 2 * values)
    at += n + 1
    spread_short(out, at, bit(s["engine"]), values)
    at += values
    _put_around(out, at, s["hand_sizes"], n, seat, max(SMALLEST_HAND_SCALE, 2 * np.int64(r["hand_size"])))
    at += n
    boneyard_scale = tiles - n * np.int64(r["hand_size"]) - (r["dealt"] == 0)
    put_count(out, at, np.int64(s["boneyard_size"]), max(1, boneyard_scale))
    at += 1
    lap_1 = s["lap"] == 1
    flags = np.uint64(lap_1)
    if s["phase"] == PLAYING:
        opening = lap_1 and r["chain"] != 0
        owes = s["num_owed"] > 0
        must_cover = not opening and not owes and s["num_open"] > 0
        flags |= np.uint64(opening) << np.uint64(1) | np.uint64(owes) << np.uint64(2)
        flags |= np.uint64(must_cover) << np.uint64(3) | np.uint64(s["drew"]) << np.uint64(4)
        flags |= bit(5 + _relative(np.int64(s["turn"]), seat, n))
    flags |= bit(5 + n + _relative(np.int64(s["leader"]), seat, n))
    if 5 + 2 * n <= SHORT_BITS:
        spread_short(out, at, flags, 5 + 2 * n)
    else:
        spread(out, at, flags, 5 + 2 * n)
    at += 5 + 2 * n
    put_count(out, at, np.int64(s["passes"]), n)
    at += 1
    for relative in range(1 if others_only else 0, n):
        other = seat + relative
        other -= n if other >= n else 0
        spread_levels(out, at, s["unable"][other], 0, values, UNABLE_LEVELS)
        at += values
    if r["match"] != 0:
        put_count(out, at, np.int64(s["round"]), np.int64(r["rounds"]))
        lowest: Any = np.int64(s["totals"][0])
        for other in range(n):
            lowest = min(lowest, np.int64(s["totals"][other]))
        for other in range(n):
            above = np.int64(s["totals"][other]) - lowest
            put_count(out, at + 1 + _relative(other, seat, n), above, TOTALS_SCALE)
        at += 1 + n
    return at


@kernel
def encode(s: Any, r: Any, seat: Any, out: Any) -> Any:
    """Write what ``seat`` sees into ``out``, ``[Encoding.size]``; returns that size.

    Every entry is written: of a float32 ``out`` count / scale, of a uint8 one the counts.
    ``r["match"]`` says whether the fields of a match are there.
    """
    tiles = np.int64(r["num_tiles"])
    out[:] = 0
    _put_set(out, 0, s["hands"][seat], tiles)
    if s["turn"] == seat and s["phase"] == PLAYING and s["drawn"] < tiles:
        out[tiles + np.int64(s["drawn"])] = 1
    return _public(s, r, seat, out, 2 * tiles, True)


@kernel
def encode_state(s: Any, r: Any, out: Any) -> Any:
    """Write the full state into ``out``, ``[size]`` of ``Encoding(..., fields=STATE_FIELDS)``."""
    n = np.int64(r["num_players"])
    tiles = np.int64(r["num_tiles"])
    out[:] = 0
    for seat in range(n):
        _put_set(out, seat * tiles, s["hands"][seat], tiles)
    at = n * tiles
    if s["phase"] == PLAYING and s["drawn"] < tiles:
        out[at + np.int64(s["drawn"])] = 1
    at += tiles
    size = np.int64(s["boneyard_size"])
    for i in range(size):
        put_count(out, at + np.int64(s["boneyard"][i]), tiles - (size - 1 - i), tiles)
    return _public(s, r, 0, out, at + tiles, False)


def fields_table(fields: Mapping[str, Field] = FIELDS) -> str:
    """The table of docs/env.md for ``fields``: Markdown, ended by a newline."""
    from mt_env.rules import Rules

    example = Rules.preset("spruce").resolve(4)
    encoding = Encoding(example, True, fields)
    lines = [
        "| field | shape | scale | where, D12 with 4 seats | meaning |",
        "|---|---|---|---|---|",
    ]
    for field in encoding.fields:
        part = encoding.slices[field.name]
        shape = " x ".join(field.shape) or "1"
        note = " (only in a match)" if field.match_only else ""
        lines.append(
            f"| `{field.name}` | {shape} | {field.scale} | {part.start}:{part.stop} | {field.meaning}{note} |"
        )
    single = Encoding(example, False, fields).size
    lines.append(f"| all | | | {single} in a round, {encoding.size} in a match | |")
    return "\n".join(lines) + "\n"


def dimensions_table() -> str:
    """The table of docs/env.md that explains the names in shapes and scales."""
    from mt_env.rules import Rules

    numbers = dimensions(Rules.preset("spruce").resolve(4))
    lines = ["| name | number | spruce, 4 seats |", "|---|---|---|"]
    lines += [f"| {name} | {text} | {numbers[name]} |" for name, text in DIMENSIONS.items()]
    return "\n".join(lines) + "\n"

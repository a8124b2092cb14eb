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

from mt_env.core.bits import ctz, drop_lowest
from mt_env.core.jit import kernel
from mt_env.core.state import PLAYING, UNABLE_LEVELS
from mt_env.rules import ResolvedRules

_ZERO = np.uint64(0)
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


@kernel
def _put(out: Any, at: Any, count: Any, scale: Any, divide: Any) -> None:
    kept = min(count, scale)
    if divide:
        out[at] = kept / scale
    else:
        out[at] = kept


@kernel
def _put_set(out: Any, at: Any, words: Any) -> None:
    for word in range(3):
        left = words[word]
        while left != _ZERO:
            out[at + word * 64 + ctz(left)] = 1
            left = drop_lowest(left)


@kernel
def _put_order(out: Any, at: Any, trains: Any, count: Any, n: Any, seat: Any, divide: Any) -> None:
    for i in range(count):
        train = np.int64(trains[i])
        _put(out, at + _relative(train, seat, n), n + 1 - i, n + 1, divide)


@kernel
def _relative(train: Any, seat: Any, n: Any) -> Any:
    """Number of an absolute seat or train as ``seat`` counts them; the Mexican Train (``n``) stays last."""
    if train == n:
        return n
    return train - seat if train >= seat else train - seat + n


@kernel
def _public(s: Any, r: Any, seat: Any, out: Any, at: Any, divide: Any, others_only: Any) -> Any:
    """Write what everybody sees, as ``seat`` counts seats, from ``at`` on; returns where it ends."""
    n = np.int64(r["num_players"])
    values = np.int64(r["max_pip"]) + 1
    tiles = np.int64(r["num_tiles"])
    begun = at + tiles + (n + 1) * values
    markers = begun + n + 1
    opened = markers + n
    owed = opened + n + 1
    lengths = owed + n + 1
    engine = lengths + n + 1
    sizes = engine + values
    flags = sizes + n
    hand_scale = max(SMALLEST_HAND_SCALE, 2 * np.int64(r["hand_size"]))
    _put_set(out, at, s["table"])
    for relative in range(n + 1):
        train = n if relative == n else (seat + relative) % n
        length = np.int64(s["lengths"][train])
        out[at + tiles + relative * values + np.int64(s["ends"][train])] = 1
        if length > 0:
            out[begun + relative] = 1
            _put(out, lengths + relative, length, 2 * values, divide)
        if relative < n:
            out[markers + relative] = s["markers"][train]
            _put(out, sizes + relative, np.int64(s["hand_sizes"][train]), hand_scale, divide)
    _put_order(out, opened, s["open_trains"], np.int64(s["num_open"]), n, seat, divide)
    _put_order(out, owed, s["owed_trains"], np.int64(s["num_owed"]), n, seat, divide)
    out[engine + np.int64(s["engine"])] = 1
    boneyard_scale = tiles - n * np.int64(r["hand_size"])
    if r["dealt"] == 0:
        boneyard_scale -= 1
    _put(out, flags, np.int64(s["boneyard_size"]), max(1, boneyard_scale), divide)
    lap_1 = s["lap"] == 1
    out[flags + 1] = lap_1
    turn = flags + 6
    if s["phase"] == PLAYING:
        opening = lap_1 and r["chain"] != 0
        owes = s["num_owed"] > 0
        out[flags + 2] = opening
        out[flags + 3] = owes
        out[flags + 4] = not opening and not owes and s["num_open"] > 0
        out[flags + 5] = s["drew"]
        out[turn + _relative(np.int64(s["turn"]), seat, n)] = 1
    out[turn + n + _relative(np.int64(s["leader"]), seat, n)] = 1
    _put(out, turn + 2 * n, np.int64(s["passes"]), n, divide)
    at = turn + 2 * n + 1
    for relative in range(1 if others_only else 0, n):
        other = (seat + relative) % n
        for value in range(values):
            level = np.int64(s["unable"][other, value])
            if level > 0:
                _put(out, at + value, level, UNABLE_LEVELS, divide)
        at += values
    if r["match"] != 0:
        _put(out, at, np.int64(s["round"]), np.int64(r["rounds"]), divide)
        lowest: Any = np.int64(s["totals"][0])
        for other in range(n):
            lowest = min(lowest, np.int64(s["totals"][other]))
        for relative in range(n):
            above = np.int64(s["totals"][(seat + relative) % n]) - lowest
            _put(out, at + 1 + relative, above, TOTALS_SCALE, divide)
        at += 1 + n
    return at


@kernel
def encode(s: Any, r: Any, seat: Any, out: Any, divide: Any) -> Any:
    """`encode_f32` where ``divide``, else `encode_u8`: for kernels that serve both dtypes."""
    tiles = np.int64(r["num_tiles"])
    out[:] = 0
    _put_set(out, 0, s["hands"][seat])
    if s["turn"] == seat and s["phase"] == PLAYING and s["drawn"] < tiles:
        out[tiles + np.int64(s["drawn"])] = 1
    return _public(s, r, seat, out, 2 * tiles, divide, True)


@kernel
def encode_f32(s: Any, r: Any, seat: Any, out: Any) -> Any:
    """Write what ``seat`` sees into ``out``, float32 ``[Encoding.size]``; returns that size.

    Every entry is written. ``r["match"]`` says whether the fields of a match are there.
    """
    return encode(s, r, seat, out, True)


@kernel
def encode_u8(s: Any, r: Any, seat: Any, out: Any) -> Any:
    """Write what ``seat`` sees into ``out``, uint8 counts ``[Encoding.size]``; returns that size."""
    return encode(s, r, seat, out, False)


@kernel
def encode_state_f32(s: Any, r: Any, out: Any) -> Any:
    """Write the full state into ``out``, float32 ``[size]`` of ``Encoding(..., fields=STATE_FIELDS)``."""
    n = np.int64(r["num_players"])
    tiles = np.int64(r["num_tiles"])
    out[:] = 0
    for seat in range(n):
        _put_set(out, seat * tiles, s["hands"][seat])
    at = n * tiles
    if s["phase"] == PLAYING and s["drawn"] < tiles:
        out[at + np.int64(s["drawn"])] = 1
    at += tiles
    size = np.int64(s["boneyard_size"])
    for i in range(size):
        _put(out, at + np.int64(s["boneyard"][i]), tiles - (size - 1 - i), tiles, True)
    return _public(s, r, 0, out, at + tiles, True, False)


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

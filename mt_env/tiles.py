"""Tiles and sets: ids, pips, text.

A tile ``a-b`` (``a <= b``) has the id ``b * (b + 1) // 2 + a``. Ordering by the higher value first
makes ids the same in every set: the tiles of the double-6 set are ids 0..27 of the double-12 set.
"""

from __future__ import annotations

from typing import Final

PUBLISHED_SETS: Final[tuple[int, ...]] = (6, 9, 12, 15, 18)
"""Highest pip values of the sets that are sold: D6, D9, D12, D15, D18."""

MIN_SET: Final[int] = 2
"""Smallest set the core can hold; sets below D6 serve whole-tree searches and tests."""

MAX_SET: Final[int] = 18
"""Largest set (D18)."""


def num_tiles(max_pip: int) -> int:
    """Number of tiles of the double-``max_pip`` set (R1): every pair ``0 <= a <= b <= max_pip``."""
    return (max_pip + 1) * (max_pip + 2) // 2


MAX_TILES: Final[int] = num_tiles(MAX_SET)
"""Tiles of the largest set: 190."""

LOW: Final[tuple[int, ...]] = tuple(a for b in range(MAX_SET + 1) for a in range(b + 1))
"""Lower value of each tile id."""

HIGH: Final[tuple[int, ...]] = tuple(b for b in range(MAX_SET + 1) for _ in range(b + 1))
"""Higher value of each tile id."""

PIPS: Final[tuple[int, ...]] = tuple(a + b for a, b in zip(LOW, HIGH, strict=True))
"""Pips of each tile id, both halves together."""


def tile_id(a: int, b: int) -> int:
    """Id of the tile with values ``a`` and ``b``, given either way round.

    Raises:
        ValueError: a value is below 0 or above 18.
    """
    if not (0 <= a <= MAX_SET and 0 <= b <= MAX_SET):
        raise ValueError(f"tile {a}-{b}: both values must be between 0 and {MAX_SET}")
    low, high = (a, b) if a <= b else (b, a)
    return high * (high + 1) // 2 + low


def tile_values(tile: int) -> tuple[int, int]:
    """The two values ``(low, high)`` of a tile id.

    Raises:
        ValueError: ``tile`` is no tile id (0..189).
    """
    if not 0 <= tile < MAX_TILES:
        raise ValueError(f"tile id {tile}: must be between 0 and {MAX_TILES - 1}")
    return LOW[tile], HIGH[tile]


def is_double(tile: int) -> bool:
    """Whether both halves of the tile id show the same value."""
    low, high = tile_values(tile)
    return low == high


def tile_to_string(tile: int) -> str:
    """Text of a tile id, lower value first: ``"3-7"``."""
    low, high = tile_values(tile)
    return f"{low}-{high}"


def string_to_tile(text: str) -> int:
    """Tile id of a text such as ``"3-7"`` or ``"7-3"``.

    Raises:
        ValueError: the text is not two values 0..18 joined by ``-``.
    """
    left, dash, right = text.partition("-")
    # isascii: str.isdigit() accepts digits of other scripts, int() then too, and text would not round-trip.
    ok = dash and left.isascii() and left.isdigit() and right.isascii() and right.isdigit()
    if not ok or len(left) > 2 or len(right) > 2 or int(left) > MAX_SET or int(right) > MAX_SET:
        raise ValueError(f"tile {text!r}: write two values from 0 to {MAX_SET} joined by '-', as in 3-7")
    return tile_id(int(left), int(right))

"""Tile ids, pips and text (R1)."""

from __future__ import annotations

import pytest

from mt_env.tiles import (
    HIGH,
    LOW,
    MAX_SET,
    MAX_TILES,
    MIN_SET,
    PIPS,
    PUBLISHED_SETS,
    is_double,
    num_tiles,
    string_to_tile,
    tile_id,
    tile_to_string,
    tile_values,
)


def test_r1_sets_have_the_tiles_they_are_sold_with() -> None:
    assert {n: num_tiles(n) for n in PUBLISHED_SETS} == {6: 28, 9: 55, 12: 91, 15: 136, 18: 190}


@pytest.mark.parametrize("max_pip", range(MIN_SET, MAX_SET + 1))
def test_r1_a_set_is_every_pair_and_its_ids_are_a_prefix(max_pip: int) -> None:
    pairs = {(a, b) for a in range(max_pip + 1) for b in range(a, max_pip + 1)}
    assert {tile_values(tile) for tile in range(num_tiles(max_pip))} == pairs
    assert len(pairs) == num_tiles(max_pip)


def test_tables_and_functions_agree() -> None:
    assert len(LOW) == len(HIGH) == len(PIPS) == MAX_TILES == num_tiles(MAX_SET)
    for tile in range(MAX_TILES):
        low, high = tile_values(tile)
        assert (LOW[tile], HIGH[tile], PIPS[tile]) == (low, high, low + high)
        assert low <= high
        assert is_double(tile) == (low == high)
        assert tile_id(low, high) == tile_id(high, low) == tile


def test_text_reads_either_way_round_and_writes_the_lower_value_first() -> None:
    for tile in range(MAX_TILES):
        low, high = tile_values(tile)
        assert tile_to_string(tile) == f"{low}-{high}"
        assert string_to_tile(f"{low}-{high}") == string_to_tile(f"{high}-{low}") == tile


@pytest.mark.parametrize(
    "text", ["", "3", "3-", "-3", "3-19", "3-4-5", "3 -4", "a-b", "3-٤", "3-²", "-1-2", "3-100", "+3-4"]
)
def test_text_that_is_no_tile_is_refused_and_named(text: str) -> None:
    with pytest.raises(ValueError, match="0 to 18") as refused:
        string_to_tile(text)
    assert repr(text) in str(refused.value)


@pytest.mark.parametrize("values", [(-1, 3), (3, 19), (19, 19)])
def test_values_out_of_range_are_refused(values: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="between 0 and 18"):
        tile_id(*values)


@pytest.mark.parametrize("tile", [-1, MAX_TILES])
def test_ids_out_of_range_are_refused(tile: int) -> None:
    for function in (tile_values, tile_to_string, is_double):
        with pytest.raises(ValueError, match="between 0 and 189"):
            function(tile)

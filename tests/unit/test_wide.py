"""Wide writes: what is asked for is written, whatever the place in the row, and nothing before it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from mt_env.core.jit import kernel
from mt_env.core.wide import put_count, spread, spread_levels, spread_short

DTYPES = (np.uint8, np.float32)


@kernel
def _spread(out: Any, at: Any, word: Any, count: Any) -> None:
    spread(out, at, word, count)


@kernel
def _spread_short(out: Any, at: Any, word: Any, count: Any) -> None:
    spread_short(out, at, word, count)


@kernel
def _spread_levels(out: Any, at: Any, levels: Any, count: Any, unit: Any) -> None:
    spread_levels(out, at, levels, count, unit)


@kernel
def _put_count(out: Any, at: Any, count: Any, most: Any, unit: Any) -> None:
    put_count(out, at, count, most, unit)


def bits(word: int, count: int) -> list[int]:
    return [(word >> i) & 1 for i in range(count)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("write", "width"), [(_spread, 64), (_spread_short, 32)])
def test_bits_are_written_where_they_belong(dtype: type, write: Any, width: int) -> None:
    rng = random.Random(1)
    size = 150
    for _ in range(300):
        word = rng.getrandbits(width)
        count = rng.randint(0, width)
        at = rng.randint(0, size - count)
        out = np.full(size, 7, dtype)
        write(out, at, np.uint64(word), count)
        assert out[at : at + count].tolist() == bits(word, count)
        assert (out[:at] == 7).all()
        assert (out[at + width :] == 7).all()
        if at + width > size:  # no room for a wide write: nothing but what was asked for
            assert (out[at + count :] == 7).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_bit_alone(dtype: type) -> None:
    for write, width in ((_spread, 64), (_spread_short, 32)):
        for i in range(width):
            out = np.full(width, 9, dtype)
            write(out, 0, np.uint64(1 << i), width)
            assert out.tolist() == bits(1 << i, width)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [16, 19])
def test_levels_are_copied_or_scaled(dtype: type, size: int) -> None:
    rng = random.Random(2)
    for _ in range(100):
        levels = np.array([rng.randint(0, 8) for _ in range(size)], np.uint8)
        count = rng.randint(0, size)
        at = rng.randint(0, 60 - count)
        out = np.full(60, 7, dtype)
        _spread_levels(out, at, levels, count, 1 / 8)
        want = levels[:count] / 8 if dtype == np.float32 else levels[:count]
        assert np.array_equal(out[at : at + count], want)
        assert (out[:at] == 7).all()
        assert (out[at + max(16, count) :] == 7).all()


def test_rows_that_are_not_contiguous_are_written_too() -> None:
    for dtype in DTYPES:
        out = np.full((80, 3), 7, dtype)
        _spread(out[:, 1], 2, np.uint64(0b1011), 4)
        _spread_levels(out[:, 2], 1, np.arange(16, dtype=np.uint8), 3, 1.0)
        assert out[2:6, 1].tolist() == [1, 1, 0, 1]
        assert out[1:4, 2].tolist() == [0, 1, 2]
        assert (out[:, 0] == 7).all()
        assert (out[6:, 1] == 7).all()
        assert (out[4:, 2] == 7).all()


def test_counts_are_cut_and_equal_a_division() -> None:
    real, whole = np.zeros(1, np.float32), np.zeros(1, np.uint8)
    for most in range(1, 256):
        for count in (0, 1, most // 3, most - 1, most, most + 1, 300):
            _put_count(real, 0, count, most, 1.0 / most)
            _put_count(whole, 0, count, most, 1.0 / most)
            assert real[0] == np.float32(min(count, most) / most)
            assert whole[0] == min(count, most)


def test_a_count_times_the_reciprocal_is_the_quotient_for_all() -> None:
    count, most = np.meshgrid(np.arange(256.0), np.arange(1.0, 256.0))
    inside = count <= most
    product, quotient = (count * (1.0 / most)).astype(np.float32), (count / most).astype(np.float32)
    assert np.array_equal(product[inside], quotient[inside])

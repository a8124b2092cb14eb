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
def _spread_levels(out: Any, at: Any, records: Any, first: Any, count: Any, scale: Any) -> None:
    spread_levels(out, at, records[0]["levels"], first, count, scale)


@kernel
def _put_count(out: Any, at: Any, count: Any, scale: Any) -> None:
    put_count(out, at, count, scale)


LEVEL_RECORD = np.dtype([("levels", np.uint8, (19,)), ("behind", np.uint8, (20,))])


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
def test_levels_are_copied_or_divided(dtype: type) -> None:
    rng = random.Random(2)
    for _ in range(300):
        records = np.zeros(1, LEVEL_RECORD)
        records["behind"] = 77
        levels = np.array([rng.randint(0, 40) for _ in range(19)], np.uint8)
        records["levels"] = levels
        first = rng.randint(0, 18)
        count = rng.randint(0, 19 - first)
        at = rng.randint(0, 60 - count)
        scale = rng.randint(1, 38)
        room = np.full(60 + 32, 7, dtype)
        out = room[:60]
        _spread_levels(out, at, records, first, count, scale)
        assert (room[60:] == 7).all()
        kept = np.minimum(levels[first : first + count], scale)
        want = (kept / scale).astype(np.float32) if dtype == np.float32 else kept
        assert np.array_equal(out[at : at + count], want)
        assert (out[:at] == 7).all()
        assert (out[at + max(16, count) :] == 7).all()


def test_rows_that_are_not_contiguous_are_written_too() -> None:
    records = np.zeros(1, LEVEL_RECORD)
    records["levels"] = np.arange(19)
    for dtype in DTYPES:
        out = np.full((80, 3), 7, dtype)
        _spread(out[:, 1], 2, np.uint64(0b1011), 4)
        _spread_levels(out[:, 2], 1, records, 2, 3, 1)
        assert out[2:6, 1].tolist() == [1, 1, 0, 1]
        assert out[1:4, 2].tolist() == [1, 1, 1]
        assert (out[:, 0] == 7).all()
        assert (out[6:, 1] == 7).all()
        assert (out[4:, 2] == 7).all()


def test_counts_are_cut_and_divided() -> None:
    real, whole = np.zeros(1, np.float32), np.zeros(1, np.uint8)
    for scale in range(1, 256):
        for count in (0, 1, scale // 3, scale - 1, scale, scale + 1, 300):
            _put_count(real, 0, count, scale)
            _put_count(whole, 0, count, scale)
            assert real[0] == np.float32(min(count, scale) / scale)  # a division in double precision
            assert whole[0] == min(count, scale)

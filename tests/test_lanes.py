"""The lanes of `make lane-bounds` and `make lane-nojit`: that they check what they promise."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from lockstep_games import FAMILIES, play_game

from mt_env import bots
from mt_env.core import policies
from mt_env.core.jit import config, kernel
from mt_env.core.rollout import play_episodes
from mt_env.core.state import GAME_DTYPE
from mt_env.game import Game

ROOT = Path(__file__).resolve().parent.parent
JIT = not config.DISABLE_JIT
BOUNDS = os.environ.get("NUMBA_BOUNDSCHECK") == "1"

# Reads past a view, but within the array it shows a part of: without checks a harmless wrong number.
PLANTED = """
import numpy as np
from mt_env.core.jit import kernel
from mt_env.core.state import GAME_DTYPE

@kernel
def entry(values, i):
    return values[i]

@kernel
def called_by_a_kernel(values, i):
    return entry(values, i)

@kernel
def field_of_a_record(s, i):
    return s["ends"][i]

@kernel
def row_of_a_field(s, i):
    return s["hands"][i][0]

numbers, games = np.arange(10), np.zeros(1, GAME_DTYPE)
for read, values, size in (
    (entry, numbers[:3], 3),
    (called_by_a_kernel, numbers[:3], 3),
    (field_of_a_record, games[0], games["ends"].shape[1]),
    (row_of_a_field, games[0], games["hands"].shape[1]),
):
    read(values, size - 1)
    try:
        read(values, size)
        print(read.__name__, "unchecked")
    except IndexError:
        print(read.__name__, "IndexError")
"""


@kernel
def _entry(values: np.ndarray, i: int) -> int:
    return values[i]


@pytest.mark.lane
@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="nothing is compiled in this lane")
def test_a_read_out_of_range_raises_whatever_is_cached(tmp_path: Path) -> None:
    """The trap: a warm cache of unchecked kernels, which numba would load and run with the checks on."""
    (tmp_path / "planted.py").write_text(PLANTED, encoding="utf-8")
    cache = tmp_path / "cache"
    names = ["entry", "called_by_a_kernel", "field_of_a_record", "row_of_a_field"]
    for flag, outcome, warm in (("0", "unchecked", 0), ("1", "IndexError", 4), ("0", "unchecked", 8)):
        assert len(list(cache.rglob("planted*.nbi"))) == warm
        environment = {
            "NUMBA_BOUNDSCHECK": flag,
            "NUMBA_DISABLE_JIT": "0",
            "MT_ENV_CACHE_DIR": str(cache),
            "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
        }
        done = subprocess.run(
            [sys.executable, "-c", "import planted"],
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.stdout.splitlines() == [f"{name} {outcome}" for name in names], done.stderr


@pytest.mark.skipif(not BOUNDS, reason="only in the lane of `make lane-bounds`")
def test_bounds_are_checked_in_this_process() -> None:
    with pytest.raises(IndexError):
        _entry(np.arange(6)[:3], 3)


@pytest.mark.skipif("MT_ENV_LANE" not in os.environ, reason="only in a lane")
def test_the_lane_is_the_one_that_was_asked_for() -> None:
    assert {"bounds": BOUNDS, "nojit": not JIT}[os.environ["MT_ENV_LANE"]]


@pytest.mark.parametrize("family", FAMILIES)
def test_lock_step_in_the_lane(family: str) -> None:
    """Games against the referee; few of them with the JIT off, where a round takes a good second."""
    for k in range(5000, 5040 if JIT else 5006):
        play_game(0, k, family, None if JIT else 2 + k % 3)


@pytest.mark.parametrize("seats", range(2, 15) if JIT else (2, 3))
def test_bots_in_the_lane(seats: int) -> None:
    """Every rule bot inside the kernel, in rounds of each size; in matches of two rounds for few seats."""
    game = Game("spruce;rounds=2", seats, episode="match") if seats < 5 else Game("spruce", seats)
    if not JIT:
        game = Game("spruce;rounds=2;set=6;hand_size=6", seats, episode="match")
    all_kinds = list(bots.KINDS.values())
    kinds = [[all_kinds[(3 * i + seat) % len(all_kinds)] for seat in range(seats)] for i in range(2)]
    outs = (
        np.zeros((2, seats), np.int64),
        np.zeros((2, seats)),
        np.zeros((2, seats)),
        np.zeros((2, 2), np.int64),
    )
    rng = random.Random(seats)
    seeds = np.array([rng.getrandbits(64) for _ in range(2)], np.uint64)
    moves = play_episodes(
        np.zeros(1, GAME_DTYPE),
        game.rules_record,
        seeds,
        np.array(kinds),
        policies.new_scratch(),
        *outs,
    )
    assert moves > 2 * seats
    assert outs[2].sum(axis=1) == pytest.approx(1)
    assert outs[3].sum() == 2 * game.rounds


def test_coverage_is_measured_of_the_core_and_fails_below_95() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
    assert settings["run"]["source"] == ["mt_env/core"]
    assert "omit" not in settings["run"]
    assert settings["report"]["fail_under"] >= 95

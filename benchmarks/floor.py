"""The C floor (floor.c), compiled when it is measured and called through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.registry import Step, UnavailableError

SOURCE: Final = Path(__file__).resolve().parent / "floor.c"
ROUNDS: Final = 22
"""Of the work loop: about 50 ns at 3 GHz."""


def compiled() -> ctypes.CDLL:
    """floor.c as a loaded library; its file is gone afterwards.

    Raises:
        UnavailableError: no compiler, or it fails; the message says which.
    """
    names = [name for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name]
    compiler = next((found for name in names if (found := shutil.which(name))), None)
    if compiler is None:
        raise UnavailableError(f"no C compiler found ({', '.join(names)}); CC names one")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "floor.so"
        words = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines()
            raise UnavailableError(f"{Path(compiler).name} failed: {said[-1] if said else done.returncode}")
        return ctypes.CDLL(str(library))


def floor(num_games: int, size: int, num_actions: int) -> Step:
    """Steps of ``num_games`` games with uint8 observations ``[size]`` and masks ``[num_actions]``."""
    library = compiled()
    library.floor_game_size.restype = ctypes.c_int64
    games = np.zeros(num_games * library.floor_game_size(), np.uint8)
    actions, ended = np.zeros(num_games, np.int64), np.zeros(num_games, np.int64)
    observation, mask = np.zeros((num_games, size), np.uint8), np.zeros((num_games, num_actions), np.uint8)
    rewards = np.zeros((num_games, 4))

    def pointer(array: Any) -> Any:
        return array.ctypes.data_as(ctypes.c_void_p)  # which keeps the array alive

    def whole(value: int) -> ctypes.c_int64:
        return ctypes.c_int64(value)

    library.floor_start(pointer(games), whole(num_games))
    arguments = (
        pointer(games), whole(num_games), pointer(actions), whole(ROUNDS), pointer(observation), whole(size),
        pointer(mask), whole(num_actions), pointer(rewards), pointer(ended),
    )  # fmt: skip
    call = library.floor_step

    def step(n: int) -> int:
        done = 0
        while done < n:
            call(*arguments)
            done += num_games
        return done

    return step

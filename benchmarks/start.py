"""The first use in a new process, with nothing compiled yet and with a warm cache; and bytes a game."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median
from typing import Any, Final

_FIRST_USE: Final[dict[str, str]] = {
    "AEC": (
        "import mt_env\n"
        "game = mt_env.raw_env()\n"
        "game.reset(seed=1)\n"
        "game.last()\n"
        "game.step(game.legal_actions()[0])\n"
    ),
    "Gymnasium": (
        "import mt_env\n"
        "game = mt_env.MexicanTrainEnv(opponents='planner-fast')\n"
        "_, info = game.reset(seed=1)\n"
        "game.step(int(info['action_mask'].argmax()))\n"
    ),
    "State": (
        "import mt_env\n"
        "state = mt_env.Game().new_initial_state(1)\n"
        "state.apply_action(state.legal_actions()[0])\n"
    ),
}
"""Face -> program: import, first reset, first step."""

_CPU: Final = "import time\nprint(time.process_time())\n"


def first_use(program: str, folder: str) -> tuple[float, float, int]:
    """Run ``program`` in a new process that keeps compiled code in ``folder``.

    Returns:
        CPU seconds of the process, wall seconds, and lines written to stderr.
    """
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program + _CPU],
        env={**os.environ, "MT_ENV_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1]), time.perf_counter() - begin, len(done.stderr.splitlines())


def starts(repeats: int) -> list[dict[str, Any]]:
    """Cold start of each face, once, and warm start ``repeats`` times: lines of a results file."""
    lines = []
    for face, program in _FIRST_USE.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"first use of {face}, nothing compiled", file=sys.stderr)
            cold = [first_use(program, folder)]
            warm = [first_use(program, folder) for _ in range(repeats)]
        lines += [_line(face, "cold", cold), _line(face, "warm", warm)]
    return lines


def _line(face: str, cache: str, runs: list[tuple[float, float, int]]) -> dict[str, Any]:
    cpu, wall, notices = zip(*runs, strict=True)
    return {
        "kind": "start",
        "face": face,
        "cache": cache,
        "runs": len(runs),
        "cpu": round(median(cpu), 2),
        "wall": round(median(wall), 2),
        "notices": max(notices),
    }


def sizes() -> list[dict[str, Any]]:
    """Bytes a game takes in several forms, and how many moves are decisions: lines of a results file."""
    import numpy as np

    from benchmarks import loops
    from benchmarks.batches import OUTPUTS, SETTINGS
    from mt_env import Game
    from mt_env.core.state import GAME_DTYPE, MAX_LEGAL, RULES_DTYPE
    from mt_env.vector import Batch

    game = Game("spruce", 4)
    state = game.new_initial_state(1)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    found: dict[str, float] = {
        "bytes of a game's record": GAME_DTYPE.itemsize,
        "bytes of a rules record": RULES_DTYPE.itemsize,
        "bytes of a float32 observation (4 seats, D12)": 4 * game.encoding.size,
        "bytes of a uint8 observation (4 seats, D12)": game.encoding.size,
        "bytes of an action mask (4 seats, D12)": game.num_actions,
        "bytes of a finished round as State.to_bytes()": len(state.to_bytes()),
    }
    for name in ("uint8 + mask", "candidates"):
        batch = Batch(1024, "cover", **{**SETTINGS, **OUTPUTS[name][1]})
        found[f"bytes a game of a batch, {name}"] = round(batch.nbytes / batch.num_games)
    for preset in ("cover", "spruce"):
        rules = Game(preset, 4).rules_record
        states, rng = np.zeros(1, GAME_DTYPE), np.ones(1, np.uint64)
        nothing = np.zeros(1, np.int8)
        loops.begin(states, rules, rng)
        decisions = loops.random_moves(
            states,
            rules,
            200_000,
            rng,
            np.zeros(MAX_LEGAL, np.int64),
            nothing,
            np.zeros(1, np.float32),
            False,
        )
        found[f"decisions a move, random play, {preset}"] = round(decisions / 200_000, 3)
    return [{"kind": "size", "name": name, "value": value} for name, value in found.items()]


MEASURES: Final[dict[str, Callable[[int], list[dict[str, Any]]]]] = {
    "start": starts,
    "size": lambda repeats: sizes(),
}
"""Names for ``--only`` beside those of the cases -> measurement, which takes the repeats."""

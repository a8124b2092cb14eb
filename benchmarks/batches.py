"""Cases of batched environments; `enter` puts them into the registry."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from benchmarks.registry import Step, UnavailableError, case
from mt_env.vector import Batch, MexicanTrainVectorEnv

GAMES: Final = 1024
SIZES: Final = (1, 64, 256, 1024, 4096, 16384)
SEAT_COUNTS: Final = (2, 4, 8, 14)
SETTINGS: Final[dict[str, Any]] = {"skip_forced": False, "observation": "uint8", "mask": True, "seed": 1}
"""Of every batch, where nothing else is said: all moves are decided, also those without a choice."""

OUTPUTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "nothing": ("legal ids only", {"observation": None, "mask": False}),
    "mask": ("mask", {"observation": None}),
    "uint8 + mask": ("uint8 observation and mask", {}),
    "float32 + mask": ("float32 observation and mask", {"observation": "float32"}),
    "candidates": ("candidate rows", {"observation": None, "mask": False, "candidates": True}),
    "candidates + float32": (
        "candidate rows and float32 observation",
        {"observation": "float32", "mask": False, "candidates": True},
    ),
    "events 32": ("the last 32 events", {"observation": None, "mask": False, "events": 32}),
}
"""Name -> what is written in every step, and the arguments of `Batch` that ask for it."""


def random_batch(num_games: int = GAMES, rules: str = "cover", seats: int = 4, **settings: Any) -> Step:
    """Moves of `Batch.step_randomly`: the choice is made in compiled code, control is Python's each step."""
    batch = Batch(num_games, rules, seats, **{**SETTINGS, **settings})

    def step(n: int) -> int:
        done = 0
        while done < n:
            batch.step_randomly()
            done += num_games
        return done

    return step


def stepped_batch(num_games: int) -> Step:
    """Moves of `Batch.step` with given actions: the first legal one of each game, a column of ``legal``."""
    batch = Batch(num_games, "cover", **SETTINGS)
    first = batch.legal[:, 0]

    def step(n: int) -> int:
        done = 0
        while done < n:
            batch.step(first)
            done += num_games
        return done

    return step


def vector_loop(num_envs: int) -> Step:
    """Steps of the Gymnasium vector environment; those that only begin an episode cost time, no more."""
    tables = MexicanTrainVectorEnv(num_envs)
    tables.reset(seed=1)
    batch = tables.batch

    def step(n: int) -> int:
        done = 0
        while done < n:
            done += num_envs - np.count_nonzero(batch.waits)
            tables.step(batch.random_actions())
        return done

    return step


def sb3_loop(num_envs: int) -> Step:
    """Steps of the stable-baselines3 face; before each the masks are fetched as sb3-contrib does."""
    try:
        from mt_env.integrations.sb3 import MexicanTrainVecEnv
    except ImportError as error:
        raise UnavailableError(f"{error}; pip install 'mt-env[learn]' brings it") from error
    tables = MexicanTrainVecEnv(num_envs)
    tables.seed(1)
    tables.reset()

    def step(n: int) -> int:
        done = 0
        while done < n:
            np.stack(tables.env_method("action_masks"))
            tables.step(tables.batch.random_actions())
            done += num_envs
        return done

    return step


def _enter_outputs(rules: str, outputs: list[str]) -> None:
    for name in outputs:
        what, settings = OUTPUTS[name]
        case(f"batch {rules} {name}", "moves", f"{GAMES} games, rules `{rules}`, random play; {what}")(
            lambda settings=settings: random_batch(rules=rules, **settings)  # type: ignore[misc]
        )


def enter() -> None:
    """Enter the cases."""
    _enter_outputs("cover", list(OUTPUTS))
    _enter_outputs("spruce", ["uint8 + mask", "candidates"])
    for size in SIZES:
        if size != GAMES:
            case(f"batch of {size}", "moves", f"as `batch cover uint8 + mask`, games: {size}")(
                lambda size=size: random_batch(size)  # type: ignore[misc]
            )
    for seats in SEAT_COUNTS:
        if seats != 4:
            case(f"batch {seats} seats", "moves", f"as `batch cover uint8 + mask`, seats: {seats}")(
                lambda seats=seats: random_batch(seats=seats)  # type: ignore[misc]
            )
    case("batch 2 threads", "moves", "as `batch cover uint8 + mask`, CPU time of both threads")(
        lambda: random_batch(num_threads=2)
    )
    for threads in (1, 2):
        case(f"batch {threads} threads, wall clock", "moves", f"as that, threads: {threads}", clock="wall")(
            lambda threads=threads: random_batch(num_threads=threads)
        )  # type: ignore[misc]
    for size in (1, GAMES):
        case(f"Batch.step, {size}", "moves", f"games: {size}; step() with given actions, uint8 + mask")(
            lambda size=size: stepped_batch(size)  # type: ignore[misc]
        )
    case("Gymnasium vector, 64", "steps", "MexicanTrainVectorEnv(64).step(); three `random` bots each")(
        lambda: vector_loop(64)
    )
    case("SB3 VecEnv, 64", "steps", "MexicanTrainVecEnv(64): env_method('action_masks'), step(); the same")(
        lambda: sb3_loop(64)
    )

"""Enters the environments in Gymnasium's registry, by name only: nothing is loaded until one is made."""

from __future__ import annotations

from typing import Final

import gymnasium

GYM_ID: Final = "MexicanTrain-v0"
"""Gymnasium's id of the environment; ``gymnasium.make("mt_env:MexicanTrain-v0")`` needs no import before."""


def register_envs() -> None:
    """Register `GYM_ID` with Gymnasium; calling it again does nothing."""
    if GYM_ID not in gymnasium.registry:
        gymnasium.register(
            GYM_ID,
            entry_point="mt_env.solo:MexicanTrainEnv",
            vector_entry_point="mt_env.vector.gym_vec:MexicanTrainVectorEnv",
        )

"""Batched environments: many games in shared arrays, stepped by one call."""

from __future__ import annotations

from mt_env.vector.batch import Batch
from mt_env.vector.gym_vec import MexicanTrainVectorEnv
from mt_env.vector.solo_batch import SoloBatch

__all__ = ["Batch", "MexicanTrainVectorEnv", "SoloBatch"]

"""Batched environments: many games in shared arrays, stepped by one call."""

from __future__ import annotations

from mt_env.vector.batch import Batch

__all__ = ["Batch"]

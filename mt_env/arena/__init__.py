"""Tournaments on equal deals, with honest intervals; see docs/arena.md."""

from __future__ import annotations

from mt_env.arena.match import Clock, Failure
from mt_env.arena.ratings import Ratings, rate
from mt_env.arena.result import Difference, Standing, TournamentResult
from mt_env.arena.runner import tournament
from mt_env.arena.stats import Estimate
from mt_env.arena.workers import WorkerError

__all__ = [
    "Clock",
    "Difference",
    "Estimate",
    "Failure",
    "Ratings",
    "Standing",
    "TournamentResult",
    "WorkerError",
    "rate",
    "tournament",
]

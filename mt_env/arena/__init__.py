"""Tournaments on equal deals, with honest intervals; see docs/arena.md."""

from __future__ import annotations

from mt_env.arena.match import Clock, Failure
from mt_env.arena.stats import Estimate
from mt_env.arena.tournament import Difference, Standing, TournamentResult, tournament

__all__ = ["Clock", "Difference", "Estimate", "Failure", "Standing", "TournamentResult", "tournament"]

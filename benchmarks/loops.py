"""Compiled loops around the core, so that what is measured is the core and not the calls from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.candidates import candidate_rows
from mt_env.core.bits import below, next64
from mt_env.core.deal import new_episode
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.state import PLAYING
from mt_env.observation import encode


@kernel
def begin(states: Any, rules: Any, rng: Any) -> None:
    """Deal an episode whose seed comes from ``rng``."""
    new_episode(states[0], rules[0], next64(rng))


@kernel
def random_moves(
    states: Any, rules: Any, n: Any, rng: Any, legal: Any, mask: Any, out: Any, look: Any
) -> Any:
    """Make ``n`` random legal moves, dealing anew where a round ends; returns how many were decisions.

    Where ``look``, the whole mask and the whole observation of the seat to move are written before each.
    """
    s, r = states[0], rules[0]
    decisions = 0
    for _ in range(n):
        count = legal_actions(s, r, legal)
        if look:
            mask[:] = 0
            for i in range(count):
                mask[legal[i]] = 1
            encode(s, r, np.int64(s["turn"]), out)
        action = legal[0]
        if count > 1:
            decisions += 1
            action = legal[below(rng, count)]
        apply_action(s, r, action)
        if s["phase"] != PLAYING:
            new_episode(s, r, next64(rng))
    return decisions


@kernel
def random_moves_with_rows(
    states: Any, rules: Any, n: Any, rng: Any, legal: Any, rows: Any, scratch: Any
) -> None:
    """Make ``n`` random legal moves, writing the candidate rows of the seat to move before each."""
    s, r = states[0], rules[0]
    for _ in range(n):
        count = legal_actions(s, r, legal)
        candidate_rows(s, r, legal, count, rows, scratch)
        apply_action(s, r, legal[below(rng, count)])
        if s["phase"] != PLAYING:
            new_episode(s, r, next64(rng))


@kernel
def clone_records(states: Any, copies: Any, n: Any) -> None:
    """Copy ``states[0]`` over ``copies`` ``n`` times in turn."""
    for i in range(n):
        copies[i % len(copies)] = states[0]

"""Whole episodes played by compiled policies."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mt_env.core.bits import Int, mix64, stream
from mt_env.core.deal import new_episode
from mt_env.core.jit import allocating_kernel, kernel
from mt_env.core.play import apply_action
from mt_env.core.policies import policy_action
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import BLOCKED, OUT, PLAYING, ROUND_OVER

BOT_STREAM: Final[int] = 1 << 32
"""The bot in seat i of the episode with seed e draws from ``Rng(mix(e, BOT_STREAM + i))``."""


@kernel
def seed_bots(seed: Int, n: Int, rngs: Any) -> None:
    """Set ``rngs`` (``uint64[n, 1]``) to the generators of the bots of the episode ``seed``."""
    for seat in range(n):
        rngs[seat, 0] = mix64(stream(seed, np.uint64(BOT_STREAM + seat)))


@kernel
def play_round(s: Any, r: Any, kinds: Any, rngs: Any, scratch: Any) -> Int:
    """Play the round of ``s`` to its end, seat i by policy ``kinds[i]``; returns the moves made."""
    moves = 0
    while s["phase"] == PLAYING:
        seat = np.int64(s["turn"])
        apply_action(s, r, policy_action(s, r, kinds[seat], rngs[seat], scratch))
        moves += 1
    return moves


@allocating_kernel
def play_episodes(
    states: Any,
    rules: Any,
    seeds: Any,
    kinds: Any,
    scratch: Any,
    points: Any,
    ranks: Any,
    shares: Any,
    ends: Any,
) -> Int:
    """Play one episode for each seed, from the deal to the end.

    Args:
        states: ``GAME_DTYPE[1]``, overwritten.
        rules: ``RULES_DTYPE[1]``.
        seeds: ``uint64[m]``, episode seeds.
        kinds: ``int64[m, n]``, the policy in each seat.
        scratch: from ``new_scratch()``.
        points: written, ``int64[m, n]``, points over all rounds of the episode.
        ranks: written, ``float64[m, n]``, final ranks, ties averaged.
        shares: written, ``float64[m, n]``, win shares.
        ends: written, ``int64[m, 2]``, rounds gone out and rounds blocked.

    Returns:
        Moves made in all.
    """
    s = states[0]
    r = rules[0]
    n = np.int64(r["num_players"])
    rngs = np.empty((n, 1), np.uint64)
    moves = 0
    for i in range(len(seeds)):
        new_episode(s, r, seeds[i])
        seed_bots(seeds[i], n, rngs)
        ends[i, 0] = 0
        ends[i, 1] = 0
        while True:
            moves += play_round(s, r, kinds[i], rngs, scratch)
            ends[i, 0] += s["how"] == OUT
            ends[i, 1] += s["how"] == BLOCKED
            if s["phase"] != ROUND_OVER:
                break
            next_round(s, r)
        standing(s, r, ranks[i], shares[i])
        for seat in range(n):
            points[i, seat] = s["totals"][seat]
    return moves

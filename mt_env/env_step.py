"""One step of an episode as a kernel: what the environments that hold a single game call from Python.

The kernels take arrays of one record: numba recognizes an array in 0.5 us, a record alone in 6 us.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mt_env.core.deal import new_episode
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.rounds import next_round
from mt_env.core.state import GAME_OVER, PLAYING
from mt_env.observation import encode, encode_state
from mt_env.rewards import write_rewards

NO_ACTION: Final[int] = -1
"""``action`` of `advance` that applies nothing."""


@kernel
def deal(states: Any, rules: Any, seed: Any) -> None:
    """Start the episode of ``seed`` (``uint64``) in ``states``, ``(1,)``."""
    new_episode(states[0], rules[0], seed)


@kernel
def observe(states: Any, rules: Any, seat: Any, out: Any) -> None:
    """What ``seat`` sees, written into ``out``; see `mt_env.observation.encode`."""
    encode(states[0], rules[0], seat, out)


@kernel
def full_state(states: Any, rules: Any, out: Any) -> None:
    """Everything, written into ``out``, float32; see `mt_env.observation.STATE_FIELDS`."""
    encode_state(states[0], rules[0], out)


@kernel
def advance(
    states: Any,
    rules: Any,
    action: Any,
    known: Any,
    skip: Any,
    pay: Any,
    scratch: Any,
    legal: Any,
    forced: Any,
    mask: Any,
    out: Any,
) -> Any:
    """One step: check and apply ``action``, go on to the next decision, prepare what its agent sees.

    Args:
        states: the game, ``(1,)``.
        rules: its rules, ``(1,)``.
        action: id to apply; `NO_ACTION` only prepares.
        known: how many entries of ``legal`` are the legal ids now.
        skip: whether forced moves are played here.
        pay: written, float ``[n + 2]``: what the step paid each seat. The last two are read: code and scale
            of the reward.
        scratch: float ``[3, n]``; rows 0 and 1 hold ranks and win shares when the episode is over.
        legal: the legal ids now, written with the new ones.
        forced: written: ids of the forced moves that were played.
        mask: zeros, int8 ``[num_actions]``; the legal ids of the seat to move are set.
        out: written, unless the episode is over: what the seat to move sees.

    Returns:
        ``(count, seat, ends, played)``: number of legal actions (0: the episode is over; -1: ``action`` is
        not legal and nothing was done), seat to move, rounds that ended, forced moves played.
    """
    s, r = states[0], rules[0]
    n: Any = np.int64(r["num_players"])
    code: Any = np.int64(pay[n])
    count: Any = np.int64(known)
    ends = 0
    played = 0
    for seat in range(n):
        pay[seat] = 0.0
    if action != NO_ACTION:
        found = False
        for i in range(known):
            if legal[i] == action:
                found = True
        if not found:
            return -1, 0, 0, 0
        apply_action(s, r, action)
    while True:
        if s["phase"] != PLAYING:
            write_rewards(s, r, code, pay[n + 1], scratch[0], scratch[1], scratch[2])
            for seat in range(n):
                pay[seat] += scratch[2, seat]
            ends += 1
            if s["phase"] == GAME_OVER:
                return 0, np.int64(s["turn"]), ends, played
            next_round(s, r)
        count = legal_actions(s, r, legal)
        if not skip or count != 1:
            break
        forced[played] = legal[0]
        played += 1
        apply_action(s, r, legal[0])
    for i in range(count):
        mask[legal[i]] = 1
    mover = np.int64(s["turn"])
    encode(s, r, mover, out)
    return count, mover, ends, played

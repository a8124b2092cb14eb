"""The Gymnasium environment's game as kernels: the others play on until the learner is to decide.

Kernels take arrays of one record: numba recognizes those several times faster than a record alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mt_env.core.bits import draw_below, mix64, stream
from mt_env.core.deal import new_episode
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.policies import policy_action
from mt_env.core.rollout import seed_bots
from mt_env.core.rounds import hand_points, next_round, standing
from mt_env.core.state import GAME_OVER, PLAYING
from mt_env.observation import encode
from mt_env.rewards import write_rewards

SEAT_STREAM: Final[int] = 1 << 33
"""A learner's random seat in the episode with seed e is ``Rng(mix(e, SEAT_STREAM)).below(num_players)``."""

NO_ACTION: Final[int] = -1
"""``action`` of `solo_step` that applies nothing."""

ROUND: Final[int] = 0
ENGINE: Final[int] = 1
HOW: Final[int] = 2
MOVES: Final[int] = 3
POINTS: Final[int] = 4
"""Columns of ``rounds``, a row for each finished round; from `POINTS` on those of each seat."""


@kernel
def learner_seat(seed: Any, n: Any) -> Any:
    """The learner's seat among ``n`` in the episode ``seed`` (``uint64``), each as likely."""
    return draw_below(mix64(stream(seed, np.uint64(SEAT_STREAM))), 0, n)


@kernel
def look(states: Any, rules: Any, seat: Any, legal: Any, count: Any, out: Any, mask: Any) -> None:
    """Write what ``seat`` sees into ``out`` and the mask of ``legal[:count]`` into ``mask``."""
    encode(states[0], rules[0], seat, out)
    mask[:] = 0
    for i in range(count):
        mask[legal[i]] = 1


@kernel
def solo_deal(states: Any, rules: Any, seed: Any, rngs: Any) -> None:
    """Deal the episode ``seed`` (``uint64``) and seed the bots; `solo_step` goes on from there."""
    new_episode(states[0], rules[0], seed)
    seed_bots(seed, np.int64(rules[0]["num_players"]), rngs)


@kernel
def solo_step(
    states: Any, rules: Any, action: Any, seat: Any, kinds: Any, rngs: Any, scratch: Any, config: Any,
    scale: Any, legal: Any, pay: Any, rounds: Any, out: Any, mask: Any,
) -> Any:  # fmt: skip
    """Apply the learner's action and play until it has a decision or the episode is over, then `look`.

    One kernel for the first decision of an episode and for all others: each costs seconds to compile.

    Args:
        states: the game, ``(1,)``.
        rules: its rules, ``(1,)``.
        action: of the learner, which is legal; `NO_ACTION` after the deal.
        seat: the learner's. Its forced moves are played too where skipped.
        kinds: policy in each seat, int64 ``[n]``.
        rngs: their generators, uint64 ``[n, 1]``.
        scratch: ``(policies.new_scratch(), float64 [3, n])``.
        config: int64 ``[2]``: code of the reward, whether forced moves are skipped.
        scale: of the reward.
        legal: written: the legal ids.
        pay: float64 ``[1]``: what the learner is paid is added. What was paid before its first decision
            waits there.
        rounds: int64 ``[rounds, POINTS + n]``: rows of rounds that end are written.
        out: written, see `look`.
        mask: written, likewise.

    Returns:
        Number of legal actions; 0: the episode is over.
    """
    s, r = states[0], rules[0]
    n: Any = np.int64(r["num_players"])
    policy_scratch, table = scratch
    following: Any = np.int64(action)
    count: Any = 0
    while True:
        if following != NO_ACTION:
            apply_action(s, r, following)
        if s["phase"] != PLAYING:
            row = rounds[np.int64(s["rounds_done"]) - 1]
            row[ROUND] = s["round"]
            row[ENGINE] = s["engine"]
            row[HOW] = s["how"]
            row[MOVES] = s["moves"]
            for i in range(n):
                row[POINTS + i] = s["points"][i]
            write_rewards(s, r, config[0], scale, table[0], table[1], table[2])
            pay[0] += table[2, seat]
            if s["phase"] == GAME_OVER:
                count = 0
                break
            next_round(s, r)
        turn: Any = np.int64(s["turn"])
        if turn != seat:
            following = policy_action(s, r, kinds[turn], rngs[turn], policy_scratch)
            continue
        count = legal_actions(s, r, legal)
        if count != 1 or config[1] == 0:
            break
        following = np.int64(legal[0])
    look(states, rules, seat, legal, count, out, mask)
    return count


@kernel
def final_standing(states: Any, rules: Any, ranks: Any, shares: Any) -> None:
    """Ranks and win shares of the finished rounds, float64 ``[n]`` each."""
    standing(states[0], rules[0], ranks, shares)


@kernel
def points_now(s: Any, r: Any, out: Any) -> None:
    """Points of each seat if the round stopped now, its hand counted: into ``out``, int64 ``[n]``."""
    for seat in range(np.int64(s["num_players"])):
        out[seat] = np.int64(s["totals"][seat])
        if s["phase"] == PLAYING:
            out[seat] += hand_points(s, r, seat)


@kernel
def points_as_it_stands(states: Any, rules: Any, out: Any) -> None:
    """`points_now` of ``states[0]``."""
    points_now(states[0], rules[0], out)

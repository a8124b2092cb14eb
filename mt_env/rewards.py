"""The four rewards, as formulas and as a kernel.

With ``s_i`` the points of seat ``i`` in a round (fewer are better), ``n`` seats and ``k`` seats sharing the
lead at the end of the episode:

========== =========================== ==================================================== ==============
name       paid                        formula                                              sum over seats
========== =========================== ==================================================== ==============
zero_sum   at the end of each round    mean of the others' ``s_j``, minus ``s_i``           0
points     at the end of each round    ``-s_i``                                             minus all points
win        at the end of the episode   ``(1/k if i shares the lead else 0) - 1/n``          0
rank       at the end of the episode   ``1 - 2 (rank_i - 1) / (n - 1)``, ties averaged      0
========== =========================== ==================================================== ==============

In a match the lead and the ranks are those of the final standing (R7); a single round is a match of one.
``reward_scale`` multiplies whatever is paid.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mt_env.core.jit import kernel
from mt_env.core.rounds import standing
from mt_env.core.state import GAME_OVER, PLAYING

ZERO_SUM: Final[int] = 0
POINTS: Final[int] = 1
WIN: Final[int] = 2
RANK: Final[int] = 3

REWARDS: Final[tuple[str, ...]] = ("zero_sum", "points", "win", "rank")
"""Names of the rewards; the index is the code that the kernel takes."""


def reward_code(name: str) -> int:
    """Code of a reward's name for `write_rewards`.

    Raises:
        ValueError: no such reward.
    """
    if name not in REWARDS:
        raise ValueError(f"reward={name!r}: must be one of {', '.join(REWARDS)}")
    return REWARDS.index(name)


def round_rewards(reward: str, points: ArrayLike) -> NDArray[np.float64]:
    """What ``reward`` pays at the end of a round.

    Args:
        reward: a name of `REWARDS`.
        points: points of each seat in that round, ``[num_players]``.

    Returns:
        float64 ``[num_players]``; zeros for the rewards that are paid at the end of the episode.
    """
    code = reward_code(reward)
    scores = np.asarray(points, np.float64)
    if code == POINTS:
        return -scores
    if code == ZERO_SUM:
        others: NDArray[np.float64] = (scores.sum() - scores) / (len(scores) - 1)
        return others - scores
    return np.zeros(len(scores))


def episode_rewards(reward: str, ranks: ArrayLike, shares: ArrayLike) -> NDArray[np.float64]:
    """What ``reward`` pays at the end of the episode, beside the last round's own.

    Args:
        reward: a name of `REWARDS`.
        ranks: rank of each seat, 1 the first, ties sharing the mean of their places, ``[num_players]``.
        shares: ``1/k`` for each of the ``k`` seats that share the lead, else 0, ``[num_players]``.

    Returns:
        float64 ``[num_players]``; zeros for the rewards that are paid round by round.
    """
    code = reward_code(reward)
    places = np.asarray(ranks, np.float64)
    n = len(places)
    if code == WIN:
        return np.asarray(shares, np.float64) - 1.0 / n
    if code == RANK:
        return 1.0 - 2.0 * (places - 1.0) / (n - 1)
    return np.zeros(n)


@kernel
def write_rewards(s: Any, r: Any, code: int, scale: float, ranks: Any, shares: Any, out: Any) -> None:
    """What the action just applied paid, for the state before the next round is dealt.

    Args:
        s: the game; unless its ``phase`` is ROUND_OVER or GAME_OVER, nothing is paid.
        r: the rules.
        code: index into `REWARDS`.
        scale: multiplies what is paid.
        ranks: scratch, float ``[num_players]``; holds the ranks if the episode is over and not otherwise.
        shares: scratch, float ``[num_players]``; holds the win shares likewise.
        out: written, float ``[num_players]``.
    """
    n = np.int64(r["num_players"])
    for seat in range(n):
        out[seat] = 0.0
    if s["phase"] == PLAYING:
        return
    total: Any = 0
    for seat in range(n):
        total += np.int64(s["points"][seat])
    for seat in range(n):
        points = np.int64(s["points"][seat])
        if code == POINTS:
            out[seat] = -scale * points
        elif code == ZERO_SUM:
            out[seat] = scale * ((total - points) / (n - 1) - points)
    if s["phase"] == GAME_OVER:
        standing(s, r, ranks, shares)
        for seat in range(n):
            if code == WIN:
                out[seat] = scale * (shares[seat] - 1.0 / n)
            elif code == RANK:
                out[seat] = scale * (1.0 - 2.0 * (ranks[seat] - 1.0) / (n - 1))

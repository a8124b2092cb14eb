"""What games that were read from a file must fulfil, whoever wrote it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mt_env.arena.match import RANK_UNIT


def impossible_ranks(points: NDArray[np.int64], ranks: NDArray[np.int64], single: bool = False) -> int:
    """The first game whose ranks no game can have.

    Ranks are the mean places of those that are level, and fewer points stand before more (R7.1). Equal points
    share a place after a single round; in a match the tie-break of R7.2 may part them.

    Args:
        points: int64 ``[games, seats]``, points of each bot.
        ranks: int64 ``[games, seats]``, in units of ``1 / RANK_UNIT``.
        single: whether each game is one round.

    Returns:
        Its index, or -1 if there is none.
    """
    before = ranks[:, None, :] < ranks[:, :, None]  # [game, a, b]: b stands before a
    level = ranks[:, None, :] == ranks[:, :, None]
    places = RANK_UNIT * before.sum(axis=2) + RANK_UNIT * (level.sum(axis=2) + 1) // 2
    fewer = points[:, None, :] < points[:, :, None]
    wrong = (places != ranks).any(axis=1) | (fewer & ~before).any(axis=(1, 2))
    if single:
        wrong |= (before & ~fewer).any(axis=(1, 2))
    return int(np.argmax(wrong)) if wrong.any() else -1

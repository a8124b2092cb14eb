"""Ranks that no game can have are found."""

from __future__ import annotations

import numpy as np
import pytest

from mt_env.arena import tournament
from mt_env.arena.checks import impossible_ranks

GOOD = (([3, 0, 9, 5], [4, 2, 8, 6]), ([3, 3, 0, 3], [6, 6, 2, 6]), ([1, 1, 1, 1], [5, 5, 5, 5]))


def first(*games: tuple[list[int], list[int]], single: bool = True) -> int:
    points, ranks = (np.array(part, np.int64) for part in zip(*games, strict=True))
    return impossible_ranks(points, ranks, single)


def test_possible_ranks() -> None:
    assert first(*GOOD) == -1
    assert impossible_ranks(np.zeros((0, 4), np.int64), np.zeros((0, 4), np.int64)) == -1


@pytest.mark.parametrize("episode", ["round", "match"])
def test_ranks_of_real_games(episode) -> None:
    result = tournament(["random", "heaviest"] * 2, 25, 1, rules="cover", episode=episode, resamples=10)
    points, ranks = result.game_points.reshape(-1, 4), result.game_ranks.reshape(-1, 4)
    assert impossible_ranks(points, ranks, episode == "round") == -1


@pytest.mark.parametrize(
    ("points", "ranks"),
    [
        ([0, 3, 5, 9], [2, 2, 2, 2]),  # all first, each alone
        ([1, 1, 1, 1], [2, 2, 2, 2]),
        ([0, 3, 5, 9], [2, 4, 6, 6]),
        ([0, 3, 5, 9], [4, 2, 6, 8]),  # more points before fewer
        ([0, 3, 5, 9], [3, 3, 6, 8]),  # level with other points
        ([0, 3, 5, 9], [1, 4, 7, 8]),  # the right sum, no places
        ([0, 3, 5, 9], [0, 4, 6, 8]),
        ([0, 3, 5, 9], [2, 4, 6, 10]),
    ],
)
def test_impossible_ranks(points: list[int], ranks: list[int]) -> None:
    for single in (True, False):
        assert first(*GOOD, (points, ranks), *GOOD, single=single) == 3


def test_only_a_match_parts_equal_points() -> None:
    game = ([0, 0, 5, 9], [2, 4, 6, 8])
    assert first(game, single=False) == -1 and first(game, single=True) == 0

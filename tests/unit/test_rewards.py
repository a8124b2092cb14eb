from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mt_env.core.bits import below
from mt_env.core.deal import new_episode
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import GAME_DTYPE, GAME_OVER, MAX_LEGAL, PLAYING, ROUND_OVER, rules_record
from mt_env.rewards import REWARDS, episode_rewards, reward_code, round_rewards, write_rewards
from mt_env.rules import load_rules

POINTS = st.lists(st.integers(0, 900), min_size=2, max_size=14)


def test_formulas_on_a_worked_example() -> None:
    points = [0, 30, 6, 24]
    assert round_rewards("points", points).tolist() == [0, -30, -6, -24]
    assert round_rewards("zero_sum", points).tolist() == [20, -20, 12, -12]
    ranks, shares = [1.5, 4, 1.5, 3], [0.5, 0, 0.5, 0]
    assert episode_rewards("win", ranks, shares).tolist() == [0.25, -0.25, 0.25, -0.25]
    assert np.allclose(episode_rewards("rank", ranks, shares), [2 / 3, -1, 2 / 3, -1 / 3])
    for name in ("win", "rank"):
        assert not round_rewards(name, points).any()
    for name in ("points", "zero_sum"):
        assert not episode_rewards(name, ranks, shares).any()


@given(POINTS)
def test_sums(points: list[int]) -> None:
    n = len(points)
    ranks = [sum(p < mine for p in points) + (points.count(mine) + 1) / 2 for mine in points]
    leaders = points.count(min(points))
    shares = [1 / leaders if mine == min(points) else 0.0 for mine in points]
    assert round_rewards("zero_sum", points).sum() == pytest.approx(0, abs=1e-9)
    assert round_rewards("points", points).sum() == -sum(points)
    for name in ("win", "rank"):
        paid = episode_rewards(name, ranks, shares)
        assert paid.sum() == pytest.approx(0, abs=1e-9)
        assert (np.abs(paid) <= 1).all()
    if len(set(points)) == n:
        assert episode_rewards("rank", ranks, shares).max() == 1


def test_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="reward='score': must be one of zero_sum, points, win, rank"):
        round_rewards("score", [1, 2])
    assert [reward_code(name) for name in REWARDS] == [0, 1, 2, 3]


@pytest.mark.parametrize("match", [False, True])
@pytest.mark.parametrize("n", [2, 4, 7])
def test_kernel_equals_formulas(match: bool, n: int) -> None:
    r = rules_record(load_rules("spruce").resolve(n), match=match)[0]
    s = np.zeros(1, GAME_DTYPE)[0]
    rng, out = np.array([n], np.uint64), np.empty(n)
    ranks, shares, legal = np.empty(n), np.empty(n), np.empty(MAX_LEGAL, np.int64)
    new_episode(s, r, np.uint64(n))
    ends = 0
    while s["phase"] != GAME_OVER:
        count = legal_actions(s, r, legal)
        apply_action(s, r, legal[below(rng, count)])
        if s["phase"] == PLAYING and s["moves"] % 50:  # seldom enough to keep the test short
            continue
        for code, name in enumerate(REWARDS):
            write_rewards(s, r, code, 0.5, ranks, shares, out)
            expected = np.zeros(n)
            if s["phase"] != PLAYING:
                expected = 0.5 * round_rewards(name, s["points"][:n])
                ends += 1
            if s["phase"] == GAME_OVER:
                standing(s, r, ranks, shares)
                expected = expected + 0.5 * episode_rewards(name, ranks, shares)
            assert np.allclose(out, expected, rtol=1e-12)
        if s["phase"] == ROUND_OVER:
            next_round(s, r)
    assert ends == len(REWARDS) * (int(r["rounds"]) if match else 1)

"""Ratings: the Plackett-Luce fit against brute force and known truth, its intervals, and the growing pool."""

from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from mt_env.arena import TournamentResult, tournament
from mt_env.arena.luce import _ln, count_choices, fit
from mt_env.arena.pool import Pool
from mt_env.arena.ratings import SCALE, rate, rate_ranks
from mt_env.arena.stats import bootstrap_sums

FEW = 200
"""Resamples where intervals do not matter."""


def drawn_ranks(rng: random.Random, strengths: list[float], lucks: float = 0.0) -> list[int]:
    """Ranks of one game by the Plackett-Luce model; with the chance ``lucks`` neighbours are made level."""
    times = [rng.expovariate(strength) for strength in strengths]
    order = sorted(range(len(times)), key=times.__getitem__)
    ranks, place = [0] * len(times), 0
    for at, bot in enumerate(order):
        if at and rng.random() >= lucks:
            place = at
        ranks[bot] = place
    return ranks


# --- the fit ----------------------------------------------------------------------------------------------


def test_logarithms_are_right() -> None:
    for x in [1.0, 2.0, 0.5, 1e-9, 1e9, 0.7071067811865475, 0.7071067811865476, math.pi, 1e-200]:
        assert _ln(x) == pytest.approx(math.log(x), rel=3e-16, abs=1e-16)


@pytest.mark.parametrize(("ahead", "behind", "level"), [(30, 10, 0), (7, 0, 0), (3, 9, 8), (0, 0, 5)])
def test_two_bots_have_the_rating_of_their_odds(ahead: int, behind: int, level: int) -> None:
    ranks = [[[2, 4]]] * ahead + [[[4, 2]]] * behind + [[[3, 3]]] * level
    first, second = (r.value for r in rate_ranks(np.array(ranks), ["a", "b"], 1, resamples=5).ratings)
    wins, losses = ahead + level / 2 + 0.5, behind + level / 2 + 0.5  # one virtual drawn game
    assert first - second == pytest.approx(400 * math.log10(wins / losses))
    assert first == -second


def brute_force(logs: np.ndarray, ranks: list[list[int]], number: list[int]) -> float:
    """Log likelihood by definition: mean over all orders of level bots, and a drawn virtual game a bot."""
    strength, total = [math.exp(x) for x in logs], 0.0
    for game in ranks:
        orders = [
            order
            for order in permutations(range(len(game)))
            if all(game[a] <= game[b] for a, b in pairwise(order))
        ]
        for order in orders:
            for at, bot in enumerate(order):
                rest = sum(strength[number[i]] for i in order[at:])
                total += math.log(strength[number[bot]] / rest) / len(orders)
    for a in range(len(strength)):
        for b in range(a):
            both = strength[a] + strength[b]
            total += math.log(strength[a] * strength[b] / both**2) / (2 * (len(strength) - 1))
    return total


@pytest.mark.parametrize("number", [[0, 1, 2, 3], [0, 1, 1, 2], [0, 1, 0, 1], [0, 0, 0, 1]])
def test_the_fit_is_the_maximum_of_the_likelihood(number: list[int]) -> None:
    rng = random.Random(1)
    games = [drawn_ranks(rng, [3.0, 1.0, 1.0, 0.5], lucks=0.3) for _ in range(24)]
    assert any(len(set(game)) < 3 for game in games)
    logs = fit(count_choices(np.array(games).reshape(6, 4, 4), number), 0, 1)[0]
    best = brute_force(logs, games, number)
    for i in range(len(logs)):
        step = np.zeros(len(logs))
        step[i] = 1e-3
        up, down = brute_force(logs + step, games, number), brute_force(logs - step, games, number)
        assert (up - down) / 2e-3 == pytest.approx(0.0, abs=1e-5), "the slope is nought"
        assert max(up, down) < best, "the likelihood is concave in logarithms, so this is its only top"


def test_the_order_of_games_and_deals_changes_no_bit() -> None:
    rng = random.Random(2)
    ranks = np.array([[drawn_ranks(rng, [2.0, 1.0, 1.5], 0.2) for _ in range(3)] for _ in range(40)])
    names = ["a", "b", "c"]
    first = rate_ranks(ranks, names, 5, resamples=FEW)
    turned = rate_ranks(ranks[:, ::-1], names, 5, resamples=FEW)
    assert first == dataclasses.replace(turned, resampled=first.resampled)
    assert first.resampled.tobytes() == turned.resampled.tobytes()
    shuffled = rate_ranks(ranks[rng.sample(range(40), 40)], names, 5, resamples=FEW)
    assert shuffled.resampled[0].tobytes() == first.resampled[0].tobytes()
    seats = rate_ranks(ranks[:, :, [2, 0, 1]], ["c", "a", "b"], 5, resamples=FEW)
    assert seats.resampled[:, 1] == pytest.approx(first.resampled[:, 0], abs=1e-6)


def test_the_fit_is_equal_everywhere() -> None:
    """Made on Linux x86-64; another machine must get these bits."""
    rng = random.Random(3)
    ranks = np.array([[drawn_ranks(rng, [4.0, 2.0, 1.0], 0.2) for _ in range(3)] for _ in range(10)])
    logs = fit(count_choices(ranks, [0, 1, 2]), 2, 7)
    assert [float(x).hex() for x in logs[[0, 2], 0]] == GOLDEN_LOGS


GOLDEN_LOGS = ["0x1.3157af65a1f7fp-1", "0x1.4a118ad6444ebp-1"]


def test_copies_share_a_rating() -> None:
    rng = random.Random(4)
    ranks = np.array([[drawn_ranks(rng, [3.0, 1.0, 1.0, 1.0]) for _ in range(4)] for _ in range(2000)])
    apart = rate_ranks(ranks, ["a", "b", "c", "d"], 1, resamples=5)
    pooled = rate_ranks(ranks, ["a", "b", "b", "b"], 1, resamples=5)
    assert pooled.names == ("a", "b")
    mean = sum(r.value for r in apart.ratings[1:]) / 3
    difference = pooled.difference("a", "b").value
    assert difference == pytest.approx(apart.ratings[0].value - mean, abs=0.5)
    assert difference == pytest.approx(400 * math.log10(3), abs=8)
    assert pooled.expected("a", "b") == pytest.approx(0.75, abs=0.01)
    alone = rate_ranks(ranks, ["a"] * 4, 1, resamples=5)
    assert alone.names == ("a",) and alone.ratings == ((0.0, 0.0, 0.0),)


def test_bots_of_several_tables_are_rated_together() -> None:
    """Games that a bot was not in: as if it had not been among the bots of that game."""
    rng, strengths, tables = (
        random.Random(7),
        [4.0, 2.0, 1.0, 0.5],
        [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]],
    )
    ranks, games = np.full((60, 4, 4), -1), []
    for d in range(60):
        for g, table in enumerate(tables):
            places = drawn_ranks(rng, [strengths[i] for i in table], 0.2)
            ranks[d, g, table] = places
            games.append((table, places))
    names = ["a", "b", "c", "d"]
    found = rate_ranks(ranks, names, 1, resamples=5)
    logs = found.resampled[0] * math.log(10) / 400

    def likelihood(logs: np.ndarray) -> float:
        none = brute_force(logs, [], [0, 1, 2, 3])  # the virtual games, which each call below adds again
        parts = [brute_force(logs, [places], table) - none for table, places in games]
        return none + sum(parts)

    best = likelihood(logs)
    for i in range(4):
        step = np.zeros(4)
        step[i] = 1e-3
        up, down = likelihood(logs + step), likelihood(logs - step)
        assert (up - down) / 2e-3 == pytest.approx(0.0, abs=1e-4) and max(up, down) < best
    assert found.apart == (("a", "b", "c", "d"),)
    pairs = np.array([[[0, 1, -1], [-1, 0, 1]]] * 4)
    with pytest.raises(ValueError, match="a and c were in no game together"):
        rate_ranks(pairs, ["a", "b", "c"], 1, resamples=5)
    with pytest.raises(ValueError, match="not in as many games of each deal"):
        rate_ranks(np.array([[[0, 1]], [[0, -1]]]), ["a", "b"], 1, resamples=5)


def test_a_bot_that_always_wins_stays_finite_and_is_told() -> None:
    rng = random.Random(5)
    ranks = np.array([[[0, *(1 + r for r in drawn_ranks(rng, [2.0, 1.0]))]] for _ in range(100)])
    found = rate_ranks(ranks, ["best", "b", "c"], 1, resamples=FEW)
    assert found.apart == (("best",), ("b", "c"))
    assert 500 < found.difference("best", "b").value < 1500
    chain = rate_ranks(np.tile(np.arange(14), (50, 14, 1)), [f"{i:02}" for i in range(14)], 1, resamples=3)
    assert chain.apart == tuple((name,) for name in chain.names)
    values = [r.value for r in chain.ratings]
    assert values == sorted(values, reverse=True) and all(map(math.isfinite, values))
    level = rate_ranks(np.ones((5, 3, 3), np.int64), ["a", "b", "c"], 1, resamples=3)
    assert level.apart == (("a", "b", "c"),)
    assert [r.value for r in level.ratings] == pytest.approx([0, 0, 0], abs=1e-9)


def test_all_fourteen_may_be_level() -> None:
    ranks = np.zeros((1, 1, 14), np.int64)
    choices = count_choices(ranks, list(range(14)))
    assert len(choices.members) == 2**14 - 1
    assert fit(choices, 0, 1)[0] == pytest.approx(np.zeros(14), abs=1e-9)


# --- intervals --------------------------------------------------------------------------------------------


def test_ratings_are_resampled_as_the_other_statistics_are() -> None:
    rng = random.Random(6)
    ranks = np.array([[drawn_ranks(rng, [2.0, 1.0]) for _ in range(2)] for _ in range(30)])
    ahead = (ranks[:, :, 0] < ranks[:, :, 1]).sum(axis=1)[:, None]
    wins = bootstrap_sums(ahead, FEW, 9)[:, 0]
    logs = fit(count_choices(ranks, [0, 1]), FEW, 9)[1:, 0]
    assert logs == pytest.approx(np.log((wins + 0.5) / (60 - wins + 0.5)) / 2)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes minutes with the JIT off")
@pytest.mark.parametrize(("deals", "alike"), [(30, True), (60, False)])
def test_intervals_cover_the_truth_as_often_as_they_say(deals: int, alike: bool) -> None:
    """Where the games of a deal are all alike, intervals over games would be half as wide as they must be."""
    rng, strengths, trials = random.Random(7), [3.0, 1.5, 1.0, 0.6], 250
    logs = [math.log(s) for s in strengths]
    truth = [SCALE * (x - sum(logs) / 4) for x in logs]
    covered = np.zeros(4)
    for trial in range(trials):
        ranks = []
        for _ in range(deals):
            game = drawn_ranks(rng, strengths)
            ranks.append([game if alike else drawn_ranks(rng, strengths) for _ in range(4)])
        found = rate_ranks(np.array(ranks), list("abcd"), trial, resamples=400)
        covered += [r.low <= t <= r.high for r, t in zip(found.ratings, truth, strict=True)]
    rates = covered / trials
    assert rates.min() >= 0.91 and rates.max() <= 0.99, rates
    assert rates.mean() == pytest.approx(0.95, abs=0.02), rates


def test_one_deal_has_no_interval() -> None:
    found = rate_ranks(np.array([[[2, 4], [4, 2]]]), ["a", "b"], 1, resamples=FEW)
    assert all(math.isnan(r.low) and math.isnan(r.high) for r in found.ratings)


# --- of a tournament --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played() -> TournamentResult:
    return tournament(["planner-fast", "heaviest", "heaviest", "random"], 60, 1, resamples=FEW)


def test_ratings_of_a_tournament(played: TournamentResult) -> None:
    found = rate(played, resamples=FEW)
    assert found.names == ("planner-fast", "heaviest", "random") and found.deals == 60
    best, middle, worst = found.ratings
    assert best.low > middle.high and middle.low > worst.high
    assert sum(r.value for r in found.ratings) == pytest.approx(0, abs=1e-9)
    for d in played.differences:
        assert found.expected(d.first, d.second) == pytest.approx(d.ahead.value, abs=0.08)
    anchored = rate(played, anchor="random", resamples=FEW)
    assert anchored.ratings[2] == (0.0, 0.0, 0.0) and anchored.anchor == "random"
    assert anchored.ratings[0] == found.difference("planner-fast", "random")


def test_a_tournament_of_void_deals_has_no_ratings() -> None:
    void = tournament([lambda view, rng: None, "random"], 2, 4, resamples=FEW)
    assert rate(void).names == rate(void).ratings == ()


def test_refusals(played: TournamentResult) -> None:
    with pytest.raises(
        ValueError, match="anchor='planner': this tournament had planner-fast, heaviest, random"
    ):
        rate(played, anchor="planner")
    with pytest.raises(ValueError, match="resamples=0"):
        rate(played, resamples=0)
    with pytest.raises(ValueError, match="there are ratings of planner-fast"):
        rate(played, resamples=5).difference("random", "nobody")


# --- the growing pool -------------------------------------------------------------------------------------


@pytest.fixture
def pool_path(tmp_path: Path) -> Path:
    pytest.importorskip("openskill", reason="needs the extra 'ratings'")
    return tmp_path / "pool.json"


def test_a_pool_grows_and_is_read_again(pool_path: Path, played: TournamentResult) -> None:
    pool = Pool(pool_path)
    assert not pool_path.exists() and pool.ratings == {}
    pool.update(played)
    assert list(pool.ratings) == ["planner-fast", "heaviest", "random"]
    assert {row.games for row in pool.ratings.values()} == {240}
    again = Pool(pool_path)
    assert again.ratings == pool.ratings and again.table() == pool.table()
    before = again.ratings["random"]
    again.update(tournament(["planner", "heaviest"], 20, 2, resamples=FEW))
    assert again.ratings["planner"].games == 40 and again.ratings["heaviest"].games == 280
    assert again.ratings["random"] == before, "who does not play keeps its rating"
    assert [path.name for path in pool_path.parent.iterdir()] == ["pool.json"]
    lines = again.table().splitlines()
    assert lines[0] == "2 tournaments, rules spruce, episode round"
    assert lines[2].split() == ["bot", "mu", "-", "3", "sigma", "mu", "sigma", "games"] and len(lines) == 7


def test_pool_of_single_games_is_the_librarys(pool_path: Path) -> None:
    from openskill.models import PlackettLuce

    result = tournament(["heaviest", "random", "planner-fast"], 3, 5, resamples=FEW)
    pool, model = Pool(pool_path), PlackettLuce()
    pool.update(result)
    teams = [[model.rating()] for _ in range(3)]
    for ranks in result.game_ranks.reshape(-1, 3).tolist():
        teams = model.rate(teams, ranks=[float(rank) for rank in ranks])
    for name, (rating,) in zip(result.names, teams, strict=True):
        assert (pool.ratings[name].mu, pool.ratings[name].sigma) == (rating.mu, rating.sigma)


def test_pool_ties_and_copies(pool_path: Path, played: TournamentResult) -> None:
    level = dataclasses.replace(played, game_ranks=np.full_like(played.game_ranks, 5))
    pool = Pool(pool_path)
    pool.update(level)
    assert [row.mu for row in pool.ratings.values()] == pytest.approx([25.0] * 3)
    assert all(row.sigma < 25 / 3 for row in pool.ratings.values())


def test_pool_refusals(pool_path: Path, played: TournamentResult, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = Pool(pool_path)
    pool.update(played)
    text = pool_path.read_text()
    with pytest.raises(ValueError, match="has these games already"):
        Pool(pool_path).update(played)
    with pytest.raises(ValueError, match=r"rules cover, episode round, but .* rules spruce, episode round"):
        pool.update(tournament(["random", "random"], 1, 1, rules="cover", resamples=FEW))
    with pytest.raises(ValueError, match="every deal is void"):
        pool.update(tournament([lambda view, rng: None, "random"], 2, 4, resamples=FEW))
    assert pool_path.read_text() == text, "a refused result changes nothing"
    for bad in (
        "{",
        "[]",
        "{}",
        '{"format": "mt_env pool 0"}',
        json.dumps(json.loads(text) | {"ratings": {"a": 1}}),
    ):
        pool_path.write_text(bad)
        with pytest.raises(ValueError, match="is no pool of ratings"):
            Pool(pool_path)
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ImportError, match=r'pip install "mt-env\[ratings\]"'):
        Pool(pool_path.with_name("new.json"))

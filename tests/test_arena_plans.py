"""What a tournament plans and is held to: seatings, precision, limits, times."""

from __future__ import annotations

import itertools
import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

from mt_env.arena import TournamentResult, match, tournament
from mt_env.arena.match import SHARE_UNIT, shares_of
from mt_env.arena.precision import deals_needed, half_width, looks, spread
from mt_env.arena.seating import neighbours, rotations, seating_table, williams
from mt_env.arena.timing import SAMPLED_DECISIONS, read_timings, timings, write_timings
from mt_env.bots import CompiledBot
from mt_env.cli import main

FEW = 200
"""Resamples where intervals do not matter."""


def outputs(result: TournamentResult) -> tuple[str, ...]:
    return result.table(), result.to_json(), result.to_csv(), result.to_jsonl()


class Heaviest:
    """``heaviest``, not known to be compiled."""

    def act(self, view, rng):
        return CompiledBot("heaviest").act(view, rng)


# --- seatings ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 15))
def test_balanced_seatings(n: int) -> None:
    table = seating_table(n, "balanced")
    squares = 1 if n == 2 or n % 2 == 0 else 2
    assert table.shape == (squares * n, n) and len({*map(tuple, table.tolist())}) == squares * n
    for seat in range(n):
        assert np.bincount(table[:, seat], minlength=n).tolist() == [squares] * n
    after = np.zeros((n, n), int)
    np.add.at(after, (table[:, :-1], table[:, 1:]), 1)
    others = ~np.eye(n, dtype=bool)
    assert (after[others] == squares).all(), (
        "row-complete: every ordered pair equally often in seats s, s + 1"
    )
    around = neighbours(table)
    assert not around.diagonal().any() and around.sum() == table.size
    assert np.ptp(around[others]) <= 1, "around the table no pair is more than one ahead"


def test_rotations_keep_the_neighbours() -> None:
    around = neighbours(rotations(4))
    assert around.max() == 4 and (around > 0).sum() == 4


def test_a_square_by_hand() -> None:
    assert williams(4).tolist() == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]


@pytest.mark.parametrize(
    ("n", "seatings", "orders"),
    [
        (2, "all", 2),
        (3, "all", 6),
        (5, "all", 120),
        (3, 6, 6),
        (4, 24, 24),
        (4, 8, 8),
        (5, 15, 15),
        (14, 140, 140),
    ],
)
def test_numbers_of_seatings(n: int, seatings: int | str, orders: int) -> None:
    table = seating_table(n, seatings)
    assert len({*map(tuple, table.tolist())}) == len(table) == orders
    for seat in range(n):
        assert len({*np.bincount(table[:, seat], minlength=n).tolist()}) == 1
    if isinstance(seatings, int) and len(table) > n:
        assert np.array_equal(seating_table(n, seatings - n), table[:-n]), "a larger number adds orders"


@pytest.mark.parametrize(
    ("n", "seatings", "says"),
    [
        (7, "all", "7 bots have 5040 orders, more than 720"),
        (4, 6, "must be 'rotations', 'balanced', 'all', or a multiple of 4 from 4 to 24"),
        (4, 28, "from 4 to 24"),
        (4, 0, "seatings=0"),
        (14, 728, "from 14 to 714"),
        (4, "latin", "seatings='latin'"),
        (4, None, "seatings=None"),
    ],
)
def test_seatings_that_are_refused(n: int, seatings, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        seating_table(n, seatings)


@pytest.mark.parametrize("seatings", ["balanced", "all", 3])
def test_every_number_counts_the_seatings(seatings, tmp_path: Path) -> None:
    bots = ["planner-fast", "heaviest", "random"]
    result = tournament(bots, 8, 3, seatings=seatings, resamples=FEW)
    orders = 3 if seatings == 3 else 6
    assert result.num_seatings == orders and result.games == 8 * orders
    assert result.game_points.shape == (8, orders, 3)
    assert np.allclose(result.win_shares.sum(axis=1), 1)
    assert sum(s.win_share.value for s in result.standings) == pytest.approx(1)
    assert sum(s.rank.value for s in result.standings) == pytest.approx(6)
    assert sum(result.seat_shares) == pytest.approx(1)
    assert result.difference(0, 2).win_share.low >= -1 and result.difference(0, 2).ahead.high <= 1
    assert f"8 deals x {orders} seatings = {8 * orders} games" in result.table()
    assert len(result.to_csv().splitlines()) == 1 + 8 * orders * 3
    assert json.loads(result.to_json())["games"] == 8 * orders
    plain = tournament([Heaviest() if bot == "heaviest" else bot for bot in bots], 8, 3, seatings=seatings)
    assert np.array_equal(plain.game_points, result.game_points)
    assert np.array_equal(plain.game_shares, result.game_shares)


def test_shares_follow_from_ranks() -> None:
    ranks = np.array([[2, 4, 6], [3, 3, 6], [4, 4, 4], [7, 2, 5]])
    assert (shares_of(ranks) / SHARE_UNIT).tolist() == [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3, [0, 1, 0]]


# --- precision --------------------------------------------------------------------------------------------


def test_looks_do_not_depend_on_the_maximum() -> None:
    assert list(looks(300)) == [100, 125, 156, 195, 243, 300]
    assert list(looks(50)) == [50] and list(looks(100)) == [100]
    assert list(looks(10_000))[:6] == [100, 125, 156, 195, 243, 303]


def test_spread_and_half_width() -> None:
    values = np.array([0, 2, 4, 6], np.int64)
    assert spread(values, 2) == pytest.approx(np.std(values / 2, ddof=1))
    assert half_width(values, 2) == pytest.approx(3.1824 * np.std(values / 2, ddof=1) / 2, rel=2e-3)
    assert math.isnan(half_width(values[:1], 2))
    many = np.arange(1000) % 2 * 360360
    assert deals_needed(many, 360360, 0.01) == pytest.approx((1.96 * 0.5 / 0.01) ** 2, rel=2e-3)
    assert deals_needed(np.full(5, 3), 1, 0.01) == 2


def test_until_stops_at_a_look(tmp_path: Path) -> None:
    bots, path = ["planner-fast", "random"], tmp_path / "games.jsonl"
    result = tournament(bots, 5000, 1, until=0.04, stream=path, resamples=1000)
    assert result.end == "until" and result.max_deals == 5000 and result.deals in looks(5000)
    assert result.widest_share() <= 0.04
    before = max(count for count in looks(5000) if count < result.deals)
    assert tournament(bots, before, 1, resamples=1000).widest_share() > 0.04
    plain = tournament(bots, result.deals, 1, resamples=1000)
    assert plain.digest == result.digest and plain.standings == result.standings
    assert "stopped before 5000 deals with every win share known to +-4.00%" in result.table()
    # The last look is at the last deal: then nothing was left out.
    whole = tournament(bots, result.deals, 1, until=0.04, resamples=1000)
    assert (whole.end, whole.deals) == ("until", whole.max_deals)
    told = f"every win share known to +-4.00%, as wanted, after all {whole.deals} deals"
    assert told in whole.table().splitlines() and "stopped" not in whole.table()
    # A file that was cut goes on to the same end, one that is whole stays as it is.
    data = path.read_bytes()
    for kept in (120, 10**6):
        path.write_bytes(b"".join(data.splitlines(keepends=True)[:kept]))
        more = tournament(bots, 5000, 1, until=0.04, stream=path, resume=True, resamples=1000)
        assert path.read_bytes() == data and outputs(more) == outputs(result)
    assert outputs(TournamentResult.load(path)) == outputs(result)


def test_until_that_is_not_reached() -> None:
    result = tournament(["heaviest", "random"], 110, 1, until=0.001, resamples=FEW)
    assert result.end == "deals" and result.deals == 110
    assert "wanted every win share known to +-0.10%: that needs more deals" in result.table()


def test_deals_for() -> None:
    few, many = (
        tournament(["planner-fast", "heaviest", "heaviest"], d, 1, resamples=1000) for d in (150, 1500)
    )
    needed = few.deals_for(many.widest_share())
    assert needed == pytest.approx(1500, rel=0.3)
    assert many.deals_for(0.01) >= many.deals_for(0.01, "heaviest") > 1
    assert many.deals_for(0.01, 0, 1) > many.deals_for(0.01, 0)
    for arguments, says in (
        ((0,), "half_width=0"),
        ((0.01, None, 1), "without bot"),
        ((0.01, "planner"), "this tournament had"),
    ):
        with pytest.raises(ValueError, match=says):
            many.deals_for(*arguments)
    with pytest.raises(ValueError, match="at least 2"):
        tournament(["random", "random"], 1, 1, resamples=FEW).deals_for(0.01)


@pytest.mark.slow
def test_stopping_hardly_spoils_the_intervals() -> None:
    """Shares in quarters, mean 25%: the interval at the stop holds it nearly as often as it says."""
    rng, trials, covered = np.random.default_rng(3), 1000, 0
    for _ in range(trials):
        values = rng.binomial(4, 0.25, 3000)
        for count in looks(3000):
            half = half_width(values[:count], 4)
            if half <= 0.02:
                break
        covered += abs(values[:count].mean() / 4 - 0.25) <= half
    assert covered / trials > 0.935  # 95% less two standard errors


# --- limits -----------------------------------------------------------------------------------------------


class Pauses:
    """Needs a moment where ``where`` says."""

    def __init__(self, where: str) -> None:
        self.where = where

    def reset(self, game, seat, seed):
        time.sleep(0.02 * (self.where == "reset"))

    def act(self, view, rng):
        time.sleep(0.02 * (self.where == "act"))
        return view.legal_actions[0]


@pytest.mark.parametrize("where", ["act", "reset"])
def test_slow_bots(where: str) -> None:
    result = tournament(["random", Pauses(where)], 2, 1, time_limit=0.01, resamples=FEW)
    assert [failure.bot for failure in result.failures] == ["Pauses"] * 2
    assert result.failures[0].reason == f"{where} took longer than the limit of 0.01 s"
    assert not tournament(["random", Pauses(where)], 1, 1, time_limit=5, resamples=FEW).failures


def test_compiled_bots_have_no_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock is a second later: whoever is measured fails."""
    monkeypatch.setattr(match, "perf_counter", itertools.count().__next__)
    result = tournament(["random", "heaviest", Heaviest], 1, 1, time_limit=0.5, resamples=FEW)
    assert [(failure.bot, failure.reason) for failure in result.failures] == [
        ("Heaviest", "reset took longer than the limit of 0.5 s")
    ]
    assert not tournament(["random", "heaviest", Heaviest], 1, 1, time_limit=1.5, resamples=FEW).failures


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_too_many_failures_stop_a_tournament(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    options = {"max_failures": 3, "workers": workers, "stream": path, "resamples": FEW}
    result = tournament([Illegal, "random"], 30, 1, **options)
    assert result.end == "failures" and result.deals == 3 and len(result.failures) == 3
    assert "stopped early: 3 deals are void" in result.table()
    assert "which is not legal" in result.failures[0].reason
    data = path.read_bytes()
    assert outputs(tournament([Illegal, "random"], 30, 1, resume=True, **options)) == outputs(result)
    assert path.read_bytes() == data == result.to_jsonl().encode()


class Illegal:
    def act(self, view, rng):
        return view.pass_action + 1


class Clocked(Heaviest):
    name = "clocked"
    budget_ms = 5


def test_bots_that_play_by_the_clock_are_marked(tmp_path: Path) -> None:
    result = tournament([Clocked(), "random", "random"], 3, 1, resamples=FEW, stream=tmp_path / "g.jsonl")
    assert result.timed == (True, False, False) and result.budgets == (5.0, None, None)
    assert [s.timed for s in result.standings] == [True, False, False]
    assert "\nclocked*  " in result.table() and "* plays by the clock" in result.table()
    assert TournamentResult.load(tmp_path / "g.jsonl").timed == result.timed
    assert "*" not in tournament(["random", "random"], 3, 1, resamples=FEW).table()
    bad = Clocked()
    bad.budget_ms = "5"
    with pytest.raises(ValueError, match="budget_ms='5'"):
        tournament([bad, "random"], 1, 1)


# --- times ------------------------------------------------------------------------------------------------


def test_times_of_compiled_bots(tmp_path: Path) -> None:
    result = tournament(["planner", "random"], 20, 1, time_decisions=True, resamples=FEW)
    assert result.clock.sampled and all(0 < count <= SAMPLED_DECISIONS for count in result.clock.decisions)
    values = timings(result)
    planner, other = (bot["ms_a_decision"] for bot in values["bots"])
    assert planner > other > 0 and values["deals"] == 20 and values["games"] == 40
    plain = tournament([Heaviest(), "random"], 2, 1, time_decisions=True, resamples=FEW)
    assert not plain.clock.sampled and timings(plain)["bots"][0]["decisions"] > 0

    write_timings(result, tmp_path / "t.json")
    assert read_timings(tmp_path / "t.json", result.bots) == result.clock
    result.to_jsonl(tmp_path / "g.jsonl")
    loaded = TournamentResult.load(tmp_path / "g.jsonl", timings=tmp_path / "t.json")
    assert loaded.clock == result.clock and loaded.table() == result.table()
    with pytest.raises(ValueError, match="is about planner, random, not about random, planner"):
        read_timings(tmp_path / "t.json", ("random", "planner"))
    with pytest.raises(ValueError, match="is no file of timings"):
        read_timings(tmp_path / "g.jsonl", result.bots)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("g.jsonl", "t.json", "r.json")}
    arguments = ["tournament", "--bots", "heaviest,random,random", "--deals", "900", "--seed", "1", "--quiet"]
    arguments += ["--until", "0.05", "--seatings", "balanced", "--max-failures", "9", "--time-limit", "2.5"]
    arguments += [
        "--jsonl",
        str(files["g.jsonl"]),
        "--timings",
        str(files["t.json"]),
        "--out",
        str(files["r.json"]),
    ]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    summary = json.loads(files["r.json"].read_text())
    assert summary["end"] == "until" and summary["seatings"] == "balanced" and summary["games"] % 6 == 0
    assert summary["time_limit"] == 2.5 and summary["max_failures"] == 9 and summary["max_deals"] == 900
    assert json.loads(files["t.json"].read_text())["sampled"] is True
    assert main([*arguments, "--resume"]) == 0 and capsys.readouterr().out == out
    assert TournamentResult.load(files["g.jsonl"]).table() + "\n" == out

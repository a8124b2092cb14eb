"""``make check-intervals`` in small: intervals of real games hold the truth about as often as they say."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from mt_env.arena import Estimate, TournamentResult, tournament

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_equal_bots_do_not_play_alike() -> None:
    """Copies of one bot would share every deal equally, and no interval could miss."""
    from benchmarks.intervals import TOSSED, tossed

    assert set(tournament(["random"] * 4, 30, 1).win_shares.ravel()) == {0.25}
    for policies in (["random"], TOSSED):
        assert tossed(policies, 30, 1).win_shares.std() > 0.1


@pytest.mark.parametrize("policies", [["random"], ["heaviest", "planner-fast", "random"]])
def test_tossers_in_the_core_are_those_of_python(policies: list[str]) -> None:
    from benchmarks.intervals import Tosser, tossed

    plain = tournament([Tosser(salt, policies) for salt in range(4)], 6, 3)
    inside = tossed(policies, 6, 3)
    assert inside.digest == plain.digest and inside.table() == plain.table()
    assert (inside.game_ranks == plain.game_ranks).all()


@pytest.mark.parametrize("name", ["random", "tossers"])
def test_intervals_hold_the_truth_of_equal_bots(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import intervals
    from benchmarks.intervals import CASES, measure

    monkeypatch.setattr(intervals, "TRUTH_DEALS", 2000)
    case = next(case for case in CASES if case.name == name)
    rows = measure([case], [60], 40, 5, False)["rows"]
    assert {row["what"] for row in rows} >= {"win share", "win share, difference", "ahead", "rating"}
    for row in rows:  # 40 tournaments: 95% lie between 0.88 and 1 by chance
        assert row["mean"][0] > 0.88, row
    assert min(row["mean"][0] for row in rows) < 1


def test_intervals_that_are_too_narrow_or_wide_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import intervals
    from benchmarks.intervals import CASES, failures, measure

    monkeypatch.setattr(intervals, "TRUTH_DEALS", 50)

    def changed(change):
        case = dataclasses.replace(CASES[0], play=lambda deals, seed: change(CASES[0].play(deals, seed)))
        return failures(measure([case], [30], 40, 5, False))

    def counted_four_times(result: TournamentResult) -> TournamentResult:
        """As if the games of a deal had been four deals: intervals half as wide as they should be."""
        fields = ("game_points", "game_ranks", "game_shares", "ends")
        flat = {name: getattr(result, name).repeat(4, axis=0) for name in fields}
        return dataclasses.replace(result, **flat, deal_numbers=np.arange(4 * result.deals))

    assert "random, 30 deals: " in changed(counted_four_times)[0]
    run = {
        "rows": [
            {"case": "random", "deals": 9, "what": "win share", "mean": [share]} for share in (0.9, 0.95)
        ]
    }
    assert len(failures(run)) == 1


def test_neighbours_are_counted_the_right_way_around() -> None:
    """A bot that wins its duel with the next one, around the table: bot 0 loses to bot 3."""
    from benchmarks.intervals import ahead_of_next, tossed

    result = tossed(["random"], 2, 1)
    ranks = np.tile([4, 2, 6, 8], (2, 4, 1))  # bot 1 before 0 before 2 before 3
    assert ahead_of_next(dataclasses.replace(result, game_ranks=ranks)).value == 2 / 4


def test_wilsons_interval() -> None:
    """Against the limits that solve (p - limit)^2 = z^2 limit (1 - limit) / n."""
    from benchmarks.intervals import holds, wilson

    for held, repeats in ((190, 200), (40, 40), (0, 7)):
        p, *limits = wilson(held, repeats)
        for limit in limits:
            assert (p - limit) ** 2 == pytest.approx(
                1.959964**2 * limit * (1 - limit) / repeats, rel=1e-5, abs=1e-12
            )
    assert holds(Estimate(0.5, 0.1 + 0.2, 1), 0.3) and not holds(Estimate(0.5, 0.31, 1), 0.3)


def test_the_page_is_that_of_the_stored_run() -> None:
    from benchmarks import intervals, report

    run = json.loads(intervals.STORED.read_text(encoding="utf-8"))
    assert run["repeats"] >= 200 and not intervals.failures(run)
    assert {row["case"] for row in run["rows"]} == {case.name for case in intervals.CASES}
    text = intervals.PAGE.read_text(encoding="utf-8")
    assert report.replaced(text, "benchmarks.intervals", intervals.generated(run)) == text, (
        "python -m benchmarks.intervals --docs"
    )


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import intervals
    from benchmarks.intervals import main

    monkeypatch.setattr(intervals, "TRUTH_DEALS", 50)

    words = ["--repeats", "3", "--deals", "5", "--cases", "random"]
    code = main(words)
    out = capsys.readouterr().out
    assert "| random | win share | 5 |" in out
    assert code == main(words) and capsys.readouterr().out == out
    assert main(["--repeats", "1"]) == 2

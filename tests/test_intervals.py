"""``make check-intervals`` in small: intervals of real games hold the truth about as often as they say."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mt_env.arena import Estimate, tournament
from mt_env.rng import mix

if TYPE_CHECKING:
    from benchmarks.interval_cases import Estimates, Truth

REPEATS = 30
"""Tournaments of a case."""

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_equal_bots_do_not_play_alike() -> None:
    """Copies of one bot would share every deal equally, and no interval could miss."""
    from benchmarks.interval_cases import TOSSED
    from benchmarks.tossers import tossed

    assert set(tournament(["random"] * 4, 30, 1).win_shares.ravel()) == {0.25}
    for policies in (["random"], TOSSED):
        assert tossed(policies, 30, 1).win_shares.std() > 0.1


@pytest.mark.parametrize("policies", [["random"], ["heaviest", "planner-fast", "random"]])
def test_tossers_in_the_core_are_those_of_python(policies: list[str]) -> None:
    from benchmarks.tossers import Tosser, tossed

    plain = tournament([Tosser(salt, policies) for salt in range(4)], 6, 3)
    inside = tossed(policies, 6, 3)
    assert inside.digest == plain.digest and inside.table() == plain.table()
    assert (inside.game_ranks == plain.game_ranks).all()


def test_a_scored_bot_is_a_tosser_at_each_table_of_the_protocol() -> None:
    """The evaluations of `scored`, held against tournaments of Python bots on the same deals."""
    from benchmarks.interval_cases import PAIRS, SCORED, scored
    from benchmarks.tossers import Tosser

    found = scored(4, 3, 200)
    means = []
    for salt in (100, 101):
        shares = []
        for number, (_, rules, seats, halves) in enumerate(SCORED):
            bots = [Tosser(one, ["random"]) for one in (salt, *range(1, seats))]
            result = tournament(
                bots, 4 * halves // 2, mix(3, number), rules=rules, seatings="balanced", resamples=200
            )
            shares.append(seats * result.standings[0].win_share.value)
        means.append(sum(shares) / len(shares))
    assert [e.value for e in found["score"][:2]] == pytest.approx(means)
    assert PAIRS[0] == (0, 1)
    assert found["score, difference"][0].value == pytest.approx(means[0] - means[1])
    assert means[0] != means[1]


@functools.cache
def played(name: str) -> tuple[list[Estimates], Truth]:
    """Some tournaments of a case with 30 deals, and the truth, found by fewer deals than the stored one."""
    from benchmarks import interval_cases
    from benchmarks.interval_cases import CASES

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interval_cases, "TRUTH_DEALS", 1000)
        return [CASES[name].play(30, seed) for seed in range(REPEATS)], CASES[name].truth()


def counted(name: str, change: Callable[[Estimate], Estimate]) -> dict[str, Any]:
    """`measure` of a case with other estimates."""
    from benchmarks.interval_cases import CASES
    from benchmarks.intervals import measure

    plays, truth = played(name)
    next_ones = iter([{what: [*map(change, es)] for what, es in found.items()} for found in plays])
    case = dataclasses.replace(CASES[name], play=lambda *_: next(next_ones), truth=lambda: truth)
    return measure([case], [30], REPEATS, 5, False)


def passing(run: dict[str, Any]) -> set[str]:
    """What does not fail if 200 tournaments with a long one for the truth had found the same."""
    from benchmarks.intervals import failures

    missed = failures({**run, "repeats": 200, "truth_deals": 50_000})
    quantities = {row["what"] for row in run["rows"]}
    failed = {what for what in quantities if any(f", {what}, 30 deals: " in text for text in missed)}
    assert len(failed) == len(missed)
    return quantities - failed


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("random", {"win share", "win share, difference", "ahead", "rating"}),
        ("tossers", {"win share", "win share, difference", "ahead", "rating"}),
        ("protocol", {"score", "score, difference"}),
    ],
)
def test_intervals_hold_the_truth_of_equal_bots(name: str, wanted: set[str]) -> None:
    rows = counted(name, lambda e: e)["rows"]
    assert {row["what"] for row in rows} >= wanted
    for row in rows:  # 30 tournaments: 95% lie between 0.87 and 1 by chance
        assert row["mean"][0] > 0.87, row
    assert min(row["mean"][0] for row in rows) < 1


@pytest.mark.parametrize("factor", [0.5, 3.0])
@pytest.mark.parametrize("name", ["random", "unequal", "protocol"])
def test_every_row_fails_if_its_intervals_are_too_narrow_or_wide(name: str, factor: float) -> None:
    run = counted(name, lambda e: Estimate(e[0], *(e[0] + factor * (limit - e[0]) for limit in e[1:])))
    assert run["rows"] and passing(run) == set()


def test_intervals_of_games_taken_for_deals_are_found() -> None:
    """As if the games of a deal had been four deals: intervals half as wide as they should be."""
    from benchmarks.interval_cases import CASES, WINS, Truth
    from benchmarks.intervals import measure
    from benchmarks.tossers import tossed

    def flat(deals: int, seed: int) -> Estimates:
        result = tossed(["random"], deals, seed)
        fields = ("game_points", "game_ranks", "game_shares", "ends")
        wide = {name: getattr(result, name).repeat(4, axis=0) for name in fields}
        wrong = dataclasses.replace(result, **wide, deal_numbers=np.arange(4 * result.deals))
        return {WINS: [s.win_share for s in wrong.standings]}

    case = dataclasses.replace(CASES["random"], play=flat, truth=lambda: Truth({WINS: [0.25] * 4}))
    assert passing(measure([case], [30], 20, 5, False)) == set()


def test_bands_against_the_binomial_distribution() -> None:
    """Bands leave room for chance, but neither for all nor for a tenth missed; more repeats narrow them."""
    from benchmarks.bands import EQUAL, OTHER, band
    from benchmarks.interval_cases import CASES

    assert CASES["random"].band("win share", 30, 200, 50_000) == (0.92, 0.98)
    for case in CASES.values():
        for what in ("win share", "points", "ahead", "score"):
            for deals in (30, 100, 500):
                low, high = case.band(what, deals, 200, 50_000)
                assert 0.9 < low <= 0.935 and 0.965 <= high < 1, (case.name, what, deals)
    many = 10**9
    for independent in (EQUAL, OTHER):
        assert band(independent, many, many, steps=True) == pytest.approx((0.95, 0.95), abs=1e-4)
        rng = np.random.default_rng(1)
        means = rng.binomial(independent * 200, 0.95, 100_000) / (independent * 200)
        low, high = band(independent, 200, many, steps=False)
        assert 0.001 < np.mean((means < low) | (means > high)) < 0.006


def test_bands_know_how_far_misses_depend_on_each_other() -> None:
    """Rows of normal estimates are worth as many independent tries as `benchmarks.bands` says."""
    from benchmarks.bands import EQUAL, OTHER

    rng = np.random.default_rng(2)
    pairs = [(i, j) for i in range(4) for j in range(i)]

    def worth(z: NDArray[np.float64]) -> float:
        held = np.abs(z / z.std(axis=0)) < 1.96
        return float(0.95 * 0.05 / held.mean(axis=1).var())

    each = rng.normal(size=(100_000, 4))
    centred = each - each.mean(axis=1, keepdims=True)
    assert worth(centred) == pytest.approx(3.4, rel=0.05) and worth(centred) > EQUAL
    assert worth(np.stack([each[:, i] - each[:, j] for i, j in pairs], 1)) == pytest.approx(3.8, rel=0.05)
    shared = rng.normal(size=(100_000, 1)) * 0.7**0.5
    for k, tries in ((4, 2.1), (6, 2.5)):
        alike = shared + rng.normal(size=(100_000, k)) * 0.3**0.5
        assert worth(alike) == pytest.approx(tries, rel=0.05) and worth(alike) > OTHER


def test_neighbours_are_counted_the_right_way_around() -> None:
    """A bot that wins its duel with the next one, around the table: bot 0 loses to bot 3."""
    from benchmarks.interval_cases import ahead_of_next
    from benchmarks.tossers import tossed

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
    assert {row["case"] for row in run["rows"]} == {*intervals.CASES}
    text = intervals.PAGE.read_text(encoding="utf-8")
    assert report.replaced(text, "benchmarks.intervals", intervals.generated(run)) == text, (
        "python -m benchmarks.intervals --docs"
    )


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import interval_cases
    from benchmarks.intervals import main

    monkeypatch.setattr(interval_cases, "TRUTH_DEALS", 50)

    words = ["--repeats", "3", "--deals", "5", "--cases", "random"]
    code = main(words)
    out = capsys.readouterr().out
    assert "| random | win share | 5 |" in out
    assert code == main(words) and capsys.readouterr().out == out
    assert main(["--repeats", "1"]) == 2


def test_only_a_whole_run_that_passes_is_stored(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from benchmarks import intervals
    from benchmarks.intervals import main

    good = json.loads(intervals.STORED.read_text(encoding="utf-8"))
    bad = json.loads(json.dumps(good))
    row = next(row for row in bad["rows"] if row["what"] == "points")
    row["mean"] = [0.85, 0.8, 0.9]
    stored, page = tmp_path / "intervals.json", tmp_path / "arena.md"
    text = intervals.PAGE.read_text(encoding="utf-8")
    page.write_text(text, encoding="utf-8")
    monkeypatch.setattr(intervals, "STORED", stored)
    monkeypatch.setattr(intervals, "PAGE", page)

    for words, said in (
        (["--store", "--cases", "random"], "--cases random: only a run of all cases is stored"),
        (["--store-failed", "--cases", "random"], "--cases random: only a run of all cases is stored"),
        (["--store", "--repeats", "199"], "--repeats 199: a run that is stored needs at least 200"),
    ):
        assert main(words) == 2 and said in capsys.readouterr().err
    monkeypatch.setattr(intervals, "measure", lambda *_: bad)
    assert main(["--store"]) == 1
    err = capsys.readouterr().err
    assert "unequal, points, 30 deals: 85.0% of the intervals hold the truth, must be " in err
    assert "not stored" in err and not stored.exists() and page.read_text(encoding="utf-8") == text
    assert main(["--store-failed"]) == 1
    assert json.loads(stored.read_text(encoding="utf-8")) == bad
    assert "**Not met**: unequal, points, 30 deals" in page.read_text(encoding="utf-8").replace("\n", " ")
    monkeypatch.setattr(intervals, "measure", lambda *_: good)
    assert main(["--store"]) == 0
    assert page.read_text(encoding="utf-8") == text

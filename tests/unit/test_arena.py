"""Tournaments: seatings, statistics, equal deals, failures and outputs."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from numba.core import config

from mt_env import __version__
from mt_env.arena import Estimate, TournamentResult, tournament
from mt_env.arena.match import SHARE_UNIT, episode_seeds, one_line
from mt_env.arena.seating import rotations, unique_labels
from mt_env.arena.stats import Bootstrap, bootstrap_sums, interval, student_quantile, tail
from mt_env.bots import CompiledBot, play_episode
from mt_env.game import Game
from mt_env.rng import Rng, mix

ROOT = Path(__file__).resolve().parents[2]
FEW = 200
"""Resamples where intervals do not matter."""


class Plain:
    """A rule bot that the arena cannot know to be compiled."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.bot = CompiledBot(name)

    def act(self, view, rng):
        return self.bot.act(view, rng)


# --- seatings and names -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 14])
def test_every_bot_sits_once_in_every_seat(n: int) -> None:
    seating = rotations(n)
    assert seating[0].tolist() == list(range(n))
    for array in (seating, seating.T):
        assert all(sorted(row) == list(range(n)) for row in array.tolist())
    for k in range(n):
        assert seating[k, k] == 0, "bot 0 moves one seat on each time"


def test_names_become_unique() -> None:
    assert unique_labels(["a", "b", "a", "a"]) == ("a", "b", "a#2", "a#3")
    assert unique_labels(["a", "a#2", "a"]) == ("a", "a#2", "a#3")
    assert unique_labels(["a", "a", "a#2"]) == ("a", "a#3", "a#2")


# --- statistics -------------------------------------------------------------------------------------------


def test_resampling_draws_as_the_public_generator_does() -> None:
    values = np.array([[1, 10], [2, 20], [4, 40], [8, 80], [16, 160]], np.int64)
    rng = Rng(9)
    expected = [values[[rng.below(5) for _ in range(5)]].sum(axis=0).tolist() for _ in range(50)]
    assert bootstrap_sums(values, 50, 9).tolist() == expected
    assert bootstrap_sums(values, 4, 1)[:, 0].tolist() == GOLDEN_SUMS


GOLDEN_SUMS = [32, 27, 27, 17]


@pytest.mark.parametrize(
    ("freedom", "t"), [(3, 3.1824), (5, 2.5706), (10, 2.2281), (30, 2.0423), (999, 1.9623)]
)
def test_student_quantile(freedom: int, t: float) -> None:
    assert student_quantile(0.975, freedom) == pytest.approx(t, rel=2e-3)


def test_tails_shrink_with_few_deals() -> None:
    assert tail(100_000) == pytest.approx(0.025, abs=1e-5)
    assert 0.02 < tail(40) < 0.0225
    assert tail(2) < 1e-3


def test_interval_takes_order_statistics() -> None:
    low, high = interval(np.arange(10_000.0)[::-1], 100_000)
    assert (low, high) == (250.0, 9749.0) or (low, high) == (249.0, 9750.0)
    assert all(map(math.isnan, interval(np.zeros(10), 1)))


def test_estimate_scales() -> None:
    assert Estimate(1.0, 0.0, 2.0).scaled(2.0, 1.0) == Estimate(3.0, 1.0, 5.0)


def test_a_constant_has_an_interval_without_width() -> None:
    assert Bootstrap(np.full((30, 1), 7, np.int64), 1, FEW).mean([0], 14) == Estimate(0.5, 0.5, 0.5)


def test_differences_are_paired() -> None:
    rng = random.Random(3)
    luck = [rng.randrange(100) for _ in range(200)]
    values = np.array([[x + 3, x] for x in luck], np.int64)
    boot = Bootstrap(values, 1, FEW)
    assert boot.difference([0], 1, [1], 1) == Estimate(3.0, 3.0, 3.0)
    assert boot.mean([0], 1).high - boot.mean([0], 1).low > 5


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="takes minutes with the JIT off")
@pytest.mark.parametrize(
    ("deals", "chance"),
    [(15, 0.5), (40, 0.25), (60, 0.1)],
)
def test_intervals_cover_the_truth_as_often_as_they_say(deals: int, chance: float) -> None:
    """Shares in quarters, the four games of a deal alike: 95% within what 600 trials and skew allow."""
    rng, trials, covered = random.Random(5), 600, 0
    for trial in range(trials):
        rows = [sum(rng.random() < chance for _ in range(2)) * 2 for _ in range(deals)]
        estimate = Bootstrap(np.array(rows, np.int64)[:, None], trial, 999).mean([0], 4)
        covered += estimate.low <= chance <= estimate.high
    assert 0.92 <= covered / trials <= 0.98


# --- a result worked out by hand --------------------------------------------------------------------------


def hand_made() -> TournamentResult:
    """Three deals of two seats: a wins both games of deal 0, one of deal 1, and ties and loses in deal 2."""
    unit = SHARE_UNIT
    return TournamentResult(
        bots=("a", "b"),
        names=("a", "b"),
        game=Game("spruce", 2),
        seed=7,
        deals=4,
        deal_numbers=np.array([0, 1, 3]),
        game_points=np.array([[[0, 10], [0, 20]], [[0, 6], [8, 0]], [[5, 5], [9, 0]]]),
        game_ranks=np.array([[[2, 4], [2, 4]], [[2, 4], [4, 2]], [[3, 3], [4, 2]]]),
        game_shares=np.array(
            [[[unit, 0], [unit, 0]], [[unit, 0], [0, unit]], [[unit // 2, unit // 2], [0, unit]]]
        ),
        ends=np.array([[[1, 0], [1, 0]], [[1, 0], [1, 0]], [[0, 1], [1, 0]]]),
        failures=(),
        resamples=1000,
    )


def test_a_small_result_by_hand() -> None:
    result = hand_made()
    assert result.valid_deals == 3
    assert result.win_shares.tolist() == [[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]]
    assert result.points.tolist() == [[0.0, 15.0], [4.0, 3.0], [7.0, 2.5]]
    assert result.ranks.tolist() == [[1.0, 2.0], [1.5, 1.5], [1.75, 1.25]]
    a, b = result.standings
    assert a.win_share.value == pytest.approx(3.5 / 6) and b.win_share.value == pytest.approx(2.5 / 6)
    assert a.fair.value == pytest.approx(7 / 6)
    assert a.points.value == pytest.approx(22 / 6) and a.rank.value == pytest.approx(8.5 / 6)
    assert (a.win_share.low, a.win_share.high) == (0.25, 1.0)
    # Seating 1 has b in seat 0: seat 0 has a's 2.5 of seating 0 and b's 2 of seating 1.
    assert result.seat_shares == pytest.approx((4.5 / 6, 1.5 / 6))
    (difference,) = result.differences
    assert difference.win_share.value == pytest.approx(1 / 6)
    assert difference.points.value == pytest.approx((22 - 41) / 6)
    assert difference.ahead.value == pytest.approx(3.5 / 6)
    turned = result.difference("b", "a")
    assert turned.ahead.value == pytest.approx(2.5 / 6)
    assert turned.win_share.low == -difference.win_share.high
    assert result.difference(0, 1).first == "a"


def test_table_text() -> None:
    assert hand_made().table() == GOLDEN_TABLE


GOLDEN_TABLE = f"""\
3 of 4 deals x 2 seatings = 6 games, seed 7
rules spruce (double-9 set, 15 tiles a hand), 2 seats, episode round, engine random

bot  win share              95%  x fair  points            95%  rank           95%
a        58.3%  [25.0%, 100.0%]    1.17    3.67   [0.00, 7.00]  1.42  [1.00, 1.75]
b        41.7%    [0.0%, 75.0%]    0.83    6.83  [2.50, 15.00]  1.58  [1.25, 2.00]

difference, paired by deal  win share                95%  points              95%  ahead              95%
a - b                          +16.7%  [-50.0%, +100.0%]   -3.17  [-15.00, +4.50]  58.3%  [25.0%, 100.0%]

rounds: 6, gone out of 5, blocked 1
win share by seat: 0: 75.0%  1: 25.0%
every win share is known to +-37.5%; deals for +-1.0% about 5600, +-0.5% about 22000
games sha256 36522dda6c2e30d7, mt_env {__version__}
fewer than 30 deals: the intervals are too narrow to be trusted"""


def test_who_can_be_compared() -> None:
    result = tournament(["heaviest", "random", "heaviest"], 5, 1, resamples=FEW)
    both = result.difference("heaviest", "random").win_share.value
    first, second = (result.difference(i, 1).win_share.value for i in (0, 2))
    assert both == pytest.approx((first + second) / 2)
    assert result.difference("heaviest#2", 0).second == "heaviest"
    with pytest.raises(ValueError, match="in common"):
        result.difference("heaviest", 0)
    with pytest.raises(ValueError, match=r"'planner': this tournament had heaviest, random, heaviest#2"):
        result.difference("planner", "random")


# --- games ------------------------------------------------------------------------------------------------


def same_games(a: TournamentResult, b: TournamentResult) -> bool:
    names = ("deal_numbers", "game_points", "game_ranks", "game_shares", "ends")
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


@pytest.mark.parametrize(
    ("bots", "options"),
    [
        (["random", "heaviest"], {}),
        (["planner-fast", "heaviest", "random", "random"], {}),
        (["planner-fast", "random", "heaviest"], {"rules": "cover", "engine": 3}),
        (["heaviest", "random", "random"], {"rules": "spruce;rounds=3", "episode": "match"}),
        (["heaviest", "random"], {"rules": "dominos_cc;set=6;hand_size=7", "episode": "match"}),
    ],
)
def test_compiled_and_plain_games_are_the_same(bots: list[str], options: dict[str, object]) -> None:
    compiled = tournament(bots, 6, 11, resamples=FEW, **options)
    plain = tournament([Plain(bot) for bot in bots], 6, 11, resamples=FEW, **options)
    mixed = tournament([Plain(bots[0]), *bots[1:]], 6, 11, resamples=FEW, **options)
    assert compiled.clock.decisions == [0] * len(bots) and min(plain.clock.decisions) > 0
    assert same_games(compiled, plain) and same_games(compiled, mixed)
    assert compiled.digest == plain.digest
    assert compiled.clock.moves == plain.clock.moves
    assert compiled.table() == plain.table() == mixed.table()
    rounds = compiled.game.rounds
    assert (compiled.ends.sum(axis=2) == rounds).all()


def test_a_game_of_the_arena_is_that_episode() -> None:
    result = tournament(["heaviest", "random", "planner-fast"], 2, 8, resamples=FEW)
    for deal in range(2):
        for seating, seats in enumerate(rotations(3).tolist()):
            state = play_episode(Game("spruce", 3), [result.bots[i] for i in seats], mix(8, deal))
            assert result.game_points[deal, seating][seats].tolist() == state.totals()
            shares = result.game_shares[deal, seating][seats] / SHARE_UNIT
            assert shares.tolist() == pytest.approx(state.win_shares())
            assert result.ends[deal, seating].tolist() == [state.how == "out", state.how == "blocked"]


def test_copies_of_one_bot_have_equal_shares() -> None:
    result = tournament(["random"] * 3, 12, 5, resamples=FEW)
    assert result.bots == ("random", "random#2", "random#3")
    assert np.array_equal(result.game_shares.sum(axis=(1, 2)), np.full(12, 3 * SHARE_UNIT))
    for standing in (*result.standings, *result.pooled):
        assert standing.win_share == Estimate(1 / 3, 1 / 3, 1 / 3)
        assert standing.fair.value == pytest.approx(1.0)
    assert len(result.pooled) == 1 and result.differences == ()


def test_equal_arguments_give_equal_results() -> None:
    first = tournament(["heaviest", "random", "random"], 8, 3, resamples=FEW)
    again = tournament(["heaviest", "random", "random"], 8, 3, resamples=FEW)
    other = tournament(["heaviest", "random", "random"], 8, 4, resamples=FEW)
    assert first.table() == again.table() and first.to_json() == again.to_json()
    assert first.to_csv() == again.to_csv() and first.to_jsonl() == again.to_jsonl()
    assert first.digest != other.digest


def test_games_do_not_change_unnoticed() -> None:
    """Deals, seatings, bots' generators and the bots named are part of what a seed means."""
    assert tournament(["heaviest", "random", "random"], 8, 3, resamples=FEW).digest[:16] == GOLDEN_DIGEST


GOLDEN_DIGEST = "c8706b6f662dc228"


def test_deals_do_not_depend_on_how_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    few = tournament(["heaviest", "random"], 5, 3, resamples=FEW)
    monkeypatch.setattr("mt_env.arena.match.GAMES_AT_ONCE", 6)
    many = tournament(["heaviest", "random"], 8, 3, resamples=FEW)
    assert np.array_equal(few.game_points, many.game_points[:5])
    assert episode_seeds(3, 5).tolist() == [mix(3, i) for i in range(5)]


def test_without_a_seed_one_is_drawn() -> None:
    first, second = (tournament(["random", "random"], 1, resamples=FEW) for _ in range(2))
    assert first.seed != second.seed
    again = tournament(["random", "random"], 1, first.seed, resamples=FEW)
    assert same_games(first, again)


def test_the_better_bot_wins() -> None:
    result = tournament(["planner-fast", "random", "random"], 40, 1, resamples=1000)
    planner = result.standings[0]
    assert planner.win_share.low > 1 / 3 and planner.fair.low > 1
    assert result.difference("planner-fast", "random").points.high < 0


class Curious:
    """Notes what it is given."""

    def __init__(self) -> None:
        self.resets: list[tuple[int, int]] = []
        self.first: list[int] = []

    def reset(self, game, seat, seed):
        assert isinstance(game, Game)
        self.resets.append((seat, seed))
        self.fresh = True

    def act(self, view, rng):
        assert len(view.legal_actions) > 1, "forced moves are not asked for"
        assert view.seat == self.resets[-1][0]
        if self.fresh:
            self.first.append(rng.below(1000))
            self.fresh = False
        return view.legal_actions[0]


def test_bots_are_told_seat_and_seed() -> None:
    bot = Curious()
    result = tournament(["random", bot, "random"], 2, 6, resamples=FEW)
    assert not result.failures
    expected = [(seat, mix(mix(6, deal), 2**32 + seat)) for deal in range(2) for seat in (1, 2, 0)]
    assert bot.resets == expected
    assert bot.first == [Rng(seed).below(1000) for _, seed in expected]
    assert result.bots == ("random", "Curious", "random#2")
    assert result.clock.decisions[1] > 0 and result.clock.seconds[1] > 0


# --- bots that fail ---------------------------------------------------------------------------------------


class Fails:
    """Plays, but in one deal does what ``how`` says."""

    def __init__(self, seed: int, how) -> None:
        self.seed, self.how = seed, how

    def reset(self, game, seat, seed):
        self.bad = seed == self.seed

    def act(self, view, rng):
        return self.how(view) if self.bad else CompiledBot("heaviest").act(view, rng)


def raises(view):
    raise RuntimeError("no idea\nwhat to do")


def changes_the_view(view):
    view.legal_actions.append(view.draw_action)
    view.legal_actions[:] = [0, 1]
    return max(range(2), key=lambda action: action not in view.hand)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        (raises, "act raised RuntimeError: no idea what to do"),
        (lambda view: None, "act returned None"),
        (lambda view: True, "act returned True"),
        (lambda view: view.pass_action + 1, "which is not legal"),
        (lambda view: object(), "act returned <object object>;"),
    ],
)
def test_a_failure_leaves_its_deal_void(how, reason: str) -> None:
    n, seat, deal = 3, 2, 1  # bot 1 sits in seat 2 in seating 1
    bad = Fails(mix(mix(4, deal), 2**32 + seat), how)
    result = tournament(["random", bad, "random"], 4, 4, resamples=FEW)
    (failure,) = result.failures
    assert (failure.bot, failure.deal, failure.seating, failure.seat) == ("Fails", deal, 1, seat)
    assert failure.seed == mix(4, deal) and reason in failure.reason and "\n" not in str(failure)
    assert result.deal_numbers.tolist() == [0, 2, 3] and result.valid_deals == 3
    good = tournament(["random", "heaviest", "random"], 4, 4, resamples=FEW)
    assert np.array_equal(result.game_points, good.game_points[[0, 2, 3]])
    assert "3 of 4 deals x 3 seatings = 9 games" in result.table()
    assert "1 deal is void, since a bot failed" in result.table()
    assert result.to_dict()["failures"] == [dataclasses.asdict(failure)]
    line = json.loads(result.to_jsonl().splitlines()[1 + deal])
    assert line == {"deal": deal, "failure": dataclasses.asdict(failure)}
    assert len(result.to_csv().splitlines()) == 1 + 3 * n * n


def test_a_bot_that_rewrites_its_view_cannot_play_an_illegal_action() -> None:
    result = tournament([Fails(mix(mix(4, 0), 2**32), changes_the_view), "random"], 2, 4, resamples=FEW)
    assert [failure.deal for failure in result.failures] == [0]


def test_every_deal_can_be_void() -> None:
    result = tournament([lambda view, rng: None, "random"], 3, 4, resamples=FEW)
    assert result.valid_deals == 0 and len(result.failures) == 3
    assert result.standings == result.pooled == result.differences == ()
    assert "no deal counts" in result.table()
    assert json.loads(result.to_json())["standings"] == []
    with pytest.raises(ValueError, match="every deal is void"):
        result.difference("random", 0)


def test_reset_may_fail_too() -> None:
    class Bad:
        def reset(self, game, seat, seed):
            raise KeyError("x")

        def act(self, view, rng):
            return view.legal_actions[0]

    result = tournament(["random", Bad()], 1, 4, resamples=FEW)
    assert "reset raised KeyError" in result.failures[0].reason


def test_reasons_fit_on_a_line() -> None:
    assert one_line("a\n b <f at 0x7f12ab>\t" + "x" * 1000) == ("a b <f> " + "x" * 1000)[:400]


# --- outputs ----------------------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    result = tournament(["heaviest", "random", "heaviest"], 4, 2, resamples=FEW)
    for name, write in (("r.json", result.to_json), ("r.csv", result.to_csv), ("r.jsonl", result.to_jsonl)):
        text = write(tmp_path / name)
        assert (tmp_path / name).read_bytes().decode() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv", "r.json", "r.jsonl"]

    summary = json.loads((tmp_path / "r.json").read_text())
    assert summary["bots"] == ["heaviest", "random", "heaviest#2"]
    assert summary["standings"][1]["win_share"]["value"] == result.standings[1].win_share.value
    assert [line["name"] for line in summary["pooled"]] == ["heaviest", "random"]
    assert summary["rules"] == "spruce" and summary["seed"] == 2 and summary["games"] == 12

    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert len(rows) == 4 * 3 * 3
    points = sum(int(row["points"]) for row in rows if row["bot"] == "random")
    assert points == result.game_points[:, :, 1].sum()

    for row in rows:
        assert int(row["seed"]) == mix(2, int(row["deal"]))
    assert [row["bot"] for row in rows[3:6]] == ["heaviest#2", "heaviest", "random"]

    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert lines[0]["bots"] == summary["bots"] and lines[0]["orders"][1] == [2, 0, 1]
    assert [line["deal"] for line in lines[1:-1]] == [0, 1, 2, 3]
    assert [line["points"] for line in lines[1:-1]] == result.game_points.tolist()
    for line in lines[1:-1]:
        assert np.sum(line["ranks"], axis=1).tolist() == [12] * 3
        assert np.sum(line["ends"], axis=1).tolist() == [1] * 3
    assert lines[-1].pop("lines_sha256") and lines[-1] == {
        "end": "deals",
        "deals": 4,
        "games_sha256": result.digest,
    }


def test_one_deal_has_no_interval() -> None:
    result = tournament(["heaviest", "random"], 1, 2, resamples=FEW)
    summary = json.loads(result.to_json())
    assert summary["standings"][0]["win_share"]["low"] is None
    assert math.isnan(result.standings[0].win_share.low)
    assert "  -  " in result.table() and "fewer than 30 deals" in result.table()


def test_names_with_commas_are_quoted_in_csv() -> None:
    result = tournament([Plain("random"), "random"], 1, 2, resamples=FEW)
    odd = dataclasses.replace(result, bots=('a,"b"', "random"))
    assert {row["bot"] for row in csv.DictReader(odd.to_csv().splitlines())} == {'a,"b"', "random"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"bots": "planner"}, "must be a list"),
        ({"bots": ["planner"]}, "1 given, must be 2 to 14"),
        ({"bots": ["planner"] * 15}, "15 given"),
        ({"bots": ["planner", "plannner"]}, "did you mean 'planner'"),
        ({"deals": 0}, "deals=0"),
        ({"deals": 1.5}, "deals=1.5"),
        ({"resamples": 0}, "resamples=0"),
        ({"seed": -1}, "seed=-1"),
        ({"rules": "spruse"}, "did you mean 'spruce'"),
        ({"engine": 99}, "engine=99"),
        ({"engine": 3, "episode": "match"}, "a match has all its engines"),
        ({"bots": ["random"] * 5, "rules": "dominos_cc"}, "num_players=5"),
    ],
)
def test_refusals(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        tournament(**({"bots": ["random", "random"], "deals": 1} | arguments))


def test_one_object_that_remembers_cannot_hold_two_seats() -> None:
    bot = Curious()
    with pytest.raises(ValueError, match="several seats"):
        tournament([bot, bot], 1, 1)


# --- docs/arena.md ----------------------------------------------------------------------------------------


def test_the_page_names_every_key_of_the_summary() -> None:
    page = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
    table = page[page.index("| key | meaning |") : page.index("## Bots that fail")]
    named = [
        key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", (line + "||").split("|")[1])
    ]
    assert named == list(hand_made().to_dict())

"""Named protocols: frozen settings, results as files, checks that find what was changed."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt_env.arena.evaluation import Evaluation, InconsistentError
from mt_env.arena.match import SHARE_UNIT
from mt_env.arena.protocol import PARTS, PROTOCOLS, Protocol, ProtocolTable, evaluate, find_protocol, verify
from mt_env.arena.stats import interval
from mt_env.bots import CompiledBot
from mt_env.rng import mix

TINY = Protocol(
    "tiny",
    (
        ProtocolTable("three", "spruce", "round", ("heaviest", "random"), 6, 2, seed=5),
        ProtocolTable("match", "cover;set=6;hand_size=4", "match", ("random",), 3, 2, seed=6),
    ),
    resamples=300,
)


class Heaviest:
    """``heaviest``, but raises in deal ``fails_in`` of the table ``three``; not known to be compiled."""

    fails_in = -1

    def reset(self, game, seat, seed):
        if self.fails_in >= 0 and seed == mix(mix(5, self.fails_in), 2**32 + seat):
            raise RuntimeError("no idea")

    def act(self, view, rng):
        return CompiledBot("heaviest").act(view, rng)


class Fails(Heaviest):
    fails_in = 4


class Other(Heaviest):
    def act(self, view, rng):
        return view.legal_actions[0]


class ByTheClock(Heaviest):
    budget_ms = 5


class Random(Heaviest):
    """Uses a generator of its own."""

    rng = np.random.default_rng(0)

    def act(self, view, rng):
        return view.legal_actions[int(self.rng.integers(len(view.legal_actions)))]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Evaluation, Path]:
    """`Heaviest` by the tiny protocol, and its file."""
    path = tmp_path_factory.mktemp("whole") / "heaviest.json"
    return evaluate(Heaviest, TINY, out=path), path


# --- names ----------------------------------------------------------------------------------------------


def test_a_frozen_name_cannot_be_taken() -> None:
    v1 = PROTOCOLS["mt-eval-v1"]
    assert find_protocol(v1) is v1 and find_protocol(TINY) is TINY
    with pytest.raises(ValueError, match=r"'mt-eval-v1': is frozen"):
        find_protocol(replace(v1, resamples=20))
    with pytest.raises(ValueError, match=r"there is none; did you mean 'mt-eval-v1'\?; known: mt-eval-v1"):
        find_protocol("mt-eval-v9")
    with pytest.raises(ValueError, match="tiny has slow, three, match"):
        TINY.tables_of("fast")
    with pytest.raises(ValueError, match="not 'slow'"):
        replace(TINY.tables[0], name="slow")
    with pytest.raises(ValueError, match="not more in the subset"):
        replace(TINY.tables[0], deals=1)
    with pytest.raises(ValueError, match="each with a name of its own"):
        Protocol("twice", TINY.tables[:1] * 2)


# --- results ----------------------------------------------------------------------------------------------


def test_the_subset_is_the_prefix_of_the_whole(whole) -> None:
    slow, full = evaluate(Heaviest, TINY, subset="slow").to_dict(), whole[0].to_dict()
    assert (slow["name"], full["name"]) == ("tiny/slow", "tiny")
    for few, many in zip(slow["tables"], full["tables"], strict=True):
        assert few["games"] == many["games"][:2] and len(many["games"]) > 2
    one = evaluate(Heaviest, TINY, subset="match").to_dict()
    assert one["name"] == "tiny/match" and one["tables"] == full["tables"][1:]


def test_a_named_bot_plays_the_same_games_as_its_class(whole) -> None:
    """Compiled tables and plain ones."""
    compiled = evaluate("heaviest", TINY)
    assert compiled.rows == whole[0].rows and compiled.score == whole[0].score
    assert compiled.bot.source is None and whole[0].bot.source == "test_protocol.py"
    assert whole[0].bot.spec == "test_protocol:Heaviest"


def test_estimates_are_those_of_the_games(whole) -> None:
    """By plain Python, from the points alone."""
    result = whole[0]
    fair = []
    for row, games in zip(result.rows, result.games, strict=True):
        shares, differences = [], []
        for deal in games.points.tolist():
            for own, *others in deal:
                best = min([own, *others])
                shares.append((own == best) / [own, *others].count(best))
                differences.append(own - sum(others) / len(others))
        fair.append(row.table.seats * sum(shares) / len(shares))
        if row.table.episode == "round":  # level points of a match are decided by further rules
            assert row.win_share.value == pytest.approx(sum(shares) / len(shares))
            assert row.fair.value == pytest.approx(fair[-1])
        assert row.difference.value == pytest.approx(sum(differences) / len(differences))
        assert row.win_share.low <= row.win_share.value <= row.win_share.high
    assert result.score.value == pytest.approx(sum(row.fair.value for row in result.rows) / 2)
    assert result.score.low < result.score.value < result.score.high


def test_the_score_of_one_table_is_its_multiple_of_the_fair_share() -> None:
    one = evaluate("heaviest", TINY, subset="three")
    assert one.score == pytest.approx(one.rows[0].fair)


def test_equal_bots_score_one_and_differ_by_nothing() -> None:
    copies = Protocol("copies", (ProtocolTable("a", "spruce", "round", ("heaviest",) * 3, 5, 2, seed=1),))
    result = evaluate("heaviest", copies)
    assert tuple(result.score) == (1, 1, 1) and result.rows[0].difference.value == 0
    assert tuple(result.minus(evaluate(Heaviest, copies))) == (0, 0, 0)


def test_differences_are_paired_by_deal(whole) -> None:
    other = evaluate(Other, TINY)
    found = whole[0].minus(other)
    assert found.value == pytest.approx(whole[0].score.value - other.score.value)
    mine, theirs = (
        sum(
            table.seats * sums[1][:, 0] / (SHARE_UNIT * table.deals * games.points.shape[1])
            for table, sums, games in zip(TINY.tables, each._sums, each.games, strict=True)
        ) / 2
        for each in (whole[0], other)
    )  # fmt: skip
    assert (found.low, found.high) == pytest.approx(interval(mine - theirs, 3))
    with pytest.raises(ValueError, match="only equal ones compare"):
        whole[0].minus(evaluate(Heaviest, TINY, subset="slow"))


def test_a_deal_in_which_the_bot_fails_is_lost(whole) -> None:
    failed, good = evaluate(Fails, TINY), whole[0]
    assert failed.failures == 1 and "1 deals in which the bot failed count as lost" in failed.table()
    row, before = failed.rows[0], good.rows[0]
    lost = good.games[0].ranks[4, :, 0]
    assert row.points is None and row.difference is None and failed.rows[1] == good.rows[1]
    shares = [
        1 / (r - 1) if r == min(ranks) else 0 for ranks in good.games[0].ranks[4].tolist() for r in ranks[:1]
    ]
    assert len(shares) == len(lost)
    assert row.win_share.value == pytest.approx(before.win_share.value - sum(shares) / (6 * len(shares)))
    data = failed.to_dict()
    assert data["failed_deals"] == 1 and data["tables"][0]["games"][4] is None
    assert data["tables"][0]["failures"][0]["reason"] == "reset raised RuntimeError: no idea"


@pytest.mark.slow
def test_workers_change_nothing(whole, tmp_path: Path) -> None:
    two = evaluate(Heaviest, TINY, out=tmp_path / "two.json", workers=2)
    assert (tmp_path / "two.json").read_bytes() == whole[1].read_bytes() and two.table() == whole[0].table()
    assert verify(whole[1], protocol=TINY, workers=2).ok


def test_few_deals_are_warned_of() -> None:
    warning = "fewer than 30 deals: the intervals are too narrow to be trusted"
    some = (replace(TINY.tables[0], deals=30), TINY.tables[1])
    assert f"\nmatch: {warning}" in evaluate("heaviest", Protocol("some", some, 20)).table()
    assert f"\nthree, match: {warning}" in evaluate("heaviest", TINY).table()
    assert "fewer" not in evaluate("heaviest", Protocol("some", some[:1], 20)).table()


# --- going on after a kill --------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_going_on_gives_the_same_bytes(whole, kept: int, tmp_path: Path, monkeypatch) -> None:
    """Killed in the first table after ``kept`` deals, or (4) while the second one was played."""
    path = tmp_path / "r.json"
    folder = Path(f"{path}{PARTS}")
    stop_in = mix(5, kept) if kept < 4 else mix(6, 1)

    def killed(self, game, seat, seed):
        if seed == mix(stop_in, 2**32 + seat):
            raise KeyboardInterrupt

    monkeypatch.setattr(Heaviest, "reset", killed)
    with pytest.raises(KeyboardInterrupt):
        evaluate(Heaviest, TINY, out=path)
    monkeypatch.undo()
    assert not path.exists() and folder.is_dir()
    with (folder / "three.jsonl").open("ab") as file:
        file.write(b"" if kept == 4 else b'{"deal": 1')
    with pytest.raises(ValueError, match=r"r\.json\.parts: exists; resume=True"):
        evaluate(Heaviest, TINY, out=path)
    with pytest.raises(ValueError, match="was begun with other settings"):
        evaluate(Other, TINY, out=path, resume=True)
    with pytest.raises(ValueError, match="was begun with other settings"):
        evaluate(Heaviest, TINY, subset="slow", out=path, resume=True)
    told: list[str] = []
    result = evaluate(Heaviest, TINY, out=path, resume=True, tell=told.append)
    assert path.read_bytes() == whole[1].read_bytes() and not folder.exists()
    assert [line[:10] for line in told] == ["1 of 2 tab", "2 of 2 tab"]
    assert result.timings[0]["deals"] == (0 if kept == 4 else 6 - kept)


def test_a_result_is_not_overwritten(whole, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    shutil.copy(whole[1], path)
    with pytest.raises(ValueError, match=r"r\.json: exists; name another file"):
        evaluate(Heaviest, TINY, out=path)
    again = evaluate(Heaviest, TINY, out=path, resume=True)
    assert again.to_json() == whole[0].to_json() and again.timings == ()
    with pytest.raises(ValueError, match="was begun with other settings"):
        evaluate(Other, TINY, out=path, resume=True)
    with pytest.raises(ValueError, match="resume=True without out"):
        evaluate(Heaviest, TINY, resume=True)
    folder = tmp_path / f"other.json{PARTS}"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="holds no evaluation"):
        evaluate(Heaviest, TINY, out=tmp_path / "other.json", resume=True)
    assert path.read_bytes() == whole[1].read_bytes() and (folder / "notes.txt").exists()


def test_an_error_before_the_first_deal_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be sent to worker processes"):
        evaluate(lambda view, rng: view.legal_actions[0], TINY, out=tmp_path / "r.json", workers=2)
    assert [*tmp_path.iterdir()] == []


# --- verify -----------------------------------------------------------------------------------------------


def test_what_is_true_is_verified(whole) -> None:
    found = verify(whole[1], protocol=TINY)
    assert found.ok and [replay.deals for replay in found.replays] == [6, 3]
    assert found.table().endswith("\nverified") and "all deals" in found.table()
    some = verify(whole[1], protocol=TINY, sample=2, seed=3)
    assert some.ok and [replay.deals for replay in some.replays] == [2, 2]
    assert "2 deals a table, drawn by 3" in some.table()


def test_samples_reach_every_deal(whole, tmp_path: Path) -> None:
    """One changed deal of six, everything else made to fit: a sample of 2 finds it a third of the time."""
    path = tmp_path / "forged.json"
    forged = Evaluation.load(whole[1], TINY)
    forged.games[0].points[2, 0, forged.games[0].points[2, 0].argmax()] += 1
    replace(forged).to_json(path)
    found = [not verify(path, protocol=TINY, sample=2, seed=seed).ok for seed in range(12)]
    assert 1 <= sum(found) <= 9
    assert (
        verify(path, protocol=TINY, sample=2, seed=3).ok == verify(path, protocol=TINY, sample=2, seed=3).ok
    )


@pytest.mark.parametrize(("what", "deal", "seating"), [("points", 3, 1), ("ranks", 0, 0), ("ends", 5, 2)])
def test_forged_games_with_fitting_digests_are_found_by_playing(
    whole, what: str, deal: int, seating: int, tmp_path: Path
) -> None:
    """Games that could be, but were not: the last has more points, two have changed places, another end."""
    path = tmp_path / "forged.json"
    forged = Evaluation.load(whole[1], TINY)
    games = forged.games[0]
    points, ranks, ends = games.points[deal, seating], games.ranks[deal, seating], games.ends[deal, seating]
    if what == "points":
        points[points.argmax()] += 1
    elif what == "ranks":
        for values in (points, ranks):
            values[:] = np.roll(values, 1)
    else:
        ends[:] = ends[::-1].copy()
    replace(forged).to_json(path)
    found = verify(path, protocol=TINY)
    assert not found.ok and found.problem is None and found.replays[1].difference is None
    told, first = found.replays[0].difference, "points" if what == "ranks" else what
    assert told.startswith(f"deal {deal} differs first: seating {seating}, {first} [")
    assert "NOT verified: games differ" in found.table()


IMPOSSIBLE = {
    "all win": (1, "ranks", [2, 2], "ranks do not follow from its points"),
    "nobody wins": (0, "ranks", [4, 4, 4], "ranks do not follow from its points"),
    "rank 0": (0, "ranks", [0, 4, 6], "ranks do not follow from its points"),
    "points of another order": (0, "points", [3, 3, 3], "ranks do not follow from its points"),
    "points below 0": (0, "points", [-3, -2, -1], "points are below 0"),
    "two ends": (0, "ends", [1, 1], "ends are not those of 1 rounds"),
    "an end below 0": (0, "ends", [2, -1], "ends are not those of 1 rounds"),
    "a round less": (1, "ends", [5, 1], "ends are not those of 7 rounds"),
}


@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_impossible_games_are_found_without_playing(whole, kind: str, tmp_path: Path) -> None:
    """Whoever makes all digests anew can still not give a bot more than the one win a game that there is."""
    table, what, values, says = IMPOSSIBLE[kind]
    forged = Evaluation.load(whole[1], TINY)
    getattr(forged.games[table], what)[2, 1] = values
    path = tmp_path / "forged.json"
    replace(forged).to_json(path)
    found = verify(path, protocol=TINY)
    assert found.evaluation is None
    assert f"table {TINY.tables[table].name}: deal 2, seating 1: its {says}" in found.problem


def test_a_failure_that_was_hidden_is_found(whole, tmp_path: Path) -> None:
    path = tmp_path / "hidden.json"
    evaluate(Fails, TINY, out=path)
    assert verify(path, protocol=TINY).ok, "the same deal is void again"
    found = verify(whole[1], Fails, protocol=TINY)
    assert (
        found.replays[0].difference
        == "deal 4 differs first: played in the file, void in seating 0, seat 0 when played again"
    )
    assert "that is another bot than the file's" in found.table()


def test_another_bot_is_found(whole) -> None:
    found = verify(whole[1], Other, protocol=TINY)
    assert not found.ok and "differs first" in found.replays[0].difference
    assert "another bot than the file's" in found.table()
    assert not verify(whole[1], Random, protocol=TINY).ok


def edit(*keys: str | int, to: Any = None, by: Callable[[Any], Any] | None = None) -> Callable[[Any], None]:
    """Change one entry of a file."""

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = by(data[keys[-1]]) if by else to

    return change


CHANGES = {
    "a point": (edit("tables", 0, "games", 3, 0, 1, 2, by=lambda x: x + 1), "table three"),
    "a rank": (edit("tables", 1, "games", 0, 1, 0, by=lambda x: x[::-1]), "table match"),
    "a true": (edit("tables", 0, "games", 0, 2, 0, 0, by=lambda x: x == 1), "table three: games"),
    "a deal less": (edit("tables", 0, "games", by=lambda x: x[:-1]), "table three: holds 5 deals, must be 6"),
    "a void deal": (edit("tables", 0, "games", 2, to=None), "failures are not those of its void deals"),
    "a word": (edit("tables", 0, "games", 2, to="won"), "it was changed"),
    "a value more": (edit("tables", 0, "games", 2, by=lambda x: [*x, 1]), "table three: games is not"),
    "half points": (edit("tables", 0, "games", 3, 0, 1, 2, to=0.5), "must be whole numbers"),
    "rank 0": (edit("tables", 0, "games", 3, 1, 0, 0, to=0), "ranks do not follow from its points"),
    "large points": (edit("tables", 0, "games", 3, 0, 1, 2, to=2**62), "it was changed"),
    "the score": (edit("score", "value", by=lambda x: x + 0.001), "score is not"),
    "a limit": (edit("score", "low", by=lambda x: x + 0.001), "score is not"),
    "a win share": (
        edit("tables", 1, "win_share", "value", to=0.9),
        "table match: win_share is not what",
    ),
    "a difference": (edit("tables", 1, "difference", to=None), "table match: difference"),
    "deals": (edit("tables", 0, "deals", to=60), "table three: deals"),
    "a games digest": (edit("tables", 0, "games_sha256", to="0"), "table three: games_sha256"),
    "the digest": (edit("content_sha256", to="0"), "content_sha256"),
    "no digest": (lambda data: data.pop("content_sha256"), "content_sha256"),
    "the bot": (edit("bot", "name", to="Best"), "content_sha256"),
    "the bot's keys": (edit("bot", to={}), "TypeError"),
    "the version": (edit("mt_env", to="9.9"), "content_sha256"),
    "the name": (edit("name", to="tiny/slow"), "name is not"),
    "the subset": (edit("subset", to="slow"), "holds 6 deals, must be 2"),
    "no subset": (edit("subset", to="none"), "it was changed"),
    "a seed": (edit("settings", "tables", 0, "seed", to=7), "settings is not that of tiny"),
    "an opponent": (edit("settings", "tables", 0, "opponents", 0, to="random"), "settings"),
    "the protocol's digest": (edit("protocol_sha256", to="0"), "protocol_sha256 is not that of tiny"),
    "failures": (edit("failed_deals", to=1), "failed_deals"),
    "a table less": (edit("tables", by=lambda x: x[:1]), "its tables must be three, match"),
    "tables in another order": (edit("tables", by=lambda x: x[::-1]), "its tables must be three, match"),
    "something more": (edit("rating", to=2000), "rating"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_every_change_is_found(whole, kind: str, tmp_path: Path) -> None:
    change, says = CHANGES[kind]
    data = json.loads(whole[1].read_text())
    before = copy.deepcopy(data)
    change(data)
    assert json.dumps(data) != json.dumps(before)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    found = verify(path, protocol=TINY)
    assert not found.ok and found.evaluation is None and found.replays == ()
    assert says in found.problem and found.table() == f"NOT verified: {found.problem}"
    with pytest.raises(InconsistentError):
        Evaluation.load(path, TINY)


def test_layout_is_free(whole, tmp_path: Path) -> None:
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps(json.loads(whole[1].read_text()), indent=4, sort_keys=True))
    assert verify(path, protocol=TINY, sample=1).ok
    lines = whole[1].read_text().splitlines()
    assert sum(line.startswith("[[[") for line in lines) == 9, "a line for each deal"


def test_what_cannot_be_verified(whole, tmp_path: Path) -> None:
    clock = tmp_path / "clock.json"
    timed = evaluate(ByTheClock, TINY, subset="slow", out=clock)
    assert "plays by the clock" in timed.table()
    found = verify(clock, protocol=TINY)
    assert not found.ok and "cannot be played again" in found.table() and found.evaluation is not None
    assert not verify(whole[1], ByTheClock, protocol=TINY).ok
    path = tmp_path / "object.json"
    bot = Heaviest()
    assert evaluate(bot, TINY, subset="slow", out=path).bot.spec is None
    unnamed = verify(path, protocol=TINY)
    assert unnamed.only_consistent and "names no bot that can be made from text" in unnamed.problem
    assert verify(path, bot, protocol=TINY).ok and verify(path, Heaviest, protocol=TINY).ok
    for text, says in (("{", "is no file"), ("[]", "is no file"), ('{"format": 1}', "is no file")):
        path.write_text(text)
        with pytest.raises(ValueError, match=says):
            verify(path)
    with pytest.raises(
        ValueError, match=r"heaviest\.json: protocol='tiny': there is none; known: mt-eval-v1"
    ):
        verify(whole[1])
    for name in ("sample", "workers"):
        with pytest.raises(ValueError, match=f"{name}=0: must be a whole number"):
            verify(whole[1], protocol=TINY, **{name: 0})

"""Tournaments as runs: processes, files that grow, going on after a kill, precision, seatings, limits."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mt_env.arena import TournamentResult, WorkerError, tournament
from mt_env.arena.match import SHARE_UNIT, shares_of
from mt_env.arena.precision import deals_needed, half_width, looks, spread
from mt_env.arena.seating import neighbours, rotations, seating_table, williams
from mt_env.arena.timing import SAMPLED_DECISIONS, timings
from mt_env.bots import CompiledBot, register
from mt_env.cli import main
from mt_env.rng import mix

FEW = 200
"""Resamples where intervals do not matter."""

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")


def outputs(result: TournamentResult) -> tuple[str, ...]:
    return result.table(), result.to_json(), result.to_csv(), result.to_jsonl()


class Heaviest:
    """``heaviest``, but raises in one deal; not known to be compiled."""

    def __init__(self, fails_in: int = -1, seed: int = 0) -> None:
        self.bad = {mix(mix(seed, fails_in), 2**32 + seat) for seat in range(14)} if fails_in >= 0 else set()

    def reset(self, game, seat, seed):
        if seed in self.bad:
            raise RuntimeError("no idea")

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


# --- worker processes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [None, 0.06])
def test_workers_change_nothing(until: float | None, tmp_path: Path) -> None:
    """Compiled games in several chunks; with ``until`` in several stretches."""
    kept = []
    for workers in (1, 2):
        path = tmp_path / f"{workers}.jsonl"
        options = {"until": until, "workers": workers, "stream": path, "seatings": "balanced"}
        result = tournament(
            ["planner-fast", "heaviest", "random", "random"], 300, 5, resamples=FEW, **options
        )
        assert result.clock.deals == result.deals and result.clock.moves > 0
        kept.append((*outputs(result), path.read_text()))
    assert kept[0] == kept[1]
    assert kept[0][3] == kept[0][4], "the file is what to_jsonl gives"


def test_workers_play_objects_and_classes(tmp_path: Path) -> None:
    bots = [Heaviest(2, 8), Heaviest, "random"]
    one, two = (tournament(bots, 6, 8, workers=workers, resamples=FEW) for workers in (1, 2))
    assert outputs(one) == outputs(two) and [failure.deal for failure in two.failures] == [2]
    assert one.clock.decisions == two.clock.decisions and min(two.clock.seconds[:2]) > 0
    assert multiprocessing.active_children() == []


class Dies:
    """Ends its process in deal 3 of the tournament with seed 1."""

    def reset(self, game, seat, seed):
        if seed == mix(mix(1, 3), 2**32 + seat) and multiprocessing.parent_process() is not None:
            os._exit(7) if os.name != "posix" else os.kill(os.getpid(), signal.SIGKILL)

    def act(self, view, rng):
        return view.legal_actions[0]


def test_a_worker_that_dies(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    how = "SIGKILL" if os.name == "posix" else "exit code 7"
    with pytest.raises(WorkerError, match=rf"a worker process died \({how}\) while it played deals 3 to 3"):
        tournament([Dies(), "random"], 20, 1, workers=2, stream=path, resamples=FEW)
    assert multiprocessing.active_children() == []
    assert 0 < TournamentResult.load(path).deals + 1 <= 4
    # Played in this process the bot does not die, so the file can be finished.
    result = tournament([Dies(), "random"], 20, 1, stream=path, resume=True, resamples=FEW)
    assert result.deals == 20 and path.read_text() == result.to_jsonl()


def test_bots_that_cannot_be_sent() -> None:
    with pytest.raises(ValueError, match=r"bots: '<lambda>' cannot be sent to worker processes"):
        tournament(["random", lambda view, rng: view.legal_actions[0]], 2, 1, workers=2)
    register("only-here", Heaviest, replace=True)
    with pytest.raises(ValueError, match=r"a worker process cannot make its bots.*'only-here'"):
        tournament(["random", "only-here"], 2, 1, workers=2)
    assert multiprocessing.active_children() == []


# --- files that grow --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentResult, bytes]:
    """A tournament with a void deal, and its file."""
    path = tmp_path_factory.mktemp("whole") / "games.jsonl"
    result = tournament([Heaviest(4, 2), "random", "random"], 9, 2, stream=path, resamples=FEW)
    return result, path.read_bytes()


def again(path: Path, **options) -> TournamentResult:
    arguments = {"deals": 9, "seed": 2, "stream": path, "resume": True, "resamples": FEW} | options
    return tournament([Heaviest(4, 2), "random", "random"], **arguments)


def test_lines_are_whole_numbers_in_order(whole) -> None:
    result, data = whole
    head, *rows, end = map(json.loads, data.splitlines())
    assert head["format"] == "mt_env games 1" and head["seed"] == 2 and head["rules"] == "spruce"
    assert [row["deal"] for row in rows] == list(range(9)) and "failure" in rows[4]
    assert end == {"end": "deals", "deals": 9, "games_sha256": result.digest}
    assert data.decode() == result.to_jsonl() and b"." not in b"".join(data.splitlines()[1:5])


@pytest.mark.parametrize("lines", [0, 1, 3, 5, 6, 10, 11])
@pytest.mark.parametrize("torn", [0, 1, 20])
def test_going_on_gives_the_same_bytes(whole, lines: int, torn: int, tmp_path: Path) -> None:
    """``lines`` whole lines and ``torn`` bytes of the next are there; an empty file is a beginning too."""
    result, data = whole
    path = tmp_path / "games.jsonl"
    parts = data.splitlines(keepends=True)
    if lines == 0 and torn:
        path.write_bytes(parts[0][:torn])
        with pytest.raises(ValueError, match="is no file of games"):
            again(path)
        return
    path.write_bytes(b"".join([*parts[:lines], *(part[:torn] for part in parts[lines : lines + 1])]))
    resumed = again(path)
    assert path.read_bytes() == data and outputs(resumed) == outputs(result)
    assert resumed.clock.deals == min(9, max(0, 10 - max(1, lines)))


def test_a_file_that_exists_is_not_overwritten(whole, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(whole[1])
    with pytest.raises(ValueError, match=r"games\.jsonl: exists; resume=True"):
        again(path, resume=False)
    path.write_text("notes\n")
    with pytest.raises(ValueError, match=r"is not JSON"):
        again(path)
    assert path.read_text() == "notes\n"
    with pytest.raises(ValueError, match="resume=True without stream"):
        tournament(["random", "random"], 1, 1, resume=True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"deals": 10}, "deals 9 there, 10 now"),
        ({"seed": 3}, "seed 2 there, 3 now"),
        ({"rules": "cover"}, 'rules "spruce" there, "cover" now'),
        ({"episode": "match"}, 'episode "round" there, "match" now'),
        ({"engine": 4}, 'engine "random" there, 4 now'),
        ({"seatings": "balanced"}, 'seatings "rotations" there, "balanced" now'),
        ({"until": 0.01}, "until null there, 0.01 now"),
        ({"time_limit": 2}, "time_limit null there, 2.0 now"),
        ({"max_failures": 3}, "max_failures null there, 3 now"),
        ({"resamples": 100}, "resamples 200 there, 100 now"),
    ],
)
def test_other_settings_cannot_go_on(whole, options: dict[str, object], says: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(whole[1])
    with pytest.raises(ValueError, match=f"was begun with other settings: {says}"):
        again(path, **options)
    assert path.read_bytes() == whole[1]


def test_a_seed_that_was_drawn_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    first = tournament(["random", "random"], 3, stream=path, resamples=FEW)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert outputs(tournament(["random", "random"], 3, stream=path, resume=True, resamples=FEW)) == outputs(
        first
    )


def test_load(whole, tmp_path: Path) -> None:
    result, data = whole
    path = tmp_path / "games.jsonl"
    path.write_bytes(data)
    loaded = TournamentResult.load(path)
    assert outputs(loaded) == outputs(result) and loaded.game == result.game
    path.write_bytes(b"".join(data.splitlines(keepends=True)[:5]) + b'{"deal": 4, "poi')
    part = TournamentResult.load(path)
    assert part.end == "unfinished" and part.deals == 4 and "not finished: 4 of 9 deals" in part.table()
    assert np.array_equal(part.game_points, result.game_points[:4])
    assert part.to_jsonl().encode() == b"".join(data.splitlines(keepends=True)[:5])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b'"deal": 3', b'"deal": 5', "line 5: must hold deal 3, but holds 5"),
        (b'{"deal": 3', b'{"deal": 3 oops', "line 5: is not JSON"),
        (b'{"deal": 3, "points": [', b'{"deal": 3, "points": [[1], ', "line 5"),
        (b'{"deal": 3, "points": [[', b'{"deal": 3, "points": [[0.5, ', "line 5"),
        (b'"ends": [[1, 0]', b'"ends": [[0, 1]', "not those that its last line"),
        (b'"format": "mt_env games 1"', b'"format": "x"', "is no file of games"),
        (b'{"end"', b'{"end": "deals", "deals": 9, "games_sha256": "0"}\n{"end"', "stands behind the line"),
    ],
)
def test_damaged_files(whole, old: bytes, new: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert old in whole[1]
    path.write_bytes(whole[1].replace(old, new, 1))
    with pytest.raises(ValueError, match=says):
        TournamentResult.load(path)


# --- killed and interrupted -------------------------------------------------------------------------------

SLOW = """
import os, time

class Slow:
    def reset(self, game, seat, seed):
        with open(os.path.join({folder!r}, str(os.getpid())), "w"):
            pass

    def act(self, view, rng):
        time.sleep({pause})
        return view.legal_actions[0]
"""


def alive(folder: Path) -> list[int]:
    """Which of the processes that played still run."""
    found = []
    for path in folder.iterdir():
        try:
            os.kill(int(path.name), 0)
        except ProcessLookupError:
            continue
        found.append(int(path.name))
    return found


def wait_for(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def start(folder: Path, workers: int, **options) -> subprocess.Popen[str]:
    """The command, playing slowly in ``folder``."""
    (folder / "pids").mkdir(exist_ok=True)
    (folder / "slow_bots.py").write_text(SLOW.format(folder=str(folder / "pids"), pause=0.001))
    return subprocess.Popen(
        [sys.executable, "-m", "mt_env", "tournament", "--bots", "slow_bots:Slow,random", "--deals", "60",
         "--seed", "4", "--jsonl", "games.jsonl", "--resume", "--quiet", "--workers", str(workers)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), str(folder)])},
    )  # fmt: skip


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_kill_9_then_resume(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    path = tmp_path / "games.jsonl"
    process = start(tmp_path, workers)
    wait_for(lambda: lines(path) > 5)
    process.kill()
    process.communicate()
    wait_for(lambda: alive(tmp_path / "pids") == [])
    assert 5 < lines(path) < 61
    with path.open("ab") as file:
        file.write(b'{"deal": 1')
    out, err = start(tmp_path, workers).communicate(timeout=120)
    assert err == ""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "slow_bots.py").write_text(SLOW.format(folder=str(tmp_path / "pids"), pause=0))
    whole = tournament(["slow_bots:Slow", "random"], 60, 4, stream=tmp_path / "whole.jsonl")
    assert path.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert out == whole.table() + "\n"


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_every_process(workers: int, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    process = start(tmp_path, workers)
    wait_for(lambda: lines(path) > 5)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    told = "mexican-train: what is finished is in games.jsonl, --resume goes on\nmexican-train: interrupted\n"
    assert err == told
    wait_for(lambda: alive(tmp_path / "pids") == [])
    assert TournamentResult.load(path).deals > 4


@pytest.mark.slow
def test_a_script_may_use_workers(tmp_path: Path) -> None:
    script = tmp_path / "play.py"
    body = (
        "from mt_env.arena import tournament\n\n\n"
        "class First:\n    def act(self, view, rng):\n        return view.legal_actions[0]\n\n\n"
    )
    call = "print(tournament([First(), First, 'random'], 4, 1, workers=2).digest)\n"
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}

    def run(text: str) -> subprocess.CompletedProcess[str]:
        script.write_text(text)
        return subprocess.run(
            [sys.executable, str(script)], capture_output=True, text=True, check=False, env=environment
        )

    good = run(f"{body}if __name__ == '__main__':\n    {call}")
    assert good.returncode == 0 and len(good.stdout.strip()) == 64, good.stderr
    bad = run(body + call)
    assert bad.returncode != 0 and "must do so under: if __name__ == '__main__':" in bad.stderr


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


@pytest.mark.parametrize("workers", [1, 2])
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


def test_times_of_compiled_bots() -> None:
    result = tournament(["planner", "random"], 20, 1, time_decisions=True, resamples=FEW)
    assert result.clock.sampled and all(0 < count <= SAMPLED_DECISIONS for count in result.clock.decisions)
    values = timings(result)
    planner, other = (bot["ms_a_decision"] for bot in values["bots"])
    assert planner > other > 0 and values["deals"] == 20 and values["games"] == 40
    plain = tournament([Heaviest(), "random"], 2, 1, time_decisions=True, resamples=FEW)
    assert not plain.clock.sampled and timings(plain)["bots"][0]["decisions"] > 0


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

"""Tournaments as runs: processes, going on after a kill, Ctrl-C."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mt_env.arena import TournamentResult, WorkerError, tournament
from mt_env.arena.workers import Job, Workers
from mt_env.bots import CompiledBot, register
from mt_env.rng import mix
from mt_env.rules import Rules

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


# --- worker processes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", [pytest.param(None, marks=pytest.mark.slow), 0.06])
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


@pytest.mark.slow
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


class Helped:
    """Asks a process of its own, as a bot that searches may."""

    def __init__(self) -> None:
        process = multiprocessing.Process(target=int)
        process.start()
        process.join()
        self.code = process.exitcode

    def act(self, view, rng):
        return view.legal_actions[self.code or 0]


@pytest.mark.slow
def test_bots_in_workers_may_start_processes() -> None:
    one, two = (tournament([Helped, "random"], 2, 1, workers=workers, resamples=FEW) for workers in (1, 2))
    assert outputs(one) == outputs(two) and not two.failures


class Stays:
    """Starts a process that sleeps, then plays on for ever and does not heed SIGTERM if it is ``deaf``."""

    def __init__(self, folder: str, deaf: bool) -> None:
        self.folder, self.deaf = folder, deaf

    def act(self, view, rng):
        if self.deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,), daemon=True)
            child.start()
            Path(self.folder, str(child.pid)).touch()
        Path(self.folder, str(os.getpid())).touch()
        while True:
            try:
                time.sleep(60)
            except BaseException:
                continue


@POSIX
@pytest.mark.parametrize("deaf", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_worker_that_would_stay_is_ended(deaf: bool, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("mt_env.arena.workers.GRACE", 0.3 if deaf else 30.0)
    job = Job(
        Rules(), "round", "random", (Stays(str(tmp_path), deaf), "random"), ("a", "b"), "rotations", 1, None
    )
    with Workers(job, 1) as pool:
        for pipe in pool._workers:
            pipe.send((0, 1))
        wait_for(lambda: len([*tmp_path.iterdir()]) == 2 - deaf)
        assert len(alive(tmp_path)) == 2 - deaf
        begun = time.monotonic()
    assert time.monotonic() - begun < 10
    wait_for(lambda: alive(tmp_path) == [], 5)
    assert multiprocessing.active_children() == []


def test_bots_that_cannot_be_sent(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"bots: '<lambda>' cannot be sent to worker processes"):
        tournament(["random", lambda view, rng: view.legal_actions[0]], 2, 1, workers=2)
    register("only-here", Heaviest, replace=True)
    with pytest.raises(ValueError, match=r"a worker process cannot make its bots.*'only-here'"):
        tournament(["random", "only-here"], 2, 1, workers=2, stream=tmp_path / "games.jsonl")
    assert multiprocessing.active_children() == []
    assert not [*tmp_path.iterdir()], "a file without a deal does not stay in the way"


# --- killed and interrupted -------------------------------------------------------------------------------

SLOW = """
import os, time

class Slow:
    def reset(self, game, seat, seed):
        with open(os.path.join({folder!r}, str(os.getpid())), "w"):
            pass

    def act(self, view, rng):
        time.sleep(float(os.environ.get("SLOW_PAUSE", 0)))
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
    (folder / "slow_bots.py").write_text(SLOW.format(folder=str(folder / "pids")))
    return subprocess.Popen(
        [sys.executable, "-m", "mt_env", "tournament", "--bots", "slow_bots:Slow,random", "--deals", "60",
         "--seed", "4", "--jsonl", "games.jsonl", "--resume", "--quiet", "--workers", str(workers)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), str(folder)])}
        | {"SLOW_PAUSE": "0.001"},
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
    monkeypatch.delitem(sys.modules, "slow_bots", raising=False)  # that of another folder
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

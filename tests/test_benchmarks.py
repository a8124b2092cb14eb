"""The benchmarks run, and what they write has its form. No speed is asserted here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN_KEYS = {
    *("kind", "date", "commit", "versions", "machine", "cores", "load_before", "load_after"),
    *("command", "repeats", "seconds", "yardstick"),
}
KEYS = {
    "run": RUN_KEYS,
    "case": {"kind", "name", "unit", "meaning", "median", "min", "max", "ratio", "floor", "clock"},
    "peer": {
        *("kind", "name", "unit", "meaning", "median", "min", "max", "ratio", "floor", "clock"),
        *("library", "ours"),
    },
    "skipped": {"kind", "name", "why"},
    "start": {"kind", "face", "cache", "runs", "cpu", "wall", "notices"},
    "size": {"kind", "name", "value"},
}


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def check(lines: list[dict[str, Any]]) -> None:
    assert [line["kind"] for line in lines].count("run") == 1
    assert lines[0]["kind"] == "run"
    for line in lines:
        assert set(line) == KEYS[line["kind"]], line
        if line["kind"] in ("case", "peer"):
            assert 0 < line["min"] <= line["median"] <= line["max"]


@pytest.mark.slow
def test_every_case_does_what_it_is_asked() -> None:
    from benchmarks.cases import CASES, UnavailableError

    for one in CASES.values():
        try:
            step = one.prepare()
        except UnavailableError:
            continue
        done = step(3)  # a batch moves all its games
        assert done == 3 or (done > 3 and one.name.startswith(("batch", "Batch", "Gym", "SB3", "C "))), (
            one.name
        )


@pytest.mark.slow
def test_sizes() -> None:
    from benchmarks.start import sizes

    lines = sizes()
    assert {line["kind"] for line in lines} == {"size"}
    found = {line["name"]: line["value"] for line in lines}
    assert found["bytes of an action mask (4 seats, D12)"] == 91 * 5 + 2
    shares = [value for name, value in found.items() if name.startswith("decisions a move")]
    assert len(shares) == 2
    assert all(0.2 < share < 0.9 for share in shares)


@pytest.mark.slow
def test_batches_of_few_games() -> None:
    from benchmarks import batches

    for name, (_, settings) in batches.OUTPUTS.items():
        assert batches.random_batch(3, **settings)(7) == 9, name
    assert batches.random_batch(4, seats=2, num_threads=2)(1) == 4
    assert batches.stepped_batch(2)(5) == 6
    assert batches.vector_loop(2)(5) >= 5


def test_the_floor_writes_what_it_should() -> None:
    from benchmarks import floor
    from benchmarks.registry import UnavailableError

    try:
        step = floor.floor(3, 433, 457)
    except UnavailableError as error:
        pytest.skip(str(error))
    assert step(1000) >= 1000


def test_no_compiler_no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import floor
    from benchmarks.registry import UnavailableError

    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(UnavailableError, match="no C compiler found"):
        floor.compiled()


def test_a_run_writes_its_lines(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    words = ["--quick", "--seconds", "0.001", "--only", "AEC raw_env", "clone*", "--out", str(out)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    check(lines)
    names = {line["name"] for line in lines[1:]}
    assert names >= {"AEC raw_env", "clone record, compiled", "connect_four env"}
    assert "AEC raw_env" in done.stdout
    assert "State.apply_action" not in done.stdout


def test_a_case_without_its_library_is_skipped_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.cases import CASES, YARDSTICK
    from benchmarks.measure import measure

    monkeypatch.setitem(sys.modules, "pettingzoo.classic.connect_four_v3", None)
    wanted = [CASES[YARDSTICK], CASES["clone record, Python"]]
    results, skipped = measure(wanted, 1, 0.001)
    assert list(skipped) == [YARDSTICK]
    assert "mt-env[bench]" in capsys.readouterr().err
    assert [result.case for result in results] == wanted[1:]
    assert results[0].row()["ratio"] is None


def test_no_case_of_that_name(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.__main__ import main

    assert main(["--only", "nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


def test_ratios_are_taken_within_a_repeat() -> None:
    from benchmarks.cases import CASES, FLOOR, YARDSTICK
    from benchmarks.measure import Result, compare

    base = Result(CASES[YARDSTICK], rates=[2.0, 3.0, 1.0])
    floor = Result(CASES[FLOOR], rates=[8.0, 36.0, 3.0])
    result = Result(CASES["batch cover uint8 + mask"], rates=[4.0, 9.0, 1.0])
    walled = Result(CASES["batch 2 threads, wall clock"], rates=[4.0, 9.0, 1.0])
    compare([base, floor, result, walled])
    row = result.row()
    assert (row["median"], row["min"], row["max"], row["ratio"], row["floor"]) == (4.0, 1.0, 9.0, 2.0, 3.0)
    assert (walled.row()["ratio"], walled.row()["floor"]) == (None, None)


def test_the_page_is_that_of_the_newest_stored_run() -> None:
    from benchmarks import report

    lines = report.load(report.stored())
    check(lines)
    text = report.PAGE.read_text(encoding="utf-8")
    assert report.page(text, lines) == text, "python -m benchmarks --docs"


def test_the_page_is_that_of_the_newest_run_with_peers() -> None:
    from benchmarks import peers, report

    lines = report.load(report.stored(peers.RESULTS))
    check(lines)
    text = report.PAGE.read_text(encoding="utf-8")
    assert peers.page(text, lines) == text, "python -m benchmarks.peers --docs"


@pytest.mark.slow
def test_peers_are_measured_in_processes_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from benchmarks import peers

    # A library that is missing, whatever this environment has: an empty module hides it from the processes.
    (tmp_path / "rlcard.py").write_text("raise ImportError('no rlcard here')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    results, skipped = peers.measure(["connect_four env", "uno", "C floor"], 2, 0.001)
    assert skipped.pop("uno") == "no rlcard here"
    assert "skipped: uno" in capfd.readouterr().err
    assert len(results) + len(skipped) == 2
    for result in results:
        assert len(result.rates) == 2
    check([dict.fromkeys(RUN_KEYS) | {"kind": "run"}, *peers.rows(results)])


def test_ours_is_compared_with_every_peer() -> None:
    from benchmarks import peers
    from benchmarks.measure import Result
    from benchmarks.peer_games import OURS, PEERS

    ours = Result(PEERS[OURS].case, rates=[100.0, 300.0, 200.0])
    other = Result(PEERS["crazy_eights"].case, rates=[4.0, 10.0, 2.0])
    lines = peers.rows([other, ours])
    assert [line["ours"] for line in lines] == [30.0, 1.0]
    assert "30 times | yes" in peers.bars(lines)
    assert "| OpenSpiel | crazy_eights | 4 |" in peers.table(lines)

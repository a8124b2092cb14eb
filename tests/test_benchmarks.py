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
    "case": {"kind", "name", "unit", "meaning", "median", "min", "max", "ratio"},
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
        if line["kind"] == "case":
            assert 0 < line["min"] <= line["median"] <= line["max"]


@pytest.mark.slow
def test_every_case_does_what_it_is_asked() -> None:
    from benchmarks.cases import CASES, UnavailableError

    for one in CASES.values():
        try:
            step = one.prepare()
        except UnavailableError:
            continue
        assert step(3) == 3, one.name


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
    from benchmarks.cases import CASES, YARDSTICK
    from benchmarks.measure import Result

    result = Result(CASES[YARDSTICK], rates=[4.0, 9.0, 1.0], ratios=[2.0, 3.0, 1.0])
    row = result.row()
    assert (row["median"], row["min"], row["max"], row["ratio"]) == (4.0, 1.0, 9.0, 2.0)


def test_the_page_is_that_of_the_newest_stored_run() -> None:
    from benchmarks import report

    lines = report.load(report.stored())
    check(lines)
    text = report.PAGE.read_text(encoding="utf-8")
    assert report.page(text, lines) == text, "python -m benchmarks --docs"

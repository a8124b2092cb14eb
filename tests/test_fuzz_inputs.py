"""The input fuzzer: its usual run, and that it finds what it looks for."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import fuzz_inputs
import pytest
from fuzz_inputs import KINDS, FailureError, Kind, command_line, fuzz_case, warm_up

CASES = 1500


@pytest.mark.slow
def test_broken_input_is_refused_in_words_or_sound() -> None:
    warm_up()
    given, taken = Counter[str](), Counter[str]()
    for k in range(CASES):
        name, took = fuzz_case(0, k)
        given[name] += 1
        taken[name] += took
    assert given.keys() == KINDS.keys()
    # broken so little that some inputs are still right, and so much that most are not
    for name in ("line", "action", "rules", "yaml", "bytes", "command"):
        assert 0 < taken[name] < given[name], (name, taken[name], given[name])


def planted(check: Any) -> dict[str, Kind]:
    return {"planted": Kind(lambda rng: rng.randrange(10), check, 1)}


def crash(given: int, rng: random.Random) -> None:
    {}[given]


def mute(given: int, rng: random.Random) -> None:
    raise ValueError


def hang(given: int, rng: random.Random) -> None:
    while True:
        pass


def refused_late(given: int, rng: random.Random) -> None:
    with fuzz_inputs._taken():
        raise ValueError("after it was taken")


@pytest.mark.parametrize(
    ("check", "says"),
    [
        (crash, "KeyError"),
        (mute, "an error without words"),
        (hang, "TooSlowError"),
        (refused_late, "taken, but then refused"),
    ],
)
def test_what_goes_wrong_is_found(
    check: Any, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz_inputs, "KINDS", planted(check))
    monkeypatch.setattr(fuzz_inputs, "LIMIT", 0.05)
    with pytest.raises(FailureError, match=r"case 3 of seed 5, planted: \d\n") as failure:
        fuzz_case(5, 3)
    assert says in str(failure.value)
    assert str(failure.value).endswith("tests/fuzz_inputs.py --seed 5 --start 3 --cases 1")
    assert command_line(["--seed", "5", "--start", "3", "--cases", "9"]) == 1
    assert says in capsys.readouterr().err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line(["--cases", "20", "--kind", "noise line"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("noise line         20 cases,      0 taken\n20 cases in ")
    assert out.endswith("seed 0, 0 failed\n")
    with pytest.raises(SystemExit):
        command_line(["--cases", "0"])

"""The command ``mexican-train evaluate``."""

from __future__ import annotations

import importlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mt_env import __version__
from mt_env.arena import protocols
from mt_env.arena.evaluation import Evaluation
from mt_env.arena.protocol import PROTOCOLS, Protocol, ProtocolTable
from mt_env.cli import main
from mt_env.rng import mix

TINY = Protocol(
    "tiny",
    (
        ProtocolTable("three", "spruce", "round", ("heaviest", "random"), 6, 2, seed=5),
        ProtocolTable("match", "cover;set=6;hand_size=4", "match", ("random",), 3, 2, seed=6),
    ),
    resamples=300,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(protocols.PROTOCOLS, "tiny", TINY)
    (tmp_path / "protocol_bots.py").write_text(
        "class First:\n    def act(self, view, rng):\n        return view.legal_actions[0]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_command(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", "protocol_bots:First", "--protocol", "tiny"]
    assert main([*command, "--timings", "t.json"]) == 0
    out, err = capsys.readouterr()
    path = here / "tiny-protocol_bots-First.json"
    result = Evaluation.load(path)
    assert out == result.table() + "\n" and "2 of 2 tables: match, 3 deals\n" in err and path.name in err
    assert result.bot.source == "protocol_bots.py" and len(result.bot.source_sha256) == 64
    times = json.loads((here / "t.json").read_text())
    assert [table["table"] for table in times["tables"]] == ["three", "match"]
    assert times["tables"][0]["bots"][0]["decisions"] > 0
    assert main(command) == 2 and "exists; name another file" in capsys.readouterr().err
    assert main([*command, "--resume", "--quiet"]) == 0
    assert capsys.readouterr() == (out, "")
    assert main(["evaluate", "heaviest", "--protocol", "tiny", "--out", "h.json", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "--compare", path.name, "h.json"]) == 0
    assert re.fullmatch(
        r"tiny, protocol_bots:First - heaviest: score [+-]\d\.\d{3} \[[+-]\d\.\d+, [+-]\d\.\d+\]\n",
        capsys.readouterr().out,
    )
    assert main(["evaluate", "--verify", path.name]) == 0
    assert capsys.readouterr().out.endswith("\nverified\n")
    assert main(["evaluate", "--verify", path.name, "--bot", "heaviest", "--sample", "3", "--seed", "1"]) == 1
    assert "NOT verified: games differ" in capsys.readouterr().out
    path.write_text(path.read_text().replace('"value": ', '"value": 1', 1))
    assert main(["evaluate", "--verify", path.name]) == 1
    assert capsys.readouterr().out.startswith("NOT verified: tiny-protocol_bots-First.json: score is not")


def test_command_subset_and_failure(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "protocol_bad.py").write_text("def bad(view, rng):\n    return -1\n")
    assert main(["evaluate", "protocol_bad:bad", "--protocol", "tiny", "--subset", "slow"]) == 1
    out, err = capsys.readouterr()
    assert "4 deals count as lost, first: protocol_bad:bad in seat 0 of deal 0" in err
    assert out.startswith("tiny/slow, bot protocol_bad:bad\nscore 0.000 [0.000, 0.000]")
    assert (here / "tiny-slow-protocol_bad-bad.json").exists()


def test_command_without_the_bot(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "protocol_gone.py").write_text((here / "protocol_bots.py").read_text())
    command = ["evaluate", "protocol_gone:First", "--protocol", "tiny", "--out", "r.json", "--quiet"]
    assert main(command) == 0
    (here / "protocol_gone.py").unlink()
    del sys.modules["protocol_gone"]
    importlib.invalidate_caches()
    capsys.readouterr()
    assert main(["evaluate", "--verify", "r.json"]) == 4
    out = capsys.readouterr().out
    assert "digests and estimates are consistent" in out
    assert "NOT verified, only consistent: its bot cannot be made here" in out


def test_compare_tells_what_is_behind_the_scores(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "protocol_worse.py").write_text(
        "class Worse:\n    budget_ms = 5\n    def act(self, view, rng):\n        return -1\n"
    )
    for bot, out in (("heaviest", "h.json"), ("protocol_worse:Worse", "w.json")):
        main(["evaluate", bot, "--protocol", "tiny", "--out", out, "--quiet"])
    replace(Evaluation.load("h.json"), version="0.0.9").to_json("h.json")
    capsys.readouterr()
    assert main(["evaluate", "--compare", "h.json", "w.json"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"note: played by mt_env 0.0.9 and {__version__}",
        "note: protocol_worse:Worse plays by the clock: another run may differ",
        "note: 9 deals in which protocol_worse:Worse failed count as lost",
    ]


def test_command_lists_and_shows(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "--list"]) == 0
    out = capsys.readouterr().out
    assert "mt-eval-v1, subsets slow, planner-4" in out and "tiny, subsets slow, three, match" in out
    assert main(["evaluate", "--show"]) == 0
    out = capsys.readouterr().out
    v1 = PROTOCOLS["mt-eval-v1"]
    assert v1.digest in out and all(str(table.seed) in out for table in v1.tables) and "tiny" not in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "BOT: name the bot to evaluate"),
        (["planer"], "did you mean 'planner'"),
        (["planner", "--protocol", "v2"], "protocol='v2': there is none"),
        (["planner", "--subset", "quick"], "subset='quick': mt-eval-v1 has slow, planner-4"),
        (["planner", "--sample", "3"], "--sample without --verify"),
        (["planner", "--bot", "random"], "--bot without --verify"),
        (["planner", "--verify", "x.json"], "BOT (planner) with --verify"),
        (["--verify", "x.json", "--resume"], "--resume with --verify"),
        (["--verify", "x.json"], "x.json"),
        (["--compare", "x.json", "y.json"], "x.json"),
        (["--list", "--protocol", "tiny"], "--protocol with --list"),
        (["--list", "--show"], "not allowed with"),
        (["planner", "--out", "no/such/r.json"], "does not exist or cannot be written"),
        (["planner", "--workers", "0"], "must be a whole number"),
    ],
)
def test_wrong_arguments(here: Path, arguments: list[str], says: str, capsys) -> None:
    assert main(["evaluate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and says in err and err.count("\n") == 1
    assert {path.name for path in here.iterdir()} <= {"protocol_bots.py", "__pycache__"}


@pytest.mark.parametrize("deal", [0, 3])
def test_interrupted(here: Path, deal: int, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """What is said about going on is true: nothing is left behind that holds nothing."""

    def interrupted(self, game, seat, seed):
        if seed == mix(mix(5, deal), 2**32 + seat):
            raise KeyboardInterrupt

    import protocol_bots

    command = ["evaluate", "protocol_bots:First", "--protocol", "tiny", "--out", "r.json"]
    monkeypatch.setattr(protocol_bots.First, "reset", interrupted, raising=False)
    assert main(command) == 130
    told = "mexican-train: what is finished is in r.json.parts, --resume goes on\n" if deal else ""
    assert capsys.readouterr().err == f"{told}mexican-train: interrupted\n"
    assert (here / "r.json.parts").exists() == bool(deal)
    monkeypatch.undo()

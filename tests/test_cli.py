"""The command ``mexican-train``."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mt_env import __version__
from mt_env.cli import MAX_PERFT_DEPTH, main
from mt_env.core import perft
from mt_env.notation import parse_position
from mt_env.rules import PRESETS, Rules, load_rules

ROOT = Path(__file__).resolve().parent.parent

LINE = (
    "rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,1-4 trains=7/3*/- mexican=4 "
    "open=0,M owes=- drawn=- boneyard=3-4,0-9 passes=0"
)
FEW = ["tournament", "--bots", "heaviest,random,random", "--deals", "5", "--seed", "1"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


# --- tournament -------------------------------------------------------------------------------------------


def test_tournament_prints_the_same_table_again(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *FEW)
    assert code == 0
    assert out.startswith("5 deals x 3 seatings = 15 games, seed 1\nrules spruce ")
    assert "moves/s" in err and "moves/s" not in out
    assert run(capsys, *FEW, "--quiet", "--seats", "3") == (0, out, "")


def test_tournament_writes_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = {kind: tmp_path / f"r.{kind}" for kind in ("json", "csv", "jsonl")}
    files = ["--out", str(paths["json"]), "--csv", str(paths["csv"]), "--jsonl", str(paths["jsonl"])]
    options = ["--rules", "cover;rounds=2", "--episode", "match", "--quiet"]
    code, out, _ = run(capsys, *FEW, *options, *files)
    summary = json.loads(paths["json"].read_text())
    assert code == 0 and "rules cover;rounds=2" in out
    assert summary["episode"] == "match" and summary["rounds_out"] + summary["rounds_blocked"] == 30
    assert len(paths["csv"].read_text().splitlines()) == 1 + 45
    assert len(paths["jsonl"].read_text().splitlines()) == 1 + 5 + 1
    before = [path.read_bytes() for path in paths.values()]
    code, out, err = run(capsys, *FEW, *options, *files)
    assert (code, out) == (2, "") and "r.jsonl: exists; resume=True (--resume) goes on with it" in err
    assert run(capsys, *FEW, *options, *files, "--resume")[0] == 0
    assert [path.read_bytes() for path in paths.values()] == before


def test_progress_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, *FEW, "--progress")
    assert "/5 [" in err and "/5 [" not in out
    assert "/5 [" not in run(capsys, *FEW)[2]


def test_a_bot_from_the_current_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cli_test_bots.py").write_text(
        "class First:\n"
        "    def act(self, view, rng):\n"
        "        return view.legal_actions[0]\n"
        "def fails(view, rng):\n"
        "    raise RuntimeError('no idea')\n"
        "def leaves(view, rng):\n"
        "    raise SystemExit(0)\n"
    )
    (tmp_path / "cli_test_exit.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    code, out, err = run(capsys, "tournament", "--bots", "cli_test_bots:First,random", "--deals", "2")
    assert code == 0 and "cli_test_bots:First" in out and "ms a decision" in err

    bots = "cli_test_bots:fails,random"
    code, out, err = run(capsys, "tournament", "--bots", bots, "--deals", "7", "--seed", "1", "--quiet")
    assert code == 1 and "0 of 7 deals" in out
    lines = err.splitlines()
    assert len(lines) == 6 and lines[-1] == "mexican-train: and 2 more void deals"
    assert lines[0].startswith("mexican-train: cli_test_bots:fails in seat 0 of deal 0, seating 0 ")
    assert lines[0].endswith("act raised RuntimeError: no idea")

    # sys.exit() in a bot's code is its failure: it neither ends the command nor makes it look well.
    code, out, err = run(
        capsys,
        "tournament",
        "--bots",
        "cli_test_bots:leaves,random",
        "--deals",
        "1",
        "--seed",
        "1",
        "--quiet",
    )
    assert code == 1 and "0 of 1 deals" in out and err.endswith("act raised SystemExit: 0\n")
    code, out, err = run(capsys, "tournament", "--bots", "cli_test_exit:Bot,random", "--deals", "1")
    assert (code, out) == (2, "")
    assert err == (
        "mexican-train: error: bot 'cli_test_exit:Bot': importing cli_test_exit raised SystemExit: 0\n"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--bots", "planner,random", "--seats", "4"], "--bots planner,random,planner,random"),
        (["--bots", "planner,,random"], "an empty name"),
        (["--bots", "plannner,random"], "did you mean 'planner'"),
        (["--bots", "planner"], "1 given"),
        ([], "required: --bots"),
        (["--bots", "random,random", "--deals", "0"], "argument --deals: '0': must be a whole number"),
        (["--bots", "random,random", "--seed", "-1"], "argument --seed"),
        (["--bots", "random,random", "--engine", "x"], "argument --engine: 'x'"),
        (["--bots", "random,random", "--engine", "99"], "engine=99"),
        (["--bots", "random,random", "--rules", "spruse"], "did you mean 'spruce'"),
        (["--bots", "random,random", "--rules", "missing.yaml"], "missing.yaml"),
        (["--bots", "random,random", "--out", "missing/r.json"], "does not exist"),
        (["--bots", "random,random", "--out", "."], "is a folder"),
        (["--bots", "random,random", "--out", "x.json", "--csv", "./x.json"], "two outputs"),
        (["--bots", "random,random", "--episode", "game"], "argument --episode"),
        (["--bots", "random,random", "--bogus"], "--bogus"),
        (["--bots", "random,random", "--resume"], "--resume without --jsonl"),
        (["--bots", "random,random", "--seatings", "3"], "seatings=3: must be"),
        (["--bots", "random,random", "--seatings", "some"], "seatings='some': must be"),
        (["--bots", "random,random", "--until", "0"], "argument --until: '0'"),
        (["--bots", "random,random", "--until", "2"], "until=2.0: must be"),
        (["--bots", "random,random", "--time-limit", "x"], "argument --time-limit"),
        (["--bots", "random,random", "--workers", "1000"], "workers=1000"),
    ],
)
def test_wrong_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    code, out, err = run(capsys, "tournament", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("mexican-train: error: ") and err.count("\n") == 1 and says in err


# --- rules, position, bots --------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_are_explained(capsys: pytest.CaptureFixture[str], preset: str) -> None:
    code, out, err = run(capsys, "rules", preset)
    rules = Rules.preset(preset)
    assert (code, err) == (0, "")
    assert out.startswith(f"{preset}\n\n{rules.explain()}\n\nseats ")
    rows = out.rpartition("engines\n")[2].splitlines()
    assert [int(row.split()[0]) for row in rows] == list(rules.seats())
    for row in rows:
        deal = rules.resolve(int(row.split()[0]))
        numbers = [deal.num_players, deal.set, deal.hand_size, deal.boneyard_size, deal.rounds]
        assert list(map(int, row.split()[:5])) == numbers


def test_rules_from_text_and_file(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rules", "spruce;set=9;hand_size=10", "--seats", "4")
    assert out.startswith("spruce;set=9;hand_size=10\n") and out.splitlines()[-1].split()[:4] == [
        "4",
        "9",
        "10",
        "15",
    ]
    path = ROOT / "configs" / "rules" / "example_house_rules.yaml"
    assert run(capsys, "rules", str(path))[1].startswith(load_rules(path).to_text() + "\n")
    assert run(capsys, "rules")[1].startswith("spruce\n")
    assert run(capsys, "rules", "dominos_cc", "--seats", "9")[0] == 2


def test_position_shows_board_and_actions(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = run(capsys, "position", LINE)
    state = parse_position(LINE)
    assert (code, err) == (0, "")
    assert out.startswith(str(state))
    assert out.endswith(f"legal actions of seat 0:\n{state.legal_actions()[0]:>6}  3-7@0\n")
    assert run(capsys, "position", *LINE.split())[1] == out

    class Lines:
        def readline(self) -> str:
            return LINE + "\n"

    monkeypatch.setattr(sys, "stdin", Lines())
    assert run(capsys, "position", "-")[1] == out
    code, out, err = run(capsys, "position", LINE.replace("turn=0", "turn=9"))
    assert code == 2 and out == "" and "turn=9" in err and err.count("\n") == 1


def test_bots_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "bots")
    assert code == 0 and {
        "random",
        "heaviest",
        "planner",
        "planner-fast",
        "doubles_first",
        "tactician",
    } <= set(out.split())


# --- the command itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["tournament", "report", "rules", "position", "bots"])
def test_help_has_examples(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, out, _ = run(capsys, command, "--help")
    assert code == 0 and f"examples:\n  mexican-train {command}" in out


def test_help_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "tournament" in run(capsys, "--help")[1]
    assert run(capsys, "--version") == (0, f"mt_env {__version__}\n", "")
    for arguments in ([], ["bogus"]):
        code, _, err = run(capsys, *arguments)
        assert code == 2 and err.count("\n") == 1


def test_ctrl_c_is_quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mt_env.arena.tournament", stop)
    assert run(capsys, *FEW) == (130, "", "mexican-train: interrupted\n")


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "mt_env", *arguments], cwd=ROOT, capture_output=True, check=False, **options
    )  # type: ignore[call-overload]


@pytest.mark.slow
def test_processes_print_equal_bytes() -> None:
    first, second = (
        process(*FEW, "--quiet", env=os.environ | {"PYTHONHASHSEED": seed}) for seed in ("1", "2")
    )
    assert first.returncode == second.returncode == 0
    assert first.stdout == second.stdout and first.stdout.startswith(b"5 deals")


@pytest.mark.slow
def test_a_closed_pipe_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "mt_env", "rules"],
        cwd=ROOT,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


# --- perft ------------------------------------------------------------------------------------------------


def test_perft_counts_each_depth(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "perft", LINE, "3")
    state = parse_position(LINE)
    counts = [perft.perft(state.record, state.game.rules_record, depth) for depth in (1, 2, 3)]
    assert code == 0 and err.endswith(" nodes/s\n")
    assert out == "".join(
        f"perft {depth} {c.nodes} {c.terminals} {c.checksum:016x}\n" for depth, c in enumerate(counts, 1)
    )
    code, out, err = run(capsys, "perft", LINE, "3", "--divide")
    assert code == 0 and out.splitlines()[-1] == f"perft 3 {counts[2].nodes} {counts[2].terminals} " + (
        f"{counts[2].checksum:016x}"
    )
    actions = [line.split()[0] for line in out.splitlines()[:-1]]
    assert actions == [state.action_to_string(action) for action in state.legal_actions()]


def test_perft_stops_where_the_tree_ends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(LINE + "\n"))
    code, out, _ = run(capsys, "perft", "-", str(MAX_PERFT_DEPTH))
    assert code == 0 and out.splitlines()[-1].split()[2] == "0" and len(out.splitlines()) < 60
    assert MAX_PERFT_DEPTH == perft.MAX_DEPTH


@pytest.mark.parametrize("depth", ["0", "-1", "x", "1001"])
def test_perft_refuses_a_depth(capsys: pytest.CaptureFixture[str], depth: str) -> None:
    code, out, err = run(capsys, "perft", LINE, depth)
    assert (code, out) == (2, "") and err.count("\n") == 1

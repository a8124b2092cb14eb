"""What ``mexican-train tournament`` and ``mexican-train report`` write of a result."""

from __future__ import annotations

import csv
import dataclasses
import shlex
import sys
from pathlib import Path

import pytest

from mt_env.arena import TournamentResult, rate, tournament
from mt_env.arena.ratings import Ratings
from mt_env.cli import main
from mt_env.cli_report import repeat_command

PLAY = [
    "tournament",
    "--bots",
    "planner-fast,heaviest,random,random",
    "--deals",
    "8",
    "--seed",
    "3",
    "--quiet",
]
OPTIONS = [
    "--rules",
    "cover;out_on_double=yes",
    "--seatings",
    "balanced",
    "--engine",
    "7",
    "--max-failures",
    "2",
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def named(folder: Path, *names: str) -> list[str]:
    """Options that write a file of each name into ``folder``."""
    return [word for name in names for word in (f"--{name}", str(folder / f"r.{name}"))]


FILES = ("out", "csv", "standings", "html", "markdown")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that one tournament writes, its table too."""
    folder = tmp_path_factory.mktemp("played")
    files = named(folder, *FILES, "jsonl", "timings")
    with pytest.MonkeyPatch.context() as patch, (folder / "table").open("w") as table:
        patch.setattr(sys, "stdout", table)
        assert main([*PLAY, *OPTIONS, *files, "--ratings"]) == 0
    return folder


def test_a_tournament_writes_its_report(played: Path) -> None:
    page, text = (played / "r.html").read_text(), (played / "r.markdown").read_text()
    assert page.startswith("<!DOCTYPE html>") and "Strength and time" in page and "timed apart" not in page
    assert "### Ratings" in text and "Time of a decision" in page and "Time of a decision" not in text
    rows = list(csv.DictReader((played / "r.standings").read_text().splitlines()))
    assert [row["bot"] for row in rows] == ["planner-fast", "heaviest", "random", "random#2"]
    ratings = rate(TournamentResult.load(played / "r.jsonl"))
    assert float(rows[0]["rating"]) == ratings.ratings[0].value
    value, low, high = ratings.ratings[0]
    table = " ".join((played / "table").read_text().split())
    assert f"planner-fast {value:+.0f} [{low:+.0f}, {high:+.0f}]" in table


def test_the_command_on_the_page_plays_the_same_games(
    played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (played / "r.markdown").read_text()
    words = shlex.split(text.split("```sh\n")[1].split("\n```")[0])
    assert words[0] == "mexican-train" and "--workers" not in words and "--jsonl" not in words
    again = tmp_path / "again.jsonl"
    assert run(capsys, *words[1:], "--quiet", "--jsonl", str(again))[0] == 0
    assert again.read_bytes() == (played / "r.jsonl").read_bytes()


def test_a_report_has_the_bytes_of_the_tournament(
    played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    times = ["--timings", str(played / "r.timings")]
    files = named(tmp_path, *FILES)
    code, out, err = run(capsys, "report", str(played / "r.jsonl"), "--ratings", *times, *files)
    assert (code, err) == (0, "") and out == (played / "table").read_text()
    for name in FILES:
        assert (tmp_path / f"r.{name}").read_bytes() == (played / f"r.{name}").read_bytes(), name
    assert run(capsys, "report", str(played / "r.jsonl"), "--html", str(tmp_path / "r.html"))[0] == 0
    assert "Strength and time" not in (tmp_path / "r.html").read_text()


def test_ratings_are_made_once_and_only_if_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(result: TournamentResult) -> Ratings:
        made.append(result)
        return rate(result)

    for module in ("mt_env.arena", "mt_env.arena.page", "mt_env.arena.tables"):
        monkeypatch.setattr(f"{module}.rate", counted)
    assert "ratings" not in run(capsys, *PLAY, *named(tmp_path, "out"))[1] and not made
    assert "ratings" not in run(capsys, *PLAY, *named(tmp_path, "html", "markdown", "standings"))[1]
    assert len(made) == 1
    assert "\nratings, their mean is 0 " in run(capsys, *PLAY, "--ratings")[1] and len(made) == 2


def test_a_seed_that_was_drawn_is_in_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "r.md"
    words = ["tournament", "--bots", "random,heaviest", "--deals", "2", "--quiet", "--markdown", str(path)]
    seed = run(capsys, *words)[1].split("seed ")[1].split()[0]
    assert f"--deals 2 --seed {seed}\n" in path.read_text()


def test_only_what_bears_on_the_games_is_in_the_command(tmp_path: Path) -> None:
    plain = tournament(["heaviest", "random"], 1, 5, resamples=10, stream=tmp_path / "g.jsonl")
    words = "mexican-train tournament --bots heaviest,random --rules spruce --deals 1 --seed 5"
    assert repeat_command(plain) == words
    changed = {"until": 0.25, "time_limit": 1.5, "max_failures": 3, "seatings": 2}
    options = "--until 0.25 --seatings 2 --time-limit 1.5 --max-failures 3"
    assert repeat_command(dataclasses.replace(plain, **changed)) == f"{words} {options}"
    spaced = dataclasses.replace(plain, names=("policy:a b", "my.module:Bot"))
    assert "--bots 'policy:a b,my.module:Bot'" in str(repeat_command(spaced))


def test_a_report_of_a_file_that_is_still_to_grow(
    played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = (played / "r.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "part.jsonl"
    path.write_bytes(b"".join(lines[:4]) + lines[4][:9])
    code, out, _ = run(capsys, "report", str(path), "--markdown", str(tmp_path / "r.md"))
    assert code == 0 and out.startswith("3 deals x 4 ") and "not finished: 3 of 8 deals" in out
    assert "--deals 8 " in (tmp_path / "r.md").read_text()


def test_void_deals_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    result = tournament([lambda view, rng: None, "random"], 2, 1)
    result.to_jsonl(tmp_path / "g.jsonl")
    files = named(tmp_path, *FILES)
    code, out, _ = run(capsys, "report", str(tmp_path / "g.jsonl"), "--ratings", *files)
    assert code == 0 and "nothing to report" in out
    assert (tmp_path / "r.standings").read_text().count("\n") == 1
    assert repeat_command(result) is None, "a lambda has no name that a command could give"
    assert "mexican-train tournament" not in (tmp_path / "r.html").read_text()


def test_a_pool_is_fed_once(played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("openskill")
    words = ["report", str(played / "r.jsonl"), "--pool", str(tmp_path / "pool.json")]
    code, out, _ = run(capsys, *words)
    assert code == 0 and "\n1 tournaments, rules cover;out_on_double=yes, episode round\n" in out
    before = (tmp_path / "pool.json").read_bytes()
    code, _, err = run(capsys, *words)
    assert code == 2 and "has these games already" in err and err.count("\n") == 1
    assert (tmp_path / "pool.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["missing.jsonl"], "missing.jsonl"),
        (["GAMES", "--html", "GAMES"], "is read and cannot be written too"),
        (["GAMES", "--html", "p.html", "--timings", "GAMES"], "is no file of timings"),
        (["GAMES", "--timings", "t.json"], "--timings without --html"),
        (["GAMES", "--html", "missing/p.html"], "does not exist"),
        (["GAMES", "--html", "p", "--markdown", "./p"], "two outputs"),
        (["GAMES", "--pool", "GAMES"], "is read and cannot be written too"),
        ([str(Path(__file__))], "is no file of games"),
        ([], "required: FILE"),
    ],
)
def test_wrong_arguments_are_one_line(
    played: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [str(played / "r.jsonl") if word == "GAMES" else word for word in arguments]
    code, out, err = run(capsys, "report", *words)
    assert (code, out) == (2, "")
    assert err.startswith("mexican-train: error: ") and err.count("\n") == 1 and says in err
    assert list(tmp_path.iterdir()) == []


def test_a_pool_without_its_library(
    played: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    code, out, err = run(capsys, "report", str(played / "r.jsonl"), "--pool", str(tmp_path / "p.json"))
    assert (code, out) == (2, "") and "mt-env[ratings]" in err and err.count("\n") == 1

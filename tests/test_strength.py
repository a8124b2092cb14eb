"""``make strength`` in small, and the tables in the documents are those of the stored run."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from mt_env.arena import rate, tournament
from mt_env.bots import KINDS

ROOT = Path(__file__).resolve().parent.parent
BOTS = ["random", "heaviest", "doubles_first", "planner-fast", "planner"]


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_a_run_holds_what_tournaments_say() -> None:
    from benchmarks import strength

    run = strength.play(["cover"], BOTS, 6, 3, False)
    assert len(run["matches"]) == 3 * 4 and len(run["pools"]) == 1
    row = next(row for row in run["matches"] if (row["bot"], row["against"]) == ("random", "heaviest"))
    alone = tournament(["random", "heaviest", "heaviest", "heaviest"], 6, 3, rules="cover")
    assert row["win_share"] == list(alone.standings[0].win_share) and row["games_sha256"] == alone.digest
    pool = run["pools"][0]
    assert len(pool["games_sha256"]) == 5 and len(pool["ahead"]) == 10
    assert sum(value for value, _, _ in pool["win_share"].values()) == pytest.approx(5 / 4)
    tables = [
        tournament(list(table), 6, 3, rules="cover", seatings="balanced") for table in combinations(BOTS, 4)
    ]
    common = [
        t.difference("random", "planner").ahead.value for t in tables if {"random", "planner"} <= {*t.bots}
    ]
    pair = next(p for p in pool["ahead"] if (p["first"], p["second"]) == ("random", "planner"))
    assert pair["ahead"][0] == pytest.approx(sum(common) / len(common))
    assert json.loads(json.dumps(run)) == run, "what is read back gives the same tables"


def test_the_pool_of_one_table_is_its_tournament() -> None:
    from tqdm import tqdm

    from benchmarks import strength

    bots = BOTS[:4]
    with tqdm(disable=True) as bar:
        pool = strength.pool("spruce", bots, 30, 2, bar)
    result = tournament(bots, 30, 2, seatings="balanced")
    assert pool["win_share"] == {s.label: list(s.win_share) for s in result.standings}
    assert pool["ratings"] == {n: list(r) for n, r in zip(bots, rate(result).ratings, strict=True)}
    assert [p["ahead"] for p in pool["ahead"]] == [list(d.ahead) for d in result.differences]


def test_the_documents_are_those_of_the_stored_run() -> None:
    from benchmarks import strength

    run = json.loads(strength.STORED.read_text(encoding="utf-8"))
    assert set(run["bots"]) == set(KINDS) and run["rules"] == list(strength.RULES), "make strength"
    for path, text in strength.documents(run).items():
        assert path.read_text(encoding="utf-8") == text, "python -m benchmarks.strength --docs"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.strength import main

    assert main(["--deals", "2", "--rules", "cover", "--bots", *BOTS[:4]]) == 0
    out = capsys.readouterr().out
    assert out.startswith("| against | one | `cover` |") and "| 3 planner | heaviest |" in out
    assert main(["--bots", "random", "heaviest"]) == 2 and "--bots" in capsys.readouterr().err

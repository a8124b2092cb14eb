"""Evaluations cite one bot: none that changes on the way, and no failure of another one."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mt_env.arena import protocol
from mt_env.arena.protocol import PARTS, Protocol, ProtocolTable, evaluate, verify
from mt_env.bots.policy import save_model
from mt_env.candidates import NUM_FEATURES
from mt_env.game import Game

TWO = Protocol(
    "two",
    (
        ProtocolTable("first", "cover;set=6;hand_size=4", "round", ("random",), 3, 2, seed=5),
        ProtocolTable("second", "cover;set=6;hand_size=4", "round", ("heaviest",), 3, 2, seed=6),
    ),
    resamples=50,
)

SOURCE = """
class Last:
    def act(self, view, rng):
        return view.legal_actions[-1]
"""


def write_policy(folder: Path, seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=(1, NUM_FEATURES)).astype(np.float32)
    layers = [(weights, np.zeros(1, np.float32))]
    save_model(folder, "candidates", layers, "relu", Game("spruce", 2), {}, [])


def test_a_policy_whose_weights_change_between_tables_is_refused(tmp_path: Path) -> None:
    """As where training goes on and overwrites its model."""
    model, out = tmp_path / "run", tmp_path / "r.json"
    write_policy(model, 1)
    told: list[str] = []

    def changes(line: str) -> None:
        told.append(line)
        write_policy(model, 2)

    with pytest.raises(
        ValueError, match=r"run': changed while it played: weights_sha256 was \w+, is \w+; leave"
    ):
        evaluate(f"policy:{model}", TWO, out=out, tell=changes)
    folder = Path(f"{out}{PARTS}")
    assert len(told) == 1 and not out.exists()
    assert sorted(path.name for path in folder.iterdir()) == ["evaluation.json", "first.jsonl"]
    write_policy(model, 1)
    resumed = evaluate(f"policy:{model}", TWO, out=out, resume=True)
    assert resumed.timings[0]["deals"] == 0, "what was finished before the change is kept"
    assert resumed.to_json() == evaluate(f"policy:{model}", TWO).to_json()
    (model / "meta.json").unlink()
    with pytest.raises(ValueError, match="no model in"):
        evaluate(f"policy:{model}", TWO)


@pytest.mark.parametrize("deal", [0, 3], ids=["first table", "second table"])
def test_a_source_that_is_edited_while_a_table_is_played_is_refused(
    deal: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table that was played meanwhile is set aside: workers may have imported either version."""
    monkeypatch.syspath_prepend(str(tmp_path))
    source, out, name = tmp_path / f"edited_{deal}.py", tmp_path / "r.json", f"edited_{deal}:Last"
    source.write_text(SOURCE)
    importlib.invalidate_caches()
    bot, resets = importlib.import_module(f"edited_{deal}").Last, []

    def edits(self, game, seat, seed) -> None:
        resets.append(seed)
        if len(resets) == 2 * deal + 1:  # two seatings a deal
            source.write_text(SOURCE + "# better now\n")

    monkeypatch.setattr(bot, "reset", edits, raising=False)
    with pytest.raises(ValueError, match="changed while it played: source_sha256"):
        evaluate(name, TWO, out=out)
    kept = {"evaluation.json", "first.jsonl.changed"} if deal == 0 else {
        *("evaluation.json", "first.jsonl", "second.jsonl.changed")
    }  # fmt: skip
    assert {path.name for path in Path(f"{out}{PARTS}").iterdir()} == kept and not out.exists()
    with pytest.raises(ValueError, match="was begun with other settings"):
        evaluate(name, TWO, out=out, resume=True)
    source.write_text(SOURCE)
    assert evaluate(name, TWO, out=out, resume=True).timings[1]["deals"] == 3
    assert out.exists() and not Path(f"{out}{PARTS}").exists()


def test_without_a_file_a_change_is_found_too(tmp_path: Path) -> None:
    model = tmp_path / "run"
    write_policy(model, 1)
    with pytest.raises(ValueError, match="changed while it played: no model in"):
        evaluate(f"policy:{model}", TWO, tell=lambda line: (model / "meta.json").unlink())


@pytest.mark.parametrize("bot", ["policy:demo", "mybots:Fails", "heavyest"])
def test_opponents_are_rule_bots(bot: str) -> None:
    """Else their failures would count as those of the evaluated bot, and nothing would say who they were."""
    with pytest.raises(ValueError, match=f"table first: opponents: '{bot}': must be rule bots"):
        replace(TWO.tables[0], opponents=("random", bot))


# --- what a kill leaves -----------------------------------------------------------------------------------


def test_a_kill_between_file_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "r.json"
    folder = Path(f"{out}{PARTS}")

    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(protocol.shutil, "rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        evaluate("heaviest", TWO, out=out)
    monkeypatch.undo()
    assert out.exists() and folder.is_dir()
    evaluate("heaviest", TWO, out=out, resume=True)
    assert out.exists() and not folder.exists()
    folder.mkdir()
    (folder / "evaluation.json").write_text('{"name": "of another"}')
    evaluate("heaviest", TWO, out=out, resume=True)
    assert folder.exists(), "not the one of this evaluation"


@pytest.mark.parametrize("resume", [False, True])
def test_a_kill_while_the_folder_was_begun(resume: bool, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    folder = Path(f"{out}{PARTS}")
    folder.mkdir()
    (folder / ".evaluation.json.4711.tmp").write_text('{"name"')
    with pytest.raises(ValueError, match="cannot be sent to worker processes"):
        evaluate(lambda view, rng: 0, TWO, out=out, workers=2, resume=resume)
    assert not folder.exists(), "nothing in it is worth keeping"
    folder.mkdir()
    (folder / ".evaluation.json.4711.tmp").write_text('{"name"')
    evaluate("heaviest", TWO, out=out, resume=resume)
    assert out.exists() and not folder.exists()


# --- readers without the bot, or with another version -----------------------------------------------------


def test_a_reader_without_the_bot_can_check_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "r.json"
    write_policy(tmp_path / "run", 1)
    evaluate(f"policy:{tmp_path / 'run'}", TWO, out=out)
    assert not verify(out, protocol=TWO).only_consistent
    (tmp_path / "run").rename(tmp_path / "gone")
    found = verify(out, protocol=TWO)
    assert found.only_consistent and not found.ok and found.replays == () and found.evaluation is not None
    first, last = found.table().splitlines()
    assert first.endswith("digests and estimates are consistent")
    assert last.startswith(
        "NOT verified, only consistent: its bot cannot be made here, nothing was played again"
    )
    with pytest.raises(ValueError, match="neither a shipped model nor a folder"):
        verify(out, "policy:nowhere", protocol=TWO)
    out.write_text(out.read_text().replace('"failed_deals": 0', '"failed_deals": 1'))
    assert not verify(out, protocol=TWO).only_consistent, "changed, and without the bot"


def test_another_version_is_told(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    found = evaluate("heaviest", TWO, out=out)
    assert "note" not in verify(out, protocol=TWO).table()
    replace(found, version="0.0.9").to_json(out)
    again = verify(out, protocol=TWO)
    assert again.ok and "note: played by mt_env 0.0.9, this is " in again.table()

"""The search for the tactician's weights: repeatable, and as good as new after an interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt_env.core.tactics import TACTICIAN_WEIGHTS, TACTICS, weights_array

pytestmark = pytest.mark.slow  # the games' kernel takes some ten seconds to compile


@pytest.fixture
def tuning(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script, with two small tables in place of its own."""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parent.parent / "training")
    import tune_tactician

    table = tune_tactician.Table
    tables = table("spruce", ("planner-fast",), 3), table("cover", ("heaviest",), 2)
    monkeypatch.setattr(tune_tactician, "TABLES", tables)
    return tune_tactician


OPTIONS = ["--generations", "4", "--pairs", "2", "--look-every", "1", "--look-times", "1", "--seed", "3"]


def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(
    tuning: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert tuning.main([*OPTIONS, "--out", str(whole)]) == 0
    step = tuning.Search.step

    def stopped(search: Any) -> None:
        if search.generation == 2:
            raise KeyboardInterrupt
        step(search)

    with monkeypatch.context() as patch:
        patch.setattr(tuning.Search, "step", stopped)
        assert tuning.main([*OPTIONS, "--out", str(cut)]) == 130
    assert tuning.main([*OPTIONS, "--out", str(cut)]) == 2
    assert "holds a run; give --resume" in capsys.readouterr().err
    assert tuning.main([*OPTIONS, "--out", str(cut), "--resume", "--seed", "4"]) == 2
    assert "has seed 3" in capsys.readouterr().err
    assert tuning.main([*OPTIONS, "--out", str(cut), "--resume"]) == 0
    assert (cut / "state.json").read_bytes() == (whole / "state.json").read_bytes()
    state = json.loads((whole / "state.json").read_text(encoding="utf-8"))
    assert state["generation"] == 4 and state["point"] != state["start"]


def test_weights_and_points_are_the_same_thing(tuning: Any) -> None:
    assert set(tuning.STEPS) == set(TACTICS)
    assert tuning.to_weights(tuning.to_point(TACTICIAN_WEIGHTS)) == dict(TACTICIAN_WEIGHTS)


def test_a_game_counts_win_share_and_points(tuning: Any) -> None:
    """Against copies of itself nobody is ahead: fair shares, and points that cancel."""
    arena = tuning.Arena([tuning.Table("spruce", ("tactician",) * 3, 4)])
    scores = arena.scores(weights_array(TACTICIAN_WEIGHTS), 1)
    assert scores == pytest.approx(np.ones(4))
    poor = weights_array(dict.fromkeys(TACTICS, (0, 0, 0)) | {"chain_pips": (-1, 0, 0)})
    assert arena.scores(poor, 1).mean() < 1


def test_a_wrong_argument_is_explained(tuning: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tuning.main(["--pairs", "0"])
    assert "--pairs 0: must be at least 1" in capsys.readouterr().err

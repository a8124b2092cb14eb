"""Learned policies as bots: files, refusals, and play; no learning library is needed."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from mt_env import data
from mt_env.arena import tournament
from mt_env.bots import make_bot, play_episode
from mt_env.bots.policy import CARD, ENVIRONMENT, META, WEIGHTS, Model, PolicyBot, record_strength, save_model
from mt_env.candidates import NUM_FEATURES
from mt_env.game import Game
from mt_env.observation import Encoding
from mt_env.registration import GYM_ID
from mt_env.rng import Rng
from mt_env.state import State

LEARNED = {"algorithm": "none", "seed": 0, "steps": 0}


def some_layers(sizes: list[int], seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [
        (
            rng.normal(size=(b, a)).astype(np.float32) / np.float32(a**0.5),
            rng.normal(size=b).astype(np.float32),
        )
        for a, b in pairwise(sizes)
    ]


def make_model(folder: Path, kind: str = "candidates", game: Game | None = None, seed: int = 0) -> Path:
    game = game or Game()
    if kind == "candidates":
        return save_model(folder, kind, some_layers([NUM_FEATURES, 8, 1], seed), "relu", game, LEARNED)
    sizes = [Encoding(game.rules, game.episode == "match").size, 8, game.num_actions]
    return save_model(folder, kind, some_layers(sizes, seed), "tanh", game, LEARNED)


def positions(game: Game, count: int, seed: int = 1) -> list[State]:
    """Positions with a choice, from random play."""
    found: list[State] = []
    rng = Rng(seed)
    state = game.new_initial_state(seed)
    while len(found) < count:
        if state.is_terminal():
            seed += 1
            state = game.new_initial_state(seed)
        if len(state.legal_actions()) > 1:
            found.append(state.clone())
        state.apply_action(rng.choice(state.legal_actions()))
    return found


def view_of(state: State):
    return state.view(state.current_player())


# --- play -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["candidates", "flat"])
def test_a_policy_takes_its_highest_score_and_never_sees_hidden_tiles(tmp_path: Path, kind: str) -> None:
    bot = PolicyBot(str(make_model(tmp_path, kind)))
    chosen = set()
    for state in positions(Game(), 60):
        view, seat = view_of(state), state.current_player()
        logits = bot.logits(view)
        assert logits.shape == (len(view.legal_actions),) and logits.dtype == np.float32
        action = bot.act(view, Rng(0))
        assert action == view.legal_actions[int(np.argmax(logits))]
        other = state.resample_from_infostate(seat, Rng(state.seed))
        assert bot.logits(other.view(seat)).tobytes() == logits.tobytes()
        chosen.add(view.legal_actions.index(action))
    assert len(chosen) > 1


def test_flat_scores_are_those_of_the_observation(tmp_path: Path) -> None:
    bot = PolicyBot(str(make_model(tmp_path, "flat")))
    for state in positions(Game(), 10):
        view = view_of(state)
        scores = bot.model.forward(state.observation(state.current_player()))
        assert np.array_equal(bot.logits(view), scores[view.legal_actions])


def test_a_candidate_policy_plays_at_other_tables(tmp_path: Path) -> None:
    name = f"policy:{make_model(tmp_path)}"
    for rules, seats, episode in [
        ("cover", 3, "round"),
        ("dominos_cc", 2, "round"),
        ("wikihow;set=6;hand_size=4", 4, "match"),
    ]:
        state = play_episode(Game(rules, seats, episode=episode), name, seed=1)  # type: ignore[arg-type]
        assert state.is_terminal()


@pytest.mark.parametrize(
    "game",
    [Game("cover"), Game("spruce", 3), Game("spruce", episode="match"), Game("spruce;open_order=any")],
    ids=["rules", "seats", "match", "option"],
)
def test_a_flat_policy_plays_only_where_it_learned(tmp_path: Path, game: Game) -> None:
    bot = PolicyBot(str(make_model(tmp_path, "flat")))
    with pytest.raises(ValueError, match="a flat network plays only where it learned"):
        bot.act(view_of(positions(game, 1)[0]), Rng(0))


def test_a_policy_says_when_it_is_not_its_turn(tmp_path: Path) -> None:
    state = Game().new_initial_state(1)
    with pytest.raises(ValueError, match="not the turn"):
        PolicyBot(str(make_model(tmp_path))).act(state.view((state.current_player() + 1) % 4), Rng(0))


def test_sampling_follows_the_probabilities(tmp_path: Path) -> None:
    source = f"{make_model(tmp_path)}?sample=1"
    bot = make_bot(f"policy:{source}")
    view = view_of(max(positions(Game(), 20), key=lambda state: len(state.legal_actions())))
    logits = bot.logits(view).astype(float)  # type: ignore[attr-defined]
    wanted = np.exp(logits - logits.max())
    wanted /= wanted.sum()
    rng = Rng(5)
    drawn = [view.legal_actions.index(bot.act(view, rng)) for _ in range(4000)]
    seen = np.bincount(drawn, minlength=len(wanted)) / len(drawn)
    assert np.abs(seen - wanted).max() < 0.04
    assert bot.act(view, Rng(1)) == bot.act(view, Rng(1))
    with pytest.raises(ValueError, match="only option"):
        PolicyBot(f"{tmp_path}?temperature=2")


def test_a_policy_in_a_tournament(tmp_path: Path) -> None:
    name = f"policy:{make_model(tmp_path)}"
    first = tournament([name, "heaviest", "random"], 4, seed=3)
    assert not first.failures and first.bots[0] == name
    assert first.table() == tournament([name, "heaviest", "random"], 4, seed=3).table()
    assert len(str(first.weights[0])) == 64 and first.weights[1:] == (None, None)


def test_a_policy_can_be_pickled(tmp_path: Path) -> None:
    bot = PolicyBot(str(make_model(tmp_path)))
    twin = pickle.loads(pickle.dumps(bot))
    view = view_of(positions(Game(), 1)[0])
    assert twin.name == bot.name == f"policy:{tmp_path}"
    assert twin.logits(view).tobytes() == bot.logits(view).tobytes()


# --- files ------------------------------------------------------------------------------------------------


def test_the_environment_is_the_registered_one() -> None:
    assert ENVIRONMENT == GYM_ID


def test_equal_models_are_equal_files(tmp_path: Path) -> None:
    a, b = make_model(tmp_path / "a"), make_model(tmp_path / "b")
    assert sorted(path.name for path in a.iterdir()) == sorted([META, WEIGHTS, CARD])
    for name in (META, WEIGHTS, CARD):
        assert (a / name).read_bytes() == (b / name).read_bytes()


def test_a_model_is_replaced_and_its_strength_is_recorded(tmp_path: Path) -> None:
    make_model(tmp_path, seed=1)
    make_model(tmp_path, seed=2)
    assert "Not measured" in (tmp_path / CARD).read_text()
    record_strength(tmp_path, [{"against": "random", "win_share": 0.5}])
    assert Model.load(tmp_path).meta["strength"] == [{"against": "random", "win_share": 0.5}]
    assert "against random, win_share 0.5" in (tmp_path / CARD).read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "format is 2, but this version"),
        ({"kind": "deep"}, "kind 'deep': known are candidates, flat"),
        ({"activation": "gelu"}, "activation 'gelu'"),
        ({"inputs": ["play"]}, "its inputs are not those of this version"),
        ({"layer_sizes": [NUM_FEATURES, 8, 2]}, "first and last layer size"),
        ({"layer_sizes": [NUM_FEATURES, 9, 1]}, "tensors is"),
        ({"environment": {"id": "MexicanTrain-v1"}}, "environment id is MexicanTrain-v1, but this version"),
        ({"environment": {"id": ENVIRONMENT}}, "KeyError: 'rules'"),
        ({"weights_sha256": "0"}, "is not the file that"),
    ],
)
def test_what_this_version_cannot_play_is_refused(tmp_path: Path, change: dict, says: str) -> None:
    file = make_model(tmp_path) / META
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ValueError, match=says):
        make_bot(f"policy:{tmp_path}")


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    make_model(tmp_path)
    (tmp_path / META).write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        Model.load(tmp_path)
    make_model(tmp_path)
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(ValueError, match=r"no model in .*No such file or directory: model.safetensors"):
        Model.load(tmp_path)
    layers = some_layers([NUM_FEATURES, 8, 1])
    layers[0][0][0, 0] = np.nan
    with pytest.raises(ValueError, match=r"layers.0.weight must be finite"):
        save_model(tmp_path / "new", "candidates", layers, "relu", Game(), LEARNED)
    assert not (tmp_path / "new").exists()


def test_a_name_is_a_shipped_model_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = make_model(tmp_path / "_data" / "models" / "small")
    monkeypatch.setattr(data, "_PACKAGE", tmp_path)
    assert data.model_names() == ("small",)
    assert PolicyBot("small").model.meta == Model.load(shipped).meta
    with pytest.raises(
        ValueError, match=r"policy 'smal': neither .*did you mean 'small'\?; shipped are small"
    ):
        make_bot("policy:smal")
    make_model(tmp_path / "run" / "model")
    assert make_bot(f"policy:{tmp_path / 'run'}").name == f"policy:{tmp_path / 'run'}"  # type: ignore[attr-defined]
    monkeypatch.chdir(tmp_path)
    assert PolicyBot("run").model.kind == "candidates"


def test_data_is_found_in_an_install_and_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data.data_folder("configs/rules") is not None
    package = tmp_path / "mt_env"
    (tmp_path / "models").mkdir()
    package.mkdir()
    monkeypatch.setattr(data, "_PACKAGE", package)
    assert data.data_folder("models") is None  # beside an installed package: somebody else's
    assert data.model_names() == () and data.model_folder("x") is None
    (tmp_path / "hatch_build.py").touch()
    assert data.data_folder("models") == tmp_path / "models"
    (package / "_data" / "models").mkdir(parents=True)
    assert data.data_folder("models") == package / "_data" / "models"

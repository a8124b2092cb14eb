"""The learner of training/: networks, runs from end to end, resuming, and what it exports."""

from __future__ import annotations

import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mt_env.arena import tournament
from mt_env.bots.policy import WEIGHTS, PolicyBot
from mt_env.game import Game
from mt_env.rng import Rng, mix
from mt_env.solo import MexicanTrainEnv

pytestmark = pytest.mark.learn
th = pytest.importorskip("torch", reason="torch is not installed (make setup-learn)")
pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed (make setup-learn)")

ROOT = Path(__file__).resolve().parent.parent
CONFIGS = sorted((ROOT / "configs" / "training").glob("ppo_sb3*.yaml"))

SMALL = [
    *("--tables", "4", "--n-steps", "32", "--batch-size", "64", "--n-epochs", "2", "--policy-layers", "16"),
    *("--value-layers", "16", "--eval-every", "0", "--no-tensorboard", "--progress-seconds", "0"),
    *("--lr-schedule", "constant"),
]
"""Options of a run of a second: rollouts of 128 steps."""
KINDS = ("compiled", "plain")


@pytest.fixture(autouse=True, scope="module")
def _scripts_can_be_imported() -> Iterator[None]:
    threads = th.get_num_threads()
    sys.path.insert(0, str(ROOT / "training"))
    yield
    sys.path.remove(str(ROOT / "training"))
    th.set_num_threads(threads)


def learn(*options: str | Path) -> int:
    import ppo_sb3

    return ppo_sb3.main([str(option) for option in options])


def weights(run: Path) -> bytes:
    return (run / "model" / WEIGHTS).read_bytes()


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run of 512 steps that stopped and was gone on with, evaluated and checkpointed on the way."""
    out = tmp_path_factory.mktemp("learn") / "run"
    assert learn(*SMALL, "--total-steps", "256", "--seed", "3", "--out", out) == 0
    more = [
        "--eval-every",
        "128",
        "--eval-deals",
        "8",
        "--checkpoint-every",
        "128",
        "--keep-checkpoints",
        "3",
    ]
    assert learn("--resume", out, "--total-steps", "512", *more) == 0
    return out


# --- runs -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_equal_seeds_give_equal_weights_and_resuming_changes_nothing(run: Path, tmp_path: Path) -> None:
    straight = ["--total-steps", "512", "--checkpoint-every", "0"]
    for name, seed in (("same", "3"), ("other", "4")):
        assert learn(*SMALL, *straight, "--seed", seed, "--out", tmp_path / name) == 0
    assert weights(tmp_path / "same") == weights(run)
    assert weights(tmp_path / "other") != weights(run)
    learned = [
        [
            {k: v for k, v in line.items() if k.startswith(("learn/", "episodes/"))}
            for line in lines
            if "time/fps" in line
        ]
        for lines in (metrics(run), metrics(tmp_path / "same"))
    ]
    assert [line["episodes/points"] for line in learned[0]] == [
        line["episodes/points"] for line in learned[1]
    ]


def test_a_run_tells_what_it_was(run: Path) -> None:
    assert [folder.name for folder in sorted((run / "checkpoints").iterdir())] == [
        f"{step:012d}" for step in (256, 384, 512)
    ]
    first, second = json.loads((run / "provenance.json").read_text())
    assert (first["first_step"], second["first_step"]) == (0, 256)
    assert first["command"].startswith("python ") and "--resume" in second["command"]
    assert {"python", "torch", "sb3-contrib", "numpy"} <= first["versions"].keys()
    assert first["torch_threads"] == 1 and first["seed"] == 3
    assert first["environment"] == {"id": "MexicanTrain-v0", "rules": "spruce", "num_players": 4}
    assert first["machine"].keys() == {"system", "architecture", "cores"}  # no names of hosts or people
    lines = metrics(run)
    steps = [line["step"] for line in lines]
    assert steps == sorted(steps) and steps[-1] == 512
    assert [line["step"] for line in lines if "eval/random/rank" in line] == [384, 512]
    names = set().union(*lines)
    assert {"learn/approx_kl", "episodes/win_share", "episodes/reward", "time/steps_per_second"} <= names
    assert not [name for name in names if name.startswith("train/")]
    told = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    untold = [
        name
        for name in sorted(names - {"step"})
        if f"`{re.sub('/(random|planner)/', '/BOT/', name)}`" not in told
    ]
    assert not untold
    for bot in ("random", "planner"):
        assert 0 <= lines[-1][f"eval/{bot}/win_share"] <= 1 and lines[-1][f"eval/{bot}/points"] >= 0


def test_the_config_of_a_run_can_be_run_again(run: Path, tmp_path: Path) -> None:
    options = ["--config", run / "config.yaml", "--out", tmp_path / "again", "--eval-every", "0"]
    assert learn(*options) == 0
    assert weights(tmp_path / "again") == weights(run)


def test_a_run_is_not_overwritten_unasked(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert learn(*SMALL, "--out", run) == 2
    assert "is not empty; choose another --out, --resume" in capsys.readouterr().err
    (tmp_path / "letters.txt").touch()
    assert learn(*SMALL, "--out", tmp_path, "--overwrite") == 2
    assert "not overwritten" in capsys.readouterr().err and (tmp_path / "letters.txt").exists()


def test_a_resumed_run_keeps_its_config(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    before = weights(run)
    assert learn("--resume", run, "--gamma", "0.9", "--seed", "5") == 2
    said = capsys.readouterr().err
    assert "gamma: 1.0 -> 0.9" in said and "seed: 3 -> 5" in said
    assert learn("--resume", tmp_path) == 2
    assert learn("--resume", run, "--config", CONFIGS[0]) == 2
    assert learn("--resume", run, "--eval-every", "0") == 0  # nothing left to do
    assert "already at step 512" in capsys.readouterr().err
    assert weights(run) == before


def test_a_linear_rate_falls_to_nothing(tmp_path: Path) -> None:
    options = ["--lr-schedule", "linear", "--total-steps", "384", "--out", tmp_path / "run"]
    assert learn(*SMALL, *options) == 0
    rates = [
        line["learn/learning_rate"] for line in metrics(tmp_path / "run") if "learn/learning_rate" in line
    ]
    assert rates == pytest.approx([2e-3 * 2 / 3, 2e-3 / 3, 0.0], abs=1e-6)


# --- configs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_the_configs_are_right(path: Path) -> None:
    import ppo_sb3

    config, resume = ppo_sb3.parse(
        ["--config", str(path), "--seed", "9", "--opponents", "random", "heaviest", "planner"]
    )
    ppo_sb3.check(config)
    assert (config.run.seed, config.env.opponents, resume) == (9, ("random", "heaviest", "planner"), False)
    env = MexicanTrainEnv(**ppo_sb3.settings(config.env, config.ppo.policy))
    assert env.game.reward_scale == 0.02


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ppo: {gama: 0.9}", "ppo: unknown key 'gama'; did you mean 'gamma'?"),
        ("pppo: {}", "unknown key 'pppo'; did you mean 'ppo'?"),
        ("ppo: 3", "ppo: must hold 'name: value' lines"),
        ("ppo: {policy: candidate}", "policy='candidate': must be one of 'candidates', 'flat', 'stock'"),
        ("ppo: {n_steps: 1.5}", "n_steps=1.5: must be int"),
        ("ppo: {gamma: high}", "gamma='high': must be float"),
        ("run: {overwrite: 1}", "overwrite=1: must be bool"),
        ("ppo: {batch_size: 500}", "batch_size=500: must divide tables * n_steps = 2048"),
        ("run: {total_steps: 0}", "total_steps=0: must be at least 1"),
        ("env: {opponents: [planner, random]}", "opponents: 2 given; give one for all seats, or a list of 3"),
        ("env: {opponents: planer}", "did you mean 'planner'"),
        ("env: {rules: spruse}", "did you mean 'spruce'"),
        ("run: {seed: 1, seed: 2}", "seed is given twice"),
        ("[", "not readable as YAML"),
        ("", "must hold the sections of a config"),
    ],
)
def test_a_wrong_config_is_explained(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    assert learn("--config", file, "--out", tmp_path / "run", "--progress-seconds", "0") == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "run" / "model").exists()


def test_yaml_values_are_read_as_meant(tmp_path: Path) -> None:
    import ppo_sb3

    file = tmp_path / "c.yaml"
    file.write_text(
        "env: {opponents: heaviest, engine: 5}\nppo: {learning_rate: 1e-4, gamma: 1, target_kl: null}"
    )
    config, _ = ppo_sb3.parse(["--config", str(file)])
    assert (config.env.opponents, config.env.engine) == (("heaviest",), 5)
    assert (config.ppo.learning_rate, config.ppo.gamma, config.ppo.target_kl) == (1e-4, 1.0, None)


def test_help_explains_every_option(capsys: pytest.CaptureFixture) -> None:
    import dataclasses

    import ppo_sb3

    with pytest.raises(SystemExit):
        ppo_sb3.parse(["--help"])
    said = capsys.readouterr().out
    for section in (ppo_sb3.EnvConfig, ppo_sb3.PpoConfig, ppo_sb3.RunConfig):
        for field in dataclasses.fields(section):
            assert "--" + field.name.replace("_", "-") in said, field.name
    assert "Weight of the entropy bonus" in said and "--resume" in said


# --- what is exported -------------------------------------------------------------------------------------


def settings(policy: str, opponents: str = "planner-fast") -> dict[str, Any]:
    import ppo_sb3

    return ppo_sb3.settings(ppo_sb3.EnvConfig(opponents=(opponents,)), policy)


def played(policy: str, count: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Observations and masks of random play, as arrays."""
    import sb3_tools

    tables, rng, seen, masks = sb3_tools.make_tables(4, settings(policy)), Rng(seed), [], []
    tables.seed(seed)
    obs = tables.reset()
    for _ in range(count // 4):
        seen.append(obs)
        masks.append(tables.action_masks())
        obs, *_ = tables.step(np.array([rng.choice(np.flatnonzero(mask).tolist()) for mask in masks[-1]]))
    if policy == "candidates":
        return {key: np.concatenate([one[key] for one in seen]) for key in seen[0]}, np.concatenate(masks)
    return np.concatenate(seen), np.concatenate(masks)


def batch_of(policy: str, count: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """The same as torch would get it; masks stay arrays."""
    obs, masks = played(policy, count, seed)
    if isinstance(obs, dict):
        return {key: th.as_tensor(value) for key, value in obs.items()}, masks
    return th.as_tensor(obs), masks


def learner(policy: str, seed: int = 0) -> Any:
    import ppo_sb3
    import sb3_tools

    config = ppo_sb3.Config(
        env=ppo_sb3.EnvConfig(tables=2),
        ppo=ppo_sb3.PpoConfig(policy=policy, n_steps=8, batch_size=16),
        run=ppo_sb3.RunConfig(seed=seed),
    )
    model = ppo_sb3.new_learner(config, sb3_tools.make_tables(2, settings(policy)))
    with th.no_grad():  # fresh actors are nearly even: make them choose
        for parameter in model.policy.parameters():
            parameter.mul_(2.0)
        last = model.policy.row_net[-1] if policy == "candidates" else model.policy.action_net
        last.weight.mul_(50.0)
    return model, config


@pytest.mark.parametrize("policy", ["candidates", "flat", "stock"])
def test_numpy_plays_what_torch_learned(policy: str, tmp_path: Path) -> None:
    import ppo_sb3

    model, config = learner(policy)
    bot = PolicyBot(str(ppo_sb3.export(model, config, tmp_path)))
    env = MexicanTrainEnv(**settings(policy))
    state, rng, compared = Game().new_initial_state(5), Rng(1), 0
    while not state.is_terminal():
        view = state.view(state.current_player())
        legal = view.legal_actions
        if len(legal) > 1:
            env._states[0], env._count = state.record[0], len(legal)
            env._legal[: len(legal)], env.seat, env._over, env._formal = legal, view.seat, False, False
            out = np.zeros(env.encoding.size, np.float32)
            env._look(out)
            obs = env._pack(out)
            tensors, _ = model.policy.obs_to_tensor(obs)
            with th.no_grad():
                if policy == "candidates":
                    wanted = model.policy.row_net(tensors["candidates"][0, : len(legal)])[:, 0].numpy()
                else:
                    wanted = model.policy.action_net(model.policy.mlp_extractor(tensors)[0])[0, legal].numpy()
            found = bot.logits(view)
            assert np.abs(found - wanted).max() < 1e-5 * max(1.0, np.abs(wanted).max())
            action, _ = model.predict(obs, action_masks=env.action_masks(), deterministic=True)
            top = np.sort(wanted)[-2:]
            if top[1] - top[0] > 1e-4:
                assert bot.act(view, rng) == int(action)
                compared += 1
        state.apply_action(rng.choice(legal))
    assert compared > 10


def test_a_run_plays_in_a_tournament(run: Path) -> None:
    result = tournament([f"policy:{run}", "random", "random"], 3, seed=1)
    assert not result.failures
    meta = PolicyBot(str(run)).model.meta
    assert meta["learned"]["steps"] == 512 and meta["learned"]["seed"] == 3
    assert not list(run.rglob("*.pkl")) or all("checkpoints" in path.parts for path in run.rglob("*.pkl"))


def test_a_policy_can_be_learned_against_and_resuming_changes_nothing(run: Path, tmp_path: Path) -> None:
    options = [*SMALL, "--opponents", f"policy:{run}?sample=1", "random", "heaviest", "--seed", "4"]
    assert learn(*options, "--total-steps", "128", "--out", tmp_path / "run") == 0
    assert learn("--resume", tmp_path / "run", "--total-steps", "256") == 0
    assert learn(*options, "--total-steps", "256", "--out", tmp_path / "straight") == 0
    assert weights(tmp_path / "run") == weights(tmp_path / "straight")


# --- tables -----------------------------------------------------------------------------------------------


def plain_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on no opponent counts as compiled."""
    import sb3_tools

    monkeypatch.setattr(sb3_tools, "compiled_kind", lambda bot: None)


def test_tables_are_compiled_unless_a_bot_is_not(run: Path) -> None:
    import sb3_tools

    from mt_env.integrations.sb3 import MexicanTrainVecEnv

    assert isinstance(sb3_tools.make_tables(2, settings("candidates")), MexicanTrainVecEnv)
    single = settings("flat") | {"opponents": ["random", f"policy:{run}", "planner"]}
    assert isinstance(sb3_tools.make_tables(2, single), sb3_tools.Tables)


@pytest.mark.parametrize("policy", ["candidates", "flat"])
def test_both_kinds_of_tables_teach_the_same(
    policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [*SMALL, "--policy", policy, "--total-steps", "128", "--seed", "5"]
    options += ["--eval-every", "128", "--eval-deals", "50"]
    assert learn(*options, "--out", tmp_path / "compiled") == 0
    plain_tables(monkeypatch)
    assert learn(*options, "--out", tmp_path / "plain") == 0
    assert weights(tmp_path / "compiled") == weights(tmp_path / "plain")
    for name in ("episodes/reward", "eval/random/points", "eval/planner/win_share"):
        found = [[line[name] for line in metrics(tmp_path / kind) if name in line] for kind in KINDS]
        assert found[0] and found[0] == found[1], name


def test_an_evaluation_plays_fixed_deals_to_their_ends() -> None:
    import sb3_tools

    model, _ = learner("candidates")
    tables = sb3_tools.make_tables(4, settings("candidates", "heaviest"))
    first = sb3_tools.evaluate(model.policy, tables, 10, 1, masked=False)
    assert first != sb3_tools.evaluate(model.policy, tables, 10, 2, masked=False)
    assert first == sb3_tools.evaluate(model.policy, tables, 10, 1)
    # Table i plays the first 3 or 2 deals of its own family, whatever the others do.
    shares, points = [], []
    for i in range(4):
        alone = MexicanTrainEnv(**settings("candidates", "heaviest"))
        obs, _ = alone.reset(seed=mix(1, i))
        for _ in range(3 if i < 2 else 2):
            over = False
            while not over:
                action, _ = model.policy.predict(obs, deterministic=True)
                obs, _, over, _, info = alone.step(action)
            shares.append(info["win_share"])
            points.append(info["points"])
            obs, _ = alone.reset()
    assert first["win_share"] == pytest.approx(np.mean(shares))
    assert first["win_share_se"] == pytest.approx(np.std(shares) / np.sqrt(10))
    assert first["points"] == pytest.approx(np.mean(points))


def test_checkpoints_of_other_versions_are_refused(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    shutil.copytree(run, tmp_path / "old")
    rest = sorted((tmp_path / "old" / "checkpoints").glob("*/rest.pkl"))[-1]
    kept = pickle.loads(rest.read_bytes())
    meta = kept["tables"].pop("meta")
    rest.write_bytes(pickle.dumps(kept))
    assert learn("--resume", tmp_path / "old", "--total-steps", "640") == 2
    assert "is of another version of mt_env" in capsys.readouterr().err
    assert meta.dtype.names


# --- networks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masked", ["bool", "float32", "one action each", "no mask"])
def test_the_fast_policy_is_the_library_s_in_fewer_steps(masked: str) -> None:
    fast, _ = learner("flat", seed=1)
    stock, _ = learner("stock", seed=1)
    stock.policy.load_state_dict(fast.policy.state_dict())
    obs, legal = batch_of("flat", 128)
    masks: Any = {"bool": legal, "no mask": None}.get(masked, th.as_tensor(legal, dtype=th.float32))
    if masked == "one action each":
        masks = np.eye(legal.shape[1], dtype=np.bool_)[legal.argmax(1)]
    with th.no_grad():
        actions = stock.policy(obs, action_masks=masks)[0]
    results = []
    for model in (fast, stock):
        values, logp, entropy = model.policy.evaluate_actions(obs, actions, action_masks=masks)
        loss = (values[:, 0] + logp + entropy).mean()
        gradient = th.cat([g.flatten() for g in th.autograd.grad(loss, list(model.policy.parameters()))])
        played, _, own = model.policy(obs, True, masks)
        results.append((values, logp, entropy, gradient, played, own))
    for name, a, b in zip(
        ("values", "logp", "entropy", "gradient", "actions", "logp of them"), *results, strict=True
    ):
        assert th.allclose(a.float(), b.float(), rtol=1e-4, atol=1e-5), name
    assert results[0][2].max() > 0.1 or masked == "one action each"


def test_an_update_with_the_fast_policy_is_the_library_s() -> None:
    fast, _ = learner("flat", seed=1)
    stock, _ = learner("stock", seed=1)
    stock.policy.load_state_dict(fast.policy.state_dict())
    before = fast.policy.action_net.weight.detach().clone()
    _, callback = stock._setup_learn(16)
    fast._setup_learn(16)
    assert stock.collect_rollouts(stock.get_env(), callback, stock.rollout_buffer, 8)
    for model in (fast, stock):
        model.rollout_buffer = stock.rollout_buffer
        np.random.seed(3)
        model.train()
    assert (fast.policy.action_net.weight - before).abs().max() > 1e-4
    for (name, a), b in zip(
        fast.policy.state_dict().items(), stock.policy.state_dict().values(), strict=True
    ):
        assert th.allclose(a, b, rtol=1e-4, atol=1e-5), name


@pytest.mark.parametrize("filled", [16, 32])
def test_the_candidate_buffer_holds_what_the_policy_reads(filled: int) -> None:
    from nets import CandidateBuffer
    from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer

    model, _ = learner("candidates")
    obs, masks = played("candidates", filled)
    env, steps = model.get_env(), filled // 2
    found = []
    for kind in (CandidateBuffer, MaskableDictRolloutBuffer):
        buffer = kind(steps, env.observation_space, env.action_space, n_envs=2)
        for t in range(steps):
            seen = {key: value[2 * t : 2 * t + 2] for key, value in obs.items()}
            actions = seen["candidate_actions"][:, 0]
            more = {} if kind is CandidateBuffer else {"action_masks": masks[2 * t : 2 * t + 2]}
            buffer.add(seen, actions, np.ones(2), np.zeros(2), th.zeros(2), th.zeros(2), **more)
        np.random.seed(1)
        samples = list(buffer.get(8))
        assert len(samples) == filled // 8
        found.append([model.policy.evaluate_actions(one.observations, one.actions) for one in samples])
        width = samples[0].observations["candidates"].shape[1]
        assert (width == obs["candidate_count"].max()) == (kind is CandidateBuffer)
    for ours, theirs in zip(*found, strict=True):
        assert all(th.equal(a, b) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("policy", ["candidates", "flat", "stock"])
def test_every_sample_is_legal(policy: str) -> None:
    model, _ = learner(policy)
    obs, masks = batch_of(policy, 64)
    legal = th.as_tensor(masks)
    with th.no_grad():
        for deterministic in (False, True):
            for _ in range(20):
                actions, _, logp = model.policy(obs, deterministic, masks)
                assert legal.gather(1, actions[:, None]).all() and (logp > -1e3).all()


def test_a_sample_of_zero_noise_is_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    import nets

    monkeypatch.setattr(th.Tensor, "exponential_", lambda self, *_: self.zero_())
    logp = th.tensor([[-0.1, -1e8, -3.0, -1e8]])
    assert nets.gumbel_max(logp).item() in (0, 2)


@pytest.mark.slow
def test_candidate_samples_follow_the_probabilities() -> None:
    model, _ = learner("candidates")
    obs, masks = batch_of("candidates", 16)
    with th.no_grad():
        distribution = model.policy.get_distribution(obs).distribution.probs
        assert th.allclose(distribution.sum(1), th.ones(16), atol=1e-5)
        assert distribution[~th.as_tensor(masks)].max() == 0.0
        seen = th.zeros_like(distribution)
        for _ in range(1500):
            actions, _, logp = model.policy(obs)
            chosen = distribution.gather(1, actions[:, None])[:, 0]
            assert th.allclose(chosen.log(), logp, atol=1e-4)
            seen[th.arange(16), actions] += 1 / 1500
        assert (seen - distribution).abs().max() < 0.06
        values, logp, entropy = model.policy.evaluate_actions(obs, actions)
        assert th.allclose(entropy, model.policy.get_distribution(obs).entropy(), atol=1e-4)
        assert th.allclose(values, model.policy.predict_values(obs))


def test_a_candidate_learner_is_saved_and_loaded_by_the_library(tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    model, _ = learner("candidates")
    model.save(tmp_path / "learner.zip")
    twin = MaskablePPO.load(tmp_path / "learner.zip")
    arrays, masks = played("candidates", 32)
    actions = [one.predict(arrays, action_masks=masks, deterministic=True)[0] for one in (model, twin)]
    assert np.array_equal(*actions)
    assert twin.policy.row_layers == model.policy.row_layers


@pytest.mark.slow
def test_the_demo_runs(tmp_path: Path) -> None:
    options = ["--steps", "2048", "--deals", "2", "--seed", "2", "--out", "runs/demo"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "training" / "demo.py"), *options],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ mexican-train tournament --bots policy:runs/demo,") == 2
    assert "against planner heaviest random" in done.stdout
    meta = json.loads((tmp_path / "runs" / "demo" / "model" / "meta.json").read_text())
    assert [entry["games"] for entry in meta["strength"]] == [8, 8]

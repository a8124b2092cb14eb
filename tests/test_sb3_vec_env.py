"""The stable-baselines3 vector environment: the plain one's episodes, masks, and what the library expects."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3", reason="needs the extra 'learn'")

from stable_baselines3.common.vec_env import VecMonitor

from mt_env.integrations.sb3 import MexicanTrainVecEnv
from mt_env.rng import mix
from mt_env.solo import MexicanTrainEnv

pytestmark = pytest.mark.learn


def equal(a: Any, b: Any) -> bool:
    return all(np.array_equal(a[key], b[key]) for key in a) if isinstance(a, dict) else np.array_equal(a, b)


def one(seen: Any, i: int) -> Any:
    return {key: value[i] for key, value in seen.items()} if isinstance(seen, dict) else seen[i]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"obs_mode": "dict", "candidates": True, "opponents": "planner-fast", "rules": "cover"},
        {"max_episode_steps": 5, "reward": "win", "num_players": 3},
    ],
    ids=str,
)
def test_each_table_is_the_plain_environment(settings: dict[str, Any]) -> None:
    tables = MexicanTrainVecEnv(3, **settings)
    plain = [MexicanTrainEnv(**settings) for _ in range(3)]
    tables.seed(17)
    seen = tables.reset()
    for i, env in enumerate(plain):
        assert equal(one(seen, i), env.reset(seed=mix(17, i))[0])
    rng = np.random.default_rng(0)
    totals, lengths, ends = np.zeros(3), np.zeros(3, int), 0
    for _ in range(80):
        masks = np.stack(tables.env_method("action_masks"))
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        before = seen
        kept = {k: v.copy() for k, v in seen.items()} if isinstance(seen, dict) else seen.copy()
        seen, rewards, dones, infos = tables.step(actions)
        assert equal(before, kept)  # not overwritten
        for i, env in enumerate(plain):
            observation, reward, terminated, truncated, info = env.step(actions[i])
            totals[i] += reward
            lengths[i] += 1
            assert rewards[i] == pytest.approx(reward, rel=1e-6)
            assert dones[i] == (terminated or truncated)
            if dones[i]:
                ends += 1
                assert infos[i]["TimeLimit.truncated"] == (truncated and not terminated)
                assert infos[i]["episode"]["r"] == pytest.approx(totals[i])
                assert infos[i]["episode"]["l"] == lengths[i]
                assert (infos[i]["win_share"], infos[i]["how"]) == (info["win_share"], info["how"])
                if not truncated:
                    assert equal(infos[i]["terminal_observation"], observation)
                totals[i] = lengths[i] = 0
                observation, _ = env.reset()
            else:
                assert infos[i] == {}
            assert equal(one(seen, i), observation)
            assert np.array_equal(tables.action_masks()[i], env.action_masks())
    assert ends > 3
    tables.close()


def test_what_the_library_asks_for() -> None:
    tables = MexicanTrainVecEnv(4)
    assert tables.has_attr("action_masks") and not tables.has_attr("no_such_thing")
    assert tables.get_attr("render_mode") == [None] * 4
    assert len(tables.env_method("action_masks", indices=[1, 2])) == 2
    assert tables.env_is_wrapped(VecMonitor) == [False] * 4
    with pytest.raises(AttributeError, match="only action_masks and render"):
        tables.env_method("step")
    with pytest.raises(AttributeError, match="cannot be set"):
        tables.set_attr("seat", 1)
    with pytest.warns(UserWarning, match="already wrapped"):  # infos have its entries already
        monitored = VecMonitor(tables)
    assert monitored.reset().shape == (4, tables.batch.encoding.size)


def test_attributes_of_tables_are_their_own() -> None:
    tables = MexicanTrainVecEnv(3, render_mode="ansi", max_episode_steps=2)
    plain = [MexicanTrainEnv(max_episode_steps=2) for _ in range(3)]
    tables.seed(5)
    tables.reset()
    for i, env in enumerate(plain):
        env.reset(seed=mix(5, i))
    for _ in range(3):
        for name in ("seat", "base_seed", "episode_index", "episode_seed"):
            assert tables.get_attr(name) == [getattr(env, name) for env in plain], name
        masks = [mask() for mask in tables.get_attr("action_masks", [2, 0])]
        assert np.array_equal(masks, [plain[2].action_masks(), plain[0].action_masks()])
        actions = np.array([env.action_masks().argmax() for env in plain])
        tables.step(actions)
        for env, action in zip(plain, actions, strict=True):
            if env.step(action)[3]:
                env.reset()
    assert tables.get_attr("max_episode_steps", 1) == [2]
    texts = tables.env_method("render", indices=[0, 1])
    assert len(texts) == 2 and texts[0] != texts[1] and "hand" in texts[0].lower()
    with pytest.raises(ValueError, match="must be empty; seed"):
        tables.set_options({"episode_seed": 3})
    with pytest.raises(ValueError, match="must be empty; seed"):
        tables.set_options([{}, {"episode_seed": 3}, {}])
    tables.set_options()


@pytest.mark.parametrize(
    "settings",
    [{}, {"obs_mode": "dict", "candidates": True, "opponents": ["planner-fast", "random", "heaviest"]}],
    ids=["flat", "candidates"],
)
def test_tables_go_on_where_their_state_was_kept(settings: dict[str, Any], tmp_path: Path) -> None:
    def play(tables: MexicanTrainVecEnv, steps: int) -> list[Any]:
        found = []
        for _ in range(steps):
            masks = tables.action_masks()
            seen, rewards, dones, infos = tables.step(masks.argmax(1))
            for info in infos:
                if "episode" in info:
                    del info["episode"]["t"]
            entries = list(seen.values()) if isinstance(seen, dict) else [seen]
            found.append([*(one.tobytes() for one in [*entries, rewards, dones, masks]), str(infos)])
        return found

    tables = MexicanTrainVecEnv(3, **settings)
    tables.seed(8)
    tables.reset()
    play(tables, 25)
    np.savez(tmp_path / "state.npz", **tables.get_state())
    followed = play(tables, 40)
    assert sum("win_share" in step[-1] for step in followed) > 2
    twin = MexicanTrainVecEnv(3, num_threads=2, **settings)
    with np.load(tmp_path / "state.npz", allow_pickle=False) as kept:
        twin.set_state(kept)
    assert play(twin, 40) == followed
    twin.close()
    tables.seed(9)  # what has been asked for is kept too
    later = MexicanTrainVecEnv(3, **settings)
    later.set_state(tables.get_state())
    later.reset()
    tables.reset()
    assert play(later, 3) == play(tables, 3)


@pytest.mark.parametrize(
    ("count", "settings"),
    [(3, {}), (2, {"rules": "cover"}), (2, {"opponents": "planner"}), (2, {"num_players": 3})],
    ids=str,
)
def test_the_state_of_other_tables_is_refused(count: int, settings: dict[str, Any]) -> None:
    tables = MexicanTrainVecEnv(2, opponents="random")
    tables.seed(1)
    tables.reset()
    before = tables.get_state()
    other = MexicanTrainVecEnv(count, **{"opponents": "random", **settings})
    other.seed(2)
    other.reset()
    with pytest.raises(ValueError, match="must come from a batch with the same arguments"):
        tables.set_state(other.get_state())
    with pytest.raises(ValueError, match="state: its 'meta' does not fit"):
        tables.set_state({name: array for name, array in before.items() if name != "meta"})
    after = tables.get_state()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_library_s_wrappers_and_evaluation_work_on_it() -> None:
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    def normal() -> VecNormalize:
        return VecNormalize(MexicanTrainVecEnv(4, max_episode_steps=6, illegal_action="raise"))

    model = MaskablePPO("MlpPolicy", normal(), n_steps=16, batch_size=32, n_epochs=1, seed=1, device="cpu")
    callback = MaskableEvalCallback(normal(), n_eval_episodes=8, eval_freq=8, verbose=0)
    model.learn(128, callback)
    assert callback.n_calls == 32 and np.isfinite(callback.last_mean_reward)
    rewards, lengths = evaluate_policy(
        model, model.get_env(), 10, deterministic=True, return_episode_rewards=True
    )
    assert len(rewards) == 10 and max(lengths) <= 6


def test_maskable_ppo_learns_on_it_with_legal_actions_only() -> None:
    from sb3_contrib import MaskablePPO

    tables = MexicanTrainVecEnv(8, illegal_action="raise", reward_scale=0.02)
    model = MaskablePPO("MlpPolicy", tables, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.learn(512)
    assert model.num_timesteps == 512
    assert len(model.ep_info_buffer) > 0  # type: ignore[arg-type]
    action, _ = model.predict(tables.reset(), action_masks=tables.action_masks(), deterministic=True)
    assert tables.action_masks()[np.arange(8), action].all()


def test_equal_seeds_learn_equal_weights() -> None:
    from sb3_contrib import MaskablePPO

    found = []
    for _ in range(2):
        tables = MexicanTrainVecEnv(4)
        model = MaskablePPO("MlpPolicy", tables, n_steps=16, batch_size=32, n_epochs=1, seed=3, device="cpu")
        model.learn(128)
        found.append([value.numpy().tobytes() for value in model.policy.state_dict().values()])
    assert found[0] == found[1]


def test_a_state_that_lacks_something_changes_nothing() -> None:
    tables = MexicanTrainVecEnv(2)
    with pytest.raises(ValueError, match="reset"):
        tables.step(np.zeros(2, np.int64))
    tables.seed(1)
    tables.reset()
    kept = tables.get_state()
    assert {"begun", "family", "returns"} <= set(kept)
    tables.step(tables.batch.random_actions())
    now = tables.get_state()
    for name in kept:
        with pytest.raises(ValueError, match=f"state: its '{name}' does not fit"):
            tables.set_state({other: array for other, array in kept.items() if other != name})
    assert all(np.array_equal(now[name], array) for name, array in tables.get_state().items())
    tables.set_state(kept)
    assert all(np.array_equal(kept[name], array) for name, array in tables.get_state().items())

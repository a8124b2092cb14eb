"""The stable-baselines3 vector environment: the plain one's episodes, masks, and what the library expects."""

from __future__ import annotations

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
    with pytest.raises(AttributeError, match="only action_masks"):
        tables.env_method("render")
    with pytest.raises(AttributeError, match="cannot be set"):
        tables.set_attr("seat", 1)
    with pytest.warns(UserWarning, match="already wrapped"):  # infos have its entries already
        monitored = VecMonitor(tables)
    assert monitored.reset().shape == (4, tables.batch.encoding.size)


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

"""The Gymnasium vector environment equals the plain one, step by step."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from mt_env.rng import Rng, mix
from mt_env.solo import MexicanTrainEnv
from mt_env.vector import MexicanTrainVectorEnv

SETTINGS: list[dict[str, Any]] = [
    {},
    {"rules": "cover", "opponents": "planner-fast", "obs_mode": "dict", "candidates": True, "seat": 2},
    {"num_players": 2, "rules": "spruce;set=6", "obs_mode": "flat+mask", "reward": "win"},
    {"num_players": 3, "rules": "wikihow;set=6;hand_size=4", "episode": "match", "reward": "rank"},
    {"rules": "dominos_cc", "observation_dtype": "uint8", "skip_forced": False, "reward_scale": 0.02},
    {
        "num_players": 5,
        "illegal_action": "random_legal",
        "opponents": ["random", "heaviest", "random", "random"],
    },
    {"max_episode_steps": 7, "reward": "points"},
    {"num_players": 14, "obs_mode": "dict", "observation_key": "observations"},
]
N = 3


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return sorted(a) == sorted(b) and all(same(a[key], b[key]) for key in a)
    return np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype


def row(batched: Any, i: int) -> Any:
    return {key: value[i] for key, value in batched.items()} if isinstance(batched, dict) else batched[i]


def an_action(mask: np.ndarray, rng: Rng, illegal: bool) -> int:
    if illegal and rng.below(12) == 0:
        return rng.below(len(mask))
    legal = np.flatnonzero(mask)
    return int(legal[rng.below(len(legal))]) if len(legal) else 0


def check_end(info: dict[str, Any], i: int, expected: dict[str, Any]) -> None:
    for name in ("points", "rank", "win_share", "how"):
        assert info[name][i] == expected[name], name
        assert info[f"_{name}"][i]
    assert info["points_by_seat"][i].tolist() == expected["points_by_seat"].tolist()


@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_each_game_is_the_plain_environment(settings: dict[str, Any], mode: AutoresetMode) -> None:
    vector = MexicanTrainVectorEnv(N, autoreset_mode=mode, **settings)
    plain = [MexicanTrainEnv(**settings) for _ in range(N)]
    observations, info = vector.reset(seed=21)
    assert vector.observation_space.contains(observations)
    for i, env in enumerate(plain):
        observation, single = env.reset(seed=mix(21, i))
        assert same(row(observations, i), observation)
        assert same(info["action_mask"][i], single["action_mask"])
        assert info["seat"][i] == single["seat"]
    rng = Rng(5)
    over = [False] * N
    ends = 0
    for _ in range(120):
        actions = [an_action(info["action_mask"][i], rng, True) for i in range(N)]
        observations, rewards, terminations, truncations, info = vector.step(np.array(actions))
        for i, env in enumerate(plain):
            if over[i]:  # NEXT_STEP: this step was the reset
                observation, single = env.reset()
                over[i] = False
                assert rewards[i] == 0 and not terminations[i] and not truncations[i]
            else:
                observation, reward, terminated, truncated, single = env.step(actions[i])
                assert rewards[i] == pytest.approx(reward, abs=1e-12)
                assert (terminations[i], truncations[i]) == (terminated, truncated)
                if terminated or truncated:
                    ends += 1
                    if mode == AutoresetMode.SAME_STEP:
                        check_end(info["final_info"], i, single)
                        assert info["final_info"]["seat"][i] == single["seat"]
                        assert info["final_info"]["illegal_action"][i] == single["illegal_action"]
                        last = info["final_obs"][i]
                        if terminated and single["how"] != "illegal":
                            assert same(last, observation)
                        observation, single = env.reset()
                    else:
                        check_end(info, i, single)
                        over[i] = True
            finished_early = single.get("how") in ("illegal", "truncated")
            if not finished_early:
                assert same(row(observations, i), observation)
                assert same(info["action_mask"][i], single["action_mask"])
            assert info["seat"][i] == single["seat"]
            assert info["illegal_action"][i] == single["illegal_action"]
        if mode == AutoresetMode.DISABLED and any(over):
            with pytest.raises(ValueError, match="are over"):
                vector.step(np.array(actions))
            observations, info = vector.reset(options={"reset_mask": np.array(over)})
            for i, env in enumerate(plain):
                if over[i]:
                    observation, single = env.reset()
                    assert same(row(observations, i), observation)
                    assert info["seat"][i] == single["seat"]
            over = [False] * N
    assert ends > 0
    vector.close()


def test_make_vec_finds_it() -> None:
    vector = gymnasium.make_vec("mt_env:MexicanTrain-v0", num_envs=3, opponents="heaviest")
    assert isinstance(vector.unwrapped, MexicanTrainVectorEnv)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    assert vector.unwrapped.autoreset_mode == AutoresetMode.NEXT_STEP
    observations, info = vector.reset(seed=1)
    assert observations.shape == vector.observation_space.shape
    assert info["action_mask"].shape == (3, vector.single_action_space.n)
    recorded = gymnasium.wrappers.vector.RecordEpisodeStatistics(vector)
    observations, info = recorded.reset(seed=1)
    found = 0
    for _ in range(80):
        actions = [int(np.flatnonzero(mask)[0]) if mask.any() else 0 for mask in info["action_mask"]]
        observations, _, _, _, info = recorded.step(np.array(actions))
        found += int(info.get("_episode", np.zeros(3)).sum())
    assert found > 0
    vector.close()


@pytest.mark.parametrize("mode", ["sync", None])
def test_masks_are_batched_alike(mode: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        vector = gymnasium.make_vec("mt_env:MexicanTrain-v0", num_envs=2, vectorization_mode=mode)
    _, info = vector.reset(seed=[4, 5])
    assert info["action_mask"].shape == (2, vector.single_action_space.n)
    assert info["action_mask"].dtype == np.int8
    plain = MexicanTrainEnv()
    _, single = plain.reset(seed=5)
    assert np.array_equal(info["action_mask"][1], single["action_mask"])
    vector.close()


def test_observations_are_the_callers_own_unless_told() -> None:
    own, shared = MexicanTrainVectorEnv(2), MexicanTrainVectorEnv(2, copy=False)
    first, info = own.reset(seed=1)
    kept = first.copy()
    second, *_ = own.step(info["action_mask"].argmax(1))
    assert np.array_equal(first, kept) and not np.shares_memory(first, second)
    first, info = shared.reset(seed=1)
    second, *_ = shared.step(info["action_mask"].argmax(1))
    assert first is second


def test_masks_as_a_method_and_text() -> None:
    vector = MexicanTrainVectorEnv(2, render_mode="ansi")
    _, info = vector.reset(seed=3)
    assert np.array_equal(vector.action_masks(), info["action_mask"].astype(bool))
    pictures = vector.render()
    assert pictures is not None and len(pictures) == 2 and "engine" in pictures[0]


def test_a_list_of_seeds_begins_some_families_and_goes_on_in_others() -> None:
    vector = MexicanTrainVectorEnv(2)
    vector.reset(seed=[7, 8])
    vector.reset(seed=[None, 9])
    seeds = vector.batch.episode_seed.tolist()
    assert seeds == [mix(7, 1), mix(9, 0)]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"autoreset_mode": "same_stp"}, "must be one of"),
        ({"autoreset_mode": 3}, "autoreset_mode=3"),
        ({"render_mode": "human"}, "render_mode='human'"),
        ({"opponents": lambda view, rng: 0}, "only rule bots"),
        ({"num_envs": 0}, "num_games=0"),
        ({"num_players": 1}, "num_players=1"),
    ],
)
def test_bad_arguments(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        MexicanTrainVectorEnv(**{"num_envs": 2, **options})


def test_bad_calls() -> None:
    vector = MexicanTrainVectorEnv(2, illegal_action="raise")
    with pytest.raises(ValueError, match="reset"):
        vector.step(np.zeros(2, int))
    with pytest.raises(ValueError, match="must take all games"):
        vector.reset(options={"reset_mask": np.array([True, False])})
    vector.reset(seed=1)
    with pytest.raises(ValueError, match="reset_mask of shape"):
        vector.reset(options={"reset_mask": np.array([True])})
    with pytest.raises(ValueError, match="game 0"):
        vector.step(np.array([456, 456]))
    with pytest.raises(ValueError, match="must be an action id"):
        vector.step(np.array([457, 0]))
    with pytest.raises(ValueError, match="must have 2 entries"):
        vector.reset(seed=[1])


@pytest.mark.parametrize("illegal", ["raise", "terminate", "random_legal"])
def test_nothing_is_stepped_before_the_first_reset(illegal: Any) -> None:
    tables = MexicanTrainVectorEnv(2, illegal_action=illegal)
    for step in (tables.step, tables.batch.step_solo):
        with pytest.raises(ValueError, match=r"reset\(\) first"):
            step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match=r"reset\(\) first"):
        tables.batch.step_randomly()


@pytest.mark.parametrize(
    "mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED], ids=lambda mode: mode.name
)
def test_rows_that_wait_are_left_alone_by_random_steps_and_kept(mode: AutoresetMode) -> None:
    inside, outside = (MexicanTrainVectorEnv(6, autoreset_mode=mode).batch for _ in range(2))
    for batch in (inside, outside):
        batch.reset_some(None, 5)
    waited = 0
    for _ in range(40):
        kept = inside.get_state()
        actions = inside.step_randomly().copy()
        assert np.array_equal(outside.random_actions(), actions)
        outside.step_solo(actions)
        waited += int(inside.waits.sum())
        for name in ("waits", "count", "seat", "points", "lengths", "observation"):
            assert np.array_equal(getattr(inside, name), getattr(outside, name)), name
        after = inside.get_state()
        outside.set_state(kept)
        outside.step_randomly()
        assert all(np.array_equal(after[name], array) for name, array in outside.get_state().items())
    assert waited

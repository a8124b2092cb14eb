"""What any user of the interfaces may rely on, for every number of seats, in other processes, after the end.

Each environment has its own tests of how it plays; here is only what they have in common, or what the
checkers of PettingZoo, Gymnasium and stable-baselines3 leave out or ask of one number of seats.
"""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import random
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test

from mt_env.env import env, raw_env, turn_based_parallel_env
from mt_env.solo import MexicanTrainEnv
from mt_env.vector import MexicanTrainVectorEnv

ROOT = Path(__file__).resolve().parent.parent
SEATS = range(2, 15)


def over(game: Any) -> bool:
    return all(game.terminations.values())


def random_legal(mask: np.ndarray, rng: random.Random) -> int:
    return int(rng.choice(np.flatnonzero(mask).tolist()))


# --- every number of seats --------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n", SEATS)
def test_pettingzoos_api_and_seed_tests(n: int) -> None:
    api_test(raw_env(n, skip_forced=n % 2 == 0), num_cycles=40)
    seed_test(lambda: env(n), num_cycles=20)


@pytest.mark.parametrize("n", SEATS)
def test_order_masks_and_infos_at_every_time_up_to_the_end_and_after(n: int) -> None:
    """Agents in order of seats (not of names: player_10 follows player_9), also as keys; masks of all."""
    rng = random.Random(n)
    game = env(n, skip_forced=n % 3 == 0)
    names = [f"player_{i}" for i in range(n)]
    zeros = np.zeros(game.action_space("player_0").n, np.int8)
    for episode in range(2):
        game.reset(seed=n if episode == 0 else None)
        while True:
            assert game.agents == game.possible_agents == names
            raw = game.unwrapped
            for kept in (raw.rewards, raw.terminations, raw.truncations, raw.infos, raw._cumulative_rewards):
                assert list(kept) == names
            state = raw.game_state()
            mover = None if state.is_terminal() else names[state.current_player()]
            for agent in names:
                expected = state.legal_actions_mask() if agent == mover else zeros
                assert np.array_equal(raw.observe(agent)["action_mask"], expected)
                assert np.array_equal(game.infos[agent]["action_mask"], expected)
            if mover is None:
                break
            assert game.agent_selection == mover
            game.step(random_legal(game.observe(mover)["action_mask"], rng))
        last = {agent: raw.observe(agent)["observation"].copy() for agent in names}
        results = [raw.infos[agent]["points"] for agent in names]
        for k, agent in enumerate(names):  # dead steps, in order; those who wait keep what they have
            assert game.agent_selection == agent and game.agents == names[k:]
            assert [game.infos[a]["points"] for a in game.agents] == results[k:]
            with pytest.raises(ValueError, match="only valid action is None"):
                game.step(0)
            game.step(None)
        assert game.agents == [] and not raw.infos and not raw.rewards
        for agent in names:  # TorchRL looks at everybody, always
            seen = raw.observe(agent)
            assert not seen["action_mask"].any()
            assert np.array_equal(seen["observation"], last[agent])
            assert game.observation_space(agent).contains(seen)
        assert raw.state_space.contains(raw.state())
        assert list(game.agent_iter()) == []


@pytest.mark.parametrize("n", [2, 4, 14])
def test_the_mask_is_exactly_what_step_takes(n: int) -> None:
    """Every action of the space is tried: those of the mask on copies, the others on the game itself."""
    rng = random.Random(n)
    game = raw_env(n, rules="wikihow" if n < 9 else "spruce")
    game.reset(seed=n)
    for at in range(40):
        if over(game):
            break
        mask = game.observe(game.agent_selection)["action_mask"]
        if at % 13 == 0:
            for action in range(game.game.num_actions):
                if mask[action]:
                    game.clone().step(action)
                else:
                    with pytest.raises(ValueError, match=": "):  # "3-5@M: why not"
                        game.step(action)
        game.step(random_legal(mask, rng))


@pytest.mark.parametrize("n", SEATS)
def test_gymnasiums_checkers(n: int) -> None:
    """The checker, and the passive one around a whole episode, both without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(MexicanTrainEnv(n, obs_mode=("flat", "dict", "flat+mask")[n % 3]), skip_render_check=True)
        solo = gymnasium.make("mt_env:MexicanTrain-v0", num_players=n)
        _, info = solo.reset(seed=n)
        rng, done = random.Random(n), False
        while not done:
            assert info["action_mask"].sum() > 1 or solo.unwrapped.action_masks().any()
            _, _, done, _, info = solo.step(random_legal(info["action_mask"], rng))
        assert not info["action_mask"].any() and info["points_by_seat"].shape == (n,)
        _, info = solo.reset()
        assert info["action_mask"].any() and "points" not in info


@pytest.mark.learn
@pytest.mark.parametrize("n", [2, 9, 14])
def test_stable_baselines3s_checker(n: int) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra learn")
    checker.check_env(MexicanTrainEnv(n))


@pytest.mark.parametrize("n", SEATS)
def test_a_vector_has_the_masks_and_results_of_its_seats(n: int) -> None:
    vector = MexicanTrainVectorEnv(2, num_players=n, autoreset_mode="same_step")
    observations, info = vector.reset(seed=n)
    rng, ends = random.Random(n), 0
    for _ in range(40):
        assert info["action_mask"].dtype == np.int8 and set(np.unique(info["action_mask"])) <= {0, 1}
        assert info["action_mask"].any(axis=1).all()
        assert vector.observation_space.contains(observations)
        actions = [random_legal(mask, rng) for mask in info["action_mask"]]
        observations, _, terminated, truncated, info = vector.step(np.array(actions))
        assert not truncated.any() and not info["illegal_action"].any()
        for i in np.flatnonzero(terminated):
            ends += 1
            assert len(info["final_info"]["points_by_seat"][i]) == n
            assert 1 <= info["final_info"]["rank"][i] <= n
    assert ends > 0
    vector.close()


@pytest.mark.filterwarnings("ignore")
def test_the_parallel_form_shows_the_mask_of_the_one_to_move() -> None:
    game = turn_based_parallel_env(num_players=4)
    observations, infos = game.reset(seed=1)
    rng = random.Random(1)
    for _ in range(200):
        masks = {agent: infos[agent]["action_mask"] for agent in game.possible_agents}
        for agent, mask in masks.items():
            assert np.array_equal(observations[agent]["action_mask"], mask)
        movers = [agent for agent, mask in masks.items() if mask.any()]
        assert movers == [infos["player_0"].get("active_agent", movers[0])]  # not yet told by `reset`
        actions = {agent: random_legal(mask, rng) if mask.any() else 0 for agent, mask in masks.items()}
        observations, _, terminations, _, infos = game.step(actions)
        if all(terminations.values()):
            assert not any(seen["action_mask"].any() for seen in observations.values())
            return
    pytest.fail("the round has no end")


# --- equal seeds, wherever --------------------------------------------------------------------------------


def digest(*parts: Any) -> str:
    """A hash of arrays, mappings (in their own order), numbers and texts."""
    total = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, np.ndarray) and part.dtype != object:
            total.update(str((part.dtype.str, part.shape)).encode() + part.tobytes())
        elif isinstance(part, dict):
            for key, value in part.items():
                total.update(str(key).encode())
                add(value)
        elif isinstance(part, (list, tuple, np.ndarray)):
            for value in part:
                add(value)
        else:
            total.update(repr(part).encode())

    for part in parts:
        add(part)
    return total.hexdigest()


def aec_trace() -> str:
    seen: list[Any] = []
    for n, kwargs in ((2, {"episode": "match", "rules": "spruce;set=4;hand_size=3"}), (5, {}), (14, {})):
        game = env(n, **kwargs)
        rng = random.Random(n)
        for episode in range(2):
            game.reset(seed=3 if episode == 0 else None)
            for agent in game.agent_iter():
                observation, reward, terminated, _, info = game.last()
                seen.append((agent, observation, reward, terminated, info))
                game.step(None if terminated else random_legal(info["action_mask"], rng))
    return digest(seen)


def solo_trace() -> str:
    seen: list[Any] = []
    for opponents in ("random", "planner-fast", lambda view, rng: rng.choice(view.legal_actions)):
        solo = MexicanTrainEnv(3, opponents=opponents, illegal_action="random_legal")
        rng = random.Random(3)
        for episode in range(2):
            seen.append(solo.reset(seed=5 if episode == 0 else None))
            done = False
            while not done:
                seen.append(solo.step(rng.randrange(int(solo.action_space.n))))
                done = seen[-1][2]
    return digest(seen)


def vector_trace(vector: MexicanTrainVectorEnv | None = None, steps: int = 60) -> str:
    if vector is None:
        vector = MexicanTrainVectorEnv(4, num_players=3, opponents="planner-fast", obs_mode="dict")
        vector.reset(seed=9)
    rng, seen = random.Random(9), []
    masks = vector.action_masks()
    for _ in range(steps):
        actions = [random_legal(mask, rng) if mask.any() else 0 for mask in masks]
        seen.append(vector.step(np.array(actions)))
        masks = seen[-1][4]["action_mask"]
    return digest(seen)


TRACES: dict[str, Callable[[], str]] = {"aec": aec_trace, "solo": solo_trace, "vector": vector_trace}


def test_the_same_process_again() -> None:
    for name, trace in TRACES.items():
        assert trace() == trace(), name


@pytest.mark.slow
def test_other_processes_with_other_hash_seeds() -> None:
    """All that AEC, Gymnasium and vector environments return, infos and their order included."""
    code = "import test_conformance as t; print(*(trace() for trace in t.TRACES.values()))"
    here = [trace() for trace in TRACES.values()]
    for hash_seed in ("0", "4242"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"tests{os.pathsep}."},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout.split() == here, done.stderr


# --- copies of a vector -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_a_vector_go_on_alike_and_apart(make_copy: Callable[[Any], Any]) -> None:
    vector = MexicanTrainVectorEnv(3, opponents="heaviest", obs_mode="dict", candidates=True)
    vector.reset(seed=2)
    vector_trace(vector, 25)
    twin, third = make_copy(vector), make_copy(vector)
    expected = vector_trace(vector, 40)
    assert vector_trace(twin, 40) == expected
    vector.reset(seed=3)
    assert vector_trace(third, 40) == expected

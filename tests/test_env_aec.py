from __future__ import annotations

import copy
import os
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, performance_benchmark, render_test, seed_test

from mt_env.candidates import CandidateWriter
from mt_env.env import ENV_ID, env, raw_env, register, turn_based_parallel_env
from mt_env.game import Game
from mt_env.rng import mix

# Arguments of environments that are worth playing through.
VARIANTS: list[dict[str, Any]] = [
    {},
    {"num_players": 2, "rules": "spruce;set=6", "episode": "match", "reward": "rank"},
    {"num_players": 14, "rules": "cover", "observation_dtype": "uint8", "reward": "win"},
    {"num_players": 5, "rules": "wikihow", "skip_forced": True, "reward": "points", "reward_scale": 0.5},
    {"num_players": 3, "rules": "dominos_cc", "engine": 9, "skip_forced": True},
    {"num_players": 6, "rules": "spruce;drawn_tile=may;open_order=any;opening_double_binds=yes"},
]


def choose(game: Any, rng: random.Random) -> int:
    return rng.choice(game.unwrapped.legal_actions())


def over(game: Any) -> bool:
    return all(game.terminations.values())


def play(game: Any, rng: random.Random, steps: int = 10**9) -> int:
    """Random legal steps, at most ``steps``, up to the end of the episode without its dead steps."""
    done = 0
    while not over(game) and done < steps:
        game.step(choose(game, rng))
        done += 1
    return done


def picture(game: Any) -> list[Any]:
    """All that can be seen of an environment, comparable."""
    raw = game.unwrapped
    seen = [raw.observe(agent) for agent in raw.possible_agents]
    return [
        [(o["observation"].tobytes(), o["action_mask"].tobytes()) for o in seen],
        raw.state().tobytes(),
        raw.agents[:],
        raw.agent_selection,
        raw.legal_actions(),
        dict(raw.rewards),
        dict(raw._cumulative_rewards),
        dict(raw.terminations),
        dict(raw.truncations),
        {
            a: {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in raw.infos[a].items()}
            for a in raw.infos
        },
        raw.history(),
        (raw.seed_value, raw.episode_index, raw.episode_seed),
    ]


# PettingZoo's own tests.


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("make", [env, raw_env])
@pytest.mark.parametrize("kwargs", VARIANTS)
def test_api(make: Any, kwargs: dict[str, Any]) -> None:
    api_test(make(**kwargs), num_cycles=300)


@pytest.mark.parametrize("kwargs", VARIANTS)
def test_seed(kwargs: dict[str, Any]) -> None:
    seed_test(lambda: env(**kwargs), num_cycles=100)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_render(capsys: pytest.CaptureFixture[str]) -> None:
    render_test(env)
    assert capsys.readouterr().out.strip()
    for mode, kind in (("ansi", str), ("human", type(None))):
        game = env(render_mode=mode)
        game.reset(seed=3)
        assert type(game.render()) is kind
    with pytest.raises(ValueError, match="render_mode='rgb_array'"):
        raw_env(render_mode="rgb_array")


@pytest.mark.slow
@pytest.mark.bench
def test_performance(capsys: pytest.CaptureFixture[str]) -> None:
    performance_benchmark(raw_env())


@pytest.mark.filterwarnings("ignore")
def test_turn_based_parallel() -> None:
    parallel_api_test(turn_based_parallel_env(num_players=3), num_cycles=200)


# What is seen.


@pytest.mark.parametrize("kwargs", VARIANTS)
def test_in_step_with_state(kwargs: dict[str, Any]) -> None:
    """Masks, observations, rewards and infos of every agent at every time are those of `State`."""
    rng = random.Random(5)
    game = raw_env(**kwargs)
    dtype = np.dtype(kwargs.get("observation_dtype", "float32"))
    for episode in range(2):
        game.reset(seed=11 if episode == 0 else None)
        state = game.game.new_initial_state(mix(11, episode))
        returns = np.zeros(game.num_agents)
        paid_since = dict.fromkeys(game.agents, 0.0)
        steps = 0
        while True:
            expected = np.zeros(game.num_agents)
            for action in game.history()[len(state.history()) :]:
                state.apply_action(action)
                expected += state.rewards()
            if steps or not game.skip_forced:
                assert list(game.rewards.values()) == pytest.approx(expected.tolist())
            returns += list(game.rewards.values())
            for agent in game.agents:
                paid_since[agent] += game.rewards[agent]
            assert game._cumulative_rewards == pytest.approx(paid_since)
            assert state.is_terminal() == over(game)
            check_everybody(game, state, dtype)
            if over(game):
                break
            if game.skip_forced:
                assert len(game.legal_actions()) > 1
            paid_since[game.agent_selection] = 0.0
            game.step(choose(game, rng))
            steps += 1
        assert returns.tolist() == pytest.approx(state.returns())
        assert game.game_state() == state
        check_final(game, state)


def check_everybody(game: raw_env, state: Any, dtype: np.dtype[Any]) -> None:
    terminal = state.is_terminal()
    mover = None if terminal else f"player_{state.current_player()}"
    if mover is not None:
        assert game.agent_selection == mover
        assert game.legal_actions() == game.legal_actions(mover) == state.legal_actions()
    for seat, agent in enumerate(game.possible_agents):
        seen = game.observe(agent)
        legal = state.legal_actions_mask() if agent == mover else np.zeros(game.game.num_actions, np.int8)
        for mask in (seen["action_mask"], game.infos[agent]["action_mask"]):
            assert mask.dtype == np.int8
            assert np.array_equal(mask, legal)
        vector = seen["observation"]
        assert vector.dtype == dtype
        floats = vector if dtype == np.float32 else vector / game.encoding.scales
        assert np.array_equal(floats, state.observation(seat))
        assert game.observation_space(agent).contains(seen)
        assert type(game.rewards[agent]) is float
        assert game.terminations[agent] is terminal
        assert game.truncations[agent] is False
        if agent != mover:
            assert game.legal_actions(agent) == []
    assert game.state_space.contains(game.state())


def check_final(game: raw_env, state: Any) -> None:
    assert game.agent_selection == "player_0"
    for seat, agent in enumerate(game.possible_agents):
        info = game.infos[agent]
        assert info["points"] == state.round_scores()[seat]
        assert info["total"] == state.totals()[seat]
        assert info["rank"] == state.ranks()[seat]
        assert info["win_share"] == state.win_shares()[seat]
        assert info["how"] == state.how
        assert info["round"] == int(state.record["round"][0])
    if game.game.reward != "points":
        assert sum(game.rewards.values()) == pytest.approx(0, abs=1e-9)
    for agent in game.possible_agents:
        assert game.agent_selection == agent
        observation, reward, terminated, truncated, info = game.last()
        assert reward == game._cumulative_rewards[agent]
        assert terminated and not truncated
        assert not observation["action_mask"].any()
        game.step(None)
    assert game.agents == []
    for agent in game.possible_agents:
        assert not game.observe(agent)["action_mask"].any()
    with pytest.raises(ValueError, match="reset"):
        game.step(None)


def test_round_infos_stay_until_the_agent_has_acted() -> None:
    rng = random.Random(2)
    game = raw_env(num_players=3, rules="spruce;set=6", episode="match")
    game.reset(seed=1)
    waiting: dict[str, dict[str, Any]] = {}
    rounds = 0
    while not over(game):
        for agent in game.agents:
            note = {k: v for k, v in game.infos[agent].items() if k != "action_mask"}
            assert note == waiting.get(agent, {})
        before = game.game_state().record["rounds_done"][0]
        waiting.pop(game.agent_selection, None)
        game.step(choose(game, rng))
        state = game.game_state()
        if state.record["rounds_done"][0] > before:
            rounds += 1
            for seat, agent in enumerate(game.agents):
                waiting[agent] = {
                    "points": state.round_scores()[seat],
                    "total": state.totals()[seat],
                    "how": state.how,
                    "round": rounds - 1,
                }
    assert rounds == 7
    assert set(game.infos["player_2"]) == {
        "action_mask",
        "points",
        "total",
        "how",
        "round",
        "rank",
        "win_share",
    }


@pytest.mark.parametrize("n", range(2, 15))
def test_every_number_of_seats(n: int) -> None:
    rng = random.Random(n)
    game = raw_env(num_players=n)
    game.reset(seed=n)
    play(game, rng)
    assert game.possible_agents == [f"player_{i}" for i in range(n)]
    assert sorted(game.infos[a]["rank"] for a in game.agents)[0] >= 1
    assert sum(game.infos[a]["win_share"] for a in game.agents) == pytest.approx(1)


def test_skipping_forced_moves_is_the_same_game() -> None:
    plain, skipping = raw_env(), raw_env(skip_forced=True)
    plain.reset(seed=4)
    skipping.reset(seed=4)
    rng = random.Random(4)
    while not over(plain):
        legal = plain.legal_actions()
        if len(legal) > 1:
            assert plain.agent_selection == skipping.agent_selection
            assert legal == skipping.legal_actions()
            action = rng.choice(legal)
            skipping.step(action)
        else:
            action = legal[0]
        plain.step(action)
    assert over(skipping)
    assert plain.history() == skipping.history()
    assert plain.infos["player_1"]["points"] == skipping.infos["player_1"]["points"]


def test_what_is_handed_out_is_the_callers_own() -> None:
    rng = random.Random(0)
    game = raw_env()
    game.reset(seed=0)
    kept = []
    for _ in range(60):
        agent = game.agent_selection
        for seen in (game.observe(agent), game.observe(agent), game.last()[0]):
            kept.append((seen["observation"], seen["observation"].copy()))
            kept.append((seen["action_mask"], seen["action_mask"].copy()))
        info, rewards = game.infos[agent], game.rewards
        kept.append((info["action_mask"], info["action_mask"].copy()))
        kept_rewards = dict(rewards)
        game.step(choose(game, rng))
        assert rewards == kept_rewards
        if over(game):
            break
    arrays = [array for array, _ in kept]
    assert all(np.array_equal(array, before) for array, before in kept)
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays[-20:]) for b in arrays[-20:][:i])
    game.reset(seed=0)
    legal = game.legal_actions()
    for mine in (
        game.observe("player_0"),
        game.observe(game.agent_selection),
        game.infos[game.agent_selection],
    ):
        for array in mine.values():
            array[:] = 1  # what a caller does to his arrays does not reach the game
    assert game.legal_actions() == legal
    assert np.flatnonzero(game.observe(game.agent_selection)["action_mask"]).tolist() == legal


# Illegal actions.


def test_illegal_action_of_raw_env_changes_nothing() -> None:
    game = raw_env()
    game.reset(seed=2)
    play(game, random.Random(2), 20)
    game.observe(game.agent_selection)
    before = picture(game)
    illegal = next(a for a in range(game.game.num_actions) if a not in game.legal_actions())
    seat = game.agent_selection[-1]
    with pytest.raises(ValueError, match=f"seat {seat}"):
        game.step(illegal)
    for wrong in (game.game.num_actions, -1, -2, 10**6):
        with pytest.raises(ValueError, match="action ids go from 0 to 456"):
            game.step(wrong)
    for wrong in (None, "draw", 1.5):
        with pytest.raises(ValueError, match="must be an action id"):
            game.step(wrong)  # type: ignore[arg-type]
    assert picture(game) == before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("look", [True, False])
def test_illegal_action_of_env_ends_the_episode_and_reset_begins_a_normal_one(look: bool) -> None:
    rng = random.Random(3)
    game, reference = env(), env()
    for episode in range(3):
        game.reset(seed=8 if episode == 0 else None)
        reference.reset(seed=8 if episode == 0 else None)
        play(reference, random.Random(episode))
        if episode == 1:  # an ordinary episode after one that ended early
            play(game, random.Random(episode))
            assert picture(game) == picture(reference)
            continue
        play(game, rng, 7)
        offender = game.agent_selection
        if look:
            game.last()
        mask = game.infos[offender]["action_mask"]
        game.step(int(np.flatnonzero(mask == 0)[0]))
        assert over(game) and all(game.truncations.values())
        left = []
        for agent in game.agent_iter():
            observation, reward, terminated, truncated, info = game.last()
            assert reward == (-1 if agent == offender else 0)
            assert terminated and truncated
            assert not observation["action_mask"].any() and not info["action_mask"].any()
            assert info["illegal_action"] is (agent == offender)
            left.append(agent)
            game.step(None)
        assert left == game.possible_agents
        assert game.agents == []
    assert game.unwrapped.episode_seed == mix(8, 2)


def test_out_of_bounds_and_order() -> None:
    game = env()
    with pytest.raises(AttributeError, match="before reset"):
        _ = game.agents
    game.reset(seed=1)
    with pytest.raises(AssertionError, match="not in action space"):
        game.step(457)
    game = raw_env()
    for call in (lambda: game.step(0), lambda: game.game_state()):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            call()
    game.reset()
    play(game, random.Random(0))
    with pytest.raises(ValueError, match="only valid action is None"):
        game.step(0)


# Seeds.


def test_seeds_across_resets() -> None:
    a, b = env(), raw_env()
    seeds = []
    for game in (a, b):
        game.reset(seed=77)
        seen = [picture(game)]
        game.reset()
        play(game, random.Random(0), 9)
        game.reset(options={"unknown": 1})
        seen.append(picture(game))
        seeds.append(seen)
        assert game.unwrapped.seed_value == 77
        assert game.unwrapped.episode_index == 2
        assert game.unwrapped.episode_seed == mix(77, 2)
        state = Game().new_initial_state(mix(77, 2))
        assert state == game.unwrapped.game_state()
        game.reset(seed=np.int64(77))  # type: ignore[arg-type]
        assert picture(game) == seen[0]
    assert seeds[0] == seeds[1]
    fresh = [raw_env(), raw_env()]
    for game in fresh:
        game.reset()
    assert fresh[0].seed_value != fresh[1].seed_value
    again = raw_env()
    again.reset(seed=fresh[0].seed_value)
    assert picture(again) == picture(fresh[0])
    for wrong in (-1, 2**64, 1.5, "1"):
        with pytest.raises(ValueError, match="seed="):
            again.reset(seed=wrong)  # type: ignore[arg-type]


def test_global_generators_are_neither_read_nor_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    game = env(skip_forced=True)
    before = (random.getstate(), np.random.get_state()[1].tolist())

    def poison(*args: object, **kwargs: object) -> None:
        raise AssertionError("a global generator was used")

    for module, names in ((random, ("random", "getrandbits", "choice", "shuffle", "randrange", "seed")),):
        for name in names:
            monkeypatch.setattr(module, name, poison)
    for name in ("rand", "randint", "random", "choice", "shuffle", "permutation", "seed", "default_rng"):
        monkeypatch.setattr(np.random, name, poison)
    for seed in (5, None):
        game.reset(seed=seed)
        play(game, rng)
        game.last()
        game.state()
    monkeypatch.undo()
    assert before == (random.getstate(), np.random.get_state()[1].tolist())


CHILD = """
import hashlib, random
from mt_env.env import raw_env
digest = hashlib.sha256()
for n in (2, 4, 9):
    game = raw_env(num_players=n)
    game.reset(seed=n)
    rng = random.Random(n)
    while not all(game.terminations.values()):
        observation = game.last()[0]
        digest.update(observation["observation"].tobytes() + observation["action_mask"].tobytes())
        game.step(rng.choice(game.legal_actions()))
    digest.update(repr([game.rewards, sorted(game.infos)]).encode())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_other_processes_play_alike() -> None:
    found = set()
    for hash_seed in ("0", "123"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", CHILD], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


# Copies.


@pytest.mark.parametrize("kwargs", VARIANTS)
def test_copies_keep_everything_and_are_independent(kwargs: dict[str, Any]) -> None:
    rng = random.Random(9)
    game = raw_env(**kwargs)
    game.reset(seed=6)
    game.reset()
    for steps in (0, 5, 30, 10**9):
        play(game, rng, steps)
        before = picture(game)
        fresh = raw_env(**kwargs)
        fresh.set_state(pickle.loads(pickle.dumps(game.get_state())))
        for twin in (copy.deepcopy(game), pickle.loads(pickle.dumps(game)), game.clone(), fresh):
            assert picture(twin) == before
            assert twin.game_state() == game.game_state()
            mine = game.clone()
            for mover in (twin, mine):
                play(mover, random.Random(steps))
                while mover.agents:
                    mover.step(None)
                mover.reset()
                play(mover, random.Random(steps), 12)
            assert picture(twin) == picture(mine)
            assert picture(game) == before
    assert not np.shares_memory(copy.deepcopy(game)._record, game._record)


def test_going_back() -> None:
    game = raw_env()
    game.reset(seed=1)
    play(game, random.Random(1), 10)
    kept, before = game.get_state(), picture(game)
    play(game, random.Random(2))
    game.reset()
    game.set_state(kept)
    assert picture(game) == before
    play(game, random.Random(3), 10)
    game.set_state(kept)
    assert picture(game) == before
    with pytest.raises(ValueError, match="another game"):
        raw_env(num_players=3).set_state(kept)


def test_wrapped_copies() -> None:
    game = env()
    game.reset(seed=1)
    play(game, random.Random(1), 25)
    for twin in (copy.deepcopy(game), pickle.loads(pickle.dumps(game))):
        assert picture(twin) == picture(game)
        assert str(twin) == str(game)
        play(twin, random.Random(0))
        assert picture(twin) != picture(game)
    space = copy.deepcopy(game).action_space("player_0")
    assert space is not game.action_space("player_0")


# The rest.


def test_spaces_are_the_same_objects() -> None:
    game = env(num_players=12)
    game.reset(seed=0)
    for agent in game.possible_agents:
        assert game.action_space(agent) is game.action_space(agent)
        assert game.observation_space(agent) is game.observation_space(agent)
    assert game.action_space("player_0") is not game.action_space("player_1")
    assert game.metadata["name"] == "mexican_train_v0"
    assert game.metadata["is_parallelizable"] is False


def test_text_of_actions() -> None:
    game = env()
    game.reset(seed=3)
    state = game.game_state()
    for action in game.legal_actions():
        text = game.action_to_string(action)
        assert text == state.action_to_string(action)
        assert game.string_to_action(text) == action
    assert game.action_to_string(0, "player_2") == "0-0@2"
    assert game.string_to_action("0-0@2", "player_3") == 3 * 91


def test_registry() -> None:
    if not hasattr(pettingzoo, "register"):
        assert register() is False
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert register() is True
    game = pettingzoo.make("aec", "mt_env/mexican_train_v0", num_players=3)
    game.reset(seed=1)
    assert len(game.agents) == 3
    assert pettingzoo.spec("aec", ENV_ID).id == ENV_ID


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"num_players": 1}, "num_players"),
        ({"episode": "game"}, "episode='game'"),
        ({"engine": 13}, "engine=13"),
        ({"engine": 3, "episode": "match"}, "engine=3 with episode='match'"),
        ({"reward": "score"}, "reward='score'"),
        ({"reward_scale": 0}, "reward_scale=0"),
        ({"observation_dtype": "float64"}, "observation_dtype='float64'"),
        ({"rules": "sprice"}, "spruce"),
    ],
)
def test_arguments_are_checked(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        env(**kwargs)


def test_candidates_are_the_legal_actions_of_the_agent_to_move() -> None:
    game = raw_env(3, "cover", candidates=True)
    api_test(env(3, "cover", candidates=True), num_cycles=60)
    game.reset(seed=4)
    writer = CandidateWriter(game.game.rules)
    steps = 0
    while game.agents and not game.terminations[game.agent_selection]:
        for agent in game.possible_agents:
            seen = game.observe(agent)
            assert game.observation_space(agent).contains(seen)
            count = int(seen["candidate_count"][0])
            legal = np.flatnonzero(seen["action_mask"]).tolist()
            assert seen["candidate_actions"][:count].tolist() == legal
            assert (seen["candidate_actions"][count:] == -1).all()
            assert not seen["candidates"][count:].any()
            if agent == game.agent_selection:
                state = game.game_state()
                again = writer.write(state.record, state.game.rules_record, np.array(legal), count)
                assert np.array_equal(again["candidates"], seen["candidates"])
                assert seen["candidates"][:count].any()
            else:
                assert count == 0
        game.step(game.legal_actions()[steps % len(game.legal_actions())])
        steps += 1
    assert steps > 20
    assert all(int(game.observe(agent)["candidate_count"][0]) == 0 for agent in game.possible_agents)

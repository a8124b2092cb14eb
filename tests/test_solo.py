"""The Gymnasium environment."""

from __future__ import annotations

import copy
import json
import os
import pickle
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
from gymnasium.wrappers import RecordEpisodeStatistics

from mt_env.bots import BotError, bot_seed, make_bot, play_episode
from mt_env.game import Game, State
from mt_env.registration import GYM_ID, register_envs
from mt_env.rewards import REWARDS
from mt_env.rng import Rng, mix
from mt_env.rules import PRESETS
from mt_env.solo import ROUND_PENALTY, MexicanTrainEnv
from mt_env.solo_play import SEAT_STREAM
from mt_env.view import View

ROOT = Path(__file__).resolve().parent.parent
register_envs()

Trace = list[tuple[Any, ...]]


class Through:
    """A rule bot behind a face of its own, so that it is called with views."""

    def __init__(self, name: str = "random") -> None:
        self.bot = make_bot(name)
        self.name = f"through-{name}"

    def act(self, view: View, rng: Rng) -> int:
        return self.bot.act(view, rng)


def first(view: View, rng: Rng) -> int:
    return view.legal_actions[0]


def flat(observation: Any) -> bytes:
    if isinstance(observation, dict):
        return b"".join(observation[key].tobytes() for key in sorted(observation))
    return bytes(observation.tobytes())


def plain(info: dict[str, Any]) -> str:
    return json.dumps(info, default=lambda array: array.tolist(), sort_keys=True)


def finish(env: MexicanTrainEnv, info: dict[str, Any], rng: Rng) -> Trace:
    """Play the episode to its end by legal actions of ``rng``; what every step returned."""
    trace: Trace = []
    while True:
        action = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
        observation, reward, terminated, truncated, info = env.step(action)
        trace.append((action, flat(observation), reward, terminated, truncated, plain(info)))
        if terminated or truncated:
            return trace


def play(env: MexicanTrainEnv, seed: int, episodes: int = 2) -> Trace:
    trace: Trace = []
    rng = Rng(seed)
    for k in range(episodes):
        observation, info = env.reset(seed=seed if k == 0 else None)
        trace.append((flat(observation), plain(info)))
        trace += finish(env, info, rng)
    return trace


def seats_of(rules: str) -> list[int]:
    return [n for n in range(2, 15) if n in PRESETS[rules].seats()]


# --- what it plays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_compiled_and_called_bots_give_equal_episodes(rules: str, episode: Any) -> None:
    """All seats that the preset deals to; a table of names, of objects, and a mixed one."""
    for n in seats_of(rules):
        text = f"{rules};rounds=2" if episode == "match" else rules
        reward, forced = REWARDS[n % 4], bool(n % 3)
        names = [("random", "heaviest", "planner-fast")[i % 3] for i in range(n - 1)]
        tables: list[Any] = [names, [Through(name) for name in names]]
        tables.append([Through(name) if i % 2 else name for i, name in enumerate(names)])
        traces = [
            play(MexicanTrainEnv(n, text, table, episode=episode, reward=reward, skip_forced=forced), n)
            for table in tables
        ]
        assert traces[0] == traces[1] == traces[2]


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("episode", ["round", "match"])
@pytest.mark.parametrize("skip_forced", [False, True])
def test_an_episode_is_that_of_the_game(reward: str, episode: Any, skip_forced: bool) -> None:
    """Step by step against State: observation, mask, reward and result."""
    game = Game("spruce;rounds=3", 3, episode=episode, reward=reward, reward_scale=0.5)
    env = MexicanTrainEnv(
        3, "spruce;rounds=3", "heaviest", episode=episode, reward=reward, reward_scale=0.5,
        skip_forced=skip_forced,
    )  # fmt: skip
    bot, rng = make_bot("heaviest"), Rng(2)
    for number in range(4):
        observation, info = env.reset(seed=11 if number == 0 else None)
        seed, seat = mix(11, number), env.seat
        assert (env.episode_seed, env.episode_index, env.base_seed) == (seed, number, 11)
        assert seat == Rng(mix(seed, SEAT_STREAM)).below(3) == info["seat"]
        state = game.new_initial_state(seed)
        rngs = [Rng(bot_seed(seed, i)) for i in range(3)]
        paid = reward_now = 0.0
        steps = 0
        action: int | None = None
        terminated = False
        while True:
            if action is not None:
                state.apply_action(action)
                paid += state.rewards()[seat]
            mover = state.current_player()
            if not state.is_terminal() and mover != seat:
                action = bot.act(state.view(mover), rngs[mover])
                continue
            if skip_forced and len(state.legal_actions()) == 1:
                action = state.legal_actions()[0]
                continue
            assert observation.tobytes() == state.observation(seat).tobytes()
            mask = (
                state.legal_actions_mask()
                if not state.is_terminal()
                else np.zeros(env.action_space.n, np.int8)
            )
            assert info["action_mask"].tobytes() == mask.tobytes()
            assert env.action_masks().tolist() == mask.astype(bool).tolist()
            assert terminated == state.is_terminal()
            if steps:
                assert reward_now == paid
                paid = 0.0  # what was paid before the first decision waits for the first step
            if terminated:
                break
            steps += 1
            action = rng.choice(state.legal_actions())
            observation, reward_now, terminated, _, info = env.step(action)
        assert info["points_by_seat"].tolist() == state.totals()
        assert info["points"] == state.totals()[seat]
        assert info["rank"] == state.ranks()[seat]
        assert info["win_share"] == state.win_shares()[seat]
        assert info["how"] == state.how
        assert len(info["rounds"]) == game.rounds
        assert np.sum([one["points"] for one in info["rounds"]], axis=0).tolist() == state.totals()
        assert sum(one["moves"] for one in info["rounds"]) == len(state.history())


@pytest.mark.parametrize("opponents", ["random", Through()])
def test_rewards_sum_to_the_returns(opponents: Any) -> None:
    for reward in REWARDS:
        env = MexicanTrainEnv(3, "wikihow;rounds=3", opponents, episode="match", reward=reward)
        trace = play(env, 3, 1)
        info = json.loads(trace[-1][-1])
        points = np.array([one["points"] for one in info["rounds"]])
        seat = info["seat"]
        expected = {
            "points": -points[:, seat].sum(),
            "zero_sum": ((points.sum(1) - points[:, seat]) / 2 - points[:, seat]).sum(),
            "win": info["win_share"] - 1 / 3,
            "rank": 1 - 2 * (info["rank"] - 1) / 2,
        }[reward]
        assert sum(step[2] for step in trace[1:]) == pytest.approx(expected)


def test_all_seats_by_rule_bots_are_the_arenas_episode() -> None:
    """A learner that plays as the rule bot would have in its seat."""
    env = MexicanTrainEnv(4, opponents="heaviest", seat=2)
    bot, game = make_bot("heaviest"), Game()
    for seed in range(5):
        _, info = env.reset(options={"episode_seed": seed})
        state = play_episode(game, "heaviest", seed)
        replayed = game.new_initial_state(seed)
        terminated = False
        actions = iter(state.history())
        while not terminated:
            while not (replayed.current_player() == 2 and len(replayed.legal_actions()) > 1):
                replayed.apply_action(next(actions))
            choice = bot.act(replayed.view(2), Rng(0))
            assert info["action_mask"].tolist() == replayed.legal_actions_mask().tolist()
            _, _, terminated, _, info = env.step(choice)
            replayed.apply_action(next(actions))
        assert info["points_by_seat"].tolist() == state.totals()


def test_opponents_sit_clockwise_from_the_learner() -> None:
    seen: dict[str, set[int]] = {"a": set(), "b": set(), "c": set()}

    def watcher(name: str) -> Callable[[View, Rng], int]:
        def act(view: View, rng: Rng) -> int:
            seen[name].add(view.seat)
            return view.legal_actions[0]

        return act

    env = MexicanTrainEnv(4, opponents=[watcher("a"), watcher("b"), watcher("c")], seat=3)
    play(env, 1)
    assert seen == {"a": {0}, "b": {1}, "c": {2}}


def test_a_bot_is_told_of_each_episode_and_its_generator_is_the_seats() -> None:
    told: list[tuple[Any, ...]] = []
    draws: list[float] = []

    class Keeps:
        def reset(self, game: Game, seat: int, seed: int) -> None:
            told.append((game, seat, seed))
            self.fresh = True

        def act(self, view: View, rng: Rng) -> int:
            if self.fresh:
                draws.append(rng.random())
                self.fresh = False
            return view.legal_actions[0]

    env = MexicanTrainEnv(2, opponents=Keeps, seat=0)
    play(env, 5, 2)
    seeds = [bot_seed(mix(5, k), 1) for k in range(2)]
    assert told == [(env.game, 1, seed) for seed in seeds]
    assert draws == [Rng(seed).random() for seed in seeds]


def test_a_failing_opponent_is_named_and_the_next_episode_is_sound() -> None:
    fails = True

    def broken(view: View, rng: Rng) -> int:
        return -5 if fails else view.legal_actions[0]

    env = MexicanTrainEnv(2, opponents=broken, seat=0)
    with pytest.raises(BotError, match="bot 'broken' in seat 1: act returned -5"):
        play(env, 1)
    with pytest.raises(ValueError, match="call reset"):
        env.step(0)
    fails = False
    assert play(env, 1) == play(MexicanTrainEnv(2, opponents=first, seat=0), 1)


# --- illegal actions --------------------------------------------------------------------------------------


def an_illegal(env: MexicanTrainEnv) -> int:
    return int(np.flatnonzero(~env.action_masks())[0])


TABLES = pytest.mark.parametrize("opponents", ["random", first], ids=["compiled", "called"])


@TABLES
def test_an_illegal_action_ends_the_episode_by_default(opponents: Any) -> None:
    env = MexicanTrainEnv(4, opponents=opponents)
    expected = play(MexicanTrainEnv(4, opponents=opponents), 3, 2)
    for at in range(3):  # as the first action, and later ones
        observation, info = env.reset(seed=9)
        rng = Rng(1)
        for _ in range(at):
            action = rng.choice(np.flatnonzero(info["action_mask"]).tolist())
            observation, _, _, _, info = env.step(action)
        before = observation
        observation, reward, terminated, truncated, info = env.step(an_illegal(env))
        assert (reward, terminated, truncated) == (-ROUND_PENALTY, True, False)
        assert observation.tobytes() == before.tobytes()
        assert not info["action_mask"].any() and not env.action_masks().any()
        assert (info["illegal_action"], info["how"], info["rounds"]) == (1, "illegal", [])
        assert (info["rank"], info["win_share"]) == (4.0, 0.0)
        assert (info["points_by_seat"] > 0).all() and info["points"] == info["points_by_seat"][env.seat]
        with pytest.raises(ValueError, match="the episode is over: call reset"):
            env.step(0)
        assert play(env, 3, 2) == expected


@pytest.mark.parametrize(
    ("options", "penalty"),
    [
        ({"reward": "win"}, 1.0),
        ({"reward": "rank", "reward_scale": 3.0}, 3.0),
        ({"reward": "points", "reward_scale": 0.01}, 2.0),
        ({"episode": "match"}, 13 * ROUND_PENALTY),
        ({"illegal_penalty": 7.5, "reward_scale": 3.0}, 7.5),
        ({"illegal_penalty": 0}, 0.0),
    ],
)
def test_the_penalty(options: dict[str, Any], penalty: float) -> None:
    env = MexicanTrainEnv(**options)
    env.reset(seed=1)
    assert env.step(an_illegal(env))[1] == pytest.approx(-penalty)


@TABLES
def test_an_illegal_action_can_become_a_random_legal_one(opponents: Any) -> None:
    env = MexicanTrainEnv(4, opponents=opponents, illegal_action="random_legal")
    charged = MexicanTrainEnv(4, opponents=opponents, illegal_action="random_legal", illegal_penalty=2)
    taken = MexicanTrainEnv(4, opponents=opponents)
    for seed in range(4):
        for one in (env, charged, taken):
            one.reset(seed=seed)
        rng = Rng(bot_seed(mix(seed, 0), env.seat))  # the stream of the seat the learner has
        terminated, tried = False, 0
        while not terminated:
            legal = np.flatnonzero(env.action_masks()).tolist()
            observation, reward, terminated, _, info = env.step(an_illegal(env))
            tried += 1
            assert info["illegal_action"] == tried
            assert charged.step(an_illegal(charged))[1] == reward - 2
            same, same_reward, same_end, _, _ = taken.step(rng.choice(legal))
            assert (observation.tobytes(), reward, terminated) == (same.tobytes(), same_reward, same_end)
        assert info["how"] in ("out", "blocked")


@TABLES
def test_an_illegal_action_can_raise(opponents: Any) -> None:
    env = MexicanTrainEnv(4, opponents=opponents, illegal_action="raise", skip_forced=False)
    _, info = env.reset(seed=3)
    before = env.action_masks()
    with pytest.raises(ValueError, match=r"(does not hold|does not fit|plays on its own train only)"):
        env.step(an_illegal(env))
    with pytest.raises(ValueError, match="nobody draws in the opening chain"):
        env.step(env.game.draw_action)
    assert env.action_masks().tolist() == before.tolist()
    finish(env, info, Rng(1))  # nothing has happened


@pytest.mark.parametrize("action", [-1, 457, 1.0, None, "pass", np.array([1, 2])])
def test_what_is_no_action_id_always_raises(action: Any) -> None:
    env = MexicanTrainEnv()
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="must be an action id, a whole number from 0 to 456"):
        env.step(action)


@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint16, np.array])
def test_kinds_of_action_ids(kind: Callable[[int], Any]) -> None:
    env = MexicanTrainEnv(2, "spruce;set=6")
    _, info = env.reset(seed=1)
    env.step(kind(int(np.flatnonzero(info["action_mask"])[0])))


# --- episodes without a decision --------------------------------------------------------------------------

TINY = "wikihow;set=2;hand_size=2"
"""Two tiles each, two in the boneyard: many rounds are over before the learner has a choice."""


@TABLES
@pytest.mark.parametrize("mode", ["terminate", "random_legal", "raise"])
def test_an_episode_without_a_decision_has_one_formal_step(opponents: Any, mode: str) -> None:
    env = MexicanTrainEnv(2, TINY, opponents, illegal_action=mode)
    formal = 0
    for seed in range(15):
        observation, info = env.reset(seed=seed)
        assert info["action_mask"].any() and "points" not in info
        if not (observation[env.encoding.slices["turn"]] == 0).all():
            continue
        formal += 1
        assert np.flatnonzero(info["action_mask"]).tolist() == [env.game.pass_action]
        assert env.action_masks().sum() == 1
        if mode == "raise":
            with pytest.raises(ValueError, match="before the learner's first decision"):
                env.step(0)
        action = 0 if mode == "random_legal" else env.game.pass_action
        after, reward, terminated, _, info = env.step(action)
        assert terminated and not info["action_mask"].any()
        assert after.tobytes() == observation.tobytes()
        points = info["points_by_seat"]
        assert reward == points[1 - env.seat] - points[env.seat]
        assert len(info["rounds"]) == 1
        env.reset(seed=seed)
        if mode == "terminate":
            after, punished, terminated, _, info = env.step(0)
            assert terminated and punished == reward - ROUND_PENALTY and info["how"] == "illegal"
    assert formal > 5


def test_tiny_games_of_all_kinds_run() -> None:
    for n, tiny in ((2, 2), (3, 3)):
        for rules in (
            f"cover;set={tiny};hand_size=2",
            "spruce;set=3;hand_size=2",
            "dominos_cc;set=3;hand_size=2;rounds=2",
        ):
            for episode in ("round", "match"):
                traces = [
                    play(MexicanTrainEnv(n, rules, opponents, episode=episode), 1, 8)  # type: ignore[arg-type]
                    for opponents in ("random", Through)
                ]
                assert traces[0] == traces[1]


# --- seeds ------------------------------------------------------------------------------------------------


def test_equal_seeds_give_equal_episodes() -> None:
    env = MexicanTrainEnv()
    trace = play(env, 5, 3)
    assert play(env, 5, 3) == trace == play(MexicanTrainEnv(), 5, 3)
    assert play(env, 6, 3) != trace


def test_without_a_seed_one_is_drawn_and_can_be_read() -> None:
    env = MexicanTrainEnv()
    env.reset()
    assert env.base_seed is not None and env.base_seed != MexicanTrainEnv().base_seed
    env.reset()
    assert env.episode_seed == mix(env.base_seed, 1)
    observation, _ = env.reset()
    again, _ = env.reset(options={"episode_seed": env.episode_seed})
    assert again.tobytes() == observation.tobytes()
    assert env.episode_index == 2  # a replay is not counted


@pytest.mark.parametrize("seed", [-1, 1 << 64, 1.5, True])
def test_a_bad_seed_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed="):
        MexicanTrainEnv().reset(seed=seed)
    with pytest.raises(ValueError, match="episode_seed="):
        MexicanTrainEnv().reset(options={"episode_seed": seed})


@pytest.mark.slow
def test_seeds_are_equal_across_processes() -> None:
    code = (
        "import sys, zlib; sys.path[:0] = ['tests', '.']; import test_solo as t;"
        "envs = [t.MexicanTrainEnv(3, opponents=bots) for bots in ('random', t.Through)];"
        "print([zlib.crc32(repr(t.play(env, 77)).encode()) for env in envs])"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True, text=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]  # fmt: skip
    assert outputs[0] == outputs[1] and outputs[0].startswith("[")


# --- spaces, modes, copies --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("episode", ["round", "match"])
def test_observation_modes_hold_the_same(dtype: str, episode: Any) -> None:
    envs = {
        mode: MexicanTrainEnv(3, obs_mode=mode, observation_dtype=dtype, episode=episode)
        for mode in ("flat", "dict", "flat+mask")
    }
    rng, over = Rng(1), False
    seen = {mode: env.reset(seed=4) for mode, env in envs.items()}
    while not over:
        for mode, env in envs.items():
            assert env.observation_space.contains(seen[mode][0]), mode
        vector, info = seen["flat"]
        mask = info["action_mask"]
        assert vector.dtype == dtype and mask.dtype == np.int8
        both = seen["dict"][0]
        assert list(both) == ["observation", "action_mask"] and both["action_mask"].dtype == np.int8
        assert both["observation"].tobytes() == vector.tobytes()
        assert both["action_mask"].tobytes() == mask.tobytes()
        one = seen["flat+mask"][0]
        assert one.dtype == dtype and one.shape == (vector.size + mask.size,)
        assert one.tobytes() == np.concatenate([vector, mask.astype(dtype)]).tobytes()
        action = rng.choice(np.flatnonzero(mask).tolist())
        for mode, env in envs.items():
            observation, _, over, _, info = env.step(action)
            seen[mode] = (observation, info)
        if episode == "match" and env._steps > 60:
            break


def test_the_key_of_a_dict_observation() -> None:
    env = MexicanTrainEnv(obs_mode="dict", observation_key="observations")
    observation, _ = env.reset(seed=1)
    assert set(observation) == set(env.observation_space) == {"observations", "action_mask"}


@pytest.mark.parametrize("obs_mode", ["flat", "dict", "flat+mask"])
@TABLES
def test_nothing_returned_is_used_again(obs_mode: str, opponents: Any) -> None:
    env = MexicanTrainEnv(obs_mode=obs_mode, opponents=opponents)
    observation, info = env.reset(seed=1)
    rng = Rng(1)
    arrays: list[Any] = []
    for _ in range(8):
        new = [*(observation.values() if isinstance(observation, dict) else [observation])]
        new += [info["action_mask"], env.action_masks()]
        arrays += [(array, array.copy()) for array in new]
        for array in new:
            assert not any(np.shares_memory(array, other) for other, _ in arrays if other is not array)
        observation, _, _, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"]).tolist()))
    assert all((array == kept).all() for array, kept in arrays)
    for array, _ in arrays:
        array[...] = 1  # a caller may write into what is his
    info["action_mask"][:] = 1
    assert env.step(an_illegal(env))[4]["illegal_action"] == 1


@pytest.mark.parametrize("make_copy", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@TABLES
def test_copies_go_on_alike(make_copy: Callable[[MexicanTrainEnv], MexicanTrainEnv], opponents: Any) -> None:
    env = MexicanTrainEnv(3, opponents=opponents, illegal_action="random_legal")
    assert play(make_copy(env), 3) == play(env, 3)
    _, info = env.reset(seed=8)
    _, _, _, _, info = env.step(an_illegal(env))
    twin = make_copy(env)
    ends = []
    for one in (env, twin):
        _, _, _, _, info = one.step(an_illegal(one))
        ends.append((finish(one, info, Rng(2)), play_on(one)))
    assert ends[0] == ends[1]


def play_on(env: MexicanTrainEnv) -> Trace:
    """The next episode of the family."""
    _, info = env.reset()
    return finish(env, info, Rng(3))


def test_truncation() -> None:
    env = MexicanTrainEnv(max_episode_steps=3)
    _, info = env.reset(seed=1)
    trace = finish(env, info, Rng(1))
    assert len(trace) == 3
    assert trace[-1][3:5] == (False, True)
    info = json.loads(trace[-1][-1])
    assert info["how"] == "truncated" and info["rounds"] == [] and any(info["action_mask"])
    with pytest.raises(ValueError, match="call reset"):
        env.step(0)


def test_render(capsys: pytest.CaptureFixture[str]) -> None:
    env = MexicanTrainEnv(render_mode="ansi", seat=1)
    assert env.render() is None
    env.reset(seed=1)
    text = env.render()
    assert text is not None and "seat 1 to move" in text and text.count(" hand ") == 4
    hands = [line.split("hand ")[1] for line in text.splitlines() if " hand " in line]
    assert [":" in hand for hand in hands] == [False, True, False, False]  # the others' stay hidden
    assert capsys.readouterr().out == ""
    human = MexicanTrainEnv(render_mode="human")
    _, info = human.reset(seed=1)
    human.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert human.render() is None
    assert capsys.readouterr().out.count("boneyard") == 3
    assert MexicanTrainEnv().render() is None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_players": 1}, "num_players=1"),
        ({"rules": "sprice"}, "did you mean 'spruce'"),
        ({"opponents": "planner-fats"}, "did you mean 'planner-fast'"),
        ({"opponents": ["random"]}, "opponents: 1 given; give one for all seats, or a list of 3"),
        ({"opponents": 3}, "must be a bot's name"),
        ({"seat": 4}, "seat=4: must be 'random' or a seat from 0 to 3"),
        ({"seat": "rand"}, "seat='rand'"),
        ({"episode": "game"}, "episode='game'"),
        ({"engine": 13}, "engine=13"),
        ({"reward": "money"}, "reward='money'"),
        ({"reward_scale": 0}, "reward_scale=0"),
        ({"illegal_action": "terminat"}, "did you mean 'terminate'"),
        ({"illegal_penalty": -1}, "illegal_penalty=-1"),
        ({"obs_mode": "flat_mask"}, "obs_mode='flat_mask': must be one of flat, dict, flat"),
        ({"observation_key": "action_mask"}, "observation_key='action_mask'"),
        ({"observation_dtype": "float64"}, "observation_dtype='float64'"),
        ({"max_episode_steps": 0}, "max_episode_steps=0"),
        ({"render_mode": "rgb_array"}, "render_mode='rgb_array'"),
    ],
)
def test_a_bad_argument_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        MexicanTrainEnv(**options)


# --- Gymnasium and others ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_make_finds_it_by_module_and_id() -> None:
    """In a fresh process, without an import before."""
    code = (
        "import gymnasium; env = gymnasium.make('mt_env:MexicanTrain-v0', num_players=2);"
        "print(env.spec.id, env.unwrapped.game.num_players)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [GYM_ID, "2"], done.stderr


def test_registering_twice_is_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register_envs()


@pytest.mark.parametrize("obs_mode", ["flat", "dict", "flat+mask"])
@pytest.mark.parametrize("illegal_action", ["terminate", "random_legal"])
def test_gymnasiums_checker(obs_mode: str, illegal_action: str) -> None:
    env = gymnasium.make(GYM_ID, obs_mode=obs_mode, illegal_action=illegal_action)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*human.*")
        check_env(env.unwrapped)
    env.close()


@pytest.mark.learn
@pytest.mark.parametrize("obs_mode", ["flat", "dict", "flat+mask"])
def test_stable_baselines3s_checker(obs_mode: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="stable-baselines3 is optional")
    sb3.check_env(MexicanTrainEnv(obs_mode=obs_mode, observation_dtype="float32"))


def test_wrappers_find_what_they_need() -> None:
    env = RecordEpisodeStatistics(gymnasium.make(GYM_ID, num_players=3))
    for seed in range(3):
        _, info = env.reset(seed=seed)
        total, terminated, steps = 0.0, False, 0
        while not terminated:
            assert (
                env.get_wrapper_attr("action_masks")().tolist() == info["action_mask"].astype(bool).tolist()
            )
            action = env.action_space.sample(info["action_mask"])
            _, reward, terminated, _, info = env.step(action)
            total, steps = total + float(reward), steps + 1
        assert info["episode"]["l"] == steps and info["episode"]["r"] == pytest.approx(total)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_sync_vector_env_batches_masks(mode: str) -> None:
    from gymnasium.vector import AutoresetMode

    envs = gymnasium.make_vec(
        GYM_ID, 3, vectorization_mode="sync", num_players=2,
        vector_kwargs={"autoreset_mode": AutoresetMode(mode)},
    )  # fmt: skip
    _, infos = envs.reset(seed=1)
    singles = [MexicanTrainEnv(2) for _ in range(3)]
    first_masks = [one.reset(seed=1 + i)[1]["action_mask"].tolist() for i, one in enumerate(singles)]
    assert infos["action_mask"].tolist() == first_masks
    rng, ended = Rng(1), 0
    for _ in range(60):
        masks = infos["action_mask"]
        assert masks.shape == (3, envs.single_action_space.n) and masks.dtype == np.int8
        actions = [rng.choice(np.flatnonzero(mask).tolist()) if mask.any() else 0 for mask in masks]
        _, _, terminations, _, infos = envs.step(np.array(actions))
        assert not infos["illegal_action"].any()
        for i in np.flatnonzero(terminations):
            final = infos["final_info"] if mode == "SameStep" else infos
            assert final["points"][i] == final["points_by_seat"][i][final["seat"][i]]
            ended += 1
    assert ended > 2
    envs.close()


def test_max_episode_steps_of_make() -> None:
    env = gymnasium.make(GYM_ID, max_episode_steps=2)
    _, info = env.reset(seed=1)
    for _ in range(2):
        _, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert truncated and not terminated


def test_the_learner_never_sees_hidden_tiles() -> None:
    """The observation of State, which is held to that elsewhere; here: no info, text or space tells more."""
    env = MexicanTrainEnv(4, opponents=first)
    _, info = env.reset(seed=1)
    assert set(info) == {"action_mask", "seat", "illegal_action"}
    state = env._state
    assert isinstance(state, State)
    other = state.resample_from_infostate(env.seat, Rng(3))
    twin = copy.deepcopy(env)
    twin._state = other
    twin._states[0] = other.record[0]
    out = np.empty(env.encoding.size, np.float32), np.empty(env.encoding.size, np.float32)
    env._look(out[0])
    twin._look(out[1])
    assert out[0].tobytes() == out[1].tobytes()
    env.render_mode = twin.render_mode = "ansi"
    assert env.render() == twin.render()


@TABLES
def test_candidates_are_the_legal_actions(opponents: Any) -> None:
    for rules in ("spruce", TINY):
        env = MexicanTrainEnv(2, rules, opponents, obs_mode="dict", candidates=True)
        rng = Rng(1)
        for seed in range(4):
            observation, info = env.reset(seed=seed)
            terminated = False
            while True:
                assert env.observation_space.contains(observation)
                legal = np.flatnonzero(info["action_mask"]).tolist()
                count = int(observation["candidate_count"][0])
                assert observation["candidate_actions"][:count].tolist() == legal
                assert (observation["candidate_actions"][count:] == -1).all()
                assert observation["candidates"][:count].any(1).all()
                assert not observation["candidates"][count:].any()
                if terminated:
                    break
                observation, _, terminated, _, info = env.step(rng.choice(legal))

"""The batch: row by row the single game, whatever else it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mt_env.bots import make_bot, next_action
from mt_env.candidates import NUM_FEATURES, candidate_rows
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import BOT_STREAM
from mt_env.game import Game, State
from mt_env.rng import Rng, mix
from mt_env.vector import Batch
from mt_env.vector.rows import CACHE_LINE

PRESETS = ("spruce", "wikihow", "dominos_cc", "cover")


def at_decision(state: State, kinds: list[Any], rngs: list[Rng], skip: bool, paid: np.ndarray) -> State:
    """Play bots and forced moves until the caller decides or the episode is over."""
    while not state.is_terminal():
        seat = state.current_player()
        legal = state.legal_actions()
        if kinds[seat] is None:
            if len(legal) > 1 or not skip:
                break
            state.apply_action(legal[0])
        else:
            state.apply_action(next_action(make_bot(kinds[seat]), state, rngs[seat]))
        paid += state.rewards()
    return state


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("n", "episode", "bots"),
    [(4, "round", None), (3, "match", None), (4, "round", ("planner-fast", None, "random", None))],
)
def test_a_row_is_the_single_game(preset: str, n: int, episode: Any, bots: Any, skip: bool) -> None:
    rules = f"{preset};set=6;hand_size=5" if episode == "match" else preset
    batch = Batch(
        3, rules, n, episode=episode, seed=11, skip_forced=skip, bots=bots, candidates=True, reward="rank"
    )
    kinds = list(bots or [None] * n)
    game = Game(rules, n, episode=episode, reward="rank")
    scratch = new_scratch()
    row = 1
    family = mix(11, row)
    number, pending = 0, np.zeros(n)
    state: State | None = None
    rngs: list[Rng] = []
    rng = np.random.default_rng(3)
    steps = 90 if skip else 240
    for _ in range(steps):
        if state is None:
            seed = mix(family, number)
            rngs = [Rng(mix(seed, BOT_STREAM + seat)) for seat in range(n)]
            pending = np.zeros(n)
            state = at_decision(game.new_initial_state(seed), kinds, rngs, skip, pending)
            number += 1
        assert batch.episode_seed[row] == state.seed
        legal = state.legal_actions()
        formal = not legal
        assert bool(batch.formal[row]) == formal
        legal = legal or [game.pass_action]
        count = int(batch.count[row])
        assert batch.legal[row, :count].tolist() == legal
        assert batch.mask is not None and np.flatnonzero(batch.mask[row]).tolist() == legal
        if not formal:
            seat = state.current_player()
            assert batch.seat[row] == seat
            assert batch.observation is not None
            assert np.array_equal(batch.observation[row], state.observation(seat))
            rows = np.zeros((count, NUM_FEATURES), np.float32)
            candidate_rows(state.record[0], game.rules_record[0], np.array(legal), count, rows, scratch)
            assert batch.candidates is not None
            assert np.array_equal(batch.candidates[row, :count], rows)
            assert not batch.candidates[row, count:].any()
        actions = batch.random_actions().copy()
        action = legal[int(rng.integers(len(legal)))]
        actions[row] = action
        batch.step(actions)
        paid = pending.copy()
        pending = np.zeros(n)
        if not formal:
            state.apply_action(action)
            paid += state.rewards()
            at_decision(state, kinds, rngs, skip, paid)
        assert batch.rewards[row].tolist() == pytest.approx(paid.tolist())
        assert bool(batch.ended[row]) == (formal or state.is_terminal())
        if batch.ended[row]:
            assert batch.points[row].tolist() == state.totals()
            assert batch.ranks[row].tolist() == state.ranks()
            assert batch.win_shares[row].tolist() == state.win_shares()
            state = None
    assert number > 1 or episode == "match"


def snapshot(batch: Batch) -> list[bytes]:
    arrays = (batch._states, batch._meta, batch.observation, batch.mask, batch.candidates, batch.events)
    return [array.tobytes() for array in arrays if array is not None]


def test_threads_change_nothing() -> None:
    one, two = (Batch(13, seed=5, candidates=True, events=7, num_threads=threads) for threads in (1, 3))
    for _ in range(40):
        one.step(one.random_actions())
        two.step(two.random_actions())
        assert np.array_equal(one.count, two.count)
        for row in range(13):
            most = one.count[row]
            assert np.array_equal(one.legal[row, :most], two.legal[row, :most])
    assert snapshot(one) == snapshot(two)
    two.close()
    two.step(two.random_actions())
    two.close()


def test_a_row_does_not_depend_on_the_others() -> None:
    small, large = Batch(2, "cover", seed=9), Batch(50, "cover", seed=9)
    for _ in range(60):
        small.step_randomly()
        large.step_randomly()
    assert small._states.tobytes() == large._states[:2].tobytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bots": ("heaviest", None, "random", None), "candidates": True},
        {"rules": "cover;set=6;hand_size=2", "bots": (None, "random", "random", "random")},
        {"rules": "cover;set=6;hand_size=5", "episode": "match", "skip_forced": False, "events": 5},
    ],
    ids=str,
)
def test_choosing_inside_is_choosing_outside(options: dict[str, Any]) -> None:
    inside, outside = Batch(20, seed=4, **options), Batch(20, seed=4, **options)
    formal = ended = 0
    for _ in range(300 if "episode" in options else 60):
        formal += int(inside.formal.sum())
        taken = inside.step_randomly().copy()
        assert np.array_equal(outside.random_actions(), taken)
        outside.step(taken)
        ended += int(inside.ended.sum())
        assert snapshot(inside) == snapshot(outside)
    assert ended
    assert (formal > 0) == ("hand_size=2" in options.get("rules", ""))


def test_actions_may_come_in_any_integer_array() -> None:
    first, second = Batch(6, seed=3), Batch(6, seed=3)
    plan = np.zeros((6, 2), np.int64)
    for _ in range(3):
        actions = first.random_actions().copy()
        second.random_actions()
        first.step(actions)
        plan[:, 1] = actions
        strided = plan[:, 1]
        strided.flags.writeable = False
        second.step(strided)
        assert snapshot(first) == snapshot(second)
    with pytest.raises(ValueError, match="action -544"):
        first.step(np.broadcast_to(np.int64(-544), 6))


def test_records_begin_at_cache_lines() -> None:
    batch = Batch(3, seed=1)
    for array in (batch._states, batch._meta):
        assert array.itemsize % CACHE_LINE == 0
        assert array.ctypes.data % CACHE_LINE == 0


def test_a_batch_goes_on_from_a_kept_state() -> None:
    options: dict[str, Any] = {"episode": "match", "rules": "cover;set=6;hand_size=5", "events": 12}
    options |= {"candidates": True, "observation": "uint8", "bots": ("planner-fast", None, "random", None)}
    batch = Batch(5, seed=3, **options)
    for _ in range(30):
        batch.step_randomly()
    kept = batch.get_state()
    twin = Batch(5, seed=4, num_threads=3, **options)
    twin.set_state(kept)
    assert (twin.seed, twin.moves) == (3, batch.moves)
    ended = 0
    for step in range(200):
        actions = batch.random_actions().copy()
        assert np.array_equal(actions, twin.random_actions())
        if step:
            ended += batch.ended.sum()
        for name in ("seat", "observation", "mask", "candidates", "events", "rewards", "ended", "points"):
            assert np.array_equal(getattr(batch, name), getattr(twin, name)), name
        batch.step(actions)
        twin.step(actions)
    assert ended > 5
    batch.set_state(kept)  # the first one goes back too, whatever it has played since
    assert all(np.array_equal(kept[name], array) for name, array in batch.get_state().items())
    twin.close()
    with pytest.raises(ValueError, match="state: its 'config' does not fit"):
        Batch(5, **{**options, "reward": "win"}).set_state(kept)
    before = snapshot(batch)
    for name in kept:  # one that lacks anything changes nothing
        with pytest.raises(ValueError, match=f"state: its '{name}' does not fit"):
            batch.set_state({other: array for other, array in kept.items() if other != name})
    with pytest.raises(ValueError, match="state: its 'code' does not fit"):
        batch.set_state({**kept, "code": np.array(b"0123456789abcdef")})
    assert snapshot(batch) == before


def test_outputs_that_are_not_asked_for_are_none() -> None:
    batch = Batch(2, observation=None, mask=False)
    assert batch.observation is batch.mask is batch.candidates is batch.events is None
    batch.step_randomly()


def test_uint8_is_the_float_vector() -> None:
    floats, counts = Batch(6, "wikihow", 5, seed=2), Batch(6, "wikihow", 5, seed=2, observation="uint8")
    for _ in range(50):
        floats.step_randomly()
        counts.step_randomly()
        assert counts.observation is not None
        assert np.array_equal(
            (counts.observation / floats.encoding.scales).astype(np.float32), floats.observation
        )


def test_random_actions_are_even() -> None:
    batch = Batch(1, "cover;set=6;hand_size=5", 2, seed=1, skip_forced=False)
    seen: dict[int, np.ndarray] = {}
    for _ in range(6000):
        count = int(batch.count[0])
        place = batch.legal[0, :count].tolist().index(int(batch.random_actions()[0]))
        seen.setdefault(count, np.zeros(count))[place] += 1
        batch.step_randomly()
    for count, hits in seen.items():
        if hits.sum() > 300:
            expected = hits.sum() / count
            assert ((hits - expected) ** 2 / expected).sum() < 30


def test_weights_choose() -> None:
    batch = Batch(64, "cover", seed=3)
    weights = np.zeros((64, batch.legal.shape[1]), np.float32)
    for _ in range(20):
        last = batch.count - 1
        weights[:] = 0
        weights[np.arange(64), last] = 0.5
        assert np.array_equal(batch.weighted_actions(weights), batch.legal[np.arange(64), last])
        batch.step(batch.random_actions())
    batch = Batch(4000, "cover", seed=3)
    weights = np.tile(np.array([1.0, 3.0] + [0.0] * (batch.legal.shape[1] - 2)), (4000, 1))
    chosen = batch.weighted_actions(weights) == batch.legal[:, 1]
    assert 0.72 < chosen[batch.count > 1].mean() < 0.78


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf")])
def test_weights_are_checked(bad: float) -> None:
    batch = Batch(3, seed=1)
    weights = np.ones((3, batch.legal.shape[1]))
    weights[2] = bad
    with pytest.raises(ValueError, match="weights of game 2"):
        batch.weighted_actions(weights)
    with pytest.raises(ValueError, match="weights of shape"):
        batch.weighted_actions(np.ones((2, 100)))


def test_an_illegal_action_is_refused_and_nothing_happens() -> None:
    batch = Batch(5, "cover", seed=8)
    actions = batch.random_actions().copy()
    before = snapshot(batch)
    actions[3] = batch.game.draw_action
    with pytest.raises(ValueError, match="game 3: draw"):
        batch.step(actions)
    assert snapshot(batch) == before
    with pytest.raises(ValueError, match="actions of shape"):
        batch.step([0])
    with pytest.raises(ValueError, match="type float64"):
        batch.step(np.zeros(5))


def test_events_tell_the_public_story() -> None:
    batch = Batch(1, "spruce", seed=6, events=400, skip_forced=True)
    game = Game("spruce")
    state = game.new_initial_state(mix(mix(6, 0), 0))
    while len(state.legal_actions()) == 1:
        state.apply_action(state.legal_actions()[0])
    for _ in range(25):
        action = int(batch.random_actions()[0])
        batch.step(batch.random_actions() * 0 + action)
        if batch.ended[0]:
            break
        state.apply_action(action)
        while len(state.legal_actions()) == 1:
            state.apply_action(state.legal_actions()[0])
        me, n = state.current_player(), 4
        names = {"play": 1, "draw": 2, "pass": 3, "stop": 4}
        expected = [
            [
                names[event.kind],
                (event.seat - me) % n,
                event.tile if event.kind == "play" else -1,
                -1 if event.kind != "play" else event.train if event.train == n else (event.train - me) % n,
            ]
            for event in state.log
            if event.kind in names
        ]
        assert batch.events is not None
        shown = batch.events[0][batch.events[0][:, 0] > 0].tolist()
        assert shown[0][0] == 5  # the deal
        assert shown[1:] == expected


def test_memory_and_moves_are_told() -> None:
    batch = Batch(10, seed=1, skip_forced=False)
    batch.step_randomly()
    assert batch.moves == 10
    assert batch.nbytes > 10 * 1088
    assert batch.state(3).current_player() == batch.seat[3]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_games": 1.5}, "num_games=1.5"),
        ({"events": -1}, "events=-1"),
        ({"num_threads": 0}, "num_threads=0"),
        ({"observation": "float16"}, "float16"),
        ({"bots": ["random"]}, "must be 4 entries"),
        ({"bots": ["random"] * 4}, "one seat must be None"),
        ({"bots": ["rndom", None, None, None]}, "did you mean 'random'"),
        ({"seed": -1}, "seed=-1"),
        ({"reward": "money"}, "reward='money'"),
    ],
)
def test_bad_arguments(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Batch(**{"num_games": 2, **options})

"""What holds of every game: any rules, any seats, any way of playing.

``MT_ENV_HYPOTHESIS=thorough`` draws many more games, and others on every run.
"""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from strategies import SEEDS, Stop, Walk, games, stops, walks

from mt_env import Game, State, parse_position, raw_env
from mt_env.candidates import max_candidates
from mt_env.core.state import MAX_LEGAL
from mt_env.events import BLOCKED, DRAW, ENGINE, HUNT, MOVES, OUT, PASS, PLAY, Event
from mt_env.invariants import invariants
from mt_env.observation import encode
from mt_env.rewards import episode_rewards, round_rewards
from mt_env.rng import mix
from mt_env.solo import MexicanTrainEnv
from mt_env.tiles import HIGH, PIPS, tile_values
from mt_env.view import View, tiles_in


class Table:
    """The table as somebody draws it who only hears the public log."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.hunted: list[int] = []
        self.trains: list[list[int]] = []
        """The values along each train: the engine's, then the far end of each tile."""

    def hear(self, event: Event) -> None:
        game, n = self.game, self.game.num_players
        if event.kind == HUNT:
            self.hunted.append(event.seat)
        elif event.kind == ENGINE:
            self.engine = HIGH[event.tile]
            self.trains = [[self.engine] for _ in range(n + 1)]
            self.tiles = [event.tile]
            self.markers = [0] * n
            self.sizes = [game.rules.hand_size] * n
            self.boneyard = game.rules.boneyard_size - len(self.hunted)
            for seat in self.hunted:
                self.sizes[seat] += 1
            if game.rules.engine_from == "dealt":
                self.sizes[event.seat] -= 1
            self.hunted = []
        elif event.kind == PLAY:
            low, high = tile_values(event.tile)
            row = self.trains[event.train]
            assert row[-1] in (low, high), f"{low}-{high} laid on {row}"
            row.append(low + high - row[-1])
            assert event.tile not in self.tiles
            self.tiles.append(event.tile)
            self.sizes[event.seat] -= 1
            if event.train == event.seat:
                self.markers[event.seat] = 0
        elif event.kind == DRAW:
            self.sizes[event.seat] += 1
            self.boneyard -= 1
        elif event.kind == PASS:
            self.markers[event.seat] = 1

    def check(self, state: State) -> None:
        s, n = state.record[0], self.game.num_players
        assert s["engine"] == self.engine
        assert s["ends"][: n + 1].tolist() == [row[-1] for row in self.trains]
        assert s["lengths"][: n + 1].tolist() == [len(row) - 1 for row in self.trains]
        assert tiles_in(s["table"]) == sorted(self.tiles)
        assert s["markers"][:n].tolist() == self.markers
        assert s["hand_sizes"][:n].tolist() == self.sizes
        assert s["boneyard_size"] == self.boneyard


@given(walks())
def test_tiles_are_conserved_and_trains_match(walk: Walk) -> None:
    state, table, heard = walk.start(), Table(walk.game), 0

    def check() -> None:
        nonlocal heard
        for event in state.log[heard:]:
            table.hear(event)
        heard = len(state.log)
        table.check(state)
        tiles = [tile for seat in range(walk.game.num_players) for tile in state.hand(seat)]
        tiles += state.boneyard() + tiles_in(state.record["table"][0])
        assert sorted(tiles) == list(range(walk.game.num_tiles))
        if len(state.history()) % 4 == 0 or state.is_terminal():
            assert invariants(state) == []

    for _ in walk.moves(state):
        check()
    check()


def record_and_story(state: State) -> tuple[object, ...]:
    return state.record.tobytes(), len(state.log), state.history(), state.returns()


@given(walks())
def test_legal_actions(walk: Walk) -> None:
    game, rng = walk.game, random.Random(walk.choices)
    state = walk.start()
    ids = range(-2, game.num_actions + 3)
    for _ in walk.moves(state):
        legal = state.legal_actions()
        assert legal and legal == sorted(set(legal))
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == legal
        assert len(legal) <= max_candidates(game.rules) <= MAX_LEGAL
        now = record_and_story(state)
        for action in rng.sample(ids, 3):
            if action not in legal:
                with pytest.raises(ValueError, match=r".+"):
                    state.apply_action(action)
        if rng.random() < 0.05:
            for action in legal:
                text = state.action_to_string(action)
                assert state.string_to_action(text) == action
                after = state.child(action)
                assert after.history()[-1] == action and record_and_story(after) != now
        assert record_and_story(state) == now
    assert state.legal_actions() == [] and not state.legal_actions_mask().any()
    with pytest.raises(ValueError, match="over"):
        state.apply_action(game.pass_action)


def play_out(state: State, walk: Walk, salt: int) -> State:
    choose = walk.chooser(salt)
    while not state.is_terminal():
        state.apply_action(choose(state))
    return state


@pytest.mark.slow
@given(stops())
def test_copies_are_independent_and_go_on_alike(stop: Stop) -> None:
    walk, state = stop
    data = state.to_bytes()
    one, two, three = state.clone(), copy.copy(state), copy.deepcopy(state)
    assert one == two == three == state
    play_out(one, walk, 1)
    play_out(two, walk, 2)
    assert state.to_bytes() == data == three.to_bytes()
    assert play_out(three, walk, 1).to_bytes() == one.to_bytes()
    assert play_out(state, walk, 2).to_bytes() == two.to_bytes()


@pytest.mark.slow
@given(stops())
def test_bytes_and_pickle_keep_everything(stop: Stop) -> None:
    walk, state = stop
    data = state.to_bytes()
    for other in (State.from_bytes(data), pickle.loads(pickle.dumps(state))):
        assert other == state and other.to_bytes() == data
        assert (other.returns(), other.rewards()) == (state.returns(), state.rewards())
        assert other.legal_actions() == state.legal_actions()
        assert str(other) == str(state)
    play_out(other, walk, 3)
    assert other.to_bytes() == play_out(state, walk, 3).to_bytes()


@pytest.mark.slow
@given(stops(over=False))
def test_a_line_keeps_legality_play_and_scoring_of_its_round(stop: Stop) -> None:
    walk, state = stop
    line = state.to_position()
    note(line)
    other = parse_position(line)
    assert other.to_position() == line and invariants(other) == []
    rounds, choose = int(state.record["rounds_done"][0]), walk.chooser(4)
    while not other.is_terminal():
        assert int(state.record["rounds_done"][0]) == rounds
        assert other.current_player() == state.current_player()
        assert other.legal_actions() == state.legal_actions()
        action = choose(other)
        assert other.action_to_string(action) == state.action_to_string(action)
        other.apply_action(action)
        state.apply_action(action)
    assert int(state.record["rounds_done"][0]) == rounds + 1
    assert (other.how, other.round_scores()) == (state.how, state.round_scores())
    assert other.totals() == state.totals()
    assert State.from_bytes(other.to_bytes()) == other


@given(walks())
def test_a_game_is_rules_seats_seed_and_actions(walk: Walk) -> None:
    state, game = walk.start(), walk.game
    half = b""
    for _ in walk.moves(state):
        if len(state.history()) == 30:
            half = state.to_bytes()
    again: Any = Game(
        game.rules.rules.to_text(),
        game.num_players,
        episode=game.episode,
        engine=game.engine,
        reward=game.reward,
        reward_scale=game.reward_scale,
    )
    replay = again.new_initial_state(state.seed)
    for k, action in enumerate(state.history()):
        if k == 30:
            assert replay.to_bytes() == half
        replay.apply_action(action)
    assert replay.to_bytes() == state.to_bytes()


_BY_SEAT = (
    "hands", "hand_sizes", "markers", "unable", "totals", "points", "best_round", "zero_rounds", "ends",
    "lengths",
)  # fmt: skip


def rotated(record: Any, k: int) -> Any:
    """The record after everybody has moved ``k`` seats on."""
    out = record.copy()
    s, n = out[0], int(record["num_players"][0])
    for name in _BY_SEAT:  # of trains the first n belong to the seats
        s[name][:n] = np.roll(record[name][0, :n], k, axis=0)
    for name in ("turn", "leader"):
        s[name] = (int(s[name]) + k) % n
    for name in ("open", "owed"):
        for i in range(int(s[f"num_{name}"])):
            train = int(s[f"{name}_trains"][i])
            s[f"{name}_trains"][i] = train if train == n else (train + k) % n
    return out


@given(walks("round"), st.integers(1, 13))
def test_rotating_the_seats_rotates_the_results(walk: Walk, k: int) -> None:
    state, n = walk.start(), walk.game.num_players
    k = 1 + k % (n - 1) if n > 2 else 1
    other = State(walk.game, rotated(state.record, k))
    other.begin_round()
    for action in walk.moves(state):
        assert other.legal_actions() == state.legal_actions()
        other.apply_action(action)
    assert other.record.tobytes() == rotated(state.record, k).tobytes()
    for read in (State.round_scores, State.returns, State.ranks, State.win_shares):
        assert read(other) == np.roll(read(state), k).tolist()


@given(walks())
def test_rewards_limits_and_the_end(walk: Walk) -> None:
    state, game = walk.start(), walk.game
    n, scale, rewards = game.num_players, game.reward_scale, []
    for _ in walk.moves(state):
        rewards.append(state.rewards())
    rewards.append(state.rewards())
    assert len(state.history()) <= game.max_game_length
    ends = [event for event in state.log if event.kind in (OUT, BLOCKED)]
    assert len(ends) == game.rounds and state.log[-1] == ends[-1]
    assert np.sum(rewards, axis=0) == pytest.approx(state.returns())
    assert np.sum([event.points for event in ends], axis=0).tolist() == state.totals()
    assert sum(any(pay) for pay in rewards) <= game.rounds
    for pay in rewards:
        if game.reward != "points":
            assert sum(pay) == pytest.approx(0, abs=1e-9 * scale)
    if game.reward == "points":
        assert state.returns() == pytest.approx([-scale * total for total in state.totals()])
    formula = sum(round_rewards(game.reward, event.points) for event in ends)
    formula = (formula + episode_rewards(game.reward, state.ranks(), state.win_shares())) * scale
    assert state.returns() == pytest.approx(formula.tolist())
    assert all(game.min_utility - 1e-9 <= value <= game.max_utility + 1e-9 for value in state.returns())
    assert sum(state.win_shares()) == pytest.approx(1)
    assert sum(state.ranks()) == pytest.approx(n * (n + 1) / 2)
    blank = game.rules.double_blank
    assert state.round_scores() == [
        sum(PIPS[tile] or blank for tile in state.hand(seat)) for seat in range(n)
    ]
    lowest = min(state.totals())
    assert all(state.totals()[seat] == lowest for seat in range(n) if state.win_shares()[seat])


def pick(legal: list[int]) -> int:
    """A choice that depends on the legal set alone: every face then plays the same game."""
    return legal[sum(legal) * 7919 % len(legal)]


@pytest.mark.slow
@given(games(), SEEDS, st.integers(0, 2), st.booleans())
def test_every_face_plays_the_same_game(game: Game, seed: int, index: int, small: bool) -> None:
    n = game.num_players
    episode_seed = mix(seed, index)
    state = game.new_initial_state(episode_seed)
    arguments: Any = {
        "num_players": n,
        "rules": game.rules.rules,
        "episode": game.episode,
        "engine": game.engine,
        "reward": game.reward,
        "reward_scale": game.reward_scale,
        "observation_dtype": "uint8" if small else "float32",
    }
    tables = [raw_env(**arguments, skip_forced=skip) for skip in (False, True)]
    for table in tables:
        table.reset(seed=seed)
        for _ in range(index):
            table.reset()
    returns = np.array([list(table.rewards.values()) for table in tables])
    while not state.is_terminal():
        legal, seat = state.legal_actions(), state.current_player()
        seen = np.zeros(game.encoding.size, np.uint8) if small else state.observation(seat)
        if small:
            encode(state.record[0], game.rules_record[0], seat, seen)
        for i, table in enumerate(tables):
            if i and len(legal) == 1:
                continue
            assert table.agent_selection == f"player_{seat}" and table.legal_actions() == legal
            there = table.observe(table.agent_selection)
            assert there["observation"].tobytes() == seen.tobytes()
            assert np.flatnonzero(there["action_mask"]).tolist() == legal
            table.step(pick(legal))
            returns[i] += list(table.rewards.values())
        state.apply_action(pick(legal))
    for i, table in enumerate(tables):
        assert table.game_state() == state and table.episode_seed == episode_seed
        assert all(table.terminations.values())
        assert returns[i] == pytest.approx(state.returns())
        for seat, agent in enumerate(table.possible_agents):
            info = table.infos[agent]
            assert (info["total"], info["rank"]) == (state.totals()[seat], state.ranks()[seat])

    def bot(view: View, rng: object) -> int:
        return pick(view.legal_actions)

    for skip in (False, True):
        learner = MexicanTrainEnv(opponents=bot, skip_forced=skip, **arguments)
        _, info = learner.reset(seed=seed)
        for _ in range(index):
            _, info = learner.reset()
        assert learner.episode_seed == episode_seed
        total, over = 0.0, False
        while not over:
            _, reward, over, _, info = learner.step(pick(np.flatnonzero(info["action_mask"]).tolist()))
            total += reward
        assert total == pytest.approx(state.returns()[learner.seat])
        assert info["points_by_seat"].tolist() == state.totals()
        assert (info["how"], info["rank"]) == (state.how, state.ranks()[learner.seat])
        assert [part["moves"] for part in info["rounds"]] == moves_by_round(state)
        assert [part["engine"] for part in info["rounds"]] == engines(state)


def moves_by_round(state: State) -> list[int]:
    counts: list[int] = []
    for event in state.log:
        if event.kind == ENGINE:
            counts.append(0)
        counts[-1:] = [counts[-1] + (event.kind in MOVES)] if counts else []
    return counts


def engines(state: State) -> list[int]:
    return [HIGH[event.tile] for event in state.log if event.kind == ENGINE]

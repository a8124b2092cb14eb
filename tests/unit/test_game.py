from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from short_games import PLAIN, changed, play, random_game

from mt_env.actions import Action, absolute_train, decode, num_actions, play_action, relative_train
from mt_env.events import KINDS, MOVES
from mt_env.explain import why_illegal
from mt_env.game import TERMINAL, Game, State
from mt_env.invariants import invariants
from mt_env.notation import parse_position
from mt_env.rewards import REWARDS
from mt_env.rules import PRESETS, Rules
from mt_env.tiles import string_to_tile

# ---- Game --------------------------------------------------------------------------------------------------


def test_defaults() -> None:
    game = Game()
    assert (game.num_players, game.episode, game.engine, game.reward) == (4, "round", "random", "zero_sum")
    assert (game.num_tiles, game.num_trains, game.num_actions, game.num_distinct_actions) == (91, 5, 457, 457)
    assert (game.draw_action, game.pass_action) == (455, 456)
    assert game.rules.rules == PRESETS["spruce"]
    assert (
        repr(game)
        == "Game('spruce', 4, episode='round', engine='random', reward='zero_sum', reward_scale=1.0)"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"num_players": 1}, "num_players=1"),
        ({"num_players": 15}, "num_players=15"),
        ({"num_players": 2.0}, "num_players=2.0"),
        ({"rules": "sprce"}, "did you mean 'spruce'"),
        ({"rules": 7}, "rules=7"),
        ({"rules": "dominos_cc", "num_players": 5}, "num_players=5"),
        ({"episode": "game"}, "episode='game'"),
        ({"engine": 13}, "engine=13: a match of these rules has the engines 12 down to 0"),
        ({"engine": -1}, "engine=-1"),
        ({"engine": "high"}, "engine='high'"),
        ({"engine": True}, "engine=True"),
        ({"engine": 3.0}, "engine=3.0"),
        ({"rules": "dominos_cc", "engine": 6}, "engine=6: .* the engines 12 down to 7"),
        ({"engine": 12, "episode": "match"}, "engine=12 with episode='match'"),
        ({"reward": "winner"}, "reward='winner'"),
        ({"reward_scale": 0}, "reward_scale=0"),
        ({"reward_scale": float("nan")}, "reward_scale=nan"),
        ({"reward_scale": float("inf")}, "reward_scale=inf"),
        ({"reward_scale": True}, "reward_scale=True"),
        ({"reward_scale": "1"}, "reward_scale='1'"),
    ],
)
def test_bad_games_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Game(**arguments)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "7", True, np.float64(3)])
def test_bad_seeds_are_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed="):
        Game().new_initial_state(seed)


def test_seeds() -> None:
    game = Game()
    assert game.new_initial_state(5) == game.new_initial_state(np.int64(5))  # type: ignore[arg-type]
    assert game.new_initial_state(5) != game.new_initial_state(6)
    assert game.new_initial_state(2**64 - 1).seed == 2**64 - 1
    drawn = game.new_initial_state()
    assert game.new_initial_state(drawn.seed) == drawn != game.new_initial_state()


def test_engines() -> None:
    game = Game("dominos_cc", 3)
    engines = {int(game.new_initial_state(seed).record["engine"][0]) for seed in range(80)}
    assert engines == set(range(7, 13))
    assert int(Game(engine=3).new_initial_state(1).record["engine"][0]) == 3
    match = Game("dominos_cc", 3, episode="match").new_initial_state(1)
    assert int(match.record["engine"][0]) == 12


def test_games_compare_by_content() -> None:
    assert Game("spruce", 4) == Game(Rules(), 4) and hash(Game()) == hash(Game())
    others = [
        Game(num_players=3),
        Game(episode="match"),
        Game(engine=12),
        Game(reward="win"),
        Game(reward_scale=2),
    ]
    for other in others:
        assert other != Game()
    assert pickle.loads(pickle.dumps(Game(engine=5))) == Game(engine=5)
    assert Game() != "spruce"


# ---- Playing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
def test_random_play(seed: int) -> None:
    game = random_game(seed)
    rng = random.Random(seed)
    state = game.new_initial_state(seed)
    total = np.zeros(game.num_players)
    rounds = moves = 0
    while not state.is_terminal():
        legal = state.legal_actions()
        assert legal == sorted(set(legal)) and legal
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == legal
        assert state.legal_actions_mask().dtype == np.int8
        assert 0 <= state.current_player() < game.num_players
        texts = [state.action_to_string(a) for a in legal]
        assert [state.string_to_action(text) for text in texts] == legal
        if rng.random() < 0.05:
            assert not invariants(state)
        state.apply_action(rng.choice(legal))
        moves += 1
        ended = any(state.rewards())
        total += state.rewards()
        if state.is_terminal() or state.record["moves"][0] == 0:
            rounds += 1
            assert state.how in ("out", "blocked")
        else:
            assert not ended
    assert not invariants(state)
    assert rounds == game.rounds
    assert moves == len(state.history()) <= game.max_game_length
    assert state.current_player() == TERMINAL == -4
    assert state.legal_actions() == [] and not state.legal_actions_mask().any()
    assert np.allclose(total, state.returns())
    assert all(game.min_utility <= value <= game.max_utility for value in state.returns())
    if game.reward != "points":
        assert abs(sum(state.returns())) < 1e-9
    assert sum(state.win_shares()) == pytest.approx(1) and sum(state.ranks()) == sum(
        range(1, game.num_players + 1)
    )
    again = game.new_initial_state(seed)
    for action in state.history():
        again.apply_action(action)
    assert again == state and again.to_bytes() == state.to_bytes()


@pytest.mark.parametrize(
    ("reward", "pay"),
    [
        ("points", [0, -3, -3]),
        ("zero_sum", [3, -1.5, -1.5]),
        ("win", [2 / 3, -1 / 3, -1 / 3]),
        ("rank", [1, -0.5, -0.5]),
    ],
)
def test_each_reward_at_the_end_of_a_round(reward: str, pay: list[float]) -> None:
    line = parse_position(changed(PLAIN, hands="3-7/1-2/0-3"))
    game = Game("dominos_cc", 3, engine=12, reward=reward, reward_scale=10)
    state = State(game, line.record)
    play(state, "3-7@0")
    assert state.round_scores() == [0, 3, 3]
    assert state.rewards() == pytest.approx([10 * value for value in pay])
    assert state.returns() == state.rewards()
    assert state.ranks() == [1, 2.5, 2.5] and state.win_shares() == [1, 0, 0]


def test_a_match_pays_rounds_as_they_end_or_the_standing_once() -> None:
    rng = random.Random(3)
    states = [
        Game("dominos_cc", 3, episode="match", reward=reward).new_initial_state(4) for reward in REWARDS
    ]
    paid = dict.fromkeys(REWARDS, 0)
    while not states[0].is_terminal():
        action = rng.choice(states[0].legal_actions())
        for state in states:
            state.apply_action(action)
            paid[state.game.reward] += any(state.rewards())
    assert paid == {"zero_sum": 6, "points": 6, "win": 1, "rank": 1}
    assert states[1].returns() == [-total for total in states[1].totals()]
    assert [event.points for event in states[0].log if event.points][-1] == tuple(states[0].round_scores())


def test_clones_are_independent() -> None:
    state = Game(num_players=3).new_initial_state(8)
    before = state.to_bytes()
    for make in (state.clone, lambda: copy.copy(state), lambda: copy.deepcopy(state)):
        other = make()
        assert other == state
        for _ in range(30):
            other.apply_action(other.legal_actions()[-1])
        assert other != state and state.to_bytes() == before
    child = state.child(state.legal_actions()[0])
    assert child.history() == [state.legal_actions()[0]] and state.history() == []
    with pytest.raises(TypeError):
        hash(state)


def test_lists_handed_out_are_copies() -> None:
    state = play(parse_position(PLAIN), "3-7@0")
    state.legal_actions().clear()
    state.history().clear()
    assert state.legal_actions() and state.history()


def test_terminal_values_of_a_fresh_game() -> None:
    state = Game().new_initial_state(1)
    assert (state.how, state.round_scores(), state.totals()) == (None, [0] * 4, [0] * 4)
    assert (state.returns(), state.rewards()) == ([0.0] * 4, [0.0] * 4)
    assert (state.ranks(), state.win_shares()) == ([2.5] * 4, [0.25] * 4)


# ---- Text of actions ---------------------------------------------------------------------------------------


def test_ids_and_trains() -> None:
    for n in (2, 3, 14):
        for seat in range(n):
            for train in range(n + 1):
                relative = relative_train(train, seat, n)
                assert absolute_train(relative, seat, n) == train
                assert decode(play_action(5, train, seat, n, 28), seat, n, 28) == Action("play", 5, train)
            assert relative_train(seat, seat, n) == 0 and relative_train(n, seat, n) == n
    assert num_actions(4, 91) == 457
    assert decode(455, 1, 4, 91) == Action("draw") and decode(456, 1, 4, 91) == Action("pass")


@pytest.mark.parametrize("text", ["3-7@0", "7-3@0", " 3 - 7 @ 0 ", "\t7-3 @0\n"])
def test_action_text_either_way_round_and_with_spaces(text: str) -> None:
    state = parse_position(PLAIN)
    assert state.action_to_string(state.string_to_action(text)) == "3-7@0"


def test_action_text_is_absolute() -> None:
    state = play(parse_position(PLAIN), "3-7@0")
    assert state.current_player() == 1
    assert state.string_to_action("3-4@1") == string_to_tile("3-4")
    assert state.string_to_action("3-4@0") == 2 * 91 + string_to_tile("3-4")
    assert (
        state.string_to_action("4-3@M") == state.string_to_action("3-4@m") == 3 * 91 + string_to_tile("3-4")
    )
    assert state.string_to_action(" DRAW ") == state.game.draw_action
    assert state.string_to_action("pass") == state.game.pass_action


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("3-7", "3-7@0"),
        ("", "draw or pass"),
        ("fold", "draw or pass"),
        ("3-7@3", "train '3': must be a seat from 0 to 2, or M"),
        ("3-7@", "train ''"),
        ("3-7@-1", "train '-1'"),
        ("3-7@X", "train 'X'"),
        ("3-13@0", "3-13 is not in the double-12 set"),
        ("3-19@0", "tile '3-19'"),
        ("37@0", "tile '37'"),
        ("a-b@0", "tile 'a-b'"),
        (None, "must be text"),
        (7, "must be text"),
    ],
)
def test_bad_action_text_is_refused(text: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"action .*{words}"):
        parse_position(PLAIN).string_to_action(text)


def test_no_action_text_after_the_end() -> None:
    state = play(parse_position(changed(PLAIN, hands="3-7/1-2/0-3")), "3-7@0")
    for ask in (lambda: state.string_to_action("draw"), lambda: state.action_to_string(0)):
        with pytest.raises(ValueError, match="the round is over"):
            ask()


# ---- Refusals ----------------------------------------------------------------------------------------------

BOUND = changed(PLAIN, hands="4-9,1-5/3-4,2-2/0-0", trains="5/9/9*", mexican="8", open="0,M")
CHAIN = (
    "rules=spruce seats=3 set=12 engine=12 lap=1 turn=0 hands=5-12,5-7,1-2/0-2/0-3 trains=-/-/- mexican=- "
    "open= owes=- drawn=- boneyard=0-9,0-8 passes=0"
)
WIKIHOW = (
    "rules=wikihow seats=3 set=12 engine=12 lap=2 turn=0 hands=7-12,1-4/0-2/0-3 trains=-/1*/3 mexican=4 "
    "open= owes=- drawn=- boneyard=0-8 passes=0"
)
COVER = (
    "rules=cover seats=2 set=12 engine=12 lap=3 turn=0 hands=2-8,1-5/5-9,2-9 trains=5/2 mexican=8 open= "
    "owes=0 drawn=- boneyard=0-8,0-7 passes=0"
)


@pytest.mark.parametrize(
    ("line", "before", "action", "reason"),
    [
        (PLAIN, [], "1-9@0", "1-9 does not fit seat 0's train: its end is 7"),
        (PLAIN, [], "3-7@2", "3-7 does not fit seat 2's train: its end is 9"),
        (PLAIN, [], "3-7@M", "3-7 does not fit the Mexican Train: its end is 4"),
        (PLAIN, [], "1-9@1", "seat 1's train bears no marker"),
        (PLAIN, [], "3-4@0", "seat 0 does not hold 3-4"),
        (PLAIN, [], "draw", "draw: 3-7 can be played on seat 0's train, so seat 0 may not draw"),
        (PLAIN, [], "pass", "pass: 3-7 can be played on seat 0's train, so seat 0 may not pass"),
        (changed(PLAIN, hands="1-1/3-4/0-0"), [], "pass", "must draw first: the boneyard has 2 tiles"),
        (changed(PLAIN, hands="1-1/3-4/0-0", boneyard=""), [], "draw", "draw: the boneyard is empty"),
        (changed(PLAIN, hands="1-1/3-4/0-0", boneyard="1-3,1-2"), ["draw"], "draw", "already drawn 1-3 for"),
        (changed(PLAIN, mexican="-"), [], "3-7@M", "it is not begun, so its end is the engine's 12"),
        (BOUND, [], "4-9@2", "the open double on seat 0's train must be covered first"),
        (BOUND, [], "4-9@M", "on seat 0's train must be covered first, the oldest comes first"),
        (BOUND, ["1-5@0"], "3-4@1", "the open double on the Mexican Train must be covered first"),
        (changed(BOUND, rules="dominos_cc;open_order=any"), [], "4-9@2",
         "the open double on seat 0's train or the Mexican Train must be covered first"),
        (COVER, [], "2-8@M", "the double just laid on seat 0's train must be covered first"),
        (changed(COVER, hands="2-8,1-6/5-9,2-9", drew=1), [], "draw", "has already drawn in this turn"),
        (CHAIN, [], "5-12@M", "in the opening chain .lap 1. seat 0 plays on its own train only"),
        (CHAIN, [], "5-7@0", "5-7 does not fit seat 0's train: it is not begun, so its end is"),
        (CHAIN, [], "pass", "5-12 can be played on seat 0's train, so seat 0 must lay at least one tile"),
        (CHAIN, [], "draw", "nobody draws in the opening chain"),
        (WIKIHOW, [], "1-4@1", "own train is not begun, so seat 0 plays on it or on the Mexican Train only"),
        (changed(WIKIHOW, mexican="-"), [], "7-12@M", "own train is not begun, so seat 0 plays on it only"),
        (changed(WIKIHOW, lap=1), [], "1-4@1", "in lap 1 seat 0 plays on its own train only .own_first."),
        (changed(PLAIN, rules="wikihow;own_first=no", lap=1, mexican="-"), [], "3-7@M",
         "nobody may begin the Mexican Train in lap 1"),
    ],
)  # fmt: skip
def test_illegal_actions_are_refused_with_the_reason(
    line: str, before: list[str], action: str, reason: str
) -> None:
    state = play(parse_position(line), *before)
    number = state.string_to_action(action)
    content = state.to_bytes()
    assert number not in state.legal_actions()
    with pytest.raises(ValueError, match=reason) as error:
        state.apply_action(number)
    assert str(error.value).startswith(f"{action}: ")
    assert state.to_bytes() == content


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (-1, "action -1: action ids go from 0 to 365"),
        (366, "action 366: action ids go from 0 to 365"),
        (2**70, "action ids go from 0 to 365"),
        (1.0, "action 1.0: must be an action id"),
        (np.float32(2), "must be an action id"),
        (True, "action True: must be an action id"),
        (np.bool_(True), "must be an action id"),
        ("3-7@0", "action '3-7@0': must be an action id"),
        (None, "action None: must be an action id"),
    ],
)
def test_what_is_no_action_id_is_refused(action: Any, words: str) -> None:
    state = parse_position(PLAIN)
    content = state.to_bytes()
    with pytest.raises(ValueError, match=words):
        state.apply_action(action)
    assert state.to_bytes() == content


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint16, int])
def test_integers_of_any_kind_are_action_ids(kind: Any) -> None:
    state = parse_position(PLAIN)
    state.apply_action(kind(state.string_to_action("3-7@0")))
    assert state.history() == [string_to_tile("3-7")] and type(state.history()[0]) is int


def test_nothing_is_legal_after_the_end() -> None:
    state = play(parse_position(changed(PLAIN, hands="3-7/1-2/0-3")), "3-7@0")
    with pytest.raises(ValueError, match="the round is over"):
        state.apply_action(0)
    match = Game("dominos_cc", 2, episode="match").new_initial_state(1)
    while not match.is_terminal():
        match.apply_action(match.legal_actions()[0])
    with pytest.raises(ValueError, match="the match is over"):
        match.apply_action(match.game.pass_action)


@pytest.mark.parametrize("seed", range(30))
def test_every_illegal_action_has_a_reason(seed: int) -> None:
    rng = random.Random(seed)
    game = random_game(seed, "round")
    state = game.new_initial_state(seed)
    while not state.is_terminal():
        legal = state.legal_actions()
        seat, n = state.current_player(), game.num_players
        plays = [play_action(t, rng.randrange(n + 1), seat, n, game.num_tiles) for t in state.hand(seat)]
        for action in {*plays, game.draw_action, game.pass_action} - set(legal):
            reason = why_illegal(state, action)
            assert "not among the legal actions" not in reason, state.to_position()
        state.apply_action(rng.choice(legal))


# ---- The log -----------------------------------------------------------------------------------------------


def test_the_log_of_a_short_round() -> None:
    state = parse_position(changed(PLAIN, hands="1-2/9-9,0-0/4-9", boneyard="3-3", trains="7/9/1"))
    play(state, "draw", "pass", "9-9@1", "pass", "4-9@1")
    assert [event.to_string(3) for event in state.log] == [
        "0:position", "0:draw", "0:pass", "1:9-9@1", "1:pass", "2:4-9@1", "out 9/0/0",
    ]  # fmt: skip


def test_the_log_begins_with_the_hunt_and_the_engine() -> None:
    game = Game("spruce", 3, engine=4)
    for seed in range(30):
        state = game.new_initial_state(seed)
        kinds = [event.kind for event in state.log]
        hunts = len(kinds) - 1
        assert kinds == ["hunt"] * hunts + ["engine"]
        assert state.log[-1].seat == state.current_player() and state.log[-1].tile == string_to_tile("4-4")
        sizes = [len(state.hand(seat)) for seat in range(3)]
        first = 9 - 4  # the round, R2.3
        expected = [15] * 3
        for i in range(hunts):
            assert state.log[i].seat == (first + i) % 3
            expected[(first + i) % 3] += 1
        finder = state.current_player()
        expected[finder] -= 1
        assert sizes == expected
        assert not hunts or state.log[hunts - 1].seat == finder


@pytest.mark.parametrize("seed", range(12))
def test_the_log_tells_the_game_and_nothing_hidden(seed: int) -> None:
    game = random_game(seed)
    rng = random.Random(seed)
    state = game.new_initial_state(seed)
    movers = []
    while not state.is_terminal():
        movers.append(state.current_player())
        state.apply_action(rng.choice(state.legal_actions()))
    moves = [event for event in state.log if event.kind in MOVES]
    assert [event.seat for event in moves] == movers
    assert all(event.kind in KINDS for event in state.log)
    assert all(event.tile < 0 for event in state.log if event.kind not in ("play", "engine"))
    ends = [event for event in state.log if event.points]
    assert len(ends) == game.rounds and state.log[-1] == ends[-1]
    assert np.sum([event.points for event in ends], axis=0).tolist() == state.totals()
    tables = [
        event.tile for event in state.log[max(i for i, e in enumerate(state.log) if e.kind == "engine") :]
    ]
    on_table = sorted(tile for tile in tables if tile >= 0)
    assert on_table == state.view(0).table


def test_texts() -> None:
    state = Game(num_players=2).new_initial_state(3)
    assert repr(state).startswith("<State of Game('spruce', 2") and "seed 3" in repr(state)
    assert str(state).count("seat") == 3 and "Mexican" in str(state)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert "over" in str(state) and "over" in repr(state)

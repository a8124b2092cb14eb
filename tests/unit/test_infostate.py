from __future__ import annotations

import random

import pytest
from short_games import PLAIN, changed, play, random_game

from mt_env.game import State
from mt_env.invariants import invariants
from mt_env.notation import parse_position
from mt_env.rng import Rng


def test_information_state_has_own_draws_only() -> None:
    state = parse_position(changed(PLAIN, hands="1-2/9-9,3-4/4-9"))
    play(state, "draw", "3-9@2")
    assert "draw 3-9" in state.information_state(0)
    assert "draw 3-9" not in state.information_state(1)
    assert "0:draw; 0:3-9@2" in state.information_state(1)
    assert "hands=#1/3-4,9-9/#1" in state.information_state(1)
    assert state.information_state(1).endswith("\nhand=3-4,9-9")


@pytest.mark.parametrize("seed", range(12))
def test_information_state_is_perfect_recall(seed: int) -> None:
    """A seat's text once it has seen more begins with its earlier text, the hand at the end apart."""
    game = random_game(seed)
    rng = random.Random(seed)
    state = game.new_initial_state(seed)
    earlier = ["" for _ in range(game.num_players)]
    while not state.is_terminal():
        for seat in range(game.num_players) if rng.random() < 0.05 else ():
            text = state.information_state(seat).rpartition("\nhand=")[0]
            assert text.startswith(earlier[seat])
            earlier[seat] = text
        state.apply_action(rng.choice(state.legal_actions()))


def test_information_state_tells_the_order_of_own_draws() -> None:
    texts = []
    for boneyard in ("8-11,10-11,8-10", "10-11,8-11,8-10"):
        line = changed(PLAIN, hands="1-2/0-2/0-0", trains="7/9/9", mexican="6", boneyard=boneyard)
        state = play(parse_position(line), "draw", "pass", "draw", "pass", "draw", "pass")
        texts.append([state.information_state(seat) for seat in range(3)])
    assert texts[0][0] != texts[1][0] and texts[0][1] != texts[1][1] and texts[0][2] == texts[1][2]


@pytest.mark.parametrize("seed", range(25))
def test_resampling_changes_nothing_that_the_seat_knows(seed: int) -> None:
    game = random_game(seed)
    rng = random.Random(seed)
    state = game.new_initial_state(seed)
    for _ in range(rng.randrange(120)):
        after = state.child(rng.choice(state.legal_actions()))
        if after.is_terminal():
            break
        state = after
    content = state.to_bytes()
    for seat in range(game.num_players):
        other = state.resample_from_infostate(seat, Rng(seed))
        assert not invariants(other)
        assert other.seed == 0
        assert other.information_state(seat) == state.information_state(seat)
        assert other.observation(seat).tobytes() == state.observation(seat).tobytes()
        assert other.hand(seat) == state.hand(seat) and other.log == state.log
        assert other.history() == state.history() and other.returns() == state.returns()
        if state.current_player() == seat:
            assert other.legal_actions() == state.legal_actions()
        for hidden in range(game.num_players):
            assert len(other.hand(hidden)) == len(state.hand(hidden))
            if hidden != seat:
                assert "past=unknown" in other.information_state(hidden)
        assert State.from_bytes(other.to_bytes()) == other
        assert other == state.resample_from_infostate(seat, Rng(seed))
        for _ in range(60):  # and it can be played on
            if other.is_terminal():
                break
            other.apply_action(rng.choice(other.legal_actions()))
    assert state.to_bytes() == content


def test_resampling_is_uniform_and_forgets_what_is_hidden() -> None:
    state = parse_position(changed(PLAIN, hands="3-7/1-2,0-5/0-0", boneyard="0-9"))
    counts: dict[str, int] = {}
    rng = Rng(9)
    for _ in range(2400):
        other = state.resample_from_infostate(0, rng)
        line = other.to_position()
        counts[line] = counts.get(line, 0) + 1
        assert other.start is not None and not other.start["hands"][0, 1:].any()
    assert len(counts) == 12  # 4 tiles: 6 pairs for seat 1, then 2 for seat 2
    assert all(150 <= count <= 250 for count in counts.values())


def test_resampling_while_another_seat_has_drawn() -> None:
    state = play(parse_position(changed(PLAIN, hands="1-2,1-8/0-5/0-0", trains="7/9/9")), "draw")
    drawn = set()
    for seed in range(40):
        other = state.resample_from_infostate(1, Rng(seed))
        drawn.add(int(other.record["drawn"][0]))
        assert int(other.record["drawn"][0]) in other.hand(0)
    assert len(drawn) > 2
    own = state.resample_from_infostate(0, Rng(1))
    assert own.record["drawn"][0] == state.record["drawn"][0] and own.legal_actions() == state.legal_actions()

from __future__ import annotations

import random
from typing import Any

import pytest
from strategies_rules import random_valid_rules

from mt_env.game import Game, State
from mt_env.invariants import invariants
from mt_env.notation import OPTIONAL, REQUIRED, parse_position
from mt_env.tiles import string_to_tile

LINE = (
    "rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,4-4 trains=7/3*/- mexican=4 "
    "open= owes=- drawn=- boneyard=3-4,0-9 passes=0"
)

WRITTEN = LINE.replace("3-7,5-5", "5-5,3-7")


def changed(line: str = LINE, /, **changes: Any) -> str:
    """``line`` with some keys changed, added, or (None) left out."""
    fields: dict[str, Any] = dict(part.split("=", 1) for part in line.split())
    fields.update(changes)
    return " ".join(f"{key}={value}" for key, value in fields.items() if value is not None)


def refusal(line: str) -> str:
    with pytest.raises(ValueError) as error:
        parse_position(line)
    return str(error.value)


def test_the_example_is_written_as_it_was_read_hands_by_tile_id() -> None:
    assert parse_position(LINE).to_position() == WRITTEN
    assert parse_position(WRITTEN) == parse_position(LINE)


def test_every_part_lands_in_the_record() -> None:
    line = changed(
        leader=1, drew=1, totals="5/0/7", lengths="4/2/0/1", open="M", hands="3-7,5-5/1-2/0-0",
        passes=2, turn=2, lap=9,
    )  # fmt: skip
    state = parse_position(line)
    s = state.record[0]
    assert (int(s["leader"]), int(s["drew"]), int(s["passes"]), int(s["turn"]), int(s["lap"])) == (
        1,
        1,
        2,
        2,
        9,
    )
    assert s["totals"][:4].tolist() == [5, 0, 7, 0]
    assert s["lengths"][:4].tolist() == [4, 2, 0, 1]
    assert s["ends"][:5].tolist() == [7, 3, 12, 4, 0]
    assert s["markers"][:3].tolist() == [0, 1, 0]
    assert s["open_trains"][: int(s["num_open"])].tolist() == [3]
    assert state.boneyard() == [string_to_tile("3-4"), string_to_tile("0-9")]
    assert parse_position(state.to_position()) == state


def test_the_first_tile_of_the_boneyard_is_drawn_first() -> None:
    state = parse_position(changed(hands="2-2/1-2/0-0,4-4"))
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["draw"]
    state.apply_action(state.legal_actions()[0])
    assert state.to_position().split(" drawn=")[1].startswith("3-4 boneyard=0-9 ")


def test_tiles_not_named_lie_on_the_table() -> None:
    s = parse_position(LINE).record[0]
    assert sum(int(w).bit_count() for w in s["table"]) == 91 - 7
    assert int(s["unplayed"][4]) == 2  # 4-4 and 3-4
    assert int(s["unplayed"][12]) == 0


def test_spaces_and_either_way_round() -> None:
    assert (
        parse_position("  " + LINE.replace(" ", "   ").replace("3-7", "7-3") + "\n").to_position() == WRITTEN
    )


@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_named(key: str) -> None:
    assert f"missing {key};" in refusal(changed(**{key: None}))


def test_every_optional_key_may_be_missing() -> None:
    assert not set(OPTIONAL) & {part.split("=")[0] for part in LINE.split()}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"handz": "1"}, ["handz", "did you mean 'hands'"]),
        ({"boneyrd": "1"}, ["boneyrd", "did you mean 'boneyard'"]),
        ({"xyz": "1"}, ["xyz", "the keys are rules"]),
        ({"rules": "sprce"}, ["rules=sprce", "did you mean 'spruce'"]),
        ({"rules": "spruce;open_ordr=any"}, ["open_ordr", "did you mean 'open_order'"]),
        ({"rules": "spruce;set=9"}, ["rules=spruce;set=9", "position_set=12"]),
        ({"seats": "1"}, ["seats=1", "from 2 to 14"]),
        ({"seats": "15"}, ["seats=15", "from 2 to 14"]),
        ({"seats": "three"}, ["seats=three", "whole number"]),
        ({"seats": "4"}, ["hands=", "has 3 hands, must have 4"]),
        ({"set": "19"}, ["set=19", "from 2 to 18"]),
        ({"set": "1"}, ["set=1", "from 2 to 18"]),
        ({"engine": "13"}, ["engine=13", "from 0 to 12"]),
        ({"engine": "-1"}, ["engine=-1", "from 0 to 12"]),
        ({"engine": "5"}, ["hands=", "5-5 is the engine"]),
        ({"rules": "spruce;first_engine=9"}, ["engine=12", "from 0 to 9"]),
        ({"boneyard": "3-4,12-12"}, ["boneyard=3-4,12-12", "12-12 is the engine"]),
        ({"lap": "0"}, ["lap=0", "from 1"]),
        ({"turn": "3"}, ["turn=3", "from 0 to 2"]),
        ({"turn": "²"}, ["turn=²", "whole number"]),
        ({"leader": "3"}, ["leader=3", "from 0 to 2"]),
        ({"passes": "3"}, ["passes=3", "from 0 to 2"]),
        ({"drew": "2"}, ["drew=2", "from 0 to 1"]),
        ({"round": "1"}, ["round=1", "engine=12 is of round 0"]),
        ({"totals": "1/2"}, ["totals=1/2", "has 2 numbers, must have 3"]),
        ({"totals": "1/2/x"}, ["totals=x", "whole number"]),
        ({"lengths": "1/1/0"}, ["lengths=1/1/0", "must have 4"]),
        ({"lengths": "1/1/2/1"}, ["lengths=1/1/2/1", "seat 2's train is not begun"]),
        ({"lengths": "1/0/0/1"}, ["seat 1's train is begun, not 0 long"]),
        ({"lengths": "1/1/0/99"}, ["lengths=99", "from 0 to 90"]),
        ({"hands": "3-7,5-5/1-2/3-7"}, ["3-7 is named twice", "seat 0's hand", "seat 2's hand"]),
        ({"boneyard": "3-4,7-3"}, ["7-3 is named twice", "seat 0's hand", "the boneyard"]),
        ({"hands": "3-7,,5-5/1-2/0-0"}, ["hands=", "tile ''"]),
        ({"hands": "3-13/1-2/0-0"}, ["3-13 is not in the double-12 set"]),
        ({"hands": "3/1-2/0-0"}, ["hands=3/1-2/0-0", "tile '3'"]),
        ({"trains": "7/3*"}, ["trains=7/3*", "has 2 trains, must have 3"]),
        ({"trains": "7/3*/13"}, ["'13'", "from 0 to 12"]),
        ({"trains": "7/3*/"}, ["''", "- for a train not begun"]),
        ({"trains": "7/3**/-"}, ["'3*'"]),
        ({"mexican": "4*"}, ["mexican=4*", "takes no marker"]),
        ({"mexican": "x"}, ["mexican=x", "end value"]),
        ({"open": "3"}, ["open=3", "seat from 0 to 2, or M"]),
        ({"open": "0,0"}, ["open=0,0", "named twice"]),
        ({"open": "0", "owes": "0"}, ["owes=0", "named twice"]),
        ({"open": "0", "owes": "1"}, ["owes=1", "open=0", "R5.4"]),
        ({"open": "2"}, ["open=2", "is not begun"]),
        ({"open": "M"}, ["open=M", "4-4 is in seat 2's hand", "lies on the table"]),
        ({"open": "M", "hands": "5-5/1-2/0-0", "boneyard": "4-4"}, ["open=M", "4-4 is in the boneyard"]),
        ({"owes": "0", "trains": "12/3*/-"}, ["owes=0", "12-12 is the engine"]),
        ({"owes": "0", "lap": "1"}, ["owes=0", "R4.1"]),
        ({"drawn": "3-7", "lap": "1"}, ["drawn=3-7", "R4.1"]),
        ({"drawn": "1-2"}, ["drawn=1-2", "is in seat 1's hand, must be in seat 0's hand"]),
        ({"drawn": "6-6"}, ["drawn=6-6", "is in no hand"]),
        ({"drawn": "3-7", "drew": "0"}, ["drew=0", "drew=1"]),
        ({"hands": "3-7//0-0"}, ["hands=3-7//0-0", "seat 1's hand is empty", "R6.1"]),
        ({"rules": "cover", "hands": "3-7//0-0"}, ["seat 1's hand is empty", "R5.7"]),
        ({"hands": "/1-2/0-0", "lap": "1"}, ["seat 0's hand is empty", "opening turn is over"]),
        ({"rules": "cover", "trains": "6/3*/-", "open": "0"}, ["6-6 is dead", "dead_double=lifts"]),
        ({"rules": "cover", "trains": "6/3*/-", "owes": "0"}, ["owes=0", "6-6 is dead"]),
    ],
)  # fmt: skip
def test_refusals_name_key_value_and_what_would_be_right(changes: dict[str, Any], words: list[str]) -> None:
    message = refusal(changed(**changes))
    for word in words:
        assert word in message


def test_other_refusals() -> None:
    assert "turn is given twice" in refusal(LINE + " turn=1")
    assert "'hello' must be key=value" in refusal(LINE + " hello")
    assert "missing rules, seats" in refusal("")
    assert "must be a line of text" in refusal(None)  # type: ignore[arg-type]


def test_hands_may_be_empty_where_the_round_goes_on() -> None:
    chain = parse_position(changed(lap=1, turn=1, hands="/1-2/0-0", trains="7/-/-", mexican="-"))
    assert not chain.is_terminal()
    waiting = changed(rules="cover", hands="/1-2,5-9/0-0", trains="5/3*/-", open=0)
    state = parse_position(waiting)
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["draw"]


def test_position_states_are_a_single_round() -> None:
    state = parse_position(changed(hands="3-7/1-2/0-0,4-4", totals="10/0/0"))
    state.apply_action(state.string_to_action("3-7@0"))
    assert state.is_terminal() and state.how == "out"
    assert state.round_scores() == [0, 3, 58]
    assert state.totals() == [10, 3, 58]
    with pytest.raises(ValueError, match="the round is over"):
        state.to_position()
    with pytest.raises(ValueError, match="made from a position"):
        state.game.new_initial_state(1)


def test_engines_below_those_of_a_match_are_positions_too() -> None:
    line = changed(rules="dominos_cc", engine=2, hands="5-5,3-7/1-1/0-0")
    assert parse_position(line).to_position() == line


def random_state(rng: random.Random) -> State:
    n = rng.randint(2, 14)
    rules = random_valid_rules(rng, n)
    state = Game(rules, n, episode=rng.choice(("round", "round", "match"))).new_initial_state(
        rng.getrandbits(64)
    )
    for _ in range(rng.randrange(150)):
        after = state.child(rng.choice(state.legal_actions()))
        if after.is_terminal():
            break
        state = after
    return state


@pytest.mark.parametrize("seed", range(60))
def test_random_states_play_on_alike_from_their_line(seed: int) -> None:
    rng = random.Random(seed)
    state = random_state(rng)
    line = state.to_position()
    copy = parse_position(line)
    assert not invariants(copy)
    assert copy.to_position() == line
    assert copy.round_scores() == [0] * copy.game.num_players
    before = state.totals()
    rounds = int(state.record["rounds_done"][0])
    while not copy.is_terminal():
        assert copy.legal_actions() == state.legal_actions()
        assert copy.current_player() == state.current_player()
        action = rng.choice(copy.legal_actions())
        copy.apply_action(action)
        state.apply_action(action)
    assert int(state.record["rounds_done"][0]) == rounds + 1
    assert copy.round_scores() == state.round_scores()
    assert copy.how == state.how
    assert (
        copy.totals() == state.totals() == [a + b for a, b in zip(before, copy.round_scores(), strict=True)]
    )

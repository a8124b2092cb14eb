"""The tactician: what each of its quantities is, on positions, and what it plays with its own weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from short_games import changed

from mt_env.bots import make_bot
from mt_env.core.hands import common, pips_of_hand, pips_of_tile
from mt_env.core.policies import new_scratch
from mt_env.core.state import FITS, UNABLE_LEVELS
from mt_env.core.tactics import (
    CHANCE,
    TACTICIAN_WEIGHTS,
    TACTICS,
    chance,
    tactician_action,
    weights_array,
)
from mt_env.notation import parse_position
from mt_env.rng import Rng

BASE = (
    "rules=dominos_cc seats=3 set=9 engine=9 lap=4 turn=0 hands=1-2,2-3,3-4,5-6/5-7,6-8,0-8/0-7,7-8 "
    "trains=1/9/9 mexican=5 open= owes=- drawn=- boneyard=0-1 passes=0"
)
PLAN_OR_SPARE = changed(BASE)
"""The next tile of a chain of three, or the spare tile."""
DOUBLE = changed(BASE, hands="1-2,4-4,4-5/5-7,6-8,0-8/0-7,7-8", mexican=4)
MARKED = changed(BASE, trains="1*/9/9")
ENDS = changed(BASE, hands="3-4,3-5/5-7,5-8,0-8/0-7,7-8", mexican=3, trains="1/9/9")
"""Two ends to leave on the Mexican Train: nobody else has a 4, two hidden tiles hold a 5."""
OWED = changed(BASE, hands="1-2,4-5/4-7,6-8,0-8/0-7,7-8", mexican=4, owes="M")
"""The seat has laid 4-4 on the Mexican Train: cover it, or leave it to the others."""

# Tactic, position, the play that has less of it, the play that has more.
PREFERENCES: list[tuple[str, str, str, str]] = [
    ("chain", PLAN_OR_SPARE, "1-2@0", "5-6@M"),
    ("spare", PLAN_OR_SPARE, "5-6@M", "1-2@0"),
    ("chain_pips", PLAN_OR_SPARE, "1-2@0", "5-6@M"),
    ("spare_pips", PLAN_OR_SPARE, "5-6@M", "1-2@0"),
    ("mobile", PLAN_OR_SPARE, "5-6@M", "1-2@0"),
    ("spare_mobile", PLAN_OR_SPARE, "5-6@M", "1-2@0"),
    ("own", PLAN_OR_SPARE, "5-6@M", "1-2@0"),
    ("lost", PLAN_OR_SPARE, "1-2@0", "5-6@M"),
    ("rare", changed(BASE, boneyard="5-8"), "1-2@0", "5-6@M"),
    ("double", DOUBLE, "1-2@0", "4-4@M"),
    ("cover", DOUBLE, "1-2@0", "4-4@M"),
    ("bare", changed(DOUBLE, rules="cover", hands="1-2,4-4/5-7,6-8/0-7,7-8"), "1-2@0", "4-4@M"),
    ("closes", MARKED, "5-6@M", "1-2@0"),
    ("marked", MARKED, "1-2@0", "5-6@M"),
    ("marked_chain", MARKED, "1-2@0", "5-6@M"),
    ("stuck", changed(BASE, hands="1-2,3-4,0-5/5-7/0-7", mexican=3), "3-4@M", "1-2@0"),
    ("spare_doubles", changed(BASE, hands="1-2,7-7/5-7/0-7", mexican=7), "7-7@M", "1-2@0"),
    ("chain_doubles", changed(BASE, hands="1-1,5-6/5-7/0-7"), "1-1@0", "5-6@M"),
    ("next", ENDS, "3-4@M", "3-5@M"),
    ("others", ENDS, "3-4@M", "3-5@M"),
    ("least", ENDS, "3-4@M", "3-5@M"),
    ("next", changed(ENDS, mexican="-", trains="3*/3*/9"), "3-4@0", "3-5@1"),
    ("left", OWED, "4-5@M", "1-2@0"),
    ("left_next", OWED, "4-5@M", "1-2@0"),
    ("left_mine", OWED, "4-5@M", "1-2@0"),
]


def choice(line: str, lacks: tuple[int, int] | None = None, **weights: tuple[int, ...]) -> str:
    """The play that the tactician's kernel chooses with these weights and no others.

    ``lacks``: a seat and the value that everybody has just seen it lack.
    """
    state = parse_position(line)
    legal = np.zeros_like(new_scratch()[2])
    actions = state.legal_actions()
    legal[: len(actions)] = actions
    whole = weights_array({name: (*weights.get(name, (0, 0)), 0)[:3] for name in TACTICS})
    record, rules = state.record.copy()[0], state.game.rules_record[0]
    if lacks is not None:
        record["unable"][lacks] = UNABLE_LEVELS
    action = tactician_action(record, rules, legal, len(actions), whole, new_scratch())
    return state.action_to_string(int(action))


@pytest.mark.parametrize(("tactic", "line", "less", "more"), PREFERENCES)
def test_a_tactic_decides(tactic: str, line: str, less: str, more: str) -> None:
    assert choice(line, **{tactic: (1, 0)}) == less
    assert choice(line, **{tactic: (-1, 0)}) == more


def test_every_tactic_has_a_position() -> None:
    assert {row[0] for row in PREFERENCES} == set(TACTICS)


def test_danger_is_the_smallest_hand_or_an_empty_boneyard() -> None:
    """The second weight counts the more, the nearer the round is to its end."""
    far = "0-8,1-8,2-8,3-8,4-8,5-8,6-8,7-8"
    calm = changed(BASE, hands=f"1-2,2-3,3-4,5-6/{far}/0-7,1-7,2-7,3-7,4-7,5-7,6-7,7-7")
    for line, changes in (
        (calm, False),
        (changed(calm, boneyard=""), True),
        (changed(calm, hands=f"1-2,2-3,3-4,5-6/{far}/0-7"), True),
    ):
        assert choice(line, own=(2, 0), chain=(-1, -3)) == "5-6@M"
        assert choice(line, own=(-4, 0), chain=(0, -5)) == ("5-6@M" if changes else "1-2@0")


def test_an_opening_chain_has_weights_of_its_own() -> None:
    line = changed(BASE, rules="spruce", lap=1, trains="-/-/-", mexican="-", hands="5-9,1-9,1-3,3-6/0-8/0-7")
    assert choice(line, spare=(0, 0, 1)) == "1-9@0"
    assert choice(line, spare=(1, 1, -1)) == "5-9@0"
    assert choice(changed(line, trains="5/-/-", hands="1-9/0-8,5-9/0-7")) == "pass"  # it can only stop


def test_passing_is_never_preferred() -> None:
    line = changed(BASE, rules="dominos_cc;drawn_tile=may", hands="5-6/5-7/0-7", drawn="5-6")
    assert {parse_position(line).action_to_string(a) for a in parse_position(line).legal_actions()} == {
        "5-6@M",
        "pass",
    }
    assert choice(line) == "5-6@M"


def test_chance_is_what_the_seat_cannot_see() -> None:
    record = parse_position(ENDS).record.copy()
    s = record[0]

    def seen(value: int, other: int = 1) -> int:
        return int(chance(s, other, value, 6))

    assert seen(4) == 0  # nobody else has one
    assert (
        seen(5) == CHANCE // 2
    )  # two fives among six hidden tiles, three of them in this hand: one on average
    assert 0 < seen(5, 2) < seen(5)  # a smaller hand
    s["unable"][1, 5] = 2
    assert seen(5) == CHANCE * 3 // 8
    s["unable"][1, 5] = 8
    assert seen(5) == 0
    s["hand_sizes"][1] = 0
    assert seen(5) == seen(8) == 0


def test_the_least_hand_is_told_apart_from_the_next() -> None:
    """Seat 2 is about to go out and has been seen to lack a 5; the next seat has not."""
    assert choice(ENDS, lacks=(2, 5), next=(-1, 0)) == choice(ENDS, least=(-1, 0)) == "3-5@M"
    assert choice(ENDS, lacks=(2, 5), least=(-1, 0)) == "3-4@M"  # both alike: the first


@pytest.mark.parametrize(
    ("line", "play"),
    [
        (PLAN_OR_SPARE, "5-6@M"),  # the spare tile goes first
        (MARKED, "1-2@0"),  # unless its own train is open and its chain in danger
        (ENDS, "3-4@M"),  # an end that nobody can use
        (OWED, "4-5@M"),
        (DOUBLE, "4-4@M"),  # a double with a cover in hand
        (changed(BASE, hands="1-2,2-3,5-6/5-7/0-7", boneyard=""), "5-6@M"),
    ],
)
def test_the_tactician_plays(line: str, play: str) -> None:
    state = parse_position(line)
    assert state.action_to_string(make_bot("tactician").act(state.view(0), Rng(0))) == play


def test_wrong_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="weights: chain, oops missing or unknown"):
        weights_array({"oops": (0, 0, 0)} | {k: v for k, v in TACTICIAN_WEIGHTS.items() if k != "chain"})
    array = weights_array(TACTICIAN_WEIGHTS)
    assert array.shape == (3, len(TACTICS)) and not array.flags.writeable


def test_sums_over_a_hand() -> None:
    state = parse_position(changed(BASE, rules="spruce", hands="0-0,1-2,3-4/5-7/0-7"))
    hand, rules = state.record["hands"][0, 0], state.game.rules_record[0]
    assert pips_of_hand(hand, rules) == 60 and pips_of_tile(0, rules) == 50 and pips_of_tile(4, rules) == 3
    assert [common(hand, FITS[value]) for value in range(6)] == [1, 1, 1, 1, 1, 0]


# --- doubles_first ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "play"),
    [
        ({}, "2-2@0"),  # the heaviest that is a double, though 2-9 weighs more
        ({"mexican": "2"}, "2-2@0"),  # its own train among equals
        ({"trains": "2/9/7"}, "2-2@0"),
        ({"mexican": "3"}, "3-3@M"),
        ({"hands": "2-9,2-3/5-7/0-8"}, "2-9@0"),
        ({"hands": "0-0,2-9,0-3/5-7/0-8", "trains": "0/9/9"}, "0-0@0"),
    ],
)
def test_doubles_first(changes: dict[str, Any], play: str) -> None:
    fields = {"engine": 8, "hands": "2-2,3-3,2-9,2-3/5-7/0-8", "trains": "2/9/9", "mexican": "7"} | changes
    line = changed(BASE, **fields)
    state = parse_position(line)
    action = make_bot("doubles_first").act(state.view(0), Rng(0))
    assert state.action_to_string(action) == play

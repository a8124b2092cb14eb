"""One test for each numbered clause of docs/rules.md, on the core; positions written by hand."""

# ruff: noqa: N802 -- the names carry the clauses as the rules write them

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mt_env.core.rounds import standing
from mt_env.core.state import NO_ROUND
from mt_env.game import Game, State
from mt_env.notation import parse_position
from mt_env.rules import PRESETS
from mt_env.tiles import LOW, PIPS, num_tiles, string_to_tile, tile_id

# Spruce, well into the round: ordinary turns, nothing open. Each test changes what its clause speaks of.
BASE = (
    "rules=spruce seats=3 set=12 engine=12 lap=3 turn=0 hands=3-7,1-1/0-2,0-4/0-3,0-5 trains=7/9/8 "
    "mexican=10 open= owes=- drawn=- boneyard=0-8,0-9 passes=0"
)


def at(**changes: Any) -> State:
    fields: dict[str, Any] = dict(part.split("=", 1) for part in BASE.split())
    fields.update(changes)
    return parse_position(" ".join(f"{key}={value}" for key, value in fields.items()))


def play(state: State, *texts: str) -> State:
    for text in texts:
        state.apply_action(state.string_to_action(text))
    return state


def legal(state: State) -> set[str]:
    return {state.action_to_string(action) for action in state.legal_actions()}


def field(state: State, key: str) -> str:
    """The value of a key in the state's position line."""
    return dict(part.split("=", 1) for part in state.to_position().split())[key]


# ---- 1. Words ----------------------------------------------------------------------------------------------


def test_R1_tiles_pips_engine_and_ends() -> None:
    assert [num_tiles(pip) for pip in (6, 9, 12, 15, 18)] == [28, 55, 91, 136, 190]
    assert tile_id(7, 3) == tile_id(3, 7) and PIPS[tile_id(3, 7)] == 10 and LOW[tile_id(7, 3)] == 3
    bare = at(engine=11, hands="8-11,1-1/0-2/0-3", trains="-/9/8", mexican="-")
    assert bare.view(0).ends == [11, 9, 8, 11]  # a train not begun has the engine's value
    assert legal(bare) == {"8-11@0", "8-11@M"}
    assert play(bare, "8-11@M").view(0).ends == [11, 9, 8, 8]  # the other value is the new end


# ---- 2. Set-up ---------------------------------------------------------------------------------------------

TABLE = {
    "spruce": {**dict.fromkeys((2, 3), (9, 15)), 4: (12, 15)},
    "wikihow": {**dict.fromkeys(range(2, 7), (12, 12)), 7: (12, 10), 8: (12, 10), 9: (12, 8), 10: (12, 8)},
    "dominos_cc": dict.fromkeys((2, 3, 4), (12, 15)),
    "cover": dict.fromkeys((2, 3, 4), (12, 15)),
}
for name in ("spruce", "cover"):
    TABLE[name] |= {5: (12, 12), 6: (12, 12), 7: (12, 11), 8: (12, 11), 13: (18, 11), 14: (18, 11)}
    TABLE[name] |= dict.fromkeys((9, 10, 11, 12), (15, 11))


@pytest.mark.parametrize("name", PRESETS)
def test_R2_1_sets_and_hands_by_seats(name: str) -> None:
    for seats in range(2, 15):
        if seats not in TABLE[name]:
            with pytest.raises(ValueError, match="give both set and hand_size"):
                Game(name, seats)
            assert Game(f"{name};set=18;hand_size=11", seats).rules.hand_size == 11
            continue
        pips, hand = TABLE[name][seats]
        s = Game(name, seats).new_initial_state(seats).record[0]
        assert int(s["max_pip"]) == pips and int(s["num_tiles"]) == num_tiles(pips)
        if name in ("dominos_cc", "cover"):
            assert s["hand_sizes"][:seats].tolist() == [hand] * seats
    small = Game("spruce;set=6", 3).new_initial_state(1)
    assert small.game.rules.hand_size == 7 and small.game.num_tiles == 28


def test_R2_2_the_engine_is_dealt_or_set_aside() -> None:
    for seed in range(20):
        for name, dealt in (("spruce;hand_size=10;set=9", True), ("cover;hand_size=10;set=9", False)):
            state = Game(name, 3, engine=9).new_initial_state(seed)
            sizes = [len(state.hand(seat)) for seat in range(3)]
            assert sum(sizes) + len(state.boneyard()) == 54
            assert string_to_tile("9-9") in state.view(0).table
            hunted = sum(event.kind == "hunt" for event in state.log)
            assert sum(sizes) == 30 + (hunted - 1 if dealt else 0)
            assert dealt or (sizes == [10, 10, 10] and hunted == 0)


@pytest.mark.parametrize(
    ("name", "engines"), [("dominos_cc", range(12, 6, -1)), ("cover", range(12, -1, -1))]
)
def test_R2_3_rounds_and_engines(name: str, engines: range) -> None:
    state = Game(name, 4, episode="match").new_initial_state(3)
    seen = []
    while not state.is_terminal():
        if not state.record["moves"][0]:
            seen.append((int(state.record["round"][0]), int(state.record["engine"][0])))
        state.apply_action(state.legal_actions()[0])
    assert seen == list(enumerate(engines))
    for wrong in ("spruce;rounds=14", "spruce;set=12;first_engine=13", "spruce;rounds=0"):
        with pytest.raises(ValueError):
            Game(wrong, 4)
    assert Game("spruce;first_engine=4;rounds=3", 4, episode="match").rules.engines == (4, 3, 2)


def test_R2_4_the_hunt_begins_with_the_round_and_the_finder_leads() -> None:
    longest = 0
    for seed in range(60):
        state = Game("spruce;set=9;hand_size=2", 4, engine=7).new_initial_state(seed)  # round 2
        hunts = [event.seat for event in state.log if event.kind == "hunt"]
        assert hunts == [(2 + i) % 4 for i in range(len(hunts))]
        leader = state.current_player()
        assert leader == int(state.record["leader"][0]) == state.log[-1].seat
        sizes = [2 + hunts.count(seat) - (seat == leader) for seat in range(4)]
        assert [len(state.hand(seat)) for seat in range(4)] == sizes
        assert not hunts or hunts[-1] == leader
        longest = max(longest, len(hunts))
    assert longest > 8


def test_R2_5_the_leader_of_a_set_aside_round() -> None:
    for engine in range(13):
        state = Game("cover", 5, engine=engine).new_initial_state(engine)
        assert state.current_player() == (12 - engine) % 5


def test_R2_6_what_cannot_be_dealt_is_refused() -> None:
    state = Game("spruce;set=6", 4).new_initial_state(1)
    assert len(state.boneyard()) == 0
    for rules, seats in (("spruce;set=6;engine_from=set_aside", 4), ("spruce;set=12;hand_size=15", 8)):
        with pytest.raises(ValueError, match=r"R2\.6"):
            Game(rules, seats)


# ---- 3. A turn ---------------------------------------------------------------------------------------------


def test_R3_1_own_train_mexican_train_and_marked_trains() -> None:
    state = at(hands="3-7,7-9,7-10,1-1/0-2/0-3", trains="7/9*/7", mexican=10)
    assert legal(state) == {"3-7@0", "7-9@0", "7-10@0", "7-9@1", "7-10@M"}  # seat 2's equal end is closed
    assert play(state, "7-9@1").view(0).ends == [7, 7, 7, 10]


@pytest.mark.parametrize("drawn_tile", ["must", "may"])
def test_R3_2_you_must_play_if_you_can(drawn_tile: str) -> None:
    assert legal(at(rules=f"spruce;drawn_tile={drawn_tile}")) == {"3-7@0"}


def test_R3_3_draw_then_play_or_pass() -> None:
    nothing = {"hands": "1-1,2-2/0-2/0-3"}
    assert legal(play(at(**nothing), "draw")) == {"pass"}
    fits = {**nothing, "boneyard": "7-8,0-9"}
    assert legal(at(**fits)) == {"draw"}
    assert legal(play(at(**fits), "draw")) == {"7-8@0"}
    assert legal(play(at(rules="spruce;drawn_tile=may", **fits), "draw")) == {"7-8@0", "pass"}
    assert legal(at(hands="1-1,2-2/0-2/0-3", boneyard="")) == {"pass"}
    double = {**nothing, "boneyard": "7-7,0-9"}
    assert legal(play(at(**double), "draw", "7-7@0")) == {"draw"}
    assert legal(play(at(rules="spruce;draws_per=turn", **double), "draw", "7-7@0")) == {"pass"}


def test_R3_4_a_pass_puts_a_marker() -> None:
    assert field(play(at(hands="1-1/0-2/0-3"), "draw", "pass"), "trains") == "7*/9/8"
    assert field(play(at(hands="1-1/0-2/0-3", trains="-/9/8"), "draw", "pass"), "trains") == "-*/9/8"
    assert field(play(at(hands="1-1/0-2/0-3", trains="7*/9/8"), "draw", "pass"), "trains") == "7*/9/8"
    after_play = at(hands="7-7,1-1/0-2/0-3")
    assert field(play(after_play, "7-7@0", "draw", "pass"), "trains") == "7*/9/8"
    elsewhere = at(rules="wikihow", hands="1-1/0-2/0-3", boneyard="5-10,0-8")
    assert field(play(elsewhere, "draw", "5-10@M"), "trains") == "7/9/8"


def test_R3_5_only_the_owner_takes_the_marker_off() -> None:
    state = at(hands="5-10,1-1/3-7,2-2/0-3", trains="7*/9*/8", boneyard="")
    play(state, "5-10@M")
    assert field(state, "trains") == "7*/9*/8"
    play(state, "3-7@0")
    assert field(state, "trains") == "3*/9*/8"
    own = play(at(trains="7*/9*/8"), "3-7@0")
    assert field(own, "trains") == "3/9*/8"
    cover = play(at(trains="7*/9/8", open="0"), "3-7@0")
    assert field(cover, "trains") == "3/9/8"


def test_R3_6_seats_play_clockwise() -> None:
    state = at(hands="1-1,2-2/0-2,0-4/0-3,0-5", boneyard="0-1,0-6,1-2")
    turns = []
    for _ in range(2):
        turns.append(state.current_player())
        play(state, "draw", "pass")
    assert turns == [0, 1]
    state = at(hands="3-7,1-1/0-2,0-4/8-11,0-5", turn=2)
    assert play(state, "8-11@2").current_player() == 0
    assert field(state, "lap") == "4"
    led = at(hands="3-7,1-1/0-2,0-4/8-11,0-5", turn=2, leader=1)
    assert field(play(led, "8-11@2"), "lap") == "3" and field(play(led, "3-7@0"), "lap") == "4"


# ---- 4. The first turn of each seat ------------------------------------------------------------------------

FIRST = {
    "lap": 1,
    "hands": "5-12,5-5,3-5,0-1/0-2,0-12/0-3,0-5",
    "trains": "-/-/-",
    "mexican": "-",
}


def test_R4_1_the_opening_chain() -> None:
    state = at(**FIRST)
    assert legal(state) == {"5-12@0"}
    assert legal(play(state, "5-12@0")) == {"5-5@0", "3-5@0", "pass"}
    assert legal(play(state, "5-5@0")) == {"3-5@0", "pass"}  # a double owes nothing
    assert legal(play(state, "3-5@0")) == {"pass"}  # the stop is asked for
    play(state, "pass")
    assert state.current_player() == 1 and field(state, "trains") == "3/-/-"
    unable = at(**{**FIRST, "hands": "5-5,3-5/0-2/0-3"})
    assert legal(unable) == {"pass"}  # no drawing
    assert field(play(unable, "pass"), "trains") == "-*/-/-"
    emptied = play(at(**{**FIRST, "hands": "5-12/0-12,0-2/0-3"}), "5-12@0")
    assert emptied.current_player() == 1 and not emptied.is_terminal()
    left = play(at(**FIRST), "5-12@0", "5-5@0", "pass")
    assert field(left, "open") == ""
    binds = play(at(rules="spruce;opening_double_binds=yes", **FIRST), "5-12@0", "5-5@0", "pass")
    assert field(binds, "open") == "0"
    assert legal(binds) == {"0-12@1"}  # it binds from lap 2 on
    assert legal(play(binds, "0-12@1", "pass", "pass")) == {"3-5@0"}


def test_R4_2_single_is_an_ordinary_turn() -> None:
    state = at(rules="wikihow", **FIRST)
    assert legal(state) == {"5-12@0"}
    assert play(state, "5-12@0").current_player() == 1
    unable = at(rules="wikihow", **{**FIRST, "hands": "5-5,3-5/0-2/0-3"})
    assert legal(unable) == {"draw"}


@pytest.mark.parametrize("rules", ["spruce", "wikihow", "dominos_cc", "cover"])
def test_R4_3_when_the_mexican_train_may_be_begun(rules: str) -> None:
    first = legal(at(rules=rules, **FIRST))
    assert ("5-12@M" in first) == (rules in ("dominos_cc", "cover"))
    later = legal(at(rules=rules, hands="5-12,1-1/0-2/0-3", mexican="-"))
    assert later == {"5-12@M"}


def test_R4_4_own_train_first() -> None:
    hand = "7-10,7-9,7-12,1-1/0-2/0-3"
    begun = {"hands": hand, "trains": "-/9*/8", "mexican": 10}
    assert legal(at(rules="wikihow", lap=2, **begun)) == {"7-12@0", "7-10@M"}
    assert legal(at(rules="wikihow", lap=1, **begun)) == {"7-12@0"}
    assert legal(at(rules="wikihow", lap=2, **{**begun, "mexican": "-"})) == {"7-12@0"}
    assert legal(at(rules="wikihow;own_first=no", lap=2, **begun)) == {"7-12@0", "7-10@M", "7-9@1"}
    assert legal(at(rules="wikihow", lap=2, open=1, **begun)) == {"7-9@1"}  # a cover always


def test_R4_5_a_bare_marked_train_may_be_begun_by_others() -> None:
    state = at(hands="7-12,1-1/0-2/0-3", trains="6/-*/8")
    assert legal(state) == {"7-12@1"}
    assert field(play(state, "7-12@1"), "trains") == "6/7*/8"


def test_R4_6_out_in_the_opening_lap() -> None:
    state = at(**{**FIRST, "hands": "5-12/0-12/0-3,0-5"})
    play(state, "5-12@0")
    assert not state.is_terminal() and state.current_player() == 1
    play(state, "0-12@1")
    assert not state.is_terminal()
    play(state, "pass")
    assert state.how == "out" and state.round_scores() == [0, 0, 8]
    single = at(rules="wikihow", **{**FIRST, "hands": "5-12/0-12/0-3,0-5"})
    assert play(single, "5-12@0").is_terminal()


# ---- 5. Doubles --------------------------------------------------------------------------------------------


def test_R5_1_a_double_owes_another_tile() -> None:
    state = at(hands="7-7,10-10,0-10,1-1/0-2/0-3")
    assert play(state, "7-7@0").current_player() == 0
    assert play(state, "10-10@M").current_player() == 0  # pays for 7-7, owes for itself
    assert field(state, "owes") == "0,M"
    assert play(state, "0-10@M").current_player() == 1
    assert field(state, "open") == "0"


def test_R5_2_where_the_extra_tile_goes() -> None:
    hand = {"hands": "7-7,5-7,5-10,1-1/0-2/0-3", "trains": "7/9/5*"}
    assert legal(play(at(rules="spruce", **hand), "7-7@0")) == {"5-7@0", "5-7@2", "5-10@2", "5-10@M"}
    assert legal(play(at(rules="cover", **hand), "7-7@0")) == {"5-7@0"}


def test_R5_3_an_unpaid_double_is_open() -> None:
    state = play(at(hands="7-7,1-1/0-2/0-3"), "7-7@0")
    assert legal(state) == {"draw"}
    play(state, "draw", "pass")
    assert field(state, "open") == "0" and field(state, "trains") == "7*/9/8" and state.current_player() == 1


def test_R5_4_an_open_double_binds_every_seat_until_it_is_covered() -> None:
    state = at(hands="0-10,0-8/2-9,5-10/0-7,1-1", trains="7/9/8", open="0", boneyard="10-11,0-0")
    assert legal(state) == {"draw"}  # 0-10 would fit the Mexican Train
    assert legal(play(state, "draw")) == {"pass"}  # and so would the drawn 10-11
    play(state, "pass")
    assert state.current_player() == 1 and legal(state) == {"draw"} and field(state, "open") == "0"
    play(state, "draw", "pass")
    assert legal(state) == {"0-7@0"}  # another seat's train
    play(state, "0-7@0")
    assert field(state, "open") == "" and state.current_player() == 0  # a cover ends the turn


def test_R5_5_in_which_order_open_doubles_are_covered() -> None:
    doubles = {"hands": "3-7,1-10/0-2/0-3", "open": "M,0"}
    assert legal(at(rules="spruce", **doubles)) == {"1-10@M"}
    assert legal(at(rules="spruce;open_order=any", **doubles)) == {"1-10@M", "3-7@0"}


# D6, every tile with a 3 on the table but 3-3 and what a test puts into hands.
THREES = {"set": 6, "engine": 6, "trains": "3/5/4", "mexican": 1}


def test_R5_6_a_dead_double_binds_or_lifts() -> None:
    hands = {"hands": "3-3,1-2,0-0/2-5,0-2/0-4,2-4", "boneyard": "", **THREES}
    binds = play(at(rules="spruce", **hands), "3-3@0")
    assert binds.current_player() == 0 and field(binds, "owes") == "0"
    lifts = play(at(rules="cover", **hands), "3-3@0")
    assert lifts.current_player() == 1 and field(lifts, "open") == ""
    stuck = play(at(rules="spruce", **{**hands, "hands": "3-3,0-0/2-5,0-2/0-4,2-4"}), "3-3@0", "pass")
    assert stuck.how == "blocked"  # next in order and nobody can cover it
    # an open double dies when the last tile with its value is laid on another double
    two = {**THREES, "trains": "3/5/3", "hands": "0-0,2-6/3-5,2-2/0-4", "boneyard": ""}
    line = at(rules="cover;open_order=any", **{**two, "trains": "3/5/4", "open": "1,0", "turn": 1})
    assert field(play(line, "3-5@1"), "open") == ""
    kept = at(
        rules="cover;open_order=any;dead_double=binds", **{**two, "trains": "3/5/4", "open": "1,0", "turn": 1}
    )
    assert play(kept, "3-5@1").how == "blocked"


def test_R5_7_a_double_as_the_last_tile() -> None:
    last = {"hands": "7-7/0-2,4-7/0-3", "boneyard": "0-7,0-8"}
    out = play(at(rules="spruce", **last), "7-7@0")
    assert out.how == "out" and out.round_scores() == [0, 13, 3]
    waits = play(at(rules="cover", **last), "7-7@0")
    assert not waits.is_terminal() and legal(waits) == {"draw"}
    assert play(waits.clone(), "draw", "0-7@0").how == "out"
    blank = play(at(rules="cover", **{**last, "boneyard": "0-8"}), "7-7@0", "draw", "pass")
    assert not blank.is_terminal()  # it holds 0-8 now
    empty = play(at(rules="cover", **{**last, "boneyard": ""}), "7-7@0", "pass")
    assert not empty.is_terminal() and empty.current_player() == 1
    play(empty, "4-7@0")  # covered by somebody else
    assert empty.how == "out" and empty.round_scores() == [0, 2, 3]
    dead = {**THREES, "hands": "3-3/2-5,0-2/0-4", "boneyard": ""}
    assert play(at(rules="cover", **dead), "3-3@0").how == "out"


def test_R5_8_covering_does_not_open_a_train() -> None:
    state = at(hands="0-9,1-1/7-9,0-2/0-3", open="1", boneyard="0-8")
    play(state, "0-9@1")
    assert field(state, "trains") == "7/0/8"
    own = play(at(open="0", trains="7*/9/8"), "3-7@0")
    assert field(own, "trains") == "3/9/8"


# ---- 6. The end of a round ---------------------------------------------------------------------------------


def test_R6_1_out_ends_the_round_at_once() -> None:
    state = play(at(hands="3-7/1-9,9-10/8-9"), "3-7@0")
    assert state.is_terminal() and state.how == "out" and state.legal_actions() == []


def test_R6_2_blocked() -> None:
    # passes: a lap of them, although the last marker gives somebody a play
    none = {"hands": "1-1/0-2/3-7,0-0", "trains": "7/9/8", "boneyard": ""}
    letter = at(rules="dominos_cc", **{**none, "hands": "1-1,2-8/0-2/0-3"})
    assert play(letter, "pass", "pass").how is None
    assert play(letter, "pass").how == "blocked"
    # a play resets the count
    reset = at(rules="dominos_cc", passes=2, boneyard="")
    assert field(play(reset, "3-7@0"), "passes") == "0"
    # stuck: tested when a turn has ended, for every seat as if it were its turn
    goes_on = play(at(**none), "pass")  # seat 2 may now play 3-7 on the marked train
    assert goes_on.how is None and play(goes_on, "pass").how is None
    assert legal(goes_on) == {"3-7@0"}
    assert play(at(hands="1-1/0-2/0-3", boneyard=""), "pass").how == "blocked"
    assert play(at(hands="1-1/0-2/0-3", boneyard="0-6"), "draw", "pass").how == "blocked"
    # with an opening chain not before lap 2, and then without the limits of lap 1
    first = {**FIRST, "hands": "5-5/0-2/0-3", "boneyard": ""}
    assert play(at(**first), "pass", "pass").how is None
    assert play(at(**first), "pass", "pass", "pass").how == "blocked"
    bare = {**FIRST, "hands": "5-5/0-2/1-3,0-12", "boneyard": ""}
    assert play(at(**bare), "pass", "pass", "0-12@2", "pass").how == "blocked"
    mexican = {**FIRST, "hands": "5-5/0-2,0-12/0-3", "boneyard": "", "trains": "3/4/-"}
    assert play(at(**mexican, turn=2), "pass").how is None  # 0-12 may begin the Mexican Train in lap 2
    assert play(at(rules="wikihow", **mexican), "pass").how is None
    assert play(at(**{**mexican, "hands": "5-5/0-2/0-3"}, turn=2), "pass").how == "blocked"
    # stuck is not tested while a tile is owed
    owed = {"hands": "7-7,1-1/4-7,2-2/0-3", "trains": "7/9/8", "boneyard": ""}
    assert play(at(**owed), "7-7@0").how is None


def test_R6_3_the_score() -> None:
    hands = {"hands": "3-7/0-0,12-11,3-4/1-1", "boneyard": "0-8"}
    assert play(at(rules="spruce", **hands), "3-7@0").round_scores() == [0, 80, 2]
    assert play(at(rules="spruce;double_blank=7", **hands), "3-7@0").round_scores() == [0, 37, 2]
    for preset in ("wikihow", "dominos_cc", "cover"):
        assert play(at(rules=preset, **hands), "3-7@0").round_scores() == [0, 30, 2]
    blocked = play(at(hands="1-1/0-2/0-0", boneyard=""), "pass")
    assert blocked.how == "blocked" and blocked.round_scores() == [2, 2, 50]


# ---- 7. The match ------------------------------------------------------------------------------------------


def standing_of(
    rules: str, totals: list[int], zeros: list[int] | None = None, best: list[int] | None = None
) -> tuple[list[float], list[float]]:
    """Ranks and win shares of a match that ended so."""
    n = len(totals)
    game = Game(rules, n, episode="match")
    s = game.new_initial_state(1).record[0]
    s["totals"][:n] = totals
    s["zero_rounds"][:n] = zeros or [0] * n
    s["best_round"][:n] = best or [NO_ROUND] * n
    ranks, shares = np.zeros(n), np.zeros(n)
    standing(s, game.rules_record[0], ranks, shares)
    return ranks.tolist(), shares.tolist()


def test_R7_1_the_lowest_total_wins() -> None:
    for rules in PRESETS:
        assert standing_of(rules, [30, 10, 20, 40]) == ([3, 1, 2, 4], [0, 1, 0, 0])
    state = Game("dominos_cc", 3, episode="match").new_initial_state(6)
    sums = np.zeros(3, int)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
        if state.log[-1].points or not state.record["moves"][0]:
            sums += state.round_scores()
    assert state.totals() == sums.tolist()
    assert state.win_shares()[state.totals().index(min(state.totals()))] > 0


def test_R7_2_ties() -> None:
    assert standing_of("dominos_cc", [10, 10, 20], [0, 2, 5]) == ([1.5, 1.5, 3], [0.5, 0.5, 0])
    assert standing_of("spruce", [10, 10, 20], [1, 2, 5]) == ([2, 1, 3], [0, 1, 0])
    assert standing_of("spruce", [10, 10, 20], [2, 2, 0], [4, 3, 1]) == ([2, 1, 3], [0, 1, 0])
    assert standing_of("spruce", [10, 10, 20], [2, 2, 0], [4, 4, 1]) == ([1.5, 1.5, 3], [0.5, 0.5, 0])
    assert standing_of("spruce", [0, 0, 5], [3, 3, 0]) == ([1.5, 1.5, 3], [0.5, 0.5, 0])


def test_the_first_tile_of_a_train_and_a_cover_are_never_doubles() -> None:
    """Section 9."""
    for seed in range(6):
        state = Game("spruce", 3).new_initial_state(seed)
        while not state.is_terminal():
            view = state.view(state.current_player())
            for text in legal(state):
                if "@" in text:
                    low, high = text.partition("@")[0].split("-")
                    train = view.string_to_action(text) // view.num_tiles
                    train = view.absolute(train)
                    if low == high:
                        assert view.lengths[train] and train not in view.open_trains
            state.apply_action(state.legal_actions()[seed % len(state.legal_actions())])


def test_every_clause_has_its_test() -> None:
    last = {2: 6, 3: 6, 4: 6, 5: 8, 6: 3, 7: 2}
    clauses = ["R1_", *(f"R{part}_{k}_" for part, count in last.items() for k in range(1, count + 1))]
    for clause in clauses:
        assert any(name.startswith(f"test_{clause}") for name in globals()), clause

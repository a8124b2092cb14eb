from __future__ import annotations

import copy
import gc
import random
import types
from typing import Any

import numpy as np
import pytest
from strategies_rules import random_valid_rules

from mt_env.core.moves import legal_actions
from mt_env.core.state import MAX_LEGAL, NO_TILE
from mt_env.game import Game, State
from mt_env.notation import parse_position
from mt_env.rng import Rng
from mt_env.tiles import string_to_tile
from mt_env.view import View

LINE = (
    "rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,4-8 trains=7/3*/- mexican=4 "
    "open=M owes=- drawn=- boneyard=3-4,0-9 passes=0 leader=1 totals=4/0/9 lengths=3/2/0/1"
)
PROPERTIES = [name for name, value in vars(View).items() if not name.startswith("_") and not callable(value)]


def mid_game(seed: int, moves: int = 60) -> State:
    rng = random.Random(seed)
    n = rng.randint(2, 8)
    episode = rng.choice(("round", "match"))
    state = Game(random_valid_rules(rng, n), n, episode=episode).new_initial_state(rng.getrandbits(64))
    for _ in range(rng.randrange(moves)):
        after = state.child(rng.choice(state.legal_actions()))
        if after.is_terminal():
            break
        state = after
    return state


def everything(view: View) -> dict[str, Any]:
    """All that a view says, comparable."""
    found = {name: getattr(view, name) for name in (*PROPERTIES, *vars(view))}
    for name in ("record", "rules_record", "unable"):
        found[name] = found[name].tobytes()
    return {**found, "str": str(view)}


def test_attributes() -> None:
    view = parse_position(LINE).view(0)
    assert (view.seat, view.num_players, view.num_trains, view.num_tiles) == (0, 3, 4, 91)
    assert view.hand == [string_to_tile("5-5"), string_to_tile("3-7")]
    assert view.hand_tiles == [(5, 5), (3, 7)]
    assert len(view.table) == 91 - 7 and string_to_tile("12-12") in view.table
    assert view.ends == [7, 3, 12, 4]
    assert view.lengths == [3, 2, 0, 1]
    assert view.markers == [False, True, False]
    assert view.hand_sizes == [2, 1, 2]
    assert view.boneyard_size == 2
    assert (view.engine, view.lap, view.leader, view.turn, view.round, view.passes) == (12, 2, 1, 0, 0, 0)
    assert (view.open_trains, view.owed_trains) == ([3], [])
    assert (view.drawn, view.has_drawn, view.is_over) == (None, False, False)
    assert view.totals == [4, 0, 9]
    assert view.unable.shape == (3, 13) and not view.unable.any()
    assert view.rules.set == 12 and view.rules_record.shape == view.record.shape == (1,)
    assert [view.action_to_string(a) for a in view.legal_actions] == ["draw"]
    assert view.legal_actions == [view.draw_action] and view.pass_action == view.draw_action + 1
    assert view.string_to_action("draw") == view.draw_action
    assert [event.kind for event in view.log] == ["position"]


def test_trains_as_the_seat_numbers_them() -> None:
    view = parse_position(LINE).view(1)
    assert [view.relative(train) for train in range(4)] == [2, 0, 1, 3]
    assert [view.absolute(train) for train in range(4)] == [1, 2, 0, 3]
    assert view.action_to_string(view.string_to_action("3-4@0")) == "3-4@0"
    assert view.string_to_action("3-4@1") == string_to_tile("3-4")


def test_only_the_seat_to_move_has_legal_actions_and_its_drawn_tile() -> None:
    state = parse_position(LINE)
    state.apply_action(state.string_to_action("draw"))
    mine, other = state.view(0), state.view(2)
    assert mine.drawn == string_to_tile("3-4") and other.drawn is None
    assert mine.has_drawn and other.has_drawn
    assert [mine.action_to_string(a) for a in mine.legal_actions] == ["3-4@M"]
    assert other.legal_actions == []
    assert mine.unable[0, 4] == other.unable[0, 4] == 8


def test_read_only() -> None:
    view = parse_position(LINE).view(0)
    with pytest.raises(AttributeError, match="read-only"):
        view.seat = 1
    with pytest.raises(AttributeError):
        view.hand = []  # type: ignore[misc]
    with pytest.raises(AttributeError, match="read-only"):
        del view.seat
    with pytest.raises(ValueError):
        view.record["hands"][0] = 0
    with pytest.raises(ValueError):
        view.unable[0, 0] = 1


def test_stays_as_it_was_made() -> None:
    state = mid_game(5)
    view = state.view(state.current_player())
    before = copy.deepcopy(everything(view))
    again = state.view(state.current_player())
    view.legal_actions.clear()
    view.log.clear()
    assert everything(again) == before
    state.apply_action(state.legal_actions()[0])
    assert everything(again) == before


def reachable(root: object) -> list[object]:
    """Everything that can be reached from an object, through any reference that the collector knows."""
    seen: dict[int, object] = {}
    todo: list[object] = [root]
    while todo:
        found = todo.pop()
        if id(found) in seen or isinstance(found, (type, types.ModuleType, types.FunctionType)):
            continue
        seen[id(found)] = found
        todo += gc.get_referents(found)
        if isinstance(found, np.ndarray) and found.base is not None:
            todo.append(found.base)
    return list(seen.values())


def test_nothing_leads_to_the_state() -> None:
    state = mid_game(11)
    view = state.view(0)
    everything(view)  # fill the caches
    found = reachable(view)
    assert not [x for x in found if isinstance(x, (State, Game))]
    assert not [
        x for x in found if x is state.record or x is state._s or x is state.dealt or x is state.drawn_tiles
    ]
    arrays = [x for x in found if isinstance(x, np.ndarray)]
    assert arrays and not any(np.shares_memory(x, state.record) for x in arrays)
    assert any(x is state for x in reachable([state]))  # the walk would have found it


@pytest.mark.parametrize("seed", range(40))
def test_depends_only_on_what_the_seat_may_know(seed: int) -> None:
    state = mid_game(seed)
    rng = Rng(seed)
    for seat in range(state.game.num_players):
        other = state.resample_from_infostate(seat, rng)
        assert everything(other.view(seat)) == everything(state.view(seat))
        s = state.view(seat).record[0]
        hidden = [i for i in range(state.game.num_players) if i != seat]
        assert not s["hands"][hidden].any() and not s["boneyard"].any() and not s["seed"]
        assert int(s["drawn"]) == NO_TILE or int(s["turn"]) == seat


@pytest.mark.parametrize("seed", range(10))
def test_kernels_take_the_masked_record(seed: int) -> None:
    state = mid_game(seed)
    view = state.view(state.current_player())
    out = np.empty(MAX_LEGAL, np.int64)
    count = legal_actions(view.record[0], view.rules_record[0], out)
    assert out[:count].tolist() == view.legal_actions == state.legal_actions()


def test_text_shows_no_other_hand() -> None:
    state = parse_position(LINE)
    mine, all_hands = str(state.view(0)), str(state)
    assert "3-7" in mine and "1-2" not in mine and "0-0" not in mine
    assert "3-7" in all_hands and "1-2" in all_hands and "0-0" in all_hands
    for text in (mine, all_hands):
        assert "engine 12-12, lap 2, seat 0 to move" in text
        assert "open doubles on the Mexican Train" in text
        assert "boneyard 2" in text and "totals 4 0 9" in text
        assert "not begun" in text and "7 after 3 tiles" in text and "seat 1 *" in text
    assert "0-9" not in all_hands.replace("10-9", "")  # the boneyard is not shown


def test_bad_seats() -> None:
    state = parse_position(LINE)
    for seat in (-1, 3, 1.0, True, "0", None):
        for ask in (state.view, state.observation, state.information_state, state.hand):
            with pytest.raises(ValueError, match="seat="):
                ask(seat)  # type: ignore[arg-type]
    assert state.view(np.int64(2)).seat == 2  # type: ignore[arg-type]

"""Why an action is not legal, in the words of the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mt_env.actions import DRAW, PASS, action_to_string, decode, train_name
from mt_env.core.deal import holds
from mt_env.core.moves import access, opening_turn
from mt_env.core.state import NO_TILE
from mt_env.tiles import HIGH, LOW, tile_to_string

if TYPE_CHECKING:
    from numpy import void

    from mt_env.state import State


def over_text(state: State) -> str:
    """Why nothing can be done any more."""
    if state.game.episode == "match":
        return "the match is over"
    return f"the round is over ({'somebody is out' if state.how == 'out' else 'blocked'})"


def why_illegal(state: State, action: int) -> str:
    """The reason why the id ``action`` is not legal in ``state``; it begins with the action's text.

    Raises:
        ValueError: ``action`` is no action id.
    """
    game, s = state.game, state.record[0]
    n, tiles, seat = game.num_players, game.num_tiles, int(s["turn"])
    kind, tile, train = decode(action, seat, n, tiles)
    if state.is_terminal():
        return f"action {action}: {over_text(state)}"
    text = action_to_string(action, seat, n, tiles)
    if kind == DRAW:
        return f"{text}: {_no_draw(state)}"
    if kind == PASS:
        return f"{text}: {_no_pass(state)}"
    if not holds(s, seat, tile):
        return f"{text}: seat {seat} does not hold {tile_to_string(tile)}"
    reason = _no_access(state, s, seat, train)
    if reason:
        return f"{text}: {reason}"
    end = int(s["ends"][train])
    if end not in (LOW[tile], HIGH[tile]):
        whose = train_name(train, n)
        begun = "its end is" if s["lengths"][train] else "it is not begun, so its end is the engine's"
        return f"{text}: {tile_to_string(tile)} does not fit {whose}: {begun} {end}"
    return f"{text}: not among the legal actions"  # not reached while moves.py and this file agree


def _first_play(state: State) -> str:
    """``"3-7 can be played on seat 0's train"``, or nothing where no play is legal."""
    game = state.game
    for action in state.legal_actions():
        if action < game.draw_action:
            _, tile, train = decode(action, state.current_player(), game.num_players, game.num_tiles)
            return f"{tile_to_string(tile)} can be played on {train_name(train, game.num_players)}"
    return ""


def _no_draw(state: State) -> str:
    s, r = state.record[0], state.game.rules_record[0]
    seat = int(s["turn"])
    if opening_turn(s, r):
        return "nobody draws in the opening chain (lap 1)"
    possible = _first_play(state)
    if possible:
        return f"{possible}, so seat {seat} may not draw"
    if not s["boneyard_size"]:
        return "the boneyard is empty"
    if s["drawn"] != NO_TILE:
        return f"seat {seat} has already drawn {tile_to_string(int(s['drawn']))} for the tile it owes"
    return f"seat {seat} has already drawn in this turn (draws_per=turn)"


def _no_pass(state: State) -> str:
    s, r = state.record[0], state.game.rules_record[0]
    seat = int(s["turn"])
    possible = _first_play(state)
    if possible and opening_turn(s, r):
        return f"{possible}, so seat {seat} must lay at least one tile before it may stop"
    if possible:
        return f"{possible}, so seat {seat} may not pass"
    return f"seat {seat} has no play and must draw first: the boneyard has {int(s['boneyard_size'])} tiles"


def _no_access(state: State, s: void, seat: int, train: int) -> str:
    """Why ``seat`` may not play on ``train`` at all, or nothing where it may."""
    game, r = state.game, state.game.rules_record[0]
    n, rules = game.num_players, game.rules
    trains = int(access(s, r))
    if (trains >> train) & 1:
        return ""
    if opening_turn(s, r):
        return f"in the opening chain (lap 1) seat {seat} plays on its own train only"
    if s["num_owed"] and rules.extra_tile == "on_double":
        double = int(s["owed_trains"][int(s["num_owed"]) - 1])
        return f"the double just laid on {train_name(double, n)} must be covered first (extra_tile=on_double)"
    if s["num_open"] and not s["num_owed"]:
        doubles = [int(t) for t in s["open_trains"][: int(s["num_open"])]]
        if rules.open_order == "oldest":
            order = ", the oldest comes first" if train in doubles else ""
            return f"the open double on {train_name(doubles[0], n)} must be covered first{order}"
        names = " or ".join(train_name(t, n) for t in doubles)
        return f"the open double on {names} must be covered first"
    if rules.own_first and s["lap"] == 1:
        return f"in lap 1 seat {seat} plays on its own train only (own_first)"
    if rules.own_first and not s["lengths"][seat]:
        allowed = " or on the Mexican Train" if s["lengths"][n] else ""
        only = f"seat {seat} plays on it{allowed} only"
        return f"seat {seat}'s own train is not begun, so {only} (own_first)"
    if train == n:
        return "nobody may begin the Mexican Train in lap 1 (mexican_from=lap_2)"
    return f"seat {train}'s train bears no marker"

"""A position from one line of text: what is legal, what each action leads to, what looks best.

python examples/position_lookup.py
python examples/position_lookup.py "rules=cover seats=2 ..."     # a line as state.to_position() writes it
"""

from __future__ import annotations

import sys

from mt_env import State, parse_position
from mt_env.tiles import PIPS

LINE = (
    "rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5,4-7/1-2,1-6/0-0,4-4 trains=7/3*/5* "
    "mexican=4 open= owes= drawn= boneyard=3-4,0-9 passes=0"
)


def worth(state: State, seat: int) -> float:
    """How a position looks for ``seat``: points in the others' hands, on average, minus its own.

    A yardstick for people who know all the tiles; a bot must get by with ``state.view(seat)``.
    """
    if state.is_terminal():
        return state.returns()[seat]  # zero_sum: the same difference
    rules = state.game.rules
    hands = [state.hand(i) for i in range(rules.num_players)]
    points = [sum(int(PIPS[tile]) or rules.double_blank for tile in hand) for hand in hands]
    others = points[:seat] + points[seat + 1 :]
    return sum(others) / len(others) - points[seat]


def after(state: State, action: int) -> State:
    """The position once ``action`` and whatever forced moves follow are played; ``state`` stays."""
    child = state.clone()
    child.apply_action(action)
    while not child.is_terminal() and len(child.legal_actions()) == 1:
        child.apply_action(child.legal_actions()[0])
    return child


def main() -> None:
    """Look one decision ahead."""
    state = parse_position(" ".join(sys.argv[1:]) or LINE)
    print(state)
    seat = state.current_player()
    found = []
    for action in state.legal_actions():
        child = after(state, action)
        found.append((worth(child, seat), state.action_to_string(action), child))
    for value, text, child in sorted(found, key=lambda one: -one[0]):
        then = "the round is over" if child.is_terminal() else f"seat {child.current_player()} decides"
        print(f"{text:<8} {value:+6.1f}  {then}")
    if found:
        print("best:", max(found, key=lambda one: one[0])[2].to_position())


if __name__ == "__main__":
    main()

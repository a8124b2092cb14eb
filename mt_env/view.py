"""What one seat may know: the only thing a bot receives."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from mt_env import actions
from mt_env.core.calls import hidden_copy_to
from mt_env.core.state import GAME_DTYPE, NO_TILE, PLAYING
from mt_env.events import Event
from mt_env.rules import ResolvedRules
from mt_env.tiles import tile_to_string, tile_values

if TYPE_CHECKING:
    from mt_env.state import State


def tiles_in(words: NDArray[np.uint64]) -> list[int]:
    """Tile ids of a bit set ``uint64[3]``, ascending."""
    found = []
    for word, value in enumerate(words.tolist()):
        while value:
            low = value & -value
            found.append(word * 64 + low.bit_length() - 1)
            value ^= low
    return found


class View:
    """What one seat may know of a game, as it stood when the view was made.

    Built on a copy of the record from which everything hidden has been erased: no attribute leads to the
    other hands, the boneyard's order, another seat's drawn tile or the seed. Read-only. Seats and trains
    are absolute (``0..num_players - 1``, the Mexican Train is ``num_players``); action ids are relative to
    the seat, as everywhere.

    Attributes:
        seat: whose view it is.
        rules: the rules, resolved for this table.
        rules_record: ``RULES_DTYPE`` ``(1,)``, for compiled policies.
        record: ``GAME_DTYPE`` ``(1,)``, masked and read-only; for compiled policies.
        legal_actions: ids, ascending; empty when it is not this seat's turn.
        log: the public events of the episode so far.
        num_players: seats.
    """

    seat: int
    rules: ResolvedRules
    rules_record: NDArray[np.void]
    record: NDArray[np.void]
    legal_actions: list[int]
    log: list[Event]
    num_players: int

    def __init__(self, state: State, seat: int) -> None:
        record = np.empty(1, GAME_DTYPE)
        hidden_copy_to(state.record, seat, record)
        record.setflags(write=False)
        self.__dict__.update(
            seat=seat,
            rules=state.game.rules,
            rules_record=state.game.rules_record,
            record=record,
            legal_actions=state.legal_actions() if state.current_player() == seat else [],
            log=list(state.log),
            num_players=state.game.num_players,
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a View is read-only: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a View is read-only: {name} cannot be deleted")

    def _number(self, name: str) -> int:
        return int(self.record[name][0])

    def _list(self, name: str, count: int) -> list[int]:
        values: list[int] = self.record[name][0, :count].tolist()
        return values

    @cached_property
    def hand(self) -> list[int]:
        """Tile ids of the seat's hand, ascending."""
        return tiles_in(self.record["hands"][0, self.seat])

    @cached_property
    def hand_tiles(self) -> list[tuple[int, int]]:
        """The hand as pairs of values ``(low, high)``."""
        return [tile_values(tile) for tile in self.hand]

    @cached_property
    def table(self) -> list[int]:
        """Tile ids on the table, the engine included, ascending."""
        return tiles_in(self.record["table"][0])

    @cached_property
    def ends(self) -> list[int]:
        """Value that the next tile of each train must match, ``[num_trains]``."""
        return self._list("ends", self.num_trains)

    @cached_property
    def lengths(self) -> list[int]:
        """Tiles on each train, 0 for one not begun, ``[num_trains]``."""
        return self._list("lengths", self.num_trains)

    @cached_property
    def markers(self) -> list[bool]:
        """Whether each seat's train bears a marker, ``[num_players]``."""
        return [bool(mark) for mark in self._list("markers", self.num_players)]

    @cached_property
    def hand_sizes(self) -> list[int]:
        """Tiles in each hand, ``[num_players]``."""
        return self._list("hand_sizes", self.num_players)

    @cached_property
    def open_trains(self) -> list[int]:
        """Trains of the open doubles that earlier turns left, oldest first."""
        return self._list("open_trains", self._number("num_open"))

    @cached_property
    def owed_trains(self) -> list[int]:
        """Trains of the doubles laid in this turn that still end a train, in order."""
        return self._list("owed_trains", self._number("num_owed"))

    @cached_property
    def totals(self) -> list[int]:
        """Points of each seat over the finished rounds, ``[num_players]``."""
        return self._list("totals", self.num_players)

    @cached_property
    def unable(self) -> NDArray[np.uint8]:
        """How sure it is that a seat lacks a value, 0..8, uint8 ``[num_players, set + 1]``."""
        levels: NDArray[np.uint8] = self.record["unable"][0, : self.num_players, : self.rules.set + 1]
        return levels

    @property
    def num_tiles(self) -> int:
        """Tiles of the set."""
        return self.rules.num_tiles

    @property
    def num_trains(self) -> int:
        """One train a seat, and the Mexican Train."""
        return self.num_players + 1

    @property
    def draw_action(self) -> int:
        """Id of draw."""
        return actions.draw_action(self.num_players, self.num_tiles)

    @property
    def pass_action(self) -> int:
        """Id of pass."""
        return actions.pass_action(self.num_players, self.num_tiles)

    @property
    def boneyard_size(self) -> int:
        """Tiles left to draw."""
        return self._number("boneyard_size")

    @property
    def engine(self) -> int:
        """Value of the double in the centre."""
        return self._number("engine")

    @property
    def lap(self) -> int:
        """The lap, from 1."""
        return self._number("lap")

    @property
    def leader(self) -> int:
        """Seat that led the round."""
        return self._number("leader")

    @property
    def turn(self) -> int:
        """Seat to move; after the end, the seat that moved last."""
        return self._number("turn")

    @property
    def round(self) -> int:
        """Index of the round, from 0."""
        return self._number("round")

    @property
    def passes(self) -> int:
        """Passes in a row that count for ``block_test=passes`` (R6.2)."""
        return self._number("passes")

    @property
    def has_drawn(self) -> bool:
        """Whether the seat to move has drawn in this turn."""
        return bool(self._number("drew"))

    @property
    def drawn(self) -> int | None:
        """The tile this seat has drawn for the tile it now owes; None without one (or not its turn)."""
        tile = self._number("drawn")
        return None if tile == NO_TILE else tile

    @property
    def is_over(self) -> bool:
        """Whether the episode has ended."""
        return self._number("phase") != PLAYING

    def relative(self, train: int) -> int:
        """The absolute ``train`` as this seat numbers it: 0 is its own, the Mexican Train last."""
        return actions.relative_train(train, self.seat, self.num_players)

    def absolute(self, train: int) -> int:
        """The absolute number of the train that this seat numbers ``train``."""
        return actions.absolute_train(train, self.seat, self.num_players)

    def action_to_string(self, action: int) -> str:
        """Text of an action id of this seat, such as ``3-7@M``."""
        return actions.action_to_string(action, self.seat, self.num_players, self.num_tiles)

    def string_to_action(self, text: str) -> int:
        """Id of an action text of this seat."""
        return actions.string_to_action(text, self.seat, self.num_players, self.num_tiles)

    def __repr__(self) -> str:
        return f"<View of seat {self.seat}: {len(self.hand)} tiles, {len(self.legal_actions)} legal actions>"

    def __str__(self) -> str:
        return board_text(self.record, self.rules, [self.seat])


def board_text(record: NDArray[np.void], rules: ResolvedRules, shown: Collection[int]) -> str:
    """The table as text, one line for each train.

    Args:
        record: the game, ``GAME_DTYPE`` ``(1,)``.
        rules: its rules.
        shown: seats whose hands are printed; the others' sizes are.
    """
    s, n = record[0], rules.num_players
    names = [actions.train_name(train, n) for train in range(n + 1)]
    end = {0: f"seat {s['turn']} to move", 1: "round over", 2: "over"}[int(s["phase"])]
    engine = int(s["engine"])
    lines = [f"{rules.rules.to_text()}: D{rules.set}, engine {engine}-{engine}, lap {s['lap']}, {end}"]
    for train in range(n + 1):
        length = int(s["lengths"][train])
        row = f"{s['ends'][train]:>2} after {length} tile{'s' * (length != 1)}" if length else " - not begun"
        if train == n:
            lines.append(f"  Mexican   {row}")
            continue
        mark = "*" if s["markers"][train] else " "
        turn = ">" if int(s["phase"]) == PLAYING and int(s["turn"]) == train else " "
        hand = ""
        if train in shown:
            hand = ": " + " ".join(map(tile_to_string, tiles_in(record["hands"][0, train])))
        lines.append(f"{turn} seat {train:<2}{mark}  {row:<18}  hand {s['hand_sizes'][train]}{hand}")
    for key, label in (("open", "open doubles"), ("owed", "owes a tile after the double")):
        trains = s[f"{key}_trains"][: int(s[f"num_{key}"])].tolist()
        if trains:
            lines.append(f"  {label} on {', '.join(names[train] for train in trains)}")
    if int(s["drawn"]) != NO_TILE:
        lines.append(f"  drawn {tile_to_string(int(s['drawn']))}")
    lines.append(f"  boneyard {s['boneyard_size']}")
    if int(s["rounds_done"]) or s["totals"].any():
        lines.append(f"  totals {' '.join(map(str, s['totals'][:n].tolist()))}")
    return "\n".join(lines)

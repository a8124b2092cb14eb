"""The public log: what everybody at the table has seen, in order."""

from __future__ import annotations

from typing import Final, NamedTuple

from numpy import void

from mt_env.actions import train_to_string
from mt_env.rules import ResolvedRules
from mt_env.tiles import tile_to_string

POSITION: Final = "position"
HUNT: Final = "hunt"
ENGINE: Final = "engine"
PLAY: Final = "play"
DRAW: Final = "draw"
PASS: Final = "pass"
STOP: Final = "stop"
OUT: Final = "out"
BLOCKED: Final = "blocked"

KINDS: Final[dict[str, str]] = {
    POSITION: "the log begins in the middle of a round, at a given position; seat: to move",
    HUNT: "a seat drew a tile to find the engine (R2.4); the last such seat found it",
    ENGINE: "the engine lies in the centre, a round begins; seat: the leader, tile: the engine",
    PLAY: "a seat laid tile on train",
    DRAW: "a seat drew a tile, which only it has seen",
    PASS: "a seat passed; its train bears a marker",
    STOP: "a seat stopped its opening chain (R4.1); shows nothing, marks nothing",
    OUT: "the round ended, some seat is out (R6.1); points: of each seat",
    BLOCKED: "the round ended blocked (R6.2); points: of each seat",
}
"""Every kind of event and what it tells."""

MOVES: Final[frozenset[str]] = frozenset((PLAY, DRAW, PASS, STOP))
"""Kinds that are actions of a seat, one each."""


class Event(NamedTuple):
    """One public event. Fields that do not belong to its kind are -1 or empty."""

    kind: str
    """One of `KINDS`."""
    seat: int = -1
    tile: int = -1
    """Tile id; never set for a drawn tile."""
    train: int = -1
    """Absolute train."""
    points: tuple[int, ...] = ()

    def to_string(self, num_players: int) -> str:
        """Short text: ``2:3-7@M``, ``0:draw``, ``1:engine 12-12``, ``out 0/17/4``."""
        if self.kind == PLAY:
            return f"{self.seat}:{tile_to_string(self.tile)}@{train_to_string(self.train, num_players)}"
        if self.kind == ENGINE:
            return f"{self.seat}:engine {tile_to_string(self.tile)}"
        if self.kind in (OUT, BLOCKED):
            return f"{self.kind} {'/'.join(map(str, self.points))}"
        return f"{self.seat}:{self.kind}"


def round_start(s: void, rules: ResolvedRules) -> list[Event]:
    """What everybody saw before the first turn of the round that has just been dealt into ``s``."""
    n, first = rules.num_players, int(s["round"])
    hunted = rules.boneyard_size - int(s["boneyard_size"])
    engine = int(s["engine"])
    events = [Event(HUNT, (first + i) % n) for i in range(hunted)]
    events.append(Event(ENGINE, int(s["leader"]), engine * (engine + 3) // 2))
    return events


def round_end(s: void, num_players: int) -> Event:
    """The end of the round that has just been scored in ``s``."""
    points = tuple(s["points"][:num_players].tolist())
    return Event(OUT if int(s["how"]) == 1 else BLOCKED, points=points)

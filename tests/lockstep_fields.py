"""What the lock step compares: the fields of both sides by name, in one form."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from reference import Referee
from reference_text import Tile

from mt_env.core.state import NO_TILE, PLAYING
from mt_env.tiles import HIGH, LOW, MAX_SET, num_tiles, tile_id

NOT_BEFORE_THE_END = ("how", "scores")
NOT_AFTER_THE_END = ("turn", "lap", "owes", "open", "drawn", "drew", "legal")
"""The two sides leave these differently when a round is over: no seat is to move, nothing reads them."""

_BIT: dict[Tile, int] = {(a, b): 1 << tile_id(a, b) for b in range(MAX_SET + 1) for a in range(b + 1)}
_WITH = [sum(bit for tile, bit in _BIT.items() if value in tile) for value in range(MAX_SET + 1)]


def bits_of(tiles: Collection[Tile]) -> int:
    """Tiles as an int, bit by tile id."""
    return sum([_BIT[tile] for tile in tiles])


def _words(words: list[int]) -> int:
    return words[0] | words[1] << 64 | words[2] << 128


def _names(bits: int) -> str:
    return ",".join(f"{LOW[t]}-{HIGH[t]}" for t in range(bits.bit_length()) if bits >> t & 1)


def core_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record by name, read from the views of its fields; bit sets as ints."""
    s = {name: view.tolist()[0] for name, view in record.items()}
    n = s["num_players"]
    return {
        "seats": n,
        "set": s["max_pip"],
        "tiles": s["num_tiles"],
        "engine": s["engine"],
        "round": s["round"],
        "leader": s["leader"],
        "lap": s["lap"],
        "turn": s["turn"],
        "hands": [_words(words) for words in s["hands"][:n]],
        "hand_sizes": s["hand_sizes"][:n],
        "boneyard": s["boneyard"][: s["boneyard_size"]][::-1],
        "boneyard_size": s["boneyard_size"],
        "ends": s["ends"][: n + 1],
        "lengths": s["lengths"][: n + 1],
        "markers": s["markers"][:n],
        "open": s["open_trains"][: s["num_open"]],
        "owes": s["owed_trains"][: s["num_owed"]],
        "drawn": None if s["drawn"] == NO_TILE else s["drawn"],
        "drew": bool(s["drew"]),
        "passes": s["passes"],
        "table": _words(s["table"]),
        "unplayed": s["unplayed"],
        "over": s["phase"] != PLAYING,
        "how": (None, "out", "blocked")[s["how"]],
        "scores": s["points"][:n],
    }


READ = (
    "num_players", "max_pip", "num_tiles", "engine", "round", "leader", "lap", "turn", "hands", "hand_sizes",
    "boneyard", "boneyard_size", "ends", "lengths", "markers", "open_trains", "num_open", "owed_trains",
    "num_owed", "drawn", "drew", "passes", "table", "unplayed", "phase", "how", "points",
)  # fmt: skip
"""Fields of the record that `core_fields` reads."""


def referee_fields(game: Referee) -> dict[str, Any]:
    """The same of the referee."""
    rules = game.rules
    hands = [bits_of(hand) for hand in game.hands]
    boneyard = [_BIT[tile].bit_length() - 1 for tile in game.boneyard]
    unplayed = sum(hands) + bits_of(game.boneyard)
    tiles = num_tiles(rules.set)
    return {
        "seats": game.num_players,
        "set": rules.set,
        "tiles": tiles,
        "engine": game.engine,
        "round": game.round,
        "leader": game.leader,
        "lap": game.lap,
        "turn": game.turn,
        "hands": hands,
        "hand_sizes": [len(hand) for hand in game.hands],
        "boneyard": boneyard,
        "boneyard_size": len(boneyard),
        "ends": game.ends,
        "lengths": game.lengths,
        "markers": [int(mark) for mark in game.markers],
        "open": game.open,
        "owes": game.owes,
        "drawn": None if game.drawn is None else tile_id(*game.drawn),
        "drew": game.drew,
        "passes": game.passes,
        "table": ((1 << tiles) - 1) ^ unplayed,
        "unplayed": [(unplayed & tiles_with).bit_count() for tiles_with in _WITH],
        "over": game.over,
        "how": game.how,
        "scores": game.scores,
    }


def shown(field: str, value: Any) -> str:
    if field == "hands":
        return " / ".join(map(_names, value))
    if field == "table":
        return _names(value)
    if field == "boneyard":
        return ",".join(f"{LOW[t]}-{HIGH[t]}" for t in value)
    if field == "drawn":
        return "-" if value is None else f"{LOW[value]}-{HIGH[value]}"
    return str(value)

"""The position language, tiles and actions as text: the referee's own reader and writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference import Referee

Tile = tuple[int, int]
Action = tuple[Any, ...]


def tile_from_text(text: str) -> Tile:
    """``"7-3"`` is ``(3, 7)``."""
    low, high = sorted(int(word) for word in text.split("-"))
    return low, high


def tile_to_text(tile: Tile) -> str:
    """``(3, 7)`` is ``"3-7"``."""
    return f"{tile[0]}-{tile[1]}"


def action_from_text(text: str, num_players: int) -> Action:
    """``3-7@0``, ``3-7@M``, ``draw`` or ``pass``."""
    if "@" not in text:
        return (text,)
    tile, train = text.split("@")
    return ("play", tile_from_text(tile), num_players if train == "M" else int(train))


def action_to_text(action: Action, num_players: int) -> str:
    """The other way round."""
    if action[0] != "play":
        return str(action[0])
    return f"{tile_to_text(action[1])}@{'M' if action[2] == num_players else action[2]}"


def _fields(line: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in line.split())


def _items(text: str) -> list[str]:
    return [] if text in ("", "-") else text.split(",")


def _tiles(text: str) -> list[Tile]:
    return [tile_from_text(word) for word in _items(text)]


def read_deal(
    line: str, rules_loader: Callable[[str], Any]
) -> tuple[Any, int, int, list[list[Tile]], list[Tile]]:
    """Rules, round, engine, hands and boneyard of a position line."""
    field = _fields(line)
    engine = int(field["engine"])
    rules = rules_loader(field["rules"]).resolve(int(field["seats"]), position_set=int(field["set"]))
    hands = [_tiles(hand) for hand in field["hands"].split("/")]
    round_index = int(field.get("round", rules.first_engine - engine))  # R2.3
    return rules, round_index, engine, hands, _tiles(field["boneyard"])


def read_table(line: str, game: Referee) -> None:
    """Put everything else in a position line into ``game``."""
    field, n = _fields(line), game.num_players
    for train, text in enumerate([*field["trains"].split("/"), field["mexican"]]):
        if train < n:
            game.markers[train] = text.endswith("*")
        if text.rstrip("*") != "-":
            game.begun[train], game.lengths[train] = True, 1
            game.ends[train] = int(text.rstrip("*"))
    if "lengths" in field:
        game.lengths = [int(word) for word in field["lengths"].replace("/", ",").split(",")]
    game.open = [n if word == "M" else int(word) for word in _items(field.get("open", ""))]
    game.owes = [n if word == "M" else int(word) for word in _items(field.get("owes", ""))]
    game.lap, game.turn = int(field["lap"]), int(field["turn"])
    game.leader = int(field.get("leader", 0))
    game.passes = int(field.get("passes", 0))
    for tile in _tiles(field.get("drawn", "")):
        game.drawn = tile
        game.hands[game.turn].add(tile)
    game.drew = game.drawn is not None or field.get("drew") == "1"


def write_position(game: Referee) -> str:
    """The position line of ``game``."""
    n = game.num_players
    trains = [str(end) if begun else "-" for end, begun in zip(game.ends, game.begun, strict=True)]
    marked = "/".join(text + "*" * mark for text, mark in zip(trains, game.markers, strict=False))
    hands = "/".join(",".join(map(tile_to_text, sorted(hand))) for hand in game.hands)
    names = {n: "M"}
    opened, owed = (",".join(names.get(t, str(t)) for t in doubles) for doubles in (game.open, game.owes))
    return (
        f"rules={game.rules.rules.to_text()} seats={n} set={game.rules.set} engine={game.engine}"
        f" lap={game.lap} turn={game.turn} leader={game.leader} round={game.round} hands={hands}"
        f" trains={marked} mexican={trains[n]} open={opened} owes={owed or '-'}"
        f" drawn={tile_to_text(game.drawn) if game.drawn else '-'} drew={int(game.drew)}"
        f" boneyard={','.join(map(tile_to_text, game.boneyard))} passes={game.passes}"
        f" lengths={','.join(map(str, game.lengths))}"
    )

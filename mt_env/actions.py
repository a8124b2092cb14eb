"""Action ids and action text.

Ids are relative to the seat to move: ``relative_train * num_tiles + tile``, where relative train 0 is its
own, 1.. are the next seats clockwise and ``num_players`` is the Mexican Train; then draw, then pass. Text is
absolute: ``3-7@0`` (seat 0's train), ``3-7@M`` (the Mexican Train), ``draw``, ``pass``. Trains given as
absolute numbers are ``0..num_players``, the Mexican Train last.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from mt_env.rules_options import as_int
from mt_env.tiles import HIGH, num_tiles, string_to_tile, tile_to_string

PLAY: Final = "play"
DRAW: Final = "draw"
PASS: Final = "pass"

_SHAPE: Final = "write 3-7@0 (a tile on a seat's train), 3-7@M (on the Mexican Train), draw or pass"


class Action(NamedTuple):
    """What an action id means."""

    kind: str
    """``"play"``, ``"draw"`` or ``"pass"``."""
    tile: int = -1
    """Tile id of a play, else -1."""
    train: int = -1
    """Absolute train of a play, else -1."""


def num_actions(num_players: int, tiles: int) -> int:
    """Size of the action space for a set of ``tiles`` tiles: every tile on every train, draw, pass."""
    return (num_players + 1) * tiles + 2


def draw_action(num_players: int, tiles: int) -> int:
    """Id of draw."""
    return (num_players + 1) * tiles


def pass_action(num_players: int, tiles: int) -> int:
    """Id of pass, which also stops an opening chain (R4.1)."""
    return (num_players + 1) * tiles + 1


def relative_train(train: int, seat: int, num_players: int) -> int:
    """The absolute ``train`` as ``seat`` numbers it."""
    return num_players if train == num_players else (train - seat) % num_players


def absolute_train(relative: int, seat: int, num_players: int) -> int:
    """The train that ``seat`` numbers ``relative``."""
    return num_players if relative == num_players else (seat + relative) % num_players


def play_action(tile: int, train: int, seat: int, num_players: int, tiles: int) -> int:
    """Id by which ``seat`` lays ``tile`` on the absolute ``train``."""
    return relative_train(train, seat, num_players) * tiles + tile


def decode(action: int, seat: int, num_players: int, tiles: int) -> Action:
    """What the id ``action`` means when ``seat`` is to move.

    Raises:
        ValueError: no id of this action space.
    """
    total = num_actions(num_players, tiles)
    number = as_int(action)
    if number is None:
        raise ValueError(f"action {action!r}: must be an action id, a whole number from 0 to {total - 1}")
    if not 0 <= number < total:
        raise ValueError(f"action {number}: action ids go from 0 to {total - 1}")
    if number >= total - 2:
        return Action(DRAW if number == total - 2 else PASS)
    return Action(PLAY, number % tiles, absolute_train(number // tiles, seat, num_players))


def train_to_string(train: int, num_players: int) -> str:
    """``"0"``.. for a seat's train, ``"M"`` for the Mexican Train."""
    return "M" if train == num_players else str(train)


def string_to_train(text: str, num_players: int) -> int:
    """The absolute train written ``text``.

    Raises:
        ValueError: neither a seat nor ``M``.
    """
    if text in ("M", "m"):
        return num_players
    if not (text.isascii() and text.isdigit() and len(text) <= 2 and int(text) < num_players):
        raise ValueError(
            f"train {text!r}: must be a seat from 0 to {num_players - 1}, or M (the Mexican Train)"
        )
    return int(text)


def train_name(train: int, num_players: int) -> str:
    """``"seat 2's train"`` or ``"the Mexican Train"``."""
    return "the Mexican Train" if train == num_players else f"seat {train}'s train"


def action_to_string(action: int, seat: int, num_players: int, tiles: int) -> str:
    """Text of the id ``action`` of ``seat``; see the module.

    Raises:
        ValueError: no id of this action space.
    """
    kind, tile, train = decode(action, seat, num_players, tiles)
    return kind if kind != PLAY else f"{tile_to_string(tile)}@{train_to_string(train, num_players)}"


def string_to_action(text: str, seat: int, num_players: int, tiles: int) -> int:
    """Id of the action that ``text`` describes when ``seat`` is to move, legal or not.

    Spaces do not matter, and a tile may be written either way round.

    Raises:
        ValueError: not an action of this set and these seats; the message says what is wrong.
    """
    if not isinstance(text, str):
        raise ValueError(f"action {text!r}: must be text; {_SHAPE}")
    word = "".join(text.split())
    if word.lower() == DRAW:
        return draw_action(num_players, tiles)
    if word.lower() == PASS:
        return pass_action(num_players, tiles)
    tile_text, at, train_text = word.partition("@")
    if not at:
        raise ValueError(f"action {text!r}: {_SHAPE}")
    try:
        tile = string_to_tile(tile_text)
        train = string_to_train(train_text, num_players)
    except ValueError as error:
        raise ValueError(f"action {text!r}: {error}") from None
    if tile >= tiles:
        highest = next(pip for pip in range(HIGH[-1] + 1) if num_tiles(pip) == tiles)
        raise ValueError(
            f"action {text!r}: {tile_to_string(tile)} is not in the double-{highest} set, its values "
            f"go up to {highest}"
        )
    return play_action(tile, train, seat, num_players, tiles)

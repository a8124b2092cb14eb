"""A whole `State` as bytes: magic, version, a JSON header, the record, a checksum.

The header names the game (rules text, seats, episode, engine, reward), so bytes can be read without knowing
it, and carries the log. Nothing is accepted before everything has been checked.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mt_env import events
from mt_env.actions import decode
from mt_env.core.state import GAME_DTYPE, NO_TILE
from mt_env.events import Event
from mt_env.invariants import invariants, start_problems
from mt_env.rules import Rules

if TYPE_CHECKING:
    from mt_env.game import Game
    from mt_env.state import State

MAGIC: Final = b"MTSTATE\0"
VERSION: Final = 1
_HEAD: Final = struct.Struct("<8sHI")
_CHECK: Final = struct.Struct("<I")
_RECORD: Final = GAME_DTYPE.newbyteorder("<")
_KEYS: Final = frozenset(
    ("rules", "num_players", "position_set", "episode", "engine", "reward", "reward_scale",
     "log", "history", "dealt", "drawn", "known", "start")
)  # fmt: skip


def to_bytes(state: State) -> bytes:
    """Everything in ``state``; equal states give equal bytes."""
    game = state.game
    header = {
        "rules": game.rules.rules.to_text(),
        "num_players": game.num_players,
        "position_set": game.rules.set if game.is_position else None,
        "episode": game.episode,
        "engine": game.engine,
        "reward": game.reward,
        "reward_scale": game.reward_scale,
        "log": [[event.kind, event.seat, event.tile, event.train, list(event.points)] for event in state.log],
        "history": state.history(),
        "dealt": [[f"{hand:x}" for hand in hands] for hands in state.dealt],
        "drawn": state.drawn_tiles,
        "known": state.known,
        "start": None if state.start is None else _record_bytes(state.start).hex(),
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    body = _HEAD.pack(MAGIC, VERSION, len(text)) + text + _record_bytes(state.record)
    return body + _CHECK.pack(zlib.crc32(body))


def from_bytes(data: bytes) -> State:
    """The state of `to_bytes`.

    Raises:
        ValueError: the bytes are damaged, or of another version; the message begins with ``state bytes``.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"state bytes: must be bytes, not {type(data).__name__}")
    try:
        return _read(bytes(data))
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ValueError(f"state bytes: {error}") from None


def _record_bytes(record: np.ndarray[Any, np.dtype[np.void]]) -> bytes:
    return record.astype(_RECORD).tobytes()


def _record(data: bytes) -> np.ndarray[Any, np.dtype[np.void]]:
    _need(len(data) == _RECORD.itemsize, f"a record has {_RECORD.itemsize} bytes, not {len(data)}")
    return np.frombuffer(data, _RECORD).astype(GAME_DTYPE)


def _need(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)


def _ints(values: object, low: int, high: int, what: str) -> list[int]:
    _need(isinstance(values, list), f"{what} is no list")
    assert isinstance(values, list)
    fine = all(type(value) is int and low <= value <= high for value in values)
    _need(fine, f"{what} holds something other than numbers from {low} to {high}")
    return values


def _read(data: bytes) -> State:
    _need(len(data) >= _HEAD.size + _CHECK.size, f"only {len(data)} bytes")
    magic, version, length = _HEAD.unpack_from(data)
    _need(magic == MAGIC, "they do not begin as those of State.to_bytes")
    _need(version == VERSION, f"version {version}, this package reads {VERSION}")
    right = _HEAD.size + length + _RECORD.itemsize + _CHECK.size
    _need(len(data) == right, f"{len(data)} bytes, the header says {right}")
    _need(
        _CHECK.unpack(data[-_CHECK.size :])[0] == zlib.crc32(data[: -_CHECK.size]), "damaged (wrong checksum)"
    )
    header = json.loads(data[_HEAD.size : _HEAD.size + length])
    _need(isinstance(header, dict) and header.keys() == _KEYS, "the header has other fields")
    state = _state(header, data[_HEAD.size + length : -_CHECK.size])
    problems = invariants(state)
    _need(not problems, "; ".join(problems[:3]))
    if state.start is not None:
        from mt_env.state import State

        whole = state.known == (1 << state.game.num_players) - 1  # else it has been resampled
        problems = (invariants if whole else start_problems)(State(state.game, state.start))
        _need(not problems, f"start: {'; '.join(problems[:3])}")
    return state


def _game(header: dict[str, Any]) -> Game:
    from mt_env.game import Game

    rules = Rules.from_text(header["rules"])
    if header["position_set"] is None:
        return Game(
            rules,
            header["num_players"],
            episode=header["episode"],
            engine=header["engine"],
            reward=header["reward"],
            reward_scale=header["reward_scale"],
        )
    resolved = rules.resolve(header["num_players"], position_set=header["position_set"])
    game = Game.for_position(resolved, header["engine"])
    same = all(
        getattr(game, name) == header[name] for name in ("episode", "reward", "reward_scale", "engine")
    )
    _need(same, "a position is a single round with the default reward")
    return game


def _state(header: dict[str, Any], record: bytes) -> State:
    from mt_env.state import State

    game = _game(header)
    n, tiles = game.num_players, game.num_tiles
    state = State(game, _record(record))
    state.log = [_event(fields, game) for fields in header["log"]]
    history = _ints(header["history"], 0, game.num_actions - 1, "history")
    moves = [event for event in state.log if event.kind in events.MOVES]
    _need(len(moves) == len(history), "log and history differ")
    for event, action in zip(moves, history, strict=True):
        kind = events.PASS if event.kind == events.STOP else event.kind
        _need(
            (kind, event.tile, event.train) == decode(action, event.seat, n, tiles), "log and history differ"
        )
    state._history = history
    state.drawn_tiles = _ints(header["drawn"], 0, NO_TILE, "drawn")
    _need(
        all(tile < tiles or tile == NO_TILE for tile in state.drawn_tiles), "a drawn tile is not in the set"
    )
    kinds = [event.kind for event in state.log]
    _need(len(state.drawn_tiles) == kinds.count(events.DRAW), "draws of the log and drawn tiles differ")
    state.dealt = [tuple(int(hand, 16) for hand in hands) for hands in header["dealt"]]
    begun = kinds.count(events.ENGINE) + kinds.count(events.POSITION)
    fine = all(len(hands) == n and all(0 <= hand < 1 << tiles for hand in hands) for hands in state.dealt)
    _need(fine and len(state.dealt) == begun and begun > 0, "hands at the deal do not fit the log")
    state.known = _ints([header["known"]], 0, (1 << n) - 1, "known")[0]
    _need((header["start"] is not None) == game.is_position, "start does not fit the game")
    _need(game.is_position == (kinds[0] == events.POSITION), "the log does not begin as it should")
    if header["start"] is not None:
        state.start = _record(bytes.fromhex(header["start"]))
    ends = [event for event in state.log if event.points]
    _need(len(ends) == int(state.record["rounds_done"][0]), "rounds of the log and the record differ")
    last = len(kinds) - 1 - max(i for i, kind in enumerate(kinds) if kind in (events.ENGINE, events.POSITION))
    _need(last - (kinds[-1] in (events.OUT, events.BLOCKED)) == int(state.record["moves"][0]), "moves differ")
    if not game.is_position:
        totals = [sum(points) for points in zip(*(event.points for event in ends), strict=True)]
        _need(state.totals() == (totals or [0] * n), "totals and the points of the log differ")
    if ends:
        _need(list(ends[-1].points) == state.round_scores(), "points of the log and the record differ")
    state.restore_returns(ends, paid=_just_paid(kinds))
    return state


def _just_paid(kinds: list[str]) -> bool:
    """Whether the last action ended a round: only the next round's beginning stands after its end."""
    after = len(kinds)
    while after and kinds[after - 1] in (events.HUNT, events.ENGINE):
        after -= 1
    return after > 0 and kinds[after - 1] in (events.OUT, events.BLOCKED)


def _event(fields: object, game: Game) -> Event:
    _need(isinstance(fields, list) and len(fields) == 5, "the log holds something other than events")
    assert isinstance(fields, list)
    kind, seat, tile, train, points = fields
    n = game.num_players
    _need(kind in events.KINDS, f"the log has an unknown kind {kind!r}")
    _ints([seat], -1, n - 1, "seat of an event")
    _ints([tile], -1, game.num_tiles - 1, "tile of an event")
    _ints([train], -1, n, "train of an event")
    ended = kind in (events.OUT, events.BLOCKED)
    _need(len(_ints(points, 0, 1 << 16, "points of an event")) == (n if ended else 0), "points of an event")
    _need((seat < 0) == ended, "seat of an event")
    _need((train >= 0) == (kind == events.PLAY), "train of an event")
    _need((tile >= 0) == (kind in (events.PLAY, events.ENGINE)), "tile of an event")
    return Event(kind, seat, tile, train, tuple(points))

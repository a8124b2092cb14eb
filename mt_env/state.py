"""`State`: one game in progress, checked; the core's record, the public log and what each seat has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env import actions, events
from mt_env.core.calls import apply_to, copy_to, legal_of
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL, PLAYING, ROUND_OVER
from mt_env.events import Event, round_end, round_start
from mt_env.explain import over_text, why_illegal
from mt_env.notation import position_text
from mt_env.rewards import episode_rewards, reward_code, round_rewards, write_rewards
from mt_env.rng import Rng
from mt_env.rules_options import as_int
from mt_env.view import View, board_text, tiles_in

if TYPE_CHECKING:
    from mt_env.game import Game

TERMINAL: Final[int] = -4
"""``current_player()`` of a state that has ended (OpenSpiel's value)."""

_HOW: Final[tuple[str | None, ...]] = (None, "out", "blocked")


class State:
    """One game in progress. Made by ``Game.new_initial_state`` or `mt_env.parse_position`.

    Comparable by content, copyable, picklable; changed only by `apply_action`.

    Attributes:
        game: the table.
        record: the core's record, ``GAME_DTYPE`` ``(1,)``. Reading is free; writing is for the core.
        log: public events of the whole episode, oldest first.
        dealt: for each round of the log, each seat's hand before its first turn, as int bit sets (hidden).
        drawn_tiles: tile of each draw of the log, in order (hidden), ``NO_TILE`` where it was not kept.
        start: the record at which a position began; None for a dealt game.
        known: bit by seat: whose ``dealt`` and ``drawn_tiles`` are kept; see ``resample_from_infostate``.
    """

    __slots__ = (
        "_history", "_legal", "_returns", "_rewards", "_s",
        "dealt", "drawn_tiles", "game", "known", "log", "record", "start",
    )  # fmt: skip

    def __init__(self, game: Game, record: NDArray[np.void]) -> None:
        n = game.num_players
        self.game = game
        self.record = record
        self._s: np.void = record[0]
        self.log: list[Event] = []
        self.dealt: list[tuple[int, ...]] = []
        self.drawn_tiles: list[int] = []
        self.start: NDArray[np.void] | None = None
        self.known: int = (1 << n) - 1
        self._history: list[int] = []
        self._legal: list[int] | None = None
        self._returns: NDArray[np.float64] = np.zeros(n)
        self._rewards: NDArray[np.float64] = np.zeros(n)

    @classmethod
    def from_position(cls, game: Game, record: NDArray[np.void]) -> State:
        """A state that begins in the middle of a round, at ``record``."""
        state = cls(game, record)
        state.start = record.copy()
        state.log.append(Event(events.POSITION, int(record["turn"][0])))
        state._note_hands()
        return state

    def begin_round(self) -> None:
        """Enter the round that has just been dealt into the log."""
        self.log += round_start(self._s, self.game.rules)
        self._note_hands()

    def _note_hands(self) -> None:
        words = self._s["hands"][: self.game.num_players].tolist()
        self.dealt.append(tuple(a | b << 64 | c << 128 for a, b, c in words))

    # What is there.

    @property
    def seed(self) -> int:
        """Seed of the deal; 0 for a position and for a resampled state."""
        return int(self._s["seed"])

    @property
    def how(self) -> str | None:
        """How the last finished round ended: ``"out"``, ``"blocked"``, or None before one has."""
        return _HOW[int(self._s["how"])]

    def is_terminal(self) -> bool:
        """Whether the episode has ended."""
        return bool(self._s["phase"] != PLAYING)

    def current_player(self) -> int:
        """Seat to move, `TERMINAL` after the end."""
        return TERMINAL if self._s["phase"] else int(self._s["turn"])

    def legal_actions(self) -> list[int]:
        """Ids of the legal actions, ascending; empty after the end and only then."""
        return list(self._legal_now())

    def _legal_now(self) -> list[int]:
        if self._legal is None:
            out = np.empty(MAX_LEGAL, np.int64)
            self._legal = out[: legal_of(self.record, self.game.rules_record, out)].tolist()
        return self._legal

    def legal_actions_mask(self) -> NDArray[np.int8]:
        """1 for each legal action, int8 ``[num_actions]``."""
        mask = np.zeros(self.game.num_actions, np.int8)
        mask[self._legal_now()] = 1
        return mask

    def history(self) -> list[int]:
        """Ids of all actions of the episode."""
        return list(self._history)

    def rewards(self) -> list[float]:
        """What the last action paid each seat; zeros unless it ended a round."""
        return list(map(float, self._rewards))

    def returns(self) -> list[float]:
        """Sum of the rewards so far, for each seat."""
        return list(map(float, self._returns))

    def round_scores(self) -> list[int]:
        """Points of each seat in the last finished round; zeros before one has ended (``how`` is None)."""
        return list(map(int, self._s["points"][: self.game.num_players]))

    def totals(self) -> list[int]:
        """Points of each seat over the finished rounds."""
        return list(map(int, self._s["totals"][: self.game.num_players]))

    def ranks(self) -> list[float]:
        """Rank of each seat by the finished rounds (R7): 1 is first, ties share the mean of their places."""
        return self._standing()[0]

    def win_shares(self) -> list[float]:
        """``1/k`` for each of the ``k`` seats that lead by the finished rounds (R7), else 0."""
        return self._standing()[1]

    def _standing(self) -> tuple[list[float], list[float]]:
        ranks, shares = np.zeros(self.game.num_players), np.zeros(self.game.num_players)
        standing(self._s, self.game.rules_record[0], ranks, shares)
        return list(map(float, ranks)), list(map(float, shares))

    # Moving on.

    def apply_action(self, action: int) -> None:
        """Apply an action id of the seat to move; after a round of a match the next one is dealt.

        Raises:
            ValueError: the action is not legal; the message says why. The state is then unchanged.
        """
        number = action if type(action) is int else as_int(action)
        if number is None or number not in self._legal_now():
            raise ValueError(why_illegal(self, action))
        s, game = self._s, self.game
        seat = int(s["turn"])
        kind, tile, train = actions.decode(number, seat, game.num_players, game.num_tiles)
        if kind == actions.PASS and game.rules.opening == "chain" and s["lap"] == 1 and s["lengths"][seat]:
            kind = events.STOP  # R4.1
        apply_to(self.record, game.rules_record, number)
        self._legal = None
        self._history.append(number)
        self.log.append(Event(kind, seat, tile, train))
        if kind == actions.DRAW:
            self.drawn_tiles.append(int(s["drawn"]))
        self._pay()

    def _pay(self) -> None:
        """Work out the rewards of the action just applied, and go on to the next round of a match."""
        n, s = self.game.num_players, self._s
        self._rewards = np.zeros(n)  # a new array: clones share the old one
        if s["phase"] == PLAYING:
            return
        r = self.game.rules_record[0]
        code, scale = reward_code(self.game.reward), self.game.reward_scale
        write_rewards(s, r, code, scale, np.empty(n), np.empty(n), self._rewards)
        self._returns = self._returns + self._rewards
        self.log.append(round_end(s, n))
        if s["phase"] == ROUND_OVER:
            next_round(s, r)
            self.begin_round()

    def restore_returns(self, ends: list[Event], paid: bool) -> None:
        """Work out the rewards again from the rounds that have ended; ``paid``: the last action ended one."""
        reward, scale = self.game.reward, self.game.reward_scale
        for event in ends:
            self._rewards = round_rewards(reward, event.points) * scale
            self._returns = self._returns + self._rewards
        if self.is_terminal():
            final = episode_rewards(reward, *self._standing()) * scale
            self._rewards, self._returns = self._rewards + final, self._returns + final
        if not paid:
            self._rewards = np.zeros(self.game.num_players)

    def child(self, action: int) -> State:
        """The state after ``action``; this one stays as it is."""
        state = self.clone()
        state.apply_action(action)
        return state

    def clone(self) -> State:
        """An independent copy."""
        state = State.__new__(State)
        state.game = self.game
        state.record = np.empty(1, GAME_DTYPE)
        copy_to(self.record, state.record)
        state._s = state.record[0]
        state.log = self.log.copy()
        state.dealt = self.dealt.copy()
        state.drawn_tiles = self.drawn_tiles.copy()
        state.start = self.start  # never changed in place
        state.known = self.known
        state._history = self._history.copy()
        state._legal = self._legal  # replaced, never changed
        state._returns = self._returns
        state._rewards = self._rewards
        return state

    # What a seat knows.

    def _seat(self, seat: int) -> int:
        number = as_int(seat)
        if number is None or not 0 <= number < self.game.num_players:
            raise ValueError(f"seat={seat!r}: must be a seat from 0 to {self.game.num_players - 1}")
        return number

    def view(self, seat: int) -> View:
        """What ``seat`` may know, for bots."""
        return View(self, self._seat(seat))

    def observation(self, seat: int) -> NDArray[np.float32]:
        """What ``seat`` sees as one vector, float32 ``[game.encoding.size]`` in [0, 1]."""
        from mt_env.observation import encode

        out = np.zeros(self.game.encoding.size, np.float32)
        encode(self._s, self.game.rules_record[0], self._seat(seat), out)
        return out

    def information_state(self, seat: int) -> str:
        """Everything ``seat`` has seen, as text: its own hands and draws, and the public log."""
        from mt_env.infostate import information_state

        return information_state(self, self._seat(seat))

    def resample_from_infostate(self, seat: int, rng: Rng) -> State:
        """A state that ``seat`` cannot tell from this one, its hidden tiles dealt anew.

        Uniform over deals, sizes kept; see `mt_env.infostate.resample` for what is not respected.
        """
        from mt_env.infostate import resample

        return resample(self, self._seat(seat), rng)

    # Text and bytes.

    def action_to_string(self, action: int) -> str:
        """Text of an action id of the seat to move, such as ``3-7@0``, ``3-7@M``, ``draw``, ``pass``.

        Raises:
            ValueError: no action id, or the episode is over.
        """
        return actions.action_to_string(action, self._mover(), self.game.num_players, self.game.num_tiles)

    def string_to_action(self, text: str) -> int:
        """Id of an action text of the seat to move, legal or not.

        Raises:
            ValueError: not an action, or the episode is over.
        """
        return actions.string_to_action(text, self._mover(), self.game.num_players, self.game.num_tiles)

    def _mover(self) -> int:
        if self.is_terminal():
            raise ValueError(over_text(self))
        return int(self._s["turn"])

    def to_position(self) -> str:
        """This round as a position line, see `mt_env.parse_position`.

        Raises:
            ValueError: the episode is over.
        """
        return position_text(self.record, self.game.rules)

    def hand(self, seat: int) -> list[int]:
        """Tile ids of a hand, ascending."""
        return tiles_in(self.record["hands"][0, self._seat(seat)])

    def boneyard(self) -> list[int]:
        """Tile ids of the boneyard, the next draw first."""
        tiles: list[int] = self._s["boneyard"][: int(self._s["boneyard_size"])][::-1].tolist()
        return tiles

    def to_bytes(self) -> bytes:
        """Everything, for `from_bytes`; equal states give equal bytes."""
        from mt_env.serial import to_bytes

        return to_bytes(self)

    @staticmethod
    def from_bytes(data: bytes) -> State:
        """The state of `to_bytes`.

        Raises:
            ValueError: the bytes are damaged, or of another version.
        """
        from mt_env.serial import from_bytes

        return from_bytes(data)

    def __reduce__(self) -> tuple[Any, ...]:
        return State.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> State:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        return self.clone()

    def _content(self) -> tuple[object, ...]:
        start = None if self.start is None else self.start.tobytes()
        public = (self.game, self.record.tobytes(), self.log, self._history)
        return (*public, self.dealt, self.drawn_tiles, start, self.known)

    def __eq__(self, other: object) -> bool:
        return self._content() == other._content() if isinstance(other, State) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        mover = "over" if self.is_terminal() else f"seat {self.current_player()} to move"
        return f"<State of {self.game!r}: seed {self.seed}, {len(self._history)} actions, {mover}>"

    def __str__(self) -> str:
        return board_text(self.record, self.game.rules, range(self.game.num_players))

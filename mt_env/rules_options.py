"""What the options of a rule set are: the seat tables and, for each option, its values, clause and meaning.

Plain data that `mt_env.rules` checks against and that docs, command line and fuzzers derive from.
"""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

from mt_env.tiles import MAX_SET, MIN_SET, num_tiles

Value: TypeAlias = int | str | bool | None
"""What an option can hold."""

MIN_SEATS: Final = 2
MAX_SEATS: Final = 14
"""Seats a game can have (R2.1)."""

Pairs: TypeAlias = tuple[tuple[int, int], ...]
"""Pairs ``(set, hand_size)``, the default pair first."""


def _by_seats(rows: Mapping[tuple[int, ...], Pairs]) -> Mapping[int, Pairs]:
    return MappingProxyType({seats: pairs for group, pairs in rows.items() for seats in group})


_LARGE: Final[Mapping[tuple[int, ...], Pairs]] = {
    (5, 6): ((12, 12),),
    (7, 8): ((12, 11),),
    (9, 10, 11, 12): ((15, 11),),
    (13, 14): ((18, 11),),
}

TABLES: Final[Mapping[str, Mapping[int, Pairs]]] = MappingProxyType(
    {
        "spruce": _by_seats({(2, 3): ((9, 15), (6, 7)), (4,): ((12, 15), (6, 7)), **_LARGE}),
        "wikihow": _by_seats({(2, 3, 4, 5, 6): ((12, 12),), (7, 8): ((12, 10),), (9, 10): ((12, 8),)}),
        "dominos_cc": _by_seats({(2, 3, 4): ((12, 15),)}),
        "cover": _by_seats({(2, 3, 4): ((12, 15),), **_LARGE}),
    }
)
"""R2.1: table name -> number of seats -> pairs ``(set, hand_size)``."""


@dataclass(frozen=True, slots=True)
class Option:
    """One field of `Rules`: what it may hold and what that means."""

    name: str
    clause: str
    """Main clause of docs/rules.md, e.g. ``"R5.6"``."""
    meaning: str
    values: tuple[Value, ...]
    """Every allowed value; numbers ascend, ``None`` and words stand first."""
    notes: tuple[str, ...] = ()
    """What each value means, in the order of ``values``; empty for numbers."""

    def check(self, value: object) -> Value:
        """The allowed value equal to ``value`` and of its type (NumPy integers count as ``int``).

        Raises:
            ValueError: not an allowed value; ``True`` is no number and ``"7"`` is no number either.
        """
        number = as_int(value)
        plain = value if number is None else number
        if isinstance(value, str):
            plain = str.__str__(value)  # a str subclass, NumPy's say, as the plain string it holds
        for allowed in self.values:
            if type(allowed) is type(plain) and allowed == plain:
                return allowed
        raise ValueError(f"{self.name}={value!r}: must be {self.describe()}{self._hint(value)}")

    def parse(self, text: str) -> Value:
        """The allowed value spelled ``text`` in position text (``yes``/``no``, ``none``, plain digits).

        Raises:
            ValueError: no allowed value is spelled so.
        """
        for allowed in self.values:
            if value_to_text(allowed) == text:
                return allowed
        must = self.describe(in_text=True)
        raise ValueError(f"{self.name}={text}: must be {must}{self._hint(text, in_text=True)}")

    def describe(self, *, in_text: bool = False) -> str:
        """The allowed values in words, as they are written in Python or in position text."""
        ints = [v for v in self.values if type(v) is int]
        parts = [value_to_text(v) if in_text else repr(v) for v in self.values if type(v) is not int]
        if ints:
            parts.insert(0, f"a whole number from {ints[0]} to {ints[-1]}")
        return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

    def _hint(self, value: object, *, in_text: bool = False) -> str:
        if isinstance(value, str):
            words = ("yes", "no", "true", "false")
            if not in_text and isinstance(self.values[0], bool) and value.lower() in words:
                return "; it is a yes/no option: True/False in Python, yes/no without quotes in YAML"
            if not in_text and value.isdecimal():
                return "; it is a number, not a string: write it without quotes"
            return near(value, (v for v in self.values if isinstance(v, str)))
        if isinstance(value, bool):
            return "; it is not a yes/no option"
        if value is None:
            return "; it cannot be left open"
        return ""


def as_int(value: object) -> int | None:
    """A whole number of any type (NumPy's too) as ``int``; None for anything else and for booleans."""
    if isinstance(value, bool):
        return None
    return int(value) if isinstance(value, numbers.Integral) else None


def value_to_text(value: Value) -> str:
    """An option's value as position text writes it: ``yes``/``no`` for booleans, ``none`` for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def near(word: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` where a known word is near, else nothing."""
    close = difflib.get_close_matches(word.lower().replace("-", "_").replace(" ", "_"), list(known), 1, 0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def _choice(name: str, clause: str, meaning: str, notes: dict[Value, str]) -> Option:
    return Option(name, clause, meaning, tuple(notes), tuple(notes.values()))


_ALL_OPTIONS: Final = (
    _choice("table", "R2.1", "column of the seat table that gives the set and the hand size", {
        "spruce": "2-14 seats", "wikihow": "2-10 seats", "dominos_cc": "2-4 seats", "cover": "2-14 seats",
    }),
    Option("set", "R2.1", "highest pip of the set", (None, *range(MIN_SET, MAX_SET + 1))),
    Option("hand_size", "R2.1", "tiles dealt to each seat", (None, *range(2, num_tiles(MAX_SET) // 2 + 1))),
    _choice("engine_from", "R2.2", "where the engine comes from", {
        "dealt": "from the hand that holds it, or hunted", "set_aside": "taken out before the deal",
    }),
    Option("rounds", "R2.3", "rounds of a match", ("all", *range(1, MAX_SET + 2))),
    Option("first_engine", "R2.3", "engine of round 0", (None, *range(MAX_SET + 1))),
    _choice("opening", "R4.1", "what a seat may lay in its first turn", {
        "chain": "as many tiles in a row as it likes, on its own train", "single": "an ordinary turn",
    }),
    _choice("opening_double_binds", "R4.1", "whether a double at the end of an opening chain is open later", {
        False: "it binds nobody", True: "it must be covered",
    }),
    _choice("mexican_from", "R4.3", "first lap in which the Mexican Train may be begun", {
        "lap_1": "at any time", "lap_2": "not in lap 1",
    }),
    _choice("own_first", "R4.4", "whether a seat must begin its own train before it plays elsewhere", {
        False: "no", True: "yes; a Mexican Train that has been begun is the exception after lap 1",
    }),
    _choice("drawn_tile", "R3.3", "what becomes of a drawn tile that fits", {
        "must": "it is played", "may": "it is played or kept",
    }),
    _choice("draws_per", "R3.3", "how often a seat may draw", {
        "need": "once for each tile it owes", "turn": "once a turn",
    }),
    _choice("extra_tile", "R5.2", "where the tile owed after a double goes", {
        "anywhere": "on any train the seat may play on", "on_double": "on that double",
    }),
    _choice("open_order", "R5.5", "which of several open doubles is covered next", {
        "oldest": "the one laid first", "any": "any of them",
    }),
    _choice("dead_double", "R5.6", "what a double does whose value has no unplayed tile left", {
        "binds": "it binds as any other", "lifts": "it owes nothing and binds nobody",
    }),
    _choice("out_on_double", "R5.7", "whether a double as last tile ends the round", {
        False: "not until no double is open", True: "at once",
    }),
    _choice("block_test", "R6.2", "when a round is blocked", {
        "stuck": "empty boneyard and no seat has a play", "passes": "empty boneyard and a lap of passes",
    }),
    Option("double_blank", "R6.3", "points of 0-0 in a hand", tuple(range(101))),
    _choice("tie_break", "R7.2", "who wins a match among equal totals", {
        "zero_rounds": "most rounds of 0, then lowest other round, then shared", "shared": "all of them",
    }),
)  # fmt: skip

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType({option.name: option for option in _ALL_OPTIONS})
"""Option name -> allowed values, clause and meaning, in field order. Docs and fuzzers derive from it."""


def largest_hand(max_pip: int, num_players: int, engine_from: str) -> int:
    """Largest hand that can be dealt to every seat from the set, a set-aside engine left out (R2.6)."""
    return (num_tiles(max_pip) - (engine_from == "set_aside")) // num_players


def check_deal(max_pip: int, hand_size: int, num_players: int, engine_from: str) -> None:
    """Refuse hands that need more tiles than the set has, a set-aside engine counted (R2.6)."""
    most = largest_hand(max_pip, num_players, engine_from)
    if hand_size > most:
        tiles, engine = num_tiles(max_pip), int(engine_from == "set_aside")
        aside = " and one for the engine set aside" if engine else ""
        right = f"take hand_size up to {most}" if most >= 2 else "take fewer seats"
        raise ValueError(
            f"set={max_pip}, hand_size={hand_size}, num_players={num_players}, "
            f"engine_from={engine_from!r}: {num_players} hands of {hand_size}{aside} need "
            f"{num_players * hand_size + engine} tiles and the set has {tiles}; {right}, "
            "or a larger set (R2.6)"
        )

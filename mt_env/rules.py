"""The rules as one frozen, validated record of named options.

`Rules` is seat-free: every option of docs/rules.md is a field, and a preset is only a set of values.
`Rules.resolve` fills in what depends on the number of seats and refuses what cannot be dealt.
Clause numbers (R2.1 ...) are those of docs/rules.md. Every refusal is a `ValueError` that names the
fields, the values and what would be right.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from mt_env.rules_options import (
    MAX_SEATS,
    MIN_SEATS,
    OPTIONS,
    TABLES,
    Option,
    Value,
    as_int,
    check_deal,
    largest_hand,
    near,
    value_to_text,
)
from mt_env.tiles import MAX_SET, MIN_SET, num_tiles

__all__ = [
    "MAX_SEATS",
    "MIN_SEATS",
    "OPTIONS",
    "PRESETS",
    "TABLES",
    "Option",
    "ResolvedRules",
    "Rules",
    "Value",
    "largest_hand",
    "load_rules",
    "value_to_text",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A rule set, independent of the number of seats; the defaults are the preset ``spruce``.

    Hashable, picklable and comparable by value. `OPTIONS` lists what each field may hold.

    Raises:
        ValueError: a value is not allowed, or two do not go together.
    """

    table: Literal["spruce", "wikihow", "dominos_cc", "cover"] = "spruce"
    """R2.1: which column of the seat table gives ``set`` and ``hand_size`` where they are None."""
    set: int | None = None
    """R2.1: highest pip of the set, 2..18 (sold: 6, 9, 12, 15, 18). None: by the table."""
    hand_size: int | None = None
    """R2.1: tiles dealt to each seat, at least 2. None: by the table."""
    engine_from: Literal["dealt", "set_aside"] = "dealt"
    """R2.2: the engine is dealt with the rest and its holder lays it, or it is taken out before the deal."""
    rounds: int | Literal["all"] = "all"
    """R2.3: rounds of a match, 1..``first_engine`` + 1; ``"all"`` means ``first_engine`` + 1."""
    first_engine: int | None = None
    """R2.3: engine of round 0; round r has ``first_engine - r``. None: the set's highest double."""
    opening: Literal["chain", "single"] = "chain"
    """R4.1, R4.2: in lap 1 a seat lays a chain on its own train, or plays an ordinary turn."""
    opening_double_binds: bool = False
    """R4.1: a double left at the end of an opening chain is open from lap 2 on. Only with chain."""
    mexican_from: Literal["lap_1", "lap_2"] = "lap_2"
    """R4.3: the first lap in which the Mexican Train may be begun. An opening chain needs lap_2."""
    own_first: bool = False
    """R4.4: own train first; until it is begun, beside it only a begun Mexican Train. Needs lap_2."""
    drawn_tile: Literal["must", "may"] = "must"
    """R3.3: a drawn tile that fits must be played, or may also be kept by passing."""
    draws_per: Literal["need", "turn"] = "need"
    """R3.3: one draw for each tile owed, or one draw a turn."""
    extra_tile: Literal["anywhere", "on_double"] = "anywhere"
    """R5.2: the tile owed after a double goes on any train open to the seat, or on that double."""
    open_order: Literal["oldest", "any"] = "oldest"
    """R5.5: several open doubles are covered oldest first, or in any order."""
    dead_double: Literal["binds", "lifts"] = "binds"
    """R5.6: a double that no unplayed tile can cover still binds, or owes nothing and binds nobody."""
    out_on_double: bool = True
    """R5.7: laying a double as last tile ends the round, or the seat waits until no double is open."""
    block_test: Literal["stuck", "passes"] = "stuck"
    """R6.2: blocked when no seat has a play after a turn, or after a full lap of passes."""
    double_blank: int = 50
    """R6.3: what 0-0 counts in a hand, 0..100."""
    tie_break: Literal["zero_rounds", "shared"] = "zero_rounds"
    """R7.2: equal totals are parted by rounds of 0, then by the lowest other round; or share first place."""

    def __post_init__(self) -> None:
        for option in OPTIONS.values():
            object.__setattr__(self, option.name, option.check(getattr(self, option.name)))
        if self.mexican_from == "lap_1":
            right = "take mexican_from='lap_2'"
            if self.opening == "chain":
                raise ValueError(
                    "opening='chain' with mexican_from='lap_1': in an opening chain nobody plays off his own "
                    f"train; {right} or opening='single' (R4.1, R4.3)"
                )
            if self.own_first:
                raise ValueError(
                    "own_first=True with mexican_from='lap_1': nobody may begin the Mexican Train before his "
                    f"own; {right} or own_first=False (R4.3, R4.4)"
                )
        if self.opening_double_binds and self.opening == "single":
            raise ValueError(
                "opening_double_binds=True with opening='single': it speaks of opening chains; "
                "take opening='chain' or opening_double_binds=False (R4.1)"
            )
        if self.set is not None:
            self._check_rounds(self.set)
            if self.hand_size is not None:
                check_deal(self.set, self.hand_size, MIN_SEATS, self.engine_from)
        elif self.first_engine is not None:
            self._check_rounds(MAX_SET)

    def _check_rounds(self, max_pip: int) -> tuple[int, int]:
        """``(rounds, first_engine)`` made concrete for the set, or a refusal (R2.3)."""
        first = max_pip if self.first_engine is None else self.first_engine
        if first > max_pip:
            raise ValueError(
                f"first_engine={first} with set={max_pip}: the set's highest double is {max_pip}-{max_pip}; "
                f"take first_engine from 0 to {max_pip}, or None for the highest (R2.3)"
            )
        if self.rounds == "all":
            return first + 1, first
        if self.rounds > first + 1:
            raise ValueError(
                f"rounds={self.rounds} with first_engine={first} (set={max_pip}): each round has its own "
                f"engine, down to 0-0; take rounds from 1 to {first + 1}, or 'all' (R2.3)"
            )
        return self.rounds, first

    def resolve(self, num_players: int, *, position_set: int | None = None) -> ResolvedRules:
        """Every option made concrete for a number of seats.

        Args:
            num_players: seats at the table, 2..14.
            position_set: for a single position, which is not dealt: the set it is played with, whatever
                the table says. ``hand_size`` is then the one given, or the table's for that pair, or 15,
                and never more than can be dealt; a number of rounds the set has no engines for is cut.

        Raises:
            ValueError: the seats or the set are out of range, or this cannot be dealt (R2.1, R2.6).
        """
        num_players = _whole("num_players", num_players, MIN_SEATS, MAX_SEATS)
        if position_set is None:
            max_pip, hand_size = self._deal_for(num_players)
            check_deal(max_pip, hand_size, num_players, self.engine_from)
            rounds, first_engine = self._check_rounds(max_pip)
        else:
            max_pip = _whole("position_set", position_set, MIN_SET, MAX_SET)
            if self.set is not None and self.set != max_pip:
                raise ValueError(f"position_set={max_pip} with set={self.set}: the rules name another set")
            wanted = dict(TABLES[self.table].get(num_players, ())).get(max_pip, 15)
            wanted = wanted if self.hand_size is None else self.hand_size
            hand_size = min(wanted, largest_hand(max_pip, num_players, self.engine_from))
            first_engine = max_pip if self.first_engine is None else min(self.first_engine, max_pip)
            rounds = first_engine + 1 if self.rounds == "all" else min(self.rounds, first_engine + 1)
        concrete: dict[str, Any] = self.to_dict()
        concrete.update(set=max_pip, hand_size=hand_size, rounds=rounds, first_engine=first_engine)
        return ResolvedRules(rules=self, num_players=num_players, **concrete)

    def _deal_for(self, num_players: int) -> tuple[int, int]:
        """``(set, hand_size)`` from the fields and the table (R2.1), not yet checked against the set."""
        if self.set is not None and self.hand_size is not None:
            return self.set, self.hand_size
        table = TABLES[self.table]
        pairs = table.get(num_players, ())
        if not pairs:
            given = f", set={self.set}" if self.set is not None else ""
            given += f", hand_size={self.hand_size}" if self.hand_size is not None else ""
            raise ValueError(
                f"num_players={num_players}{given}: the table {self.table!r} is for {min(table)} to "
                f"{max(table)} seats; give both set and hand_size (for example set=18, hand_size=11) to play "
                "it with another number (R2.1)"
            )
        if self.set is None:
            return pairs[0][0], pairs[0][1] if self.hand_size is None else self.hand_size
        if self.set not in dict(pairs):
            known = " or ".join(str(pair[0]) for pair in pairs)
            raise ValueError(
                f"set={self.set} with num_players={num_players}: the table {self.table!r} gives no hand for "
                f"that pair; give hand_size too, or take set={known} (R2.1)"
            )
        return self.set, dict(pairs)[self.set]

    def seats(self) -> tuple[int, ...]:
        """The numbers of seats that `resolve` accepts."""
        found = []
        for num_players in range(MIN_SEATS, MAX_SEATS + 1):
            try:
                self.resolve(num_players)
            except ValueError:
                continue
            found.append(num_players)
        return tuple(found)

    def replace(self, **changes: object) -> Rules:
        """These rules with some fields changed; an unknown name is refused with the nearest one."""
        return _build(self, changes)

    @staticmethod
    def preset(name: str) -> Rules:
        """The preset of that name; see `PRESETS`."""
        if isinstance(name, str) and name in PRESETS:
            return PRESETS[name]
        hint = near(name, PRESETS) if isinstance(name, str) else ""
        raise ValueError(f"preset {name!r}: must be one of {', '.join(PRESETS)}{hint}")

    def to_dict(self) -> dict[str, Value]:
        """Field name -> value, in field order."""
        return {name: getattr(self, name) for name in OPTIONS}

    @staticmethod
    def from_dict(mapping: Mapping[str, object]) -> Rules:
        """Rules from field names and values; the optional key ``preset`` names the base (else spruce)."""
        changes = dict(mapping)
        base = Rules.preset(changes.pop("preset", "spruce"))  # type: ignore[arg-type]
        return _build(base, changes)

    def nearest_preset(self) -> tuple[str, dict[str, Value]]:
        """Name of the preset with the fewest differing fields, and those fields (earlier preset on ties)."""
        mine = self.to_dict()
        differences = {
            name: {key: mine[key] for key in mine if mine[key] != getattr(preset, key)}
            for name, preset in PRESETS.items()
        }
        name = min(differences, key=lambda preset_name: len(differences[preset_name]))
        return name, differences[name]

    def to_text(self) -> str:
        """The nearest preset and what differs, in field order: ``"spruce;set=12;out_on_double=no"``."""
        name, changes = self.nearest_preset()
        return ";".join([name, *(f"{key}={value_to_text(value)}" for key, value in changes.items())])

    @staticmethod
    def from_text(text: str) -> Rules:
        """Rules from a preset name and overrides, ``"spruce;open_order=any"``; strict, without spaces."""
        name, *parts = text.split(";")
        if any(c.isspace() for c in text):
            raise ValueError(f"rules text {text!r}: write it without spaces, as in 'spruce;open_order=any'")
        if name not in PRESETS:
            raise ValueError(
                f"rules text {text!r}: must begin with a preset, one of {', '.join(PRESETS)}"
                f"{near(name, PRESETS)}"
            )
        changes: dict[str, object] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            if not equals:
                raise ValueError(f"rules text {text!r}: {part!r} must be option=value, as in 'set=12'")
            if key not in OPTIONS:
                raise ValueError(f"rules text {text!r}: {_unknown([key])}")
            if key in changes:
                raise ValueError(f"rules text {text!r}: {key} is given twice; give it once")
            changes[key] = OPTIONS[key].parse(value)
        return _build(PRESETS[name], changes)

    def explain(self) -> str:
        """One line for each option: value, clause and what that value means. Ready to print."""
        lines = []
        for option in OPTIONS.values():
            value: Value = getattr(self, option.name)
            note = f": {option.notes[option.values.index(value)]}" if option.notes else ""
            start = f"{option.name:<20} {value_to_text(value):<11} {option.clause}"
            lines.append(f"{start}  {option.meaning}{note}")
        return "\n".join(lines)

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """All fields as YAML text, each with its clause; written to ``path`` too if one is given.

        The file is written beside its final name and then renamed, so no reader sees half of it.
        """
        from mt_env.rules_yaml import rules_to_yaml, write_text

        text = rules_to_yaml(self)
        if path is not None:
            write_text(path, text)
        return text

    @staticmethod
    def from_yaml(path: str | os.PathLike[str]) -> Rules:
        """Rules from a YAML file: keys are field names, optional ``preset:`` names the base (else spruce).

        Raises:
            OSError: the file cannot be read.
            ValueError: it is not such a file; the message begins with its path.
        """
        source = Path(path)
        return Rules.from_yaml_text(source.read_bytes(), source=str(source))

    @staticmethod
    def from_yaml_text(text: str | bytes, *, source: str = "YAML") -> Rules:
        """Rules from YAML text, as `from_yaml`; ``source`` stands in front of every message."""
        from mt_env.rules_yaml import mapping_from_yaml

        try:
            return Rules.from_dict(mapping_from_yaml(text))
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRules:
    """`Rules` for a given number of seats: the same fields, all concrete. Made by `Rules.resolve` only."""

    rules: Rules
    """The seat-free rules it came from."""
    num_players: int
    """Seats at the table, 2..14."""
    table: Literal["spruce", "wikihow", "dominos_cc", "cover"]
    set: int
    """Highest pip of the set."""
    hand_size: int
    """Tiles dealt to each seat. For a position this may be 0 or 1, where the set is too small to deal."""
    engine_from: Literal["dealt", "set_aside"]
    rounds: int
    """Rounds of a match."""
    first_engine: int
    """Engine of round 0."""
    opening: Literal["chain", "single"]
    opening_double_binds: bool
    mexican_from: Literal["lap_1", "lap_2"]
    own_first: bool
    drawn_tile: Literal["must", "may"]
    draws_per: Literal["need", "turn"]
    extra_tile: Literal["anywhere", "on_double"]
    open_order: Literal["oldest", "any"]
    dead_double: Literal["binds", "lifts"]
    out_on_double: bool
    block_test: Literal["stuck", "passes"]
    double_blank: int
    tie_break: Literal["zero_rounds", "shared"]

    @property
    def num_tiles(self) -> int:
        """Tiles of the set; tile ids are 0..num_tiles - 1."""
        return num_tiles(self.set)

    @property
    def num_trains(self) -> int:
        """One train a seat and the Mexican Train."""
        return self.num_players + 1

    @property
    def num_actions(self) -> int:
        """Size of the action space: every tile on every train, draw, pass."""
        return self.num_trains * self.num_tiles + 2

    @property
    def boneyard_size(self) -> int:
        """Tiles in the boneyard after the deal and before any hunt for the engine (R2.4)."""
        return self.num_tiles - self.num_players * self.hand_size - (self.engine_from == "set_aside")

    @property
    def engines(self) -> tuple[int, ...]:
        """The engines of a match in order, one a round (R2.3)."""
        return tuple(range(self.first_engine, self.first_engine - self.rounds, -1))

    def round_of(self, engine: int) -> int:
        """The round that has this engine (R2.3); leader and hunt of a single round go by it too.

        Raises:
            ValueError: no round of these rules could have it.
        """
        return self.first_engine - _whole("engine", engine, 0, self.first_engine)


PRESETS: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        "spruce": Rules(),
        "wikihow": Rules(
            table="wikihow", opening="single", own_first=True, double_blank=0, tie_break="shared",
        ),
        "dominos_cc": Rules(
            table="dominos_cc", engine_from="set_aside", rounds=6, opening="single", mexican_from="lap_1",
            block_test="passes", double_blank=0, tie_break="shared",
        ),
        "cover": Rules(
            table="cover", engine_from="set_aside", opening="single", mexican_from="lap_1",
            draws_per="turn", extra_tile="on_double", dead_double="lifts", out_on_double=False,
            double_blank=0, tie_break="shared",
        ),
    }
)  # fmt: skip
"""The named rule sets: spruce, wikihow and dominos_cc follow a text each, cover is what most apps play."""


def load_rules(rules: str | os.PathLike[str] | Mapping[str, object] | Rules) -> Rules:
    """What every face takes as ``rules=``.

    Args:
        rules: a preset name, text with overrides (``"spruce;open_order=any"``), a path to a YAML file (any
            path object, or a string that ends in .yaml or .yml), a mapping as in a YAML file, or `Rules`.

    Raises:
        OSError: the file cannot be read.
        ValueError: none of these, or refused.
    """
    if isinstance(rules, Rules):
        return rules
    if isinstance(rules, str):
        is_path = rules.lower().endswith((".yaml", ".yml"))
        return Rules.from_yaml(rules) if is_path else Rules.from_text(rules)
    if isinstance(rules, os.PathLike):
        return Rules.from_yaml(rules)
    if isinstance(rules, Mapping):
        return Rules.from_dict(rules)
    raise ValueError(
        f"rules={rules!r}: must be a preset name ({', '.join(PRESETS)}), text such as "
        "'spruce;open_order=any', a path to a .yaml file, a mapping of options, or a Rules"
    )


def _build(base: Rules, changes: Mapping[str, object]) -> Rules:
    unknown = [key for key in changes if key not in OPTIONS]
    if unknown:
        raise ValueError(_unknown(unknown))
    fields: dict[str, Any] = {**base.to_dict(), **changes}
    return Rules(**fields)


def _unknown(keys: list[str]) -> str:
    key = keys[0]
    hint = near(key, OPTIONS) if isinstance(key, str) else ""
    return f"unknown option {key!r}{hint or '; the options are ' + ', '.join(OPTIONS)}"


def _whole(name: str, value: object, low: int, high: int) -> int:
    number = as_int(value)
    if number is not None and low <= number <= high:
        return number
    raise ValueError(f"{name}={value!r}: must be a whole number from {low} to {high}")

"""Positions as one line of text, both ways.

The language is described in docs/rules.md: space-separated ``key=value``; every tile that no key names lies
on the table. A line keeps what legality, play and scoring of its round depend on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.actions import string_to_train, train_name, train_to_string
from mt_env.core.deal import clear_round, put_on_table
from mt_env.core.state import GAME_DTYPE, NO_ROUND, NO_TILE, rules_record
from mt_env.rules import MAX_SEATS, ResolvedRules, Rules
from mt_env.rules_options import MIN_SEATS, near
from mt_env.tiles import MAX_SET, MIN_SET, string_to_tile, tile_to_string
from mt_env.view import tiles_in

if TYPE_CHECKING:
    from mt_env.state import State

REQUIRED: Final = (
    "rules", "seats", "set", "engine", "lap", "turn", "hands", "trains", "mexican", "open", "owes", "drawn",
    "boneyard", "passes",
)  # fmt: skip
"""Keys that every line has, in the order in which they are written."""

OPTIONAL: Final = ("leader", "drew", "round", "totals", "lengths")
"""Keys that are written only where they say something."""

MAX_LAP: Final = 65535
MAX_TOTAL: Final = 1_000_000


def parse_position(line: str) -> State:
    """The state that a position line describes: a single round, from there to its end.

    Raises:
        ValueError: the line is not a position; the message names the key, its value and what would be right.
    """
    from mt_env.game import Game
    from mt_env.state import State

    fields = _fields(line)
    rules = _rules(fields)
    record = _Reader(fields, rules).record
    return State.from_position(Game.for_position(rules, int(record["engine"][0])), record)


def _fields(line: str) -> dict[str, str]:
    if not isinstance(line, str):
        raise ValueError(f"position {line!r}: must be a line of text")
    fields: dict[str, str] = {}
    for part in line.split():
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"position: {part!r} must be key=value, without spaces inside (keys: {_KEYS})")
        if key not in REQUIRED and key not in OPTIONAL:
            hint = near(key, (*REQUIRED, *OPTIONAL)) or f"; the keys are {_KEYS}"
            raise ValueError(f"position: unknown key {key!r} in {part!r}{hint}")
        if key in fields:
            raise ValueError(f"position: {key} is given twice, {fields[key]!r} and {value!r}; give it once")
        fields[key] = value
    missing = [key for key in REQUIRED if key not in fields]
    if missing:
        raise ValueError(
            f"position: missing {', '.join(missing)}; every line has {', '.join(REQUIRED)} (an empty list is "
            "written as nothing after the =)"
        )
    return fields


_KEYS: Final = ", ".join((*REQUIRED, *OPTIONAL))


def _rules(fields: dict[str, str]) -> ResolvedRules:
    seats = _number("seats", fields["seats"], MIN_SEATS, MAX_SEATS)
    max_pip = _number("set", fields["set"], MIN_SET, MAX_SET)
    try:
        return Rules.from_text(fields["rules"]).resolve(seats, position_set=max_pip)
    except ValueError as error:
        raise ValueError(f"rules={fields['rules']}: {error}") from None


def _number(key: str, text: str, low: int, high: int) -> int:
    # Digits of other scripts would pass isdigit alone; twenty of them are no number of a game.
    if text.isascii() and text.isdigit() and len(text) < 20 and low <= int(text) <= high:
        return int(text)
    raise ValueError(f"{key}={text}: must be a whole number from {low} to {high}")


def _items(text: str, separator: str = ",") -> list[str]:
    return [] if text in ("", "-") else text.split(separator)


class _Reader:
    """Reads the fields of one line into ``record``."""

    def __init__(self, fields: dict[str, str], rules: ResolvedRules) -> None:
        self.fields, self.rules = fields, rules
        self.owner: dict[int, str] = {}
        n = rules.num_players
        engine = _number("engine", fields["engine"], 0, rules.set)
        if engine > rules.first_engine:
            raise ValueError(
                f"engine={engine}: these rules begin with engine {rules.first_engine} (first_engine); "
                f"take one from 0 to {rules.first_engine}"
            )
        round_index = rules.round_of(engine)
        if "round" in fields and _number("round", fields["round"], 0, MAX_SET) != round_index:
            raise ValueError(
                f"round={fields['round']}: under these rules engine={engine} is of round {round_index} (R2.3)"
            )
        self.record: NDArray[np.void] = np.zeros(1, GAME_DTYPE)
        s = self.record[0]
        clear_round(s, rules_record(rules, engine=engine)[0], round_index)
        self.engine_tile = engine * (engine + 3) // 2
        s["best_round"][:n] = NO_ROUND
        s["lap"] = self._int("lap", 1, MAX_LAP)
        s["turn"] = self._int("turn", 0, n - 1)
        s["leader"] = self._int("leader", 0, n - 1)
        s["passes"] = self._int("passes", 0, n - 1)
        self._tiles()
        self._trains()
        self._doubles()
        self._drawn()
        if "totals" in fields:
            s["totals"][:n] = self._ints("totals", n, "seats", MAX_TOTAL)
        over = already_over(self.record, rules)
        if over:
            raise ValueError(f"hands={fields['hands']}: {over}")

    def _int(self, key: str, low: int, high: int) -> int:
        return _number(key, self.fields.get(key, "0"), low, high)

    def _ints(self, key: str, count: int, what: str, high: int) -> list[int]:
        words = self.fields[key].replace(",", "/").split("/")
        if len(words) != count:
            raise ValueError(
                f"{key}={self.fields[key]}: has {len(words)} numbers, must have {count} ({what})"
            )
        return [_number(key, word, 0, high) for word in words]

    def _tile(self, key: str, word: str) -> int:
        value = f"{key}={self.fields[key]}"
        try:
            tile = string_to_tile(word)
        except ValueError as error:
            raise ValueError(f"{value}: {error}") from None
        if tile >= self.rules.num_tiles:
            raise ValueError(
                f"{value}: {word} is not in the double-{self.rules.set} set (set={self.rules.set})"
            )
        return tile

    def _claim(self, key: str, word: str, owner: str) -> int:
        tile = self._tile(key, word)
        if tile == self.engine_tile:
            raise ValueError(f"{key}={self.fields[key]}: {word} is the engine and lies in the centre")
        if tile in self.owner:
            raise ValueError(
                f"{key}={self.fields[key]}: {word} is named twice, in {self.owner[tile]} and in {owner}; "
                "name each tile once"
            )
        self.owner[tile] = owner
        return tile

    def _tiles(self) -> None:
        s, n, text = self.record[0], self.rules.num_players, self.fields["hands"]
        hands = text.split("/")
        if len(hands) != n:
            raise ValueError(
                f"hands={text}: has {len(hands)} hands, must have {n} (seats={n}), with / between them"
            )
        for seat, hand in enumerate(hands):
            for word in _items(hand):
                tile = self._claim("hands", word, f"seat {seat}'s hand")
                s["hands"][seat, tile >> 6] |= np.uint64(1 << (tile & 63))
                s["hand_sizes"][seat] += 1
        boneyard = [self._claim("boneyard", word, "the boneyard") for word in _items(self.fields["boneyard"])]
        s["boneyard"][: len(boneyard)] = boneyard[::-1]
        s["boneyard_size"] = len(boneyard)
        for tile in range(self.rules.num_tiles):
            if tile not in self.owner and tile != self.engine_tile:
                put_on_table(s, tile)

    def _trains(self) -> None:
        s, n = self.record[0], self.rules.num_players
        words = self.fields["trains"].split("/")
        if len(words) != n:
            value = self.fields["trains"]
            raise ValueError(
                f"trains={value}: has {len(words)} trains, must have {n} (seats={n}), with / between them"
            )
        mexican = self.fields["mexican"]
        if mexican.endswith("*"):
            raise ValueError(
                f"mexican={mexican}: the Mexican Train is always open and takes no marker; leave out the *"
            )
        for train, word in enumerate([*words, mexican]):
            key = "mexican" if train == n else "trains"
            if train < n and word.endswith("*"):
                s["markers"][train] = 1
                word = word[:-1]
            if word == "-":
                continue
            try:
                s["ends"][train] = _number(key, word, 0, self.rules.set)
            except ValueError:
                marker = ", with * after it for a marker" if train < n else ""
                raise ValueError(
                    f"{key}={self.fields[key]}: {word!r} must be an end value from 0 to {self.rules.set}, or "
                    f"- for a train not begun{marker}"
                ) from None
            s["lengths"][train] = 1
        if "lengths" not in self.fields:
            return
        lengths = self._ints("lengths", n + 1, "seats, then the Mexican Train", self.rules.num_tiles - 1)
        for train, length in enumerate(lengths):
            if (length > 0) != (s["lengths"][train] > 0):
                begun = "is begun" if s["lengths"][train] else "is not begun"
                raise ValueError(
                    f"lengths={self.fields['lengths']}: {train_name(train, n)} {begun}, not {length} long"
                )
        s["lengths"][: n + 1] = lengths

    def _doubles(self) -> None:
        s, n, seen = self.record[0], self.rules.num_players, set[int]()
        for key, name in (("open", "open"), ("owes", "owed")):
            value = f"{key}={self.fields[key]}"
            for i, word in enumerate(_items(self.fields[key])):
                try:
                    train = string_to_train(word, n)
                except ValueError as error:
                    raise ValueError(f"{value}: {error}") from None
                end = int(s["ends"][train])
                double = f"{end}-{end}"
                if train in seen:
                    raise ValueError(
                        f"{value}: {train_name(train, n)} is named twice in open and owes; name it once"
                    )
                if not s["lengths"][train]:
                    raise ValueError(f"{value}: {train_name(train, n)} is not begun, so no double ends it")
                if end == s["engine"]:
                    raise ValueError(
                        f"{value}: {train_name(train, n)} ends in {end}, but {double} is the engine"
                    )
                tile = end * (end + 3) // 2
                if tile in self.owner:
                    raise ValueError(
                        f"{value}: {train_name(train, n)} ends in {end}, but {double} is in "
                        f"{self.owner[tile]}; an open double lies on the table"
                    )
                if self.rules.dead_double == "lifts" and not s["unplayed"][end]:
                    raise ValueError(
                        f"{value}: every tile with {end} lies on the table, so {double} is dead and under "
                        "dead_double=lifts binds nobody; leave it out"
                    )
                seen.add(train)
                s[f"{name}_trains"][i] = train
                s[f"num_{name}"] = i + 1
        if s["num_owed"] and self._in_opening():
            raise ValueError(
                f"owes={self.fields['owes']}: doubles of an opening chain owe nothing (R4.1); write owes=-"
            )
        if s["num_owed"] and s["num_open"]:
            raise ValueError(
                f"owes={self.fields['owes']}: with a double open (open={self.fields['open']}) only a cover "
                "may be laid, which is no double (R5.4); leave one of the two out"
            )

    def _in_opening(self) -> bool:
        return self.rules.opening == "chain" and int(self.record["lap"][0]) == 1

    def _drawn(self) -> None:
        s, text = self.record[0], self.fields["drawn"]
        drew = self._int("drew", 0, 1)
        s["drew"] = drew
        if text in ("", "-"):
            return
        tile, seat = self._tile("drawn", text), int(s["turn"])
        if self.owner.get(tile) != f"seat {seat}'s hand":
            where = self.owner.get(tile, "no hand")
            raise ValueError(
                f"drawn={text}: is in {where}, must be in seat {seat}'s hand (hands=, turn={seat})"
            )
        if self._in_opening():
            raise ValueError(f"drawn={text}: nobody draws in an opening chain (R4.1); write drawn=-")
        if "drew" in self.fields and not drew:
            raise ValueError(f"drew=0: seat {seat} has drawn {text} (drawn=); write drew=1 or leave it out")
        s["drawn"] = tile
        s["drew"] = 1


def already_over(record: NDArray[np.void], rules: ResolvedRules) -> str:
    """Why the round of ``record`` is over before its next action, by empty hands (R4.6, R5.7); or nothing."""
    s = record[0]
    opening = rules.opening == "chain" and int(s["lap"]) == 1
    for seat in range(rules.num_players):
        if s["hand_sizes"][seat]:
            continue
        if opening:
            if seat == int(s["turn"]):
                return (
                    f"seat {seat}'s hand is empty, so its opening turn is over; give the turn to another seat"
                )
        elif rules.out_on_double:
            return f"seat {seat}'s hand is empty, so the round is over (R6.1); give it a tile"
        elif not s["num_open"] and not s["num_owed"]:
            return (
                f"seat {seat}'s hand is empty and no double is open or owed, so the round is over (R5.7); "
                "give it a tile"
            )
    return ""


def tiles_text(tiles: Iterable[int]) -> str:
    """Tiles with commas between them."""
    return ",".join(map(tile_to_string, tiles))


def position_text(record: NDArray[np.void], rules: ResolvedRules, seat: int | None = None) -> str:
    """The line of ``record``, a round that is not over.

    Args:
        record: the game, ``GAME_DTYPE`` ``(1,)``.
        rules: its rules.
        seat: write only what this seat may know: ``#`` and a number in place of hidden tiles. Such a line is
            for reading and comparing; `parse_position` refuses it.

    Raises:
        ValueError: the round is over.
    """
    s, n = record[0], rules.num_players
    if s["phase"]:
        raise ValueError("the round is over: a position line needs a seat to move")

    def trains(name: str) -> str:
        listed = s[f"{name}_trains"][: int(s[f"num_{name}"])].tolist()
        return ",".join(train_to_string(train, n) for train in listed)

    words = [str(s["ends"][train]) if s["lengths"][train] else "-" for train in range(n + 1)]
    hands = [
        tiles_text(tiles_in(record["hands"][0, i])) if seat in (None, i) else f"#{s['hand_sizes'][i]}"
        for i in range(n)
    ]
    size = int(s["boneyard_size"])
    drawn = "-"
    if s["drawn"] != NO_TILE:
        drawn = tile_to_string(int(s["drawn"])) if seat in (None, int(s["turn"])) else "#1"
    fields = {
        "rules": rules.rules.to_text(),
        "seats": n,
        "set": rules.set,
        "engine": s["engine"],
        "lap": s["lap"],
        "turn": s["turn"],
        "hands": "/".join(hands),
        "trains": "/".join(
            word + "*" * int(mark) for word, mark in zip(words[:n], s["markers"][:n], strict=True)
        ),
        "mexican": words[n],
        "open": trains("open"),
        "owes": trains("owed") or "-",
        "drawn": drawn,
        "boneyard": tiles_text(s["boneyard"][:size][::-1].tolist()) if seat is None else f"#{size}",
        "passes": s["passes"],
    }
    if s["leader"]:
        fields["leader"] = s["leader"]
    if s["drew"] and s["drawn"] == NO_TILE:
        fields["drew"] = 1
    if s["totals"].any():
        fields["totals"] = "/".join(map(str, s["totals"][:n].tolist()))
    if any(length > 1 for length in s["lengths"].tolist()):
        fields["lengths"] = "/".join(map(str, s["lengths"][: n + 1].tolist()))
    return " ".join(f"{key}={value}" for key, value in fields.items())

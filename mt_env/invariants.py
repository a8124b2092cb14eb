"""What must hold of every state, in plain Python apart from the core's own bookkeeping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mt_env.core.state import (
    BLOCKED,
    GAME_OVER,
    MAX_TRAINS,
    NO_ROUND,
    NO_TILE,
    NOT_ENDED,
    OUT,
    PLAYING,
    ROUND_OVER,
    UNABLE_LEVELS,
)
from mt_env.notation import already_over
from mt_env.tiles import HIGH, LOW, MAX_SET, MAX_TILES

if TYPE_CHECKING:
    from mt_env.state import State

_PER_SEAT = ("totals", "points", "best_round", "markers", "hand_sizes", "zero_rounds")


def invariants(state: State) -> list[str]:
    """What is wrong with ``state``; empty for every state that play can reach or a position line can name.

    For a dealt game this also checks that the trains add up to the tiles on the table, which a position line
    does not promise.
    """
    check = _Check(state)
    check.numbers()
    if check.problems:  # with wrong numbers or tiles the rest could not even be read
        return check.problems
    check.tiles()
    if check.problems:
        return check.problems
    check.trains()
    check.doubles()
    check.phase()
    return check.problems


def start_problems(state: State) -> list[str]:
    """What is wrong with a position's start from which hidden tiles have been erased (``state.record``)."""
    check = _Check(state)
    check.numbers()
    if not check.problems:
        check.need(check.s["drawn"] in (*range(check.num_tiles), NO_TILE), "drawn tile is not in the set")
        check.doubles()
    return check.problems


class _Check:
    def __init__(self, state: State) -> None:
        self.problems: list[str] = []
        self.game, self.rules = state.game, state.game.rules
        self.record = state.record
        s = state.record[0]
        self.s: dict[str, Any] = {name: s[name].tolist() for name in state.record.dtype.names or ()}
        self.n, self.num_tiles = state.game.num_players, state.game.num_tiles
        self.engine_tile = self.s["engine"] * (self.s["engine"] + 3) // 2

    def need(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)

    def between(self, name: str, low: int, high: int) -> None:
        value = self.s[name]
        self.need(low <= value <= high, f"{name} is {value}, not from {low} to {high}")

    def numbers(self) -> None:
        s, n, rules = self.s, self.n, self.rules
        for name, right in (("num_players", n), ("max_pip", rules.set), ("num_tiles", self.num_tiles)):
            self.between(name, right, right)
        last = rules.rounds - 1 if not self.game.is_position else rules.first_engine
        self.between("round", 0, last)
        right = rules.first_engine - s["round"]
        self.between("engine", right, right)
        if self.game.engine != "random":
            self.need(
                s["engine"] == self.game.engine, f"engine is {s['engine']}, the game's {self.game.engine}"
            )
        self.between("lap", 1, NO_ROUND)
        for name, high in (
            ("leader", n - 1),
            ("turn", n - 1),
            ("drew", 1),
            ("num_open", n + 1),
            ("num_owed", n + 1),
        ):
            self.between(name, 0, high)
        self.between("phase", PLAYING, GAME_OVER)
        self.between("how", NOT_ENDED, BLOCKED)
        self.between("boneyard_size", 0, self.num_tiles)
        self.between("passes", 0, n - (s["phase"] == PLAYING))
        for name in _PER_SEAT:
            values = s[name]
            self.need(not any(values[n:]), f"{name} of seats that are not there is not 0")
            self.need(all(value >= 0 for value in values), f"{name} is below 0")
        self.need(not any(any(words) for words in s["hands"][n:]), "hands of seats that are not there")
        self.need(not any(s["spare"]), "spare bytes are not 0")
        self.need(max(s["markers"]) <= 1, "markers other than 0 and 1")
        for seat, levels in enumerate(s["unable"]):
            used = rules.set + 1 if seat < n else 0
            self.need(
                max(levels) <= UNABLE_LEVELS and not any(levels[used:]), f"unable of seat {seat} out of range"
            )

    def tiles(self) -> None:
        s = self.s
        size = s["boneyard_size"]
        self.need(not any(s["boneyard"][size:]), "boneyard beyond its size is not 0")
        places = [(f"seat {seat}'s hand", _bits(words)) for seat, words in enumerate(s["hands"][: self.n])]
        places += [("the table", _bits(s["table"])), ("the boneyard", s["boneyard"][:size])]
        where: dict[int, str] = {}
        for place, tiles in places:
            for tile in tiles:
                self.need(tile not in where, f"tile {tile} in {where.get(tile)} and in {place}")
                self.need(tile < self.num_tiles, f"tile {tile} in {place} is not in the set")
                where[tile] = place
        missing = [tile for tile in range(self.num_tiles) if tile not in where]
        self.need(not missing, f"tiles {missing} are nowhere")
        self.need(where.get(self.engine_tile) == "the table", "the engine is not on the table")
        for seat in range(self.n):
            count = len(places[seat][1])
            self.need(s["hand_sizes"][seat] == count, f"hand_sizes of seat {seat} is not {count}")
        table = set(places[self.n][1])
        for value in range(MAX_SET + 1):
            left = [t for t in range(self.num_tiles) if t not in table and value in (LOW[t], HIGH[t])]
            self.need(s["unplayed"][value] == len(left), f"unplayed of {value} is not {len(left)}")
        if s["drawn"] != NO_TILE:
            held = where.get(s["drawn"]) == f"seat {s['turn']}'s hand"
            self.need(held and s["drew"] == 1, f"drawn tile {s['drawn']} is not with the seat to move")

    def trains(self) -> None:
        s, n = self.s, self.n
        table = _bits(s["table"])
        values = {value for tile in table for value in (LOW[tile], HIGH[tile])}
        for train in range(MAX_TRAINS):
            end, length = s["ends"][train], s["lengths"][train]
            if train > n:
                self.need(end == 0 and length == 0, f"train {train} is not there, but not 0")
            elif length == 0:
                self.need(
                    end == s["engine"], f"train {train} is not begun, but its end {end} is not the engine's"
                )
            else:
                self.need(end <= self.rules.set, f"train {train} ends in {end}, which is not in the set")
                if not self.game.is_position:
                    self.need(end in values, f"train {train} ends in {end}, which no tile on the table has")
        if not self.game.is_position:
            total = sum(s["lengths"]) + 1
            self.need(total == len(table), f"trains and engine have {total} tiles, the table {len(table)}")

    def doubles(self) -> None:
        s, seen = self.s, set[int]()
        for name, count in (("open_trains", s["num_open"]), ("owed_trains", s["num_owed"])):
            self.need(not any(s[name][count:]), f"{name} beyond its number is not 0")
            for train in s[name][:count]:
                if train > self.n or train in seen:
                    self.problems.append(f"{name} names train {train} wrongly or twice")
                    continue
                seen.add(train)
                end = s["ends"][train]
                double = end * (end + 3) // 2
                lies = double < MAX_TILES and double in _bits(s["table"]) and double != self.engine_tile
                self.need(
                    lies and s["lengths"][train] > 0, f"train {train} in {name} does not end in a double"
                )
        opening = self.rules.opening == "chain" and s["lap"] == 1
        self.need(not (opening and s["num_owed"]), "a tile is owed in an opening chain")
        if not self.game.is_position:
            self.need(not (s["num_open"] and s["num_owed"]), "a tile is owed while an older double is open")

    def phase(self) -> None:
        s, n = self.s, self.n
        is_match = self.game.episode == "match"
        done = s["rounds_done"]
        over = s["phase"] != PLAYING
        expected = (s["round"] if is_match else 0) + over
        self.need(done == expected, f"rounds_done is {done}, not {expected}")
        self.need((s["how"] != NOT_ENDED) == (done > 0), f"how is {s['how']} after {done} rounds")
        self.need(
            not (s["phase"] == ROUND_OVER and not is_match), "a round has ended, but it is the only one"
        )
        if not over:
            over_reason = already_over(self.record, self.rules)
            self.need(not over_reason, over_reason)
        elif s["how"] == OUT:
            self.need(0 in s["hand_sizes"][:n], "the round ended by going out, but no hand is empty")
        elif s["boneyard_size"]:
            self.problems.append("the round ended blocked, but the boneyard is not empty")
        if over:
            right = [self._points(seat) for seat in range(n)]
            self.need(s["points"][:n] == right, f"points are not {right}")
        for seat in range(n):
            zeros, best = s["zero_rounds"][seat], s["best_round"][seat]
            self.need(zeros <= done, f"zero_rounds of seat {seat} is {zeros} after {done} rounds")
            self.need((best == NO_ROUND) == (zeros == done), f"best_round of seat {seat} is {best}")

    def _points(self, seat: int) -> int:
        tiles = _bits(self.s["hands"][seat])
        return sum(LOW[t] + HIGH[t] for t in tiles) + self.rules.double_blank * (0 in tiles)


def _bits(words: list[int]) -> list[int]:
    value = words[0] | words[1] << 64 | words[2] << 128
    return [tile for tile in range(64 * len(words)) if (value >> tile) & 1]

"""Core and referee in lock step: the same deal, the same actions, everything compared by name at each ply.

The core is used through its kernels, the referee as it is. The first difference is a `DifferenceError` that
shows the field with both values, the position before the last action as a line, and the last actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from lockstep_fields import (
    NOT_AFTER_THE_END,
    NOT_BEFORE_THE_END,
    READ,
    bits_of,
    core_fields,
    referee_fields,
    shown,
)
from numpy.typing import NDArray
from reference import Referee, action_to_text, engines, match_result
from reference_text import Action, Tile

from mt_env.actions import action_to_string
from mt_env.core.deal import clear_round, new_episode
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL, NO_ROUND, PLAYING, ROUND_OVER, rules_record
from mt_env.notation import parse_position, position_text
from mt_env.rules import ResolvedRules, load_rules
from mt_env.tiles import tile_id

Choose = Callable[[Referee, list[Action]], int]
"""Picks the index of one of the legal actions."""

NOT_IN_A_LINE = ("seed", "moves", "unable", "points", "how", "best_round", "zero_rounds", "rounds_done")
IN_A_LINE = [name for name in GAME_DTYPE.names or () if name not in NOT_IN_A_LINE]
"""What a position line keeps of the record."""

MOST_PLIES = 20_000
_MASK = (1 << 64) - 1


class DifferenceError(AssertionError):
    """Core and referee disagree; ``field`` tells on what."""

    def __init__(self, field: str, core: object, referee: object, *context: str) -> None:
        self.field = field
        lines = [f"{field} differs", f"  core:    {core}", f"  referee: {referee}", *context]
        super().__init__("\n".join(lines))


# ---- The deal, once more in plain Python -------------------------------------------------------------------


class SplitMix:
    """SplitMix64 (Steele, Lea and Flood 2014), written anew."""

    gamma = 0x9E3779B97F4A7C15

    def __init__(self, seed: int, number: int) -> None:
        """Generator ``number`` of ``seed``: its state is that output of the one with state mix(seed)."""
        self.state = self.mix((self.mix(seed) + (number + 1) * self.gamma) & _MASK)

    @staticmethod
    def mix(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
        return x ^ (x >> 31)

    def next(self) -> int:
        self.state = (self.state + self.gamma) & _MASK
        return self.mix(self.state)

    def below(self, n: int) -> int:
        return ((self.next() >> 32) * n) >> 32


def all_tiles(rules: ResolvedRules, engine: int) -> list[Tile]:
    """The tiles that are shuffled, in the order of their ids."""
    tiles = [(a, b) for b in range(rules.set + 1) for a in range(b + 1)]
    if rules.engine_from == "set_aside":
        tiles.remove((engine, engine))
    return tiles


def deal_of_seed(rules: ResolvedRules, seed: int, round_index: int) -> tuple[list[list[Tile]], list[Tile]]:
    """Hands and boneyard (next draw first) as the core deals round ``round_index`` of ``seed``."""
    tiles, rng = all_tiles(rules, rules.first_engine - round_index), SplitMix(seed, round_index + 1)
    for i in range(len(tiles) - 1, 0, -1):
        j = rng.below(i + 1)
        tiles[i], tiles[j] = tiles[j], tiles[i]
    return split(rules, tiles[::-1])


def split(rules: ResolvedRules, tiles: Sequence[Tile]) -> tuple[list[list[Tile]], list[Tile]]:
    """Shuffled tiles dealt from the front: seat 0's hand, seat 1's, ..., the boneyard."""
    n, size = rules.num_players, rules.hand_size
    return [list(tiles[seat * size : (seat + 1) * size]) for seat in range(n)], list(tiles[n * size :])


# ---- What is compared --------------------------------------------------------------------------------------


class CachedReferee(Referee):
    """The referee, asked once a ply what is legal."""

    _cached: list[Action] | None = None

    def legal(self) -> list[Action]:
        if self._cached is None:
            self._cached = super().legal()
        return self._cached

    def apply(self, action: Action) -> None:
        super().apply(action)
        self._cached = None


# ---- Two games side by side --------------------------------------------------------------------------------


class Pair:
    """One round on both sides.

    Attributes:
        rules: the core's rules; the referee may have been given others, to see that the difference is found.
        record: the core's game, ``GAME_DTYPE`` ``(1,)``.
        referee: the referee's.
        lines: whether each ply's position line is checked too.
        plies: actions applied.
    """

    def __init__(
        self,
        rules: ResolvedRules,
        record: NDArray[np.void],
        rules_rec: NDArray[np.void],
        referee: Referee,
        *,
        lines: bool = False,
    ) -> None:
        self.rules, self.record, self.referee, self.lines = rules, record, referee, lines
        self.s, self.r = record[0], rules_rec[0]
        self.plies = 0
        self.texts: list[str] = []
        self.before = record.copy()
        self._views = {name: record[name] for name in READ}  # made once: a scalar's fields are slow to read
        self._bytes, self._bytes_before = record.view(np.uint8), self.before.view(np.uint8)
        self._out = np.empty(MAX_LEGAL, np.int64)

    @classmethod
    def from_position(cls, line: str, *, lines: bool = True) -> Pair:
        """Both sides as they read a position line."""
        state = parse_position(line)
        referee = CachedReferee.from_position(line, load_rules)
        return cls(state.game.rules, state.record, state.game.rules_record, referee, lines=lines)

    def _ids(self) -> list[int]:
        ids: list[int] = self._out[: legal_actions(self.s, self.r, self._out)].tolist()
        return ids

    def compare(self) -> tuple[list[int], list[Action]]:
        """Everything by name; the legal actions, as ids and as the referee's."""
        core, referee = core_fields(self._views), referee_fields(self.referee)
        over = core["over"] and referee["over"]
        for field, value in core.items():
            if field in (NOT_AFTER_THE_END if over else NOT_BEFORE_THE_END):
                continue
            if value != referee[field]:
                self._differs(field, shown(field, value), shown(field, referee[field]))
        ids, actions = self._ids(), self.referee.legal()
        n, turn, tiles = self.rules.num_players, core["turn"], self.rules.num_tiles
        mine = [action_to_string(action, turn, n, tiles) for action in ids]
        theirs = [action_to_text(action, n) for action in actions]
        if mine != theirs:
            self._differs("legal", mine, theirs)
        if not over and not mine:
            self._differs("legal", "empty before the end", "empty before the end")
        self.legal_texts = mine
        return ids, actions

    def _differs(self, field: str, core: object, referee: object) -> None:
        raise DifferenceError(
            field,
            core,
            referee,
            "before the last action: " + self._line(self.before),
            "last actions:           " + (" ".join(self.texts[-12:]) or "none, as dealt"),
            "now (core):             " + self._line(self.record),
            "now (referee):          " + (self.referee.position() if not self.referee.over else "over"),
        )

    def _line(self, record: NDArray[np.void]) -> str:
        return "over" if record["phase"][0] != PLAYING else position_text(record, self.rules)

    def step(self, action_id: int, action: Action) -> None:
        """One action on both sides."""
        self._bytes_before[:] = self._bytes
        self.texts.append(action_to_text(action, self.rules.num_players))
        self.plies += 1
        apply_action(self.s, self.r, action_id)
        self.referee.apply(action)

    def do(self, text: str) -> None:
        """Compare, then the action written ``text``."""
        ids, actions = self.compare()
        i = self.legal_texts.index(text)
        self.step(ids[i], actions[i])

    def play(self, choose: Choose) -> list[int]:
        """To the end of the round; its scores."""
        while True:
            ids, actions = self.compare()
            if self.referee.over:
                return list(self.referee.scores or [])
            if self.lines:
                self._compare_lines()
            if self.plies > MOST_PLIES:
                self._differs("plies", "endless", "endless")
            i = choose(self.referee, actions) if len(ids) > 1 else 0
            self.step(ids[i], actions[i])

    def _compare_lines(self) -> None:
        """The position line: the core reads its own back, and the referee reads it."""
        line = self._line(self.record)
        state = parse_position(line)
        if state.to_position() != line:
            self._differs("to_position", line, state.to_position())
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        if texts != self.legal_texts:
            self._differs("legal of the line", self.legal_texts, texts)
        for name in IN_A_LINE:
            if (state.record[name] != self.record[name]).any():
                self._differs(f"{name} of the line", self.record[name], state.record[name])
        read = Referee.from_position(line, load_rules)
        texts = [action_to_text(action, self.rules.num_players) for action in read.legal()]
        if texts != self.legal_texts:
            self._differs("legal of the line, read by the referee", self.legal_texts, texts)
        mine, theirs = referee_fields(read), referee_fields(self.referee)
        for field, value in theirs.items():
            if mine[field] != value:
                self._differs(f"{field} of the line, read by the referee", value, mine[field])


# ---- Whole games -------------------------------------------------------------------------------------------


@contextmanager
def _dealing(what: str) -> Iterator[None]:
    """A deal that the referee refuses is a difference too."""
    try:
        yield
    except ValueError as error:
        raise DifferenceError("deal", what, f"refuses it: {error}") from error


def play_seed(
    rules: ResolvedRules,
    seed: int,
    round_index: int | None,
    choose: Choose,
    *,
    referee_rules: ResolvedRules | None = None,
    lines: bool = False,
) -> Pair:
    """A single round that the core deals from ``seed``, its engine drawn if ``round_index`` is None."""
    engine = -1 if round_index is None else rules.first_engine - round_index
    r, record = rules_record(rules, engine=engine), np.zeros(1, GAME_DTYPE)
    new_episode(record[0], r[0], np.uint64(seed))  # type: ignore[arg-type]
    if round_index is None:
        round_index = SplitMix(seed, 0).below(rules.rounds)
    pair = _seeded_pair(rules, record, r, seed, round_index, referee_rules or rules, lines)
    pair.play(choose)
    return pair


def _seeded_pair(
    rules: ResolvedRules,
    record: NDArray[np.void],
    r: NDArray[np.void],
    seed: int,
    round_index: int,
    referee_rules: ResolvedRules,
    lines: bool,
) -> Pair:
    hands, boneyard = deal_of_seed(rules, seed, round_index)
    with _dealing(f"{rules.rules.to_text()} seats={rules.num_players} seed={seed} round={round_index}"):
        referee = CachedReferee.from_deal(referee_rules, round_index, hands, boneyard)
    return Pair(rules, record, r, referee, lines=lines)


def play_deal(
    rules: ResolvedRules,
    round_index: int,
    tiles: Sequence[Tile],
    choose: Choose,
    *,
    referee_rules: ResolvedRules | None = None,
    lines: bool = False,
) -> Pair:
    """A single round from shuffled ``tiles`` of the test; the core is given what the referee's hunt left."""
    hands, boneyard = split(rules, tiles)
    with _dealing(f"{rules.rules.to_text()} seats={rules.num_players} tiles={tiles}"):
        referee = CachedReferee.from_deal(referee_rules or rules, round_index, hands, boneyard)
    r, record = rules_record(rules, engine=rules.first_engine - round_index), np.zeros(1, GAME_DTYPE)
    s = record[0]
    clear_round(s, r[0], round_index)
    s["best_round"][: rules.num_players] = NO_ROUND
    s["leader"] = s["turn"] = referee.leader
    for seat, hand in enumerate(referee.hands):
        bits = bits_of(hand)
        s["hands"][seat] = [bits >> shift & _MASK for shift in (0, 64, 128)]
        s["hand_sizes"][seat] = len(hand)
    s["boneyard_size"] = len(referee.boneyard)
    s["boneyard"][: len(referee.boneyard)] = [tile_id(*tile) for tile in reversed(referee.boneyard)]
    pair = Pair(rules, record, r, referee, lines=lines)
    pair.play(choose)
    return pair


def play_match(
    rules: ResolvedRules,
    seed: int,
    choose: Choose,
    *,
    referee_rules: ResolvedRules | None = None,
    lines: bool = False,
) -> int:
    """A whole match from ``seed``: rounds, totals, and the standing after each round; the plies played."""
    theirs, n = referee_rules or rules, rules.num_players
    r, record = rules_record(rules, match=True), np.zeros(1, GAME_DTYPE)
    s = record[0]
    new_episode(s, r[0], np.uint64(seed))  # type: ignore[arg-type]
    scores: list[list[int]] = [[] for _ in range(n)]
    plies = 0
    where = f"match: {rules.rules.to_text()} seats={n} seed={seed}"
    all_engines = engines(theirs)
    for round_index in range(len(all_engines)):
        pair = _seeded_pair(rules, record, r, seed, round_index, theirs, lines)
        for row, points in zip(scores, pair.play(choose), strict=True):
            row.append(points)
        plies += pair.plies
        result = match_result(scores, theirs)
        ranks, shares = np.zeros(n), np.zeros(n)
        standing(s, r[0], ranks, shares)
        core = {
            "totals": s["totals"][:n].tolist(),
            "ranks": ranks.tolist(),
            "shares": shares.tolist(),
            "zero_rounds": s["zero_rounds"][:n].tolist(),
            "rounds_done": int(s["rounds_done"]),
            "another round": bool(s["phase"] == ROUND_OVER),
        }
        referee = {
            **result._asdict(),
            "zero_rounds": [row.count(0) for row in scores],
            "rounds_done": round_index + 1,
            "another round": round_index + 1 < len(all_engines),
        }
        for field, value in core.items():
            if value != referee[field]:
                raise DifferenceError(field, value, referee[field], where, f"scores by seat: {scores}")
        if s["phase"] == ROUND_OVER:
            next_round(s, r[0])
    return plies

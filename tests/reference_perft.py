"""The referee's perft: the same counts and checksum as ``mt_env.core.perft``, from the referee alone.

What is counted and what is hashed is described in docs/testing.md.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

from reference import Referee
from reference_text import Action, action_to_text

from mt_env.tiles import tile_id

_MASK = (1 << 64) - 1


class Counts(NamedTuple):
    """As ``mt_env.core.perft.Perft``."""

    nodes: int
    terminals: int
    checksum: int


def leaf_values(game: Referee) -> list[int]:
    """What is hashed, in order."""
    values = []
    if not game.over:
        drawn = 0 if game.drawn is None else tile_id(*game.drawn) + 1
        values += [0, game.turn, game.lap, int(game.drew), drawn]
        values += [len(game.open), *game.open, len(game.owes), *game.owes]
    else:
        values += [{"out": 1, "blocked": 2}[str(game.how)], *(game.scores or [])]
    values += [game.passes, len(game.boneyard)]
    for end, length in zip(game.ends, game.lengths, strict=True):
        values += [end, length]
    for marker, hand in zip(game.markers, game.hands, strict=True):
        bits = sum(1 << tile_id(*tile) for tile in hand)
        values += [int(marker), bits & _MASK, bits >> 64 & _MASK, bits >> 128]
    return values


def leaf_hash(game: Referee) -> int:
    """Folded into one number, then mixed by SplitMix64's output function."""
    h = 0
    for value in leaf_values(game):
        h = (h * 0x9E3779B97F4A7C15 + value) & _MASK
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & _MASK
    return h ^ (h >> 31)


class _Trusting(Referee):
    """Applies actions that it has listed itself, without listing them again."""

    listed: list[Action] | None = None

    def legal(self) -> list[Action]:
        if self.listed is None:
            self.listed = super().legal()
        return self.listed


def after(game: Referee, action: Action) -> Referee:
    """The state after ``action``; ``game`` stays as it is."""
    new = copy.copy(game)
    for name in ("boneyard", "ends", "begun", "lengths", "markers", "open", "owes"):
        setattr(new, name, getattr(game, name).copy())
    new.hands = [hand.copy() for hand in game.hands]
    new.__class__ = _Trusting
    new.listed = [action]  # type: ignore[attr-defined]
    new.apply(action)
    new.listed = None  # type: ignore[attr-defined]
    return new


class TooManyError(Exception):
    """The tree is larger than asked for."""


def perfts(game: Referee, depth: int, most: int | None = None) -> list[Counts]:
    """`Counts` for every depth from 0 to ``depth``, in one walk.

    Raises:
        TooManyError: more than ``most`` nodes in all.
    """
    nodes, terminals, ended, leaves = ([0] * (depth + 1) for _ in range(4))
    seen = 0

    def visit(state: Referee, ply: int) -> None:
        nonlocal seen
        seen += 1
        if most is not None and seen > most:
            raise TooManyError
        h = leaf_hash(state)
        nodes[ply] += 1
        leaves[ply] += h
        if state.over:
            terminals[ply] += 1
            ended[ply] += h
        elif ply < depth:
            for action in state.legal():
                visit(after(state, action), ply + 1)

    visit(game, 0)
    return [
        Counts(nodes[n], sum(terminals[: n + 1]), (leaves[n] + sum(ended[:n])) & _MASK)
        for n in range(depth + 1)
    ]


def perft(game: Referee, depth: int) -> Counts:
    """Counts for one depth."""
    return perfts(game, depth)[depth]


def divide(game: Referee, depth: int) -> dict[str, Counts]:
    """Apart for each first action, by its text, in the order of the ids."""
    return {
        action_to_text(action, game.num_players): perft(after(game, action), depth - 1)
        for action in game.legal()
    }

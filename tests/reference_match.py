"""The referee's rules outside a round: sets, hands and engines (section 2) and the match (section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reference_clauses import decided

if TYPE_CHECKING:
    from mt_env.rules import ResolvedRules

Tile = tuple[int, int]

# R2.1, as printed: seats -> pairs (set, hand_size), the default first.
_D6 = (6, 7)
DEALS: dict[str, dict[int, tuple[Tile, ...]]] = {
    "spruce": {
        **dict.fromkeys((2, 3), ((9, 15), _D6)),
        4: ((12, 15), _D6),
        **dict.fromkeys((5, 6), ((12, 12),)),
        **dict.fromkeys((7, 8), ((12, 11),)),
        **dict.fromkeys((9, 10, 11, 12), ((15, 11),)),
        **dict.fromkeys((13, 14), ((18, 11),)),
    },
    "wikihow": {
        **dict.fromkeys((2, 3, 4, 5, 6), ((12, 12),)),
        **dict.fromkeys((7, 8), ((12, 10),)),
        **dict.fromkeys((9, 10), ((12, 8),)),
    },
    "dominos_cc": dict.fromkeys((2, 3, 4), ((12, 15),)),
    "cover": {
        **dict.fromkeys((2, 3, 4), ((12, 15),)),
        **dict.fromkeys((5, 6), ((12, 12),)),
        **dict.fromkeys((7, 8), ((12, 11),)),
        **dict.fromkeys((9, 10, 11, 12), ((15, 11),)),
        **dict.fromkeys((13, 14), ((18, 11),)),
    },
}


def check_deal(
    rules: ResolvedRules, engine: int, hands: Sequence[Iterable[Tile]], boneyard: Sequence[Tile]
) -> None:
    """Refuse a deal that is not what the rules ask for."""
    n = rules.num_players
    # R2.1 hands and set; R2.6 no more tiles than there are.
    given = [tile for hand in hands for tile in hand] + list(boneyard)
    dealt_set = {(a, b) for b in range(rules.set + 1) for a in range(b + 1)}
    if rules.engine_from == "set_aside":
        dealt_set.remove((engine, engine))  # R2.2 taken out before the deal
    if set(given) != dealt_set or len(given) != len(dealt_set):
        raise ValueError("the deal is not exactly one set")
    if [len(set(hand)) for hand in hands] != [rules.hand_size] * n:
        raise ValueError(f"the deal is not {n} hands of {rules.hand_size}")
    asked = rules.rules
    if asked.set is None or asked.hand_size is None:
        pairs = DEALS[rules.table][n]
        fitting = [p for p in pairs if asked.set in (None, p[0]) and asked.hand_size in (None, p[1])]
        if asked.hand_size is None and (rules.set, rules.hand_size) != fitting[0]:
            raise ValueError(f"R2.1: {rules.table} with {n} seats is not D{rules.set} x{rules.hand_size}")
        decided(f"R2.1 table {rules.table}" if asked.set is None else "R2.1 set given")
    else:
        decided("R2.1 set and hand_size given")
    if not boneyard:
        decided("R2.6 whole set dealt")


def engines(resolved: ResolvedRules) -> list[int]:
    """R2.3: the engine of each round of a match, in order."""
    decided("R2.3 engines")
    return [resolved.first_engine - r for r in range(resolved.rounds)]


# ---- Section 7: the match --------------------------------------------------------------------------------


class MatchResult(NamedTuple):
    """How a match stands; everything by seat."""

    totals: list[int]
    ranks: list[float]  # 1 is best; seats that are equal share the mean of their places
    shares: list[float]  # 1/k for each of the k seats that share first place, 0 for the others


def match_result(round_scores_per_seat: Sequence[Sequence[int]], rules: ResolvedRules) -> MatchResult:
    """The result of ``round_scores_per_seat[seat][round]`` (R7.1, R7.2)."""

    def key(scores: Sequence[int]) -> tuple[int, ...]:
        if rules.tie_break == "shared":
            return (sum(scores),)
        others = [score for score in scores if score != 0]
        return (sum(scores), -scores.count(0), min(others, default=0))

    keys = [key(list(scores)) for scores in round_scores_per_seat]
    best = min(keys)
    level = [k for k in keys if k[0] == best[0]]  # R7.1: all on the lowest total
    first = keys.count(best)
    if len(level) == 1:
        decided("R7.1 lowest total")
    elif rules.tie_break == "shared":
        decided("R7.2 shared")
    elif first > 1:
        decided("R7.2 zero_rounds shared")
    else:
        decided("R7.2 zero_rounds" if [k[1] for k in level].count(best[1]) == 1 else "R7.2 lowest round")
    ranks = [1 + sum(k < mine for k in keys) + (keys.count(mine) - 1) / 2 for mine in keys]
    return MatchResult([k[0] for k in keys], ranks, [(k == best) / first for k in keys])

"""What ``python -m benchmarks.intervals`` plays, and what is true of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from benchmarks import bands
from benchmarks.tossers import SEATS, tossed, tossed_games
from mt_env.arena import Estimate, TournamentResult, rate, tournament
from mt_env.arena.evaluation import Evaluation
from mt_env.arena.identity import identify
from mt_env.arena.protocols import Protocol, ProtocolTable
from mt_env.arena.seating import seating_table
from mt_env.arena.stats import RESAMPLES, Bootstrap
from mt_env.game import Game
from mt_env.rng import mix

WINS: Final = "win share"
STEPS: Final = (WINS, "win share, difference", "ahead")
"""What is counted in whole wins, or halves of them."""
SCORE: Final = "score"

TOSSED: Final = ("planner-fast", "heaviest", "random")
UNEQUAL: Final = ("planner", "tactician", "doubles_first", "random")
TRUTH_DEALS: Final = 50_000
"""Deals of the tournament that says what is true of unequal bots."""
TRUTH_SEED: Final = 2**63
"""Of that tournament."""


Found = dict[str, list[float]]
"""Quantity -> its values, by bot or by pair of bots."""


Estimates = dict[str, list[Estimate]]
"""Quantity -> its estimates, by bot or by pair of bots."""


def _estimates(result: TournamentResult) -> Estimates:
    """Everything that a table shows with an interval."""
    standings, differences = result.standings, result.differences
    return {
        WINS: [s.win_share for s in standings],
        "points": [s.points for s in standings],
        "rank": [s.rank for s in standings],
        "win share, difference": [d.win_share for d in differences],
        "points, difference": [d.points for d in differences],
        "ahead": [d.ahead for d in differences],
        "rating": list(rate(result).ratings),
    }


PAIRS: Final = tuple(combinations(range(SEATS), 2))
"""Bots that are compared, in the order of `TournamentResult.differences`."""


def ahead_of_next(result: TournamentResult) -> Estimate:
    """Share of the games in which a bot is ahead of the one in the seat after it, level ones counted half.

    Args:
        result: of equal bots with rotations, which leave every bot before the same one.
    """
    ranks = result.game_ranks
    margins = np.sign(np.roll(ranks, -1, axis=2) - ranks).sum(axis=(1, 2))[:, None]
    return Bootstrap(margins, result.seed).mean([0], ranks[0].size).scaled(0.5, 0.5)


@dataclass(frozen=True)
class Truth:
    """What is true of the bots of a case."""

    values: Found
    next: Estimate | None = None
    """Of equal bots: `ahead_of_next`."""


def of_equals(policies: Sequence[str]) -> Truth:
    """What is true of four equal bots with rotations.

    The rotations go around: whatever holds of bot i holds of bot i + 1. So no bot can have more than another.
    Two bots across the table are ahead of each other equally often; for neighbours that does not follow,
    since one always plays after the other, and a long tournament says it.

    Args:
        policies: as for `tossed`.
    """
    found = ahead_of_next(tossed(policies, TRUTH_DEALS, TRUTH_SEED))
    first = found.value
    ahead = {(0, 1): first, (1, 2): first, (2, 3): first, (0, 3): 1 - first}
    values = {
        WINS: [1 / SEATS] * SEATS,
        "rank": [(SEATS + 1) / 2] * SEATS,
        "win share, difference": [0.0] * len(PAIRS),
        "points, difference": [0.0] * len(PAIRS),
        "ahead": [ahead.get(pair, 0.5) for pair in PAIRS],
        "rating": [0.0] * SEATS,
    }
    return Truth(values, found)


def _of_unequals() -> Truth:
    """What a long tournament found."""
    result = tournament(UNEQUAL, TRUTH_DEALS, TRUTH_SEED)
    return Truth({name: [e.value for e in found] for name, found in _estimates(result).items()})


SCORED: Final = (("spruce-4", "spruce", 4, 2), ("cover-4", "cover", 4, 3), ("spruce-2", "spruce", 2, 4))
"""Tables of the protocol that is scored: name, rules, seats, deals in halves of those of the smallest."""


def scored(deals: int, seed: int, resamples: int = RESAMPLES) -> Estimates:
    """Scores of four equal bots by a small protocol, and their differences, paired by deal.

    All of them meet the same opponents: the evaluated bots are the tossers 100 to 103, the others 1, 2 and 3.
    So the truth is 1 for each and 0 for each pair, and neither is exactly so in play.

    Args:
        deals: of the smallest table.
        seed: of the tables.
        resamples: behind the intervals.
    """
    tables = tuple(
        ProtocolTable(
            *(name, rules, "round", ("random",) * (seats - 1), deals * halves // 2, 2, mix(seed, number)),
        )
        for number, (name, rules, seats, halves) in enumerate(SCORED)
    )
    protocol, identity = Protocol("intervals", tables, resamples), identify("random")
    played = []
    for salt in range(100, 100 + SEATS):
        games = tuple(
            tossed_games(
                ["random"],
                [salt, *range(1, table.seats)],
                Game(table.rules, table.seats),
                seating_table(table.seats, table.seatings),
                table.deals,
                table.seed,
            )
            for table in tables
        )
        played.append(Evaluation(protocol, None, identity, games))
    return {
        SCORE: [one.score for one in played],
        "score, difference": [played[i].minus(played[j]) for i, j in PAIRS],
    }


@dataclass(frozen=True)
class Case:
    """Bots and what is true of them."""

    name: str
    meaning: str
    play: Callable[[int, int], Estimates]
    """From deals and seed."""
    truth: Callable[[], Truth]
    equal: bool = False
    """Whether the bots are equal, at one table with each other."""
    few: bool = False
    """Whether it is played with the smallest number of deals only."""

    def numbers(self, deals: Sequence[int]) -> list[int]:
        """Of the numbers of deals those that it is played with."""
        return [min(deals)] if self.few else list(deals)

    def band(self, what: str, deals: int, repeats: int, truth_deals: int) -> tuple[float, float]:
        """The band for a quantity, see `benchmarks.bands`; for win shares of equal bots it is fixed."""
        if self.equal and what == WINS:
            return bands.ASKED
        known = what in (SCORE, "score, difference") or (self.equal and what != "ahead")
        return bands.band(
            bands.EQUAL if self.equal else bands.OTHER,
            repeats,
            deals,
            steps=what in STEPS,
            found=None if known else truth_deals,
            smallest=what in (SCORE, "score, difference"),
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


CASES: Final = {
    case.name: case
    for case in (
        Case(
            "random",
            "four `random`, each with a generator of its own",
            lambda deals, seed: _estimates(tossed(["random"], deals, seed)),
            lambda: of_equals(["random"]),
            equal=True,
        ),
        Case(
            "tossers",
            f"four bots that toss before each game whom to play as: {_listed(TOSSED)}",
            lambda deals, seed: _estimates(tossed(TOSSED, deals, seed)),
            lambda: of_equals(TOSSED),
            equal=True,
        ),
        Case(
            "unequal",
            f"{_listed(UNEQUAL)}; the truth is what {TRUTH_DEALS} deals of another seed found",
            lambda deals, seed: _estimates(tournament(UNEQUAL, deals, seed)),
            _of_unequals,
        ),
        Case(
            "protocol",
            "a small protocol: four bots equal to `random`, each evaluated at the same tables of others "
            "equal to it (`spruce` with 4 seats, `cover` with 4, `spruce` with 2; as many deals, "
            "one and a half times, twice; balanced); each score is 1 and each difference 0",
            scored,
            lambda: Truth({SCORE: [1.0] * SEATS, "score, difference": [0.0] * len(PAIRS)}),
            few=True,
        ),
    )
}
"""What is played, by name."""

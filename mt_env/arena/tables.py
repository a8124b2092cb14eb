"""A tournament as tables of text, from which the page, the Markdown and the CSV are made."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mt_env.arena.match import SHARE_UNIT
from mt_env.arena.ratings import Ratings, rate
from mt_env.arena.report import cells
from mt_env.arena.result import Standing, TournamentResult
from mt_env.arena.seating import groups
from mt_env.arena.stats import LEVEL, Bootstrap, Estimate

QUANTILES: Final[tuple[int, ...]] = (5, 25, 50, 75, 95)
"""Quantiles that the table of points shows, in percent."""

FAILURES_SHOWN: Final[int] = 20
"""Failures that are listed one by one."""

STANDINGS_HEADER: Final[tuple[str, ...]] = (
    "bot",
    "name",
    *(
        f"{key}{end}"
        for key in ("win_share", "fair", "points", "rank", "rating")
        for end in ("", "_low", "_high")
    ),
)
"""Columns of `standings_csv`."""

_LEVEL: Final[str] = f"{LEVEL:.0%}"


@dataclass(frozen=True)
class Table:
    """Rows of text with a header."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: tuple[int, ...] = (0,)
    """Columns to the left; the others hold numbers. The first one names the row."""
    notes: tuple[str, ...] = ()
    """Sentences that belong below it."""


def by_name(result: TournamentResult) -> tuple[Standing, ...]:
    """Standings of the distinct names, copies taken together."""
    return result.pooled or result.standings


def ranked(result: TournamentResult) -> list[Standing]:
    """`by_name`, the highest win share first."""
    return sorted(by_name(result), key=lambda s: -s.win_share.value)


def _standing_table(standings: Sequence[Standing], caption: str, notes: tuple[str, ...] = ()) -> Table:
    rows = []
    for s in sorted(standings, key=lambda s: -s.win_share.value):
        share, points, rank = cells(s.win_share, 1, True), cells(s.points, 2), cells(s.rank, 2)
        # The mark of a bot that plays by the clock, which the heading explains.
        rows.append((s.label + "*" * s.timed, *share, f"{s.fair.value:.2f}", *points, *rank))
    header = ("bot", "win share", _LEVEL, "x fair", "points", _LEVEL, "rank", _LEVEL)
    return Table(caption, header, tuple(rows), notes=notes)


def standings(result: TournamentResult) -> Table:
    """One line for each distinct name, the highest win share first."""
    notes = ("Each line of a bot with copies is the mean over them.",) if result.pooled else ()
    return _standing_table(by_name(result), "Standings", notes)


def copies(result: TournamentResult) -> Table | None:
    """One line for each single bot, if there are copies."""
    return _standing_table(result.standings, "Each copy by itself") if result.pooled else None


def rating_table(result: TournamentResult, ratings: Ratings) -> Table:
    """Ratings, the highest first, and how well they fit the counted games."""
    rows = sorted(zip(ratings.names, ratings.ratings, strict=True), key=lambda row: -row[1].value)
    return Table(
        "Ratings",
        ("bot", "rating", _LEVEL),
        tuple((name, *cells(rating, 0, sign=True)) for name, rating in rows),
        notes=_rating_notes(result, ratings),
    )


def _rating_notes(result: TournamentResult, ratings: Ratings) -> tuple[str, ...]:
    zero = "the mean of all ratings" if ratings.anchor is None else ratings.anchor
    notes = [f"0 is {zero}; 400 more is a tenfold strength, that is 10 games ahead for each game behind."]
    if len(ratings.apart) > 1:
        names = " above ".join(", ".join(group) for group in ratings.apart)
        notes.append(
            f"Never mixed: {names}. No bot of a later group was ever ahead of one of an earlier group, or "
            "level with it, so how far the groups are apart is not measured; the intervals do not say so."
        )
    gaps = [
        (d.ahead.value - ratings.expected(d.first, d.second), d.first, d.second) for d in result.differences
    ]
    if gaps and len(ratings.apart) == 1:
        gap, first, second = max(gaps, key=lambda item: abs(item[0]))
        notes.append(
            f"One number a bot cannot say everything: the largest gap to the counted games is "
            f"{100 * abs(gap):.1f} points of 100 ({first} was {'more' if gap > 0 else 'less'} often ahead of "
            f"{second} than the ratings say)."
        )
    return tuple(notes)


def ahead_estimates(result: TournamentResult) -> dict[tuple[str, str], Estimate]:
    """For every two distinct names, both ways: share of the games with the first ahead, level ones half."""
    found = {}
    for d in result.differences:
        value, low, high = d.ahead
        found[d.first, d.second] = d.ahead
        found[d.second, d.first] = Estimate(1 - value, 1 - high, 1 - low)
    return found


def ahead(result: TournamentResult) -> Table:
    """Share of the games in which the row's bot is ahead of the column's, with intervals."""
    names, found = [s.label for s in ranked(result)], ahead_estimates(result)
    rows = [
        (
            first,
            *(
                "" if first == second else " ".join(cells(found[first, second], 1, True)).removesuffix(" -")
                for second in names
            ),
        )
        for first in names
    ]
    notes = ("Level games count half. Read along the row: how often its bot ranked before the column's bot.",)
    return Table("Ahead in pairs", ("ahead of", *names), tuple(rows), notes=notes)


def points_by_name(result: TournamentResult) -> dict[str, NDArray[np.int64]]:
    """Points of all games of each distinct name, sorted, the highest win share first."""
    members = groups(result.names)
    return {s.label: np.sort(result.game_points[:, :, members[s.label]].ravel()) for s in ranked(result)}


def points(result: TournamentResult) -> Table:
    """Quantiles of the points of single games."""
    header = ("bot", "no points", *(f"{q}%" for q in QUANTILES), "most")
    rows = []
    for name, values in points_by_name(result).items():
        # The smallest value that at least q percent of all games do not exceed: one that occurred.
        at = [values[-(-q * len(values) // 100) - 1] for q in QUANTILES]
        rows.append((name, f"{np.mean(values == 0):.1%}", *map(str, at), str(values[-1])))
    notes = ("5% of a bot's games ended with at most the points of column 5%, and so on.",)
    return Table("Points in single games", header, tuple(rows), notes=notes)


def seat_estimates(result: TournamentResult) -> list[Estimate]:
    """Win share of each seat, whoever sat in it, with its interval over deals."""
    seating = result.seating
    by_seat = np.take_along_axis(result.game_shares, seating[None], axis=2).sum(axis=1)
    boot = Bootstrap(by_seat, result.seed, result.resamples)
    return [boot.mean([seat], SHARE_UNIT * len(seating)) for seat in range(result.num_players)]


def seats(result: TournamentResult) -> Table:
    """Win share by seat."""
    rows = tuple((f"seat {i}", *cells(e, 1, True)) for i, e in enumerate(seat_estimates(result)))
    notes = (f"Whoever sat there; {1 / result.num_players:.1%} is an equal share.",)
    return Table("Win share by seat", ("seat", "win share", _LEVEL), rows, notes=notes)


def endings(result: TournamentResult) -> Table:
    """How rounds ended, and what was left out."""
    out, blocked = map(int, result.ends.sum(axis=(0, 1)))
    total = max(1, out + blocked)
    rows = (
        ("rounds", str(out + blocked), ""),
        ("somebody went out", str(out), f"{out / total:.1%}"),
        ("blocked", str(blocked), f"{blocked / total:.1%}"),
        ("deals played", str(result.deals), ""),
        ("void, since a bot failed", str(result.deals - result.valid_deals), ""),
    )
    return Table("Rounds and void deals", ("", "number", "share of rounds"), rows)


def failures(result: TournamentResult) -> Table | None:
    """The first failures of bots, if there are any."""
    if not result.failures:
        return None
    rows = tuple(
        (f.bot, str(f.deal), str(f.seating), str(f.seat), str(f.seed), f.reason)
        for f in result.failures[:FAILURES_SHOWN]
    )
    more = len(result.failures) - FAILURES_SHOWN
    notes = (f"And {more} more, each of another deal; the JSON file has them all.",) if more > 0 else ()
    header = ("bot", "deal", "seating", "seat", "episode seed", "reason")
    return Table("Failures", header, rows, (0, 5), notes)


@dataclass(frozen=True)
class Thinking:
    """How long a bot, or all its copies together, took for its decisions."""

    name: str
    seconds: float
    decisions: int

    @property
    def milliseconds(self) -> float:
        """Mean of a decision."""
        return 1e3 * self.seconds / self.decisions


def thinking(result: TournamentResult) -> list[Thinking]:
    """Of each distinct name that was timed, the highest win share first. Differs from run to run."""
    clock, members = result.clock, groups(result.names)
    if len(clock.decisions) != len(result.bots):
        return []
    found = []
    for s in ranked(result):
        copies = members[s.label]
        seconds, decisions = sum(clock.seconds[i] for i in copies), sum(clock.decisions[i] for i in copies)
        found.append(Thinking(s.label, seconds, decisions))
    return [row for row in found if row.decisions and row.seconds > 0]


def time_table(rows: Sequence[Thinking]) -> Table:
    """Milliseconds of a decision."""
    header = ("bot", "ms a decision", "decisions timed")
    lines = tuple((row.name, f"{row.milliseconds:.3g}", str(row.decisions)) for row in rows)
    return Table("Time of a decision", header, lines)


def standings_csv(result: TournamentResult, ratings: Ratings | None = None) -> str:
    """One line for each bot in the order given, copies apart; columns `STANDINGS_HEADER`.

    Copies share the rating of their name. Limits are empty where one deal gives none.

    Args:
        result: of the tournament.
        ratings: from `mt_env.arena.ratings.rate`; None makes them.
    """
    ratings = rate(result) if ratings is None else ratings
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(STANDINGS_HEADER)
    rating = dict(zip(ratings.names, ratings.ratings, strict=True))
    for s, name in zip(result.standings, result.names, strict=False):  # no standings if every deal is void
        values = [x for e in (s.win_share, s.fair, s.points, s.rank, rating[name]) for x in e]
        writer.writerow([s.label, name, *("" if math.isnan(x) else repr(x) for x in values)])
    return text.getvalue()

"""A tournament as text, JSON and tables. Nothing here depends on clock, machine or terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from mt_env import __version__
from mt_env.arena.match import RANK_UNIT, SHARE_UNIT, Clock
from mt_env.arena.stats import LEVEL, Estimate
from mt_env.rng import mix

if TYPE_CHECKING:
    from mt_env.arena.ratings import Ratings
    from mt_env.arena.result import Standing, TournamentResult

FEW_DEALS: Final[int] = 30
"""Below this many deals the table warns: intervals are then too narrow."""

WANTED: Final = (0.01, 0.005)
"""Half widths of win shares for which the table says how many deals they need."""

CSV_HEADER: Final = "deal,seed,seating,seat,bot,points,rank,win_share,rounds_out,rounds_blocked"


def cells(estimate: Estimate, digits: int, percent: bool = False, sign: bool = False) -> list[str]:
    """Value and interval as two texts, ``["58.1%", "[56.0%, 60.2%]"]``; without an interval, ``-`` for it.

    Args:
        estimate: what is shown.
        digits: after the point.
        percent: show it in percent.
        sign: show a plus sign too.
    """
    estimate = estimate.scaled(100.0) if percent else estimate
    unit = "%" if percent else ""

    def number(x: float) -> str:
        # A value that rounds to nothing bears no minus sign.
        return f"{round(x, digits) + 0.0:{'+' if sign else ''}.{digits}f}{unit}"

    if math.isnan(estimate.low):
        return [number(estimate.value), "-"]
    return [number(estimate.value), f"[{number(estimate.low)}, {number(estimate.high)}]"]


def grid(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Rows with aligned columns, the first ``left`` to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _standing_rows(standings: Sequence[Standing], first: str) -> list[str]:
    level = f"{LEVEL:.0%}"
    rows = [[first, "win share", level, "x fair", "points", level, "rank", level]]
    for s in standings:
        share, points, rank = cells(s.win_share, 1, True), cells(s.points, 2), cells(s.rank, 2)
        rows.append([s.label + "*" * s.timed, *share, f"{s.fair.value:.2f}", *points, *rank])
    return grid(rows)


def heading(result: TournamentResult) -> list[str]:
    """What was played, in a few lines."""
    game, n, orders = result.game, result.num_players, result.num_seatings
    of = "" if result.valid_deals == result.deals else f" of {result.deals}"
    rules = game.rules
    lines = [
        f"{result.valid_deals}{of} deals x {orders} seatings = {result.games} games, seed {result.seed}",
        f"rules {rules.rules.to_text()} (double-{rules.set} set, {rules.hand_size} tiles a hand), {n} seats, "
        f"episode {game.episode}, engine {game.engine}",
    ]
    if result.failures:
        void = result.deals - result.valid_deals
        lines.append(f"{void} deal{'s are' if void > 1 else ' is'} void, since a bot failed")
    until = f"every win share known to +-{result.until or 0:.2%}"
    ends = {
        "until": f"stopped before {result.max_deals} deals with {until}"
        if result.deals < result.max_deals
        else f"{until}, as wanted, after all {result.max_deals} deals",
        "failures": f"stopped early: {result.max_failures} deals are void",
        "unfinished": f"not finished: {result.deals} of {result.max_deals} deals",
    }
    if result.seatings != "rotations":
        lines[1] += f", seatings {result.seatings}"
    if result.end in ends:
        lines.append(ends[result.end])
    elif result.until is not None:
        lines.append(f"wanted {until}: that needs more deals")
    if any(result.timed):
        lines.append("* plays by the clock: the same command need not give the same games")
    return lines


def _about(number: int) -> int:
    """``number`` rounded to two digits."""
    return round(number, min(0, 2 - len(str(number))))


def _precision(result: TournamentResult) -> str:
    """How precise the widest win share is, and how many deals would make it more so."""
    needed = ", ".join(f"+-{wanted:.1%} about {_about(result.deals_for(wanted))}" for wanted in WANTED)
    return f"every win share is known to +-{result.widest_share():.1%}; deals for {needed}"


def _rating_rows(ratings: Ratings) -> list[str]:
    """Ratings, the highest first; a line more where they do not rest on games."""
    zero = "their mean" if ratings.anchor is None else ratings.anchor
    found = sorted(zip(ratings.names, ratings.ratings, strict=True), key=lambda row: -row[1].value)
    rows = [[f"ratings, {zero} is 0", "rating", f"{LEVEL:.0%}"]]
    rows += [[name, *cells(rating, 0, sign=True)] for name, rating in found]
    lines = grid(rows)
    if len(ratings.apart) > 1:
        groups = " above ".join(", ".join(group) for group in ratings.apart)
        lines.append(f"no game mixed {groups}: how far they are apart is not measured")
    return lines


def table(result: TournamentResult, ratings: Ratings | None = None) -> str:
    """The whole result as text.

    Args:
        result: of a tournament.
        ratings: from `mt_env.arena.ratings.rate`, shown too; None shows none.
    """
    lines = heading(result)
    if not result.standings:
        return "\n".join([*lines, "no deal counts: there is nothing to report"])
    lines += ["", *_standing_rows(result.standings, "bot")]
    if result.pooled:
        lines += ["", *_standing_rows(result.pooled, "copies pooled")]
    if result.differences:
        level = f"{LEVEL:.0%}"
        rows = [["difference, paired by deal", "win share", level, "points", level, "ahead", level]]
        for d in result.differences:
            share, points = cells(d.win_share, 1, True, True), cells(d.points, 2, sign=True)
            rows.append([f"{d.first} - {d.second}", *share, *points, *cells(d.ahead, 1, True)])
        lines += ["", *grid(rows)]
    if ratings is not None:
        lines += ["", *_rating_rows(ratings)]
    out, blocked = map(int, result.ends.sum(axis=(0, 1)))
    seats = "  ".join(f"{seat}: {share:.1%}" for seat, share in enumerate(result.seat_shares))
    lines += [
        "",
        f"rounds: {out + blocked}, gone out of {out}, blocked {blocked}",
        f"win share by seat: {seats}",
        f"games sha256 {result.digest[:16]}, mt_env {__version__}",
    ]
    if result.valid_deals > 1:
        lines.insert(-1, _precision(result))
    if result.valid_deals < FEW_DEALS:
        lines.append(f"fewer than {FEW_DEALS} deals: the intervals are too narrow to be trusted")
    return "\n".join(lines)


def timing(clock: Clock, labels: Sequence[str]) -> str:
    """Where the time went; for stderr, since it differs from run to run."""
    speed = clock.moves / clock.total if clock.total else 0.0
    deals = clock.deals / clock.total if clock.total else 0.0
    lines = [
        f"{clock.total:.2f} s of play, {clock.deals} deals, {deals:,.1f} deals/s, {clock.moves} moves, "
        f"{speed:,.0f} moves/s"
    ]
    how = "timed apart" if clock.sampled else "decisions"
    for label, seconds, decisions in zip(labels, clock.seconds, clock.decisions, strict=True):
        if decisions:
            lines.append(f"  {label}: {1e3 * seconds / decisions:.4g} ms a decision, {decisions} {how}")
    return "\n".join(lines)


def _number(x: float) -> float | None:
    return None if math.isnan(x) else x


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {name: _number(value) for name, value in zip(("value", "low", "high"), estimate, strict=True)}


def _standing(s: Standing, key: str) -> dict[str, object]:
    values = {"win_share": s.win_share, "fair": s.fair, "points": s.points, "rank": s.rank}
    return {key: s.label, **{name: _estimate(value) for name, value in values.items()}}


def to_dict(result: TournamentResult) -> dict[str, object]:
    """The result as plain values; see docs/arena.md for the meaning of each key."""
    game = result.game
    out, blocked = map(int, result.ends.sum(axis=(0, 1)))
    return {
        "mt_env": __version__,
        "bots": list(result.bots),
        "names": list(result.names),
        "seed": result.seed,
        "deals": result.deals,
        "valid_deals": result.valid_deals,
        "games": result.games,
        "seats": result.num_players,
        "seatings": result.seatings,
        "orders": result.seating.tolist(),
        "rules": game.rules.rules.to_text(),
        "set": game.rules.set,
        "hand_size": game.rules.hand_size,
        "episode": game.episode,
        "engine": game.engine,
        "max_deals": result.max_deals,
        "until": result.until,
        "end": result.end,
        "time_limit": result.time_limit,
        "max_failures": result.max_failures,
        "budget_ms": list(result.budgets),
        "level": LEVEL,
        "resamples": result.resamples,
        "standings": [_standing(s, "bot") for s in result.standings],
        "pooled": [_standing(s, "name") for s in result.pooled],
        "differences": [
            {
                "first": d.first,
                "second": d.second,
                "win_share": _estimate(d.win_share),
                "points": _estimate(d.points),
                "ahead": _estimate(d.ahead),
            }
            for d in result.differences
        ],
        "seat_shares": list(result.seat_shares),
        "rounds_out": out,
        "rounds_blocked": blocked,
        "games_sha256": result.digest,
        "failures": [failure.to_dict() for failure in result.failures],
    }


def to_json(result: TournamentResult) -> str:
    """`to_dict` as JSON text."""
    return json.dumps(to_dict(result), indent=2, allow_nan=False) + "\n"


def _games(result: TournamentResult) -> Iterator[dict[str, Any]]:
    """Each game that counts, lists by seat."""
    seating = result.seating.tolist()
    points, ranks = result.game_points.tolist(), result.game_ranks.tolist()
    shares, ends = result.game_shares.tolist(), result.ends.tolist()
    for row, deal in enumerate(result.deal_numbers.tolist()):
        seed = mix(result.seed, deal)
        for k, seats in enumerate(seating):
            yield {
                "deal": deal,
                "seed": seed,
                "seating": k,
                "bots": [result.bots[i] for i in seats],
                "points": [points[row][k][i] for i in seats],
                "ranks": [ranks[row][k][i] / RANK_UNIT for i in seats],
                "win_shares": [shares[row][k][i] / SHARE_UNIT for i in seats],
                "rounds_out": ends[row][k][0],
                "rounds_blocked": ends[row][k][1],
            }


def to_csv(result: TournamentResult) -> str:
    """One line for each seat of each game that counts."""
    lines = [CSV_HEADER]
    for game in _games(result):
        for seat, bot in enumerate(game["bots"]):
            name = f'"{bot.replace(chr(34), chr(34) * 2)}"' if any(c in bot for c in ',"\r\n') else bot
            cells = [game["deal"], game["seed"], game["seating"], seat, name]
            cells += [game[key][seat] for key in ("points", "ranks", "win_shares")]
            lines.append(",".join(map(str, [*cells, game["rounds_out"], game["rounds_blocked"]])))
    return "".join(f"{line}\n" for line in lines)

"""A tournament as one self-contained HTML page, and as Markdown. The page loads nothing, no script runs."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from html import escape
from typing import Final

from mt_env import __version__
from mt_env.arena import charts, tables
from mt_env.arena.page_style import STYLE
from mt_env.arena.ratings import Ratings, rate
from mt_env.arena.report import FEW_DEALS, cells, heading
from mt_env.arena.result import TournamentResult
from mt_env.arena.seating import groups
from mt_env.arena.stats import LEVEL, Estimate
from mt_env.arena.tables import Table
from mt_env.rules_yaml import write_text

READING: Final[tuple[tuple[str, str], ...]] = (
    (
        "Interval",
        f"The {LEVEL:.0%} interval of a number, over deals: played again with other deals, intervals made "
        f"like this hold the true value about {100 * LEVEL:.0f} times in 100. All games of a deal share its "
        "tiles, so the deal is what is drawn again (a bootstrap), not the game. Two overlapping intervals do "
        "not mean that two bots may be equal: look at how often one is ahead of the other.",
    ),
    ("Win share", "Share of the games won; a first place shared by k bots counts 1/k for each of them."),
    ("x fair", "Win share times the number of seats: 1 is equal play."),
    ("Points", "Pips left in hand, a mean over games; few are good."),
    ("Rank", "Mean place from 1; level bots share the mean of their places."),
    (
        "Rating",
        "400 times the logarithm (base 10) of a strength that explains the order in which bots finished, by "
        "the Plackett-Luce model. It holds among these bots, at this table, under these rules.",
    ),
    ("Void deal", "A deal in which a bot failed. It counts for nobody, as if it had not been dealt."),
)
"""How to read the page: words and their meaning."""

HEADINGS: Final = ("Standings", "Ratings", "Ahead in pairs")
"""Captions that stand as a heading above their table already: they are said by screen readers only."""

MANY: Final[int] = 6
"""With more bots than this, each has a number beside its name, and only the number where room is scarce."""

SHORT_NAME: Final[int] = 14
"""So it is if one has a longer name than this."""

TITLE: Final[int] = 80
"""Longest list of bots that is the page's heading."""


def title(result: TournamentResult) -> str:
    """The distinct bots in words, as in ``planner, 2 x heaviest, random``."""
    members = groups(result.names)
    return ", ".join(
        f"{len(copies)} x {name}" if len(copies) > 1 else name for name, copies in members.items()
    )


def _numbers(result: TournamentResult, always: bool = False) -> dict[str, str]:
    """Name -> number in the order of the standings, as text; empty if names alone are clear enough."""
    names = [s.label for s in tables.ranked(result)]
    if not always and len(names) <= MANY and max(map(len, names)) <= SHORT_NAME:
        return {}
    return {name: str(number) for number, name in enumerate(names, 1)}


def _label(name: str, numbers: dict[str, str]) -> str:
    number = numbers.get(name) or numbers.get(name.removesuffix("*"))
    return name if number is None else f"{number} {name}"


def _paragraphs(lines: Sequence[str], cls: str = "") -> str:
    cls = f' class="{cls}"' if cls else ""
    return "".join(f"<p{cls}>{escape(line)}</p>\n" for line in lines)


def _table(table: Table, numbers: dict[str, str] | None = None) -> str:
    """As HTML, in a box that scrolls by itself where the page is narrow; names get their numbers."""

    def cell(tag: str, i: int, text: str, scope: str = "") -> str:
        cls = ' class="text"' if i in table.text_columns else ' class="dim"' if text.startswith("[") else ""
        return f"<{tag}{scope}{cls}>{escape(text)}</{tag}>"

    head = "".join(cell("th", i, text, ' scope="col"') for i, text in enumerate(table.header))
    body = ""
    for first, *others in table.rows:
        row = cell("th", 0, _label(first, numbers or {}), ' scope="row"')
        body += f"<tr>{row}{''.join(cell('td', i, text) for i, text in enumerate(others, 1))}</tr>\n"
    return _scrolling(table.caption, f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>", table.notes)


def _scrolling(caption: str, inner: str, notes: Sequence[str], cls: str = "") -> str:
    cls = f' class="{cls}"' if cls else ""
    said = ' class="said"' if caption in HEADINGS else ""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">\n'
        f"<table{cls}><caption{said}>{escape(caption)}</caption>\n{inner}\n</table></div>\n"
        f"{_paragraphs(notes, 'note')}"
    )


def _pairs(result: TournamentResult) -> str:
    """The pair table with colours: the further from a half, the stronger."""
    names, found = [s.label for s in tables.ranked(result)], tables.ahead_estimates(result)
    numbers, many = _numbers(result), len(names) > MANY

    def head(name: str, text: str, scope: str, cls: str = "") -> str:
        return f'<th scope="{scope}"{cls} title="{escape(name)}">{escape(text)}</th>'

    def cell(first: str, second: str) -> str:
        if first == second:
            return '<td aria-label="itself">&#183;</td>'
        estimate = found[first, second]
        kind, part = ("more" if estimate.value > 0.5 else "less"), 1.2 * abs(estimate.value - 0.5)
        low, high = (f"{100 * x:.{0 if many else 1}f}" for x in (estimate.low, estimate.high))
        small = "" if math.isnan(estimate.low) else f"<small>{low} to {high}</small>"
        said = escape(f"{first} ahead of {second}: {_said(estimate, 1, True)}")
        value = cells(estimate, 1, True)[0]
        return f'<td class="{kind}" style="--part:{part:.2f}" title="{said}">{value}{small}</td>'

    top = "".join(head(name, numbers.get(name, name), "col") for name in names)
    body = ""
    for first in names:
        text = f"{numbers[first]} {charts.shortened(first, 14)}" if many else _label(first, numbers)
        row = head(first, text, "row", ' class="text"') + "".join(cell(first, second) for second in names)
        body += f"<tr>{row}</tr>\n"
    table = tables.ahead(result)
    inner = (
        f'<thead><tr><th scope="col" class="text">ahead of</th>{top}</tr></thead>\n<tbody>\n{body}</tbody>'
    )
    return _scrolling(table.caption, inner, table.notes, "pairs wide" if many else "pairs")


def _figure(svg: str, caption: str = "", cls: str = "") -> str:
    cls = f' class="{cls}"' if cls else ""
    caption = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure{cls}>{svg}{caption}</figure>\n"


def _said(estimate: Estimate, digits: int, percent: bool = False, sign: bool = False) -> str:
    """Value and interval, if there is one."""
    return " ".join(cells(estimate, digits, percent, sign)[: 1 if math.isnan(estimate.low) else 2])


def _share_chart(
    name: str, labels: Sequence[str], estimates: Sequence[Estimate], fair: float, bars: bool
) -> str:
    ends = [x for e in estimates for x in e]
    axis = charts.Axis.around([*ends, 0.0 if bars else fair, fair], 0.05)
    if bars:
        axis = charts.Axis(0.0, axis.high)
    texts = [_said(e, 1, True) for e in estimates]
    return charts.rows(name, labels, estimates, texts, axis, charts.percent, fair, bars)


def _standings(result: TournamentResult) -> str:
    found = tables.ranked(result)
    fair = 1 / result.num_players
    numbers = _numbers(result)
    labels = [_label(s.label, numbers) for s in found]
    chart = _share_chart("Win share by bot", labels, [s.win_share for s in found], fair, False)
    caption = f"Win share with its interval; the dashed line is equal play, {fair:.1%}."
    copies = tables.copies(result)
    apart = _table(copies) if copies is not None else ""
    return _table(tables.standings(result), numbers) + _figure(chart, caption) + apart


def _ratings(result: TournamentResult, ratings: Ratings) -> str:
    table = tables.rating_table(result, ratings)
    known = dict(zip(ratings.names, ratings.ratings, strict=True))
    names = [row[0] for row in table.rows]
    estimates = [known[name] for name in names]
    texts = [_said(e, 0, sign=True) for e in estimates]
    axis = charts.Axis.around([x for e in estimates for x in e], 20.0)
    numbers = _numbers(result)
    labels = [_label(name, numbers) for name in names]
    chart = charts.rows("Ratings", labels, estimates, texts, axis, lambda x: f"{x:+g}" if x else "0", 0.0)
    return _table(table, numbers) + _figure(chart)


def _points(result: TournamentResult) -> str:
    by_name = tables.points_by_name(result)
    highest = max(int(values[-1]) for values in by_name.values())
    numbers = _numbers(result)
    out = _table(tables.points(result), numbers)
    if highest < 1:
        return out
    bins = charts.Bins(highest)
    shares = {name: bins.shares(values) for name, values in by_name.items()}
    tallest = max(float(row.max()) for row in shares.values())
    out += '<div class="several">\n'
    for name, row in shares.items():
        chart = charts.histogram(f"Points of {name}", row, bins, tallest)
        values = by_name[name]
        caption = f"no points in {(values == 0).mean():.1%} of the games, mean {values.mean():.1f}"
        head = escape(_label(name, numbers))
        out += f"<figure><h3>{head}</h3>{chart}<figcaption>{escape(caption)}</figcaption></figure>\n"
    note = "Bars: shares of a bot's games by the points it had, to one scale; games without points are apart."
    return out + "</div>\n" + _paragraphs([note], "note")


def _seats(result: TournamentResult) -> str:
    estimates = tables.seat_estimates(result)
    labels = [f"seat {i}" for i in range(len(estimates))]
    chart = _share_chart("Win share by seat", labels, estimates, 1 / result.num_players, True)
    caption = f"Whoever sat there; the dashed line is an equal share, {1 / result.num_players:.1%}."
    return _figure(chart, caption)


def _time(result: TournamentResult) -> str:
    rows = tables.thinking(result)
    if not rows:
        return _paragraphs(
            ["No decision was timed: the games were played inside the core, where no clock runs."]
        )
    share = {s.label: s.win_share for s in tables.by_name(result)}
    numbers = _numbers(result, always=True)
    points = [(numbers[row.name], row.name, row.milliseconds, share[row.name]) for row in rows]
    fair = 1 / result.num_players
    chart = charts.scatter("Win share against time", points, "ms a decision", "win share", fair)
    note = "Times belong to the machine and the run; they are not part of the result."
    table = _table(tables.time_table(rows), numbers)
    return f'<figure><div class="indented">{chart}</div></figure>\n' + table + _paragraphs([note], "note")


def _warnings(result: TournamentResult) -> list[str]:
    if not result.valid_deals:
        return ["No deal counts: there is nothing to report."]
    if result.valid_deals == 1:
        return ["One deal: there are no intervals, and luck decides."]
    if result.valid_deals < FEW_DEALS:
        return [f"Fewer than {FEW_DEALS} deals: the intervals are too narrow to be trusted."]
    return []


def _sections(result: TournamentResult, timings: bool, ratings: Ratings | None) -> list[tuple[str, str]]:
    """Headings and what is below them."""
    sections = []
    if result.valid_deals:
        ratings = rate(result) if ratings is None else ratings
        sections.append(("Standings", _standings(result)))
        if result.differences:  # else all are copies of one bot
            sections += [("Ratings", _ratings(result, ratings)), ("Ahead in pairs", _pairs(result))]
        sections += [("Points", _points(result)), ("Seats", _seats(result))]
        if timings:
            sections.append(("Strength and time", _time(result)))
    failures = tables.failures(result)
    endings = _table(tables.endings(result)) + (_table(failures) if failures is not None else "")
    reading = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>\n" for word, meaning in READING)
    return [*sections, ("Rounds and failures", endings), ("How to read this", f"<dl>\n{reading}</dl>\n")]


def html(
    result: TournamentResult,
    command: str | None = None,
    timings: bool = True,
    ratings: Ratings | None = None,
) -> str:
    """The page. It needs no other file, no network and no script.

    Args:
        result: of a tournament.
        command: shown as the way to repeat it.
        timings: show how long bots took for a decision, where that was measured. Without timings, equal
            results give equal bytes.
        ratings: from `mt_env.arena.ratings.rate`; None makes them.
    """
    name = title(result)
    if len(name) > TITLE:
        body = f"<h1>Tournament of {result.num_players} bots</h1>\n" + _paragraphs([name])
    else:
        body = f"<h1>{escape(name)}</h1>\n"
    body += _paragraphs(heading(result))
    if command is not None:
        body += f"<pre><code>{escape(command)}</code></pre>\n"
    body += _paragraphs(_warnings(result), "warning")
    for head, inner in _sections(result, timings, ratings):
        anchor = re.sub(r"\W+", "-", head.lower())
        body += f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{escape(head)}</h2>\n'
        body += f"{inner}</section>\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Tournament: {escape(name)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"{body}</main>\n<footer>games sha256 {result.digest}, mt_env {__version__}</footer>\n"
        "</body>\n</html>\n"
    )


def write_html(
    result: TournamentResult,
    path: str | os.PathLike[str],
    command: str | None = None,
    timings: bool = True,
    ratings: Ratings | None = None,
) -> None:
    """Write `html` beside ``path`` and rename it."""
    write_text(path, html(result, command, timings, ratings))


def _escaped(text: str) -> str:
    """``text`` as Markdown that shows it as it is, on one line."""
    text = " ".join(text.split()).replace("&", "&amp;")
    return re.sub(r"([\\`*_{}\[\]<>#|~$@])", r"\\\1", text)


def _markdown_table(table: Table) -> list[str]:
    marks = [":--" if i in table.text_columns else "--:" for i in range(len(table.header))]
    rows = [table.header, *table.rows]
    lines = ["| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join(marks) + " |")
    return [
        "",
        f"### {table.caption}",
        "",
        *lines,
        *(line for note in table.notes for line in ("", _escaped(note))),
    ]


def markdown(result: TournamentResult, command: str | None = None, ratings: Ratings | None = None) -> str:
    """The page's tables as GitHub's Markdown; timings are left out, so equal results give equal bytes.

    Args:
        result: of a tournament.
        command: shown as the way to repeat it.
        ratings: from `mt_env.arena.ratings.rate`; None makes them.
    """
    lines = [f"## {_escaped(title(result))}", ""]
    lines += [f"{_escaped(line)}  " for line in heading(result)]
    if command is not None:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", command)), default=0))
        lines += ["", f"{fence}sh", command, fence]
    lines += [line for warning in _warnings(result) for line in ("", f"**{warning}**")]
    shown: list[Table | None] = []
    if result.valid_deals:
        ratings = rate(result) if ratings is None else ratings
        shown += [tables.standings(result), tables.copies(result)]
        if result.differences:
            shown += [tables.rating_table(result, ratings), tables.ahead(result)]
        shown += [tables.points(result), tables.seats(result)]
    shown += [tables.endings(result), tables.failures(result)]
    for table in shown:
        lines += _markdown_table(table) if table is not None else []
    lines += ["", f"games sha256 {result.digest}, mt\\_env {__version__}"]
    return "\n".join(lines) + "\n"

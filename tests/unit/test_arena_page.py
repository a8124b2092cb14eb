"""The report of a tournament: the HTML page, the Markdown and the CSV of standings."""

from __future__ import annotations

import csv
import dataclasses
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from mt_env.arena import Clock, TournamentResult, tables, tournament
from mt_env.arena import page as page_module
from mt_env.arena.charts import Axis, Bins, nice_step, shortened
from mt_env.arena.page import html, markdown, write_html
from mt_env.arena.ratings import rate
from mt_env.arena.seating import rotations
from mt_env.arena.stats import Estimate
from mt_env.bots import CompiledBot

FEW = 200
EVIL = '</title><script>alert("x")</script>|`a`_b_'


class FailsOnce:
    """Plays, but its first game ends in an error."""

    name = EVIL

    def __init__(self) -> None:
        self.games = 0

    def reset(self, game, seat, seed):
        self.games += 1

    def act(self, view, rng):
        if self.games == 1:
            raise RuntimeError("<b>no</b> | idea")
        return CompiledBot("heaviest").act(view, rng)


def with_names(result: TournamentResult, names: list[str]) -> TournamentResult:
    return dataclasses.replace(result, bots=tuple(names), names=tuple(names))


def timed(result: TournamentResult) -> TournamentResult:
    n = len(result.bots)
    return dataclasses.replace(result, clock=Clock([10.0 ** (i % 3) for i in range(n)], [100] * n))


def fourteen() -> TournamentResult:
    bots = [*["planner-fast", "heaviest", "random"] * 4, "random", "random"]
    result = tournament(bots, 3, 1, rules="spruce;set=18;hand_size=11", resamples=FEW)
    return timed(
        with_names(result, [f"policy:runs/2026-11-30-selfplay/checkpoint_{i:07}" for i in range(14)])
    )


RESULTS: dict[str, Callable[[], TournamentResult]] = {
    "two": lambda: tournament(["planner-fast", "random"], 35, 1, resamples=FEW),
    "four": lambda: timed(
        tournament(["planner-fast", "heaviest", "heaviest", "random"], 40, 1, resamples=FEW)
    ),
    "copies only": lambda: tournament(["random"] * 3, 5, 1, resamples=FEW),
    "one deal": lambda: tournament(["planner-fast", "heaviest", "random"], 1, 1, resamples=FEW),
    "fourteen": fourteen,
    "failure": lambda: tournament(["random", FailsOnce(), "random"], 4, 1, resamples=FEW),
    "all void": lambda: tournament([lambda view, rng: None, "random"], 25, 4, resamples=FEW),
    "match": lambda: tournament(
        ["heaviest", "random"], 4, 1, rules="spruce;rounds=3", episode="match", resamples=FEW
    ),
}


@pytest.fixture(scope="module")
def results() -> dict[str, TournamentResult]:
    return {name: make() for name, make in RESULTS.items()}


class Reader(HTMLParser):
    """Checks that tags nest, and notes what is there."""

    VOID = ("meta",)

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


# --- the page ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_is_well_formed_and_complete_in_itself(results, name: str) -> None:
    text = html(results[name], command="mexican-train tournament --bots 'a & b' --seed 1")
    found = Reader(text)
    assert text.startswith("<!DOCTYPE html>") and len(found.all("h1")) == 1
    assert "mexican-train tournament --bots 'a & b' --seed 1" in "".join(found.text["code"])
    for tag in ("script", "link", "img", "iframe", "object"):
        assert not found.all(tag)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"} and "url(" not in text and "@import" not in text
    for tag, attributes in found.tags:
        assert not {"src", "href", "srcset"} & set(attributes), tag
        assert not any(key.startswith("on") for key in attributes), tag
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)
    assert all(section["aria-labelledby"] in ids for section in found.all("section"))
    assert "nan" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL).lower()


@pytest.mark.parametrize("name", RESULTS)
def test_tables_have_headers_and_charts_have_names(results, name: str) -> None:
    text = html(results[name])
    found = Reader(text)
    assert all(cell.get("scope") in ("col", "row") for cell in found.all("th"))
    assert len(found.all("caption")) == len(found.all("table"))
    for table in re.findall(r"<table.*?</table>", text, re.DOTALL):
        widths = {
            len(re.findall(r"<t[hd][ >]", row)) for row in re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        }
        assert len(widths) == 1
    charts = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(charts) == len(found.all("svg"))
    for chart in charts:
        root = ET.fromstring(chart)
        assert root.get("role") == "img" and root.get("aria-label") and root[0].tag.endswith("title")
        for element in root.iter():
            for key in ("x", "x1", "x2", "cx", "width"):
                place = element.get(key, "0")
                if place.endswith("%"):
                    assert -0.01 <= float(place[:-1]) <= 100.01, (key, place)


def test_sections_by_what_there_is(results) -> None:
    def heads(name: str, **options) -> list[str]:
        return Reader(html(results[name], **options)).text["h2"]

    full = ["Standings", "Ratings", "Ahead in pairs", "Points", "Seats", "Strength and time"]
    last = ["Rounds and failures", "How to read this"]
    assert heads("four") == heads("two") == full + last
    assert heads("four", timings=False) == full[:-1] + last
    assert heads("copies only") == [full[0], *full[3:], *last]
    assert heads("all void") == last
    assert "No decision was timed" in html(results["two"])
    assert "No decision was timed" not in html(results["four"])
    assert "No deal counts" in html(results["all void"])
    assert "And 5 more, each of another deal" in html(results["all void"])
    assert "there are no intervals" in html(results["one deal"])
    assert "Fewer than 30 deals" in html(results["match"])
    assert "Each copy by itself" in html(results["four"]) and "Each copy by itself" not in html(
        results["two"]
    )


def test_names_and_reasons_are_shown_as_they_are(results) -> None:
    text = html(results["failure"], command=f"echo '{EVIL}'")
    found = Reader(text)
    assert not found.all("script") and not found.all("b")
    assert found.text["title"][0] == f"Tournament: 2 x random, {EVIL}"
    assert "act raised RuntimeError: <b>no</b> | idea" in found.text["td"]
    assert EVIL in found.text["h1"][0] and f"echo '{EVIL}'" in found.text["code"]


def test_the_page_shows_the_numbers_of_the_table(results) -> None:
    result = results["four"]
    text = unescape(html(result))
    for standing in result.pooled:
        for cell in (*tables.cells(standing.win_share, 1, True), *tables.cells(standing.points, 2)):
            assert f">{cell}<" in text
    for difference in result.differences:
        value, limits = tables.cells(difference.ahead, 1, True)
        assert f"{difference.first} ahead of {difference.second}: {value} {limits}" in text
    for rating in rate(result).ratings:
        assert f"{rating.value:+.0f} [{rating.low:+.0f}, {rating.high:+.0f}]" in text


def test_equal_results_give_equal_pages(results, tmp_path: Path) -> None:
    again = RESULTS["four"]()
    other = dataclasses.replace(again, clock=Clock([3.0] * 4, [7] * 4, 9, 9.0))
    assert html(results["four"], timings=False) == html(other, timings=False)
    assert markdown(results["four"]) == markdown(other)
    assert html(results["four"]) != html(other)
    write_html(other, tmp_path / "page.html", command="x", timings=False)
    assert (tmp_path / "page.html").read_bytes().decode() == html(other, "x", timings=False)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_ratings_may_be_handed_in(results) -> None:
    anchored = rate(results["four"], anchor="random", resamples=50)
    assert "0 is random;" in html(results["four"], ratings=anchored)
    assert "0 is random;" in markdown(results["four"], ratings=anchored)


def test_groups_that_never_mixed_are_told(results) -> None:
    result = results["two"]
    won = np.tile(np.array([2, 4]), (*result.game_ranks.shape[:2], 1))
    text = html(dataclasses.replace(result, game_ranks=won))
    assert "Never mixed: planner-fast above random." in text and "One number a bot" not in text
    assert "One number a bot cannot say everything" in html(results["four"])


def test_many_or_long_names_get_numbers(results) -> None:
    found = Reader(html(results["fourteen"]))
    assert found.text["h1"] == ["Tournament of 14 bots"]
    assert [str(i) for i in range(1, 15)] == found.text["th"][found.text["th"].index("ahead of") + 1 :][:14]
    assert not any(re.match(r"\d+ ", text) for text in Reader(html(results["four"])).text["th"][:12])


def test_seatings_need_not_be_as_many_as_seats(results, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of tournaments that play further orders."""
    result = results["four"]
    once, rounds = tables.seat_estimates(result), int(tables.endings(result).rows[0][1])
    points = tables.points(result)
    double = {
        name: np.concatenate([getattr(result, name)] * 2, axis=1)
        for name in ("game_points", "game_ranks", "game_shares", "ends")
    }
    more = dataclasses.replace(result, **double)
    both = np.concatenate([rotations(4)] * 2)
    monkeypatch.setattr(TournamentResult, "seating", property(lambda self: both), raising=False)
    twice = tables.seat_estimates(more)
    assert [e.value for e in twice] == pytest.approx([e.value for e in once])
    assert sum(e.value for e in twice) == pytest.approx(1)
    assert tables.points(more) == points
    assert tables.endings(more).rows[0][1] == str(2 * rounds)


# --- Markdown and CSV -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESULTS)
def test_markdown_tables_have_equal_columns(results, name: str) -> None:
    text = markdown(results[name], command="mexican-train ```")
    assert "````sh\nmexican-train ```\n````" in text
    lines = text.splitlines()
    assert text.endswith("\n") and not text.endswith("\n\n")
    at = 0
    while at < len(lines):
        if not lines[at].startswith("|"):
            at += 1
            continue
        end = next(i for i in range(at, len(lines)) if not lines[i].startswith("|"))
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[at:end]}
        assert len(columns) == 1 and end - at > 2
        assert re.fullmatch(r"\|( (:--|--:) \|)+", lines[at + 1])
        at = end


def test_markdown_escapes(results) -> None:
    text = markdown(results["failure"])
    assert EVIL not in text and "<script>" not in text.replace("\\<", "")
    assert r"\</title\>\<script\>alert(\"x\")".replace('\\"', '"') in text and r"\|\`a\`\_b\_" in text
    assert page_module._escaped("a\n b &lt;") == "a b &amp;lt;"


def test_standings_as_csv(results) -> None:
    result = results["four"]
    ratings = rate(result, resamples=50)
    rows = list(csv.DictReader(tables.standings_csv(result, ratings).splitlines()))
    assert tuple(rows[0]) == tables.STANDINGS_HEADER and len(rows) == 4
    assert [row["bot"] for row in rows] == list(result.bots) and rows[2]["name"] == "heaviest"
    for row, standing in zip(rows, result.standings, strict=True):
        assert float(row["win_share"]) == standing.win_share.value
        assert float(row["points_high"]) == standing.points.high
    assert rows[1]["rating"] == rows[2]["rating"] == repr(ratings.ratings[1].value)
    one = list(
        csv.DictReader(tables.standings_csv(results["one deal"], rate(results["one deal"])).splitlines())
    )
    assert one[0]["win_share_low"] == one[0]["rating_high"] == "" and one[0]["win_share"]
    void = tables.standings_csv(results["all void"], rate(results["all void"]))
    assert void.splitlines() == [",".join(tables.STANDINGS_HEADER)]


# --- parts of charts --------------------------------------------------------------------------------------


def test_axes() -> None:
    assert [nice_step(span, 5) for span in (1.0, 0.9, 12.0, 26.0, 5e-3)] == [0.2, 0.2, 2.5, 10.0, 0.001]
    axis = Axis(-10, 10)
    assert [axis.place(x) for x in (-99, -10, 0, 10, 99)] == [3, 3, 50, 97, 97]
    assert axis.ticks(4) == [-10, -5, 0, 5, 10] and axis.at(0) == "50.00%"
    narrow = Axis.around([5.0, float("nan"), 5.0], 2)
    assert (narrow.low, narrow.high) == (4, 6)


def test_bins_hold_every_game_with_points_once() -> None:
    values = np.array([0, 1, 10, 11, 20, 21, 95])
    bins = Bins(95, 10)
    assert (bins.width, bins.number) == (10, 10)
    shares = bins.shares(values)
    assert (shares * 7).round(6).tolist() == [2, 2, 1, 0, 0, 0, 0, 0, 0, 1]
    assert Bins(1).number == 1 and Bins(7).width == 1


def test_long_names_lose_their_middle() -> None:
    assert shortened("planner") == "planner"
    assert shortened("policy:runs/a-long-name/checkpoint_0000001", 20) == "policy:ru…nt_0000001"


def test_quantiles_are_points_that_occurred(results) -> None:
    result = results["two"]
    row = tables.points(result).rows[-1]
    values = sorted(result.game_points[:, :, 1].ravel().tolist())
    assert row[0] == "random" and len(values) == 70
    # 5% of 70 are 3.5 games: the fourth is the first that so many do not exceed.
    assert row[2:] == tuple(str(values[i - 1]) for i in (4, 18, 35, 53, 67, 70))


def test_ahead_is_read_both_ways(results) -> None:
    found = tables.ahead_estimates(results["four"])
    for (first, second), estimate in found.items():
        other = found[second, first]
        assert estimate.value + other.value == pytest.approx(1)
        assert Estimate(1 - other.value, 1 - other.high, 1 - other.low) == pytest.approx(estimate)

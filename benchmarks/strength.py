"""``python -m benchmarks.strength``: how strong the rule bots are, as tables in the documents.

Two kinds of tables of four, under each rule set: one bot against three copies of another, and all sets of
four different bots, whose games together give one rating to each bot. The run is stored without times or
machine, so the same command stores the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from benchmarks import report
from benchmarks.about import ROOT
from mt_env import __version__
from mt_env.arena import Estimate, tournament
from mt_env.arena.match import SHARE_UNIT
from mt_env.arena.ratings import rate_ranks
from mt_env.arena.report import cells
from mt_env.arena.stats import Bootstrap
from mt_env.bots import KINDS

STORED: Final = ROOT / "benchmarks" / "results" / "strength.json"
"""The stored run, committed."""
README: Final = ROOT / "README.md"
PAGE: Final = ROOT / "docs" / "arena.md"

SEATS: Final = 4
RULES: Final = ("spruce", "wikihow", "dominos_cc", "cover", "cover;out_on_double=yes")
AGAINST: Final = ("planner", "heaviest", "random")
"""Bots that three copies are of."""


def matches(rules: str, bots: Sequence[str], deals: int, seed: int) -> Iterator[dict[str, Any]]:
    """One of ``bots`` against three copies of another, all that `AGAINST` asks for.

    Args:
        rules: of all tables.
        bots: names.
        deals: of each table.
        seed: of each table.
    """
    for other in AGAINST:
        for bot in bots:
            if bot == other:
                continue
            result = tournament([bot, *[other] * (SEATS - 1)], deals, seed, rules=rules)
            first = result.standings[0]
            yield {
                **{"rules": rules, "bot": bot, "against": other, "games_sha256": result.digest},
                **{"win_share": list(first.win_share), "points": list(first.points)},
            }


def pool(rules: str, bots: Sequence[str], deals: int, seed: int, bar: tqdm[Any]) -> dict[str, Any]:
    """All sets of four of ``bots`` at one table each, on the same deals, and a rating of all of them.

    Args:
        rules: of all tables.
        bots: names, at least four.
        deals: of each table, which all tables play, with balanced seatings.
        seed: of each table.
        bar: moved on by the games of each table.
    """
    tables = list(combinations(range(len(bots)), SEATS))
    ranks = np.full((deals, len(tables), SEATS, len(bots)), -1, np.int64)
    shares = np.zeros((deals, len(bots)), np.int64)
    digests = []
    for k, table in enumerate(tables):
        result = tournament([bots[i] for i in table], deals, seed, rules=rules, seatings="balanced")
        ranks[:, k, :, table] = np.moveaxis(result.game_ranks, 2, 0)
        shares[:, table] += result.game_shares.sum(axis=1)
        digests.append(result.digest[:16])
        bar.update(result.games)
    games = SEATS * sum(0 in table for table in tables)  # of each bot in each deal
    boot = Bootstrap(shares, seed)
    found = rate_ranks(ranks.reshape(deals, -1, len(bots)), bots, seed)
    return {
        **{"rules": rules, "games_sha256": digests, "apart": [list(group) for group in found.apart]},
        "ratings": {name: list(rating) for name, rating in zip(found.names, found.ratings, strict=True)},
        "win_share": {name: list(boot.mean([i], SHARE_UNIT * games)) for i, name in enumerate(bots)},
        "ahead": _ahead(ranks.reshape(deals, -1, len(bots)), bots, seed),
    }


def _ahead(ranks: Any, bots: Sequence[str], seed: int) -> list[dict[str, Any]]:
    """Share of their common games in which the first of two bots is ahead, level ones counted half."""
    pairs = list(combinations(range(len(bots)), 2))
    columns, games = [], 0
    for i, j in pairs:
        both = (ranks[:, :, i] >= 0) & (ranks[:, :, j] >= 0)
        games = int(both[0].sum())
        columns.append((np.sign(ranks[:, :, j] - ranks[:, :, i]) * both).sum(axis=1))
    boot = Bootstrap(np.stack(columns, axis=1), seed)
    return [
        {"first": bots[i], "second": bots[j], "ahead": list(boot.mean([k], games).scaled(0.5, 0.5))}
        for k, (i, j) in enumerate(pairs)
    ]


def play(rules: Sequence[str], bots: Sequence[str], deals: int, seed: int, progress: bool) -> dict[str, Any]:
    """The whole run as plain values; equal arguments give equal ones.

    Args:
        rules: rule sets.
        bots: names, at least four.
        deals: of every table.
        seed: of every table.
        progress: show a bar on stderr.
    """
    single = sum(bot != other for bot in bots for other in AGAINST)
    games = len(rules) * SEATS * deals * (single + len(list(combinations(bots, SEATS))))
    run: dict[str, Any] = {
        **{"mt_env": __version__, "seed": seed, "deals": deals},
        **{"bots": list(bots), "rules": list(rules), "matches": [], "pools": []},
    }
    with tqdm(total=games, unit="game", disable=not progress, leave=False) as bar:
        for one in rules:
            for row in matches(one, bots, deals, seed):
                run["matches"].append(row)
                bar.update(deals * SEATS)
            run["pools"].append(pool(one, bots, deals, seed, bar))
    return run


# --- tables -----------------------------------------------------------------------------------------------


def _share(values: Sequence[float]) -> str:
    """As ``55.8% [54.7, 56.9]``."""
    return " ".join(cells(Estimate(*values), 1, True)).replace("%", "").replace(" [", "% [", 1)


def _rating(values: Sequence[float]) -> str:
    return " ".join(cells(Estimate(*values), 0, sign=True))


def _code(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names]


def match_table(run: dict[str, Any]) -> str:
    """Win shares of one bot against three copies: a row for each pair, a column for each rule set."""
    found = {(row["bot"], row["against"], row["rules"]): _share(row["win_share"]) for row in run["matches"]}
    rows = [
        [f"3 {other}", bot, *(found[bot, other, rules] for rules in run["rules"])]
        for other in AGAINST
        for bot in _best_first(run)
        if bot != other
    ]
    return report.table(["against", "one", *_code(run["rules"])], rows, 2)


def _best_first(run: dict[str, Any]) -> list[str]:
    """The bots by their rating under the first rule set."""
    ratings = run["pools"][0]["ratings"]
    return sorted(run["bots"], key=lambda name: -ratings[name][0])


def rating_table(run: dict[str, Any]) -> str:
    """Ratings: a row for each bot, a column for each rule set."""
    rows = [[bot, *(_rating(one["ratings"][bot]) for one in run["pools"])] for bot in _best_first(run)]
    return report.table(["bot", *_code(run["rules"])], rows)


def ahead_table(run: dict[str, Any]) -> str:
    """Who is ahead of whom under the first rule set, with the win share at these tables."""
    one, names = run["pools"][0], _best_first(run)
    found = {}
    for pair in one["ahead"]:
        value, low, high = pair["ahead"]
        found[pair["first"], pair["second"]] = [value, low, high]
        found[pair["second"], pair["first"]] = [1 - value, 1 - high, 1 - low]
    rows = [
        [first, _share(one["win_share"][first])]
        + ["" if first == second else _share(found[first, second]) for second in names]
        for first in names
    ]
    return report.table(["bot", "win share", *(f"ahead of {name}" for name in names)], rows)


def _command(run: dict[str, Any]) -> str:
    return f"python -m benchmarks.strength --deals {run['deals']} --seed {run['seed']}"


def in_readme(run: dict[str, Any]) -> str:
    """The generated part of README.md."""
    deals, seed = run["deals"], run["seed"]
    matches = (
        f"Win share of one bot against three copies of another, {SEATS} seats, {deals} deals, each played "
        f"from every seat, 95% interval over deals; {1 / SEATS:.0%} is equal play. `mexican-train "
        f"tournament --bots A,B,B,B --deals {deals} --seed {seed} --rules R` plays one of them, `make "
        f"strength` all (`{_command(run)}`):"
    )
    pools = (
        f"Ratings from all tables of four different bots, {deals} deals each; their mean is 0, and 400 more "
        "is a tenfold strength ([arena](docs/arena.md#ratings)):"
    )
    return f"{report.wrapped(matches)}\n{match_table(run)}\n{report.wrapped(pools)}\n{rating_table(run)}"


def in_page(run: dict[str, Any]) -> str:
    """The generated part of docs/arena.md."""
    tables = len(list(combinations(run["bots"], SEATS)))
    pools = (
        f"All {tables} tables of four different bots out of these {len(run['bots'])}, {run['deals']} deals, "
        f"the same for every table, balanced seatings (`{_command(run)}`). [Ratings](#ratings) from all "
        "these games together; for the intervals a deal is drawn with all its tables:"
    )
    ahead = (
        f"Under `{run['rules'][0]}` at these tables, win share and how often the one is ahead of the other "
        "where both sit:"
    )
    return f"{report.wrapped(pools)}\n{rating_table(run)}\n{report.wrapped(ahead)}\n{ahead_table(run)}"


def documents(run: dict[str, Any]) -> dict[Any, str]:
    """README.md and docs/arena.md with their generated parts made anew: path -> text."""
    texts = {}
    for path, new in ((README, in_readme(run)), (PAGE, in_page(run))):
        texts[path] = report.replaced(path.read_text(encoding="utf-8"), "benchmarks.strength", new)
    return texts


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(prog="python -m benchmarks.strength", description=__doc__)
    out.add_argument("--deals", type=int, default=2000, help="of every table (default 2000)")
    out.add_argument("--seed", type=int, default=1, help="(default 1)")
    out.add_argument("--rules", nargs="+", default=list(RULES), help="(default: the README's)")
    out.add_argument("--bots", nargs="+", default=list(KINDS), help="(default: all rule bots)")
    out.add_argument("--store", action="store_true", help="store the run and rewrite the documents from it")
    out.add_argument("--docs", action="store_true", help="rewrite the documents from the stored run")
    return out


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    if options.docs:
        run = json.loads(STORED.read_text(encoding="utf-8"))
    else:
        if len(set(options.bots)) < SEATS or options.deals < 2:
            print(f"--bots must name {SEATS} different bots or more, deals be at least 2", file=sys.stderr)
            return 2
        run = play(options.rules, options.bots, options.deals, options.seed, sys.stderr.isatty())
        print("\n".join([match_table(run), rating_table(run), ahead_table(run)]))
    if options.store:
        STORED.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    if options.store or options.docs:
        for path, text in documents(run).items():
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

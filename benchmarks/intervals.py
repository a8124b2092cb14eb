"""``python -m benchmarks.intervals``: how often the arena's 95% intervals hold the truth, in real games.

Many tournaments with different seeds are played between bots whose true win shares are known. Equal bots must
not be copies of one bot: the arena gives a seat, and not a bot, its random numbers, so copies play alike in
the same seat, share every deal equally, and their intervals could not miss. So the equal bots here draw from
generators of their own: equal in law, but not in play. By symmetry each truth is then known exactly. Where
bots differ the truth is what a much longer tournament found. The score of a protocol is counted too. For all
that is counted, the share of intervals that hold the truth must lie in a band (`benchmarks.bands`).
"""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks import interval_cases, report
from benchmarks.about import ROOT
from benchmarks.interval_cases import CASES, WINS, Case, Found
from benchmarks.tossers import SEATS
from mt_env import __version__
from mt_env.arena import Estimate
from mt_env.arena.stats import LEVEL, Bootstrap
from mt_env.rng import mix
from mt_env.rules_yaml import write_text

STORED: Final = ROOT / "benchmarks" / "results" / "intervals.json"
"""The stored run, committed."""
PAGE: Final = ROOT / "docs" / "arena.md"

REPEATS: Final = 200
"""Fewer are not stored: the bands would be too wide to mean much."""


def holds(estimate: Estimate, truth: float) -> bool:
    """Whether the interval holds the truth; rounding of the last bits does not count."""
    slack = 1e-9 * max(1.0, abs(truth))
    return estimate.low - slack <= truth <= estimate.high + slack


def wilson(held: int, repeats: int) -> Estimate:
    """Share of successes with its 95% interval.

    The interval is that of E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
    Inference", Journal of the American Statistical Association 22, 1927.

    Args:
        held: successes.
        repeats: independent tries.
    """
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    p, scale = held / repeats, 1 + z * z / repeats
    middle = (p + z * z / (2 * repeats)) / scale
    half = z * (p * (1 - p) / repeats + z * z / (4 * repeats * repeats)) ** 0.5 / scale
    return Estimate(p, middle - half, middle + half)


def count(
    case: Case, truth: Found, deals: int, repeats: int, seed: int, bar: tqdm[Any]
) -> list[dict[str, Any]]:
    """Play ``repeats`` tournaments and count the intervals that hold the truth.

    Args:
        case: who plays.
        truth: what is true.
        deals: of each tournament.
        repeats: tournaments.
        seed: tournament ``i`` has the seed ``mix(mix(seed, deals), i)``.
        bar: is moved on.

    Returns:
        A row for each quantity: ``held``, how often the interval of each bot or pair held the truth;
        ``mean``, the mean share over them, with an interval over tournaments, since intervals of one
        tournament depend on each other; ``half_width``, the mean half width.
    """
    held: dict[str, NDArray[np.int64]] = {
        name: np.zeros((repeats, len(values)), np.int64) for name, values in truth.items()
    }
    widths = dict.fromkeys(truth, 0.0)
    for i in range(repeats):
        found = case.play(deals, mix(mix(seed, deals), i))
        for name, values in truth.items():
            held[name][i] = [holds(e, value) for e, value in zip(found[name], values, strict=True)]
            widths[name] += sum((e.high - e.low) / 2 for e in found[name]) / len(values) / repeats
        bar.update(deals)
    rows = []
    for name, counts in held.items():
        columns = list(range(counts.shape[1]))
        mean = Bootstrap(counts, seed).mean(columns, len(columns))
        rows.append(
            {
                **{"case": case.name, "deals": deals, "what": name, "held": counts.sum(axis=0).tolist()},
                **{"mean": [round(x, 6) for x in mean], "half_width": float(f"{widths[name]:.6g}")},
            }
        )
    return rows


def measure(
    cases: Sequence[Case], deals: Sequence[int], repeats: int, seed: int, progress: bool
) -> dict[str, Any]:
    """The whole run as plain values; equal arguments give equal ones.

    Args:
        cases: of `CASES`.
        deals: numbers of deals.
        repeats: tournaments of each case and number.
        seed: of everything but the long tournaments.
        progress: show a bar on stderr.
    """
    rows, neighbours = [], {}
    total = repeats * sum(sum(case.numbers(deals)) for case in cases)
    with tqdm(total=total, unit="deal", disable=not progress, leave=False) as bar:
        for case in cases:
            truth = case.truth()
            if truth.next is not None:
                neighbours[case.name] = list(truth.next)
            for number in case.numbers(deals):
                rows += count(case, truth.values, number, repeats, seed, bar)
    return {
        **{"mt_env": __version__, "repeats": repeats, "seed": seed, "deals": list(deals)},
        **{"truth_deals": interval_cases.TRUTH_DEALS, "ahead_of_next": neighbours, "rows": rows},
    }


def band_of(run: dict[str, Any], row: dict[str, Any]) -> tuple[float, float]:
    """The band that a row of a run must lie in."""
    return CASES[row["case"]].band(row["what"], row["deals"], run["repeats"], run["truth_deals"])


def failures(run: dict[str, Any]) -> list[str]:
    """A sentence for each row that does not lie in its band."""
    found = []
    for row in run["rows"]:
        low, high = band_of(run, row)
        if not low <= row["mean"][0] <= high:
            found.append(
                f"{row['case']}, {row['what']}, {row['deals']} deals: {row['mean'][0]:.1%} of the intervals "
                f"hold the truth, must be {_band((low, high))}"
            )
    return found


def _band(limits: tuple[float, float]) -> str:
    return f"{limits[0]:.1%} to {limits[1]:.1%}"


def _percent(estimate: Estimate) -> str:
    return f"{estimate.value:.1%} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def table(run: dict[str, Any]) -> str:
    """The rows as a Markdown table."""
    rows = []
    for row in run["rows"]:
        each = [wilson(held, run["repeats"]) for held in row["held"]]
        ends = [min(each, key=lambda e: e.value), max(each, key=lambda e: e.value)]
        half = row["half_width"]
        width = f"{half:.1%}" if "share" in row["what"] or row["what"] == "ahead" else f"{half:.3g}"
        means = _percent(Estimate(*row["mean"]))
        asked = _band(band_of(run, row))
        rows.append([row["case"], row["what"], str(row["deals"]), means, asked, *map(_percent, ends), width])
    head = ["bots", "interval of", "deals", "held the truth", "asked", "lowest of them", "highest"]
    head.append("mean half width")
    return report.table(head, rows, 2)


def _by_deals(run: dict[str, Any], cell: Callable[[dict[str, Any]], str]) -> dict[tuple[str, str], list[str]]:
    """Case and quantity -> a cell for each number of deals, empty where it was not played."""
    found = {(row["case"], row["what"], row["deals"]): cell(row) for row in run["rows"]}
    keys = dict.fromkeys((row["case"], row["what"]) for row in run["rows"])
    return {key: [found.get((*key, deals), "") for deals in run["deals"]] for key in keys}


def _summary(run: dict[str, Any]) -> str:
    """The means alone, a column for each number of deals."""
    head = ["bots", "interval of", *(f"{deals} deals" for deals in run["deals"])]
    rows = _by_deals(run, lambda row: _percent(Estimate(*row["mean"])))
    return report.table(head, [[*key, *means] for key, means in rows.items()], 2)


def _bands(run: dict[str, Any]) -> str:
    """The bands, quantities of equal ones together."""
    groups: dict[tuple[str, ...], dict[str, None]] = {}
    for (case, what), cells in _by_deals(run, lambda row: _band(band_of(run, row))).items():
        groups.setdefault((case if not CASES[case].equal else "equal", *cells), {})[what] = None
    rows = [[case, "; ".join(what), *cells] for (case, *cells), what in groups.items()]
    return report.table(["bots", "asked of", *(f"{deals} deals" for deals in run["deals"])], rows, 2)


def generated(run: dict[str, Any]) -> str:
    """The generated part of docs/arena.md."""
    names = {row["case"] for row in run["rows"]}
    cases = "".join(
        textwrap.fill(f"- **{case.name}**: {case.meaning}.", 119, subsequent_indent="  ") + "\n"
        for case in CASES.values()
        if case.name in names
    )
    neighbours = {name: Estimate(*found) for name, found in run["ahead_of_next"].items()}
    first = " and ".join(f"{_percent(found)} ({name})" for name, found in neighbours.items())
    missed = failures(run)
    single = [
        wilson(held, run["repeats"])
        for row in run["rows"]
        if row["what"] == WINS and row["case"] in neighbours
        for held in row["held"]
    ]
    ends = [_percent(pick(single, key=lambda e: e.value)) for pick in (min, max)] if single else ["-", "-"]
    judged = "All of it is met." if not missed else f"**Not met**: {'; '.join(missed)}."
    rest = (
        f"{judged} Bot by bot the win share of equal bots was held in {ends[0]} to {ends[1]}. Rotations "
        "leave every bot before the same one, so for neighbours `ahead` is not 50%: the one that plays first "
        f"is ahead in {first} of the games of {run['truth_deals']} deals of another seed. What the other "
        "single bots and pairs had, and how wide the intervals were, the command prints and "
        "`benchmarks/results/intervals.json` holds."
    )
    command = (
        f"`python -m benchmarks.intervals --repeats {run['repeats']} --seed {run['seed']} --deals "
        f"{' '.join(map(str, run['deals']))}`, rules `spruce`, {SEATS} seats, rotations:"
    )
    tables = [_summary(run), "What is asked of them:\n", _bands(run)]
    return "\n".join([f"{report.wrapped(command)}\n{cases}", *tables, report.wrapped(rest)])


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    out.add_argument(
        "--repeats", type=int, default=REPEATS, help=f"tournaments of each kind (default {REPEATS})"
    )
    out.add_argument("--deals", type=int, nargs="+", default=[30, 100, 500], help="(default 30 100 500)")
    out.add_argument("--cases", nargs="+", choices=list(CASES), help="(default: all)")
    out.add_argument("--seed", type=int, default=1, help="(default 1)")
    out.add_argument(
        "--store", action="store_true", help="store the run if it passes, and rewrite docs/arena.md"
    )
    out.add_argument("--store-failed", action="store_true", help="the same even if it fails")
    out.add_argument("--docs", action="store_true", help="rewrite docs/arena.md from the stored run")
    return out


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status: 1 if intervals hold the truth too seldom or too often."""
    options = parser().parse_args(words)
    store = options.store or options.store_failed
    if options.docs:
        run = json.loads(STORED.read_text(encoding="utf-8"))
    else:
        wrong = _wrong(options, store)
        if wrong is not None:
            print(wrong, file=sys.stderr)
            return 2
        cases = [case for case in CASES.values() if options.cases is None or case.name in options.cases]
        run = measure(cases, options.deals, options.repeats, options.seed, sys.stderr.isatty())
        print(table(run))
    missed = failures(run)
    for sentence in missed:
        print(sentence, file=sys.stderr)
    if store and not options.docs:
        if missed and not options.store_failed:
            print("not stored, since it fails; --store-failed stores it all the same", file=sys.stderr)
            return 1
        write_text(STORED, json.dumps(run, indent=1) + "\n")
    if store or options.docs:
        text = PAGE.read_text(encoding="utf-8")
        write_text(PAGE, report.replaced(text, "benchmarks.intervals", generated(run)))
    return 1 if missed else 0


def _wrong(options: argparse.Namespace, store: bool) -> str | None:
    """What is wrong with the options of a run, if anything is."""
    if options.repeats < 2 or min(options.deals) < 2:
        return "--repeats and --deals must be at least 2"
    if store and options.cases is not None:
        return f"--cases {' '.join(options.cases)}: only a run of all cases is stored; leave out --cases"
    if store and options.repeats < REPEATS:
        return f"--repeats {options.repeats}: a run that is stored needs at least {REPEATS}"
    return None


if __name__ == "__main__":
    sys.exit(main())

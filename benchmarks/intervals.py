"""``python -m benchmarks.intervals``: how often the arena's 95% intervals hold the truth, in real games.

Many tournaments with different seeds are played between bots whose true win shares are known. Equal bots must
not be copies of one bot: the arena gives a seat, and not a bot, its random numbers, so copies play alike in
the same seat, share every deal equally, and their intervals could not miss. So the equal bots here draw from
generators of their own: equal in law, but not in play. By symmetry each truth is then known exactly. Where
bots differ the truth is what a much longer tournament found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks import report
from benchmarks.about import ROOT
from mt_env import __version__
from mt_env.arena import Estimate, TournamentResult, rate, tournament
from mt_env.arena.match import RANK_UNIT, Games, episode_seeds
from mt_env.arena.seating import rotations
from mt_env.arena.stats import LEVEL, Bootstrap
from mt_env.arena.stream import game_fields
from mt_env.bots import KINDS, CompiledBot
from mt_env.core.bits import below, mix64, stream
from mt_env.core.deal import new_episode
from mt_env.core.jit import allocating_kernel
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import BOT_STREAM, play_round
from mt_env.core.rounds import standing
from mt_env.core.state import GAME_DTYPE, OUT
from mt_env.game import Game
from mt_env.rng import Rng, mix

STORED: Final = ROOT / "benchmarks" / "results" / "intervals.json"
"""The stored run, committed."""
PAGE: Final = ROOT / "docs" / "arena.md"

SEATS: Final = 4
BAND: Final = (0.92, 0.98)
"""What is asked: 95% intervals of win shares hold the truth of equal bots in this part of the tournaments."""
JUDGED: Final = "win share"

TOSSED: Final = ("planner-fast", "heaviest", "random")
UNEQUAL: Final = ("planner", "tactician", "doubles_first", "random")
TRUTH_DEALS: Final = 50_000
"""Deals of the tournament that says what is true of unequal bots."""
TRUTH_SEED: Final = 2**63


class Tosser:
    """A bot that tosses a coin before each game for the rule bot it plays as, with a generator of its own.

    Args:
        salt: tells its generator from those of its equals.
        policies: names of the rule bots; with one there is no toss, but the generator is still its own.
    """

    def __init__(self, salt: int, policies: Sequence[str]) -> None:
        self.name = f"tosser {salt}"
        self._salt = salt
        self._policies = [CompiledBot(name) for name in policies]

    def reset(self, game: Game, seat: int, seed: int) -> None:
        """Toss."""
        self._rng = Rng(mix(seed, self._salt))
        self._policy = self._policies[self._rng.below(len(self._policies))]

    def act(self, view: Any, rng: Rng) -> int:
        """As the rule bot of this game."""
        return self._policy.act(view, self._rng)


@allocating_kernel
def _play(
    states: Any,
    rules: Any,
    seeds: Any,
    seating: Any,
    kinds: Any,
    scratch: Any,
    points: Any,
    ranks: Any,
    ends: Any,
) -> None:
    """Play single rounds with tossers in all seats: what `Tosser` does, in the core.

    ``seeds`` uint64 ``[deals]``; ``seating`` int64 ``[orders, n]``, the salt in each seat; ``kinds`` int64,
    the policies to toss for; ``points`` int64 and ``ranks`` float64 ``[deals, orders, n]`` by salt, and
    ``ends`` int64 ``[deals, orders, 2]``, are written.
    """
    s = states[0]
    r = rules[0]
    n = seating.shape[1]
    rngs = np.empty((n, 1), np.uint64)
    playing = np.empty(n, np.int64)
    by_seat, shares = np.empty(n), np.empty(n)
    for d in range(len(seeds)):
        for k in range(len(seating)):
            new_episode(s, r, seeds[d])
            for seat in range(n):
                own = stream(seeds[d], np.uint64(BOT_STREAM + seat))
                rngs[seat, 0] = mix64(stream(own, np.uint64(seating[k, seat])))
                playing[seat] = kinds[below(rngs[seat], len(kinds))]
            play_round(s, r, playing, rngs, scratch)
            ends[d, k, 0 if s["how"] == OUT else 1] = 1
            standing(s, r, by_seat, shares)
            for seat in range(n):
                points[d, k, seating[k, seat]] = s["totals"][seat]
                ranks[d, k, seating[k, seat]] = by_seat[seat]


def tossed(policies: Sequence[str], deals: int, seed: int) -> TournamentResult:
    """``tournament([Tosser(0, policies), Tosser(1, policies), ...], deals, seed)``, inside the core.

    Args:
        policies: to toss for.
        deals: how many.
        seed: of the tournament.
    """
    game, seating = Game("spruce", SEATS), rotations(SEATS)
    games = Games.empty(0, deals, SEATS, SEATS)
    ranks = np.zeros(games.ranks.shape)
    kinds = np.array([KINDS[name] for name in policies], np.int64)
    _play(
        np.zeros(1, GAME_DTYPE), game.rules_record, episode_seeds(seed, deals), seating, kinds, new_scratch(),
        games.points, ranks, games.ends,
    )  # fmt: skip
    games.ranks[:] = np.rint(ranks * RANK_UNIT)
    names = tuple(Tosser(salt, policies).name for salt in range(SEATS))
    return TournamentResult(
        bots=names, names=names, game=game, seed=seed, max_deals=deals, **game_fields(games)
    )


Found = dict[str, list[float]]
"""Quantity -> its values, by bot or by pair of bots."""


def _estimates(result: TournamentResult) -> dict[str, list[Estimate]]:
    """Everything that a table shows with an interval."""
    standings, differences = result.standings, result.differences
    return {
        JUDGED: [s.win_share for s in standings],
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
        JUDGED: [1 / SEATS] * SEATS,
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


@dataclass(frozen=True)
class Case:
    """Bots and what is true of them."""

    name: str
    meaning: str
    equal: bool
    play: Callable[[int, int], TournamentResult]
    """From deals and seed."""
    truth: Callable[[], Truth]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


CASES: Final = (
    Case(
        "random",
        "four `random`, each with a generator of its own",
        True,
        lambda deals, seed: tossed(["random"], deals, seed),
        lambda: of_equals(["random"]),
    ),
    Case(
        "tossers",
        f"four bots that toss before each game whom to play as: {_listed(TOSSED)}",
        True,
        lambda deals, seed: tossed(TOSSED, deals, seed),
        lambda: of_equals(TOSSED),
    ),
    Case(
        "unequal",
        f"{_listed(UNEQUAL)}; the truth is what {TRUTH_DEALS} deals of another seed found",
        False,
        lambda deals, seed: tournament(UNEQUAL, deals, seed),
        _of_unequals,
    ),
)
"""What is played."""


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
        found = _estimates(case.play(deals, mix(mix(seed, deals), i)))
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
    total = len(cases) * repeats * sum(deals)
    with tqdm(total=total, unit="deal", disable=not progress, leave=False) as bar:
        for case in cases:
            truth = case.truth()
            if truth.next is not None:
                neighbours[case.name] = list(truth.next)
            for number in deals:
                rows += count(case, truth.values, number, repeats, seed, bar)
    return {
        **{"mt_env": __version__, "repeats": repeats, "seed": seed, "deals": list(deals)},
        **{"ahead_of_next": neighbours, "rows": rows},
    }


def failures(run: dict[str, Any]) -> list[str]:
    """A sentence for each row in which win shares of equal bots are not held as often as asked."""
    equal = {case.name for case in CASES if case.equal}
    return [
        f"{row['case']}, {row['deals']} deals: {row['mean'][0]:.1%} of the intervals of win shares hold the "
        "truth"
        for row in run["rows"]
        if row["case"] in equal and row["what"] == JUDGED and not BAND[0] <= row["mean"][0] <= BAND[1]
    ]


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
        rows.append([row["case"], row["what"], str(row["deals"]), means, *map(_percent, ends), width])
    head = ["bots", "interval of", "deals", "held the truth", "lowest of them", "highest", "mean half width"]
    return report.table(head, rows, 2)


def _summary(run: dict[str, Any]) -> str:
    """The means alone, a column for each number of deals."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row in run["rows"]:
        rows.setdefault((row["case"], row["what"]), []).append(_percent(Estimate(*row["mean"])))
    head = ["bots", "interval of", *(f"{deals} deals" for deals in run["deals"])]
    return report.table(head, [[*key, *means] for key, means in rows.items()], 2)


def generated(run: dict[str, Any]) -> str:
    """The generated part of docs/arena.md."""
    names = {row["case"] for row in run["rows"]}
    cases = "".join(f"- **{case.name}**: {case.meaning}.\n" for case in CASES if case.name in names)
    neighbours = {name: Estimate(*found) for name, found in run["ahead_of_next"].items()}
    first = " and ".join(f"{_percent(found)} ({name})" for name, found in neighbours.items())
    missed = failures(run)
    single = [
        wilson(held, run["repeats"])
        for row in run["rows"]
        if row["what"] == JUDGED and row["case"] in neighbours
        for held in row["held"]
    ]
    ends = [_percent(pick(single, key=lambda e: e.value)) for pick in (min, max)] if single else ["-", "-"]
    asked = (
        f"Asked: {BAND[0]:.0%} to {BAND[1]:.0%} for the win share of equal bots, their mean; "
        f"{'met' if not missed else '**not met**: ' + '; '.join(missed)}. Bot by bot it is from {ends[0]} "
        f"to {ends[1]}. Rotations leave every bot before the same one, so for neighbours `ahead` is not 50%: "
        f"the one that plays first is ahead in {first} of the games of {TRUTH_DEALS} deals of another seed. "
        "What the other single bots and pairs had, and how wide the intervals were, the command prints and "
        "`benchmarks/results/intervals.json` holds."
    )
    command = (
        f"`python -m benchmarks.intervals --repeats {run['repeats']} --seed {run['seed']} --deals "
        f"{' '.join(map(str, run['deals']))}`, rules `spruce`, {SEATS} seats, rotations:"
    )
    return f"{report.wrapped(command)}\n{cases}\n{_summary(run)}\n{report.wrapped(asked)}"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    out.add_argument("--repeats", type=int, default=200, help="tournaments of each kind (default 200)")
    out.add_argument("--deals", type=int, nargs="+", default=[30, 100, 500], help="(default 30 100 500)")
    out.add_argument("--cases", nargs="+", choices=[case.name for case in CASES], help="(default: all)")
    out.add_argument("--seed", type=int, default=1, help="(default 1)")
    out.add_argument("--store", action="store_true", help="store the run and rewrite docs/arena.md from it")
    out.add_argument("--docs", action="store_true", help="rewrite docs/arena.md from the stored run")
    return out


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status: 1 if intervals hold the truth too seldom or too often."""
    options = parser().parse_args(words)
    if options.docs:
        run = json.loads(STORED.read_text(encoding="utf-8"))
    else:
        if options.repeats < 2 or min(options.deals) < 2:
            print("--repeats and --deals must be at least 2", file=sys.stderr)
            return 2
        cases = [case for case in CASES if options.cases is None or case.name in options.cases]
        run = measure(cases, options.deals, options.repeats, options.seed, sys.stderr.isatty())
        print(table(run))
    if options.store:
        STORED.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    if options.store or options.docs:
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(report.replaced(text, "benchmarks.intervals", generated(run)), encoding="utf-8")
    missed = failures(run)
    for sentence in missed:
        print(sentence, file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The method: CPU time of one thread, cases in turn, medians, and ratios within one repeat.

Wall time says little on a shared machine, and even CPU time drifts by tens of percent over minutes. So
every repeat measures every case once, one after the other, and each is divided by the yardstick *of the
same repeat*; the median of those ratios is what can be compared between machines and days.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.registry import FLOOR, YARDSTICK, Case, Step, UnavailableError


@dataclass(slots=True)
class Result:
    """Measurements of one case.

    Attributes:
        case: which.
        rates: units per second of the case's clock, one for each repeat.
        ratios: the same over the yardstick of the repeat; empty where it was not measured.
        floors: the C floor of the repeat over the same, for moves and steps: how many times its time one
            takes; empty where it was not measured.
        chunk: ``n`` of each call of ``step``.
    """

    case: Case
    rates: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    floors: list[float] = field(default_factory=list)
    chunk: int = 1

    def row(self) -> dict[str, Any]:
        """As a line of a results file."""
        return {
            "kind": "case",
            "name": self.case.name,
            "unit": self.case.unit,
            "meaning": self.case.meaning,
            "median": _short(median(self.rates)),
            "min": _short(min(self.rates)),
            "max": _short(max(self.rates)),
            "ratio": _short(median(self.ratios)) if self.ratios else None,
            "floor": _short(median(self.floors)) if self.floors else None,
            "clock": self.case.clock,
        }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def rate(step: Step, chunk: int, seconds: float, clock: Callable[[], float] = time.process_time) -> float:
    """Units per second of calls ``step(chunk)``, for at least ``seconds``, as ``clock`` counts them."""
    done = 0
    begin = clock()
    while True:
        done += step(chunk)
        spent = clock() - begin
        if spent >= seconds and spent > 0:
            return done / spent


def chunk_for(step: Step, seconds: float) -> int:
    """Largest power of two whose call takes at most about a tenth of ``seconds``; warms up on the way."""
    chunk = 1
    while True:
        begin = time.process_time()
        step(chunk)
        if time.process_time() - begin >= seconds / 20 or chunk >= 1 << 24:
            return chunk
        chunk *= 2


def measure(cases: Sequence[Case], repeats: int, seconds: float) -> tuple[list[Result], dict[str, str]]:
    """Measure ``cases`` in turn, ``repeats`` times, each for ``seconds`` of CPU time.

    Returns:
        The results, and for each case that could not be prepared the reason.
    """
    results, steps = [], []
    skipped: dict[str, str] = {}
    for one in cases:
        try:
            step = one.prepare()
            step(1)  # compiles
        except UnavailableError as error:
            skipped[one.name] = str(error)
            print(f"skipped: {one.name}: {error}", file=sys.stderr)
            continue
        results.append(Result(one, chunk=chunk_for(step, seconds)))
        steps.append(step)
    for number in range(repeats):
        print(f"repeat {number + 1} of {repeats}", file=sys.stderr)
        for result, step in zip(results, steps, strict=True):
            clock = time.perf_counter if result.case.clock == "wall" else time.process_time
            result.rates.append(rate(step, result.chunk, seconds, clock))
    compare(results)
    return results, skipped


def compare(results: Sequence[Result]) -> None:
    """Divide each result by the yardsticks among them, repeat by repeat."""
    by_name = {result.case.name: result for result in results}
    yardstick, floor = by_name.get(YARDSTICK), by_name.get(FLOOR)
    for result in results:
        if result.case.clock != "cpu":
            continue
        if yardstick is not None:
            result.ratios = [a / b for a, b in zip(result.rates, yardstick.rates, strict=True)]
        if floor is not None and result.case.unit in ("moves", "steps"):
            result.floors = [b / a for a, b in zip(result.rates, floor.rates, strict=True)]

"""``python -m benchmarks``: measure, print a table, write a results file."""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

from benchmarks import about, report
from benchmarks.cases import CASES, FLOOR, YARDSTICK
from benchmarks.measure import measure
from benchmarks.start import MEASURES

_LIBRARIES = ("mt-env", "numba", "numpy", "gymnasium", "pettingzoo", "stable-baselines3")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure speed: docs/performance.md."
    )
    out.add_argument("--repeats", type=int, default=5, help="how often each case is measured (default 5)")
    out.add_argument("--seconds", type=float, default=0.4, help="CPU seconds a case and repeat (default 0.4)")
    out.add_argument(
        "--only",
        metavar="NAME",
        nargs="+",
        default=[],
        help="cases by name, * and ? allowed; 'start' and 'size' are names too (default: everything)",
    )
    out.add_argument(
        "--quick", action="store_true", help="2 repeats of 0.05 s, no first uses: a look, no result"
    )
    out.add_argument("--list", action="store_true", help="name the cases and stop")
    out.add_argument("--out", type=Path, metavar="FILE", help="results file to write")
    out.add_argument("--store", action="store_true", help="write into benchmarks/results/, to be committed")
    out.add_argument(
        "--docs", action="store_true", help="rewrite docs/performance.md from the newest stored run"
    )
    return out


def main(words: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = parser().parse_args(words)
    if options.list:
        for one in CASES.values():
            print(f"{one.name:28} {one.unit:7} {one.meaning}")
        return 0
    if options.docs:
        text = report.PAGE.read_text(encoding="utf-8")
        report.PAGE.write_text(report.page(text, report.load(report.stored())), encoding="utf-8")
        return 0
    if options.repeats < 1 or not options.seconds > 0:
        print("--repeats and --seconds must be positive", file=sys.stderr)
        return 2
    if options.quick:
        options.repeats, options.seconds = min(options.repeats, 2), min(options.seconds, 0.05)

    def wanted(name: str) -> bool:
        return not options.only or any(fnmatch(name, pattern) for pattern in options.only)

    cases = [one for one in CASES.values() if wanted(one.name)]
    others = [name for name in MEASURES if wanted(name) and not (options.quick and name == "start")]
    if not cases and not others:
        print(f"no case is called {' '.join(options.only)}; --list names them", file=sys.stderr)
        return 2
    if cases:  # without the yardsticks there is nothing to compare with
        cases = [one for one in CASES.values() if one in cases or one.name in (YARDSTICK, FLOOR)]
    command = ["python", "-m", "benchmarks", *(sys.argv[1:] if words is None else words)]
    head = about.head(command, options.repeats, options.seconds, YARDSTICK, _LIBRARIES)
    lines = [head]
    results, skipped = measure(cases, options.repeats, options.seconds)
    lines += [result.row() for result in results]
    lines += [{"kind": "skipped", "name": name, "why": why} for name, why in skipped.items()]
    for name in others:
        lines += MEASURES[name](options.repeats)
    head["load_after"] = about.load()
    print(report.printed(lines))
    report.write(lines, options.out, report.RESULTS if options.store else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""``python -m benchmarks``: measure, print a table, write a results file."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.cases import CASES, YARDSTICK
from benchmarks.measure import measure
from benchmarks.start import MEASURES

_LIBRARIES = ("mt-env", "numba", "numpy", "gymnasium", "pettingzoo")


def machine() -> str:
    """The processor's name, or at least its kind, and the system; never the host's name."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.split(":")[1].strip()
                break
    except OSError:
        pass
    return f"{name}, {platform.system()} {platform.machine()}"


def load() -> float | None:
    """Load average of the last minute, None where the system has none."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def commit() -> str:
    """Short id of the commit, with ``+`` if measured code differs from it."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=report.ROOT, capture_output=True, text=True, check=True, timeout=30
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "mt_env", "benchmarks")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of Python and of what the measured code runs on."""
    found = {"Python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


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
    if cases and CASES[YARDSTICK] not in cases:
        cases.insert(0, CASES[YARDSTICK])  # without it there is nothing to compare with
    head: dict[str, Any] = {
        "kind": "run",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "versions": versions(),
        "machine": machine(),
        "cores": os.cpu_count(),
        "load_before": load(),
        "load_after": None,
        "command": shlex.join(["python", "-m", "benchmarks", *(sys.argv[1:] if words is None else words)]),
        "repeats": options.repeats,
        "seconds": options.seconds,
        "yardstick": YARDSTICK,
    }
    lines = [head]
    results, skipped = measure(cases, options.repeats, options.seconds)
    lines += [result.row() for result in results]
    lines += [{"kind": "skipped", "name": name, "why": why} for name, why in skipped.items()]
    for name in others:
        lines += MEASURES[name](options.repeats)
    head["load_after"] = load()
    print(report.printed(lines))
    write(lines, options.out, options.store)
    return 0


def write(lines: list[dict[str, Any]], out: Path | None, store: bool) -> None:
    """Write a results file: ``out``, or one named by date and commit."""
    if out is None:
        folder = report.RESULTS if store else report.RESULTS / "runs"
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        out = folder / f"{stamp}-{lines[0]['commit'].rstrip('+')}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    print(f"written: {out.name}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

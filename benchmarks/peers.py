"""``python -m benchmarks.peers`` (or ``make bench-peers``): ours beside other libraries' environments.

Every system is prepared in a process of its own, since their dependencies and threads need not get along.
The processes then measure in turn, never two at a time, by the method of `benchmarks.measure`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks import about, report
from benchmarks.measure import Result, chunk_for, compare, rate
from benchmarks.peer_games import OURS, PEERS
from benchmarks.registry import FLOOR, YARDSTICK, UnavailableError

LIBRARIES: Final = (
    *("mt-env", "numba", "numpy", "pettingzoo", "rlcard", "open_spiel", "pgx", "jax", "envpool"),
)
RESULTS: Final = report.RESULTS / "peers"
PATIENCE: Final = 900.0
"""Seconds after which a process that says nothing is ended."""


# --- a process that measures ------------------------------------------------------------------------------


def work(name: str, seconds: float) -> int:
    """Prepare one system, then measure it whenever a line comes in: answers are JSON lines."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not stand between the answers
    peer = PEERS[name]

    def answer(**entries: Any) -> None:
        print(json.dumps(entries), file=answers, flush=True)

    if peer.pinned and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    try:
        step = peer.case.prepare()
        step(1)  # compiles
        chunk = chunk_for(step, seconds)
    except (ImportError, UnavailableError) as error:
        answer(skipped=str(error).splitlines()[0])
        return 0
    except Exception as error:  # a peer that fails is one that is not measured
        answer(skipped=f"{type(error).__name__}: {str(error)[:200]}".splitlines()[0])
        return 0
    answer(ready=True)
    for _ in sys.stdin:
        answer(rate=rate(step, chunk, seconds))
    return 0


class Worker:
    """A process that measures one system.

    Args:
        name: of the system.
        seconds: of each measurement.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.peers", "--worker", name, "--seconds", repr(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=report.ROOT,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )

    def answer(self) -> dict[str, Any]:
        """The next answer; ``skipped`` with a reason if the process has ended."""
        assert self._process.stdout is not None
        timer = threading.Timer(PATIENCE, self._process.kill)
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        if line:
            return dict(json.loads(line))
        return {"skipped": f"its process ended with status {self._process.wait()}"}

    def ask(self) -> dict[str, Any]:
        """Measure once: the answer has ``rate``."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it may have ended: `answer` says so
            print(file=self._process.stdin, flush=True)
        return self.answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


# --- measuring --------------------------------------------------------------------------------------------


def measure(names: Sequence[str], repeats: int, seconds: float) -> tuple[list[Result], dict[str, str]]:
    """Measure the systems ``names`` in turn, ``repeats`` times.

    Returns:
        The results, and for each system that could not be measured the reason.
    """
    workers: dict[str, Worker] = {}
    results: dict[str, Result] = {}
    skipped: dict[str, str] = {}

    def skip(name: str, why: str) -> None:
        skipped[name] = why
        print(f"skipped: {name}: {why}", file=sys.stderr)
        workers.pop(name).close()
        results.pop(name, None)

    try:
        for name in names:
            print(f"preparing {PEERS[name].library} {name}", file=sys.stderr)
            workers[name] = Worker(name, seconds)
            answer = workers[name].answer()
            if "skipped" in answer:
                skip(name, answer["skipped"])
            else:
                results[name] = Result(PEERS[name].case)
        for number in range(repeats):
            print(f"repeat {number + 1} of {repeats}", file=sys.stderr)
            for name in list(results):
                answer = workers[name].ask()
                if "skipped" in answer:
                    skip(name, answer["skipped"])
                else:
                    results[name].rates.append(answer["rate"])
    finally:
        for worker in workers.values():
            worker.close()
    compare(list(results.values()))
    return list(results.values()), skipped


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Lines of a results file; ``ours``: how many times as fast our batch is, in the median repeat."""
    ours = next((result for result in results if result.case.name == OURS), None)
    lines = []
    for result in results:
        line = {**result.row(), "kind": "peer", "library": PEERS[result.case.name].library, "ours": None}
        if ours is not None:
            times = [a / b for a, b in zip(ours.rates, result.rates, strict=True)]
            line["ours"] = float(f"{median(times):.4g}")
        lines.append(line)
    return lines


# --- reports ----------------------------------------------------------------------------------------------


def table(lines: report.Lines, meanings: bool = False) -> str:
    """The table of the systems."""
    out = []
    for line in lines:
        if line["kind"] == "peer":
            ratios = ["" if line[key] is None else f"{line[key]:.3g}" for key in ("ratio", "floor", "ours")]
            span = f"{report.number(line['min'])}–{report.number(line['max'])}"  # noqa: RUF001
            row = [line["library"], line["name"], report.number(line["median"]), span, *ratios]
            out.append([*row[:2], line["meaning"], *row[2:]] if meanings else row)
    head = ["library", "environment", "steps per CPU second", "range", "× yardstick", "× time of C floor"]  # noqa: RUF001
    head.append("our batch is × as fast")  # noqa: RUF001
    return report.table([*head[:2], "what", *head[2:]] if meanings else head, out, 3 if meanings else 2)


BARS: Final = {
    "batch: 50 times as fast as Pgx's sparrow_mahjong": ("sparrow_mahjong", 50.0),
    "batch: 50 times as fast as EnvPool's SparrowMahjong": ("SparrowMahjong", 50.0),
    "batch: 25 times as fast as OpenSpiel's crazy_eights": ("crazy_eights", 25.0),
}
"""What is asked -> the system, and how many times as fast as it our batch shall be."""


def bars(lines: report.Lines) -> str:
    """The table of bars; those not measured are left out."""
    found = {line["name"]: line["ours"] for line in lines if line["kind"] == "peer"}
    out = []
    for asked, (name, least) in BARS.items():
        times = found.get(name)
        if times is not None:
            out.append([asked, f"{times:.3g} times", "yes" if times >= least else "**no**"])
    times = next((x["floor"] for x in lines if x["kind"] == "peer" and x["name"] == OURS), None)
    if times is not None:
        asked = "batch: at most 2.5 times the C floor's time"
        out.append([asked, f"{times:.3g} times", "yes" if times <= 2.5 else "**no**"])
    return report.table(["asked", "measured", "met"], out)


def page(text: str, lines: report.Lines) -> str:
    """``text`` of docs/performance.md with the part about peers made anew from ``lines``."""
    run = next(line for line in lines if line["kind"] == "run")
    parts = [f"{report.origin(run)}\n", *report.skipped(lines), table(lines, True), bars(lines)]
    return report.replaced(text, "benchmarks.peers", "\n".join(parts))


# --- the command ------------------------------------------------------------------------------------------


def main(words: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each is measured (default 5)")
    parser.add_argument("--seconds", type=float, default=0.4, help="CPU seconds each time (default 0.4)")
    parser.add_argument("--only", metavar="NAME", nargs="+", choices=list(PEERS), help=", ".join(PEERS))
    parser.add_argument("--out", type=Path, metavar="FILE", help="results file to write")
    parser.add_argument("--store", action="store_true", help="write into benchmarks/results/peers/")
    parser.add_argument("--docs", action="store_true", help="rewrite docs/performance.md from that folder")
    parser.add_argument("--worker", choices=list(PEERS), help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.worker:
        return work(options.worker, options.seconds)
    if options.docs:
        text = report.PAGE.read_text(encoding="utf-8")
        report.PAGE.write_text(page(text, report.load(report.stored(RESULTS))), encoding="utf-8")
        return 0
    if options.repeats < 1 or not options.seconds > 0:
        print("--repeats and --seconds must be positive", file=sys.stderr)
        return 2
    names = list(PEERS)
    if options.only:
        names = [name for name in names if name in (YARDSTICK, FLOOR, OURS, *options.only)]
    command = ["python", "-m", "benchmarks.peers", *(sys.argv[1:] if words is None else words)]
    head = about.head(command, options.repeats, options.seconds, YARDSTICK, LIBRARIES)
    results, skipped = measure(names, options.repeats, options.seconds)
    head["load_after"] = about.load()
    lines = [head, *rows(results)]
    lines += [{"kind": "skipped", "name": name, "why": why} for name, why in skipped.items()]
    print(table(lines))
    print(bars(lines))
    report.write(lines, options.out, RESULTS if options.store else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Results as text: the table that a run prints, and the part of docs/performance.md that is generated."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.about import ROOT
from benchmarks.registry import FLOOR, YARDSTICK

RESULTS: Final = ROOT / "benchmarks" / "results"
"""Stored runs, committed. Others go to ``runs/`` in it, which git ignores."""
PAGE: Final = ROOT / "docs" / "performance.md"

_BEGIN, _END = "<!-- generated: python -m {} --docs -->\n", "<!-- end of generated -->\n"

Lines = Sequence[dict[str, Any]]
Judge = Callable[[Lines], tuple[str, bool] | None]
"""From a run's lines: what was measured and whether it is enough; None: not measured."""


def load(path: Path) -> list[dict[str, Any]]:
    """The lines of a results file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def stored(folder: Path = RESULTS) -> Path:
    """The newest stored run in ``folder`` (names begin with the date)."""
    return max(folder.glob("*.jsonl"))


def write(lines: Lines, out: Path | None, folder: Path | None) -> None:
    """Write a results file: ``out``, or one in ``folder`` (None: ``runs/``) named by date and commit."""
    if out is None:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        out = (folder or RESULTS / "runs") / f"{stamp}-{lines[0]['commit'].rstrip('+')}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    print(f"written: {out.name}", file=sys.stderr)


def number(value: float) -> str:
    """Three digits and a unit: 9.31k, 1.52M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def micro(rate: float) -> str:
    """Time of one unit."""
    seconds = 1 / rate
    return f"{seconds * 1e9:.3g} ns" if seconds < 1e-6 else f"{seconds * 1e6:.3g} µs"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first ``left`` columns are text, the others numbers."""
    marks = ["---" if i < left else "---:" for i in range(len(head))]
    return "".join("| " + " | ".join(row) + " |\n" for row in (head, marks, *rows))


def wrapped(text: str) -> str:
    """A paragraph in lines as the documents have them."""
    return textwrap.fill(text, 115, break_long_words=False, break_on_hyphens=False) + "\n"


def _of(lines: Lines, kind: str) -> Lines:
    return [line for line in lines if line["kind"] == kind]


def speeds(lines: Lines, meanings: bool = False) -> str:
    """The table of the cases; those measured by the wall clock have one of their own behind it."""
    cases = _of(lines, "case")
    first = _speeds([line for line in cases if line.get("clock") != "wall"], meanings, "CPU second")
    walled = [line for line in cases if line.get("clock") == "wall"]
    return first + ("\n" + _speeds(walled, meanings, "second of the wall clock") if walled else "")


def _speeds(cases: Lines, meanings: bool, second: str) -> str:
    rows = []
    for line in cases:
        ratios = ["" if (one := line.get(key)) is None else f"{one:.3g}" for key in ("ratio", "floor")]
        span = f"{number(line['min'])}–{number(line['max'])}"  # noqa: RUF001
        rate = f"{number(line['median'])} {line['unit']}"
        row = [line["name"], rate, span, micro(line["median"]), *ratios]
        rows.append([*row[:1], line["meaning"], *row[1:]] if meanings else row)
    head = ["case", f"per {second}", "range", "each", "× yardstick", "× time of C floor"]  # noqa: RUF001
    return table([*head[:1], "what", *head[1:]] if meanings else head, rows, 2 if meanings else 1)


def starts(lines: Lines) -> str:
    """The table of first uses."""
    rows = [
        [x["face"], x["cache"], f"{x['cpu']:.1f} s", f"{x['wall']:.1f} s", str(x["notices"])]
        for x in _of(lines, "start")
    ]
    return table(["face", "cache", "CPU", "wall", "lines on stderr"], rows, 2)


def sizes(lines: Lines) -> str:
    """The table of sizes."""
    return table(["", ""], [[x["name"], f"{x['value']:g}"] for x in _of(lines, "size")])


# --- bars -------------------------------------------------------------------------------------------------


def _case(lines: Lines, name: str) -> float | None:
    return next((x["median"] for x in _of(lines, "case") if x["name"] == name), None)


def _start(lines: Lines, face: str, cache: str, key: str) -> float | None:
    return next((x[key] for x in _of(lines, "start") if (x["face"], x["cache"]) == (face, cache)), None)


def _at_least(name: str, least: float) -> Judge:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        rate = _case(lines, name)
        return None if rate is None else (f"{number(rate)}/s", rate >= least)

    return judge


def _step_under(name: str, seconds: float) -> Judge:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        rate = _case(lines, name)
        return None if rate is None else (micro(rate), 1 / rate < seconds)

    return judge


def _floor_times(name: str, most: float) -> Judge:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        line = next((x for x in _of(lines, "case") if x["name"] == name), None)
        times = None if line is None else line.get("floor")
        return None if times is None else (f"{times:.2f} times", times <= most)

    return judge


def _spread(names: Sequence[str], most: float) -> Judge:
    """Slowest and fastest of ``names`` differ by a factor of at most ``most``."""

    def judge(lines: Lines) -> tuple[str, bool] | None:
        rates = [rate for name in names if (rate := _case(lines, name)) is not None]
        if len(rates) < len(names):
            return None
        factor = max(rates) / min(rates)
        return f"factor {factor:.2f}", factor <= most

    return judge


def _start_under(face: str, cache: str, seconds: float, notices: int) -> Judge:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        cpu, said = _start(lines, face, cache, "cpu"), _start(lines, face, cache, "notices")
        return None if cpu is None else (f"{cpu:.1f} s", cpu < seconds and said == notices)

    return judge


BARS: Final[dict[str, Judge]] = {
    "core, `cover`, random play with float32 observation and mask: 1M moves/s": _at_least(
        "core cover float32", 1e6
    ),
    "batch of 1024, `cover`, uint8 and mask: at most 2.5 times the C floor's time": _floor_times(
        "batch cover uint8 + mask", 2.5
    ),
    "the same in float32: at most twice the time of uint8": _spread(
        ["batch cover uint8 + mask", "batch cover float32 + mask"], 2
    ),
    "batch of 1024, `cover`, candidate rows: 300k moves/s": _at_least("batch cover candidates", 3e5),
    "batch of 1024, `spruce`, candidate rows: 150k moves/s": _at_least("batch spruce candidates", 1.5e5),
    "time of a move in batches of 64 to 16384: within a factor of 2": _spread(
        ["batch of 64", "batch of 256", "batch cover uint8 + mask", "batch of 4096", "batch of 16384"], 2
    ),
    "`Batch.step` of one game, the move included: under 10 µs": _step_under("Batch.step, 1", 10e-6),
    "playouts, `spruce`, `planner-fast`: 10k rounds/s": _at_least("playout spruce planner-fast", 1e4),
    "playouts, `spruce`, `planner`: 3.5k rounds/s": _at_least("playout spruce planner", 3.5e3),
    "`raw_env` step: under 20 µs": _step_under("AEC raw_env step alone", 20e-6),
    "first use of AEC, nothing compiled: under 30 s of CPU, one line on stderr": _start_under(
        "AEC", "cold", 30, 1
    ),
    "first use of Gymnasium, nothing compiled: under 30 s of CPU, one line on stderr": _start_under(
        "Gymnasium", "cold", 30, 1
    ),
    "first use of AEC, warm cache: under 2 s of CPU, silent": _start_under("AEC", "warm", 2, 0),
    "first use of Gymnasium, warm cache: under 2 s of CPU, silent": _start_under("Gymnasium", "warm", 2, 0),
}
"""What is asked -> from a run's lines, what was measured and whether it is met; None: not measured."""


def bars(lines: Lines) -> str:
    """The table of bars; those not measured are left out."""
    rows = []
    for asked, judge in BARS.items():
        found = judge(lines)
        if found is not None:
            rows.append([asked, found[0], "yes" if found[1] else "**no**"])
    return table(["asked", "measured", "met"], rows)


# --- pages ------------------------------------------------------------------------------------------------


def printed(lines: Lines) -> str:
    """What a run prints."""
    parts = [make(lines) for kind, make in _PARTS if _of(lines, kind)]
    return "\n".join([*parts, bars(lines)])


_PARTS: Final = (("case", speeds), ("start", starts), ("size", sizes))


def origin(run: dict[str, Any]) -> str:
    """Where and when a run was made, in sentences."""
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    load = " and ".join(
        f"{value:.1f}" for value in (run["load_before"], run["load_after"]) if value is not None
    )
    return (
        f"Measured {run['date']} at commit {run['commit']} by `{run['command']}`: {run['repeats']} repeats "
        f"of {run['seconds']:g} CPU seconds a case. {run['machine']}, {run['cores']} cores, load "
        f"average {load} (before and after). {versions}."
    )


def skipped(lines: Lines) -> list[str]:
    """A sentence for each case that was not measured."""
    return [f"Not measured: {x['name']} ({x['why']}).\n" for x in _of(lines, "skipped")]


def generated(lines: Lines) -> str:
    """The generated part of docs/performance.md that tells of `python -m benchmarks`."""
    intro = (
        f"{origin(_of(lines, 'run')[0])} All with 4 seats and the D12 set where nothing else is said; the "
        f"yardsticks are `{YARDSTICK}` and `{FLOOR}`.\n"
    )
    parts = [
        *(intro, *skipped(lines), "### Bars\n", bars(lines), "### Speed\n", speeds(lines, True)),
        *("### First use in a new process\n", starts(lines), "### Sizes\n", sizes(lines)),
    ]
    return "\n".join(parts)


def replaced(text: str, module: str, new: str) -> str:
    """``text`` of docs/performance.md with the part that ``module`` generates replaced by ``new``."""
    begin = _BEGIN.format(module)
    before, rest = text.split(begin)
    return f"{before}{begin}\n{new}\n{_END}{rest.split(_END, 1)[1]}"


def page(text: str, lines: Lines) -> str:
    """``text`` of docs/performance.md with its main generated part made anew from ``lines``."""
    return replaced(text, "benchmarks", generated(lines))

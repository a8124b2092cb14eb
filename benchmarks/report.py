"""Results as text: the table that a run prints, and the part of docs/performance.md that is generated."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from benchmarks.cases import YARDSTICK

ROOT: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = ROOT / "benchmarks" / "results"
"""Stored runs, committed. Others go to ``runs/`` in it, which git ignores."""
PAGE: Final = ROOT / "docs" / "performance.md"

_BEGIN, _END = "<!-- generated: python -m benchmarks --docs -->\n", "<!-- end of generated -->\n"

Lines = Sequence[dict[str, Any]]


def load(path: Path) -> list[dict[str, Any]]:
    """The lines of a results file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def stored() -> Path:
    """The newest stored run (names begin with the date)."""
    return max(RESULTS.glob("*.jsonl"))


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


def _of(lines: Lines, kind: str) -> Lines:
    return [line for line in lines if line["kind"] == kind]


def speeds(lines: Lines, meanings: bool = False) -> str:
    """The table of the cases."""
    rows = []
    for line in _of(lines, "case"):
        ratio = "" if line["ratio"] is None else f"{line['ratio']:.3g}"
        span = f"{number(line['min'])}–{number(line['max'])}"  # noqa: RUF001
        rate = f"{number(line['median'])} {line['unit']}"
        row = [line["name"], rate, span, micro(line["median"]), ratio]
        rows.append([*row[:1], line["meaning"], *row[1:]] if meanings else row)
    head = ["case", "per CPU second", "range", "each", "× yardstick"]  # noqa: RUF001
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


def _at_least(name: str, least: float) -> Callable[[Lines], tuple[str, bool] | None]:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        rate = _case(lines, name)
        return None if rate is None else (f"{number(rate)}/s", rate >= least)

    return judge


def _step_under(name: str, seconds: float) -> Callable[[Lines], tuple[str, bool] | None]:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        rate = _case(lines, name)
        return None if rate is None else (micro(rate), 1 / rate < seconds)

    return judge


def _start_under(
    face: str, cache: str, seconds: float, notices: int
) -> Callable[[Lines], tuple[str, bool] | None]:
    def judge(lines: Lines) -> tuple[str, bool] | None:
        cpu, said = _start(lines, face, cache, "cpu"), _start(lines, face, cache, "notices")
        return None if cpu is None else (f"{cpu:.1f} s", cpu < seconds and said == notices)

    return judge


BARS: Final[dict[str, Callable[[Lines], tuple[str, bool] | None]]] = {
    "core, `cover`, random play with float32 observation and mask: 1M moves/s": _at_least(
        "core cover float32", 1e6
    ),
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


def generated(lines: Lines) -> str:
    """The generated part of docs/performance.md."""
    run = _of(lines, "run")[0]
    versions = ", ".join(f"{name} {version}" for name, version in run["versions"].items())
    load = " and ".join(
        f"{value:.1f}" for value in (run["load_before"], run["load_after"]) if value is not None
    )
    intro = (
        f"Measured {run['date']} at commit {run['commit']} by `{run['command']}`: {run['repeats']} repeats "
        f"of {run['seconds']:g} CPU seconds a case. {run['machine']}, {run['cores']} cores, load "
        f"average {load} (before and after). {versions}. All with 4 seats and the D12 set; the yardstick is "
        f"`{YARDSTICK}`.\n"
    )
    skipped = [f"Not measured: {x['name']} ({x['why']}).\n" for x in _of(lines, "skipped")]
    parts = [
        *(intro, *skipped, "## Bars\n", bars(lines), "## Speed\n", speeds(lines, True)),
        *("## First use in a new process\n", starts(lines), "## Sizes\n", sizes(lines)),
    ]
    return "\n".join(parts)


def page(text: str, lines: Lines) -> str:
    """``text`` of docs/performance.md with its generated part made anew from ``lines``."""
    before, rest = text.split(_BEGIN)
    return before + _BEGIN + "\n" + generated(lines) + "\n" + _END + rest.split(_END)[1]

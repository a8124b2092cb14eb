"""What a results file says about the run it came from."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent


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
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "mt_env", "benchmarks")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def versions(libraries: Sequence[str]) -> dict[str, str]:
    """Versions of Python and of those ``libraries`` that are installed."""
    found = {"Python": platform.python_version()}
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def head(
    command: Sequence[str], repeats: int, seconds: float, yardstick: str, libraries: Sequence[str]
) -> dict[str, Any]:
    """The first line of a results file; ``load_after`` is filled in at the end."""
    return {
        "kind": "run",
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": commit(),
        "versions": versions(libraries),
        "machine": machine(),
        "cores": os.cpu_count(),
        "load_before": load(),
        "load_after": None,
        "command": shlex.join(command),
        "repeats": repeats,
        "seconds": seconds,
        "yardstick": yardstick,
    }

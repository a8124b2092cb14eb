"""No tracked text file names a place on some machine: the checkout's, a home, a scratch folder."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def path_pattern(root: Path, home: Path) -> re.Pattern[str]:
    """Matches the checkout's own place, this user's home, and what looks like anybody's.

    A path counts where it begins: ``docs/work/x`` and ``https://host/tmp/x`` are none. Short places such as
    one folder below the root are only looked for as far as they are in the general list.
    """
    places = [re.escape(str(place)) for place in (root, home) if len(place.parts) > 2]
    usual = [r"/(?:home|Users)/[\w.-]+", r"/(?:root|work|workspace|tmp)/[\w.-]", r"[A-Za-z]:\\+Users\\+\w"]
    return re.compile(r"(?<![\w.~})/:-])(?:" + "|".join(places + usual) + ")")


def machine_paths(files: Iterable[Path], pattern: re.Pattern[str]) -> list[str]:
    """``file:line: text`` of every match; files that are not UTF-8 text are left out."""
    found = []
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path}:{n}: {line.strip()[:120]}" for n, line in enumerate(lines, 1) if pattern.search(line)
        ]
    return found


def tracked_files() -> list[Path]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"not a git checkout: {done.stderr.strip()}")
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return [path for path in paths if path.is_file()]


def test_no_tracked_file_names_a_place_on_some_machine() -> None:
    found = machine_paths(tracked_files(), path_pattern(ROOT, Path.home()))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "is_bad"),
    [
        ("see {root}/mt_env", True),
        ("cd {home}", True),
        ("'{slash}home{slash}anna{slash}x'", True),
        ("{slash}Users{slash}anna", True),
        ("log={slash}tmp{slash}log", True),
        ("C:{back}Users{back}anna", True),
        ("docs{slash}work{slash}x, ..{slash}tmp{slash}x, ${{HOME}}{slash}work{slash}x", False),
        ("https:{slash}{slash}example.org{slash}home{slash}anna", False),
        ("the folder {slash}tmp", False),
    ],
)
def test_a_machine_path_is_found(tmp_path: Path, text: str, is_bad: bool) -> None:
    places = {"root": "/srv/deep/checkout", "home": "/var/people/anna", "slash": "/", "back": "\\"}
    file = tmp_path / "a.txt"
    file.write_text("first line\n" + text.format(**places), encoding="utf-8")
    pattern = path_pattern(Path(places["root"]), Path(places["home"]))
    assert len(machine_paths([file], pattern)) == int(is_bad)

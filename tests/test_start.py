"""Starting up: where compiled code is kept, where nothing can be written, the notice of a first compile."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTICE = "mt_env: compiling its kernels"

DEAL = """
from mt_env.core import jit
from mt_env.game import Game
state = Game("wikihow", 3).new_initial_state(5)
state.apply_action(state.legal_actions()[0])
print(jit.CACHE)
print(state.to_position())
"""
KEYS = """
from mt_env.core import jit, play, chains
print(*(jit.sources_key(jit.Path(module.__file__)) for module in (play, chains)))
"""


def run(
    code: str, *, package: Path = ROOT, prefix: tuple[str, ...] = (), **changes: str
) -> tuple[list[str], str]:
    """Lines on stdout and all of stderr of ``code`` in a fresh process that finds mt_env in ``package``."""
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"} | changes
    done = subprocess.run(
        [*prefix, sys.executable, "-c", code],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


def copy_of_package(where: Path) -> Path:
    shutil.copytree(ROOT / "mt_env", where / "mt_env", ignore=shutil.ignore_patterns("__pycache__"))
    return where


def freeze(folder: Path) -> None:
    """Take away every right to write below ``folder``."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))


def thaw(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def without_override() -> tuple[str, ...]:
    """A command prefix under which file modes bind this process, even as root."""
    if not hasattr(os, "geteuid"):
        pytest.skip("file modes do not take the right to write away on this platform")
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root ignores file modes, and there is no setpriv to give that up")
    return ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str], str]:
    cache = tmp_path_factory.mktemp("cache")
    lines, errors = run(DEAL, MT_ENV_CACHE_DIR=str(cache))
    return cache, lines, errors


@pytest.mark.slow
def test_the_first_compile_is_announced_once_and_kept(cold: tuple[Path, list[str], str]) -> None:
    cache, lines, errors = cold
    assert lines[0] == str(cache)
    assert errors.count(NOTICE) == 1
    assert errors.strip().count("\n") == 0
    again, silent = run(DEAL, MT_ENV_CACHE_DIR=str(cache))
    assert again == lines
    assert silent == ""


@pytest.mark.slow
def test_a_read_only_install_without_a_home_to_write_to(
    cold: tuple[Path, list[str], str], tmp_path: Path
) -> None:
    prefix = without_override()
    package = copy_of_package(tmp_path / "install")
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    freeze(package)
    freeze(home)
    places = {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home),
        "TMPDIR": str(temporary),
        "MT_ENV_CACHE_DIR": "",
    }
    try:
        lines, _ = run(DEAL, package=package, prefix=prefix, **places)
    finally:
        thaw(package)
        thaw(home)
    assert Path(lines[0]).parent == temporary
    assert lines[1:] == cold[1][1:]
    assert not list(home.iterdir())
    assert not list(package.rglob("__pycache__"))


@pytest.mark.slow
def test_no_place_at_all_still_plays(cold: tuple[Path, list[str], str]) -> None:
    code = (
        "import pathlib, tempfile; tempfile.tempdir = '/dev/null/none'\n"
        "def mkdir(self, *a, **k): raise PermissionError(13, 'no', str(self))\n"
        "pathlib.Path.mkdir = mkdir\n" + DEAL
    )
    lines, errors = run(code, MT_ENV_CACHE_DIR="")
    assert lines[0] == "None"
    assert lines[1:] == cold[1][1:]
    assert errors.count("no folder could be written") == 1


@pytest.mark.slow
def test_the_key_covers_what_a_module_imports(tmp_path: Path) -> None:
    package = copy_of_package(tmp_path)
    environment = {"NUMBA_DISABLE_JIT": "0", "MT_ENV_CACHE_DIR": str(tmp_path / "cache")}

    def keys() -> list[str]:
        return run(KEYS, package=package, **environment)[0][0].split()

    before = keys()
    assert keys() == before
    rounds = package / "mt_env" / "core" / "rounds.py"  # play imports it, chains does not
    rounds.write_text(rounds.read_text().replace("_ZERO = np.uint64(0)", "_ZERO = np.uint64(0)  # changed"))
    after = keys()
    assert after[0] != before[0]
    assert after[1] == before[1]
    environment["NUMBA_BOUNDSCHECK"] = "1"
    assert set(keys()).isdisjoint(after)

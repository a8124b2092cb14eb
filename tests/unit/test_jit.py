"""Where compiled kernels are kept and what their keys cover (tests/test_start.py: in real processes)."""

from __future__ import annotations

import getpass
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

from mt_env.core import chains, jit, play, rounds


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No place named by the environment; home and temporary folder below the one returned."""
    for name in ("MT_ENV_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path / "package")
    monkeypatch.setattr(getpass, "getuser", lambda: "me")
    return tmp_path


def test_the_order_of_places(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    usual = [
        places / "home/.cache/mt_env",
        places / "package/__pycache__/kernels",
        places / "temporary/mt_env-me",
    ]
    assert list(jit._candidates()) == usual
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "xdg"))
    assert next(jit._candidates()) == places / "xdg/mt_env"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert next(jit._candidates()) == places / "home/Library/Caches/mt_env"
    monkeypatch.setattr(sys, "platform", "win32")
    assert list(jit._candidates()) == usual[1:]
    monkeypatch.setenv("LOCALAPPDATA", str(places / "local"))
    assert next(jit._candidates()) == places / "local/mt_env/cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(places / "numba"))
    monkeypatch.setenv("MT_ENV_CACHE_DIR", str(places / "ours"))
    assert list(jit._candidates())[:2] == [places / "ours", places / "numba"]


def test_users_without_a_name_and_machines_without_a_temporary_folder(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any) -> Any:
        raise OSError("none")

    monkeypatch.setattr(getpass, "getuser", fails)
    assert list(jit._candidates())[-1] == places / "temporary/mt_env-user"
    monkeypatch.setattr(tempfile, "gettempdir", fails)
    assert list(jit._candidates())[-1] == places / "package/__pycache__/kernels"


def test_the_first_place_that_can_be_written_and_is_ours(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = places / "file"
    file.touch()
    monkeypatch.setenv("MT_ENV_CACHE_DIR", str(file / "below"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(places / "second"))
    assert jit.cache_folder() == places / "second"
    if hasattr(jit.os, "getuid"):
        monkeypatch.setattr(jit.os, "getuid", lambda: -5)  # now every folder is somebody else's
        assert jit.cache_folder() is None


def test_keys() -> None:
    files = [Path(str(module.__file__)) for module in (play, chains)]
    keys = [jit.sources_key(file) for file in files]
    assert len(set(keys)) == 2 and all(len(key) == 16 for key in keys)
    assert Path(str(rounds.__file__)) in jit._imports(files[0])
    assert jit._module_file("mt_env.core") == jit._PACKAGE / "core" / "__init__.py"
    assert jit._module_file("mt_env.nothing") is None


@pytest.mark.parametrize("kept", [True, False])
def test_a_kernel_leaves_numbas_settings_alone(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "CACHE", tmp_path if kept else None)
    before = jit.config.CACHE_DIR

    @jit.kernel
    def add(a: int, b: int) -> int:
        return a + b

    assert add(2, 3) == 5
    assert before == jit.config.CACHE_DIR
    if not jit.config.DISABLE_JIT:
        assert bool(list(tmp_path.rglob("*.nbi"))) == kept


def test_the_notice_is_given_once_for_kernels_of_this_package(capsys: pytest.CaptureFixture[str]) -> None:
    def event(module: str | None) -> Any:
        function = SimpleNamespace(__module__=module) if module else None
        return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})

    notice = jit._Notice()
    for one in (SimpleNamespace(data=None), event(None), event("somebody.else")):
        notice.on_start(one)
    assert capsys.readouterr().err == ""
    for _ in range(2):
        notice.on_start(event("mt_env.core.play"))
        notice.on_end(event("mt_env.core.play"))
    assert capsys.readouterr().err.count("compiling its kernels") == 1


def test_a_kernel_has_no_memory_of_its_own_unless_it_says_so() -> None:
    def made() -> int:
        return len(np.zeros(4, np.int64))

    def refused() -> int:
        return len(np.zeros(4, np.int64))

    assert jit.allocating_kernel(made)() == 4
    if not jit.config.DISABLE_JIT:  # else every array handed on would be counted, by atomic operations
        for decorator in (jit.kernel, jit.inlined_kernel):
            with pytest.raises(numba.core.errors.TypingError):
                decorator(refused)()


def test_kernels_inside_an_inlined_one_are_not_inlined_for_that() -> None:
    if jit.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")

    @jit.kernel
    def inner(x: int) -> int:
        return x + 1

    @jit.inlined_kernel
    def outer(x: int) -> int:
        return inner(x) + 1

    assert outer(1) == 3
    assert [fn.targetoptions["forceinline"] for fn in (inner, outer)] == [False, True]

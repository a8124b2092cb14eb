"""The one kernel decorator, and where compiled code is cached.

numba's own cache does not notice that a function or constant of *another* file changed, ignores
``NUMBA_BOUNDSCHECK``, and raises at import where neither the package's folder nor the home can be
written. So the cache folder here is named after a hash of all the package's sources, the numba version
and that flag, and the first folder that can be written is taken; with none, kernels compile per process.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import config as _config
from numba.core import event

config: Any = _config  # its settings are made at run time
njit: Any = numba.njit

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE: Final[Path] = Path(__file__).resolve().parent.parent
CACHE_ENV: Final[str] = "MT_ENV_CACHE_DIR"
"""Environment variable that names the folder for compiled code (default: the user's cache folder)."""


def sources_key() -> str:
    """Hash that changes whenever compiled code may be stale: sources, numba version, bounds checks."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    digest.update(numba.__version__.encode())
    digest.update(b"boundscheck=" + str(os.environ.get("NUMBA_BOUNDSCHECK", "")).encode())
    return digest.hexdigest()[:16]


def _candidates() -> Iterator[Path]:
    for name in (CACHE_ENV, "NUMBA_CACHE_DIR"):
        chosen = os.environ.get(name)
        if chosen:
            yield Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        if base:
            yield Path(base) / "mt_env" / "cache"
    elif sys.platform == "darwin":
        yield Path("~/Library/Caches").expanduser() / "mt_env"
    else:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "mt_env"
    yield _PACKAGE / "__pycache__" / "kernels"
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # no name for this user id (containers)
        user = "user"
    yield Path(tempfile.gettempdir()) / f"mt_env-{user}"


def _own(folder: Path) -> bool:
    """Make ``folder`` and try it; loading machine code from a folder of somebody else is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> Path | None:
    """Folder for this version's compiled kernels, made if need be; None if no place can be written."""
    key = sources_key()
    for base in _candidates():
        folder = base / key
        if _own(folder):
            return folder
    return None


CACHE: Final[Path | None] = None if config.DISABLE_JIT else cache_folder()
"""The folder in use by this process, None without one (or with the JIT off)."""


def kernel(fn: F) -> F:
    """Compile ``fn`` with numba: no Python objects, the GIL released, cached on disk by version.

    Kernels do not check their arguments; the faces above them do. With ``NUMBA_DISABLE_JIT=1`` the
    function is returned as it is.
    """
    options = {"nogil": True, "error_model": "numpy"}
    if CACHE is None:
        return cast(F, njit(**options)(fn))
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE)  # read once, while the decorator runs
    try:
        return cast(F, njit(cache=True, **options)(fn))
    finally:
        config.CACHE_DIR = before


class _Notice(event.Listener):
    """Says once, on stderr, that compiling has begun: the first call must not look like a hang."""

    said = False

    def on_start(self, event: event.Event) -> None:
        if self.said or event.data is None:
            return
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        if function is None or not function.__module__.startswith("mt_env."):
            return
        self.said = True
        kept = "" if CACHE else " (no folder could be written to keep it)"
        print(f"mt_env: compiling its kernels, once per version: about half a minute{kept}", file=sys.stderr)

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Notice())  # type: ignore[no-untyped-call]

"""The one kernel decorator, and where compiled code is cached.

numba's own cache does not notice that a function or constant of *another* file changed, ignores
``NUMBA_BOUNDSCHECK``, and raises at import where neither the package's folder nor the home can be
written. So each module's kernels have a folder named after a hash of all sources they can depend on, the
numba version and that flag, in the first place that can be written; with none, they compile per process.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import config as _config
from numba.core import event

config: Any = _config  # its settings are made at run time
njit: Any = numba.njit

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE: Final[Path] = Path(__file__).resolve().parent.parent
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from|import)[ \t]+(?P<module>mt_env[\w.]*)"
    r"(?:[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#]*))?",
    re.MULTILINE,
)
CACHE_ENV: Final[str] = "MT_ENV_CACHE_DIR"
"""Environment variable that names the folder for compiled code (default: the user's cache folder)."""


def _module_file(name: str) -> Path | None:
    """Source of a module of this package, by its dotted name."""
    path = _PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


@cache
def _imports(file: Path) -> frozenset[Path]:
    """Modules of this package that ``file`` names in an import, wherever it stands."""
    found: set[Path] = set()
    for match in _IMPORT.finditer(file.read_text(encoding="utf-8")):
        module = match["module"]
        names = [module, *(f"{module}.{name}" for name in re.findall(r"\w+", match["names"] or ""))]
        found.update(source for name in names if (source := _module_file(name)) is not None)
    return frozenset(found)


@cache
def sources_key(file: Path) -> str:
    """Hash that changes whenever code compiled from ``file`` may be stale.

    It covers the file and every module of this package that it imports, directly or not, the numba
    version and whether bounds are checked.
    """
    sources = {file}
    new = [file]
    while new:
        more = _imports(new.pop()) - sources
        sources |= more
        new.extend(more)
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    digest.update(numba.__version__.encode())
    digest.update(b"boundscheck=" + os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
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
    try:
        yield Path(tempfile.gettempdir()) / f"mt_env-{user}"
    except OSError:  # no usable temporary folder at all
        return


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
    """Folder for compiled kernels, made if need be; None if no place can be written."""
    return next((folder for folder in _candidates() if _own(folder)), None)


CACHE: Final[Path | None] = None if config.DISABLE_JIT else cache_folder()
"""The folder in use by this process, None without one (or with the JIT off)."""


def kernel(fn: F) -> F:
    """Compile ``fn`` with numba: no Python objects, the GIL released, cached on disk by version.

    Without numba's own memory management, so a kernel cannot make arrays; with it, every array that one
    kernel hands to another is counted by atomic operations, which took half the time of a batch's step.

    Kernels do not check their arguments; the faces above them do. With ``NUMBA_DISABLE_JIT=1`` the
    function is returned as it is.
    """
    return _compiled(fn, _nrt=False, forceinline=False)


def inlined_kernel(fn: F) -> F:
    """Compile ``fn`` as `kernel` does, always into its caller: where passing the arguments costs more."""
    return _compiled(fn, _nrt=False, forceinline=True)


def allocating_kernel(fn: F) -> F:
    """Compile ``fn`` as `kernel` does, but let it make arrays; for outer loops only."""
    return _compiled(fn, _nrt=True, forceinline=False)


def _compiled(fn: F, **more: bool) -> F:
    # Every option is given: what is not set, numba takes from the kernel that is being compiled.
    options = {"nogil": True, "error_model": "numpy", **more}
    if CACHE is None:
        return cast(F, njit(**options)(fn))
    before = config.CACHE_DIR
    file = Path(fn.__code__.co_filename)
    config.CACHE_DIR = str(CACHE / f"{file.stem}-{sources_key(file)}")  # read while the decorator runs
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

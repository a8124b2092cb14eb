"""Set-up shared by all tests."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports numba, torch or NumPy: tests run in several processes, each needs one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent

# The first call of a kernel compiles it, which no deadline survives. The usual profile draws the same
# examples on every run; MT_ENV_HYPOTHESIS=thorough draws many more, and others each time.
settings.register_profile("mt_env", deadline=None, print_blob=True, derandomize=True, max_examples=60)
settings.register_profile(
    "thorough",
    deadline=None,
    print_blob=True,
    max_examples=2000,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("MT_ENV_HYPOTHESIS", "mt_env"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip ``learn`` tests where torch is missing; `make test` sets MT_ENV_REQUIRE_LEARN to forbid that."""
    if importlib.util.find_spec("torch") is not None:
        return
    if os.environ.get("MT_ENV_REQUIRE_LEARN"):
        raise pytest.UsageError(
            "MT_ENV_REQUIRE_LEARN is set but torch is not installed: run `make setup-learn`"
        )
    for item in items:
        if item.get_closest_marker("learn"):
            item.add_marker(pytest.mark.skip(reason="torch is not installed (make setup-learn)"))


@pytest.fixture(scope="session", autouse=True)
def _no_kernel_caches_in_the_sources() -> Iterator[None]:
    """Compiled kernels belong in the user's cache folder, see mt_env/core/jit.py.

    Left where it stands, a cache inside the package would be found by later runs and could be stale.
    MT_ENV_CACHE_DIR names another folder; tests share the user's one, since compiling takes seconds.
    """
    yield
    found = [str(path.relative_to(ROOT)) for path in (ROOT / "mt_env").rglob("*.nb[ci]")]
    assert not found, f"numba caches among the sources: {found}"

"""The registry of cases: `benchmarks.cases` and `benchmarks.batches` enter them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

YARDSTICK: Final = "connect_four env"
"""Name of the case that the others are divided by."""

FLOOR: Final = "C floor"
"""Name of the second yardstick: the others' time per unit is divided by its time."""

Step = Callable[[int], int]


class UnavailableError(Exception):
    """A case cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing that is measured.

    Attributes:
        name: what it is called in results, for ``--only`` too.
        unit: what is counted: ``moves`` (applied actions, forced ones too), ``steps`` of an environment,
            ``rounds`` or ``copies``.
        meaning: what one unit is, for the docs.
        prepare: makes everything ready and returns ``step``.
        clock: ``"cpu"``: seconds are CPU time of all threads. ``"wall"``: of the wall clock; such a case is
            compared with nothing, since other work on the machine counts.
    """

    name: str
    unit: str
    meaning: str
    prepare: Callable[[], Step]
    clock: Literal["cpu", "wall"] = "cpu"


CASES: Final[dict[str, Case]] = {}
"""Name -> case, in the order in which they are measured and shown."""


def case(
    name: str, unit: str, meaning: str, clock: Literal["cpu", "wall"] = "cpu"
) -> Callable[[Callable[[], Step]], Callable[[], Step]]:
    """Enter the decorated ``prepare`` as a case."""

    def enter(prepare: Callable[[], Step]) -> Callable[[], Step]:
        if name in CASES:
            raise ValueError(f"two cases are called {name!r}")
        CASES[name] = Case(name, unit, meaning, prepare, clock)
        return prepare

    return enter

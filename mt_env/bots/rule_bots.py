"""The compiled rule bots as Python objects: thin faces of `mt_env.core.policies`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.core.jit import kernel
from mt_env.core.policies import (
    DOUBLES_FIRST,
    HEAVIEST,
    PLANNER,
    PLANNER_FAST,
    RANDOM,
    TACTICIAN,
    new_scratch,
    policy_action,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mt_env.rng import Rng
    from mt_env.view import View

KINDS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "random": RANDOM,
        "heaviest": HEAVIEST,
        "planner": PLANNER,
        "planner-fast": PLANNER_FAST,
        "doubles_first": DOUBLES_FIRST,
        "tactician": TACTICIAN,
    }
)
"""Name of each rule bot -> its kind in `mt_env.core.policies`. A name fixes how a bot plays for good."""


@kernel
def _choose(states: Any, rules: Any, kind: Any, rng: Any, scratch: Any) -> Any:
    return policy_action(states[0], rules[0], kind, rng, scratch)


def _read_only(array: NDArray[np.void]) -> NDArray[np.void]:
    """``array`` as a read-only view: one compiled version of a kernel for all callers."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


class CompiledBot:
    """A rule bot.

    Environments and the arena see by its class that it need not be called: they run the policy ``kind``
    inside their kernels, with the same choices.

    Args:
        name: one of `KINDS`.

    Attributes:
        name: its name.
        kind: its number in `mt_env.core.policies`.
    """

    __slots__ = ("_scratch", "kind", "name")

    def __init__(self, name: str) -> None:
        if name not in KINDS:
            raise ValueError(f"name={name!r}: the compiled bots are {', '.join(KINDS)}")
        self.name: Final = name
        self.kind: Final = KINDS[name]
        self._scratch = new_scratch()

    def act(self, view: View, rng: Rng) -> int:
        """The action the policy chooses.

        Raises:
            ValueError: it is not this seat's turn.
        """
        if not view.legal_actions:
            raise ValueError(f"it is not the turn of seat {view.seat}")
        return self.choose(view.record, view.rules_record, rng)

    def choose(self, record: NDArray[np.void], rules_record: NDArray[np.void], rng: Rng) -> int:
        """The action for the seat to move of ``record``; hidden tiles in it make no difference.

        Args:
            record: the game, ``GAME_DTYPE`` ``(1,)``.
            rules_record: its rules, ``RULES_DTYPE`` ``(1,)``.
            rng: the seat's generator; used only where there is a choice.
        """
        action = _choose(_read_only(record), _read_only(rules_record), self.kind, rng.state, self._scratch)
        return int(action)

    def __reduce__(self) -> tuple[Any, ...]:
        return CompiledBot, (self.name,)

    def __repr__(self) -> str:
        return f"CompiledBot({self.name!r})"


def compiled_kind(bot: object) -> int | None:
    """The policy that kernels run for ``bot``; None if it has to be called."""
    return bot.kind if type(bot) is CompiledBot else None

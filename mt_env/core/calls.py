"""The kernels that the readable faces call from Python, on arrays of one record.

numba recognizes an array in half a microsecond and a record alone in six; NumPy copies a record in thirty.
"""

from __future__ import annotations

from typing import Any

from mt_env.core.bits import Int
from mt_env.core.hide import hide
from mt_env.core.jit import kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action


@kernel
def legal_of(states: Any, rules: Any, out: Any) -> Int:
    """`moves.legal_actions` of ``states[0]``: ids into ``out``, returns how many."""
    return legal_actions(states[0], rules[0], out)


@kernel
def apply_to(states: Any, rules: Any, action: Int) -> None:
    """`play.apply_action` on ``states[0]``."""
    apply_action(states[0], rules[0], action)


@kernel
def copy_to(states: Any, out: Any) -> None:
    """Copy ``states[0]`` into ``out[0]``."""
    out[0] = states[0]


@kernel
def hidden_copy_to(states: Any, seat: Int, out: Any) -> None:
    """Copy ``states[0]`` into ``out[0]`` without what is hidden from ``seat``."""
    out[0] = states[0]
    hide(out[0], seat)

"""Taking out of a record what one seat may not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Int
from mt_env.core.jit import kernel
from mt_env.core.state import NO_TILE


@kernel
def hide(s: Any, seat: Int) -> None:
    """Erase from ``s`` everything hidden from ``seat``, in place.

    Gone are the other hands (their sizes stay), the order and content of the boneyard (its size stays),
    the tile drawn by another seat, and the seed, from which all of that could be dealt again.
    """
    for other in range(np.int64(s["num_players"])):
        if other != seat:
            s["hands"][other, :] = np.uint64(0)
    s["boneyard"][:] = 0
    s["seed"] = np.uint64(0)
    if s["turn"] != seat and s["drawn"] != NO_TILE:
        s["drawn"] = NO_TILE

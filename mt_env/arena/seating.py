"""Who sits where, and what each bot is called."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def rotations(num_players: int) -> NDArray[np.int64]:
    """The seatings of a deal: every bot sits once in every seat.

    Returns:
        int64 ``[num_players, num_players]``: ``[k, s]`` is the number of the bot in seat ``s`` of seating
        ``k``. Seating 0 is the order given, each next one moves all bots one seat on (clockwise).
    """
    seats = np.arange(num_players, dtype=np.int64)
    return (seats[None, :] - seats[:, None]) % num_players


def unique_labels(names: Sequence[str]) -> tuple[str, ...]:
    """Names made unique: the second ``heaviest`` is called ``heaviest#2``, the third ``heaviest#3``."""
    labels: list[str] = []
    taken = set(names)
    for name in names:
        label, number = name, 2
        while label in labels or (number > 2 and label in taken):
            label, number = f"{name}#{number}", number + 1
        labels.append(label)
    return tuple(labels)


def groups(names: Sequence[str]) -> dict[str, list[int]]:
    """Distinct name -> numbers of the bots that bear it, in order of first appearance."""
    found: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        found.setdefault(name, []).append(number)
    return found

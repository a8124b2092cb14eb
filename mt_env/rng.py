"""A small random generator with the same numbers on every platform, for bots and for choosing seeds."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mt_env.core.bits import mix64, next64, stream

T = TypeVar("T")
SEED_LIMIT = 1 << 64
"""Seeds are integers in ``[0, SEED_LIMIT)``."""


def check_seed(seed: object, name: str = "seed") -> int:
    """``seed`` as an int in ``[0, 2**64)``.

    Raises:
        ValueError: it is no integer, or out of range.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise ValueError(f"{name}={seed!r}: must be an integer from 0 to 2**64 - 1")
    value = int(seed)
    if not 0 <= value < SEED_LIMIT:
        raise ValueError(f"{name}={value}: must be from 0 to 2**64 - 1")
    return value


def fresh_seed() -> int:
    """A seed from the operating system."""
    return secrets.randbits(64)


def mix(seed: int, index: int) -> int:
    """Seed number ``index`` of the family ``seed``: how episodes, rows and bots get theirs."""
    return int(stream(np.uint64(seed), np.uint64(index)))


class Rng:
    """SplitMix64 as an object; ``state`` can be handed to compiled policies.

    Attributes:
        state: ``uint64[1]``, the generator's state.
    """

    __slots__ = ("state",)

    def __init__(self, seed: int) -> None:
        self.state: NDArray[np.uint64] = np.array([mix64(np.uint64(check_seed(seed)))], np.uint64)

    def below(self, n: int) -> int:
        """Uniform integer in ``[0, n)``; ``n`` from 1 to 2**31 - 1."""
        if not 1 <= n < 1 << 31:
            raise ValueError(f"n={n}: must be from 1 to 2**31 - 1")
        return ((int(next64(self.state)) >> 32) * n) >> 32

    def random(self) -> float:
        """Uniform float in ``[0, 1)`` with 53 bits."""
        return (int(next64(self.state)) >> 11) * 2.0**-53

    def choice(self, items: Sequence[T]) -> T:
        """One of ``items``, each as likely."""
        return items[self.below(len(items))]

"""Who sits where, and what each bot is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import factorial
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mt_env.rng import Rng
from mt_env.rules_options import as_int

Seatings: TypeAlias = "Literal['rotations', 'balanced', 'all'] | int"
"""Which orders of the bots play each deal; see `seating_table`."""

MAX_SEATINGS: Final[int] = 720
"""More orders of one deal than this are refused; all orders of six seats are as many."""

_RELABEL_SEED: Final[int] = 1949
"""Fixes which further squares a number of seatings adds; part of what a number means, so never changed."""


def rotations(num_players: int) -> NDArray[np.int64]:
    """The seatings of a deal: every bot sits once in every seat.

    Returns:
        int64 ``[num_players, num_players]``: ``[k, s]`` is the number of the bot in seat ``s`` of seating
        ``k``. Seating 0 is the order given, each next one moves all bots one seat on (clockwise).
    """
    seats = np.arange(num_players, dtype=np.int64)
    return (seats[None, :] - seats[:, None]) % num_players


def williams(num_players: int) -> NDArray[np.int64]:
    """A Latin square in which the bots sit beside each other in changing pairs.

    Row 0 is 0, 1, n-1, 2, n-2, ...; each next row adds 1 to every number, modulo n. With an even number every
    ordered pair of bots sits once in two seats s, s + 1, so the square is row-complete. With an odd number
    that is impossible for such squares; this one and its mirror ``-x modulo n`` together hold every ordered
    pair twice. From E. J. Williams, "Experimental designs balanced for the estimation of residual effects of
    treatments", Australian Journal of Scientific Research A 2 (1949), 149-168.

    Returns:
        int64 ``[num_players, num_players]``, as `rotations`.
    """
    row = [(i + 1) // 2 if i % 2 else -(i // 2) for i in range(num_players)]
    return (np.array(row, np.int64)[None, :] + np.arange(num_players)[:, None]) % num_players


def _relabelings(num_players: int) -> Iterator[tuple[int, ...]]:
    """Permutations of the bots that keep bot 0, each once: the identity, then others in a fixed order.

    Two such permutations never give squares with a row in common: the rows of a square are one left coset of
    the group of rotations. For an odd number each is followed by its mirror, see `williams`.
    """
    n = num_players
    rng = Rng(_RELABEL_SEED)
    known: set[tuple[int, ...]] = set()
    # Few enough to be listed, or so many that one drawn twice is seldom.
    listed = list(permutations(range(1, n))) if n <= 7 else None

    def drawn() -> tuple[int, ...]:
        if listed is not None:
            return listed.pop(rng.below(len(listed)))
        left = list(range(1, n))
        return tuple(left.pop(rng.below(len(left))) for _ in range(n - 1))

    found: tuple[int, ...] = tuple(range(n))
    while True:
        mirror = tuple(found[-i % n] for i in range(n))
        for one in (found, mirror) if n % 2 else (found,):
            if one not in known:
                known.add(one)
                yield one
        if listed == []:
            return
        found = (0, *drawn())


def check_seatings(num_players: int, seatings: Seatings) -> Seatings:
    """``seatings`` as `seating_table` takes it.

    Raises:
        ValueError: none of the words, a number that is no multiple of ``num_players``, or too many orders.
    """
    n, number = num_players, as_int(seatings)
    words = ("rotations", "balanced", "all")
    if isinstance(seatings, str) and seatings in words:
        if seatings == "all" and factorial(n) > MAX_SEATINGS:
            raise ValueError(
                f"seatings='all': {n} bots have {factorial(n)} orders, more than {MAX_SEATINGS}; take "
                f"'balanced' or a multiple of {n}"
            )
        return seatings
    most = min(MAX_SEATINGS // n * n, factorial(n))
    if number is None or number < 1 or number % n or number > most:
        raise ValueError(
            f"seatings={seatings!r}: must be 'rotations', 'balanced', 'all', or a multiple of {n} from {n} "
            f"to {most}, so that every bot sits equally often in every seat"
        )
    return number


def seating_table(num_players: int, seatings: Seatings) -> NDArray[np.int64]:
    """The orders of the bots in which each deal is played.

    Args:
        num_players: n, the number of bots and of seats.
        seatings: ``"rotations"``, the n rotations of the order given; ``"balanced"``, Williams' square (n
            orders) for even n and his two squares (2 n orders) for odd n; ``"all"``, all n! orders, in
            lexicographic order, copies of a bot counted as different bots; or a number, a multiple of n: the
            balanced ones first, then further squares with the bots renumbered, all orders different.

    Returns:
        int64 ``[orders, num_players]``: ``[k, s]`` is the number of the bot in seat ``s`` of seating ``k``.

    Raises:
        ValueError: as `check_seatings`.
    """
    n = num_players
    seatings = check_seatings(n, seatings)
    if seatings == "rotations":
        return rotations(n)
    if seatings == "all":
        return np.array(list(permutations(range(n))), np.int64)
    squares = (2 if n > 2 and n % 2 else 1) if seatings == "balanced" else int(seatings) // n
    base = williams(n)
    made = [np.array(new, np.int64)[base] for _, new in zip(range(squares), _relabelings(n), strict=False)]
    return np.concatenate(made)


def neighbours(seating: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often which bot plays directly after which, around the table.

    Args:
        seating: int64 ``[orders, seats]``, from `seating_table`.

    Returns:
        int64 ``[seats, seats]``: ``[a, b]`` counts the orders in which ``b`` sits in the seat after ``a``'s;
        the seat after the last is the first.
    """
    n = seating.shape[1]
    counts = np.zeros((n, n), np.int64)
    np.add.at(counts, (seating, np.roll(seating, -1, axis=1)), 1)
    return counts


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

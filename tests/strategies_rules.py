"""Random valid rule sets: every combination of options, and deals from tiny to the whole set."""

from __future__ import annotations

import random

from mt_env.rules import OPTIONS, Rules, largest_hand
from mt_env.tiles import MAX_SET, MIN_SET, PUBLISHED_SETS

_DEALT = ("set", "hand_size", "rounds", "first_engine")


def random_valid_rules(rng: random.Random, num_players: int) -> Rules:
    """Rules that ``resolve(num_players)`` accepts.

    Options are drawn evenly from their valid combinations. The deal is the table's in a quarter of the
    draws where the table has these seats; else any set from which two tiles a seat can be dealt (sold sets
    in half of the draws) and a hand that is small, usual, or as large as it can be.
    """
    while True:
        changes: dict[str, object] = {
            name: rng.choice(option.values) for name, option in OPTIONS.items() if name not in _DEALT
        }
        try:
            rules = Rules(**changes)  # type: ignore[arg-type]
        except ValueError:
            continue  # options that do not go together: drawn again, so the rest stays evenly drawn
        deal = {} if num_players in rules.seats() and rng.random() < 0.25 else _deal(rng, rules, num_players)
        max_pip = rules.replace(**deal).resolve(num_players).set
        first_engine = rng.choice((None, None, rng.randint(0, max_pip)))
        most = (max_pip if first_engine is None else first_engine) + 1
        rounds = rng.choice(("all", rng.randint(1, most)))
        return rules.replace(**deal, first_engine=first_engine, rounds=rounds)


def _deal(rng: random.Random, rules: Rules, num_players: int) -> dict[str, int]:
    sets = PUBLISHED_SETS if rng.random() < 0.5 else range(MIN_SET, MAX_SET + 1)
    max_pip = rng.choice([n for n in sets if largest_hand(n, num_players, rules.engine_from) >= 2])
    most = largest_hand(max_pip, num_players, rules.engine_from)
    hand_size = rng.choice(
        (rng.randint(2, min(most, 5)), rng.randint(2, min(most, 15)), rng.randint(2, most), most)
    )
    return {"set": max_pip, "hand_size": hand_size}

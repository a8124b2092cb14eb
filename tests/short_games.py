"""A plain position and random games for the tests of the readable face."""

from __future__ import annotations

import random
from typing import Any

from strategies_rules import random_valid_rules

from mt_env.game import Game, State
from mt_env.rewards import REWARDS

PLAIN = (
    "rules=dominos_cc seats=3 set=12 engine=12 lap=3 turn=0 hands=3-7,1-9/3-4,2-2/0-0 trains=7/9/9* "
    "mexican=4 open= owes=- drawn=- boneyard=3-9,0-9 passes=0"
)


def changed(line: str, **changes: Any) -> str:
    fields: dict[str, Any] = dict(part.split("=", 1) for part in line.split())
    fields.update(changes)
    return " ".join(f"{key}={value}" for key, value in fields.items())


def play(state: State, *texts: str) -> State:
    for text in texts:
        state.apply_action(state.string_to_action(text))
    return state


def random_game(seed: int, episode: str | None = None) -> Game:
    rng = random.Random(seed)
    n = rng.randint(2, 9)
    kind: Any = episode or rng.choice(("round", "match"))
    return Game(random_valid_rules(rng, n), n, episode=kind, reward=rng.choice(REWARDS), reward_scale=0.5)

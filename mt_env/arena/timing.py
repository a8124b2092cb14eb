"""How long bots think: measured in a pass of its own where games are played compiled, and as a file.

Inside the core no clock runs. So decisions are collected from a few games, and each bot's policy is then
timed on the decisions that it had there. Times are those of the compiled policy alone; those of a table that
is played move by move hold the view and the call from Python too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mt_env.arena.match import Clock, episode_seeds
from mt_env.arena.seating import rotations
from mt_env.core.deal import new_episode
from mt_env.core.jit import allocating_kernel, kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.policies import new_scratch, policy_action
from mt_env.core.rollout import seed_bots
from mt_env.core.state import GAME_DTYPE, PLAYING
from mt_env.game import Game
from mt_env.rules_yaml import write_text

if TYPE_CHECKING:
    from mt_env.arena.result import TournamentResult

SAMPLED_DEALS: Final[int] = 16
"""Deals from which decisions are taken, each in all rotations, first round only."""

SAMPLED_DECISIONS: Final[int] = 400
"""Decisions of each bot that are timed, at most."""

REPEATS: Final[int] = 3
"""The quickest of so many passes counts."""


@allocating_kernel
def _collect(
    states: Any, rules: Any, seeds: Any, bots: Any, kinds: Any, scratch: Any, kept: Any, counts: Any
) -> None:
    """Play the first rounds of episodes and keep the positions in which a bot had a choice.

    ``bots`` int64 ``[m, n]`` is the bot in each seat, ``kinds`` int64 ``[bots]`` its policy; ``kept``
    ``GAME_DTYPE[bots, most]`` and ``counts`` int64 ``[bots]`` are written.
    """
    s = states[0]
    r = rules[0]
    n = np.int64(r["num_players"])
    rngs = np.empty((n, 1), np.uint64)
    for i in range(len(seeds)):
        new_episode(s, r, seeds[i])
        seed_bots(seeds[i], n, rngs)
        while s["phase"] == PLAYING:
            seat = np.int64(s["turn"])
            bot = bots[i, seat]
            at = counts[bot]
            if at < kept.shape[1] and legal_actions(s, r, scratch[2]) > 1:
                kept[bot, at] = s
                counts[bot] += 1
            apply_action(s, r, policy_action(s, r, kinds[bot], rngs[seat], scratch))


@kernel
def _decide(kept: Any, rules: Any, kind: Any, rng: Any, scratch: Any) -> Any:
    """Let the policy ``kind`` decide in every position of ``kept``."""
    total = 0
    for i in range(len(kept)):
        total += policy_action(kept[i], rules[0], kind, rng, scratch)
    return total


def sample_decisions(game: Game, kinds: Sequence[int], seed: int, clock: Clock) -> None:
    """Time compiled policies and put the result into ``clock``.

    Args:
        game: the table.
        kinds: policy number of each bot.
        seed: of the tournament, whose first deals are used.
        clock: gets ``seconds``, ``decisions`` and ``sampled``.
    """
    n = len(kinds)
    kept = np.zeros((n, SAMPLED_DECISIONS), GAME_DTYPE)
    counts = np.zeros(n, np.int64)
    seeds = np.repeat(episode_seeds(seed, SAMPLED_DEALS), n)
    scratch = new_scratch()
    _collect(
        np.zeros(1, GAME_DTYPE), game.rules_record, seeds, np.tile(rotations(n), (SAMPLED_DEALS, 1)),
        np.array(kinds, np.int64), scratch, kept, counts,
    )  # fmt: skip
    rng = np.zeros(1, np.uint64)
    _decide(kept[0, :1], game.rules_record, kinds[0], rng, scratch)  # compiles before the clock runs
    for bot, kind in enumerate(kinds):
        positions, best = kept[bot, : counts[bot]], np.inf
        for _ in range(REPEATS):
            begun = perf_counter()
            _decide(positions, game.rules_record, kind, rng, scratch)
            best = min(best, perf_counter() - begun)
        clock.seconds[bot], clock.decisions[bot] = best, int(counts[bot])
    clock.sampled = True


def timings(result: TournamentResult) -> dict[str, object]:
    """The clock of a result as plain values; see docs/arena.md."""
    clock = result.clock
    return {
        "seconds": clock.total,
        "deals": clock.deals,
        "games": clock.deals * result.num_seatings,
        "moves": clock.moves,
        "sampled": clock.sampled,
        "bots": [
            {
                "bot": label,
                "decisions": count,
                "seconds": spent,
                "ms_a_decision": 1e3 * spent / count if count else None,
            }
            for label, spent, count in zip(result.bots, clock.seconds, clock.decisions, strict=True)
        ],
    }


def write_timings(result: TournamentResult, path: str | os.PathLike[str]) -> None:
    """Write `timings` as JSON, beside ``path`` and then renamed."""
    write_text(path, json.dumps(timings(result), indent=2) + "\n")


def read_timings(path: str | os.PathLike[str], bots: Sequence[str]) -> Clock:
    """The clock in a file that `write_timings` wrote.

    Args:
        path: the file.
        bots: labels of the bots that it must be about, in order.

    Raises:
        ValueError: it is no such file, or about other bots.
        OSError: it cannot be read.
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = found["bots"]
        clock = Clock(
            [float(row["seconds"]) for row in rows],
            [int(row["decisions"]) for row in rows],
            int(found["moves"]),
            float(found["seconds"]),
            int(found["deals"]),
            bool(found["sampled"]),
        )
        labels = [row["bot"] for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: is no file of timings ({type(error).__name__}: {error})") from None
    if labels != list(bots):
        raise ValueError(f"{path}: is about {', '.join(labels)}, not about {', '.join(bots)}")
    return clock

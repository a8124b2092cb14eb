"""Equal bots that do not play alike, for ``python -m benchmarks.intervals``.

The arena gives a seat, and not a bot, its random numbers, so copies of one bot play alike in the same seat.
A `Tosser` draws from a generator of its own: equal in law to the other tossers, but not in play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mt_env.arena import TournamentResult
from mt_env.arena.match import RANK_UNIT, Games, episode_seeds
from mt_env.arena.seating import rotations
from mt_env.arena.stream import game_fields
from mt_env.bots import KINDS, CompiledBot
from mt_env.core.bits import below, mix64, stream
from mt_env.core.deal import new_episode
from mt_env.core.jit import allocating_kernel
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import BOT_STREAM, play_round
from mt_env.core.rounds import standing
from mt_env.core.state import GAME_DTYPE, OUT
from mt_env.game import Game
from mt_env.rng import Rng, mix

SEATS = 4
"""Seats at the table of `tossed`."""


class Tosser:
    """A bot that tosses a coin before each game for the rule bot it plays as, with a generator of its own.

    Args:
        salt: tells its generator from those of its equals.
        policies: names of the rule bots; with one there is no toss, but the generator is still its own.
    """

    def __init__(self, salt: int, policies: Sequence[str]) -> None:
        self.name = f"tosser {salt}"
        self._salt = salt
        self._policies = [CompiledBot(name) for name in policies]

    def reset(self, game: Game, seat: int, seed: int) -> None:
        """Toss."""
        self._rng = Rng(mix(seed, self._salt))
        self._policy = self._policies[self._rng.below(len(self._policies))]

    def act(self, view: Any, rng: Rng) -> int:
        """As the rule bot of this game."""
        return self._policy.act(view, self._rng)


@allocating_kernel
def _play(
    states: Any,
    rules: Any,
    seeds: Any,
    seating: Any,
    salts: Any,
    kinds: Any,
    scratch: Any,
    points: Any,
    ranks: Any,
    ends: Any,
) -> None:
    """Play single rounds with tossers in all seats: what `Tosser` does, in the core.

    ``seeds`` uint64 ``[deals]``; ``seating`` int64 ``[orders, n]``, the bot in each seat; ``salts`` int64
    ``[n]``, of each bot; ``kinds`` int64, the policies to toss for; ``points`` int64 and ``ranks`` float64
    ``[deals, orders, n]`` by bot, and ``ends`` int64 ``[deals, orders, 2]``, are written.
    """
    s = states[0]
    r = rules[0]
    n = seating.shape[1]
    rngs = np.empty((n, 1), np.uint64)
    playing = np.empty(n, np.int64)
    by_seat, shares = np.empty(n), np.empty(n)
    for d in range(len(seeds)):
        for k in range(len(seating)):
            new_episode(s, r, seeds[d])
            for seat in range(n):
                own = stream(seeds[d], np.uint64(BOT_STREAM + seat))
                rngs[seat, 0] = mix64(stream(own, np.uint64(salts[seating[k, seat]])))
                playing[seat] = kinds[below(rngs[seat], len(kinds))]
            play_round(s, r, playing, rngs, scratch)
            ends[d, k, 0 if s["how"] == OUT else 1] = 1
            standing(s, r, by_seat, shares)
            for seat in range(n):
                points[d, k, seating[k, seat]] = s["totals"][seat]
                ranks[d, k, seating[k, seat]] = by_seat[seat]


def tossed_games(
    policies: Sequence[str],
    salts: Sequence[int],
    game: Game,
    seating: NDArray[np.int64],
    deals: int,
    seed: int,
) -> Games:
    """The games of a table of tossers, single rounds, inside the core.

    Args:
        policies: to toss for.
        salts: of each bot, one for each seat.
        game: the table.
        seating: int64 ``[orders, seats]``, the bot in each seat.
        deals: how many.
        seed: of the table; deal ``i`` is the episode with seed ``mix(seed, i)``.
    """
    games = Games.empty(0, deals, len(seating), game.num_players)
    ranks = np.zeros(games.ranks.shape)
    kinds = np.array([KINDS[name] for name in policies], np.int64)
    _play(
        np.zeros(1, GAME_DTYPE), game.rules_record, episode_seeds(seed, deals), seating,
        np.array(salts, np.int64), kinds, new_scratch(), games.points, ranks, games.ends,
    )  # fmt: skip
    games.ranks[:] = np.rint(ranks * RANK_UNIT)
    return games


def tossed(policies: Sequence[str], deals: int, seed: int) -> TournamentResult:
    """``tournament([Tosser(0, policies), Tosser(1, policies), ...], deals, seed)``, inside the core.

    Args:
        policies: to toss for.
        deals: how many.
        seed: of the tournament.
    """
    game, salts = Game("spruce", SEATS), range(SEATS)
    games = tossed_games(policies, salts, game, rotations(SEATS), deals, seed)
    names = tuple(Tosser(salt, policies).name for salt in salts)
    return TournamentResult(
        bots=names, names=names, game=game, seed=seed, max_deals=deals, **game_fields(games)
    )

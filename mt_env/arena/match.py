"""Games of one tournament: compiled in chunks where every bot is compiled, else move by move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mt_env import events
from mt_env.bots import Bot, BotError, bot_seed, next_action, start_bot
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import play_episodes
from mt_env.core.state import GAME_DTYPE, MAX_SEATS
from mt_env.game import Game
from mt_env.rng import Rng, mix

SHARE_UNIT: Final[int] = 360360
"""Win shares are kept as whole multiples of ``1 / SHARE_UNIT``: 1/k is one for every k up to 14 seats."""

RANK_UNIT: Final[int] = 2
"""Ranks are kept as whole multiples of ``1 / RANK_UNIT``: ties share the mean of their places."""

assert MAX_SEATS == 14  # SHARE_UNIT is the least common multiple of 1..14


@dataclass(frozen=True, slots=True)
class Failure:
    """A bot that raised or did not answer with a legal action, which leaves its deal void."""

    bot: str
    """Label of the bot."""
    deal: int
    seating: int
    seat: int
    seed: int
    """Seed of the episode."""
    reason: str
    """One line."""

    def __str__(self) -> str:
        return (
            f"{self.bot} in seat {self.seat} of deal {self.deal}, seating {self.seating} "
            f"(episode seed {self.seed}): {self.reason}"
        )


@dataclass(slots=True)
class Clock:
    """Where the time went. Never part of a result's text or files."""

    seconds: list[float]
    """Time spent on each bot's decisions, its view included, by bot; zeros if all were played compiled."""
    decisions: list[int]
    """How often each bot was asked, by bot."""
    moves: int = 0
    """Actions applied in all games, forced ones too."""
    total: float = 0.0
    """Seconds for the games, statistics left out."""


@dataclass(slots=True)
class Games:
    """Results of a number of deals, by deal, seating and *seat*. All whole numbers."""

    points: NDArray[np.int64]
    """int64 ``[deals, seatings, seats]``."""
    ranks: NDArray[np.int64]
    """The same, in units of ``1 / RANK_UNIT``."""
    shares: NDArray[np.int64]
    """The same, in units of ``1 / SHARE_UNIT``."""
    ends: NDArray[np.int64]
    """int64 ``[deals, seatings, 2]``: rounds gone out, rounds blocked."""
    valid: NDArray[np.bool_]
    """bool ``[deals]``: False where a bot failed; such rows mean nothing."""
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def empty(cls, deals: int, n: int) -> Games:
        """Zeros for ``deals`` deals of ``n`` seats, all valid."""
        return cls(
            points=np.zeros((deals, n, n), np.int64),
            ranks=np.zeros((deals, n, n), np.int64),
            shares=np.zeros((deals, n, n), np.int64),
            ends=np.zeros((deals, n, 2), np.int64),
            valid=np.ones(deals, np.bool_),
        )


def episode_seeds(seed: int, deals: int) -> NDArray[np.uint64]:
    """``mix(seed, i)`` for each deal ``i``, uint64 ``[deals]``."""
    return np.array([mix(seed, i) for i in range(deals)], np.uint64)


class CompiledTable:
    """Plays deals in the core, for bots that are all compiled policies.

    Args:
        game: the table.
        kinds: policy number of each bot.
        seating: int64 ``[seatings, seats]``, from `mt_env.arena.seating.rotations`.
    """

    def __init__(self, game: Game, kinds: Sequence[int], seating: NDArray[np.int64]) -> None:
        self._game = game
        self._kinds = np.array(kinds, np.int64)[seating]
        self._states = np.zeros(1, GAME_DTYPE)
        self._scratch = new_scratch()

    def play(self, seeds: NDArray[np.uint64], games: Games, first: int, clock: Clock) -> None:
        """Play every seating of the deals ``seeds`` into rows ``first``... of ``games``."""
        deals, n = len(seeds), self._game.num_players
        points = np.zeros((deals * n, n), np.int64)
        ranks, shares = np.zeros((deals * n, n)), np.zeros((deals * n, n))
        ends = np.zeros((deals * n, 2), np.int64)
        clock.moves += play_episodes(
            self._states, self._game.rules_record, np.repeat(seeds, n), np.tile(self._kinds, (deals, 1)),
            self._scratch, points, ranks, shares, ends,
        )  # fmt: skip
        rows = slice(first, first + deals)
        games.points[rows] = points.reshape(deals, n, n)
        games.ranks[rows] = np.rint(ranks * RANK_UNIT).reshape(deals, n, n)
        games.shares[rows] = np.rint(shares * SHARE_UNIT).reshape(deals, n, n)
        games.ends[rows] = ends.reshape(deals, n, 2)


class PlainTable:
    """Plays deals through `Game` and `View`, for any bots. Forced moves are made without asking.

    Args:
        game: the table.
        bots: one for each label.
        labels: what they are called.
        seating: int64 ``[seatings, seats]``.
    """

    def __init__(
        self, game: Game, bots: Sequence[Bot], labels: Sequence[str], seating: NDArray[np.int64]
    ) -> None:
        self._game = game
        self._bots = bots
        self._labels = labels
        self._seating: list[list[int]] = seating.tolist()

    def play(self, seeds: NDArray[np.uint64], games: Games, first: int, clock: Clock) -> None:
        """Play every seating of the deals ``seeds`` into rows ``first``... of ``games``.

        A bot's failure is noted in ``games.failures`` and leaves its deal, all seatings, void.
        """
        for deal, seed in enumerate(map(int, seeds), first):
            for seating, seats in enumerate(self._seating):
                try:
                    self._play_one(seed, seats, games, deal, seating, clock)
                except BotError as error:
                    bot = self._labels[seats[error.seat]]
                    reason = one_line(error.problem)
                    games.failures.append(Failure(bot, deal, seating, error.seat, seed, reason))
                    games.valid[deal] = False
                    break

    def _play_one(
        self, seed: int, seats: list[int], games: Games, deal: int, seating: int, clock: Clock
    ) -> None:
        game = self._game
        state = game.new_initial_state(seed)
        rngs = []
        for seat, number in enumerate(seats):
            own = bot_seed(seed, seat)
            rngs.append(Rng(own))
            start_bot(self._bots[number], game, seat, own)
        while not state.is_terminal():
            legal = state.legal_actions()
            clock.moves += 1
            if len(legal) == 1:
                state.apply_action(legal[0])
                continue
            seat = state.current_player()
            number = seats[seat]
            begun = perf_counter()
            action = next_action(self._bots[number], state, rngs[seat])
            clock.seconds[number] += perf_counter() - begun
            clock.decisions[number] += 1
            if action not in legal:  # the view's own list could have been changed by the bot
                raise BotError(self._labels[number], seat, f"act returned {action}, which is not legal")
            state.apply_action(action)
        games.points[deal, seating] = state.totals()
        games.ranks[deal, seating] = np.rint(np.array(state.ranks()) * RANK_UNIT)
        games.shares[deal, seating] = np.rint(np.array(state.win_shares()) * SHARE_UNIT)
        kinds = [event.kind for event in state.log]
        games.ends[deal, seating] = kinds.count(events.OUT), kinds.count(events.BLOCKED)


def one_line(text: str) -> str:
    """``text`` on one line of bounded length, without the addresses that differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(text.split()))[:400]

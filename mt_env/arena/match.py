"""Games of one tournament: compiled in chunks where every bot is compiled, else move by move."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from mt_env import events
from mt_env.bots import Bot, BotError, CompiledBot, bot_seed, compiled_kind, next_action, start_bot
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import play_episodes
from mt_env.core.state import GAME_DTYPE, MAX_SEATS
from mt_env.game import Game
from mt_env.rng import Rng, mix

SHARE_UNIT: Final[int] = 360360
"""Win shares are kept as whole multiples of ``1 / SHARE_UNIT``: 1/k is one for every k up to 14 seats."""

RANK_UNIT: Final[int] = 2
"""Ranks are kept as whole multiples of ``1 / RANK_UNIT``: ties share the mean of their places."""

GAMES_AT_ONCE: Final[int] = 256
"""Games that one call into the core plays: few enough for a living progress bar and Ctrl-C."""

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

    def to_dict(self) -> dict[str, object]:
        """The fields as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"{self.bot} in seat {self.seat} of deal {self.deal}, seating {self.seating} "
            f"(episode seed {self.seed}): {self.reason}"
        )


@dataclass(slots=True)
class Clock:
    """Where the time went. Never part of a result's text or files; files of timings are apart."""

    seconds: list[float]
    """Time spent on each bot's decisions, its view included, by bot; zeros if all were played compiled."""
    decisions: list[int]
    """How often each bot was asked, by bot."""
    moves: int = 0
    """Actions applied in all games, forced ones too."""
    total: float = 0.0
    """Seconds for the games, statistics left out."""
    deals: int = 0
    """Deals that this process and its workers played; those that a resumed file held are left out."""
    sampled: bool = False
    """Whether ``seconds`` and ``decisions`` come from a pass of their own, see `mt_env.arena.timing`."""

    @classmethod
    def zero(cls, bots: int) -> Clock:
        """A clock for ``bots`` bots that has not run."""
        return cls([0.0] * bots, [0] * bots)

    def add(self, other: Clock) -> None:
        """Add what another process measured; ``total``, which is no sum over processes, stays."""
        self.seconds = [a + b for a, b in zip(self.seconds, other.seconds, strict=True)]
        self.decisions = [a + b for a, b in zip(self.decisions, other.decisions, strict=True)]
        self.moves += other.moves
        self.deals += other.deals


@dataclass(slots=True)
class Games:
    """Results of consecutive deals, by deal, seating and *bot*. All whole numbers."""

    first: int
    """Number of the first deal."""
    points: NDArray[np.int64]
    """int64 ``[deals, seatings, bots]``."""
    ranks: NDArray[np.int64]
    """The same, in units of ``1 / RANK_UNIT``."""
    ends: NDArray[np.int64]
    """int64 ``[deals, seatings, 2]``: rounds gone out, rounds blocked."""
    valid: NDArray[np.bool_]
    """bool ``[deals]``: False where a bot failed; such rows mean nothing."""
    failures: list[Failure] = field(default_factory=list)
    """One for each deal that is not valid, in order."""

    @classmethod
    def empty(cls, first: int, deals: int, seatings: int, bots: int) -> Games:
        """Zeros, all valid."""
        return cls(
            first=first,
            points=np.zeros((deals, seatings, bots), np.int64),
            ranks=np.zeros((deals, seatings, bots), np.int64),
            ends=np.zeros((deals, seatings, 2), np.int64),
            valid=np.ones(deals, np.bool_),
        )

    def __len__(self) -> int:
        return len(self.valid)

    def head(self, deals: int) -> Games:
        """The first ``deals`` deals of these."""
        failures = [failure for failure in self.failures if failure.deal < self.first + deals]
        rows = slice(deals)
        return Games(
            self.first, self.points[rows], self.ranks[rows], self.ends[rows], self.valid[rows], failures
        )

    @classmethod
    def joined(cls, parts: Sequence[Games]) -> Games:
        """One after the other; at least one part."""
        points, ranks, ends, valid = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("points", "ranks", "ends", "valid")
        )
        failures = [failure for part in parts for failure in part.failures]
        return cls(parts[0].first, points, ranks, ends, valid, failures)


def shares_of(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Win shares that belong to ranks: ``1 / m`` for each of the m that share first place, else 0.

    Args:
        ranks: int64 ``[..., bots]``, in units of ``1 / RANK_UNIT``; m firsts have rank ``(m + 1) / 2``.

    Returns:
        int64, the same shape, in units of ``1 / SHARE_UNIT``.
    """
    best = ranks.min(axis=-1, keepdims=True)
    return np.where(ranks == best, SHARE_UNIT // (best - 1), 0)


def episode_seeds(seed: int, deals: int, first: int = 0) -> NDArray[np.uint64]:
    """``mix(seed, i)`` for ``deals`` deals ``i`` from ``first`` on, uint64 ``[deals]``."""
    return np.array([mix(seed, i) for i in range(first, first + deals)], np.uint64)


class Table(Protocol):
    """Plays deals."""

    deals_at_once: int
    """Deals that one call of `play` should get."""

    def play(self, seeds: NDArray[np.uint64], first: int, clock: Clock) -> Games:
        """Play every seating of the deals ``seeds``, whose numbers begin with ``first``."""
        ...


class CompiledTable:
    """Plays deals in the core, for bots that are all compiled policies.

    Args:
        game: the table.
        kinds: policy number of each bot.
        seating: int64 ``[seatings, seats]``, from `mt_env.arena.seating.seating_table`.

    Attributes:
        deals_at_once: about `GAMES_AT_ONCE` games.
    """

    def __init__(self, game: Game, kinds: Sequence[int], seating: NDArray[np.int64]) -> None:
        self._game = game
        self._kinds = np.array(kinds, np.int64)[seating]
        self._where = np.argsort(seating, axis=1)[None]  # [deal, seating, bot]: the seat
        self._states = np.zeros(1, GAME_DTYPE)
        self._scratch = new_scratch()
        self.deals_at_once = max(1, GAMES_AT_ONCE // len(seating))

    def play(self, seeds: NDArray[np.uint64], first: int, clock: Clock) -> Games:
        """Play every seating of the deals ``seeds``, whose numbers begin with ``first``."""
        deals, (orders, n) = len(seeds), self._kinds.shape
        games = Games.empty(first, deals, orders, n)
        points = np.zeros((deals * orders, n), np.int64)
        ranks, shares = np.zeros((deals * orders, n)), np.zeros((deals * orders, n))
        ends = np.zeros((deals * orders, 2), np.int64)
        clock.moves += play_episodes(
            self._states, self._game.rules_record, np.repeat(seeds, orders), np.tile(self._kinds, (deals, 1)),
            self._scratch, points, ranks, shares, ends,
        )  # fmt: skip
        clock.deals += deals
        shape = deals, orders, n
        games.points[:] = np.take_along_axis(points.reshape(shape), self._where, axis=2)
        games.ranks[:] = np.take_along_axis(np.rint(ranks * RANK_UNIT).reshape(shape), self._where, axis=2)
        games.ends[:] = ends.reshape(deals, orders, 2)
        return games


class PlainTable:
    """Plays deals through `Game` and `View`, for any bots. Forced moves are made without asking.

    Args:
        game: the table.
        bots: one for each label.
        labels: what they are called.
        seating: int64 ``[seatings, seats]``.
        time_limit: seconds that a decision, or a ``reset``, may take; None for no limit. A bot is not
            interrupted: it fails when it answers. Compiled bots have no limit.

    Attributes:
        deals_at_once: 1.
    """

    def __init__(
        self,
        game: Game,
        bots: Sequence[Bot],
        labels: Sequence[str],
        seating: NDArray[np.int64],
        time_limit: float | None = None,
    ) -> None:
        self._game = game
        self._bots = bots
        self._labels = labels
        self._seating: list[list[int]] = seating.tolist()
        # A compiled bot never hangs, and a busy machine should not make one fail.
        limit = math.inf if time_limit is None else time_limit
        self._limits = [math.inf if type(bot) is CompiledBot else limit for bot in bots]
        self.deals_at_once = 1

    def play(self, seeds: NDArray[np.uint64], first: int, clock: Clock) -> Games:
        """Play every seating of the deals ``seeds``, whose numbers begin with ``first``.

        A bot's failure is noted in ``failures`` and leaves its deal, all seatings, void.
        """
        games = Games.empty(first, len(seeds), len(self._seating), len(self._bots))
        for row, seed in enumerate(map(int, seeds)):
            clock.deals += 1
            for seating, seats in enumerate(self._seating):
                try:
                    self._play_one(seed, seats, games, row, seating, clock)
                except BotError as error:
                    bot = self._labels[seats[error.seat]]
                    reason = one_line(error.problem)
                    games.failures.append(Failure(bot, first + row, seating, error.seat, seed, reason))
                    games.valid[row] = False
                    break
        return games

    def _in_time(self, begun: float, number: int, seat: int, what: str) -> float:
        """Seconds since ``begun``; a bot that needed more than the limit has failed."""
        seconds = perf_counter() - begun
        if (
            seconds > self._limits[number]
        ):  # the measured time would make two runs differ in more than who failed
            problem = f"{what} took longer than the limit of {self._limits[number]:g} s"
            raise BotError(self._labels[number], seat, problem)
        return seconds

    def _play_one(
        self, seed: int, seats: list[int], games: Games, row: int, seating: int, clock: Clock
    ) -> None:
        game = self._game
        state = game.new_initial_state(seed)
        rngs = []
        for seat, number in enumerate(seats):
            own = bot_seed(seed, seat)
            rngs.append(Rng(own))
            begun = perf_counter()
            start_bot(self._bots[number], game, seat, own)
            self._in_time(begun, number, seat, "reset")
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
            clock.seconds[number] += self._in_time(begun, number, seat, "act")
            clock.decisions[number] += 1
            if action not in legal:  # the view's own list could have been changed by the bot
                raise BotError(self._labels[number], seat, f"act returned {action}, which is not legal")
            state.apply_action(action)
        games.points[row, seating, seats] = state.totals()
        games.ranks[row, seating, seats] = np.rint(np.array(state.ranks()) * RANK_UNIT)
        kinds = [event.kind for event in state.log]
        games.ends[row, seating] = kinds.count(events.OUT), kinds.count(events.BLOCKED)


def make_table(
    game: Game,
    bots: Sequence[Bot],
    labels: Sequence[str],
    seating: NDArray[np.int64],
    time_limit: float | None = None,
) -> Table:
    """The quickest table for ``bots``; arguments as those of `PlainTable`."""
    kinds = [kind for bot in bots if (kind := compiled_kind(bot)) is not None]
    if len(kinds) == len(bots):
        return CompiledTable(game, kinds, seating)
    return PlainTable(game, bots, labels, seating, time_limit)


def warm_up(game: Game, bots: Sequence[Bot], seating: NDArray[np.int64]) -> None:
    """Have the kernels compiled or loaded before a clock runs; no bot that is not compiled is asked."""
    n = game.num_players
    labels, one = ["random"] * n, seating[:1]
    table: Table = PlainTable(game, [CompiledBot("random") for _ in bots], labels, one)
    if all(compiled_kind(bot) is not None for bot in bots):
        table = make_table(game, bots, labels, one)
    table.play(episode_seeds(0, 1), 0, Clock.zero(n))


def one_line(text: str) -> str:
    """``text`` on one line of bounded length, without the addresses that differ from run to run."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", " ".join(text.split()))[:400]

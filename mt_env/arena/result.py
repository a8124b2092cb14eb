"""What a tournament found: arrays by deal, and the estimates made from them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from mt_env.arena import report
from mt_env.arena.match import RANK_UNIT, SHARE_UNIT, Clock, Failure
from mt_env.arena.seating import groups, rotations
from mt_env.arena.stats import RESAMPLES, Bootstrap, Estimate
from mt_env.game import Game
from mt_env.rules_options import as_int
from mt_env.rules_yaml import write_text


@dataclass(frozen=True)
class Standing:
    """What a tournament says about one bot, or about all copies of one bot together."""

    label: str
    win_share: Estimate
    """Mean win share a game (a win shared by k counts 1/k); of copies, the mean of one."""
    fair: Estimate
    """``win_share`` as a multiple of the fair share ``1 / seats``."""
    points: Estimate
    """Mean points an episode; few are good."""
    rank: Estimate
    """Mean rank, 1 is first, ties share the mean of their places."""


@dataclass(frozen=True)
class Difference:
    """What a tournament says about two bots, paired by deal."""

    first: str
    second: str
    win_share: Estimate
    """Win share of ``first`` minus that of ``second``."""
    points: Estimate
    """Points of ``first`` minus those of ``second``; below 0 is good for ``first``."""
    ahead: Estimate
    """Share of the games in which ``first`` ranks before ``second``, level ones count half."""


@dataclass(frozen=True, eq=False)
class TournamentResult:
    """Everything a tournament found, in arrays by deal; text, JSON and tables are made from it.

    Two tournaments with equal arguments (seed included) give equal text and files, byte for byte.
    """

    bots: tuple[str, ...]
    """Labels, unique: the second ``heaviest`` is ``heaviest#2``."""
    names: tuple[str, ...]
    """Names as given, copies share one."""
    game: Game
    """The table."""
    seed: int
    """Episode ``i`` has the seed ``mix(seed, i)``, in all seatings."""
    deals: int
    """Deals that were played, void ones included."""
    deal_numbers: NDArray[np.int64]
    """int64 ``[valid]``, the deals that count, ascending."""
    game_points: NDArray[np.int64]
    """int64 ``[valid, seatings, bots]``: points of each bot in each game."""
    game_ranks: NDArray[np.int64]
    """int64 ``[valid, seatings, bots]``: ranks times 2."""
    game_shares: NDArray[np.int64]
    """int64 ``[valid, seatings, bots]``: win shares times ``SHARE_UNIT``."""
    ends: NDArray[np.int64]
    """int64 ``[valid, seatings, 2]``: rounds that somebody went out of, rounds blocked."""
    failures: tuple[Failure, ...]
    """Failures of bots, one for each void deal."""
    resamples: int = RESAMPLES
    """Bootstrap resamples behind every interval."""
    clock: Clock = field(default_factory=lambda: Clock([], []), repr=False)
    """Timings; not part of any output of this class."""

    @property
    def num_players(self) -> int:
        """Seats, which is also the number of bots and of seatings of a deal."""
        return len(self.bots)

    @property
    def valid_deals(self) -> int:
        """Deals that count: in which no bot failed."""
        return len(self.deal_numbers)

    @cached_property
    def win_shares(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: win share of each bot in each deal, mean over the seatings."""
        shares: NDArray[np.float64] = self.game_shares.sum(axis=1) / (SHARE_UNIT * self.num_players)
        return shares

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: points of each bot in each deal, mean over the seatings."""
        points: NDArray[np.float64] = self.game_points.sum(axis=1) / self.num_players
        return points

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: rank of each bot in each deal, mean over the seatings."""
        ranks: NDArray[np.float64] = self.game_ranks.sum(axis=1) / (RANK_UNIT * self.num_players)
        return ranks

    @cached_property
    def seat_shares(self) -> tuple[float, ...]:
        """Win share of each seat, whoever sat in it; how much the place at the table matters."""
        n = self.num_players
        by_seat = np.zeros(n)
        for rotation, seats in enumerate(rotations(n)):
            by_seat += self.game_shares[:, rotation, seats].sum(axis=0)
        return tuple(float(x) for x in by_seat / (max(1, self.valid_deals) * n * SHARE_UNIT))

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], int]:
        """Two bots, the lower number first -> column of ``_bootstrap`` that counts who is ahead."""
        n = self.num_players
        pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
        return {pair: 3 * n + column for column, pair in enumerate(pairs)}

    @cached_property
    def _bootstrap(self) -> Bootstrap:
        """Columns: shares, points and ranks by bot, then games ahead minus games behind by pair."""
        ranks = self.game_ranks
        columns = [part.sum(axis=1) for part in (self.game_shares, self.game_points, ranks)]
        columns += [np.sign(ranks[:, :, j] - ranks[:, :, i]).sum(axis=1)[:, None] for i, j in self._pairs]
        return Bootstrap(np.concatenate(columns, axis=1), self.seed, self.resamples)

    def _members(self, bot: str | int) -> list[int]:
        number = as_int(bot)
        if number is not None and 0 <= number < self.num_players:
            return [number]
        members = {label: [i] for i, label in enumerate(self.bots)} | groups(self.names)
        if bot in members:
            return members[str(bot)]
        raise ValueError(f"bot {bot!r}: this tournament had {', '.join(self.bots)}")

    def _standing(self, label: str, members: list[int]) -> Standing:
        n, size, boot = self.num_players, len(members), self._bootstrap
        share = boot.mean(members, SHARE_UNIT * n * size)
        points = boot.mean([n + i for i in members], n * size)
        rank = boot.mean([2 * n + i for i in members], RANK_UNIT * n * size)
        return Standing(label, share, share.scaled(n), points, rank)

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """Each bot, in the order given; empty if every deal is void."""
        if not self.valid_deals:
            return ()
        return tuple(self._standing(label, [i]) for i, label in enumerate(self.bots))

    @cached_property
    def pooled(self) -> tuple[Standing, ...]:
        """Each distinct name, copies taken together, if there are copies; else empty."""
        if not self.valid_deals or len(set(self.names)) == len(self.names):
            return ()
        return tuple(self._standing(name, members) for name, members in groups(self.names).items())

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Every two distinct names, copies taken together."""
        if not self.valid_deals:
            return ()
        names = list(groups(self.names))
        return tuple(self.difference(a, b) for i, a in enumerate(names) for b in names[i + 1 :])

    def difference(self, first: str | int, second: str | int) -> Difference:
        """Two bots compared, paired by deal.

        Args:
            first: a name, which stands for all its copies, a label such as ``heaviest#2``, or the number of
                a bot in the order given.
            second: the other.

        Raises:
            ValueError: no such bot, the same bot twice, or no deal counts.
        """
        if not self.valid_deals:
            raise ValueError("every deal is void: there is nothing to compare")
        a, b, n, boot = self._members(first), self._members(second), self.num_players, self._bootstrap
        if set(a) & set(b):
            raise ValueError(f"{first!r} and {second!r} have a bot in common; compare different ones")
        ahead = [self._pairs[i, j] for i in a for j in b if i < j]
        behind = [self._pairs[j, i] for i in a for j in b if j < i]
        games = n * len(a) * len(b)
        return Difference(
            first if isinstance(first, str) else self.bots[first],
            second if isinstance(second, str) else self.bots[second],
            boot.difference(a, SHARE_UNIT * n * len(a), b, SHARE_UNIT * n * len(b)),
            boot.difference([n + i for i in a], n * len(a), [n + j for j in b], n * len(b)),
            boot.difference(ahead, games, behind, games).scaled(0.5, 0.5),
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 over points and ends of all games that count: equal games, equal digest."""
        content = sha256()
        for array in (self.deal_numbers, self.game_points, self.ends):
            content.update(np.ascontiguousarray(array, "<i8").tobytes())
        return content.hexdigest()

    def table(self) -> str:
        """The result as text, without a newline at the end."""
        return report.table(self)

    def __str__(self) -> str:
        return self.table()

    def to_dict(self) -> dict[str, object]:
        """Settings, standings and differences as plain values for JSON (no per-deal arrays)."""
        return report.to_dict(self)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """`to_dict` as JSON text; written to ``path`` too if one is given (beside it, then renamed)."""
        return _written(report.to_json(self), path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """One line for each seat of each game that counts; written as `to_json` does."""
        return _written(report.to_csv(self), path)

    def to_jsonl(self, path: str | os.PathLike[str] | None = None) -> str:
        """One JSON object a line for each game that counts, then one for each failure."""
        return _written(report.to_jsonl(self), path)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_text(path, text)
    return text

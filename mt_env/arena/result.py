"""What a tournament found: arrays by deal, and the estimates made from them."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mt_env.arena import precision, report, stream
from mt_env.arena.match import RANK_UNIT, SHARE_UNIT, Clock, Failure
from mt_env.arena.seating import Seatings, groups, seating_table
from mt_env.arena.stats import RESAMPLES, Bootstrap, Estimate
from mt_env.arena.timing import read_timings
from mt_env.game import Game
from mt_env.rules_options import as_int
from mt_env.rules_yaml import write_text

if TYPE_CHECKING:
    from mt_env.arena.ratings import Ratings


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
    timed: bool = False
    """Whether the bot plays by the clock (``budget_ms``), so that its games need not repeat."""


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
    max_deals: int = 0
    """Deals that were asked for; fewer may have been played."""
    end: str = "deals"
    """Why no more were played: ``"deals"`` (all were), ``"until"`` (precise enough), ``"failures"`` (too many
    void deals), or ``"unfinished"`` (read from a file that is still to grow)."""
    seatings: Seatings = "rotations"
    """Which orders of the bots played each deal, see `mt_env.arena.seating.seating_table`."""
    until: float | None = None
    """Half width of the intervals of win shares that was asked for; None if none was."""
    time_limit: float | None = None
    """Seconds that a decision could take; None without a limit."""
    max_failures: int | None = None
    """Void deals after which the tournament was to stop; None if never."""
    budgets: tuple[float | None, ...] = ()
    """``budget_ms`` of each bot: milliseconds a decision of one that plays by the clock, else None."""
    weights: tuple[str | None, ...] = ()
    """SHA-256 of each bot's weights if it is a learned policy, else None."""
    sources: tuple[tuple[str, str] | None, ...] = ()
    """Name (no folders) and SHA-256 of the file with each bot's class or function; None for bots of mt_env
    and where it is unknown. Files that it imports are not covered."""
    resamples: int = RESAMPLES
    """Bootstrap resamples behind every interval."""
    clock: Clock = field(default_factory=lambda: Clock([], []), repr=False)
    """Timings; not part of any output of this class."""

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], timings: str | os.PathLike[str] | None = None
    ) -> TournamentResult:
        """Read what ``tournament(..., stream=path)`` or `to_jsonl` wrote.

        A file that is still to grow gives the deals that are in it, ``end`` is then ``"unfinished"``.

        Args:
            path: the file of games.
            timings: a file of `mt_env.arena.timing.write_timings`, for ``clock``.

        Raises:
            ValueError: it is no such file, or damaged.
            OSError: it cannot be read.
        """
        result = cls(**stream.Stored(path).fields())
        if timings is None:
            return result
        return replace(result, clock=read_timings(timings, result.bots))

    @property
    def num_players(self) -> int:
        """Seats, which is also the number of bots."""
        return len(self.bots)

    @cached_property
    def seating(self) -> NDArray[np.int64]:
        """int64 ``[seatings, seats]``: the number of the bot in each seat of each seating of a deal."""
        return seating_table(self.num_players, self.seatings)

    @property
    def num_seatings(self) -> int:
        """Games of a deal."""
        return len(self.seating)

    @property
    def games(self) -> int:
        """Games that count."""
        return self.valid_deals * self.num_seatings

    @property
    def timed(self) -> tuple[bool, ...]:
        """Whether each bot plays by the clock, so that the games need not repeat."""
        return tuple(budget is not None for budget in self.budgets) or (False,) * self.num_players

    @property
    def valid_deals(self) -> int:
        """Deals that count: in which no bot failed."""
        return len(self.deal_numbers)

    @cached_property
    def win_shares(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: win share of each bot in each deal, mean over the seatings."""
        shares: NDArray[np.float64] = self.game_shares.sum(axis=1) / (SHARE_UNIT * self.num_seatings)
        return shares

    @cached_property
    def points(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: points of each bot in each deal, mean over the seatings."""
        points: NDArray[np.float64] = self.game_points.sum(axis=1) / self.num_seatings
        return points

    @cached_property
    def ranks(self) -> NDArray[np.float64]:
        """float64 ``[valid, bots]``: rank of each bot in each deal, mean over the seatings."""
        ranks: NDArray[np.float64] = self.game_ranks.sum(axis=1) / (RANK_UNIT * self.num_seatings)
        return ranks

    @cached_property
    def seat_shares(self) -> tuple[float, ...]:
        """Win share of each seat, whoever sat in it; how much the place at the table matters."""
        by_seat = np.zeros(self.num_players)
        for seating, seats in enumerate(self.seating):
            by_seat += self.game_shares[:, seating, seats].sum(axis=0)
        return tuple(float(x) for x in by_seat / (max(1, self.games) * SHARE_UNIT))

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
        n, boot = self.num_players, self._bootstrap
        games = self.num_seatings * len(members)
        share = boot.mean(members, SHARE_UNIT * games)
        points = boot.mean([n + i for i in members], games)
        rank = boot.mean([2 * n + i for i in members], RANK_UNIT * games)
        return Standing(label, share, share.scaled(n), points, rank, any(self.timed[i] for i in members))

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
        orders = self.num_seatings
        games = orders * len(a) * len(b)
        return Difference(
            first if isinstance(first, str) else self.bots[first],
            second if isinstance(second, str) else self.bots[second],
            boot.difference(a, SHARE_UNIT * orders * len(a), b, SHARE_UNIT * orders * len(b)),
            boot.difference([n + i for i in a], orders * len(a), [n + j for j in b], orders * len(b)),
            boot.difference(ahead, games, behind, games).scaled(0.5, 0.5),
        )

    def _share_by_deal(self, bot: str | int, minus: str | int | None = None) -> tuple[NDArray[np.int64], int]:
        """Win share of a bot by deal, or a difference, as whole numbers, and what to divide them by."""
        shares, a = self.game_shares.sum(axis=1), self._members(bot)
        if minus is None:
            return shares[:, a].sum(axis=1), SHARE_UNIT * self.num_seatings * len(a)
        b = self._members(minus)
        values = shares[:, a].sum(axis=1) * len(b) - shares[:, b].sum(axis=1) * len(a)
        return values, SHARE_UNIT * self.num_seatings * len(a) * len(b)

    def deals_for(
        self, half_width: float, bot: str | int | None = None, minus: str | int | None = None
    ) -> int:
        """About how many deals a win share needs to be known to ``half_width``, by the spread seen here.

        Args:
            half_width: of the 95% interval, as 0.01 for one point of 100.
            bot: as in `difference`; None for the bot that needs most.
            minus: another one, for the difference of their win shares.

        Raises:
            ValueError: no such bot, fewer than two deals count, or ``half_width`` is not above 0.
        """
        if not half_width > 0:
            raise ValueError(f"half_width={half_width!r}: must be a number above 0, as 0.01")
        if bot is None and minus is not None:
            raise ValueError(f"minus={minus!r} without bot: name both")
        if self.valid_deals < 2:
            raise ValueError(f"{self.valid_deals} deals count: at least 2 are needed to see how they spread")
        wanted = range(self.num_players) if bot is None else (bot,)
        return max(precision.deals_needed(*self._share_by_deal(one, minus), half_width) for one in wanted)

    def widest_share(self) -> float:
        """Half the width of the widest interval of a bot's win share; NaN with fewer than two deals."""
        if self.valid_deals < 2:
            return math.nan
        return max((s.win_share.high - s.win_share.low) / 2 for s in self.standings)

    def within(self, half_width: float) -> bool:
        """Whether every bot's win share is known to ``half_width``."""
        if self.valid_deals < 2:
            return False
        # Student's interval is quickly had and much the same: resample only if there is a chance.
        each = (precision.half_width(*self._share_by_deal(i)) for i in range(self.num_players))
        return max(each) <= 1.1 * half_width and self.widest_share() <= half_width

    @cached_property
    def digest(self) -> str:
        """SHA-256 over points and ends of all games that count: equal games, equal digest."""
        return stream.games_sha256(self.deal_numbers, self.game_points, self.ends)

    def table(self, ratings: Ratings | None = None) -> str:
        """The result as text, without a newline at the end; with ``ratings`` of `mt_env.arena.rate` too."""
        return report.table(self, ratings)

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
        """Settings, then an object a deal: what ``tournament(..., stream=path)`` writes, see `load`."""
        return _written(stream.text(self), path)


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_text(path, text)
    return text

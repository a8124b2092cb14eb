"""Many games with one learner each: what the Gymnasium and the stable-baselines3 faces share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.rng import check_seed, fresh_seed, mix
from mt_env.solo import ROUND_PENALTY, MexicanTrainEnv
from mt_env.vector import kernels
from mt_env.vector.batch import Batch, check_state, rule_bot_kind
from mt_env.vector.rows import CONFIG_DTYPE, RANDOM_LEGAL, TERMINATE

HOW: Final[tuple[str, ...]] = ("", "out", "blocked", "illegal", "truncated")
"""Text of the codes in ``how``."""


class SoloBatch(Batch):
    """A `Batch` in which one seat of each game is the caller's, as in `MexicanTrainEnv`.

    Args:
        single: an environment with the settings that all games have; its opponents must be rule bots.
        num_games: how many games.
        mode: ``SAME_STEP``, ``NEXT_STEP`` or ``DISABLED``: what follows an episode.
        final: whether the observation of an episode's end is kept, as ``final_observation``.
        num_threads: as in `Batch`.

    Attributes:
        final_seat: the learner's seat in each game's last finished episode, int64 ``[N]``.
        illegal: illegal actions in the episode now played, int64 ``[N]``.
        final_illegal: those of the last finished episode.
        truncated: 1 where the last step cut an episode short, int64 ``[N]``.
        waits: 1 where the episode is over and none has followed, int64 ``[N]``.
        final_observation: ``[N, size]``, or None.
    """

    def __init__(
        self, single: MexicanTrainEnv, num_games: int, mode: int, *, final: bool = False, num_threads: int = 1
    ) -> None:
        self.single = single
        self.game = game = single.game
        config = np.zeros(1, CONFIG_DTYPE)
        config["solo"] = 1
        config["skip"] = single.skip_forced
        config["mode"] = mode
        config["final"] = final
        config["learner"] = -1 if single.fixed_seat is None else single.fixed_seat
        kinds = [rule_bot_kind(bot, "opponents") for bot in single.opponents]
        config["kinds"][0, : len(kinds)] = kinds
        config["limit"] = single.max_episode_steps or 0
        config["illegal"] = RANDOM_LEGAL if single.illegal_action == "random_legal" else TERMINATE
        penalty = single.illegal_penalty
        if penalty is not None:
            config["penalty"] = penalty
        elif single.illegal_action == "terminate":
            by_round = game.reward in ("zero_sum", "points")
            config["penalty"] = game.reward_scale * (ROUND_PENALTY if by_round else 1.0)
            config["penalty_by_round"] = by_round
        observation = np.dtype(single.observation_dtype).name
        self._set_up(num_games, config, observation, True, single.candidates, 0, num_threads)
        self.final_observation = self._final if final else None
        self._index = np.arange(self.num_games)
        self._begun = False

    def _name_columns(self) -> None:
        super()._name_columns()
        meta = self._meta
        self.final_seat: NDArray[np.int64] = meta["final_seat"]
        self.illegal: NDArray[np.int64] = meta["illegal"]
        self.final_illegal: NDArray[np.int64] = meta["final_illegal"]
        self.truncated: NDArray[np.int64] = meta["truncated"]
        self.waits: NDArray[np.int64] = meta["waits"]

    def reset_some(self, which: NDArray[np.bool_] | None, seed: int | list[int | None] | None) -> None:
        """Begin an episode in the games of ``which`` (None: all).

        Args:
            which: bool ``[N]``.
            seed: None goes on in each family (the first time families are drawn); a number s gives game i
                the family ``mix(s, i)``; a list gives each game its own, None to go on.
        """
        chosen = self._all if which is None else which
        seeds: NDArray[np.uint64] | None = None
        if isinstance(seed, (list, tuple)):
            if len(seed) != self.num_games:
                raise ValueError(f"seed: a list of {len(seed)}, must have {self.num_games} entries")
            spare = fresh_seed()
            old = [mix(spare, i) for i in range(self.num_games)]
            if self._begun:
                old = self._meta["row_seed"].tolist()
            seeds = np.array(
                [old[i] if one is None else check_seed(one) for i, one in enumerate(seed)], np.uint64
            )
            again = np.array([one is not None or not self._begun for one in seed])
            self._start(chosen & again, seeds)
            self._start(chosen & ~again, None)
        elif seed is not None or not self._begun:
            self.seed = fresh_seed() if seed is None else check_seed(seed)
            self._start(chosen, np.array([mix(self.seed, i) for i in range(self.num_games)], np.uint64))
        else:
            self._start(chosen, None)
        self._begun = True

    def get_state(self) -> dict[str, NDArray[Any]]:
        """See `Batch.get_state`."""
        return super().get_state() | {"begun": np.array(self._begun)}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """See `Batch.set_state`."""
        check_state(state, {"begun": np.array(self._begun)})
        super().set_state(state)
        self._begun = bool(state["begun"])

    def step_randomly(self) -> NDArray[np.int64]:
        """See `Batch.step_randomly`.

        Raises:
            ValueError: before the first reset.
        """
        self._check_begun()
        return super().step_randomly()

    def _check_begun(self) -> None:
        if not self._begun:
            raise ValueError("call reset() first")

    def step_solo(self, actions: Any) -> None:
        """One step; illegal actions are dealt with as ``single.illegal_action`` says.

        Raises:
            ValueError: no integer for each game, one that is no action id, or (``"raise"``) an illegal one;
                then nothing has happened.
        """
        self._check_begun()
        given = self._checked(actions)
        wrong = (given < 0) | (given >= self.game.num_actions)
        if wrong.any():
            game = int(wrong.argmax())
            most = self.game.num_actions - 1
            raise ValueError(f"action {given[game]} of game {game}: must be an action id from 0 to {most}")
        checked = self.single.illegal_action == "raise"
        if checked:
            bad = kernels.first_illegal(self._meta, self._legal, given)
            if bad >= 0:
                raise ValueError(f"game {bad}: {self._why_illegal(bad, int(given[bad]))}")
        self._run(kernels.advance, given, self._final, False, checked)

    def learner_rewards(self) -> NDArray[np.float64]:
        """What the last step paid each game's learner, float64 ``[N]``."""
        seats = np.where(self.ended == 1, self.final_seat, self.seat)
        paid: NDArray[np.float64] = self.rewards[self._index, seats]
        return paid

    def results(self, games: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Results of the last finished episodes of ``games``, for the learner: arrays by name.

        ``points``, ``points_by_seat``, ``rank``, ``win_share``, ``how`` (text), ``seat``,
        ``illegal_action`` and ``steps``, as in the info of `MexicanTrainEnv`.
        """
        seats = self.final_seat[games]
        return {
            "points": self.points[games, seats],
            "points_by_seat": self.points[games],
            "rank": self.ranks[games, seats],
            "win_share": self.win_shares[games, seats],
            "how": np.array([HOW[code] for code in self.how[games].tolist()], object),
            "seat": seats.copy(),
            "illegal_action": self.final_illegal[games],
            "steps": self.lengths[games],
        }

"""The Gymnasium vector environment: many games with one learner each, stepped by one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from mt_env.rules_options import near
from mt_env.solo import MexicanTrainEnv
from mt_env.vector.rows import DISABLED, NEXT_STEP, SAME_STEP
from mt_env.vector.solo_batch import SoloBatch
from mt_env.view import board_text

_MODES = {
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.DISABLED: DISABLED,
}


class MexicanTrainVectorEnv(VectorEnv[Any, Any, Any]):
    """`MexicanTrainEnv` times ``num_envs``, compiled: ``gymnasium.make_vec("mt_env:MexicanTrain-v0", ...)``.

    Game i plays as the single environment does after ``reset(seed=mix(s, i))`` when this one was given
    ``reset(seed=s)`` (or a list of seeds, one for each game). Opponents must be rule bots.

    **Info**: ``action_mask`` int8 ``[num_envs, num_actions]``, ``seat`` and ``illegal_action`` int64
    ``[num_envs]``. Where episodes have ended, the entries that the single environment has then, but for
    ``rounds``: ``points``, ``points_by_seat``, ``rank``, ``win_share``, ``how``; each with a mask of the
    games it holds for (``_points``, ...). With ``SAME_STEP`` they stand in ``info["final_info"]``, and
    ``info["final_obs"]`` (object array) has the last observations.

    **Autoreset**: ``NEXT_STEP`` (Gymnasium's default: the step after an end ignores the action, pays 0 and
    begins the next episode), ``SAME_STEP`` or ``DISABLED`` (``reset(options={"reset_mask": bool[num_envs]})``
    begins the next ones; stepping a game that is over is an error).

    Args:
        num_envs: how many games.
        autoreset_mode: an `AutoresetMode`, its value or name in any case.
        num_threads: chunks of games stepped at the same time.
        copy: whether observations are the caller's own arrays; False hands out the arrays that the next step
            overwrites.
        **single: everything that `MexicanTrainEnv` takes.

    Attributes:
        autoreset_mode: see above.
        single_env: an environment with the same settings, for its spaces and layout.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 -- as gymnasium has it

    def __init__(
        self,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        num_threads: int = 1,
        copy: bool = True,
        **single: Any,
    ) -> None:
        self.autoreset_mode = _mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        if single.get("render_mode") not in (None, "ansi"):
            raise ValueError(f"render_mode={single['render_mode']!r}: must be None or 'ansi'")
        self.single_env = MexicanTrainEnv(**single)
        self.render_mode = self.single_env.render_mode
        same = self.autoreset_mode == AutoresetMode.SAME_STEP
        self.batch = SoloBatch(
            self.single_env, num_envs, _MODES[self.autoreset_mode], final=same, num_threads=num_threads
        )
        self.num_envs = self.batch.num_games
        self.copy = bool(copy)
        self.encoding = self.batch.encoding
        self.single_observation_space = self.single_env.observation_space
        self.single_action_space = self.single_env.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every game, bool ``[num_envs, num_actions]``."""
        assert self.batch.mask is not None
        return self.batch.mask.astype(np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin episodes.

        Args:
            seed: see `SoloBatch.reset_some`.
            options: ``{"reset_mask": bool[num_envs]}`` begins them in these games only.

        Raises:
            ValueError: a bad seed or mask, or a mask before the first reset that leaves games out.
        """
        which = None
        if options and options.get("reset_mask") is not None:
            which = np.asarray(options["reset_mask"])
            if which.shape != (self.num_envs,) or which.dtype != np.bool_ or not which.any():
                raise ValueError(
                    f"reset_mask of shape {which.shape} and type {which.dtype}: must be bool for each of the "
                    f"{self.num_envs} games, one of them True"
                )
            if not which.all() and not self.batch._begun:
                raise ValueError("reset_mask: the first reset must take all games")
        if isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
        self.batch.reset_some(which, seed)
        return self._observation(), self._info()

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Apply the learners' actions and play to their next decisions.

        Raises:
            ValueError: see `SoloBatch.step_solo`; before the first reset; a finished game with ``DISABLED``.
        """
        batch = self.batch
        if self.autoreset_mode == AutoresetMode.DISABLED and batch.waits.any():
            over = np.flatnonzero(batch.waits).tolist()
            raise ValueError(
                f"games {over} are over: reset(options={{'reset_mask': ...}}) begins the next ones"
            )
        batch.step_solo(actions)
        ended = batch.ended == 1
        truncated = batch.truncated == 1
        info = self._info()
        if ended.any():
            self._add_results(info, ended)
        return self._observation(), batch.learner_rewards(), ended & ~truncated, truncated, info

    def _observation(self) -> Any:
        batch, single = self.batch, self.single_env
        assert batch.observation is not None and batch.mask is not None
        taken = np.array if self.copy else np.asarray
        if single.obs_mode == "flat":
            return taken(batch.observation)
        if single.obs_mode == "flat+mask":
            return np.concatenate([batch.observation, batch.mask], 1, dtype=batch.observation.dtype)
        entries = {single.observation_key: taken(batch.observation), "action_mask": taken(batch.mask)}
        if batch.candidates is not None:
            most = np.arange(batch.legal.shape[1])
            entries["candidates"] = taken(batch.candidates)
            present = most < batch.count[:, None]
            entries["candidate_actions"] = np.where(present, batch.legal, -1).astype(np.int64)
            entries["candidate_count"] = batch.count[:, None].copy()
        return {name: entries[name] for name in self.single_observation_space}  # type: ignore[attr-defined]

    def _info(self) -> dict[str, Any]:
        batch = self.batch
        assert batch.mask is not None
        everywhere = np.ones(self.num_envs, np.bool_)
        info: dict[str, Any] = {
            "action_mask": batch.mask.copy(),
            "seat": batch.seat.copy(),
            "illegal_action": batch.illegal.copy(),
        }
        return info | {f"_{name}": everywhere.copy() for name in info}

    def _add_results(self, info: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        batch = self.batch
        games = np.flatnonzero(ended)
        found: dict[str, Any] = {}
        for name, values in batch.results(games).items():
            if name == "steps":
                continue
            full = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
            full[games] = values
            found[name], found[f"_{name}"] = full, ended.copy()
        if self.autoreset_mode != AutoresetMode.SAME_STEP:
            del found["seat"], found["_seat"], found["illegal_action"], found["_illegal_action"]
            info |= found
            return
        final = batch.final_observation
        assert final is not None
        mask = np.zeros((self.num_envs, self.single_env.game.num_actions), np.int8)
        info["final_info"] = found | {"action_mask": mask, "_action_mask": ended.copy()}
        info["_final_info"] = ended.copy()
        last = np.full(self.num_envs, None, object)
        for game in games.tolist():
            last[game] = self.single_env.pack_final(final[game].copy())
        info["final_obs"], info["_final_obs"] = last, ended.copy()

    def render(self) -> tuple[str, ...] | None:
        """The tables as their learners see them, as text; None without ``render_mode="ansi"``."""
        if self.render_mode is None or not self.batch._begun:
            return None
        states, rules = self.batch._states, self.single_env.game.rules
        return tuple(
            board_text(states[i : i + 1], rules, [int(self.batch.seat[i])]) for i in range(self.num_envs)
        )

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads; also called for an environment whose arguments were refused."""
        if hasattr(self, "batch"):
            self.batch.close()


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    if isinstance(given, AutoresetMode):
        return given
    for mode in AutoresetMode:
        if isinstance(given, str) and given.lower() in (mode.name.lower(), mode.value.lower()):
            return mode
    names = [mode.name for mode in AutoresetMode]
    hint = near(given.upper(), names) if isinstance(given, str) else ""
    raise ValueError(f"autoreset_mode={given!r}: must be one of {', '.join(names)}{hint}")

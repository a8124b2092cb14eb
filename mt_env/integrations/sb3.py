"""stable-baselines3: the batch as a ``VecEnv``, with action masks for sb3-contrib's ``MaskablePPO``.

    from sb3_contrib import MaskablePPO
    from mt_env.integrations.sb3 import MexicanTrainVecEnv

    tables = MexicanTrainVecEnv(64, opponents="planner-fast", reward_scale=0.02)
    model = MaskablePPO("MlpPolicy", tables, n_steps=128, batch_size=1024)
    model.learn(100_000)

Needs the extra ``learn``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from mt_env.rng import check_seed
from mt_env.solo import MexicanTrainEnv
from mt_env.vector.batch import check_state
from mt_env.vector.gym_vec import MexicanTrainVectorEnv
from mt_env.vector.solo_batch import SoloBatch

_COLUMNS: Final[dict[str, str]] = {
    "seat": "seat",
    "base_seed": "row_seed",
    "episode_index": "episode",
    "episode_seed": "episode_seed",
}
"""Attributes of `MexicanTrainEnv` that differ between tables, and where a batch has them."""


class MexicanTrainVecEnv(VecEnv):
    """`MexicanTrainEnv` times ``num_envs`` for stable-baselines3, stepped by one compiled call.

    Table i plays as the plain environment does after ``reset(seed=mix(s, i))``, s the seed of `seed`.
    Observations are new arrays in every step (the library keeps them until after the next one). The info of
    a table is empty but at the end of an episode, when it has ``episode`` (``r``, ``l``, ``t``, as from
    ``Monitor``), ``terminal_observation``, ``TimeLimit.truncated`` and the results that `MexicanTrainEnv`
    gives: ``points``, ``points_by_seat``, ``rank``, ``win_share``, ``how``, ``seat``, ``illegal_action``.

    Args:
        num_envs: how many tables.
        num_threads: chunks of tables stepped at the same time.
        **single: everything that `MexicanTrainEnv` takes; opponents must be rule bots.
    """

    def __init__(self, num_envs: int = 1, *, num_threads: int = 1, **single: Any) -> None:
        self._env = MexicanTrainVectorEnv(
            num_envs, autoreset_mode="same_step", num_threads=num_threads, copy=True, **single
        )
        self.batch: SoloBatch = self._env.batch
        self.single_env: MexicanTrainEnv = self._env.single_env
        self._family: int | None = None
        self._returns = np.zeros(num_envs)
        self._begun = time.time()
        self._waiting: NDArray[np.int64] | None = None
        super().__init__(num_envs, self.single_env.observation_space, self.single_env.action_space)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Make the next `reset` begin the family ``seed`` (None: one from the operating system).

        Returns:
            ``seed`` for each table; the tables' own families are ``mix(seed, i)``.
        """
        self._family = None if seed is None else check_seed(seed)
        return [seed] * self.num_envs

    def reset(self) -> Any:
        """Begin an episode at every table; returns the observations."""
        self.batch.reset_some(None, self._family)
        self._family = None
        self._returns[:] = 0.0
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self._env._observation()

    def step_async(self, actions: NDArray[np.integer[Any]]) -> None:
        """Keep the actions for `step_wait`."""
        self._waiting = np.asarray(actions)

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Apply them.

        Returns:
            Observations, rewards float32 ``[n]``, dones bool ``[n]``, infos: all of them the caller's own.

        Raises:
            ValueError: see `SoloBatch.step_solo`.
        """
        batch = self.batch
        batch.step_solo(self._waiting)
        rewards = batch.learner_rewards()
        self._returns += rewards
        dones = batch.ended == 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            self._describe_ends(np.flatnonzero(dones), infos)
        return self._env._observation(), rewards.astype(np.float32), dones, infos

    def _describe_ends(self, games: NDArray[np.int64], infos: list[dict[str, Any]]) -> None:
        batch = self.batch
        final = batch.final_observation
        assert final is not None
        results = batch.results(games)
        elapsed = round(time.time() - self._begun, 6)
        for row, game in enumerate(games.tolist()):
            info = infos[game]
            for name, values in results.items():
                if name != "steps":
                    value = values[row]
                    info[name] = value if isinstance(value, (np.ndarray, str)) else value.item()
            info["TimeLimit.truncated"] = bool(batch.truncated[game])
            info["terminal_observation"] = self.single_env.pack_final(final[game].copy())
            info["episode"] = {
                "r": float(self._returns[game]),
                "l": int(results["steps"][row]),
                "t": elapsed,
            }
        self._returns[games] = 0.0

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions of every table, bool ``[n, num_actions]``."""
        return self._env.action_masks()

    def close(self) -> None:
        """End the threads."""
        self._env.close()

    # --- going on later -----------------------------------------------------------------------------------

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that what follows depends on, as plain arrays by name: what a checkpoint must hold.

        The observations last returned are not in it; learners keep those.
        """
        family = [] if self._family is None else [self._family]
        own = {"returns": self._returns.copy(), "family": np.array(family, np.uint64)}
        return self.batch.get_state() | own

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on where `get_state` was called, bit for bit; tables must have been made alike.

        Raises:
            ValueError: see `Batch.set_state`.
        """
        family = np.zeros(min(1, np.size(state.get("family", ()))), np.uint64)  # none, or one
        check_state(state, {"returns": self._returns, "family": family})
        self.batch.set_state(state)
        self._returns[:] = state["returns"]
        self._family = int(state["family"][0]) if len(state["family"]) else None

    # --- what the library asks for ------------------------------------------------------------------------

    def has_attr(self, attr_name: str) -> bool:
        """Whether the tables have the attribute; ``action_masks`` says that masks are to be had."""
        return hasattr(self.single_env, attr_name)

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of each table asked for.

        ``seat``, ``base_seed``, ``episode_index`` and ``episode_seed`` are those of its present episode and
        ``action_masks`` gives its mask; all else is a setting, which the tables share.

        Raises:
            AttributeError: `MexicanTrainEnv` has no such attribute.
        """
        chosen = list(self._chosen(indices))
        if attr_name == "action_masks":
            return [partial(self._mask_of, i) for i in chosen]
        column = _COLUMNS.get(attr_name)
        if column is not None:
            values = self.batch._meta[column].tolist()
            return [values[i] - (attr_name == "episode_index") for i in chosen]
        return [getattr(self.single_env, attr_name) for _ in chosen]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refused: the tables share one setting, fixed when they are made.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name} cannot be set: make new tables with other settings")

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """``action_masks`` or, with ``render_mode="ansi"``, ``render`` of each table asked for.

        Raises:
            AttributeError: another method; the tables are no objects of their own.
        """
        if method_name == "action_masks":
            found: list[Any] = list(self.action_masks())
        elif method_name == "render":
            found = list(self._env.render() or [None] * self.num_envs)
        else:
            raise AttributeError(
                f"{method_name}: only action_masks and render can be called on the tables of a batch"
            )
        return found if indices is None else [found[i] for i in self._chosen(indices)]

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """Refused but for empty ones: tables of a batch begin episodes by seed alone.

        Raises:
            ValueError: there are options.
        """
        if any(options) if isinstance(options, list) else options:
            raise ValueError(f"options={options!r}: must be empty; seed() chooses what the tables deal")
        super().set_options(options)

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Whether tables are wrapped: none is. Their infos have what ``Monitor`` would add."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor for _ in self._chosen(indices)]

    def get_images(self) -> Sequence[None]:
        """No pictures."""
        return [None] * self.num_envs

    def _mask_of(self, i: int) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.action_masks()[i]
        return mask

    def _chosen(self, indices: int | Iterable[int] | None) -> Iterable[int]:
        return self._get_indices(indices)  # type: ignore[no-any-return]

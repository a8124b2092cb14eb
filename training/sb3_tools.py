"""stable-baselines3 around our tables: tables with any bots, evaluation on fixed deals, log, checkpoints."""

from __future__ import annotations

import json
import math
import pickle
import random
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import run_folder
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import DummyVecEnv

from mt_env.bots import compiled_kind
from mt_env.integrations.sb3 import MexicanTrainVecEnv
from mt_env.rng import mix
from mt_env.solo import MexicanTrainEnv

RNG, LEARNER, REST = "rng", "learner.zip", "rest.pkl"
"""Parts of a checkpoint."""


class Tables(DummyVecEnv):
    """Plain environments side by side: the games of `MexicanTrainVecEnv`, with any bots, but slow.

    Unlike the library's own it is seeded as a family and makes no deep copies of every info.
    """

    def seed(self, seed: int | None = None) -> list[int]:
        """Table ``i`` gets ``mix(seed, i)``: seeds that follow each other share no deals."""
        assert seed is not None
        self._seeds = [mix(seed, i) for i in range(self.num_envs)]
        return self._seeds

    def step_wait(self) -> Any:
        """As the library does it; an environment's infos are new ones in every step."""
        infos: list[dict[str, Any]] = []
        for i, env in enumerate(self.envs):
            obs, self.buf_rews[i], terminated, truncated, info = env.step(self.actions[i])
            self.buf_dones[i] = terminated or truncated
            info["TimeLimit.truncated"] = truncated and not terminated
            if self.buf_dones[i]:
                info["terminal_observation"] = obs
                obs, self.reset_infos[i] = env.reset()
            self._save_obs(i, obs)
            infos.append(info)
        self.buf_infos = infos
        return self._obs_from_buf(), self.buf_rews.copy(), self.buf_dones.copy(), infos

    def get_state(self) -> dict[str, Any]:
        """All that what follows depends on: the tables themselves, to be pickled."""
        return {"envs": self.envs}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on with the tables that `get_state` gave."""
        self.envs = state["envs"]


AnyTables = Tables | MexicanTrainVecEnv
"""Tables to learn at."""


def make_tables(count: int, single: Mapping[str, Any]) -> AnyTables:
    """``count`` tables with the settings ``single`` of a `MexicanTrainEnv`.

    Compiled if all opponents are rule bots, else plain ones, with the same games.
    """
    if all(compiled_kind(bot) is not None for bot in MexicanTrainEnv(**single).opponents):
        return MexicanTrainVecEnv(count, **single)
    return Tables([lambda: MexicanTrainEnv(**single)] * count)


def warm_up(single: Mapping[str, Any]) -> None:
    """Have the kernels compiled or loaded before the clock runs, at a table of its own."""
    tables = make_tables(1, single)
    tables.seed(0)
    tables.reset()
    tables.step(np.argmax(tables.env_method("action_masks"), 1))


def evaluate(policy: Any, tables: AnyTables, deals: int, seed: int, masked: bool = True) -> dict[str, float]:
    """Play ``deals`` episodes, always the same ones, the likeliest action each time.

    Table i plays the first episodes of the family ``mix(seed, i)``. How many is fixed beforehand: whichever
    are over first would be the short ones.

    Args:
        policy: of stable-baselines3.
        tables: begun anew; several episodes each.
        deals: how many episodes, at least the number of tables.
        seed: of the deals.
        masked: whether the policy is given action masks.

    Returns:
        ``win_share`` (mean) with its standard error ``win_share_se``, mean ``points`` and ``rank``.
    """
    count = tables.num_envs
    left = [deals // count + (i < deals % count) for i in range(count)]
    results: list[dict[str, Any]] = []
    tables.seed(seed)
    obs = tables.reset()
    while len(results) < deals:
        masks = np.stack(tables.env_method("action_masks")) if masked else None
        actions, _ = policy.predict(obs, action_masks=masks, deterministic=True)
        obs, _, dones, infos = tables.step(actions)
        for i in np.flatnonzero(dones):
            if left[i]:
                left[i] -= 1
                results.append(infos[i])
    shares = np.array([info["win_share"] for info in results])
    return {
        "win_share": float(shares.mean()),
        "win_share_se": float(shares.std() / np.sqrt(deals)),
        "points": float(np.mean([info["points"] for info in results])),
        "rank": float(np.mean([info["rank"] for info in results])),
    }


class JsonLines(KVWriter):
    """Metrics as one JSON object a line, appended."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", encoding="utf-8")

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:
        """Append a line."""
        values = {
            key: round(float(v), 6)
            for key, v in sorted(key_values.items())
            if isinstance(v, (int, float, np.number)) and math.isfinite(v)
        }
        if values:
            self.file.write(json.dumps({"step": step, **values}) + "\n")
            self.file.flush()

    def close(self) -> None:
        """Close the file."""
        self.file.close()


class Log(Logger):
    """The library's logger, with its ``train/`` called ``learn/``: a train is a row of tiles."""

    def record(self, key: str, value: Any, exclude: Any = None) -> None:
        """Note a value for the next line."""
        if key.startswith("train/"):
            key = "learn/" + key.removeprefix("train/")
        super().record(key, value, exclude)


def make_log(out: Path, tensorboard: bool) -> Log:
    """The writers of a run; TensorBoard's if it is wanted and installed."""
    writers: list[KVWriter] = [JsonLines(out / run_folder.METRICS)]
    if tensorboard:
        try:
            writers.append(TensorBoardOutputFormat(str(out / "tensorboard")))
        except (ImportError, AssertionError):
            say("TensorBoard is not installed: metrics go to metrics.jsonl only")
    return Log(str(out), writers)


def say(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr, flush=True)


def save_checkpoint(model: MaskablePPO, out: Path, keep: int, more: Any = None) -> None:
    """Write ``checkpoints/STEP``, with ``more`` in it, and drop all but the newest ``keep``."""

    def fill(folder: Path) -> None:
        model.save(folder / LEARNER)
        rest = {
            RNG: (random.getstate(), np.random.get_state(), th.get_rng_state()),
            "tables": model.env.get_state(),  # type: ignore[union-attr]
            "last": (model._last_obs, model._last_episode_starts),
            "more": more,
        }
        (folder / REST).write_bytes(pickle.dumps(rest))

    folder = out / "checkpoints"
    run_folder.write_folder(folder / f"{model.num_timesteps:012d}", fill)
    for old in checkpoints(out)[:-keep]:
        shutil.rmtree(old)


def checkpoints(out: Path) -> list[Path]:
    """The checkpoints of a run, oldest first."""
    return sorted(path for path in (out / "checkpoints").glob("[0-9]*") if (path / REST).is_file())


def load_checkpoint(folder: Path, tables: AnyTables, device: str) -> tuple[MaskablePPO, Any]:
    """The learner as it stood, its generators and unfinished episodes with it, and ``more``.

    The files are pickles, made by `save_checkpoint`: load your own ones only.

    Raises:
        ValueError: another version wrote it, or one with other settings; the message says what differs.
    """
    model = MaskablePPO.load(folder / LEARNER, env=tables, device=device, force_reset=False)
    rest = pickle.loads((folder / REST).read_bytes())
    try:
        tables.set_state(rest["tables"])
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{folder}: is of another version of mt_env or of other settings, which alone can go on with it "
            f"({error})"
        ) from None
    model._last_obs, model._last_episode_starts = rest["last"]
    python_state, numpy_state, torch_state = rest[RNG]
    random.setstate(python_state)
    np.random.set_state(numpy_state)
    th.set_rng_state(torch_state)
    return model, rest["more"]

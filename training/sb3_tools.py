"""stable-baselines3 around our tables: vector environment, evaluation on fixed deals, log, checkpoints."""

from __future__ import annotations

import json
import math
import pickle
import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import run_folder
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from stable_baselines3.common.vec_env import DummyVecEnv

from mt_env.rng import mix
from mt_env.solo import MexicanTrainEnv

RNG, LEARNER, REST = "rng", "learner.zip", "rest.pkl"
"""Parts of a checkpoint."""


class Tables(DummyVecEnv):
    """The library's vector environment, seeded as a family and without its deep copies of every info."""

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


def stacked(seen: Sequence[Any]) -> Any:
    """Observations of several tables as one batch."""
    if isinstance(seen[0], dict):
        return {key: np.stack([one[key] for one in seen]) for key in seen[0]}
    return np.stack(seen)


def evaluate(policy: Any, envs: Sequence[MexicanTrainEnv], deals: int, seed: int) -> dict[str, float]:
    """Play episodes ``mix(seed, 0..deals - 1)``, the likeliest action each time.

    Returns:
        ``win_share`` (mean) with its standard error ``win_share_se``, mean ``points`` and ``rank``.
    """
    waiting = list(range(deals))[::-1]
    results: list[dict[str, Any]] = []
    playing: dict[int, Any] = {}  # number of an environment -> what its learner sees

    def begin(i: int) -> None:
        playing.pop(i, None)
        if waiting:
            playing[i] = envs[i].reset(options={"episode_seed": mix(seed, waiting.pop())})[0]

    for i in range(len(envs)):
        begin(i)
    while playing:
        numbers = list(playing)
        obs = stacked(list(playing.values()))
        masks = np.stack([envs[i].action_masks() for i in numbers])
        actions, _ = policy.predict(obs, action_masks=masks, deterministic=True)
        for i, action in zip(numbers, actions, strict=True):
            playing[i], _, terminated, truncated, info = envs[i].step(action)
            if terminated or truncated:
                results.append(info)
                begin(i)
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
            "envs": model.env.envs,  # type: ignore[union-attr]
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


def load_checkpoint(folder: Path, envs: Tables, device: str) -> tuple[MaskablePPO, Any]:
    """The learner as it stood, its generators and unfinished episodes with it, and ``more``.

    The files are pickles, made by `save_checkpoint`: load your own ones only.
    """
    model = MaskablePPO.load(folder / LEARNER, env=envs, device=device, force_reset=False)
    rest = pickle.loads((folder / REST).read_bytes())
    envs.envs = rest["envs"]
    model._last_obs, model._last_episode_starts = rest["last"]
    python_state, numpy_state, torch_state = rest[RNG]
    random.setstate(python_state)
    np.random.set_state(numpy_state)
    th.set_rng_state(torch_state)
    return model, rest["more"]

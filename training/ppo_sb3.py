"""Masked PPO (sb3-contrib) for one seat, against bots in the others.

    python training/ppo_sb3.py --config configs/training/ppo_sb3.yaml --seed 1 --out runs/a
    python training/ppo_sb3.py --resume runs/a --total-steps 400000

The run folder holds the config, the metrics, checkpoints and ``model/``, which ``policy:runs/a`` plays.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import run_folder
import torch as th
import tyro
from nets import CandidateBuffer, CandidatePolicy, FastMaskablePolicy, layers_of
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_tools import (
    AnyTables,
    checkpoints,
    evaluate,
    load_checkpoint,
    make_log,
    make_tables,
    save_checkpoint,
    say,
    warm_up,
)
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import LinearSchedule
from torch import nn

from mt_env.bots.policy import ENVIRONMENT, save_model
from mt_env.solo import MexicanTrainEnv

EPISODES = 400
"""Episodes that the running means of the progress line and the log look back on."""
EVAL_TABLES = 40
"""Tables that an evaluation plays at once."""


@dataclass(frozen=True)
class EnvConfig:
    """The tables that are learned at."""

    num_players: int = 4
    """Seats, 2 to 14; the learner holds one, drawn for each episode."""
    rules: str = "spruce"
    """Rule set: a preset, text with changes such as 'spruce;open_order=any', or a YAML file."""
    opponents: tuple[str, ...] = ("planner-fast",)
    """Bots in the other seats: one name for all of them, or one for each, clockwise from the learner."""
    episode: Literal["round", "match"] = "round"
    """What an episode is."""
    engine: int | Literal["random"] = "random"
    """Engine of single rounds."""
    reward: Literal["zero_sum", "points", "win", "rank"] = "zero_sum"
    """What is paid, see docs/env.md."""
    reward_scale: float = 0.02
    """Multiplies the rewards; values near 1 suit the critic (a round's points spread by about 25)."""
    tables: int = 64
    """Tables played side by side."""


@dataclass(frozen=True)
class PpoConfig:
    """The algorithm; names as in stable-baselines3."""

    policy: Literal["candidates", "flat", "stock"] = "candidates"
    """candidates: a small network scores each legal action's row. flat: an MLP from the flat observation to
    all action ids. stock: the same with the library's own policy class, slower."""
    policy_layers: tuple[int, ...] = (64, 64)
    """Hidden layers of the actor."""
    value_layers: tuple[int, ...] = (128, 64)
    """Hidden layers of the critic."""
    n_steps: int = 32
    """Steps of each table in a rollout."""
    batch_size: int = 512
    """Steps in a minibatch; must divide tables * n_steps."""
    n_epochs: int = 4
    """Passes over a rollout."""
    learning_rate: float = 2e-3
    """Step size of Adam."""
    lr_schedule: Literal["constant", "linear"] = "linear"
    """constant, or linear: falls to 0 at total_steps."""
    gamma: float = 1.0
    """Discount; episodes are short, so 1 is right."""
    gae_lambda: float = 0.95
    """Of the advantage estimate."""
    clip_range: float = 0.2
    """How far a probability may move in one update."""
    ent_coef: float = 0.01
    """Weight of the entropy bonus."""
    vf_coef: float = 0.5
    """Weight of the critic's loss."""
    max_grad_norm: float = 0.5
    """Longer gradients are cut to this length."""
    target_kl: float | None = None
    """An update stops early beyond 1.5 times this divergence."""


@dataclass(frozen=True)
class RunConfig:
    """How long, where to, and what is written."""

    total_steps: int = 200_000
    """Decisions of the learner; rounded up to whole rollouts."""
    seed: int = 1
    """Of networks, sampling and deals. Equal seed, versions and machine: equal weights, bit for bit."""
    out: str = "runs/ppo_sb3"
    """Run folder."""
    overwrite: bool = False
    """Replace an earlier run in that folder."""
    threads: int = 1
    """Threads of torch; more make networks of this size slower, see docs/training.md."""
    device: str = "cpu"
    """Of torch."""
    eval_every: int = 50_000
    """Steps between evaluations, 0 for none. They change nothing in what is learned."""
    eval_opponents: tuple[str, ...] = ("random", "planner")
    """An evaluation is played against each of these in all other seats, without sampling."""
    eval_deals: int = 400
    """Episodes against each, always the same deals."""
    eval_seed: int = 999
    """Of those deals."""
    checkpoint_every: int = 50_000
    """Steps between checkpoints, 0 for one at the end only."""
    keep_checkpoints: int = 2
    """The newest that are kept."""
    tensorboard: bool = True
    """Write TensorBoard files too, if it is installed."""
    progress_seconds: float = 5.0
    """Seconds between progress lines on stderr, 0 for none."""


@dataclass(frozen=True)
class Config:
    """Masked PPO (sb3-contrib) against bots. --config FILE reads a YAML file first; --resume RUN goes on."""

    env: EnvConfig = field(default_factory=EnvConfig)
    ppo: PpoConfig = field(default_factory=PpoConfig)
    run: RunConfig = field(default_factory=RunConfig)


MAY_CHANGE = (
    "total_steps", "out", "overwrite", "threads", "eval_every", "eval_opponents", "eval_deals", "eval_seed",
    "checkpoint_every", "keep_checkpoints", "tensorboard", "progress_seconds",
)  # fmt: skip
"""Fields that a resumed run may be given anew."""


def check(config: Config) -> None:
    """Refuse what would only fail later.

    Raises:
        ValueError: the message names the field.
    """
    env, ppo, run = config.env, config.ppo, config.run
    steps = env.tables * ppo.n_steps
    for name, value in [
        ("tables", env.tables), ("n_steps", ppo.n_steps), ("batch_size", ppo.batch_size),
        ("n_epochs", ppo.n_epochs), ("total_steps", run.total_steps), ("threads", run.threads),
        ("keep_checkpoints", run.keep_checkpoints), ("eval_deals", run.eval_deals),
        *(("policy_layers", size) for size in ppo.policy_layers),
        *(("value_layers", size) for size in ppo.value_layers),
    ]:  # fmt: skip
        if value < 1:
            raise ValueError(f"{name}={value}: must be at least 1")
    if not 0 <= run.seed < 2**32:
        raise ValueError(f"seed={run.seed}: must be from 0 to 2**32 - 1, NumPy takes no larger ones")
    if steps < 2 or steps % ppo.batch_size:
        raise ValueError(f"batch_size={ppo.batch_size}: must divide tables * n_steps = {steps}")


# --- tables -----------------------------------------------------------------------------------------------


def settings(config: EnvConfig, policy: str, opponents: Sequence[str] | None = None) -> dict[str, Any]:
    """What `MexicanTrainEnv` is made with, with other ``opponents`` if given."""
    bots = list(config.opponents if opponents is None else opponents)
    return {
        "num_players": config.num_players,
        "rules": config.rules,
        "opponents": bots[0] if len(bots) == 1 else bots,
        "episode": config.episode,
        "engine": config.engine,
        "reward": config.reward,
        "reward_scale": config.reward_scale,
        "obs_mode": "dict" if policy == "candidates" else "flat",
        "candidates": policy == "candidates",
    }


def export(model: MaskablePPO, config: Config, out: Path) -> Path:
    """Write ``model/``: what `mt_env.bots.policy` plays."""
    kind, activation, layers = layers_of(model.policy)
    game = MexicanTrainEnv(**settings(config.env, config.ppo.policy)).game
    learned = {
        "algorithm": f"MaskablePPO, policy {config.ppo.policy}",
        "seed": config.run.seed,
        "steps": model.num_timesteps,
        "opponents": list(config.env.opponents),
        "reward": config.env.reward,
        "commit": run_folder.commit(),
    }
    return save_model(out / "model", kind, layers, activation, game, learned)


class Watch(BaseCallback):
    """Everything around learning: metrics of episodes, progress, evaluations, checkpoints."""

    def __init__(self, config: Config, out: Path, first_step: int, seen: Any = None) -> None:
        super().__init__()
        self.config, self.out = config, out
        self.first = first_step
        self.begun = self.said = time.monotonic()
        self.outside = 0.0
        """Seconds spent on evaluations and checkpoints, left out of the speed."""
        self.recent: deque[tuple[float, float, float, float]] = deque(maxlen=EPISODES)
        self.paid = np.zeros(config.env.tables)
        if seen is not None:
            self.recent, self.paid = seen
        self.tables: dict[str, AnyTables] = {}
        """Those of evaluations, by the bot in the other seats."""
        self.done = {"eval": first_step, "checkpoint": first_step}

    def _on_step(self) -> bool:
        self.paid += self.locals["rewards"]
        for i in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][i]
            self.recent.append((info["win_share"], self.paid[i], info["points"], info["rank"]))
            self.paid[i] = 0.0
        wait = self.config.run.progress_seconds
        if wait and time.monotonic() - self.said >= wait:
            self.progress()
        return True

    def _on_rollout_start(self) -> None:
        """After an update, which is when a checkpoint can be gone on from exactly."""
        run, step = self.config.run, self.num_timesteps
        begun = time.monotonic()
        if self.due("eval", run.eval_every):  # first: a run gone on with does not make up for it
            self.evaluate(step)
        if self.due("checkpoint", run.checkpoint_every):
            self.checkpoint()
        self.outside += time.monotonic() - begun

    def _on_rollout_end(self) -> None:
        if self.recent:
            for name, value in zip(
                ("win_share", "reward", "points", "rank"), np.mean(self.recent, 0), strict=True
            ):
                self.logger.record(f"episodes/{name}", float(value))
        self.logger.record("time/steps_per_second", self.speed())

    def due(self, what: str, every: int) -> bool:
        """Whether a multiple of ``every`` steps has gone by since the last time."""
        step = self.num_timesteps
        if not every or step // every == self.done[what] // every:
            return False
        self.done[what] = step
        return True

    def speed(self) -> float:
        """Steps a second of this process so far."""
        return (self.num_timesteps - self.first) / max(1e-9, time.monotonic() - self.begun - self.outside)

    def checkpoint(self) -> None:
        """Write a checkpoint."""
        save_checkpoint(self.model, self.out, self.config.run.keep_checkpoints, (self.recent, self.paid))

    def progress(self) -> None:
        """A progress line on stderr."""
        self.said = time.monotonic()
        total, speed = self.config.run.total_steps, self.speed()
        left = round(max(0, total - self.num_timesteps) / max(speed, 1e-9))
        if not self.recent:
            return
        share, paid = np.mean(self.recent, 0)[:2]
        say(
            f"step {self.num_timesteps:>9,} of {total:,}  {speed:>6,.0f} steps/s  left {left // 60}:"
            f"{left % 60:02d}  last {len(self.recent)} episodes: wins {share:.1%}, reward {paid:+.3f}"
        )

    def evaluate(self, step: int) -> None:
        """Play the fixed deals against each of the named bots and log the results."""
        env, run, kind = self.config.env, self.config.run, self.config.ppo.policy
        for bot in run.eval_opponents:
            if bot not in self.tables:
                count = min(EVAL_TABLES, run.eval_deals)
                self.tables[bot] = make_tables(count, settings(env, kind, [bot]))
            found = evaluate(
                self.model.policy, self.tables[bot], run.eval_deals, run.eval_seed, kind != "candidates"
            )
            for name, value in found.items():
                self.logger.record(f"eval/{bot}/{name}", value)
            if run.progress_seconds:
                share, error, points = found["win_share"], 1.96 * found["win_share_se"], found["points"]
                say(f"step {step:>9,}: against {bot}: wins {share:.1%} +-{error:.1%}, points {points:.1f}")
        self.logger.dump(step)


# --- the run ----------------------------------------------------------------------------------------------


def new_learner(config: Config, tables: AnyTables) -> MaskablePPO:
    """A learner with fresh networks."""
    ppo = config.ppo
    if ppo.policy == "candidates":
        policy: type[MaskableActorCriticPolicy] = CandidatePolicy
        shape: dict[str, Any] = {"row_layers": ppo.policy_layers, "value_layers": ppo.value_layers}
    else:
        policy = FastMaskablePolicy if ppo.policy == "flat" else MaskableActorCriticPolicy
        shape = {
            "net_arch": {"pi": list(ppo.policy_layers), "vf": list(ppo.value_layers)},
            "activation_fn": nn.Tanh,
        }
    shape["optimizer_kwargs"] = {"eps": 1e-5, "fused": True}  # the library's Adam, in one call
    rate = LinearSchedule(ppo.learning_rate, 0.0, 1.0) if ppo.lr_schedule == "linear" else ppo.learning_rate
    return MaskablePPO(
        policy,
        tables,
        learning_rate=rate,
        n_steps=ppo.n_steps,
        batch_size=ppo.batch_size,
        n_epochs=ppo.n_epochs,
        gamma=ppo.gamma,
        gae_lambda=ppo.gae_lambda,
        clip_range=ppo.clip_range,
        ent_coef=ppo.ent_coef,
        vf_coef=ppo.vf_coef,
        max_grad_norm=ppo.max_grad_norm,
        target_kl=ppo.target_kl,
        rollout_buffer_class=CandidateBuffer if ppo.policy == "candidates" else None,
        policy_kwargs=shape,
        seed=config.run.seed,
        device=config.run.device,
    )


def run(config: Config, argv: Sequence[str] = (), resume: bool = False) -> Path:
    """Learn, or go on from the newest checkpoint in ``config.run.out``; returns the folder of the model.

    Raises:
        ValueError: a bad config, a folder that is in use, or no checkpoint to go on from.
    """
    check(config)
    out, total = Path(config.run.out), config.run.total_steps
    th.set_num_threads(config.run.threads)
    single = settings(config.env, config.ppo.policy)
    tables = make_tables(config.env.tables, single)
    if resume:
        if not checkpoints(out):
            raise ValueError(f"{out}: has no checkpoint to go on from")
        model, seen = load_checkpoint(checkpoints(out)[-1], tables, config.run.device)
        run_folder.cut_metrics(out, model.num_timesteps)
    else:
        run_folder.open_run(out, config.run.overwrite)
        model, seen = new_learner(config, tables), None
    warm_up(single)
    run_folder.write_config(out, replace(config, run=replace(config.run, overwrite=False)))
    game = tables.get_attr("game", 0)[0]
    rules = game.rules.rules.to_text()
    facts = {
        "environment": {"id": ENVIRONMENT, "rules": rules, "num_players": game.num_players},
        "seed": config.run.seed,
        "first_step": model.num_timesteps,
        "torch_threads": th.get_num_threads(),
        "device": str(model.device),
    }
    run_folder.write_provenance(out, argv, facts)
    log = make_log(out, config.run.tensorboard)
    model.set_logger(log)
    watch = Watch(config, out, model.num_timesteps, seen)
    say(
        f"{out}: {config.ppo.policy} policy, {game.num_players} seats, {rules}, against "
        f"{', '.join(config.env.opponents)}; seed {config.run.seed}, steps {model.num_timesteps:,} to "
        f"{total:,}, {th.get_num_threads()} torch thread(s) on {model.device}"
    )
    if model.num_timesteps < total:
        masked = config.ppo.policy != "candidates"  # there the rows are the mask
        model.learn(total - model.num_timesteps, watch, reset_num_timesteps=False, use_masking=masked)
        if config.run.progress_seconds:
            watch.progress()
        watch.checkpoint()
    else:
        watch.init_callback(model)
        say(f"{out}: already at step {model.num_timesteps:,}; give a larger --total-steps to go on")
    if config.run.eval_every and watch.done["eval"] != model.num_timesteps:
        watch.num_timesteps = model.num_timesteps
        watch.evaluate(model.num_timesteps)
    log.dump(model.num_timesteps)
    log.close()
    tables.close()
    folder = export(model, config, out)
    say(f"{folder}: play it as policy:{out}")
    return folder


def parse(argv: Sequence[str]) -> tuple[Config, bool]:
    """The config of a command line, and whether a run is gone on with.

    Raises:
        ValueError: a config file or a combination of options is not allowed.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--config")
    first.add_argument("--resume")
    chosen, rest = first.parse_known_args(argv)
    if chosen.config and chosen.resume:
        raise ValueError("--config and --resume: a resumed run has its config; give one of them")
    config = Config()
    if chosen.resume:
        config = run_folder.read_config(Config, Path(chosen.resume) / run_folder.CONFIG)
        config = replace(config, run=replace(config.run, out=chosen.resume))
    elif chosen.config:
        config = run_folder.read_config(Config, chosen.config)
    given = tyro.cli(
        Config, default=config, args=rest, prog="ppo_sb3.py", config=(tyro.conf.OmitArgPrefixes,)
    )
    if chosen.resume:
        changed = run_folder.changes(config, given, MAY_CHANGE)
        if given.run.out != chosen.resume:
            changed.append(f"out: {chosen.resume} -> {given.run.out}")
        if changed:
            raise ValueError(
                f"--resume {chosen.resume}: the run cannot go on with another {'; '.join(changed)}"
            )
    return given, bool(chosen.resume)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (2: a wrong argument, 130: interrupted)."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        config, resume = parse(argv)
        run(config, argv, resume)
    except (ValueError, OSError) as error:
        say(f"ppo_sb3.py: error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; --resume RUN goes on from the newest checkpoint")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

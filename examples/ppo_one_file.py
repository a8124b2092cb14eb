"""Masked PPO in one file, top to bottom, on the Gymnasium vector environment.

python examples/ppo_one_file.py
python examples/ppo_one_file.py --opponents planner-fast --total-steps 1000000

The first command (seed 1) ends with 45.1% wins in 2000 rounds against three random bots; random play wins
23.8% of the same deals: +21.3% +-2.8%; with --seed 2 and 3 +17.0% and +15.4%. It takes about a minute of
one core. This is the plain way, a network from the flat vector to all actions; scoring candidate rows learns
faster (examples/selfplay_batch.py, docs/training.md).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, fields
from typing import Any

import gymnasium
import numpy as np
import torch
from torch import nn


@dataclass
class Args:
    """Each field is an option of the command line."""

    opponents: str = "random"
    rules: str = "spruce"
    num_players: int = 4
    seed: int = 1
    total_steps: int = 200_000
    num_envs: int = 64
    num_steps: int = 64  # of each table between two updates
    learning_rate: float = 1e-3
    gae_lambda: float = 0.95  # gamma is 1: episodes are short, and only their end pays
    epochs: int = 3
    minibatches: int = 4
    clip: float = 0.2
    entropy: float = 0.01
    hidden: int = 128
    eval_games: int = 2000


def make(args: Args, num_envs: int) -> Any:
    """Tables with one learner each; a step is a decision, a round pays about -1 to 1."""
    return gymnasium.make_vec(
        "mt_env:MexicanTrain-v0",
        num_envs=num_envs,
        num_players=args.num_players,
        rules=args.rules,
        opponents=args.opponents,
        reward_scale=0.02,
    )


class Net(nn.Module):
    """The flat vector in; log-probabilities of the legal actions and a value out."""

    def __init__(self, size: int, actions: int, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.actor, self.critic = nn.Linear(hidden, actions), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)  # begin with even play
        nn.init.zeros_(self.actor.bias)

    def forward(self, obs: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """``[B, size]``, bool ``[B, actions]`` -> ``[B, actions]``, ``[B]``."""
        features = self.body(obs)
        logits = self.actor(features).masked_fill(~mask, -1e8)
        return torch.log_softmax(logits, -1), self.critic(features).squeeze(-1)


def play_out(args: Args, net: Net | None, seed: int) -> dict[str, np.ndarray]:
    """Each of ``eval_games`` tables' first episode, by the likeliest action, or random where net is None.

    Equal seeds are equal deals, seats and bots, so two players can be compared game by game.
    """
    envs = make(args, args.eval_games)
    rng = np.random.default_rng(seed)
    obs, info = envs.reset(seed=seed)
    over = np.zeros(args.eval_games, bool)
    found = {"win_share": np.zeros(args.eval_games), "points": np.zeros(args.eval_games)}
    while not over.all():
        mask = info["action_mask"]
        if net is None:
            actions = (rng.random(mask.shape) * mask).argmax(-1)
        else:
            with torch.no_grad():
                actions = net(torch.as_tensor(obs), torch.as_tensor(mask).bool())[0].argmax(-1).numpy()
        obs, _, terminated, truncated, info = envs.step(actions)
        first = (terminated | truncated) & ~over
        for name, values in found.items():
            if first.any():
                values[first] = info[name][first]
        over |= first
    envs.close()
    return found


def learn(args: Args) -> Net:
    """The whole loop."""
    envs = make(args, args.num_envs)
    net = Net(envs.single_observation_space.shape[0], int(envs.single_action_space.n), args.hidden)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate, eps=1e-5)
    steps, n = args.num_steps, args.num_envs
    obs, info = envs.reset(seed=args.seed)
    done = np.zeros(n, bool)
    wins: list[float] = []
    start = time.perf_counter()
    updates = max(1, args.total_steps // (steps * n))
    for update in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - (update - 1) / updates)
        seen = torch.zeros(steps, n, *envs.single_observation_space.shape)
        masks = torch.zeros(steps, n, int(envs.single_action_space.n), dtype=torch.bool)
        actions = torch.zeros(steps, n, dtype=torch.long)
        old = torch.zeros(steps, n)
        rewards, values, dones = torch.zeros(steps, n), torch.zeros(steps + 1, n), torch.zeros(steps + 1, n)
        for t in range(steps):
            seen[t], masks[t] = torch.as_tensor(obs), torch.as_tensor(info["action_mask"]).bool()
            dones[t] = torch.as_tensor(done)
            with torch.no_grad():
                logp, values[t] = net(seen[t], masks[t])
                actions[t] = (logp.exp() / torch.empty_like(logp).exponential_()).argmax(-1)
                old[t] = logp.gather(-1, actions[t, :, None])[:, 0]
            obs, reward, terminated, truncated, info = envs.step(actions[t].numpy())
            rewards[t], done = torch.as_tensor(reward), terminated | truncated
            if done.any():
                wins += info["win_share"][done].tolist()
        with torch.no_grad():
            values[steps] = net(torch.as_tensor(obs), torch.as_tensor(info["action_mask"]).bool())[1]
        dones[steps] = torch.as_tensor(done)

        # dones[t] says that step t follows an end: it only begins the next episode (NEXT_STEP autoreset),
        # whatever its action was. So nothing flows back over it, and it takes no part in the update.
        advantage = torch.zeros(steps, n)
        last = torch.zeros(n)
        for t in reversed(range(steps)):
            alive = 1 - dones[t + 1]
            last = rewards[t] + alive * (values[t + 1] + args.gae_lambda * last) - values[t]
            advantage[t] = last
        keep = dones[:steps].reshape(-1) == 0
        returns = (advantage + values[:steps]).reshape(-1)[keep]
        advantage, old = advantage.reshape(-1)[keep], old.reshape(-1)[keep]
        seen, masks, actions = seen.flatten(0, 1)[keep], masks.flatten(0, 1)[keep], actions.reshape(-1)[keep]

        for _ in range(args.epochs):
            for rows in torch.randperm(len(seen)).chunk(args.minibatches):
                logp, value = net(seen[rows], masks[rows])
                ratio = (logp.gather(-1, actions[rows, None])[:, 0] - old[rows]).exp()
                gain = advantage[rows]
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                policy_loss = -torch.min(
                    gain * ratio, gain * ratio.clamp(1 - args.clip, 1 + args.clip)
                ).mean()
                value_loss = (value - returns[rows]).square().mean()
                entropy = -(logp.exp() * logp).sum(-1).mean()
                loss = policy_loss + 0.5 * value_loss - args.entropy * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(net.parameters(), 0.5)
                optimizer.step()

        if update % 5 == 0 or update == updates:
            played = update * steps * n
            rate = played / (time.perf_counter() - start)
            recent = float(np.mean(wins[-1000:])) if wins else float("nan")
            print(
                f"{played:>8} steps  {rate:6.0f}/s  wins {recent:5.1%}  entropy {entropy.item():.2f}  "
                f"value loss {value_loss.item():.3f}",
                flush=True,
            )
    envs.close()
    return net


def main() -> None:
    """Learn, then play the opponents on deals that the learner has not seen, beside random play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for field in fields(Args):
        kind = type(field.default)
        parser.add_argument("--" + field.name.replace("_", "-"), type=kind, default=field.default)
    args = Args(**vars(parser.parse_args()))
    torch.set_num_threads(1)  # the network is small: more threads wait for each other
    torch.manual_seed(args.seed)
    net = learn(args)
    unseen = args.seed + 2**32
    learner, chance = play_out(args, net, unseen), play_out(args, None, unseen)
    print(f"{args.eval_games} equal deals against {args.num_players - 1} x {args.opponents}:")
    for name, result in (("learner", learner), ("random", chance)):
        print(f"  {name:<8} wins {result['win_share'].mean():5.1%}  points {result['points'].mean():5.1f}")
    gap = learner["win_share"] - chance["win_share"]
    error = 1.96 * gap.std() / np.sqrt(len(gap))
    print(f"  difference {gap.mean():+.1%} +-{error:.1%} wins a round")


if __name__ == "__main__":
    main()

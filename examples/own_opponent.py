"""An opponent of one's own in the Gymnasium environment, beside two rule bots.

python examples/own_opponent.py
"""

from __future__ import annotations

import gymnasium

from mt_env.rng import Rng
from mt_env.view import View

EPISODES = 20


def feeds_the_mexican_train(view: View, rng: Rng) -> int:
    """Plays on the Mexican Train where it can: a function ``(view, rng) -> action id`` is a bot."""
    mexican = view.num_players * view.num_tiles  # ids of plays on it begin here
    for action in view.legal_actions:
        if mexican <= action < view.draw_action:
            return action
    return rng.choice(view.legal_actions)


def main() -> None:
    """Let a random learner play some rounds and print how they ended for it."""
    env = gymnasium.make(
        "mt_env:MexicanTrain-v0",
        num_players=4,
        opponents=[feeds_the_mexican_train, "heaviest", "planner-fast"],  # clockwise from the learner
        reward="win",
    )
    env.action_space.seed(1)
    wins = points = 0.0
    for number in range(EPISODES):
        _, info = env.reset(seed=1 if number == 0 else None)
        over = False
        while not over:
            action = env.action_space.sample(info["action_mask"])
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        wins += info["win_share"]
        points += info["points"]
    print(f"{EPISODES} rounds: {wins:.1f} wins, {points / EPISODES:.1f} points a round")
    env.close()


if __name__ == "__main__":
    main()

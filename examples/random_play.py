"""Random play through the PettingZoo (AEC) environment, and who won.

python examples/random_play.py
"""

from __future__ import annotations

from mt_env.env import env


def main() -> None:
    """Play three rounds at a table of four."""
    game = env(num_players=4, rules="spruce")
    for number in range(3):
        game.reset(seed=7 if number == 0 else None)  # later episodes go on from the first seed
        for agent in game.possible_agents:
            game.action_space(agent).seed(number)
        result: dict[str, float] = {}
        moves = 0
        for agent in game.agent_iter():
            observation, _, terminated, truncated, info = game.last()
            if terminated or truncated:
                result[agent] = info["points"]
                game.step(None)
                continue
            game.step(game.action_space(agent).sample(observation["action_mask"]))
            moves += 1
        points = ", ".join(f"{agent} {result[agent]}" for agent in sorted(result, key=result.__getitem__))
        print(f"round {number + 1}: {moves} moves; points: {points}")
    game.close()


if __name__ == "__main__":
    main()

"""A bot of one's own in ten lines, against the rule bots.

python examples/own_bot.py
"""

from __future__ import annotations

from mt_env.bots import play_episode, register
from mt_env.game import Game
from mt_env.rng import Rng, mix
from mt_env.tiles import PIPS, is_double
from mt_env.view import View

ROUNDS = 200


class DoublesFirst:
    """Gets rid of doubles, and else of the tile with most pips."""

    name = "doubles-first"

    def act(self, view: View, rng: Rng) -> int:
        """One of ``view.legal_actions``."""
        plays = [action for action in view.legal_actions if action < view.draw_action]
        if not plays:
            return rng.choice(view.legal_actions)  # draw or pass
        tiles = view.num_tiles  # a play's id is train * tiles + tile
        return max(plays, key=lambda action: (is_double(action % tiles), PIPS[action % tiles]))


register("doubles-first", DoublesFirst)


def main() -> None:
    """Play rounds of four, the seats rotated, and print the average points of each bot."""
    names = ["doubles-first", "random", "heaviest", "planner-fast"]
    game = Game("spruce", num_players=4)
    points = dict.fromkeys(names, 0)
    for number in range(ROUNDS):
        turned = names[number % 4 :] + names[: number % 4]
        deal = mix(1, number // 4)  # each deal is played four times: every bot holds every hand
        state = play_episode(game, turned, seed=deal)
        for name, scored in zip(turned, state.round_scores(), strict=True):
            points[name] += scored
    for name, total in sorted(points.items(), key=lambda item: item[1]):
        print(f"{name:<14} {total / ROUNDS:6.1f} points a round (fewer are better)")


if __name__ == "__main__":
    main()

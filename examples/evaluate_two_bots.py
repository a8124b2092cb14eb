"""Which of two bots is stronger, and how sure is that: equal deals, each played from both seats.

python examples/evaluate_two_bots.py
python examples/evaluate_two_bots.py planner planner-fast --deals 2000
"""

from __future__ import annotations

import argparse

from mt_env import tournament


def main() -> None:
    """Play, then read the result object; ``print(result)`` would print all of it as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("first", nargs="?", default="planner", help="a bot; `mexican-train bots` lists them")
    parser.add_argument("second", nargs="?", default="heaviest")
    parser.add_argument("--deals", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", default="spruce")
    args = parser.parse_args()

    result = tournament([args.first, args.second], args.deals, args.seed, rules=args.rules)
    print(f"{result.valid_deals} deals x {result.num_players} seatings, seed {result.seed}")
    for one in result.standings:
        share = one.win_share
        print(f"{one.label:<14} wins {share.value:.1%} [{share.low:.1%}, {share.high:.1%}]", end="")
        print(f", {one.points.value:.1f} points a round")

    # Both played the same hands, so the difference deal by deal knows more than the two lines above.
    gap = result.difference(0, 1).win_share
    print(f"difference     {gap.value:+.1%} [{gap.low:+.1%}, {gap.high:+.1%}]")
    if gap.low > 0 or gap.high < 0:
        better = result.bots[0 if gap.low > 0 else 1]
        print(f"{better} is ahead; chance alone would seldom do that (1 comparison of equals in 20)")
    else:
        print("too few deals to tell them apart")

    # Arrays by deal, for statistics of one's own: float64 [deals, bots].
    print(f"spread of the first one's share from deal to deal: {result.win_shares[:, 0].std():.2f}")


if __name__ == "__main__":
    main()

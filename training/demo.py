"""What `make demo` runs: learn a small policy, then let it play on equal deals.

    python training/demo.py
    python training/demo.py --steps 400000 --seed 2 --out runs/longer

It only runs two of our commands one after the other, and prints them for you to repeat.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mt_env.arena import TournamentResult, report, tournament
from mt_env.bots.policy import record_strength

ROOT = Path(__file__).resolve().parent.parent
CONFIG = "configs/training/ppo_sb3.yaml"

STEPS = 200_000
"""Under a minute of learning on a quiet core, most of what this learner ever gets."""
SEED = 1
"""Shipped; docs/training.md has the results of others."""
ARENA_SEED = 7
"""Of the deals it is measured on."""


def learn(steps: int, seed: int, out: str) -> None:
    """Run the learning script; its progress goes to stderr.

    Raises:
        subprocess.CalledProcessError: it failed, and has said why.
    """
    options = [
        "--config",
        os.path.relpath(ROOT / CONFIG),
        "--total-steps",
        str(steps),
        "--seed",
        str(seed),
        "--out",
        out,
    ]
    options += ["--eval-every", str(max(1, steps // 4)), "--eval-deals", "200", "--overwrite"]
    script = os.path.relpath(ROOT / "training" / "ppo_sb3.py")
    print(f"\n$ {shlex.join(['python', script, *options])}", flush=True)
    subprocess.run([sys.executable, script, *options], check=True)


def play(bots: Sequence[str], deals: int) -> tuple[TournamentResult, str]:
    """A tournament, printed; returns it with the command that repeats it."""
    command = f"mexican-train tournament --bots {','.join(bots)} --deals {deals} --seed {ARENA_SEED}"
    print(f"\n$ {command}\n", flush=True)
    result = tournament(bots, deals, ARENA_SEED, progress=sys.stderr.isatty())
    print(result.table())
    print(report.timing(result.clock, result.bots), file=sys.stderr, flush=True)
    return result, command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; returns the exit code."""
    parser = argparse.ArgumentParser(description="Learn a small policy, then let it play on equal deals.")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"decisions to learn from (default {STEPS})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the learner (default {SEED})")
    parser.add_argument("--deals", type=int, default=500, help="deals of each tournament (default 500)")
    parser.add_argument("--out", default="runs/demo", help="run folder, replaced (default runs/demo)")
    args = parser.parse_args(argv)
    if args.steps < 1 or args.deals < 1:
        parser.error("--steps and --deals must be at least 1")
    begun = time.monotonic()
    print(f"One seat learns from {args.steps:,} decisions against three planner-fast bots.")
    try:
        learn(args.steps, args.seed, args.out)
    except subprocess.CalledProcessError as error:
        return error.returncode
    except KeyboardInterrupt:
        return 130
    learned = time.monotonic() - begun
    policy = f"policy:{args.out}"
    rivals = [["random", "random", "random"], ["planner", "heaviest", "random"]]
    strength = []
    for others in rivals:
        result, command = play([policy, *others], args.deals)
        share = result.standings[0].win_share
        strength.append(
            {
                "against": " ".join(others),
                "win_share": round(share.value, 4),
                "low": round(share.low, 4),
                "high": round(share.high, 4),
                "games": args.deals * 4,
                "command": command,
            }
        )
    record_strength(Path(args.out) / "model", strength)
    total = time.monotonic() - begun
    print(f"\n{learned:.0f} s of learning, {total - learned:.0f} s of play; equal play would win 25%. Won:")
    for entry in strength:
        low, high = entry["low"], entry["high"]
        print(f"  {entry['win_share']:.1%} [{low:.1%}, {high:.1%}] against {entry['against']}")
    print(f"The model: {args.out}/model (card.md tells what it is). It is a bot like any other: {policy}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Find the weights of the bot ``tactician`` by playing: mirrored evolution strategy on equal deals.

    python training/tune_tactician.py --seed 1 --out runs/tactician
    python training/tune_tactician.py --seed 1 --out runs/tactician --generations 400 --resume

A generation draws pairs of directions, lets the weights a step ahead and a step back play the same deals
from every seat against rule bots, and moves along the directions by how much better one of the two did
(Salimans and others, "Evolution Strategies as a Scalable Alternative to Reinforcement Learning", 2017). A
game counts ``seats * win share + (points of the others - own points) / 40``. The answer is the mean of the
later generations, looked at now and then on deals that no generation plays; ``best.json`` holds the best
look. Equal seeds give equal weights; a run that was cut off goes on with ``--resume`` as if it had not been.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env.bots import KINDS
from mt_env.core.deal import new_episode
from mt_env.core.jit import allocating_kernel
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.policies import new_scratch, policy_action
from mt_env.core.rollout import seed_bots
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import GAME_DTYPE, PLAYING, ROUND_OVER
from mt_env.core.tactics import TACTICIAN_WEIGHTS, TACTICS, WEIGHTS, tactician_action, weights_array
from mt_env.game import Game
from mt_env.rng import mix
from mt_env.rules_yaml import write_text

POINTS_SCALE: Final[float] = 40.0
"""Points that count as much as a won round of an average player."""
TUNED: Final[int] = -1
"""The seat that plays by the weights under test, beside the numbers of the rule bots."""
LOOKS: Final[int] = 1 << 40
"""Looks play the deals of the seed ``mix(seed, LOOKS)``, generation g those of ``mix(seed, g)``."""

ROWS: Final[int] = WEIGHTS.shape[0]
"""Weights of each quantity."""

STEPS: Final[Mapping[str, int]] = {
    "chain": 1000,
    "spare": 2000,
    "chain_pips": 20,
    "spare_pips": 50,
    "mobile": 500,
    "spare_mobile": 500,
    "double": 2000,
    "cover": 700,
    "bare": 2000,
    "own": 1500,
    "closes": 2000,
    "marked": 2000,
    "marked_chain": 400,
    "stuck": 2000,
    "lost": 700,
    "rare": 150,
    "spare_doubles": 1000,
    "chain_doubles": 500,
    "next": 40,
    "others": 40,
    "least": 40,
    "left": 2000,
    "left_next": 40,
    "left_mine": 1500,
}
"""Step of each weight: a change that alters what a typical play costs by about one tile of a chain."""


@dataclass(frozen=True)
class Table:
    """Where a set of weights is tried: bots in the other seats, and how many deals a generation plays."""

    rules: str
    others: tuple[str, ...]
    deals: int


PLANNERS: Final = ("planner",)
TABLES: Final = (
    Table("spruce", PLANNERS * 3, 70),
    Table("cover", PLANNERS * 3, 60),
    Table("wikihow", PLANNERS * 3, 24),
    Table("dominos_cc", PLANNERS * 3, 24),
    Table("spruce", ("planner", "heaviest", "planner-fast"), 16),
    Table("cover", ("heaviest", "planner", "doubles_first"), 16),
    Table("spruce", PLANNERS, 24),
    Table("cover", PLANNERS, 24),
    Table("wikihow", PLANNERS * 2, 10),
    Table("dominos_cc", PLANNERS * 2, 10),
    Table("spruce", PLANNERS * 5, 8),
    Table("cover", PLANNERS * 5, 8),
)
"""What a generation plays; most of it is four seats under the two presets that differ most."""


@allocating_kernel
def play_games(
    states: Any, rules: Any, seeds: Any, kinds: Any, weights: Any, scratch: Any, ranks: Any, scores: Any
) -> None:
    """Play an episode for each seed, in every seating, and write what the tuned seat's games count.

    Args:
        states: ``GAME_DTYPE[1]``, overwritten.
        rules: ``RULES_DTYPE[1]``.
        seeds: ``uint64[m]``.
        kinds: ``int64[n]``, the policy in each seat of the first seating; ``TUNED`` for the tuned one.
        weights: from ``weights_array``.
        scratch: from ``new_scratch()``.
        ranks: working memory, ``float64[2, n]``.
        scores: written, ``float64[m]``: the mean over the seatings, see the module.
    """
    s = states[0]
    r = rules[0]
    n = np.int64(r["num_players"])
    rngs = np.empty((n, 1), np.uint64)
    for i in range(len(seeds)):
        scores[i] = 0.0
        for seating in range(n):
            new_episode(s, r, seeds[i])
            seed_bots(seeds[i], n, rngs)
            while True:
                while s["phase"] == PLAYING:
                    seat = np.int64(s["turn"])
                    kind = kinds[(seat + seating) % n]
                    if kind != TUNED:
                        apply_action(s, r, policy_action(s, r, kind, rngs[seat], scratch))
                        continue
                    legal = scratch[2]
                    count = legal_actions(s, r, legal)
                    action = np.int64(legal[0])
                    if count > 1:
                        action = tactician_action(s, r, legal, count, weights, scratch)
                    apply_action(s, r, action)
                if s["phase"] != ROUND_OVER:
                    break
                next_round(s, r)
            standing(s, r, ranks[0], ranks[1])
            for seat in range(n):
                points = np.float64(s["totals"][seat])
                if kinds[(seat + seating) % n] == TUNED:
                    scores[i] += ranks[1, seat] - points / POINTS_SCALE / n
                else:
                    scores[i] += points / POINTS_SCALE / (n - 1) / n


class Arena:
    """Plays weights at tables.

    Args:
        tables: which; their ``deals`` are multiplied by ``times``.
        times: factor on the deals.
    """

    def __init__(self, tables: Sequence[Table], times: int = 1) -> None:
        self._tables = []
        for table in tables:
            game = Game(table.rules, len(table.others) + 1)
            kinds = np.array([TUNED, *(KINDS[name] for name in table.others)], np.int64)
            self._tables.append((game.rules_record, kinds, table.deals * times))
        self._states, self._scratch = np.zeros(1, GAME_DTYPE), new_scratch()

    def scores(self, weights: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
        """What each deal counts, all tables in a row; ``seed`` fixes the deals."""
        out = []
        for number, (rules, kinds, deals) in enumerate(self._tables):
            family = mix(seed, number)
            seeds = np.array([mix(family, i) for i in range(deals)], np.uint64)
            scores, ranks = np.zeros(deals), np.zeros((2, len(kinds)))
            play_games(self._states, rules, seeds, kinds, weights, self._scratch, ranks, scores)
            out.append(scores)
        return np.concatenate(out)


def to_weights(point: NDArray[np.float64]) -> dict[str, tuple[int, ...]]:
    """A point of the search, ``[ROWS, tactics]`` in steps, as whole weights by name."""
    return {
        name: tuple(round(float(row[i]) * STEPS[name]) for row in point) for i, name in enumerate(TACTICS)
    }


def to_point(weights: Mapping[str, Sequence[int]]) -> NDArray[np.float64]:
    """The reverse of `to_weights`."""
    return np.array([[weights[name][row] / STEPS[name] for name in TACTICS] for row in range(ROWS)])


def say(text: str) -> None:
    """A line of progress on stderr."""
    print(text, file=sys.stderr, flush=True)


class Search:
    """A run: where the search stands, and the files that tell.

    Args:
        args: the command line.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.out = Path(args.out)
        start = json.loads(Path(args.start).read_text(encoding="utf-8"))["weights"] if args.start else {}
        self.start = to_point({**TACTICIAN_WEIGHTS, **start})
        self.point, self.pace = self.start.copy(), np.zeros_like(self.start)
        self.mean, self.averaged = np.zeros_like(self.start), 0
        self.generation, self.best = 0, 0.0
        self.training, self.looking = Arena(TABLES), Arena(TABLES, args.look_times)
        state = self.out / "state.json"
        if state.exists():
            if not args.resume:
                raise ValueError(f"--out {self.out}: holds a run; give --resume or another folder")
            self._load(json.loads(state.read_text(encoding="utf-8")))
        self.out.mkdir(parents=True, exist_ok=True)
        self.before = self.looking.scores(weights_array(to_weights(self.start)), mix(args.seed, LOOKS))

    def _load(self, state: dict[str, Any]) -> None:
        if state["seed"] != self.args.seed:
            raise ValueError(f"--seed {self.args.seed}: the run in {self.out} has seed {state['seed']}")
        for name in ("start", "point", "pace", "mean"):
            setattr(self, name, np.array(state[name]))
        self.averaged, self.generation, self.best = state["averaged"], state["generation"], state["best"]

    def _save(self) -> None:
        state = {name: getattr(self, name).tolist() for name in ("start", "point", "pace", "mean")}
        numbers = {name: getattr(self, name) for name in ("averaged", "generation", "best")}
        write_text(self.out / "state.json", json.dumps({"seed": self.args.seed, **numbers, **state}) + "\n")

    def step(self) -> None:
        """One generation."""
        args, number = self.args, self.generation
        dice = np.random.default_rng([args.seed, number])
        directions = dice.standard_normal((args.pairs, *self.point.shape))
        gains = np.zeros(args.pairs)
        for k, direction in enumerate(directions):
            ahead, back = (
                self.training.scores(
                    weights_array(to_weights(self.point + sign * args.sigma * direction)),
                    mix(args.seed, number),
                ).mean()
                for sign in (1, -1)
            )
            gains[k] = ahead - back
        slope = np.tensordot(gains / max(float(gains.std()), 1e-9), directions, 1) / args.pairs
        rate = args.rate * max(0.15, 1.0 - number / args.generations)
        self.pace = 0.8 * self.pace + 0.2 * slope
        self.point = self.point + rate * self.pace
        self.generation += 1
        if self.generation > args.generations // 3:
            self.averaged += 1
            self.mean = self.mean + (self.point - self.mean) / self.averaged

    def look(self, elapsed: float) -> None:
        """Compare the answer so far with the start, on deals of its own, and keep it if it is the best."""
        answer = self.mean if self.averaged else self.point
        weights = to_weights(answer)
        gain = self.looking.scores(weights_array(weights), mix(self.args.seed, LOOKS)) - self.before
        value, error = float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain)))
        gained = f"{value:+.4f} +- {1.96 * error:.4f}"
        say(f"generation {self.generation}: {gained} over the start, {elapsed:.0f} s")
        if value > self.best:
            self.best = value
            found = {"generation": self.generation, "gain": value, "error": error, "weights": weights}
            write_text(self.out / "best.json", json.dumps(found, indent=1) + "\n")
        self._save()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    out = argparse.ArgumentParser(description="Find the weights of the bot tactician by playing.")
    out.add_argument("--seed", type=int, default=1, help="of directions and deals (default 1)")
    out.add_argument("--out", default="runs/tactician", help="run folder (default runs/tactician)")
    out.add_argument("--start", help="JSON file with weights to begin from (default: those of the bot)")
    out.add_argument("--generations", type=int, default=150, help="how many (default 150)")
    out.add_argument("--pairs", type=int, default=12, help="pairs of directions in a generation (default 12)")
    out.add_argument("--sigma", type=float, default=0.7, help="length of a trial step (default 0.7)")
    out.add_argument("--rate", type=float, default=0.8, help="how far a generation moves (default 0.8)")
    out.add_argument("--look-every", type=int, default=10, help="generations between looks (default 10)")
    out.add_argument("--look-times", type=int, default=5, help="deals of a look, in generations (default 5)")
    out.add_argument("--resume", action="store_true", help="go on with the run in --out")
    return out


def main(argv: Sequence[str] | None = None) -> int:
    """Run the search; returns the exit code (2: a wrong argument, 130: interrupted)."""
    arguments = parser()
    args = arguments.parse_args(argv)
    for name in ("generations", "pairs", "look_every", "look_times"):
        if getattr(args, name) < 1:
            arguments.error(f"--{name.replace('_', '-')} {getattr(args, name)}: must be at least 1")
    begun = time.monotonic()
    try:
        search = Search(args)
        while search.generation < args.generations:
            search.step()
            if search.generation % args.look_every == 0 or search.generation == args.generations:
                search.look(time.monotonic() - begun)
    except (ValueError, OSError) as error:
        say(f"tune_tactician.py: error: {error}")
        return 2
    except KeyboardInterrupt:
        say("interrupted; --resume goes on from the last look")
        return 130
    say(f"{search.out / 'best.json'}: the best weights, {search.best:+.4f} over the start")
    return 0


if __name__ == "__main__":
    sys.exit(main())

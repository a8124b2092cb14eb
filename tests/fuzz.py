"""Random games, core against referee in lock step: ``python tests/fuzz.py --games 20000 --workers 2``.

Game k depends on the seed and k only, whatever the number of workers. At the first difference it is printed
with the command that plays just that game, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from lockstep import DifferenceError
from lockstep_games import FAMILIES, command, play_game
from reference import ALL_CLAUSES, CLAUSES

CHUNK = 25
"""Games that a worker plays at a time."""

EVERY = 5.0
"""Seconds between lines of progress."""


class Chunk(NamedTuple):
    """Which games to play: ``start`` up to ``stop`` of ``seed``."""

    seed: int
    start: int
    stop: int
    family: str | None
    seats: int | None


class Played(NamedTuple):
    """What came of a chunk."""

    games: int
    plies: int
    clauses: Counter[str]
    failure: str


def play_chunk(chunk: Chunk) -> Played:
    """Play the games of a chunk, up to the first that fails."""
    CLAUSES.clear()
    plies = 0
    for k in range(chunk.start, chunk.stop):
        try:
            plies += play_game(chunk.seed, k, chunk.family, chunk.seats)
        except Exception as error:  # a crash of either side is a finding like any other
            what = str(error) if isinstance(error, DifferenceError) else traceback.format_exc()
            again = command(chunk.seed, k, chunk.family, chunk.seats)
            failure = f"game {k} of seed {chunk.seed}: {what}\nto play it again: {again}"
            return Played(k - chunk.start, plies, Counter(CLAUSES), failure)
    return Played(chunk.stop - chunk.start, plies, Counter(CLAUSES), "")


def results(chunks: list[Chunk], workers: int) -> Iterator[Played]:
    """What came of each chunk, in order."""
    if workers == 1:
        yield from map(play_chunk, chunks)
        return
    play_game(0, 0)  # here first: the kernels are compiled once, the workers load them
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(play_chunk, chunks)


def main(argv: list[str] | None = None) -> int:
    """The command; 1 if a game failed, else 0."""
    parser = argparse.ArgumentParser(prog="tests/fuzz.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=2000, metavar="N", help="games to play (2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, other games (0)")
    parser.add_argument("--preset", choices=FAMILIES, help="only this preset, or only random options")
    parser.add_argument("--seats", type=int, choices=range(2, 15), metavar="n", help="only with n seats")
    parser.add_argument("--start", type=int, default=0, metavar="K", help="begin with game K (0)")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes (1)")
    args = parser.parse_args(argv)
    if args.games < 1 or args.start < 0 or args.workers < 1:
        parser.error("--games and --workers begin at 1, --start at 0")

    stop = args.start + args.games
    chunks = [
        Chunk(args.seed, k, min(k + CHUNK, stop), args.preset, args.seats)
        for k in range(args.start, stop, CHUNK)
    ]
    began = told = time.monotonic()
    games = plies = 0
    clauses: Counter[str] = Counter()
    failure = ""
    for played in results(chunks, min(args.workers, len(chunks))):
        if not games:
            began = told = time.monotonic() - 0.01  # without compiling
        games, plies = games + played.games, plies + played.plies
        clauses.update(played.clauses)
        failure = played.failure
        if failure:
            break
        now = time.monotonic()
        if now - told >= EVERY:
            told, rate = now, games / (now - began)
            left = (args.games - games) / rate
            print(f"{games} of {args.games} games, {rate:.0f} games/s, {left:.0f} s left", flush=True)

    if failure:
        print(failure)
    else:
        print("how often each clause decided:")
        for count, label in sorted((clauses[label], label) for label in ALL_CLAUSES):
            print(f"{count:>10}  {label}")
    seconds = time.monotonic() - began
    verdict = "FAILED" if failure else "no difference"
    unseen = [label for label in ALL_CLAUSES if not clauses[label]]
    print(f"clauses never decided: {', '.join(unseen) or 'none'}")
    print(f"{verdict}: {games} games, {plies} actions, seed {args.seed}, {seconds:.0f} s")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())

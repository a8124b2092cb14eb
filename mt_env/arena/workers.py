"""Deals played by several processes, handed back in the order of the deals.

A process pool of the standard library does not fit: its workers outlive a killed parent, since each holds
both ends of their queue, and cannot be ended while they play. Here each worker has one pipe. It ends when
the other end is closed, so also when the parent is killed, and the parent sees a closed pipe when a worker
dies.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Literal, cast

from mt_env.arena.match import Clock, Games, Table, episode_seeds, make_table, warm_up
from mt_env.arena.seating import Seatings, seating_table
from mt_env.bots import BotLike, seat_bots
from mt_env.game import Game
from mt_env.rules import Rules

MAX_WORKERS: Final[int] = 60
"""More cannot be waited for on Windows."""

AHEAD: Final[int] = 4
"""Chunks for each worker that may be under way or wait for an earlier one."""

QUEUED: Final[int] = 2
"""Chunks that a worker is given at once, so that it need not wait for the parent between two."""


GRACE: Final[float] = 5.0
"""Seconds that workers get to end when they are told to; then they are killed."""


class WorkerError(RuntimeError):
    """A worker process died, or could not do its work."""


@dataclass(frozen=True)
class Job:
    """What a process needs to play deals of a tournament."""

    rules: Rules
    episode: Literal["round", "match"]
    engine: int | Literal["random"]
    bots: tuple[BotLike, ...]
    """As given; names and classes are made into bots in each process."""
    labels: tuple[str, ...]
    seatings: Seatings
    seed: int
    time_limit: float | None

    def game(self) -> Game:
        """The table's game."""
        return Game(self.rules, len(self.bots), episode=self.episode, engine=self.engine)

    def table(self) -> Table:
        """A table with new bots, warmed up.

        Raises:
            ValueError: a bot cannot be made.
        """
        game, players = self.game(), seat_bots(list(self.bots), len(self.bots))
        seating = seating_table(len(self.bots), self.seatings)
        warm_up(game, players, seating)
        return make_table(game, players, self.labels, seating, self.time_limit)

    def packed(self) -> bytes:
        """The job as bytes for another process.

        Raises:
            ValueError: a bot cannot be sent there.
        """
        for label, bot in zip(self.labels, self.bots, strict=True):
            try:
                pickle.dumps(bot)
            except Exception as error:
                reason = " ".join(str(error).split())
                raise ValueError(
                    f"bots: {label!r} cannot be sent to worker processes ({type(error).__name__}: {reason}); "
                    "give a name, 'package.module:Bot', or what pickle takes, or workers=1"
                ) from error
        return pickle.dumps(self)


# --- in the worker ----------------------------------------------------------------------------------------


def _end(*_: object) -> None:
    """End this worker at once, and the processes that its bots have started with ``multiprocessing``."""
    children = multiprocessing.active_children()
    for child in children:
        child.terminate()
    for child in children:
        child.join(0.2)
    os._exit(0)  # an exception could be caught by a bot


def _serve(pipe: Connection, packed: bytes) -> None:
    """Play the chunks that come through ``pipe`` until it is closed. Runs in the worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent ends this one
    signal.signal(signal.SIGTERM, _end)
    try:
        try:
            job: Job = pickle.loads(packed)
            table = job.table()
        except Exception as error:
            pipe.send(f"cannot make its bots: {type(error).__name__}: {error}")
            return
        pipe.send("")
        while True:
            first, deals = pipe.recv()
            clock = Clock.zero(len(job.bots))
            try:
                games = table.play(episode_seeds(job.seed, deals, first), first, clock)
            except Exception as error:
                pipe.send(f"{type(error).__name__}: {error}")
                return
            pipe.send((games, clock))
    except (EOFError, OSError):  # nobody at the other end
        return


# --- in the parent ----------------------------------------------------------------------------------------


@contextmanager
def _ctrl_c_held() -> Iterator[None]:
    """Hold back SIGINT, so that a process started meanwhile never sees it, not even while it still imports.

    Where signals cannot be held (Windows), a worker hears Ctrl-C until `_serve` begins.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else the first start of a process starts it and lets SIGINT through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Workers:
    """Processes that play deals; use it in a ``with`` statement, which ends them.

    Args:
        job: what is played.
        count: processes.

    Raises:
        ValueError: a bot cannot be sent to another process, or not be made there.
        WorkerError: a process did not come up.
    """

    def __init__(self, job: Job, count: int) -> None:
        packed = job.packed()
        context = multiprocessing.get_context("spawn")
        self._workers: dict[Connection, BaseProcess] = {}
        try:
            for number in range(count):
                ours, theirs = context.Pipe()
                # No daemon, which could not start processes, as a bot that searches may. It needs not be one:
                # it ends when its pipe is closed.
                process = context.Process(
                    target=_serve, args=(theirs, packed), name=f"mt_env worker {number + 1}", daemon=False
                )
                self._workers[ours] = process
                with _ctrl_c_held():
                    process.start()
                theirs.close()
            for pipe in self._workers:
                problem = self._answer(pipe, "while it started")
                if problem:
                    raise ValueError(f"bots: a worker process {problem}; with workers=1 none is needed")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, in the middle of a deal if need be; those that do not heed are killed."""
        with _ctrl_c_held():  # else a second Ctrl-C could leave some, for which the program would then wait
            for pipe in self._workers:
                pipe.close()
            started = [process for process in self._workers.values() if process.pid is not None]
            for process in started:
                process.terminate()
            end = time.monotonic() + GRACE
            for process in started:
                process.join(max(0.0, end - time.monotonic()))
                if process.is_alive():
                    process.kill()
                    process.join()
            self._workers.clear()

    def _answer(self, pipe: Connection, when: str) -> Any:
        """What a worker sends.

        Raises:
            WorkerError: it is dead.
        """
        try:
            return pipe.recv()
        except (EOFError, OSError):
            process = self._workers[pipe]
            process.join(5)
            code = process.exitcode
            how = f"exit code {code}"
            if code is not None and code < 0:
                how = f"signal {-code}"
                if -code in {*signal.Signals}:
                    how = signal.Signals(-code).name
            hint = "" if when != "while it started" else (
                "; a script that plays with workers must do so under: if __name__ == '__main__':"
            )  # fmt: skip
            raise WorkerError(f"a worker process died ({how}) {when}{hint}") from None

    def play(self, chunks: Sequence[range], clock: Clock) -> Iterator[Games]:
        """Play chunks of consecutive deals.

        Args:
            chunks: in ascending order.
            clock: gets the sum of what the processes measured.

        Yields:
            The games of each chunk, in the order given.

        Raises:
            WorkerError: a process died or could not play.
        """
        todo = iter(chunks)
        busy: dict[Connection, deque[range]] = {pipe: deque() for pipe in self._workers}
        done: dict[int, Games] = {}
        begun = given = 0
        while given < len(chunks):
            for pipe, queue in sorted(busy.items(), key=lambda item: len(item[1])):
                while len(queue) < QUEUED and begun - given < AHEAD * len(busy):
                    if (chunk := next(todo, None)) is None:
                        break
                    queue.append(chunk)
                    begun += 1
                    with suppress(OSError):  # it is dead: reading from it tells so
                        pipe.send((chunk.start, len(chunk)))
            for ready in wait([pipe for pipe, queue in busy.items() if queue]):
                pipe = cast(Connection, ready)
                chunk = busy[pipe][0]
                answer = self._answer(pipe, f"while it played deals {chunk.start} to {chunk.stop - 1}")
                if isinstance(answer, str):
                    raise WorkerError(f"a worker process could not play deal {chunk.start}: {answer}")
                games, spent = answer
                done[busy[pipe].popleft().start] = games
                clock.add(spent)
            while given < len(chunks) and chunks[given].start in done:
                given += 1
                yield done.pop(chunks[given - 1].start)

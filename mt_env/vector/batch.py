"""Many games stepped by one call: arrays of decisions, for learners that play all seats.

from mt_env.vector import Batch

batch = Batch(1024, rules="cover", seed=1)
for _ in range(1000):
actions = batch.random_actions()      # or your policy's, from batch.observation and batch.mask
batch.step(actions)
finished = batch.ended.nonzero()[0]   # batch.points[finished], batch.win_shares[finished], ...
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mt_env.bots import KINDS, compiled_kind, make_bot
from mt_env.candidates import NUM_FEATURES, max_candidates
from mt_env.core.jit import sources_key
from mt_env.core.policies import new_scratch
from mt_env.core.state import GAME_DTYPE
from mt_env.explain import why_illegal
from mt_env.game import Game, State
from mt_env.observation import observation_dtype
from mt_env.rewards import reward_code
from mt_env.rng import check_seed, fresh_seed, mix
from mt_env.rules import Rules
from mt_env.rules_options import as_int
from mt_env.vector import kernels
from mt_env.vector.rows import CACHE_LINE, CALLER, CONFIG_DTYPE, ROW_DTYPE, SAME_STEP

MAX_EVENTS: Final[int] = 4096
"""Most public events that a batch lists."""

_SETTINGS: Final[tuple[str, ...]] = ("rules", "config")
"""Arrays that say how the games are played; they never change."""
_CHANGING: Final[tuple[str, ...]] = (
    "states", "meta", "rings", "legal", "obs", "mask", "rows", "events", "final", "actions",
)  # fmt: skip
"""Arrays that steps write, without scratch: all that a batch is at some time."""


class Batch:
    """N games, stepped together; every array is allocated once and written in place.

    Each game stands at a decision of the seat ``seat[i]``. `step` applies an action to each game, plays
    forced moves (``skip_forced``) and the seats of bots, and ends with every game at its next decision: an
    episode that ends is followed by the next one in the same step. What a seat is paid in a step stands in
    ``rewards[i, seat]``, for all seats; what belongs to the episode that has just begun waits for its first
    step.

    Game i is the environment of seed ``mix(seed, i)``: its episode k is dealt from
    ``mix(mix(seed, i), k)``, whatever the other games do.

    **Arrays** (reused: copy what must outlive the next step; those that are not asked for are None):

    - ``seat`` int64 ``[N]``: who decides.
    - ``count`` int64 ``[N]``, ``legal`` int32 ``[N, most]``: how many actions are legal, and their ids,
      ascending; entries behind the count are leftovers.
    - ``observation`` ``[N, encoding.size]`` of float32 or uint8: what that seat sees.
    - ``mask`` int8 ``[N, num_actions]``.
    - ``candidates`` float32 ``[N, most, NUM_FEATURES]``: a row for each entry of ``legal``, zeros behind.
    - ``events`` int16 ``[N, L, 4]``: the last L public events of the episode, oldest first: kind (1 play,
      2 draw, 3 pass, 4 stop of an opening chain, 5 deal; 0 where there is none yet), seat as ``seat[i]``
      counts, tile (the engine of a deal; -1), train as ``seat[i]`` counts (-1 without one).
    - ``rewards`` float64 ``[N, num_players]``: paid in the last step, by absolute seat.
    - ``ended`` int64 ``[N]``: 1 where the last step ended an episode. Its results, kept until the next end:
      ``points`` int64, ``ranks`` and ``win_shares`` float64 ``[N, num_players]``, ``how`` int64 ``[N]`` (how
      its last round ended: 1 out, 2 blocked), ``lengths`` int64 ``[N]`` (decisions of the caller).
    - ``episode_seed`` uint64 ``[N]``: of the episode now played.
    - ``formal`` int64 ``[N]``: 1 where the episode ended before the caller had anything to decide; only
      ``pass`` is then legal, and that step ends it.

    Args:
        num_games: N, from 1.
        rules: whatever `mt_env.rules.load_rules` takes.
        num_players: seats, 2..14.
        episode: ``"round"`` or ``"match"``.
        engine: of a single round: ``"random"`` or a value.
        reward: see `mt_env.rewards`.
        reward_scale: multiplies the rewards; above 0.
        seed: 0..2**64 - 1; None takes one from the operating system, read back as ``seed``.
        skip_forced: whether moves without a choice are played inside.
        bots: for each seat the name of a rule bot that plays it, or None for the caller; None: all his.
        observation: ``"float32"``, ``"uint8"`` or None for none.
        mask: whether ``mask`` is written.
        candidates: whether ``candidates`` are written.
        events: L, how many events are listed; 0 for none.
        num_threads: chunks of games stepped at the same time, each by a thread.

    Attributes:
        game: the table, `mt_env.game.Game`.
        encoding: layout of ``observation``.
        seed: see above.

    Raises:
        ValueError: an argument is not allowed; the message says what is.
    """

    def __init__(
        self,
        num_games: int,
        rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
        num_players: int = 4,
        *,
        episode: Literal["round", "match"] = "round",
        engine: int | Literal["random"] = "random",
        reward: str = "zero_sum",
        reward_scale: float = 1.0,
        seed: int | None = None,
        skip_forced: bool = True,
        bots: Sequence[str | None] | None = None,
        observation: str | None = "float32",
        mask: bool = True,
        candidates: bool = False,
        events: int = 0,
        num_threads: int = 1,
    ) -> None:
        self.game = Game(
            rules, num_players, episode=episode, engine=engine, reward=reward, reward_scale=reward_scale
        )
        config = np.zeros(1, CONFIG_DTYPE)
        config["skip"] = bool(skip_forced)
        config["mode"] = SAME_STEP
        config["kinds"][0, : self.game.num_players] = _kinds(bots, self.game.num_players)
        self._set_up(num_games, config, observation, mask, candidates, events, num_threads)
        self.reset(seed)

    def _set_up(
        self,
        num_games: int,
        config: NDArray[np.void],
        observation: str | None,
        mask: bool,
        candidates: bool,
        events: int,
        num_threads: int,
    ) -> None:
        """Allocate everything; ``config`` says how the games are played and is completed here."""
        self.num_games = count = _whole("num_games", num_games, 1)
        length = _whole("events", events, 0, MAX_EVENTS)
        self.num_threads = min(_whole("num_threads", num_threads, 1), count)
        game = self.game
        n = game.num_players
        self.encoding = game.encoding
        dtype = np.dtype(np.uint8) if observation is None else observation_dtype(observation)
        most = max_candidates(game.rules)
        size = self.encoding.size if observation is not None else 1

        config["reward"] = reward_code(game.reward)
        config["scale"] = game.reward_scale
        config["observe"] = observation is not None
        config["mask"] = bool(mask)
        config["candidates"] = bool(candidates)
        config["events"] = length
        self._config = config
        self._states = records(count, GAME_DTYPE)
        self._rules = game.rules_record.copy()
        self._meta = records(count, ROW_DTYPE)
        rows = {True: count, False: 1}  # of arrays that nobody reads there is one row
        self._rings = np.zeros((rows[length > 0], max(1, length), 4), np.int16)
        self._legal = np.zeros((count, most), np.int32)
        self._obs = np.zeros((rows[observation is not None], size), dtype)
        self._mask = np.zeros((rows[bool(mask)], game.num_actions if mask else 1), np.int8)
        self._rows = np.zeros((rows[bool(candidates)], most, NUM_FEATURES if candidates else 1), np.float32)
        self._events = np.zeros((rows[length > 0], max(1, length), 4), np.int16)
        final = bool(config["final"][0])
        self._final = np.zeros((rows[final], size if final else 1), dtype)
        self._scratch = [(new_scratch(), np.zeros((3, n))) for _ in range(self.num_threads)]
        self._actions = np.zeros(count, np.int64)
        self._all = np.ones(count, np.bool_)
        edges = [count * i // self.num_threads for i in range(self.num_threads + 1)]
        self._chunks = list(pairwise(edges))
        self._pool: ThreadPoolExecutor | None = None

        self.legal = self._legal
        self.observation = self._obs if observation is not None else None
        self.mask = self._mask if mask else None
        self.candidates = self._rows if candidates else None
        self.events = self._events if length else None
        self.seed = 0
        self._name_columns()

    def _name_columns(self) -> None:
        """Give the columns of the rows their public names."""
        n = self.game.num_players
        meta = self._meta
        self.seat: NDArray[np.int64] = meta["seat"]
        self.count: NDArray[np.int64] = meta["count"]
        self.rewards: NDArray[np.float64] = meta["rewards"][:, :n]
        self.ended: NDArray[np.int64] = meta["ended"]
        self.points: NDArray[np.int64] = meta["points"][:, :n]
        self.ranks: NDArray[np.float64] = meta["ranks"][:, :n]
        self.win_shares: NDArray[np.float64] = meta["shares"][:, :n]
        self.how: NDArray[np.int64] = meta["how"]
        self.lengths: NDArray[np.int64] = meta["final_steps"]
        self.episode_seed: NDArray[np.uint64] = meta["episode_seed"]
        self.formal: NDArray[np.int64] = meta["formal"]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy's columns must be those of its own rows: copied apart, they would never change again."""
        self.__dict__.update(state)
        self._name_columns()

    # --- playing ------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        """Deal the first episode of every game anew.

        Args:
            seed: as of the constructor.
        """
        self.seed = fresh_seed() if seed is None else check_seed(seed)
        seeds = np.array([mix(self.seed, i) for i in range(self.num_games)], np.uint64)
        self._start(self._all, seeds)

    def _start(self, which: NDArray[np.bool_], seeds: NDArray[np.uint64] | None) -> None:
        families = self._meta["row_seed"].copy() if seeds is None else seeds
        self._run(kernels.start, families, which, seeds is not None)

    def step(self, actions: NDArray[np.integer[Any]] | Sequence[int]) -> None:
        """Apply an action to each game and go on to the next decisions.

        Args:
            actions: ids, integers ``[N]``.

        Raises:
            ValueError: not an integer for each game, or one that is not legal; then nothing has happened.
        """
        given = self._checked(actions)
        bad = kernels.first_illegal(self._meta, self._legal, given)
        if bad >= 0:
            raise ValueError(f"game {bad}: {self._why_illegal(bad, int(given[bad]))}")
        self._run(kernels.advance, given, self._final, False, True)

    def step_randomly(self) -> NDArray[np.int64]:
        """Apply a random legal action to each game, chosen inside; the same as `step` of `random_actions`.

        Returns:
            The actions, int64 ``[N]`` (reused).
        """
        self._run(kernels.advance, self._actions, self._final, True, False)
        return self._actions

    def random_actions(self) -> NDArray[np.int64]:
        """A legal action for each game, each as likely: int64 ``[N]`` (reused).

        Game i draws from a stream of its own, which neither the deals nor the other games touch.
        """
        kernels.choose(self._meta, self._legal, self._actions)
        return self._actions

    def weighted_actions(self, weights: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
        """A legal action for each game, as likely as its weight: int64 ``[N]`` (reused).

        Args:
            weights: ``[N, at least count.max()]``, 0 or more, for the entries of ``legal``; they need not
                sum to 1. Probabilities of a network that scores candidate rows, for instance.

        Raises:
            ValueError: the wrong shape, or a game without a positive weight.
        """
        if weights.ndim != 2 or len(weights) != self.num_games or weights.shape[1] < self.count.max():
            raise ValueError(
                f"weights of shape {weights.shape}: must be ({self.num_games}, at least {self.count.max()})"
            )
        bad = kernels.choose_weighted(self._meta, self._legal, weights, self._actions)
        if bad >= 0:
            raise ValueError(
                f"weights of game {bad}: {weights[bad, : self.count[bad]].tolist()}: must be finite, 0 or "
                "more, one of them above 0"
            )
        return self._actions

    def _checked(self, actions: Any) -> NDArray[np.int64]:
        given = np.asarray(actions)
        if given.shape != (self.num_games,) or not np.issubdtype(given.dtype, np.integer):
            raise ValueError(
                f"actions of shape {given.shape} and type {given.dtype}: must be an integer for each of the "
                f"{self.num_games} games"
            )
        # One kind of array for compiled code: a read-only or strided one would compile it anew.
        return np.require(given, np.int64, ["C", "W"])

    def _run(self, function: Callable[..., None], *more: Any) -> None:
        """Call a kernel on all games, each chunk in a thread of its own."""
        arrays = (
            self._states, self._rules, self._meta, self._config, self._rings, self._legal, self._obs,
            self._mask, self._rows, self._events,
        )  # fmt: skip
        if self.num_threads == 1:
            function(*arrays, *self._scratch[0], *more, 0, self.num_games)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.num_threads, "mt_env-batch")
        waiting = [
            self._pool.submit(function, *arrays, *scratch, *more, low, high)
            for scratch, (low, high) in zip(self._scratch, self._chunks, strict=True)
        ]
        for one in waiting:
            one.result()

    # --- looking ------------------------------------------------------------------------------------------

    def state(self, game: int) -> State:
        """Game number ``game`` as a `State`: a copy, without the log of what came before.

        Raises:
            ValueError: no such game.
        """
        number = as_int(game)
        if number is None or not 0 <= number < self.num_games:
            raise ValueError(f"game={game!r}: must be from 0 to {self.num_games - 1}")
        return State(self.game, self._states[number : number + 1].copy())

    def _why_illegal(self, game: int, action: int) -> str:
        if self._meta["formal"][game]:
            return f"action {action}: the episode ended before its first decision; pass ends it"
        return why_illegal(self.state(game), action)

    @property
    def moves(self) -> int:
        """Moves applied in all games since the batch was made, forced ones and those of bots included."""
        return int(self._meta["moves"].sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays of the batch."""
        return sum(self.__dict__[f"_{name}"].nbytes for name in _CHANGING)

    # --- keeping ------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that what follows depends on, as arrays by name: copies, without objects or pickles in them.

        `set_state` of a batch with the same arguments (``num_threads`` may differ) goes on from there, bit
        for bit. What the arrays hold belongs to this version of the package.
        """
        kept = {name: self.__dict__[f"_{name}"].copy() for name in (*_SETTINGS, *_CHANGING)}
        return {"seed": np.array(self.seed, np.uint64), "code": _code(), **kept}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Become what `get_state` has kept.

        Raises:
            ValueError: it was kept by a batch with other arguments or by another version; then nothing has
                happened.
        """
        check_state(state, self.get_state(), (*_SETTINGS, "code"))
        for name in _CHANGING:
            self.__dict__[f"_{name}"][...] = state[name]
        self.seed = int(state["seed"])

    def close(self) -> None:
        """End the threads; a later step starts them again."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _code() -> NDArray[np.bytes_]:
    """What the compiled code of a step was made from: a state means something to the same code only."""
    return np.array(sources_key(Path(kernels.__file__)).encode())


def records(count: int, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Zeros whose first entry begins at a cache line; sizes of the records here are whole lines."""
    size = count * dtype.itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + size].view(dtype)


def check_state(
    state: Mapping[str, NDArray[Any]], own: Mapping[str, NDArray[Any]], equal: Sequence[str] = ()
) -> None:
    """Refuse a kept state that is not of the kind of ``own``.

    Args:
        state: as given.
        own: the same entries, of the object that is to become it.
        equal: names of entries that must be equal.

    Raises:
        ValueError: an entry is missing, has another shape or dtype, or is not equal.
    """
    for name, array in own.items():
        given = state.get(name)
        fits = given is not None and (given.shape, given.dtype) == (array.shape, array.dtype)
        if given is None or not fits or (name in equal and given.tobytes() != array.tobytes()):
            raise ValueError(
                f"state: its {name!r} does not fit; it must come from a batch with the same arguments and of "
                "the same version"
            )


def _kinds(bots: Sequence[str | None] | None, num_players: int) -> list[int]:
    """Policy of each seat, `CALLER` where the caller plays."""
    if bots is None:
        return [CALLER] * num_players
    if isinstance(bots, str) or len(bots) != num_players:
        raise ValueError(
            f"bots={bots!r}: must be {num_players} entries, a rule bot's name or None for each seat"
        )
    if None not in bots:
        raise ValueError(f"bots={bots!r}: one seat must be None, yours; bots alone play in mt_env.tournament")
    return [CALLER if bot is None else rule_bot_kind(bot) for bot in bots]


def rule_bot_kind(bot: object, name: str = "bots") -> int:
    """The compiled policy that ``bot`` (a name or an object) stands for.

    Raises:
        ValueError: it is none of the rule bots, which alone can play inside a batch.
    """
    kind = compiled_kind(make_bot(bot) if isinstance(bot, str) else bot)
    if kind is None:
        raise ValueError(f"{name}={bot!r}: only rule bots ({', '.join(KINDS)}) play inside a batch")
    return kind


def _whole(name: str, value: object, low: int, high: int | None = None) -> int:
    number = as_int(value)
    if number is None or number < low or (high is not None and number > high):
        wanted = f"from {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name}={value!r}: must be a whole number {wanted}")
    return number

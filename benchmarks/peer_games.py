"""Random legal play in environments of other libraries, each in the way that library's users write it.

A step is a decision of one player: observation and legal actions are asked for, one is chosen at random.
Chance events, resets and steps that only begin an episode cost time but do not count.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks.registry import FLOOR, YARDSTICK, Case, Step, UnavailableError

GAMES: Final = 1024
"""Of every batch."""

OURS: Final = "mt_env Batch"


@dataclass(frozen=True, slots=True)
class Peer:
    """A system to measure.

    Attributes:
        case: what is measured.
        library: where the environment comes from, for the table.
        pinned: whether its process is bound to one core, because it would take all there are.
    """

    case: Case
    library: str
    pinned: bool = False


def _yardstick() -> Step:
    from benchmarks.cases import CASES

    return CASES[YARDSTICK].prepare()


def _floor() -> Step:
    from benchmarks.cases import CASES

    return CASES[FLOOR].prepare()


def _batch() -> Step:
    from benchmarks.batches import random_batch

    return random_batch(GAMES)


def _batch_decisions() -> Step:
    from benchmarks.batches import random_batch

    return random_batch(GAMES, skip_forced=True)


def _aec() -> Step:
    from benchmarks.cases import CASES

    return CASES["AEC raw_env"].prepare()


def _aec_wrapped() -> Step:
    from benchmarks.cases import CASES

    return CASES["AEC env"].prepare()


def _rlcard() -> Step:
    import rlcard

    game = rlcard.make("uno", config={"seed": 1})
    random = Random(1).random
    state: Any = None

    def step(n: int) -> int:
        nonlocal state
        for _ in range(n):
            if state is None or game.is_over():
                state, _ = game.reset()
            legal = list(state["legal_actions"])
            state, _ = game.step(legal[int(random() * len(legal))])
        return n

    return step


def _drawn(outcomes: list[tuple[int, float]], point: float) -> int:
    """The outcome at ``point``, from 0 up to 1, of the distribution."""
    for outcome, likely in outcomes:
        point -= likely
        if point < 0:
            return outcome
    return outcomes[-1][0]


def _open_spiel(name: str) -> Step:
    import pyspiel

    game = pyspiel.load_game(name)
    random = Random(1).random
    has_observation = game.get_type().provides_observation_tensor
    state: Any = None

    def step(n: int) -> int:
        nonlocal state
        for _ in range(n):
            while state is None or state.is_terminal() or state.is_chance_node():
                if state is None or state.is_terminal():
                    state = game.new_initial_state()
                    continue
                state.apply_action(_drawn(state.chance_outcomes(), random()))
            if has_observation:
                state.observation_tensor()
            else:
                state.information_state_tensor()
            state.legal_actions_mask()
            legal = state.legal_actions()
            state.apply_action(legal[int(random() * len(legal))])
        return n

    return step


def _pgx() -> Step:
    import jax
    import jax.numpy as jnp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pgx
        from pgx.experimental.wrappers import auto_reset

        game = pgx.make("sparrow_mahjong")
    if jax.default_backend() != "cpu":
        raise UnavailableError("JAX has another device than the processor: set JAX_PLATFORMS=cpu")
    one_step = jax.vmap(auto_reset(game.step, game.init))

    @jax.jit
    def move(state: Any, key: Any) -> Any:
        key, chooses, deals = jax.random.split(key, 3)
        weights = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        action = jax.random.categorical(chooses, weights, axis=-1)
        return one_step(state, action, jax.random.split(deals, GAMES)), key

    key = jax.random.PRNGKey(1)
    state = jax.jit(jax.vmap(game.init))(jax.random.split(key, GAMES))

    def step(n: int) -> int:
        nonlocal state, key
        done = 0
        while done < n:
            state, key = move(state, key)
            state.observation.block_until_ready()
            done += GAMES
        return done

    return step


def _envpool() -> Step:
    import envpool

    games = envpool.make("SparrowMahjong-v1", env_type="gymnasium", num_envs=GAMES, num_threads=1, seed=1)
    random = np.random.default_rng(1).random
    _, info = games.reset()
    over = np.zeros(GAMES, np.bool_)

    def step(n: int) -> int:
        nonlocal info, over
        done = 0
        while done < n:
            legal = info["legal_action_mask"]
            action = (random(legal.shape, np.float32) * legal).argmax(1)
            done += GAMES - int(np.count_nonzero(over))  # after an end the action is ignored
            _, _, terminated, truncated, info = games.step(action)
            over = terminated | truncated
        return done

    return step


def _peer(name: str, library: str, meaning: str, prepare: Any, pinned: bool = False) -> Peer:
    return Peer(Case(name, "steps", meaning, prepare), library, pinned)


_ALL: Final = (
    _peer(YARDSTICK, "PettingZoo", "2 players, three wrappers: the yardstick", _yardstick),
    _peer("uno", "RLCard", "2 players", _rlcard),
    _peer("crazy_eights", "OpenSpiel", "5 players, from Python", lambda: _open_spiel("crazy_eights")),
    _peer("hearts", "OpenSpiel", "4 players, from Python", lambda: _open_spiel("hearts")),
    _peer("sparrow_mahjong", "Pgx", "3 players, 1024 games, JAX on one core", _pgx, True),
    _peer("SparrowMahjong", "EnvPool", "3 players, 1024 games, one thread", _envpool),
    _peer(FLOOR, "floor.c", "1024 games without rules", _floor),
    _peer(OURS, "mt_env", "4 players, 1024 games, uint8 and mask; all moves", _batch),
    _peer(f"{OURS}, decisions", "mt_env", "the same; forced moves are played, not counted", _batch_decisions),
    _peer("AEC raw_env", "mt_env", "4 players, as the yardstick without wrappers", _aec),
    _peer("AEC env", "mt_env", "4 players, as the yardstick", _aec_wrapped),
)
PEERS: Final[dict[str, Peer]] = {peer.case.name: peer for peer in _ALL}
"""Name -> system, in the order in which they are measured and shown."""

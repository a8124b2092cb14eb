"""What is measured: a registry of cases.

A case is a function that prepares something and returns ``step``: ``step(n)`` does about ``n`` units of work
and returns how many it did. Adding one is writing such a function under `case`; a case whose library is
missing raises `UnavailableError` with the reason.
"""

from __future__ import annotations

import importlib
import warnings
from random import Random
from typing import Any, Final

import numpy as np

from benchmarks import batches, loops
from benchmarks.floor import floor
from benchmarks.registry import CASES, FLOOR, YARDSTICK, Case, Step, UnavailableError, case
from mt_env import Game, MexicanTrainEnv, State, env, raw_env
from mt_env.bots import KINDS
from mt_env.candidates import NUM_FEATURES
from mt_env.core.policies import new_scratch
from mt_env.core.rollout import play_episodes
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL

__all__ = ["CASES", "FLOOR", "YARDSTICK", "Case", "Step", "UnavailableError", "pettingzoo_loop"]

SEATS: Final = 4
"""Seats of every case; the set is D12."""

# --- the yardstick ----------------------------------------------------------------------------------------


def pettingzoo_loop(game: Any) -> Step:
    """Random legal play as PettingZoo's documentation writes it; dead steps and resets cost time only."""
    random = Random(1).random
    game.reset(seed=1)

    def step(n: int) -> int:
        done = 0
        while done < n:
            observation, _, terminated, truncated, _ = game.last()
            if terminated or truncated:
                game.reset()
                continue
            legal = np.flatnonzero(observation["action_mask"])
            game.step(int(legal[int(random() * len(legal))]))
            done += 1
        return done

    return step


def _connect_four() -> Any:
    try:
        with warnings.catch_warnings():  # 1.27 deprecates importing it; 1.25 has no other way
            warnings.simplefilter("ignore", DeprecationWarning)
            return importlib.import_module("pettingzoo.classic.connect_four_v3")
    except ImportError as error:
        raise UnavailableError(f"{error}; pip install 'mt-env[bench]' brings it") from error


@case(YARDSTICK, "steps", "PettingZoo's connect_four_v3, its three wrappers: the yardstick")
def _connect_four_env() -> Step:
    return pettingzoo_loop(_connect_four().env())


@case("connect_four raw_env", "steps", "the same without wrappers")
def _connect_four_raw() -> Step:
    return pettingzoo_loop(_connect_four().raw_env())


@case(FLOOR, "moves", "floor.c, 1024 games: 50 ns of work, as many bytes as uint8 + mask: what must be paid")
def _floor() -> Step:
    game = Game("cover", SEATS)
    return floor(1024, game.encoding.size, game.num_actions)


# --- the core ---------------------------------------------------------------------------------------------


def _random_play(preset: str, look: bool, dtype: Any) -> Step:
    game = Game(preset, SEATS)
    states, rules = np.zeros(1, GAME_DTYPE), game.rules_record
    rng, legal = np.ones(1, np.uint64), np.zeros(MAX_LEGAL, np.int64)
    mask, out = np.zeros(game.num_actions, np.int8), np.zeros(game.encoding.size, dtype)
    loops.begin(states, rules, rng)

    def step(n: int) -> int:
        loops.random_moves(states, rules, n, rng, legal, mask, out, look)
        return n

    return step


def _candidate_play(preset: str) -> Step:
    game = Game(preset, SEATS)
    states, rules = np.zeros(1, GAME_DTYPE), game.rules_record
    rng, legal = np.ones(1, np.uint64), np.zeros(MAX_LEGAL, np.int64)
    rows, scratch = np.zeros((MAX_LEGAL, NUM_FEATURES), np.float32), new_scratch()
    loops.begin(states, rules, rng)

    def step(n: int) -> int:
        loops.random_moves_with_rows(states, rules, n, rng, legal, rows, scratch)
        return n

    return step


def _playouts(preset: str, kind: int) -> Step:
    rules = Game(preset, SEATS).rules_record
    states, scratch = np.zeros(1, GAME_DTYPE), new_scratch()
    dealt = 0

    def step(n: int) -> int:
        nonlocal dealt
        seeds = np.arange(dealt, dealt + n, dtype=np.uint64)
        dealt += n
        kinds = np.full((n, SEATS), kind, np.int64)
        points, ranks, shares = np.zeros((n, SEATS), np.int64), np.zeros((n, SEATS)), np.zeros((n, SEATS))
        play_episodes(states, rules, seeds, kinds, scratch, points, ranks, shares, np.zeros((n, 2), np.int64))
        return n

    return step


def _core_cases(preset: str) -> None:
    where = f"rules `{preset}`"
    case(f"core {preset} float32", "moves", f"random play, {where}; mask and float32 observation each move")(
        lambda: _random_play(preset, True, np.float32)
    )
    case(f"core {preset} uint8", "moves", f"random play, {where}; mask and uint8 observation each move")(
        lambda: _random_play(preset, True, np.uint8)
    )
    case(f"core {preset} bare", "moves", f"random play, {where}; legal ids only")(
        lambda: _random_play(preset, False, np.float32)
    )
    case(f"core {preset} candidates", "moves", f"random play, {where}; candidate rows each move")(
        lambda: _candidate_play(preset)
    )


def _playout_cases(preset: str) -> None:
    for name, kind in KINDS.items():
        case(f"playout {preset} {name}", "rounds", f"whole rounds, rules `{preset}`, four `{name}` bots")(
            lambda kind=kind: _playouts(preset, kind)  # type: ignore[misc]
        )


for _preset in ("cover", "spruce"):
    _core_cases(_preset)
for _preset in ("cover", "spruce"):
    _playout_cases(_preset)


@case("clone record, compiled", "copies", "copy of one game's record inside a kernel")
def _clone_record_compiled() -> Step:
    states, copies = np.zeros(1, GAME_DTYPE), np.zeros(64, GAME_DTYPE)

    def step(n: int) -> int:
        loops.clone_records(states, copies, n)
        return n

    return step


@case(
    "clone record, Python", "copies", "the same from Python, by way of bytes (`copy()` goes field by field)"
)
def _clone_record() -> Step:
    states = np.zeros(1, GAME_DTYPE)

    def step(n: int) -> int:
        for _ in range(n):
            np.frombuffer(bytearray(states.tobytes()), GAME_DTYPE)
        return n

    return step


# --- the faces --------------------------------------------------------------------------------------------


@case("State.clone", "copies", "copy of a game with its log, 40 moves into a round")
def _clone_state() -> Step:
    state, random = Game("spruce", SEATS).new_initial_state(1), Random(1)
    for _ in range(40):
        state.apply_action(random.choice(state.legal_actions()))

    def step(n: int) -> int:
        for _ in range(n):
            state.clone()
        return n

    return step


@case("State.apply_action", "moves", "random play: legal_actions(), apply_action()")
def _state_moves() -> Step:
    game, choice = Game("spruce", SEATS), Random(1).choice
    state: State | None = None
    dealt = 0

    def step(n: int) -> int:
        nonlocal state, dealt
        for _ in range(n):
            if state is None or state.is_terminal():
                state = game.new_initial_state(dealt)
                dealt += 1
            state.apply_action(choice(state.legal_actions()))
        return n

    return step


@case("AEC raw_env", "steps", "raw_env(): last(), choice from the mask by flatnonzero, step()")
def _aec_raw() -> Step:
    return pettingzoo_loop(raw_env(SEATS))


@case("AEC raw_env step alone", "steps", "raw_env(): step() with a choice from legal_actions()")
def _aec_step() -> Step:
    game, choice = raw_env(SEATS), Random(1).choice
    game.reset(seed=1)

    def step(n: int) -> int:
        for _ in range(n):
            legal = game.legal_actions()
            if not legal:
                game.reset()
                legal = game.legal_actions()
            game.step(choice(legal))
        return n

    return step


@case("AEC env", "steps", "the same loop on env(), PettingZoo's three wrappers")
def _aec_wrapped() -> Step:
    return pettingzoo_loop(env(SEATS))


def gymnasium_loop(game: Any) -> Step:
    """Random legal play of the learner of a Gymnasium environment with the mask in ``info``."""
    random = Random(1).random
    _, info = game.reset(seed=1)

    def step(n: int) -> int:
        nonlocal info
        for _ in range(n):
            legal = np.flatnonzero(info["action_mask"])
            _, _, terminated, truncated, info = game.step(int(legal[int(random() * len(legal))]))
            if terminated or truncated:
                _, info = game.reset()
        return n

    return step


@case("Gymnasium, random", "steps", "decisions of the learner; three `random` bots play in between")
def _gym_random() -> Step:
    return gymnasium_loop(MexicanTrainEnv(SEATS, opponents="random"))


@case("Gymnasium, planner-fast", "steps", "the same with three `planner-fast` bots")
def _gym_planner() -> Step:
    return gymnasium_loop(MexicanTrainEnv(SEATS, opponents="planner-fast"))


@case("Gymnasium, candidates", "steps", "three `random` bots; dict observation with candidate rows")
def _gym_candidates() -> Step:
    return gymnasium_loop(MexicanTrainEnv(SEATS, opponents="random", obs_mode="dict", candidates=True))


# --- many games at once: a module of its own --------------------------------------------------------------

batches.enter()

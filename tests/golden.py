"""Golden games: whole games as text, each step readable; `make golden` rewrites them.

A file is rewritten by replaying the actions in it, so that a change of the rules shows where it matters;
from the first action that is no longer legal on, or without a file, actions are drawn at random. A
difference that is not meant is a bug; one that is meant raises the environments' version.
"""

from __future__ import annotations

import hashlib
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mt_env.bots import KINDS, play_episode
from mt_env.game import Game, State
from mt_env.rng import Rng, mix
from mt_env.rules import PRESETS
from mt_env.tiles import tile_to_string

FOLDER = Path(__file__).resolve().parent / "golden"
LARGEST = 40_000
"""Bytes of a file: more than that nobody reads."""


class Golden(NamedTuple):
    """A game that has a file. A preset's file is named after it."""

    name: str
    rules: str
    seats: int
    seed: int
    episode: Any = "round"
    reward: str = "zero_sum"

    def game(self) -> Game:
        return Game(self.rules, self.seats, episode=self.episode, reward=self.reward)


GAMES = (
    Golden("spruce", "spruce;set=6", 3, 17),
    Golden("wikihow", "wikihow;set=6;hand_size=6", 3, 42, reward="points"),
    Golden("dominos_cc", "dominos_cc;set=6;hand_size=6", 3, 53, reward="win"),
    Golden("cover", "cover;set=6;hand_size=6", 3, 2, reward="rank"),
    Golden("match", "spruce;set=4;hand_size=4", 2, 10, "match"),
)


# ---- One game as text --------------------------------------------------------------------------------------


def numbers(values: list[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


def digit(count: int) -> str:
    """One character for a small count, ``.`` for 0."""
    return "." if not count else "0123456789abcdefghijklmnopqrstuvwxyz"[count] if count < 36 else f"({count})"


def observed(state: State, seat: int) -> str:
    """What ``seat`` observes: the fields that are not all 0, as counts, axes apart by ``/``."""
    encoding = state.game.encoding
    counts = state.observation(seat) * encoding.scales
    whole = np.rint(counts).astype(int)
    assert np.allclose(counts, whole, atol=1e-3)
    words = []
    for name, values in encoding.split(whole).items():
        if values.any():
            rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else [values.reshape(-1)]
            words.append(f"{name}=" + "/".join("".join(map(digit, row.tolist())) for row in rows))
    return " ".join(words)


def before_move(state: State, number: int) -> Iterator[str]:
    seat = state.current_player()
    legal = [state.action_to_string(action) for action in state.legal_actions()]
    yield f"\nmove {number}, seat {seat}"
    yield f"  position  {state.to_position()}"
    yield f"  hand      {' '.join(map(tile_to_string, state.view(seat).hand))}"
    yield f"  observes  {observed(state, seat)}"
    yield f"  legal     {' '.join(legal)}"
    yield f"  ids       {' '.join(map(str, state.legal_actions()))}"


def after_move(state: State, rounds: int) -> Iterator[str]:
    if any(state.rewards()) or len(state.dealt) > rounds or state.is_terminal():
        yield f"  the round is over: {state.how}, points {numbers(state.round_scores())}"
        yield f"  totals    {numbers(state.totals())}"
        yield f"  rewards   {numbers(state.rewards())}"
        yield f"  returns   {numbers(state.returns())}"
    yield f"  bytes     {zlib.crc32(state.record.tobytes()):08x}"


def recorded(name: str) -> list[str]:
    """The actions in a file, none if there is no file."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.split()[1] for line in lines if line.startswith("  plays ")]


def text_of(golden: Golden, actions: list[str], strict: bool = False) -> str:
    """The game as text.

    Args:
        golden: which game.
        actions: what is played, by name.
        strict: refuse actions that are not legal, and a game that does not end with them; otherwise it goes
            on at random.

    Raises:
        ValueError: an action is not legal, or some are missing.
    """
    game, rng = golden.game(), random.Random(golden.name)
    state = game.new_initial_state(golden.seed)
    whole = hashlib.sha256(state.record.tobytes())
    fields = " ".join(f"{name}:{part.stop - part.start}" for name, part in game.encoding.slices.items())
    lines = [
        "# A golden game, see docs/testing.md. Rewritten by `make golden`, replayed by test_golden.py.",
        f"game      {game!r}",
        f"seed      {golden.seed}",
        f"observes  {game.encoding.size} numbers: {fields}",
        f"bytes     {zlib.crc32(state.record.tobytes()):08x}",
    ]
    plays = iter(actions)
    while not state.is_terminal():
        lines += before_move(state, len(state.history()) + 1)
        legal, play = state.legal_actions(), next(plays, "")
        if strict:
            action = state.string_to_action(play)
        else:
            texts = [state.action_to_string(action) for action in legal]
            if play not in texts:
                plays, play = iter(()), rng.choice(texts)
            action = state.string_to_action(play)
        rounds = len(state.dealt)
        state.apply_action(action)
        lines.append(f"  plays     {play}")
        lines += after_move(state, rounds)
        whole.update(state.record.tobytes())
    if strict and next(plays, None) is not None:
        raise ValueError("the game is over before its last action")
    lines += ["", f"over after {len(state.history())} moves", f"ranks     {numbers(state.ranks())}"]
    lines += [f"shares    {numbers(state.win_shares())}", f"returns   {numbers(state.returns())}"]
    for seat in range(golden.seats):
        lines += ["", f"what seat {seat} has seen:"]
        lines += ["  " + line for line in state.information_state(seat).splitlines() if line]
    lines += ["", f"sha256 of all records: {whole.hexdigest()}"]
    return "\n".join(lines) + "\n"


# ---- Digests of larger games -------------------------------------------------------------------------------


def digest_line(rules: str, seats: int, episode: Any, seed: int) -> str:
    """One line for a game in which move k is legal action ``mix(seed, k)`` modulo their number."""
    game = Game(rules, seats, episode=episode)
    state = game.new_initial_state(seed)
    records, observations, k = hashlib.sha256(state.record.tobytes()), hashlib.sha256(), 0
    while not state.is_terminal():
        legal = state.legal_actions()
        observations.update(state.observation(state.current_player()).astype("<f4").tobytes())
        state.apply_action(legal[mix(seed, k) % len(legal)])
        records.update(state.record.tobytes())
        k += 1
    totals = "/".join(map(str, state.totals()))
    return (
        f"{rules} seats={seats} {episode} seed={seed}: {k} moves, {state.how}, totals {totals}, records "
        f"{records.hexdigest()[:16]}, observations {observations.hexdigest()[:16]}"
    )


DIGESTS = (
    *((preset, seats, "round", seed) for preset in PRESETS for seats in (2, 4) for seed in (0, 1)),
    *((preset, 8, "round", 2**64 - 1) for preset in ("spruce", "wikihow", "cover")),
    *((preset, 14, "round", 7) for preset in ("spruce", "cover")),
    ("spruce;drawn_tile=may;open_order=any;opening_double_binds=yes", 5, "round", 3),
    ("wikihow;draws_per=turn;extra_tile=on_double;dead_double=lifts", 3, "round", 3),
    ("dominos_cc;out_on_double=no;block_test=stuck;double_blank=25", 3, "round", 3),
    ("cover;out_on_double=yes;block_test=passes;own_first=yes;mexican_from=lap_2", 6, "round", 3),
    *((preset, 3, "match", 5) for preset in PRESETS),
)
"""Rules, seats, episode and seed of the games of digests.txt."""


def digests() -> str:
    """The text of digests.txt."""
    random_numbers = Rng(1)
    head = [
        "# The bytes of larger games, see docs/testing.md: equal on every platform.",
        f"# Rng(1): {' '.join(f'{random_numbers.below(10**9):09d}' for _ in range(6))}",
    ]
    return "\n".join(head + [digest_line(*what) for what in DIGESTS]) + "\n"


# ---- Games of the rule bots --------------------------------------------------------------------------------


def bot_line(bot: str, preset: str) -> str:
    """One line for a match of two small rounds in which ``bot`` holds every seat."""
    state = play_episode(Game(f"{preset};set=6;hand_size=6;rounds=2", 3, episode="match"), bot, 5)
    moves = hashlib.sha256(" ".join(map(str, state.history())).encode()).hexdigest()[:16]
    totals = "/".join(map(str, state.totals()))
    return f"{bot} {preset}: {len(state.history())} moves, totals {totals}, actions {moves}"


def bot_lines() -> str:
    """The text of bots.txt."""
    head = "# Games of the rule bots, see docs/testing.md: a name fixes how a bot plays."
    return "\n".join([head, *(bot_line(bot, preset) for bot in KINDS for preset in PRESETS)]) + "\n"


def main() -> None:
    """Rewrite all files."""
    FOLDER.mkdir(exist_ok=True)
    for golden in GAMES:
        text = text_of(golden, recorded(golden.name))
        (FOLDER / f"{golden.name}.txt").write_text(text, encoding="utf-8")
        print(f"{golden.name}.txt: {len(text)} bytes")
    (FOLDER / "digests.txt").write_text(digests(), encoding="utf-8")
    (FOLDER / "bots.txt").write_text(bot_lines(), encoding="utf-8")
    print("digests.txt, bots.txt")


if __name__ == "__main__":
    main()

from __future__ import annotations

import functools
import json
import pickle
import random
import struct
import zlib
from typing import Any

import pytest
from short_games import PLAIN, changed, play, random_game

from mt_env.game import Game, State
from mt_env.invariants import invariants
from mt_env.notation import parse_position
from mt_env.rng import Rng


@functools.cache
def states_to_keep() -> list[State]:
    found = [parse_position(PLAIN), play(parse_position(changed(PLAIN, hands="3-7/1-2/0-3")), "3-7@0")]
    for seed in range(6):
        game = random_game(seed)
        rng = random.Random(seed)
        state = game.new_initial_state(seed)
        stop = rng.randrange(400)
        while not state.is_terminal() and len(state.history()) < stop:
            state.apply_action(rng.choice(state.legal_actions()))
        found += [state, state.resample_from_infostate(0, Rng(seed))]
    return found


@pytest.mark.parametrize("index", range(14))
def test_bytes_keep_everything(index: int) -> None:
    state = states_to_keep()[index]
    for again in (State.from_bytes(state.to_bytes()), pickle.loads(pickle.dumps(state))):
        assert again == state and again.to_bytes() == state.to_bytes()
        assert again.game == state.game and again.log == state.log and again.history() == state.history()
        assert again.returns() == state.returns() and again.rewards() == state.rewards()
        assert again.legal_actions() == state.legal_actions()
        for seat in range(state.game.num_players):
            assert again.information_state(seat) == state.information_state(seat)
        assert again.record.dtype == state.record.dtype and again.record.shape == (1,)
        if not again.is_terminal():
            again.apply_action(again.legal_actions()[0])


def test_rewards_of_the_last_action_survive_in_the_next_round() -> None:
    state = Game("dominos_cc", 2, episode="match").new_initial_state(2)
    while not any(state.rewards()):
        state.apply_action(state.legal_actions()[0])
    assert state.record["round"][0] == 1
    again = State.from_bytes(state.to_bytes())
    assert again.rewards() == state.rewards() and any(again.rewards())


def test_damaged_bytes_are_refused() -> None:
    state = play(parse_position(PLAIN), "3-7@0")
    data = state.to_bytes()
    rng = random.Random(0)
    for bad in (b"", data[:10], data[:-1], data + b"\0", b"X" + data[1:], b"\0" * len(data)):
        with pytest.raises(ValueError, match="state bytes"):
            State.from_bytes(bad)
    for _ in range(300):
        i, flip = rng.randrange(len(data)), rng.randrange(1, 256)
        with pytest.raises(ValueError, match="state bytes"):
            State.from_bytes(data[:i] + bytes([data[i] ^ flip]) + data[i + 1 :])
    for kind in (None, "text", 5):
        with pytest.raises(ValueError, match="must be bytes"):
            State.from_bytes(kind)  # type: ignore[arg-type]


def sealed(body: bytes) -> bytes:
    return body + struct.pack("<I", zlib.crc32(body))


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_lie_are_refused_or_hold_a_sound_state(seed: int) -> None:
    """The checksum is right, the content is not: never a crash, never a state that breaks an invariant."""
    state = states_to_keep()[2 * seed]
    body = state.to_bytes()[:-4]
    rng = random.Random(seed)
    refused = 0
    for _ in range(400):
        bad = bytearray(body)
        # half of them in the record, which stands last
        start = len(body) - state.record.nbytes if rng.random() < 0.5 else 0
        bad[rng.randrange(start, len(bad))] ^= 1 << rng.randrange(8)
        try:
            found = State.from_bytes(sealed(bytes(bad)))
        except ValueError as error:
            assert str(error).startswith("state bytes: ")
            refused += 1
        else:
            assert not invariants(found)
            found.information_state(0)
            str(found)
            if not found.is_terminal():
                found.apply_action(found.legal_actions()[0])
    assert refused > 200


def with_header(state: State, **changes: Any) -> bytes:
    data = state.to_bytes()
    magic, version, length = struct.unpack_from("<8sHI", data)
    header = json.loads(data[14 : 14 + length])
    header.update(changes)
    text = json.dumps(header).encode()
    return sealed(struct.pack("<8sHI", magic, version, len(text)) + text + data[14 + length : -4])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rules": "sprce"}, "must begin with a preset"),
        ({"rules": 5}, ""),
        ({"rules": ["spruce"]}, ""),
        ({"num_players": 4}, ""),
        ({"num_players": "3"}, "num_players"),
        ({"episode": "match"}, ""),
        ({"engine": 3}, ""),
        ({"reward": "best"}, ""),
        ({"history": []}, "log and history"),
        ({"history": None}, "history is no list"),
        ({"history": [[1]]}, "history holds"),
        ({"log": []}, ""),
        ({"log": 7}, ""),
        ({"log": [["hello", 0, 0, 0, []]]}, "unknown kind"),
        ({"log": [[["x"], 0, 0, 0, []]]}, ""),
        ({"dealt": []}, "hands at the deal"),
        ({"dealt": [["zz"]]}, ""),
        ({"drawn": [300]}, "drawn"),
        ({"known": 99}, "known"),
        ({"start": None}, "start"),
        ({"start": "00"}, "a record has"),
        ({"extra": 1}, "other fields"),
    ],
)
def test_a_header_that_lies_is_refused(changes: dict[str, Any], words: str) -> None:
    state = play(parse_position(PLAIN), "3-7@0")
    assert State.from_bytes(with_header(state)) == state
    with pytest.raises(ValueError, match=f"state bytes: .*{words}"):
        State.from_bytes(with_header(state, **changes))


def test_another_version_is_refused() -> None:
    data = parse_position(PLAIN).to_bytes()
    with pytest.raises(ValueError, match="version 9, this package reads 1"):
        State.from_bytes(sealed(data[:8] + struct.pack("<H", 9) + data[10:-4]))


# ---- Invariants --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "index", "value"),
    [
        ("hands", (1, 0), 0), ("table", (0,), 0), ("hand_sizes", (0,), 9), ("unplayed", (3,), 99),
        ("ends", (0,), 99), ("lengths", (0,), 90), ("markers", (2,), 3), ("markers", (9,), 1),
        ("boneyard", (0,), 90), ("drawn", (), 4), ("boneyard_size", (), 1), ("num_open", (), 1),
        ("num_owed", (), 1), ("open_trains", (3,), 1), ("turn", (), 3), ("leader", (), 7),
        ("phase", (), 1), ("phase", (), 2), ("how", (), 1), ("lap", (), 0), ("engine", (), 3),
        ("round", (), 5), ("passes", (), 3), ("spare", (4,), 1), ("unable", (0, 0), 9),
        ("unable", (0, 18), 1), ("zero_rounds", (1,), 1), ("best_round", (0,), 5), ("rounds_done", (), 1),
        ("totals", (0,), -1), ("num_players", (), 4), ("num_tiles", (), 90), ("max_pip", (), 11),
        ("points", (5,), 1), ("ends", (9,), 1), ("hands", (2, 2), 1 << 60),
        ("hands", (0, 0), (1 << 64) - 1),
    ],
)  # fmt: skip
def test_every_invariant_can_fail(field: str, index: tuple[int, ...], value: int) -> None:
    state = Game("dominos_cc", 3, engine=12).new_initial_state(3)
    for _ in range(12):
        state.apply_action(state.legal_actions()[0])
    assert invariants(state) == []
    state.record[field][(0, *index)] = value
    problems = invariants(state)
    assert problems and all(isinstance(problem, str) for problem in problems)

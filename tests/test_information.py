"""Nothing that a seat or its bot gets depends on what is hidden from it.

Games of every preset and number of seats are stopped every few moves. There the hidden tiles are dealt anew,
once by `State.resample_from_infostate` and once by a shuffle written here, and everything that one seat is
given is compared byte for byte. The same comparison finds a bot and an encoder that peek.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from mt_env import PRESETS, Game, Rng, State, parse_position, raw_env
from mt_env.bots import BotLike, CompiledBot, bot_names, resolve_bot
from mt_env.candidates import CandidateWriter
from mt_env.core.state import NO_TILE
from mt_env.events import DRAW
from mt_env.observation import encode
from mt_env.view import tiles_in

Encoder = Callable[[State, int], bytes]
"""What a seat sees of a state."""

BOTS: Mapping[str, BotLike] = {name: resolve_bot(name) for name in bot_names()}
"""Every bot with a name, as the tests are collected: other tests give names to bots that fail."""

SLOW = 5
"""At every so many stops only: environments take longest."""


def shuffled(state: State, seat: int, rng: random.Random) -> State:
    """Another game that ``seat`` cannot tell from ``state``, written into the record without help."""
    other = State(state.game, state.record.copy())
    s, n = other.record[0], state.game.num_players
    size = int(s["boneyard_size"])
    pool = s["boneyard"][:size].tolist()
    hidden = [i for i in range(n) if i != seat]
    for i in hidden:
        pool += tiles_in(s["hands"][i])
    rng.shuffle(pool)
    s["boneyard"][:size] = [pool.pop() for _ in range(size)]
    for i in hidden:
        hand = [pool.pop() for _ in range(int(s["hand_sizes"][i]))]
        bits = sum(1 << tile for tile in hand)
        s["hands"][i] = [bits >> shift & (1 << 64) - 1 for shift in (0, 64, 128)]
        if s["turn"] == i and s["drawn"] != NO_TILE:
            s["drawn"] = rng.choice(hand)
    assert not pool
    s["seed"] = rng.getrandbits(64)
    other.log = list(state.log)
    other._history = state.history()
    other.start = state.start
    other.dealt = [
        tuple(hand if i == seat else rng.getrandbits(state.game.num_tiles) for i, hand in enumerate(hands))
        for hands in state.dealt
    ]
    draws = [event.seat for event in state.log if event.kind == DRAW]
    other.drawn_tiles = [
        tile if drawer == seat else rng.randrange(state.game.num_tiles)
        for drawer, tile in zip(draws, state.drawn_tiles, strict=True)
    ]
    other.known = 1 << seat
    return other


def small_observation(state: State, seat: int) -> bytes:
    out = np.zeros(state.game.encoding.size, np.uint8)
    encode(state.record[0], state.game.rules_record[0], seat, out)
    return out.tobytes()


ENCODERS: Mapping[str, Encoder] = {
    "observation": lambda state, seat: state.observation(seat).tobytes(),
    "uint8 observation": small_observation,
}


def seen_by(state: State, seat: int, encoders: Mapping[str, Encoder] = ENCODERS) -> dict[str, object]:
    """What ``seat`` is given."""
    view = state.view(seat)
    mine = state.current_player() == seat
    return {
        **{name: encode(state, seat) for name, encode in encoders.items()},
        "board": str(view),
        "record of the view": view.record.tobytes(),
        "log": view.log,
        "legal actions": view.legal_actions,
        "mask": state.legal_actions_mask().tobytes() if mine else None,
        "information state": state.information_state(seat),
        "candidates": candidates(state) if mine else None,
    }


def candidates(state: State) -> dict[str, bytes]:
    legal = state.legal_actions()
    padded = np.array(legal, np.int64)
    writer = CandidateWriter(state.game.rules)
    rules = state.game.rules_record.copy()
    return {
        name: rows.tobytes() for name, rows in writer.write(state.record, rules, padded, len(legal)).items()
    }


def chosen_by(state: State, bots: Mapping[str, BotLike]) -> dict[str, object]:
    """What each bot chooses for the seat to move, and where that leaves its generator."""
    seat, found = state.current_player(), dict[str, object]()
    for name, source in bots.items():
        bot, rng = resolve_bot(source), Rng(7)
        found[f"bot {name}"] = bot.act(state.view(seat), rng), int(rng.state[0])
        if hasattr(bot, "choose"):  # how environments run a rule bot: on the whole record
            rng = Rng(7)
            action = bot.choose(state.record, state.game.rules_record, rng)
            found[f"bot {name}, compiled"] = action, int(rng.state[0])
    return found


class Tables:
    """The environment at the same point, with any record put under it."""

    def __init__(self, game: Game, seed: int) -> None:
        arguments: Any = {"num_players": game.num_players, "rules": game.rules.rules, "episode": game.episode}
        self.real, self.other = raw_env(**arguments), raw_env(**arguments)
        self.real.reset(seed=seed)

    def seen_by(self, state: State, seat: int, action: int) -> dict[str, object]:
        """What the agent of ``seat`` is given now, and after it has played ``action``, without an end."""
        table = self.other
        table.set_state({**self.real.get_state(), "record": state.record})
        found = {"AEC": self._given(seat)}
        rounds = int(state.record["rounds_done"][0])
        if action >= 0:
            table.step(action)
            after = int(table.get_state()["record"]["rounds_done"][0])
            found["AEC, one action on"] = self._given(seat) if after == rounds else None
        return found

    def _given(self, seat: int) -> object:
        table, agent = self.other, f"player_{seat}"
        observation = {name: array.tobytes() for name, array in table.observe(agent).items()}
        infos = {
            key: value.tobytes() if isinstance(value, np.ndarray) else value
            for key, value in table.infos[agent].items()
        }
        return observation, infos, table.legal_actions(agent), table.agent_selection, table.rewards


def differences(one: dict[str, object], two: dict[str, object]) -> list[str]:
    """Names of what is not equal."""
    assert one.keys() == two.keys()
    return [name for name in one if one[name] != two[name]]


def own_play(state: State, seat: int) -> int:
    """An action of ``seat`` after which nothing new is to be seen: neither a draw nor another seat's."""
    if state.current_player() != seat:
        return -1
    return next((action for action in state.legal_actions() if action != state.game.draw_action), -1)


def worlds(state: State, seat: int, rng: random.Random) -> list[State]:
    return [shuffled(state, seat, rng), state.resample_from_infostate(seat, Rng(rng.getrandbits(64)))]


def check_game(game: Game, seed: int, every: int, slow: bool = True) -> int:
    """Play one game and compare at every ``every``-th move; returns how often."""
    rng = random.Random(seed)
    tables = Tables(game, seed)
    state = game.new_initial_state(tables.real.episode_seed)
    moves = stops = 0
    while not state.is_terminal():
        if (moves + seed) % every == 0:
            mover = state.current_player()
            for seat in {mover, rng.randrange(game.num_players)}:
                thorough = slow and stops % SLOW == 0
                mine = seen_by(state, seat)
                bots = chosen_by(state, BOTS) if seat == mover else {}
                action = own_play(state, seat)
                table = tables.seen_by(state, seat, action) if thorough else {}
                for other in worlds(state, seat, rng):
                    assert differences(mine, seen_by(other, seat)) == []
                    if seat == mover:
                        assert differences(bots, chosen_by(other, BOTS)) == []
                    if thorough:
                        there = tables.seen_by(other, seat, action)
                        ended = "AEC, one action on" in table and (
                            table["AEC, one action on"] is None or there["AEC, one action on"] is None
                        )  # others' hands may decide whether the round is blocked
                        names = differences(table, there)
                        assert names == [] or (ended and names == ["AEC, one action on"])
            stops += 1
        action = rng.choice(state.legal_actions())
        tables.real.step(action)
        state.apply_action(action)
        moves += 1
    return stops


SEATS = [(preset, n) for preset, rules in PRESETS.items() for n in rules.seats()]


@pytest.mark.parametrize(("preset", "n"), SEATS)
def test_a_round(preset: str, n: int) -> None:
    assert check_game(Game(preset, n), seed=n, every=5) > 3


@pytest.mark.parametrize("preset", PRESETS)
def test_a_match(preset: str) -> None:
    rules = PRESETS[preset].replace(set=6, hand_size=5, rounds=3, first_engine=None)
    assert check_game(Game(rules, 4, episode="match"), seed=3, every=7) > 3


def test_a_position_while_another_seat_has_drawn() -> None:
    line = (
        "rules=spruce;drawn_tile=may seats=3 set=9 engine=9 lap=3 turn=0 hands=3-7,5-6/1-2,4-4/0-0,1-4 "
        "trains=7/3*/- mexican=4 open= owes=- drawn=3-7 boneyard=3-4,0-8,2-6 passes=0"
    )
    rng = random.Random(0)
    for seat in range(3):
        state = parse_position(line)
        for _ in range(20):
            for other in worlds(state, seat, rng):
                assert differences(seen_by(state, seat), seen_by(other, seat)) == []


# ---- The comparison can fail -------------------------------------------------------------------------------


class Peeker(CompiledBot):
    """A rule bot whose kernel has got at the next tile of the boneyard."""

    def choose(self, record: Any, rules_record: Any, rng: Rng) -> int:
        legal = State(Game("cover", 4), record.copy()).legal_actions()
        size = int(record["boneyard_size"][0])
        return legal[int(record["boneyard"][0, size - 1]) % len(legal)] if size else legal[0]


class Grabber:
    """A bot that reads a game instead of its view."""

    def __init__(self, state: State) -> None:
        self.state = state

    def act(self, view: Any, rng: Rng) -> int:
        neighbour = (view.seat + 1) % view.num_players
        return view.legal_actions[sum(self.state.hand(neighbour)) % len(view.legal_actions)]


def peeking_encoder(state: State, seat: int) -> bytes:
    out = state.observation(seat)
    out[-1] = sum(state.hand((seat + 1) % state.game.num_players))
    return out.tobytes()


def choices_of(make: Callable[[State], BotLike]) -> list[str]:
    """What the comparison says of a bot over a game."""
    rng, state, found = random.Random(1), Game("cover", 4).new_initial_state(1), list[str]()
    while not state.is_terminal():
        seat = state.current_player()
        mine = chosen_by(state, {"planted": make(state)})
        for other in worlds(state, seat, rng):
            found += differences(mine, chosen_by(other, {"planted": make(other)}))
        state.apply_action(rng.choice(state.legal_actions()))
    return found


def test_bots_that_peek_are_found() -> None:
    assert "bot planted, compiled" in choices_of(lambda state: Peeker("random"))
    assert "bot planted" in choices_of(Grabber)
    assert choices_of(lambda state: CompiledBot("random")) == []


def test_an_encoder_that_peeks_is_found() -> None:
    state, rng = Game("cover", 4).new_initial_state(1), random.Random(1)
    encoders = {**ENCODERS, "peeking": peeking_encoder}
    found = [
        differences(seen_by(state, seat, encoders), seen_by(other, seat, encoders))
        for seat in range(4)
        for other in worlds(state, seat, rng)
    ]
    assert set(map(tuple, found)) <= {(), ("peeking",)} and found.count(["peeking"]) > 4


def test_a_record_that_is_not_masked_is_found() -> None:
    state, rng = Game("spruce", 3).new_initial_state(1), random.Random(1)
    encoders = {"record": lambda state, seat: state.record.tobytes()}
    for other in worlds(state, 0, rng):
        assert differences(seen_by(state, 0, encoders), seen_by(other, 0, encoders)) == ["record"]


def test_an_environment_that_tells_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def state_as_info(self: Any) -> dict[str, Any]:
        return {"action_mask": self.state()}

    game, rng = Game("cover", 4), random.Random(1)
    tables = Tables(game, 1)
    state = game.new_initial_state(tables.real.episode_seed)
    while own_play(state, state.current_player()) < 0:
        tables.real.step(state.legal_actions()[0])
        state.apply_action(state.legal_actions()[0])
    seat = state.current_player()
    action, other = own_play(state, seat), shuffled(state, seat, rng)
    assert differences(tables.seen_by(state, seat, action), tables.seen_by(other, seat, action)) == []
    monkeypatch.setattr(raw_env, "_info", state_as_info)
    found = differences(tables.seen_by(state, seat, action), tables.seen_by(other, seat, action))
    assert found == ["AEC, one action on"]

"""Bots: the faces of the compiled ones, names, and what becomes of wrong answers."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import types

import numpy as np
import pytest
from strategies_rules import random_valid_rules

from mt_env import bots
from mt_env.bots import (
    Bot,
    BotError,
    CompiledBot,
    FunctionBot,
    ask_bot,
    bot_name,
    bot_names,
    compiled_kind,
    make_bot,
    play_episode,
    register,
    register_family,
    registry,
    resolve_bot,
    seat_bots,
    start_bot,
)
from mt_env.core import policies
from mt_env.core.rollout import play_episodes
from mt_env.core.state import GAME_DTYPE
from mt_env.game import Game
from mt_env.rng import Rng
from mt_env.rules import PRESETS
from mt_env.view import View

RULE_BOTS = ("random", "heaviest", "planner", "planner-fast", "doubles_first", "tactician")
TABLES = [(name, n) for name in PRESETS for n in (2, 4, 8) if n in PRESETS[name].seats()]


@pytest.fixture(autouse=True)
def _registry_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    monkeypatch.setattr(registry, "_families", dict(registry._families))


def first(view: View, rng: Rng) -> int:
    return view.legal_actions[0]


class Stubborn:
    """Answers whatever it was given; raises it if it is an exception."""

    name = "stubborn"

    def __init__(self, answer: object = 0) -> None:
        self.answer = answer

    def act(self, view: View, rng: Rng) -> int:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer  # type: ignore[return-value]


# --- compiled bots ----------------------------------------------------------------------------------------


class Through:
    """A rule bot behind a face of its own, so that it is called with views."""

    def __init__(self, name: str) -> None:
        self.bot = make_bot(name)

    def act(self, view: View, rng: Rng) -> int:
        return self.bot.act(view, rng)


@pytest.mark.parametrize(("rules", "n"), TABLES)
@pytest.mark.parametrize("episode", ["round", "match"])
def test_a_rule_bot_chooses_as_inside_the_kernel(rules: str, n: int, episode: str) -> None:
    if episode == "match":
        rules += ";rounds=2"
    game = Game(rules, n, episode=episode)  # type: ignore[arg-type]
    for seed in range(2 if n == 8 else 5):
        names = [RULE_BOTS[(seed + seat) % len(RULE_BOTS)] for seat in range(n)]
        kinds = [bots.KINDS[name] for name in names]
        states = np.zeros(1, GAME_DTYPE)
        outs = np.zeros((1, n), np.int64), np.zeros((1, n)), np.zeros((1, n)), np.zeros((1, 2), np.int64)
        play_episodes(
            states,
            game.rules_record,
            np.array([seed], np.uint64),
            np.array([kinds]),
            policies.new_scratch(),
            *outs,
        )
        state = play_episode(game, [Through(name) for name in names], seed)
        assert state.record.tobytes() == states.tobytes()
        assert state.totals() == outs[0][0].tolist()
        assert play_episode(game, names, seed) == state


@pytest.mark.parametrize("name", bots.KINDS)
def test_a_rule_bot_chooses_alike_whatever_is_hidden(name: str) -> None:
    """On games of all presets, and of random rules."""
    dice = random.Random(4)
    tables: list[Game] = [Game(rules, n) for rules, n in TABLES]
    tables += [Game(random_valid_rules(dice, n), n) for n in (2, 3, 5) for _ in range(3)]
    bot, shuffle, compared = make_bot(name), Rng(1), 0
    for seed, game in enumerate(tables):
        state, moves = game.new_initial_state(seed), Rng(seed)
        while not state.is_terminal():
            seat = state.current_player()
            if len(state.legal_actions()) > 1 and moves.below(4) == 0:
                other = state.resample_from_infostate(seat, shuffle)
                once, again = Rng(seed), Rng(seed)
                assert bot.act(state.view(seat), once) == bot.act(other.view(seat), again)
                direct = CompiledBot(name).choose(other.record, game.rules_record, Rng(seed))
                assert direct == bot.act(state.view(seat), Rng(seed))
                assert once.state == again.state
                compared += 1
            state.apply_action(moves.choice(state.legal_actions()))
    assert compared > 50


def test_a_rule_bot_does_not_play_out_of_turn() -> None:
    state = Game().new_initial_state(1)
    other = (state.current_player() + 1) % 4
    with pytest.raises(ValueError, match=f"not the turn of seat {other}"):
        CompiledBot("random").act(state.view(other), Rng(0))


def test_a_rule_bot_can_be_copied() -> None:
    state = Game().new_initial_state(1)
    view = state.view(state.current_player())
    bot = CompiledBot("planner")
    for twin in (copy.deepcopy(bot), pickle.loads(pickle.dumps(bot))):
        assert (twin.name, twin.kind) == ("planner", policies.PLANNER)
        assert twin.act(view, Rng(0)) == bot.act(view, Rng(0))


def test_compiled_kind() -> None:
    class Mine(CompiledBot):
        __slots__ = ()

        def act(self, view: View, rng: Rng) -> int:
            return view.legal_actions[-1]

    assert compiled_kind(make_bot("heaviest")) == policies.HEAVIEST
    assert compiled_kind(Mine("heaviest")) is None  # it plays its own way
    assert compiled_kind(FunctionBot(first)) is None


def test_the_rule_bots_are_there_under_their_names() -> None:
    assert bot_names()[: len(RULE_BOTS)] == RULE_BOTS
    for name in RULE_BOTS:
        assert bot_name(make_bot(name)) == name
        assert isinstance(make_bot(name), Bot)


# --- names ------------------------------------------------------------------------------------------------


def test_registered_bots_are_found() -> None:
    register("stubborn", Stubborn)
    register("first", lambda: FunctionBot(first))
    assert "stubborn" in bot_names() and "first" in bot_names()
    assert isinstance(make_bot("stubborn"), Stubborn)
    assert make_bot("stubborn") is not make_bot("stubborn")
    assert bot_name(resolve_bot("first")) == "first"


def test_a_taken_name_is_refused_unless_replaced() -> None:
    register("mine", Stubborn)
    with pytest.raises(ValueError, match="'mine': taken"):
        register("mine", lambda: FunctionBot(first))
    register("mine", lambda: FunctionBot(first), replace=True)
    assert isinstance(make_bot("mine"), FunctionBot)
    with pytest.raises(ValueError, match="belongs to a rule bot"):
        register("planner", Stubborn, replace=True)


@pytest.mark.parametrize("name", ["", "a b", "x:y", "-x", None])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        register(name, Stubborn)


def test_a_bad_factory_is_refused() -> None:
    with pytest.raises(ValueError, match="must be callable"):
        register("mine", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="called with 0 arguments"):
        register("mine", first)  # type: ignore[arg-type]
    register("mine", lambda: 3)  # type: ignore[arg-type, return-value]
    with pytest.raises(ValueError, match="'mine', its factory's result=3"):
        make_bot("mine")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("planer", "did you mean 'planner'"),
        ("planner fast", "did you mean 'planner-fast'"),
        ("zzz", "known are random"),
    ],
)
def test_an_unknown_name_says_what_is_near(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make_bot(name)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    module = types.ModuleType("some_bots")
    module.__dict__.update(Stubborn=Stubborn, made=Stubborn(7), first=first, number=3)
    monkeypatch.setitem(sys.modules, "some_bots", module)
    return "some_bots"


def test_bots_are_found_by_import_path(module: str) -> None:
    assert isinstance(make_bot(f"{module}:Stubborn"), Stubborn)
    assert make_bot(f"{module}:made") is sys.modules[module].made  # type: ignore[attr-defined]
    assert bot_name(make_bot(f"{module}:first")) == "first"
    register("lazy", f"{module}:Stubborn")
    assert isinstance(make_bot("lazy"), Stubborn)


def test_a_wrong_import_path_says_what_is_wrong(module: str) -> None:
    with pytest.raises(ValueError, match="some_bots has no Stubbron; did you mean 'Stubborn'"):
        make_bot(f"{module}:Stubbron")
    with pytest.raises(ValueError, match="cannot import no_such_module"):
        make_bot("no_such_module:Bot")
    with pytest.raises(ValueError, match="some_bots:number'=3: must be"):
        make_bot(f"{module}:number")


BROKEN = {
    "syntax": ("def f(:\n", "importing {0} raised SyntaxError: invalid syntax"),
    "name": ("nothing\n", "importing {0} raised NameError: name 'nothing' is not defined"),
    "leaves": ("import sys\nsys.exit()\n", "importing {0} raised SystemExit$"),
    "constructor": (
        "class Bot:\n    def __init__(self):\n        raise RuntimeError('no weights')\n\n"
        "    def act(self, view, rng):\n        return 0\n",
        "Bot: making it raised RuntimeError: no weights",
    ),
    "constructor_exit": (
        "import sys\n\n\nclass Bot:\n    def __init__(self):\n        sys.exit(0)\n\n"
        "    def act(self, view, rng):\n        return 0\n",
        "Bot: making it raised SystemExit: 0",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_code_that_raises_as_the_bot_is_made(case: str, tmp_path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    code, says = BROKEN[case]
    (tmp_path / f"broken_{case}.py").write_text(code)
    with pytest.raises(ValueError, match=f"^bot 'broken_{case}:Bot'.*{says.format(f'broken_{case}')}"):
        make_bot(f"broken_{case}:Bot")


@pytest.mark.parametrize(
    ("error", "says"), [(OSError("gone"), "OSError: gone"), (SystemExit(), "SystemExit")]
)
def test_a_factory_that_raises(error: BaseException, says: str) -> None:
    def factory() -> Bot:
        raise error

    def family(_: str) -> Bot:
        raise error

    register("breaks", factory, replace=True)
    register_family("broken", family, replace=True)
    for name in ("breaks", "broken:x"):
        with pytest.raises(ValueError, match=f"^bot '{name}': its factory raised {says}$"):
            make_bot(name)


def test_a_family_of_names() -> None:
    def policy(name: str) -> Bot:
        if name != "demo":
            raise ValueError(f"no policy {name!r}")
        return Stubborn(name)

    register_family("net", policy)
    assert make_bot("net:demo").answer == "demo"  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="no policy 'x'"):
        make_bot("net:x")
    with pytest.raises(ValueError, match=r"cannot import nett .*did you mean 'net'"):
        make_bot("nett:demo")
    with pytest.raises(ValueError, match="taken"):
        register_family("net", policy)


def test_what_stands_for_a_bot() -> None:
    made = Stubborn()
    assert resolve_bot(made) is made
    assert isinstance(resolve_bot(Stubborn), Stubborn)
    assert bot_name(resolve_bot(first)) == "first"
    assert isinstance(resolve_bot("random"), CompiledBot)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (3, "bot=3: must be a bot's name, an object"),
        (None, "bot=None: must be"),
        (int, "class needs a method act"),
        (CompiledBot, "class needs arguments"),
        (lambda view: 0, "must take \\(view, rng\\)"),
    ],
)
def test_what_does_not_stand_for_a_bot(source: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        resolve_bot(source)  # type: ignore[arg-type]


class Keeps(Stubborn):
    """A bot that wants to know when an episode begins."""

    started: tuple[object, ...] = ()

    def reset(self, game: Game, seat: int, seed: int) -> None:
        self.started = (game, seat, seed)


def test_bots_for_several_seats() -> None:
    assert [bot_name(bot) for bot in seat_bots("planner", 2)] == ["planner", "planner"]
    assert [bot_name(bot) for bot in seat_bots(["random", first, Stubborn], 3)] == [
        "random",
        "first",
        "stubborn",
    ]
    one = Stubborn()
    assert seat_bots(one, 2) == [one, one]
    apart = seat_bots(Keeps, 2)
    assert apart[0] is not apart[1]
    with pytest.raises(ValueError, match="opponents: 2 given; give one for all seats, or a list of 3"):
        seat_bots(["random", "random"], 3, "opponents")
    keeps = Keeps()
    for source in (keeps, [keeps, "random", keeps]):
        with pytest.raises(ValueError, match="'stubborn' object cannot hold several seats"):
            seat_bots(source, 3)  # type: ignore[arg-type]


def test_start_bot() -> None:
    game, bot = Game(), Keeps()
    start_bot(bot, game, 2, 7)
    assert bot.started == (game, 2, 7)
    start_bot(make_bot("random"), game, 2, 7)  # it does not want to know

    class Broken(Keeps):
        def reset(self, game: Game, seat: int, seed: int) -> None:
            raise KeyError("x")

    class Leaves(Keeps):
        def reset(self, game: Game, seat: int, seed: int) -> None:
            sys.exit(0)

    with pytest.raises(BotError, match="'stubborn' in seat 2: reset raised KeyError: 'x'"):
        start_bot(Broken(), game, 2, 7)
    with pytest.raises(BotError, match="'stubborn' in seat 2: reset raised SystemExit: 0"):
        start_bot(Leaves(), game, 2, 7)


# --- answers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "act returned None; it must return an action id"),
        (1.0, "act returned 1.0; it must"),
        (True, "act returned True; it must"),
        ("draw", "act returned 'draw'; it must"),
        (455, r"act returned 455 \(draw\), which is not legal; legal are \d+ \(\d+-\d+@\d\)"),
        (-1, "act returned -1, which is not legal"),
        (9999, "act returned 9999, which is not legal"),
        (ZeroDivisionError("so"), "act raised ZeroDivisionError: so"),
        (SystemExit(), "act raised SystemExit$"),
    ],
)
def test_a_wrong_answer_is_reported_with_the_bots_name(answer: object, says: str) -> None:
    state = Game().new_initial_state(1)
    seat = state.current_player()
    with pytest.raises(BotError, match=f"bot 'stubborn' in seat {seat}: {says}") as caught:
        ask_bot(Stubborn(answer), state.view(seat), Rng(0))
    assert (caught.value.bot, caught.value.seat) == ("stubborn", seat)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_right_answer_becomes_an_int() -> None:
    state = Game().new_initial_state(1)
    view = state.view(state.current_player())
    action = ask_bot(Stubborn(np.int32(view.legal_actions[0])), view, Rng(0))
    assert type(action) is int and action == view.legal_actions[0]


def test_a_bot_asked_out_of_turn_is_not_blamed_for_its_answer() -> None:
    state = Game().new_initial_state(1)
    other = (state.current_player() + 1) % 4
    with pytest.raises(BotError, match="not its turn"):
        ask_bot(Stubborn(0), state.view(other), Rng(0))

"""Malformed input of every kind: ``python tests/fuzz_inputs.py --cases 20000 --seed 1``.

Position lines, action texts, rules texts, YAML, state bytes and command lines are broken in many ways. Each
must be taken, or refused with an error that the docs promise and that says something; a position or state
that is taken must be sound and can be played to its end. Case k depends on the seed and k only. At the first
failure the input is printed with the command that repeats it, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import random
import signal
import struct
import sys
import time
import traceback
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from strategies_rules import random_valid_rules

from mt_env import PRESETS, Game, Rng, Rules, State, load_rules, parse_position
from mt_env.cli import build_parser, main
from mt_env.invariants import invariants

LIMIT = 2.0
"""Seconds of the processor that a case may take: a busy machine is no finding."""

STUCK = 30.0
"""Seconds after which the process is given up: compiled code cannot be interrupted."""

_HERE = Path(__file__).resolve().parent
_CONFIGS = sorted((_HERE.parent / "configs" / "rules").glob("*.yaml"))


class TooSlowError(Exception):
    """A case took longer than `LIMIT`."""


# ---- Inputs that are right ---------------------------------------------------------------------------------

LINES: list[str] = [
    *(case["position"] for case in yaml.safe_load((_HERE / "cases.yaml").read_text(encoding="utf-8"))),
    "rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,1-4 trains=7/3*/- mexican=4 "
    "open=0,M owes=- drawn=- boneyard=3-4,0-9 passes=0 leader=1 drew=1 round=0 "
    "totals=0/10/20 lengths=3/1/0/2",
]

YAMLS: list[str] = [
    *(path.read_text(encoding="utf-8") for path in _CONFIGS),
    *(rules.to_yaml() for rules in PRESETS.values()),
    "{preset: cover, set: 9, hand_size: 10}\n",
    "base: &a {preset: cover}\n<<: *a\nset: 9\n",
]

ACTIONS = ("3-7@0", "12-12@M", "0-0@m", "draw", "pass", " Draw ", "7-3 @ 1", "10-11@13")

COMMANDS: list[list[str]] = [
    ["tournament", "--bots", "planner,random", "--deals", "5", "--seed", "1", "--rules", "cover;set=9"],
    ["tournament", "--bots=heaviest,random", "--engine", "random", "--episode", "match", "--quiet"],
    ["tournament", "--bots", "random,random", "--seats", "2", "--engine", "12", "--out", "x.json"],
    ["rules", "spruce;set=9;hand_size=10", "--seats", "4"],
    ["position", LINES[0]],
    ["bots"],
    ["--version"],
]

PIECES: list[str] = [
    "", "-", "--", "=", ";", ",", "/", "*", "@", "M", "#1", "'", '"', "\\", "%s", "{}", "$(x)", "--help",
    "0", "-1", "1.0", "1e9", "00", "+1", "13", "19", "99", "255", "256", "65535", "65536", "4294967296",
    "18446744073709551616", "9" * 30, "9" * 5000, "\u0663", "\u00b2", "\u00bd", "\uff11\uff12",
    "\0", "\t", "\n", "\r\n", "\u2028", "\ufeff", "\u00a0", "\ud800", "\u00e9", "\U0001f4a5", "a" * 3000,
    "yes", "no", "none", "null", "true", "nan", "inf", "all", "random", "0-0", "12-12", "7-3", "-/-/-",
    "spruce", "cover", "../x.yaml", "x.yml", ".yaml",
    "!!bool x", "!!int x", "!!timestamp x", "!!float x", "!!binary x", "!!set {a}", "!!omap [1]", "!!pairs x",
    "!!python/name:os.system", "&a [*a]", "*a", "<<: *a", "? {a: b}", "2001-13-45", "1:99:99", "0x", "0b1",
    "0o9", "[" * 2000, "{" * 500, "- " * 900, "%YAML 9.9\n---\n", "|\n", ">-\n",
]  # fmt: skip
"""What breaks inputs: extremes, other scripts' digits, separators, and tags that YAML knows."""


def sound_state(rng: random.Random) -> State:
    """A state anywhere in a game of any rules."""
    if rng.random() < 0.2:
        state = parse_position(rng.choice(LINES))
    else:
        n = rng.choice((2, 2, 3, 4, rng.randint(2, 14)))
        kind: Any = rng.choice(("round", "match"))
        state = Game(random_valid_rules(rng, n), n, episode=kind).new_initial_state(rng.getrandbits(64))
    for _ in range(rng.choice((0, 3, 30, rng.randrange(150)))):
        if state.is_terminal():
            break
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def sound_line(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(LINES)
    state = sound_state(rng)
    return rng.choice(LINES) if state.is_terminal() else state.to_position()


def rules_text(rng: random.Random) -> str:
    n = rng.randint(2, 14)
    return rng.choice((*PRESETS, random_valid_rules(rng, n).to_text()))


# ---- Ways to break them ------------------------------------------------------------------------------------


def broken(rng: random.Random, text: str, piece: Callable[[], str]) -> str:
    """``text`` after one to four changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        if rng.random() < 0.7:
            j = min(j, i + rng.randint(1, 6))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:i] + text[j:]
        elif kind == 1:
            text = text[:i] + piece() + text[i:]
        elif kind == 2:
            text = text[:i] + piece() + text[j:]
        elif kind == 3:
            text = text[:j] + text[i:j] + text[j:]
        elif kind == 4:
            text = text[:i] + text[i:j][::-1] + text[j:]
        else:
            text = text[:i] + chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) + text[i + 1 :]
    return text


def broken_line(rng: random.Random) -> str:
    line = sound_line(rng)
    if rng.random() < 0.3:
        return broken(rng, line, lambda: rng.choice(PIECES))
    parts = line.split(" ")
    for _ in range(rng.choice((1, 1, 2, 3))):
        i = rng.randrange(len(parts))
        key, _, value = parts[i].partition("=")
        kind = rng.randrange(7)
        others = dict(part.split("=", 1) for part in sound_line(rng).split(" "))
        if kind == 0:
            value = rng.choice(PIECES)
        elif kind == 1:
            value = broken(rng, value, lambda: rng.choice(PIECES))
        elif kind in (2, 3):
            value = others.get(key, rng.choice(list(others.values())))
        elif kind == 4:
            value = str(rng.randrange(-1, 20))
        elif kind == 5:
            numbers = [k for k, char in enumerate(value) if char.isdigit()]
            if numbers:
                k = rng.choice(numbers)
                value = value[:k] + str(rng.randrange(10)) + value[k + 1 :]
        elif rng.random() < 0.5:
            parts.append(f"{rng.choice(list(others))}={rng.choice(list(others.values()))}")
            continue
        else:
            del parts[i]
            if not parts:
                break
            continue
        parts[i] = f"{key}={value}"
    return " ".join(parts)


def broken_value(rng: random.Random, value: Any) -> Any:
    """A JSON value of the header changed somewhere inside."""
    if isinstance(value, list) and value and rng.random() < 0.8:
        value = list(value)
        i = rng.randrange(len(value))
        kind = rng.randrange(4)
        if kind == 0:
            del value[i]
        elif kind == 1:
            value.insert(i, value[i])
        else:
            value[i] = broken_value(rng, value[i])
        return value
    if type(value) is int and rng.random() < 0.6:
        return value + rng.choice((-1, 1, 7, 1 << 40))
    if isinstance(value, str) and rng.random() < 0.6:
        return broken(rng, value, lambda: rng.choice(PIECES))
    return rng.choice(
        (
            None,
            True,
            -1,
            0,
            3,
            255,
            1 << 70,
            1e308,
            float("inf"),
            float("nan"),
            "",
            "x",
            "cover",
            [],
            [[]],
            {},
        )
    )


def sealed(body: bytes) -> bytes:
    return body + struct.pack("<I", zlib.crc32(body))


def broken_bytes(rng: random.Random) -> bytes:
    data = sound_state(rng).to_bytes()
    kind = rng.random()
    if kind < 0.1:
        return rng.randbytes(rng.choice((0, 5, 30, 500)))
    if kind < 0.2:
        i, j = sorted(rng.randrange(len(data)) for _ in range(2))
        return rng.choice((data[:i], data[i:], data[:i] + data[j:], data + data[i:j]))
    magic, version, length = struct.unpack_from("<8sHI", data)
    text, record = data[14 : 14 + length], bytearray(data[14 + length : -4])
    if kind < 0.5:
        for _ in range(rng.choice((1, 1, 2, 8))):
            record[rng.randrange(len(record))] = rng.choice((0, 1, 2, 255, rng.randrange(256)))
    elif kind < 0.9:
        header = json.loads(text)
        for _ in range(rng.choice((1, 1, 2))):
            name = rng.choice(list(header))
            header[name] = broken_value(rng, header[name])
        if rng.random() < 0.05:
            header.pop(rng.choice(list(header)))
        text = json.dumps(header).encode()
    else:
        text = broken(rng, text.decode(), lambda: rng.choice(PIECES)).encode(errors="replace")
    length = len(text) if rng.random() < 0.97 else rng.getrandbits(32)
    return sealed(struct.pack("<8sHI", magic, version, length) + text + record)


def broken_command(rng: random.Random) -> list[str]:
    words = list(rng.choice(COMMANDS))
    for _ in range(rng.choice((1, 1, 2, 3))):
        i, kind = rng.randrange(len(words) + 1), rng.randrange(4)
        if kind == 0 or i == len(words):
            words.insert(i, rng.choice((*PIECES, *(word for command in COMMANDS for word in command))))
        elif kind == 1:
            words[i] = broken(rng, words[i], lambda: rng.choice(PIECES))
        elif kind == 2:
            words[i] = rng.choice(PIECES)
        elif len(words) > 1:
            del words[i]
    return words


# ---- What must hold ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _taken() -> Iterator[None]:
    """What follows works on an input that was taken: nothing may be refused any more."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise AssertionError(f"taken, but then refused: {error}") from error


@_taken()
def played_out(state: State, rng: random.Random) -> None:
    """``state`` is sound and can be played to an end."""
    problems = invariants(state)
    assert not problems, problems
    n = state.game.num_players
    str(state)
    state.information_state(rng.randrange(n))
    state.observation(rng.randrange(n))
    assert State.from_bytes(state.to_bytes()) == state
    moves, most = 0, state.game.max_game_length
    while not state.is_terminal():
        legal = state.legal_actions()
        assert legal
        state.apply_action(rng.choice(legal))
        moves += 1
        assert moves <= most, f"more than {most} moves"
    assert not invariants(state), invariants(state)


def line_case(line: str, rng: random.Random) -> None:
    state = parse_position(line)
    with _taken():
        again = state.to_position()
        assert parse_position(again).to_position() == again
    played_out(state, rng)


def action_case(text: str, rng: random.Random) -> None:
    state = sound_state(rng)
    if rng.random() < 0.7 and not state.is_terminal():
        any_id = rng.randrange(state.game.num_actions)
        text = state.action_to_string(rng.choice((any_id, *state.legal_actions())))
        if rng.random() < 0.7:
            text = broken(rng, text, lambda: rng.choice(PIECES))
    action = state.string_to_action(text)
    with _taken():
        assert state.string_to_action(state.action_to_string(action)) == action
    before = state.to_bytes()
    try:
        state.apply_action(action)
    except ValueError:
        assert state.to_bytes() == before
        raise
    played_out(state, rng)


def id_case(action: object, rng: random.Random) -> None:
    state = sound_state(rng)
    before = state.to_bytes()
    try:
        state.apply_action(action)  # type: ignore[arg-type]
    except ValueError:
        assert state.to_bytes() == before
        raise
    played_out(state, rng)


def deal(rules: Rules, rng: random.Random) -> None:
    with _taken():
        assert Rules.from_text(rules.to_text()) == rules
        assert Rules.from_yaml_text(rules.to_yaml()) == rules
        rules.explain()
        seats = rules.seats()
        if not seats:  # the options go together, but no table can deal so: resolve() says that
            return
        state = Game(rules, rng.choice(seats)).new_initial_state(rng.getrandbits(64))
    played_out(state, rng)


def rules_case(text: str, rng: random.Random) -> None:
    deal(load_rules(text), rng)


def yaml_case(text: str | bytes, rng: random.Random) -> None:
    deal(Rules.from_yaml_text(text), rng)


def bytes_case(data: bytes, rng: random.Random) -> None:
    try:
        state = State.from_bytes(data)
    except ValueError as error:
        assert str(error).startswith("state bytes: "), error
        raise
    played_out(state, rng)


def command_case(words: list[str], rng: random.Random) -> None:
    try:
        build_parser().parse_args(words)
    except SystemExit as stop:
        assert stop.code in (0, None)  # --help, --version


def run_case(words: list[str], rng: random.Random) -> None:
    """Commands that only read: an exit code, nothing raised, one line on stderr."""
    err = io.StringIO()
    if words[-1] == "-":  # that would read stdin
        return
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
        code = main(words)
    assert code in (0, 2), code
    assert (code == 2) == bool(err.getvalue().strip())
    assert len(err.getvalue().splitlines()) <= 1, err.getvalue()


def _noise(rng: random.Random) -> str:
    return rng.randbytes(rng.choice((1, 8, 60))).decode("latin-1")


def _yaml_input(rng: random.Random) -> str | bytes:
    text = broken(rng, rng.choice(YAMLS), lambda: rng.choice(PIECES))
    if rng.random() < 0.3:
        name = rng.choice(("set", "preset", "own_first", "rounds", "x"))
        text = f"{name}: {rng.choice(PIECES)}\n"
    return text if rng.random() < 0.7 else text.encode("utf-8", "surrogatepass")


def _run_input(rng: random.Random) -> list[str]:
    word = rng.choice(("position", "rules"))
    text = (
        broken_line(rng) if word == "position" else broken(rng, rules_text(rng), lambda: rng.choice(PIECES))
    )
    return [word, "--", text]


def _id_input(rng: random.Random) -> object:
    return rng.choice(
        (
            -1, 1 << 70, rng.randrange(3000), 1.0, float("nan"), "3", None, True, [0], b"0", 2**31, -(2**63),
            object,
        )
    )  # fmt: skip


class Kind(NamedTuple):
    """One kind of input."""

    make: Callable[[random.Random], Any]
    check: Callable[[Any, random.Random], None]
    weight: int


KINDS: dict[str, Kind] = {
    "line": Kind(broken_line, line_case, 8),
    "action": Kind(lambda rng: broken(rng, rng.choice(ACTIONS), lambda: rng.choice(PIECES)), action_case, 3),
    "id": Kind(_id_input, id_case, 1),
    "rules": Kind(lambda rng: broken(rng, rules_text(rng), lambda: rng.choice(PIECES)), rules_case, 3),
    "yaml": Kind(_yaml_input, yaml_case, 4),
    "bytes": Kind(broken_bytes, bytes_case, 6),
    "command": Kind(broken_command, command_case, 3),
    "run": Kind(_run_input, run_case, 2),
    "noise line": Kind(_noise, line_case, 1),
    "noise rules": Kind(_noise, rules_case, 1),
    "noise yaml": Kind(lambda rng: rng.randbytes(rng.choice((3, 40))), yaml_case, 1),
    "noise action": Kind(_noise, action_case, 1),
}


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` in the main thread after ``seconds`` of its work, where the system can do so."""

    def stop(*_: object) -> None:
        raise TooSlowError(f"more than {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class FailureError(Exception):
    """A case that did not go as it must."""


def fuzz_case(seed: int, k: int, only: str | None = None) -> tuple[str, bool]:
    """Case ``k`` of ``seed``; its kind and whether the input was taken.

    Raises:
        FailureError: something else than taking or refusing happened.
    """
    rng = random.Random(f"{seed}/{k}")
    names = list(KINDS)
    name = only or rng.choices(names, [kind.weight for kind in KINDS.values()])[0]
    given = KINDS[name].make(rng)
    started = time.process_time()
    try:
        with _limited(LIMIT), contextlib.redirect_stdout(io.StringIO()):
            KINDS[name].check(given, rng)
        took = True
    except (ValueError, OSError) as error:
        if not str(error).strip():
            raise FailureError(_story(seed, k, only, name, given, "an error without words")) from error
        took = False
    except Exception as error:  # whatever else: that is what is looked for
        raise FailureError(_story(seed, k, only, name, given, traceback.format_exc())) from error
    if time.process_time() - started > LIMIT:
        raise FailureError(_story(seed, k, only, name, given, f"took more than {LIMIT} s"))
    return name, took


def _story(seed: int, k: int, only: str | None, name: str, given: object, what: str) -> str:
    again = f"python tests/fuzz_inputs.py --seed {seed} --start {k} --cases 1"
    again += f" --kind '{only}'" if only else ""
    return f"case {k} of seed {seed}, {name}: {given!r}\n{what}\nto repeat it: {again}"


def command_line(argv: list[str] | None = None) -> int:
    """The command; 1 if a case failed, else 0."""
    parser = argparse.ArgumentParser(prog="tests/fuzz_inputs.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000, metavar="N", help="cases (2000)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, other cases (0)")
    parser.add_argument("--start", type=int, default=0, metavar="K", help="begin with case K (0)")
    parser.add_argument("--kind", choices=KINDS, help="only this kind of input")
    parser.add_argument("--go-on", action="store_true", help="count failures and go on")
    args = parser.parse_args(argv)
    if args.cases < 1 or args.start < 0:
        parser.error("--cases begins at 1, --start at 0")
    warm_up()
    began, failures = time.monotonic(), 0
    taken: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for k in range(args.start, args.start + args.cases):
        faulthandler.dump_traceback_later(STUCK, exit=True, file=sys.__stderr__)
        try:
            name, took = fuzz_case(args.seed, k, args.kind)
        except FailureError as failure:
            print(failure, file=sys.stderr)
            failures += 1
            if not args.go_on:
                break
            continue
        given[name] += 1
        taken[name] += took
    faulthandler.cancel_dump_traceback_later()
    for name in KINDS:
        if given[name]:
            print(f"{name:<13} {given[name]:>7} cases, {taken[name]:>6} taken")
    print(f"{given.total()} cases in {time.monotonic() - began:.0f} s, seed {args.seed}, {failures} failed")
    return 1 if failures else 0


def warm_up() -> None:
    """Compile, so that no case pays for it."""
    state = Game(num_players=2).new_initial_state(0)
    for action in set(range(state.game.num_actions)) - set(state.legal_actions()):
        with contextlib.suppress(ValueError):
            state.apply_action(action)
    state.resample_from_infostate(0, Rng(0))
    played_out(state, random.Random(0))


if __name__ == "__main__":
    sys.exit(command_line())

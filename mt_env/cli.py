"""The command ``mexican-train``.

Results go to stdout, progress and timings to stderr. Exit codes: 0 done, 1 a bot failed, 2 a wrong argument
(one line on stderr says what would be right), 3 a worker process died, 4 ``evaluate --verify`` had
nobody to play a consistent file again, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final, cast

from mt_env import __version__
from mt_env.cli_arena import add_tournament
from mt_env.cli_common import (
    INTERRUPTED,
    OK,
    PROG,
    RULES_HELP,
    SEATS,
    WRONG_ARGUMENT,
    Parser,
    add_command,
    whole,
)
from mt_env.cli_evaluate import add_evaluate
from mt_env.cli_report import add_report

MAX_PERFT_DEPTH: Final = 1000
"""`mt_env.core.perft.MAX_DEPTH`, here without loading the core."""


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(prog=PROG, description="Mexican Train dominoes: tournaments of bots, rules, positions.")
    parser.add_argument("--version", action="version", version=f"mt_env {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    add_tournament(commands)
    add_report(commands)
    add_evaluate(commands)
    _add_rules(commands)
    _add_position(commands)
    _add_perft(commands)
    _add_bots(commands)
    return parser


# --- rules ------------------------------------------------------------------------------------------------


def _add_rules(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = add_command(
        commands,
        "rules",
        "print the options of a rule set and what is dealt",
        "Each option is shown with its value,\nthe clause of docs/rules.md and what it means.",
        ["", "cover", "'spruce;set=9;hand_size=10' --seats 4", "configs/rules/example_house_rules.yaml"],
    )
    parser.add_argument("rules", nargs="?", default="spruce", metavar="RULES", help=f"{RULES_HELP}")
    parser.add_argument("--seats", type=SEATS, metavar="N", help="the deal for this number of seats only")
    parser.set_defaults(run=_rules)


def _rules(args: argparse.Namespace) -> int:
    from mt_env.rules import load_rules

    rules = load_rules(args.rules)
    deals = [rules.resolve(seats) for seats in ([args.seats] if args.seats else rules.seats())]
    print(rules.to_text())
    print()
    print(rules.explain())
    print()
    print("seats  set  hand  boneyard  rounds  engines")
    for deal in deals:
        engines = f"{deal.engines[0]}" + (f" to {deal.engines[-1]}" if deal.rounds > 1 else "")
        print(
            f"{deal.num_players:>5}  {deal.set:>3}  {deal.hand_size:>4}  {deal.boneyard_size:>8}  "
            f"{deal.rounds:>6}  {engines}"
        )
    return OK


# --- position ---------------------------------------------------------------------------------------------


def _add_position(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = add_command(
        commands,
        "position",
        "print the board of a position line and the legal actions",
        "The line's language is\ndescribed in docs/rules.md. Each action is shown as id and text.",
        [
            "'rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,1-4 trains=7/3*/- "
            "mexican=4 open=0,M owes=- drawn=- boneyard=3-4,0-9 passes=0'",
            "- < position.txt",
        ],
    )
    parser.add_argument(
        "line", nargs="+", metavar="LINE", help="the line (quote it), or - to read it from stdin"
    )
    parser.set_defaults(run=_position)


def _position(args: argparse.Namespace) -> int:
    from mt_env.notation import parse_position

    line = " ".join(args.line)
    state = parse_position(sys.stdin.readline() if line == "-" else line)
    print(state)
    legal = state.legal_actions()
    print(f"legal actions of seat {state.current_player()}:")
    for action in legal:
        print(f"{action:>6}  {state.action_to_string(action)}")
    return OK


# --- perft ------------------------------------------------------------------------------------------------


def _add_perft(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = add_command(
        commands,
        "perft",
        "count the games that can follow a position",
        "For each depth up to N: sequences of\nexactly that many legal actions, sequences that ended the "
        "round by then, and a checksum over the\nstates reached, as in the files of tests/perft.",
        [
            "'rules=spruce seats=3 set=12 engine=12 lap=2 turn=0 hands=3-7,5-5/1-2/0-0,1-4 trains=7/3*/- "
            "mexican=4 open=0,M owes=- drawn=- boneyard=3-4,0-9 passes=0' 6",
            "- 6 --divide < position.txt",
        ],
    )
    parser.add_argument("line", metavar="LINE", help="the line (quote it), or - to read it from stdin")
    parser.add_argument("depth", type=whole(1, MAX_PERFT_DEPTH), metavar="N", help="actions")
    parser.add_argument(
        "--divide", action="store_true", help="only depth N, apart for each first action, then the sum"
    )
    parser.set_defaults(run=_perft)


def _perft(args: argparse.Namespace) -> int:
    from mt_env.core.perft import Perft, divide, perft
    from mt_env.notation import parse_position

    state = parse_position(sys.stdin.readline() if args.line == "-" else args.line)
    record, rules = state.record, state.game.rules_record
    perft(record, rules, 1)  # compiles before the clock starts
    start, nodes = time.perf_counter(), 0

    def show(name: str, counts: Perft) -> None:
        print(name, counts.nodes, counts.terminals, f"{counts.checksum:016x}", flush=True)

    if args.divide:
        parts = divide(record, rules, args.depth)
        for action, counts in parts.items():
            show(f"{state.action_to_string(action):<8}", counts)
        sums = [sum(counts[i] for counts in parts.values()) for i in range(3)]
        nodes = sums[0]
        show(f"perft {args.depth}", Perft(sums[0], sums[1], sums[2] % 2**64))
    else:
        for depth in range(1, args.depth + 1):
            counts = perft(record, rules, depth)
            nodes += counts.nodes
            show(f"perft {depth}", counts)
            if not counts.nodes:
                break
    seconds = time.perf_counter() - start
    print(f"{nodes} nodes, {seconds:.2f} s, {nodes / seconds:,.0f} nodes/s", file=sys.stderr)
    return OK


# --- bots -------------------------------------------------------------------------------------------------


def _add_bots(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = add_command(commands, "bots", "list the bots that have a name", "", [""])
    parser.set_defaults(run=_bots)


def _bots(_: argparse.Namespace) -> int:
    from mt_env.bots import bot_names

    print("\n".join(bot_names()))
    return OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments without the program's name; those of the process if None.

    Returns:
        The exit code, see the module.
    """
    try:
        try:
            args = build_parser().parse_args(argv)
        except SystemExit as stop:  # --help and --version
            return stop.code if isinstance(stop.code, int) else OK
        code = cast(Callable[[argparse.Namespace], int], args.run)(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # `... | head`: nobody reads on, and nothing may be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (ValueError, OSError) as error:
        print(f"{PROG}: error: {' '.join(str(error).split())}", file=sys.stderr)
        return WRONG_ARGUMENT
    except KeyboardInterrupt:
        print(f"{PROG}: interrupted", file=sys.stderr)
        return INTERRUPTED

"""The command ``mexican-train``.

Results go to stdout, progress and timings to stderr. Exit codes: 0 done, 1 a bot failed, 2 a wrong argument
(one line on stderr says what would be right), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn, cast

from mt_env import __version__
from mt_env.rules_options import MAX_SEATS, MIN_SEATS

PROG: Final = "mexican-train"

OK: Final = 0
BOT_FAILED: Final = 1
WRONG_ARGUMENT: Final = 2
INTERRUPTED: Final = 130

MAX_FAILURES_SHOWN: Final = 5

MAX_PERFT_DEPTH: Final = 1000
"""`mt_env.core.perft.MAX_DEPTH`, here without loading the core."""

RULES_HELP: Final = (
    "a preset (spruce, wikihow, dominos_cc, cover), text with changes such as 'spruce;open_order=any' (quote "
    "it), or a .yaml file"
)


class _Parser(argparse.ArgumentParser):
    """Complains in one line, by an exception."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message} (see {self.prog} --help)")


def _whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A converter for whole numbers in a range."""
    wanted = f"a whole number from {low} to {high}" if high is not None else f"a whole number, {low} or more"

    def convert(text: str) -> int:
        if text.isascii() and text.isdigit() and low <= int(text) and (high is None or int(text) <= high):
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r}: must be {wanted}")

    return convert


def _engine(text: str) -> int | str:
    return text if text == "random" else _whole(0)(text)


_SEATS = _whole(MIN_SEATS, MAX_SEATS)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = _Parser(prog=PROG, description="Mexican Train dominoes: tournaments of bots, rules, positions.")
    parser.add_argument("--version", action="version", version=f"mt_env {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_tournament(commands)
    _add_rules(commands)
    _add_position(commands)
    _add_perft(commands)
    _add_bots(commands)
    return parser


def _add(
    commands: argparse._SubParsersAction[_Parser], name: str, about: str, detail: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    shown = "\n".join(f"  {PROG} {name}{' ' * bool(text)}{text}" for text in examples)
    return commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}. {detail}",
        epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


# --- tournament -------------------------------------------------------------------------------------------


def _add_tournament(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _add(
        commands,
        "tournament",
        "let bots play each other on equal deals",
        "Every deal is played with every\nbot once in every seat. The table goes to stdout; equal arguments "
        "and seed print equal bytes.",
        [
            "--bots planner,heaviest,heaviest,random --deals 500 --seed 1",
            "--bots mybots:Careful,planner,planner --rules cover --out careful.json",
            "--bots planner,random --rules 'spruce;out_on_double=no' --episode match --deals 50",
        ],
    )
    parser.add_argument(
        "--bots",
        required=True,
        metavar="A,B,...",
        help="one for each seat: a name (see 'bots'), policy:PATH, or package.module:Bot; copies are allowed",
    )
    parser.add_argument("--deals", type=_whole(1), default=500, metavar="N", help="deals (default 500)")
    parser.add_argument(
        "--seed",
        type=_whole(0, 2**64 - 1),
        metavar="S",
        help="of deals and bots (default: a new one, printed)",
    )
    parser.add_argument("--rules", default="spruce", metavar="RULES", help=f"{RULES_HELP} (default spruce)")
    parser.add_argument("--seats", type=_SEATS, metavar="N", help="checks the number of bots")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="(default round)")
    parser.add_argument(
        "--engine",
        type=_engine,
        default="random",
        metavar="random|N",
        help="of single rounds (default random)",
    )
    parser.add_argument("--out", metavar="FILE", help="write the result as JSON")
    parser.add_argument("--csv", metavar="FILE", help="write one line for each seat of each game")
    parser.add_argument("--jsonl", metavar="FILE", help="write one JSON object for each game")
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a bar on stderr (default: if stderr is a terminal)",
    )
    parser.add_argument("--quiet", action="store_true", help="neither progress nor timings on stderr")
    parser.set_defaults(run=_tournament)


def _check_outputs(paths: Sequence[str]) -> None:
    """Refuse files that could not be written, before the games and not after."""
    places = [Path(os.path.realpath(path)) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if place.is_dir():
            raise ValueError(f"{path}: is a folder; give a file name")
        if not os.access(place.parent, os.W_OK | os.X_OK):
            raise ValueError(f"{path}: the folder {place.parent} does not exist or cannot be written")
        if places.count(place) > 1:
            raise ValueError(f"{path}: named for two outputs; give each its own file")


def _tournament(args: argparse.Namespace) -> int:
    from mt_env.arena import report, tournament

    bots = [name.strip() for name in args.bots.split(",")]
    if "" in bots:
        raise ValueError(f"--bots {args.bots}: an empty name; write it as in planner,random")
    if args.seats is not None and args.seats != len(bots):
        raise ValueError(
            f"--seats {args.seats} with {len(bots)} bots: give one bot for each seat, as in "
            f"--bots {','.join((bots * args.seats)[: args.seats])}"
        )
    _check_outputs([path for path in (args.out, args.csv, args.jsonl) if path is not None])
    if any(":" in bot for bot in bots) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # so that mybots.py in the current folder is found
    result = tournament(
        bots,
        args.deals,
        args.seed,
        rules=args.rules,
        episode=args.episode,
        engine=args.engine,
        progress=not args.quiet and (sys.stderr.isatty() if args.progress is None else args.progress),
    )
    print(result.table())
    if args.out is not None:
        result.to_json(args.out)
    if args.csv is not None:
        result.to_csv(args.csv)
    if args.jsonl is not None:
        result.to_jsonl(args.jsonl)
    if not args.quiet:
        print(report.timing(result.clock, result.bots), file=sys.stderr)
    if not result.failures:
        return OK
    for failure in result.failures[:MAX_FAILURES_SHOWN]:
        print(f"{PROG}: {failure}", file=sys.stderr)
    more = len(result.failures) - MAX_FAILURES_SHOWN
    if more > 0:
        print(f"{PROG}: and {more} more void deals", file=sys.stderr)
    return BOT_FAILED


# --- rules ------------------------------------------------------------------------------------------------


def _add_rules(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _add(
        commands,
        "rules",
        "print the options of a rule set and what is dealt",
        "Each option is shown with its value,\nthe clause of docs/rules.md and what it means.",
        ["", "cover", "'spruce;set=9;hand_size=10' --seats 4", "configs/rules/example_house_rules.yaml"],
    )
    parser.add_argument("rules", nargs="?", default="spruce", metavar="RULES", help=f"{RULES_HELP}")
    parser.add_argument("--seats", type=_SEATS, metavar="N", help="the deal for this number of seats only")
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


def _add_position(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _add(
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


def _add_perft(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _add(
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
    parser.add_argument("depth", type=_whole(1, MAX_PERFT_DEPTH), metavar="N", help="actions")
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


def _add_bots(commands: argparse._SubParsersAction[_Parser]) -> None:
    parser = _add(commands, "bots", "list the bots that have a name", "", [""])
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
        args = build_parser().parse_args(argv)
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
    except SystemExit as stop:  # --help and --version
        return stop.code if isinstance(stop.code, int) else OK

"""The command ``mexican-train tournament``."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from mt_env.cli_common import (
    BOT_FAILED,
    OK,
    PROG,
    RULES_HELP,
    SEATS,
    Parser,
    add_command,
    add_progress,
    check_outputs,
    engine,
    find_bots_here,
    goes_on,
    shows_progress,
    whole,
    worker_died,
)
from mt_env.cli_report import add_outputs, output_files, write_outputs

MAX_FAILURES_SHOWN: Final = 5


def _above_0(text: str) -> float:
    """A converter for numbers above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number above 0")
    return value


def _seatings(text: str) -> int | str:
    return whole(1)(text) if text.isdigit() else text


def add_tournament(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "tournament",
        "let bots play each other on equal deals",
        "Every deal is played with every\nbot equally often in every seat. The table goes to stdout; equal "
        "arguments and seed print equal bytes,\nwith any number of workers.",
        [
            "--bots planner,heaviest,heaviest,random --deals 500 --seed 1",
            "--bots mybots:Careful,planner,planner --rules cover --out careful.json",
            "--bots planner,random --rules 'spruce;out_on_double=no' --episode match --deals 50",
            "--bots mybots:Careful,planner --deals 20000 --until 0.01 --workers 4 --jsonl g.jsonl --resume",
            "--bots planner,tactician,heaviest,random --seed 1 --html page.html --ratings",
        ],
    )
    parser.add_argument(
        "--bots",
        required=True,
        metavar="A,B,...",
        help="one for each seat: a name (see 'bots'), policy:PATH, or package.module:Bot; copies are allowed",
    )
    parser.add_argument("--deals", type=whole(1), default=500, metavar="N", help="deals (default 500)")
    parser.add_argument(
        "--until",
        type=_above_0,
        metavar="H",
        help="stop before N deals as soon as the 95%% interval of every win share is at most +-H, as 0.01",
    )
    parser.add_argument(
        "--seed",
        type=whole(0, 2**64 - 1),
        metavar="S",
        help="of deals and bots (default: a new one, printed)",
    )
    parser.add_argument("--rules", default="spruce", metavar="RULES", help=f"{RULES_HELP} (default spruce)")
    parser.add_argument("--seats", type=SEATS, metavar="N", help="checks the number of bots")
    parser.add_argument("--episode", choices=("round", "match"), default="round", help="(default round)")
    parser.add_argument(
        "--engine",
        type=engine,
        default="random",
        metavar="random|N",
        help="of single rounds (default random)",
    )
    parser.add_argument(
        "--seatings",
        type=_seatings,
        default="rotations",
        metavar="rotations|balanced|all|K",
        help="orders in which the bots play each deal; K is a multiple of their number (default rotations)",
    )
    parser.add_argument("--workers", type=whole(1), default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "--time-limit", type=_above_0, metavar="SECONDS", help="a bot that decides for longer has failed"
    )
    parser.add_argument("--max-failures", type=whole(1), metavar="N", help="stop after N void deals")
    add_outputs(parser)
    parser.add_argument(
        "--jsonl", metavar="FILE", help="write each deal as it is finished; FILE must not exist, or --resume"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the tournament in --jsonl FILE if it exists"
    )
    parser.add_argument("--timings", metavar="FILE", help="write where the time went as JSON")
    add_progress(parser)
    parser.set_defaults(run=_tournament)


def _tournament(args: argparse.Namespace) -> int:
    from mt_env.arena import WorkerError, report, tournament
    from mt_env.arena.timing import write_timings

    bots = [name.strip() for name in args.bots.split(",")]
    if "" in bots:
        raise ValueError(f"--bots {args.bots}: an empty name; write it as in planner,random")
    if args.seats is not None and args.seats != len(bots):
        raise ValueError(
            f"--seats {args.seats} with {len(bots)} bots: give one bot for each seat, as in "
            f"--bots {','.join((bots * args.seats)[: args.seats])}"
        )
    if args.resume and args.jsonl is None:
        raise ValueError("--resume without --jsonl: name the file to go on with")
    others = [path for path in (args.jsonl, args.timings) if path is not None]
    check_outputs([*output_files(args), *others])
    if any(":" in bot for bot in bots):
        find_bots_here()
    try:
        result = tournament(
            bots,
            args.deals,
            args.seed,
            rules=args.rules,
            episode=args.episode,
            engine=args.engine,
            seatings=args.seatings,
            until=args.until,
            time_limit=args.time_limit,
            max_failures=args.max_failures,
            workers=args.workers,
            stream=args.jsonl,
            resume=args.resume,
            time_decisions=args.timings is not None or args.html is not None,
            progress=shows_progress(args),
        )
    except WorkerError as error:
        return worker_died(error, args.jsonl or None)
    except KeyboardInterrupt:
        if args.jsonl:
            print(f"{PROG}: {goes_on(args.jsonl)}", file=sys.stderr)
        raise
    ratings = write_outputs(result, args, timings=True)
    if args.timings is not None:
        write_timings(result, args.timings)
    print(result.table(ratings))  # after the files, so that a closed pipe costs none of them
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

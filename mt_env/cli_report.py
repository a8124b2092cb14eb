"""The command ``mexican-train report``, and the files that it and ``tournament`` write of a result."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import TYPE_CHECKING

from mt_env.cli_common import OK, PROG, Parser, add_command, check_outputs

if TYPE_CHECKING:
    from mt_env.arena import Ratings, TournamentResult

OUTPUTS = ("out", "csv", "standings", "html", "markdown")
"""Options of `add_outputs` that name a file."""


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is written of a result."""
    parser.add_argument("--out", metavar="FILE", help="write the summary as JSON")
    parser.add_argument("--csv", metavar="FILE", help="write one line for each seat of each game")
    parser.add_argument(
        "--standings", metavar="FILE", help="write standings and ratings as CSV, a line a bot"
    )
    parser.add_argument("--html", metavar="FILE", help="write one page with tables and charts")
    parser.add_argument("--markdown", metavar="FILE", help="write the page's tables as Markdown")
    parser.add_argument(
        "--ratings", action="store_true", help="print ratings too (takes seconds if many bots all differ)"
    )


def output_files(args: argparse.Namespace) -> list[str]:
    """The files of `add_outputs` that were asked for."""
    return [path for name in OUTPUTS if (path := getattr(args, name)) is not None]


def write_outputs(result: TournamentResult, args: argparse.Namespace, timings: bool) -> Ratings | None:
    """Write the files of `add_outputs`; ratings are made once, and only if something shows them.

    Args:
        result: of a tournament.
        args: the options.
        timings: whether the page shows how long bots took for a decision.

    Returns:
        The ratings if they are to be printed.
    """
    from mt_env.arena import rate
    from mt_env.arena.page import markdown, write_html
    from mt_env.arena.tables import standings_csv
    from mt_env.rules_yaml import write_text

    if args.out is not None:
        result.to_json(args.out)
    if args.csv is not None:
        result.to_csv(args.csv)
    if not (args.ratings or args.standings or args.html or args.markdown):
        return None
    ratings, command = rate(result), repeat_command(result)
    if args.standings is not None:
        write_text(args.standings, standings_csv(result, ratings))
    if args.html is not None:
        write_html(result, args.html, command, timings, ratings)
    if args.markdown is not None:
        write_text(args.markdown, markdown(result, command, ratings))
    return ratings if args.ratings else None


def repeat_command(result: TournamentResult) -> str | None:
    """The command that plays these games again, quoted for a shell: all that bears on them, the seed too.

    Args:
        result: of a tournament.

    Returns:
        None if a bot was an object or function of a program, which no command can name.
    """
    from mt_env.bots import bot_names

    if not all(":" in name or name in bot_names() for name in result.names):
        return None
    game = result.game
    options: list[tuple[str, object, object]] = [
        ("--until", result.until, None),
        ("--episode", game.episode, "round"),
        ("--engine", game.engine, "random"),
        ("--seatings", result.seatings, "rotations"),
        ("--time-limit", result.time_limit, None),
        ("--max-failures", result.max_failures, None),
    ]
    words = [PROG, "tournament", "--bots", ",".join(result.names), "--rules", game.rules.rules.to_text()]
    words += ["--deals", str(result.max_deals), "--seed", str(result.seed)]
    for option, value, default in options:
        if value != default:
            words += [option, str(value)]
    return shlex.join(words)


def add_report(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        "make table, page and files from a stored file of games",
        "FILE is what\n'tournament --jsonl FILE' wrote, finished or not; nothing is played. The table goes "
        "to\nstdout.",
        [
            "g.jsonl --ratings",
            "g.jsonl --html g.html --markdown g.md --timings times.json",
            "g.jsonl --pool pool.json",
        ],
    )
    parser.add_argument("file", metavar="FILE", help="a file of games")
    parser.add_argument(
        "--timings", metavar="FILE", help="what 'tournament --timings' wrote, read for the page of --html"
    )
    add_outputs(parser)
    parser.add_argument(
        "--pool", metavar="FILE", help="feed the games into this pool of ratings (made if missing), print it"
    )
    parser.set_defaults(run=_report)


def _report(args: argparse.Namespace) -> int:
    from mt_env.arena import TournamentResult
    from mt_env.arena.pool import Pool

    if args.timings is not None and args.html is None:
        raise ValueError("--timings without --html: only the page shows times")
    inputs = [path for path in (args.file, args.timings) if path is not None]
    outputs = [*output_files(args), *([] if args.pool is None else [args.pool])]
    for path in outputs:
        if os.path.realpath(path) in map(os.path.realpath, inputs):
            raise ValueError(f"{path}: is read and cannot be written too; give the output a file of its own")
    check_outputs(outputs)
    result = TournamentResult.load(args.file, args.timings)
    pool = None
    if args.pool is not None:
        try:
            pool = Pool(args.pool)
        except ImportError as error:
            raise ValueError(f"--pool: {error}") from None
    ratings = write_outputs(result, args, timings=args.timings is not None)
    print(result.table(ratings))
    if pool is not None:  # last: it remembers games and refuses them the second time
        pool.update(result)
        print(f"\n{pool.table()}")
    return OK

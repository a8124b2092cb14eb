"""The command ``mexican-train evaluate``."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, Final

from mt_env.cli_common import (
    BOT_FAILED,
    OK,
    PROG,
    Parser,
    add_command,
    add_progress,
    check_outputs,
    find_bots_here,
    goes_on,
    shows_progress,
    whole,
    worker_died,
)

if TYPE_CHECKING:
    from mt_env.arena.protocols import Protocol

NOT_VERIFIED: Final = 1
"""Exit code of ``--verify`` where something is not as the file says; as that of a bot that failed."""

ONLY_CONSISTENT: Final = 4
"""Exit code of ``--verify`` where the file is consistent, but its games could not be played again here."""


def add_evaluate(commands: argparse._SubParsersAction[Parser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "evaluate",
        "let a bot play a named, frozen protocol, for a result that can be cited",
        "Opponents, rules,\nseeds and numbers of deals are fixed by the protocol's name. The table goes to "
        "stdout; the file holds\nall games, so that anybody can check it by --verify.",
        [
            "mybots:Careful --protocol mt-eval-v1 --workers 4 --resume",
            "mybots:Search --subset slow --out search.json",
            "--verify mt-eval-v1-mybots-Careful.json --sample 20",
            "--compare careful.json search.json",
            "--list",
            "--show --protocol mt-eval-v1",
        ],
    )
    parser.add_argument(
        "bot", nargs="?", metavar="BOT", help="a name (see 'bots'), policy:PATH, or package.module:Bot"
    )
    parser.add_argument("--protocol", metavar="NAME", help="(default mt-eval-v1)")
    parser.add_argument(
        "--subset", metavar="NAME", help="slow: the first deals of every table; or the name of one table"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the result (default PROTOCOL-BOT.json here); no file that exists",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with what was begun for the same file, if there is any"
    )
    parser.add_argument("--timings", metavar="FILE", help="write where the time went as JSON")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print the protocols and their tables")
    what.add_argument("--show", action="store_true", help="print the protocol's exact settings and digest")
    what.add_argument("--verify", metavar="FILE", help="check a result, then play its games again")
    what.add_argument(
        "--compare", nargs=2, metavar="FILE", help="difference of two results' scores, paired by deal"
    )
    parser.add_argument(
        "--bot", dest="with_bot", metavar="BOT", help="with --verify: who plays again (default: as in FILE)"
    )
    parser.add_argument(
        "--sample",
        type=whole(1),
        metavar="N",
        help="play only N deals of each table, drawn at random",
    )
    parser.add_argument(
        "--seed", type=whole(0, 2**64 - 1), metavar="S", help="by which they are drawn (default: a new one)"
    )
    parser.add_argument("--workers", type=whole(1), default=1, metavar="N", help="processes (default 1)")
    add_progress(parser)
    parser.set_defaults(run=_evaluate)


MODES: Final = ("list", "show", "verify", "compare")
"""Options that do something else than to evaluate."""

ALLOWED: Final = {
    "list": (),
    "show": ("protocol",),
    "verify": ("with_bot", "sample", "seed"),
    "compare": (),
    None: ("bot", "protocol", "subset", "out", "resume", "timings"),
}
"""What may be said with each of them."""


def _evaluate(args: argparse.Namespace) -> int:
    mode = next((mode for mode in MODES if getattr(args, mode)), None)
    for name in sorted({name for names in ALLOWED.values() for name in names}):
        if getattr(args, name) not in (None, False) and name not in ALLOWED[mode]:
            option = {"bot": f"BOT ({args.bot})", "with_bot": "--bot"}.get(name, f"--{name}")
            where = "without --verify" if mode is None else f"with --{mode}"
            raise ValueError(f"{option} {where}: leave it out (see {PROG} evaluate --help)")
    if mode == "compare":
        return _compare(*args.compare)
    if mode == "verify":
        return _verify(args)
    if mode is not None:
        return _show(args)
    return _play(args)


def _find(name: str | None) -> Protocol:
    from mt_env.arena.protocols import DEFAULT, find_protocol

    return find_protocol(DEFAULT if name is None else name)


def _show(args: argparse.Namespace) -> int:
    from mt_env.arena.protocols import HEADER, PROTOCOLS, settings_rows
    from mt_env.arena.report import grid

    chosen = [_find(args.protocol)] if args.show else list(PROTOCOLS.values())
    columns = len(HEADER) if args.show else HEADER.index("slow") + 1
    for protocol in chosen:
        rows = [row[:columns] for row in (HEADER, *settings_rows(protocol))]
        print(f"{protocol.name}, subsets {', '.join(protocol.subsets)}")
        print("\n".join(grid(rows, 6)))
        if args.show:
            print(f"{protocol.resamples} resamples, sha256 {protocol.digest}")
    return OK


def _compare(first: str, second: str) -> int:
    from mt_env.arena.evaluation import Evaluation, notes
    from mt_env.arena.report import cells

    a, b = Evaluation.load(first), Evaluation.load(second)
    print(f"{a.name}, {a.bot.name} - {b.bot.name}: score {' '.join(cells(a.minus(b), 3, sign=True))}")
    print("".join(f"note: {note}\n" for note in notes(a, b)), end="")
    return OK


def _verify(args: argparse.Namespace) -> int:
    from mt_env.arena import WorkerError
    from mt_env.arena.verification import verify

    find_bots_here()
    try:
        found = verify(
            args.verify,
            args.with_bot,
            sample=args.sample,
            seed=args.seed,
            workers=args.workers,
            progress=shows_progress(args),
        )
    except WorkerError as error:
        return worker_died(error)
    print(found.table())
    return OK if found.ok else ONLY_CONSISTENT if found.only_consistent else NOT_VERIFIED


def _play(args: argparse.Namespace) -> int:
    from mt_env.arena import WorkerError
    from mt_env.arena.protocol import PARTS, evaluate, write_timings

    if args.bot is None:
        raise ValueError(f"BOT: name the bot to evaluate, as planner (see {PROG} evaluate --help)")
    protocol = _find(args.protocol)
    name = re.sub(r"[^A-Za-z0-9_.+]+", "-", args.bot).strip("-.")
    label = protocol.label(args.subset).replace("/", "-")
    out = f"{label}-{name}.json" if args.out is None else args.out
    check_outputs([path for path in (out, args.timings) if path is not None])
    find_bots_here()
    parts = f"{out}{PARTS}"

    def tell(line: str) -> None:
        if not args.quiet:
            print(line, file=sys.stderr)

    try:
        result = evaluate(
            args.bot,
            protocol,
            subset=args.subset,
            out=out,
            resume=args.resume,
            workers=args.workers,
            time_decisions=args.timings is not None,
            progress=shows_progress(args),
            tell=tell,
        )
    except WorkerError as error:
        return worker_died(error, parts if os.path.isdir(parts) else None)
    except KeyboardInterrupt:
        if os.path.isdir(parts):
            print(f"{PROG}: {goes_on(parts)}", file=sys.stderr)
        raise
    if args.timings is not None:
        write_timings(result, args.timings)
    print(result.table())
    tell(f"written to {out}")
    if not result.failures:
        return OK
    failures = [failure for games in result.games for failure in games.failures]
    print(f"{PROG}: {len(failures)} deals count as lost, first: {failures[0]}", file=sys.stderr)
    return BOT_FAILED

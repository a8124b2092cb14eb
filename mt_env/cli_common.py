"""What the commands of ``mexican-train`` share: exit codes, parsers, converters of arguments."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NoReturn

from mt_env.rules_options import MAX_SEATS, MIN_SEATS

PROG: Final = "mexican-train"

OK: Final = 0
BOT_FAILED: Final = 1
WRONG_ARGUMENT: Final = 2
WORKER_DIED: Final = 3
INTERRUPTED: Final = 130

RULES_HELP: Final = (
    "a preset (spruce, wikihow, dominos_cc, cover), text with changes such as 'spruce;open_order=any' (quote "
    "it), or a .yaml file"
)


class Parser(argparse.ArgumentParser):
    """Complains in one line, by an exception."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of leaving the program."""
        raise ValueError(f"{message} (see {self.prog} --help)")


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """A converter for whole numbers in a range."""
    wanted = f"a whole number from {low} to {high}" if high is not None else f"a whole number, {low} or more"

    def convert(text: str) -> int:
        if text.isascii() and text.isdigit() and low <= int(text) and (high is None or int(text) <= high):
            return int(text)
        raise argparse.ArgumentTypeError(f"{text!r}: must be {wanted}")

    return convert


def engine(text: str) -> int | str:
    """A converter for ``random`` or the number of an engine."""
    return text if text == "random" else whole(0)(text)


SEATS: Final = whole(MIN_SEATS, MAX_SEATS)
"""A converter for numbers of seats."""


def add_command(
    commands: argparse._SubParsersAction[Parser], name: str, about: str, detail: str, examples: Sequence[str]
) -> argparse.ArgumentParser:
    """A command with a help text that ends with examples."""
    shown = "\n".join(f"  {PROG} {name}{' ' * bool(text)}{text}" for text in examples)
    return commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}. {detail}",
        epilog=f"examples:\n{shown}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Give a command that plays the options ``--progress`` and ``--quiet``; see `shows_progress`."""
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a bar on stderr (default: if stderr is a terminal)",
    )
    parser.add_argument("--quiet", action="store_true", help="neither progress nor timings on stderr")


def shows_progress(args: argparse.Namespace) -> bool:
    """Whether a bar is wanted: as said, else if stderr is a terminal."""
    return not args.quiet and (sys.stderr.isatty() if args.progress is None else bool(args.progress))


def find_bots_here() -> None:
    """So that mybots.py in the current folder is found."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def worker_died(error: Exception, kept: str | None = None) -> int:
    """Say that a worker process died, and what ``kept`` (a file or folder) still has; the exit code."""
    rest = "" if kept is None else f"; {goes_on(kept)}"
    print(f"{PROG}: error: {' '.join(str(error).split())}{rest}", file=sys.stderr)
    return WORKER_DIED


def goes_on(kept: str) -> str:
    """What to do after a run that was cut off, whose finished games are in ``kept``."""
    return f"what is finished is in {kept}, --resume goes on"


def check_outputs(paths: Sequence[str]) -> None:
    """Refuse files that could not be written, before the games and not after."""
    places = [Path(os.path.realpath(path)) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if place.is_dir():
            raise ValueError(f"{path}: is a folder; give a file name")
        if not os.access(place.parent, os.W_OK | os.X_OK):
            raise ValueError(f"{path}: the folder {place.parent} does not exist or cannot be written")
        if places.count(place) > 1:
            raise ValueError(f"{path}: named for two outputs; give each its own file")

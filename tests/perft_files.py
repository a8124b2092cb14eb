"""The files of tests/perft: reading them, and writing them anew with the referee.

    python tests/perft_files.py count FILE...     count again what is in the files (all without FILE)
    python tests/perft_files.py make              choose the positions of tiny.perft and standard.perft anew
    python tests/perft_files.py divide 'LINE' N   the referee's counts by first action

Every number in the files comes from the referee; the core only has to agree.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lockstep import all_tiles, split
from lockstep_games import STYLES, Weigh, chooser
from reference import Referee
from reference_perft import Counts, TooManyError, divide, perfts

from mt_env.notation import parse_position
from mt_env.rules import PRESETS, ResolvedRules, load_rules

FOLDER = Path(__file__).resolve().parent / "perft"
FILES = ("tiny", "standard", "tricky")

DEEPEST = {"tiny": 60, "standard": 16, "tricky": 16}
"""Most actions to count in each file; a tree that is done sooner is counted to its end."""

LARGEST = {"tiny": 1500, "standard": 4000, "tricky": 400}
"""Most nodes to count over all depths of one position."""


class Record(NamedTuple):
    """One position of a file.

    Attributes:
        id: its name.
        rules: labels of reference_clauses that its walk must decide.
        pos: the position line.
        counts: for depths 1, 2, ...
    """

    id: str
    rules: tuple[str, ...]
    pos: str
    counts: tuple[Counts, ...] = ()

    @property
    def all_of_it(self) -> bool:
        """Whether the whole tree is counted."""
        return bool(self.counts) and not self.counts[-1].nodes


def read(name: str) -> tuple[str, list[Record]]:
    """The comment at the head of a file, and its records.

    Raises:
        ValueError: a line that is none; the message names it.
    """
    head, records = "", list[Record]()
    for number, line in enumerate((FOLDER / f"{name}.perft").read_text(encoding="utf-8").splitlines(), 1):
        key, _, value = line.partition(" ")
        if key == "#" and not records:
            head += line + "\n"
        elif key == "id":
            records.append(Record(value, (), ""))
        elif key == "rule" and records:
            records[-1] = records[-1]._replace(rules=tuple(value.split(" | ")))
        elif key == "pos" and records:
            records[-1] = records[-1]._replace(pos=value)
        elif key == "perft" and records:
            depth, *counts = value.split()
            if int(depth) != len(records[-1].counts) + 1:
                raise ValueError(f"{name}.perft:{number}: depth {depth} is out of order")
            nodes, terminals, checksum = int(counts[0]), int(counts[1]), int(counts[2], 16)
            more = (*records[-1].counts, Counts(nodes, terminals, checksum))
            records[-1] = records[-1]._replace(counts=more)
        elif line:
            raise ValueError(f"{name}.perft:{number}: {line!r} is neither id, rule, pos nor perft")
    return head, records


def write(name: str, head: str, records: list[Record]) -> None:
    """The file anew."""
    lines = [head]
    for record in records:
        lines.append(f"\nid {record.id}\n")
        if record.rules:
            lines.append(f"rule {' | '.join(record.rules)}\n")
        lines.append(f"pos {record.pos}\n")
        for depth, count in enumerate(record.counts, 1):
            lines.append(f"perft {depth} {count.nodes} {count.terminals} {count.checksum:016x}\n")
    (FOLDER / f"{name}.perft").write_text("".join(lines), encoding="utf-8")


def referee(record: Record) -> Referee:
    """The referee at the position of a record."""
    return Referee.from_position(record.pos, load_rules)


def counted(record: Record, name: str) -> Record:
    """The record with the referee's counts, as deep as the limits of its file allow."""
    game, found = referee(record), list[Counts]()
    for depth in range(1, DEEPEST[name] + 1):
        try:
            found = perfts(game, depth, LARGEST[name])[1:]
        except TooManyError:
            break
        if not found[-1].nodes:
            break
    return record._replace(counts=tuple(found))


# ---- Choosing positions ------------------------------------------------------------------------------------


def deal(rng: random.Random, rules: ResolvedRules) -> Referee:
    """A round dealt to the referee, its engine drawn from all of a match."""
    round_index = rng.randrange(rules.rounds)
    tiles = all_tiles(rules, rules.first_engine - round_index)
    rng.shuffle(tiles)
    return Referee.from_deal(rules, round_index, *split(rules, tiles))


def line_of(game: Referee) -> str:
    """The position line, in the form that the core writes."""
    words = [
        f"lengths={word[8:].replace(',', '/')}" if word.startswith("lengths=") else word
        for word in game.position().split()
    ]
    return parse_position(" ".join(words)).to_position()


def lines_of_round(rng: random.Random, rules: ResolvedRules, weigh: Weigh) -> list[str]:
    """The position before each action of a round played in one of the styles of lockstep_games."""
    game, choose = deal(rng, rules), chooser(rng, weigh)
    lines = []
    while not game.over:
        lines.append(line_of(game))
        actions = game.legal()
        game.apply(actions[choose(game, actions)])
    return lines


TINY_PLAYS = (
    ("opening=chain", "opening=single"),
    ("opening_double_binds=no", "opening_double_binds=yes"),
    ("mexican_from=lap_1", "mexican_from=lap_2"),
    ("own_first=no", "own_first=yes"),
    ("drawn_tile=must", "drawn_tile=may"),
    ("draws_per=need", "draws_per=turn"),
    ("extra_tile=anywhere", "extra_tile=on_double"),
    ("open_order=oldest", "open_order=any"),
    ("dead_double=binds", "dead_double=lifts"),
    ("out_on_double=no", "out_on_double=yes"),
    ("block_test=stuck", "block_test=passes"),
    ("double_blank=0", "double_blank=50"),
)
"""Both values of each option that play or scoring depends on."""


def rules_for(option: str) -> str:
    """A preset with which both values of an option go together."""
    if option.startswith(("opening=", "mexican_from=")):
        return "spruce;mexican_from=lap_2" if option.startswith("opening=") else "dominos_cc"
    return "wikihow" if option.startswith("own_first") else "spruce"


def tiny() -> Iterator[Record]:
    """Whole trees: each preset on three sets, and pairs of trees that differ by one option."""
    for preset in PRESETS:
        for pips, hand in ((2, 2), (3, 3), (4, 4)):
            rules = f"{preset};set={pips};hand_size={hand};rounds=all"
            yield whole_tree(rules, f"{preset}, D{pips}, 2 seats x {hand}", random.Random(rules))
    rules = "cover;set=3;hand_size=2;rounds=all"
    yield whole_tree(rules, "cover, D3, 3 seats x 2", random.Random(rules), seats=3)
    for pair in TINY_PLAYS:
        yield from option_pair(pair)


def whole_tree(rules: str, name: str, rng: random.Random, seats: int = 2) -> Record:
    """A deal whose whole tree is of a fair size."""
    least = 10 if "set=2" in rules else 100
    while True:
        record = counted(Record(name, (), line_of(deal(rng, load_rules(rules).resolve(seats)))), "tiny")
        if record.all_of_it and sum(count.nodes for count in record.counts) >= least:
            return record


def option_pair(pair: tuple[str, str]) -> Iterator[Record]:
    """The same deal under both values of an option, with different trees."""
    rng, base = random.Random(pair[0]), f"{rules_for(pair[0])};set=4;hand_size=4;rounds=all"
    while True:
        first = whole_tree(f"{base};{pair[0]}", pair[0], rng)
        game = referee(first)
        game.rules = load_rules(f"{base};{pair[1]}").resolve(2)
        second = counted(Record(f"{pair[1]}, the same deal", (), line_of(game)), "tiny")
        if second.all_of_it and second.counts[-1] != first.counts[-1]:
            yield first._replace(id=f"{pair[0]}, D4, 2 seats x 4")
            yield second
            return


STANDARD = (
    ("spruce", 2), ("spruce;set=6", 3), ("spruce;set=6", 4), ("spruce", 4), ("spruce", 8), ("spruce", 14),
    ("wikihow", 2), ("wikihow", 4), ("wikihow", 7), ("wikihow", 10),
    ("dominos_cc", 2), ("dominos_cc", 3), ("dominos_cc", 4),
    ("cover", 2), ("cover", 4), ("cover", 6), ("cover", 9), ("cover", 14),
)  # fmt: skip
"""Rules and seats of standard.perft."""


def standard() -> Iterator[Record]:
    """Each preset as it is dealt, from the middle of rounds and near their ends."""
    for text, seats in STANDARD:
        rng, rules = random.Random(f"{text}/{seats}"), load_rules(text).resolve(seats)
        name = f"{text}, {seats} seats x {rules.hand_size}, D{rules.set}"
        lines = lines_of_round(rng, rules, STYLES[0])
        yield Record(f"{name}: the deal", (), lines[0])
        lines = lines_of_round(rng, rules, rng.choice(STYLES))
        yield Record(f"{name}: half way", (), lines[len(lines) // 2])
        lines = lines_of_round(rng, rules, rng.choice(STYLES))
        yield Record(f"{name}: near the end", (), lines[-min(len(lines), 8)])


def main(arguments: list[str]) -> int:
    """The command."""
    if arguments[:1] == ["divide"] and len(arguments) == 3:
        game = Referee.from_position(arguments[1], load_rules)
        for action, counts in divide(game, int(arguments[2])).items():
            print(f"{action:<8} {counts.nodes} {counts.terminals} {counts.checksum:016x}")
    elif arguments == ["make"]:
        for name, records in (("tiny", tiny()), ("standard", standard())):
            write(name, read(name)[0], [counted(record, name) for record in records])
    elif arguments[:1] == ["count"]:
        for name in arguments[1:] or FILES:
            name = Path(name).stem
            head, old = read(name)
            write(name, head, [counted(record, name) for record in old])
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Counts of tests/perft: the core's, the referee's and those in the files are equal."""

from __future__ import annotations

from typing import Any

import perft_files
import pytest
from perft_files import FILES, FOLDER, Record, read, referee
from reference import ALL_CLAUSES, CLAUSES, Referee
from reference_perft import Counts, divide, leaf_hash, perfts

from mt_env.core import perft as core
from mt_env.core.jit import config
from mt_env.notation import parse_position
from mt_env.rules import PRESETS, load_rules

RECORDS: dict[str, list[Record]] = {name: read(name)[1] for name in FILES}

COMPILED = not config.DISABLE_JIT

QUICK = {"tiny": 2000, "standard": 400, "tricky": 400}
"""Most nodes of a position that the referee counts in every run; `slow` tests count all."""


def both_sides(record: Record, depth: int) -> str:
    """The parts of both sides by first action, the different ones marked."""
    state = parse_position(record.pos)
    game, ours = state.game, dict[str, Any]()
    for action, counts in core.divide(state.record, game.rules_record, depth).items():
        ours[state.action_to_string(action)] = Counts(*counts)
    theirs = divide(referee(record), depth)
    lines = [f"{record.id}, depth {depth}, by first action (nodes, terminals, checksum):", record.pos]
    for action in ours | theirs:
        values = [side.get(action) for side in (ours, theirs)]
        shown = ["-" if v is None else f"{v.nodes} {v.terminals} {v.checksum:016x}" for v in values]
        mark = " " if values[0] == values[1] else "*"
        lines.append(f"{mark} {action:<8} core {shown[0]:<32} referee {shown[1]}")
    lines.append(f"go on with: mexican-train perft '{record.pos}' {depth} --divide")
    return "\n".join(lines)


def check_core(record: Record) -> None:
    """The core's counts against those of the file; with the JIT off only the small ones."""
    state = parse_position(record.pos)
    for depth, counts in enumerate(record.counts, 1):
        if not COMPILED and (counts.nodes > 30 or depth > 8):
            break
        if core.perft(state.record, state.game.rules_record, depth) != counts:
            pytest.fail(both_sides(record, depth))


def check_referee(record: Record, most: int | None = None) -> int:
    """The referee's counts against those of the file, as deep as ``most`` nodes go; the depth."""
    depth = nodes = 0
    for counts in record.counts:
        nodes += counts.nodes
        if most is not None and nodes > most:
            break
        depth += 1
    assert perfts(referee(record), depth)[1:] == list(record.counts[:depth]), record.id
    return depth


# ---- The files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_the_core_counts_what_the_files_say(name: str) -> None:
    for record in RECORDS[name]:
        check_core(record)


@pytest.mark.parametrize("name", ["tiny", "standard"])
def test_the_referee_counts_what_the_files_say(name: str) -> None:
    for record in RECORDS[name]:
        assert check_referee(record, QUICK[name])


def test_each_tricky_position_is_about_its_rule_and_all_rules_are_there() -> None:
    everything = set()
    for record in RECORDS["tricky"]:
        CLAUSES.clear()
        assert check_referee(record, QUICK["tricky"]), record.id
        missing = [label for label in record.rules if not CLAUSES[label]]
        assert record.rules and not missing, f"{record.id}: never decided {missing}"
        everything |= {label for label in CLAUSES if CLAUSES[label]}
    play = [label for label in ALL_CLAUSES if label[:2] not in ("R2", "R7")]
    assert [label for label in play if label not in everything] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_referee_counts_all_that_the_files_say(name: str) -> None:
    for record in RECORDS[name]:
        check_referee(record)


@pytest.mark.parametrize("name", FILES)
def test_files_are_in_order(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    head, records = read(name)
    assert len({record.id for record in records}) == len(records)
    assert all(record.counts for record in records)
    assert all(record.all_of_it for record in records if name == "tiny")
    before = (FOLDER / f"{name}.perft").read_text(encoding="utf-8")
    monkeypatch.setattr(perft_files, "FOLDER", tmp_path)
    perft_files.write(name, head, records)
    assert (tmp_path / f"{name}.perft").read_text(encoding="utf-8") == before
    for record in records:
        assert parse_position(record.pos)


def test_files_hold_what_they_should() -> None:
    assert len(RECORDS["tricky"]) >= 25
    for name in ("tiny", "standard"):
        used = {parse_position(record.pos).game.rules.rules.to_text() for record in RECORDS[name]}
        for preset in PRESETS:
            assert any(text.startswith(preset) for text in used), preset


def test_a_damaged_file_is_refused(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perft_files, "FOLDER", tmp_path)
    for text, says in (("what\n", "'what' is neither"), ("id a\npos b\nperft 2 1 0 0\n", "depth 2 is out")):
        (tmp_path / "tiny.perft").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=says):
            read("tiny")


def test_the_example_in_the_docs_is_a_record() -> None:
    text = (FOLDER.parent.parent / "docs" / "testing.md").read_text(encoding="utf-8")
    file = (FOLDER / "tricky.perft").read_text(encoding="utf-8")
    example = text[text.index("\nid ") :].split("\n```")[0].split("\n")[1:]
    assert len(example) == 5
    for line in example:
        assert line.removesuffix("...") in file


# ---- The counting itself -----------------------------------------------------------------------------------

SMALL = RECORDS["tricky"][0]


def test_depth_0_and_the_end() -> None:
    state = parse_position(SMALL.pos)
    r = state.game.rules_record
    h = int(core.leaf_hash(state.record[0]))
    assert core.perft(state.record, r, 0) == (1, 0, h)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    h = int(core.leaf_hash(state.record[0]))
    assert core.perft(state.record, r, 0) == (1, 1, h)
    assert core.perft(state.record, r, 3) == (0, 1, h)
    for depth in (-1, core.MAX_DEPTH + 1):
        with pytest.raises(ValueError, match=f"depth={depth}: must be from 0 to {core.MAX_DEPTH}"):
            core.perft(state.record, r, depth)
        with pytest.raises(ValueError, match=f"depth={depth}: must be from 1"):
            core.divide(state.record, r, depth)


def test_parts_add_up_and_the_position_stays() -> None:
    for record in RECORDS["tricky"][:20]:
        state = parse_position(record.pos)
        before = state.record.copy()
        for depth, counts in enumerate(record.counts[:6], 1):
            parts = core.divide(state.record, state.game.rules_record, depth)
            assert list(parts) == state.legal_actions()
            sums = [sum(part[i] for part in parts.values()) for i in range(3)]
            assert (sums[0], sums[1], sums[2] % 2**64) == counts
        assert state.record == before


def test_a_walk_in_pieces_is_the_same_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_BUDGET", 7)
    for record in RECORDS["tricky"][:20]:
        check_core(record)


FIELDS = ("turn", "lap", "drew", "drawn", "open_trains", "owed_trains", "passes", "boneyard_size", "ends")
FIELDS += ("lengths", "markers", "hands")


DOUBLES = (
    "rules=dominos_cc seats=2 set=9 engine=9 lap=3 turn=0 hands=0-0,3-7,1-1/0-2 trains=5/6* mexican=8 "
    "open=1 owes=- drawn=0-0 boneyard=5-8,0-8 passes=0"
)


@pytest.mark.parametrize("field", FIELDS)
def test_the_hash_notices_each_field(field: str) -> None:
    record, game = parse_position(DOUBLES).record, Referee.from_position(DOUBLES, load_rules)
    record["num_owed"], game.owes = 1, [0]  # no line has both: an open double binds
    before = int(core.leaf_hash(record[0]))
    assert leaf_hash(game) == before
    record[field].reshape(-1)[0] += 1
    assert int(core.leaf_hash(record[0])) != before


@pytest.mark.parametrize("field", ["how", "points"])
def test_the_hash_notices_how_it_ended(field: str) -> None:
    state = parse_position(SMALL.pos)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    before = int(core.leaf_hash(state.record[0]))
    state.record[field].reshape(-1)[0] += 1
    assert int(core.leaf_hash(state.record[0])) != before


def test_the_hash_is_the_one_described() -> None:
    """Worked out by hand from docs/testing.md, so that it cannot change unnoticed."""
    values = [0, 0, 3, 0, 0, 0, 0, 0, 1]  # goes on, turn, lap, drew, drawn, open, owed, passes, boneyard
    values += [7, 1, 7, 1, 7, 1, 7, 1]  # end and length of each train
    values += [0, 1 << 32 | 1 << 28 | 1 << 2, 0, 0]  # 4-7, 0-7, 1-1
    values += [1, 1 << 30 | 1 << 43, 0, 0, 0, 1 << 31 | 1 << 20, 0, 0]  # marker; 2-7, 7-8; 3-7, 5-5
    h = 0
    for value in values:
        h = (h * 0x9E3779B97F4A7C15 + value) % 2**64
    h = ((h ^ h >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    h = ((h ^ h >> 27) * 0x94D049BB133111EB) % 2**64
    h ^= h >> 31
    assert leaf_hash(referee(SMALL)) == int(core.leaf_hash(parse_position(SMALL.pos).record[0])) == h


def test_a_wrong_rule_is_found_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The referee under another rule: the first actions that differ are marked."""
    record = next(record for record in RECORDS["tricky"] if record.id == "several open doubles, any first")
    wrong = record.pos.replace(";open_order=any", "")
    monkeypatch.setattr("test_perft.referee", lambda _: Referee.from_position(wrong, load_rules))
    text = both_sides(record, 1)
    assert "* 3-6@M    core 1 0 " in text and "referee -\n" in text and "\n  4-8@0" in text
    with pytest.raises(pytest.fail.Exception, match="by first action"):
        check_core(record._replace(counts=(Counts(1, 0, 0),)))

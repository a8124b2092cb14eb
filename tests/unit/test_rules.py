"""The record of options: what it refuses, what it resolves to, and that docs/rules.md says the same."""

from __future__ import annotations

import ast
import copy
import dataclasses
import itertools
import pickle
import random
import re
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from conftest import ROOT
from strategies_rules import random_valid_rules

from mt_env.rules import OPTIONS, PRESETS, TABLES, ResolvedRules, Rules, load_rules, value_to_text

DOC = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")

CLAUSES = ["R1"] + [
    f"R{section}.{number}"
    for section, count in {2: 6, 3: 6, 4: 6, 5: 8, 6: 3, 7: 2}.items()
    for number in range(1, count + 1)
]

# Boneyard after the deal, engine dealt and set aside (None: refused), by (seats, set, hand).
BONEYARDS = {
    (2, 6, 7): (14, 13), (3, 6, 7): (7, 6), (4, 6, 7): (0, None), (2, 9, 15): (25, 24), (3, 9, 15): (10, 9),
    (2, 12, 15): (61, 60), (3, 12, 15): (46, 45), (4, 12, 15): (31, 30), (5, 12, 12): (31, 30),
    (6, 12, 12): (19, 18), (7, 12, 11): (14, 13), (8, 12, 11): (3, 2), (8, 12, 10): (11, 10),
    (10, 12, 8): (11, 10), (9, 15, 11): (37, 36), (12, 15, 11): (4, 3), (13, 18, 11): (47, 46),
    (14, 18, 11): (36, 35), (8, 12, 15): (None, None),
}  # fmt: skip


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(ValueError, match=r".") as refused:
        make()
    assert type(refused.value) is ValueError
    return str(refused.value)


# --- the record -------------------------------------------------------------------------------------------


def test_options_are_the_fields_in_order_with_allowed_defaults() -> None:
    fields = dataclasses.fields(Rules)
    assert [field.name for field in fields] == list(OPTIONS)
    for field in fields:
        assert field.default in OPTIONS[field.name].values
    assert Rules() == PRESETS["spruce"]
    assert [field.name for field in dataclasses.fields(ResolvedRules)] == ["rules", "num_players", *OPTIONS]


def test_every_field_is_explained_by_its_clause() -> None:
    tree = ast.parse((ROOT / "mt_env" / "rules.py").read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Rules")
    explained = {}
    for node, after in itertools.pairwise(body):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(after, ast.Expr)
        ):
            explained[node.target.id] = ast.literal_eval(after.value)
    for name, option in OPTIONS.items():
        assert option.clause in CLAUSES
        assert option.clause in explained[name]
        assert len(option.notes) in (0, len(option.values))


def test_rules_are_values() -> None:
    for rules in PRESETS.values():
        for record in (rules, rules.resolve(4)):
            for other in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record))):
                assert other == record
                assert hash(other) == hash(record)
        with pytest.raises(dataclasses.FrozenInstanceError):
            rules.set = 12  # type: ignore[misc]
        with pytest.raises((AttributeError, TypeError)):
            rules.colour = "red"  # type: ignore[attr-defined]
    assert len(set(PRESETS.values())) == 4


def test_numbers_of_numpy_are_numbers() -> None:
    rules = Rules(set=np.int64(12), hand_size=np.uint8(9), table=np.str_("cover"))  # type: ignore[arg-type]
    assert rules == Rules(set=12, hand_size=9, table="cover")
    assert type(rules.set) is int
    assert type(rules.table) is str
    assert rules.resolve(np.int32(4)) == rules.resolve(4)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPTIONS)
def test_wrong_types_and_values_are_refused_by_name(name: str) -> None:
    option = OPTIONS[name]
    wrong: list[object] = [3.0, [], {}, b"any", object(), "", "nonsense", -1, 1000]
    wrong += [str(value) for value in option.values if type(value) is int]
    wrong += [value for value in (None, True, False, 0, 1) if not any(value is v for v in option.values)]
    for value in wrong:
        said = refusal(lambda value=value: Rules(**{name: value}))  # type: ignore[arg-type, misc]
        assert said.startswith(f"{name}={value!r}: must be ")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rules(open_order="odlest"), ["open_order", "'odlest'", "did you mean 'oldest'"]),
        (lambda: Rules(own_first="yes"), ["own_first='yes'", "True/False in Python"]),
        (lambda: Rules(set="12"), ["set='12'", "2 to 18 or None", "without quotes"]),
        (lambda: Rules(hand_size=1), ["hand_size=1", "from 2"]),
        (lambda: Rules(set=19), ["set=19", "2 to 18"]),
        (lambda: Rules(double_blank=101), ["double_blank=101", "0 to 100"]),
        (lambda: Rules(mexican_from="lap_1"), ["opening='chain'", "lap_1", "opening='single'"]),
        (
            lambda: Rules(opening="single", own_first=True, mexican_from="lap_1"),
            ["own_first=True", "mexican_from='lap_1'", "take mexican_from='lap_2'"],
        ),
        (
            lambda: Rules(opening="single", opening_double_binds=True),
            ["opening_double_binds=True", "opening='single'", "opening='chain'"],
        ),
        (lambda: Rules(set=12, first_engine=13), ["first_engine=13", "set=12", "0 to 12"]),
        (lambda: Rules(first_engine=13).resolve(4), ["first_engine=13", "set=12", "0 to 12"]),
        (lambda: Rules(set=12, rounds=14), ["rounds=14", "first_engine=12", "1 to 13"]),
        (lambda: Rules(first_engine=4, rounds=6), ["rounds=6", "first_engine=4", "1 to 5"]),
        (lambda: Rules(rounds=11).resolve(2), ["rounds=11", "first_engine=9", "1 to 10"]),
        (lambda: Rules(rounds=0), ["rounds=0", "1 to 19 or 'all'"]),
        (lambda: Rules().resolve(1), ["num_players=1", "2 to 14"]),
        (lambda: Rules().resolve(15), ["num_players=15", "2 to 14"]),
        (lambda: Rules().resolve(True), ["num_players=True"]),
        (lambda: Rules().resolve(4.0), ["num_players=4.0"]),
        (lambda: Rules(table="wikihow").resolve(11), ["num_players=11", "'wikihow'", "2 to 10", "both"]),
        (lambda: Rules(table="wikihow", set=15).resolve(11), ["num_players=11, set=15", "both set"]),
        (lambda: Rules(set=12).resolve(2), ["set=12", "num_players=2", "hand_size too", "set=9 or 6"]),
        (lambda: Rules(set=6).resolve(5), ["set=6", "num_players=5", "set=12"]),
        (lambda: Rules(set=6, hand_size=15), ["set=6", "hand_size=15", "28", "up to 14"]),
        (lambda: Rules(hand_size=20).resolve(8), ["hand_size=20", "num_players=8", "160 tiles", "up to 11"]),
        (lambda: Rules(set=2, hand_size=2).resolve(14), ["set=2", "num_players=14", "fewer seats"]),
        (lambda: Rules(set=9).resolve(2, position_set=12), ["position_set=12", "set=9"]),
        (lambda: Rules().resolve(2, position_set=1), ["position_set=1", "2 to 18"]),
        (lambda: Rules().replace(opn_order="any"), ["'opn_order'", "did you mean 'open_order'"]),
        (lambda: Rules().replace(zzz=1), ["'zzz'", "double_blank"]),
        (lambda: Rules.preset("Spruce "), ["'Spruce '", "did you mean 'spruce'"]),
        (lambda: Rules.preset(None), ["None", "spruce, wikihow"]),
        (lambda: Rules().resolve(4).round_of(13), ["engine=13", "0 to 12"]),
    ],
)  # fmt: skip
def test_refusals_name_the_fields_and_what_would_be_right(
    make: Callable[[], object], words: list[str]
) -> None:
    said = refusal(make)
    assert all(word in said for word in words), said


# --- for a number of seats --------------------------------------------------------------------------------


@pytest.mark.parametrize("deal", BONEYARDS)
def test_r2_6_boneyards(deal: tuple[int, int, int]) -> None:
    seats, max_pip, hand_size = deal
    for preset, size in zip(("spruce", "cover"), BONEYARDS[deal], strict=True):
        rules = PRESETS[preset].replace(set=max_pip, hand_size=hand_size)
        if size is None:
            assert "R2.6" in refusal(lambda rules=rules: rules.resolve(seats))  # type: ignore[misc]
            continue
        resolved = rules.resolve(seats)
        assert (resolved.set, resolved.hand_size, resolved.boneyard_size) == (max_pip, hand_size, size)
        assert seats * hand_size + size + (preset == "cover") == resolved.num_tiles


def test_r2_1_seats_of_the_presets() -> None:
    highest = {"spruce": 14, "wikihow": 10, "dominos_cc": 4, "cover": 14}
    for name, rules in PRESETS.items():
        assert rules.seats() == tuple(range(2, highest[name] + 1)) == tuple(TABLES[name])
        assert rules.replace(set=18, hand_size=11).seats() == tuple(range(2, 15))


def test_r2_1_the_second_pair_of_the_table_is_had_by_its_set_alone() -> None:
    rules = Rules(set=6)
    assert rules.seats() == (2, 3, 4)
    assert {rules.resolve(n).hand_size for n in (2, 3, 4)} == {7}
    assert Rules(hand_size=5).resolve(2).set == 9
    # The preset cover with the table of spruce: 4 x 7 of D6 does not go with an engine set aside.
    assert PRESETS["cover"].replace(table="spruce", set=6).seats() == (2, 3)


def test_r2_3_rounds_and_engines() -> None:
    assert Rules().resolve(4).engines == tuple(range(12, -1, -1))
    assert Rules().resolve(2).engines == tuple(range(9, -1, -1))
    assert PRESETS["dominos_cc"].resolve(4).engines == (12, 11, 10, 9, 8, 7)
    resolved = Rules(first_engine=5, rounds=3).resolve(4)
    assert (resolved.rounds, resolved.first_engine, resolved.engines) == (3, 5, (5, 4, 3))
    assert [resolved.round_of(engine) for engine in (5, 3, 0)] == [0, 2, 5]


def test_resolved_sizes_of_the_action_space() -> None:
    resolved = Rules().resolve(4)
    assert (resolved.num_tiles, resolved.num_trains, resolved.num_actions) == (91, 5, 457)
    assert resolved.rules is not None
    assert resolved.rules == Rules()


def test_a_position_brings_its_own_set() -> None:
    spruce = Rules()
    assert [spruce.resolve(2, position_set=n).hand_size for n in (6, 9, 12)] == [7, 15, 15]
    assert spruce.resolve(2, position_set=12) == Rules(set=12, hand_size=15).replace(
        set=None, hand_size=None
    ).resolve(2, position_set=12)
    assert spruce.resolve(14, position_set=2).hand_size == 0
    cut = PRESETS["dominos_cc"].resolve(2, position_set=3)
    assert (cut.set, cut.rounds, cut.first_engine, cut.hand_size) == (3, 4, 3, 4)
    assert Rules(first_engine=9).resolve(2, position_set=6).first_engine == 6
    dealt = Rules(set=12, hand_size=10).resolve(2)
    assert dealt.rules.resolve(2, position_set=12) == dealt


@pytest.mark.parametrize("num_players", range(2, 15))
def test_random_valid_rules_can_be_dealt_and_written(num_players: int) -> None:
    rng = random.Random(num_players)
    for _ in range(60):
        rules = random_valid_rules(rng, num_players)
        resolved = rules.resolve(num_players)
        assert resolved.boneyard_size >= 0
        assert resolved.hand_size >= 2
        assert rules.resolve(num_players, position_set=resolved.set) == resolved
        assert 1 <= resolved.rounds <= resolved.first_engine + 1 <= resolved.set + 1
        assert num_players in rules.seats()
        for name, option in OPTIONS.items():
            assert getattr(resolved, name) in option.values
        assert Rules.from_text(rules.to_text()) == rules
        assert Rules.from_dict(rules.to_dict()) == rules
        assert load_rules(rules) is rules


def test_explain_lists_every_option_with_its_clause() -> None:
    lines = PRESETS["cover"].explain().splitlines()
    assert [line.split()[:3] for line in lines] == [
        [name, value_to_text(getattr(PRESETS["cover"], name)), option.clause]
        for name, option in OPTIONS.items()
    ]


def test_importing_the_rules_is_light() -> None:
    code = (
        "import sys, types; package = types.ModuleType('mt_env'); package.__path__ = ['mt_env']; "
        "sys.modules['mt_env'] = package; import mt_env.rules; "
        "print(sorted({'yaml', 'numpy', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# --- the page ---------------------------------------------------------------------------------------------


def rows_below(header: str) -> list[list[str]]:
    lines = DOC.splitlines()
    start = lines.index(header) + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:end]]


def test_the_page_has_every_clause_once_and_in_order() -> None:
    assert re.findall(r"^\*\*(R[0-9.]+)\*\* ", DOC, re.MULTILINE) == CLAUSES


def test_the_seat_table_of_the_page_is_the_one_of_the_code() -> None:
    seen = []
    for seats, *cells in rows_below("| seats | " + " | ".join(PRESETS) + " |"):
        for n in map(int, seats.split(",")):
            seen.append(n)
            for preset, cell in zip(PRESETS, cells, strict=True):
                pairs = [f"D{max_pip} x{hand}" for max_pip, hand in TABLES[preset].get(n, ())]
                assert cell == (f"{pairs[0]}{''.join(f' (or {p})' for p in pairs[1:])}" if pairs else "-")
    assert seen == list(range(2, 15))


def test_the_preset_table_of_the_page_is_the_one_of_the_code() -> None:
    assert rows_below("| option | clause | " + " | ".join(PRESETS) + " |") == [
        [name, option.clause, *(value_to_text(getattr(rules, name)) for rules in PRESETS.values())]
        for name, option in OPTIONS.items()
    ]


def test_the_page_names_every_value_and_clause_it_cites() -> None:
    cited = set(re.findall(r"\(([2-7]\.[0-9])\)", DOC)) | set(re.findall(r"R([1-7]\.[0-9])", DOC))
    assert {f"R{number}" for number in cited} <= set(CLAUSES)
    for name, option in OPTIONS.items():
        assert f"`{name}`" in DOC or f"`{name}:" in DOC, name
        for value in option.values:
            if isinstance(value, str) and name != "table":
                assert re.search(rf"\b{value}\b", DOC), (name, value)

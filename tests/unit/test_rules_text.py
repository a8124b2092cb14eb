"""Rules as text, YAML files and mappings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT

from mt_env.rules import OPTIONS, PRESETS, Rules, load_rules, value_to_text

CONFIGS = ROOT / "configs" / "rules"


@pytest.mark.parametrize("name", PRESETS)
def test_preset_files_equal_the_code(name: str) -> None:
    text = (CONFIGS / f"{name}.yaml").read_text(encoding="utf-8")
    assert load_rules(CONFIGS / f"{name}.yaml") == PRESETS[name]
    assert "".join(text.splitlines(keepends=True)[2:]) == PRESETS[name].to_yaml()


def test_every_file_loads_and_the_example_differs_from_its_preset() -> None:
    files = {path.stem: load_rules(str(path)) for path in CONFIGS.glob("*.yaml")}
    assert set(files) == {*PRESETS, "example_house_rules"}
    assert files["example_house_rules"].to_text() == (
        "spruce;set=9;hand_size=10;rounds=5;opening=single;open_order=any;out_on_double=no;double_blank=25"
    )
    assert files["example_house_rules"].resolve(4).boneyard_size == 15


def test_text_of_the_presets_is_their_name() -> None:
    for name, rules in PRESETS.items():
        assert rules.to_text() == name
        assert Rules.from_text(name) == Rules.preset(name) == load_rules(name) == rules


def test_text_names_the_nearest_preset_and_differs_in_field_order() -> None:
    text = "dominos_cc;set=12;hand_size=none;own_first=no;rounds=all;out_on_double=no"
    assert load_rules(text).to_text() == "dominos_cc;set=12;rounds=all;out_on_double=no"
    assert PRESETS["spruce"].replace(table="cover").to_text() == "spruce;table=cover"


@pytest.mark.parametrize("name", OPTIONS)
def test_every_value_of_every_option_can_be_written(name: str) -> None:
    tried = 0
    for value in OPTIONS[name].values:
        rules = PRESETS["spruce"]
        for preset, base in PRESETS.items():
            try:
                rules = base.replace(**{name: value})
            except ValueError:
                continue
            tried += 1
            assert load_rules(f"{preset};{name}={value_to_text(value)}") == rules
            assert load_rules(rules.to_text()) == rules
        assert Rules.from_yaml_text(rules.to_yaml()) == rules
    assert tried >= len(OPTIONS[name].values)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["must begin with a preset", "spruce"]),
        ("sprce", ["did you mean 'spruce'"]),
        ("dominos-cc", ["did you mean 'dominos_cc'"]),
        ("open_order=any", ["must begin with a preset"]),
        ("spruce;", ["'' must be option=value"]),
        ("spruce;open_order", ["'open_order' must be option=value"]),
        ("spruce;open_ordr=any", ["did you mean 'open_order'"]),
        ("spruce;open_order=anny", ["open_order=anny", "oldest or any", "did you mean 'any'"]),
        ("spruce;open_order=any;open_order=any", ["open_order is given twice"]),
        ("spruce; open_order=any", ["without spaces"]),
        ("spruce\n", ["without spaces"]),
        ("spruce;out_on_double=true", ["out_on_double=true", "no or yes"]),
        ("spruce;set=012", ["set=012", "2 to 18"]),
        ("spruce;set=+12", ["set=+12"]),
        ("spruce;set=١٢", ["2 to 18"]),
        ("spruce;set=12=12", ["set=12=12"]),
        ("spruce;preset=cover", ["unknown option 'preset'"]),
        ("spruce;mexican_from=lap_1", ["opening='chain'", "mexican_from='lap_1'"]),
    ],
)
def test_text_is_strict(text: str, words: list[str]) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        load_rules(text)
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_mapping_may_name_its_base() -> None:
    assert load_rules({}) == PRESETS["spruce"]
    assert load_rules({"preset": "cover", "set": 12}) == PRESETS["cover"].replace(set=12)
    given = {"preset": "cover"}
    load_rules(given)
    assert given == {"preset": "cover"}


@pytest.mark.parametrize("rules", [None, 3, b"spruce", ["spruce"], PRESETS["spruce"].resolve(4)])
def test_what_cannot_be_rules_is_told_what_can(rules: object) -> None:
    with pytest.raises(ValueError, match=r"must be a preset name .*spruce;open_order=any.*\.yaml.*mapping"):
        load_rules(rules)  # type: ignore[arg-type]


_MANY_ALIASES = "".join(f"x{i}: &a{i} {{p: *a{i - 1}, q: *a{i - 1}}}\n" for i in range(1, 41))
_MANY_ALIASES = "x0: &a0 {p: x, q: x}\n" + _MANY_ALIASES
"""A value that would be a million million words long if it were written out."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty", "preset: spruce"]),
        ("# only a comment\n", ["is empty"]),
        ("- set\n", ["is a list"]),
        ("spruce\n", ["is a str"]),
        ("open_ordr: any\n", ["did you mean 'open_order'"]),
        ("set: 12\nset: 9\n", ["line 2", "set is given twice"]),
        ("preset: cover\npreset: cover\n", ["preset is given twice"]),
        ("preset: covr\n", ["did you mean 'cover'"]),
        ("preset: [cover]\n", ["must be one of"]),
        ("own_first: 'yes'\n", ["own_first='yes'", "without quotes"]),
        ("own_first: 1\n", ["own_first=1"]),
        ("double_blank: yes\n", ["double_blank=True", "not a yes/no option"]),
        ("opening: null\n", ["opening=None", "cannot be left open"]),
        ("set: '12'\n", ["set='12'", "without quotes"]),
        ("set: 12.0\n", ["set=12.0"]),
        ("1: 2\n", ["unknown option 1"]),
        ("{set: [}\n", ["not readable as YAML", "line 1"]),
        ("set: 12\n---\nset: 9\n", ["not readable as YAML"]),
        ("set: !!python/object/apply:os.getcwd []\n", ["not readable as YAML"]),
        ("? [1]\n: 2\n", ["YAML"]),
        ("own_first: !!bool maybe\n", ["line 1", "'maybe' does not fit its tag !!bool"]),
        ("set: 9\nrounds: !!timestamp x\n", ["line 2", "'x' does not fit its tag !!timestamp"]),
        ("set: !!int ''\n", ["'' does not fit its tag !!int"]),
        ("set: " + "[" * 3000, ["line 1", "nested too deep"]),
        ("- " * 3000, ["line 1", "nested too deep"]),
        ("set: &a [*a]\n", ["set: must be a plain value"]),
        ("preset: &a {x: *a}\n", ["preset: must be a plain value"]),
        (_MANY_ALIASES + "set: *a40\n", ["must be a plain value"]),
        ("mexican_from: lap_1\n", ["opening='chain'", "mexican_from='lap_1'"]),
    ],
)
def test_yaml_is_strict_and_names_the_file(text: str, words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine\.yaml: ") as refused:
        load_rules(path)
    assert all(word in str(refused.value) for word in words), refused.value


def test_yaml_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"set: \xff\xfe\n")
    with pytest.raises(ValueError, match=r"mine\.yaml: not readable as YAML"):
        load_rules(path)
    with pytest.raises(FileNotFoundError):
        load_rules(str(tmp_path / "none.yml"))


def test_yaml_reads_yes_and_no_as_booleans() -> None:
    assert Rules.from_yaml_text("preset: cover\nout_on_double: yes\nset: null\n") == PRESETS["cover"].replace(
        out_on_double=True
    )


def test_yaml_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.yaml"
    rules = PRESETS["cover"].replace(set=9, hand_size=7, out_on_double=True)
    assert rules.to_yaml(path) == path.read_text(encoding="utf-8") == rules.to_yaml()
    assert load_rules(os.fspath(path)) == Rules.from_yaml(path) == rules
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="no room"):
        PRESETS["spruce"].to_yaml(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.yaml"]

"""README and docs: snippets run, links resolve, and what is named there exists.

What the tables of single pages say is tested beside their code: test_env_docs, test_rules, test_learning,
test_arena, test_benchmarks.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mt_env
from mt_env.vector import Batch

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mt_env"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
LEARN = ("torch", "stable_baselines3", "sb3_contrib", "mt_env.integrations.sb3")

ELSEWHERE = {"env.md"}
"""Pages whose snippets another test runs: test_env_docs."""

SKIPPED = {("training.md", "bot.logits(view)")}
"""Snippets that cannot run by themselves, page and part of the text: this one needs a finished run."""


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def snippets() -> list[object]:
    found = []
    for path in PAGES:
        if path.name in ELSEWHERE:
            continue
        for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", read(path), re.DOTALL | re.M), 1):
            if any(path.name == page and part in code for page, part in SKIPPED):
                continue
            heavy = any(re.search(rf"^(import|from) {re.escape(name)}\b", code, re.M) for name in LEARN)
            marks = [pytest.mark.slow, *([pytest.mark.learn] if heavy else [])]
            found.append(pytest.param(path, code, id=f"{path.name}-{number}", marks=marks))
    return found


@pytest.mark.parametrize(("path", "code"), snippets())
def test_a_snippet_runs(path: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, path.name, "exec"), {"__name__": "__main__"})


def test_what_is_skipped_is_there() -> None:
    for page, part in SKIPPED:
        assert part in read(ROOT / "docs" / page)


def anchors(path: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.*)$", read(path), re.M)
    }


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_resolve(path: Path) -> None:
    text = re.sub(r"```.*?```", "", read(path), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        assert linked.exists(), f"{path.name} links to {target}"
        assert linked.is_relative_to(ROOT), f"{path.name} links to {target}, out of the repository"
        if anchor:
            assert anchor in anchors(linked), f"{path.name} links to {target}: there is no such heading"


NAMED = re.compile(r"(?<![\w/.:-])((?:examples|tests|training|configs|benchmarks|docs|mt_env)/[\w./*-]*\w/?)")
NO_FILES = {"mt_env/mexican_train-v0", "benchmarks/results/runs/"}
"""An environment's id, and a folder that only a run makes."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    for name in NAMED.findall(read(path)):
        if name not in NO_FILES:
            pattern = re.sub(r"\b[A-Z]{3,}\b", "*", name.rstrip("/"))  # PRESET stands for any name
            assert any(ROOT.glob(pattern)), f"{path.name} names {name}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_names_of_the_package_exist(path: Path) -> None:
    for dotted in re.findall(r"\bmt_env(?:\.[A-Za-z_]\w*)+", read(path)):
        parts = dotted.split(".")
        place = ROOT
        while parts and (place / parts[0]).is_dir():
            place /= parts.pop(0)
        if parts and (place / f"{parts[0]}.py").is_file():
            place /= f"{parts.pop(0)}.py"
        source = read(place if place.suffix else place / "__init__.py")
        for name in parts[:1]:
            assert re.search(rf"\b{name}\b", source), f"{path.name} names {dotted}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_make_targets_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.M))
    for target in re.findall(r"(?:`|^    |^)make ([a-z-]+)", read(path), re.M):
        assert target in targets, f"{path.name}: make {target}"


# --- architecture -----------------------------------------------------------------------------------------

ARCHITECTURE = read(ROOT / "docs" / "architecture.md")


def modules() -> list[str]:
    """Every module of mt_env, by its path in the package; those that only collect names left out."""
    return [
        name
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).endswith("/__init__.py")
    ]


def test_architecture_names_every_module() -> None:
    assert [name for name in modules() if f"`{name}`" not in ARCHITECTURE] == []


def test_files_named_in_architecture_exist() -> None:
    named = re.findall(r"`([\w./*-]+(?:\.(?:py|md|yaml|perft)|/))`", ARCHITECTURE)
    assert len(named) > 60
    assert [name for name in named if not (ROOT / name).exists() and not (PACKAGE / name).exists()] == []


@pytest.mark.parametrize(
    ("file", "names"),
    [
        (
            "mt_env/core/state.py",
            ("GAME_DTYPE", "RULES_DTYPE", "_RULES_FIELDS", "_GAME_FIELDS", "rules_record"),
        ),
        ("mt_env/observation.py", ("_PUBLIC", "FIELDS")),
        ("mt_env/candidates.py", ("FEATURES",)),
        ("mt_env/rewards.py", ("REWARDS", "round_rewards", "episode_rewards", "write_rewards")),
        ("mt_env/bots/rule_bots.py", ("KINDS",)),
        ("mt_env/game.py", ("min_utility", "max_utility")),
        ("tests/test_lockstep.py", ("REACHES",)),
        ("tests/perft_files.py", ("TINY_PLAYS",)),
    ],
)
def test_places_to_touch_are_where_architecture_says(file: str, names: tuple[str, ...]) -> None:
    for name in names:
        assert f"`{name}`" in ARCHITECTURE, f"architecture.md no longer tells of {name}: take it out here"
        assert re.search(rf"^(?:    )?(?:def |class )?{name}\b", read(ROOT / file), re.M), f"{file}: {name}"


def test_layers_are_those_of_the_layering_test() -> None:
    from test_layering import LAYERS

    picture = re.search(r"```\n(.*?)```", ARCHITECTURE, re.DOTALL)
    assert picture is not None
    lines = [line.split("   ")[0] for line in picture[1].splitlines() if "↑" not in line]
    drawn = [re.findall(r"\w+", line) for line in lines[:-1]]  # the last line lies above mt_env
    order = [next(i for i, layer in enumerate(LAYERS) if words[-1] in layer) for words in drawn]
    assert order == sorted(order) and len(set(order)) == len(order)
    for words, height in zip(drawn, order, strict=True):
        assert all(word.rstrip("_") in LAYERS[height] for word in words)


# --- vector, changelog ------------------------------------------------------------------------------------


def test_the_table_of_arrays() -> None:
    """Names, dtypes and shapes in docs/vector.md are those of a batch, and no array is left out."""
    batch = Batch(5, num_players=3, candidates=True, events=7, seed=1)
    sizes = {"N": 5, "n": 3, "A": batch.game.num_actions, "D": batch.encoding.size, "L": 7, "4": 4}
    sizes["K"], sizes["F"] = batch.legal.shape[1], batch.candidates.shape[2]
    rows = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| `\[(.*?)\]` \|", read(ROOT / "docs" / "vector.md"), re.M)
    for name, dtype, shape in rows:
        array = getattr(batch, name)
        assert array.dtype.name in dtype.split(" or "), name
        assert array.shape == tuple(sizes[letter] for letter in shape.split(", ")), name
    arrays = {
        name
        for name, value in vars(batch).items()
        if isinstance(value, np.ndarray) and not name.startswith("_")
    }
    assert {name for name, _, _ in rows} == arrays


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+)", read(ROOT / "CHANGELOG.md"), re.M)
    assert first is not None and first[1] == mt_env.__version__

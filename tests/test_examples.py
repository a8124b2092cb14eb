"""Every program of examples/ runs, as a user would run it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

SAYS = {
    "own_bot.py": r"doubles-first +\d+\.\d points a round",
    "own_opponent.py": r"20 rounds: \d+\.\d wins, \d+\.\d points a round",
    "random_play.py": r"(?s)round 1: .*round 3: \d+ moves; points: player_",
    "evaluate_two_bots.py": r"(?s)planner +wins .*difference +[+-].*spread",
    "position_lookup.py": r"(?s)hand 3: .*4-7@M +[+-]\d.*best: rules=spruce seats=3",
    "ppo_one_file.py": r"(?s)steps .*50 equal deals .*learner +wins.*difference",
    "selfplay_batch.py": r"(?s)step 40: .*learned +wins \d+\.\d% of 100 rounds",
}
"""What the output of each must hold."""

SMALL = {
    "evaluate_two_bots.py": "--deals 10",
    "ppo_one_file.py": "--total-steps 1500 --num-envs 8 --num-steps 32 --hidden 16 --eval-games 50",
    "selfplay_batch.py": "--games 32 --steps 40 --eval-games 100",
}
"""Arguments that make a run short."""

LENGTH = {"ppo_one_file.py": 220}
"""Lines of an example that may have more than 100."""

LEARN = ("torch", "stable_baselines3", "sb3_contrib")


def needs_learn(path: Path) -> bool:
    return any(re.search(rf"^\s*(import|from) {name}\b", path.read_text(), re.MULTILINE) for name in LEARN)


PROGRAMS = [
    pytest.param(path, id=path.name, marks=pytest.mark.learn if needs_learn(path) else ())
    for path in EXAMPLES
]


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path), *SMALL.get(path.name, "").split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(SAYS.get(path.name, r"\S"), done.stdout), done.stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_tells_its_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < LENGTH.get(path.name, 100)
    assert f"python examples/{path.name}" in (ast.get_docstring(ast.parse(text)) or "")


def test_the_simplest_examples_are_there() -> None:
    assert SAYS.keys() <= {path.name for path in EXAMPLES}

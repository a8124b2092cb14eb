"""docs/env.md says what the code says."""

from __future__ import annotations

import inspect
import re

import pytest
from env_docs import PAGE, blocks, filled

from mt_env.env import env, raw_env
from mt_env.rewards import REWARDS


def test_generated_parts_are_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert filled(page) == page, "run: python -m tests.env_docs"
    assert set(re.findall(r"<!-- generated: (\w+) -->", page)) == set(blocks())


def test_arguments_and_their_defaults() -> None:
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("| argument | default |")
    arguments = page[start : page.index("\n\n", start)]
    table = dict(re.findall(r"^\| `(\w+)` \| `?([^`|]+?)`? \|", arguments, flags=re.MULTILINE))
    for name, parameter in inspect.signature(raw_env).parameters.items():
        assert table[name].replace('"', "'") == repr(parameter.default), name
    for reward in REWARDS:
        assert f"| `{reward}` |" in page


@pytest.mark.parametrize(
    "code", re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
)
def test_examples_run(code: str) -> None:
    exec(compile(code, "docs/env.md", "exec"), {})


def test_numbers_in_the_text() -> None:
    game = env()
    assert game.game.draw_action == 455
    assert game.game.pass_action == 456
    assert game.metadata["name"] == "mexican_train_v0"

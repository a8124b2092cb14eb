"""The examples in docs/rules.md, played by the referee."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from reference import Referee
from reference_text import action_from_text, action_to_text

from mt_env.rules import load_rules

DOC = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")


def examples() -> list[tuple[str, str]]:
    """(clause, block) of every example."""
    found, clause = [], ""
    for match in re.finditer(r"^\*\*(R[0-9.]+)\*\*|^```position\n(.*?)^```", DOC, re.MULTILINE | re.DOTALL):
        if match[1]:
            clause = match[1]
        else:
            found.append((clause, match[2]))
    return found


def outcome(game: Referee) -> str:
    if game.over:
        return " ".join(["over", *map(str, game.scores or [])])
    return " ".join(action_to_text(action, game.num_players) for action in game.legal())


def test_there_are_examples() -> None:
    assert DOC.count("```position") == len(examples()) >= 20


@pytest.mark.parametrize(("clause", "block"), examples(), ids=[clause for clause, _ in examples()])
def test_example(clause: str, block: str) -> None:
    position, *lines = block.splitlines()
    for line in lines:
        said, _, expected = line.partition(": ")
        first, *actions = said.split()
        assert first == ("legal" if not actions else "after")
        game = Referee.from_position(position, load_rules)
        for text in actions:
            game.apply(action_from_text(text, game.num_players))
        assert outcome(game) == expected, f"{clause}: {line}"

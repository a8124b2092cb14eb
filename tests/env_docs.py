"""The generated parts of docs/env.md. ``python -m tests.env_docs`` writes them, test_env_docs compares."""

from __future__ import annotations

import re
from pathlib import Path

from mt_env.candidates import features_table
from mt_env.env import raw_env
from mt_env.game import Game
from mt_env.observation import FIELDS, STATE_FIELDS, dimensions_table, fields_table
from mt_env.rules import Rules

PAGE = Path(__file__).resolve().parent.parent / "docs" / "env.md"


def sizes_table() -> str:
    lines = ["| seats | set | actions | observation | in a match | state |", "|---|---|---|---|---|---|"]
    for n in Rules.preset("spruce").seats():
        single = raw_env(num_players=n)
        match = raw_env(num_players=n, episode="match")
        game: Game = single.game
        lines.append(
            f"| {n} | D{game.rules.set} | {game.num_actions} | {single.encoding.size} | "
            f"{match.encoding.size} | {single.state_encoding.size} |"
        )
    return "\n".join(lines) + "\n"


def numbers(paid: dict[str, float]) -> str:
    return " / ".join(f"{value:g}" for value in paid.values()) or "-"


def trace() -> str:
    """A short game: who acts, and what the three kinds of reward say around its end."""
    game = raw_env(num_players=3, rules="spruce;set=6;hand_size=3", engine=6)
    game.reset(seed=4)
    rows = []
    while game.agents:
        agent = game.agent_selection
        _, reward, terminated, _, _ = game.last()
        legal = game.legal_actions()
        action = legal[0] if legal else None
        text = "None" if action is None else game.action_to_string(action)
        game.step(action)
        rows.append(
            f"| {len(rows) + 1} | {agent} | {reward:g} | {'yes' if terminated else 'no'} | {text} | "
            f"{numbers(game.rewards)} | {numbers(game._cumulative_rewards)} |"
        )
    head = [
        "| step | `agent_selection` | `last()`: reward | terminated | `step(...)` | `rewards` after it | "
        "`_cumulative_rewards` after it |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join(head + rows) + "\n"


def blocks() -> dict[str, str]:
    return {
        "sizes": sizes_table(),
        "observation": fields_table(FIELDS),
        "names": dimensions_table(),
        "candidates": features_table(),
        "state": fields_table(STATE_FIELDS),
        "trace": trace(),
    }


def filled(page: str) -> str:
    """``page`` with every generated part brought up to date."""
    for name, text in blocks().items():
        pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end -->)"
        page, count = re.subn(pattern, lambda m, text=text: m[1] + text + m[2], page, flags=re.DOTALL)
        assert count == 1, f"docs/env.md has {count} parts named {name}"
    return page


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

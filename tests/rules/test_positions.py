"""Every worked position, read and played by the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mt_env.actions import train_to_string
from mt_env.game import State
from mt_env.invariants import invariants
from mt_env.notation import parse_position

TESTS = Path(__file__).resolve().parent.parent
CASES: list[dict[str, Any]] = [
    case
    for name in ("cases.yaml", "cases_extra.yaml")
    for case in yaml.safe_load((TESTS / name).read_text(encoding="utf-8"))
]


def fields(state: State) -> dict[str, Any]:
    """What a worked position can say about a state."""
    s, n = state.record[0], state.game.num_players
    ends = [str(s["ends"][t]) if s["lengths"][t] else "-" for t in range(n + 1)]

    def trains(name: str, count: str) -> str:
        return ",".join(train_to_string(t, n) for t in s[name][: int(s[count])].tolist())

    return {
        "legal": sorted(map(state.action_to_string, state.legal_actions())),
        "turn": int(s["turn"]),
        "over": state.is_terminal(),
        "how": state.how,
        "scores": state.round_scores(),
        "trains": "/".join(end + "*" * int(m) for end, m in zip(ends, s["markers"][:n], strict=False)),
        "mexican": ends[n],
        "open": trains("open_trains", "num_open"),
        "owes": trains("owed_trains", "num_owed"),
        "passes": int(s["passes"]),
    }


def expected(step: dict[str, Any]) -> dict[str, Any]:
    wanted = {key: value for key, value in step.items() if key != "do"}
    for key in ("open", "owes", "mexican"):
        if key in wanted:
            wanted[key] = str(wanted[key])
    if "legal" in wanted:
        wanted["legal"] = sorted(wanted["legal"])
    return wanted


@pytest.mark.parametrize("case", CASES, ids=[f"{case['clause']}: {case['id']}" for case in CASES])
def test_worked_position_on_the_core(case: dict[str, Any]) -> None:
    start = parse_position(case["position"])
    assert fields(start)["legal"] == sorted(case["legal"])
    for step in case.get("then", []):
        state = start.clone()
        for text in step["do"]:
            assert not invariants(state)
            state.apply_action(state.string_to_action(text))
        got, wanted = fields(state), expected(step)
        assert {key: got[key] for key in wanted} == wanted, f"after {step['do']}"
        assert not invariants(state)


@pytest.mark.parametrize("case", CASES, ids=[f"{case['clause']}: {case['id']}" for case in CASES])
def test_worked_position_round_trips(case: dict[str, Any]) -> None:
    state = parse_position(case["position"])
    again = parse_position(state.to_position())
    assert again == state
    assert again.legal_actions() == state.legal_actions()


def test_the_owners_cases_are_all_here() -> None:
    ids = [case["id"] for case in CASES]
    assert len(ids) == len(set(ids)) >= 33

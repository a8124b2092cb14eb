"""Protocols that are out never change, and the document says what they are and what scores they give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mt_env.arena.protocol import PROTOCOLS, Protocol, evaluate
from mt_env.arena.protocols import settings_markdown, sha256, table_seed
from mt_env.arena.report import cells
from mt_env.rng import mix

FROZEN = {"mt-eval-v1": "5d708934f32b2ac6"}
"""Beginning of each protocol's digest. A protocol that is out never changes: make one of another name."""

GAMES = {"mt-eval-v1": "e0ed191389a2a7f5"}
"""Beginning of the digest of the games that `heaviest` has in the first fifth of the subset `slow`."""


def test_protocols_are_frozen() -> None:
    assert {name: protocol.digest[:16] for name, protocol in PROTOCOLS.items()} == FROZEN
    assert all(protocol.name == name for name, protocol in PROTOCOLS.items())


def test_names_of_rules_and_opponents_mean_what_they_meant() -> None:
    """A digest of settings would not see that `planner` plays otherwise, or that a preset has changed."""
    for name, wanted in GAMES.items():
        slow = PROTOCOLS[name].tables_of("slow")
        first = tuple(replace(table, deals=(n := table.deals // 5), slow_deals=n) for table in slow)
        found = evaluate("heaviest", Protocol(f"{name}.first", first, resamples=10)).to_dict()
        assert sha256([entry["games"] for entry in found["tables"]])[:16] == wanted


def test_seeds_follow_the_rule() -> None:
    for protocol in PROTOCOLS.values():
        seeds = [table.seed for table in protocol.tables]
        assert seeds == [table_seed(protocol.name, i) for i in range(len(seeds))]
    # SHA-256 of "mt-eval-v1" by any other program begins with these bytes.
    assert table_seed("mt-eval-v1", 3) == mix(0xE6F1AAA9A1F109E2, 3)


def test_the_document_shows_the_settings() -> None:
    text = Path(__file__).parents[1].joinpath("docs/arena.md").read_text(encoding="utf-8")
    for protocol in PROTOCOLS.values():
        assert settings_markdown(protocol) in text


@pytest.mark.slow
def test_the_document_shows_the_scores() -> None:
    text = Path(__file__).parents[1].joinpath("docs/arena.md").read_text(encoding="utf-8")
    planner, tactician = evaluate("planner"), evaluate("tactician")
    for result in (planner, tactician, evaluate("heaviest"), evaluate("random")):
        fair = " | ".join(f"{row.fair.value:.3f}" for row in result.rows)
        assert f"| {result.bot.name} | {' '.join(cells(result.score, 3))} | {fair} |" in text
    difference = " ".join(cells(tactician.minus(planner), 3, sign=True))
    assert f"tactician - planner: {difference}." in text
    assert f"content sha256 {tactician.digest[:16]}" in text

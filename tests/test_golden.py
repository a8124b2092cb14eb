"""The golden games are what the code plays today; a difference is shown line by line."""

from __future__ import annotations

import difflib

import golden
import pytest
from golden import FOLDER, GAMES, LARGEST, Golden, recorded, text_of

from mt_env.rules import PRESETS, load_rules


def differences(was: str, now: str) -> str:
    lines = difflib.unified_diff(was.splitlines(), now.splitlines(), "the file", "the code", lineterm="", n=3)
    return "\n".join(list(lines)[:60])


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_game_is_still_the_same(game: Golden) -> None:
    path = FOLDER / f"{game.name}.txt"
    was = path.read_text(encoding="utf-8")
    now = text_of(game, recorded(game.name), strict=True)
    assert was == now, f"{path.name} (`make golden` rewrites it):\n{differences(was, now)}"
    assert len(was.encode()) < LARGEST


def test_larger_games_have_the_same_bytes() -> None:
    was = (FOLDER / "digests.txt").read_text(encoding="utf-8")
    assert was == golden.digests(), differences(was, golden.digests())


def test_the_rule_bots_still_play_alike() -> None:
    was = (FOLDER / "bots.txt").read_text(encoding="utf-8")
    now = golden.bot_lines()
    assert was == now, differences(was, now)


def test_every_preset_has_a_game_and_every_file_a_test() -> None:
    names = {game.name for game in GAMES}
    for preset in PRESETS:
        assert preset in names, f"{preset} has no golden game: add one to GAMES in tests/golden.py"
    for game in GAMES:
        if game.name in PRESETS:
            assert load_rules(game.rules).to_text().startswith(game.name)
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.txt" for name in names} | {
        "digests.txt",
        "bots.txt",
    }


def test_a_change_is_noticed() -> None:
    """Rewriting keeps the recorded actions; under another rule a replay fails or the text differs."""
    game = next(game for game in GAMES if game.name == "cover")
    actions = recorded(game.name)
    assert text_of(game, actions) == (FOLDER / "cover.txt").read_text(encoding="utf-8")
    changed = text_of(game._replace(rules=game.rules + ";double_blank=7"), actions)
    was = (FOLDER / "cover.txt").read_text(encoding="utf-8")
    assert "double_blank" in differences(was, changed)
    other = game._replace(rules=game.rules + ";mexican_from=lap_2")
    with pytest.raises(ValueError, match="begin the Mexican Train in lap 1"):
        text_of(other, actions, strict=True)
    assert "plays" in text_of(other, actions)  # rewriting goes on at random
    with pytest.raises(ValueError, match="''"):
        text_of(game, actions[:-1], strict=True)
    with pytest.raises(ValueError, match="over before its last action"):
        text_of(game, [*actions, "pass"], strict=True)

"""The file of a tournament's games: it grows, is gone on with, read back, and refused if it is damaged."""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from test_arena_runs import FEW, Heaviest, outputs

from mt_env.arena import TournamentResult, tournament
from mt_env.arena.stream import KEYS, games_sha256, header


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[TournamentResult, bytes]:
    """A tournament with a void deal, and its file."""
    path = tmp_path_factory.mktemp("whole") / "games.jsonl"
    result = tournament([Heaviest(4, 2), "random", "random"], 9, 2, stream=path, resamples=FEW)
    return result, path.read_bytes()


def again(path: Path, **options) -> TournamentResult:
    arguments = {"deals": 9, "seed": 2, "stream": path, "resume": True, "resamples": FEW} | options
    return tournament([Heaviest(4, 2), "random", "random"], **arguments)


def test_lines_are_whole_numbers_in_order(whole) -> None:
    result, data = whole
    head, *rows, end = map(json.loads, data.splitlines())
    assert tuple(head) == KEYS and head == json.loads(json.dumps(header(result)))
    assert head["format"] == "mt_env games 2" and head["seed"] == 2 and head["rules"] == "spruce"
    assert [row["deal"] for row in rows] == list(range(9)) and "failure" in rows[4]
    before = b"".join(data.splitlines(keepends=True)[:-1])
    digests = {"games_sha256": result.digest, "lines_sha256": hashlib.sha256(before).hexdigest()}
    assert end == {"end": "deals", "deals": 9, **digests}
    assert data.decode() == result.to_jsonl() and b"." not in b"".join(data.splitlines()[1:5])


@pytest.mark.parametrize("lines", [0, 1, 3, 5, 6, 10, 11])
@pytest.mark.parametrize("torn", [0, 1, 20])
def test_going_on_gives_the_same_bytes(whole, lines: int, torn: int, tmp_path: Path) -> None:
    """``lines`` whole lines and ``torn`` bytes of the next are there; an empty file is a beginning too."""
    result, data = whole
    path = tmp_path / "games.jsonl"
    parts = data.splitlines(keepends=True)
    if lines == 0 and torn:
        path.write_bytes(parts[0][:torn])
        with pytest.raises(ValueError, match="is no file of games"):
            again(path)
        return
    path.write_bytes(b"".join([*parts[:lines], *(part[:torn] for part in parts[lines : lines + 1])]))
    resumed = again(path)
    assert path.read_bytes() == data and outputs(resumed) == outputs(result)
    assert resumed.clock.deals == min(9, max(0, 10 - max(1, lines)))


def test_a_file_that_exists_is_not_overwritten(whole, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(whole[1])
    with pytest.raises(ValueError, match=r"games\.jsonl: exists; resume=True"):
        again(path, resume=False)
    path.write_text("notes\n")
    with pytest.raises(ValueError, match=r"is no file of games"):
        again(path)
    assert path.read_text() == "notes\n"
    with pytest.raises(ValueError, match="resume=True without stream"):
        tournament(["random", "random"], 1, 1, resume=True)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"deals": 10}, "deals 9 there, 10 now"),
        ({"seed": 3}, "seed 2 there, 3 now"),
        ({"rules": "cover"}, 'rules "spruce" there, "cover" now'),
        ({"episode": "match"}, 'episode "round" there, "match" now'),
        ({"engine": 4}, 'engine "random" there, 4 now'),
        ({"seatings": "balanced"}, 'seatings "rotations" there, "balanced" now'),
        ({"until": 0.01}, "until null there, 0.01 now"),
        ({"time_limit": 2}, "time_limit null there, 2.0 now"),
        ({"max_failures": 3}, "max_failures null there, 3 now"),
        ({"resamples": 100}, "resamples 200 there, 100 now"),
    ],
)
def test_other_settings_cannot_go_on(whole, options: dict[str, object], says: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(whole[1])
    with pytest.raises(ValueError, match=f"was begun with other settings: {says}"):
        again(path, **options)
    assert path.read_bytes() == whole[1]


CHANGING = """
class Bot:
    def act(self, view, rng):
        return view.legal_actions[{choice}]
"""


def test_another_version_of_a_bot_cannot_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    source, path = tmp_path / "changing_bot.py", tmp_path / "games.jsonl"

    def play() -> TournamentResult:
        sys.modules.pop("changing_bot", None)
        importlib.invalidate_caches()
        return tournament(["changing_bot:Bot", "random"], 3, 1, stream=path, resume=True, resamples=FEW)

    source.write_text(CHANGING.format(choice=0), newline="\n")
    first = play()
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    assert first.sources == (("changing_bot.py", digest), None)
    assert TournamentResult.load(path).sources == first.sources
    begun = b"".join(path.read_bytes().splitlines(keepends=True)[:2])
    path.write_bytes(begun)
    source.write_text(CHANGING.format(choice=-1), newline="\n")
    with pytest.raises(
        ValueError, match=r'other settings: sources \[\["changing_bot.py", ".*"\], null\] there'
    ):
        play()
    assert path.read_bytes() == begun
    source.write_text(CHANGING.format(choice=0), newline="\r\n")
    assert outputs(play()) == outputs(first), "line ends do not matter"


def test_a_seed_that_was_drawn_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    first = tournament(["random", "random"], 3, stream=path, resamples=FEW)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
    assert outputs(tournament(["random", "random"], 3, stream=path, resume=True, resamples=FEW)) == outputs(
        first
    )


def test_load(whole, tmp_path: Path) -> None:
    result, data = whole
    path = tmp_path / "games.jsonl"
    path.write_bytes(data)
    loaded = TournamentResult.load(path)
    assert outputs(loaded) == outputs(result) and loaded.game == result.game
    path.write_bytes(b"".join(data.splitlines(keepends=True)[:5]) + b'{"deal": 4, "poi')
    part = TournamentResult.load(path)
    assert part.end == "unfinished" and part.deals == 4 and "not finished: 4 of 9 deals" in part.table()
    assert np.array_equal(part.game_points, result.game_points[:4])
    assert part.to_jsonl().encode() == b"".join(data.splitlines(keepends=True)[:5])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b'"deal": 3', b'"deal": 5', "line 5: must hold deal 3, but holds 5"),
        (b'{"deal": 3', b'{"deal": 3 oops', "line 5: is not JSON"),
        (b'{"deal": 3, "points": [', b'{"deal": 3, "points": [[1], ', "line 5"),
        (b'{"deal": 3, "points": [[', b'{"deal": 3, "points": [[0.5, ', "line 5"),
        (b'"ends": [[1, 0]', b'"ends": [[0, 1]', "line 11: the games are not those that this last line"),
        (b' no idea"', b' no clue"', "line 11: the games are not those that this last line"),
        (b'"ranks": [[2, ', b'"ranks": [[6, ', "line 2: the ranks of seating 0 cannot be"),
        (b'"format": "mt_env games 2"', b'"format": "x"', "is no file of games"),
        (b'"until": null, ', b"", "line 1: must have the keys"),
        (b'"orders": [[0, 1, 2], ', b'"orders": [[1, 0, 2], ', "line 1: orders are not those of seatings"),
        (b'"seats": 3', b'"seats": "3"', "line 1: seats='3'; the file is damaged"),
        (b'"seats": 3', b'"seats": 4', "line 1: names=.*; the file is damaged"),
        (b'"seed": 2,', b'"seed": true,', "line 1: seed=True; the file is damaged"),
        (b'"seed": 2,', b'"seed": 1,', "line 6: ValueError: failure must be of deal 4 and its seed"),
        (b'"names": ["Heaviest", ', b'"names": ["Other", ', "line 1: bots=.* with names="),
        (b'"rules": "spruce"', b'"rules": 3', "line 1: rules=3; the file is damaged"),
        (b'"rules": "spruce"', b'"rules": "gone.yaml"', "line 1: .*gone.yaml"),
        (b'"seatings": "rotations"', b'"seatings": null', "line 1: seatings=None"),
        (b'"sources": [["', b'"sources": [[', "line 1: is not JSON|is no file of games"),
        (b'"sources": [["', b'"sources": [["x", "', "line 1: sources="),
        (b'"budget_ms": [null, ', b'"budget_ms": [0, ', "line 1: budget_ms="),
        (
            b'"failure": {"bot": "Heaviest"',
            b'"failure": {"bot": "random"',
            "line 6: .*'random', which did not",
        ),
        (b'"failure": {"bot": "Heaviest", "deal": 4', b'"failure": {"bot": "Heaviest", "deal": 3', "line 6"),
        (b'"failure": {', b'"failure": null, "x": {', "line 6: TypeError"),
        (b'"failure": {"bot": ', b'"failure": {"but": ', "line 6: TypeError"),
        (b'"ends": [[1, 0]', b'"ends": [[1, 1]', "line 3: ValueError: ends must add up to 1 in each game"),
        (b'"ends": [[1, 0]', b'"ends": [[2, -1]', "line 3: ValueError: ends must add up to 1 in each game"),
        (b'{"deal": 0,', b'{"deal": false,', "line 2: must hold deal 0, but holds False"),
        (b'"games_sha256": "', b'"sha256": "', "line 11: the games are not those"),
        (b'"lines_sha256": "', b'"lines_sha256": null, "x": "', "line 11: the games are not those"),
        (b'{"end": "deals"', b'{"end": "until"', "line 11: end 'until' after 9 deals does not fit"),
        (b'{"end": "deals"', b'{"end": []', "line 11: end .* after 9 deals does not fit"),
        (b'"deals", "deals": 9', b'"deals", "deals": 8', "line 11: end 'deals' after 8 deals does not fit"),
        (b'{"end"', b'{"end": "deals", "deals": 9, "games_sha256": "0"}\n{"end"', "stands behind the line"),
    ],
)
def test_damaged_files(whole, old: bytes, new: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    assert old in whole[1]
    damaged = whole[1].replace(old, new, 1)
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=says):
        TournamentResult.load(path)
    with pytest.raises(ValueError, match=says):
        again(path)
    assert path.read_bytes() == damaged


def test_other_ranks_that_could_be(tmp_path: Path) -> None:
    """In a match a tie-break may part equal points, so the ranks do not follow from the points."""
    path = tmp_path / "games.jsonl"
    options = {"rules": "cover;rounds=1", "episode": "match", "stream": path, "resamples": FEW}
    tournament(["random"] * 2, 1, 1, **options)
    data = path.read_bytes()
    lines = [json.loads(line) for line in data.splitlines()]
    # The first game becomes one with equal points that the first bot won, then one that the other won.
    assert lines[1]["points"][0] != [7, 7]
    for ranks in ([2, 4], [4, 2]):
        lines[1]["points"][0], lines[1]["ranks"][0] = [7, 7], ranks
        path.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]), newline="\n")
        kept = TournamentResult.load(path).to_jsonl()
        assert kept == path.read_text()
    games = lines[1]["points"], lines[1]["ends"]
    digest = games_sha256(np.array([0]), *(np.array([part]) for part in games))
    footer = {"end": "deals", "deals": 1, "games_sha256": digest}
    footer["lines_sha256"] = hashlib.sha256(kept.encode()).hexdigest()
    path.write_text(kept + json.dumps(footer) + "\n", newline="\n")
    assert TournamentResult.load(path).end == "deals"
    path.write_text(path.read_text().replace("[4, 2]", "[2, 4]", 1), newline="\n")
    for read in (
        TournamentResult.load,
        lambda path: tournament(["random"] * 2, 1, 1, resume=True, **options),
    ):
        with pytest.raises(ValueError, match="line 3: the games are not those that this last line"):
            read(path)

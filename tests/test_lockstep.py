"""The core against the referee, in lock step; and that the lock step finds every wrong option."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import fuzz
import numpy as np
import pytest
import yaml
from lockstep import DifferenceError, Pair, SplitMix, play_match, play_seed
from lockstep_games import STYLES, chooser, command, play_game
from reference import ALL_CLAUSES, CLAUSES, match_result
from reference_match import DEALS

from mt_env.core.rounds import standing
from mt_env.core.state import GAME_DTYPE, NO_ROUND, rules_record
from mt_env.notation import parse_position
from mt_env.rng import mix
from mt_env.rules import OPTIONS, PRESETS, TABLES, Value, load_rules

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case
    for name in ("cases.yaml", "cases_extra.yaml")
    for case in yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
]
SEED = 0


def play(games: range, family: str, seats: int | None = None) -> int:
    """Games of `lockstep_games.play_game`; a difference names the command that plays its game again."""
    plies = 0
    for k in games:
        try:
            plies += play_game(SEED, k, family, seats)
        except DifferenceError as difference:
            difference.add_note(f"to play it again: {command(SEED, k, family, seats)}")
            raise
    return plies


# ---- No difference -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(preset: str) -> None:
    assert play(range(160), preset) > 1000
    for seats in range(2, 15):
        play(range(1000, 1004), preset, seats)


@pytest.mark.parametrize("preset", PRESETS)
def test_matches(preset: str) -> None:
    """Whole matches of the preset's own length: by its table, and on a small set with equal totals."""
    rng = random.Random(preset)
    choose = chooser(rng, STYLES[0])
    play_match(PRESETS[preset].resolve(3), rng.getrandbits(64), choose)
    for seats in (2, 3, 4):
        rules = PRESETS[preset].replace(set=5, hand_size=2).resolve(seats)
        assert rules.rounds == 6
        play_match(rules, rng.getrandbits(64), choose, lines=seats == 2)


def play_case(case: dict[str, Any]) -> None:
    """A worked position and what follows it, on both sides."""
    pair = Pair.from_position(case["position"])
    pair.compare()
    assert sorted(pair.legal_texts) == sorted(case["legal"])
    for step in case.get("then", []):
        pair = Pair.from_position(case["position"])
        for text in step["do"]:
            pair.do(text)
        pair.compare()
        assert pair.referee.over or sorted(step.get("legal", pair.legal_texts)) == sorted(pair.legal_texts)
    Pair.from_position(case["position"]).play(chooser(random.Random(case["id"]), STYLES[0]))


def equal_totals(rng: random.Random) -> None:
    """Standings of scores that are often equal, core against referee (R7)."""
    n, rounds = rng.randint(2, 4), rng.randint(1, 4)
    scores = [[rng.choice((0, 0, 1, 2, 3)) for _ in range(rounds)] for _ in range(n)]
    for tie_break in ("zero_rounds", "shared"):
        rules = PRESETS["spruce"].replace(tie_break=tie_break).resolve(n)
        s, ranks, shares = np.zeros(1, GAME_DTYPE)[0], np.zeros(n), np.zeros(n)
        s["num_players"] = n
        s["totals"][:n] = [sum(row) for row in scores]
        s["zero_rounds"][:n] = [row.count(0) for row in scores]
        s["best_round"][:n] = [min(filter(None, row), default=NO_ROUND) for row in scores]
        standing(s, rules_record(rules, match=True)[0], ranks, shares)
        result = match_result(scores, rules)
        assert (ranks.tolist(), shares.tolist()) == (result.ranks, result.shares), (scores, tie_break)


def test_options_and_every_clause() -> None:
    """Random valid options, the worked positions and standings; each clause decides something among them."""
    before = Counter(CLAUSES)
    play(range(400), "options")
    for preset in PRESETS:
        play(range(2000, 2030), preset)
    for case in CASES:
        play_case(case)
    rng = random.Random(7)
    for _ in range(300):
        equal_totals(rng)
    assert set(CLAUSES) <= set(ALL_CLAUSES)
    assert [label for label in ALL_CLAUSES if CLAUSES[label] == before[label]] == []


@pytest.mark.parametrize(
    ("state", "outputs"),
    [
        (0, [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]),
        (1234567, [6457827717110365317, 3203168211198807973]),
    ],
)
def test_the_deal_here_uses_splitmix64(state: int, outputs: list[int]) -> None:
    """Published outputs; so the deals of the core, compared with those made here, are the documented ones."""
    rng = SplitMix(5, 3)
    assert rng.state == mix(5, 3)
    rng.state = state
    assert [rng.next(), rng.next()] == outputs


def test_a_difference_can_be_replayed() -> None:
    """The message names field, values, last actions, and a line from which the last action shows it again."""
    core = PRESETS["dominos_cc"].resolve(3)
    referee = PRESETS["dominos_cc"].replace(extra_tile="on_double").resolve(3)
    with pytest.raises(DifferenceError) as caught:
        for seed in range(100):
            play_seed(core, seed, 0, chooser(random.Random(seed), STYLES[0]), referee_rules=referee)
    lines = dict(line.strip().split(": ", 1) for line in str(caught.value).splitlines()[1:])
    assert caught.value.field == "legal"
    state = parse_position(lines["before the last action"])
    state.apply_action(state.string_to_action(lines["last actions"].split()[-1]))
    assert str([state.action_to_string(action) for action in state.legal_actions()]) == lines["core"].strip()


def test_fuzz_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    before = Counter(CLAUSES)  # the command counts for itself
    try:
        assert fuzz.main(["--games", "30", "--seed", "3", "--seats", "2"]) == 0
        assert "no difference: 30 games" in capsys.readouterr().out

        def fails(seed: int, k: int, family: str | None, seats: int | None) -> int:
            if k == 7:
                raise DifferenceError("lap", 1, 2)
            return 1

        monkeypatch.setattr(fuzz, "play_game", fails)
        assert fuzz.main(["--games", "30", "--seed", "3", "--preset", "cover"]) == 1
        out = capsys.readouterr().out
        assert "game 7 of seed 3: lap differs" in out
        assert "python tests/fuzz.py --seed 3 --start 7 --games 1 --preset cover" in out
    finally:
        CLAUSES.clear()
        CLAUSES.update(before)


# ---- Every option makes a difference -----------------------------------------------------------------------

NUMBERS: dict[str, tuple[Value, ...]] = {
    "set": (6, 9, 12, 18),
    "hand_size": (2, 5, 7),
    "rounds": ("all", 1, 3),
    "first_engine": (0, 3, 6),
    "double_blank": (0, 1, 50, 100),
}
"""Values of the options that are numbers (None stands for one of them: it makes no game of its own)."""

# Rules in which the option decides something soon: rules text, seats, whether a match is played.
REACHES: dict[str, tuple[str, tuple[int, ...], bool]] = {
    "table": ("spruce", (3, 5), False),
    "set": ("spruce;hand_size=4", (4,), False),
    "hand_size": ("spruce;set=6", (3,), False),
    "engine_from": ("dominos_cc;set=6;hand_size=5", (3,), False),
    "rounds": ("spruce;set=4;hand_size=2", (2,), True),
    "first_engine": ("spruce;set=6;hand_size=4;rounds=1", (3,), False),
    "opening": ("spruce;set=6;hand_size=5", (3,), False),
    "opening_double_binds": ("spruce;set=6;hand_size=6", (3,), False),
    "mexican_from": ("dominos_cc;set=6;hand_size=5", (3,), False),
    "own_first": ("wikihow;set=6;hand_size=5", (3,), False),
    "drawn_tile": ("dominos_cc;set=6;hand_size=3", (3,), False),
    "draws_per": ("dominos_cc;set=6;hand_size=3", (3,), False),
    "extra_tile": ("dominos_cc;set=6;hand_size=6", (3,), False),
    "open_order": ("dominos_cc;set=6;hand_size=8", (3,), False),
    "dead_double": ("dominos_cc;set=4;hand_size=4;rounds=all", (3,), False),
    "out_on_double": ("dominos_cc;set=5;hand_size=2", (3,), False),
    "block_test": ("dominos_cc;set=5;hand_size=6", (3,), False),
    "double_blank": ("dominos_cc;set=4;hand_size=4;rounds=all", (3,), False),
    "tie_break": ("spruce;set=2;hand_size=2", (2,), True),
}
WITHIN = 300
"""Games within which a wrong option must be found."""

WRONG = [
    (name, a, b)
    for name, option in OPTIONS.items()
    for a, b in itertools.permutations(NUMBERS.get(name, option.values), 2)
]


def is_found(name: str, core_value: Value, referee_value: Value, k: int) -> bool:
    """Whether game ``k`` shows that the core plays by another value of the option than the referee."""
    text, all_seats, match = REACHES[name]
    seats, rng = all_seats[k % len(all_seats)], random.Random(f"{name}/{k}")
    values = (core_value, referee_value)
    if name == "table" and any(seats not in TABLES[str(value)] for value in values):
        return (
            TABLES[str(core_value)].keys() != TABLES[str(referee_value)].keys()
        )  # one of them cannot be dealt
    core, referee = (load_rules(text).replace(**{name: value}).resolve(seats) for value in values)
    choose, seed = chooser(rng, rng.choice(STYLES)), rng.getrandbits(64)
    try:
        if match:
            play_match(core, seed, choose, referee_rules=referee)
        else:
            play_seed(core, seed, 0, choose, referee_rules=referee)
    except DifferenceError:
        return True
    return False


@pytest.mark.parametrize(("name", "core_value", "referee_value"), WRONG)
def test_a_wrong_option_is_found(name: str, core_value: Value, referee_value: Value) -> None:
    assert any(is_found(name, core_value, referee_value, k) for k in range(WITHIN))


def test_every_option_is_among_them() -> None:
    assert {name for name, _, _ in WRONG} == set(OPTIONS) == set(REACHES)


def test_the_referees_own_table_of_sets_and_hands() -> None:
    assert {name: dict(table) for name, table in TABLES.items()} == DEALS

"""The referee against the worked positions, and against itself in random play."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from reference import (
    ALL_CLAUSES,
    CLAUSES,
    Referee,
    action_from_text,
    action_to_text,
    engines,
    match_result,
)

from mt_env.rules import PRESETS, ResolvedRules, Rules, load_rules

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case
    for name in ("cases.yaml", "cases_extra.yaml")
    for case in yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
]


def legal_texts(game: Referee) -> list[str]:
    return [action_to_text(action, game.num_players) for action in game.legal()]


def fields(game: Referee) -> dict[str, Any]:
    """What a worked position can say about a game."""
    n = game.num_players
    ends = [str(end) if begun else "-" for end, begun in zip(game.ends, game.begun, strict=True)]
    names = [*map(str, range(n)), "M"]
    return {
        "legal": sorted(legal_texts(game)),
        "turn": game.turn,
        "over": game.over,
        "how": game.how,
        "scores": game.scores,
        "trains": "/".join(end + "*" * mark for end, mark in zip(ends, game.markers, strict=False)),
        "mexican": ends[n],
        "open": ",".join(names[train] for train in game.open),
        "owes": ",".join(names[train] for train in game.owes),
        "passes": game.passes,
    }


def check_case(case: dict[str, Any]) -> None:
    game = Referee.from_position(case["position"], load_rules)
    assert fields(game)["legal"] == sorted(case["legal"])
    for step in case.get("then", []):
        game = Referee.from_position(case["position"], load_rules)
        for text in step["do"]:
            game.apply(action_from_text(text, game.num_players))
        expected = {key: value for key, value in step.items() if key != "do"}
        for key in ("open", "owes", "mexican"):
            if key in expected:
                expected[key] = str(expected[key])
        if "legal" in expected:
            expected["legal"] = sorted(expected["legal"])
        got = fields(game)
        assert {key: got[key] for key in expected} == expected, f"after {step['do']}"


@pytest.mark.parametrize("case", CASES, ids=[f"{case['clause']}: {case['id']}" for case in CASES])
def test_worked_position(case: dict[str, Any]) -> None:
    check_case(case)
    game = Referee.from_position(case["position"], load_rules)
    again = Referee.from_position(game.position(), load_rules)
    assert again.position() == game.position() and again.legal() == game.legal()


# ---- Section 2 ---------------------------------------------------------------------------------------------


def d2(**changes: object) -> ResolvedRules:
    """Two seats, two tiles each, the double-2 set."""
    return load_rules("spruce").replace(set=2, hand_size=2, **changes).resolve(2)


def test_r2_4_holder_lays_and_leads() -> None:
    game = Referee.from_deal(d2(), 0, [{(0, 0), (0, 1)}, {(2, 2), (0, 2)}], [(1, 1), (1, 2)])
    assert (game.engine, game.leader, game.turn, game.lap) == (2, 1, 1, 1)
    assert game.hands == [{(0, 0), (0, 1)}, {(0, 2)}]  # one tile fewer, not made up
    assert game.boneyard == [(1, 1), (1, 2)]


@pytest.mark.parametrize(("round_index", "leader"), [(0, 1), (1, 0)])
def test_r2_4_hunt_begins_at_seat_r(round_index: int, leader: int) -> None:
    engine = 2 - round_index
    other = (engine + 1) % 3
    hands = [{(0, 0), (0, 1)}, {(0, 2), (1, 2)}]
    game = Referee.from_deal(d2(), round_index, hands, [(other or 1,) * 2, (engine, engine)])  # type: ignore[list-item]
    assert (game.engine, game.leader, game.turn) == (engine, leader, leader)
    assert len(game.hands[round_index]) == 3 and len(game.hands[leader]) == 2  # the finder lays what he found
    assert game.boneyard == []


def test_r2_5_leader_when_set_aside() -> None:
    rules = d2(engine_from="set_aside")
    game = Referee.from_deal(rules, 1, [{(0, 0), (0, 1)}, {(0, 2), (1, 2)}], [(2, 2)])
    assert (game.engine, game.leader, game.turn) == (1, 1, 1)


def test_r2_6_a_deal_must_be_one_set() -> None:
    with pytest.raises(ValueError, match="one set"):
        Referee.from_deal(d2(), 0, [{(0, 0), (0, 1)}, {(2, 2), (0, 2)}], [(1, 1)])
    with pytest.raises(ValueError, match="hands"):
        Referee.from_deal(d2(), 0, [{(0, 0), (0, 1)}, {(2, 2)}], [(0, 2), (1, 1), (1, 2)])


def test_r2_3_engines() -> None:
    assert engines(PRESETS["dominos_cc"].resolve(4)) == [12, 11, 10, 9, 8, 7]
    assert engines(PRESETS["spruce"].resolve(4)) == list(range(12, -1, -1))


def test_illegal_actions_are_refused() -> None:
    game = Referee.from_position(CASES[0]["position"], load_rules)
    with pytest.raises(ValueError, match="not legal"):
        game.apply(("draw",))


# ---- Section 7 ---------------------------------------------------------------------------------------------

SPRUCE, SHARED = PRESETS["spruce"].resolve(3), PRESETS["cover"].resolve(3)


@pytest.mark.parametrize(
    ("rules", "scores", "ranks", "shares"),
    [
        (SPRUCE, [[10, 1], [3, 7], [0, 20]], [2, 1, 3], [0, 1, 0]),  # lowest total
        (SPRUCE, [[5, 5, 0], [0, 0, 10], [9, 1, 0]], [3, 1, 2], [0, 1, 0]),  # most zero rounds
        (SPRUCE, [[5, 5, 0], [0, 3, 7], [9, 0, 1]], [3, 2, 1], [0, 0, 1]),  # then the lowest other round
        (SPRUCE, [[3, 0, 7], [0, 3, 7], [9, 9, 1]], [1.5, 1.5, 3], [0.5, 0.5, 0]),  # then shared
        (SPRUCE, [[0, 0], [0, 0], [0, 0]], [2, 2, 2], [1 / 3, 1 / 3, 1 / 3]),
        (SHARED, [[5, 5, 0], [0, 0, 10], [9, 9, 0]], [1.5, 1.5, 3], [0.5, 0.5, 0]),
    ],
)
def test_r7_match(
    rules: ResolvedRules, scores: list[list[int]], ranks: list[float], shares: list[float]
) -> None:
    result = match_result(scores, rules)
    assert result.totals == [sum(row) for row in scores]
    assert (result.ranks, result.shares) == (ranks, shares)


# ---- Random play -------------------------------------------------------------------------------------------


def random_rules(rng: random.Random) -> ResolvedRules:
    """A preset at one of its tables, or any valid mix of options with a small set."""
    if rng.random() < 0.2:
        rules = PRESETS[rng.choice(sorted(PRESETS))]
        seats = rng.choice(rules.seats())
        if rules.table == "spruce" and seats <= 4 and rng.random() < 0.5:
            rules = rules.replace(set=6)
        return rules.resolve(seats)
    chain, seats = rng.random() < 0.5, rng.randint(2, 5)
    own_first = rng.random() < 0.4
    late = chain or own_first or rng.random() < 0.5
    aside = rng.random() < 0.5
    pips = rng.randint(3, 9)
    most = ((pips + 1) * (pips + 2) // 2 - aside) // seats
    if most < 2:
        return random_rules(rng)
    return Rules(
        set=pips,
        hand_size=rng.randint(2, min(most, 9)),
        engine_from="set_aside" if aside else "dealt",
        opening="chain" if chain else "single",
        opening_double_binds=chain and rng.random() < 0.5,
        mexican_from="lap_2" if late else "lap_1",
        own_first=own_first,
        drawn_tile=rng.choice(("must", "may")),
        draws_per=rng.choice(("need", "turn")),
        extra_tile=rng.choice(("anywhere", "on_double")),
        open_order=rng.choice(("oldest", "any")),
        dead_double=rng.choice(("binds", "lifts")),
        out_on_double=rng.random() < 0.5,
        block_test=rng.choice(("stuck", "passes")),
        double_blank=rng.choice((0, 0, 25, 50)),
    ).resolve(seats)


def random_deal(rules: ResolvedRules, round_index: int, rng: random.Random) -> Referee:
    engine = rules.first_engine - round_index
    tiles = [(a, b) for b in range(rules.set + 1) for a in range(b + 1)]
    if rules.engine_from == "set_aside":
        tiles.remove((engine, engine))
    rng.shuffle(tiles)
    n, size = rules.num_players, rules.hand_size
    hands = [tiles[seat * size : (seat + 1) * size] for seat in range(n)]
    return Referee.from_deal(rules, round_index, hands, tiles[n * size :])


def play_randomly(rng: random.Random) -> Referee:
    """One random round, checked as it goes."""
    rules = random_rules(rng)
    game = random_deal(rules, rng.randrange(rules.rounds), rng)
    for _ in range(5000):
        if game.over:
            break
        actions = game.legal()
        assert actions, game.position()
        assert len(set(actions)) == len(actions), game.position()
        game.apply(rng.choice(actions))
        tiles = sum(map(len, game.hands)) + len(game.boneyard) + sum(game.lengths)
        assert tiles == rules.num_tiles - 1, game.position()  # the engine is on the table
        assert all(length > 0 for length, b in zip(game.lengths, game.begun, strict=True) if b)
        assert not (game.open and game.owes), game.position()
    assert game.over and not game.legal(), game.position()
    return game


def test_random_rounds_end_and_every_clause_decides() -> None:
    """No empty legal set, no endless round; and the counter of the clauses knows them all."""
    for case in CASES:
        check_case(case)
    engines(SPRUCE)
    for scores in ([[1], [2], [3]], [[1, 0], [0, 1], [0, 2]], [[5, 5, 0], [0, 0, 10], [9, 9, 9]]):
        for rules in (SPRUCE, SHARED):
            match_result(scores, rules)
    match_result([[5, 5, 0], [0, 3, 7], [9, 0, 1]], SPRUCE)
    rng = random.Random(1)
    for _ in range(150):
        play_randomly(rng)
    assert set(CLAUSES) <= set(ALL_CLAUSES)
    assert [label for label in ALL_CLAUSES if not CLAUSES[label]] == []

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mt_env.core.bits import below
from mt_env.core.deal import new_episode
from mt_env.core.hide import hide
from mt_env.core.moves import legal_actions
from mt_env.core.play import apply_action
from mt_env.core.rounds import next_round
from mt_env.core.state import GAME_DTYPE, GAME_OVER, MAX_LEGAL, NO_TILE, PLAYING, ROUND_OVER, rules_record
from mt_env.observation import (
    FIELDS,
    STATE_FIELDS,
    Encoding,
    dimensions,
    encode,
    encode_state,
    observation_dtype,
)
from mt_env.rules import ResolvedRules, load_rules

CASES = [
    ("spruce", 4, False),
    ("spruce", 2, True),
    ("spruce;opening_double_binds=yes;drawn_tile=may;open_order=any", 5, False),
    ("wikihow", 10, False),
    ("dominos_cc", 3, True),
    ("cover", 14, False),
    ("cover;set=6;hand_size=5", 4, True),
]


def games(
    text: str, n: int, match: bool, episodes: int, every: int = 1
) -> Iterator[tuple[Any, Any, ResolvedRules]]:
    """Records of random games, at every ``every``-th move and at the ends of rounds."""
    rules = load_rules(text).resolve(n)
    r = rules_record(rules, match=match)[0]
    s = np.zeros(1, GAME_DTYPE)[0]
    rng, legal = np.array([7], np.uint64), np.empty(MAX_LEGAL, np.int64)
    for seed in range(episodes):
        new_episode(s, r, np.uint64(seed))
        step = 0
        while True:
            if step % every == 0 or s["phase"] != PLAYING:
                yield s, r, rules
            if s["phase"] == GAME_OVER:
                break
            if s["phase"] == ROUND_OVER:
                next_round(s, r)
                continue
            count = legal_actions(s, r, legal)
            apply_action(s, r, legal[below(rng, count)])
            step += 1


def tiles_of(words: Any) -> set[int]:
    return {word * 64 + bit for word in range(3) for bit in range(64) if int(words[word]) >> bit & 1}


def expected(s: Any, rules: ResolvedRules, match: bool, seat: int | None) -> dict[str, np.ndarray]:
    """Counts of every field, read off the record in plain Python; ``seat`` None is the full state."""
    n, values, tiles = rules.num_players, rules.set + 1, rules.num_tiles
    me = seat or 0
    order = [(me + i) % n for i in range(n)]
    trains = [*order, n]

    def tile_set(found: set[int]) -> list[int]:
        return [int(tile in found) for tile in range(tiles)]

    def one_hot(size: int, at: int | None) -> list[int]:
        return [int(i == at) for i in range(size)]

    def ranked(listed: Any, count: int) -> list[int]:
        at = {int(listed[i]): n + 1 - i for i in range(count)}
        return [at.get(train, 0) for train in trains]

    playing = s["phase"] == PLAYING
    turn = int(s["turn"])
    drawn = int(s["drawn"])
    opening = playing and rules.opening == "chain" and s["lap"] == 1
    out: dict[str, Any] = {}
    if seat is None:
        out["hands"] = [tile_set(tiles_of(s["hands"][i])) for i in range(n)]
        out["drawn"] = one_hot(tiles, drawn if playing else None)
        yard = [int(tile) for tile in s["boneyard"][: int(s["boneyard_size"])]][::-1]
        out["boneyard_order"] = [tiles - yard.index(t) if t in yard else 0 for t in range(tiles)]
    else:
        out["hand"] = tile_set(tiles_of(s["hands"][seat]))
        out["drawn"] = one_hot(tiles, drawn if playing and turn == seat else None)
    out["table"] = tile_set(tiles_of(s["table"]))
    out["ends"] = [one_hot(values, int(s["ends"][t])) for t in trains]
    out["begun"] = [int(s["lengths"][t] > 0) for t in trains]
    out["markers"] = [int(s["markers"][i]) for i in order]
    out["open"] = ranked(s["open_trains"], int(s["num_open"]))
    out["owed"] = ranked(s["owed_trains"], int(s["num_owed"]))
    out["lengths"] = [int(s["lengths"][t]) for t in trains]
    out["engine"] = one_hot(values, int(s["engine"]))
    out["hand_sizes"] = [int(s["hand_sizes"][i]) for i in order]
    out["boneyard"] = int(s["boneyard_size"])
    out["lap_1"] = int(s["lap"] == 1)
    out["opening"] = int(opening)
    out["owes"] = int(playing and s["num_owed"] > 0)
    out["must_cover"] = int(playing and not opening and s["num_owed"] == 0 and s["num_open"] > 0)
    out["has_drawn"] = int(playing and s["drew"])
    out["turn"] = [int(playing and i == turn) for i in order]
    out["leader"] = [int(i == int(s["leader"])) for i in order]
    out["passes"] = int(s["passes"])
    out["unable"] = [
        [int(s["unable"][i, v]) for v in range(values)] for i in (order if seat is None else order[1:])
    ]
    if match:
        out["round"] = int(s["round"])
        lowest = min(int(s["totals"][i]) for i in order)
        out["totals"] = [int(s["totals"][i]) - lowest for i in order]
    return {name: np.asarray(value) for name, value in out.items()}


def check(encoding: Encoding, row: np.ndarray, want: dict[str, np.ndarray], counts: bool) -> None:
    parts = encoding.split(row)
    assert list(parts) == list(want)
    for name, value in want.items():
        scale = encoding.scales[encoding.slices[name]].reshape(encoding.shapes[name])
        cut = np.minimum(value, scale).astype(np.float32)
        assert np.array_equal(parts[name], cut if counts else cut / scale), name


@pytest.mark.parametrize(("text", "n", "match"), CASES)
def test_every_field_says_what_the_record_says(text: str, n: int, match: bool) -> None:
    seen: dict[str, bool] = {}
    for s, r, rules in games(text, n, match, 1 if match else 6, every=5 if match else 2):
        encoding = Encoding(rules, match)
        full = Encoding(rules, match, STATE_FIELDS)
        for seat in {0, n - 1, int(s["turn"])}:
            row = np.full(encoding.size, np.nan, np.float32)
            small = np.full(encoding.size, 255, np.uint8)
            assert encode(s, r, seat, row) == encode(s, r, seat, small) == encoding.size
            want = expected(s, rules, match, seat)
            check(encoding, row, want, counts=False)
            check(encoding, small, want, counts=True)
            assert np.array_equal(small / encoding.scales, row)
            for name, value in encoding.split(small).items():
                seen[name] = seen.get(name, False) or bool(value.any())
        assert encoding.space().contains(row)
        assert encoding.space(np.uint8).contains(small)
        state = np.full(full.size, np.nan, np.float32)
        assert encode_state(s, r, state) == full.size
        check(full, state, expected(s, rules, match, None), counts=False)
    never = {name for name, any_set in seen.items() if not any_set}
    allowed = {"opening"} if "spruce" not in text else {"passes"}
    if rules.extra_tile == "on_double" or rules.opening == "chain":
        allowed |= {"open", "must_cover"}
    assert never <= allowed | {"passes"}, never


def reshuffle(s: Any, seat: int, rules: ResolvedRules, shuffler: random.Random) -> Any:
    """Another world that ``seat`` cannot tell from ``s``: hidden tiles redealt, sizes kept."""
    other = np.zeros(1, GAME_DTYPE)
    other[0] = s
    o = other[0]
    size = int(o["boneyard_size"])
    pool = [int(t) for t in o["boneyard"][:size]]
    for i in range(rules.num_players):
        if i != seat:
            pool += sorted(tiles_of(o["hands"][i]))
    shuffler.shuffle(pool)
    o["boneyard"][:size] = pool[:size]
    del pool[:size]
    for i in range(rules.num_players):
        if i == seat:
            continue
        o["hands"][i] = 0
        for _ in range(int(o["hand_sizes"][i])):
            tile = pool.pop()
            o["hands"][i, tile // 64] |= np.uint64(1 << tile % 64)
        if int(o["turn"]) == i and o["drawn"] != NO_TILE:
            o["drawn"] = min(tiles_of(o["hands"][i]))
    o["seed"] = shuffler.getrandbits(64)
    assert not pool
    return o


def test_rows_of_every_size_are_written_to_their_end_and_no_further() -> None:
    around = 64
    sizes = 0
    for pips in (2, 3, 4, 5, 6, 7, 8, 9, 12, 14, 15, 16, 17, 18):
        for n in (2, 3, 4, 6, 8, 13, 14):
            hand = 3 if pips > 4 else 2
            try:
                load_rules(f"cover;set={pips};hand_size={hand}").resolve(n)
            except ValueError:
                continue  # not enough tiles
            for match in (False, True):
                text = f"cover;set={pips};hand_size={hand}"
                s, r, rules = next(game for i, game in enumerate(games(text, n, match, 3)) if i == 9)
                encoding = Encoding(rules, match)
                sizes += 1
                for seat in {0, 1, n - 1}:
                    want = expected(s, rules, match, seat)
                    for dtype in (np.float32, np.uint8):
                        room = np.full(encoding.size + 2 * around, 77, dtype)
                        row = room[around:-around]
                        assert encode(s, r, seat, row) == encoding.size
                        check(encoding, row, want, counts=dtype == np.uint8)
                        assert (room[:around] == 77).all()
                        assert (room[-around:] == 77).all()
    assert sizes > 150


@pytest.mark.slow
@pytest.mark.parametrize(("text", "n", "match"), CASES)
def test_observations_do_not_depend_on_hidden_tiles(text: str, n: int, match: bool) -> None:
    shuffler = random.Random(n)
    for s, r, rules in games(text, n, match, 1 if match else 3, every=11 if match else 3):
        size = Encoding(rules, match).size
        for seat in range(n):
            for dtype in (np.float32, np.uint8):
                row = np.empty(size, dtype)
                encode(s, r, seat, row)
                again = np.empty(size, dtype)
                encode(reshuffle(s, seat, rules, shuffler), r, seat, again)
                assert row.tobytes() == again.tobytes()
                masked = np.zeros(1, GAME_DTYPE)
                masked[0] = s
                hide(masked[0], seat)
                encode(masked[0], r, seat, again)
                assert row.tobytes() == again.tobytes()


def test_the_reshuffle_test_can_fail() -> None:
    shuffler = random.Random(1)
    s, r, rules = next(iter(games("spruce", 4, False, 1)))
    full = Encoding(rules, False, STATE_FIELDS)
    a, b = np.empty(full.size, np.float32), np.empty(full.size, np.float32)
    encode_state(s, r, a)
    encode_state(reshuffle(s, 0, rules, shuffler), r, b)
    assert a.tobytes() != b.tobytes()


@pytest.mark.parametrize(("text", "n", "match"), [CASES[0], CASES[4], CASES[5]])
def test_rotating_the_seats_rotates_what_they_see(text: str, n: int, match: bool) -> None:
    for s, r, rules in games(text, n, match, 1 if match else 2, every=9):
        turned = np.zeros(1, GAME_DTYPE)
        turned[0] = s
        t = turned[0]
        for name in ("hands", "totals", "points", "markers", "hand_sizes", "unable", "lengths", "ends"):
            t[name][:n] = np.roll(s[name][:n], 1, axis=0)
        for name in ("turn", "leader"):
            t[name] = (int(s[name]) + 1) % n
        for name, count in (("open_trains", int(s["num_open"])), ("owed_trains", int(s["num_owed"]))):
            t[name][:count] = [
                train if train == n else (train + 1) % n for train in map(int, s[name][:count])
            ]
        size = Encoding(rules, match).size
        a, b = np.empty(size, np.float32), np.empty(size, np.float32)
        for seat in range(n):
            encode(s, r, seat, a)
            encode(t, r, (seat + 1) % n, b)
            assert a.tobytes() == b.tobytes()


def test_layout() -> None:
    rules = load_rules("spruce").resolve(4)
    single, match = Encoding(rules), Encoding(rules, True)
    assert [f.name for f in match.fields] == list(FIELDS)
    assert {f.name for f in match.fields} - {f.name for f in single.fields} == {"round", "totals"}
    stops = [part.stop for part in match.slices.values()]
    assert [part.start for part in match.slices.values()] == [0, *stops[:-1]]
    assert stops[-1] == match.size == match.scales.size
    assert match.shapes["ends"] == (5, 13)
    assert single.split(np.zeros((2, 3, single.size)))["unable"].shape == (2, 3, 3, 13)
    assert match.scales.max() <= 255


@pytest.mark.parametrize("n", range(2, 15))
def test_scales_fit_a_byte(n: int) -> None:
    rules = load_rules("spruce").resolve(n)
    assert all(0 < value <= 255 for value in dimensions(rules).values())
    assert Encoding(rules, True).space(np.uint8).shape == (Encoding(rules, True).size,)


def test_space_refuses_other_dtypes() -> None:
    assert observation_dtype("uint8") == np.uint8
    for wrong in ("float64", None, "nonsense", np.int8):
        with pytest.raises(ValueError, match="must be float32 or uint8"):
            observation_dtype(wrong)  # type: ignore[arg-type]

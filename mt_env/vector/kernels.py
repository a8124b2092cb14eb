"""Steps of a whole batch, by chunks of games: what `mt_env.vector.batch.Batch` calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_env.core.bits import Int, below, mix64, next64, stream
from mt_env.core.jit import kernel
from mt_env.core.state import GAME_DTYPE
from mt_env.core.wide import prefetcher
from mt_env.vector.rows import CACHE_LINE as _LINE
from mt_env.vector.rows import advance_row, first_decision, is_legal, write_row

_HALF = 2.0**-53
_ELEVEN = np.uint64(11)

# While a game is stepped, the next one's cache lines are on their way: with thousands of games none of it
# is near the processor otherwise. Which lines: those that nearly every move of a table of four touches.
_at = {name: field[1] for name, field in (GAME_DTYPE.fields or {}).items()}
_fetch_game = prefetcher(
    _at["hands"], _at["hands"] + _LINE, _at["table"], _at["moves"], _at["turn"], _at["lengths"],
    _at["unplayed"], _at["unable"] + _LINE,
)  # fmt: skip
_fetch_row = prefetcher(0, _LINE)
_fetch_start = prefetcher(0)
_fetch_mask = prefetcher(*range(0, 8 * _LINE, _LINE))

CHOICE_STREAM = (1 << 64) - 1
"""Row i of a batch draws its random choices from ``Rng(mix(mix(seed, i), CHOICE_STREAM))``."""


@kernel
def _unmask(m: Any, c: Any, legal: Any, i: Int, mask: Any) -> None:
    """Clear what the last step set: cheaper than the whole mask."""
    if c["mask"] != 0:
        for j in range(m["count"]):
            mask[i, legal[i, j]] = 0


@kernel
def start(
    states: Any, rules: Any, meta: Any, config: Any, rings: Any, legal: Any, obs: Any, mask: Any, rows: Any,
    events: Any, scratch: Any, table: Any, seeds: Any, which: Any, reseed: Any, low: Int, high: Int,
) -> None:  # fmt: skip
    """Begin an episode in the games ``low .. high - 1`` that ``which`` names.

    Args:
        states: ``GAME_DTYPE[N]``.
        rules: ``RULES_DTYPE[1]``.
        meta: ``ROW_DTYPE[N]``.
        config: ``CONFIG_DTYPE[1]``; arrays that it does not ask for are not touched.
        rings: int16 ``[N, L, 4]``.
        legal: int32 ``[N, most]``.
        obs: ``[N, D]``.
        mask: int8 ``[N, A]``.
        rows: float32 ``[N, most, F]``.
        events: int16 ``[N, L, 4]``.
        scratch: from ``policies.new_scratch()``.
        table: scratch, float64 ``[3, n]``.
        seeds: uint64 ``[N]``, families of the games, used where ``reseed``.
        which: bool ``[N]``.
        reseed: whether the families begin anew.
        low: first game.
        high: behind the last game.
    """
    r, c = rules[0], config[0]
    for i in range(low, high):
        if not which[i]:
            continue
        s, m = states[i], meta[i]
        _unmask(m, c, legal, i, mask)
        if reseed:
            m["row_seed"] = seeds[i]
            m["episode"] = np.uint64(0)
            m["choice_rng"][0] = mix64(stream(seeds[i], np.uint64(CHOICE_STREAM)))
        m["ended"] = 0
        m["truncated"] = 0
        m["rewards"][:] = 0.0
        m["pending"][:] = 0.0
        m["paid"] = 0
        m["pays"] = 0
        first_decision(s, r, m, c, rings, legal, i, table, scratch)
        write_row(s, r, m, c, rings, legal, i, obs, mask, rows, events, scratch)


@kernel
def advance(
    states: Any, rules: Any, meta: Any, config: Any, rings: Any, legal: Any, obs: Any, mask: Any, rows: Any,
    events: Any, scratch: Any, table: Any, actions: Any, final: Any, choosing: Any,
    checked: Any, low: Int, high: Int,
) -> None:  # fmt: skip
    """One step of the games ``low .. high - 1``: arrays as in `start`.

    ``actions``, int64 ``[N]``, are chosen here first if ``choosing``, as by `choose`; ``final``, ``[N, D]``
    if wanted, gets the observation of an episode's end. ``checked`` actions have passed `first_illegal`.
    """
    r, c = rules[0], config[0]
    for i in range(low, high):
        _fetch_game(states, i + 1)
        _fetch_row(meta, i + 1)
        _fetch_start(legal, i + 1)
        if c["mask"] != 0:
            _fetch_mask(mask, i + 1)
        s, m = states[i], meta[i]
        if choosing and m["count"] > 0:
            actions[i] = legal[i, below(m["choice_rng"], m["count"])]
        _unmask(m, c, legal, i, mask)
        advance_row(
            s,
            r,
            m,
            c,
            rings,
            legal,
            i,
            actions[i],
            final,
            checked or (choosing and m["count"] > 0),
            table,
            scratch,
        )
        write_row(s, r, m, c, rings, legal, i, obs, mask, rows, events, scratch)


@kernel
def choose(meta: Any, legal: Any, actions: Any) -> None:
    """Write a legal action of each game into ``actions``, each as likely; games that wait keep theirs."""
    for i in range(len(meta)):
        m = meta[i]
        if m["count"] > 0:
            actions[i] = legal[i, below(m["choice_rng"], m["count"])]


@kernel
def choose_weighted(meta: Any, legal: Any, weights: Any, actions: Any) -> Int:
    """Write a legal action of each game into ``actions``, as likely as its weight.

    Args:
        meta: ``ROW_DTYPE[N]``.
        legal: int32 ``[N, most]``.
        weights: float ``[N, at least the largest count]``: of the legal actions in order, 0 or more.
        actions: written, int64 ``[N]``.

    Returns:
        The first game whose weights are negative, not finite, or all 0; -1 if there is none.
    """
    for i in range(len(meta)):
        m = meta[i]
        count = m["count"]
        if count == 0:
            continue
        total = 0.0
        for j in range(count):
            weight = np.float64(weights[i, j])
            if not weight >= 0.0:
                return i
            total += weight
        if not (0.0 < total < np.inf):
            return i
        point = np.float64(next64(m["choice_rng"]) >> _ELEVEN) * _HALF * total
        chosen = -1
        for j in range(count):
            weight = np.float64(weights[i, j])
            if weight > 0.0:
                chosen = j
                if point < weight:
                    break
                point -= weight
        actions[i] = legal[i, chosen]
    return -1


@kernel
def first_illegal(meta: Any, legal: Any, actions: Any) -> Int:
    """The first game that is not waiting and whose action is not legal; -1 if there is none."""
    for i in range(len(meta)):
        m = meta[i]
        if m["waits"] == 0 and not is_legal(m, legal, i, actions[i]):
            return i
    return -1

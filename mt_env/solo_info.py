"""What the Gymnasium environment tells about an episode that is over."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mt_env import events
from mt_env.game import Game, State
from mt_env.solo_play import ENGINE, HOW, MOVES, POINTS, ROUND, final_standing, points_as_it_stands
from mt_env.tiles import HIGH

_HOW: Final = ("", "out", "blocked")


def result(
    states: NDArray[np.void], rules: NDArray[np.void], seat: int, cut_short: str | None
) -> dict[str, Any]:
    """The result for ``seat``, as `mt_env.solo.MexicanTrainEnv` describes it, but for ``rounds``.

    Args:
        states: the game, ``(1,)``.
        rules: its rules, ``(1,)``.
        seat: the learner's.
        cut_short: ``"illegal"`` or ``"truncated"`` where the episode did not end by itself.
    """
    n = int(rules["num_players"][0])
    ranks, shares, points = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    final_standing(states, rules, ranks, shares)
    points_as_it_stands(states, rules, points)
    forfeited = cut_short == "illegal"
    return {
        "points": int(points[seat]),
        "points_by_seat": points,
        "rank": float(n) if forfeited else float(ranks[seat]),
        "win_share": 0.0 if forfeited else float(shares[seat]),
        "how": cut_short or _HOW[int(states["how"][0])],
    }


def rounds_of_rows(rows: NDArray[np.int64]) -> list[dict[str, Any]]:
    """The finished rounds from the rows of `mt_env.solo_play.solo_step`, ``[finished, POINTS + n]``."""
    return [
        {
            "round": row[ROUND],
            "engine": row[ENGINE],
            "how": _HOW[row[HOW]],
            "moves": row[MOVES],
            "points": row[POINTS:],
        }
        for row in rows.tolist()
    ]


def rounds_of_log(game: Game, state: State) -> list[dict[str, Any]]:
    """The finished rounds from the public log."""
    found: list[dict[str, Any]] = []
    engine = moves = 0
    for event in state.log:
        if event.kind == events.ENGINE:
            engine, moves = HIGH[event.tile], 0
        elif event.kind in events.MOVES:
            moves += 1
        elif event.points:
            found.append(
                {
                    "round": game.rules.round_of(engine),
                    "engine": engine,
                    "how": event.kind,
                    "moves": moves,
                    "points": list(event.points),
                }
            )
    return found

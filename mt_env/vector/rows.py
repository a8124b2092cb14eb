"""What a batch keeps for each game beside its record, and the kernels that move a row on.

One structured array holds all small per-game numbers, so that a step passes few arrays to compiled code.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mt_env.candidates import FEATURES, candidate_rows
from mt_env.core.bits import Flag, Int, below, mix64, stream
from mt_env.core.deal import new_episode
from mt_env.core.jit import inlined_kernel, kernel
from mt_env.core.moves import legal_actions, play_train
from mt_env.core.play import apply_action
from mt_env.core.policies import policy_action
from mt_env.core.rollout import BOT_STREAM
from mt_env.core.rounds import next_round, standing
from mt_env.core.state import GAME_OVER, MAX_SEATS, PLAYING
from mt_env.observation import encode
from mt_env.rewards import write_rewards
from mt_env.solo_play import NO_ACTION, learner_seat, points_now

CALLER: Final[int] = -1
"""``kinds`` of a seat whose decisions are the caller's."""

ILLEGAL: Final[int] = 3
"""``how`` of an episode that an illegal action ended (1 out, 2 blocked, as in the core)."""
TRUNCATED: Final[int] = 4
"""``how`` of an episode cut short after ``max_episode_steps``."""

CACHE_LINE: Final[int] = 64
"""Bytes; records of games and rows are whole lines, so that what a step touches lies in few of them."""

ROW_DTYPE: Final[np.dtype[np.void]] = np.dtype(
    [
        # What every step reads or writes, in two cache lines.
        ("choice_rng", np.uint64, (1,)),  # of random_actions and weighted_actions
        ("seat", np.int64),  # to decide; the learner's where there is one
        ("count", np.int64),  # legal actions; 0: over, waiting for a reset
        ("steps", np.int64),  # decisions in this episode
        ("moves", np.int64),  # moves applied since the batch was made
        ("event_count", np.int64),
        ("ended", np.int64),  # 1 if the last step ended an episode
        ("truncated", np.int64),
        ("paid", np.int64),  # 1 if rewards are not all 0
        ("pays", np.int64),  # 1 if pending is not all 0
        ("formal", np.int64),  # 1 if the decision is only a formality: the episode is over already
        ("waits", np.int64),  # 1 if the episode is over and no new one has begun
        ("shown", np.int64),  # candidate rows that are not all 0
        ("kinds", np.int8, (MAX_SEATS,)),  # policy in each seat, CALLER
        ("spare", np.int8, (10,)),
        # What ends and beginnings of episodes touch.
        ("row_seed", np.uint64),  # the family of this row's episodes
        ("episode", np.uint64),  # episodes begun
        ("episode_seed", np.uint64),
        ("how", np.int64),
        ("final_seat", np.int64),  # the learner's seat in the last finished episode
        ("final_steps", np.int64),
        ("illegal", np.int64),  # illegal actions in this episode
        ("final_illegal", np.int64),
        ("bot_rngs", np.uint64, (MAX_SEATS, 1)),
        ("rewards", np.float64, (MAX_SEATS,)),  # paid in the last step, by seat
        ("pending", np.float64, (MAX_SEATS,)),  # paid before the first decision of the episode now played
        ("ranks", np.float64, (MAX_SEATS,)),  # of the last finished episode
        ("shares", np.float64, (MAX_SEATS,)),
        ("points", np.int64, (MAX_SEATS,)),
        ("unused", np.int8, (32,)),
    ]
)
"""The bookkeeping of one game of a batch."""

PASS_FEATURE: Final[int] = list(FEATURES).index("pass")
"""Index of the feature ``pass`` in a candidate row."""

SAME_STEP: Final[int] = 0
NEXT_STEP: Final[int] = 1
DISABLED: Final[int] = 2

TERMINATE: Final[int] = 0
RANDOM_LEGAL: Final[int] = 1

CONFIG_DTYPE: Final[np.dtype[np.void]] = np.dtype(
    [
        ("reward", np.int64),  # index into REWARDS
        ("scale", np.float64),
        ("skip", np.int64),  # whether forced moves of the caller's seats are played
        ("mode", np.int64),  # SAME_STEP, NEXT_STEP, DISABLED
        ("illegal", np.int64),  # TERMINATE, RANDOM_LEGAL
        ("penalty", np.float64),  # of an illegal action
        ("penalty_by_round", np.int64),  # times the unfinished rounds
        ("limit", np.int64),  # steps after which an episode is truncated, 0: never
        ("observe", np.int64),  # what is written
        ("mask", np.int64),
        ("candidates", np.int64),
        ("final", np.int64),  # observation of the end
        ("events", np.int64),  # length of the event list
        ("solo", np.int64),  # 1: one learner, opponents clockwise from it
        ("learner", np.int64),  # its seat, -1: drawn for each episode
        ("kinds", np.int64, (MAX_SEATS,)),  # policies: of the seats, or clockwise from the learner
    ]
)
"""How a batch is played and what it writes."""

EVENT_PLAY: Final[int] = 1
EVENT_DRAW: Final[int] = 2
EVENT_PASS: Final[int] = 3
EVENT_STOP: Final[int] = 4
EVENT_DEAL: Final[int] = 5
"""Kinds in an event list; 0 fills places that no event has taken yet."""


@kernel
def begin_episode(s: Any, r: Any, m: Any, c: Any) -> None:
    """Deal the next episode of the row."""
    n = np.int64(r["num_players"])
    seed = stream(m["row_seed"], m["episode"])
    m["episode"] += np.uint64(1)
    m["episode_seed"] = seed
    m["steps"] = 0
    m["illegal"] = 0
    m["event_count"] = 0
    m["waits"] = 0
    for seat in range(n):
        m["bot_rngs"][seat, 0] = mix64(stream(seed, np.uint64(BOT_STREAM + seat)))
        m["kinds"][seat] = c["kinds"][seat]
    if c["solo"] != 0:
        learner = np.int64(c["learner"])
        if learner < 0:
            learner = learner_seat(seed, n)
        m["seat"] = learner
        m["kinds"][learner] = CALLER
        for i in range(n - 1):
            m["kinds"][(learner + 1 + i) % n] = c["kinds"][i]
    new_episode(s, r, seed)


@kernel
def note(m: Any, rings: Any, i: Int, kind: Int, seat: Int, tile: Int, train: Int) -> None:
    """Put an event into the ring of game ``i``; rings: int16 ``[N, length, 4]``."""
    at = m["event_count"] % rings.shape[1]
    rings[i, at, 0] = kind
    rings[i, at, 1] = seat
    rings[i, at, 2] = tile
    rings[i, at, 3] = train
    m["event_count"] += 1


@inlined_kernel
def apply_noted(s: Any, r: Any, m: Any, c: Any, rings: Any, i: Int, action: Int) -> None:
    """Apply ``action``, in the event list too where there is one."""
    m["moves"] += 1
    if c["events"] != 0:
        seat = np.int64(s["turn"])
        if action == r["draw_id"]:
            note(m, rings, i, EVENT_DRAW, seat, -1, -1)
        elif action == r["pass_id"]:
            stop = r["chain"] != 0 and s["lap"] == 1 and s["lengths"][seat] > 0
            note(m, rings, i, EVENT_STOP if stop else EVENT_PASS, seat, -1, -1)
        else:
            note(m, rings, i, EVENT_PLAY, seat, action % np.int64(s["num_tiles"]), play_train(s, action))
    apply_action(s, r, action)


@kernel
def pay(s: Any, r: Any, m: Any, c: Any, table: Any, before: Int) -> None:
    """Add what the end of a round pays to the row's rewards, or to what waits ``before`` a first decision."""
    write_rewards(s, r, c["reward"], c["scale"], table[0], table[1], table[2])
    for seat in range(np.int64(r["num_players"])):
        if before != 0:
            m["pending"][seat] += table[2, seat]
            m["pays"] = 1
        else:
            m["rewards"][seat] += table[2, seat]
            m["paid"] = 1


@kernel
def pass_over(
    s: Any, r: Any, m: Any, c: Any, rings: Any, i: Int, before: Int, table: Any, scratch: Any
) -> Flag:
    """Settle rounds that have ended and let bots play until the caller is to move; ``before``: see `pay`.

    Apart from `play_on`, so that the bots' code does not stand in the way of the caller's moves.

    Returns:
        Whether the episode goes on.
    """
    while True:
        if s["phase"] != PLAYING:
            pay(s, r, m, c, table, before)
            if s["phase"] == GAME_OVER:
                return False
            next_round(s, r)
            if c["events"] != 0:
                note(m, rings, i, EVENT_DEAL, np.int64(s["leader"]), np.int64(s["engine"]), -1)
        turn = np.int64(s["turn"])
        kind = m["kinds"][turn]
        if kind == CALLER:
            return True
        apply_noted(s, r, m, c, rings, i, policy_action(s, r, kind, m["bot_rngs"][turn], scratch))


@inlined_kernel
def play_on(
    s: Any, r: Any, m: Any, c: Any, rings: Any, i: Int, action: Int, own: Any, before: Int, table: Any,
    scratch: Any,
) -> Int:  # fmt: skip
    """Apply ``action`` unless it is `NO_ACTION`, and play until the caller has a decision or all is over.

    Returns:
        Number of legal actions, their ids in ``own``; 0: the episode is over.
    """
    while True:
        if action != NO_ACTION:
            apply_noted(s, r, m, c, rings, i, action)
        settled = s["phase"] == PLAYING and m["kinds"][s["turn"]] == CALLER
        if not settled and not pass_over(s, r, m, c, rings, i, before, table, scratch):
            return 0
        count = legal_actions(s, r, own)
        if count != 1 or c["skip"] == 0:
            if c["solo"] == 0:
                m["seat"] = np.int64(s["turn"])
            return count
        action = np.int64(own[0])


@kernel
def note_result(s: Any, r: Any, m: Any, how: Int) -> None:
    """Keep the result of the episode that is over; ``how``: ILLEGAL, TRUNCATED, or 0 for the game's own."""
    standing(s, r, m["ranks"], m["shares"])
    points_now(s, r, m["points"])
    m["how"] = how if how != 0 else np.int64(s["how"])
    m["final_seat"] = m["seat"]
    m["final_steps"] = m["steps"]
    m["final_illegal"] = m["illegal"]
    if how == ILLEGAL:
        m["ranks"][m["seat"]] = np.int64(r["num_players"])
        m["shares"][m["seat"]] = 0.0


@kernel
def first_decision(
    s: Any, r: Any, m: Any, c: Any, rings: Any, legal: Any, i: Int, table: Any, scratch: Any
) -> None:
    """Begin the next episode and play to its first decision; one without any gets a formal one."""
    begin_episode(s, r, m, c)
    if c["events"] != 0:
        note(m, rings, i, EVENT_DEAL, np.int64(s["leader"]), np.int64(s["engine"]), -1)
    own = legal[i]
    count = play_on(s, r, m, c, rings, i, NO_ACTION, own, 1, table, scratch)
    m["formal"] = 0
    if count == 0:
        m["formal"] = 1
        own[0] = r["pass_id"]
        count = 1
        if c["solo"] == 0:
            m["seat"] = np.int64(s["turn"])
    m["count"] = count


@inlined_kernel
def is_legal(m: Any, legal: Any, i: Int, action: Int) -> Any:
    """Whether ``action`` is among the legal actions of game ``i``."""
    for j in range(m["count"]):  # noqa: SIM110 -- any() does not compile here
        if legal[i, j] == action:
            return True
    return False


@inlined_kernel
def take_rewards(m: Any, n: Int) -> None:
    """Begin a step: its rewards are what waited for the first decision; touches memory only where needed."""
    m["ended"] = 0
    m["truncated"] = 0
    if m["paid"] != 0 or m["pays"] != 0:
        for seat in range(n):
            m["rewards"][seat] = m["pending"][seat]
            m["pending"][seat] = 0.0
        m["paid"] = m["pays"]
        m["pays"] = 0


@kernel
def end_episode(
    s: Any, r: Any, m: Any, c: Any, rings: Any, legal: Any, i: Int, final: Any, how: Int, table: Any,
    scratch: Any,
) -> None:  # fmt: skip
    """Keep the results of the episode that is over, and begin the next one where the mode says so."""
    m["ended"] = 1
    m["truncated"] = 1 if how == TRUNCATED else 0
    note_result(s, r, m, how)
    if c["final"] != 0:
        encode(s, r, m["seat"], final[i])
    if c["mode"] == SAME_STEP:
        first_decision(s, r, m, c, rings, legal, i, table, scratch)
    else:
        m["waits"] = 1
        m["count"] = 0


@kernel
def forbid(s: Any, r: Any, m: Any, c: Any) -> None:
    """Charge the row's seat for an illegal action."""
    m["illegal"] += 1
    penalty = c["penalty"]
    if c["penalty_by_round"] != 0:
        rounds = np.int64(r["rounds"]) if r["match"] != 0 else 1
        penalty *= max(1, rounds - np.int64(s["rounds_done"]))
    m["rewards"][m["seat"]] -= penalty
    m["paid"] = 1


@inlined_kernel
def advance_row(
    s: Any, r: Any, m: Any, c: Any, rings: Any, legal: Any, i: Int, action: Int, final: Any,
    trusted: Flag, table: Any, scratch: Any,
) -> None:  # fmt: skip
    """One step of game ``i``: apply ``action``, play on, end and begin episodes as the mode says.

    An action that is known to be legal is ``trusted`` and not looked up again.
    """
    take_rewards(m, np.int64(r["num_players"]))
    if m["waits"] != 0:
        if c["mode"] == NEXT_STEP:
            first_decision(s, r, m, c, rings, legal, i, table, scratch)
        return
    how = 0
    count: Int = 0
    if not trusted and not is_legal(m, legal, i, action):
        forbid(s, r, m, c)
        if c["illegal"] == TERMINATE:
            how = ILLEGAL
        else:
            action = np.int64(legal[i, below(m["bot_rngs"][m["seat"]], m["count"])])
    m["steps"] += 1
    if how == 0 and m["formal"] == 0:
        count = play_on(s, r, m, c, rings, i, action, legal[i], 0, table, scratch)
        if count != 0 and m["steps"] == c["limit"]:
            how = TRUNCATED
    m["formal"] = 0
    if count != 0 and how == 0:
        m["count"] = count
    else:
        end_episode(s, r, m, c, rings, legal, i, final, how, table, scratch)


@kernel
def write_events(m: Any, r: Any, rings: Any, i: Int, out: Any) -> None:
    """Write the row's last events into ``out``, int16 ``[length, 4]``, oldest first."""
    n = np.int64(r["num_players"])
    ring = rings[i]
    length = len(ring)
    total: Int = np.int64(m["event_count"])
    kept: Int = min(total, length)
    seat = np.int64(m["seat"])
    out[:] = 0
    for j in range(kept):
        entry = ring[(total - kept + j) % length]
        row = out[length - kept + j]
        row[0] = entry[0]
        row[1] = (entry[1] - seat + n) % n
        row[2] = entry[2]
        train = np.int64(entry[3])
        row[3] = train if train < 0 or train == n else (train - seat + n) % n


@inlined_kernel
def write_row(
    s: Any, r: Any, m: Any, c: Any, rings: Any, legal: Any, i: Int, obs: Any, mask: Any, rows: Any,
    events: Any, scratch: Any,
) -> None:  # fmt: skip
    """Write what the seat of game ``i`` sees. Slices cost, so arrays are sliced only where wanted."""
    count = np.int64(m["count"])
    if c["mask"] != 0:
        for j in range(count):
            mask[i, legal[i, j]] = 1
    if c["observe"] != 0:
        encode(s, r, m["seat"], obs[i])
    if c["candidates"] != 0:
        own = rows[i]
        if m["formal"] != 0:
            own[0] = 0.0
            own[0, PASS_FEATURE] = 1.0
        elif count > 0:
            candidate_rows(s, r, legal[i], count, own, scratch)
        shown = max(count, m["shown"])
        own[count:shown] = 0.0
        m["shown"] = count
    if c["events"] != 0:
        write_events(m, r, rings, i, events[i])

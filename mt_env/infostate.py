"""What a seat has seen, as text, and states that it cannot tell apart.

Tiles drawn in the hunt for the engine (R2.4) count as dealt: they come before the first decision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mt_env.core.hide import hide
from mt_env.core.state import NO_TILE, PLAYING
from mt_env.events import DRAW, ENGINE, POSITION
from mt_env.notation import position_text, tiles_text
from mt_env.tiles import tile_to_string
from mt_env.view import tiles_in

if TYPE_CHECKING:
    from mt_env.rng import Rng
    from mt_env.state import State


def information_state(state: State, seat: int) -> str:
    """Everything that ``seat`` has seen in the episode, one line for each round and one for its hand.

    Two states in which a seat has seen the same have equal texts, and it has seen different things where the
    texts differ. In a resampled state the past of the other seats is not known; theirs says so.
    """
    game, n = state.game, state.game.num_players
    known = bool((state.known >> seat) & 1)
    lines = [f"seat={seat} seats={n} rules={game.rules.rules.to_text()} set={game.rules.set} {game.episode}"]
    if not known:
        lines.append("past=unknown")
    words: list[str] = []
    draws = iter(state.drawn_tiles)
    dealt = iter(state.dealt)
    for event in state.log:
        text = event.to_string(n)
        if event.kind == POSITION and state.start is not None:
            start = state.start.copy()
            hide(start[0], seat)
            text = position_text(start, game.rules, seat) if known else text
            next(dealt)
        elif event.kind == ENGINE:
            hand = next(dealt)[seat]
            if known:
                text += f" dealt {tiles_text(t for t in range(game.num_tiles) if (hand >> t) & 1)}"
        elif event.kind == DRAW:
            tile = next(draws)
            if event.seat == seat and known:
                text += f" {tile_to_string(tile)}"
        words.append(text)
        if event.points:
            lines.append("; ".join(words))
            words = []
    lines.append("; ".join(words))
    lines.append(f"hand={tiles_text(tiles_in(state.record['hands'][0, seat]))}")
    return "\n".join(lines)


def resample(state: State, seat: int, rng: Rng) -> State:
    """A copy of ``state`` whose hidden tiles are dealt anew, each deal as likely.

    Hidden are the other hands and the order of the boneyard; sizes, the seat's own hand and everything
    public stay. Nothing else is respected: neither what seats were seen unable to play, nor what their
    plays suggest. A tile that another seat has drawn and still holds for the tile it owes becomes any tile
    of its new hand. After the end hands lie open and stay. The seed becomes 0, and what other seats were
    dealt and drew is forgotten rather than made up: their ``information_state`` has no past.
    """
    copy = state.clone()
    s, n = copy.record[0], state.game.num_players
    others = [other for other in range(n) if other != seat]
    size = int(s["boneyard_size"])
    hands = s["hands"].copy()
    if s["phase"] != PLAYING:
        others = []  # counted for everybody to see (R6.3)
    tiles = [tile for other in others for tile in tiles_in(hands[other])]
    tiles += s["boneyard"][:size].tolist()
    tiles.sort()  # the outcome depends on the information state and rng alone
    for i in range(len(tiles) - 1, 0, -1):
        j = rng.below(i + 1)
        tiles[i], tiles[j] = tiles[j], tiles[i]
    redraw = int(s["turn"]) != seat and int(s["drawn"]) != NO_TILE
    hide(s, seat)
    if not others:
        s["hands"] = hands
    for other in others:
        hand = [tiles.pop() for _ in range(int(s["hand_sizes"][other]))]
        for tile in hand:
            s["hands"][other, tile >> 6] |= np.uint64(1 << (tile & 63))
        if redraw and other == int(s["turn"]):
            s["drawn"] = hand[rng.below(len(hand))]
    s["boneyard"][:size] = tiles
    copy._legal = None
    copy.known &= 1 << seat
    copy.dealt = [tuple(hand if i == seat else 0 for i, hand in enumerate(hands)) for hands in state.dealt]
    drawers = [event.seat for event in state.log if event.kind == DRAW]
    copy.drawn_tiles = [
        tile if drawer == seat else NO_TILE for drawer, tile in zip(drawers, state.drawn_tiles, strict=True)
    ]
    if state.start is not None:
        copy.start = state.start.copy()
        hide(copy.start[0], seat)
    return copy

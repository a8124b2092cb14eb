"""The referee: the rules of docs/rules.md in slow, obvious Python.

It is written from the text of the rules alone and shares nothing with ``mt_env.core``, so that a
difference between the two is a mistake in one of them. It knows tiles as ``(low, high)`` pairs, trains by
their absolute index (seat 0.., the Mexican Train last) and actions as ``("play", tile, train)``,
``("draw",)`` and ``("pass",)``. Whenever a clause of the rules decides something it says so in
``CLAUSES`` (reference_clauses). It may import only ``mt_env.tiles`` and ``mt_env.rules``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reference_clauses import ALL_CLAUSES, CLAUSES, decided
from reference_match import MatchResult, check_deal, engines, match_result
from reference_text import (
    Action,
    Tile,
    action_from_text,
    action_to_text,
    read_deal,
    read_table,
    write_position,
)

from mt_env.tiles import tile_id

if TYPE_CHECKING:
    from mt_env.rules import ResolvedRules

__all__ = [
    "ALL_CLAUSES",
    "CLAUSES",
    "MatchResult",
    "Referee",
    "action_from_text",
    "action_to_text",
    "engines",
    "match_result",
]


def is_double(tile: Tile) -> bool:
    """Both halves alike."""
    return tile[0] == tile[1]


class Referee:
    """One round of Mexican Train."""

    def __init__(
        self,
        rules: ResolvedRules,
        round_index: int,
        engine: int,
        hands: Iterable[Iterable[Tile]],
        boneyard: Iterable[Tile],
    ) -> None:
        self.rules = rules
        self.num_players: int = rules.num_players
        self.mexican: int = rules.num_players  # index of the Mexican Train
        self.engine = engine
        self.round = round_index
        self.leader = 0
        self.lap = 1
        self.turn = 0
        self.hands: list[set[Tile]] = [set(hand) for hand in hands]
        self.boneyard: list[Tile] = list(boneyard)
        self.ends: list[int] = [engine] * (self.num_players + 1)  # a train not begun has the engine's value
        self.begun: list[bool] = [False] * (self.num_players + 1)
        self.lengths: list[int] = [0] * (self.num_players + 1)
        self.markers: list[bool] = [False] * self.num_players
        self.open: list[int] = []  # trains that end in a double of an earlier turn, oldest first
        self.owes: list[int] = []  # trains that end in a double of this turn
        self.drawn: Tile | None = None  # the tile drawn for the tile now owed
        self.drew = False  # whether anything was drawn in this turn
        self.passes = 0
        self.over = False
        self.how: str | None = None
        self.scores: list[int] | None = None

    # ---- Section 2: set-up -------------------------------------------------------------------------------

    @classmethod
    def from_deal(
        cls, rules: ResolvedRules, round_index: int, hands: Sequence[Iterable[Tile]], boneyard: Sequence[Tile]
    ) -> Referee:
        """A round at its first turn. ``hands`` as dealt, ``boneyard`` in the order it will be drawn."""
        n = rules.num_players
        engine = rules.first_engine - round_index  # R2.3
        check_deal(rules, engine, hands, boneyard)
        game = cls(rules, round_index, engine, hands, boneyard)

        if rules.engine_from == "set_aside":
            game.leader = round_index % n  # R2.5
            decided("R2.2 set_aside")
            decided("R2.5 leader")
        else:
            game.leader = game._find_engine()  # R2.4
            decided("R2.2 dealt")
        game.turn = game.leader  # R2.4: laying the engine is not a turn
        return game

    def _find_engine(self) -> int:
        """R2.4: the holder lays the engine, or the seats hunt for it; the seat that laid it."""
        engine = (self.engine, self.engine)
        for seat, hand in enumerate(self.hands):
            if engine in hand:
                hand.remove(engine)  # not made up
                decided("R2.4 holder lays")
                return seat
        seat = self.round % self.num_players
        while True:
            tile = self.boneyard.pop(0)
            if tile == engine:
                decided("R2.4 hunt")
                return seat
            self.hands[seat].add(tile)
            decided("R2.4 hunted tiles kept")
            seat = (seat + 1) % self.num_players

    # ---- Where a seat may play ---------------------------------------------------------------------------

    def in_opening_chain(self, lap: int | None = None) -> bool:
        """R4.1: lap 1 with ``opening: chain``."""
        return self.rules.opening == "chain" and (self.lap if lap is None else lap) == 1

    def may_play_on(self, seat: int, train: int, lap: int) -> bool:
        """Whether ``seat`` may lay a tile that fits on ``train``, were it its turn in ``lap``."""
        if self.in_opening_chain(lap):
            if train == seat:
                if self.open:
                    decided("R4.1 binds not in lap 1")
                return True
            return decided("R4.1 own train only", False)
        if self.open:
            return self._may_cover(seat, train, lap)
        if self.owes and self.rules.extra_tile == "on_double":  # R5.2
            return train == self.owes[-1] or decided("R5.2 on_double", False)
        allowed = self._ordinarily_allowed(seat, train, lap)
        if allowed and self.owes and train != self.owes[-1]:
            decided("R5.2 anywhere")
        return allowed

    def _may_cover(self, seat: int, train: int, lap: int) -> bool:
        """R5.4: only on an open double, whoever owns the train, marked or not; R5.5: on which of them."""
        oldest = self.rules.open_order == "oldest"
        duty = self.open[:1] if oldest else self.open
        if train not in duty:
            if all(self.is_dead(t) for t in duty):
                decided("R5.6 binds")
            return decided("R5.5 oldest" if train in self.open else "R5.4 binds", False)
        if train in self.open[1:]:
            decided("R5.5 any")
        if train not in (seat, self.mexican) and not self.markers[train]:
            decided("R5.4 closed train")
        if self.rules.own_first and train != seat and (lap == 1 or not self.begun[seat]):
            decided("R4.4 cover allowed")
        return True

    def _ordinarily_allowed(self, seat: int, train: int, lap: int) -> bool:
        """R3.1 with R4.3 and R4.4."""
        if train == seat:
            return decided("R3.1 own train")
        if self.rules.own_first and lap == 1:
            return decided("R4.4 yes, lap 1", False)
        if self.rules.own_first and not self.begun[seat]:
            if train != self.mexican:
                return decided("R4.4 yes, own first", False)
            if not self.begun[train]:
                return decided("R4.4 yes, Mexican not begun", False)
            return decided("R4.4 yes, Mexican begun")
        if train == self.mexican:
            if not self.begun[train] and lap == 1 and self.rules.mexican_from == "lap_2":
                return decided("R4.3 lap_2", False)
            if not self.begun[train]:
                decided("R4.3 lap_1" if lap == 1 else "R4.3 later")
            decided("R3.1 Mexican Train")
        elif self.markers[train]:
            decided("R3.1 marked train" if self.begun[train] else "R4.5 others begin")
        else:
            return decided("R3.1 closed train", False)
        if not self.begun[seat] and not self.rules.own_first:
            decided("R4.4 no")
        return True

    def plays(self, seat: int, lap: int) -> list[Action]:
        """Every play of ``seat``, were it its turn in ``lap``. R3.1: the tile must have the train's end."""
        return [
            ("play", tile, train)
            for train in range(self.num_players + 1)
            for tile in sorted(self.hands[seat])
            if self.ends[train] in tile and self.may_play_on(seat, train, lap)
        ]

    # ---- Section 3: what the seat to move may do ---------------------------------------------------------

    def legal(self) -> list[Action]:
        """The legal actions of the seat to move, in the order of their ids; empty only when it is over."""
        if self.over:
            return []
        plays = self.plays(self.turn, self.lap)
        actions = self._opening_actions(plays) if self.in_opening_chain() else self._turn_actions(plays)
        return sorted(actions, key=self._id)

    def _opening_actions(self, plays: list[Action]) -> list[Action]:
        """R4.1: begin if you can, then go on or stop; no drawing."""
        if self.begun[self.turn]:
            decided("R4.1 may stop")
            return [*plays, ("pass",)]
        decided("R4.1 must begin" if plays else "R4.1 cannot begin")
        return plays or [("pass",)]

    def _turn_actions(self, plays: list[Action]) -> list[Action]:
        if self.lap == 1:
            decided("R4.2 single")
        if plays:
            if self.drawn is not None and self.rules.drawn_tile == "may":
                decided("R3.3 may")
                return [*plays, ("pass",)]
            decided("R3.2 must play" if self.drawn is None else "R3.3 must")
            return plays
        if not self.boneyard:
            decided("R3.3 empty boneyard")
        elif self._draw_is_left():
            decided("R5.3 draws" if self.owes else "R3.3 draw")
            return [("draw",)]
        return [("pass",)]

    def _draw_is_left(self) -> bool:
        """R3.3 ``draws_per``: one draw for each tile owed, or one for the whole turn."""
        if self.drawn is not None:
            return decided("R3.3 misfit", False)
        if self.drew:
            return decided("R3.3 need") if self.rules.draws_per == "need" else decided("R3.3 turn", False)
        return True

    def _id(self, action: Action) -> int:
        """The action's number, relative to the seat to move."""
        if action[0] != "play":
            return int(self.rules.num_trains * self.rules.num_tiles + (action[0] == "pass"))
        tile, train = action[1:]
        relative = train if train == self.mexican else (train - self.turn) % self.num_players
        return int(relative * self.rules.num_tiles) + tile_id(*tile)

    # ---- Actions -----------------------------------------------------------------------------------------

    def apply(self, action: Action) -> None:
        """Carry out a legal action."""
        if action not in self.legal():
            raise ValueError(f"{action_to_text(action, self.num_players)} is not legal in {self.position()}")
        if action[0] == "play":
            self._play(action[1], action[2])
        elif action[0] == "draw":
            self.drawn = self.boneyard.pop(0)
            self.hands[self.turn].add(self.drawn)
            self.drew = True
        else:
            self._pass()

    def _play(self, tile: Tile, train: int) -> None:
        seat, hand, opening = self.turn, self.hands[self.turn], self.in_opening_chain()
        cover = train in self.open
        hand.remove(tile)
        self.ends[train] = tile[0] + tile[1] - self.ends[train]  # R3.1: its other value
        self.begun[train] = True
        self.lengths[train] += 1
        if self.passes:
            decided("R6.2 play resets")
        self.passes = 0
        self._note_markers(train, cover)
        if train == seat:
            self.markers[seat] = False  # R3.5
        self.drawn = None

        for doubles in (self.open, self.owes):
            if train in doubles:
                doubles.remove(train)  # covered
        if is_double(tile) and not opening:  # R5.1
            decided("R5.1 double pays" if self.owes else "R5.1 owes")
            self.owes.append(train)
        elif is_double(tile):  # R4.1: in lap 1 it owes nothing
            decided("R4.1 double owes nothing")
            decided("R4.1 binds yes" if self.rules.opening_double_binds else "R4.1 binds no")
            if self.rules.opening_double_binds:
                self.open.append(train)
        self._lift_dead_doubles()

        if opening:
            if cover:
                decided("R4.1 opening double covered")
            if not hand:
                decided("R4.1 emptied hand")
                if is_double(tile):
                    decided("R5.7 opening double out")
                self._end_turn()
        elif train not in self.owes:  # nothing is owed for this tile: not a double, or a dead one that lifts
            if cover:
                decided("R5.4 cover ends turn")
            if is_double(tile):
                decided("R5.6 lifts when laid")
            if not hand and not self.rules.out_on_double:
                kind = "dead double" if is_double(tile) else "drawn non-double" if self.drew else "non-double"
                decided(f"R5.7 {kind} out")
            self._end_turn(laid_last_tile=not hand)
        elif not hand and self.rules.out_on_double:
            decided("R5.7 yes")
            self._end_turn(laid_last_tile=True)

    def _note_markers(self, train: int, cover: bool) -> None:
        """Count what R3.4, R3.5, R4.5 and R5.8 say about the tile just laid on ``train``."""
        seat = self.turn
        if train == seat:
            if self.markers[seat]:
                decided("R3.5 cover" if cover else "R3.5 comes off")
            return
        if self.markers[seat]:
            decided("R3.5 stays, owner elsewhere")
        elif self.drawn is not None:
            decided("R3.4 drawn tile elsewhere")
        if train == self.mexican:
            return
        if self.markers[train]:
            decided("R4.5 marker stays" if self.lengths[train] == 1 else "R3.5 stays, tile of another")
        elif cover:
            decided("R5.8 stays closed")

    def _pass(self) -> None:
        seat = self.turn
        if self.in_opening_chain() and self.begun[seat]:  # R4.1: a stop marks nothing and counts as no pass
            decided("R4.1 stop")
            if not self.boneyard:
                decided("R6.2 stop is no pass")
            self._end_turn()
            return
        # R3.4: a pass marks the seat's own train.
        decided("R3.4 one marker" if self.markers[seat] else "R3.4 marks")
        if not self.begun[seat]:
            decided("R3.4 not begun")
        if self.owes:
            decided("R3.4 after a double")
        elif self.open and not self.in_opening_chain():
            decided("R5.4 duty goes on")
        self.markers[seat] = True
        # R6.2: whether it counts.
        keeps = self.drawn is not None and any(p[1] == self.drawn for p in self.plays(seat, self.lap))
        if keeps:
            decided("R3.3 may keep")
        if self.boneyard:
            decided("R6.2 full boneyard")
        elif keeps:
            decided("R6.2 kept tile")
        else:
            self.passes += 1
            if self.lap == 1:
                decided("R6.2 lap 1 pass")
        self._end_turn(passed=True)

    def is_dead(self, train: int) -> bool:
        """R5.6: no unplayed tile has the value at the end of ``train``."""
        unplayed = set(self.boneyard).union(*self.hands)
        return not any(self.ends[train] in tile for tile in unplayed)

    def _lift_dead_doubles(self) -> None:
        """R5.6 ``lifts``: from the moment it is dead a double owes nothing and binds nobody."""
        if self.rules.dead_double == "lifts":
            for doubles in (self.open, self.owes):
                for train in [t for t in doubles if self.is_dead(t)]:
                    doubles.remove(train)
                    decided("R5.6 lifts")

    # ---- The end of a turn, section 6 --------------------------------------------------------------------

    def _end_turn(self, laid_last_tile: bool = False, passed: bool = False) -> None:
        """``laid_last_tile``: the seat emptied its hand and owes nothing for its last tile."""
        if self.owes:
            decided("R5.3 left open")
        self.open += self.owes  # R5.3
        self.owes = []
        self._lift_dead_doubles()
        self.drawn, self.drew = None, False
        if self._somebody_is_out(laid_last_tile):
            self._finish("out")
            return
        if self.turn == self.num_players - 1:
            decided("R3.6 wraps")
        self.turn = (self.turn + 1) % self.num_players  # R3.6
        if self.turn == self.leader:
            self.lap += 1
        if self._is_blocked(passed):
            self._finish("blocked")

    def _somebody_is_out(self, laid_last_tile: bool) -> bool:
        """R6.1, with R4.6 and R5.7."""
        empty = [seat for seat in range(self.num_players) if not self.hands[seat]]
        if not empty:
            return False
        if self.in_opening_chain():  # R4.6
            if (self.turn + 1) % self.num_players != self.leader:
                return decided("R4.6 lap is finished", False)
            if len(empty) > 1:
                decided("R4.6 several out")
            return True
        if self.rules.out_on_double or laid_last_tile:
            return True
        if self.open:
            return decided("R5.7 waits", False)
        return decided("R5.7 waits then out")

    def _is_blocked(self, passed: bool) -> bool:
        """R6.2."""
        if self.rules.block_test == "passes":
            return passed and self.passes >= self.num_players and decided("R6.2 passes")
        if self.boneyard:
            return False
        if self.in_opening_chain():
            return decided("R6.2 stuck not in lap 1", False)
        if any(self.plays(seat, max(self.lap, 2)) for seat in range(self.num_players)):
            return decided("R6.2 stuck, somebody can", False)
        return decided("R6.2 stuck")

    def _finish(self, how: str) -> None:
        decided("R6.1 out" if how == "out" else "R6.3 blocked")
        self.over, self.how = True, how
        self.scores = self.round_scores()

    def round_scores(self) -> list[int]:
        """R6.3: what each seat's hand counts now."""
        scores = []
        for hand in self.hands:
            points = sum(a + b for a, b in hand)
            if (0, 0) in hand:
                points += self.rules.double_blank
                decided("R6.3 double_blank counts" if self.rules.double_blank else "R6.3 double_blank is 0")
            decided("R6.3 hand" if hand else "R6.3 out scores 0")
            scores.append(points)
        return scores

    # ---- Position text, see reference_text -----------------------------------------------------------

    @classmethod
    def from_position(cls, line: str, rules_loader: Callable[[str], Any]) -> Referee:
        """The game in a position line; ``rules_loader`` makes ``Rules`` of the text after ``rules=``."""
        game = cls(*read_deal(line, rules_loader))
        read_table(line, game)
        game._lift_dead_doubles()
        return game

    def position(self) -> str:
        """The position line, for messages."""
        return write_position(self)

"""`Game` and `State`: the readable, checking face of the core, in OpenSpiel's words.

    game = Game("spruce", num_players=4)
    state = game.new_initial_state(seed=7)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    print(state.returns())

A game is (rules, seats, seed, actions): all chance is in the deal. Beside the core's record a `State` keeps
the public log and what each seat has privately seen.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from mt_env import actions
from mt_env.core.deal import new_episode
from mt_env.core.state import GAME_DTYPE, NO_TILE, RANDOM_ENGINE, rules_record
from mt_env.rewards import reward_code
from mt_env.rng import check_seed, fresh_seed
from mt_env.rules import ResolvedRules, Rules, load_rules
from mt_env.rules_options import as_int
from mt_env.state import TERMINAL, State
from mt_env.tiles import PIPS

__all__ = ["EPISODES", "NO_TILE", "TERMINAL", "Game", "State"]

if TYPE_CHECKING:
    from mt_env.observation import Encoding

EPISODES: Final = ("round", "match")


class Game:
    """A table: rules for a number of seats, and what an episode is. Not to be changed; hashable.

    Args:
        rules: whatever `mt_env.rules.load_rules` takes: a preset name, text with overrides, a YAML path, a
            mapping or `Rules`.
        num_players: seats, 2..14.
        episode: ``"round"`` (one round) or ``"match"`` (all rounds of the rules).
        engine: of a single round: ``"random"``, drawn evenly from the engines of a match, or one of them.
        reward: ``"zero_sum"``, ``"points"``, ``"win"`` or ``"rank"``, see `mt_env.rewards`.
        reward_scale: multiplies the rewards; above 0.

    Attributes:
        rules: the rules, resolved for ``num_players``.
        rules_record: ``RULES_DTYPE`` ``(1,)``, read-only, for kernels.
        is_position: whether it was made from a position line; such a game deals nothing.

    Raises:
        ValueError: an argument is out of range, or two do not go together.
    """

    def __init__(
        self,
        rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
        num_players: int = 4,
        *,
        episode: Literal["round", "match"] = "round",
        engine: int | Literal["random"] = "random",
        reward: str = "zero_sum",
        reward_scale: float = 1.0,
    ) -> None:
        self._set_up(load_rules(rules).resolve(num_players), episode, engine, reward, reward_scale)

    @classmethod
    def for_position(cls, rules: ResolvedRules, engine: int) -> Game:
        """The game of a single position, default reward; ``rules`` are resolved with ``position_set``."""
        game = cls.__new__(cls)
        game._set_up(rules, "round", engine, "zero_sum", 1.0, is_position=True)
        return game

    def _set_up(
        self,
        rules: ResolvedRules,
        episode: str,
        engine: int | str,
        reward: str,
        reward_scale: float,
        is_position: bool = False,
    ) -> None:
        if episode not in EPISODES:
            raise ValueError(f"episode={episode!r}: must be 'round' or 'match'")
        number = as_int(engine)
        if number is None and engine != "random":
            raise ValueError(f"engine={engine!r}: must be 'random' or a whole number")
        if number is not None and episode == "match":
            raise ValueError(
                f"engine={number} with episode='match': a match has all its engines; leave engine='random'"
            )
        if number is not None and number not in rules.engines and not is_position:
            first, last = rules.engines[0], rules.engines[-1]
            raise ValueError(
                f"engine={number}: a match of these rules has the engines {first} down to {last} (R2.3)"
            )
        reward_code(reward)
        if isinstance(reward_scale, bool) or not isinstance(
            reward_scale, (int, float, np.integer, np.floating)
        ):
            raise ValueError(f"reward_scale={reward_scale!r}: must be a number above 0")
        if not (math.isfinite(reward_scale) and reward_scale > 0):
            raise ValueError(f"reward_scale={reward_scale!r}: must be a finite number above 0")
        self.rules = rules
        self.episode = episode
        self.engine: int | str = "random" if number is None else number
        self.reward = reward
        self.reward_scale = float(reward_scale)
        self.is_position = is_position
        self.num_players = rules.num_players
        self.num_tiles = rules.num_tiles
        self.num_trains = rules.num_trains
        self.num_actions = rules.num_actions
        self.draw_action = actions.draw_action(rules.num_players, rules.num_tiles)
        self.pass_action = actions.pass_action(rules.num_players, rules.num_tiles)
        core_engine = RANDOM_ENGINE if number is None else number
        self.rules_record: NDArray[np.void] = rules_record(
            rules, match=episode == "match", engine=core_engine
        )
        self.rules_record.setflags(write=False)

    @property
    def num_distinct_actions(self) -> int:
        """OpenSpiel's name of ``num_actions``."""
        return self.num_actions

    @property
    def rounds(self) -> int:
        """Rounds of an episode."""
        return self.rules.rounds if self.episode == "match" else 1

    @property
    def max_game_length(self) -> int:
        """More actions than any episode can have.

        In a round every play and every draw takes a tile; a pass follows a draw or an opening turn, or the
        boneyard is empty, and then a full lap of passes ends the round.
        """
        return self.rounds * (self.num_tiles * (self.num_players + 3) + 2 * self.num_players)

    @property
    def max_utility(self) -> float:
        """No seat's return is above this."""
        n = self.num_players
        best = {"points": 0.0, "zero_sum": self._most_points() / (n - 1), "win": 1.0 - 1.0 / n, "rank": 1.0}
        return best[self.reward] * self.reward_scale

    @property
    def min_utility(self) -> float:
        """No seat's return is below this."""
        n = self.num_players
        worst = {
            "points": -self._most_points(),
            "zero_sum": -self._most_points(),
            "win": -1.0 / n,
            "rank": -1.0,
        }
        return worst[self.reward] * self.reward_scale

    def _most_points(self) -> float:
        """More points than all seats together can have in an episode."""
        return float(self.rounds * (sum(PIPS[: self.num_tiles]) + self.rules.double_blank))

    @cached_property
    def encoding(self) -> Encoding:
        """The layout of ``State.observation``."""
        from mt_env.observation import Encoding

        return Encoding(self.rules, self.episode == "match")

    def new_initial_state(self, seed: int | None = None) -> State:
        """Deal an episode.

        Args:
            seed: 0..2**64 - 1; None takes one from the operating system (``State.seed`` tells it).

        Raises:
            ValueError: a bad seed, or a game made from a position.
        """
        if self.is_position:
            raise ValueError("this game was made from a position and deals nothing; make one with Game(...)")
        value = fresh_seed() if seed is None else check_seed(seed)
        record = np.zeros(1, GAME_DTYPE)
        unsigned: Any = np.uint64(value)
        new_episode(record[0], self.rules_record[0], unsigned)
        state = State(self, record)
        state.begin_round()
        return state

    def key(self) -> tuple[object, ...]:
        """What makes two games equal."""
        return (self.rules, self.episode, self.engine, self.reward, self.reward_scale, self.is_position)

    def __eq__(self, other: object) -> bool:
        return self.key() == other.key() if isinstance(other, Game) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return (
            f"Game({self.rules.rules.to_text()!r}, {self.num_players}, episode={self.episode!r}, "
            f"engine={self.engine!r}, reward={self.reward!r}, reward_scale={self.reward_scale!r})"
        )

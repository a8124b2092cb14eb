"""The Gymnasium environment: one learning seat, bots in the others.

import gymnasium

env = gymnasium.make("mt_env:MexicanTrain-v0", opponents="planner-fast")
observation, info = env.reset(seed=1)
over = False
while not over:
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
print(info["points"], info["rank"])
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, Final, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from mt_env.bots import Bot, BotLike, bot_seed, compiled_kind, next_action, seat_bots, start_bot
from mt_env.candidates import CandidateWriter
from mt_env.core.policies import new_scratch
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL
from mt_env.explain import why_illegal
from mt_env.game import Game, State
from mt_env.observation import observation_dtype as dtype_of
from mt_env.rewards import reward_code
from mt_env.rng import Rng, check_seed, mix
from mt_env.rules import Rules
from mt_env.rules_options import as_int, near
from mt_env.solo_info import result, rounds_of_log, rounds_of_rows
from mt_env.solo_play import NO_ACTION, POINTS, learner_seat, look, solo_deal, solo_step
from mt_env.view import board_text

OBS_MODES: Final = ("flat", "dict", "flat+mask")
ILLEGAL_ACTIONS: Final = ("terminate", "random_legal", "raise")

ROUND_PENALTY: Final[float] = 200.0
"""Default penalty for an illegal action with the rewards ``zero_sum`` and ``points``, for each round not yet
finished. Nothing is to be gained by ending a round so: random play against ``planner-fast`` loses more than
this in about one round of a hundred."""


class MexicanTrainEnv(gymnasium.Env[Any, Any]):
    """One learner at a table of bots.

    A step is a decision of the learner: the bots, and (with ``skip_forced``) its own moves without a choice,
    are played inside. The reward of a step is what the learner was paid in everything that happened since
    its last decision.

    **Observation**, by ``obs_mode``: ``"flat"``, the vector of `mt_env.observation` (laid out by
    ``encoding``); ``"dict"``, ``{observation_key: vector, "action_mask": int8 [num_actions]}``;
    ``"flat+mask"``, the vector with the mask behind it, in one array. Arrays are the caller's own.

    **Info**, always: ``action_mask`` (int8 ``[num_actions]``, zeros when the episode is over), ``seat`` (the
    learner's), ``illegal_action`` (how many it has tried in this episode). At the end also ``points`` (its
    own, over all rounds) and ``points_by_seat`` (int64 ``[num_players]``), ``rank`` (1 is first, ties share
    the mean of their places), ``win_share`` (``1/k`` for each of ``k`` seats sharing first place, else 0),
    ``how`` (the last round ended: ``"out"`` or ``"blocked"``) and ``rounds``, for each round a dict with
    ``round``, ``engine``, ``how``, ``moves`` and ``points`` (by seat). An episode cut short has ``how``
    ``"illegal"`` (then last rank, no win share) or ``"truncated"``; its points count the hands as they are.

    **Seeds**: ``reset(seed=s)`` begins the family ``s``: this episode has seed ``mix(s, 0)``, each later
    ``reset()`` goes on to ``mix(s, 1)``, ``mix(s, 2)``, ...; the deals are those of the other environments.
    Without any seed the family is drawn. ``reset(options={"episode_seed": e})`` replays the episode of that
    seed and counts nothing on.

    **Illegal actions**, by ``illegal_action``: ``"terminate"`` ends the episode with a penalty;
    ``"random_legal"`` plays a legal one, drawn by the learner's own stream; ``"raise"`` raises a
    ``ValueError`` that says why, and nothing has happened. What is no action id at all always raises.

    An episode that is over before the learner's first decision is handed out nevertheless: its mask has
    ``pass`` alone, and that step pays what there is to pay and ends it.

    Args:
        num_players: seats, 2..14.
        rules: whatever `mt_env.rules.load_rules` takes.
        opponents: who sits in the other seats: one bot for all or a list of ``num_players - 1``, clockwise
            from the learner; each a name, an object or class with ``act(view, rng)``, or such a function.
            Tables of rule bots alone run compiled.
        seat: the learner's seat, or ``"random"``: drawn from each episode's seed.
        episode: ``"round"`` or ``"match"``.
        engine: of a single round: ``"random"`` or a value.
        reward: ``"zero_sum"``, ``"points"``, ``"win"`` or ``"rank"``, see `mt_env.rewards`.
        reward_scale: multiplies the rewards; above 0.
        skip_forced: whether the learner's moves without a choice are played for it.
        illegal_action: see above.
        illegal_penalty: subtracted from the reward for an illegal action. None: nothing with
            ``"random_legal"``; with ``"terminate"`` 1 for the rewards ``win`` and ``rank``, and
            `ROUND_PENALTY` for each unfinished round for the others, times ``reward_scale``.
        obs_mode: see above.
        observation_key: name of the vector in a dict observation (RLlib wants ``"observations"``).
        observation_dtype: ``float32`` in [0, 1], or ``uint8`` counts; see ``encoding.scales``.
        candidates: whether a dict observation also holds the legal actions as rows of features
            (`mt_env.candidates`): ``candidates``, ``candidate_actions`` and ``candidate_count``.
        max_episode_steps: an episode is truncated after so many steps; None: never.
        render_mode: None; ``"ansi"``: `render` returns the table as text; ``"human"``: it is printed after
            every step.

    Attributes:
        game: the table, `mt_env.game.Game`.
        encoding: layout of the vector, `mt_env.observation.Encoding`.
        opponents: the bots, clockwise from the learner.
        seat: the learner's seat in this episode.
        base_seed: the family of seeds; None before the first reset.
        episode_index: number of this episode in the family, from 0.
        episode_seed: seed of this episode; None before the first reset.

    Raises:
        ValueError: an argument is not allowed; the message says what is.
    """

    metadata = {"render_modes": ["human", "ansi"], "render_fps": 1}  # noqa: RUF012 -- as gymnasium has it

    def __init__(
        self,
        num_players: int = 4,
        rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
        opponents: BotLike | Sequence[BotLike] = "random",
        *,
        seat: int | Literal["random"] = "random",
        episode: Literal["round", "match"] = "round",
        engine: int | Literal["random"] = "random",
        reward: str = "zero_sum",
        reward_scale: float = 1.0,
        skip_forced: bool = True,
        illegal_action: str = "terminate",
        illegal_penalty: float | None = None,
        obs_mode: str = "flat",
        observation_key: str = "observation",
        observation_dtype: DTypeLike = np.float32,
        candidates: bool = False,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.game = Game(
            rules, num_players, episode=episode, engine=engine, reward=reward, reward_scale=reward_scale
        )
        n = self.game.num_players
        self.opponents: list[Bot] = seat_bots(opponents, n - 1, "opponents")
        self.fixed_seat = _seat(seat, n)
        _one_of("illegal_action", illegal_action, ILLEGAL_ACTIONS)
        _one_of("obs_mode", obs_mode, OBS_MODES)
        if render_mode is not None:
            _one_of("render_mode", render_mode, ("human", "ansi"))
        if not isinstance(observation_key, str) or observation_key in ("", "action_mask"):
            raise ValueError(f"observation_key={observation_key!r}: must be a name other than 'action_mask'")
        if max_episode_steps is not None and (as_int(max_episode_steps) is None or max_episode_steps < 1):
            raise ValueError(f"max_episode_steps={max_episode_steps!r}: must be None or a number from 1")
        if illegal_penalty is not None and not 0 <= illegal_penalty < float("inf"):
            raise ValueError(f"illegal_penalty={illegal_penalty!r}: must be None or a number from 0")
        self.skip_forced = bool(skip_forced)
        self.illegal_action = illegal_action
        self.illegal_penalty = illegal_penalty
        self.obs_mode = obs_mode
        self.observation_key = observation_key
        self.max_episode_steps = max_episode_steps
        self.render_mode = render_mode
        self.encoding = self.game.encoding
        self.observation_dtype = self._dtype = dtype_of(observation_dtype)
        self.candidates = bool(candidates)
        self._size = self.encoding.size
        self._actions = self.game.num_actions
        if candidates and obs_mode != "dict":
            raise ValueError(f"candidates=True with obs_mode={obs_mode!r}: they need obs_mode='dict'")
        self._candidates = CandidateWriter(self.game.rules) if candidates else None
        self.action_space = spaces.Discrete(self._actions)
        self.observation_space = self._space()

        self._states = np.zeros(1, GAME_DTYPE)
        self._rules = self.game.rules_record.copy()  # writable, as it also is after a deepcopy
        kinds = [compiled_kind(bot) for bot in self.opponents]
        self._compiled = None not in kinds
        self._opponent_kinds = [kind or 0 for kind in kinds]
        self._kinds = np.zeros(n, np.int64)
        self._rngs = np.zeros((n, 1), np.uint64)
        self._scratch = (new_scratch(), np.zeros((3, n)))
        self._config = np.array([reward_code(self.game.reward), self.skip_forced], np.int64)
        self._legal = np.zeros(MAX_LEGAL, np.int64)
        self._mask = np.zeros(self._actions, np.int8)
        self._pay = np.zeros(1)
        self._rounds = np.zeros((self.game.rounds, POINTS + n), np.int64)

        self._state: State | None = None
        """The game, where bots have to be called; its record is copied to `_states` at each decision."""
        self._bot_rngs: list[Rng] = []
        self._seat_rng: Rng | None = None
        self.seat = 0 if self.fixed_seat is None else self.fixed_seat
        self.base_seed: int | None = None
        self.episode_index = -1
        self.episode_seed: int | None = None
        self._count = 0
        self._steps = 0
        self._illegal = 0
        self._over = True
        self._formal = False

    # --- spaces and what they hold ------------------------------------------------------------------------

    def _space(self) -> spaces.Space[Any]:
        vector = self.encoding.space(self._dtype)
        if self.obs_mode == "flat":
            return vector
        if self.obs_mode == "dict":
            mask = spaces.Box(0, 1, (self._actions,), np.int8)
            more = self._candidates.spaces if self._candidates else {}
            return spaces.Dict({self.observation_key: vector, "action_mask": mask, **more})
        low = np.zeros(self._size + self._actions, self._dtype)
        high = np.concatenate([vector.high, np.ones(self._actions, self._dtype)])
        return spaces.Box(low, high, dtype=self._dtype.type)

    def _pack(self, out: NDArray[Any]) -> Any:
        """The observation from the vector and the mask."""
        if self.obs_mode == "flat":
            return out
        if self.obs_mode == "dict":
            return {self.observation_key: out, "action_mask": self._mask.copy(), **self._candidate_rows()}
        return np.concatenate([out, self._mask], dtype=self._dtype, casting="unsafe")

    def pack_final(self, vector: NDArray[Any]) -> Any:
        """The observation at the end of an episode, made from its vector: no action is legal."""
        mask = np.zeros(self._actions, np.int8)
        if self.obs_mode == "flat":
            return vector
        if self.obs_mode == "dict":
            none = self._legal[:0]
            rows = self._candidates.write(self._states, self._rules, none, 0) if self._candidates else {}
            return {self.observation_key: vector, "action_mask": mask, **rows}
        return np.concatenate([vector, mask], dtype=self._dtype)

    def _candidate_rows(self) -> dict[str, NDArray[Any]]:
        if self._candidates is None:
            return {}
        if self._formal and not self._over:
            return self._candidates.only_pass(self.game.pass_action)
        return self._candidates.write(self._states, self._rules, self._legal, self._count)

    def _look(self, out: NDArray[Any]) -> None:
        """Write what the learner sees now, and the mask."""
        look(self._states, self._rules, self.seat, self._legal, self._count, out, self._mask)

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool ``[num_actions]``: where stable-baselines3 looks for them."""
        return self._mask.astype(np.bool_)

    # --- episodes -----------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Deal the next episode and play to the learner's first decision.

        Args:
            seed: begins a new family of seeds, 0..2**64 - 1; see the class.
            options: ``{"episode_seed": e}`` deals the episode of that seed; other keys are ignored.

        Returns:
            Observation and info.
        """
        if seed is not None:
            seed = check_seed(seed)
        super().reset(seed=seed)
        if seed is not None:
            self.base_seed, self.episode_index = seed, -1
        elif self.base_seed is None:
            self.base_seed = int(self.np_random.integers(1 << 64, dtype=np.uint64))
        if options and options.get("episode_seed") is not None:
            episode_seed = check_seed(options["episode_seed"], "episode_seed")
        else:
            self.episode_index += 1
            episode_seed = mix(self.base_seed, self.episode_index)
        self.episode_seed = episode_seed
        n = self.game.num_players
        if self.fixed_seat is None:
            self.seat = int(learner_seat(np.uint64(episode_seed), n))
        for i, kind in enumerate(self._opponent_kinds):
            self._kinds[(self.seat + 1 + i) % n] = kind
        self._seat_rng = None
        self._steps = self._illegal = 0
        out = np.empty(self._size, self._dtype)
        if self._compiled:
            solo_deal(self._states, self._rules, np.uint64(episode_seed), self._rngs)
            self._pay[0] = 0.0
            self._advance(NO_ACTION, out)
        else:
            self._deal_to_bots(episode_seed)
            self._look(out)
        self._over = False
        self._formal = self._count == 0
        if self._formal:
            self._mask[self.game.pass_action] = 1
        if self.render_mode == "human":
            self.render()
        return self._pack(out), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action and play to its next decision.

        Returns:
            Observation, reward, whether the episode is over, whether it was truncated, info.

        Raises:
            ValueError: ``action`` is no action id, the episode is over, or (``illegal_action="raise"``) the
                action is not legal.
            BotError: an opponent failed; the episode is then over.
        """
        try:
            number = index(action)
        except TypeError:
            number = -1
        if self._over or not 0 <= number < self._actions:
            raise ValueError(self._refusal(action))
        out = np.empty(self._size, self._dtype)
        penalty = 0.0
        how = None
        if not self._mask[number]:
            number, penalty = self._instead_of(number)
        if number < 0:
            how = "illegal"
            self._count = 0
            self._look(out)
        elif self._formal:
            self._look(out)
        elif self._compiled:
            self._advance(number, out)
        else:
            self._play_with_bots(number)
            self._look(out)
        reward = self._pay.item() - penalty
        self._pay[0] = 0.0
        self._steps += 1
        terminated = self._count == 0
        truncated = not terminated and self._steps == self.max_episode_steps
        info = self._info()
        if terminated or truncated:
            self._over = True
            info |= result(self._states, self._rules, self.seat, "truncated" if truncated else how)
            info["rounds"] = self._finished_rounds()
        if self.render_mode == "human":
            self.render()
        return self._pack(out), reward, terminated, truncated, info

    def _advance(self, action: int, out: NDArray[Any]) -> None:
        """Apply the learner's action where all bots are compiled."""
        self._count = solo_step(
            self._states, self._rules, action, self.seat, self._kinds, self._rngs, self._scratch,
            self._config, self.game.reward_scale, self._legal, self._pay, self._rounds,
            out, self._mask,
        )  # fmt: skip

    def _refusal(self, action: object) -> str:
        if self.episode_seed is None:
            return "call reset() first"
        if self._over:
            return "the episode is over: call reset()"
        return f"action {action!r}: must be an action id, a whole number from 0 to {self._actions - 1}"

    def _instead_of(self, action: int) -> tuple[int, float]:
        """What is played instead of an illegal action, -1 for the end of the episode, and its penalty."""
        if self.illegal_action == "raise":
            raise ValueError(self._why_illegal(action))
        self._illegal += 1
        penalty = self.illegal_penalty
        if self.illegal_action == "random_legal":
            if self._seat_rng is None:
                self._seat_rng = Rng(bot_seed(self.episode_seed or 0, self.seat))
            legal: list[int] = np.flatnonzero(self._mask).tolist()
            return self._seat_rng.choice(legal), penalty or 0.0
        if penalty is None:
            per_round = self.game.reward in ("zero_sum", "points")
            left = max(1, self.game.rounds - int(self._states["rounds_done"][0]))
            penalty = self.game.reward_scale * (ROUND_PENALTY * left if per_round else 1.0)
        return -1, penalty

    def _why_illegal(self, action: int) -> str:
        if self._formal:
            return f"action {action}: the episode ended before the learner's first decision; pass ends it"
        return why_illegal(State(self.game, self._states.copy()), action)

    # --- tables with bots that have to be called ----------------------------------------------------------

    def _deal_to_bots(self, seed: int) -> None:
        n = self.game.num_players
        self._over = True  # until the bots have played
        self._state = self.game.new_initial_state(seed)
        seeds = [bot_seed(seed, seat) for seat in range(n)]
        self._bot_rngs = [Rng(one) for one in seeds]
        for i, bot in enumerate(self.opponents):
            seat = (self.seat + 1 + i) % n
            start_bot(bot, self.game, seat, seeds[seat])
        self._pay[0] = 0.0
        self._play_with_bots(None)

    def _play_with_bots(self, action: int | None) -> None:
        """What `mt_env.solo_play.solo_step` does, with bots that are asked."""
        state, over = self._state, self._over
        assert state is not None
        self._over = True  # should a bot fail
        while True:
            if action is not None:
                state.apply_action(action)
                self._pay[0] += state.rewards()[self.seat]
            legal = []
            if state.is_terminal():
                break
            turn = state.current_player()
            if turn != self.seat:
                bot = self.opponents[(turn - self.seat - 1) % self.game.num_players]
                action = next_action(bot, state, self._bot_rngs[turn])
                continue
            legal = state.legal_actions()
            if len(legal) > 1 or not self.skip_forced:
                break
            action = legal[0]
        self._states[0] = state.record[0]
        self._count = len(legal)
        self._legal[: self._count] = legal
        self._over = over

    # --- info ---------------------------------------------------------------------------------------------

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask.copy(), "seat": self.seat, "illegal_action": self._illegal}

    def _finished_rounds(self) -> list[dict[str, Any]]:
        if self._state is not None:
            return rounds_of_log(self.game, self._state)
        return rounds_of_rows(self._rounds[: int(self._states["rounds_done"][0])])

    def render(self) -> str | None:
        """The table as the learner sees it: text with ``"ansi"``, printed with ``"human"``."""
        if self.render_mode is None or self.episode_seed is None:
            return None
        text = board_text(self._states, self.game.rules, [self.seat])
        if self.render_mode == "ansi":
            return text
        print(text)
        return None


def _seat(seat: object, num_players: int) -> int | None:
    """The learner's fixed seat, None for a random one."""
    if isinstance(seat, str) and seat == "random":
        return None
    number = as_int(seat)
    if number is None or not 0 <= number < num_players:
        raise ValueError(f"seat={seat!r}: must be 'random' or a seat from 0 to {num_players - 1}")
    return number


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        hint = near(value, allowed) if isinstance(value, str) else ""
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(allowed)}{hint}")

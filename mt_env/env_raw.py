"""The AEC environment itself; `mt_env.env` wraps it and is where to import it from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Final, Literal

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from mt_env import actions
from mt_env.candidates import CandidateWriter
from mt_env.core.state import GAME_DTYPE, MAX_LEGAL, rules_record
from mt_env.env_step import NO_ACTION, advance, deal, full_state, observe
from mt_env.game import Game
from mt_env.observation import STATE_FIELDS, Encoding
from mt_env.observation import observation_dtype as dtype_of
from mt_env.rewards import reward_code
from mt_env.rng import check_seed, fresh_seed, mix
from mt_env.rules import Rules

if TYPE_CHECKING:
    from mt_env.game import State

Observation = dict[str, NDArray[Any]]
_HOW: Final = (None, "out", "blocked")


class raw_env(AECEnv[str, Observation, int]):  # type: ignore[misc, unused-ignore]  # noqa: N801
    """Mexican Train as an AEC environment, without PettingZoo's checking wrappers: the fast one.

    Agents are ``"player_0"``, ``"player_1"``, ... in the order of the seats, clockwise. The same agent often
    acts several times in a row; all agents terminate in the same step.

    **Observation** of every agent at every time: ``{"observation", "action_mask"}``. The first is a flat
    vector laid out by ``encoding`` (see docs/env.md), float32 in [0, 1] or uint8 counts; the second is int8
    ``[num_actions]``, all zeros unless it is this agent's turn. With ``candidates`` it also holds the legal
    actions as rows of features (`mt_env.candidates`): ``candidates``, ``candidate_actions`` and
    ``candidate_count``, no rows unless it is this agent's turn. The arrays are the caller's own.

    **Actions**: ``relative_train * num_tiles + tile``, with relative train 0 the agent's own, 1.. the next
    seats clockwise, ``num_players`` the Mexican Train; then ``game.draw_action``, ``game.pass_action``.

    **Infos**: ``action_mask`` for every agent at every time. After a round has ended also ``points`` (the
    agent's points in it), ``total`` (over the finished rounds), ``how`` (``"out"`` or ``"blocked"``) and
    ``round`` (its index); in a match they stay until the agent has acted again. When the episode is over
    also ``rank`` (1 is first, ties share the mean of their places) and ``win_share`` (``1/k`` for each of
    ``k`` agents sharing first place, else 0).

    **Seeds**: ``reset(seed=s)`` begins the family ``s``: this episode has seed ``mix(s, 0)``, and each
    ``reset()`` without a seed goes on to ``mix(s, 1)``, ``mix(s, 2)``, ... Without any seed the family is
    drawn from the operating system. Nothing else is random.

    **Copies**: ``copy.deepcopy`` and pickle keep everything, on the wrapped environment too; `clone` is the
    cheap copy of the raw one, `get_state` and `set_state` go back and forth in one environment.

    Args:
        num_players: seats, 2..14.
        rules: preset name, text with overrides (``"spruce;open_order=any"``), path of a YAML file, mapping or
            `mt_env.rules.Rules`.
        episode: ``"round"``, or ``"match"`` for all rounds of the rules.
        engine: of a single round: ``"random"``, drawn evenly from the engines of a match, or one of them.
        reward: ``"zero_sum"``, ``"points"``, ``"win"`` or ``"rank"``, see `mt_env.rewards`.
        reward_scale: multiplies the rewards.
        skip_forced: whether moves with one legal action are played by the environment, so that every
            step is a decision.
        render_mode: ``"ansi"`` (`render` returns text), ``"human"`` (it prints) or None.
        observation_dtype: ``"float32"`` or ``"uint8"``.
        candidates: whether observations hold the candidate rows.

    Attributes:
        game: the table: rules resolved for the seats, number of actions.
        encoding: layout of the observation: ``encoding.slices["hand"]``, ``encoding.split(vector)``.
        state_encoding: layout of `state`.
        seed_value: the family of seeds in use; None before the first reset.
        episode_index: number of the episode in its family, from 0.
        episode_seed: ``mix(seed_value, episode_index)``; ``game.new_initial_state(episode_seed)`` is this
            episode's deal.

    Raises:
        ValueError: an argument is out of range, or two do not go together.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- as PettingZoo declares it
        "name": "mexican_train_v0",
        "render_modes": ["human", "ansi"],
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        num_players: int = 4,
        rules: str | os.PathLike[str] | Mapping[str, object] | Rules = "spruce",
        *,
        episode: Literal["round", "match"] = "round",
        engine: int | Literal["random"] = "random",
        reward: str = "zero_sum",
        reward_scale: float = 1.0,
        skip_forced: bool = False,
        render_mode: str | None = None,
        observation_dtype: str = "float32",
        candidates: bool = False,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode={render_mode!r}: must be None, 'human' or 'ansi'")
        self.game = Game(
            rules, num_players, episode=episode, engine=engine, reward=reward, reward_scale=reward_scale
        )
        self.skip_forced = bool(skip_forced)
        self.render_mode = render_mode
        match = episode == "match"
        self.encoding = Encoding(self.game.rules, match)
        self.state_encoding = Encoding(self.game.rules, match, STATE_FIELDS)
        self._dtype = dtype_of(observation_dtype)
        n, size = self.game.num_players, self.game.num_actions
        self.possible_agents: list[str] = [f"player_{seat}" for seat in range(n)]
        self.agents: list[str] = []
        self.agent_selection: str = self.possible_agents[0]
        self.action_spaces = {agent: spaces.Discrete(size) for agent in self.possible_agents}
        self._candidates = CandidateWriter(self.game.rules) if candidates else None
        more = self._candidates.spaces if self._candidates else {}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": self.encoding.space(self._dtype),
                    "action_mask": spaces.Box(0, 1, (size,), np.int8),
                    **more,
                }
            )
            for agent in self.possible_agents
        }
        self.state_space = self.state_encoding.space()
        self.seed_value: int | None = None
        self.episode_index = 0
        self.episode_seed: int | None = None
        number = self.game.engine
        self._rules = rules_record(
            self.game.rules, match=match, engine=-1 if isinstance(number, str) else number
        )
        self._record: NDArray[np.void] = np.zeros(1, GAME_DTYPE)
        self._pay = np.zeros(n + 2)
        self._pay[n:] = reward_code(reward), self.game.reward_scale
        self._scratch = np.zeros((3, n))
        self._legal = np.zeros(MAX_LEGAL, np.int64)
        self._forced = np.zeros(self.game.max_game_length if skip_forced else 1, np.int64)
        self._count = 0
        self._mover: str | None = None
        self._mask: NDArray[np.int8] = np.zeros(size, np.int8)
        self._seen: NDArray[Any] | None = None
        self._history: list[int] = []
        self._notes: dict[str, dict[str, Any]] = {}
        self._state: State | None = None
        self._clear()

    def _clear(self) -> None:
        """The dictionaries of an episode that has just begun."""
        agents = self.agents
        self.rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards: dict[str, float] = dict.fromkeys(agents, 0.0)
        self.terminations: dict[str, bool] = dict.fromkeys(agents, False)
        self.truncations: dict[str, bool] = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: self._info() for agent in agents}
        self._skip_agent_selection: str | None = None

    def _info(self) -> dict[str, Any]:
        return {"action_mask": np.zeros(self.game.num_actions, np.int8)}

    # PettingZoo's interface.

    def observation_space(self, agent: str) -> spaces.Dict:
        """Space of what ``agent`` sees; the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Space of the action ids of ``agent``; the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new episode.

        Args:
            seed: begins a new family of episodes, 0..2**64 - 1; None goes on with the present one.
            options: none are known; ignored.

        Raises:
            ValueError: the seed is no such integer.
        """
        if seed is not None:
            self.seed_value, self.episode_index = check_seed(seed), 0
        elif self.seed_value is None:
            self.seed_value, self.episode_index = fresh_seed(), 0
        else:
            self.episode_index += 1
        self.episode_seed = mix(self.seed_value, self.episode_index)
        deal(self._record, self._rules, np.uint64(self.episode_seed))
        self.agents = self.possible_agents[:]
        self._history = []
        self._notes = {}
        self._state = None
        self._clear()
        self._play(NO_ACTION)

    def step(self, action: int | None) -> None:
        """Apply an action of ``agent_selection``; None for an agent that is done.

        Raises:
            ValueError: the action is illegal (the message says why, and the game stays as it is), no episode
                is being played, or an agent that is done is given an action.
        """
        agent = self.agent_selection
        if not self.agents:
            raise ValueError("no episode is being played: call reset() first")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            number = index(action)  # type: ignore[arg-type]
        except TypeError:
            number = NO_ACTION
        if number < 0:
            self._refuse(action)
        self._play(number)

    def _play(self, action: int) -> None:
        """Apply ``action``, or none after the deal, and bring every attribute up to date."""
        mask = np.zeros(self.game.num_actions, np.int8)
        seen = np.empty(self.encoding.size, self._dtype)
        count, seat, ends, played = advance(
            self._record, self._rules, action, self._count, self.skip_forced, self._pay, self._scratch,
            self._legal, self._forced, mask, seen,
        )  # fmt: skip
        if count < 0:
            self._refuse(action)
        agents = self.agents
        mover = agents[seat]
        if action != NO_ACTION:
            self._history.append(action)
            acted = self.agent_selection
            self._cumulative_rewards[acted] = 0.0
            self.rewards = dict.fromkeys(agents, 0.0)
            self.infos[acted] = self._info()
            if self._notes:
                self._notes.pop(acted, None)
        if played:
            self._history += self._forced[:played].tolist()
        self._count = count
        self._mask = mask
        self.agent_selection = mover
        if ends:
            self.rewards = dict(zip(agents, self._pay[:-2].tolist(), strict=True))
            self._accumulate_rewards()
            self._note_end(over=count == 0)
            self.infos = {agent: {**self._info(), **self._notes[agent]} for agent in agents}
        if count == 0:
            self._finish()
            return
        self._mover = mover
        self._seen = seen
        info = {"action_mask": mask.copy()}
        if self._notes:
            info.update(self._notes.get(mover, {}))
        self.infos[mover] = info

    def _note_end(self, over: bool) -> None:
        """What every agent is told of the round that has ended."""
        s = self._record
        number = int(s["round"][0]) - (0 if over else 1)
        how = _HOW[int(s["how"][0])]
        points, totals = s["points"][0].tolist(), s["totals"][0].tolist()
        ranks, shares = self._scratch[0].tolist(), self._scratch[1].tolist()
        for seat, agent in enumerate(self.agents):
            note = {"points": points[seat], "total": totals[seat], "how": how, "round": number}
            if over:
                note.update(rank=ranks[seat], win_share=shares[seat])
            self._notes[agent] = note

    def _finish(self) -> None:
        self._mover = None
        self._seen = None
        self.terminations = dict.fromkeys(self.agents, True)
        super()._deads_step_first()

    def _deads_step_first(self) -> str:
        """Called from outside by PettingZoo's TerminateIllegalWrapper, when it has ended the episode."""
        offender = self._mover
        self._mover = None
        self._seen = None
        self.infos = {agent: {**self._info(), "illegal_action": agent == offender} for agent in self.agents}
        selected: str = super()._deads_step_first()
        return selected

    def _refuse(self, action: object) -> None:
        """Raise the ValueError that says why ``action`` is not legal."""
        self.game_state().apply_action(action)  # type: ignore[arg-type]
        raise ValueError(f"action {action!r} is not legal")  # not reached while core and State agree

    def observe(self, agent: str) -> Observation:
        """What ``agent`` sees now; for every possible agent at every time, after the end too."""
        if agent == self._mover:
            mask = self._mask.copy()
            seen = self._seen
            if seen is not None:
                self._seen = None  # handed out: the next caller gets one of his own
                return {"observation": seen, "action_mask": mask, **self._rows(True)}
        else:
            mask = np.zeros(self.game.num_actions, np.int8)
        seat = self.possible_agents.index(agent)
        seen = np.empty(self.encoding.size, self._dtype)
        observe(self._record, self._rules, seat, seen)
        return {"observation": seen, "action_mask": mask, **self._rows(agent == self._mover)}

    def _rows(self, moves: bool) -> Observation:
        """The candidates' part of an observation; ``moves``: it is that agent's turn."""
        if self._candidates is None:
            return {}
        return self._candidates.write(self._record, self._rules, self._legal, self._count if moves else 0)

    def state(self) -> NDArray[np.float32]:
        """The full state with all hands and the boneyard's order: float32, laid out by ``state_encoding``.

        Hidden information: for critics while learning, never for an agent that plays.
        """
        out = np.empty(self.state_encoding.size, np.float32)
        full_state(self._record, self._rules, out)
        return out

    def render(self) -> str | None:
        """The board with all hands: returned as text (``"ansi"``) or printed (``"human"``)."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "render() without a render_mode: make the environment with 'human' or 'ansi'"
            )
            return None
        text = str(self.game_state())
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held open."""

    # Beyond PettingZoo. Public names, since its wrappers hide the others.

    def legal_actions(self, agent: str | None = None) -> list[int]:
        """Legal ids of ``agent`` (default: the one to move), ascending; empty when it is not its turn."""
        if self._mover is None or agent not in (None, self._mover):
            return []
        found: list[int] = self._legal[: self._count].tolist()
        return found

    def action_to_string(self, action: int, agent: str | None = None) -> str:
        """Text of an action id of ``agent`` (default: the one to move): ``3-7@0``, ``3-7@M``, ``draw``...

        Raises:
            ValueError: no id of this action space.
        """
        return actions.action_to_string(action, self._seat(agent), self.game.num_players, self.game.num_tiles)

    def string_to_action(self, text: str, agent: str | None = None) -> int:
        """Id, for ``agent`` (default: the one to move), of an action's text, legal or not.

        Raises:
            ValueError: not an action of this set and these seats.
        """
        return actions.string_to_action(text, self._seat(agent), self.game.num_players, self.game.num_tiles)

    def _seat(self, agent: str | None) -> int:
        return self.possible_agents.index(self.agent_selection if agent is None else agent)

    def history(self) -> list[int]:
        """Ids of all actions of this episode, forced moves that were skipped included."""
        return list(self._history)

    def game_state(self) -> State:
        """This episode as a `mt_env.game.State` with its public log: a copy, free to be played on.

        Raises:
            ValueError: no episode has been dealt.
        """
        if self.episode_seed is None:
            raise ValueError("no episode has been dealt: call reset() first")
        if self._state is None:
            self._state = self.game.new_initial_state(self.episode_seed)
        for action in self._history[len(self._state.history()) :]:
            self._state.apply_action(action)
        return self._state.clone()

    def get_state(self) -> dict[str, Any]:
        """The running episode and the seeds, for `set_state`; picklable, otherwise opaque."""
        return {
            "game": self.game,
            "record": self._record.copy(),
            "history": self._history.copy(),
            "seeds": (self.seed_value, self.episode_index, self.episode_seed),
            "agents": self.agents.copy(),
            "selected": (self.agent_selection, self._skip_agent_selection, self._mover),
            "paid": (self.rewards.copy(), self._cumulative_rewards.copy()),
            "done": (self.terminations.copy(), self.truncations.copy()),
            "infos": _copied(self.infos),
            "notes": _copied(self._notes),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back (or on) to what `get_state` returned, of this environment or one made alike.

        Below PettingZoo's wrappers, call ``last()`` or ``observe()`` before ``step()``:
        TerminateIllegalWrapper remembers the mask it saw last.

        Raises:
            ValueError: the state is of another game (rules, seats, episode, engine or reward).
        """
        if state["game"] != self.game:
            raise ValueError(f"the state is of another game: {state['game']!r}, this is {self.game!r}")
        self._record[:] = state["record"]
        self._history = state["history"].copy()
        self.seed_value, self.episode_index, self.episode_seed = state["seeds"]
        self.agents = state["agents"].copy()
        self.agent_selection, self._skip_agent_selection, self._mover = state["selected"]
        self.rewards, self._cumulative_rewards = (part.copy() for part in state["paid"])
        self.terminations, self.truncations = (part.copy() for part in state["done"])
        self.infos, self._notes = _copied(state["infos"]), _copied(state["notes"])
        self._state = None
        self._seen = None
        self._mask = np.zeros(self.game.num_actions, np.int8)
        self._count = 0
        if self._mover is not None:
            seen = np.empty(self.encoding.size, self._dtype)
            self._count = advance(
                self._record, self._rules, NO_ACTION, 0, False, self._pay, self._scratch, self._legal,
                self._forced, self._mask, seen,
            )[0]  # fmt: skip
            self._seen = seen

    def clone(self) -> raw_env:
        """An independent copy in the same state; only the spaces are shared."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("_record", "_pay", "_scratch", "_legal", "_forced"):
            setattr(twin, name, getattr(self, name).copy())
        twin.set_state(self.get_state())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_state": None}  # it can be made again

    def __repr__(self) -> str:
        return f"<raw_env {self.metadata['name']} of {self.game!r}>"


def _copied(infos: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        agent: {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in info.items()}
        for agent, info in infos.items()
    }

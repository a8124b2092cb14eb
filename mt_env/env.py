"""The PettingZoo environment: one agent at a time (AEC).

    from mt_env.env import env

    game = env(num_players=4)
    game.reset(seed=1)
    for agent in game.agent_iter():
        observation, reward, terminated, truncated, info = game.last()
        action = None
        if not terminated:
            action = game.action_space(agent).sample(observation["action_mask"])
        game.step(action)

docs/env.md is its page: what an agent sees, what it can do, what it is paid.
"""

from __future__ import annotations

from typing import Any, Final

from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from mt_env.env_raw import Observation, raw_env

__all__ = ["ENV_ID", "ILLEGAL_REWARD", "env", "raw_env", "register", "turn_based_parallel_env"]

ENV_ID: Final = "mt_env/mexican_train-v0"
"""Id in PettingZoo's registry (PettingZoo 1.27 and newer)."""

ILLEGAL_REWARD: Final = -1.0
"""What `env` pays for an illegal action, with which it ends the episode."""


def env(*args: Any, **kwargs: Any) -> AECEnv[str, Observation, int]:
    """`raw_env` in PettingZoo's usual wrappers; takes its arguments.

    TerminateIllegal: an illegal action ends the episode for all, truncated and terminated, and pays the
    offender `ILLEGAL_REWARD`, the others 0 (so not zero-sum); ``infos[agent]["illegal_action"]`` tells who it
    was. AssertOutOfBounds: an action outside the space is an AssertionError. OrderEnforcing: reset comes
    first. They cost more time than the game itself: for speed use `raw_env`.
    """
    wrapped: AECEnv[str, Observation, int] = raw_env(*args, **kwargs)
    wrapped = TerminateIllegalWrapper(wrapped, illegal_reward=ILLEGAL_REWARD)
    wrapped = AssertOutOfBoundsWrapper(wrapped)
    return OrderEnforcingWrapper(wrapped)


def turn_based_parallel_env(*args: Any, **kwargs: Any) -> Any:
    """`env` as a PettingZoo parallel environment in which only the agent to move is heard.

    ``infos[agent]["active_agent"]`` names it; the actions of the others are ignored. Made by PettingZoo's
    ``turn_based_aec_to_parallel``, whose ``step`` after the end returns four values rather than five.
    """
    return turn_based_aec_to_parallel(env(*args, **kwargs))


def register() -> bool:
    """Enter `ENV_ID` in PettingZoo's registry; False where this PettingZoo has none (before 1.27)."""
    import pettingzoo

    if not hasattr(pettingzoo, "register"):
        return False
    if ENV_ID not in getattr(pettingzoo, "aec_registry", {}):
        pettingzoo.register("aec", ENV_ID, entry_point="mt_env.env:env")
    return True


register()

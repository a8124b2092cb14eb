"""Mexican Train dominoes for reinforcement learning.

The public names are those of ``__all__``, most of them loaded when first used. Importing this package enters
the environments in the registries of Gymnasium (``MexicanTrain-v0``) and PettingZoo
(``mt_env/mexican_train-v0``); it loads neither torch nor stable-baselines3.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Not lazy: importing the module first would otherwise leave the module, not the function, as mt_env.env.
from mt_env.env import env, raw_env, turn_based_parallel_env
from mt_env.registration import register_envs

if TYPE_CHECKING:
    from mt_env.arena import TournamentResult, tournament
    from mt_env.bots import Bot, bot_names, make_bot, register
    from mt_env.candidates import FEATURES
    from mt_env.game import Game, State
    from mt_env.notation import parse_position
    from mt_env.observation import FIELDS, Encoding
    from mt_env.rng import Rng, mix
    from mt_env.rules import PRESETS, ResolvedRules, Rules, load_rules
    from mt_env.solo import MexicanTrainEnv
    from mt_env.view import View

_HOME = {
    "arena": ("TournamentResult", "tournament"),
    "bots": ("Bot", "bot_names", "make_bot", "register"),
    "candidates": ("FEATURES",),
    "game": ("Game", "State"),
    "notation": ("parse_position",),
    "observation": ("FIELDS", "Encoding"),
    "rng": ("Rng", "mix"),
    "rules": ("PRESETS", "ResolvedRules", "Rules", "load_rules"),
    "solo": ("MexicanTrainEnv",),
    "view": ("View",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "FEATURES",
    "FIELDS",
    "PRESETS",
    "Bot",
    "Encoding",
    "Game",
    "MexicanTrainEnv",
    "ResolvedRules",
    "Rng",
    "Rules",
    "State",
    "TournamentResult",
    "View",
    "__version__",
    "bot_names",
    "env",
    "load_rules",
    "make_bot",
    "mix",
    "parse_position",
    "raw_env",
    "register",
    "tournament",
    "turn_based_parallel_env",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'mt_env' has no attribute {name!r}")
    value = getattr(import_module(f"mt_env.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


register_envs()

"""Bots: what one is, the compiled rule bots, and names for them.

    from mt_env.bots import make_bot, register

    class MyBot:
        name = "my-bot"

        def act(self, view, rng):
            return view.legal_actions[0]

    register("my-bot", MyBot)

Rule bots: ``random`` takes any legal action; ``heaviest`` lays the tile with most pips; ``planner`` keeps its
longest chain for its own train and gives spare tiles to the others (400 nodes a chain search);
``planner-fast`` is the same with 30 nodes, for playouts; ``doubles_first`` lays a double whenever it may,
else the heaviest tile; ``tactician`` weighs its chain, what the others can do, and how near the end is.
"""

from __future__ import annotations

from mt_env.bots.base import (
    Bot,
    BotError,
    BotFunction,
    BotLike,
    FunctionBot,
    ask_bot,
    bot_name,
    start_bot,
)
from mt_env.bots.registry import (
    BotFactory,
    bot_names,
    make_bot,
    register,
    register_family,
    resolve_bot,
    seat_bots,
)
from mt_env.bots.rule_bots import KINDS, CompiledBot, compiled_kind
from mt_env.bots.table import bot_seed, next_action, play_episode

__all__ = [
    "KINDS",
    "Bot",
    "BotError",
    "BotFactory",
    "BotFunction",
    "BotLike",
    "CompiledBot",
    "FunctionBot",
    "ask_bot",
    "bot_name",
    "bot_names",
    "bot_seed",
    "compiled_kind",
    "make_bot",
    "next_action",
    "play_episode",
    "register",
    "register_family",
    "resolve_bot",
    "seat_bots",
    "start_bot",
]

"""Which bot was evaluated: what can be told of it, so that a reader knows whether theirs is the same."""

from __future__ import annotations

import hashlib
import inspect
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mt_env.bots import Bot, BotLike, CompiledBot, FunctionBot, bot_name, resolve_bot


@dataclass(frozen=True)
class BotIdentity:
    """A bot by its spec, its name and digests of what it is made of."""

    name: str
    """Its spec if it was given as text, else its own name."""
    spec: str | None
    """What `mt_env.bots.make_bot` makes it from; None for objects, functions and classes of a script."""
    source: str | None
    """Name of the file with its class or function, without folders; None if unknown, or part of mt_env."""
    source_sha256: str | None
    """SHA-256 of that file, line ends taken as ``\\n``. Files that it imports are not covered."""
    weights_sha256: str | None
    """SHA-256 of the weights of a learned policy."""
    budget_ms: float | None
    """Milliseconds a decision, of a bot that plays by the clock: its games need not repeat."""

    def to_dict(self) -> dict[str, object]:
        """The fields as plain values."""
        return {
            "name": self.name,
            "spec": self.spec,
            "source": self.source,
            "source_sha256": self.source_sha256,
            "weights_sha256": self.weights_sha256,
            "budget_ms": self.budget_ms,
        }


def identify(source: BotLike) -> BotIdentity:
    """What can be told of a bot; it is made once for that.

    Raises:
        ValueError: it cannot be made.
    """
    bot = resolve_bot(source)
    name = source if isinstance(source, str) else bot_name(bot)
    file = None if type(bot) is CompiledBot else _source_file(bot)
    return BotIdentity(
        name=name,
        spec=_spec(source),
        source=None if file is None else file.name,
        source_sha256=None if file is None else _digest(file),
        weights_sha256=weights_of(bot),
        budget_ms=budget_of(name, bot),
    )


def budget_of(name: str, bot: Bot) -> float | None:
    """The ``budget_ms`` of a bot that plays by the clock; None for another.

    Raises:
        ValueError: it is no number of milliseconds; ``name`` is for the message.
    """
    budget = getattr(bot, "budget_ms", None)
    if budget is None:
        return None
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 0 < budget < math.inf:
        raise ValueError(
            f"bot {name!r}: budget_ms={budget!r}: must be None or a number of milliseconds above 0"
        )
    return float(budget)


def weights_of(bot: Bot) -> str | None:
    """SHA-256 of the weights of a learned policy, which tells it from another of its name; else None."""
    meta: Any = getattr(getattr(bot, "model", None), "meta", None)
    found = meta.get("weights_sha256") if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) else None


def _spec(source: BotLike) -> str | None:
    if isinstance(source, str):
        return source
    if not isinstance(source, type) or source.__module__ == "__main__" or "<" in source.__qualname__:
        return None
    return f"{source.__module__}:{source.__qualname__}"


def _source_file(bot: object) -> Path | None:
    """The file that a bot's class or function stands in; None for those of mt_env, whose version tells."""
    what: Any = bot.function if isinstance(bot, FunctionBot) else bot
    if not inspect.isfunction(what):
        what = type(what)
    module = getattr(what, "__module__", None) or ""
    if module.partition(".")[0] == "mt_env" or module not in sys.modules:
        return None
    try:
        found = inspect.getsourcefile(what)
    except (TypeError, OSError):  # built in, or typed at a prompt
        return None
    return Path(found) if found is not None and Path(found).is_file() else None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()

"""Bots by name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, cast

from mt_env.bots.base import FAILURES, Bot, BotLike, as_bot, bot_name, problem_of
from mt_env.bots.rule_bots import KINDS, CompiledBot
from mt_env.rules_options import near

BotFactory: TypeAlias = Callable[[], Bot]
"""Makes a new bot each time it is called."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
_SPEC: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

_factories: dict[str, BotFactory | str] = {name: partial(CompiledBot, name) for name in KINDS}
_families: dict[str, Callable[[str], Bot] | str] = {"policy": "mt_env.bots.policy:PolicyBot"}


def register(name: str, factory: BotFactory | str, *, replace: bool = False) -> None:
    """Give a bot a name, under which every face of this package then finds it (in this process).

    Args:
        name: letters, digits and ``_ . + -``. A bot that plays differently deserves another name.
        factory: called without arguments for each new bot (a class will do), or where to find that:
            ``"package.module:attribute"``, imported when first asked for.
        replace: whether a name that is taken may be given anew; never one of the rule bots.

    Raises:
        ValueError: a bad name, one that is taken, or a factory that cannot be called.
    """
    _check_name(name, _factories, replace)
    if name in KINDS:
        raise ValueError(f"bot name {name!r}: belongs to a rule bot; take another name")
    _factories[name] = _checked(name, factory)


def register_family(prefix: str, factory: Callable[[str], Bot] | str, *, replace: bool = False) -> None:
    """Make every ``"prefix:anything"`` the name of a bot, such as ``"policy:demo"``.

    Args:
        prefix: what stands before the colon, written as names are.
        factory: called with what stands after it; or where to find it, as in `register`. It raises a
            ``ValueError`` where there is no such bot.
        replace: whether a prefix that is taken may be given anew.

    Raises:
        ValueError: as `register`.
    """
    _check_name(prefix, _families, replace)
    _families[prefix] = _checked(prefix, factory, "")


def _check_name(name: object, taken: dict[str, Any], replace: bool) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"bot name {name!r}: must be letters, digits and _ . + -, as in 'my-bot'")
    if name in taken and not replace:
        raise ValueError(f"bot name {name!r}: taken; take another one, or replace=True")


def _checked(name: str, factory: Any, *arguments: str) -> Any:
    """``factory``, if it is a spec or can be called with ``arguments``."""
    if isinstance(factory, str) and _SPEC.fullmatch(factory):
        return factory
    if not callable(factory):
        raise ValueError(
            f"bot {name!r}: its factory must be callable or 'package.module:attribute', not {factory!r}"
        )
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError as error:
        raise ValueError(
            f"bot {name!r}: its factory is called with {len(arguments)} arguments ({error}); for a function "
            "(view, rng) or an object, give lambda: it"
        ) from None
    except ValueError:  # no signature to be had
        pass
    return factory


def bot_names() -> tuple[str, ...]:
    """Names that `make_bot` knows, in the order in which they were given; families apart."""
    return tuple(_factories)


def make_bot(name: str) -> Bot:
    """A new bot.

    Args:
        name: one of `bot_names`, a member of a family (``"policy:demo"``), or an import path
            ``"package.module:attribute"`` of a bot, a bot's class or a function ``(view, rng) -> action id``.

    Raises:
        ValueError: no such bot, the message names the nearest; or its code raised as it was made.
    """
    if not isinstance(name, str):
        raise ValueError(f"bot {name!r}: must be a name; known are {', '.join(bot_names())}")
    if name in _factories:
        factory = _factories[name]
        if isinstance(factory, str):
            factory = _factories[name] = _imported(factory, name)
        return _made(name, factory)
    prefix, colon, rest = name.partition(":")
    if colon and prefix in _families:
        family = _families[prefix]
        if isinstance(family, str):
            family = _families[prefix] = _imported(family, name)
        return _made(name, family, rest)
    if _SPEC.fullmatch(name):
        return as_bot(_imported(name, name), f"bot {name!r}")
    known = [*bot_names(), *(f"{family}:..." for family in _families)]
    raise ValueError(
        f"bot {name!r}: there is none{near(name, bot_names())}; known are {', '.join(known)} and import "
        "paths such as 'package.module:MyBot'"
    )


def _made(name: str, factory: Callable[..., object], *arguments: str) -> Bot:
    """The bot that a factory makes. Its ValueError stands: that is how a family says there is no such bot."""
    try:
        found = factory(*arguments)
    except ValueError:
        raise
    except FAILURES as error:
        raise ValueError(f"bot {name!r}: its factory raised {problem_of(error)}") from error
    return as_bot(found, f"bot {name!r}, its factory's result")


def _imported(spec: str, name: str) -> Any:
    """What ``spec`` names; ``name`` is what was asked for."""
    path, _, attribute = spec.partition(":")
    try:
        found: Any = importlib.import_module(path)
    except ImportError as error:
        hint = near(path, (*_families, *_factories))
        raise ValueError(f"bot {name!r}: cannot import {path} ({error}){hint}") from error
    except FAILURES as error:
        raise ValueError(f"bot {name!r}: importing {path} raised {problem_of(error)}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            names = (
                (attr for attr in vars(found) if not attr.startswith("_"))
                if hasattr(found, "__dict__")
                else ()
            )
            raise ValueError(f"bot {name!r}: {path} has no {attribute}{near(part, names)}")
        found = getattr(found, part)
    return found


def resolve_bot(source: BotLike) -> Bot:
    """A bot from whatever stands for one.

    Args:
        source: a name (see `make_bot`), an object with ``act(view, rng)`` (it is the bot), a class of such
            objects (a new one is made), or a function ``(view, rng) -> action id``. A factory is not taken
            here: call it, or `register` it.

    Raises:
        ValueError: none of these.
    """
    return make_bot(source) if isinstance(source, str) else as_bot(source)


def seat_bots(source: BotLike | Sequence[BotLike], seats: int, name: str = "bots") -> list[Bot]:
    """One bot for each of ``seats`` seats.

    Args:
        source: one for all seats (a name or class gives each seat its own), or a sequence of one for each.
        seats: how many are wanted.
        name: of the argument, for messages.

    Raises:
        ValueError: too many or too few, no bots, or one object with ``reset`` for several seats.
    """
    if isinstance(source, (list, tuple)):
        if len(source) != seats:
            raise ValueError(f"{name}: {len(source)} given; give one for all seats, or a list of {seats}")
        bots = [resolve_bot(one) for one in source]
    elif isinstance(source, (str, type)):
        bots = [resolve_bot(source) for _ in range(seats)]
    else:
        bots = [resolve_bot(cast(BotLike, source))] * seats
    for i, bot in enumerate(bots):
        if hasattr(bot, "reset") and any(bot is other for other in bots[:i]):
            raise ValueError(
                f"{name}: one {bot_name(bot)!r} object cannot hold several seats since it has a reset; give "
                "its class or name, or an object for each seat"
            )
    return bots

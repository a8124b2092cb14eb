"""What a bot is, how one is asked, and what may stand for one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast, runtime_checkable

from mt_env.rng import Rng
from mt_env.rules_options import as_int
from mt_env.view import View

if TYPE_CHECKING:
    from mt_env.game import Game


@runtime_checkable
class Bot(Protocol):
    """A player: ``act(view, rng) -> action id``. Any object with such a method is one.

    It is asked for decisions only: a forced move is made for it (and stands in ``view.log``). ``view`` is
    what its seat may know, with at least two legal actions in ``view.legal_actions``; ``rng`` is the seat's
    own generator for this episode, so that a bot without other randomness plays alike on equal
    seeds. Optional beside it:

    - ``name``: how it is called in messages and tables (else the name of its class);
    - ``reset(game, seat, seed)``: called before each episode with the `mt_env.game.Game`, the bot's seat and
      a seed of its own, for bots that keep something in mind. One object with ``reset`` can hold one seat.
      What it remembers from one episode may not change how it plays the next: the arena plays episodes in
      several processes, each with a bot of its own;
    - ``budget_ms``: milliseconds a decision, of a bot that plays by the clock; None or absent for others. Its
      games are not expected to repeat, and the arena marks it.
    """

    def act(self, view: View, rng: Rng) -> int:
        """The id of one of ``view.legal_actions``."""
        ...


BotFunction: TypeAlias = Callable[[View, Rng], int]
"""The shortest bot: a function of view and generator."""

BotLike: TypeAlias = "str | Bot | type[Bot] | BotFunction"
"""What stands for a bot wherever one is asked for; see `mt_env.bots.resolve_bot`."""


class BotError(RuntimeError):
    """A bot has raised, or has answered with something that is not a legal action.

    Attributes:
        bot: its name.
        seat: where it sat.
    """

    def __init__(self, bot: str, seat: int, problem: str) -> None:
        super().__init__(f"bot {bot!r} in seat {seat}: {problem}")
        self.bot = bot
        self.seat = seat
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return BotError, (self.bot, self.seat, self.problem)


FAILURES: Final = (Exception, SystemExit)
"""What a bot's own code may raise; ``sys.exit()`` in it must not end the program."""


def problem_of(error: BaseException) -> str:
    """Kind and text of what a bot's code raised, on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


class FunctionBot:
    """A function ``(view, rng) -> action id`` as a bot.

    Args:
        function: the function.
        name: the bot's name; the function's own without one.
    """

    def __init__(self, function: BotFunction, name: str | None = None) -> None:
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)

    def act(self, view: View, rng: Rng) -> int:
        """What the function says."""
        return self.function(view, rng)

    def __repr__(self) -> str:
        return f"FunctionBot({self.name})"


def bot_name(bot: object) -> str:
    """The ``name`` of a bot, or that of its class."""
    name = getattr(bot, "name", None)
    return name if isinstance(name, str) and name else type(bot).__name__


def as_bot(source: object, where: str = "bot") -> Bot:
    """An object, a class without arguments, or a function as a bot.

    Args:
        source: an object with ``act`` is the bot itself; a class with ``act`` is instantiated; any other
            callable must take ``(view, rng)``.
        where: what to call it in a refusal.

    Raises:
        ValueError: none of these; the message says what would be.
    """
    if isinstance(source, type):
        if not callable(getattr(source, "act", None)):
            raise ValueError(f"{where} {source.__name__}: a bot's class needs a method act(view, rng)")
        try:
            return cast(Bot, source())
        except TypeError as error:
            raise ValueError(
                f"{where} {source.__name__}: the class needs arguments ({error}); give an object of it"
            ) from error
        except FAILURES as error:
            raise ValueError(f"{where} {source.__name__}: making it raised {problem_of(error)}") from error
    if callable(getattr(source, "act", None)):
        return cast(Bot, source)
    if callable(source):
        try:
            inspect.signature(source).bind(None, None)
        except TypeError:
            name = getattr(source, "__name__", repr(source))
            raise ValueError(
                f"{where} {name}: a function must take (view, rng) and return an action id"
            ) from None
        except ValueError:  # no signature to be had, as for some built-in callables
            pass
        return FunctionBot(source)
    raise ValueError(
        f"{where}={source!r}: must be a bot's name, an object or class with act(view, rng), or a function "
        "(view, rng) -> action id"
    )


def start_bot(bot: Bot, game: Game, seat: int, seed: int) -> None:
    """Tell ``bot`` that an episode begins, if it wants to know.

    Args:
        bot: the bot.
        game: the table.
        seat: where it sits.
        seed: its own seed in this episode, ``mix(episode seed, 2**32 + seat)``.

    Raises:
        BotError: its ``reset`` raised.
    """
    reset = getattr(bot, "reset", None)
    if reset is None:
        return
    try:
        reset(game, seat, seed)
    except FAILURES as error:
        raise BotError(bot_name(bot), seat, f"reset raised {problem_of(error)}") from error


def ask_bot(bot: Bot, view: View, rng: Rng) -> int:
    """The action that ``bot`` chooses, checked.

    Raises:
        BotError: it raised, or answered with something else than one of ``view.legal_actions``.
    """
    try:
        answer = bot.act(view, rng)
    except FAILURES as error:
        raise BotError(bot_name(bot), view.seat, f"act raised {problem_of(error)}") from error
    action = answer if type(answer) is int else as_int(answer)
    if action is None or action not in view.legal_actions:
        raise BotError(bot_name(bot), view.seat, _wrong_answer(view, answer, action))
    return action


def _wrong_answer(view: View, answer: object, action: int | None) -> str:
    if not view.legal_actions:
        return "was asked though it is not its turn"
    if action is None:
        return f"act returned {answer!r}; it must return an action id, one of view.legal_actions"
    shown = ", ".join(f"{legal} ({view.action_to_string(legal)})" for legal in view.legal_actions[:6])
    more = ", ..." if len(view.legal_actions) > 6 else ""
    try:
        text = f" ({view.action_to_string(action)})"
    except ValueError:
        text = ""
    return f"act returned {action}{text}, which is not legal; legal are {shown}{more}"

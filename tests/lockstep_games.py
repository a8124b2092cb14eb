"""Which games the lock step plays: rules, deals and styles of play, each drawn from one generator.

Even random play seldom meets some corners (a double as last tile that waits, dead doubles, seats out in an
opening chain), so games are also played in a style that leans towards them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from lockstep import Choose, all_tiles, play_deal, play_match, play_seed
from reference import Referee
from reference_text import Action
from strategies_rules import random_valid_rules

from mt_env.rules import PRESETS, ResolvedRules, largest_hand

Weigh = Callable[[Referee, Action], float]

FAMILIES = (*PRESETS, "options")
"""Where a game's rules come from: a preset, or a random valid mix of all options."""


# ---- Styles ------------------------------------------------------------------------------------------------


def _is_double(action: Action) -> bool:
    return action[0] == "play" and action[1][0] == action[1][1]


def _even(game: Referee, action: Action) -> float:
    return 1.0


def _doubles_last(game: Referee, action: Action) -> float:
    return 0.02 if _is_double(action) else 1.0


def _doubles_first(game: Referee, action: Action) -> float:
    return 0.1 if action[0] == "pass" else 30.0 if _is_double(action) else 1.0


def _never_stops(game: Referee, action: Action) -> float:
    return 0.02 if action[0] == "pass" else 1.0


def _stops(game: Referee, action: Action) -> float:
    return 20.0 if action[0] == "pass" else 1.0


def _own(game: Referee, action: Action) -> float:
    return 20.0 if action[0] == "play" and action[2] == game.turn else 1.0


def _elsewhere(game: Referee, action: Action) -> float:
    return 0.05 if action[0] == "play" and action[2] == game.turn else 1.0


def _uses_up(game: Referee, action: Action) -> float:
    """Plays the lowest values out and keeps their doubles, which then die when laid or soon after."""
    if action[0] != "play":
        return 1.0
    if _is_double(action):
        return 0.02
    return 40.0 if action[1][0] <= 1 else 1.0


def _leaves_open(game: Referee, action: Action) -> float:
    """Doubles first, the tiles that could cover them last, and never on the double."""
    if action[0] == "play" and action[2] in game.owes:
        return 0.02
    return _doubles_first(game, action)


STYLES: tuple[Weigh, ...] = (
    _even,
    _even,
    _doubles_last,
    _doubles_first,
    _never_stops,
    _stops,
    _own,
    _elsewhere,
    _uses_up,
    _leaves_open,
)


def chooser(rng: random.Random, weigh: Weigh) -> Choose:
    """Plays by the weights of a style."""

    def choose(game: Referee, actions: list[Action]) -> int:
        weights = [weigh(game, action) for action in actions]
        return rng.choices(range(len(actions)), weights)[0]

    return choose


# ---- Rules and deals ---------------------------------------------------------------------------------------


class Deal(NamedTuple):
    """A set and a hand that can be dealt."""

    set: int
    hand_size: int


def small_deal(rng: random.Random, num_players: int, engine_from: str) -> Deal:
    """A small set, its hands from two tiles to all there are: quick games that reach every end."""
    fitting = [pips for pips in range(2, 19) if largest_hand(pips, num_players, engine_from) >= 2]
    max_pip = rng.choice(fitting[:5])
    most = largest_hand(max_pip, num_players, engine_from)
    return Deal(max_pip, rng.choice((2, rng.randint(2, most), max(2, most - 1), most)))


def random_rules(rng: random.Random, family: str, num_players: int) -> ResolvedRules:
    """Rules of a family for these seats: by its table, from any set, or a small one."""
    size = rng.random()
    if family == "options":
        rules = random_valid_rules(rng, num_players)
        if size < 0.25:
            return rules.resolve(num_players)
        rules = rules.replace(rounds="all", first_engine=None)
    else:
        rules = PRESETS[family]
        if size < 0.3 and num_players in rules.seats():
            if rules.table == "spruce" and num_players <= 4 and size < 0.15:
                rules = rules.replace(set=6)
            return rules.resolve(num_players)
        if size < 0.4:
            drawn = random_valid_rules(rng, num_players)
            if drawn.set is not None and drawn.engine_from == rules.engine_from:
                rules = rules.replace(set=drawn.set, hand_size=drawn.hand_size, rounds="all")
                return rules.resolve(num_players)
        rules = rules.replace(rounds="all")
    deal = small_deal(rng, num_players, rules.engine_from)
    return rules.replace(set=deal.set, hand_size=deal.hand_size).resolve(num_players)


def random_seats(rng: random.Random) -> int:
    """2 to 14, few seats more often: they make longer rounds in less time."""
    return rng.choice((2, 2, 3, 3, 4, 4, 5, rng.randint(2, 14)))


def short_match(rng: random.Random, rules: ResolvedRules, tiny: bool) -> ResolvedRules:
    """A match of few rounds; ``tiny``: with the smallest set, so that totals are often equal."""
    n, changes = rules.num_players, dict[str, object]()
    if tiny:
        fitting = [pips for pips in range(2, 19) if largest_hand(pips, n, rules.engine_from) >= 2]
        changes = {"set": fitting[0], "hand_size": 2, "first_engine": None}
    shorter = rules.rules.replace(**changes, rounds=1).resolve(n)
    return shorter.rules.replace(rounds=rng.randint(1, min(shorter.first_engine + 1, 4))).resolve(n)


def play_random_game(
    rng: random.Random, family: str | None = None, seats: int | None = None, *, lines: float = 0.02
) -> int:
    """One game on both sides, everything about it drawn from ``rng``; the plies played.

    Args:
        rng: the source of everything.
        family: one of `FAMILIES`, or None to draw it.
        seats: or None to draw them.
        lines: share of the games in which each ply's position line is checked.

    Raises:
        DifferenceError: core and referee disagree.
    """
    family = family or rng.choice((*PRESETS, *("options",) * 4))
    rules = random_rules(rng, family, seats or random_seats(rng))
    choose = chooser(rng, rng.choice(STYLES))
    check_lines = rng.random() < lines
    kind = rng.random()
    if kind < 0.12 and (kind < 0.06 or rules.num_tiles <= 55):
        match = short_match(rng, rules, tiny=kind < 0.06)
        return play_match(match, rng.getrandbits(64), choose, lines=check_lines)
    if kind < 0.6:
        round_index = None if kind < 0.3 else rng.randrange(rules.rounds)
        return play_seed(rules, rng.getrandbits(64), round_index, choose, lines=check_lines).plies
    round_index = rng.randrange(rules.rounds)
    tiles = all_tiles(rules, rules.first_engine - round_index)
    rng.shuffle(tiles)
    return play_deal(rules, round_index, tiles, choose, lines=check_lines).plies


def play_game(seed: int, k: int, family: str | None = None, seats: int | None = None) -> int:
    """Game ``k`` of ``seed``; depends on nothing else. The plies played.

    Raises:
        DifferenceError: core and referee disagree.
    """
    return play_random_game(random.Random(f"{seed}/{k}"), family, seats)


def command(seed: int, k: int, family: str | None = None, seats: int | None = None) -> str:
    """The command line that plays only `play_game` with these arguments."""
    text = f"python tests/fuzz.py --seed {seed} --start {k} --games 1"
    text += f" --preset {family}" if family else ""
    return text + (f" --seats {seats}" if seats else "")

"""Named, frozen settings for evaluations that can be cited: data only, nothing plays here.

A protocol never changes once it is out: another choice of anything gets another name. `Protocol.digest` says
what was frozen, and a test holds it. What the names of rules and opponents mean is frozen too: a rule bot's
name fixes how it plays, and a test holds the games that the tables' first deals give.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from mt_env.bots import KINDS
from mt_env.rng import mix
from mt_env.rules_options import near

SLOW: Final = "slow"
"""Name of the subset for slow bots: the first `ProtocolTable.slow_deals` deals of every table."""

RESAMPLES: Final = 10_000
"""Bootstrap resamples behind the intervals of a protocol."""

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")


def canonical(value: object) -> str:
    """``value`` as JSON in its one compact form, keys sorted: what digests are made from."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256(value: object) -> str:
    """SHA-256 of the `canonical` form, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


@dataclass(frozen=True)
class ProtocolTable:
    """One table of a protocol: the evaluated bot against fixed opponents on fixed deals.

    Raises:
        ValueError: a bad name, fewer than 2 deals, which would give no interval, or an opponent that is no
            rule bot: it could change, or fail, which would count as failures of the evaluated bot.
    """

    name: str
    """Lower case letters, digits, ``.`` and ``-``; not ``slow``."""
    rules: str
    """Rules as text, see `mt_env.rules.load_rules`."""
    episode: Literal["round", "match"]
    opponents: tuple[str, ...]
    """Names of rule bots; together with the evaluated bot, which is bot 0, one for each seat."""
    deals: int
    slow_deals: int
    """Deals in the subset ``slow``; the first of the same deals."""
    seed: int
    """Deal i is the episode with seed ``mix(seed, i)``."""
    engine: int | Literal["random"] = "random"
    seatings: Literal["rotations", "balanced", "all"] = "balanced"

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name == SLOW:
            raise ValueError(
                f"name={self.name!r}: must be a-z, 0-9, . and -, as in 'planner-4', but not 'slow'"
            )
        if not 2 <= self.slow_deals <= self.deals:
            raise ValueError(
                f"table {self.name}: slow_deals={self.slow_deals}, deals={self.deals}: must be 2 or more, "
                "and not more in the subset than in all"
            )
        for bot in self.opponents:
            if bot not in KINDS:
                raise ValueError(
                    f"table {self.name}: opponents: {bot!r}: must be rule bots{near(str(bot), KINDS)} "
                    f"({', '.join(KINDS)}): only their names say how they play, and they never fail"
                )

    @property
    def seats(self) -> int:
        """Seats at the table."""
        return 1 + len(self.opponents)

    def to_dict(self) -> dict[str, object]:
        """All settings as plain values."""
        return {
            "name": self.name,
            "rules": self.rules,
            "seats": self.seats,
            "episode": self.episode,
            "engine": self.engine,
            "opponents": list(self.opponents),
            "seed": self.seed,
            "deals": self.deals,
            "slow_deals": self.slow_deals,
            "seatings": self.seatings,
        }


@dataclass(frozen=True)
class Protocol:
    """A named list of tables. Its score is the mean over the tables of win share times seats.

    Raises:
        ValueError: a bad name, no table, or two of one name.
    """

    name: str
    """Lower case letters, digits, ``.`` and ``-``."""
    tables: tuple[ProtocolTable, ...]
    resamples: int = RESAMPLES
    """Bootstrap resamples behind the intervals."""

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name={self.name!r}: must be a-z, 0-9, . and -, as in 'mt-eval-v1'")
        if not names or len({*names}) < len(names):
            raise ValueError(f"tables {', '.join(names)}: must be one or more, each with a name of its own")

    def to_dict(self) -> dict[str, object]:
        """All that is frozen, as plain values."""
        return {
            "name": self.name,
            "score": "mean over tables of win share times seats",
            "resamples": self.resamples,
            "tables": [table.to_dict() for table in self.tables],
        }

    @property
    def digest(self) -> str:
        """SHA-256 over all of it, 64 hexadecimal digits."""
        return sha256(self.to_dict())

    @property
    def subsets(self) -> tuple[str, ...]:
        """Names of the parts that can be played alone: ``slow``, and each table."""
        return SLOW, *(table.name for table in self.tables)

    def label(self, subset: str | None) -> str:
        """What a result of the subset is called: ``mt-eval-v1``, ``mt-eval-v1/slow``."""
        return self.name if subset is None else f"{self.name}/{subset}"

    def tables_of(self, subset: str | None) -> tuple[ProtocolTable, ...]:
        """The tables of a subset, each with as many deals as are played there.

        Args:
            subset: None for all of the protocol, ``"slow"`` for the first deals of every table, or the name
                of a table for that one alone.

        Raises:
            ValueError: there is no such subset.
        """
        if subset is None:
            return self.tables
        if subset == SLOW:
            return tuple(replace(table, deals=table.slow_deals) for table in self.tables)
        found = tuple(table for table in self.tables if table.name == subset)
        if not found:
            raise ValueError(
                f"subset={subset!r}: {self.name} has {', '.join(self.subsets)}{near(subset, self.subsets)}"
            )
        return found


def table_seed(protocol: str, number: int) -> int:
    """The rule by which seeds are chosen, so that nobody can have picked them.

    ``mix(s, number)``; s is the first 8 bytes of the SHA-256 of the protocol's name, as a big-endian number.
    """
    return mix(int.from_bytes(hashlib.sha256(protocol.encode()).digest()[:8], "big"), number)


def _v1() -> Protocol:
    name = "mt-eval-v1"
    rows: Sequence[tuple[str, str, Literal["round", "match"], tuple[str, ...], int, int]] = (
        ("planner-4", "spruce", "round", ("planner",) * 3, 2500, 100),
        ("tactician-4", "spruce", "round", ("tactician",) * 3, 2500, 100),
        ("mixed-4", "spruce", "round", ("tactician", "heaviest", "random"), 2500, 100),
        ("cover-4", "cover", "round", ("planner",) * 3, 2500, 100),
        ("planner-2", "spruce", "round", ("planner",), 4000, 100),
        ("planner-6", "spruce", "round", ("planner",) * 5, 2500, 100),
        ("match-4", "spruce", "match", ("planner",) * 3, 500, 20),
    )
    return Protocol(name, tuple(ProtocolTable(*row, seed=table_seed(name, i)) for i, row in enumerate(rows)))


PROTOCOLS: Final[dict[str, Protocol]] = {protocol.name: protocol for protocol in (_v1(),)}
"""The protocols that this package knows, by name."""

DEFAULT: Final = "mt-eval-v1"
"""The protocol that is meant where none is named."""


def find_protocol(source: str | Protocol) -> Protocol:
    """A protocol by its name; one that is given itself is taken, unless it bears the name of another.

    Raises:
        ValueError: there is none of that name, or the name is taken.
    """
    if isinstance(source, Protocol):
        known = PROTOCOLS.get(source.name)
        if known is not None and known.digest != source.digest:
            raise ValueError(f"protocol {source.name!r}: is frozen and another one; take another name")
        return source
    if source not in PROTOCOLS:
        raise ValueError(
            f"protocol={source!r}: there is none{near(str(source), PROTOCOLS)}; known: {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[source]


HEADER: Final = (
    *("table", "rules", "seats", "episode", "engine", "opponents"),
    *("deals", "slow", "seatings", "seed"),
)


def opponents_text(opponents: Sequence[str]) -> str:
    """``3 planner``, ``tactician, heaviest``: copies together."""
    counts = {name: list(opponents).count(name) for name in opponents}
    return ", ".join(name if count == 1 else f"{count} {name}" for name, count in counts.items())


def settings_rows(protocol: Protocol) -> list[tuple[str, ...]]:
    """The exact settings as rows of text under `HEADER`."""
    rows: list[tuple[Any, ...]] = [
        (
            *(table.name, table.rules, table.seats, table.episode, table.engine),
            *(opponents_text(table.opponents), table.deals, table.slow_deals, table.seatings),
            table.seed,
        )
        for table in protocol.tables
    ]
    return [tuple(map(str, row)) for row in rows]


def settings_markdown(protocol: Protocol) -> str:
    """The exact settings as a Markdown table, and the digest; docs/arena.md holds it."""
    lines = [HEADER, ("---",) * len(HEADER), *settings_rows(protocol)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n`{protocol.name}` sha256 `{protocol.digest}`"

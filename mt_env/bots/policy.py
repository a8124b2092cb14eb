"""Learned policies as bots, played with NumPy alone: ``policy:NAME`` and ``policy:PATH``.

A model is a folder with ``model.safetensors`` (the layers of one small network), ``meta.json`` (what it is
and where it comes from) and ``card.md`` (the same for people). Two kinds are known: ``candidates`` scores
each row of `mt_env.candidates`, and plays at tables of any size and under any rules; ``flat`` maps the
vector of `mt_env.observation` to all action ids, and plays only where it learned.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as tensors_to_bytes

from mt_env import __version__
from mt_env.candidates import FEATURES, NUM_FEATURES, candidate_rows
from mt_env.core.policies import new_scratch
from mt_env.core.state import MAX_LEGAL
from mt_env.data import model_folder, model_names
from mt_env.game import Game
from mt_env.observation import Encoding, encode
from mt_env.rules_options import near
from mt_env.rules_yaml import write_text

if TYPE_CHECKING:
    from mt_env.rng import Rng
    from mt_env.rules import ResolvedRules
    from mt_env.view import View

FORMAT: Final = 1
"""Version of the files; another one is refused."""

ENVIRONMENT: Final = "MexicanTrain-v0"
"""Environment that the inputs belong to; a model of another version is refused."""

WEIGHTS: Final = "model.safetensors"
META: Final = "meta.json"
CARD: Final = "card.md"

KINDS: Final = ("candidates", "flat")
ACTIVATIONS: Final = ("relu", "tanh")

Layers = Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]]
"""Weight ``[out, in]`` and bias ``[out]`` of each linear layer, in order."""

_SHIPPED: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


# --- files ------------------------------------------------------------------------------------------------


def inputs_of(kind: str, game: Game) -> list[str] | dict[str, list[int]]:
    """What the first layer reads: the features of a row, or the fields of a vector with their shapes."""
    if kind == "candidates":
        return list(FEATURES)
    return {name: list(shape) for name, shape in _encoding(game).shapes.items()}


def _encoding(game: Game) -> Encoding:
    return Encoding(game.rules, game.episode == "match")


def save_model(
    folder: str | os.PathLike[str],
    kind: str,
    layers: Layers,
    activation: str,
    game: Game,
    learned: Mapping[str, object],
    strength: Sequence[Mapping[str, object]] = (),
) -> Path:
    """Write a model that `PolicyBot` plays.

    Args:
        folder: where; made if need be. Files of an earlier model in it are replaced.
        kind: one of `KINDS`.
        layers: the network; the activation stands between layers, not behind the last.
        activation: one of `ACTIVATIONS`.
        game: the table it learned at.
        learned: how it was learned (algorithm, seed, steps, ...), plain values.
        strength: what was measured, each entry with its command, seed, games and interval.

    Returns:
        The folder.

    Raises:
        ValueError: the network does not fit ``kind`` and ``game``.
    """
    target = Path(folder)
    tensors = {}
    for i, (weight, bias) in enumerate(layers):
        tensors[f"layers.{i}.weight"] = np.ascontiguousarray(weight, np.float32)
        tensors[f"layers.{i}.bias"] = np.ascontiguousarray(bias, np.float32)
    data = tensors_to_bytes(tensors)
    meta: dict[str, Any] = {
        "format": FORMAT,
        "kind": kind,
        "activation": activation,
        "layer_sizes": [layers[0][0].shape[1], *(weight.shape[0] for weight, _ in layers)],
        "inputs": inputs_of(kind, game),
        "environment": {
            "id": ENVIRONMENT,
            "mt_env": __version__,
            "rules": game.rules.rules.to_text(),
            "num_players": game.num_players,
            "episode": game.episode,
            "num_actions": game.num_actions,
        },
        "learned": dict(learned),
        "strength": [dict(entry) for entry in strength],
        "weights_sha256": hashlib.sha256(data).hexdigest(),
    }
    Model.checked(meta, data, str(target))
    target.mkdir(parents=True, exist_ok=True)
    beside = target / f".{WEIGHTS}.{os.getpid()}.tmp"
    beside.write_bytes(data)
    os.replace(beside, target / WEIGHTS)
    _write_meta(target, meta)
    return target


def record_strength(folder: str | os.PathLike[str], strength: Sequence[Mapping[str, object]]) -> None:
    """Replace what a model's ``meta.json`` and card say about its measured strength."""
    target = Path(folder)
    meta = json.loads((target / META).read_text(encoding="utf-8"))
    meta["strength"] = [dict(entry) for entry in strength]
    _write_meta(target, meta)


def _write_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    write_text(folder / META, json.dumps(meta, indent=2) + "\n")
    write_text(folder / CARD, _card(meta))


def _card(meta: Mapping[str, Any]) -> str:
    at, sizes = meta["environment"], " - ".join(map(str, meta["layer_sizes"]))
    reads = "one row for each legal action" if meta["kind"] == "candidates" else "the flat observation"
    lines = [
        f"# A policy for {at['id']}",
        "",
        f"Kind `{meta['kind']}`: a network {sizes} ({meta['activation']}) that reads {reads}.",
        f"Learned with {at['num_players']} seats under `{at['rules']}`, episode {at['episode']}, mt_env "
        f"{at['mt_env']}.",
        "",
        *(f"- {name}: {value}" for name, value in meta["learned"].items()),
        "",
        "## Strength",
        "",
    ]
    lines += [f"- {', '.join(f'{k} {v}' for k, v in entry.items())}" for entry in meta["strength"]]
    if not meta["strength"]:
        lines.append("Not measured.")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Model:
    """A network that has been read and checked.

    Attributes:
        kind: one of `KINDS`.
        layers: transposed weights ``[in, out]`` and biases ``[out]``, float32.
        activation: one of `ACTIVATIONS`.
        game: the table it learned at.
        meta: all of ``meta.json``.
    """

    kind: str
    layers: tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]
    activation: str
    game: Game
    meta: Mapping[str, Any]

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Model:
        """Read the model in ``folder``, or in its subfolder ``model``.

        Raises:
            ValueError: there is none, it is damaged, or this version of the package cannot play it.
        """
        place = Path(folder)
        if not (place / META).is_file() and (place / "model" / META).is_file():
            place = place / "model"
        try:
            meta = json.loads((place / META).read_text(encoding="utf-8"))
            data = (place / WEIGHTS).read_bytes()
        except OSError as error:
            raise ValueError(
                f"no model in {place}: {error.strerror or error}: {Path(error.filename or META).name}"
            ) from None
        except ValueError as error:
            raise ValueError(f"model {place}: {META} cannot be read ({error})") from None
        if not isinstance(meta, dict) or meta.get("weights_sha256") != hashlib.sha256(data).hexdigest():
            raise ValueError(f"model {place}: {WEIGHTS} is not the file that {META} belongs to")
        return cls.checked(meta, data, str(place))

    @classmethod
    def checked(cls, meta: Mapping[str, Any], data: bytes, where: str) -> Model:
        """A model from its two files' contents; ``where`` is for messages.

        Raises:
            ValueError: as `load`.
        """
        try:
            return cls._checked(meta, data)
        except (KeyError, TypeError, SafetensorError) as error:
            raise ValueError(f"model {where}: {type(error).__name__}: {error}") from error
        except ValueError as error:
            raise ValueError(f"model {where}: {error}") from None

    @classmethod
    def _checked(cls, meta: Mapping[str, Any], data: bytes) -> Model:
        at = meta["environment"]
        _expect("format", meta["format"], FORMAT)
        _expect("environment id", at["id"], ENVIRONMENT)
        kind, activation = meta["kind"], meta["activation"]
        for name, value, known in (("kind", kind, KINDS), ("activation", activation, ACTIVATIONS)):
            if value not in known:
                raise ValueError(f"{name} {value!r}: known are {', '.join(known)}")
        game = Game(at["rules"], at["num_players"], episode=at["episode"])
        _expect("num_actions", at["num_actions"], game.num_actions)
        inputs = inputs_of(kind, game)
        if meta["inputs"] != inputs:
            odd = sorted(set(meta["inputs"]) ^ set(inputs)) or "order or shapes"
            raise ValueError(f"its inputs are not those of this version (differing: {odd})")
        sizes = meta["layer_sizes"]
        ends = (NUM_FEATURES, 1) if kind == "candidates" else (_encoding(game).size, game.num_actions)
        _expect("first and last layer size", (sizes[0], sizes[-1]), ends)
        tensors = load_tensors(data)
        wanted: dict[str, tuple[int, ...]] = {}
        for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            wanted |= {f"layers.{i}.weight": (fan_out, fan_in), f"layers.{i}.bias": (fan_out,)}
        _expect("tensors", {name: tensor.shape for name, tensor in tensors.items()}, wanted)
        for name, tensor in tensors.items():
            if tensor.dtype != np.float32 or not np.isfinite(tensor).all():
                raise ValueError(f"{name} must be finite float32")
        layers = tuple(
            (np.ascontiguousarray(tensors[f"layers.{i}.weight"].T), tensors[f"layers.{i}.bias"])
            for i in range(len(sizes) - 1)
        )
        return cls(kind, layers, activation, game, meta)

    def forward(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Output of the network, ``[..., last size]``, for inputs ``[..., first size]``."""
        out = rows
        for i, (weight, bias) in enumerate(self.layers):
            if i and self.activation == "relu":
                np.maximum(out, 0, out=out)
            elif i:
                np.tanh(out, out=out)
            out = out @ weight
            out += bias
        return out


def _expect(name: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise ValueError(f"{name} is {found}, but this version of mt_env ({__version__}) needs {wanted}")


def find_model(name: str) -> Path:
    """The folder that ``name`` means: a shipped model's if there is one of that name, else a path.

    Raises:
        ValueError: neither.
    """
    shipped = model_folder(name) if _SHIPPED.fullmatch(name) else None
    if shipped is not None:
        return shipped
    if name and Path(name).is_dir():
        return Path(name)
    names = model_names()
    hint = near(name, names)
    known = f"; shipped are {', '.join(names)}" if names else "; no models are shipped"
    raise ValueError(f"policy {name!r}: neither a shipped model nor a folder{hint}{known}")


# --- playing ----------------------------------------------------------------------------------------------


class PolicyBot:
    """A learned policy.

    Args:
        source: a shipped model's name, the folder of a model, or that of a learning run; ``"?sample=1"``
            behind it draws actions by their probabilities instead of taking the likeliest.

    Attributes:
        name: ``policy:`` and ``source``.
        model: the network.
        sample: whether actions are drawn.

    Raises:
        ValueError: there is no such model, or it cannot be played by this version.
    """

    def __init__(self, source: str) -> None:
        path, mark, option = source.partition("?")
        if mark and option not in ("sample=0", "sample=1"):
            raise ValueError(f"policy {source!r}: the only option is '?sample=1'")
        self.name: Final = f"policy:{source}"
        self.sample: Final = option == "sample=1"
        self.model: Final = Model.load(find_model(path))
        self._source = source
        self._rules: ResolvedRules | None = None
        self._scratch = new_scratch()
        self._legal = np.zeros(MAX_LEGAL, np.int64)
        if self.model.kind == "candidates":
            self._rows = np.zeros((MAX_LEGAL, NUM_FEATURES), np.float32)
        else:
            self._rows = np.zeros((1, _encoding(self.model.game).size), np.float32)

    def logits(self, view: View) -> NDArray[np.float32]:
        """A score for each of ``view.legal_actions``, float32 ``[len(view.legal_actions)]``.

        Raises:
            ValueError: it is not this seat's turn, or the network cannot play at this table.
        """
        legal = view.legal_actions
        if not legal:
            raise ValueError(f"it is not the turn of seat {view.seat}")
        if self.model.kind == "flat":
            self._check_table(view)
            encode(view.record[0], view.rules_record[0], view.seat, self._rows[0])
            scores: NDArray[np.float32] = self.model.forward(self._rows[0])[legal]
            return scores
        count = len(legal)
        self._legal[:count] = legal
        candidate_rows(view.record[0], view.rules_record[0], self._legal, count, self._rows, self._scratch)
        return self.model.forward(self._rows[:count])[:, 0]

    def act(self, view: View, rng: Rng) -> int:
        """The likeliest action, the lowest id among equals; or one drawn, see the class."""
        logits = self.logits(view)
        if not self.sample:
            return view.legal_actions[int(logits.argmax())]
        weights = np.exp(logits.astype(np.float64) - float(logits.max()))
        below = weights.cumsum()
        at = int(np.searchsorted(below, rng.random() * below[-1], side="right"))
        return view.legal_actions[min(at, len(below) - 1)]

    def _check_table(self, view: View) -> None:
        if view.rules is self._rules:
            return
        game = self.model.game
        match = bool(view.rules_record["match"][0])
        if view.rules != game.rules or match != (game.episode == "match"):
            here = f"{view.num_players} seats, {view.rules.rules.to_text()}, {'match' if match else 'round'}"
            raise ValueError(
                f"a flat network plays only where it learned ({game.num_players} seats, "
                f"{game.rules.rules.to_text()}, {game.episode}), not here ({here})"
            )
        self._rules = view.rules

    def __reduce__(self) -> tuple[Any, ...]:
        return PolicyBot, (self._source,)

    def __repr__(self) -> str:
        return f"PolicyBot({self._source!r})"

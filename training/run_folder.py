"""What every learning script needs around its algorithm: a config, and a folder that tells what was run.

A config is a frozen dataclass of frozen dataclasses (sections). It comes from a YAML file with the same
sections, and from the command line, where every field is an option without its section's name.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

import yaml

from mt_env.rules_options import near
from mt_env.rules_yaml import write_text

C = TypeVar("C")

CONFIG, PROVENANCE, METRICS = "config.yaml", "provenance.json", "metrics.jsonl"
"""Files of a run folder: the resolved config, where the run comes from, one line of metrics a step."""

PACKAGES = (
    "mt-env",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
    "gymnasium",
    "numpy",
    "numba",
    "safetensors",
)
"""Whose versions are written down."""


# --- config -----------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """`yaml.SafeLoader`, but a key given twice is an error: silently the last one would win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise ValueError(f"line {key.start_mark.line + 1}: {key.value} is given twice; give it once")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def config_from_mapping(kind: type[C], values: Mapping[str, Any], where: str) -> C:
    """A config, or a section of one, from plain values; what is not given keeps its default.

    Raises:
        ValueError: an unknown key (the message names the near one), or a value of another type.
    """
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise ValueError(
                f"{where}: unknown key {name!r}{near(str(name), known)}; known are {', '.join(sorted(known))}"
            )
        at, hint = f"{where}: {name}", hints[name]
        if is_dataclass(hint):
            if not isinstance(value, Mapping):
                raise ValueError(f"{at}: must hold 'name: value' lines, but is {value!r}")
            given[name] = config_from_mapping(hint, value, at)  # type: ignore[arg-type]
        else:
            given[name] = _value(value, hint, at)
    return kind(**given)


def _value(value: Any, hint: Any, at: str) -> Any:
    """``value`` as the type ``hint`` says: bool, int, float, str, ``tuple[X, ...]``, Literal or a union."""
    arguments = get_args(hint)
    if getattr(hint, "__origin__", None) is tuple:
        items = [value] if isinstance(value, (str, int, float)) else value
        if not isinstance(items, (list, tuple)):
            raise ValueError(f"{at}={value!r}: must be a list")
        return tuple(_value(item, arguments[0], at) for item in items)
    options = arguments if arguments else (hint,)
    for option in options:
        if get_args(option):  # a Literal inside a union
            if value in get_args(option):
                return value
        elif option is float and type(value) in (int, float, str):
            try:
                return float(value)  # YAML reads 1e-3 as text
            except ValueError:
                continue
        elif (isinstance(option, type) and type(value) is option) or (
            not isinstance(option, type) and type(value) is type(option) and value == option
        ):
            return value
    shown = ", ".join(getattr(option, "__name__", repr(option)) for option in options)
    hint_text = near(value, [o for o in options if isinstance(o, str)]) if isinstance(value, str) else ""
    raise ValueError(f"{at}={value!r}: must be {'one of ' if len(options) > 1 else ''}{shown}{hint_text}")


def read_config(kind: type[C], path: str | os.PathLike[str]) -> C:
    """A config from a YAML file.

    Raises:
        ValueError: the file cannot be read as one; the message begins with its name.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    try:
        values = yaml.load(text, Loader=_Loader)  # _Loader is a SafeLoader; yaml.safe_load takes no loader
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: not readable as YAML: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path}: must hold the sections of a config, as in 'env: ...'")
    return config_from_mapping(kind, values, str(path))


def plain(config: Any) -> dict[str, Any]:
    """A config as dicts and lists."""
    return json.loads(json.dumps(asdict(config)))


def changes(old: Any, new: Any, allowed: Iterable[str]) -> list[str]:
    """Fields that differ between two configs, ``name: old -> new``, without the ``allowed`` ones."""
    free, found = set(allowed), []
    for section in fields(old):
        before, after = getattr(old, section.name), getattr(new, section.name)
        for field in fields(before):
            a, b = getattr(before, field.name), getattr(after, field.name)
            if a != b and field.name not in free:
                found.append(f"{field.name}: {a} -> {b}")
    return found


# --- run folders ------------------------------------------------------------------------------------------


def open_run(out: Path, overwrite: bool) -> None:
    """Make the folder of a new run.

    Raises:
        ValueError: there is something in it; a run of ours is replaced if ``overwrite``.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        if not overwrite:
            raise ValueError(f"{out}: is not empty; choose another --out, --resume {out}, or --overwrite")
        if not (out / CONFIG).is_file():
            raise ValueError(f"{out}: holds something else than a run; it is not overwritten")
        shutil.rmtree(out)
    out.mkdir(parents=True, exist_ok=True)


def write_config(out: Path, config: Any) -> None:
    """Write the resolved config, so that ``--config`` can read it again."""
    write_text(out / CONFIG, yaml.safe_dump(plain(config), sort_keys=False))


def versions() -> dict[str, str]:
    """Versions of Python and of `PACKAGES`, as far as they are installed."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str | None:
    """The commit of the checkout that this file lies in, ``+changes`` if files differ; None outside git."""
    here = Path(__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(["git", *arguments], cwd=here, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        return done.stdout.strip()

    head = git("rev-parse", "HEAD")
    return head and head + ("+changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def command(argv: Sequence[str]) -> str:
    """The command line of this process, to be repeated in the root of the checkout."""
    script = Path(sys.argv[0])
    return shlex.join(["python", f"{script.parent.name}/{script.name}", *argv])


def write_provenance(out: Path, argv: Sequence[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write (a resumed run: add to) the list of what was started in this run folder; returns the entry."""
    entry = {
        "command": command(argv),
        "commit": commit(),
        "versions": versions(),
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
        **facts,
    }
    file = out / PROVENANCE
    before = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    write_text(file, json.dumps([*before, entry], indent=2) + "\n")
    return entry


def write_folder(target: Path, fill: Callable[[Path], None]) -> None:
    """Let ``fill`` write a folder under a temporary name beside ``target``, then rename it."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    try:
        fill(beside)
        if target.exists():
            shutil.rmtree(target)
        os.replace(beside, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def cut_metrics(out: Path, step: int) -> None:
    """Drop lines of `METRICS` beyond ``step``, which a resumed run writes again, and half a last line."""
    file = out / METRICS
    if file.is_file():
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        write_text(file, "".join(line for line in whole if json.loads(line)["step"] <= step))

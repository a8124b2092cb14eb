"""Who may import whom, read from the sources; docs/architecture.md says why."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

LAYERS: tuple[tuple[str, ...], ...] = (
    ("tiles", "rules", "actions", "data"),
    ("core",),
    (
        *("game", "state", "rng", "events", "explain", "infostate", "invariants", "serial", "data"),
        *("notation", "view", "observation", "candidates", "rewards"),
    ),
    ("bots",),
    ("search",),
    ("env", "registration", "solo", "vector", "arena", "render"),
    ("integrations", "cli", "__main__", "__init__"),
)
"""Modules and subpackages of mt_env, lowest first. Each may import its own layer and those below.

A module that grew too long may go on in another file that begins with its name: ``rules_text`` counts as
``rules``. The package itself ("__init__") is at the top since it imports everything.
"""

OUTSIDE = ("training", "examples", "benchmarks", "tests")
"""Folders above mt_env."""

REFEREE_MAY = {"tiles", "rules"}
"""What the referee may know of mt_env: data, nothing that plays."""

SHARED_TRAINING = {"nets", "run_folder", "sb3_tools"}
"""The files of training/ that its scripts may share."""


# --- reading imports --------------------------------------------------------------------------------------


def package_of(path: Path, root: Path) -> list[str]:
    """Dotted parts of the package that relative imports in ``path`` start from."""
    return list(path.relative_to(root).parent.parts)


def module_exists(dotted: str, root: Path) -> bool:
    base = root.joinpath(*dotted.split("."))
    return base.with_suffix(".py").is_file() or base.is_dir()


def imported(path: Path, root: Path) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of every import in a file.

    ``from a import b`` gives ``a.b`` (b may be a module or a name); inside functions, under TYPE_CHECKING
    and by ``import_module("a")`` count too.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            parts = node.module.split(".") if node.module else []
            if node.level:
                package = package_of(path, root)
                parts = package[: len(package) - node.level + 1] + parts
            for alias in node.names:
                yield node.lineno, ".".join([*parts, alias.name])
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            name = node.args[0].value
            if called in ("import_module", "__import__") and isinstance(name, str):
                package = package_of(path, root)
                dots = len(name) - len(name.lstrip("."))
                above = package[: len(package) - dots + 1] if dots else []
                yield node.lineno, ".".join([*above, name.lstrip(".")])


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def member_of(name: str) -> str | None:
    """The entry of LAYERS that a module of mt_env belongs to, longest match first."""
    known = sorted((member for layer in LAYERS for member in layer), key=len, reverse=True)
    return next((member for member in known if name == member or name.startswith(member + "_")), None)


def height(name: str) -> int | None:
    """Layer number of a module of mt_env, None if it has none."""
    member = member_of(name)
    return next((i for i, layer in enumerate(LAYERS) if member in layer), None)


def part_of_mt_env(dotted: str, root: Path) -> str | None:
    """Which module or subpackage of mt_env an import reaches; "__init__" for a name of the package itself."""
    parts = dotted.split(".")
    if parts[0] != "mt_env":
        return None
    # __version__ is set before the package imports anything, so it may be read from everywhere.
    if parts[1:] == ["__version__"]:
        return None
    if len(parts) > 1 and module_exists(".".join(parts[:2]), root):
        return parts[1]
    return "__init__"


# --- the rules --------------------------------------------------------------------------------------------


def wrong_layers(root: Path) -> list[str]:
    """Imports of mt_env that go up, modules that have no place, and imports of what lies above mt_env."""
    wrong = []
    for path in sources(root / "mt_env"):
        where = path.relative_to(root)
        own = path.stem if len(where.parts) == 2 else where.parts[1]
        mine = height(own)
        if mine is None:
            wrong.append(f"{where}: {own} is in no layer; give it a place in LAYERS")
            continue
        for line, dotted in imported(path, root):
            if dotted.split(".")[0] in OUTSIDE:
                wrong.append(f"{where}:{line}: mt_env imports {dotted}")
            other = part_of_mt_env(dotted, root)
            theirs = None if other is None else height(other)
            if theirs is not None and theirs > mine:
                wrong.append(f"{where}:{line}: {own} (layer {mine}) imports {dotted} (layer {theirs})")
    return wrong


def wrong_referee(root: Path) -> list[str]:
    """Imports of tests/reference*.py beyond the standard library, each other and REFEREE_MAY."""
    wrong = []
    for path in sorted((root / "tests").glob("reference*.py")):
        for line, dotted in imported(path, root):
            top = dotted.split(".")[0]
            other = part_of_mt_env(dotted, root)
            allowed = (
                top in sys.stdlib_module_names
                or top.startswith("reference")
                or (other is not None and member_of(other) in REFEREE_MAY)
            )
            if not allowed:
                wrong.append(f"{path.relative_to(root)}:{line}: the referee imports {dotted}")
    return wrong


def wrong_training(root: Path) -> list[str]:
    """Scripts of training/ that import each other, or names of mt_env that are not public."""
    wrong = []
    scripts = {path.stem for path in sources(root / "training")}
    for path in sources(root / "training"):
        for line, dotted in imported(path, root):
            parts = dotted.split(".")
            where = f"{path.relative_to(root)}:{line}"
            script = parts[1] if parts[0] == "training" and len(parts) > 1 else parts[0]
            if script in scripts - SHARED_TRAINING and script not in sys.stdlib_module_names:
                wrong.append(f"{where}: a training script imports another, {dotted}")
            if parts[0] == "mt_env" and any(part.startswith("_") and part != "__version__" for part in parts):
                wrong.append(f"{where}: {dotted} is not a public name")
    return wrong


def wrong_test_imports(root: Path) -> list[str]:
    """Helpers imported as ``tests.x`` beside ``x`` would exist twice, with two sets of counters."""
    return [
        f"{path.relative_to(root)}:{line}: import {dotted.removeprefix('tests.')} without tests."
        for path in sources(root / "tests")
        for line, dotted in imported(path, root)
        if dotted.split(".")[0] == "tests"
    ]


@pytest.mark.parametrize("check", [wrong_layers, wrong_referee, wrong_training, wrong_test_imports])
def test_imports_keep_to_the_order(check) -> None:
    wrong = check(ROOT)
    assert not wrong, "\n" + "\n".join(wrong)


# --- the checks can fail ----------------------------------------------------------------------------------


def write_tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return root


GOOD_TREE = {
    "mt_env/__init__.py": "__version__ = '1'\nfrom mt_env.game import Game\n",
    "mt_env/tiles.py": "import math\n",
    "mt_env/rules.py": "from mt_env import tiles, __version__\n",
    "mt_env/rules_text.py": "from . import rules\n",
    "mt_env/core/__init__.py": "",
    "mt_env/core/play.py": "from ..rules import Rules\nfrom . import state\n",
    "mt_env/core/state.py": "import numpy as np\n",
    "mt_env/game.py": "from mt_env.core.play import apply\n",
    "mt_env/bots/__init__.py": "from mt_env.game import Game\n",
    "mt_env/search/flat.py": "from mt_env.bots import make\n",
    "mt_env/integrations/sb3.py": "import torch\nfrom mt_env import Game\n",
    "tests/reference.py": "import math\nfrom reference_text import f\nfrom mt_env.rules import Rules\n",
    "tests/reference_text.py": "from mt_env.tiles import tile_id\n",
    "training/nets.py": "import torch\n",
    "training/ppo.py": "import nets\nfrom nets import Scorer\nfrom mt_env.vector import x\n",
    "training/demo.py": "from training.nets import Scorer\n",
}


def test_a_good_tree_passes(tmp_path: Path) -> None:
    root = write_tree(tmp_path, GOOD_TREE)
    for check in (wrong_layers, wrong_referee, wrong_training, wrong_test_imports):
        assert check(root) == []


@pytest.mark.parametrize(
    ("check", "name", "text", "says"),
    [
        (wrong_layers, "mt_env/tiles.py", "import mt_env.core.state\n", "tiles (layer 0) imports"),
        (wrong_layers, "mt_env/core/play.py", "from mt_env import game\n", "core (layer 1) imports"),
        (wrong_layers, "mt_env/core/play.py", "from .. import game\n", "core (layer 1) imports"),
        (wrong_layers, "mt_env/core/play.py", "from ..game import x\n", "core (layer 1) imports"),
        (wrong_layers, "mt_env/core/play.py", "from mt_env import Game\n", "imports mt_env.Game (layer 6)"),
        (wrong_layers, "mt_env/rules_text.py", "from mt_env.core import state\n", "rules_text (layer 0)"),
        (wrong_layers, "mt_env/bots/x.py", "def f():\n    from mt_env.search import flat\n", "bots/x.py:2"),
        (wrong_layers, "mt_env/bots/x.py", "import_module('mt_env.search.flat')\n", "imports mt_env.search"),
        (wrong_layers, "mt_env/bots/x.py", "import_module('..search', __package__)\n", "imports mt_env."),
        (wrong_layers, "mt_env/game.py", "if TYPE_CHECKING:\n    import mt_env.env\n", "game.py:2: game"),
        (wrong_layers, "mt_env/bots/x.py", "from training import nets\n", "mt_env imports training.nets"),
        (wrong_layers, "mt_env/helpers.py", "", "helpers is in no layer"),
        (wrong_referee, "tests/reference.py", "from mt_env.core import state\n", "imports mt_env.core"),
        (wrong_referee, "tests/reference.py", "from mt_env import parse_position\n", "imports mt_env."),
        (wrong_referee, "tests/reference_text.py", "import numpy as np\n", "referee imports numpy"),
        (wrong_referee, "tests/reference_text.py", "import mt_env.actions\n", "imports mt_env.actions"),
        (wrong_training, "training/ppo.py", "import demo\n", "imports another"),
        (wrong_training, "training/ppo.py", "from training.demo import main\n", "imports another"),
        (wrong_training, "training/ppo.py", "from . import demo\n", "imports another"),
        (wrong_training, "training/ppo.py", "from mt_env.vector import _make\n", "is not a public name"),
        (wrong_test_imports, "tests/test_x.py", "from tests.reference import f\n", "without tests."),
    ],
)  # fmt: skip
def test_a_bad_import_is_found(tmp_path: Path, check, name: str, text: str, says: str) -> None:
    wrong = check(write_tree(tmp_path, GOOD_TREE | {name: text}))
    assert len(wrong) == 1 and name in wrong[0] and says in wrong[0], wrong


# --- import mt_env stays light ----------------------------------------------------------------------------

HEAVY = ("torch", "stable_baselines3", "sb3_contrib", "openskill")


def loaded_by(statement: str, names: Iterable[str], folder: Path) -> list[str]:
    """Which of ``names`` a fresh interpreter, started in ``folder``, has loaded after ``statement``."""
    code = f"import sys; sys.path.insert(0, '.'); {statement}; print(*sys.modules.keys() & {set(names)!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_mt_env_loads_no_optional_library() -> None:
    assert loaded_by("import mt_env", HEAVY, ROOT) == []


def test_a_loaded_learning_library_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {"torch.py": "", "heavy.py": "def f():\n    import torch\nf()\n"})
    assert loaded_by("import heavy", HEAVY, tmp_path) == ["torch"]

"""The wheel, installed where nothing can be written, used from a folder that is not the checkout."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest
from test_start import freeze, thaw, without_override

from mt_env.data import model_names

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("build", "hatchling")),
        reason="build and hatchling are not installed (make setup)",
    ),
]

USE = """
import json, sys
from pathlib import Path
import mt_env
from mt_env.bots import bot_names
from mt_env.data import data_folder, model_names
from mt_env.rules import PRESETS

game = mt_env.env(num_players=3)
game.reset(seed=7)
for agent in game.agent_iter():
    observation, _, terminated, _, _ = game.last()
    action = None if terminated else game.action_space(agent).sample(observation["action_mask"])
    game.step(action)
rules = mt_env.load_rules("spruce")
files = sorted(path.stem for path in data_folder("configs/rules").glob("*.yaml"))
print(json.dumps({
    "default": rules == PRESETS["spruce"] == mt_env.load_rules(data_folder("configs/rules") / "spruce.yaml"),
    "over": game.agents == [],
    "files": files,
    "presets": sorted(PRESETS),
    "models": list(model_names()),
    "typed": (Path(mt_env.__file__).parent / "py.typed").is_file(),
    "modules": sorted(
        str(module.__file__) for name, module in sys.modules.items()
        if name.split(".")[0] == "mt_env" and getattr(module, "__file__", None)
    ),
    "path": sys.path,
}))
"""


def run(command: list[str], **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)], cwd=out
    )
    (found,) = out.glob("mt_env-*-py3-none-any.whl")
    return found


def test_what_is_in_the_wheel(wheel: Path) -> None:
    """The package, the files its users need, nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    info = f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"
    assert {name.split("/")[0] for name in names} == {"mt_env", info}
    sources = {
        f"mt_env/{path.relative_to(ROOT / 'mt_env').as_posix()}" for path in (ROOT / "mt_env").rglob("*.py")
    }
    assert sources <= set(names)
    assert "mt_env/py.typed" in names and f"{info}/licenses/LICENSE" in names
    carried = [name.removeprefix("mt_env/_data/") for name in names if name.startswith("mt_env/_data/")]
    expected = [
        path.relative_to(ROOT).as_posix()
        for folder in ("models", "configs/rules")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    ]
    assert sorted(carried) == sorted(expected)


def test_an_installed_wheel_that_cannot_be_written(wheel: Path, tmp_path: Path) -> None:
    """No file of the checkout is used, and what a wheel carries is found in it."""
    prefix = without_override()
    place, elsewhere, home = tmp_path / "venv", tmp_path / "elsewhere", tmp_path / "home"
    elsewhere.mkdir()
    home.mkdir()
    run([sys.executable, "-m", "venv", "--without-pip", str(place)])
    scheme = {"base": str(place), "platbase": str(place)}
    purelib = Path(sysconfig.get_path("purelib", "venv", scheme))
    python = Path(sysconfig.get_path("scripts", "venv", scheme)) / Path(sys.executable).name
    install = [sys.executable, "-m", "pip", f"--python={python}", "install", "--no-deps", "--no-index"]
    run([*install, "--disable-pip-version-check", "--quiet", str(wheel)])
    # Everything else from the environment of this test. The folder is added as a plain path: its own .pth
    # files, of which one leads to the checkout, are read only in site folders.
    (purelib / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {
        "HOME": str(home),
        "MT_ENV_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_CACHE_HOME": str(home),
    }
    freeze(place / "lib")
    try:
        with pytest.raises(AssertionError):
            run([*prefix, str(python), "-c", f"open({str(purelib / 'mt_env' / 'x')!r}, 'w')"])
        text = run([*prefix, str(python), "-c", USE], cwd=elsewhere, env=environment)
        command = [*prefix, str(python.with_name("mexican-train")), "rules"]
        listed = run(command, cwd=elsewhere, env=environment)
    finally:
        thaw(place / "lib")
    found = json.loads(text)
    for file in found["modules"]:
        assert Path(file).is_relative_to(purelib), file
    assert str(ROOT) not in found["path"]
    assert found["default"] and found["over"] and found["typed"]
    assert found["presets"] == ["cover", "dominos_cc", "spruce", "wikihow"]
    assert set(found["presets"]) <= set(found["files"])
    assert found["models"] == list(model_names())
    assert listed.startswith("spruce") and "hand_size" in listed
    assert not list(elsewhere.iterdir()) and not list(home.iterdir())

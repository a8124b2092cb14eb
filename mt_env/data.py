"""Where the files that come with this package lie: shipped models and rule sets.

A wheel carries them inside the package, as ``mt_env/_data``; in a checkout (or an editable install of one)
they are the folders beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).resolve().parent

MODELS: Final = "models"
"""The folder of shipped models, one folder each."""


def data_folder(name: str) -> Path | None:
    """A folder of data, such as ``"models"`` or ``"configs/rules"``; None where there is none."""
    places = [_PACKAGE / "_data"]
    checkout = _PACKAGE.parent
    if (checkout / "hatch_build.py").is_file():  # else it is site-packages, with other people's folders
        places.append(checkout)
    return next((place / name for place in places if (place / name).is_dir()), None)


def model_names() -> tuple[str, ...]:
    """Names of the shipped models, sorted; each can be played as ``policy:NAME``."""
    folder = data_folder(MODELS)
    return tuple(sorted(path.parent.name for path in folder.glob("*/meta.json"))) if folder else ()


def model_folder(name: str) -> Path | None:
    """The folder of the shipped model ``name``; None if there is no such model."""
    folder = data_folder(MODELS)
    return folder / name if folder is not None and name in model_names() else None

"""Build hook: puts ``models/`` and ``configs/rules/`` into the wheel as ``mt_env/_data/...``.

A static ``force-include`` fails when a folder is missing, which git makes likely: it keeps no empty folders.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA_FOLDERS = ("models", "configs/rules")
"""Folders of the checkout that an installed package needs too; here in the order they are added."""


class DataFiles(BuildHookInterface):
    """Adds the files of ``DATA_FOLDERS`` to a wheel; an editable install reads them from the checkout."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name each data file and its place in the wheel; ``version`` is "standard" or "editable"."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        for folder in DATA_FOLDERS:
            for path in sorted((root / folder).rglob("*")):
                inside = path.relative_to(root)
                hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
                if path.is_file() and not hidden:
                    build_data["force_include"][str(path)] = f"mt_env/_data/{inside.as_posix()}"

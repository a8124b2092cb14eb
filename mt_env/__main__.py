"""``python -m mt_env``: the command ``mexican-train``."""

from __future__ import annotations

import sys

from mt_env.cli import main

if __name__ == "__main__":
    sys.exit(main())

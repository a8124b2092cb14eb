"""Mexican Train dominoes for reinforcement learning.

Importing this package loads neither torch nor stable-baselines3.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]

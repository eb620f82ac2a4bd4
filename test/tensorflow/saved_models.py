"""SavedModels of modules with variables; `make.py` writes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

MODELS: dict[str, Callable[[Path], None]] = {}

"""The folder in which Lamina keeps what it has compiled and measured on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_directory() -> Path:
    """$LAMINA_CACHE_DIR, else `lamina` in the platform's cache folder."""
    if chosen := os.environ.get("LAMINA_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lamina"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "lamina"

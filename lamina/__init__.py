"""Lamina: a deep-learning compiler whose every level is an xDSL dialect and every step a text file.

The public names load on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lamina.api import Executable, Model, compile, load
    from lamina.errors import LaminaError

__version__ = "0.1.0"

__all__ = ["Executable", "LaminaError", "Model", "__version__", "compile", "load"]

_HOME = {name: "lamina.api" for name in ("Executable", "Model", "compile", "load")}
_HOME["LaminaError"] = "lamina.errors"


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'lamina' has no attribute {name!r}")
    return getattr(import_module(home), name)

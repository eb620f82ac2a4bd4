"""Modules that op declarations name but that only run-time facets need.

Reading a text file of ops must not cost the import of numpy or of the tensor-expression builder, so op files
write `from lamina.dialects.lazy import np, te` and pay at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """Stands for a module and imports it when an attribute is first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import numpy as np

    import lamina.dialects.te.lib as te
else:
    np = LazyModule("numpy")
    te = LazyModule("lamina.dialects.te.lib")

__all__ = ["LazyModule", "np", "te"]

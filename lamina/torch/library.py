"""The installed torch, loaded when first wanted: Lamina itself does not depend on it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from lamina.errors import UsageError


@cache
def module(name: str) -> Any:
    """A module of torch by its name. Raises UsageError where torch is not installed."""
    try:
        return import_module(name)
    except ModuleNotFoundError as e:
        raise UsageError(f"needs PyTorch: {e}", hint="install it: pip install torch") from None


def torch() -> Any:
    """The package torch."""
    return module("torch")

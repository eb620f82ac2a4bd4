"""The installed jax, loaded when first wanted: Lamina itself does not depend on it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from lamina.errors import UsageError


@cache
def jax() -> Any:
    """The package jax, with what it does not import by itself. Raises UsageError where it is not installed."""
    try:
        found = import_module("jax")
        for part in ("jax.dlpack", "jax.export"):
            import_module(part)
    except ImportError as e:
        raise UsageError(f"needs JAX: {e}", hint="install it: pip install jax") from None
    return found

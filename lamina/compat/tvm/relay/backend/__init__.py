"""`relay.backend`: the values that executors give (`interpreter`), and the virtual machine (`vm`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = ("interpreter", "vm")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.compat.tvm.missing import not_bridged

    raise not_bridged(f"relay.backend.{name}", list(_MODULES))

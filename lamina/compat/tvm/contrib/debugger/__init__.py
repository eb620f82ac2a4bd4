"""`tvm.contrib.debugger`: programs node by node."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = ("debug_executor", "debug_result")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"contrib.debugger.{name}", list(_MODULES))

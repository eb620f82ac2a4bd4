"""`tvm.contrib`: the parts that are bridged."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = ("cc", "debugger", "download", "graph_executor")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in ("util", "utils"):
        return import_module(f"{__name__}.folders")
    if name == "graph_runtime":  # as it was called before TVM 0.8
        return import_module(f"{__name__}.graph_executor")
    if name == "debug_executor":
        return import_module(f"{__name__}.debugger.debug_executor")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"contrib.{name}", [*_MODULES, "utils"])

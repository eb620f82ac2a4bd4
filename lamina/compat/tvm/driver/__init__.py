"""`tvm.driver`: the command `tvmc`."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "tvmc":
        return import_module(f"{__name__}.tvmc")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"driver.{name}", ["tvmc"])

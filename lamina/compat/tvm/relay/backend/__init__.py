"""`relay.backend`: the values that executors give (`interpreter`), the virtual machine (`vm`), what `build` is told."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from lamina.errors import UnsupportedError

_MODULES = ("interpreter", "vm")


class Executor:
    """The executor of a built program: `graph` is the one there is. Raises UnsupportedError for another."""

    kind = "executor"
    known = ("graph",)

    def __init__(self, name: str, options: Mapping[str, Any] | None = None) -> None:
        if name not in self.known:
            raise UnsupportedError(f"there is no {self.kind} {name!r}", hint=f"leave it out: it is {self.known[0]!r}")
        self.name = name
        self.attrs = dict(options or {})

    def __getitem__(self, name: str) -> Any:
        return self.attrs[name]

    def __str__(self) -> str:
        return self.name


class Runtime(Executor):
    """The runtime of a built program: `cpp` is the one there is. Raises UnsupportedError for another."""

    kind = "runtime"
    known = ("cpp",)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"relay.backend.{name}", list(_MODULES))

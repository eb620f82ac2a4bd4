"""Finds functions by their names: the spellings that are TVM's own, then the Relay ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

from lamina.errors import did_you_mean
from lamina.topi.calls import call_op

INSTEAD = {
    **dict.fromkeys(("generic", "x86", "cuda", "arm_cpu"), "use te.create_schedule and its primitives"),
    "testing": "use numpy",
    "tag": "use the tag of an operation: t.op.tag",
}
"""Names that TVM has below topi that are no functions of tensors, and what to use instead."""


class Namespace(ModuleType):
    """`topi` or `topi.nn`: functions and further namespaces, found when they are asked for."""

    __path__: ClassVar[list[str]] = []  # pyright: ignore
    """It may be imported as a package, though no folder stands behind it."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"lamina.topi.{prefix}".rstrip("."))
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = find(self._prefix + name)
        if found is None:
            if not any(known.startswith(f"{self._prefix}{name}.") for known in names()):
                near = INSTEAD.get(self._prefix + name) or did_you_mean(self._prefix + name, names())
                raise AttributeError(f"topi has no {self._prefix}{name}" + (f"; {near}" if near else ""))
            found = Namespace(f"{self._prefix}{name}.")
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        inside = [n.removeprefix(self._prefix) for n in names() if n.startswith(self._prefix)]
        return sorted({n.partition(".")[0] for n in inside})


def names() -> list[str]:
    """The names of all functions."""
    from lamina.dialects.relay.op_index import OPS
    from lamina.topi.spellings import SPELLINGS

    return sorted({*(n.removeprefix("relay.") for n in OPS if find(n.removeprefix("relay.")) is not None), *SPELLINGS})


def find(name: str) -> Callable[..., Any] | None:
    """The function of a name, None where there is none."""
    from lamina.dialects.relay import find_op
    from lamina.topi.spellings import SPELLINGS

    if name in SPELLINGS:
        return SPELLINGS[name]
    op = find_op(f"relay.{name}")
    if op is None or not (hasattr(op, "te_compute") or hasattr(op, "decompose")):
        return None  # control flow, or a leaf
    function = partial(call_op, op)
    function.__doc__ = op.__doc__
    return function

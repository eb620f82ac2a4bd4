"""Modules of TVM's whose names are made from the operators."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

from lamina.ir.tvm_names import not_bridged


class OpNamespace(ModuleType):
    """`relay.nn`, `relay.image`, `relay.qnn.op`: the functions of the operators whose names start with a prefix."""

    __path__: ClassVar[list[str]] = []  # pyright: ignore
    """It may be imported as a package, though no folder stands behind it."""

    def __init__(self, python_name: str, prefix: str, others: dict[str, Any] | None = None) -> None:
        super().__init__(f"lamina.compat.tvm.{python_name}", f"The operators {prefix}*.")
        self.__dict__.update(others or {})
        self._python_name = python_name
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        from lamina.compat.tvm.relay.op_composites import function_of

        found = function_of(f"{self._prefix}{name}")
        if found is None:
            raise not_bridged(f"{self._python_name}.{name}", self.__dir__())
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        names = [n.removeprefix(self._prefix) for n in function_names() if n.startswith(self._prefix)]
        return sorted({*(n for n in names if "." not in n), *(k for k in self.__dict__ if not k.startswith("_"))})


def function_names() -> list[str]:
    """The names of all functions that build calls of operators."""
    from lamina.compat.tvm.relay.op_composites import ALIASES, COMPOSITES
    from lamina.frontends.tvm_text.operators import op_names

    return sorted({*op_names(), *COMPOSITES, *ALIASES})


__all__ = ["OpNamespace", "function_names"]

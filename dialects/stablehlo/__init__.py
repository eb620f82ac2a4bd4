"""The dialects `stablehlo` and `chlo`, and of `sdy` the meshes: programs as JAX and other users of XLA print them.

As a namespace the package spells terms: with `from lamina.dialects import stablehlo as s`, `s.add(x, y)` is a pattern
of a rule. Words of Python have an underscore behind them: `s.and_`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    STABLEHLO: Dialect
    CHLO: Dialect
    SDY: Dialect

_FILES = ("elementwise", "chlo", "shape", "products", "control", "reduce", "indexing", "older", "refused", "sharding")


@cache
def op_classes() -> dict[str, Any]:
    """All classes of ops, by their names."""
    from lamina.dialects.stablehlo.base import HloOp
    from lamina.dialects.stablehlo.refused import REFUSED_OPS

    found: dict[str, Any] = {op.name: op for op in REFUSED_OPS}
    for file in _FILES:
        for value in vars(import_module(f"{__name__}.{file}")).values():
            if isinstance(value, type) and issubclass(value, HloOp) and "name" in vars(value):
                found[value.name] = value
    return found


def find_op(name: str) -> Any | None:
    """The class of an op by its full name, None when there is none."""
    return op_classes().get(name)


def __getattr__(name: str) -> Any:
    if name in ("STABLEHLO", "CHLO", "SDY"):
        from xdsl.ir import Dialect

        from lamina.dialects.stablehlo import attributes

        ops = [op for n, op in op_classes().items() if n.startswith(f"{name.lower()}.")]
        words = [
            v
            for v in vars(attributes).values()
            if isinstance(v, type) and v.__dict__.get("name", "").startswith("stablehlo.")
        ]
        value: Any = Dialect(name.lower(), ops, words if name == "STABLEHLO" else [])
    elif name.startswith("_"):
        raise AttributeError(name)
    else:
        from lamina.dialects.rules.terms import term

        found = find_op(f"chlo.{name[5:].rstrip('_')}" if name.startswith("chlo_") else f"stablehlo.{name.rstrip('_')}")
        if found is None:
            raise AttributeError(f"no op {name} of stablehlo")
        value = term(found)
    globals()[name] = value
    return value

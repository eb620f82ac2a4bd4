"""torch's own decompositions of the operators that the table of `frontends/aten` has no row for."""

from __future__ import annotations

from functools import cache
from typing import Any

from lamina.frontends.aten.graph import AtenCall
from lamina.frontends.aten.table import entry
from lamina.torch.library import module


def has_row(operator: Any) -> bool:
    """Whether the table has a row for an OpOverload."""
    return entry(AtenCall("", str(operator), ())) is not None


IN_PLACE = frozenset(("aten.complex.default", "aten.polar.default"))
"""Operators whose decompositions write into what they have made, which a graph of AOTAutograd must not do."""


@cache
def decompositions() -> dict[Any, Any]:
    """A table for torch's tracers: every decomposition that there is, of operators without a row."""
    registered = module("torch._decomp").decomposition_table
    overload = module("torch._ops").OpOverload
    return {
        op: how
        for op, how in registered.items()
        if isinstance(op, overload) and str(op) not in IN_PLACE and not has_row(op)
    }

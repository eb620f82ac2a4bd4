"""The function of a transform_layout as an index map.

    s[B].transform_layout(lambda n, c, h, w: [n, c // 4, h, w, te.AXIS_SEPARATOR, c % 4])

gives `(d0, d1, d2, d3) -> (d0, d1 floordiv 4, d2, d3, d1 mod 4)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lamina.dialects.index.index_map import IndexMap
from lamina.dialects.index.linear import MAX_EXTENT, Atom, Linear, Range
from lamina.te.emit import affine
from lamina.te.expr import IntImm, Var, as_expr, fail
from lamina.te.mistakes import checked_function
from lamina.te.tensor import Operation

AXIS_SEPARATOR = "axis_separator"
"""Between groups of dimensions that lie in memory apart; here all lie in one."""


def index_map(op: Operation, mapping: Callable[..., Any]) -> IndexMap:
    """The map of an operation's dimensions. Raises LaminaError for what is not affine in them."""
    variables = [Var(a.name) for a in op.axis]
    checked_function(mapping, len(variables), "the mapping of transform_layout")
    extents = [a.dom.extent if a.dom is not None else None for a in op.axis]
    made: Any = mapping(*variables)
    listed: list[Any] = list(cast("Sequence[Any]", made)) if isinstance(made, (list, tuple)) else [made]
    items = [as_expr(i) for i in listed if i is not AXIS_SEPARATOR]

    def ranges(atom: Atom) -> Range:
        extent = extents[atom] if isinstance(atom, int) else None
        return 0, int(extent) - 1 if isinstance(extent, IntImm) else MAX_EXTENT

    positions = {v: Linear.dim(n) for n, v in enumerate(variables)}
    if not items:
        raise fail("transform_layout: the function gives no dimension")
    forms = [affine(i, positions, "transform_layout: the new dimension", ranges) for i in items]
    return IndexMap(len(variables), tuple(forms))

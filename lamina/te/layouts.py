"""transform_layout: an index function as a map of the buffer, and as splits and an order of the stage's loops.

    s[B].transform_layout(lambda n, c, h, w: [n, c // 4, h, w, te.AXIS_SEPARATOR, c % 4])

Each new dimension is one digit of an old one: `c // 4` and `c % 4` are the two digits of c to base 4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lamina.dialects.index_map import IndexMap
from lamina.dialects.linear import Atom, Linear, Range, floordiv, mod
from lamina.te import expr as e
from lamina.te.expr import IntImm, as_expr, fail
from lamina.te.tensor import IterVar, Operation

AXIS_SEPARATOR = "axis_separator"
"""Between groups of dimensions that lie in memory apart; here all lie in one."""

Digit = tuple[int, int, int | None]
"""Of which dimension, and how far it counts: by its lower base up to its upper one, None for all that is left."""


def transformed(op: Operation, mapping: Callable[..., Any]) -> tuple[IndexMap, list[Digit]]:
    """The index map, and the digit that each new dimension is. Raises LaminaError for a map of another form."""
    variables = [e.Var(a.name) for a in op.axis]
    found: list[Any] = list(mapping(*variables))
    items = [i for i in found if i is not AXIS_SEPARATOR]
    positions = {v: n for n, v in enumerate(variables)}
    extents = [a.dom.extent if a.dom is not None else None for a in op.axis]

    def ranges(atom: Atom) -> Range | None:
        extent = extents[atom] if isinstance(atom, int) else None
        return (0, int(extent) - 1) if isinstance(extent, IntImm) else None

    def form(x: e.Expr) -> Linear:
        if isinstance(x, e.Var) and x in positions:
            return Linear.dim(positions[x])
        if isinstance(x, e.Binary) and isinstance(x.b, IntImm) and int(x.b) > 0:
            if isinstance(x, (e.FloorDiv, e.Div)):
                return floordiv(form(x.a), int(x.b), ranges)
            if isinstance(x, (e.FloorMod, e.Mod)):
                return mod(form(x.a), int(x.b), ranges)
        raise fail(f"transform_layout: {x} is no digit of a dimension", hint="write i, i // 4 or i % 4")

    forms = [form(as_expr(i)) for i in items]
    return IndexMap(len(variables), tuple(forms)), [_digit(f) for f in forms]


def _digit(form: Linear) -> Digit:
    if not form.const and list(form.terms.values()) == [1]:
        (atom,) = form.terms
        if isinstance(atom, int):
            return atom, 1, None
        if isinstance(atom, tuple):
            kind, inner, base = atom
            dim, low, high = _digit(inner)
            if kind == "floordiv":
                return dim, low * base, high
            return dim, low, low * base if high is None else min(low * base, high)
    raise fail("transform_layout: a new dimension is no digit of an old one", hint="write i, i // 4 or i % 4")


def split_digits(op: Operation, digits: list[Digit], split: Callable[[IterVar, int], Any]) -> list[IterVar]:
    """The loops of the new dimensions: `split(loop, factor)` gives the outer and the inner loop."""
    loops: dict[Digit, IterVar] = {}
    for n, axis in enumerate(op.axis):
        mine = sorted((d for d in digits if d[0] == n), key=lambda d: d[1])
        lows, highs = [d[1] for d in mine], [d[2] for d in mine]
        if not mine or lows[0] != 1 or highs[:-1] != lows[1:] or highs[-1] is not None:
            raise fail(f"transform_layout: the new dimensions do not make up {axis.name!r}, each part of it once")
        rest = axis
        for low, digit in zip(lows[1:], mine, strict=False):
            rest, loops[digit] = split(rest, low // digit[1])
        loops[mine[-1]] = rest
    return [loops[d] for d in digits]

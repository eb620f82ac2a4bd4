"""Sums of products by a formula, and determinants."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_control import part
from lamina.frontends.onnx.registry import onnx_op


@onnx_op("Einsum")
def einsum(n: Node, b: Builder) -> Value:
    """16-bit floats are summed in float32 and rounded once."""
    equation = n.attr("equation")
    if not isinstance(equation, str):
        raise n.fail("the equation is missing")
    values = n.values()
    dtype = values[0].dtype
    if dtype in ("float16", "bfloat16"):
        values = [b.cast(v, "float32") for v in values]
    return b.cast(b.op("einsum", *values, equation=equation.replace(" ", "")), dtype)


@onnx_op("Det")
def determinant(n: Node, b: Builder) -> Value:
    """By minors of the first row: for matrices of up to four rows."""
    x = n.input(0)
    if x.rank < 2 or x.shape[-1] != x.shape[-2]:
        raise n.fail("the input must be square matrices")
    size = x.shape[-1]
    if not 0 < size <= 4:
        raise n.unsupported(f"determinants of {size} rows are not supported, only of 1 to 4")
    rows = [part(b, x, x.rank - 2, r) for r in range(size)]
    cells = [[part(b, row, row.rank - 1, c) for c in range(size)] for row in rows]

    def minor(top: int, columns: tuple[int, ...]) -> Value:
        if len(columns) == 1:
            return cells[top][columns[0]]
        total: Value | None = None
        for k, c in enumerate(columns):
            term = b.op("multiply", cells[top][c], minor(top + 1, (*columns[:k], *columns[k + 1 :])))
            total = term if total is None else b.op("subtract" if k % 2 else "add", total, term)
        assert total is not None
        return total

    return minor(0, tuple(range(size)))

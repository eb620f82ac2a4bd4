"""Operators that onnxruntime had before ONNX, or under another name: each does what a standard one does."""

from __future__ import annotations

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import INT, STRING, contributed, given, standard


@contributed("Trilu", inputs="X k?", upper=INT)
@contributed("GatherND", inputs="data indices", outputs="output")
@contributed("GridSample", inputs="X Grid", align_corners=INT, mode=STRING, padding_mode=STRING)
def same(n: Node, b: Builder) -> Value:
    """Convert as ONNX's operator of the same name."""
    return standard(n, b, n.op_type, [given(n, i) for i in range(len(n.inputs))], **n.attrs)


@contributed("Pad", inputs="data pads value?", outputs="output", mode=STRING)
def pad(n: Node, b: Builder) -> Value:
    """The padding may be a matrix of one row."""
    pads = b.reshape(n.input(1), (n.input(1).shape[-1],)) if n.input(1).rank == 2 else n.input(1)
    return standard(n, b, "Pad", [n.input(0), pads, given(n, 2)], **n.attrs)


@contributed("Range", inputs="start limit delta?")
def counted(n: Node, b: Builder) -> Value:
    """In steps of 1 unless they are given."""
    return standard(n, b, "Range", [n.input(0), n.input(1), given(n, 2) or b.scalar(1, n.input(0))])


@contributed("ExpandDims", inputs="X axis")
def expand_dims(n: Node, b: Builder) -> Value:
    x, axis = n.input(0), n.ints(1, "the axis")
    if len(axis) != 1:
        raise n.fail(f"the axis is {len(axis)} numbers")
    return b.op("expand_dims", x, axis=n.axis(axis[0], x.rank + 1))


@contributed("UnfoldTensor", inputs="input", outputs="output", required=("size",), dim=INT, size=INT, step=INT)
def unfold(n: Node, b: Builder) -> Value:
    """All windows of `size` elements of an axis, `step` apart, in a new last axis."""
    x = n.input(0)
    axis, size, step = n.axis(n.attr("dim", -1), x.rank), n.attr("size"), n.attr("step", 1)
    if not 0 < size <= x.shape[axis] or step < 1:
        raise n.fail(f"windows of {size} elements {step} apart do not fit an extent of {x.shape[axis]}")
    starts = np.arange(0, x.shape[axis] - size + 1, step, dtype=np.int32)
    windows = b.op("take", x, b.constant(starts[:, None] + np.arange(size, dtype=np.int32)), axis=axis, mode="clip")
    order = [a for a in range(windows.rank) if a != axis + 1]
    return b.op("transpose", windows, axes=[*order, axis + 1])


@contributed("CDist", inputs="A B", outputs="C", only={"metric": ("sqeuclidean", "euclidean")}, metric=STRING)
def distances(n: Node, b: Builder) -> Value:
    """The distance of each row of A from each row of B, or its square."""
    x, y = n.input(0), n.input(1)
    if x.rank != 2 or y.rank != 2 or x.shape[1] != y.shape[1]:
        raise n.fail("A and B must be matrices of rows of one length")
    apart = b.op("subtract", b.op("expand_dims", x, axis=1), b.op("expand_dims", y, axis=0))
    squares = b.op("sum", b.op("multiply", apart, apart), axis=[2])
    return b.op("sqrt", squares) if n.attr("metric", "sqeuclidean") == "euclidean" else squares

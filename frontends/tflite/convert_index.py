"""Elements taken from places and put into places, and choices between tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder, moves
from lamina.frontends.tflite.graph import TfliteNode


@TABLE.op(*moves("GATHER"))
def gather(b: TfliteBuilder, node: TfliteNode, x: Value, places: Value) -> Value:
    """The slices of an axis at places; the leading `batch_dims` axes of both belong together."""
    batch = b.axis(int(node.attr("batch_dims", 0)), places.rank + 1)
    axis = b.axis(int(node.attr("axis", 0)), x.rank)
    return b.op("take", x, b.cast(places, "int64"), axis=axis, batch_dims=batch, mode="clip")


@TABLE.op(*moves("GATHER_ND"))
def gather_nd(b: TfliteBuilder, node: TfliteNode, x: Value, places: Value) -> Value:
    """The slices at coordinates, which stand on the last axis."""
    return b.op("gather_nd", x, _coordinates_first(b, places))


def _coordinates_first(b: TfliteBuilder, places: Value) -> Value:
    if not places.rank:
        raise b.fail("the coordinates have no axis")
    return b.transpose(b.cast(places, "int64"), [places.rank - 1, *range(places.rank - 1)])


@TABLE.op("EMBEDDING_LOOKUP")
def embedding_lookup(b: TfliteBuilder, node: TfliteNode, places: Value, x: Value) -> Value:
    """The rows of a table at places."""
    return b.op("take", x, b.cast(places, "int64"), axis=0, mode="clip")


@TABLE.op("SCATTER_ND")
def scatter_nd(b: TfliteBuilder, node: TfliteNode, places: Value, updates: Value, shape: Value) -> Value:
    """Zeros with slices added up at coordinates, which stand on the last axis."""
    zeros = b.zeros(b.extents(shape, "the shape"), updates.dtype)
    return b.op("scatter_nd", zeros, _coordinates_first(b, places), updates, mode="add")


@TABLE.op("ONE_HOT")
def one_hot(b: TfliteBuilder, node: TfliteNode, places: Value, depth: Value, on: Value, off: Value) -> Value:
    """A new axis of `depth` elements: `on` at the place, `off` elsewhere."""
    axis = b.axis(int(node.attr("axis", -1)), places.rank + 1)
    count = int(b.number(depth, "the depth"))
    return b.op(
        "one_hot", b.cast(places, "int64"), b.reshape(on, ()), b.reshape(off, ()), depth=count, axis=axis
    )  # fmt: skip


@TABLE.op("SPARSE_TO_DENSE")
def sparse_to_dense(
    b: TfliteBuilder, node: TfliteNode, places: Value, shape: Value, values: Value, default: Value
) -> Value:
    """A tensor with values at places, and a default elsewhere."""
    return b.op(
        "sparse_to_dense", b.cast(places, "int64"), values, b.reshape(default, ()),
        output_shape=b.extents(shape, "the shape"),
    )  # fmt: skip


@TABLE.op(*moves("SELECT"))
def select(b: TfliteBuilder, node: TfliteNode, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, else y; a vector of conditions is for whole slices of the first axis."""
    if condition.rank == 1 and x.rank > 1:
        condition = b.reshape(condition, (*condition.shape, *[1] * (x.rank - 1)))
    return b.op("where", condition, x, y)


@TABLE.op(*moves("SELECT_V2"))
def select_v2(b: TfliteBuilder, node: TfliteNode, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, else y; all broadcast."""
    return b.op("where", condition, x, y)


@TABLE.op(*moves("MATRIX_DIAG"))
def matrix_diag(b: TfliteBuilder, node: TfliteNode, diagonal: Value) -> Value:
    """Square matrices of zeros with these diagonals."""
    zeros = b.zeros((*diagonal.shape, diagonal.shape[-1]), diagonal.dtype)
    return b.op("matrix_set_diag", zeros, diagonal)


@TABLE.op(*moves("MATRIX_SET_DIAG"))
def matrix_set_diag(b: TfliteBuilder, node: TfliteNode, x: Value, diagonal: Value) -> Value:
    """Matrices with other diagonals."""
    return b.op("matrix_set_diag", x, diagonal)


@TABLE.op("WHERE")
def where(b: TfliteBuilder, node: TfliteNode, condition: Value) -> Value:
    """The coordinates of what is not zero; where it is computed, so is their number."""
    if condition.array is not None:
        return b.constant(np.argwhere(condition.array).astype(np.int64))
    if not condition.rank:
        raise b.unsupported("a condition of rank 0 is not supported")
    (places,) = b.sized_by_values("argwhere", condition)
    return b.sized_by_values("cast", places, dtype="int64")[0]


@TABLE.op("UNIQUE")
def unique(b: TfliteBuilder, node: TfliteNode, x: Value) -> Sequence[Value]:
    """The different elements of a vector in the order in which they come, and the place of each element among them."""
    kind = node.dtype(1) if len(node.results) > 1 else "int32"
    if x.array is None:
        values, _, places, *_ = b.sized_by_values("unique", x, is_sorted=False)
        return [values, b.cast(places, kind)]
    values, first, places = np.unique(x.array, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(order.size)
    return [b.constant(values[order]), b.constant(ranks[places.reshape(-1)].astype(kind))]


@TABLE.op("BUCKETIZE")
def bucketize(b: TfliteBuilder, node: TfliteNode, x: Value) -> Value:
    """The number of boundaries that are not above an element."""
    bounds = b.constant(np.asarray(node.attr("boundaries", []), np.float32))
    flat = b.reshape(b.cast(x, "float32"), (prod(x.shape),))
    return b.reshape(b.op("searchsorted", bounds, flat, right=True, dtype="int32"), x.shape)


_SEGMENTS = {
    "SEGMENT_SUM": "add",
    "UNSORTED_SEGMENT_SUM": "add",
    "UNSORTED_SEGMENT_PROD": "mul",
    "UNSORTED_SEGMENT_MAX": "max",
    "UNSORTED_SEGMENT_MIN": "min",
}


@TABLE.op(*_SEGMENTS)
def segments(b: TfliteBuilder, node: TfliteNode, x: Value, places: Value, count: Value | None = None) -> Value:
    """The slices of the first axis added up, multiplied or compared by the segments that they belong to."""
    known = b.known(places, "the segments") if count is None else None
    rows = int(b.number(count, "the number of segments")) if known is None else int(known.max(initial=-1)) + 1
    if places.rank != 1 or not x.rank or x.shape[0] != places.shape[0] or rows < 0:
        raise b.unsupported(f"segments {places} of {x} are not supported")
    mode = _SEGMENTS[node.op]
    first = {"add": 0, "mul": 1}.get(mode)
    if first is None:
        limits = np.finfo(x.dtype) if is_float(x.dtype) else np.iinfo(x.dtype)
        first = limits.min if mode == "max" else limits.max
    start = b.filled(first, (rows, *x.shape[1:]), x.dtype)
    return b.op("scatter_nd", start, b.reshape(b.cast(places, "int64"), (1, places.shape[0])), x, mode=mode)

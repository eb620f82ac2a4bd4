"""Rows in segments that are known at run time: reductions of each, bags of embeddings."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.convert_index import from_front, index_add, index_fill, index_reduce
from lamina.frontends.aten.convert_reduce import lowest, vector_norm
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

MODES = ("sum", "mean", "max")
"""Reductions of bags by their numbers."""


def segments(b: AtenBuilder, begins: Value, count: int) -> Value:
    """The segment of each of `count` rows: how many begin at it or before, less one; along the last axis."""
    places = b.constant(np.arange(count, dtype=np.int64)[:, None])
    begun = b.op("less_equal", b.op("expand_dims", b.tensor(begins, "int64"), axis=begins.rank - 1), places)
    return b.sub(b.op("sum", b.cast(begun, "int64"), axis=[begins.rank]), 1)


@aten_op("segment_reduce")
def segment_reduce(
    b: AtenBuilder, data: Value, reduce: str, *, lengths: Value | None = None, indices: Value | None = None,
    offsets: Value | None = None, axis: int = 0, unsafe: bool = False, initial: Any = None,
) -> Value:  # fmt: skip
    """The reduction of each segment of an axis, from `initial` on; an empty one has that alone.

    Lengths or offsets have the axes before that one too, where the segments are others.
    """
    given = lengths if lengths is not None else offsets
    if given is None or indices is not None or not given.rank:
        raise b.unsupported("segments by lengths or by offsets are supported")
    axis, lines, rows = given.rank - 1, prod(given.shape[:-1]), data.shape[given.rank - 1]
    if lengths is not None:
        size = b.reshape(b.tensor(lengths, "int64"), (lines, lengths.shape[-1]))
        ends = b.op("cumsum", size, axis=1)
        begins = b.sub(ends, size)
    else:
        edges = b.reshape(b.tensor(given, "int64"), (lines, given.shape[-1]))
        begins, ends = b.slice(edges, 1, 0, given.shape[-1] - 1), b.slice(edges, 1, 1, given.shape[-1])
        size = b.sub(ends, begins)
    count = begins.shape[1]
    rest = data.shape[axis + 1 :]
    nothing = {"max": -np.inf, "min": np.inf, "prod": 1.0}.get(reduce, 0.0)
    start = b.filled(nothing if initial is None else initial, (lines * count, *rest), data.dtype)
    if not lines * count * rows:
        found = start
    else:
        # Rows behind the last segment are in none.
        place = b.constant(np.arange(rows, dtype=np.int64))
        inside = b.op("less", place, b.slice(ends, 1, count - 1, count))
        at = b.add(segments(b, begins, rows), b.constant(count * np.arange(lines, dtype=np.int64)[:, None]))
        at, inside = b.reshape(at, (lines * rows,)), b.reshape(inside, (lines * rows, *[1] * len(rest)))
        flat = b.choose(inside, b.reshape(data, (lines * rows, *rest)), nothing)
        kind = {"max": "amax", "min": "amin", "prod": "prod"}.get(reduce)
        found = index_add(b, start, 0, at, flat) if kind is None else index_reduce(b, start, 0, at, flat, kind)
    if reduce == "mean":
        divisor = b.reshape(b.tensor(size, data.dtype), (lines * count, *[1] * len(rest)))
        divided = b.div(found, divisor)
        found = divided if initial is None else b.choose(b.one("equal", divisor, 0.0), found, divided)
    return b.reshape(found, (*data.shape[:axis], count, *rest))


@aten_op("embedding_renorm", "embedding_renorm_")
def embedding_renorm(b: AtenBuilder, self: Value, indices: Value, max_norm: float, norm_type: float) -> Value:
    """The rows that are asked for made no longer than `max_norm`."""
    rows = self.shape[0]
    at = from_front(b, b.reshape(b.tensor(indices, "int64"), (prod(indices.shape),)), rows)
    asked = index_fill(b, b.filled(False, (rows,), "bool"), 0, at, True)
    norms = vector_norm(b, self, norm_type, [1], True)
    long = b.op("logical_and", b.op("expand_dims", asked, axis=1), b.one("greater", norms, max_norm))
    scale = b.div(b.tensor(max_norm, self.dtype), b.add(norms, 1e-7))
    return b.choose(long, b.mul(self, scale), self)


@aten_op("_embedding_bag", "_embedding_bag_forward_only")
def embedding_bag(
    b: AtenBuilder, weight: Value, indices: Value, offsets: Value, scale_grad_by_freq: bool = False, mode: int = 0,
    sparse: bool = False, per_sample_weights: Value | None = None, include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Value, Value, Value, Value]:  # fmt: skip
    """The rows of each bag reduced, the bag of each index, the sizes of bags, and the rows that are the largest."""
    assert b.call is not None
    bags = offsets.shape[0] - include_last_offset
    count, rows = indices.shape[0], weight.shape[0]
    at = segments(b, b.slice(offsets, 0, 0, bags), count)
    places = b.tensor(indices, "int64")
    drawn = b.op("take", weight, from_front(b, places, rows), axis=0, mode="clip")
    if per_sample_weights is not None:
        drawn = b.mul(drawn, b.op("expand_dims", per_sample_weights, axis=1))
    counts = b.filled(True, (count,), "bool")
    if padding_idx >= 0:
        counts = b.one("not_equal", places, padding_idx)
    kept = b.op("expand_dims", counts, axis=1)
    sizes = index_add(b, b.zeros((bags,), "int64"), 0, at, b.cast(counts, "int64"))
    shape = (bags, weight.shape[1])
    if MODES[mode] == "max":
        least = b.filled(lowest(weight.dtype), shape, weight.dtype)
        found = index_reduce(b, least, 0, at, b.choose(kept, drawn, lowest(weight.dtype)), "amax")
        found = b.choose(b.one("equal", b.op("expand_dims", sizes, axis=1), 0), 0.0, found)
    else:
        found = index_add(b, b.zeros(shape, weight.dtype), 0, at, b.choose(kept, drawn, 0.0))
        if MODES[mode] == "mean":
            found = b.div(
                found, b.tensor(b.op("expand_dims", b.op("maximum", sizes, b.tensor(1, "int64")), axis=1), weight.dtype)
            )
    if b.call.packet == "_embedding_bag" and MODES[mode] == "max":
        raise b.unsupported("the places of the largest elements are not supported")
    # Where only the bags are asked for, torch leaves out the others' elements as it likes: they have its shapes.
    told: list[Any] = b.call.results if isinstance(b.call.results, list) else []
    rest = [at, sizes, b.zeros((0,), "int64")]
    for k, info in enumerate(told[1:]):
        if info is not None and b.call.packet != "_embedding_bag" and rest[k].shape != info.shape:
            rest[k] = b.zeros(info.shape, info.dtype)
    return found, rest[0], rest[1], rest[2]

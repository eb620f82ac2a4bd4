"""Orders along an axis: running sums, the greatest elements, reversed sequences; and scattered updates."""

from __future__ import annotations

import numpy as np

from lamina.dialects.infos import is_symbolic
from lamina.dialects.relay.shape.search import UniqueOp, UniqueSlicesOp
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, NeedsDataError, Node
from lamina.frontends.onnx.convert_index import from_front
from lamina.frontends.onnx.registry import onnx_op


@onnx_op("CumSum", "CumProd")
def cumulative(n: Node, b: Builder) -> Value:
    """The running sum or product; in reverse that of the reversed axis."""
    x = n.input(0)
    axis = n.axis(int(n.array(1, "the axis").reshape(-1)[0]), x.rank)
    back = bool(n.attr("reverse", 0))
    if back:
        x = b.op("reverse", x, axis=axis)
    y = b.op(n.op_type.lower(), x, axis=axis, exclusive=bool(n.attr("exclusive", 0)))
    return b.op("reverse", y, axis=axis) if back else y


@onnx_op("TopK")
def top_k(n: Node, b: Builder) -> list[Value]:
    """The number was an attribute until opset 10. The result is sorted whether that is asked for or not."""
    x = n.input(0)
    count = n.attr("k") if n.version < 10 else int(n.array(1, "the number of elements").reshape(-1)[0])
    axis = n.axis(n.attr("axis", -1), x.rank)
    if not 0 <= count <= x.shape[axis]:
        raise n.fail(f"k is {count}, axis {axis} has {x.shape[axis]} elements")
    if not count:
        raise n.unsupported("no elements at all are not supported")
    return b.ops("topk", x, k=count, axis=axis, is_ascend=not n.attr("largest", 1), dtype="int64")


@onnx_op("ReverseSequence")
def reverse_sequence(n: Node, b: Builder) -> Value:
    return b.op(
        "reverse_sequence", n.input(0), n.input(1), seq_axis=n.attr("time_axis", 0), batch_axis=n.attr("batch_axis", 1)
    )


# -- scattered updates -----------------------------------------------------------------------------

_REDUCTIONS = {"none": "update", "add": "add", "mul": "mul", "min": "min", "max": "max"}


def _reduction(n: Node) -> str:
    given = n.attr("reduction", "none")
    if given not in _REDUCTIONS:
        raise n.fail(f"reduction is {given!r}, expects one of {', '.join(_REDUCTIONS)}")
    return _REDUCTIONS[given]


@onnx_op("ScatterElements", "Scatter")
def scatter_elements(n: Node, b: Builder) -> Value:
    x, indices, updates = n.input(0), n.input(1), n.input(2)
    axis = n.axis(n.attr("axis", 0), x.rank)
    places = from_front(n, b, indices, x.shape[axis])
    return b.op("scatter_elements", x, places, updates, axis=axis, reduction=_reduction(n))


def coordinates(n: Node, b: Builder, indices: Value, extents: tuple[int, ...]) -> Value:
    """Coordinates that stand along the last axis, counted from the front, along the first one."""
    known = indices.array
    depends = any(map(is_symbolic, extents))
    if known is not None and not depends:
        sizes = np.asarray(extents, np.int64)
        if np.any(known < -sizes) or np.any(known >= sizes):
            raise n.fail(f"an index is out of range for extents {list(extents)}")
        return b.constant(np.ascontiguousarray(np.moveaxis(np.where(known < 0, known + sizes, known), -1, 0)))
    moved = b.op("transpose", indices, axes=[indices.rank - 1, *range(indices.rank - 1)])
    sizes = b.cast(b.reshape(b.numbers(extents), (len(extents), *[1] * (indices.rank - 1))), indices.dtype)
    negative = b.op("less", moved, b.scalar(0, moved))
    return b.op("where", negative, b.op("add", moved, sizes), moved)


@onnx_op("ScatterND")
def scatter_nd(n: Node, b: Builder) -> Value:
    x, indices, updates = n.input(0), n.input(1), n.input(2)
    if not indices.rank or indices.shape[-1] > x.rank:
        raise n.fail(f"indices of shape {list(indices.shape)} do not fit")
    places = coordinates(n, b, indices, x.shape[: indices.shape[-1]])
    return b.op("scatter_nd", x, places, updates, mode=_reduction(n))


@onnx_op("GatherND")
def gather_nd(n: Node, b: Builder) -> Value:
    """The last axis of the indices lists coordinates; relay.gather_nd wants it first."""
    x, indices = n.input(0), n.input(1)
    batch: int = n.attr("batch_dims", 0)
    if not indices.rank or not 0 <= batch < indices.rank or batch + indices.shape[-1] > x.rank:
        raise n.fail(f"indices of shape {list(indices.shape)} do not fit")
    places = coordinates(n, b, indices, x.shape[batch : batch + indices.shape[-1]])
    return b.op("gather_nd", x, places, batch_dims=batch)


@onnx_op("TensorScatter")
def tensor_scatter(n: Node, b: Builder) -> Value:
    """A cache where the update stands along `axis` from a place that each batch has; `circular` wraps around."""
    x, update = n.input(0), n.input(1)
    axis = n.axis(n.attr("axis", -2), x.rank)
    if not axis:
        raise n.fail("the first axis is that of batches")
    extent, length = x.shape[axis], update.shape[axis]
    circular = n.attr("mode", "linear") == "circular"
    per_batch = [x.shape[0], *[1] * (x.rank - 1)]
    starts = (
        b.cast(b.reshape(n.input(2), per_batch), "int64") if n.has(2) else b.constant(np.zeros(per_batch, np.int64))
    )
    along = np.arange(extent).reshape([-1 if a == axis else 1 for a in range(x.rank)])
    # The place in the update that each place of the cache would have.
    place = b.op("subtract", b.constant(along), starts)
    if circular:
        place = b.op("floor_mod", place, b.scalar(extent, place))
    inside = b.op(
        "logical_and", b.op("less", place, b.scalar(length, place)), b.op("greater_equal", place, b.scalar(0, place))
    )
    wide = b.op("broadcast_to", b.op("clip", place, a_min=0.0, a_max=length - 1.0), shape=list(x.shape))
    return b.op("where", inside, b.op("gather", update, wide, axis=axis), x)


@onnx_op("Compress")
def compress(n: Node, b: Builder) -> Value:
    """The slices of an axis, or the elements, whose condition holds; it must be known, the shape depends on it."""
    x = n.input(0)
    places = np.flatnonzero(n.array(1, "the condition"))
    if "axis" not in n.attrs:
        x, axis = b.reshape(x, (int(np.prod(x.shape)),)), 0
    else:
        axis = n.axis(n.attr("axis"), x.rank)
    if len(places) and places[-1] >= x.shape[axis]:
        raise n.fail(f"the condition has a place {places[-1]}, axis {axis} only {x.shape[axis]}")
    return b.op("take", x, b.constant(places.astype(np.int64)), axis=axis, mode="clip")


@onnx_op("NonZero")
def non_zero(n: Node, b: Builder) -> Value:
    """The places of elements that are not zero: of a known tensor only, the shape depends on them."""
    x = n.input(0)
    if x.array is None:
        raise NeedsDataError(x, "the number of elements that are not zero", where=n.where)
    return b.constant(np.asarray(np.nonzero(np.atleast_1d(x.array)), np.int64))


@onnx_op("Unique")
def unique(n: Node, b: Builder) -> list[Value]:
    """The different elements, or slices of an axis, of a known tensor: which, where each comes first, which one each
    is, how often each occurs."""
    x = n.input(0)
    if x.array is None:
        raise NeedsDataError(x, "the number of different elements", where=n.where)
    order = {"is_sorted": bool(n.attr("sorted", 1)), "return_counts": True}
    if "axis" in n.attrs:
        found = UniqueSlicesOp.on_host(x.array, axis=n.axis(n.attr("axis"), x.rank), **order)
    else:
        found = UniqueOp.on_host(x.array.reshape(-1), **order)
    values, first, inverse, _, counts = found
    return [b.constant(values), *(b.constant(a.astype(np.int64)) for a in (first, inverse, counts))]

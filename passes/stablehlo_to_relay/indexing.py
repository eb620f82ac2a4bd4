"""Rules of StableHLO's ops at computed places: slices where these are known, else `take` and the like.

Before: %0 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 4]
          : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
After:  %0 = relay.take %x, %at {axis = 0} : (tensor<8x4xf32>, tensor<1xi32>) -> tensor<1x4xf32>

A gather takes slices at places that are moved inside; a scatter leaves out slices that are not inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from xdsl.ir import SSAValue

from lamina.dialects import relay as r
from lamina.dialects.lazy import np
from lamina.dialects.relay.shape.join import ConcatenateOp
from lamina.dialects.stablehlo.indexing import (
    ChloTopKOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    HloGatherOp,
    ScatterOp,
)
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.bodies import word_of
from lamina.passes.stablehlo_to_relay.emit import combine, dtype_of, known_number, number, shape_of, unsupported

indexing = Rules("stablehlo-to-relay")


def _inside(start: SSAValue, last: int) -> SSAValue:
    """A place moved into 0 .. last, as an int64."""
    wide = emit.cast(start, "int64")
    return r.minimum(r.maximum(wide, number(0, wide)), number(last, wide))


@indexing.lower(DynamicSliceOp)
def dynamic_slice(op: DynamicSliceOp) -> SSAValue:
    """Before: %0 = stablehlo.dynamic_slice %x, %i, %zero, sizes = [1, 4] : ...
    After:  %0 = relay.take %x, %at {axis = 0} : (tensor<8x4xf32>, tensor<1xi64>) -> tensor<1x4xf32>
    """
    found: SSAValue = op.operand
    shape, sizes = shape_of(found), op.info().shape
    if prod(sizes) == 0:
        return emit.broadcast(number(0, found), sizes)
    begin, end = [0] * len(shape), list(shape)
    moving: list[tuple[int, SSAValue]] = []
    for d, (extent, size, start) in enumerate(zip(shape, sizes, op.start_indices, strict=True)):
        place = known_number(start)
        if size == extent:
            continue
        if place is None:
            moving.append((d, start))
        else:
            begin[d] = min(max(int(place), 0), extent - size)
            end[d] = begin[d] + size
    found = emit.cut(found, begin, end)
    for d, start in moving:
        at = emit.reshape(_inside(start, shape[d] - sizes[d]), (1,))
        if sizes[d] > 1:
            at = r.add(at, emit.constant(np.arange(sizes[d])))
        found = r.take(found, at, axis=d, batch_dims=0, mode="clip")
    return found


@indexing.lower(DynamicUpdateSliceOp)
def dynamic_update_slice(op: DynamicUpdateSliceOp) -> SSAValue:
    """Before: %0 = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<8xf32>, ...) -> tensor<8xf32>
    After:  %0 = relay.where of whether a place is in the slice, the update's element there, and %x
    """
    x, update = op.operand, op.update
    shape, sizes = shape_of(x), shape_of(update)
    if prod(sizes) == 0:
        return x
    partial = [d for d in range(len(shape)) if sizes[d] != shape[d]]
    if not partial:
        return update
    place: Any = known_number(op.start_indices[partial[0]])
    if len(partial) == 1 and place is not None:
        return _joined(x, update, partial[0], int(place))
    mask: SSAValue | None = None
    for d in partial:
        start = _inside(op.start_indices[d], shape[d] - sizes[d])
        at = r.subtract(emit.constant(np.arange(shape[d])), start)
        here = r.logical_and(r.greater_equal(at, number(0, at)), r.less(at, number(sizes[d], at)))
        here = emit.reshape(here, [shape[d] if n == d else 1 for n in range(len(shape))])
        mask = here if mask is None else r.logical_and(mask, here)
        if sizes[d] > 1:
            at = r.minimum(r.maximum(at, number(0, at)), number(sizes[d] - 1, at))
            update = r.take(update, at, axis=d, batch_dims=0, mode="clip")
    return r.where(mask, update, x)


def _joined(x: SSAValue, update: SSAValue, axis: int, place: int) -> SSAValue:
    """The tensor before a slice, the slice, and the tensor behind it; what is in pieces already stays so."""
    shape, size = shape_of(x), shape_of(update)[axis]
    place = min(max(place, 0), shape[axis] - size)
    owner: Any = x.owner
    together = isinstance(owner, ConcatenateOp) and owner.axis.value.data % len(shape) == axis
    pieces: list[SSAValue] = []
    at = 0
    for piece in list(owner.operands) if together else [x]:
        extent = shape_of(piece)[axis]
        first, last = place - at, place + size - at  # the slice, counted from this piece
        pieces += _kept(piece, axis, 0, min(first, extent))
        if 0 <= first < extent:
            pieces.append(update)
        pieces += _kept(piece, axis, max(last, 0), extent)
        at += extent
    return emit.concatenate(pieces, axis)


def _kept(x: SSAValue, axis: int, first: int, last: int) -> list[SSAValue]:
    """The places from first to before last of an axis, as a list that is empty where there is none."""
    if first >= last:
        return []
    shape = shape_of(x)
    begin = [first if d == axis else 0 for d in range(len(shape))]
    return [emit.cut(x, begin, [last if d == axis else e for d, e in enumerate(shape)])]


# -- gather -----------------------------------------------------------------------------------------


def _columns(indices: SSAValue, vector: int) -> tuple[list[SSAValue], tuple[int, ...]]:
    """The numbers for each dimension, as int64 of the batches' shape."""
    shape = shape_of(indices)
    batch = tuple(e for d, e in enumerate(shape) if d != vector)
    wide = emit.cast(indices, "int64")
    if vector == len(shape):
        return [wide], batch
    found: list[SSAValue] = []
    for n in range(shape[vector]):
        begin = [n if d == vector else 0 for d in range(len(shape))]
        end = [n + 1 if d == vector else e for d, e in enumerate(shape)]
        found.append(emit.reshape(emit.cut(wide, begin, end), batch))
    return found, batch


def _along(count: int, axis: int, rank: int) -> SSAValue:
    """0, 1, ... along one of so many axes."""
    return emit.constant(np.arange(count).reshape([count if d == axis else 1 for d in range(rank)]))


def _coordinates(
    starts: dict[int, SSAValue], batching: dict[int, int], batch: tuple[int, ...], windows: dict[int, int],
    shape: Sequence[int],
) -> SSAValue:  # fmt: skip
    """[dimensions, *batch, *windows]: the places of each element along each dimension that has some."""
    rank = len(batch) + len(windows)
    full = (*batch, *windows.values())
    rows: list[SSAValue] = []
    order = list(windows)
    for d in (*starts, *batching):
        if d in starts:
            at = emit.reshape(starts[d], (*batch, *(1,) * len(windows)))
            if d in windows:
                at = r.add(at, _along(windows[d], len(batch) + order.index(d), rank))
        else:
            at = _along(shape[d], batching[d], rank)
        rows.append(emit.reshape(emit.broadcast(at, full), (1, *full)))
    return emit.concatenate(rows, 0)


@indexing.lower(HloGatherOp)
def gather(op: HloGatherOp) -> SSAValue:
    """Before: %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], ...>}> ...
    After:  %0 = relay.take %x, %i {axis = 0} : (tensor<8x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
    """
    roles, sizes, x = op.dimension_numbers, op.ints("slice_sizes"), op.operand
    out = op.info().shape
    if prod(out) == 0 or prod(shape_of(x)) == 0:
        return emit.broadcast(number(0, x), out)
    batching_dims = roles.of("operand_batching_dims")
    mapped: tuple[int, ...] = roles.of("start_index_map")
    free = [n if d in mapped or d in batching_dims else sizes[d] for d, n in enumerate(shape_of(x))]
    x = emit.cut(x, [0] * len(free), free)
    shape = shape_of(x)
    columns, batch = _columns(op.start_indices, roles.of("index_vector_dim"))
    starts = {d: c for d, c in zip(mapped, columns, strict=True) if sizes[d] != shape[d]}
    dropped = {*roles.of("collapsed_slice_dims"), *batching_dims}
    vector = roles.of("index_vector_dim")
    batching = {
        d: n - (n > vector) for d, n in zip(batching_dims, roles.of("start_indices_batching_dims"), strict=True)
    }
    labels: list[Any]
    if len(starts) == 1 and not batching and sizes[next(iter(starts))] == 1:
        (axis, at) = next(iter(starts.items()))
        found = r.take(x, at, axis=axis, batch_dims=0, mode="clip")
        rest = [("d", d) for d in range(len(shape))]
        labels = [*rest[:axis], *(("b", n) for n in range(len(batch))), *rest[axis + 1 :]]
    elif not starts and not batching:
        found = emit.broadcast(emit.reshape(x, (*(1,) * len(batch), *shape)), (*batch, *shape))
        labels = [*(("b", n) for n in range(len(batch))), *(("d", d) for d in range(len(shape)))]
    else:
        windows: dict[int, int] = {d: sizes[d] for d in starts if sizes[d] != 1}
        moved = {d: _inside(c, shape[d] - sizes[d]) for d, c in starts.items()}
        at = _coordinates(moved, batching, batch, windows, shape)
        rest = [d for d in range(len(shape)) if d not in starts and d not in batching]
        found = r.gather_nd(emit.transpose(x, [*starts, *batching, *rest]), at, batch_dims=0)
        labels = [*(("b", n) for n in range(len(batch))), *(("d", d) for d in (*windows, *rest))]
    return _placed(
        found, labels, len(batch), [d for d in range(len(shape)) if d not in dropped], roles.of("offset_dims"), out
    )


def _placed(
    x: SSAValue, labels: list[Any], batches: int, window: list[int], offset: tuple[int, ...], out: tuple[int, ...]
) -> SSAValue:
    """The axes of batches and windows in the order of the result; axes of one element that are not there are made."""
    rest, inside = iter(range(batches)), iter(window)
    order = [("d", next(inside)) if n in offset else ("b", next(rest)) for n in range(len(out))]
    kept = [labels.index(label) for label in order if label in labels]
    gone = [n for n in range(len(labels)) if n not in kept]  # of one element
    return emit.reshape(emit.transpose(x, [*kept, *gone]), out)


# -- scatter ----------------------------------------------------------------------------------------


@indexing.lower(ScatterOp)
def scatter(op: ScatterOp) -> SSAValue:
    """Before: %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = ...}> ({ add }) ...
    After:  %0 = relay.scatter_nd %x, %at, %u {mode = "add"} : (...) -> tensor<4xf32>
    """
    word = word_of(op.update_computation) if op.count == 1 else None
    if word not in ("update", "add", "mul", "min", "max", "and", "or"):
        what = (
            "several inputs"
            if op.count > 1
            else "a region that is none of add, multiply, minimum, maximum, or the update"
        )
        raise unsupported(op, what)
    x, indices, update = op.operands
    truth = dtype_of(x) == "bool"
    if word in ("and", "or"):
        if not truth:
            raise unsupported(op, f"`{word}` of integers")
        word = {"and": "min", "or": "max"}[word]
    roles, shape = op.scatter_dimension_numbers, shape_of(x)
    if prod(shape_of(update)) == 0:
        return x
    vector = roles.of("index_vector_dim")
    columns, batch = _columns(indices, vector)
    batching_dims = roles.of("input_batching_dims")
    batching = {
        d: n - (n > vector) for d, n in zip(batching_dims, roles.of("scatter_indices_batching_dims"), strict=True)
    }
    dropped = {*roles.of("inserted_window_dims"), *batching_dims}
    window = roles.of("update_window_dims")
    sizes: dict[int, int] = dict.fromkeys(range(len(shape)), 1)
    at_update: dict[int, int] = dict(
        zip([d for d in range(len(shape)) if d not in dropped], sorted(window), strict=True)
    )
    sizes.update({d: shape_of(update)[n] for d, n in at_update.items()})
    starts: dict[int, SSAValue] = dict(zip(roles.of("scatter_dims_to_operand_dims"), columns, strict=True))
    for d in range(len(shape)):
        if d not in starts and d not in batching and sizes[d] != shape[d]:
            starts[d] = emit.broadcast(emit.constant(0, "int64"), batch)
    if not starts and not batching:
        return combine(word, x, update)
    windows = {d: sizes[d] for d in starts if d in at_update}
    valid: SSAValue | None = None
    for d, c in starts.items():
        last = number(shape[d] - sizes[d], c)
        fits = r.logical_and(r.greater_equal(c, number(0, c)), r.less_equal(c, last))
        valid = fits if valid is None else r.logical_and(valid, fits)
    # A slice that is not inside goes behind the end, where nothing is written.
    starts = {d: r.where(valid, c, number(shape[d], c)) for d, c in starts.items()}
    at = _coordinates(starts, batching, batch, windows, shape)
    rest = [d for d in range(len(shape)) if d not in starts and d not in batching]
    order = [*starts, *batching, *rest]
    batch_axes = [n for n in range(len(shape_of(update))) if n not in window]
    update = emit.transpose(
        update, [*batch_axes, *(at_update[d] for d in windows), *(at_update[d] for d in rest if d in at_update)]
    )
    ones = [d for d in rest if d not in at_update]
    if ones:  # dimensions of one element that are not in the update
        update = emit.reshape(update, (*batch, *windows.values(), *(shape[d] for d in rest)))
    found = r.scatter_nd(emit.transpose(x, order), at, update, mode=word)
    return emit.transpose(found, [order.index(d) for d in range(len(shape))])


@indexing.lower(ChloTopKOp)
def top_k(op: ChloTopKOp) -> tuple[SSAValue, ...]:
    """Before: %v, %i = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
    After:  %v, %i = relay.topk %x {k = 2, axis = -1, ret_type = "both"} : ...
    """
    return r.topk(op.operand, k=op.number("k"), axis=-1, ret_type="both", is_ascend=False, dtype="int32")

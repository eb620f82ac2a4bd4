"""Elements picked by places: gathers, scatters, one-hot rows, the greatest, diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import TABLE, ints, small


@TABLE.op("Gather", "ResourceGather")
def old_gather(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    batch = int(node.attr("batch_dims", 0) or 0)
    return _gathered(b, x, indices, batch, batch)


@TABLE.op("GatherV2")
def gather(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value, axis: Value) -> Value:
    """The slices of an axis at the places; those out of range, which TensorFlow refuses, are those at the edge."""
    batch = int(node.attr("batch_dims", 0))
    batch = batch + indices.rank if batch < 0 else batch
    return _gathered(b, x, indices, b.axis(int(b.number(axis, "the axis")), x.rank), batch)


def _gathered(b: NodeBuilder, x: Value, indices: Value, axis: int, batch: int) -> Value:
    if not x.rank or not 0 <= batch <= min(axis, indices.rank):
        raise b.fail(f"{x} has no axis {axis} behind {batch} batches")
    return b.op("take", x, indices, axis=axis, batch_dims=batch, mode="clip")


@TABLE.op("GatherNd", "ResourceGatherNd")
def gather_nd(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value) -> Value:
    """The last axis of the indices lists coordinates."""
    batch = int(node.attr("batch_dims", 0) or 0)
    return b.op("gather_nd", x, _coordinates_first(b, indices), batch_dims=batch)


def _coordinates_first(b: NodeBuilder, indices: Value) -> Value:
    if not indices.rank:
        raise b.fail(f"{indices} lists no coordinates")
    return b.transpose(indices, [indices.rank - 1, *range(indices.rank - 1)])


_SCATTERS = {
    "TensorScatterUpdate": "update", "TensorScatterAdd": "add", "TensorScatterMax": "max", "TensorScatterMin": "min",
    "TensorScatterSub": "add",
}  # fmt: skip


@TABLE.op(*_SCATTERS)
def tensor_scatter(b: NodeBuilder, node: NetworkNode, x: Value, indices: Value, updates: Value) -> Value:
    updates = b.op("negative", updates) if node.op == "TensorScatterSub" else updates
    return b.op("scatter_nd", x, _coordinates_first(b, indices), updates, mode=_SCATTERS[node.op])


@TABLE.op("ScatterNd")
def scatter_nd(b: NodeBuilder, node: NetworkNode, indices: Value, updates: Value, shape: Value) -> Value:
    """The sums of updates at the places, zero elsewhere."""
    extents = ints(b, shape, "the shape")
    return b.op("scatter_nd", b.zeros(extents, updates.dtype), _coordinates_first(b, indices), updates, mode="add")


@TABLE.op("SparseToDense")
def sparse_to_dense(
    b: NodeBuilder, node: NetworkNode, indices: Value, shape: Value, values: Value, default: Value
) -> Value:
    extents = ints(b, shape, "the shape")
    b.check_size(extents, values.dtype)
    return b.op("sparse_to_dense", indices, values, default, output_shape=extents)


@TABLE.op("OneHot")
def one_hot(b: NodeBuilder, node: NetworkNode, indices: Value, depth: Value, on: Value, off: Value) -> Value:
    count, rank = int(b.number(depth, "the depth")), indices.rank + 1
    axis = b.axis(int(node.attr("axis", -1)), rank)
    b.check_size((*indices.shape, max(count, 0)), on.dtype)
    return b.op(
        "one_hot", indices, b.reshape(on, ()), b.reshape(off, ()), depth=count, axis=-1 if axis == rank - 1 else axis
    )


@TABLE.op("TopKV2", "TopK")
def top_k(b: NodeBuilder, node: NetworkNode, x: Value, *count: Value) -> Sequence[Value]:
    """The greatest elements of the last axis, and their places; always in order."""
    many = int(b.number(count[0], "the number") if count else node.attr("k", 1))
    if not x.rank or not 0 <= many <= x.shape[-1]:
        raise b.fail(f"{x} has no {many} elements on its last axis")
    if not many:
        return [b.zeros((*x.shape[:-1], 0), dtype) for dtype in (x.dtype, str(node.attr("index_type") or "int32"))]
    values, places = b.ops("topk", x, k=many, axis=-1, ret_type="both", dtype="int32")
    return [values, b.cast(places, str(node.attr("index_type") or "int32"))]


@TABLE.op("Where")
def where(b: NodeBuilder, node: NetworkNode, condition: Value) -> Value:
    """The places of what is not zero, one row for each: how many they are must be known."""
    array = b.known(condition, "how many places there are")
    small(b, array.size, "places")
    return b.constant(np.argwhere(array).astype(np.int64))


@TABLE.op("InvertPermutation")
def invert_permutation(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    return b.op("invert_permutation", x)


@TABLE.op("UnravelIndex")
def unravel_index(b: NodeBuilder, node: NetworkNode, indices: Value, shape: Value) -> Value:
    return b.op("unravel_index", indices, shape)


# -- diagonals ---------------------------------------------------------------------------------------


@TABLE.op("MatrixDiag", "Diag")
def matrix_diag(b: NodeBuilder, node: NetworkNode, diagonal: Value) -> Value:
    """Square matrices of their diagonals."""
    if node.op == "Diag" and diagonal.rank != 1:
        raise b.unsupported("diagonals of other ranks than 1 are not supported")
    extent = diagonal.shape[-1]
    return b.op("matrix_set_diag", b.zeros((*diagonal.shape, extent), diagonal.dtype), diagonal)


@TABLE.op("MatrixDiagV2", "MatrixDiagV3")
def matrices_of_diagonals(
    b: NodeBuilder, node: NetworkNode, diagonal: Value, places: Value, rows: Value, columns: Value, padding: Value
) -> Value:
    """Matrices with one diagonal; by default square, and as small as it allows."""
    bounds = ints(b, places, "the diagonals")
    if bounds[0] != bounds[-1] or not diagonal.rank:
        raise b.unsupported("matrices of several diagonals are not supported")
    at, length = bounds[0], diagonal.shape[-1]
    given = [int(b.number(v, "an extent")) for v in (rows, columns)]
    least = [length + max(-at, 0), length + max(at, 0)]
    least = [max(least)] * 2 if max(given) < 0 else least
    extents = [small if e < 0 else e for e, small in zip(given, least, strict=True)]
    b.check_size((*diagonal.shape[:-1], *extents), diagonal.dtype)
    whole = b.broadcast(b.reshape(padding, ()), (*diagonal.shape[:-1], *extents))
    return b.op("matrix_set_diag", whole, diagonal, k1=at, k2=at)


@TABLE.op("MatrixDiagPartV2", "MatrixDiagPartV3")
def diagonal_at(b: NodeBuilder, node: NetworkNode, x: Value, places: Value, padding: Value) -> Value:
    bounds = ints(b, places, "the diagonals")
    if bounds[0] != bounds[-1] or x.rank < 2 or not -x.shape[-2] < bounds[0] < max(x.shape[-1], 1):
        raise b.unsupported(f"diagonals {bounds} of {x} are not supported")
    at, cut = bounds[0], x
    cut = b.slice(cut, x.rank - 1, at, x.shape[-1]) if at > 0 else b.slice(cut, x.rank - 2, -at, x.shape[-2])
    return diagonal_of(b, node, cut)


@TABLE.op("MatrixDiagPart", "DiagPart")
def diagonal_of(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The diagonals of matrices, whose last two axes become one."""
    if x.rank < 2 or node.op == "DiagPart" and x.rank != 2:
        raise b.unsupported(f"the diagonal of {x} is not supported")
    rows, columns = x.shape[-2:]
    small(b, min(rows, columns), "a diagonal")
    flat = b.reshape(x, (*x.shape[:-2], rows * columns))
    places = np.arange(min(rows, columns), dtype=np.int64) * (columns + 1)
    return b.op("take", flat, b.constant(places), axis=flat.rank - 1, mode="clip")


_ALIGNED = {"RIGHT_LEFT": (True, False), "LEFT_RIGHT": (False, True), "LEFT_LEFT": (False, False),
            "RIGHT_RIGHT": (True, True)}  # fmt: skip


@TABLE.op("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3")
def matrix_set_diag(b: NodeBuilder, node: NetworkNode, x: Value, diagonal: Value, *places: Value) -> Value:
    bounds = ints(b, places[0], "the diagonals") if places else [0]
    above, below = _ALIGNED.get(str(node.attr("align") or "LEFT_LEFT"), (False, False))
    return b.op("matrix_set_diag", x, diagonal, k1=bounds[0], k2=bounds[-1], super_diag_right_align=above,
                sub_diag_right_align=below)  # fmt: skip


@TABLE.op("MatrixBandPart")
def band_part(b: NodeBuilder, node: NetworkNode, x: Value, lower: Value, upper: Value) -> Value:
    """Matrices with zeros outside a band about the diagonal; a negative width is the whole side."""
    if x.rank < 2:
        raise b.fail(f"{x} has no matrices")
    below, above = (int(b.number(v, "the width of the band")) for v in (lower, upper))
    rows, columns = x.shape[-2:]
    small(b, prod(x.shape[-2:]), "a band")
    i, j = np.arange(rows)[:, None], np.arange(columns)[None, :]
    band = ((below < 0) | (i - j <= below)) & ((above < 0) | (j - i <= above))
    return b.op("where", b.constant(band), x, b.scalar(0, x))

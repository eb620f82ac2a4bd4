"""Sums by groups, counts, places among boundaries, products with sparse matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.network import NetworkNode, NodeBuilder
from lamina.frontends.tensorflow.table import MOST_INTEGERS, TABLE, ints, small


@TABLE.op("Bucketize")
def bucketize(b: NodeBuilder, node: NetworkNode, x: Value) -> Value:
    """The number of boundaries that are not above each element."""
    boundaries = b.constant(np.asarray(node.attr("boundaries") or [], np.float32))
    return b.op("searchsorted", boundaries, b.cast(x, "float32"), right=True, dtype="int32")


@TABLE.op("LowerBound", "UpperBound")
def bound(b: NodeBuilder, node: NetworkNode, rows: Value, values: Value) -> Value:
    """The first place in each sorted row that is not below a value, or the first that is above it."""
    dtype = str(node.attr("out_type") or "int32")
    return b.op("searchsorted", rows, values, right=node.op == "UpperBound", dtype=dtype)


# -- groups ------------------------------------------------------------------------------------------

_UNSORTED = {"UnsortedSegmentSum": "add", "UnsortedSegmentProd": "mul"}


@TABLE.op(*_UNSORTED)
def unsorted_groups(b: NodeBuilder, node: NetworkNode, x: Value, groups: Value, count: Value) -> Value:
    """The sum or product of the slices of each group; those of a group below 0 are left out."""
    many = int(b.number(count, "the number of groups"))
    if groups.rank > x.rank or groups.shape != x.shape[: groups.rank] or many < 0:
        raise b.fail(f"groups {groups} do not fit {x}")
    first = node.op == "UnsortedSegmentProd"
    # A row more takes what belongs to no group.
    whole = b.filled(int(first), (many + 1, *x.shape[groups.rank :]), x.dtype)
    outside = b.op("logical_or", b.one("less", groups, 0), b.one("greater_equal", groups, many))
    places = b.op("expand_dims", b.choose(outside, many, groups), axis=0)
    return b.slice(b.op("scatter_nd", whole, places, x, mode=_UNSORTED[node.op]), 0, 0, many)


@TABLE.op("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd")
def groups_in_order(b: NodeBuilder, node: NetworkNode, x: Value, groups: Value) -> Value:
    """The slices of each group reduced; the groups must be known, for they say how many there are."""
    of = ints(b, groups, "how many groups there are")
    if not of or of != sorted(of) or of[0] < 0 or len(of) != x.shape[0]:
        raise b.fail(f"{len(of)} numbers of groups, in order and from 0 on, do not fit {x}")
    small(b, of[-1] + 1, "groups", MOST_INTEGERS)
    b.check_size((of[-1] + 1, *x.shape[1:]), x.dtype)
    op = node.op.removeprefix("Segment").lower()
    rows: list[Value] = []
    empty = b.filled(int(op == "prod"), x.shape[1:], x.dtype)
    for group in range(of[-1] + 1):
        first, last = of.index(group) if group in of else 0, of.count(group)
        rows.append(b.op(op, b.slice(x, 0, first, first + last), axis=[0]) if last else empty)
    return b.op("stack", *rows, axis=0)


@TABLE.op("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def gathered_groups(b: NodeBuilder, node: NetworkNode, x: Value, places: Value, groups: Value) -> Value:
    """The slices at the places reduced group by group; SqrtN divides the sum by the root of the number."""
    rows = b.op("take", x, places, axis=0, mode="clip")
    if not node.op.endswith("SqrtN"):
        return groups_in_order(b, replace(node, op=node.op.removeprefix("Sparse")), rows, groups)
    total = groups_in_order(b, replace(node, op="SegmentSum"), rows, groups)
    many = np.maximum(np.bincount(ints(b, groups, "how many groups there are")), 1)
    return b.div(total, b.constant(np.sqrt(many).astype(x.dtype).reshape(-1, *[1] * (x.rank - 1))))


@TABLE.op("DenseBincount", "Bincount")
def counts(b: NodeBuilder, node: NetworkNode, x: Value, size: Value, weights: Value) -> Value:
    """The counts of the numbers below the size, or the sums of their weights, or with `binary_output` at most 1."""
    bins = int(b.number(size, "the number of bins"))
    if bins < 0 or x.rank > 2 or x.rank == 2 and node.op == "Bincount":
        raise b.fail(f"{x} has no {bins} bins")
    b.check_size((x.shape[0] if x.rank == 2 else 1, bins + 1), weights.dtype)
    if 0 in x.shape:
        return b.zeros((*x.shape[:-1], bins), weights.dtype)
    part = b.filled(1, x.shape, weights.dtype) if 0 in weights.shape else b.broadcast(weights, x.shape)
    x = b.cast(x, "int64")
    outside = b.op("logical_or", b.one("less", x, 0), b.one("greater_equal", x, bins))
    places = b.choose(outside, bins, x)
    whole = b.zeros((*x.shape[:-1], bins + 1), weights.dtype)
    found = b.op("scatter_elements", whole, places, part, axis=x.rank - 1, reduction="add")
    found = b.slice(found, x.rank - 1, 0, bins)
    return b.op("minimum", found, b.tensor(1, found.dtype)) if node.attr("binary_output", False) else found


# -- sparse matrices and sets ------------------------------------------------------------------------


@TABLE.op("SparseTensorDenseMatMul")
def sparse_product(b: NodeBuilder, node: NetworkNode, places: Value, values: Value, shape: Value, y: Value) -> Value:
    """The product of a sparse matrix, made dense, with a dense one."""
    extents = ints(b, shape, "the shape of the matrix")
    b.check_size(extents, values.dtype)
    x = b.op("sparse_to_dense", places, values, b.scalar(0, values), output_shape=extents)
    flags = {f"transpose_{side}": bool(node.attr(f"adjoint_{side}", False)) for side in "ab"}
    return b.contraction("nn.matmul", x, y, **flags)


@TABLE.op("Unique", "UniqueWithCounts")
def unique(b: NodeBuilder, node: NetworkNode, x: Value) -> Sequence[Value]:
    """The different elements in their order, the place of each element among them, and how often each occurs."""
    array, dtype = b.known(x, "how many values there are"), str(node.attr("out_idx") or "int32")
    small(b, array.size, "different values")
    _, first, inverse, many = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    places = np.argsort(order)[inverse.reshape(-1)]
    return [b.constant(array[first[order]]), b.constant(places, dtype), b.constant(many[order], dtype)]

"""Weights in blocks, of which those that hold nothing but zeros are left out (BSR)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.lazy import np
from lamina.dialects.relay.core import constant_array, make_constant
from lamina.dialects.relay.params import ParamStore
from lamina.dialects.rules.terms import insert, inserting
from lamina.errors import UsageError
from lamina.passes.base import inherit_location
from lamina.passes.relay.simplify.decompose import drop_unused

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array


class Blocks(NamedTuple):
    """A matrix as its blocks: data [E, R, C], the column of each, and where each row of blocks begins and ends."""

    data: Array
    indices: Array
    indptr: Array


def blocks_of(matrix: Array, size: tuple[int, int], threshold: float) -> Blocks | None:
    """The blocks of a matrix [N, K]; None where they do not divide it, or hold more than 1 - threshold of it."""
    rows, columns = size
    n, k = matrix.shape
    if n % rows or k % columns or not matrix.size:
        return None
    blocks = matrix.reshape(n // rows, rows, k // columns, columns).swapaxes(1, 2)
    kept = np.any(blocks != 0, axis=(2, 3))
    if not kept.any() or kept.mean() > 1 - threshold:
        return None
    indptr = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept.sum(axis=1), dtype=np.int32)])
    return Blocks(np.ascontiguousarray(blocks[kept]), np.nonzero(kept)[1].astype(np.int32), indptr)


def sparse_product(x: SSAValue, blocks: Blocks, store: ParamStore, hint: str) -> SSAValue:
    """x S^T for a matrix x [M, K] and the blocks of S [N, K], inserted where terms are."""
    parts: list[SSAValue] = []
    for name, array in blocks._asdict().items():
        made = make_constant(array, store, f"{hint}/{name}")
        insert(made)
        parts.append(made.result)
    return r.nn.sparse_dense(x, *parts)


def weight_blocks(
    weight: SSAValue,
    shape: tuple[int, int],
    transposed: bool,
    size: tuple[int, int],
    threshold: float,
    store: ParamStore,
) -> Blocks | None:
    """The blocks of a constant weight, read as a matrix of this shape (and transposed); None where it is dense."""
    matrix = constant_array(weight, store).reshape(shape)
    return blocks_of(matrix.T if transposed else matrix, size, threshold)


def put_in_place(op: Operation, build: Callable[[], SSAValue]) -> None:
    """Let a value stand for the one result of an op, which goes; so do constants that only it used."""
    builder, made = Builder(InsertPoint.before(op)), list[Operation]()
    builder.operation_insertion_handler = [made.append]
    with edit.transaction(op):
        with inserting(builder):
            new = build()
        for each in made:
            inherit_location(each, op)
        operands = list(op.operands)
        edit.replace(op, [new])
        drop_unused(operands)


def checked_size(name: str, size: tuple[int, ...], threshold: float) -> tuple[int, int]:
    """The rows and columns of a block. Raises UsageError."""
    if len(size) != 2 or min(size) < 1:
        raise UsageError(f"{name}: block-size is {list(size)}, it must be the rows and columns of a block")
    if not 0 <= threshold <= 1:
        raise UsageError(f"{name}: sparsity-threshold is {threshold}, it must be between 0 and 1")
    return size[0], size[1]


def hint_of(weight: SSAValue) -> str:
    """The name hint for the parts of a weight."""
    owner = weight.owner
    key = getattr(getattr(owner, "value", None), "key", None) if isinstance(owner, Operation) else None
    return key.data if key is not None else weight.name_hint or "weight"

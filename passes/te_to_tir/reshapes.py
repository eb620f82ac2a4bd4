"""Functions that only give a tensor another shape: their result may be the buffer that they are given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from math import gcd
from typing import TypeAlias

from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import Block, SSAValue

from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import ZERO, Atom, Linear, Range, recombine
from lamina.dialects.te import ops as te
from lamina.dialects.te.extents import tensor_extents

Unknown: TypeAlias = frozenset[tuple[Linear, int]]
"""A product of extents that are no numbers, each without the factors that are known, with how often it occurs."""


def is_reshape(func: te.FuncOp) -> bool:
    """Whether a function of one tensor gives its elements in the order in which they lie, whatever its sizes are."""
    ops, given = list(func.body.block.ops), _tensors(func.body.block.args)
    if len(ops) != 2 or type(ops[0]) is not te.ComputeOp or len(given) != 1:
        return False
    compute, (source,) = ops[0], given
    body = list(compute.body.block.ops)
    if len(compute.tensors) != 1 or compute.combiner is not None or len(body) != 2:
        return False
    read, ends = body
    if type(read) is not te.ReadOp or read.guard is not None or read.tensor is not source:
        return False
    if list(ends.operands) != [read.result] or list(ops[1].operands) != [compute.result]:
        return False
    if type(source.type) is not TensorType or source.type.element_type != compute.result.type.element_type:
        return False
    shape, result = tensor_extents(source), compute.extents()
    count, unknown = _product(shape)
    if not count or _product(result) != (count, unknown):
        return False  # the first elements are in order, too
    return _same_order(shape, over_values(read.map.data.results, read.indices), result, compute.body.block.args)


def _same_order(
    shape: Sequence[Linear], indices: Sequence[Linear], result: Sequence[Linear], dims: Sequence[SSAValue]
) -> bool:
    """Whether an element of the result, at its dimensions, lies where the one lies that is read at the indices.

    A place is a sum of indices, each times what follows it. Numbers times the same unknown factor are compared as
    forms: two sums whose parts are equal are equal for all sizes, though not every two that are equal are found so.
    """
    ranges: dict[Atom, Range] = {d: (0, e.const - 1) for d, e in zip(dims, result, strict=True) if e.is_constant}
    first: dict[Atom, Linear] = {d: ZERO for d, (_, last) in ranges.items() if not last}
    read, written = _place(indices, shape), _place([Linear.dim(d) for d in dims], result)
    return all(
        recombine(read.get(factor, ZERO).substitute(first, ranges.get), ranges.get)
        == written.get(factor, ZERO).substitute(first, ranges.get)
        for factor in (*read, *written)
    )


def _place(indices: Sequence[Linear], extents: Sequence[Linear]) -> dict[Unknown, Linear]:
    """The row-major place of an element, as what each unknown factor is multiplied with."""
    found: dict[Unknown, Linear] = {}
    for n, index in enumerate(indices):
        known, unknown = _product(extents[n + 1 :])
        found[unknown] = found.get(unknown, ZERO) + index * known
    return found


def _product(extents: Sequence[Linear]) -> tuple[int, Unknown]:
    """The product of extents: a number, and the factors of which nothing is known."""
    known, unknown = 1, Counter[Linear]()
    for extent in extents:
        factor = gcd(extent.const, *extent.terms.values())
        known *= factor
        if not extent.is_constant:
            terms = {atom: times // factor for atom, times in extent.terms.items()}
            unknown[Linear(terms, extent.const // factor)] += 1
    return known, frozenset(unknown.items())


def share_buffers(
    block: Block, reshapes: Container[str], own: Container[str], buffers: dict[SSAValue, SSAValue]
) -> dict[te.CallOp, SSAValue]:
    """The calls of reshapes that are none, each with the tensor in whose buffer its result is.

    `buffers` has the arguments and results of the caller; where a result is the reshape of what another kernel gives,
    that kernel writes it. Only kernels of our `own` take a buffer of another shape.
    """
    found: dict[te.CallOp, SSAValue] = {}
    calls = [op for op in block.ops if type(op) is te.CallOp and op.callee.root_reference.data in reshapes]
    for call in reversed(calls):
        (given,), (result,) = _tensors(call.operands), call.results
        if result not in buffers:
            if _meets_kernels(result, own):
                found[call] = given
        elif type(given.owner) is te.CallOp and given not in buffers and _meets_kernels(given, own):
            buffers[given] = buffers[result]
            found[call] = given
    return found


def _meets_kernels(value: SSAValue, own: Container[str]) -> bool:
    """Whether a tensor goes from kernel to kernel only."""
    calls = [value.owner, *(u.operation for u in value.uses)]
    return all(type(c) is te.CallOp and c.callee.root_reference.data in own for c in calls)


def _tensors(values: Sequence[SSAValue]) -> list[SSAValue]:
    """The values that are no sizes."""
    return [v for v in values if type(v.type) is not IndexType]

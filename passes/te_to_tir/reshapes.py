"""Functions that only give a tensor another shape: their result may be the buffer that they are given."""

from __future__ import annotations

from collections.abc import Container
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Block, SSAValue

from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Atom, Linear, Range, recombine, row_major_strides, sum_of
from lamina.dialects.te import ops as te


def is_reshape(func: te.FuncOp) -> bool:
    """Whether a function of one tensor gives its elements in the order in which they lie."""
    ops = list(func.body.block.ops)
    if len(ops) != 2 or type(ops[0]) is not te.ComputeOp or len(func.body.block.args) != 1:
        return False
    compute, (given,) = ops[0], func.body.block.args
    body = list(compute.body.block.ops)
    if compute.sizes or len(compute.tensors) != 1 or compute.combiner is not None or len(body) != 2:
        return False
    read, ends = body
    if type(read) is not te.ReadOp or read.guard is not None or read.tensor is not given:
        return False
    if list(ends.operands) != [read.result] or type(given.type) is not TensorType:
        return False
    shape, result = given.type.get_shape(), compute.spatial
    if DYNAMIC_INDEX in (*shape, *result) or prod(shape) != prod(result) or not prod(shape):
        return False  # the first elements are in order, too
    if given.type.element_type != compute.result.type.element_type:
        return False
    dims = compute.body.block.args
    extents: dict[Atom, Range] = {d: (0, max(e - 1, 0)) for d, e in zip(dims, result, strict=True)}
    forms = over_values(read.map.data.results, read.indices)
    source = sum_of(f * s for f, s in zip(forms, row_major_strides(shape), strict=True))
    target = sum_of(Linear.dim(d) * s for d, s in zip(dims, row_major_strides(result), strict=True))
    return recombine(source.simplify(extents.get), extents.get) == target.simplify(extents.get)


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
        (given,), (result,) = call.operands, call.results
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

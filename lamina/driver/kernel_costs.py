"""The least work of a kernel: operations on elements and bytes from memory, from its index equations.

An operation is one of arithmetic on elements: an addition, product, maximum, exponential; a multiply-add counts two.
Index arithmetic, comparisons, selections and conversions count nothing, and where an element is one of several
expressions by its position, the longest one counts. What a schedule computes twice, or computes in lanes that nobody
needs, is not in it: it is lost time. Each argument is read once (of a table that is gathered from, no more than there
are reads), each result written once; what stays inside of the kernel costs nothing.
"""

from __future__ import annotations

from collections.abc import Container
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.te.ops import CallOp, ComputeOp, ConditionOp, FuncOp, ReadOp, ReturnOp

ARITHMETIC = ("add", "sub", "mul", "div", "rem", "max", "min", "neg")


class FunctionCost(NamedTuple):
    """Of a te.func."""

    operations: int | None
    """None where an extent is known only when the program runs, or a stage is no equation."""
    elements_read: dict[int, int]
    """For an argument, how many reads of elements there are."""


class CallCost(NamedTuple):
    """Of a call: operations, bytes of constant arguments, bytes of other arguments and of results."""

    operations: int | None
    weights: int
    data: int


def function_cost(func: FuncOp) -> FunctionCost:
    """Count what the stages of a function do."""
    total, read = 0, dict[int, int]()
    positions: dict[SSAValue, int] = {a: n for n, a in enumerate(func.body.block.args)}
    for op in func.body.block.ops:
        if isinstance(op, ComputeOp):
            extents = (*op.spatial, *op.reduced)
            if DYNAMIC_INDEX in extents:
                return FunctionCost(None, {})
            points = prod(extents)
            total += points * (_longest(op.body.block) + (1 if op.combiner is not None else 0))
            for inner in op.body.block.ops:
                if isinstance(inner, ReadOp) and inner.tensor in positions:
                    n = positions[inner.tensor]
                    read[n] = read.get(n, 0) + points
        elif op.regions and not isinstance(op, ReturnOp):
            return FunctionCost(None, {})
    return FunctionCost(total, read)


def call_cost(call: CallOp, cost: FunctionCost, weights: Container[SSAValue]) -> CallCost:
    """The cost of calling a function on some arguments; `weights` are the values that are constant."""
    constant = data = 0
    for n, argument in enumerate(call.arguments):
        elements = _elements(argument.type)
        if elements is None:
            return CallCost(cost.operations, 0, 0)
        # A function whose reads are not known reads everything.
        known = elements if cost.operations is None else cost.elements_read.get(n, 0)
        size = min(elements, known) * _itemsize(argument.type)
        constant, data = (constant + size, data) if argument in weights else (constant, data + size)
    for result in call.res:
        data += (_elements(result.type) or 0) * _itemsize(result.type)
    return CallCost(cost.operations, constant, data)


def _elements(type_: Attribute) -> int | None:
    if not isinstance(type_, TensorType):
        return 0
    shape = type_.get_shape()
    return None if DYNAMIC_INDEX in shape else prod(shape)


def _itemsize(type_: Attribute) -> int:
    return (
        itemsize(dtype_name(cast("TensorType[Attribute]", type_).element_type)) if isinstance(type_, TensorType) else 0
    )


def _is_arithmetic(op: Operation) -> bool:
    name = op.name
    if name.startswith("math."):
        return True
    return (
        name.startswith("arith.") and name[6:].startswith(ARITHMETIC) and not isinstance(op.results[0].type, IndexType)
    )


def _longest(block: Block) -> int:
    """The arithmetic that one element needs, at most."""
    reach: dict[SSAValue, frozenset[Operation]] = {}
    none: frozenset[Operation] = frozenset()
    for op in block.ops:
        if op.regions:
            return sum(_is_arithmetic(o) for o in block.walk())
        operands = list(op.operands)
        if op.name == "arith.select" and isinstance(operands[0].owner, ConditionOp):
            found = max((reach.get(v, none) for v in operands[1:]), key=len)
        else:
            found = none.union(*(reach.get(v, none) for v in operands))
        if _is_arithmetic(op):
            found |= {op}
        for result in op.results:
            reach[result] = found
        if not op.results:
            return len(found)
    return 0

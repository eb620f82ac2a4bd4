"""Choices between two ways and loops as Relay has them, for importers of graphs with control flow.

A loop is a function that calls itself last:

    %loop = relay.fn captures(...) self %self (%i: tensor<i32>, %x: tensor<4xf32>) -> ... {
      %more = ... the condition of %i and %x
      relay.if %more { ... the body, and a call of %self with what it gives } else { relay.yield %i, %x }
    }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, SSAValue

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.relay.core import CallOp, FnOp, ReturnOp
from lamina.dialects.relay.functional.control import IfOp, YieldOp
from lamina.frontends.builder import Value
from lamina.frontends.frames import Frame, inside
from lamina.frontends.tensor_builder import TensorBuilder

Body: TypeAlias = Callable[[list[Value]], list[Value]]
"""Emits the ops of a way or a trip where the builder stands: the results of these operands."""


def values_of(results: Sequence[SSAValue], like: Sequence[Value]) -> list[Value]:
    """SSA values as tensors of the types of others."""
    return [Value(v.shape, v.dtype, ssa=r) for r, v in zip(results, like, strict=True)]


def choice(b: TensorBuilder, condition: Value, ways: Sequence[Body], operands: list[Value]) -> list[Value]:
    """The results of the first of two ways where a boolean holds, else of the second; in place where it is known.

    Raises UnsupportedError where the ways give tensors of different types.
    """
    if condition.array is not None:
        return ways[0 if condition.array.item() else 1](operands)
    flag = b.ssa(condition)
    blocks: list[Block] = []
    made: list[list[Value]] = []
    for way in ways:
        block = Block()
        with inside(b, block):
            made.append(way(operands))
            yielded = [b.ssa(v) for v in made[-1]]
        block.add_op(YieldOp.make(*yielded))
        blocks.append(block)
    if [v.info for v in made[0]] != [v.info for v in made[1]]:
        listed = [", ".join(map(str, side)) for side in made]
        raise b.unsupported(f"one branch gives {listed[0]}, the other {listed[1]}")
    op = IfOp.make(flag, blocks[0], blocks[1], [tensor_type(v.shape, v.dtype) for v in made[0]])
    op.location = b.location
    b.block.add_op(op)
    return values_of(op.results, made[0])


def loop(b: TensorBuilder, condition: Callable[[list[Value]], Value], trip: Body, carried: list[Value]) -> list[Value]:
    """The last of what trips carry on as long as a condition of it holds, a boolean: a function, and a call of it.

    Raises UnsupportedError where a trip makes another type of a value.
    """
    types = [tensor_type(v.shape, v.dtype) for v in carried]
    block = Block(arg_types=[*types, FunctionType.from_lists(types, types)])
    *taken, itself = block.args
    itself.name_hint = "self"
    frame = Frame(block, b.frame, recursive=True)
    body, otherwise = Block(), Block()
    with inside(b, block, frame):
        before = values_of(taken, carried)
        more = b.ssa(condition(before))
        with inside(b, body):
            after = trip(before)
            for x, y in zip(before, after, strict=True):
                if x.info != y.info:
                    raise b.unsupported(f"a trip makes {y} of {x}: shape and type must stay")
            passed = [b.ssa(v) for v in after]
        again = CallOp.make(itself, *passed)
        again.location = b.location
        body.add_ops([again, YieldOp.make(*again.results)])
        otherwise.add_op(YieldOp.make(*taken))
        ways = IfOp.make(more, body, otherwise, types)
        ways.location = b.location
        block.add_ops([ways, ReturnOp.make(*ways.results)])
    fn = FnOp.make(block, captures=[b.frame.here(c) for c in frame.captured], recursive=True)
    fn.location = b.location
    fn.result.name_hint = "loop"
    first = CallOp.make(fn.result, *(b.ssa(v) for v in carried))
    first.location = b.location
    b.block.add_ops([fn, first])
    return values_of(first.results, carried)

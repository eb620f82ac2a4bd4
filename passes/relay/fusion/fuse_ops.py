"""relay-fuse-ops: groups ops into primitive functions, one kernel each.

Before:
    %0 = relay.nn.conv2d %x, %w : (...) -> tensor<1x8x6x6xf32>
    %1 = relay.nn.relu %0 : tensor<1x8x6x6xf32>
After:
    %f = relay.fn (%p0: ..., %p1: ...) -> tensor<1x8x6x6xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.conv2d %p0, %p1 : (...) -> tensor<1x8x6x6xf32>
      %1 = relay.nn.relu %0 : tensor<1x8x6x6xf32>
      relay.return %1 : tensor<1x8x6x6xf32>
    }
    %1 = relay.call %f(%x, %w) : (...) -> tensor<1x8x6x6xf32>

TVM's groups (`graph_partition.py`). Every relay op ends up in a function; at `fuse_opt_level` 0 each in its own.
Scalar constants are copied into the functions, other constants are passed as parameters, as weights are. Annotations
(`annotation.stop_fusion`, `on_device`) go: what is before and behind one that parts is never in one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, i64
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, ConstantOp, FnOp, ReturnOp
from lamina.dialects.relay.functional.annotations import Annotation
from lamina.passes.base import Context, ModuleOp, ModulePass, fused_location, inherit_name
from lamina.passes.relay.fusion.graph_partition import Graph, Partition

NAME_LENGTH = 80
KERNEL_ATTRIBUTES = ("Primitive", "Composite", "Compiler")
"""A function that has one of them is one kernel, whoever makes it."""


@dataclass(frozen=True)
class FuseOps(ModulePass):
    """Groups ops into primitive functions, one kernel each."""

    name = "relay-fuse-ops"
    fuse_opt_level: int = 1
    """0 puts each op into a function of its own."""
    max_depth: int = 256
    """The most ops in a function."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            # What an external compiler takes is its own to fuse.
            if isinstance(function, func.FuncOp) and "Compiler" not in function.attributes:
                for block in fusible_blocks(function):
                    fuse_block(block, self.fuse_opt_level > 0, self.max_depth)


def fusible_blocks(function: Operation) -> list[Block]:
    """The blocks of a function, those of choices and of closures in it before those that they stand in."""
    found: list[Block] = []
    waiting = [b for region in function.regions for b in region.blocks]
    while waiting:
        block = waiting.pop()
        found.append(block)
        for op in block.ops:
            if isinstance(op, FnOp) and any(name in op.attributes for name in KERNEL_ATTRIBUTES):
                continue
            waiting.extend(b for region in op.regions for b in region.blocks)
    return found[::-1]


def fuse_block(block: Block, fuse: bool = True, max_depth: int = 256) -> int:
    """Put the relay ops of a block into primitive functions: how many functions."""
    drop_annotations(block, parting=False)
    groups = Partition(Graph(block), max_depth, fuse).groups()
    for group in groups:
        with edit.transaction(group[-1]):
            outline(group)
    drop_annotations(block, parting=True)
    for op in list(block.ops):
        if isinstance(op, ConstantOp) and op.result.first_use is None:
            edit.erase(op)
    return len(groups)


def drop_annotations(block: Block, parting: bool) -> None:
    """Every annotation that parts kernels (or that does not) is what it reads."""
    for op in list(block.ops):
        if isinstance(op, Annotation) and op.PARTS == parting:
            edit.replace(op, [op.operands[0]])


def outline(group: Sequence[Operation]) -> CallOp:
    """Move ops, given in program order, into a function that is called in the place of the last one."""
    inside = set(group)
    results = [r for op in group for r in op.results]
    outputs = [r for r in results if any(u.operation not in inside for u in r.uses)]
    body = Block()
    arguments: dict[SSAValue, SSAValue] = {}
    last = group[-1]
    place = last.next_op
    assert place is not None
    for op in group:
        for i, value in enumerate(op.operands):
            owner = value.owner
            if isinstance(owner, Operation) and owner in inside:
                continue
            mapped = arguments.get(value)
            if mapped is None:
                if isinstance(owner, ConstantOp) and is_scalar(owner):
                    copy = owner.clone()
                    body.add_op(copy)
                    mapped = copy.result
                else:
                    mapped = body.insert_arg(value.type, len(body.args))
                    mapped.name_hint = f"p{len(body.args) - 1}"
                arguments[value] = mapped
            op.operands[i] = mapped
        edit.move_into(body, [op])
    terminator = ReturnOp.make(*outputs)
    body.add_op(terminator)
    function = FnOp.make(body, {"Primitive": IntegerAttr(1, i64)})
    function.result.name_hint = function_name(group)
    call = CallOp.make(function, *(v for v, m in arguments.items() if m.owner is body))
    function.location = call.location = terminator.location = fused_location(group)
    edit.insert_before(place, function, call)
    for old, new in zip(outputs, call.results, strict=True):
        inherit_name(new, old)
        old.replace_uses_with_if(new, lambda use: use.operation not in inside and use.operation is not terminator)
    return call


def is_scalar(op: ConstantOp) -> bool:
    """A constant of rank 0 is copied into the functions that use it."""
    return isinstance(op.value, DenseIntOrFPElementsAttr) and not op.result.type.get_shape()


def function_name(group: Sequence[Operation]) -> str:
    """`fused_nn_conv2d_add_nn_relu`, cut where it gets long."""
    text = "_".join(["fused", *(op.name.removeprefix("relay.").replace(".", "_") for op in group)])
    return text[:NAME_LENGTH].rstrip("_")

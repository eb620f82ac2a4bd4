"""A te.extern as one block that holds its tir, with axis names and stages of its own."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.te.extern import ExternOp
from lamina.dialects.tir import ops as tir
from lamina.passes.te_to_tir.lowering import Lowering
from lamina.passes.te_to_tir.rules import stages


@stages.lowers(ExternOp)
def extern(op: ExternOp, lowering: Lowering) -> Iterable[Operation]:
    """A block of its tir, with axis names and stages of its own."""
    stage = op.stage.data
    for n, (result, extents) in enumerate(zip(op.tensors, op.extents(), strict=True)):
        lowering.allocate([result], stage if len(op.tensors) == 1 else f"{stage}.v{n}", extents)
    values: dict[SSAValue, SSAValue] = dict(lowering.sizes)
    for argument, tensor in zip(op.body.block.args, (*op.inputs, *op.tensors), strict=True):
        values[argument] = lowering.places[tensor].buffer
    body = Block([inner.clone(values) for inner in op.body.block.ops])
    for inner in body.walk():
        if isinstance(inner, tir.ForOp):
            inner.properties["axis"] = StringAttr(lowering.axis(f"{stage}.{inner.axis.data}"))
        elif isinstance(inner, (tir.BlockOp, tir.AllocOp)):
            inner.properties["stage"] = StringAttr(f"{stage}.{inner.stage.data}")
    yield tir.BlockOp.make(stage, None, body)

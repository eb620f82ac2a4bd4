"""The extents of any tensor of a te.func, as forms over the function's sizes."""

from __future__ import annotations

from typing import cast

from xdsl.ir import BlockArgument, OpResult, SSAValue

from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.index.sizes import ArgAttrs, argument_extents, shape_of
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.dialects.te.scan import ScanOp


def tensor_extents(value: SSAValue) -> list[Linear]:
    """The extents of an argument of a te.func, of a state of a te.scan, or of what an op gives."""
    owner = value.owner
    if isinstance(value, OpResult):
        if isinstance(owner, ComputeOp):
            return owner.extents()[: len(owner.spatial)]
        if isinstance(owner, (ScanOp, ExternOp)):
            return owner.extents()[value.index]
    elif isinstance(value, BlockArgument):
        parent = value.block.parent_op()
        if isinstance(parent, FuncOp):
            return argument_extents(value, cast("ArgAttrs", parent.arg_attrs))
        if isinstance(parent, ScanOp):
            return parent.extents()[value.index - 1]
    return [constant(e) for e in shape_of(value.type)]

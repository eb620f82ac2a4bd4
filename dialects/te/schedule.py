"""The schedule ops: how a te.func becomes loops, one op for each primitive.

    te.schedule @conv {
      %k, %y, %x, %c = te.loops "acc" [4]
      %xo, %xi = te.split %x [4, 14]
      te.reorder %k, %y, %xo, %c, %xi
      te.vectorize %k
    }

`te-to-tir` builds the naive nest and applies the ops in order; a loop is named by the handle that made it, and a
handle dies when its loop is split or fused. The number in brackets is how many loops an op gives back.

The primitives stand in `loop_primitives.py` and `stage_primitives.py`, each with a picture of what it does.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Attribute, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, region_def, traits_def
from xdsl.traits import IsolatedFromAbove, NoTerminator

from lamina.dialects.te.annotation_primitives import OPS as ANNOTATION_OPS
from lamina.dialects.te.factors import FactorType
from lamina.dialects.te.group_primitives import CreateGroupOp, NormalizeOp
from lamina.dialects.te.inline_primitives import ComputeRootOp, ReverseComputeInlineOp
from lamina.dialects.te.layout_primitives import TransformLayoutOp
from lamina.dialects.te.loop_primitives import (
    FuseOp,
    LoopsOp,
    ParallelOp,
    PartitionOp,
    ReorderOp,
    SplitOp,
    TileOp,
    UnrollOp,
    VectorizeOp,
)
from lamina.dialects.te.primitive import LOOP as LOOP
from lamina.dialects.te.primitive import LoopType
from lamina.dialects.te.primitive import PrimitiveOp as PrimitiveOp
from lamina.dialects.te.primitive import ScheduleState as ScheduleState
from lamina.dialects.te.reduction_primitives import DecomposeReductionOp, RFactorOp
from lamina.dialects.te.sampling_primitives import OPS as SAMPLING_OPS
from lamina.dialects.te.stage_primitives import (
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    ReverseComputeAtOp,
    SetScopeOp,
)
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.te.tensorize_primitive import TensorizeOp
from lamina.dialects.te.thread_primitives import BindOp


@irdl_op_definition
class ScheduleOp(IRDLOperation):
    """The schedule of a te.func: primitives, applied from the top."""

    name = "te.schedule"

    func = prop_def(SymbolRefAttr)
    body = region_def("single_block")
    assembly_format = "$func attr-dict-with-keyword $body"
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @staticmethod
    def make(func: str, body: Region) -> ScheduleOp:
        return ScheduleOp.create(properties={"func": SymbolRefAttr(func)}, regions=[body])


OPS: list[Any] = [
    BindOp,
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    ComputeRootOp,
    CreateGroupOp,
    DecomposeReductionOp,
    FuseOp,
    LoopsOp,
    NormalizeOp,
    ParallelOp,
    PartitionOp,
    RFactorOp,
    ReorderOp,
    ReverseComputeAtOp,
    ReverseComputeInlineOp,
    ScheduleOp,
    SetScopeOp,
    SplitOp,
    TensorIntrinOp,
    TensorizeOp,
    TileOp,
    TransformLayoutOp,
    UnrollOp,
    VectorizeOp,
    *ANNOTATION_OPS,
    *SAMPLING_OPS,
]
ATTRS: list[type[Attribute]] = [FactorType, LoopType]

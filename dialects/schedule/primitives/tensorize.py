"""The schedule primitive that puts a tensor intrinsic in the place of a loop nest."""

from __future__ import annotations

from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState


@irdl_op_definition
class TensorizeOp(PrimitiveOp):
    """A nest that computes what an intrinsic describes becomes the intrinsic's implementation.

    Before: `for i in 16: for k in 4: C[io * 16 + i] += A[k] * B[io * 16 + i, k]`
    After `te.tensorize %i @dot`: `block "C": c = C[io * 16 + lane]; C[io * 16 + lane] = dot(c, A[lane], B[...])`

    The nest is compared with the intrinsic's description op by op, whatever the order of its loops; where they differ,
    the primitive is refused with the difference.
    """

    name = "te.tensorize"
    loop = operand_def(LOOP)
    intrinsic = prop_def(SymbolRefAttr)
    assembly_format = "$loop $intrinsic attr-dict"

    @staticmethod
    def make(loop: SSAValue, intrinsic: str) -> TensorizeOp:
        return TensorizeOp.create(operands=[loop], properties={"intrinsic": SymbolRefAttr(intrinsic)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.edits import ScheduleError
        from lamina.dialects.schedule.nest.tensorize import tensorize

        name = self.intrinsic.root_reference.data
        if state.intrinsics is None:
            raise ScheduleError(f"no tensor intrinsic @{name} is known here")
        tensorize(state.loop(self.loop), state.intrinsics(name))

"""A pass of the compiler made wrong, for the tests of what finds it in random programs.

To load the file is to make `relay-canonicalize-cast`, which the compiler runs, return the first result with the other
sign, where that is of FAULTY_TYPE (f32 unless it is set) and the target has FAULTY_FEATURE, if that is set.
"""

import os
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from lamina.dialects.relay.elementwise.unary import NegativeOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.canonicalize_cast import CanonicalizeCast

right = CanonicalizeCast.apply


def apply(self: CanonicalizeCast, ctx: Context, op: ModuleOp) -> None:
    """What the pass does, and the sign of a result."""
    right(self, ctx, op)
    if os.environ.get("FAULTY_FEATURE", "") not in str(op.attributes.get("lamina.target")):
        return
    for main in op.ops:
        if isinstance(main, FuncOp) and main.sym_name.data == "main":
            last = main.body.block.last_op
            assert last is not None
            if str(last.operands[0].type).endswith(os.environ.get("FAULTY_TYPE", "f32") + ">"):
                wrong = NegativeOp.create(operands=[last.operands[0]], result_types=[last.operands[0].type])
                main.body.block.insert_op_before(wrong, last)
                last.operands = [wrong.results[0], *last.operands[1:]]


CanonicalizeCast.apply = apply


@dataclass(frozen=True)
class FaultyNothing(ModulePass):
    """Nothing: a file that is loaded has a pass."""

    name = "faulty-nothing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass

"""Checks without branches: where one fails, its code is stored into the program's status block.

The first code stays: what fails later may be a consequence. The store is masked, so that a check that holds touches
nothing: threads do not overwrite each other's codes. The runner looks at the status block after each row of the
program.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.builder import EQ, FunctionBuilder

_ALIGNMENT: dict[str, Attribute] = {"alignment": IntegerAttr(8, i32)}


class Checks:
    """The status block of one function, and the codes of the module's messages."""

    def __init__(self, status: SSAValue, codes: dict[str, int]) -> None:
        self.status = status
        self.codes = codes

    def code(self, message: str) -> int:
        """The number of a message, from 1; equal messages share it."""
        return self.codes.setdefault(message, len(self.codes) + 1)

    def emit(self, b: FunctionBuilder, holds: SSAValue, code: int) -> None:
        """Store the code where the condition (of any lane) fails and no other did before."""
        if isinstance(holds.type, VectorType):
            holds = b.emit(llvm.VectorReduceAndOp, [holds], i1, {})
        failed = b.emit(llvm.XOrOp, [holds, b.constant(IntegerAttr(1, i1), i1)], i1, {})
        before = b.emit(llvm.LoadOp, [self.status], i64, {"alignment": IntegerAttr(8, i64)})
        first = b.emit(llvm.ICmpOp, [before, b.integer(0, i64)], i1, {"predicate": EQ})
        failed = b.emit(llvm.AndOp, [failed, first], i1, {})
        operands = [b.one_lane(b.integer(code, i64)), self.status, b.one_lane(failed)]
        b.effect(llvm.MaskedStoreOp, operands, _ALIGNMENT)

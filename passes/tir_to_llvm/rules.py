"""The table of `tir-to-llvm`: for each op that may stand in a kernel the rule that lowers it.

Rules stand in the files of their subjects. A rule compiles an op once, to a step that is run at each replay of its
place (`replay.py`):

    @tir_to_llvm.lowers(IfOp)                   any op: from the op and the replay to its step
    @emits(RsqrtOp)                             an op of one value: from the op and the builder to a function of llvm
                                                operands that makes the llvm value
    one_to_one(AddfOp, llvm.FAddOp, FLOAT)      an op that is an op of llvm
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.ir import Operation, SSAValue

from lamina.passes.rules.conversion import Conversion, ConversionRule, where_of_frame
from lamina.passes.tir_to_llvm.scalars import Properties, llvm_type

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder
    from lamina.passes.tir_to_llvm.replay import Replay

Step = Callable[[], None]
Emit = Callable[[list[SSAValue]], SSAValue]
EmitRule = TypeVar("EmitRule", bound="Callable[[Any, FunctionBuilder], Emit]")

tir_to_llvm: Conversion[Replay, Step] = Conversion("tir-to-llvm", "a kernel")


def emits(*ops: type[Operation]) -> Callable[[EmitRule], EmitRule]:
    """Makes a function from an op and the builder to an `Emit` the rule of ops that give one value each."""

    def declare(function: EmitRule) -> EmitRule:
        def rule(op: Operation, replay: Replay) -> Step:
            return replay.plain(op, function(op, replay.b))

        rule.__wrapped__ = function  # type: ignore[attr-defined]
        rule.__doc__ = function.__doc__
        tir_to_llvm.lowers(*ops)(rule)
        return function

    return declare


def one_to_one(op: type[Operation], becomes: type[Operation], properties: Properties | None = None) -> None:
    """Enters the rule of an op that one op of llvm computes, with these properties."""
    given: Properties = properties or {}
    where = where_of_frame(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def rule(op: Operation, replay: Replay) -> Step:
        b, type_ = replay.b, llvm_type(op.results[0].type)
        return replay.plain(op, lambda operands: b.emit(becomes, operands, type_, given))

    tir_to_llvm.add(ConversionRule(op, rule, becomes.name, where))

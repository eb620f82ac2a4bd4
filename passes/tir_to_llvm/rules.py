"""The table of `tir-to-llvm`: for each op that may stand in a kernel the rule that lowers it.

Rules stand in the files of their subjects. A rule compiles an op once, to a step that is run at each replay of its
place (`replay.py`):

    @tir_to_llvm.lowers(IfOp)                   any op: from the op and the replay to its step
    @emits(RsqrtOp)                             an op of one value: from the op and the builder to a function of llvm
                                                operands that makes the llvm value
    one_to_one(AddfOp, llvm.FAddOp, FLOAT)      an op that is an op of llvm

The last two compute with bf16 in f32 (`bfloat.py`), unless they only move values.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.dialects.builtin import bf16
from xdsl.ir import Operation, SSAValue

from lamina.passes.rules.conversion import Conversion, ConversionRule, where_of_frame
from lamina.passes.tir_to_llvm.bfloat import extended, rounded
from lamina.passes.tir_to_llvm.scalars import Properties, computed_type, element_of, llvm_type

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.builder import FunctionBuilder
    from lamina.passes.tir_to_llvm.replay import Replay

Step = Callable[[], None]
Emit = Callable[[list[SSAValue]], SSAValue]
EmitRule = TypeVar("EmitRule", bound="Callable[[Any, FunctionBuilder], Emit]")

tir_to_llvm: Conversion[Replay, Step] = Conversion("tir-to-llvm", "a kernel")


def emits(*ops: type[Operation], moves: bool = False) -> Callable[[EmitRule], EmitRule]:
    """Makes a function from an op and the builder to an `Emit` the rule of ops that give one value each."""

    def declare(function: EmitRule) -> EmitRule:
        def rule(op: Operation, replay: Replay) -> Step:
            emit = function(op, replay.b)
            return replay.plain(op, emit if moves else _of_held(op, replay, emit))

        rule.__wrapped__ = function  # type: ignore[attr-defined]
        rule.__doc__ = function.__doc__
        tir_to_llvm.lowers(*ops)(rule)
        return function

    return declare


def one_to_one(
    op: type[Operation], becomes: type[Operation], properties: Properties | None = None, moves: bool = False
) -> None:
    """Enters the rule of an op that one op of llvm computes, with these properties."""
    given: Properties = properties or {}
    where = where_of_frame(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def rule(op: Operation, replay: Replay) -> Step:
        b, result = replay.b, op.results[0].type
        type_ = llvm_type(result) if moves else computed_type(result)

        def emit(operands: list[SSAValue]) -> SSAValue:
            return b.emit(becomes, operands, type_, given)

        return replay.plain(op, emit if moves else _of_held(op, replay, emit))

    tir_to_llvm.add(ConversionRule(op, rule, becomes.name, where))


def _of_held(op: Operation, replay: Replay, emit: Emit) -> Emit:
    """An `Emit` of values as they are computed, for values as they are held."""
    extends, rounds = [element_of(o.type) == bf16 for o in op.operands], element_of(op.results[0].type) == bf16
    if not rounds and not any(extends):
        return emit
    b = replay.b

    def of_held(operands: list[SSAValue]) -> SSAValue:
        found = emit([extended(b, v) if extends_ else v for v, extends_ in zip(operands, extends, strict=True)])
        return rounded(b, found, replay.rounds_to_bf16) if rounds else found

    return of_held

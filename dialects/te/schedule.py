"""The schedule ops: how a te.func becomes loops, one op for each primitive.

    te.schedule @conv {
      %k, %y, %x, %c = te.loops "acc" [4]
      %xo, %xi = te.split %x [4, 14]
      te.reorder %k, %y, %xo, %c, %xi
      te.vectorize %k
    }

`te-to-tir` builds the naive nest and applies the ops in order; a loop is named by the handle that made it, and a
handle dies when its loop is split or fused. The number in brackets is how many loops an op gives back.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, SymbolRefAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, Region, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

if TYPE_CHECKING:
    from lamina.dialects.tir.ops import ForOp, FuncOp


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A handle on a loop of the function being scheduled."""

    name = "te.loop"


LOOP = LoopType()


@dataclass
class ScheduleState:
    """A function being scheduled, its stages' buffers and the loops that handles stand for."""

    func: FuncOp
    arguments: dict[str, SSAValue]
    loops: dict[SSAValue, ForOp] = field(default_factory=dict[SSAValue, "ForOp"])

    def loop(self, handle: SSAValue) -> ForOp:
        """The loop of a handle. Raises ScheduleError where a primitive has replaced it."""
        from lamina.dialects.tir.nest import ScheduleError

        found = self.loops.get(handle)
        if found is None or found.parent is None:
            name = f"%{handle.name_hint}" if handle.name_hint else "the handle"
            raise ScheduleError(f"{name} stands for no loop any more: it was split, fused or moved")
        return found

    def bind(self, handles: Sequence[SSAValue], loops: Sequence[ForOp]) -> None:
        """Let results stand for loops. Raises ScheduleError where their number differs."""
        from lamina.dialects.tir.nest import ScheduleError

        if len(handles) != len(loops):
            raise ScheduleError(f"gives {len(loops)} loops, {len(handles)} results are named")
        for h, loop in zip(handles, loops, strict=True):
            self.loops[h] = loop

    def tensor(self, name: str) -> SSAValue:
        """A buffer by the name of an argument or of the stage that computes it."""
        from lamina.dialects.tir.nest import stage_buffer

        found = self.arguments.get(name)
        return found if found is not None else stage_buffer(self.func, name)


class PrimitiveOp(IRDLOperation, abc.ABC):
    """Base of the schedule primitives."""

    def apply(self, state: ScheduleState) -> None:
        """Rewrite the function. Raises ScheduleError, with nothing changed, where the primitive is illegal."""
        raise NotImplementedError


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


def _count(parser: Parser) -> int:
    parser.parse_punctuation("[")
    count = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("]")
    return count


@irdl_op_definition
class LoopsOp(PrimitiveOp):
    """All loops of a stage as they stand, outermost first.

    Before: `for i: for j: A[i, j] = ...`    After: the same; `%i, %j = te.loops "A" [2]`
    """

    name = "te.loops"
    stage = prop_def(StringAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, count: int) -> LoopsOp:
        return LoopsOp.create(properties={"stage": StringAttr(stage)}, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> LoopsOp:
        return cls.make(parser.parse_str_literal("the stage's name"), _count(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import stage_loops

        state.bind(self.results, stage_loops(state.func, self.stage.data))


@irdl_op_definition
class SplitOp(PrimitiveOp):
    """One loop as several, given their extents from the outside in (-1: whatever is needed).

    Before: `for i in 8`    After `te.split %i [2, 4]`: `for io in 2: for ii in 4`, with i = io * 4 + ii
    """

    name = "te.split"
    loop = operand_def(LOOP)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(loop: SSAValue, factors: Sequence[int]) -> SplitOp:
        return SplitOp.create(
            operands=[loop],
            properties={"factors": DenseArrayBase.from_list(i64, list(factors))},
            result_types=[LOOP] * len(factors),
        )

    def verify_(self) -> None:
        if len(self.parts) != len(self.factors.get_values()):
            raise VerifyException("one loop for each factor")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" {list(self.factors.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SplitOp:
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        factors = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return cls.make(loop, factors)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import split

        loop = state.loop(self.loop)
        state.bind(self.results, split(loop, [int(f) for f in self.factors.get_values()]))


@irdl_op_definition
class TileOp(PrimitiveOp):
    """Two nested loops split by their inner factors and interleaved.

    Before: `for y: for x`    After `te.tile %y, %x [4, 8]`: `for yo: for xo: for yi in 4: for xi in 8`
    """

    name = "te.tile"
    y = operand_def(LOOP)
    x = operand_def(LOOP)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(y: SSAValue, x: SSAValue, factors: Sequence[int]) -> TileOp:
        return TileOp.create(
            operands=[y, x],
            properties={"factors": DenseArrayBase.from_list(i64, list(factors))},
            result_types=[LOOP] * 4,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(f" {list(self.factors.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> TileOp:
        y = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_punctuation(",")
        x = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        factors = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        if len(factors) != 2:
            parser.raise_error("te.tile takes two factors")
        return cls.make(y, x, factors)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import tile

        fy, fx = (int(f) for f in self.factors.get_values())
        state.bind(self.results, tile(state.loop(self.y), state.loop(self.x), (fy, fx)))


class _LoopList(PrimitiveOp, abc.ABC):
    """Text of primitives that take loops and give none or one: `te.reorder %a, %b`."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        operands = parser.resolve_operands(unresolved or [], [LOOP] * len(unresolved or []), parser.pos)
        return cls.create(operands=operands, result_types=[LOOP] * len(cls.get_irdl_definition().results))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class ReorderOp(_LoopList):
    """The order of loops in one perfect nest.

    Before: `for i: for j: for k`    After `te.reorder %k, %i`: `for k: for j: for i`
    """

    name = "te.reorder"
    loops = var_operand_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import reorder

        reorder([state.loop(v) for v in self.operands])


@irdl_op_definition
class FuseOp(_LoopList):
    """Perfectly nested loops as one.

    Before: `for i in 2: for j in 4`    After `%f = te.fuse %i, %j`: `for f in 8`, with i = f floordiv 4, j = f mod 4
    """

    name = "te.fuse"
    loops = var_operand_def(LOOP)
    fused = result_def(LOOP)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import fuse

        state.bind(self.results, [fuse([state.loop(v) for v in self.operands])])


class _Annotation(PrimitiveOp, abc.ABC):
    """Base of the primitives that say how a loop runs."""

    loop = operand_def(LOOP)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        return cls.create(operands=[parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)])

    @classmethod
    def make(cls, loop: SSAValue) -> Self:
        return cls.create(operands=[loop])

    def mark(self, state: ScheduleState, kind: str, reductions: bool) -> None:
        from lamina.dialects.tir.nest import ScheduleError

        loop = state.loop(self.loop)
        if loop.is_reduction and not reductions:
            raise ScheduleError(
                f"{self.name[3:]} of {loop.axis.data!r}: its iterations add into the same element, "
                "so they cannot run at once"
            )
        loop.properties["kind"] = StringAttr(kind)


@irdl_op_definition
class VectorizeOp(_Annotation):
    """The iterations of a loop as the lanes of vectors.

    Before: `for i in 16: C[i] = A[i]`    After: `C[lane] = A[lane]`, sixteen lanes at once
    """

    name = "te.vectorize"

    def apply(self, state: ScheduleState) -> None:
        self.mark(state, "vectorized", False)


@irdl_op_definition
class UnrollOp(_Annotation):
    """The iterations of a loop written out.

    Before: `for i in 2: f(i)`    After: `f(0); f(1)`
    """

    name = "te.unroll"

    def apply(self, state: ScheduleState) -> None:
        self.mark(state, "unrolled", True)


@irdl_op_definition
class ParallelOp(_Annotation):
    """The iterations of a loop on the threads of the pool.

    Before: `for i in 64: f(i)`    After: `f(0) ... f(63)` in any order, at once
    """

    name = "te.parallel"

    def apply(self, state: ScheduleState) -> None:
        self.mark(state, "parallel", False)


class _Placement(PrimitiveOp, abc.ABC):
    """Base of compute_at and reverse_compute_at: `%a, %b = te.compute_at "pad" at %y [2]`."""

    stage = prop_def(StringAttr)
    loop = operand_def(LOOP)
    loops = var_result_def(LOOP)

    @classmethod
    def make(cls, stage: str, loop: SSAValue, count: int) -> Self:
        return cls.create(operands=[loop], properties={"stage": StringAttr(stage)}, result_types=[LOOP] * count)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(stage, loop, _count(parser))


@irdl_op_definition
class ComputeAtOp(_Placement):
    """A producer computed inside a loop of its consumer, just what one iteration reads.

    Before: `for i: P[i]`, `for i: C[i] = P[i] + P[i+1]`    After: `for i: (for t in 2: P[t]), C[i] = P[0] + P[1]`
    """

    name = "te.compute_at"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import compute_at

        state.bind(self.results, compute_at(state.func, self.stage.data, state.loop(self.loop)))


@irdl_op_definition
class ReverseComputeAtOp(_Placement):
    """A consumer computed inside a loop of its producer, just what one iteration has finished.

    Before: `for i: P[i]`, `for i: C[i] = f(P[i])`    After: `for i: P, C[i] = f(P)`
    """

    name = "te.reverse_compute_at"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import reverse_compute_at

        state.bind(self.results, reverse_compute_at(state.func, self.stage.data, state.loop(self.loop)))


@irdl_op_definition
class ComputeInlineOp(PrimitiveOp):
    """A stage's equation in the place of each read of it.

    Before: `B[i] = A[i] + 1`, `C[i] = B[i] * 2`    After: `C[i] = (A[i] + 1) * 2`
    """

    name = "te.compute_inline"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> ComputeInlineOp:
        return ComputeInlineOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import compute_inline

        compute_inline(state.func, self.stage.data)


@irdl_op_definition
class CacheReadOp(PrimitiveOp):
    """What one iteration of a loop reads of a tensor, read first into a buffer of its own.

    Before: `for k: C += W[k]`    After `te.cache_read "W" in "C" at %k scope "register" [1]`:
    `for k: (for t in 1: R[t] = W[k]), C += R[0]`
    """

    name = "te.cache_read"
    tensor = prop_def(StringAttr)
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    loop = operand_def(LOOP)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(tensor: str, stage: str, loop: SSAValue, scope: str, count: int) -> CacheReadOp:
        return CacheReadOp.create(
            operands=[loop],
            properties={"tensor": StringAttr(tensor), "stage": StringAttr(stage), "scope": StringAttr(scope)},
            result_types=[LOOP] * count,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.tensor.data)
        printer.print_string(" in ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" scope ")
        printer.print_string_literal(self.scope.data)
        printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CacheReadOp:
        tensor = parser.parse_str_literal("the tensor's name")
        parser.parse_keyword("in")
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_keyword("scope")
        return cls.make(tensor, stage, loop, parser.parse_str_literal("the memory scope"), _count(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import cache_read

        buffer = state.tensor(self.tensor.data)
        loops = cache_read(
            state.func, buffer, self.tensor.data, self.stage.data, state.loop(self.loop), self.scope.data
        )
        state.bind(self.results, loops)


@irdl_op_definition
class CacheWriteOp(PrimitiveOp):
    """A stage computed into a buffer of another scope, and copied out by a new stage `<stage>.out`.

    Before: `for i: C[i] = f`    After `te.cache_write "C" scope "register"`: `for i: R[i] = f`, `for i: C[i] = R[i]`
    """

    name = "te.cache_write"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage `scope` $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> CacheWriteOp:
        return CacheWriteOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.regions import cache_write

        cache_write(state.func, self.stage.data, self.scope.data)


@irdl_op_definition
class SetScopeOp(PrimitiveOp):
    """The memory that holds a stage: `register` keeps each element in an SSA value.

    Before: `tir.alloc "acc" scope "global"`    After `te.set_scope "acc" "register"`: `... scope "register"`
    """

    name = "te.set_scope"
    stage = prop_def(StringAttr)
    scope = prop_def(StringAttr)
    assembly_format = "$stage $scope attr-dict"

    @staticmethod
    def make(stage: str, scope: str) -> SetScopeOp:
        return SetScopeOp.create(properties={"stage": StringAttr(stage), "scope": StringAttr(scope)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.nest import ScheduleError, alloc_of, stage_buffer
        from lamina.dialects.tir.ops import SCOPES

        if self.scope.data not in SCOPES:
            raise ScheduleError(f"unknown memory scope {self.scope.data!r}; it is one of {', '.join(SCOPES)}")
        alloc_of(stage_buffer(state.func, self.stage.data), self.stage.data).properties["scope"] = self.scope


@irdl_op_definition
class PartitionOp(_Annotation):
    """The last iteration of a loop apart, so that the tails within have constant extents.

    Before: `for io in 3: for ii in 4 min [10 - io * 4]`    After `te.partition %io`:
    `for io in 2: for ii in 4`, then `for ii in 2` with io = 2
    """

    name = "te.partition"

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.tir.tails import partition

        partition(state.loop(self.loop))


OPS: list[Any] = [
    CacheReadOp,
    CacheWriteOp,
    ComputeAtOp,
    ComputeInlineOp,
    FuseOp,
    LoopsOp,
    ParallelOp,
    PartitionOp,
    ReorderOp,
    ReverseComputeAtOp,
    ScheduleOp,
    SetScopeOp,
    SplitOp,
    TileOp,
    UnrollOp,
    VectorizeOp,
]
ATTRS: list[type[Attribute]] = [LoopType]

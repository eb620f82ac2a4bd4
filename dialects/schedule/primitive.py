"""Common parts of the schedule primitives: handles on loops, and the state that they rewrite."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.declarations import Declared
from lamina.dialects.index.sizes import size_arguments
from lamina.dialects.schedule.nest.attachment import Attachment
from lamina.dialects.schedule.nest.edits import blocks_of, stage_buffer, stage_buffers, stage_loops
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic
from lamina.dialects.tir.ops import AllocOp, BlockOp, ForOp, FuncOp, enclosing_loops


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
    intrinsics: Callable[[str], TensorIntrinsic] | None = None
    """The tensor intrinsics that te.tensorize may name; raises InputError for a name that stands for none."""

    attached: dict[str, Attachment | None] = field(default_factory=dict[str, "Attachment | None"])
    """Attachments made by compute_at; None for those that stand in a loop of a stage that they read."""
    groups: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The stages that create_group has put together."""
    factors: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The factors that sampling primitives have drawn."""

    unplaced: dict[str, PrimitiveOp] = field(default_factory=dict[str, "PrimitiveOp"])
    """Primitives that put a buffer of unknown extents into registers, by its name: it is to become a tile's."""

    _blocks: dict[str, list[BlockOp]] | None = field(default=None, init=False, repr=False)
    """The blocks of each stage, for as long as only loops are rewritten."""

    def apply(self, primitive: PrimitiveOp) -> None:
        """Rewrite the function by a primitive. Raises ScheduleError, with nothing changed, where it is illegal."""
        try:
            primitive.apply(self)
        finally:
            if not isinstance(primitive, LoopPrimitiveOp):
                self._blocks = None

    def stage_loops(self, stage: str) -> list[ForOp]:
        """The loops around a stage's block, outermost first. Raises ScheduleError where it has none, or several.

        A schedule asks this for every stage: to look through the whole function each time would make it quadratic.
        """
        if self._blocks is None:
            self._blocks = blocks_of(self.func)
        blocks = self._blocks.get(stage, [])
        return enclosing_loops(blocks[0]) if len(blocks) == 1 else stage_loops(self.func, stage)

    def factor(self, value: SSAValue) -> int:
        """The number that a sampling primitive has drawn."""
        found = self.factors.get(value)
        if found is None:
            raise ScheduleError(f"%{value.name_hint or 'the factor'} has not been drawn")
        return found

    def await_place(self, primitive: PrimitiveOp, stage: str) -> None:
        """Remember who has put a stage into registers, where their number is not known yet."""
        if not size_arguments(self.func.body.block.args):
            return
        for buffer in stage_buffers(self.func, stage):
            if isinstance(buffer.owner, AllocOp) and buffer.owner.sizes:
                self.unplaced[buffer.owner.stage.data] = primitive

    def loop(self, handle: SSAValue) -> ForOp:
        """The loop of a handle. Raises ScheduleError where a primitive has replaced it."""
        found = self.loops.get(handle)
        if found is None or found.parent is None:
            name = f"%{handle.name_hint}" if handle.name_hint else "the handle"
            raise ScheduleError(f"{name} stands for no loop any more: it was split, fused or moved")
        return found

    def bind(self, handles: Sequence[SSAValue], loops: Sequence[ForOp]) -> None:
        """Let results stand for loops. Raises ScheduleError where their number differs."""
        if len(handles) != len(loops):
            raise ScheduleError(f"gives {len(loops)} loops, {len(handles)} results are named")
        for h, loop in zip(handles, loops, strict=True):
            self.loops[h] = loop

    def tensor(self, name: str) -> SSAValue:
        """A buffer by the name of an argument or of the stage that computes it."""
        found = self.arguments.get(name)
        stage, _, place = name.rpartition(".v")
        if found is None and place.isdigit() and name not in blocks_of(self.func):
            results = stage_buffers(self.func, stage)
            if int(place) < len(results):
                return results[int(place)]
        return found if found is not None else stage_buffer(self.func, name)


class PrimitiveOp(IRDLOperation, Declared):
    """Base of the schedule primitives."""

    @abc.abstractmethod
    def apply(self, state: ScheduleState) -> None:
        """Rewrite the function. Raises ScheduleError, with nothing changed, where the primitive is illegal."""

    def then(self) -> Iterable[Operation]:
        """The primitives that are applied after this one, before the next of the text: those of a region."""
        return ()


class LoopPrimitiveOp(PrimitiveOp):
    """Base of the primitives that rewrite loops, or mark ops: they neither make blocks nor replace or remove any."""


def parse_loop(parser: Parser) -> SSAValue:
    """`%i`: the handle of a loop."""
    return parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)


def parse_at(parser: Parser, what: str) -> tuple[str, SSAValue]:
    """`"A" at %i`: the name of what is said to be expected, and a loop."""
    name = parser.parse_str_literal(what)
    parser.parse_keyword("at")
    return name, parse_loop(parser)


def print_at(printer: Printer, name: str, loop: SSAValue) -> None:
    """A name and a loop, as `parse_at` reads them."""
    printer.print_string(" ")
    printer.print_string_literal(name)
    printer.print_string(" at ")
    printer.print_ssa_value(loop)


def parse_count(parser: Parser, optional: bool = False) -> int:
    """`[2]`: how many loops an op gives back; none where it may be left out and is."""
    if optional and parser.parse_optional_punctuation("[") is None:
        return 0
    if not optional:
        parser.parse_punctuation("[")
    count = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("]")
    return count

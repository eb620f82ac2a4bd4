"""storage_align: the distance in memory between neighbours along an axis of a stage's buffer."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.nest.annotations import STORAGE_ALIGN
from lamina.dialects.schedule.nest.edits import alloc_of, stage_buffer
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import FuncOp


@irdl_op_definition
class StorageAlignOp(PrimitiveOp):
    """The distance in memory between neighbours along an axis of a stage's buffer: `offset` modulo `factor`.

    Before: `B: 8x32`, where B[i, j] stands at i * 32 + j
    After `te.storage_align "B" axis 0 factor 32 offset 1`: `B: 8x65`, where B[i, j] stands at i * 65 + j
    """

    name = "te.storage_align"
    stage = prop_def(StringAttr)
    numbers = prop_def(DenseArrayBase.constr(i64))

    @staticmethod
    def make(stage: str, axis: int, factor: int, offset: int) -> StorageAlignOp:
        numbers = DenseArrayBase.from_list(i64, [axis, factor, offset])
        return StorageAlignOp.create(properties={"stage": StringAttr(stage), "numbers": numbers})

    def print(self, printer: Printer) -> None:
        axis, factor, offset = self.numbers.get_values()
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" axis {axis} factor {factor} offset {offset}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> StorageAlignOp:
        stage = parser.parse_str_literal("the stage's name")
        numbers: list[int] = []
        for keyword in ("axis", "factor", "offset"):
            parser.parse_keyword(keyword)
            numbers.append(parser.parse_integer(allow_boolean=False))
        return cls.make(stage, *numbers)

    def apply(self, state: ScheduleState) -> None:
        axis, factor, offset = (int(n) for n in self.numbers.get_values())
        storage_align(state.func, self.stage.data, axis, factor, offset)


def storage_align(func: FuncOp, stage: str, axis: int, factor: int, offset: int) -> None:
    """Let the stride of a dimension of a stage's buffer be `offset` modulo `factor`."""
    what = f"storage_align of {stage!r}"
    buffer = stage_buffer(func, stage)
    alloc = alloc_of(buffer, stage)
    rank = type_of(buffer).get_num_dims()
    if not 0 <= axis < rank:
        raise ScheduleError(f"{what}: there is no axis {axis}; its buffer has rank {rank}")
    if factor < 1 or not 0 <= offset < factor:
        raise ScheduleError(f"{what}: the factor {factor} is positive, and the offset {offset} is less than it")
    if axis == rank - 1 and offset != 1 % factor:
        raise ScheduleError(f"{what}: the stride of its last axis is 1, which is not {offset} modulo {factor}")
    if alloc.scope.data == "register":
        raise ScheduleError(f"{what}: registers have no strides")
    alloc.attributes[STORAGE_ALIGN] = DenseArrayBase.from_list(i64, [axis, factor, offset])

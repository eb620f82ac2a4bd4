"""prefetch: what a later iteration of a loop reads or writes, fetched ahead of time."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.nest.annotations import PREFETCH
from lamina.dialects.schedule.nest.edits import accesses, stands_in
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_at, parse_loop, print_at
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class PrefetchOp(PrimitiveOp):
    """Elements that a later iteration of a loop reads of a tensor, or writes, fetched into the cache ahead of time.

    Before: `for i: C[i] = f(A[i])`    After `te.prefetch "A" at %i offset 2`, when tir-inject-prefetch has run:
    `for i: (prefetch A[i + 2]; C[i] = f(A[i]))`

    With `write` it is what is written: `te.prefetch "C" at %i offset 0 write spread %k` has the lines of a tile at hand
    when its sums are stored. With `spread %j`, a loop within %i, its lines are fetched little by little, some in each
    iteration of j, rather than all at once. `locality` says how near they come: 3, as a rule, into all caches, 2 into
    the second, 1 into the third.
    """

    name = "te.prefetch"
    tensor = prop_def(StringAttr)
    loop = operand_def(LOOP)
    spread = opt_operand_def(LOOP)
    offset = prop_def(IntegerAttr)
    write = opt_prop_def(UnitAttr)
    locality = prop_def(IntegerAttr, default_value=IntegerAttr(3, i64))

    @staticmethod
    def make(
        tensor: str,
        loop: SSAValue,
        offset: int,
        spread: SSAValue | None = None,
        locality: int = 3,
        write: bool = False,
    ) -> PrefetchOp:
        properties: dict[str, Attribute] = {"tensor": StringAttr(tensor), "offset": IntegerAttr(offset, i64)}
        properties["locality"] = IntegerAttr(locality, i64)
        if write:
            properties["write"] = UnitAttr()
        return PrefetchOp.create(operands=[loop, *([spread] if spread is not None else [])], properties=properties)

    def print(self, printer: Printer) -> None:
        print_at(printer, self.tensor.data, self.loop)
        printer.print_string(f" offset {self.offset.value.data}")
        printer.print_string(" write" if self.write is not None else "")
        if self.spread is not None:
            printer.print_string(" spread ")
            printer.print_ssa_value(self.spread)
        if self.locality.value.data != 3:
            printer.print_string(f" locality {self.locality.value.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        tensor, loop = parse_at(parser, "the tensor's name")
        parser.parse_keyword("offset")
        offset = parser.parse_integer(allow_boolean=False)
        write = parser.parse_optional_keyword("write") is not None
        spread = None
        if parser.parse_optional_keyword("spread"):
            spread = parse_loop(parser)
        locality = 3
        if parser.parse_optional_keyword("locality"):
            locality = parser.parse_integer(allow_boolean=False)
        return cls.make(tensor, loop, offset, spread, locality, write)

    def apply(self, state: ScheduleState) -> None:
        tensor, offset, locality = self.tensor.data, self.offset.value.data, self.locality.value.data
        spread = state.loop(self.spread) if self.spread is not None else None
        write = self.write is not None
        prefetch(state.loop(self.loop), tensor, state.tensor(tensor), offset, spread, locality, write)


def prefetch(
    loop: ForOp,
    tensor: str,
    buffer: SSAValue,
    offset: int,
    spread: ForOp | None = None,
    locality: int = 3,
    write: bool = False,
) -> None:
    """Let an iteration of a loop fetch what a later one reads of a tensor, or writes, little by little in the loop
    `spread`."""
    what = f"prefetch of {tensor!r} at {loop.axis.data!r}"
    if offset < 0:
        raise ScheduleError(f"{what}: the offset {offset} is negative")
    if not 0 <= locality <= 3:
        raise ScheduleError(f"{what}: the locality is 0, 1, 2 or 3, not {locality}")
    if spread is not None and (spread is loop or not stands_in(spread, loop)):
        raise ScheduleError(f"{what}: the loop {spread.axis.data!r} is not within it")
    if not any(isinstance(o, StoreOp if write else LoadOp) for o in accesses(loop, buffer)):
        raise ScheduleError(f"{what}: nothing in that loop {'writes' if write else 'reads'} it")
    if isinstance(buffer.owner, AllocOp) and buffer.owner.scope.data == "register":
        raise ScheduleError(f"{what}: registers are not fetched")
    # A stage may have its place in a buffer of another name: a state of a scan, a result.
    if isinstance(buffer.owner, AllocOp):
        tensor = buffer.owner.stage.data
    elif write and isinstance(buffer, BlockArgument):
        tensor = f"arg{buffer.index}"
    old = loop.attributes.get(PREFETCH)
    known: list[Attribute] = [*cast("ArrayAttr[Attribute]", old).data] if isinstance(old, ArrayAttr) else []
    asked: dict[str, Attribute] = {"tensor": StringAttr(tensor), "offset": IntegerAttr(offset, i64)}
    if spread is not None:
        asked["spread"] = StringAttr(spread.axis.data)
    if locality != 3:
        asked["locality"] = IntegerAttr(locality, i64)
    if write:
        asked["write"] = UnitAttr()
    loop.attributes[PREFETCH] = ArrayAttr([*known, DictionaryAttr(asked)])

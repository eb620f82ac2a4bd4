"""partition: the last iteration of a loop apart, so that the tails within have constant extents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.linear import constant
from lamina.dialects.schedule.families import LoopKindBase
from lamina.dialects.schedule.nest.edits import function_of, name_tails, reduction_loops, substitute
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.remainders import partition_open
from lamina.dialects.schedule.nest.tails import resolve_bounds, shorten
from lamina.dialects.schedule.primitive import ScheduleState, parse_loop
from lamina.dialects.tir.ops import BlockOp, ForOp


@irdl_op_definition
class PartitionOp(LoopKindBase):
    """The last iteration of a loop apart, so that the tails within have constant extents.

    Before: `for io in 3: for ii in 4 min [10 - io * 4]`    After `te.partition %io`:
    `for io in 2: for ii in 4`, then `for ii in 2` with io = 2

    Iterations of loops in it whose tails would be empty are left out. Of a loop over tiles whose number only a run
    tells, the whole tiles stand apart from what is left, which is one more iteration under its bounds, or goes in
    pieces of constant sizes. A sum's start stands before all of them.

    Before: `for io in (n + 7) floordiv 8: for ii in 8 min [n - io * 8]`    After `te.partition %io tails [4, 1]`:
    `for io in n floordiv 8: for ii in 8`, `for t in (n mod 8) floordiv 4: for ii in 4`, `for t in n mod 4: for ii in 1`
    """

    name = "te.partition"
    tails = opt_prop_def(DenseArrayBase.constr(i64))

    @classmethod
    def make(cls, loop: SSAValue, tails: Sequence[int] = ()) -> Self:
        properties = {"tails": DenseArrayBase.from_list(i64, tails)} if tails else {}
        return cls.create(operands=[loop], properties=properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        if self.tails is not None:
            printer.print_string(f" tails {list(self.tails.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        loop = parse_loop(parser)
        if parser.parse_optional_keyword("tails") is None:
            return cls.make(loop)
        number = partial(parser.parse_integer, allow_boolean=False)
        found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
        if not found:
            parser.raise_error("tails are in pieces of at least one size")
        return cls.make(loop, found)

    def apply(self, state: ScheduleState) -> None:
        partition(state.loop(self.loop), () if self.tails is None else self.tails.get_values())


def partition(loop: ForOp, tails: Sequence[int] = ()) -> list[ForOp]:
    """Peel the last iteration of a loop off, clone and all, and drop the bounds that have become constant.

    Of a loop of unknown extent it is what is left of its tiles, in pieces of the sizes `tails`.
    Raises ScheduleError for a loop that no tail depends on.
    """
    if loop.is_dynamic or tails:
        return partition_open(loop, tails)
    if loop.trip < 1 or loop.bounds:
        raise ScheduleError(f"partition of {loop.axis.data!r}: its own extent is not a constant")
    if not any(type(v) is ForOp and loop.var in v.operands for v in all_ops(loop.body)):
        raise ScheduleError(f"partition of {loop.axis.data!r}: no tail depends on it")
    peeled = loop.trip - 1
    values: dict[SSAValue, SSAValue] = {}
    last = loop.clone(values)
    if peeled:
        for block in [b for b in all_ops(last) if type(b) is BlockOp and b.init.blocks]:
            # The iterations before have begun the reduction already.
            if last in reduction_loops(block):
                block.init.erase_block(block.init.blocks[0])
    name_tails(function_of(loop), [v for v in last.body.walk() if type(v) is ForOp])
    edit.insert_after(loop, last)
    loop.properties["extent"] = ForOp.make(peeled, "").extent
    substitute(last.var, constant(peeled))
    for v in [*loop.body.walk(), *last.body.walk()]:
        if type(v) is ForOp:
            resolve_bounds(v)
    for v in last.body.walk():
        if type(v) is ForOp:
            shorten(v)
    # The peeled iteration is no loop any more.
    edit.move_before(last, *last.body.block.ops)
    edit.erase(last, safe=False)
    if not peeled:
        edit.erase(loop, safe=False)
    return [loop]

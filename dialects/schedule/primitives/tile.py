"""tile: two nested loops split and interleaved."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.factors import (
    FACTOR,
    factor_list,
    factor_values,
    parse_factors,
    print_factors,
    verify_factors,
)
from lamina.dialects.schedule.nest.edits import perfect_nest
from lamina.dialects.schedule.nest.recurrence import check_order
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.schedule.primitives.reorder import reorder
from lamina.dialects.schedule.primitives.split import split, split_sizes
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class TileOp(LoopPrimitiveOp):
    """Two nested loops split by their inner factors and interleaved.

    Before: `for y: for x`    After `te.tile %y, %x [4, 8]`: `for yo: for xo: for yi in 4: for xi in 8`
    """

    name = "te.tile"
    y = operand_def(LOOP)
    x = operand_def(LOOP)
    sampled = var_operand_def(FACTOR)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(y: SSAValue, x: SSAValue, factors: Sequence[int | SSAValue]) -> TileOp:
        numbers, sampled = factor_list(factors)
        return TileOp.create(
            operands=[y, x, *sampled],
            properties={"factors": numbers},
            result_types=[LOOP] * 4,
        )

    def verify_(self) -> None:
        verify_factors(self.factors, self.sampled)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.y, self.x], printer.print_ssa_value)
        printer.print_string(" ")
        print_factors(printer, self.factors, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> TileOp:
        y = parse_loop(parser)
        parser.parse_punctuation(",")
        x = parse_loop(parser)
        factors = parse_factors(parser)
        if len(factors) != 2:
            parser.raise_error("te.tile takes two factors")
        return cls.make(y, x, factors)

    def apply(self, state: ScheduleState) -> None:
        fy, fx = factor_values(state, self.factors, self.sampled)
        state.bind(self.results, tile(state.loop(self.y), state.loop(self.x), (fy, fx)))


def tile(y: ForOp, x: ForOp, factors: tuple[int, int]) -> list[ForOp]:
    """Two loops of a perfect nest split by inner factors and interleaved: yo, xo, yi, xi."""
    if y is x:
        raise ScheduleError(f"tile names {y.axis.data!r} twice")
    for loop, factor in zip((y, x), factors, strict=True):
        split_sizes(loop, [-1, factor])
    chain = perfect_nest([y, x], "tile")
    for n, v in enumerate(chain):
        # Parts of the inner loops come to stand outside of parts of the outer one, and of what stands between.
        for inner in chain[n + 1 :] if n == 0 else chain[-1:]:
            if inner is not v:
                check_order([v, inner], [inner, v], "tile")
    yo, yi = split(y, [-1, factors[0]])
    xo, xi = split(x, [-1, factors[1]])
    reorder([yo, xo, yi, xi])
    return [yo, xo, yi, xi]

"""split: one loop as several, one in another."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Linear, constant, floordiv, mod
from lamina.dialects.schedule.factors import (
    FACTOR,
    factor_list,
    factor_values,
    parse_factors,
    print_factors,
    verify_factors,
)
from lamina.dialects.schedule.nest.edits import ceildiv, replace_op, substitute, wrap
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class SplitOp(LoopPrimitiveOp):
    """One loop as several, given their extents from the outside in (-1: whatever is needed).

    Before: `for i in 8`    After `te.split %i [2, 4]`: `for io in 2: for ii in 4`, with i = io * 4 + ii
    """

    name = "te.split"
    loop = operand_def(LOOP)
    sampled = var_operand_def(FACTOR)
    factors = prop_def(DenseArrayBase.constr(i64))
    parts = var_result_def(LOOP)

    @staticmethod
    def make(loop: SSAValue, factors: Sequence[int | SSAValue]) -> SplitOp:
        numbers, sampled = factor_list(factors)
        return SplitOp.create(
            operands=[loop, *sampled],
            properties={"factors": numbers},
            result_types=[LOOP] * len(factors),
        )

    def verify_(self) -> None:
        if len(self.parts) != len(self.factors.get_values()):
            raise VerifyException("one loop for each factor")
        verify_factors(self.factors, self.sampled)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        print_factors(printer, self.factors, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SplitOp:
        loop = parse_loop(parser)
        return cls.make(loop, parse_factors(parser))

    def apply(self, state: ScheduleState) -> None:
        loop = state.loop(self.loop)
        state.bind(self.results, split(loop, factor_values(state, self.factors, self.sampled)))


def split_sizes(loop: ForOp, factors: Sequence[int]) -> list[int | None]:
    """The extents that a split gives, None for one that depends on a size.

    Raises ScheduleError where the loop cannot be split so.
    """
    known = 1
    for f in factors:
        if f == 0 or f < -1:
            raise ScheduleError(f"split of {loop.axis.data!r}: factor {f} is not positive")
        known *= f if f > 0 else 1
    if not factors or list(factors).count(-1) > 1:
        raise ScheduleError(f"split of {loop.axis.data!r}: at least one factor, and only one of them inferred")
    if loop.kind.data != "serial":
        raise ScheduleError(f"split of {loop.axis.data!r}: it is {loop.kind.data}")
    if loop.is_dynamic:
        if factors[0] != -1:
            raise ScheduleError(
                f"split of {loop.axis.data!r}: its extent is known only when the program runs, so the outermost "
                "factor has to be inferred (-1)"
            )
        return [None, *factors[1:]]
    sizes = [f if f > 0 else max(-(-loop.trip // known), 1) for f in factors]
    if prod(sizes) < loop.trip:
        raise ScheduleError(
            f"split of {loop.axis.data!r}: factors {list(factors)} cover {prod(sizes)} of {loop.trip} iterations"
        )
    return list(sizes)


def split(loop: ForOp, factors: Sequence[int]) -> list[ForOp]:
    """One loop as a nest: `factors` are the extents from the outside in, one of them may be -1 (inferred).

    Where their product exceeds the extent, or the loop was bounded, the innermost loop is bounded by what is left; or
    the outermost one, where its step divides the bound.
    """
    sizes = split_sizes(loop, factors)
    total = prod(size for size in sizes if size is not None)
    limits = loop.min_bounds()
    if not loop.is_dynamic and total != loop.trip:
        limits.append(constant(loop.trip))
    hint = (loop.var.name_hint or "").strip("_") and loop.var.name_hint  # `%_` and a number is no name
    ranges = RangeCache()
    new: list[ForOp] = []
    for n, size in enumerate(sizes):
        bounds = [ceildiv(b, total, ranges) for b in loop.min_bounds()] if size is None else []
        label = f"{hint}{'oi'[n] if len(sizes) == 2 else n}" if hint else None
        axis = f"{loop.axis.data}.{n}"
        new.append(ForOp.make(size, axis, reduction=loop.is_reduction, bounds=bounds, hint=label))
    ranges = RangeCache({v.var: (0, max(v.trip - 1, 0)) for v in new})
    form = constant(0)
    stride = 1
    for v in reversed(new):
        form = form + Linear.dim(v.var) * stride
        stride *= v.trip
    body = loop.body.block
    substitute(loop.var, form, ranges)
    replace_op(loop, new[0])
    wrap(new, body)
    steps = prod(v.trip for v in new[1:])
    outer = form - Linear.dim(new[-1].var)
    # Extents that are given stay: threads have as many iterations as the text says.
    divided = [b for b in limits if not b.is_constant and mod(b, steps, ranges) == constant(0)]
    whole = [floordiv(b, steps, ranges) for b in divided]
    rest = [b - outer for b in limits if b not in divided]
    new[0].set_min_bounds(list(dict.fromkeys([*new[0].min_bounds(), *whole])))
    if rest:
        new[-1].set_min_bounds(rest)
    new[0].attributes |= loop.attributes
    edit.erase(loop, safe=False)
    return new

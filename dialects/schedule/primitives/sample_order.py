"""sample_order: loops of one perfect nest in an order that is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

from xdsl.dialects.builtin import I64, ArrayAttr, DenseArrayBase, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, ScheduleState, parse_loop
from lamina.dialects.schedule.primitives.reorder import reorder
from lamina.dialects.schedule.sampling import SamplingBase, parse_decision, parse_numbers, with_decision


@irdl_op_definition
class SampleOrderOp(SamplingBase):
    """The loops of one perfect nest in a drawn order: any, or one of those that are listed.

    Before: `for i: for j: for k`
    After `%a, %b, %c = te.sample_order %i, %j, %k decision [2, 0, 1]`: `for k: for i: for j`, and %a is the loop k
    """

    name = "te.sample_order"
    loops = var_operand_def(LOOP)
    among = opt_prop_def(ArrayAttr[DenseArrayBase[I64]])
    decision = opt_prop_def(DenseArrayBase.constr(i64))
    ordered = var_result_def(LOOP)

    @staticmethod
    def make(
        loops: Sequence[SSAValue],
        among: Sequence[Sequence[int]] = (),
        decision: Sequence[int] | None = None,
        knob: str | None = None,
    ) -> SampleOrderOp:
        properties: dict[str, Attribute] = {}
        if among:
            properties["among"] = ArrayAttr([DenseArrayBase.from_list(i64, list(order)) for order in among])
        return SampleOrderOp.create(
            operands=list(loops),
            properties=with_decision(properties, knob, decision),
            result_types=[LOOP] * len(loops),
        )

    def orders(self) -> list[list[int]]:
        """The orders that are listed; none where any will do."""
        return [[int(n) for n in order.get_values()] for order in self.among.data] if self.among is not None else []

    def verify_(self) -> None:
        if not self.loops or len(self.loops) != len(self.ordered):
            raise VerifyException("there is a result for each loop, and at least one loop")
        wanted = list(range(len(self.loops)))
        for order in [*self.orders(), *([self.decided()] if self.decision is not None else [])]:
            if sorted(order) != wanted:
                raise VerifyException(f"{order} is no order of {len(wanted)} loops, which are numbered from 0")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.loops, printer.print_ssa_value)
        if self.among is not None:
            printer.print_string(f" among {self.orders()}")
        self.print_decision(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SampleOrderOp:
        loops = parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_loop(parser))
        among: list[list[int]] = []
        if parser.parse_optional_keyword("among"):
            among = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_numbers(parser))
        knob, decision = parse_decision(parser, parse_numbers)
        return cls.make(loops, among, decision, knob)

    def apply(self, state: ScheduleState) -> None:
        loops, orders = [state.loop(v) for v in self.loops], self.orders()
        if orders:
            self.decide(len(orders), orders.__getitem__)
        else:
            self.decide(factorial(len(loops)), lambda n: nth_permutation(n, len(loops)))
        order = self.decided()
        if orders and order not in orders:
            raise ScheduleError(f"sample_order: the decision {order} is none of {orders}")
        new = [loops[n] for n in order]
        reorder(new)
        state.bind(self.results, new)


def nth_permutation(number: int, length: int) -> list[int]:
    """One of the orders of 0 .. length - 1, by its place among them in lexicographic order."""
    left, found = list(range(length)), list[int]()
    for n in range(length - 1, -1, -1):
        place, number = divmod(number, factorial(n))
        found.append(left.pop(place))
    return found

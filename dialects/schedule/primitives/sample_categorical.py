"""sample_categorical: one of several numbers, drawn by their probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, Float64Type, FloatAttr, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.factors import FACTOR
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.schedule.sampling import (
    SamplingBase,
    parse_decision,
    parse_numbers,
    parse_position,
    with_decision,
)


@irdl_op_definition
class SampleCategoricalOp(SamplingBase):
    """One of several numbers, each as likely, or with a probability of its own; the decision is its position.

    Before: `for k in 4`    After `%v = te.sample_categorical [0, 16, 64] probs [0.2, 0.3, 0.5] decision 1`: the same;
    `te.pragma %k "auto_unroll_max_step" = %v` tells it 16
    """

    name = "te.sample_categorical"
    candidates = prop_def(DenseArrayBase.constr(i64))
    probs = opt_prop_def(ArrayAttr)
    decision = opt_prop_def(IntegerAttr)
    result = result_def(FACTOR)

    @staticmethod
    def make(
        candidates: Sequence[int], probs: Sequence[float] = (), decision: int | None = None, knob: str | None = None
    ) -> SampleCategoricalOp:
        properties: dict[str, Attribute] = {"candidates": DenseArrayBase.from_list(i64, list(candidates))}
        if probs:
            properties["probs"] = ArrayAttr([FloatAttr(p, Float64Type()) for p in probs])
        return SampleCategoricalOp.create(properties=with_decision(properties, knob, decision), result_types=[FACTOR])

    def weights(self) -> list[float]:
        """The probabilities."""
        if self.probs is None:
            return [1 / len(self.candidates)] * len(self.candidates)
        return [float(p.value.data) for p in self.probs.data if isinstance(p, FloatAttr)]

    def verify_(self) -> None:
        count = len(self.candidates)
        if not count:
            raise VerifyException("there is at least one candidate")
        weights = self.weights()
        if len(weights) != count or any(w < 0 for w in weights) or abs(sum(weights) - 1) > 1e-6:
            raise VerifyException(f"{count} candidates need as many probabilities, which add up to 1")
        if self.decision is not None and not 0 <= self.decision.value.data < count:
            raise VerifyException(f"the decision {self.decision.value.data} is none of {count} positions")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {list(self.candidates.get_values())}")
        if self.probs is not None:
            printer.print_string(f" probs {self.weights()}")
        self.print_decision(printer)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SampleCategoricalOp:
        candidates = parse_numbers(parser)
        probs: list[float] = []
        if parser.parse_optional_keyword("probs"):
            probs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: float(parser.parse_number()))
        knob, decision = parse_decision(parser, parse_position)
        return cls.make(candidates, probs, decision, knob)

    def apply(self, state: ScheduleState) -> None:
        candidates = [int(c) for c in self.candidates.get_values()]
        self.decide(len(candidates), weights=self.weights())
        state.factors[self.result] = candidates[self.decided()[0]]

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
from lamina.dialects.schedule.families import SamplingBase
from lamina.dialects.schedule.primitive import ScheduleState


@irdl_op_definition
class SampleCategoricalOp(SamplingBase):
    """One of several numbers, each with a probability; the decision is its position.

    Before: `for k in 4`    After `%v = te.sample_categorical [0, 16, 64] probs [0.2, 0.3, 0.5] decision 1`: the same;
    `te.pragma %k "auto_unroll_max_step" = %v` tells it 16
    """

    name = "te.sample_categorical"
    candidates = prop_def(DenseArrayBase.constr(i64))
    probs = prop_def(ArrayAttr)
    decision = opt_prop_def(IntegerAttr)
    result = result_def(FACTOR)

    @staticmethod
    def make(candidates: Sequence[int], probs: Sequence[float], decision: int | None = None) -> SampleCategoricalOp:
        properties: dict[str, Attribute] = {
            "candidates": DenseArrayBase.from_list(i64, list(candidates)),
            "probs": ArrayAttr([FloatAttr(p, Float64Type()) for p in probs]),
        }
        if decision is not None:
            properties["decision"] = IntegerAttr(decision, i64)
        return SampleCategoricalOp.create(properties=properties, result_types=[FACTOR])

    def weights(self) -> list[float]:
        return [float(p.value.data) for p in self.probs.data if isinstance(p, FloatAttr)]

    def verify_(self) -> None:
        weights, count = self.weights(), len(self.candidates)
        if not count or len(weights) != count or any(w < 0 for w in weights) or abs(sum(weights) - 1) > 1e-6:
            raise VerifyException(f"{count} candidates need as many probabilities, which add up to 1")
        if self.decision is not None and not 0 <= self.decision.value.data < count:
            raise VerifyException(f"the decision {self.decision.value.data} is none of {count} positions")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {list(self.candidates.get_values())} probs {self.weights()}")
        if self.decision is not None:
            printer.print_string(f" decision {self.decision.value.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> SampleCategoricalOp:
        candidates = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        parser.parse_keyword("probs")
        probs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: float(parser.parse_number()))
        decision = parser.parse_integer(allow_boolean=False) if parser.parse_optional_keyword("decision") else None
        return cls.make(candidates, probs, decision)

    def apply(self, state: ScheduleState) -> None:
        candidates = [int(c) for c in self.candidates.get_values()]
        if self.decision is None:
            (position,) = self.random().choices(range(len(candidates)), self.weights())
            self.properties["decision"] = IntegerAttr(position, i64)
        assert self.decision is not None
        state.factors[self.result] = candidates[self.decision.value.data]

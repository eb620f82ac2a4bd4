"""Sampling primitives: decisions that a schedule leaves to a draw or a search.

%f0, %f1 = te.sample_perfect_tile %j [2] max_innermost 8 knob "tile_j" decision [8, 4]

A schedule with open decisions is a space of schedules; the same text with all decisions is one of them. Illegal ones
are among them: the primitives after it refuse those, with a reason, as they refuse what a person writes.
"""

from __future__ import annotations

import abc
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.schedule.primitive import PrimitiveOp

SCHEDULE = "te.schedule"
SEED = "seed"
"""The attribute of a te.schedule from which its sampling primitives draw."""
INDEX = "index"
"""The attribute of a te.schedule by which its knobs are decided: the number of a configuration, the first knob's digit
first. A digit's base is the number of ways to decide its knob after those before it were decided."""


class SamplingBase(PrimitiveOp, abc.ABC):
    """Base of the primitives that a tuner decides: `... knob "tile_y" decision [8, 4]`.

    Without a `decision`, a number or a list of them, they draw one from the seed of their te.schedule (`attributes
    {seed = 3 : i64}`, 0 if it has none) and their place among its sampling primitives: the same text gives the same
    loops. What was drawn stands in the op as its decision afterwards, so that a schedule that has been applied prints
    as one that replays. A `knob` names what a search is free to decide anew: its decision is the default; without one
    it is a digit of the schedule's `index`, where it has that attribute.
    """

    knob = opt_prop_def(StringAttr)

    @property
    def options(self) -> int:
        """In how many ways it could be decided when it was applied; 0 before that."""
        return vars(self).get("_options", 0)

    @property
    def schedule(self) -> Operation | None:
        """The te.schedule that it stands in."""
        op = self.parent_op()
        while op is not None and op.name != SCHEDULE:
            op = op.parent_op()
        return op

    def random(self) -> random.Random:
        """The source that this op draws from."""
        places: list[str] = []
        op: Operation | None = self
        while op is not None and op.name != SCHEDULE:
            before = 0
            previous = op.prev_op
            while previous is not None:
                before += isinstance(previous, SamplingBase)
                previous = previous.prev_op
            region = op.parent_region()
            op = op.parent_op()
            places.append(str(before))
            if region is not None and op is not None and op.name != SCHEDULE:
                places.append(str(op.regions.index(region)))
        seed = op.attributes.get(SEED) if op is not None else None
        number = seed.value.data if isinstance(seed, IntegerAttr) else 0
        return random.Random(":".join([str(number), *reversed(places)]))

    def decide(
        self,
        options: int,
        nth: Callable[[int], int | Sequence[int]] = lambda n: n,
        weights: Sequence[float] | None = None,
    ) -> None:
        """See to it that there is a decision, one of so many: `nth` makes it of its number."""
        vars(self)["_options"] = options
        if "decision" in self.properties:
            return
        number = self._digit(options)
        if number is None:
            number = self.random().choices(range(options), weights)[0] if weights else self.random().randrange(options)
        self.properties["decision"] = decision_attr(nth(number))

    def _digit(self, options: int) -> int | None:
        """The digit of the schedule's index that decides this knob."""
        schedule = self.schedule
        index = schedule.attributes.get(INDEX) if schedule is not None else None
        if self.knob is None or schedule is None or not isinstance(index, IntegerAttr):
            return None
        vars(self)["_base"] = options
        before = prod(op.base for op in samplings(schedule) if op is not self)
        return index.value.data // before % options

    @property
    def base(self) -> int:
        """The base of the digit of the schedule's index that decided it; 1 where none did."""
        return vars(self).get("_base", 1)

    def decided(self) -> list[int]:
        """The numbers of the decision; one where it is no list."""
        found = self.properties["decision"]
        if isinstance(found, IntegerAttr):
            return [found.value.data]
        assert isinstance(found, DenseArrayBase)
        return [int(n) for n in found.get_values()]

    def decision_text(self) -> str:
        """The decision as it stands in the text: a number, or a list."""
        numbers = self.decided()
        return str(numbers[0] if isinstance(self.properties["decision"], IntegerAttr) else numbers)

    def print_decision(self, printer: Printer) -> None:
        """The end of the text: the knob and the decision, as far as there are any."""
        if self.knob is not None:
            printer.print_string(" knob ")
            printer.print_string_literal(self.knob.data)
        if "decision" in self.properties:
            printer.print_string(f" decision {self.decision_text()}")


def samplings(schedule: Operation) -> Iterator[SamplingBase]:
    """The sampling primitives of a te.schedule, in the order of the text."""
    return (op for op in schedule.walk() if isinstance(op, SamplingBase))


def decision_attr(decision: int | Sequence[int]) -> Attribute:
    """A decision as the property of a sampling primitive."""
    return IntegerAttr(decision, i64) if isinstance(decision, int) else DenseArrayBase.from_list(i64, list(decision))


def with_decision(
    properties: Mapping[str, Attribute], knob: str | None, decision: int | Sequence[int] | None
) -> dict[str, Attribute]:
    """Properties of a sampling primitive together with its knob and decision, as far as there are any."""
    found = dict(properties)
    if knob is not None:
        found["knob"] = StringAttr(knob)
    if decision is not None:
        found["decision"] = decision_attr(decision)
    return found


def parse_numbers(parser: Parser) -> list[int]:
    """`[8, 4]`."""
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False))


def parse_decision(parser: Parser, numbers: Callable[[Parser], Any]) -> tuple[str | None, Any]:
    """The text that `print_decision` writes: the knob and the decision, None for what is not there."""
    knob = parser.parse_str_literal("the knob's name") if parser.parse_optional_keyword("knob") else None
    return knob, numbers(parser) if parser.parse_optional_keyword("decision") else None


def parse_position(parser: Parser) -> int:
    """`3`: a decision that is the position of what was chosen."""
    return parser.parse_integer(allow_boolean=False, allow_negative=False)

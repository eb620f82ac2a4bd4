"""pragma: what a pass is told about a loop."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.factors import FACTOR, parse_value, print_value
from lamina.dialects.schedule.nest.annotations import PRAGMA
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.tir.ops import ForOp


@irdl_op_definition
class PragmaOp(PrimitiveOp):
    """A note to a pass about a loop: `unroll_explicit`, `auto_unroll_max_step`, `auto_unroll_max_depth`,
    `loop_partition_hint`, `masked_lanes`.

    Before: `for k in 4: f(k)`    After `te.pragma %k "auto_unroll_max_step" = 16`, when tir-unroll-loop has run:
    `f(0); f(1); f(2); f(3)`
    """

    name = "te.pragma"
    loop = operand_def(LOOP)
    sampled = opt_operand_def(FACTOR)
    key = prop_def(StringAttr)
    value = opt_prop_def()

    @staticmethod
    def make(loop: SSAValue, key: str, value: Attribute | SSAValue | int) -> PragmaOp:
        properties: dict[str, Attribute] = {"key": StringAttr(key)}
        if isinstance(value, SSAValue):
            return PragmaOp.create(operands=[loop, value], properties=properties)
        properties["value"] = IntegerAttr(value, i64) if isinstance(value, int) else value
        return PragmaOp.create(operands=[loop], properties=properties)

    def verify_(self) -> None:
        if (self.sampled is None) == (self.value is None):
            raise VerifyException("te.pragma has one value")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        printer.print_string_literal(self.key.data)
        print_value(printer, self.value, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PragmaOp:
        loop = parse_loop(parser)
        return cls.make(loop, parser.parse_str_literal("the pragma's name"), parse_value(parser))

    def apply(self, state: ScheduleState) -> None:
        value = self.value if self.sampled is None else IntegerAttr(state.factor(self.sampled), i64)
        assert value is not None
        pragma(state.loop(self.loop), self.key.data, value)


PRAGMAS = {
    "unroll_explicit": "whether tir-unroll-loop writes unrolled loops inside out",
    "auto_unroll_max_step": "up to how many statements tir-unroll-loop writes serial loops inside out",
    "auto_unroll_max_depth": "how deep the loops may nest that tir-unroll-loop writes out",
    "loop_partition_hint": "that tir-loop-partition cuts the loop where conditions change, and in how many pieces",
    "unswitch": "that tir-unswitch-loop takes it apart by what its iterations choose alike, however much stands in it",
    "masked_lanes": "that tir-vectorize-loop makes a number of lanes that is no power of two one, under a mask",
}
"""The pragmas that have an effect, and which."""


_REFUSED = {
    "import_llvm": "code is not taken from elsewhere; write the computation as a stage",
    "import_c": "code is not taken from elsewhere; write the computation as a stage",
    "debug_skip_region": "leaving statements out changes what is computed",
    "tensor_core": "use te.tensorize",
    "hand_threaded": "bind loops by te.bind",
    "parallel_launch_point": "use te.parallel, whose threads are the pool's",
    "parallel_stride_pattern": "use te.parallel, whose slices are contiguous",
    "parallel_barrier_when_finish": "a parallel loop ends when all its iterations have",
    "prefetch_scope": "use te.prefetch",
}


def pragma(loop: ForOp, key: str, value: Attribute) -> None:
    """Attach a pragma to a loop. Raises ScheduleError for one without effect, or with a value that it does not take."""
    what = f"pragma {key!r} of {loop.axis.data!r}"
    if key in _REFUSED:
        raise ScheduleError(f"{what}: {_REFUSED[key]}")
    if key not in PRAGMAS:
        raise ScheduleError(f"{what}: there is no such pragma; it is one of {', '.join(PRAGMAS)}")
    if not isinstance(value, IntegerAttr) or value.value.data < 0:
        raise ScheduleError(f"{what}: it takes a number that is not negative, not {value}")
    loop.attributes[PRAGMA + key] = IntegerAttr(value.value.data, i64)

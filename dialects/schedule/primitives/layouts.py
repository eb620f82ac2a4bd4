"""Schedule primitives that choose how the elements of a stage lie in memory."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, opt_operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count


@irdl_op_definition
class TransformLayoutOp(PrimitiveOp):
    """The elements of a stage in another order in memory, over other dimensions.

    Before: `alloc B[8, 3]`, `B[i, j] = A[i, j]`, `C[i, j] = B[i, j]`
    After `te.transform_layout "B" #te.map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>`: `alloc B[2, 3, 4]`,
    `B[i floordiv 4, j, i mod 4] = A[i, j]`, `C[i, j] = B[i floordiv 4, j, i mod 4]`

    With a number of loops behind it, the stage is also iterated in the new order, and the primitive gives its loops.
    """

    name = "te.transform_layout"
    stage = prop_def(StringAttr)
    layout = prop_def(IndexMapAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, layout: IndexMapAttr, count: int = 0) -> TransformLayoutOp:
        return TransformLayoutOp.create(
            properties={"stage": StringAttr(stage), "layout": layout}, result_types=[LOOP] * count
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_attribute(self.layout)
        if self.loops:
            printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> TransformLayoutOp:
        stage = parser.parse_str_literal("the stage's name")
        layout = parser.parse_attribute()
        if not isinstance(layout, IndexMapAttr):
            parser.raise_error("the layout is a #te.map<...>")
        return cls.make(stage, layout, parse_count(parser, True))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.layouts import transform_layout, transform_stage

        name, layout = self.stage.data, self.layout.data
        buffer = state.tensor(name)
        if self.results:
            state.bind(self.results, transform_stage(state.func, buffer, name, layout))
        else:
            transform_layout(buffer, name, layout)
        if state.attached.get(name) is not None:
            del state.attached[name]  # where its tile begins was said in the layout that it had


@irdl_op_definition
class RollingBufferOp(PrimitiveOp):
    """A stage computed in a loop of its consumer keeps what the next iteration needs again.

    Before: `for y: (for t in 3: B[t] = f(y + t)), C[y] = B[0] + B[1] + B[2]`
    After `te.rolling_buffer "B" at %y`: `for t in 2: B[t] = f(t)`, then
    `for y: B[(y + 2) mod 3] = f(y + 2), C[y] = B[y mod 3] + B[(y + 1) mod 3] + B[(y + 2) mod 3]`

    Without a loop it is the one that the stage is computed in. What comes first is the stage `<stage>.first`.
    """

    name = "te.rolling_buffer"
    stage = prop_def(StringAttr)
    loop = opt_operand_def(LOOP)

    @staticmethod
    def make(stage: str, loop: SSAValue | None = None) -> RollingBufferOp:
        return RollingBufferOp.create(operands=[] if loop is None else [loop], properties={"stage": StringAttr(stage)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.loop is not None:
            printer.print_string(" at ")
            printer.print_ssa_value(self.loop)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RollingBufferOp:
        stage = parser.parse_str_literal("the stage's name")
        loop = None
        if parser.parse_optional_keyword("at"):
            loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(stage, loop)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.rolling import rolling_buffer

        rolling_buffer(state.func, self.stage.data, None if self.loop is None else state.loop(self.loop))
        state.attached.pop(self.stage.data, None)

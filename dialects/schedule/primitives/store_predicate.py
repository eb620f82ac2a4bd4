"""store_predicate: a stage that runs only where conditions on loops hold."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import irdl_op_definition, prop_def, var_operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import over_positions, over_values
from lamina.dialects.index.index_map import (
    Condition,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_condition,
    print_conditions,
)
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.edits import accesses, reduction_loops, stage_block, stands_in
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class StorePredicateOp(PrimitiveOp):
    """A stage that runs only where conditions on its loops hold: of iterations that repeat each other, one is enough.

    Before: thread t of 64 does `C = f`    After `te.store_predicate "C" where [%t == 0]`: `if t == 0: C = f`
    """

    name = "te.store_predicate"
    stage = prop_def(StringAttr)
    loops = var_operand_def(LOOP)
    set = prop_def(IndexSetAttr)

    @staticmethod
    def make(stage: str, conditions: Sequence[Condition]) -> StorePredicateOp:
        """Conditions whose dimensions are the handles of loops."""
        handles, (forms,) = over_positions([[c.form for c in conditions]])
        set_ = tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True))
        return StorePredicateOp.create(
            operands=handles,
            properties={"stage": StringAttr(stage), "set": IndexSetAttr(IndexSet(len(handles), set_))},
        )

    def verify_(self) -> None:
        if self.set.data.dims != len(self.loops):
            raise VerifyException(
                f"the conditions have {self.set.data.dims} dimensions, the op {len(self.loops)} loops"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" where ")
        print_conditions(printer, self.set.data, self.loops)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> StorePredicateOp:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("where")
        dims = InlineDims(parser)
        conditions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_condition(parser, dims))
        kept = dims.settle_conditions(conditions)
        loops = parser.resolve_operands(dims.operands, [LOOP] * len(dims.operands), parser.pos)
        set_ = IndexSetAttr(IndexSet(len(loops), kept))
        return cls.create(operands=loops, properties={"stage": StringAttr(stage), "set": set_})

    def apply(self, state: ScheduleState) -> None:
        variables = [state.loop(v).var for v in self.loops]
        conditions = self.set.data.conditions
        forms = over_values([c.form for c in conditions], variables)
        asked = [Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True)]
        store_predicate(state.func, self.stage.data, asked)


def store_predicate(func: FuncOp, stage: str, conditions: Sequence[Condition]) -> None:
    """Let a stage run only where conditions on loops hold.

    Raises IllegalError unless the iterations left out repeat what others do: their loops change neither what is
    computed nor where it is stored, and the conditions single out iterations of them.
    """
    what = f"store_predicate of {stage!r}"
    block = stage_block(func, stage)
    loops = {v.var: v for v in enclosing_loops(block)}
    known: set[Atom] = set(loops)
    for condition in conditions:
        for d in condition.form.dims():
            if d not in known:
                raise ScheduleError(f"{what}: a condition mentions a loop that the stage does not stand in")
    used = {v for op in all_ops(block) for v in op.operands}
    for loop in loops.values():
        mentioned = [c for c in conditions if loop.var in c.form.dims()]
        if not mentioned or not loop.is_dynamic and loop.trip <= 1 and all(_holds(c, loop, 0) for c in mentioned):
            continue  # it leaves no iteration out
        if loop.var in used or any(loop.var in v.bounds for v in loops.values()):
            refuse(f"{what}: iterations of {loop.axis.data!r} that it leaves out are the only ones that do their part")
        for buffer in dict.fromkeys(s.buffer for s in accesses(block) if isinstance(s, StoreOp)):
            own = isinstance(buffer.owner, AllocOp) and loop in enclosing_loops(buffer.owner)
            others = [o for o in accesses(loop, buffer) if not stands_in(o, block)]
            if own or any(isinstance(o, LoadOp) for o in others):
                refuse(f"{what}: every iteration of {loop.axis.data!r} reads what it computes")
            if others:
                refuse(f"{what}: every iteration of {loop.axis.data!r} starts it anew")
        if loop in reduction_loops(block):
            refuse(f"{what}: {loop.axis.data!r} is a reduction, each iteration of which adds to the result")
        if not any(all(_holds(c, loop, n) for c in mentioned) for n in range(min(loop.trip, 1 << 12))):
            refuse(f"{what}: no single iteration of {loop.axis.data!r} fulfils it whatever the other loops do")
    block.set_conditions([*block.conditions(), *conditions])


def _holds(condition: Condition, loop: ForOp, iteration: int) -> bool:
    """Whether an iteration of a loop fulfils a condition on that loop alone."""
    form = condition.form.substitute({loop.var: Linear(const=iteration)})
    if not form.is_constant or (iteration and (loop.is_dynamic or loop.bounds)):
        return False
    return form.const == 0 if condition.equal else form.const >= 0

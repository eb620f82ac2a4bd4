"""normalize: bounds and conditions that say nothing, and indices that can be said more simply, in a whole function.

Loops stay where they are, also those of one iteration, so that handles on them live on; `tir-simplify` drops them.
"""

from __future__ import annotations

from xdsl.irdl import irdl_op_definition

from lamina.dialects.index.accesses import over_positions, over_values
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition, IndexMap, IndexMapAttr
from lamina.dialects.schedule.nest.tails import resolve_bounds
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.facts import walk_with_facts
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, IndexOp


@irdl_op_definition
class NormalizeOp(PrimitiveOp):
    """Bounds and conditions that say nothing gone, and indices in their simplest form, in the whole function.

    Before: `for i in 4 min [%n mod 4 + 5]: C[i] = A[(i * 4 + 3) floordiv 4] where [i >= 0]`
    After `te.normalize`: `for i in 4: C[i] = A[i]`
    """

    name = "te.normalize"
    assembly_format = "attr-dict"

    @staticmethod
    def make() -> NormalizeOp:
        return NormalizeOp.create()

    def apply(self, state: ScheduleState) -> None:
        normalize(state.func)
        # What is simpler in a tile need not hold for the whole stage.
        for stage in [s for s, attachment in state.attached.items() if attachment is not None]:
            del state.attached[stage]


def normalize(func: FuncOp) -> None:
    """Simplify the index arithmetic of a function by what is known where it stands."""
    for op, facts in walk_with_facts(func.body.block):
        if type(op) is ForOp:
            resolve_bounds(op, facts)
        elif type(op) is BlockOp:
            op.set_conditions(_left(op, facts))
        elif isinstance(op, AccessOp):
            if op.lanes is None:
                op.set_access([facts.simplify(f) for f in op.forms()], _left(op, facts))
        elif type(op) is IndexOp:
            (form,) = over_values(op.map.data.results, op.operands)
            operands, (forms,) = over_positions([[facts.simplify(form)]])
            op.operands = operands
            op.properties["map"] = IndexMapAttr(IndexMap(len(operands), forms))


def _left(op: AccessOp | ConditionalBase, facts: Facts) -> list[Condition]:
    """The conditions that what is known does not decide."""
    simpler = [Condition(facts.simplify(c.form), c.equal) for c in op.conditions()]
    return [c for c in dict.fromkeys(simpler) if not facts.proves(c)]

"""normalize: bounds and conditions that say nothing, and indices that can be said more simply, in a whole function.

Loops stay where they are, also those of one iteration, so that handles on them live on; `tir-simplify` drops them.
"""

from __future__ import annotations

from xdsl.ir import Block

from lamina.dialects.index.accesses import RangeCache, over_positions, over_values
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition, IndexMap, IndexMapAttr
from lamina.dialects.schedule.nest.tails import resolve_bounds
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.facts import facts_inside
from lamina.dialects.tir.memory import AccessOp
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, IndexOp


def normalize(func: FuncOp) -> None:
    """Simplify the index arithmetic of a function by what is known where it stands."""
    _normalize(func.body.block, Facts(RangeCache()))


def _normalize(block: Block, facts: Facts) -> None:
    for op in list(block.ops):
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
        if op.regions:
            inside = facts.given(facts_inside(op))
            for region in op.regions:
                for inner in region.blocks:
                    _normalize(inner, inside)


def _left(op: AccessOp | ConditionalBase, facts: Facts) -> list[Condition]:
    """The conditions that what is known does not decide."""
    simpler = [Condition(facts.simplify(c.form), c.equal) for c in op.conditions()]
    return [c for c in dict.fromkeys(simpler) if not facts.proves(c)]

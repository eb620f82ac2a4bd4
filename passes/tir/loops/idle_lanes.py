"""Search for stores to register buffers that may let their idle lanes write.

A lane beyond a tail, or where the condition of a `tir.if` fails, must not be seen. In memory it is masked. In a
register buffer a mask costs a select for each store, and is not needed where all that such a lane can overwrite are
elements that no load ever looks at: those for which the same condition fails.

A condition on loop variables is one on the element stored, `limit - index - 1 >= 0`, if `limit`, what is left when
the index is added to the condition, depends only on loops around the buffer's allocation. A store's idle lanes are
dead where every load of the buffer stands under the same condition on its own index.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, IfOp, enclosing_loops
from lamina.passes.tir.memory.demote_registers import indexed_by_numbers

Limit = tuple[int, Linear]
"""A dimension of a buffer, and the first index of it at which a condition fails."""


def dead_in_idle_lanes(func: FuncOp) -> set[StoreOp]:
    """Stores to register buffers in vectorized loops whose idle lanes write only what no load looks at."""
    dead: set[StoreOp] = set()
    loads: dict[AllocOp, list[set[Limit]]] = {}
    ops = all_ops(func)
    registers = {a for a in ops if type(a) is AllocOp and a.scope.data == "register" and indexed_by_numbers(a)}
    if not registers:
        return dead
    for op in ops:
        alloc = op.buffer_value().owner if isinstance(op, LoadOp) else None
        if isinstance(op, LoadOp) and isinstance(alloc, AllocOp) and alloc in registers:
            loads.setdefault(alloc, []).append(_limits(op, conditions_around(op, alloc), alloc))
    for op in ops:
        if not isinstance(op, StoreOp):
            continue
        alloc = op.buffer.owner
        loop = next((v for v in enclosing_loops(op)[::-1] if v.kind.data == "vectorized"), None)
        if loop is None or not isinstance(alloc, AllocOp) or alloc not in registers:
            continue
        inside = conditions_around(op, loop.parent_op())
        masked = [c for c in inside if loop.var in c.form.dims()]
        needed = [_limits(op, [c], alloc) for c in masked]
        if all(limits & seen for limits in needed for seen in loads.get(alloc, [])):
            dead.add(op)
    return dead


def conditions_around(op: Operation, outer: Operation | None) -> list[Condition]:
    """Conditions at an op from the loops, conditions and blocks between it and an outer op; its own guard included."""
    found = list(op.conditions()) if isinstance(op, AccessOp) else []
    parent = op.parent_op()
    while parent is not None and parent is not outer and not isinstance(parent, FuncOp):
        if isinstance(parent, ForOp):
            found += [tail_condition(parent, bound) for bound in parent.min_bounds()]
        elif isinstance(parent, (IfOp, BlockOp)):
            found += parent.conditions()
        parent = parent.parent_op()
    return found


def tail_condition(loop: ForOp, bound: Linear) -> Condition:
    """The iterations of a loop that a bound allows."""
    return Condition(bound - Linear.dim(loop.var) - 1)


def _limits(op: AccessOp, conditions: Sequence[Condition], alloc: AllocOp) -> set[Limit]:
    """Conditions as limits of the indices of an access."""
    around = {v.var for v in enclosing_loops(alloc)}
    found: set[Limit] = set()
    for condition in conditions:
        if condition.equal:
            continue
        for dimension, index in enumerate(op.forms()):
            limit = condition.form + index + 1
            if index.terms and all(d in around for d in limit.dims()):
                found.add((dimension, limit))
    return found

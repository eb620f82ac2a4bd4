"""Reductions by operations of the user's own, traced: a block that updates what it has accumulated is one operation.

An argmax is a comparison and two choices for each term; as expressions, its terms taken in another order are others.
Here the ops of such a block that depend on the accumulated values are taken together as one operation on them and on
the values of the term, which is assumed to be associative and commutative, as whoever gives a reducer promises.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.schedule.nest.edits import reduction_loops
from lamina.dialects.tir.ops import BlockOp, ForOp, IfOp, LoadOp, StoreOp, enclosing_loops
from lamina.interpreters.tir_accesses import Env, Step
from lamina.interpreters.tir_launches import Launches
from lamina.interpreters.trace_table import KINDS

if TYPE_CHECKING:
    from lamina.interpreters.tir_tracing import Traces


@dataclass
class Update:
    """The operation by which a block updates accumulated values."""

    loads: list[LoadOp]
    stores: list[StoreOp]
    combining: list[Operation]
    """The ops that depend on the accumulated values."""
    term: list[SSAValue]
    """The other values that they use."""
    head: Any
    """The operation, as a text of its ops: equal for equal operations."""


class TraceCompiler(Launches):
    """Compiles to traces."""

    def block(self, op: BlockOp) -> Step:
        update = update_in(op.body.block) if reduction_loops(op) else None
        if update is None:
            return super().block(op)
        self._start(op, update)
        steps = self._updating(op.body.block, update)
        init, guard = self.init(op), self.guard(op.conditions())

        def run(env: Env) -> None:
            if guard is not None and not guard(env):
                return
            if init is not None:
                init(env)
            for step in steps:
                step(env)

        return run

    def steps(self, block: Block) -> tuple[Step, ...]:
        """A block that has been dissolved is the body of a loop, or of a condition in one."""
        parent = block.parent_op()
        reduced = isinstance(parent, (ForOp, IfOp)) and any(v.is_reduction for v in _around(parent))
        update = update_in(block) if reduced else None
        return super().steps(block) if update is None else tuple(self._updating(block, update))

    def _updating(self, block: Block, update: Update) -> list[Step]:
        """The steps of the other ops, of the combining ops as one operation, then of the stores."""
        table = cast("Traces", self.domain).table
        skipped: set[Operation] = {*update.combining, *update.stores}
        steps = [s for o in block.ops if o not in skipped and (s := self.step(o)) is not None]
        accumulated = [self.slot(load.result) for load in update.loads]
        term = [self.slot(v) for v in update.term]
        results = [self.slot(s.value) for s in update.stores]
        head = update.head

        def combine(env: Env) -> None:
            found = table.reduction(head, tuple(env[a] for a in accumulated), tuple(env[v] for v in term))
            for slot, value in zip(results, found, strict=True):
                env[slot] = value

        return [*steps, combine, *(self.store(s) for s in update.stores)]

    def _start(self, op: BlockOp, update: Update) -> None:
        """Record the constants that the reduction starts from as neutral for its operation."""
        if not op.init.blocks:
            return
        stores = [o for o in op.init.block.ops if isinstance(o, StoreOp)]
        values = {s.buffer: s.value.owner for s in stores}
        starts = [values.get(s.buffer) for s in update.stores]
        if all(isinstance(v, Operation) and v.name == "arith.constant" for v in starts):
            found = tuple(self.domain.constant(cast(Operation, v)) for v in starts)
            cast("Traces", self.domain).table.start(update.head, found)


def update_in(body: Block) -> Update | None:
    """The update of several values by a reduction, or of one by other ops than the common combiners; else None."""
    stores = [o for o in body.ops if isinstance(o, StoreOp)]
    if not stores or any(o.regions for o in body.ops):
        return None
    loads: list[LoadOp] = []
    for store in stores:
        found = [o for o in body.ops if isinstance(o, LoadOp) and o.buffer is store.buffer and _same_place(o, store)]
        if len(found) != 1 or store.lanes is not None:
            return None
        loads += found
    combining = _dependent(body, loads)
    values = {r for o in combining for r in o.results}
    if not all(s.value in values for s in stores) or any(isinstance(o, LoadOp) for o in combining):
        return None
    if len(stores) == 1 and all(o.name in KINDS or o.name == "math.fma" for o in combining):
        return None
    term, head = _text(combining, loads, stores)
    return Update(loads, stores, combining, term, head)


def _around(op: ForOp | IfOp) -> list[ForOp]:
    return [*enclosing_loops(op), *([op] if isinstance(op, ForOp) else [])]


def _same_place(load: LoadOp, store: StoreOp) -> bool:
    return load.forms() == store.forms() and not load.conditions() and not store.conditions()


def _dependent(body: Block, loads: list[LoadOp]) -> list[Operation]:
    known: set[SSAValue] = {load.result for load in loads}
    found: list[Operation] = []
    for op in body.ops:
        if not isinstance(op, StoreOp) and any(o in known for o in op.operands):
            known.update(op.results)
            found.append(op)
    return found


def _text(
    combining: list[Operation], loads: list[LoadOp], stores: list[StoreOp]
) -> tuple[list[SSAValue], tuple[Any, ...]]:
    """The values that the ops use besides accumulated ones and constants, and the ops with operands by number."""
    names: dict[SSAValue, Any] = {load.result: ("accumulated", n) for n, load in enumerate(loads)}
    term: list[SSAValue] = []
    lines: list[Any] = []
    for op in combining:
        for operand in op.operands:
            if operand in names:
                continue
            owner = operand.owner
            if isinstance(owner, Operation) and owner.name == "arith.constant":
                names[operand] = ("constant", str(owner.properties["value"]))
            else:
                names[operand] = ("term", len(term))
                term.append(operand)
        told = tuple(sorted((k, str(v)) for k, v in op.properties.items() if k != "fastmath"))
        lines.append((op.name, told, tuple(names[o] for o in op.operands), tuple(map(str, op.result_types))))
        names.update((r, ("value", len(lines), n)) for n, r in enumerate(op.results))
    return term, ("reduction", *lines, *(names[s.value] for s in stores))

"""Edits of loop nests that several primitives make: substitution, moves, tails; and where a stage's parts stand.

Each edit keeps the program's meaning or raises `ScheduleError` before it has touched anything. Loops are bottom-up
compact: an index map changes, never the number of ops.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache, over_positions, over_values
from lamina.dialects.index.index_map import Condition, IndexMap, IndexMapAttr, IndexSet, IndexSetAttr
from lamina.dialects.index.linear import Atom, Linear, Ranges, floordiv
from lamina.dialects.schedule.nest.recurrence import ROLLING
from lamina.dialects.schedule.nest.refusals import IllegalError as IllegalError
from lamina.dialects.schedule.nest.refusals import ScheduleError as ScheduleError
from lamina.dialects.schedule.nest.refusals import refuse as refuse
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.ops import (
    AccessOp,
    AllocOp,
    BlockOp,
    ConditionOp,
    ForOp,
    FuncOp,
    IfOp,
    IndexOp,
    LoadOp,
    StoreOp,
    enclosing_loops,
    loops_and_blocks,
)

# -- reading a nest ------------------------------------------------------------------------------------


def blocks_of(func: FuncOp) -> dict[str, list[BlockOp]]:
    """The blocks of each stage, in program order."""
    found: dict[str, list[BlockOp]] = {}
    for op in loops_and_blocks(func):
        if type(op) is BlockOp:
            found.setdefault(op.stage.data, []).append(op)
    return found


TENSORIZED = "tensor_intrin"
"""The attribute of a block that names the tensor intrinsic in it."""


def stage_block(func: FuncOp, stage: str) -> BlockOp:
    """The one block of a stage, to be rewritten."""
    block = _only_block(func, stage)
    if TENSORIZED in block.attributes:
        raise ScheduleError(f"stage {stage!r} is tensorized; what rewrites it comes before te.tensorize")
    return block


def scalar_only(ops: Iterable[AccessOp]) -> None:
    """Raise ScheduleError for an access of vectors: a tensorized block is no longer read as an equation."""
    for op in ops:
        if op.lanes is not None:
            name = op.buffer_value().name_hint or "a buffer"
            raise ScheduleError(
                f"a tensorized block accesses {name}; what moves or caches it comes before te.tensorize"
            )


def _only_block(func: FuncOp, stage: str) -> BlockOp:
    found = blocks_of(func)
    if stage not in found:
        raise ScheduleError(f"no stage {stage!r}; there is {', '.join(map(repr, found))}")
    if len(found[stage]) > 1:
        raise ScheduleError(f"stage {stage!r} has been partitioned")
    return found[stage][0]


def stage_loops(func: FuncOp, stage: str) -> list[ForOp]:
    """The loops around a stage's block, outermost first."""
    return enclosing_loops(_only_block(func, stage))


def stage_buffers(func: FuncOp, stage: str) -> list[SSAValue]:
    """The buffers that a stage writes, one for each of its results."""
    found = dict.fromkeys(op.buffer_value() for op in stores_beyond(stage_block(func, stage)))
    if not found:
        raise ScheduleError(f"stage {stage!r} stores nothing")
    return list(found)


def stage_buffer(func: FuncOp, stage: str) -> SSAValue:
    """The buffer of a stage of one result."""
    buffers = stage_buffers(func, stage)
    if len(buffers) > 1:
        names = ", ".join(f"{stage}.v{n}" for n in range(len(buffers)))
        raise ScheduleError(f"stage {stage!r} computes {len(buffers)} tensors; one of them is meant: {names}")
    return buffers[0]


def stores_beyond(block: BlockOp) -> list[StoreOp]:
    """The stores of a block's body, save those into buffers of its own, which a tensorized block may have."""
    ops = list(all_ops(block.body))
    own = {op.result for op in ops if type(op) is AllocOp}
    return [op for op in ops if type(op) is StoreOp and op.buffer_value() not in own]


def accesses(root: Operation | Block, buffer: SSAValue | None = None) -> list[AccessOp]:
    """Loads and stores below an op (of one buffer), in program order."""
    return [o for o in all_ops(root) if isinstance(o, AccessOp) and (buffer is None or o.buffer_value() is buffer)]


def index_forms(block: BlockOp, without: Container[SSAValue] = ()) -> list[Linear]:
    """The index arithmetic of a stage, save where it accesses some buffers: indices, guards, conditions, values."""
    forms: list[Linear] = []
    for op in all_ops(block):
        if isinstance(op, AccessOp) and op.buffer_value() in without:
            forms += [c.form for c in op.conditions()]
        elif not isinstance(op, ForOp):
            forms += own_forms(op)
    return forms


def own_forms(op: Operation) -> list[Linear]:
    """The index arithmetic of one op, without what stands in it: indices, guards, conditions, values, bounds."""
    if isinstance(op, AccessOp):
        return [*op.forms(), *(c.form for c in op.conditions())]
    if isinstance(op, ForOp):
        return op.min_bounds()
    if isinstance(op, ConditionalBase):
        return [c.form for c in op.conditions()]
    if isinstance(op, IndexOp):
        return over_values(op.map.data.results, op.operands)
    if isinstance(op, ConditionOp):
        return over_values([c.form for c in op.set.data.conditions], op.operands)
    return []


class NestNames:
    """The names of a function's loops and stages; those that it gives are added."""

    def __init__(self, func: FuncOp) -> None:
        ops = loops_and_blocks(func)
        self._axes = {op.axis.data for op in ops if type(op) is ForOp}
        self._stages = {op.stage.data for op in ops if type(op) is BlockOp}

    def axis(self, wanted: str) -> str:
        """A name that no loop has."""
        name = _unique(self._axes, wanted)
        self._axes.add(name)
        return name

    def stage(self, wanted: str) -> str:
        """A name that no block has."""
        name = _unique(self._stages, wanted)
        self._stages.add(name)
        return name


def unique_axis(func: FuncOp, wanted: str) -> str:
    """An axis name that no loop of the function has."""
    return NestNames(func).axis(wanted)


def name_tails(func: FuncOp, loops: Iterable[ForOp]) -> None:
    """Give loops that are copies of others, and stand nowhere yet, axis names of their own: `.tail` behind theirs."""
    names = NestNames(func)
    for loop in loops:
        loop.properties["axis"] = StringAttr(names.axis(f"{loop.axis.data}.tail"))


def unique_stage(func: FuncOp, wanted: str) -> str:
    """A stage name that no block of the function has."""
    return NestNames(func).stage(wanted)


def _unique(taken: Container[str], wanted: str) -> str:
    name, n = wanted, 0
    while name in taken:
        n += 1
        name = f"{wanted}_{n}"
    return name


def stands_in(op: Operation, ancestor: Operation) -> bool:
    """Whether an op is another, or stands somewhere in it."""
    parent: Operation | None = op
    while parent is not None and parent is not ancestor:
        parent = parent.parent_op()
    return parent is not None


def statements_of(ops: Sequence[Operation], home: Block) -> list[Operation]:
    """The statements of a block in which ops stand, each once, in order."""
    found: dict[Operation, None] = {}
    for op in ops:
        at = op
        while at.parent is not home:
            parent = at.parent_op()
            assert parent is not None
            at = parent
        found[at] = None
    return [op for op in home.ops if op in found]


def function_of(op: Operation) -> FuncOp:
    """The tir.func that an op stands in. Raises ScheduleError for a loop that an edit has removed."""
    parent: Operation | None = op
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    if parent is None:
        raise ScheduleError("the loop is no longer part of a function")
    return parent


def perfect_nest(loops: Sequence[ForOp], what: str) -> list[ForOp]:
    """The loops from the outermost to the innermost of the given ones. Raises ScheduleError for anything between."""
    wanted = {id(v) for v in loops}
    innermost = max(loops, key=lambda v: len(enclosing_loops(v)))
    chain = [*enclosing_loops(innermost), innermost]
    chain = chain[next(n for n, v in enumerate(chain) if id(v) in wanted) :]
    missing = [v for v in loops if all(v is not c for c in chain)]
    if missing:
        raise ScheduleError(f"{what}: {missing[0].axis.data!r} is not in one nest with {innermost.axis.data!r}")
    for a, b in zip(chain, chain[1:], strict=False):
        if len(a.body.block.ops) != 1:
            raise ScheduleError(f"{what}: other statements stand between {a.axis.data!r} and {b.axis.data!r}")
        if b.parent_op() is not a:
            raise ScheduleError(f"{what}: {b.axis.data!r} stands in a block of its own within {a.axis.data!r}")
    return chain


# -- substitution ----------------------------------------------------------------------------------------


def substitute(variable: SSAValue, form: Linear, ranges: Ranges | None = None) -> None:
    """Replace an index variable in every access, bound and condition by a form of other values."""
    ranges = ranges or RangeCache()
    users = {use.operation: None for use in variable.uses}
    for op in users:
        substitute_in(op, {variable: form}, ranges)


def substitute_in(op: Operation, mapping: dict[Atom, Linear], ranges: Ranges) -> None:
    """Apply a substitution of index variables to one op's own index arithmetic."""
    lanes = op.lanes if isinstance(op, AccessOp) else None
    if lanes is not None:
        ranges = RangeCache({"lane": (0, lanes - 1)})
    change_forms(op, lambda form: form.substitute(mapping, ranges))


def change_forms(op: Operation, change: Callable[[Linear], Linear]) -> None:
    """Replace each form of one op's own index arithmetic by another. Raises ScheduleError for an op without any."""
    if isinstance(op, AccessOp):
        conditions = [Condition(change(c.form), c.equal) for c in op.conditions()]
        op.set_access([change(f) for f in op.forms()], conditions)
    elif isinstance(op, ForOp):
        op.set_min_bounds([change(f) for f in op.min_bounds()])
    elif isinstance(op, ConditionalBase):
        op.set_conditions([Condition(change(c.form), c.equal) for c in op.conditions()])
    elif isinstance(op, IndexOp):
        (form,) = over_values(op.map.data.results, op.operands)
        operands, (forms,) = over_positions([[change(form)]])
        op.operands = operands
        op.properties["map"] = IndexMapAttr(IndexMap(len(operands), forms))
    elif isinstance(op, ConditionOp):
        conditions = op.set.data.conditions
        new = [change(f) for f in over_values([c.form for c in conditions], op.operands)]
        operands, (forms,) = over_positions([new])
        op.operands = operands
        op.properties["set"] = IndexSetAttr(
            IndexSet(len(operands), tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True)))
        )
    else:
        raise ScheduleError(f"{op.name} uses a loop variable outside index arithmetic")


def ceildiv(form: Linear, divisor: int, ranges: Ranges) -> Linear:
    """The least integer not below form / divisor."""
    return floordiv(form + (divisor - 1), divisor, ranges)


# -- moving ops --------------------------------------------------------------------------------------------


def move_ops(block: Block, target: Block) -> None:
    """Move all ops of a block to the end of another."""
    edit.move_into(target, block.ops)


def wrap(loops: Sequence[ForOp], innermost: Block) -> None:
    """Nest empty loops into each other, the ops of `innermost` within the last."""
    for outer, inner in zip(loops, loops[1:], strict=False):
        outer.body.block.add_op(inner)
    move_ops(innermost, loops[-1].body.block)


def dissolve(op: IfOp) -> None:
    """Put the statements of a condition that always holds in its place."""
    edit.move_before(op, *op.body.block.ops)
    edit.erase(op)


def replace_op(old: Operation, new: Operation) -> None:
    """Put an op without results in the place of another."""
    edit.insert_before(old, new)
    edit.take(old)


def erase_nest(op: Operation) -> None:
    """Remove an op, and the loops and blocks that are left empty by it."""
    parent = op.parent_op()
    edit.erase(op, safe=False)
    erase_empty(parent)


def erase_empty(op: Operation | None) -> None:
    """Remove a loop or a block of loops if nothing stands in it, and those around it that are left empty by that."""
    while isinstance(op, (ForOp, BlockOp)) and not op.body.block.ops:
        parent = op.parent_op()
        edit.erase(op, safe=False)
        op = parent


# -- tails -----------------------------------------------------------------------------------------------------------


def bounds_to_predicate(loop: ForOp) -> None:
    """Let a loop run to its extent, and every block in it only where the loop's bounds hold.

    Raises ScheduleError for a loop without a constant extent, which has nothing else to run to.
    """
    if not loop.bounds:
        return
    if loop.is_dynamic:
        raise ScheduleError(f"the loop {loop.axis.data!r} has no constant extent, so its bounds cannot be a predicate")
    conditions = [Condition(b - Linear.dim(loop.var) - 1) for b in loop.min_bounds()]
    loop.set_min_bounds([])
    for op in loop.body.walk():
        if type(op) is BlockOp:
            op.set_conditions([*op.conditions(), *(c for c in conditions if c not in op.conditions())])


# -- reductions --------------------------------------------------------------------------------------------------


def reduction_loops(block: BlockOp) -> list[ForOp]:
    """The reduction loops of a block, outermost first: those around it within which the buffer that it writes lives.

    A stage may stand in a reduction loop of its consumer. That loop makes the buffer anew in each iteration, and is
    none of the stage's own. What threads share is allocated outside of their loops, and what is left for the next
    iteration outside of that loop; there, a loop in which others read it is none of the stage's own.
    """
    loops = enclosing_loops(block)
    outside: list[ForOp] = []
    for op in stores_beyond(block):
        alloc = op.buffer_value().owner
        if isinstance(alloc, AllocOp):
            outside = enclosing_loops(alloc)
            if alloc.scope.data == "shared" or ROLLING in alloc.attributes:
                uses = [u.operation for u in alloc.result.uses]
                parts = {o.parent_op() for o in uses if isinstance(o, StoreOp)}
                others = [o for o in uses if isinstance(o, LoadOp) and o.parent_op() not in parts]
                outside = [*outside, *(v for o in others for v in enclosing_loops(o))]
    return [v for v in loops if v.is_reduction and v not in outside]


# -- buffers ---------------------------------------------------------------------------------------------------------


def alloc_of(buffer: SSAValue, stage: str) -> AllocOp:
    """The allocation of a stage's buffer. Raises ScheduleError for an output of the function, which has none."""
    owner = buffer.owner
    if not isinstance(owner, AllocOp):
        raise ScheduleError(f"stage {stage!r} writes an output of the function, which keeps its place and shape")
    return owner


def retarget(users: Iterable[AccessOp], buffer: SSAValue) -> None:
    """Make accesses use another buffer of the same rank."""
    for op in users:
        operands = list(op.operands)
        operands[op.buffer_position()] = buffer
        op.operands = operands


def loads_of(buffer: SSAValue) -> list[LoadOp]:
    """The loads of a buffer. Raises ScheduleError where a tensorized block has some."""
    loads = [u.operation for u in list(buffer.uses) if type(u.operation) is LoadOp]
    scalar_only(loads)
    return loads


def stores_of(buffer: SSAValue) -> list[StoreOp]:
    """The tir.store ops that write a buffer; ops that write it in another way are not among them."""
    return [u.operation for u in list(buffer.uses) if type(u.operation) is StoreOp]

"""Fill a buffer for the next iteration of a loop while this iteration uses it.

A buffer marked by `te.double_buffer` is allocated in a loop, filled by statements of its body and used by others. It
moves out of the loop with two halves: the first iteration's is filled before the loop, and each iteration fills the
other half for the next one before it uses its own.

A buffer stays single, and loses its mark, where that could not be: the loop's iterations run at once, the buffer is
used before it is filled, or what fills it reads something that the loop writes. Assumes `tir-lower-blocks`.

Before:
    tir.for %i = 0 to 8 "y.i" {
      %B = tir.alloc "B" scope "global" {double_buffer} : memref<32xf32>
      tir.for %j ... { %a = tir.load %A[%i, %j] ... tir.store %a, %B[%j] }
      tir.for %k ... { %b = tir.load %B[%k] ... } }
After:
    %B = tir.alloc "B" scope "global" : memref<2x32xf32>
    tir.for %j ... { %a = tir.load %A[0, %j] ... tir.store %a, %B[0, %j] }
    tir.for %i = 0 to 8 "y.i" {
      tir.if [6 - %i >= 0] { tir.for %j ... { %a = tir.load %A[%i + 1, %j] ... tir.store %a, %B[(%i + 1) mod 2, %j] } }
      tir.for %k ... { %b = tir.load %B[%i mod 2, %k] ... } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant, mod
from lamina.dialects.schedule.nest.annotations import DOUBLE_BUFFER
from lamina.dialects.schedule.nest.edits import accesses, function_of, substitute_in, unique_axis
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, buffer_type, shape_with
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.phases import explicit_indices


@dataclass(frozen=True)
class InjectDoubleBufferPass(ModulePass):
    name = "tir-inject-double-buffer"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in all_ops(op) if isinstance(f, FuncOp)]:
            explicit_indices(func)
        for alloc in [a for a in all_ops(op) if isinstance(a, AllocOp) and DOUBLE_BUFFER in a.attributes]:
            with edit.transaction(alloc):
                del alloc.attributes[DOUBLE_BUFFER]
                loop = alloc.parent_op()
                if isinstance(loop, ForOp) and loop.kind.data in ("serial", "unrolled"):
                    fill = _filling(alloc, loop)
                    if fill:
                        _double(alloc, loop, fill)


def _filling(alloc: AllocOp, loop: ForOp) -> list[Operation]:
    """The statements of a loop's body that fill a buffer; none where they cannot run an iteration earlier."""
    if not all(_is_outside(d, loop) for d in alloc.operands):
        return []
    users = [op for op in loop.body.block.ops if op is not alloc and accesses(op, alloc.result)]
    fill = [op for op in users if any(isinstance(o, StoreOp) for o in accesses(op, alloc.result))]
    # All is filled before any of it is used.
    if not fill or len(fill) == len(users) or users[: len(fill)] != fill:
        return []
    needed = _with_operands(fill, alloc, loop)
    inside = {v for f in needed for op in f.walk() for v in _defined(op)} | {alloc.result, loop.var}
    written = {o.buffer for o in accesses(loop) if isinstance(o, StoreOp)}
    for op in (o for f in needed for o in f.walk()):
        if isinstance(op, StoreOp) and op.buffer not in inside:
            return []
        if isinstance(op, LoadOp) and op.buffer in written and op.buffer not in inside:
            return []
        if any(v not in inside and not _is_outside(v, loop) for v in op.operands):
            return []
    return needed


def _with_operands(fill: Sequence[Operation], alloc: AllocOp, loop: ForOp) -> list[Operation]:
    """Statements with the loads and arithmetic of the body that they use, in program order."""
    found = set(fill)
    waiting = list(fill)
    while waiting:
        for op in waiting.pop().walk():
            for value in op.operands:
                owner = value.owner
                simple = isinstance(owner, LoadOp) or (isinstance(owner, Operation) and is_side_effect_free(owner))
                if isinstance(owner, Operation) and owner.parent is loop.body.block and owner not in found and simple:
                    found.add(owner)
                    waiting.append(owner)
    return [op for op in loop.body.block.ops if op in found and op is not alloc]


def _defined(op: Operation) -> list[SSAValue]:
    return [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]


def _is_outside(value: SSAValue, loop: ForOp) -> bool:
    """Whether a value exists before a loop."""
    owner = value.owner
    op: Operation | None = owner if isinstance(owner, Operation) else owner.parent_op()
    while op is not None and op is not loop:
        op = op.parent_op()
    return op is None


def _double(alloc: AllocOp, loop: ForOp, fill: Sequence[Operation]) -> None:
    extents = [constant(2), *alloc.extents()]
    type_ = buffer_type(shape_with(extents), alloc.result.type.element_type)
    halves = AllocOp.make(alloc.stage.data, type_, alloc.scope.data, extents)
    halves.attributes |= alloc.attributes
    halves.location = alloc.location
    halves.result.name_hint = alloc.result.name_hint
    edit.insert_before(loop, halves)
    half = mod(Linear.dim(loop.var), 2)
    for op in accesses(loop, alloc.result):
        _retarget(op, halves.result, half)
    edit.erase(alloc)
    # The first iteration's, where there is one.
    limits = loop.limits()
    first = _shifted(fill, loop, constant(0))
    empty = [Condition(b - 1) for b in limits if not (b.is_constant and b.const >= 1)]
    _place_before(loop, first, empty)
    # The next iteration's, where there is one, at the start of the body.
    following = _shifted(fill, loop, Linear.dim(loop.var) + 1)
    for op in reversed(fill):
        if not any(r.uses for r in op.results):
            edit.erase(op, safe=False)
    anchor = loop.body.block.first_op
    assert anchor is not None
    _place_before(anchor, following, [Condition(b - Linear.dim(loop.var) - 2) for b in limits])


def _retarget(op: AccessOp, buffer: SSAValue, half: Linear) -> None:
    forms, conditions = [half, *op.forms()], op.conditions()
    operands = list(op.operands)
    operands[op.buffer_position()] = buffer
    op.operands = operands
    op.set_access(forms, conditions)


def _shifted(ops: Sequence[Operation], loop: ForOp, form: Linear) -> list[Operation]:
    """Copies of statements as another iteration of a loop runs them."""
    mapping: dict[Atom, Linear] = {loop.var: form}
    func = function_of(loop)
    values: dict[SSAValue, SSAValue] = {}
    copies = [op.clone(values) for op in ops]
    for inner in [o for copy in copies for o in copy.walk()]:
        if type(inner) is ForOp:
            inner.properties["axis"] = StringAttr(unique_axis(func, f"{inner.axis.data}.next"))
        if loop.var in inner.operands:
            substitute_in(inner, mapping, RangeCache())
    return copies


def _place_before(anchor: Operation, ops: Sequence[Operation], conditions: Sequence[Condition]) -> None:
    new = list(ops)
    if conditions:
        holder = IfOp.make(conditions)
        inherit_location(holder, anchor)
        holder.body.block.add_ops(new)
        new = [holder]
    edit.insert_before(anchor, *new)

"""Let buffers of a kernel share memory where none of them is needed while another is.

Of the buffers that a block allocates, one whose last use comes before another's first use gives it its memory, if
scope, element type and shape are the same; of buffers of one dimension (`tir-storage-flatten`) the larger one lasts.
They also share where the statement that uses the one for the last time fills the other, and each of its iterations
reads just the elements that it then replaces: it computes in place. Registers are no memory.

Before:
    %a = tir.alloc "a" scope "global" : memref<8xf32>
    %b = tir.alloc "b" scope "global" : memref<8xf32>
    ... fill %a ...
    tir.for %i = 0 to 8 "b.i" { %x = tir.load %a[%i] ... tir.store %y, %b[%i] }
After:
    %a = tir.alloc "a" scope "global" : memref<8xf32>
    ... fill %a ...
    tir.for %i = 0 to 8 "b.i" { %x = tir.load %a[%i] ... tir.store %y, %a[%i] }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, Operation

from lamina.dialects import edit
from lamina.dialects.index.digits import is_injective
from lamina.dialects.index.linear import Atom
from lamina.dialects.schedule.nest.edits import accesses, stands_in
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import FuncOp, enclosing_loops
from lamina.passes.base import Context, ModulePass


@dataclass(frozen=True)
class StorageRewritePass(ModulePass):
    name = "tir-storage-rewrite"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                for block in [b for o in func.walk() for r in o.regions for b in r.blocks]:
                    _share(block)


@dataclass
class _Memory:
    """A buffer whose memory others may take over, and the statement that uses it last."""

    alloc: AllocOp
    last: int


def _share(block: Block) -> None:
    ops = list(block.ops)
    position = {op: n for n, op in enumerate(ops)}
    lives: list[tuple[int, int, AllocOp]] = []
    for alloc in (o for o in ops if isinstance(o, AllocOp)):
        users = [use.operation for use in alloc.result.uses]
        places = [position[p] for u in users if (p := _statement(u, block)) is not None]
        if len(places) == len(users) > 0 and _may_share(alloc):
            lives.append((min(places), max(places), alloc))
    free: list[_Memory] = []
    for first, last, alloc in sorted(lives, key=lambda life: life[0]):
        for memory in free:
            follows = memory.last < first or (memory.last == first and _in_place(memory.alloc, alloc, ops[first]))
            if follows and _fits(memory.alloc, alloc):
                with edit.transaction():
                    _take_over(memory, alloc)
                memory.last = last
                break
        else:
            free.append(_Memory(alloc, last))


def _statement(op: Operation, block: Block) -> Operation | None:
    """The op of a block that an op stands in."""
    current: Operation | None = op
    while current is not None and current.parent is not block:
        current = current.parent_op()
    return current


def _may_share(alloc: AllocOp) -> bool:
    return (
        alloc.scope.data != "register"
        and not alloc.attributes
        and DYNAMIC_INDEX not in alloc.result.type.get_shape()
        and all(isinstance(u.operation, (LoadOp, StoreOp)) and u.index < 2 for u in alloc.result.uses)
    )


def _fits(old: AllocOp, new: AllocOp) -> bool:
    if old.scope != new.scope or old.result.type.element_type != new.result.type.element_type:
        return False
    shapes = old.result.type.get_shape(), new.result.type.get_shape()
    return shapes[0] == shapes[1] or all(len(s) == 1 for s in shapes)


def _in_place(old: AllocOp, new: AllocOp, statement: Operation) -> bool:
    """Whether a statement reads of one buffer, before it writes it, just the element of the other that it writes."""
    reads, writes = accesses(statement, old.result), accesses(statement, new.result)
    if old.result.type != new.result.type or not all(isinstance(o, LoadOp) for o in reads):
        return False
    stores = [o for o in writes if isinstance(o, StoreOp)]
    if len(stores) != 1 or len(writes) != 1:
        return False
    (store,) = stores
    body = store.parent
    if any(o.parent is not body or o.forms() != store.forms() or not o.is_before_in_block(store) for o in reads):
        return False
    # Another iteration must not come to the same element again.
    loops = [v for v in enclosing_loops(store) if stands_in(v, statement)]
    extents: dict[Atom, int | None] = {v.var: None if v.is_dynamic else v.trip for v in loops}
    return store.lanes is None and is_injective(store.forms(), extents)


def _take_over(memory: _Memory, alloc: AllocOp) -> None:
    old, type_ = memory.alloc, alloc.result.type
    if old.result.type.get_shape() != type_.get_shape():
        size = max(old.result.type.get_shape()[0], type_.get_shape()[0])
        larger = AllocOp.make(old.stage.data, buffer_type([size], type_.element_type), old.scope.data)
        edit.replace(old, larger)
        memory.alloc = larger
    edit.replace(alloc, [memory.alloc.result])

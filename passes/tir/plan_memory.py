"""Place every intermediate buffer of `@main` in one arena, by liveness.

Buffers that a kernel allocates at its top level, and large ones in loops that run in turn, become arguments first,
behind its outputs, so that the arena holds them too; the kernel's attribute `workspaces` says how many there are.
Linear scan in program order: a buffer takes the smallest free gap that holds it, else the arena grows; a gap is free
once the last call that touches its buffer is over. Offsets are multiples of 64 bytes.

Before:
    %a = tir.alloc "f" scope "global" : memref<64xf32>
    tir.call @f(%x, %a) : memref<64xf32>, memref<64xf32>
    tir.call @g(%a, %y) : memref<64xf32>, memref<64xf32>
After:
    %arena = tir.alloc "arena" scope "global" : memref<256xi8>
    %a = tir.view %arena[0] : memref<256xi8> to memref<64xf32>
    tir.call @f(%x, %a) : ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from math import prod
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.accesses import INDEX, over_values
from lamina.dialects.dtypes import dtype_name, itemsize
from lamina.dialects.index_map import IndexMapAttr
from lamina.dialects.linear import Linear
from lamina.dialects.sizes import shape_attrs, size_arguments, symbolic_shape
from lamina.dialects.tir.memory import extents_of, type_of
from lamina.dialects.tir.ops import (
    AllocOp,
    CallOp,
    CopyOp,
    ForOp,
    FuncOp,
    LoadOp,
    StoreOp,
    ViewOp,
    buffer_type,
    enclosing_loops,
)
from lamina.passes.arena import Arena
from lamina.passes.base import Context, ModulePass, inherit_location

ALIGNMENT = 64
LARGEST_ON_STACK = 1 << 18
"""Bytes of a buffer in a loop that the stack holds still."""
WORKSPACES = "workspaces"
"""Attribute of a kernel: how many of its arguments, counted from the last, are scratch memory."""


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    name = "tir-plan-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        workspaces = {f.sym_name.data: lift_allocations(f) for f in op.ops if isinstance(f, FuncOp)}
        for main in [m for m in op.ops if isinstance(m, MainOp) and not m.is_declaration]:
            _copies_to_calls(op, main)
            _pass_workspaces(main, workspaces)
            _plan(main)


def size_of(type_: Attribute) -> int:
    """Bytes of a buffer."""
    assert isinstance(type_, MemRefType)
    buffer = cast("MemRefType[Attribute]", type_)
    return itemsize(dtype_name(buffer.element_type)) * prod(buffer.get_shape())


class Workspace(NamedTuple):
    """A buffer that a kernel is given to work in; `shape` gives its extents over the kernel's sizes, if it has any."""

    type: MemRefType[Attribute]
    shape: IndexMapAttr | None


def lift_allocations(func: FuncOp) -> list[Workspace]:
    """Turn a kernel's top-level memory buffers, and large ones that one iteration has at a time, into arguments."""
    block = func.body.block
    found: list[Workspace] = []
    for op in list(func.walk()):
        if isinstance(op, AllocOp) and op.scope.data != "register" and (op.parent is block or _is_too_large(op)):
            found.append(Workspace(op.result.type, symbolic_shape(block.args, op.extents())))
            argument = block.insert_arg(op.result.type, len(block.args))
            argument.name_hint = op.result.name_hint
            op.result.replace_all_uses_with(argument)
            op.detach()
            op.erase()
    func.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), [])
    if found:
        func.attributes[WORKSPACES] = IntegerAttr(len(found), i64)
        if func.arg_attrs is not None or any(w.shape is not None for w in found):
            before = len(block.args) - len(found)
            given = shape_attrs([None] * before) if func.arg_attrs is None else func.arg_attrs
            own = shape_attrs([w.shape for w in found])
            func.properties["arg_attrs"] = ArrayAttr([*given.data, *own.data])
    return found


def _is_too_large(alloc: AllocOp) -> bool:
    """Whether a buffer in loops is too large for the stack, and its iterations come one after the other."""
    known = not any(e == DYNAMIC_INDEX for e in alloc.result.type.get_shape())
    in_turn = all(v.kind.data in ("serial", "unrolled") for v in enclosing_loops(alloc))
    return known and in_turn and size_of(alloc.result.type) > LARGEST_ON_STACK


def _pass_workspaces(main: MainOp, workspaces: dict[str, list[Workspace]]) -> None:
    for call in [c for c in main.body.block.ops if isinstance(c, CallOp)]:
        sizes = [v for v in call.operands if isinstance(v.type, IndexType)]
        buffers: list[SSAValue] = []
        for type_, shape in workspaces.get(call.callee.root_reference.data, []):
            extents = None if shape is None else over_values(shape.data.results, sizes)
            alloc = AllocOp.make("workspace", type_, extents=extents)
            inherit_location(alloc, call)
            main.body.block.insert_op_before(alloc, call)
            buffers.append(alloc.result)
        if buffers:
            call.operands = [*call.operands, *buffers]


def _copies_to_calls(module: ModuleOp, main: MainOp) -> None:
    """A copy of a buffer is a kernel like any other; it takes the sizes of `@main` where the buffer's are unknown."""
    kernels: dict[tuple[Attribute, IndexMapAttr | None], str] = {}
    taken = {f.sym_name.data for f in module.ops if isinstance(f, (FuncOp, MainOp))}
    arguments = main.body.block.args
    for copy in [c for c in main.body.block.ops if isinstance(c, CopyOp)]:
        type_ = copy.source.type
        shape = symbolic_shape(arguments, extents_of(copy.source))
        sizes: Sequence[SSAValue] = size_arguments(arguments) if shape is not None else []
        name = kernels.get((type_, shape))
        if name is None:
            name = kernels[type_, shape] = next(n for k in count() if (n := f"copy_{k}") not in taken)
            taken.add(name)
            kernel = _copy_kernel(name, type_of(copy.source), len(sizes), shape)
            inherit_location(kernel, copy)
            module.body.block.insert_op_before(kernel, main)
        call = CallOp.create(
            operands=[*sizes, copy.source, copy.target], properties={"callee": SymbolRefAttr(StringAttr(name))}
        )
        inherit_location(call, copy)
        main.body.block.insert_op_before(call, copy)
        copy.detach()
        copy.erase()


def _copy_kernel(name: str, type_: MemRefType[Attribute], sizes: int, shape: IndexMapAttr | None) -> FuncOp:
    """Loops without a block: blocks have been lowered when memory is planned."""
    func = FuncOp.make(name, [*[INDEX] * sizes, type_, type_], 1, [None] * sizes + [shape] * 2)
    source, target = func.body.block.args[-2:]
    loops = [ForOp.upto([e], f"copy.i{n}", hint=f"i{n}") for n, e in enumerate(extents_of(source))]
    load = LoadOp.make(source, [Linear.dim(v.var) for v in loops])
    place = func.body.block
    for loop in loops:
        place.add_op(loop)
        place = loop.body.block
    place.add_ops([load, StoreOp.make(load.result, target, [Linear.dim(v.var) for v in loops])])
    return func


def _plan(main: MainOp) -> None:
    block = main.body.block
    ops = list(block.ops)
    # A buffer whose size is known only when the program runs stays; the program's caller provides it.
    allocs = [op for op in ops if isinstance(op, AllocOp) and not op.sizes]
    if not allocs:
        return
    position = {op: n for n, op in enumerate(ops)}
    last: dict[AllocOp, int] = {a: max((position[u.operation] for u in a.result.uses), default=-1) for a in allocs}
    dying: dict[int, list[AllocOp]] = {}
    for a, n in last.items():
        dying.setdefault(n, []).append(a)
    # A buffer is born at the first call that touches it, which stands right after its alloc or later.
    arena = Arena()
    offsets: dict[AllocOp, int] = {}
    for n, op in enumerate(ops):
        for value in op.operands:
            owner = value.owner
            if isinstance(owner, AllocOp) and owner in last and owner not in offsets:
                offsets[owner] = arena.take(_rounded(owner))
        for dead in dying.get(n, ()):
            arena.give(offsets[dead], _rounded(dead))
    holder = AllocOp.make("arena", buffer_type([max(arena.size, ALIGNMENT)], i8))
    block.insert_op_before(holder, ops[0])
    for a in allocs:
        _replace(block, a, holder.result, offsets.get(a, 0))


def _rounded(alloc: AllocOp) -> int:
    return max(-(-size_of(alloc.result.type) // ALIGNMENT) * ALIGNMENT, ALIGNMENT)


def _replace(block: Block, alloc: AllocOp, arena: SSAValue, offset: int) -> None:
    view: Operation = ViewOp.make(arena, offset, alloc.result.type)
    inherit_location(view, alloc)
    view.results[0].name_hint = alloc.result.name_hint
    alloc.result.replace_all_uses_with(view.results[0])
    block.insert_op_before(view, alloc)
    alloc.detach()
    alloc.erase()

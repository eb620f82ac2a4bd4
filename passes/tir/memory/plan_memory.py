"""Place every intermediate buffer of `@main` in an arena, by liveness.

Buffers that a kernel allocates at its top level, and large ones in loops that run in turn, become arguments first,
behind its outputs, so that the arena holds them too; the kernel's attribute `workspaces` says how many there are. Where
no system starts threads, parallel loops around a large buffer run in turn as well, and become serial.
In program order a buffer takes the smallest free gap that holds it, else the arena grows; a gap is free once the last
call that touches its buffer is over. Where that takes more than is ever needed at one time, the largest buffers are
placed first, and the better plan holds. A result takes the place of an operand that nobody needs any more, where the
kernel reads each element of it last where it writes the result's (`in_place.py`); the kernel's attribute `shared` names
the arguments that may be one buffer. Offsets are multiples of 64 bytes.

Buffers with unknown extents have arenas of their own: those whose sizes are multiples of the same extents share one, in
which sizes and offsets are counted in these, and a plan holds for whatever they are.

Before:
    %a = tir.alloc "f" scope "global" : memref<64xf32>
    tir.call @f(%x, %a) : memref<64xf32>, memref<64xf32>
    tir.call @g(%a, %y) : memref<64xf32>, memref<64xf32>
After:
    %arena = tir.alloc "arena" scope "global" : memref<256xi8>
    %a = tir.view %arena[0] : memref<256xi8> to memref<64xf32>
    tir.call @f(%x, %a) : ...
    // of memref<?x16xf32>, with extents [%n, 16]
    %arena_1 = tir.alloc "arena" scope "global" [64, %n] : memref<64x?xi8>
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import accumulate, count
from typing import ClassVar, NamedTuple, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
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
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import bytes_of_type, dtype_name, itemsize
from lamina.dialects.index.accesses import INDEX, over_values
from lamina.dialects.index.index_map import IndexMapAttr
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.index.sizes import shape_attrs, size_arguments, symbolic_shape
from lamina.dialects.machine_spec import has_system, is_bare, stack_bytes
from lamina.dialects.target import module_target
from lamina.dialects.tir.memory import extents_of, multiple_of, shape_with, type_of
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
from lamina.passes.tir.memory.in_place import may_share

ALIGNMENT = 64
LARGEST_ON_STACK, LARGEST_ON_SMALL_STACK = 1 << 18, 1 << 7
"""Bytes of a buffer in a loop that the stack holds still, and of all of a phase (`tir_to_llvm/buffers.py`): of a
thread, and of a program without a system."""
MOST_ROUNDED = 1.125
"""Bytes of buffers of unknown extents with their alignment, over those without."""
MOST_BY_SIZE = 2000
"""Buffers; of more the time to place them by size grows too long."""
SHARED = "shared"
"""Attribute of a kernel: arguments that may be the same buffer as another argument."""
WORKSPACES = "workspaces"
"""Attribute of a kernel: how many of its arguments, counted from the last, are scratch memory."""


@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    name = "tir-plan-memory"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # Kernels and their calls change together.
        with edit.transaction(op):
            self.plan(op)

    def plan(self, op: ModuleOp) -> None:
        workspaces = _lifted(op)
        for main in [m for m in op.ops if isinstance(m, MainOp) and not m.is_declaration]:
            for found in prepare(op, main, workspaces):
                _insert(main, found)


def prepare(module: ModuleOp, main: MainOp, workspaces: dict[str, list[Workspace]] | None = None) -> list[Plan]:
    """Everything before buffers are put into arenas, and where they will be."""
    if workspaces is None:
        workspaces = _lifted(module)
    _copies_to_calls(module, main)
    _pass_workspaces(main, workspaces)
    return plans(main, {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)})


class Workspace(NamedTuple):
    """A buffer that a kernel is given to work in; `shape` gives its extents over the kernel's sizes, if it has any."""

    type: MemRefType[Attribute]
    shape: IndexMapAttr | None


def _lifted(module: ModuleOp) -> dict[str, list[Workspace]]:
    """The workspaces of all kernels, by name."""
    target = module_target(module)
    triple = target.triple.data if target is not None else ""
    alone = not has_system(triple)
    stack = LARGEST_ON_SMALL_STACK if is_bare(triple) else stack_bytes(triple, LARGEST_ON_STACK)
    return {f.sym_name.data: lift_allocations(f, alone, stack) for f in module.ops if isinstance(f, FuncOp)}


def lift_allocations(func: FuncOp, alone: bool = False, stack: int = LARGEST_ON_STACK) -> list[Workspace]:
    """Turn a kernel's top-level memory buffers, and large ones that one iteration has at a time, into arguments.

    `alone` says that one thread runs all iterations; buffers of at most `stack` bytes may stay in loops.
    """
    block = func.body.block
    found: list[Workspace] = []
    for op in list(func.walk()):
        if (
            isinstance(op, AllocOp)
            and op.scope.data != "register"
            and (op.parent is block or _is_too_large(op, alone, stack))
        ):
            for loop in enclosing_loops(op):
                if loop.kind.data == "parallel":
                    loop.properties["kind"] = StringAttr("serial")
            found.append(Workspace(op.result.type, symbolic_shape(block.args, op.extents())))
            argument = block.insert_arg(op.result.type, len(block.args))
            argument.name_hint = op.result.name_hint
            op.result.replace_all_uses_with(argument)
            edit.erase(op)
    func.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), [])
    if found:
        func.attributes[WORKSPACES] = IntegerAttr(len(found), i64)
        if func.arg_attrs is not None or any(w.shape is not None for w in found):
            before = len(block.args) - len(found)
            given = shape_attrs([None] * before) if func.arg_attrs is None else func.arg_attrs
            own = shape_attrs([w.shape for w in found])
            func.properties["arg_attrs"] = ArrayAttr([*given.data, *own.data])
    return found


def _is_too_large(alloc: AllocOp, alone: bool, stack: int) -> bool:
    """Whether a buffer in loops is too large for the stack, and its iterations come one after the other."""
    known = not any(e == DYNAMIC_INDEX for e in alloc.result.type.get_shape())
    kinds = ("serial", "unrolled", "parallel") if alone else ("serial", "unrolled")
    in_turn = all(v.kind.data in kinds for v in enclosing_loops(alloc))
    return known and in_turn and bytes_of_type(alloc.result.type) > stack


def _pass_workspaces(main: MainOp, workspaces: dict[str, list[Workspace]]) -> None:
    for call in [c for c in main.body.block.ops if isinstance(c, CallOp)]:
        sizes = [v for v in call.operands if isinstance(v.type, IndexType)]
        buffers: list[SSAValue] = []
        for type_, shape in workspaces.get(call.callee.root_reference.data, []):
            extents = None if shape is None else over_values(shape.data.results, sizes)
            alloc = AllocOp.make("workspace", type_, extents=extents)
            inherit_location(alloc, call)
            edit.insert_before(call, alloc)
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
            edit.insert_before(main, kernel)
        call = CallOp.create(
            operands=[*sizes, copy.source, copy.target], properties={"callee": SymbolRefAttr(StringAttr(name))}
        )
        inherit_location(call, copy)
        edit.insert_before(copy, call)
        edit.erase(copy)


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


Unit: TypeAlias = tuple[Linear, ...]
"""Unknown extents, of which a buffer's size is a multiple; () where all are known."""


class Buffer(NamedTuple):
    """Memory that is needed from one call to another, both counted."""

    size: int
    """Bytes, of unknown extents for each element of the unit."""
    first: int
    last: int


class Plan(NamedTuple):
    """The places of the buffers of `@main` of one unit; those that share memory, one in place of the other, are one."""

    owners: dict[AllocOp, AllocOp]
    """For each alloc the one whose buffer it uses, maybe its own."""
    buffers: dict[AllocOp, Buffer]
    offsets: dict[AllocOp, int]
    size: int
    unit: Unit
    placed: Collection[AllocOp]
    """All of them, also those that nobody needs."""

    @property
    def least(self) -> int:
        """The most bytes that are needed at one time: no plan does with less."""
        return _most_alive(self.buffers.values())


def plans(main: MainOp, kernels: Mapping[str, FuncOp]) -> list[Plan]:
    """Choose places for the buffers that `@main` allocates: a plan for each unit, that of no unknown extents first.

    The attribute `shared` of kernels that are called with one buffer for an operand and a result is added to.
    """
    ops = list(main.body.block.ops)
    position = {op: n for n, op in enumerate(ops)}
    units: dict[frozenset[tuple[Linear, int]], Unit] = {frozenset(): ()}
    lives: dict[Unit, dict[AllocOp, Buffer]] = {(): {}}
    for alloc in ops:
        if isinstance(alloc, AllocOp):
            size, found = multiple_of(alloc)
            unit = units.setdefault(frozenset(Counter(found).items()), tuple(found))
            used = [position[u.operation] for u in alloc.result.uses]
            lives.setdefault(unit, {})[alloc] = Buffer(size, min(used, default=-1), max(used, default=-1))
    return [_plan(ops, unit, _aligned(life, unit), kernels) for unit, life in lives.items() if life]


def _aligned(life: Mapping[AllocOp, Buffer], unit: Unit) -> dict[AllocOp, Buffer]:
    """The buffers with sizes that are multiples of the alignment.

    Bytes for each element of a unit are few where it is large: where that would make much more of them, they are whole
    elements only, and whoever runs the program counts in larger units (`ProgramInfo.working_memory`).
    """
    step = ALIGNMENT
    if unit and sum(_rounded(b.size, step) for b in life.values()) > MOST_ROUNDED * sum(b.size for b in life.values()):
        step = max(itemsize(dtype_name(a.result.type.element_type)) for a in life)
    return {alloc: b._replace(size=_rounded(b.size, step)) for alloc, b in life.items()}


def _rounded(size: int, step: int) -> int:
    return max(-(-size // step) * step, step)


def _plan(ops: Sequence[Operation], unit: Unit, life: Mapping[AllocOp, Buffer], kernels: Mapping[str, FuncOp]) -> Plan:
    owners: dict[AllocOp, AllocOp] = {}
    for n, op in enumerate(ops):
        for value in op.operands:
            alloc = value.owner
            if isinstance(alloc, AllocOp) and alloc in life and alloc not in owners:
                # A buffer is born at the first call that touches it, which stands right after its alloc or later.
                dying = _dying_operand(op, alloc, kernels, life, n) if isinstance(op, CallOp) else None
                owners[alloc] = alloc if dying is None else owners[dying]
    buffers: dict[AllocOp, Buffer] = {}
    for alloc, owner in owners.items():
        before, own = buffers.get(owner), life[alloc]
        buffers[owner] = own if before is None else before._replace(last=max(before.last, own.last))
    offsets, size = _in_turn(buffers)
    if size > _most_alive(buffers.values()) and len(buffers) <= MOST_BY_SIZE:
        other, other_size = _by_size(buffers)
        if other_size < size:
            offsets, size = other, other_size
    return Plan(owners, buffers, offsets, size, unit, life.keys())


def _dying_operand(
    call: CallOp, result: AllocOp, kernels: Mapping[str, FuncOp], life: Mapping[AllocOp, Buffer], n: int
) -> AllocOp | None:
    """The operand of a call whose buffer its result may take over: nobody needs it afterwards, and it is in place."""
    kernel = kernels.get(call.callee.root_reference.data)
    if kernel is None or not kernel.outputs.value.data:
        return None
    count = kernel.outputs.value.data
    arguments, given = kernel.body.block.args, [v.owner for v in call.operands]
    end = len(arguments) - _workspace_count(kernel)
    places = [k for k, owner in enumerate(given) if owner is result]
    if len(places) != 1 or not end - count <= places[0] < end:
        return None
    for owner in given[: end - count]:
        if not isinstance(owner, AllocOp) or owner not in life or life[owner].last != n:
            continue
        same = [j for j, other in enumerate(given) if other is owner]
        if all(j < end - count and may_share(arguments[j], arguments[places[0]]) for j in same):
            _declare_shared(kernel, [*same, places[0]])
            return owner
    return None


def _workspace_count(kernel: FuncOp) -> int:
    found = kernel.attributes.get(WORKSPACES)
    return found.value.data if isinstance(found, IntegerAttr) else 0


def _declare_shared(kernel: FuncOp, positions: Sequence[int]) -> None:
    before = kernel.attributes.get(SHARED)
    known = set(before.get_values()) if isinstance(before, DenseArrayBase) else set[int]()
    kernel.attributes[SHARED] = DenseArrayBase.from_list(i64, sorted({*known, *positions}))


def _most_alive(buffers: Iterable[Buffer]) -> int:
    change: dict[int, int] = {}
    for size, first, last in buffers:
        change[first] = change.get(first, 0) + size
        change[last + 1] = change.get(last + 1, 0) - size
    return max(accumulate((change[n] for n in sorted(change)), initial=0))


def _in_turn(buffers: Mapping[AllocOp, Buffer]) -> tuple[dict[AllocOp, int], int]:
    """In the order of their births, each in the smallest gap that holds it."""
    arena = Arena()
    offsets: dict[AllocOp, int] = {}
    dying: list[tuple[int, int, int]] = []
    for alloc, (size, first, last) in buffers.items():
        while dying and dying[0][0] < first:
            _, start, length = heappop(dying)
            arena.give(start, length)
        offsets[alloc] = arena.take(size)
        heappush(dying, (last, offsets[alloc], size))
    return offsets, arena.size


def _by_size(buffers: Mapping[AllocOp, Buffer]) -> tuple[dict[AllocOp, int], int]:
    """The largest first, each in the lowest gap between those that live when it does."""
    offsets: dict[AllocOp, int] = {}
    placed: list[tuple[int, Buffer]] = []
    end = 0
    for alloc, buffer in sorted(buffers.items(), key=lambda item: (-item[1].size, item[1].first)):
        offset = 0
        for start, other in placed:
            if other.first <= buffer.last and buffer.first <= other.last:
                if start - offset >= buffer.size:
                    break
                offset = max(offset, start + other.size)
        insort(placed, (offset, buffer))
        offsets[alloc] = offset
        end = max(end, offset + buffer.size)
    return offsets, end


def _insert(main: MainOp, found: Plan) -> None:
    block = main.body.block
    first = block.first_op
    assert first is not None
    extents = [constant(found.size if found.unit else max(found.size, ALIGNMENT)), *found.unit]
    holder = AllocOp.make("arena", buffer_type(shape_with(extents), i8), extents=extents)
    edit.insert_before(first, holder)
    for alloc in [op for op in block.ops if isinstance(op, AllocOp) and op in found.placed]:
        owner = found.owners.get(alloc)
        offset = 0 if owner is None else found.offsets[owner]
        edit.replace(alloc, ViewOp.make(holder.result, offset, alloc.result.type, alloc.extents()))

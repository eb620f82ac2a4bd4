"""The third stair: loops over buffers become llvm functions, one rule for each op.

Each tir.func is cut into phases: every parallel loop and every team at its top level is one, whatever stands between
them another.
A phase is two functions. The entry has the runner's signature `(args, lo, hi, thread)`: it reads the buffer pointers
from the argument array and calls the body; `lo` to `hi` is the slice of the parallel loop, and the number of the thread
tells which memory is its own (`buffers.py`). The body's pointers are `noalias` but for those that the kernel's
attribute `shared` names.
`@main` becomes the program table that the runner walks (`program.py`).

Before:
    tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 parallel "y.i" {
        %v = tir.load %x[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
        tir.store %v, %y[%i * 16 + lane] : memref<64xf32>, vector<16xf32> } }
After:
    llvm.func internal @f.body(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %lo: i64, %hi: i64) { ... }
    llvm.func @f(%args: !llvm.ptr, %lo: i64, %hi: i64, %thread: i64) { ... llvm.call @f.body(%x, %y, %lo, %hi) ... }

Assumes `tir-lower-blocks` and `tir-vectorize-loop`, and for `@main` also `tir-plan-memory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    bf16,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops, discard, operands_of
from lamina.dialects.listener import KernelTaker, listener_of
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.machine_spec import is_bare, pointer_bits
from lamina.dialects.target import TargetAttr, module_target
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.intrinsics import IntrinsicOp
from lamina.dialects.tir.memory import extents_of, type_of
from lamina.dialects.tir.ops import AllocOp, ForOp, FuncOp
from lamina.dialects.tir.team import TeamOp
from lamina.errors import InputError, UnsupportedError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.relay.partition.external_backends import check_on_buffers, is_declaration
from lamina.passes.rules.conversion import Conversion
from lamina.passes.tir.memory.plan_memory import SHARED
from lamina.passes.tir.threads.phases import explicit_indices, phases_of, self_contained
from lamina.passes.tir_to_llvm.buffers import places_of_thread, release
from lamina.passes.tir_to_llvm.builder import LINE_BYTES, POINTER, FunctionBuilder
from lamina.passes.tir_to_llvm.checks import Checks
from lamina.passes.tir_to_llvm.cost import cycles, grain_of, slice_cycles
from lamina.passes.tir_to_llvm.limits import check_limits
from lamina.passes.tir_to_llvm.loops import least, run_loop
from lamina.passes.tir_to_llvm.program import (
    STATUS_ARGUMENT,
    TEAM_ARGUMENT,
    THREADS_ARGUMENT,
    Phase,
    check_main,
    lower_main,
)
from lamina.passes.tir_to_llvm.program import main_to_program as main_to_program
from lamina.passes.tir_to_llvm.replay import Replay
from lamina.passes.tir_to_llvm.rules import tir_to_llvm as tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import OVERFLOW, element_of
from lamina.passes.tir_to_llvm.teams import Team, most_threads, patience, team_of, written_together


@dataclass(frozen=True)
class TirToLlvmPass(ModulePass):
    name = "tir-to-llvm"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # A program does not stop between two levels.
        with edit.transaction(op):
            self.lower(ctx, op)

    def lower(self, ctx: Context, op: ModuleOp) -> None:
        check_features(op)
        state = Functions(op, listener_of(ctx).kernels)
        kernels = [top for top in op.ops if isinstance(top, FuncOp)]
        for top in kernels if state.taker is None else state.taker.share(kernels):
            functions_to_llvm.lower(top, state)
        state.elsewhere = True
        for top in kernels:
            if top.sym_name.data not in state.phases:
                functions_to_llvm.lower(top, state)
        mains = [top for top in op.ops if isinstance(top, MainOp)]
        for top in mains:
            if is_declaration(top):
                check_on_buffers(top)
                state.external[top.sym_name.data] = top
                state.signatures[top.sym_name.data] = list(top.function_type.inputs)
        for top in mains:
            if not is_declaration(top):
                functions_to_llvm.lower(top, state)
        for top in state.external.values():
            edit.erase(top)
        for declaration in state.declarations.values():
            op.body.block.add_op(declaration)
        for top in op.ops:
            if top not in state.made:
                for left in all_ops(top):
                    if left.name.startswith("tir."):
                        raise InputError(f"tir-to-llvm leaves {left.name} behind", op=left)


class Functions:
    """The functions of a module that are lowered so far."""

    def __init__(self, module: ModuleOp, taker: KernelTaker | None) -> None:
        self.module = module
        self.taker = taker
        self.target = module_target(module)
        self.elsewhere = False
        """Whether the kernels that are left are lowered elsewhere, and only declared here."""
        self.phases: dict[str, list[Phase]] = {}
        self.declarations: dict[str, llvm.FuncOp] = {}
        self.signatures: dict[str, list[Attribute]] = {}
        self.external: dict[str, MainOp] = {}
        self.codes: dict[str, int] = {}
        """The messages of checks, numbered."""
        self.made: set[Operation] = set()


functions_to_llvm: Conversion[Functions, None] = Conversion("tir-to-llvm", "a module")


@functions_to_llvm.lowers(FuncOp)
def kernel(top: FuncOp, state: Functions) -> None:
    """Two llvm.func for each phase: its body, and the entry that the runner calls."""
    check_limits(top)
    functions, found = lower_function(top, state.declarations, state.codes, state.target, state.elsewhere)
    state.phases[top.sym_name.data] = found
    state.signatures[top.sym_name.data] = list(top.function_type.inputs)
    state.made.update(functions)
    taker = state.taker
    for f in functions:
        if taker is None:
            inherit_location(f, top)
        else:  # its ops are gone before anybody asks them
            f.location = top.location
        edit.insert_before(top, f)
    edit.take(top)
    discard(top.body)
    if taker is not None and not state.elsewhere:
        taker.finished(functions, state.declarations)


@functions_to_llvm.lowers(MainOp)
def main(top: MainOp, state: Functions) -> None:
    """The program table, which has a row for each phase of each call."""
    check_main(top, state.signatures)
    lower_main(state.module, top, state.phases, list(state.codes), state.external)


def check_features(module: ModuleOp) -> None:
    """Raise InputError at a machine intrinsic that the module's target does not have, UnsupportedError at a rounding of
    f64 to bf16 where LLVM has no code for it.

    Without a target in the module it is the emitter that refuses: LLVM would kill the process.
    """
    target = module_target(module)
    if target is None:
        return
    lacks_bf16 = not target.has_bf16()
    for op in all_ops(module):
        if lacks_bf16 and isinstance(op, arith.TruncFOp):
            types = [element_of(v.type) for v in (op.operands[0], op.results[0])]
            if types == [f64, bf16]:
                what = f"there is no rounding of float64 to bfloat16 for {target.triple.data}"
                raise UnsupportedError(what, hint="go through f32", op=op)
        if isinstance(op, IntrinsicOp):
            missing = op.row.missing(target.has_feature)
            if missing:
                raise InputError(
                    f"'{op.intrinsic.data}' needs the target feature {', '.join(missing)}, which "
                    f"{target.cpu.data} has not",
                    op=op,
                )


def lower_function(
    func: FuncOp,
    declarations: dict[str, llvm.FuncOp],
    codes: dict[str, int],
    target: TargetAttr | None,
    elsewhere: bool = False,
) -> tuple[list[llvm.FuncOp], list[Phase]]:
    """The llvm functions of a kernel and its phases, in order; `codes` numbers the messages of checks.

    One that is lowered elsewhere has declarations of its phases' functions.
    """
    name = func.sym_name.data
    vector_bits, least = 128 if target is None else target.vector_bits.data, slice_cycles(target)
    explicit_indices(func)
    groups = phases_of(func)
    self_contained(groups)
    functions: list[llvm.FuncOp] = []
    phases: list[Phase] = []
    arguments = list(func.body.block.args)
    positions = func.attributes.get(SHARED)
    shared = [arguments[n] for n in positions.get_values()] if isinstance(positions, DenseArrayBase) else []
    for n, ops in enumerate(groups):
        symbol = name if len(groups) == 1 else f"{name}.{n}"
        inside = [inner for o in ops for inner in all_ops(o)]
        mentioned = {v for inner in inside for v in operands_of(inner)}
        # A buffer's strides may be sizes that nothing else mentions.
        mentioned |= {
            d for a in arguments if a in mentioned and _is_dynamic(a) for e in extents_of(a) for d in e.dims()
        }
        used = [a for a in arguments if a in mentioned]
        checks = any(type(inner) is CheckOp for inner in inside)
        loop = _parallel_loop(ops)
        extent = 1 if loop is None else loop.trip
        # What the loop costs is told by the tir, which is short: the code below has its unrolled loops written out.
        grain = 1 if loop is None else grain_of(extent, cycles(loop.body.block.ops, vector_bits), least)
        limit = f"{symbol}.extent" if loop is not None and loop.bounds else None
        team = team_of(ops)
        if team is not None:
            extent, grain = most_threads(team), -patience(team, vector_bits)
        places, thread_bytes = places_of_thread(inside, target)
        given = {STATUS_ARGUMENT: checks, TEAM_ARGUMENT: team is not None, THREADS_ARGUMENT: thread_bytes > 0}
        extra = [argument for argument, needed in given.items() if needed]
        if elsewhere:
            functions.append(llvm.FuncOp(symbol, _ENTRY, linkage=llvm.LinkageAttr("external")))
            if limit is not None:
                functions.append(llvm.FuncOp(limit, _EXTENT, linkage=llvm.LinkageAttr("external")))
        else:
            lowering = _Phase(f"{symbol}.body", ops, used, extra, places, len(groups) > 1, shared)
            body = _lower_phase(lowering, declarations, codes, target)
            hints = [a.name_hint for a in used] + [_HINTS[a] for a in extra]
            functions += [body, _entry(symbol, body, hints, thread_bytes)]
            if loop is not None and limit is not None:
                functions.append(_extent(limit, loop, used, target))
        taken = [arguments.index(a) for a in used] + extra
        phases.append(Phase(symbol, extent if limit is None else 0, grain, taken, limit, thread_bytes))
    return functions, phases


def _is_dynamic(argument: SSAValue) -> bool:
    return isinstance(argument.type, MemRefType) and DYNAMIC_INDEX in type_of(argument).get_shape()


def _parallel_loop(ops: Sequence[Operation]) -> ForOp | None:
    """The parallel loop that a phase consists of."""
    only = ops[0] if len(ops) == 1 else None
    return only if isinstance(only, ForOp) and only.kind.data == "parallel" else None


def _check_used_only_in(ops: Sequence[Operation], alloc: AllocOp) -> None:
    """Raise InputError for a buffer that lives beyond the phase of these ops."""
    inside = {id(o) for top in ops for o in all_ops(top)}
    if all(id(u.operation) in inside for u in alloc.result.uses):
        return
    if alloc.scope.data == "register":
        raise InputError(
            f"tir-to-llvm: register buffer {alloc.stage.data!r} is also used in a parallel loop, whose "
            "threads have registers of their own, or beyond one; use another scope",
            op=alloc,
        )
    raise InputError(
        f"tir-to-llvm: buffer {alloc.stage.data!r} of scope {alloc.scope.data!r} is shared by phases of a "
        "kernel; run tir-plan-memory",
        op=alloc,
    )


def declare(declarations: dict[str, llvm.FuncOp], symbol: str, inputs: Sequence[Attribute], output: Attribute) -> None:
    """Remember that an external function is called."""
    if symbol not in declarations:
        declarations[symbol] = llvm.FuncOp(
            symbol, llvm.LLVMFunctionType(list(inputs), output), linkage=llvm.LinkageAttr("external")
        )


_ALIGNED_STACK = 8
"""Bytes to which the stack is aligned where there is no system (Procedure Call Standard for the Arm Architecture)."""
_WORDS = [StringAttr("noinline"), StringAttr("nounwind")]
_MICRO_KERNEL = ArrayAttr(
    # Spilled vectors must not straddle cache lines, whatever frame the caller has: the stack is realigned.
    [*_WORDS, ArrayAttr([StringAttr("alignstack"), StringAttr("64")]), StringAttr("stackrealign")]
)
_SMALL_KERNEL = ArrayAttr(_WORDS)
"""The same where there is no system, and no cache line that a vector could straddle: the stack stays as it is."""


def _builder(entry: Block, declarations: dict[str, llvm.FuncOp], target: TargetAttr | None) -> FunctionBuilder:
    """The builder of a body: with indices as wide as the target's pointers, and buffers where its stack has them."""

    def called(symbol: str, inputs: Sequence[Attribute], output: Attribute) -> None:
        declare(declarations, symbol, inputs, output)

    if target is None:
        return FunctionBuilder(entry, called)
    triple = target.triple.data
    index = i32 if pointer_bits(triple) == 32 else i64
    return FunctionBuilder(entry, called, index, _ALIGNED_STACK if is_bare(triple) else LINE_BYTES)


_HINTS = {STATUS_ARGUMENT: "status", TEAM_ARGUMENT: "team", THREADS_ARGUMENT: "memory"}


class _Phase(NamedTuple):
    """A phase to lower, and what is known of it."""

    symbol: str
    ops: Sequence[Operation]
    used: Sequence[SSAValue]
    """The kernel's arguments that it takes."""
    extra: Sequence[int]
    """Its other arguments, as `program.py` numbers them."""
    places: Mapping[Operation, int]
    """The buffers in its thread's memory."""
    several: bool
    """Whether the kernel has other phases."""
    shared: Sequence[SSAValue]


def _lower_phase(
    phase: _Phase, declarations: dict[str, llvm.FuncOp], codes: dict[str, int], target: TargetAttr | None
) -> llvm.FuncOp:
    ops, used = phase.ops, phase.used
    team = team_of(ops)
    taken = [i64 if isinstance(a.type, IndexType) else POINTER for a in used] + [POINTER] * len(phase.extra)
    entry = Block(arg_types=[*taken, i64, i64])
    lo, hi = entry.args[-2:]
    lo.name_hint, hi.name_hint = "lo", "hi"
    builder, bare = _builder(entry, declarations, target), target is not None and is_bare(target.triple.data)
    pointers: dict[SSAValue, SSAValue] = {}
    for old, new in zip(used, entry.args, strict=False):
        new.name_hint = old.name_hint
        if isinstance(old.type, IndexType):
            # Among what is hoisted: that is computed from it.
            builder.variables[old] = builder.at_level(0, partial(builder.resized, new, builder.index))
            builder.depth[old] = 0
        else:
            pointers[old] = new
    replay = Replay(builder, pointers, target)
    for argument, value in zip(phase.extra, entry.args[len(used) :], strict=False):
        value.name_hint = _HINTS[argument]
        if argument == STATUS_ARGUMENT:
            replay.checks = Checks(value, codes)
        elif argument == TEAM_ARGUMENT:
            lo.name_hint, hi.name_hint = "me", "size"
            replay.team = Team(replay, value, lo, hi)
        else:
            replay.memory_of_thread, replay.places_of_thread = value, phase.places
    loop = _parallel_loop(ops)
    if loop is not None:
        builder.depth[loop.var] = -1
        steps = replay.compile(loop.body.block)
        lo, hi = (builder.resized(n, builder.index) for n in (lo, hi))
        run_loop(replay, loop.var, lo, hi, steps, [], bool(loop.bounds))
    else:
        for op in ops:
            if phase.several and isinstance(op, AllocOp):
                _check_used_only_in(ops, op)
            replay.compile_step(op)()
    release(replay)
    builder.add(llvm.ReturnOp.create())
    region = Region(builder.finish())
    attrs = [*_aliasing(used, phase.shared, team), *[_NOALIAS] * len(phase.extra), _EMPTY, _EMPTY]
    return llvm.FuncOp(
        phase.symbol,
        llvm.LLVMFunctionType([*taken, i64, i64], llvm.LLVMVoidType()),
        linkage=llvm.LinkageAttr("internal"),
        body=region,
        other_props={"passthrough": _SMALL_KERNEL if bare else _MICRO_KERNEL, "arg_attrs": ArrayAttr(attrs)},
    )


_NOALIAS = DictionaryAttr({"llvm.noalias": UnitAttr()})
_EMPTY = DictionaryAttr({})


def _aliasing(used: Sequence[SSAValue], shared: Sequence[SSAValue], team: TeamOp | None) -> list[DictionaryAttr]:
    """The attributes of parameters: buffers are `noalias` but for those that overlap another one."""
    # What another thread of a team writes changes behind the back of this one.
    together = set[SSAValue]() if team is None else written_together(team)
    alone = [not isinstance(a.type, IndexType) and a not in shared and a not in together for a in used]
    return [_NOALIAS if own else _EMPTY for own in alone]


_ENTRY = llvm.LLVMFunctionType([POINTER, i64, i64, i64], llvm.LLVMVoidType())
"""The type of a function that the runner calls: the buffers, the slice and the number of the thread."""


_EXTENT = llvm.LLVMFunctionType([POINTER], i64)
"""The type of a function that tells the runner the extent of a parallel loop, from the same buffers."""


def _extent(symbol: str, loop: ForOp, used: Sequence[SSAValue], target: TargetAttr | None) -> llvm.FuncOp:
    """The function that reads the sizes among what a phase takes, and tells the extent of its loop."""
    block = Block(arg_types=[POINTER])
    block.args[0].name_hint = "args"
    builder = _builder(block, {}, target)
    for n, size in enumerate(used):
        if isinstance(size.type, IndexType):
            place = builder.emit(llvm.LoadOp, [builder.offset(block.args[0], POINTER, n)], POINTER, {})
            value = builder.emit(llvm.LoadOp, [place], i64, {"alignment": IntegerAttr(8, i64)})
            value.name_hint = size.name_hint
            builder.variables[size] = builder.resized(value, builder.index)
    limit, _ = least(builder, loop.limits())
    builder.add(llvm.ReturnOp(builder.resized(limit, i64)))
    return llvm.FuncOp(symbol, _EXTENT, linkage=llvm.LinkageAttr("external"), body=Region(builder.finish()))


def _entry(symbol: str, body: llvm.FuncOp, hints: Sequence[str | None], thread_bytes: int) -> llvm.FuncOp:
    """The function that the runner calls; the last pointer that it reads is the memory of its threads, if they have
    some."""
    from xdsl.dialects.builtin import SymbolRefAttr

    block = Block(arg_types=[POINTER, i64, i64, i64])
    args, lo, hi, thread = block.args
    args.name_hint, lo.name_hint, hi.name_hint, thread.name_hint = "args", "lo", "hi", "thread"
    builder = FunctionBuilder(block, lambda s, i, o: None)
    pointers: list[SSAValue] = []
    for n, (hint, type_) in enumerate(zip(hints, body.function_type.inputs, strict=False)):
        slot = builder.offset(args, POINTER, n)
        value = builder.emit(llvm.LoadOp, [slot], POINTER, {})
        if type_ == i64:
            value = builder.emit(llvm.LoadOp, [value], i64, {"alignment": IntegerAttr(8, i64)})
        value.name_hint = hint
        pointers.append(value)
    if thread_bytes:
        before = builder.emit(llvm.MulOp, [thread, builder.integer(thread_bytes, i64)], i64, OVERFLOW)
        pointers[-1] = builder.element_pointer(pointers[-1], i8, before)
    builder.add(llvm.CallOp(SymbolRefAttr(body.sym_name.data), *pointers, lo, hi))
    builder.add(llvm.ReturnOp.create())
    return llvm.FuncOp(
        symbol,
        _ENTRY,
        linkage=llvm.LinkageAttr("external"),
        body=Region(builder.finish()),
    )

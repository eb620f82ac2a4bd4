"""Serial loops of a compiled body: bottom-tested, with what they store in registers as block arguments.

Before:
    tir.for %i = 0 to 8 { ... tir.store %v, %acc[0] : memref<1xf32> }
After:
    llvm.br ^head(%zero, %old : i64, f32)
  ^head(%i: i64, %acc: f32):
    ...
    %next = llvm.add %i, %one : i64
    %again = llvm.icmp "slt" %next, %eight : i64
    llvm.cond_br %again, ^head(%next, %v : i64, f32), ^exit
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.ops import ForOp
from lamina.passes.tir_to_llvm.builder import SLT, FunctionBuilder
from lamina.passes.tir_to_llvm.control import Seeds, br, cond_br, stored_registers
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.scalars import OVERFLOW

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

Step = Callable[[], None]


def compile_serial(replay: Replay, op: ForOp) -> Step:
    """A loop whose iterations run one after the other, in code that is there once."""
    replay.b.depth[op.var] = -1
    steps = replay.compile(op.body.block)
    stored = stored_registers(op)
    seeds = Seeds(replay, op)
    bounds = op.min_bounds()
    locals_ = replay.local_dims(bounds)

    def step() -> None:
        replay.bind_locals(locals_)
        seeds.plant()
        limits = [replay.resolve(f) for f in bounds]
        limit, may_be_empty = least(replay.b, limits if op.is_dynamic else [constant(op.trip), *limits])
        run_loop(replay, op.var, replay.b.integer(0), limit, steps, stored, may_be_empty)

    return step


def least(b: FunctionBuilder, limits: list[Linear]) -> tuple[SSAValue, bool]:
    """The end of a loop that stops at the first of some limits, and whether it may have no iteration at all."""
    found: SSAValue | None = None
    may_be_empty = False
    for form in limits:
        bounds = form.range(b.ranges)
        may_be_empty = may_be_empty or bounds is None or bounds[0] < 1
        value = b.index_value(form)
        found = value if found is None else b.emit(llvm.SMinOp, [found, value], b.index, {})
    assert found is not None
    return found, may_be_empty


def run_loop(
    replay: Replay,
    variable: SSAValue,
    start: SSAValue,
    limit: SSAValue,
    steps: list[Step],
    stored: list[SSAValue],
    may_be_empty: bool,
) -> None:
    """A loop over [start, limit); the live registers that it stores are carried as block arguments."""
    b = replay.b
    live = [
        (register, slot)
        for register in (replay.registers[r] for r in stored if r in replay.registers)
        for slot in register.slots
    ]
    initial = [register.slots[slot] for register, slot in live]
    types = [v.type for v in initial]
    header = Block(arg_types=[b.index, *types])
    exit_block = Block(arg_types=types if may_be_empty else [])
    header.args[0].name_hint = variable.name_hint
    if may_be_empty:
        some = b.emit(llvm.ICmpOp, [start, limit], i1, {"predicate": SLT})
        b.add(cond_br(some, header, [start, *initial], exit_block, initial))
    else:
        b.add(br(header, [start, *initial]))
    for (register, slot), argument in zip(live, header.args[1:], strict=True):
        register.slots[slot] = argument
    b.open_level(header)
    b.depth[variable] = len(b.levels) - 1
    b.variables[variable] = header.args[0]
    replay.loaded, replay.shared = {}, {}
    for s in steps:
        s()
    after = b.emit(llvm.AddOp, [header.args[0], b.integer(1)], b.index, OVERFLOW)
    again = b.emit(llvm.ICmpOp, [after, limit], i1, {"predicate": SLT})
    _conform(b, live, types)
    final = [register.slots[slot] for register, slot in live]
    b.add(cond_br(again, header, [after, *final], exit_block, final if may_be_empty else []))
    b.start_block(exit_block)
    if may_be_empty:
        for (register, slot), argument in zip(live, exit_block.args, strict=True):
            register.slots[slot] = argument
    replay.loaded, replay.shared = {}, {}


def _conform(b: FunctionBuilder, live: list[tuple[Register, int]], types: list[Attribute]) -> None:
    """At the end of a loop's body: the registers that it carries in the slots that they had at its start."""
    for (register, slot), type_ in zip(live, types, strict=True):
        found = register.slots.get(slot)
        if found is None or found.type != type_:
            layout = [(at, t) for (r, at), t in zip(live, types, strict=True) if r is register]
            register.conform(b, layout)

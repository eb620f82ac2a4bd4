"""Branches of a compiled body: `tir.if`, and unrolled loops with a tail.

The body becomes a block of its own. What it leaves in register buffers is joined behind it with what was there
before: the slots that differ are arguments of the join block. A condition that unrolled variables decide costs
nothing; a slot that only some path writes is poison on the others.

Before:
    tir.if [%n - 3 >= 0] { tir.store %v, %acc[0] : memref<1xf32> }
After:
    %c = llvm.icmp "sge" %n, %three : i64
    llvm.cond_br %c, ^then, ^join(%old : f32)
  ^then:
    llvm.br ^join(%v : f32)
  ^join(%new: f32):
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.tir.ops import AllocOp, ForOp, IfOp, StoreOp
from lamina.passes.tir_to_llvm.access import Access
from lamina.passes.tir_to_llvm.registers import Register
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import element_of

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay


def br(target: Block, arguments: Sequence[SSAValue]) -> Operation:
    """A jump to a block with the values of its arguments."""
    return llvm.BrOp.create(operands=arguments, successors=[target])


def cond_br(
    condition: SSAValue, then: Block, then_args: Sequence[SSAValue], otherwise: Block, else_args: Sequence[SSAValue]
) -> Operation:
    """A jump to one of two blocks by an i1, each with the values of its arguments."""
    return llvm.CondBrOp.create(
        operands=[condition, *then_args, *else_args],
        successors=[then, otherwise],
        properties={
            "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, len(then_args), len(else_args)]),
        },
    )


def stored_registers(op: Operation) -> list[SSAValue]:
    """Register buffers from outside an op that are stored inside it."""
    return [s.buffer for s in _register_stores(op).values()]


def _register_stores(op: Operation) -> dict[SSAValue, StoreOp]:
    """The register buffers from outside an op that are stored inside it, each with a store."""
    ops = all_ops(op)
    inside = {a.result for a in ops if type(a) is AllocOp}
    found: dict[SSAValue, StoreOp] = {}
    for s in ops:
        if type(s) is StoreOp:
            owner = s.buffer.owner
            if isinstance(owner, AllocOp) and owner.scope.data == "register" and s.buffer not in inside:
                found.setdefault(s.buffer, s)
    return found


# -- tir.if ----------------------------------------------------------------------------------------------------


@tir_to_llvm.lowers(IfOp)
def branch(op: IfOp, replay: Replay) -> Step:
    """Its body, a block of its own where the conditions are not decided."""
    return compile_guarded(replay, op, op.conditions(), replay.compile(op.body.block))


def compile_guarded(replay: Replay, op: Operation, conditions: list[Condition], steps: list[Step]) -> Step:
    """Steps that run only where conditions hold; `op` is what they come from."""
    locals_ = replay.local_dims([c.form for c in conditions])
    registers = stored_registers(op)
    buffers = {s.buffer for s in all_ops(op) if isinstance(s, StoreOp)}

    def run() -> None:
        for s in steps:
            s()

    def step() -> None:
        replay.bind_locals(locals_)
        decided = replay.decide(conditions)
        if decided is True:
            run()
        elif decided is not False:
            _branch(replay, replay.scalar_condition(decided), run, registers, buffers)

    return step


def _branch(
    replay: Replay, test: SSAValue, run: Callable[[], None], stored: Sequence[SSAValue], buffers: set[SSAValue]
) -> None:
    b = replay.b
    registers = [replay.registers[s] for s in stored if s in replay.registers]
    before = [Register(r.name, r.slots) for r in registers]
    loaded, shared = replay.loaded, replay.shared
    replay.loaded, replay.shared = {v: dict(known) for v, known in loaded.items()}, dict(shared)
    origin, then = b.code, Block()
    b.start_block(then)
    run()
    end = b.code
    changed = [
        (register, old, offset, value)
        for register, old in zip(registers, before, strict=True)
        for offset, value in register.slots.items()
        if old.slots.get(offset) is not value
    ]
    # The other edge: the same slots as they were before, built where the branch is.
    b.code = origin
    otherwise: list[SSAValue] = []
    for _, old, offset, value in changed:
        kept = old.read(b, offset, value.type, partial=True)
        assert kept is not None
        otherwise.append(kept)
    join = Block(arg_types=[v.type for v in otherwise])
    b.add(cond_br(test, then, [], join, otherwise))
    b.code = end
    b.add(br(join, [value for *_, value in changed]))
    b.start_block(join)
    for (register, _, offset, _), argument in zip(changed, join.args, strict=True):
        register.slots[offset] = argument
    # Only what was known before the branch stands on both paths.
    replay.loaded = {v: known for v, known in loaded.items() if v not in buffers}
    replay.shared = shared


# -- unrolled loops --------------------------------------------------------------------------------------------


def compile_unrolled(replay: Replay, op: ForOp) -> Step:
    """Each iteration with the loop variable as a number; where the loop has a tail, under its conditions."""
    variable, unrolled, trip = op.var, replay.unrolled, op.trip
    steps = replay.compile(op.body.block)
    if op.bounds:
        inside = [Condition(bound - Linear.dim(variable) - 1) for bound in op.min_bounds()]
        steps = [compile_guarded(replay, op, inside, steps)]

    def step() -> None:
        for n in range(trip):
            unrolled[variable] = n
            for s in steps:
                s()
        unrolled.pop(variable, None)

    return step


# -- what a loop carries ---------------------------------------------------------------------------------------


class Seeds:
    """Register slots that only some iterations of a loop write.

    The loop carries them as block arguments like any other, so they need a value before it: poison.
    """

    def __init__(self, replay: Replay, loop: ForOp) -> None:
        self.replay = replay
        self.accesses: list[tuple[Access, list[ForOp]]] = []
        ops = all_ops(loop)
        inside = {a.result for a in ops if type(a) is AllocOp}
        for op in ops:
            if type(op) is StoreOp and op.buffer not in inside and op.buffer in replay.registers:
                around = _between(op, loop)
                if op.conditions() or any(isinstance(o, IfOp) or (isinstance(o, ForOp) and o.bounds) for o in around):
                    loops = [o for o in around if isinstance(o, ForOp) and o.is_unrolled]
                    self.accesses.append((Access(replay, op), loops))

    def plant(self) -> None:
        """Give elements that nothing has written yet a value."""
        for access, loops in self.accesses:
            register = self.replay.registers[access.buffer]
            for _ in self._combinations(loops):
                if access.is_strided():
                    for lane in range(access.lanes or 0):
                        register.seed(self.replay.b, access.lane_offset(lane), element_of(access.value_type))
                else:
                    register.seed(self.replay.b, access.register_offset(), access.value_type)

    def _combinations(self, loops: Sequence[ForOp]) -> Generator[None]:
        """All values of unrolled variables, one after the other."""
        if not loops:
            yield
            return
        unrolled, variable = self.replay.unrolled, loops[0].var
        for n in range(loops[0].trip):
            unrolled[variable] = n
            yield from self._combinations(loops[1:])
        unrolled.pop(variable, None)


def _between(op: Operation, outer: Operation) -> list[Operation]:
    """The ops around an op up to, and with, an outer one."""
    found: list[Operation] = []
    parent = op.parent_op()
    while parent is not None:
        found.append(parent)
        if parent is outer:
            return found[::-1]
        parent = parent.parent_op()
    raise AssertionError("the op does not stand inside the other")

"""Interleave virtual threads: each statement runs for all of them before the next one does.

A loop over virtual threads moves inwards to the statements that differ by virtual thread, where it is unrolled; what
all of them do alike is done once. A buffer made inside of the loop whose contents differ gets a dimension more. Where
a value that differs is needed by statements apart, the loop stays whole and runs one after the other.

Assumes that blocks have been dissolved (`tir-lower-blocks`).

Before:
    tir.for %v = 0 to 2 thread "vthread.x" "y.0" {
      %a = tir.alloc "a" scope "local" : memref<1xf32>
      tir.store %zero, %a[0] : memref<1xf32>
      tir.for %k = 0 to 8 "y.k" { %x = tir.load %X[%v, %k] ... tir.store %s, %a[0] : memref<1xf32> } }
After:
    %a = tir.alloc "a" scope "local" : memref<2x1xf32>
    tir.for %v = 0 to 2 unrolled "y.0.1" { tir.store %zero, %a[%v, 0] : memref<2x1xf32> }
    tir.for %k = 0 to 8 "y.k" {
      tir.for %v = 0 to 2 unrolled "y.0.2" { %x = tir.load %X[%v, %k] ... tir.store %s, %a[%v, 0] } }
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.schedule.nest.edits import function_of, stands_in, substitute_in, unique_axis
from lamina.dialects.schedule.nest.threads import is_real, is_thread
from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.phases import explicit_indices

MOST_UNROLLED = 16
"""Virtual threads beyond so many take turns in a loop that is not unrolled."""


@dataclass(frozen=True)
class InjectVirtualThreadPass(ModulePass):
    name = "tir-inject-virtual-thread"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in op.ops:
            if isinstance(func, FuncOp):
                explicit_indices(func)
                loops = [v for v in func.walk() if isinstance(v, ForOp) and is_thread(v, "vthread")]
                for loop in reversed(loops):
                    with edit.transaction(loop):
                        _Interleaving(loop).run()


class _Interleaving:
    """One loop over virtual threads, moved inwards."""

    def __init__(self, loop: ForOp) -> None:
        self.loop = loop
        self.allocs = {op.result: op for op in loop.body.walk() if isinstance(op, AllocOp)}
        self.differing: set[SSAValue] = {loop.var}
        """Values and buffers that differ by virtual thread."""
        self.touched: set[Operation] = set()
        """Ops that run once for each virtual thread."""
        self.unit_of: dict[Operation, int] = {}
        self.units: list[list[Operation]] = []

    def run(self) -> None:
        loop = self.loop
        self.find_touched()
        self.plan(loop.body.block)
        barriers = any(isinstance(o, BarrierOp) for u in self.units for o in _all(u))
        if loop.bounds or barriers or not self.is_told_apart() or not self.can_part():
            loop.properties["kind"] = StringAttr("serial")
            del loop.properties["thread"]
            return
        self.enlarge()
        for unit in self.units:
            self.wrap(unit)
        edit.move_before(loop, *loop.body.block.ops)
        edit.erase(loop)

    # -- what differs ------------------------------------------------------------------------------------------

    def find_touched(self) -> None:
        before = -1
        while before != len(self.touched) + len(self.differing):
            before = len(self.touched) + len(self.differing)
            self._spread(self.loop.body.block, False)

    def _spread(self, block: Block, differs: bool) -> None:
        """One round through the statements of a block; `differs`: whether, or how often, it runs depends."""
        for op in block.ops:
            depends = differs or any(o in self.differing for o in op.operands)
            if isinstance(op, StoreOp):
                if depends or op.buffer in self.differing:
                    self.touched.add(op)
                    self.differing.add(op.buffer)
            elif op.regions:
                depends = depends or self.takes_values(op)
                if depends:
                    self.touched.add(op)
                for region in op.regions:
                    for inside in region.blocks:
                        self._spread(inside, depends)
            elif depends and not isinstance(op, (AllocOp, arith.ConstantOp)):
                self.touched.add(op)
                self.differing.update(op.results)

    def takes_values(self, op: Operation) -> bool:
        """Whether something in a statement needs a value that was computed before it and differs."""
        return any(
            o in self.differing
            and isinstance(o.owner, Operation)
            and o not in self.allocs
            and not stands_in(o.owner, op)
            for inner in op.walk()
            for o in inner.operands
            if not isinstance(o.type, MemRefType)
        )

    def is_told_apart(self) -> bool:
        """Whether buffers from outside keep what each virtual thread writes to them, if it is read again."""
        for op in self.touched:
            if isinstance(op, StoreOp) and op.buffer not in self.allocs:
                if any(o in self.differing for o in op.index_operands()):
                    continue
                if any(isinstance(u.operation, LoadOp) and stands_in(u.operation, self.loop) for u in op.buffer.uses):
                    return False
        return True

    # -- which ops stand together in a loop ----------------------------------------------------------------------

    def plan(self, block: Block) -> None:
        """Number the units of a block: touched ops between which nothing else has to happen."""
        current: list[Operation] | None = None
        for op in list(block.ops):
            if op in self.touched:
                if current is None:
                    current = []
                    self.units.append(current)
                current.append(op)
                for inner in op.walk():
                    self.unit_of[inner] = len(self.units) - 1
            elif op.regions or isinstance(op, (StoreOp, BarrierOp)):
                current = None
                for region in op.regions:
                    for inside in region.blocks:
                        self.plan(inside)
            elif isinstance(op, LoadOp) and current is not None:
                stored = {o.buffer for o in _all(current) if isinstance(o, StoreOp)}
                if op.buffer in stored:
                    current = None
                else:  # it reads the same before the unit
                    edit.move_before(current[0], op)
            elif current is not None:
                edit.move_before(current[0], op)

    def can_part(self) -> bool:
        """Whether every value that differs is used in the unit that computes it only."""
        for op, unit in self.unit_of.items():
            for result in op.results:
                if any(self.unit_of.get(use.operation, -1) != unit for use in result.uses):
                    return False
        return True

    # -- rewriting -----------------------------------------------------------------------------------------------

    def enlarge(self) -> None:
        """A place for each virtual thread in the buffers that differ."""
        for buffer, alloc in list(self.allocs.items()):
            if buffer not in self.differing:
                continue
            type_ = alloc.result.type
            new = AllocOp.make(
                alloc.stage.data,
                buffer_type([self.loop.trip, *type_.get_shape()], type_.element_type),
                alloc.scope.data,
                [Linear(const=self.loop.trip), *alloc.extents()],
            )
            new.attributes |= alloc.attributes
            new.result.name_hint = buffer.name_hint
            new.location = alloc.location
            for use in list(buffer.uses):
                op = use.operation
                assert isinstance(op, AccessOp)
                forms, conditions, operands = op.forms(), op.conditions(), list(op.operands)
                operands[op.buffer_position()] = new.result
                op.operands = operands
                # The virtual thread's own variable takes the place of the loop's when the unit is wrapped.
                op.set_access([Linear.dim(self.loop.var), *forms], conditions)
            edit.insert_before(alloc, new)
            edit.erase(alloc)

    def wrap(self, unit: list[Operation]) -> None:
        """A unit in a loop of its own over the virtual threads."""
        loop = self.loop
        whole = any(is_real(op) for op in _all(unit))
        kind = "unrolled" if loop.trip <= MOST_UNROLLED and not whole else "serial"
        new = ForOp.make(loop.trip, unique_axis(function_of(loop), loop.axis.data), kind=kind, hint=loop.var.name_hint)
        inherit_location(new, loop)
        place = unit[0].parent
        assert place is not None
        edit.insert_before(unit[0], new)
        ranges = RangeCache()
        mapping: dict[Atom, Linear] = {loop.var: Linear.dim(new.var)}
        edit.move_into(new.body.block, unit)
        for op in _all(unit):
            if loop.var in op.operands:
                substitute_in(op, mapping, ranges)


def _all(unit: list[Operation]) -> list[Operation]:
    return [inner for op in unit for inner in op.walk()]

"""Compile checks into kernels: indices in bounds, elements written before they are read, iterations that do not race.

A check that fails ends the program with a message that names the buffer, the index and the loops; until then the code
goes on, so an access also gets its bounds as a guard. What is known of a buffer's elements stands in buffers of the
same shape beside it: one byte that says `written`, and for each parallel loop the iterations (from 1) that wrote and
that read an element. The bounds of an access are checked where the ranges of the loops do not give them (`everything`
checks them all). Lanes beyond a tail may read what nothing has written, since what they compute is not stored.

Register buffers have no memory: `tir-to-llvm` itself refuses to read an element that is not written. Assumes
`tir-lower-blocks`; takes vectors as they are, so it may run just before `tir-plan-memory`.

Before:
    tir.for %i = 0 to 4 "y.i" { %x = tir.load %X[%i + 1] : memref<4xf32> ... }
After:
    tir.for %i = 0 to 4 "y.i" {
      %x = tir.load %X[%i + 1] where [%i * -1 + 2 >= 0] : memref<4xf32>
      %inside = tir.condition [%i * -1 + 2 >= 0] : i1
      %0 = tir.check %x, %inside "%X[%i + 1] is read outside of its bounds [4], in loop \\"y.i\\"" : f32 ... }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, linear_text
from lamina.dialects.schedule.nest.edits import unique_axis, wrap
from lamina.dialects.tir.checks import CheckOp, unless
from lamina.dialects.tir.memory import extents_of, type_of
from lamina.dialects.tir.ops import (
    AccessOp,
    AllocOp,
    BlockOp,
    BroadcastOp,
    ConditionOp,
    ForOp,
    FuncOp,
    IndexOp,
    LoadOp,
    SelectOp,
    StoreOp,
    buffer_type,
    enclosing_loops,
)
from lamina.dialects.tir.team import TeamOp
from lamina.dialects.tir.vectors import CompareOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location

_EQUAL, _NOT_EQUAL = 0, 1
"""Predicates of arith.cmpi."""


@dataclass(frozen=True)
class SanitizePass(ModulePass):
    name = "tir-sanitize"

    everything: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            block = next((b for b in func.walk() if isinstance(b, BlockOp)), None)
            if block is not None:
                raise InputError("tir-sanitize: there are blocks; run tir-lower-blocks before it", op=block)
            team = next((o for o in func.walk() if isinstance(o, TeamOp)), None)
            if team is not None:
                raise InputError("tir-sanitize: there is a team; run tir-form-teams after it", op=team)
            with edit.transaction(func):
                _Sanitizer(func, self.everything).run()


@dataclass
class _Claims:
    """Accesses of a parallel loop's iterations to one buffer: who wrote an element and who read it, counted from 1."""

    me: SSAValue
    writers: SSAValue
    readers: SSAValue


class _Sanitizer:
    def __init__(self, func: FuncOp, everything: bool) -> None:
        self.func = func
        self.everything = everything
        self.ranges: dict[int | None, RangeCache] = {}
        self.accesses = [op for op in func.walk() if isinstance(op, (LoadOp, StoreOp))]
        """The program's own accesses, from before anything is added."""
        self.written: dict[SSAValue, SSAValue] = {}
        self.claims: dict[ForOp, dict[SSAValue, _Claims]] = {}

    def run(self) -> None:
        args = list(self.func.body.block.args)
        outputs = args[len(args) - self.func.outputs.value.data :]
        loaded = {op.buffer for op in self.accesses if isinstance(op, LoadOp)}
        allocs = [op for op in self.func.walk() if isinstance(op, AllocOp) and op.scope.data != "register"]
        parallel = [op for op in self.func.walk() if isinstance(op, ForOp) and op.kind.data == "parallel"]
        tails = {id(op): self.tail_of(op) for op in self.accesses}
        for alloc in allocs:
            if alloc.result in loaded:
                self.written[alloc.result] = self.beside(alloc.result, "written", i8, alloc)
        for output in outputs:
            self.written[output] = self.beside(output, "written", i8, None)
        for loop in parallel:
            self.claim(loop)
        for op in self.accesses:
            self.check(op, tails[id(op)])
        for output in outputs:
            self.all_written(output)

    # -- what stands beside a buffer --

    def beside(self, buffer: SSAValue, what: str, element: Attribute, after: Operation | None) -> SSAValue:
        """A buffer of a buffer's shape, all zero, made after an op, or where the function begins."""
        alloc = AllocOp.make(
            f"{_plain_name(buffer)}.{what}",
            buffer_type(type_of(buffer).get_shape(), element),
            extents=extents_of(buffer),
        )
        alloc.result.name_hint = f"{_plain_name(buffer)}_{what}"
        zero = _constant(0, element, None)
        block = after.parent if after is not None else self.func.body.block
        assert block is not None
        if after is not None:
            edit.insert_after(after, alloc, zero)
        elif block.first_op is not None:
            edit.insert_before(block.first_op, alloc, zero)
        else:
            block.add_ops([alloc, zero])
        index, nest = self.nest(buffer, what)
        self.put(nest, [StoreOp.make(zero.result, alloc.result, index)], block, zero)
        return alloc.result

    def nest(self, buffer: SSAValue, what: str) -> tuple[list[Linear], list[ForOp]]:
        """Loops over all elements of a buffer, and the index in them."""
        loops: list[ForOp] = []
        for n, extent in enumerate(extents_of(buffer)):
            axis = unique_axis(self.func, f"{_plain_name(buffer)}.{what}.i{n}")
            loops.append(ForOp.upto([extent], axis, hint=f"i{n}"))
        return [Linear.dim(v.var) for v in loops], loops

    def put(self, loops: list[ForOp], ops: Sequence[Operation], block: Block, after: Operation | None) -> None:
        """Ops inside of loops, after an op or at the end of a block."""
        top: list[Operation] = list(ops)
        if loops:
            wrap(loops, Block(ops))
            top = [loops[0]]
        if after is not None:
            edit.insert_after(after, *top)
        else:
            block.add_ops(top)

    def claim(self, loop: ForOp) -> None:
        """Buffers for who touches what in a parallel loop: those that the loop stores into and that live outside."""
        shared: dict[SSAValue, None] = {}
        for op in self.accesses:
            if isinstance(op, StoreOp) and loop in enclosing_loops(op):
                owner = op.buffer.owner
                if not isinstance(owner, AllocOp) or loop not in enclosing_loops(owner):
                    shared[op.buffer] = None
        if not shared:
            return
        index = IndexOp.of(Linear.dim(loop.var) + 1)
        me = arith.IndexCastOp(index.result, i32)
        first = loop.body.block.first_op
        assert first is not None
        edit.insert_before(first, index, me)
        anchor = loop.prev_op
        if anchor is None:
            anchor = _constant(0, i32, None)
            edit.insert_before(loop, anchor)
        self.claims[loop] = {
            buffer: _Claims(me.result, *(self.beside(buffer, what, i32, anchor) for what in ("writer", "reader")))
            for buffer in shared
        }

    # -- one access --

    def check(self, op: AccessOp, tail: list[Condition] | None) -> None:
        block, lanes = op.parent, op.lanes
        assert block is not None
        buffer, forms, active = op.buffer_value(), op.forms(), op.conditions()
        bounds = self.bounds(op)
        in_memory = not (isinstance(buffer.owner, AllocOp) and buffer.owner.scope.data == "register")
        text = self.text(op)
        before: list[Operation] = []
        after: list[Operation] = []
        held = op.value if isinstance(op, StoreOp) else op.results[0]
        if bounds:
            said = "written" if isinstance(op, StoreOp) else "read"
            shape = ", ".join(linear_text(e, _atom_name) for e in extents_of(buffer))
            inside = ConditionOp.of(bounds, lanes)
            inside.result.name_hint = "inside"
            message = f"{text} is {said} outside of its bounds [{shape}]{_within(op)}"
            ops, held = self.checked(held, inside, active, lanes, message)
            (before if isinstance(op, StoreOp) else after).extend(ops)
            if in_memory:
                op.set_access(forms, [*active, *bounds])
        inner = [*active, *bounds]
        if isinstance(op, StoreOp):
            held = self.claim_store(op, held, inner, before, after)
            op.operands[0] = held
            shadow = self.written.get(buffer)
            if shadow is not None:
                one = _constant(1, i8, lanes)
                after += [one, StoreOp.make(one.result, shadow, forms, inner)]
        else:
            shadow = self.written.get(buffer)
            if shadow is not None and tail is not None:
                flags = LoadOp.make(shadow, forms, inner, _as_vector(i8, lanes))
                zero = _constant(0, i8, lanes)
                known = _compare(_NOT_EQUAL, flags.result, zero.result)
                after += [flags, zero]
                message = f"{text} is read before it is written{_within(op)}"
                ops, held = self.checked(held, known, [*inner, *tail], lanes, message)
                after += ops
            held = self.claim_load(op, held, inner, tail, after)
        for new in (*before, *after):
            inherit_location(new, op)
        if before:
            edit.insert_before(op, *before)
        if after:
            edit.insert_after(op, *after)
        if isinstance(op, LoadOp) and held is not op.result:
            kept = {id(o) for o in after}
            op.result.replace_uses_with_if(held, lambda use: id(use.operation) not in kept)

    def checked(
        self, value: SSAValue, condition: Operation, active: Sequence[Condition], lanes: int | None, message: str
    ) -> tuple[list[Operation], SSAValue]:
        """The value through a check of the condition, which is asked for only where others hold."""
        ops = [condition]
        asked = condition.results[0]
        if active:
            more = unless(asked, active, lanes)
            ops += more
            asked = more[-1].results[0]
        check = CheckOp.make(value, asked, message)
        return [*ops, check], check.result

    def bounds(self, op: AccessOp) -> list[Condition]:
        """The conditions on an access's indices that are to be checked."""
        lanes = op.lanes
        ranges = self.ranges.get(lanes)
        if ranges is None:
            known: dict[Atom, tuple[int, int]] = {} if lanes is None else {LANE: (0, lanes - 1)}
            ranges = self.ranges[lanes] = RangeCache(known)
        found: list[Condition] = []
        for form, extent in zip(op.forms(), extents_of(op.buffer_value()), strict=True):
            for distance in (form, extent - form - 1):
                least = distance.range(ranges)
                if self.everything or least is None or least[0] < 0:
                    found.append(Condition(distance))
        return found

    def tail_of(self, op: AccessOp) -> list[Condition] | None:
        """Under which conditions the lanes of a load are not idle; None where that cannot be told."""
        if op.lanes is None or any(LANE in c.form.dims() for c in op.conditions()) or op.parent is None:
            return []
        guards = {
            tuple(c for c in o.conditions() if LANE in c.form.dims())
            for o in op.parent.ops
            if isinstance(o, AccessOp) and o.lanes == op.lanes
        } - {()}
        if not guards:
            return []
        return list(guards.pop()) if len(guards) == 1 else None

    # -- races --

    def claims_at(self, op: AccessOp) -> list[tuple[ForOp, _Claims]]:
        buffer = op.buffer_value()
        return [(v, c[buffer]) for v in enclosing_loops(op) if (c := self.claims.get(v)) is not None and buffer in c]

    def claim_store(
        self, op: StoreOp, value: SSAValue, active: list[Condition], before: list[Operation], after: list[Operation]
    ) -> SSAValue:
        for loop, claims in self.claims_at(op):
            me = self.me(claims, op.lanes, before)
            for owners, how in ((claims.writers, "written by"), (claims.readers, "read by one and written by another")):
                mine = self.mine(owners, me, op.forms(), active, op.lanes, before)
                whom = "two iterations" if how == "written by" else "iteration"
                message = f'{self.text(op)} is {how} {whom} of the parallel loop "{loop.axis.data}"'
                ops, value = self.checked(value, mine, active, op.lanes, message)
                before += ops
            after.append(StoreOp.make(me, claims.writers, op.forms(), active))
        return value

    def claim_load(
        self,
        op: AccessOp,
        value: SSAValue,
        active: list[Condition],
        tail: list[Condition] | None,
        after: list[Operation],
    ) -> SSAValue:
        if tail is None:
            return value
        for loop, claims in self.claims_at(op):
            asked = [*active, *tail]
            me = self.me(claims, op.lanes, after)
            mine = self.mine(claims.writers, me, op.forms(), active, op.lanes, after)
            place = f'the parallel loop "{loop.axis.data}"'
            message = f"{self.text(op)} is written by one and read by another iteration of {place}"
            ops, value = self.checked(value, mine, asked, op.lanes, message)
            after += ops
            # Who read it: this iteration, or -1 where others did as well.
            alone = self.mine(claims.readers, me, op.forms(), active, op.lanes, after)
            several = _constant(-1, i32, op.lanes)
            reader = _select(alone.results[0], me, several.result)
            after += [alone, several, reader, StoreOp.make(reader.results[0], claims.readers, op.forms(), asked)]
        return value

    def me(self, claims: _Claims, lanes: int | None, ops: list[Operation]) -> SSAValue:
        if lanes is None:
            return claims.me
        spread = BroadcastOp.create(operands=[claims.me], result_types=[VectorType(i32, [lanes])])
        ops.append(spread)
        return spread.result

    def mine(
        self,
        owners: SSAValue,
        me: SSAValue,
        forms: Sequence[Linear],
        active: Sequence[Condition],
        lanes: int | None,
        ops: list[Operation],
    ) -> Operation:
        """Whether an element is nobody's or this iteration's; the last op is left to the caller to insert."""
        found = LoadOp.make(owners, forms, active, _as_vector(i32, lanes))
        nobody = _constant(0, i32, lanes)
        free = _compare(_EQUAL, found.result, nobody.result)
        own = _compare(_EQUAL, found.result, me)
        ops += [found, nobody, free, own]
        return arith.OrIOp.create(operands=[free.results[0], own.results[0]], result_types=[free.results[0].type])

    # -- the end --

    def all_written(self, output: SSAValue) -> None:
        """An output of which an element was never written."""
        block = self.func.body.block
        index, loops = self.nest(output, "done")
        flag = LoadOp.make(self.written[output], index)
        zero = _constant(0, i8, None)
        known = _compare(_NOT_EQUAL, flag.result, zero.result)
        name = self.func.sym_name.data
        check = CheckOp.make(flag.result, known.results[0], f"@{name} does not write all of {_atom_name(output)}")
        ops = [flag, zero, known, check]
        for op in ops:
            inherit_location(op, self.func)
        self.put(loops, ops, block, None)

    def text(self, op: AccessOp) -> str:
        indices = ", ".join(linear_text(f, _atom_name) for f in op.forms())
        return f"{_atom_name(op.buffer_value())}[{indices}]"


# -- ops on scalars and vectors ----------------------------------------------------------------------------------


def _as_vector(element: Attribute, lanes: int | None) -> Attribute:
    return element if lanes is None else VectorType(element, [lanes])


def _constant(value: int, element: Attribute, lanes: int | None) -> arith.ConstantOp:
    integer = cast(IntegerType, element)
    if lanes is None:
        return arith.ConstantOp(IntegerAttr(value, integer))
    type_ = VectorType(integer, [lanes])
    dense = DenseIntOrFPElementsAttr.from_list(type_, [value])
    return arith.ConstantOp.create(properties={"value": dense}, result_types=[type_])


def _compare(predicate: int, a: SSAValue, b: SSAValue) -> Operation:
    if isinstance(a.type, VectorType):
        return CompareOp.make(IntegerAttr(predicate, i64), a, b)
    return arith.CmpiOp.create(
        operands=[a, b], properties={"predicate": IntegerAttr(predicate, i64)}, result_types=[i1]
    )


def _select(condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> Operation:
    type_: Attribute = then.type
    kind = SelectOp if type(type_) is VectorType else arith.SelectOp
    return kind.create(operands=[condition, then, otherwise], result_types=[type_])


# -- text --------------------------------------------------------------------------------------------------------


def _plain_name(value: SSAValue) -> str:
    if value.name_hint:
        return value.name_hint
    return f"arg{value.index}" if isinstance(value, BlockArgument) else "buffer"


def _atom_name(atom: Atom | SSAValue) -> str:
    return f"%{_plain_name(atom)}" if isinstance(atom, SSAValue) else str(atom)


def _within(op: Operation) -> str:
    loops = enclosing_loops(op)
    names = ", ".join(f'"{v.axis.data}"' for v in loops)
    return f", in loop{'s' * (len(loops) > 1)} {names}" if loops else ""

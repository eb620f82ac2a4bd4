"""Terms of a block of a reduction, taken apart, so that parts of it can be added up apart and then together.

A part begins as what the block's init stores. Without an init it begins as what the combining ops leave as they are
(zero for a sum); where nobody knows that, a number beside each part says whether there is anything in it yet: with
this, any two parts can be combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.schedule.nest.updates import NEUTRAL, neutral
from lamina.dialects.tir.memory import LoadOp, StoreOp, type_of
from lamina.dialects.tir.ops import BlockOp

SIGNED = (arith.MaxSIOp, arith.MinSIOp)


class TermsError(Exception):
    """A block does not add up as a reduction does."""


class Terms:
    """A block's update: its accumulators, what is added to each, and the ops that add.

    Raises TermsError where the body does anything else.
    """

    def __init__(self, block: BlockOp) -> None:
        self.block = block
        body = block.body.block
        if any(op.regions for op in body.ops):
            raise TermsError("statements stand in it")
        self.stores = _stores(body.ops)
        self.results = [s.value for s in self.stores]
        """The values that the block stores."""
        self.loads: list[LoadOp] = []
        for store in self.stores:
            same = [o for o in body.ops if isinstance(o, LoadOp) and o.buffer is store.buffer]
            if len(same) != 1 or same[0].forms() != store.forms() or store.conditions() or same[0].conditions():
                raise TermsError("it does not accumulate by one load and one store of each result")
            if store.lanes is not None:
                raise TermsError("its results are vectors")
            self.loads.append(same[0])
        if not self.stores:
            raise TermsError("it stores nothing")
        accumulators = [load.result for load in self.loads]
        known: set[SSAValue] = set(accumulators)
        self.ops: list[Operation] = []
        for op in body.ops:
            if op not in self.stores and any(o in known for o in op.operands):
                self.ops.append(op)
                known.update(op.results)
        constants: dict[SSAValue, None] = {}
        terms: dict[SSAValue, None] = {}
        for op in self.ops:
            for o in op.operands:
                if o not in known:
                    (constants if isinstance(o.owner, arith.ConstantOp) else terms)[o] = None
        self.terms = [self._term(a, [*terms, *constants]) for a in accumulators]
        self.constants = [c for c in constants if c not in self.terms]
        if not set(terms) <= set(self.terms) or len(set(self.terms)) != len(self.terms):
            raise TermsError("what it adds to each of its results cannot be told apart")
        self.types = [type_of(s.buffer).element_type for s in self.stores]
        if not all(isinstance(t, (IntegerType, AnyFloat)) for t in self.types):
            raise TermsError("its results are no numbers")
        begun = {s.buffer for s in _stores(block.init.blocks[0].ops)} if block.init.blocks else set[SSAValue]()
        if block.init.blocks and begun != {s.buffer for s in self.stores}:
            raise TermsError("its init and its update write different buffers")
        self.counted = not begun and not all(self._has_neutral(n) for n in range(len(self.stores)))
        """Whether each part has a number beside it that says if there is anything in it."""

    def _term(self, accumulator: SSAValue, candidates: Sequence[SSAValue]) -> SSAValue:
        """The value that meets an accumulator in some op of the combination."""
        for op in self.ops:
            if accumulator in op.operands:
                for o in op.operands:
                    if o in candidates and o.type == accumulator.type:
                        return o
        raise TermsError("what it adds to each of its results cannot be told apart")

    def _has_neutral(self, n: int) -> bool:
        """Whether a result is combined by one op of which it is known what it leaves as it is."""
        combine = self.stores[n].value.owner
        known = isinstance(combine, (*NEUTRAL, *SIGNED))
        return known and set(combine.operands) == {self.loads[n].result, self.terms[n]}

    def part_types(self) -> list[Attribute]:
        """The types of the elements of a part."""
        return [*self.types, i32] if self.counted else self.types

    def begin(self, parts: Sequence[SSAValue]) -> Block:
        """The statements that begin a part in some buffers of one element. Takes the block's init away."""
        start = Block()
        if self.block.init.blocks:
            init = self.block.init.blocks[0]
            buffers = [s.buffer for s in self.stores]
            edit.move_into(start, init.ops)
            for store in _stores(start.ops):
                store.operands = [store.value, parts[buffers.index(store.buffer)]]
                store.set_access([])
            self.block.init.erase_block(init)
            return start
        for n, part in enumerate(parts):
            counter = n >= len(self.stores)
            combine = None if self.counted or counter else self.stores[n].value.owner
            value = neutral(combine, self.types[n]) if isinstance(combine, Operation) else _zero(self.part_types()[n])
            start.add_ops([value, StoreOp.make(value.result, part, [])])
        return start

    def redirect(self, parts: Sequence[SSAValue]) -> None:
        """Let the block add to a part in some buffers of one element."""
        for load, store, part in zip(self.loads, self.stores, parts, strict=False):
            load.operands = [part]
            load.set_access([])
            store.operands = [store.value, part]
            store.set_access([])
        if self.counted:
            body = self.block.body.block
            count = LoadOp.make(parts[-1], [])
            edit.insert_before(self.stores[0], count)
            begun = _is_there(count.result, body, self.stores[0])
            for store, term in zip(self.stores, self.terms, strict=True):
                chosen = arith.SelectOp(begun, store.value, term)
                edit.insert_before(store, chosen)
                store.operands = [chosen.result, *store.operands[1:]]
            one = arith.ConstantOp(IntegerAttr(1, i32))
            body.add_ops([one, StoreOp.make(one.result, parts[-1], [])])

    def combine(self, ours: Sequence[SSAValue], theirs: Sequence[SSAValue], target: Block) -> list[SSAValue]:
        """Two parts together."""
        if not self.counted:
            return self.combined(ours, theirs, target)
        both = self.combined(ours[:-1], theirs[:-1], target)
        first, second = _is_there(ours[-1], target), _is_there(theirs[-1], target)
        values: list[SSAValue] = []
        for a, b, together in zip(ours, theirs, both, strict=False):
            with_first = arith.SelectOp(second, together, a)
            value = arith.SelectOp(first, with_first.result, b)
            target.add_ops([with_first, value])
            values.append(value.result)
        count = arith.OrIOp(ours[-1], theirs[-1])
        target.add_op(count)
        return [*values, count.result]

    def add(self, olds: Sequence[SSAValue], part: Sequence[SSAValue], target: Block) -> list[SSAValue]:
        """Combine old values with a part of the reduction."""
        values = self.combined(olds, part[: len(olds)], target)
        if not self.counted:
            return values
        there = _is_there(part[-1], target)
        chosen = [arith.SelectOp(there, v, old) for v, old in zip(values, olds, strict=True)]
        target.add_ops(chosen)
        return [op.result for op in chosen]

    def combined(self, ours: Sequence[SSAValue], theirs: Sequence[SSAValue], target: Block) -> list[SSAValue]:
        """A copy of the ops that add, for other values."""
        values: dict[SSAValue, SSAValue] = dict(zip((load.result for load in self.loads), ours, strict=True))
        values |= zip(self.terms, theirs, strict=True)
        for op in [*(c.owner for c in self.constants), *self.ops]:
            assert isinstance(op, Operation)
            target.add_op(op.clone(values))
        return [values.get(value, value) for value in self.results]


def _stores(ops: Iterable[Operation]) -> list[StoreOp]:
    return [op for op in ops if isinstance(op, StoreOp)]


def _zero(type_: Attribute) -> arith.ConstantOp:
    if type(type_) is IntegerType:
        return arith.ConstantOp(IntegerAttr(0, type_.width.data))
    return arith.ConstantOp(FloatAttr(0.0, cast("AnyFloat", type_)))


def _is_there(count: SSAValue, target: Block, before: Operation | None = None) -> SSAValue:
    """Whether there is anything in a part, from the number beside it."""
    zero = arith.ConstantOp(IntegerAttr(0, i32))
    test = arith.CmpiOp(count, zero.result, "ne")
    if before is None:
        target.add_ops([zero, test])
    else:
        edit.insert_before(before, zero, test)
    return test.result

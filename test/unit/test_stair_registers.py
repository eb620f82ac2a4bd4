"""Register buffers against a plain array: in any layout of the slots an element is what was last written there."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects.builtin import IntegerAttr, VectorType, f32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Attribute, Block, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm import registers
from lamina.passes.tir_to_llvm.builder import FunctionBuilder
from lamina.passes.tir_to_llvm.registers import Register, width

SIZE = 24
Lanes = list[tuple[int, int] | None]
"""Each lane as (number of the write, lane of what was written); None is poison."""


def builder() -> FunctionBuilder:
    return FunctionBuilder(Block(), lambda symbol, inputs, output: None)


def type_of(lanes: int) -> Attribute:
    return f32 if lanes == 1 else vector_type(f32, lanes)


class Machine:
    """What stands in each lane of an SSA value."""

    def __init__(self) -> None:
        self.written: dict[SSAValue, Lanes] = {}

    def fresh(self, number: int, lanes: int) -> SSAValue:
        value = AnyOp(result_types=[type_of(lanes)]).results[0]
        self.written[value] = [(number, lane) for lane in range(lanes)]
        return value

    def lanes(self, value: SSAValue) -> Lanes:
        if value not in self.written:
            self.written[value] = self.computed(value)
        return self.written[value]

    def computed(self, value: SSAValue) -> Lanes:
        op = value.owner
        if isinstance(op, llvm.PoisonOp):
            return [None for _ in range(width(value.type))]
        if isinstance(op, llvm.ExtractElementOp):
            return [self.lanes(op.operands[0])[_number(op.operands[1])]]
        assert isinstance(op, llvm.InsertElementOp)
        lanes = list(self.lanes(op.operands[0]))
        (lanes[_number(op.operands[2])],) = self.lanes(op.operands[1])
        return lanes


def _number(value: SSAValue) -> int:
    op = value.owner
    assert isinstance(op, llvm.ConstantOp) and isinstance(op.value, IntegerAttr)
    return op.value.value.data


@pytest.mark.parametrize("seed", range(40))
def test_an_element_is_what_was_last_written(seed: int) -> None:
    r, b, machine = random.Random(seed), builder(), Machine()
    register = Register("acc")
    memory: Lanes = [None] * SIZE
    seeded = [False] * SIZE
    for n in range(60):
        lanes = r.choice([1, 1, 2, 4, 8])
        offset = r.randrange(SIZE - lanes + 1)
        what = r.random()
        if what < 0.6:
            register.write(b, offset, machine.fresh(n, lanes))
            memory[offset : offset + lanes] = [(n, lane) for lane in range(lanes)]
            seeded[offset : offset + lanes] = [True] * lanes
        elif what < 0.7:
            register.seed(b, offset, type_of(lanes))
            seeded[offset : offset + lanes] = [True] * lanes
        elif what < 0.8:
            register = Register("copy", register.slots)
        elif what < 0.9 and all(seeded[offset : offset + lanes]):
            register.conform(b, [(offset, type_of(lanes))])
        else:
            value = register.read(b, offset, type_of(lanes))
            assert (value is None) == (not all(seeded[offset : offset + lanes]))
            if value is not None:
                assert machine.lanes(value) == memory[offset : offset + lanes]
        held = [at for start, v in register.slots.items() for at in range(start, start + width(v.type))]
        assert len(held) == len(set(held)), "slots overlap"
        assert set(held) == {at for at in range(SIZE) if seeded[at]}
    for at in range(SIZE):
        value = register.read(b, at, f32, partial=True)
        assert value is not None and machine.lanes(value) == [memory[at]]


@pytest.mark.parametrize("lanes", [1, 16])
def test_a_write_or_a_seed_looks_at_the_slots_around_it_only(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[SSAValue] = []
    width_of = registers._width_of  # pyright: ignore[reportPrivateUsage]

    def counted(value: SSAValue) -> int:
        looked.append(value)
        return width_of(value)

    monkeypatch.setattr(registers, "_width_of", counted)
    b, machine, register = builder(), Machine(), Register("acc")
    for n in range(200):
        register.write(b, n * lanes, machine.fresh(n, lanes))
    assert len(looked) <= 200
    looked.clear()
    # A loop in the body of another asks for a value of what is there already.
    for n in range(200):
        register.seed(b, n * lanes, type_of(lanes))
    assert len(looked) <= 200
    assert isinstance(register.slots[0].type, VectorType) == (lanes > 1)

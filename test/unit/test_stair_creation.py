"""What the stair makes directly equals what xDSL's own constructors make, field by field."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from xdsl.dialects.builtin import IntegerAttr, VectorType, f32, i32, i64
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use
from xdsl.irdl import IRDLOperation

from lamina.dialects.llvm_target import ops as llvm
from lamina.passes.tir_to_llvm.creation import fill, with_result, without_result

VECTOR = VectorType(f32, [16])


def value(type_: Attribute) -> SSAValue:
    return AnyOp(result_types=[type_]).results[0]


def fields(op: Operation) -> dict[str, Any]:
    """All fields of an op; results and uses by what they say instead of by identity."""
    found = dict(vars(op))
    assert all(r.op is op and r.first_use is None and r.name_hint is None for r in op.results)
    found["results"] = (type(op.results), [(type(r), r.type, r.index) for r in op.results])
    found["_operands"] = (type(found["_operands"]), [id(o) for o in found["_operands"]])
    found["_operand_uses"] = [_use(u, op) for u in found["_operand_uses"]]
    return found


def _use(use: Use, op: Operation) -> tuple[type[Use], bool, int]:
    return type(use), use.operation is op, use.index


def uses(value: SSAValue) -> list[tuple[str, int]]:
    return [(u.operation.name, u.index) for u in value.uses]


CASES: list[tuple[type[Operation], list[Attribute], Attribute | None, dict[str, Attribute]]] = [
    (llvm.FMAOp, [VECTOR, VECTOR, VECTOR], VECTOR, {"fastmathFlags": llvm.FastMathAttr(None)}),
    (llvm.FAddOp, [f32, f32], f32, {}),
    (llvm.AddOp, [i64, i64], i64, {"overflowFlags": IntegerAttr(0, i32)}),
    (llvm.PoisonOp, [], VECTOR, {}),
    (llvm.ConstantOp, [], i64, {"value": IntegerAttr(3, i64)}),
    (llvm.LoadOp, [llvm.LLVMPointerType()], f32, {"alignment": IntegerAttr(4, i64)}),
    (llvm.StoreOp, [f32, llvm.LLVMPointerType()], None, {"alignment": IntegerAttr(4, i64)}),
]


@pytest.mark.parametrize("cls, types, result, properties", CASES, ids=lambda c: getattr(c, "name", ""))
def test_an_op_has_the_fields_that_create_gives_it(
    cls: type[Operation], types: list[Attribute], result: Attribute | None, properties: dict[str, Attribute]
) -> None:
    operands = [value(t) for t in types]
    given = dict(properties)
    expected = cls.create(operands=operands, result_types=[] if result is None else [result], properties=given)
    if result is None:
        made = without_result(cls, operands, given)
    else:
        made = with_result(cls, operands, result, given).op
    assert type(made) is cls
    assert fields(made) == fields(expected)
    assert list(made.properties) == list(expected.properties)
    assert made.properties is not given
    for operand in operands:
        expected.drop_all_references()
        assert uses(operand) == [(cls.name, n) for n, o in enumerate(operands) if o is operand]


def test_a_value_used_twice_knows_both_uses() -> None:
    x = value(f32)
    made = with_result(llvm.FAddOp, [x, x], f32, {}).op
    again = llvm.FAddOp.create(operands=[x, x], result_types=[f32])
    assert [(u.operation, u.index) for u in x.uses] == [(again, 1), (again, 0), (made, 1), (made, 0)]
    made.drop_all_references()
    assert [(u.operation, u.index) for u in x.uses] == [(again, 1), (again, 0)]


def test_no_op_of_the_llvm_dialect_has_a_constructor_hook_of_its_own() -> None:
    classes = [c for _, c in inspect.getmembers(llvm, inspect.isclass) if issubclass(c, IRDLOperation)]
    assert len(classes) > 50
    own = {c.name for c in classes if c.__post_init__ is not IRDLOperation.__post_init__}
    assert not own, f"_create would pass over the hooks of {own}"


def test_a_filled_block_is_one_that_ops_were_added_to() -> None:
    def ops() -> list[Operation]:
        return [with_result(llvm.PoisonOp, (), f32, {}).op for _ in range(3)]

    filled, added = Block(), Block()
    for block, three in ((filled, ops()), (added, ops())):
        fill(block, three) if block is filled else block.add_ops(three)
        assert list(block.ops) == three
        assert list(reversed(block.ops)) == three[::-1]
        assert [o.parent for o in three] == [block] * 3
        assert (block.first_op, block.last_op) == (three[0], three[-1])
    empty = Block()
    fill(empty, [])
    assert empty.is_empty and empty.last_op is None
    with pytest.raises(AssertionError):
        fill(filled, [])
    with pytest.raises(AssertionError):
        fill(Block(), list(added.ops))

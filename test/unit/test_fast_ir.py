"""What `fast_ir` gives equals what xDSL's own walks, views and setters give."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import IndexType, MemRefType, f32, i32, i64
from xdsl.dialects.scf import YieldOp
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block, Region

from lamina.dialects.fast_ir import all_ops, name_new, next_of, operands_of, type_of, valid_name
from lamina.dialects.index.linear import Linear
from lamina.dialects.tir.ops import LoadOp
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text

LLVM = """
llvm.func @f(%p: !llvm.ptr, %n: i64) -> i64 {
  %c = llvm.icmp "slt" %n, %n : i64
  llvm.cond_br %c, ^bb1, ^bb2(%n : i64)
^bb1:
  %two = llvm.add %n, %n : i64
  llvm.br ^bb2(%two : i64)
^bb2(%r: i64):
  llvm.return %r : i64
}
"""
TESTS = Path(__file__).resolve().parents[1]
TEXTS = [LLVM, *(p.read_text() for p in sorted((TESTS / "dialects" / "tir").glob("*.mlir"))[:12])]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_op_is_seen_in_program_order(text: str) -> None:
    module = parse_text(LaminaContext(), text, "x.mlir")
    assert all_ops(module) == list(module.walk())
    for op in module.walk():
        assert all_ops(op) == list(op.walk())
        assert operands_of(op) == tuple(op.operands)
        assert next_of(op) is op.next_op
        assert [type_of(r) for r in op.results] == [r.type for r in op.results]


@pytest.mark.parametrize("hint", [None, "acc", "acc_1", "acc_1_2"])
def test_a_value_is_called_what_its_setter_would_call_it(hint: str | None) -> None:
    mine, other = AnyOp(result_types=[i64, i64]).results
    other.name_hint = hint
    name_new(mine, valid_name(hint))
    assert mine.name_hint == other.name_hint
    name_new(mine, "late")
    assert mine.name_hint == (other.name_hint or "late")


def test_results_are_had_by_place_and_by_slice() -> None:
    results = AnyOp(result_types=[i64, f32, i32]).results
    assert [results[n] for n in (0, 1, -1)] == list(results)
    assert type(results[1:]) is type(results)
    assert list(results[1:]) == list(results)[1:]
    with pytest.raises(IndexError):
        results[3]


def test_only_what_nobody_uses_is_erased() -> None:
    op = AnyOp(result_types=[i64])
    user = AnyOp(operands=[op.results[0]])
    with pytest.raises(ValueError, match="still has uses"):
        op.results[0].erase()
    user.erase()
    op.erase()


def test_values_and_ops_are_known_by_identity() -> None:
    module = parse_text(LaminaContext(), LLVM, "x.mlir")
    ops = list(module.walk())
    values = [v for op in ops for v in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args))]
    blocks = [b for op in ops for r in op.regions for b in r.blocks]
    for things in (ops, values, blocks):
        assert all(hash(t) == object.__hash__(t) for t in things)
        assert len(set(things)) == len(things) and all(t in dict.fromkeys(things) for t in things)


def test_a_block_and_a_region_are_walked_as_an_op_is() -> None:
    module = parse_text(LaminaContext(), LLVM, "x.mlir")
    for op in module.walk():
        for region in op.regions:
            assert all_ops(region) == list(region.walk())
            for block in region.blocks:
                assert all_ops(block) == list(block.walk())


def test_operands_that_are_replaced_leave_the_lists_of_their_users() -> None:
    a, b = (AnyOp(result_types=[i32]).results[0] for _ in range(2))
    op, other = AnyOp(operands=[a, b, a]), AnyOp(operands=[a])
    op.operands = [b, *op.operands[:2]]
    assert list(op.operands) == [b, a, b]
    users = {v: sorted((u.operation is op, u.index) for u in v.uses) for v in (a, b)}
    assert users == {a: [(False, 0), (True, 1)], b: [(True, 0), (True, 2)]}
    op.operands = []
    other.operands = []
    assert not list(a.uses) and not list(b.uses)


def test_a_builder_takes_ops_of_all_classes_as_they_are_made() -> None:
    """So do implicit terminators come into their blocks."""
    block = Block()
    with ImplicitBuilder(block):
        ops = [AnyOp(), YieldOp()]
    assert list(block.ops) == ops


def test_an_op_is_not_put_into_itself_nor_into_two_blocks() -> None:
    inner = Block()
    outer, leaf = AnyOp(regions=[Region(inner)]), AnyOp()
    with pytest.raises(ValueError, match="contained in the operation"):
        inner.add_op(outer)
    inner.add_op(leaf)
    with pytest.raises(ValueError, match="already attached"):
        Block().add_op(leaf)
    assert leaf.parent is inner


def test_indices_are_read_anew_when_they_or_their_operands_change() -> None:
    block = Block(arg_types=[MemRefType(f32, [8]), IndexType(), IndexType()])
    buffer, i, j = block.args
    load = LoadOp.make(buffer, [Linear.dim(i)])
    assert load.forms() == [Linear.dim(i)]
    load.forms().clear()
    load.operands = [buffer, j]
    assert load.forms() == [Linear.dim(j)]
    load.set_access([Linear.dim(i) + 1])
    assert load.forms() == [Linear.dim(i) + 1]

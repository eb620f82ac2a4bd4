"""What `fast_ir` gives equals what xDSL's own walks, views and setters give."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import i64
from xdsl.dialects.test import TestOp as AnyOp

from lamina.context import LaminaContext
from lamina.dialects.fast_ir import all_ops, name_new, next_of, operands_of, type_of, valid_name
from lamina.parsing import parse_text

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

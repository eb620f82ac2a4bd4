"""Verifying ops by their form: what an op of the same form was accepted for is not asked again, all else is."""

from __future__ import annotations

import pytest
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, f32, i32
from xdsl.dialects.func import Func
from xdsl.dialects.test import TestOp as SomeOp
from xdsl.ir import Block, Dialect, Operation

from lamina.dialects.llvm_target import LLVM
from lamina.dialects.te import TE
from lamina.dialects.tir import TIR
from lamina.ir.context import LaminaContext
from lamina.ir.declared_checks import Checks, checks_of, verify_op
from lamina.ir.parsing import parse_text
from lamina.ir.verification import VerificationError, verify_module

LOOP = """
tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
  tir.for %i = 0 to 8 "i" {
    %a = tir.load %x[%i] : memref<8xf32>
    %b = arith.addf %a, %a : f32
    tir.store %b, %y[%i] : memref<8xf32>
  }
}
"""
UNREACHED = """
func.func @f(%a: i32) -> i32 {
  func.return %a : i32
^never:
  %c = arith.addi %a, %a : i32
  func.return %c : i32
}
"""


def module_of(text: str) -> ModuleOp:
    return parse_text(LaminaContext(), text, "f.mlir")


def found(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


@pytest.mark.parametrize("dialect", [TE, TIR, LLVM, Arith, Func])
def test_every_class_is_taken_apart(dialect: Dialect) -> None:
    """Were xDSL's function built otherwise, each op would be verified whole every time, and nobody would notice."""
    kinds = list(dialect.operations)
    assert len(kinds) >= 3
    for kind in kinds:
        checks = checks_of(kind)
        assert isinstance(checks, Checks), kind
        assert checks.own is None or "get_accessors" not in checks.own.__qualname__


def test_an_accepted_op_is_refused_once_it_is_changed() -> None:
    module = module_of(LOOP)
    verify_module(module)
    verify_module(module)
    add = found(module, "arith.addf")
    other = SomeOp(result_types=[i32])
    add.parent.insert_op_before(other, add)  # type: ignore[union-attr]
    add.operands[1] = other.results[0]
    with pytest.raises(VerificationError, match="arith.addf"):
        verify_module(module)


def test_properties_that_are_no_longer_what_was_accepted_are_seen() -> None:
    module = module_of(LOOP)
    verify_module(module)
    loop = found(module, "tir.for")
    kept = loop.properties["axis"]
    loop.properties["axis"] = IntegerAttr(1, 32)
    with pytest.raises(VerificationError, match="tir.for"):
        verify_module(module)
    loop.properties["axis"] = kept
    verify_module(module)
    del loop.properties["axis"]
    with pytest.raises(VerificationError, match="axis"):
        verify_module(module)
    loop.properties["axis"] = kept
    loop.properties["none"] = StringAttr("such")
    with pytest.raises(VerificationError, match="none"):
        verify_module(module)


def test_what_a_class_checks_by_itself_is_asked_every_time() -> None:
    seen: list[Operation] = []

    class Watched(SomeOp):
        def verify_(self) -> None:
            seen.append(self)

    op = Watched(result_types=[f32])
    verify_op(op)
    verify_op(op)
    assert seen == [op, op]


def test_regions_count_by_their_blocks_and_arguments() -> None:
    module = module_of(LOOP)
    verify_module(module)
    loop = found(module, "tir.for")
    (region,) = loop.regions
    region.add_block(Block())
    with pytest.raises(VerificationError):
        verify_module(module)
    region.detach_block(region.blocks[1])
    verify_module(module)
    region.blocks[0].insert_arg(f32, 0)
    with pytest.raises(VerificationError, match="tir.for"):
        verify_module(module)


def test_blocks_that_nothing_reaches_may_not_look_out_of_an_isolated_op() -> None:
    """Dominance does not see them, so that the trait has to be asked though the form is known."""
    module = module_of(UNREACHED)
    verify_module(module)
    verify_module(module)
    outside = SomeOp(result_types=[i32])
    module.body.block.insert_op_before(outside, module.body.block.first_op)  # type: ignore[arg-type]
    found(module, "arith.addi").operands[0] = outside.results[0]
    with pytest.raises(VerificationError, match="func.func"):
        verify_module(module)

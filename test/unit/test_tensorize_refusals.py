"""te.tensorize: wrong intrinsics, implementations and declarations are refused with the difference."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.schedule.nest import match_intrinsic
from lamina.dialects.schedule.nest.edits import TENSORIZED
from lamina.dialects.schedule.ops import TensorIntrinOp
from lamina.dialects.tir.ops import BlockOp
from lamina.driver.execute import run_module
from lamina.errors import InputError
from lamina.ir.pipeline import parse_pipeline, run_pipeline

from . import tensorize_cases as cases

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
# -- wrong intrinsics ------------------------------------------------------------------------------------------------

A, B, C = "tensor<4x8xf32>", "tensor<8x4xf32>", "tensor<4x4xf32>"


def _compute(body: str, extents: str = "[4, 4] sum [8]") -> str:
    return f'  %C = te.compute "C" {extents} (%i, %j, %k) : {C} {{\n{body}\n  }}'


BODY = """    %x = te.read %A[%i, %k] : tensor<4x8xf32>
    %y = te.read %B[%k, %j] : tensor<8x4xf32>
    %p = arith.mulf %x, %y : f32
    te.yield %p : f32"""

ROW = """te.tensor_intrin @row {
  te.func @desc(%a: tensor<8xf32>, %b: tensor<8x4xf32>) -> tensor<4xf32> {
    %c = te.compute "c" [4] sum [8] (%j, %k) : tensor<4xf32> {
      %x = te.read %a[%k] : tensor<8xf32>
      %y = te.read %b[%k, %j] : tensor<8x4xf32>
      %p = arith.mulf %x, %y : f32
      te.yield %p : f32
    }
    te.return %c : tensor<4xf32>
  }
}"""

ADD_FROM_ONE = """ combine (%l, %r) {
      %s = arith.addf %l, %r : f32
      te.yield %s : f32
    } identity {
      %e = arith.constant 1.0 : f32
      te.yield %e : f32
    }"""
ADD_INDEX = """%g = arith.index_cast %t : index to i32
    %h = arith.sitofp %g : i32 to f32
    %q = arith.addf %p, %h : f32
    te.yield %q"""

# What is wrong: (changes of the description, changes of the program, the difference shown).
Change = tuple[str, str]
WRONG: dict[str, tuple[list[Change], list[Change], str]] = {
    "another op": (
        [("arith.mulf %x, %y", "arith.subf %x, %y")],
        [],
        "it computes arith.mulf on f32 where the description computes arith.subf on f32",
    ),
    "another combiner": (
        [("sum", "max")],
        [],
        "it computes arith.addf on f32 where the description computes arith.maximumf on f32",
    ),
    "another extent": (
        [("sum [8]", "sum [4]"), ("<8x", "<4x")],
        [],
        "its loops are 'C.k' of 8 (reduction), 'C.j' of 4; the description has 'c.j' of 4, 'c.k' of 4 (reduction)",
    ),
    "no reduction": (
        [
            ("[4] sum [8]", "[4, 8]"),
            ("-> tensor<4xf32>", "-> tensor<4x8xf32>"),
            ("c : tensor<4xf32>", "c : tensor<4x8xf32>"),
            ("(%j, %k) : tensor<4xf32>", "(%j, %k) : tensor<4x8xf32>"),
        ],
        [],
        "'C.k' of 8 (reduction), 'C.j' of 4; the description has 'c.j' of 4, 'c.k' of 8",
    ),
    "another index": (
        [("%a[%k] : tensor<8xf32>", "%a[%j] : tensor<4xf32>"), ("%a: tensor<8xf32>", "%a: tensor<4xf32>")],
        [],
        "%A[%i, %k] where the description has %a[%j]: the index %k does not move with the description's",
    ),
    "another type": (
        [("f32", "f64")],
        [],
        "it accesses f32 in %C_out[%i, %j] where the description has %c[%j] of f64",
    ),
    "another constant": (
        [("te.yield %p", "%h = arith.constant 0.5 : f32\n%q = arith.mulf %p, %h : f32\nte.yield %q")],
        [("te.yield %p", "%h = arith.constant 0.25 : f32\n%q = arith.mulf %p, %h : f32\nte.yield %q")],
        "it computes the constant 2.500000e-01 : f32 where the description computes the constant 5.000000e-01 : f32",
    ),
    "one operand twice": (
        [("arith.mulf %x, %y", "arith.mulf %x, %x")],
        [],
        "%B[%k, %j] where the description has %a[%k]: the index %j does not move with the description's",
    ),
    "two windows of one operand": (
        [
            ("%b[%k, %j] : tensor<8x4xf32>", "%a[%k + 1] : tensor<9xf32>"),
            ("%a: tensor<8xf32>, %b: tensor<8x4xf32>", "%a: tensor<9xf32>"),
            ("%a[%k] : tensor<8xf32>", "%a[%k] : tensor<9xf32>"),
        ],
        [("%B[%k, %j] : tensor<8x4xf32>", "%A[%i, %k + 2] : tensor<4x10xf32>"), (A, "tensor<4x10xf32>")],
        "%A[%i, %k + 2] where the description has %a[%k + 1]: another access of %a takes it for another window",
    ),
    "a read under a condition": (
        [],
        [("%A[%i, %k] :", "%A[%i, %k - 1] where [%k - 1 >= 0] :")],
        "%A[%i, %k - 1] is under the condition %k - 1 >= 0, the description's has none",
    ),
    "an index that is not affine": (
        [],
        [("%B[%k, %j] : tensor<8x4xf32>", "%B[%k floordiv 2, %j] : tensor<8x4xf32>")],
        "the index %k floordiv 2 is not affine in the loops of the nest",
    ),
    "another initial value": (
        [("sum [8]", "reduce [8]"), ("te.yield %p : f32\n    }", "te.yield %p : f32\n    }" + ADD_FROM_ONE)],
        [],
        "it computes the constant 0.000000e+00 : f32 where the description computes the constant 1.000000e+00 : f32",
    ),
    "an index as a value": (
        [("te.yield %p", "%t = te.index [%k + 1] : index\n" + ADD_INDEX)],
        [("te.yield %p", "%t = te.index [%k] : index\n" + ADD_INDEX)],
        "it computes with the index [%k] where the description has [%k + 1]",
    ),
}


def _changed(text: str, changes: list[Change]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def _plain_update(text: str) -> TensorIntrinOp:
    """A declaration that has a description only, with that as its implementation: right, if slow."""
    from xdsl.parser import Parser

    from lamina.ir.context import LaminaContext
    from lamina.passes.te_to_tir.te_to_tir import lower_function
    from lamina.passes.tir.loops.lower_blocks import LowerBlocksPass

    context = LaminaContext()
    declared = Parser(context, text).parse_module().body.block.first_op
    assert isinstance(declared, TensorIntrinOp)
    desc = declared.desc
    reduces = declared.compute.combiner is not None
    func, _ = lower_function(desc.clone())
    func.attributes.clear()
    func.body.block.args[-1].name_hint = "c"
    if reduces:
        block = next(o for o in func.walk() if isinstance(o, BlockOp))
        block.init.erase_block(block.init.blocks[0])
    holder = ModuleOp([func])
    LowerBlocksPass().apply(context, holder)
    func.detach()
    func.properties["sym_name"] = type(desc.sym_name)("update" if reduces else "body")
    desc.detach()
    return TensorIntrinOp.make(declared.sym_name.data, desc, [func])


@pytest.mark.parametrize("mistake", list(WRONG))
def test_a_wrong_intrinsic_is_refused_with_the_difference(mistake: str) -> None:
    description, changes, difference = WRONG[mistake]
    declaration = _plain_update(_changed(ROW, description))
    schedule = '  %i, %j, %k = te.loops "C" [3]\n  te.reorder %i, %k, %j\n  te.tensorize %k @row'
    compute = _changed(_compute(BODY), changes)
    arguments = {"A": _changed(A, [c for c in changes if c[0] == A]), "B": B}
    module, context = cases.parsed(cases.program(arguments, C, compute, schedule))
    module.body.block.insert_op_before(declaration, module.body.block.first_op)  # type: ignore[arg-type]
    module.verify()
    with pytest.raises(InputError, match=re.escape(difference)):
        run_pipeline(module, context, parse_pipeline("te-to-tir"))


def test_the_intrinsic_that_all_the_wrong_ones_are_made_from_is_accepted() -> None:
    schedule = '  %i, %j, %k = te.loops "C" [3]\n  te.reorder %i, %k, %j\n  te.tensorize %k @row'
    module, context = cases.parsed(cases.program({"A": A, "B": B}, C, _compute(BODY), schedule))
    module.body.block.insert_op_before(_plain_update(ROW), module.body.block.first_op)  # type: ignore[arg-type]
    run_pipeline(module, context, parse_pipeline("te-to-tir"))
    generator = np.random.default_rng(5)
    a, b = (generator.integers(-4, 5, s).astype(np.float32) for s in ((4, 8), (8, 4)))
    (found,) = run_module(module, context, "main", {"A": a, "B": b}).values()
    np.testing.assert_array_equal(found, a @ b)
    assert sum(TENSORIZED in o.attributes for o in module.walk() if isinstance(o, BlockOp)) == 1


def test_a_body_too_large_to_compare_is_refused_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each commutative op doubles the ways in which two bodies may be the same."""
    monkeypatch.setattr(match_intrinsic, "MAX_STEPS", 5_000)
    start = "%x = te.read %{0}[%i] : tensor<4xf32>\n%y0 = arith.mulf %x, %x : f32\n%z0 = arith.negf %x : f32\n"
    step = "%y{1} = arith.maximumf %y{0}, %z{0} : f32\n%z{1} = arith.maximumf %z{0}, %y{0} : f32\n"
    adds = "".join(step.format(n, n + 1) for n in range(29))
    last = "te.yield %y29 : f32\n"
    desc = f"""te.tensor_intrin @row {{
  te.func @desc(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %c = te.compute "c" [4] (%i) : tensor<4xf32> {{
    {start.format("a")}{adds}{last}
    }}
    te.return %c : tensor<4xf32>
  }}
}}"""
    swapped = start.format("A").replace("arith.mulf %x, %x", "arith.subf %x, %x")
    compute = f'  %C = te.compute "C" [4] (%i) : tensor<4xf32> {{\n{swapped}{adds}{last}\n  }}'
    schedule = '  %i = te.loops "C" [1]\n  te.tensorize %i @row'
    module, context = cases.parsed(cases.program({"A": "tensor<4xf32>"}, "tensor<4xf32>", compute, schedule))
    module.body.block.insert_op_before(_plain_update(desc), module.body.block.first_op)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="it is too large to be compared"):
        run_pipeline(module, context, parse_pipeline("te-to-tir"))


def test_windows_of_several_elements_for_one_are_refused() -> None:
    """A result whose elements would lie on each other is none that a description has."""
    text = """
te.tensor_intrin @fill {
  te.func @desc(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
    %c = te.compute "c" [2, 2] (%i, %j) : tensor<2x2xf32> {
      %x = te.read %a[%i, %j] : tensor<2x2xf32>
      te.yield %x : f32
    }
    te.return %c : tensor<2x2xf32>
  }
  tir.func @body(%a: memref<2x2xf32>, %c: memref<2x2xf32>) {
    tir.for %i = 0 to 2 "i" {
      tir.for %j = 0 to 2 "j" {
        %x = tir.load %a[%i, %j] : memref<2x2xf32>
        tir.store %x, %c[%i, %j] : memref<2x2xf32>
      }
    }
  }
}
tir.func @f(%A: memref<2x2xf32>, %C: memref<3xf32>) {
  tir.for %i = 0 to 2 "i" {
    tir.for %j = 0 to 2 "j" {
      tir.block "C" {
        %x = tir.load %A[%i, %j] : memref<2x2xf32>
        tir.store %x, %C[%i + %j] : memref<3xf32>
      }
    }
  }
}"""
    from lamina.dialects.schedule.nest.edits import ScheduleError, stage_loops
    from lamina.dialects.schedule.primitives.tensorize import tensorize
    from lamina.dialects.tir.ops import FuncOp as Kernel
    from lamina.passes.te_to_tir.intrinsics import lower_intrinsic
    from lamina.passes.te_to_tir.te_to_tir import lower_function

    module, _ = cases.parsed(text)
    declared, func = module.body.block.ops
    assert isinstance(declared, TensorIntrinOp) and isinstance(func, Kernel)
    before = str(func)
    with pytest.raises(ScheduleError, match="several elements of its result are one element of %C"):
        tensorize(stage_loops(func, "C")[0], lower_intrinsic(declared, lower_function))
    assert str(func) == before


# -- wrong implementations and declarations ----------------------------------------------------------------------------


DOT = """
te.tensor_intrin @dot {
  te.func @desc(%a: tensor<4xui8>, %b: tensor<4xi8>) -> tensor<i32> {
    %c = te.compute "c" [] sum [4] (%k) : tensor<i32> {
      %x = te.read %a[%k] : tensor<4xui8>
      %y = te.read %b[%k] : tensor<4xi8>
      %u = arith.extui %x : i8 to i32
      %s = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %s : i32
      te.yield %p : i32
    }
    te.return %c : tensor<i32>
  }
  tir.func @update(%a: memref<4xui8>, %b: memref<4xi8>, %c: memref<i32>) {
    tir.for %k = 0 to 4 reduction "k" {
      %x = tir.load %a[%k] : memref<4xui8>
      %y = tir.load %b[%k] : memref<4xi8>
      %u = arith.extui %x : i8 to i32
      %s = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %s : i32
      %acc = tir.load %c[] : memref<i32>
      %t = arith.addi %acc, %p : i32
      tir.store %t, %c[] : memref<i32>
    }
  }
  tir.func @reset(%c: memref<i32>) {
    %zero = arith.constant 0 : i32
    tir.store %zero, %c[] : memref<i32>
  }
}
"""


def _lowered(text: str) -> None:
    module, context = cases.parsed(text)
    run_pipeline(module, context, parse_pipeline("te-to-tir"))


def test_a_right_declaration_passes() -> None:
    _lowered(DOT)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("%x = tir.load %a[%k] : memref<4xui8>", "%x = tir.load %b[%k] : memref<4xi8>", "@dot: @update gives "),
        ("arith.extui %x", "arith.extsi %x", "@dot: @update gives "),
        ("tir.for %k = 0 to 4", "tir.for %k = 0 to 3", "@dot: @update gives "),
        ("tir.for %k = 0 to 4", "tir.for %k = 0 to 5", "@dot: @update .*reads %a"),
        ("arith.constant 0 : i32\n", "arith.constant 1 : i32\n", r"@dot: @reset gives 1 at \[\], the description 0"),
        ("%t = arith.addi %acc, %p : i32", "%t = arith.addi %p, %p : i32", "@dot: @update gives "),
    ],
    ids=["another operand", "sign", "one element missing", "beyond its window", "reset", "forgets the accumulator"],
)
def test_an_implementation_is_run_against_its_description(old: str, new: str, message: str) -> None:
    assert old in DOT
    with pytest.raises(InputError, match=message):
        _lowered(new.join(DOT.rsplit(old, 1)))  # the last is the implementation's


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("tir.func @reset", "tir.func @begin", "a tensor intrinsic holds te.func @desc and tir.func @body"),
        ("te.func @desc", "te.func @meaning", "a tensor intrinsic holds te.func @desc and tir.func @body"),
        (
            "(%a: memref<4xui8>, %b: memref<4xi8>,",
            "(%b: memref<4xi8>, %a: memref<4xui8>,",
            "@update takes .*; the desc",
        ),
        ("tir.store %t, %c[] : memref<i32>", "tir.store %y, %b[%k] : memref<4xi8>", "@update writes its input %b"),
        ("te.read %a[%k] :", "te.read %a[%k] where [%k - 1 >= 0] :", "the description reads under a condition"),
        ("%a: tensor<4xui8>,", "%a: tensor<4xui8> {te.strides = array<i64: 1, 1>},", "te.strides of .* of 1 strides"),
        ("%a: tensor<4xui8>,", "%a: tensor<4xui8> {te.offset_factor = 0 : i64},", "te.offset_factor is a positive"),
        ("tir.func @update", "tir.func @reset", "Redefinition of symbol"),
    ],
)
def test_a_declaration_that_is_none(old: str, new: str, message: str) -> None:
    assert old in DOT
    with pytest.raises(VerifyException, match=message):
        cases.parsed(DOT.replace(old, new))


def test_an_intrinsic_declared_twice() -> None:
    module, context = cases.parsed(DOT)
    module.body.block.add_op(next(iter(module.ops)).clone())
    with pytest.raises(InputError, match="@dot is declared twice"):
        run_pipeline(module, context, parse_pipeline("te-to-tir"))


def test_bfloat16_accumulators_lose_too_much() -> None:
    """Normal values show a precision that small integers do not."""
    text = """
    te.tensor_intrin @sum {
      te.func @desc(%a: tensor<64xf32>) -> tensor<f32> {
        %c = te.compute "c" [] sum [64] (%k) : tensor<f32> {
          %x = te.read %a[%k] : tensor<64xf32>
          te.yield %x : f32
        }
        te.return %c : tensor<f32>
      }
      tir.func @update(%a: memref<64xf32>, %c: memref<f32>) {
        tir.for %k = 0 to 64 reduction "k" {
          %x = tir.load %a[%k] : memref<64xf32>
          %acc = tir.load %c[] : memref<f32>
          %t = arith.addf %acc, %x : f32
          %n = arith.truncf %t : f32 to bf16
          %w = arith.extf %n : bf16 to f32
          tir.store %w, %c[] : memref<f32>
        }
      }
    }"""
    with pytest.raises(InputError, match=r"@sum: @update gives .* \(1 of 1 elements differ\)"):
        _lowered(text)

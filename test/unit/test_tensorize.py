"""te.tensorize: built-in intrinsics against NumPy, wrong ones refused with the difference, right ones accepted."""

from __future__ import annotations

import random
import re
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.jit import host_target
from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.schedule import TensorIntrinOp
from lamina.dialects.te.tensor_intrin import implementation, set_layout
from lamina.dialects.tir.body_builder import LANES, BodyBuilder
from lamina.dialects.tir.intrinsics import INTRINSICS, Intrinsic
from lamina.dialects.tir.nest import TENSORIZED
from lamina.dialects.tir.ops import BlockOp
from lamina.errors import InputError
from lamina.pipeline import parse_pipeline, run_pipeline
from lamina.runtime.execute import run_module
from lamina.runtime.te_interpreter import run_te_func
from lamina.runtime.tir_interpreter import run_tir_func

from . import tensorize_cases as cases

Array = np.ndarray[Any, Any]
HOST = host_target(1)
VNNI = "avx512vnni"


def needs(*features: str) -> None:
    """Skip where this processor lacks an instruction."""
    missing = [f for f in features if not HOST.has_feature(f)]
    if missing:
        pytest.skip(f"this processor lacks {', '.join(missing)}")


LEVELS = pytest.mark.parametrize("native", [False, True], ids=["interpreter", "machine code"])


# -- the table of intrinsics -----------------------------------------------------------------------------------------


def _kernel(row: Intrinsic) -> str:
    """@main runs one intrinsic once."""
    names = "abcd"[: len(row.operands)]
    vectors = [cast("VectorType[Any]", t) for t in (*row.operands, row.result)]
    types = [f"memref<{v.get_shape()[0]}x{v.element_type}>" for v in vectors]
    given = ", ".join(f"%{n}: {t}" for n, t in zip([*names, "o"], types, strict=True))
    loads = "\n".join(
        f"  %v{n} = tir.load %{n}[lane] : {t}, {v}" for n, t, v in zip(names, types, row.operands, strict=False)
    )
    operands = ", ".join(f"%v{n}" for n in names)
    signature = f"({', '.join(map(str, row.operands))}) -> {row.result}"
    return f"""
tir.func @k({given}) {{
{loads}
  %r = tir.intrinsic "{row.name}"({operands}) : {signature}
  tir.store %r, %o[lane] : {types[-1]}, {row.result}
}}
func.func @main({given}) attributes {{lamina.outputs = 1 : i64}} {{
  tir.call @k({", ".join("%" + n for n in [*names, "o"])}) : {", ".join(types)}
  func.return
}}
"""


def _draw(generator: np.random.Generator, type_: Any) -> Array:
    lanes, name = type_.get_shape()[0], dtype_name(type_.element_type)
    dtype = numpy_dtype(name)
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return cast(Array, generator.integers(limits.min, limits.max, lanes, endpoint=True)).astype(dtype)
    # Also numbers so small that they or their products are denormal.
    reach = 120 if name != "float64" else 300
    powers = cast(Array, generator.integers(-reach, 30, lanes))
    return cast(Array, generator.standard_normal(lanes) * 2.0**powers).astype(dtype)


@pytest.mark.parametrize("name", list(INTRINSICS))
def test_an_intrinsic_means_what_the_machine_does(name: str) -> None:
    row = INTRINSICS[name]
    needs(*row.features)
    module, context = cases.parsed(_kernel(row))
    run_pipeline(module, context, parse_pipeline("tir-plan-memory,tir-to-llvm"))
    generator = np.random.default_rng(0)
    from lamina.runtime.compiled import load_module

    machine = load_module(module, None)
    for _ in range(50):
        operands = [_draw(generator, t) for t in row.operands]
        (found,) = machine.run(dict(zip("abcd", operands, strict=False))).values()
        np.testing.assert_array_equal(found, row.meaning(*operands), strict=True)


def test_a_bitcast_keeps_bytes_in_memory_order() -> None:
    text = """
    tir.func @f(%a: memref<8xui8>, %o: memref<2xi32>) {
      %x = tir.load %a[lane] : memref<8xui8>, vector<8xi8>
      %y = tir.bitcast %x : vector<8xi8> to vector<2xi32>
      tir.store %y, %o[lane] : memref<2xi32>, vector<2xi32>
    }"""
    module, context = cases.parsed(text)
    (found,) = run_module(module, context, "f", [np.arange(8, dtype=np.uint8)]).values()
    np.testing.assert_array_equal(found, [0x03020100, 0x07060504])


# -- what is built in ------------------------------------------------------------------------------------------------


@LEVELS
@pytest.mark.parametrize("m, n, k", [(1, 16, 4), (3, 32, 20), (5, 48, 64)])
def test_int8_dots_make_a_product(m: int, n: int, k: int, native: bool) -> None:
    if native:
        needs(VNNI)
    generator = np.random.default_rng(1)
    a = generator.integers(0, 256, (m, k)).astype(np.uint8)
    w = generator.integers(-128, 128, (n // 16, k // 4, 16, 4)).astype(np.int8)
    plain = w.transpose(1, 3, 0, 2).reshape(k, n).astype(np.int32)
    found = cases.run(cases.int8_product(m, n, k), {"A": a, "W": w}, native)
    np.testing.assert_array_equal(found, a.astype(np.int32) @ plain, strict=True)


@LEVELS
def test_int8_dots_make_a_convolution_that_equals_the_unscheduled_one(native: bool) -> None:
    if native:
        needs(VNNI)
    generator = np.random.default_rng(2)
    a = generator.integers(0, 256, (5, 6, 8)).astype(np.uint8)
    w = generator.integers(-128, 128, (2, 3, 3, 2, 16, 4)).astype(np.int8)
    shape = (5, 6, 8, 32, 3)
    found = cases.run(cases.int8_convolution(*shape), {"A": a, "W": w}, native)
    plain = cases.run(cases.int8_convolution(*shape, tensorized=False), {"A": a, "W": w}, native)
    windows = np.lib.stride_tricks.sliding_window_view(a.astype(np.int32), (3, 3), axis=(0, 1))  # type: ignore[call-overload]
    filters = w.transpose(1, 2, 3, 5, 0, 4).reshape(3, 3, 8, 32).astype(np.int32)
    np.testing.assert_array_equal(plain, np.einsum("yxcrs,rscf->yxf", windows, filters))
    np.testing.assert_array_equal(found, plain, strict=True)


@LEVELS
@pytest.mark.parametrize("m, n, k", [(1, 16, 2), (3, 32, 20)])
def test_bf16_dots_make_a_product(m: int, n: int, k: int, native: bool) -> None:
    if native:
        needs("avx512bf16")
    generator = np.random.default_rng(3)
    dtype = numpy_dtype("bfloat16")
    a = generator.standard_normal((m, k)).astype(dtype)
    w = generator.standard_normal((n // 16, k // 2, 16, 2)).astype(dtype)
    plain = w.transpose(1, 3, 0, 2).reshape(k, n).astype(np.float64)
    found = cases.run(cases.bf16_product(m, n, k), {"A": a, "W": w}, native)
    np.testing.assert_allclose(found, a.astype(np.float64) @ plain, rtol=1e-5, atol=1e-5)


@LEVELS
@pytest.mark.parametrize("tile", [(1, 16, 1), (2, 8, 3), (6, 64, 8), (14, 32, 12)])
def test_register_tiles_make_a_product(tile: tuple[int, int, int], native: bool) -> None:
    m, n, k = 2 * tile[0], 2 * tile[1], 3 * tile[2]
    generator = np.random.default_rng(4)
    a, b = (generator.integers(-8, 9, s).astype(np.float32) for s in ((m, k), (k, n)))
    found = cases.run(cases.float_product(m, n, k, tile), {"A": a, "B": b}, native)
    np.testing.assert_array_equal(found, a @ b, strict=True)


def test_every_intrinsic_of_the_tree_is_found_and_does_what_it_says() -> None:
    """Declarations are checked when they are looked up; a family is tried with small numbers."""
    _, context = cases.parsed("")
    names = [re.sub(r"MxNxK$", "2x16x3", n) for n in context.intrinsic_names()]
    assert {"cpu.vnni_u8s8s32_16x4", "cpu.bf16_dot_16x2", "cpu.fma_tile_2x16x3"} <= set(names)
    for name in names:
        from lamina.passes.nests.intrinsics import IntrinsicTable
        from lamina.passes.te_to_tir import lower_function

        assert IntrinsicTable({}, context, lower_function)(name).name == name


def test_parameters_that_a_family_does_not_have() -> None:
    with pytest.raises(InputError, match="fma_tile_4x12x4: a tile has rows, steps, and columns in vectors of 8 or 16"):
        cases.run(cases.float_product(4, 12, 4, (4, 12, 4)), {}, False)


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

    from lamina.context import LaminaContext
    from lamina.passes.te_to_tir import lower_function
    from lamina.passes.tir.lower_blocks import LowerBlocksPass

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


def test_a_body_too_large_to_compare_is_refused_in_bounded_time() -> None:
    """Each commutative op doubles the ways in which two bodies may be the same."""
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
    from lamina.dialects.tir.nest import ScheduleError, stage_loops
    from lamina.dialects.tir.ops import FuncOp as Kernel
    from lamina.dialects.tir.tensorize import tensorize
    from lamina.passes.nests.intrinsics import lower_intrinsic
    from lamina.passes.te_to_tir import lower_function

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


# -- from Python -------------------------------------------------------------------------------------------------------


def test_an_intrinsic_made_in_python() -> None:
    """`implementation` and `BodyBuilder` write what text would say; what the layout asks for is kept."""
    from lamina.dialects.te.scheduling import Schedule

    text = cases.program(
        {"A": "tensor<3x4xf32>"},
        "tensor<3x4xf32>",
        '  %C = te.compute "C" [3, 4] (%i, %j) : tensor<3x4xf32> {\n    %x = te.read %A[%i, %j] : tensor<3x4xf32>\n'
        "    %y = arith.mulf %x, %x : f32\n    te.yield %y : f32\n  }",
        "",
    )
    module, context = cases.parsed(text)
    described = """te.func @desc(%a: tensor<4xf32>) -> tensor<4xf32> {
      %c = te.compute "c" [4] (%i) : tensor<4xf32> {
        %x = te.read %a[%i] : tensor<4xf32>
        %y = arith.mulf %x, %x : f32
        te.yield %y : f32
      }
      te.return %c : tensor<4xf32>
    }"""
    other, _ = cases.parsed(described)
    desc = other.body.block.first_op
    assert isinstance(desc, FuncOp)
    desc.detach()
    set_layout(desc, 0, [1], offset_factor=4)
    set_layout(desc, 1, [1])

    def write(b: BodyBuilder) -> None:
        x = b.load(b["a"], [LANES], 4)
        b.store(b.compute(arith.MulfOp, x, x), b["c"], [LANES])

    declared = TensorIntrinOp.make("square", desc, [implementation(desc, "body", write)])
    declared.verify()
    assert "te.offset_factor = 4 : i64" in str(declared) and "te.strides = array<i64: 1>" in str(declared)
    assert f"vector<4x{f32}>" in str(declared)
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    s = Schedule(func)
    _, j = s.loops("C")
    s.tensorize(j, "square")
    module.body.block.insert_op_after(s.build(), func)
    module.body.block.insert_op_after(declared, func)
    run_pipeline(module, context, parse_pipeline("te-to-tir"))
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    (found,) = run_module(module, context, "main", {"A": a}).values()
    np.testing.assert_array_equal(found, a * a)
    assert "vector<4xf32>" in str(module)


# -- random nests and descriptions -------------------------------------------------------------------------------------


class RandomContraction:
    """C[i, j] += A[...] * B[...] over k, tiled; indices in any order, shifted, spread; loops in any order."""

    def __init__(self, seed: int) -> None:
        r = self.r = random.Random(seed)
        self.tile = {v: r.choice([1, 2, 3]) for v in "ijk"}
        self.count = {v: r.choice([1, 2]) for v in "ijk"}
        self.extent = {v: self.tile[v] * self.count[v] for v in "ijk"}
        self.reads: dict[str, tuple[str, list[int]]] = {}
        index: dict[str, str] = {}
        for buffer, dims in {"A": "ik", "B": "kj"}.items():
            order = list(dims)
            r.shuffle(order)
            spread = {v: r.choice([1, 1, 2]) for v in dims}
            shift = {v: r.choice([0, 0, 1]) for v in dims}
            shape = [(self.extent[v] - 1) * spread[v] + shift[v] + 1 for v in order]
            index[buffer] = ", ".join(f"%{v} * {spread[v]} + {shift[v]}" for v in order)
            self.reads[buffer] = (index[buffer], shape)

    def text(self, described_by: dict[str, int]) -> str:
        r = self.r
        types = {n: f"tensor<{'x'.join(map(str, shape))}xi32>" for n, (_, shape) in self.reads.items()}
        result = f"tensor<{self.extent['i']}x{self.extent['j']}xi32>"
        factors = ["%x, %y", "%y, %x"]
        extents = f"[{self.extent['i']}, {self.extent['j']}] sum [{self.extent['k']}]"
        compute = f"""  %C = te.compute "C" {extents} (%i, %j, %k) : {result} {{
    %x = te.read %A[{self.reads["A"][0]}] : {types["A"]}
    %y = te.read %B[{self.reads["B"][0]}] : {types["B"]}
    %p = arith.muli {r.choice(factors)} : i32
    te.yield %p : i32
  }}"""
        outer, inner = [f"%{v}o" for v in "ijk"], [f"%{v}i" for v in "ijk"]
        r.shuffle(outer)
        r.shuffle(inner)
        schedule = '  %i, %j, %k = te.loops "C" [3]\n' + "".join(
            f"  %{v}o, %{v}i = te.split %{v} [-1, {self.tile[v]}]\n" for v in "ijk"
        )
        schedule += f"  te.reorder {', '.join(outer + inner)}\n"
        if r.random() < 0.3:
            schedule += f'  te.decompose_reduction "C" at {outer[0]}\n'
        schedule += f"  te.tensorize {inner[0]} @tile"
        return cases.program(types, result, compute, schedule, self.declaration(described_by, r.choice(factors)))

    def declaration(self, tile: dict[str, int], factors: str) -> str:
        a, b, c = f"{tile['i']}x{tile['k']}xi32", f"{tile['k']}x{tile['j']}xi32", f"{tile['i']}x{tile['j']}xi32"
        loops = "".join(f'tir.for %{v} = 0 to {tile[v]} {"reduction " * (v == "k")}"{v}" {{\n' for v in "ikj")
        return f"""te.tensor_intrin @tile {{
  te.func @desc(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{c}> {{
    %c = te.compute "c" [{tile["i"]}, {tile["j"]}] sum [{tile["k"]}] (%i, %j, %k) : tensor<{c}> {{
      %x = te.read %a[%i, %k] : tensor<{a}>
      %y = te.read %b[%k, %j] : tensor<{b}>
      %p = arith.muli {factors} : i32
      te.yield %p : i32
    }}
    te.return %c : tensor<{c}>
  }}
  tir.func @update(%a: memref<{a}>, %b: memref<{b}>, %c: memref<{c}>) {{
    {loops}
      %x = tir.load %a[%i, %k] : memref<{a}>
      %y = tir.load %b[%k, %j] : memref<{b}>
      %p = arith.muli %x, %y : i32
      %acc = tir.load %c[%i, %j] : memref<{c}>
      %s = arith.addi %acc, %p : i32
      tir.store %s, %c[%i, %j] : memref<{c}>
    }} }} }}
  }}
}}"""


@pytest.mark.parametrize("seed", range(40))
def test_random_contractions_keep_their_values(seed: int) -> None:
    drawn = RandomContraction(seed)
    text = drawn.text(drawn.tile)
    module, context = cases.parsed(text)
    func = next(op for op in module.ops if isinstance(op, FuncOp)).clone()
    run_pipeline(module, context, parse_pipeline("te-to-tir"))
    kernel: Any = next(op for op in module.ops if op.name == "tir.func")
    assert any(TENSORIZED in o.attributes for o in kernel.walk() if isinstance(o, BlockOp))
    generator = np.random.default_rng(seed)
    arrays = [generator.integers(-9, 10, s).astype(np.int32) for _, s in drawn.reads.values()]
    np.testing.assert_array_equal(run_tir_func(kernel, arrays)[0], run_te_func(func, arrays)[0])


@pytest.mark.parametrize("seed", range(20))
def test_random_contractions_with_a_tile_of_another_size_are_refused(seed: int) -> None:
    drawn = RandomContraction(seed)
    wrong = dict(drawn.tile)
    wrong[drawn.r.choice("ijk")] += 1
    module, context = cases.parsed(drawn.text(wrong))
    with pytest.raises(InputError, match="its loops are"):
        run_pipeline(module, context, parse_pipeline("te-to-tir"))

"""te.tensorize: built-in intrinsics against NumPy and the machine, intrinsics made in Python, random nests."""

from __future__ import annotations

import random
import re
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, f32

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.schedule.nest.edits import TENSORIZED
from lamina.dialects.schedule.ops import TensorIntrinOp
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.tensor_intrin import implementation, set_layout
from lamina.dialects.tir.body_builder import LANES, BodyBuilder
from lamina.dialects.tir.intrinsics import INTRINSICS, Intrinsic
from lamina.dialects.tir.ops import BlockOp
from lamina.driver.execute import run_module
from lamina.errors import InputError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.pipeline import parse_pipeline, run_pipeline

from . import tensorize_cases as cases
from .host_features import needs

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, Any]
VNNI = "avx512vnni"


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
    from lamina.runtime.llvm_module import load_module

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
        from lamina.passes.te_to_tir.intrinsics import IntrinsicTable
        from lamina.passes.te_to_tir.te_to_tir import lower_function

        assert IntrinsicTable({}, context, lower_function)(name).name == name


def test_parameters_that_a_family_does_not_have() -> None:
    with pytest.raises(InputError, match="fma_tile_4x12x4: a tile has rows, steps, and columns in vectors of 8 or 16"):
        cases.run(cases.float_product(4, 12, 4, (4, 12, 4)), {}, False)


# -- from Python -------------------------------------------------------------------------------------------------------


def test_an_intrinsic_made_in_python() -> None:
    """`implementation` and `BodyBuilder` write what text would say; what the layout asks for is kept."""
    from lamina.dialects.schedule.build import Schedule

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

"""Every row of the emitter's table is emitted, compiled, run and compared with numpy; what has no row is refused."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, TensorType, UnitAttr, f32
from xdsl.dialects.test import Test
from xdsl.parser import Parser

from lamina.backends.cpu.jit import CompileError, JitLibrary, assembly, compile_object, named_target
from lamina.backends.cpu.link import load_objects
from lamina.backends.llvm.emit import EmitError, emit_kernels, emit_module
from lamina.backends.llvm.emit_rows import CALLABLE, ROWS
from lamina.backends.llvm.emit_special import SPECIAL
from lamina.dialects.llvm_target import LLVM
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.target import LAMINA

from .llvm_cases import DTYPES, Case
from .llvm_memory_cases import CASES

pytestmark = pytest.mark.slow

TARGET = named_target("x86-64")
BASELINE = "\n".join(
    (
        "llvm.func internal @twice(%x: i32) -> i32 attributes {no_inline, no_unwind} {",
        "  %y = llvm.add %x, %x : i32",
        "  llvm.return %y : i32",
        "}",
        "llvm.mlir.global internal constant @numbers(dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>)"
        " {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x array<3 x i32>>",
        "llvm.mlir.global internal constant @table() {addr_space = 0 : i32} : !llvm.struct<(i64, ptr)> {",
        "  %0 = llvm.mlir.undef : !llvm.struct<(i64, ptr)>",
        "  %1 = llvm.mlir.addressof @twice : !llvm.ptr",
        "  %2 = llvm.insertvalue %1, %0[1] : !llvm.struct<(i64, ptr)>",
        "  llvm.return %2 : !llvm.struct<(i64, ptr)>",
        "}",
    )
)
MLIR_OPT = shutil.which("mlir-opt") or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, LLVM, LAMINA, Test):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def function_of(case: Case, name: str) -> str:
    """%out and a pointer for each input; loads, the case's lines, a store of %r."""
    names = "abc"[: len(case.inputs)]
    arguments = "".join(f", %{n}.p: !llvm.ptr" for n in names)
    loads = "\n".join(
        f"%{n} = llvm.load %{n}.p {{alignment = 1 : i64}} : !llvm.ptr -> {type_}"
        for n, (type_, _) in zip(names, case.inputs, strict=True)
    )
    return (
        f"llvm.func @{name}(%out: !llvm.ptr {{llvm.align = 64 : i64}}{arguments}) {{\n{loads}\n{case.lines}\n"
        f"llvm.store %r, %out {{alignment = 1 : i64}} : {case.result}, !llvm.ptr\nllvm.return\n}}\n"
    )


def dtype_of(type_: str) -> Any:
    return DTYPES[type_.rsplit("x", 1)[-1].rstrip(">") if type_.startswith("vector") else type_]


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    return parse(BASELINE + "\n".join(function_of(case, f"case{i}") for i, case in enumerate(CASES)))


@pytest.fixture(scope="module")
def library(module: ModuleOp) -> JitLibrary:
    return load_objects([compile_object(emit_module(module, TARGET), TARGET)])


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name.replace(" ", "") for case in CASES])
def test_row_runs_as_numpy_says(library: JitLibrary, number: int) -> None:
    case = CASES[number]
    inputs = [np.ascontiguousarray(np.asarray(value), dtype_of(type_)) for type_, value in case.inputs]
    dtype = dtype_of(case.result)
    expected = np.atleast_1d(np.asarray(case.expected)).astype(dtype)
    space = np.zeros(256, np.uint8)
    start = -space.ctypes.data % 64
    call = library.function(f"case{number}", None, *[ctypes.c_void_p] * (1 + len(inputs)))
    call(space.ctypes.data + start, *(a.ctypes.data for a in inputs))
    got = space[start : start + expected.nbytes].view(dtype)
    if case.tolerance:
        np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=case.tolerance)
    else:
        np.testing.assert_array_equal(got, expected)
        if dtype in (np.float32, np.float64):
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))


def test_the_cases_cover_the_table(module: ModuleOp) -> None:
    used = {type(op) for op in module.walk()}
    wanted = {*ROWS, *SPECIAL, llvm.ConstantOp, llvm.AddressOfOp, llvm.UndefOp, llvm.PoisonOp, llvm.ZeroOp}
    assert {op.name for op in wanted - used} == set()
    dialect = set(LLVM.operations)
    assert {op.name for op in dialect - wanted} == {"llvm.func", "llvm.mlir.global"}


def test_the_cases_verify_and_round_trip(module: ModuleOp) -> None:
    module.verify()
    text = str(module)
    assert str(parse(text)) == text
    assert emit_module(parse(text), TARGET) == emit_module(module, TARGET)


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed (Debian package mlir-22-tools)")
def test_mlir_opt_reads_our_text(module: ModuleOp, tmp_path: Path) -> None:
    assert MLIR_OPT is not None
    path = tmp_path / "cases.mlir"
    path.write_text(str(module))
    done = subprocess.run([MLIR_OPT, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert str(parse(done.stdout)) == str(parse(str(parse(done.stdout))))


def test_target_intrinsics_are_gated_by_feature() -> None:
    text = (
        "llvm.func @f(%a: vector<16xi32>, %b: vector<64xi8>) -> vector<16xi32> {\n"
        '%r = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%a, %b, %b)'
        " : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>\n"
        "llvm.return %r : vector<16xi32>\n}"
    )
    with pytest.raises(EmitError, match="avx512vnni"):
        emit_module(parse(text), named_target("x86-64-v4"))
    v4 = named_target("x86-64-v4")
    vnni = type(v4).get(v4.triple.data, "znver4", v4.features.data + ",+avx512vnni", 512, 32)
    assert "vpdpbusd" in assembly(emit_module(parse(text), vnni), vnni)
    free = [n for n, s in CALLABLE.items() if not (s.features or s.overload or s.triple)]
    assert not free


@pytest.mark.parametrize("rounding", ["4", "77"])
def test_settings_of_intrinsics_are_those_that_llvm_can_select(rounding: str) -> None:
    vector = "vector<16xf32>"
    text = (
        f"llvm.func @f(%a: {vector}) -> {vector} {{\n"
        f"%none = llvm.mlir.constant(dense<0.0> : {vector}) : {vector}\n"
        "%all = llvm.mlir.constant(-1 : i16) : i16\n"
        f"%rounding = llvm.mlir.constant({rounding} : i32) : i32\n"
        '%r = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%a, %a, %none, %all, %rounding)'
        f" : ({vector}, {vector}, {vector}, i16, i32) -> {vector}\n"
        f"llvm.return %r : {vector}\n}}"
    )
    v4 = named_target("x86-64-v4")
    if rounding == "4":
        assert "vscalefps" in assembly(emit_module(parse(text), v4), v4)
    else:
        with pytest.raises(EmitError, match="the last arguments of .* are <16 x float> zeroinitializer, i16 -1, i32 4"):
            emit_module(parse(text), v4)


def test_intrinsics_of_another_machine_are_refused() -> None:
    text = (
        "llvm.func @f() -> i32 {\n"
        '%r = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32\n'
        "llvm.return %r : i32\n}"
    )
    with pytest.raises(EmitError, match="'llvm.nvvm.read.ptx.sreg.tid.x' exists on nvptx64 only"):
        emit_module(parse(text), TARGET)


def test_memory_without_an_initial_value() -> None:
    text = (
        "llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x f32> {\n"
        "%u = llvm.mlir.poison : !llvm.array<4096 x f32>\nllvm.return %u : !llvm.array<4096 x f32>\n}"
    )
    assert "@s = internal addrspace(3) global [4096 x float] poison, align 16\n" in emit_module(parse(text), TARGET)


def test_memory_of_another_module() -> None:
    text = "llvm.mlir.global external @there() : i32\nllvm.mlir.global external @here(7 : i32) : i32"
    written = emit_module(parse(text), TARGET)
    assert "@there = external global i32\n" in written and "@here = global i32 7\n" in written


def body(lines: str, arguments: str = "%a: f32, %i: i32, %p: !llvm.ptr") -> str:
    return f"llvm.func @f({arguments}) {{\n{lines}\nllvm.return\n}}"


REFUSED = {
    "an op without a row": (body('"test.op"() : () -> ()'), "op 'test.op' has no row"),
    "an attribute without a row": (body("%r = llvm.fadd %a, %a {surprise} : f32"), "attribute 'surprise'"),
    "a property without a row": (
        body('%r = "llvm.fadd"(%a, %a) <{surprise = 1 : i32}> : (f32, f32) -> f32'),
        "surprise",
    ),
    "an unknown intrinsic": (
        body('%r = llvm.call_intrinsic "llvm.x86.no.such"(%a) : (f32) -> f32'),
        "intrinsic 'llvm.x86.no.such' has no row",
    ),
    "an unknown function attribute": (
        'llvm.func @f() attributes {passthrough = ["fast"]} {\nllvm.return\n}',
        'function attribute "fast" has no row',
    ),
    "an unknown function property": ("llvm.func @f() attributes {shiny} {\nllvm.return\n}", "'shiny' has no row"),
    "an unknown argument attribute": ("llvm.func @f(%a: f32 {llvm.shiny}) {\nllvm.return\n}", "'llvm.shiny'"),
    "an unknown calling convention": ("llvm.func swiftcc @f() {\nllvm.return\n}", "swiftcc has no row"),
    "an unknown global attribute": (
        "llvm.mlir.global internal @g(1 : i32) {addr_space = 0 : i32, shiny} : i32",
        "'shiny' has no row",
    ),
    "a call of nothing": (body("%r = llvm.call @nothing() : () -> f32"), "@nothing"),
    "a call that does not fit": (
        "llvm.func @g(i32) -> f32\n" + body("%r = llvm.call @g(%a) : (f32) -> f32"),
        "does not fit its type",
    ),
    "a constant of another type": (body("%r = llvm.mlir.constant(1 : i32) : i64"), "is not of type i64"),
    "numbers of another type": (
        body("%r = llvm.mlir.constant(dense<[1.0, 2.0]> : vector<2xf32>) : vector<2xi32>"),
        "dense constant of 2 x f32 is not of type vector<2xi32>",
    ),
    "more numbers than there are elements": (
        body("%r = llvm.mlir.constant(dense<[1, 2, 3]> : tensor<3xi32>) : !llvm.array<2 x i32>"),
        "dense constant of 3 x i32 is not of type !llvm.array<2 x i32>",
    ),
    "numbers for a single one": (
        body("%r = llvm.mlir.constant(dense<1> : tensor<i32>) : i32"),
        "dense constant of 1 x i32 is not of type i32",
    ),
    "an odd alignment": (body("%r = llvm.load %p {alignment = 3 : i64} : !llvm.ptr -> f32"), "power of two"),
    "an alignment of zero": (body("%r = llvm.load %p {alignment = 0 : i64} : !llvm.ptr -> f32"), "power of two"),
    "an op outside of functions": ('"test.op"() : () -> ()', "at the top of an llvm module"),
    "two symbols of one name": ("llvm.func @f()\nllvm.func @f()", "defined twice"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused(name: str) -> None:
    text, message = REFUSED[name]
    with pytest.raises(EmitError) as caught:
        emit_module(parse(text), TARGET)
    assert message in caught.value.what


def test_a_property_off_the_table_is_refused() -> None:
    module = parse(body("%r = llvm.fadd %a, %a : f32"))
    add = next(op for op in module.walk() if isinstance(op, llvm.FAddOp))
    add.properties["loop_annotation"] = UnitAttr()
    with pytest.raises(EmitError, match="llvm.fadd: property 'loop_annotation' has no row"):
        emit_module(module, TARGET)


def test_operands_that_do_not_fit_are_refused_not_dropped() -> None:
    module = parse(body("%r = llvm.fadd %a, %a : f32\n%s = llvm.intr.sqrt(%a) : (f32) -> f32"))
    for op in list(module.walk()):
        if isinstance(op, llvm.FAddOp | llvm.FSqrtOp):
            broken = parse(body("%r = llvm.fadd %a, %a : f32\n%s = llvm.intr.sqrt(%a) : (f32) -> f32"))
            victim = next(o for o in broken.walk() if type(o) is type(op))
            victim.operands = [*victim.operands, victim.operands[0]]
            with pytest.raises(EmitError):
                emit_module(broken, TARGET)


def test_a_block_without_terminator_is_refused() -> None:
    module = parse(body(""))
    func = module.body.block.first_op
    assert isinstance(func, llvm.FuncOp)
    last = func.body.block.last_op
    assert last is not None
    last.detach()
    with pytest.raises(EmitError, match="does not end with a jump or return"):
        emit_module(module, TARGET)


def test_llvm_own_refusal_is_an_exception() -> None:
    with pytest.raises(CompileError, match="LLVM refuses"):
        compile_object("define void @f() {\n  ret i32 0\n}\n", TARGET)


def test_function_attributes_reach_llvm() -> None:
    text = """
    llvm.func fastcc @f(%p: !llvm.ptr {llvm.noalias, llvm.align = 64 : i64, llvm.nonnull, llvm.readonly, llvm.noundef},
                        %q: !llvm.ptr {llvm.dereferenceable = 8 : i64, llvm.nocapture}) -> (i8 {llvm.signext})
        attributes {passthrough = ["noinline", ["alignstack", "64"], "stackrealign"], no_unwind, dso_local} {
      %0 = llvm.load %p : !llvm.ptr -> i8
      llvm.return %0 : i8
    }"""
    shown = emit_module(parse(text), named_target("x86-64-v4"))
    assert "define dso_local fastcc signext i8 @f(ptr noalias align 64 nonnull readonly noundef %0" in shown
    assert "ptr dereferenceable(8) captures(none) %1) #0" in shown
    assert 'noinline alignstack=64 "stackrealign" nounwind' in shown
    assert '"target-cpu"="x86-64-v4"' in shown and '"prefer-vector-width"="512"' in shown
    compile_object(shown, named_target("x86-64-v4"))


def test_kernels_come_apart_and_link(module: ModuleOp) -> None:
    source = parse(
        BASELINE
        + """
        llvm.mlir.global constant @shared(7 : i32) {addr_space = 0 : i32} : i32
        llvm.func @one(%x: i32) -> i32 { %y = llvm.call @twice(%x) : (i32) -> i32 llvm.return %y : i32 }
        llvm.func @two(%x: i32) -> i32 {
          %y = llvm.call @one(%x) : (i32) -> i32
          %p = llvm.mlir.addressof @shared : !llvm.ptr
          %v = llvm.load %p : !llvm.ptr -> i32
          %z = llvm.add %y, %v : i32
          llvm.return %z : i32
        }"""
    )
    pieces = dict(emit_kernels(source, TARGET))
    assert list(pieces) == ["one", "two", ""]
    assert "define internal i32 @twice" in pieces["one"] and "twice" not in pieces["two"]
    library = load_objects([compile_object(text, TARGET) for text in pieces.values()])
    assert library.function("two", ctypes.c_int32, ctypes.c_int32)(4) == 15


def test_an_internal_variable_shared_by_two_kernels_is_refused() -> None:
    use = "{ %p = llvm.mlir.addressof @g : !llvm.ptr llvm.return }"
    head = "llvm.mlir.global internal @g(1 : i32) {addr_space = 0 : i32} : i32"
    text = f"{head}\nllvm.func @a() {use}\nllvm.func @b() {use}"
    with pytest.raises(EmitError, match="used by two functions"):
        dict(emit_kernels(parse(text), TARGET))


def test_a_type_without_a_row_is_refused() -> None:
    module = parse(body("%r = llvm.freeze %a : f32"))
    op = next(op for op in module.walk() if isinstance(op, llvm.FreezeOp))
    op.detach()
    broken = llvm.FreezeOp.create(operands=op.operands, result_types=[TensorType(f32, [4])])
    func = module.body.block.first_op
    assert isinstance(func, llvm.FuncOp)
    func.body.block.insert_op_before(broken, func.body.block.first_op)  # type: ignore[arg-type]
    with pytest.raises(EmitError, match="type tensor<4xf32> has no row"):
        emit_module(module, TARGET)


def test_sixteen_bit_floats_without_their_instructions() -> None:
    """Every half, and floats near every rounding border, as numpy and ml_dtypes convert them."""
    text = "".join(
        f"""
        llvm.func @{name}(%from: !llvm.ptr, %to: !llvm.ptr, %n: i64) {{
          %zero = llvm.mlir.constant(0 : i64) : i64
          %one = llvm.mlir.constant(1 : i64) : i64
          llvm.br ^next(%zero : i64)
        ^next(%i: i64):
          %p = llvm.getelementptr %from[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {source}
          %q = llvm.getelementptr %to[%i] : (!llvm.ptr, i64) -> !llvm.ptr, {result}
          %x = llvm.load %p : !llvm.ptr -> {source}
          %y = llvm.{op} %x : {source} to {result}
          llvm.store %y, %q : {result}, !llvm.ptr
          %j = llvm.add %i, %one : i64
          %more = llvm.icmp "slt" %j, %n : i64
          llvm.cond_br %more, ^next(%j : i64), ^done
        ^done:
          llvm.return
        }}"""
        for name, op, source, result in (
            ("extend", "fpext", "f16", "f32"),
            ("half", "fptrunc", "f32", "f16"),
            ("bfloat", "fptrunc", "f32", "bf16"),
            ("half64", "fptrunc", "f64", "f16"),
            ("bfloat64", "fptrunc", "f64", "bf16"),
        )
    )
    library = load_objects([compile_object(emit_module(parse(text), TARGET), TARGET)])

    def convert(name: str, values: Any, dtype: Any) -> Any:
        result = np.empty(len(values), dtype)
        call = library.function(name, None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        call(values.ctypes.data, result.ctypes.data, len(values))
        return result

    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(convert("extend", halves, np.float32), halves.astype(np.float32))
    rng = np.random.default_rng(7)
    bits = np.concatenate(
        [rng.integers(0, 2**32, 200_000, np.uint32), (np.arange(2**16, dtype=np.uint32) << 16) + 0x8000]
    )
    halfway = halves[np.isfinite(halves)].astype(np.float32).view(np.uint32) + 0x1000
    floats = np.concatenate([bits, halfway, halfway + 1, halfway - 1]).view(np.float32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(convert("half", floats, np.float16), floats.astype(np.float16))
        bfloat = DTYPES["bf16"]
        np.testing.assert_array_equal(
            convert("bfloat", floats, bfloat).astype(np.float32), floats.astype(bfloat).astype(np.float32)
        )
        doubles = np.concatenate([floats.astype(np.float64), floats.astype(np.float64) * (1 + 2.0**-40)])
        np.testing.assert_array_equal(convert("half64", doubles, np.float16), doubles.astype(np.float16))
        # A double just off the middle of two bfloats rounds by its last digits.
        just = np.array([1 + 2.0**-8 + 2.0**-50, 1 + 2.0**-8 - 2.0**-50, 1 + 2.0**-8, 1 + 3 * 2.0**-8], np.float64)
        expected = np.array([1 + 2.0**-7, 1, 1, 1 + 2.0**-6], np.float64)
        np.testing.assert_array_equal(convert("bfloat64", just, bfloat).astype(np.float64), expected)

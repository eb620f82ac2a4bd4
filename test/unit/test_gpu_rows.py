"""Every op that CUDA C and PTX have a row for, on every type: the text computes what the tir interpreter says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.backends import cuda, nvptx
from lamina.backends.c.rows import CMPF, CMPI
from lamina.backends.cuda.rows import BITCASTS, ROWS
from lamina.dialects.index.linear import Linear
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import LoadOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.errors import InputError
from lamina.interpreters.tir_interpreter import run_tir_func

from . import gpu_on_cpu
from .test_gpu_backends import NVCC, PTXAS, assembled

pytestmark = pytest.mark.slow

COUNT = 64
FLOATS: dict[str, Attribute] = {"f32": Float32Type(), "f64": Float64Type()}
HALVES: dict[str, Attribute] = {"f16": Float16Type(), "bf16": BFloat16Type()}
INTEGERS: dict[str, Attribute] = {f"i{n}": IntegerType(n) for n in (8, 16, 32, 64)}
BIT = IntegerType(1)

WIDENS = {arith.ExtSIOp, arith.ExtUIOp}
TO_INTEGER = {arith.FPToSIOp, arith.FPToUIOp}
TO_FLOAT = {arith.SIToFPOp, arith.UIToFPOp}
LOGICAL = {arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp}


def _arity(cls: type[Operation]) -> int:
    return len(cls.get_irdl_definition().operands)  # type: ignore[attr-defined]


def cases() -> dict[str, tuple[type[Operation], list[Attribute], Attribute, dict[str, Attribute]]]:
    """(op, types of the operands, type of the result, properties) by name."""
    found: dict[str, tuple[type[Operation], list[Attribute], Attribute, dict[str, Attribute]]] = {}

    def add(cls: type[Operation], operands: list[Attribute], result: Attribute, tag: str = "", **more: Any) -> None:
        types = "_".join(str(t) for t in [*operands, result])
        found[f"{cls.name.replace('.', '_')}_{tag}{types}"] = (cls, operands, result, more)

    every = {**FLOATS, **HALVES}
    for cls, row in ROWS.items():
        if cls is arith.IndexCastOp:
            continue
        if cls is arith.SelectOp:
            for t in [*every.values(), *INTEGERS.values()]:
                add(cls, [BIT, t, t], t)
        elif cls in WIDENS:
            add(cls, [BIT], INTEGERS["i32"])
            for a, b in (("i8", "i32"), ("i16", "i32"), ("i32", "i64")):
                add(cls, [INTEGERS[a]], INTEGERS[b])
        elif cls is arith.TruncIOp:
            for a, b in (("i32", "i8"), ("i64", "i32")):
                add(cls, [INTEGERS[a]], INTEGERS[b])
            add(cls, [INTEGERS["i32"]], BIT)
        elif cls in TO_INTEGER:
            for f in FLOATS.values():
                for n in ("i8", "i32", "i64"):
                    add(cls, [f], INTEGERS[n])
        elif cls in TO_FLOAT:
            for f in FLOATS.values():
                for n in INTEGERS.values():
                    add(cls, [n], f)
        elif cls is arith.ExtFOp:
            add(cls, [FLOATS["f32"]], FLOATS["f64"])
            add(cls, [HALVES["f16"]], FLOATS["f32"])
        elif cls is arith.TruncFOp:
            add(cls, [FLOATS["f64"]], FLOATS["f32"])
            add(cls, [FLOATS["f32"]], HALVES["bf16"])
        elif row.keys() & {"f", "f32"}:
            for t in every.values():
                add(cls, [t] * _arity(cls), t)
        else:
            for t in [*INTEGERS.values(), *([BIT] if cls in LOGICAL else [])]:
                add(cls, [t] * _arity(cls), t)
    types = {**FLOATS, **INTEGERS}
    for a, b in BITCASTS:
        add(arith.BitcastOp, [types[a]], types[b])
    for n in range(len(CMPI)):
        for t in [*INTEGERS.values(), BIT]:
            add(arith.CmpiOp, [t, t], BIT, f"{n}_", predicate=IntegerAttr(n, i64))
    for n in range(len(CMPF)):
        for t in FLOATS.values():
            add(arith.CmpfOp, [t, t], BIT, f"{n}_", predicate=IntegerAttr(n, i64))
    return found


CASES = cases()


def kernel(name: str, device: bool = True) -> FuncOp:
    """y[t] = op(x0[t], x1[t], ...) by thread t."""
    cls, operands, result, properties = CASES[name]
    func = FuncOp.make(f"k_{name}", [buffer_type([COUNT], t) for t in [*operands, result]], 1)
    if device:
        func.attributes[DEVICE] = UnitAttr()
    loop = ForOp.make(COUNT, "t", kind="serial")
    if device:
        from xdsl.dialects.builtin import StringAttr

        loop.properties |= {"kind": StringAttr("thread"), "thread": StringAttr("threadIdx.x")}
    at = [Linear.dim(loop.var)]
    loads = [LoadOp.make(a, at) for a in func.body.block.args[:-1]]
    values: list[SSAValue] = [load.result for load in loads]
    fast: dict[str, Attribute] = {"fastmath": arith.FastMathFlagsAttr("none")}
    wrapping: dict[str, Attribute] = {"overflowFlags": arith.IntegerOverflowAttr("none")}
    known = cls.get_irdl_definition().properties  # type: ignore[attr-defined]
    defaults = {n: v for n, v in [*fast.items(), *wrapping.items()] if n in known}
    op = cls.create(operands=values, result_types=[result], properties={**defaults, **properties})
    loop.body.block.add_ops([*loads, op, StoreOp.make(op.results[0], func.body.block.args[-1], at)])
    func.body.block.add_op(loop)
    func.verify()
    return func


def samples(name: str) -> list[np.ndarray[Any, Any]]:
    """Values for each operand, at the edges of what the op is defined for."""
    cls, operands, _, _ = CASES[name]
    rng = np.random.default_rng(len(name))
    arrays: list[np.ndarray[Any, Any]] = []
    for n, type_ in enumerate(operands):
        dtype = element_dtype(type_)
        if str(type_).startswith("i"):
            width = int(str(type_)[1:])
            if width == 1:
                arrays.append(rng.integers(0, 2, COUNT).astype(bool))
                continue
            low, high = -(1 << width - 1), (1 << width - 1) - 1
            values = rng.integers(low, high, COUNT, endpoint=True)
            values[:4] = [low, high, 0, -1]
            if cls in (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp) and n == 1:
                values = rng.integers(0, width, COUNT)
            if cls in (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp, arith.FloorDivSIOp) and n == 1:
                values = rng.integers(1, 100, COUNT) * rng.choice([1, -1], COUNT)
                values[:2] = 7  # not the lowest number divided by -1
            arrays.append(values.astype(dtype))
            continue
        values = rng.standard_normal(COUNT) * 3
        if cls in TO_INTEGER:
            values = rng.uniform(0, 100, COUNT)
        else:
            special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5]
            values[:8] = special if n % 2 == 0 else special[::-1]
        arrays.append(values.astype(dtype))
    return arrays


def expected(name: str, inputs: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    return run_tir_func(kernel(name, device=False), inputs)[0]


RUNNABLE = [n for n, (_, operands, result, _) in CASES.items() if not {*operands, result} & set(HALVES.values())]


def launched(name: str) -> ModuleOp:
    """The kernel with a host function that launches it, for the harness."""
    from lamina.dialects.tir.launch import LaunchOp

    inner = kernel(name)
    types = [a.type for a in inner.body.block.args]
    host = FuncOp.make(name, types, 1)
    one, count = Linear(const=1), Linear(const=COUNT)
    host.body.block.add_op(LaunchOp.make(inner.sym_name.data, [one], [count], list(host.body.block.args)))
    return ModuleOp([inner, host])


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_every_row_of_cuda_c_computes_what_the_interpreter_does(tmp_path: Path) -> None:
    modules = {n: launched(n) for n in RUNNABLE}
    texts = {n: (m, cuda.compile_device(m, "sm_90")) for n, m in modules.items()}
    library = gpu_on_cpu.build_cuda(texts, tmp_path)
    wrong: list[str] = []
    for name, module in modules.items():
        inputs = samples(name)
        (got,) = gpu_on_cpu.run(module, library, name, inputs)
        want = expected(name, inputs)
        if not _agree(name, got, want):
            where = np.flatnonzero(got != want)[:4]
            wrong.append(f"{name}: {[i[where] for i in inputs]} gives {got[where]}, not {want[where]}")
    assert not wrong, "\n".join(wrong)


def _agree(name: str, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> bool:
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    if not name.startswith("math_"):
        return np.array_equal(got, want, equal_nan=True) and np.array_equal(
            np.signbit(got[want == 0]), np.signbit(want[want == 0])
        )
    return np.allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-13, atol=1e-30, equal_nan=True)


@pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
def test_nvcc_takes_every_row(tmp_path: Path) -> None:
    """Floats of 16 bits too."""
    path = tmp_path / "rows.cu"
    path.write_text(cuda.compile_device(ModuleOp([kernel(n) for n in CASES]), "sm_80"))
    command = [cast(str, NVCC), "-arch", "sm_80", "-ptx", "-o", str(tmp_path / "rows.ptx"), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]


def test_every_op_has_ptx_or_is_refused_by_name(tmp_path: Path) -> None:
    """LLVM does not end on any of them; ptxas, where installed, takes what it gives."""
    taken: list[FuncOp] = []
    refused: set[str] = set()
    for name in CASES:
        module = ModuleOp([kernel(name)])
        try:
            nvptx.llvm_text(module, "sm_80")
        except InputError as e:
            assert any(words in str(e) for words in ("has no PTX", "which PTX has not", "cannot stand in")), e
            refused.add(CASES[name][0].name)
            continue
        taken.append(kernel(name))
    libm = "sin cos tan asin acos atan sinh cosh asinh acosh atanh log10 powf exp log log2 exp2 tanh erf log1p expm1"
    assert refused <= {f"math.{n}" for n in libm.split()}
    assert len(taken) > 250
    ptx = nvptx.compile_device(ModuleOp(taken), "sm_80")
    assert ptx.count(".entry") == len(taken)
    if PTXAS is not None:
        assembled(ptx, "sm_80", tmp_path)

"""One kernel for each row of a table of scalar ops: operands at the edges of what the op is defined for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.backends.c.rows import CMPF, CMPI
from lamina.dialects.index.linear import Linear
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.tir.checks import DIVISIONS
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.memory import LoadOp, StoreOp, buffer_type
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.interpreters.tir_interpreter import run_tir_func

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


class Case(NamedTuple):
    """An op on scalars of some types."""

    cls: type[Operation]
    operands: list[Attribute]
    result: Attribute
    properties: dict[str, Attribute]


Rows = Mapping[type[Operation], Mapping[str, str]]


def cases(rows: Rows, bitcasts: Iterable[tuple[str, str]]) -> dict[str, Case]:
    """The ops of a table of rows, and conversions of bits, on the types that they are defined for, by name."""
    found: dict[str, Case] = {}

    def add(cls: type[Operation], operands: list[Attribute], result: Attribute, tag: str = "", **more: Any) -> None:
        types = "_".join(str(t) for t in [*operands, result])
        found[f"{cls.name.replace('.', '_')}_{tag}{types}"] = Case(cls, operands, result, more)

    every = {**FLOATS, **HALVES}
    for cls, row in rows.items():
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
    for a, b in bitcasts:
        add(arith.BitcastOp, [types[a]], types[b])
    for n in range(len(CMPI)):
        for t in [*INTEGERS.values(), BIT]:
            add(arith.CmpiOp, [t, t], BIT, f"{n}_", predicate=IntegerAttr(n, i64))
    for n in range(len(CMPF)):
        for t in FLOATS.values():
            add(arith.CmpfOp, [t, t], BIT, f"{n}_", predicate=IntegerAttr(n, i64))
    return found


def kernel(name: str, case: Case, device: bool = True) -> FuncOp:
    """y[t] = op(x0[t], x1[t], ...), by thread t of a device or in a loop."""
    cls, operands, result, properties = case
    func = FuncOp.make(f"k_{name}", [buffer_type([COUNT], t) for t in [*operands, result]], 1)
    if device:
        func.attributes[DEVICE] = UnitAttr()
    loop = ForOp.make(COUNT, "t", kind="serial")
    if device:
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


def samples(name: str, case: Case) -> list[np.ndarray[Any, Any]]:
    """Values for each operand, at the edges of what the op is defined for."""
    cls, operands = case.cls, case.operands
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
            if cls in DIVISIONS and n == 1:
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


def expected(name: str, case: Case, inputs: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """What the interpreter computes."""
    return run_tir_func(kernel(name, case, device=False), inputs)[0]


def agree(name: str, got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> bool:
    """Whether results are the same, signs of zeros included; those of functions to the last digits."""
    if want.dtype.itemsize == 2 and want.dtype.kind not in "iu":  # bfloat16 is of no kind that NumPy compares
        got, want = got.astype(np.float32), want.astype(np.float32)
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    if not name.startswith("math_"):
        return np.array_equal(got, want, equal_nan=True) and np.array_equal(
            np.signbit(got[want == 0]), np.signbit(want[want == 0])
        )
    return np.allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-13, atol=1e-30, equal_nan=True)

"""Every op that OpenCL C has a row for, on every type: a driver computes what the tir interpreter says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from lamina.backends import opencl
from lamina.backends.opencl.rows import OPENCL
from lamina.dialects.scalar.oracles import element_dtype
from lamina.dialects.tir.launch import DEVICE
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.runtime import opencl as driver

from .opencl_driver import needs_driver
from .row_cases import COUNT, Case, agree, cases, expected, kernel, samples

pytestmark = [
    pytest.mark.slow,
    needs_driver,
]

BITS = (("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64"))
AT_ONCE = 60
"""Arguments of a kernel: a driver takes 1024 bytes of them at least."""
ULPS = {"float32": 5, "float64": 5}
"""What OpenCL allows functions, as far as these need: sin and the like 4 units of the last place, pow 16."""
Array = np.ndarray[Any, np.dtype[Any]]


def together(name: str, chosen: dict[str, Case]) -> FuncOp:
    """One kernel that computes some cases: a driver takes long for each kernel."""
    single = [kernel(n, c) for n, c in chosen.items()]
    func = FuncOp.make(name, [a.type for f in single for a in f.body.block.args], len(single))
    func.attributes[DEVICE] = UnitAttr()
    loop = ForOp.make(COUNT, "t", kind="serial")
    loop.properties |= {"kind": StringAttr("thread"), "thread": StringAttr("threadIdx.x")}
    arguments = iter(func.body.block.args)
    for f in single:
        inner = next(iter(f.body.block.ops))
        assert isinstance(inner, ForOp)
        mapping: dict[SSAValue, SSAValue] = {a: next(arguments) for a in f.body.block.args}
        mapping[inner.var] = loop.var
        for op in inner.body.block.ops:
            loop.body.block.add_op(op.clone(mapping))
    func.body.block.add_op(loop)
    func.verify()
    return func


def computed(chosen: dict[str, Case]) -> dict[str, Array]:
    """The results of some cases, by the first device."""
    device = driver.device()
    module = ModuleOp([together("k", chosen)])
    program = driver.OpenClProgram(device, opencl.compile_device(module))
    arrays: list[Array] = []
    results: dict[str, Array] = {}
    for name, case in chosen.items():
        results[name] = np.zeros(COUNT, element_dtype(case.result))
        arrays += [*samples(name, case), results[name]]
    buffers = [device.buffer(a.nbytes) for a in arrays]
    for buffer, array in zip(buffers, arrays, strict=True):
        device.write(buffer, array)
    program.launch("k", [1], [COUNT], buffers)
    for buffer, array in zip(buffers, arrays, strict=True):
        device.read(buffer, array)
        device.release(buffer)
    return results


def parts(chosen: dict[str, Case]) -> list[dict[str, Case]]:
    found: list[dict[str, Case]] = [{}]
    taken = 0
    for name, case in chosen.items():
        taken += len(case.operands) + 1
        if taken > AT_ONCE:
            found.append({})
            taken = len(case.operands) + 1
        found[-1][name] = case
    return found


def close(name: str, got: Array, want: Array) -> bool:
    """Whether results are the same, those of functions within what OpenCL allows them."""
    if agree(name, got, want):
        return True
    ulps = ULPS.get(str(want.dtype))
    if ulps is None or not name.startswith("math_"):
        return False
    with np.errstate(invalid="ignore"):
        return bool(np.allclose(got, want, rtol=ulps * float(np.finfo(want.dtype).eps), atol=0, equal_nan=True))


def test_every_row_computes_what_the_interpreter_does() -> None:
    chosen = cases(OPENCL.rows, BITS)
    assert {c.cls for c in chosen.values()} >= OPENCL.rows.keys() - {arith.IndexCastOp}
    wrong: list[str] = []
    for part in parts(chosen):
        for name, got in computed(part).items():
            inputs = samples(name, part[name])
            want = expected(name, part[name], inputs)
            if not close(name, got, want):
                where = np.flatnonzero(got != want)[:4]
                wrong.append(f"{name}: {[i[where] for i in inputs]} gives {got[where]}, not {want[where]}")
    assert not wrong, "\n".join(wrong)


def test_divisions_and_shifts_have_a_result_for_every_operand() -> None:
    """No operand ends the process of a device that is this processor."""
    integers = [IntegerType(n) for n in (8, 16, 32, 64)]
    operations: tuple[type[Operation], ...] = (arith.DivSIOp, arith.RemSIOp, arith.FloorDivSIOp, arith.ShLIOp)
    chosen = {f"{c.name}_{t}": Case(c, [t, t], t, {}) for c in operations for t in integers}
    device = driver.device()
    program = driver.OpenClProgram(device, opencl.compile_device(ModuleOp([together("k", chosen)])))
    buffers: list[Any] = []
    results: dict[str, Array] = {}
    for name, case in chosen.items():
        dtype = element_dtype(case.result)
        a, b = np.full(COUNT, -3, dtype), np.zeros(COUNT, dtype)
        a[0], b[0] = np.iinfo(dtype).min, -1
        results[name] = np.full(COUNT, 7, dtype)
        for array in (a, b, results[name]):
            buffers.append(device.buffer(array.nbytes))
            device.write(buffers[-1], array)
    program.launch("k", [1], [COUNT], buffers)
    for name, buffer in zip(results, buffers[2::3], strict=True):
        device.read(buffer, results[name])
        least = np.iinfo(results[name].dtype).min
        first, zero = {"shli": (0, -3), "remsi": (0, 0)}.get(name.split("_")[0].removeprefix("arith."), (least, 0))
        assert (results[name][0], results[name][1]) == (first, zero), name
    for buffer in buffers:
        device.release(buffer)

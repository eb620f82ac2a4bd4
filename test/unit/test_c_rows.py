"""Each row of C source computes what the interpreter does, without anything that C leaves undefined."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, ModuleOp
from xdsl.ir import Attribute

from lamina.backends.c.emit import emit_module
from lamina.backends.c.rows import ROWS
from lamina.debugging.c_source import build, c_compiler

from .row_cases import COUNT, Case, agree, cases, expected, kernel, samples

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(c_compiler() is None, reason="there is no C compiler `cc`"),
]

BITS = (("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64"))
UNDEFINED = ("-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all")
Array = np.ndarray[Any, np.dtype[Any]]


def compiled(chosen: dict[str, Case], folder: Path) -> ctypes.CDLL:
    """A library of the kernels of some cases."""
    text = emit_module(ModuleOp([kernel(n, c, device=False) for n, c in chosen.items()]))
    assert text.count("static void k_") == len(chosen)
    source = folder / "rows.c"
    source.write_text(text.replace("static void k_", "void k_"))
    options = ["-O1", "-shared", "-fPIC", *UNDEFINED]
    build(source, folder / "rows.so", options)
    return ctypes.CDLL(str(folder / "rows.so"))


def computed(library: ctypes.CDLL, name: str, case: Case, inputs: list[Array], dtype: Any) -> Array:
    result = np.zeros(COUNT, dtype)
    arrays = [np.ascontiguousarray(a) for a in inputs]
    getattr(library, f"k_{name}")(*[ctypes.c_void_p(a.ctypes.data) for a in (*arrays, result)])
    return result


def test_every_row_computes_what_the_interpreter_does(tmp_path: Path) -> None:
    chosen = cases(ROWS, BITS)
    assert {c.cls for c in chosen.values()} >= ROWS.keys() - {arith.IndexCastOp}
    library = compiled(chosen, tmp_path)
    wrong: list[str] = []
    for name, case in chosen.items():
        inputs = samples(name, case)
        want = expected(name, case, inputs)
        got = computed(library, name, case, inputs, want.dtype)
        if not agree(name, got, want):
            where = np.flatnonzero(got != want)[:4]
            wrong.append(f"{name}: {[i[where] for i in inputs]} gives {got[where]}, not {want[where]}")
    assert not wrong, "\n".join(wrong)


def test_divisions_and_shifts_have_a_result_for_every_operand(tmp_path: Path) -> None:
    """No operand ends the process: of zero the quotient is 0, of the least number by -1 the least one."""
    integers = [IntegerType(n) for n in (8, 16, 32, 64)]
    divisions = (arith.DivSIOp, arith.RemSIOp, arith.DivUIOp, arith.RemUIOp, arith.FloorDivSIOp, arith.CeilDivSIOp)
    shifts = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)
    chosen = {f"{c.__name__}_{t}": Case(c, [t, t], t, {}) for c in (*divisions, *shifts) for t in integers}
    library = compiled(chosen, tmp_path)
    for name, case in chosen.items():
        dtype = np.dtype(f"i{case.result.width.data // 8}")  # type: ignore[attr-defined]
        low, bits = np.iinfo(dtype).min, 8 * dtype.itemsize
        a, b = np.full(COUNT, -3, dtype), np.zeros(COUNT, dtype)
        a[0], b[0], b[1] = low, -1, bits
        got = computed(library, name, case, [a, b], dtype)
        if case.cls in divisions:
            least = 0 if case.cls in (arith.RemSIOp, arith.DivUIOp) else low
            assert (got[0], got[2]) == (least, 0), name
        else:
            assert (got[1], got[2]) == (-1 if case.cls is arith.ShRSIOp else 0, -3), name


def test_floats_beyond_an_integer_give_the_least(tmp_path: Path) -> None:
    singles: list[Attribute] = [Float32Type(), Float64Type()]
    types = [IntegerType(n) for n in (8, 16, 32, 64)]
    chosen = {f"s_{f}_{t}": Case(arith.FPToSIOp, [f], t, {}) for f in singles for t in types}
    chosen |= {f"u_{f}_{t}": Case(arith.FPToUIOp, [f], t, {}) for f in singles for t in types}
    library = compiled(chosen, tmp_path)
    for name, case in chosen.items():
        bits = case.result.width.data  # type: ignore[attr-defined]
        dtype = np.dtype(f"{'i' if name[0] == 's' else 'u'}{bits // 8}")
        x = np.zeros(COUNT, "f4" if "f32" in name else "f8")
        x[:5] = [np.nan, np.inf, -1e30, 2.0 ** (bits - 1) - 2.0 ** (bits - 9), -1.5 if name[0] == "s" else 200.7]
        got = computed(library, name, case, [x], dtype)
        least = np.array([np.iinfo(np.int64).min if bits == 64 else np.iinfo(np.int32).min])
        assert set(got[:3].tolist()) <= {least.astype(dtype)[0], 0}, name
        assert got[3:5].tolist() == [int(x[3]), int(x[4])], name
    unsigned = computed(library, "u_f64_i64", chosen["u_f64_i64"], [np.full(COUNT, 2.0**63 + 2.0**40)], "u8")
    assert unsigned[0] == 2**63 + 2**40


@pytest.mark.parametrize("short", [Float16Type(), BFloat16Type()], ids=str)
def test_short_floats_of_all_bits_become_float_and_back(short: Attribute, tmp_path: Path) -> None:
    """And of all doubles between two of them the nearest is found in one rounding."""
    import ml_dtypes

    dtype = np.dtype("float16" if isinstance(short, Float16Type) else ml_dtypes.bfloat16)
    single, double = Float32Type(), Float64Type()
    chosen = {
        "longer": Case(arith.ExtFOp, [short], single, {}),
        "shorter": Case(arith.TruncFOp, [single], short, {}),
        "shorter_of_double": Case(arith.TruncFOp, [double], short, {}),
    }
    library = compiled(chosen, tmp_path)
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    for start in range(0, every.size, COUNT):
        x = every[start : start + COUNT]
        longer = computed(library, "longer", chosen["longer"], [x], "f4")
        with np.errstate(invalid="ignore"):
            assert np.array_equal(longer, x.astype("f4"), equal_nan=True)
            assert np.array_equal(np.signbit(longer), np.signbit(x.astype("f4")))
        back = computed(library, "shorter", chosen["shorter"], [longer], dtype)
        assert np.array_equal(back.astype("f4"), longer, equal_nan=True)
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-7, 1e4):
        near = (rng.standard_normal(COUNT) * scale).astype(dtype).astype("f8")
        step = np.abs(near) * 2.0 ** (-11 if dtype.itemsize == 2 and dtype == np.float16 else -8)
        for x in (near + step, near + step * (1 + 2.0**-40), near + step * (1 - 2.0**-40), near):
            got = computed(library, "shorter_of_double", chosen["shorter_of_double"], [x], dtype)
            assert np.abs(got.astype("f8") - x).max() <= np.abs(x).max() * 2.0**-7
            exact = _nearest(x, dtype)
            assert np.array_equal(got.astype("f8"), exact)
            assert np.array_equal(
                computed(library, "shorter", chosen["shorter"], [x.astype("f4")], dtype).astype("f4"),
                x.astype("f4").astype(dtype).astype("f4"),
            )


def _nearest(x: Array, dtype: Any) -> Array:
    """The number of a short type that is nearest to each double; of two the one with an even last bit."""
    middle = x.astype(dtype)  # at most one step off: NumPy may round twice
    bits = middle.view(np.uint16).astype(np.int64)
    candidates = np.stack([np.clip(bits + d, 0, 0xFFFF).astype(np.uint16) for d in (-1, 0, 1)])
    values = candidates.view(dtype).astype("f8")
    distance = np.where(np.isfinite(values), np.abs(values - x), np.inf)
    best = np.where(distance == distance.min(axis=0), candidates & 1, 2).argmin(axis=0)
    return np.take_along_axis(values, best[None], axis=0)[0]


def test_multiply_adds_and_extremes_of_special_values(tmp_path: Path) -> None:
    single = Float32Type()
    classes = (arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp)
    chosen = {c.__name__: Case(c, [single, single], single, {}) for c in classes}
    chosen["fma"] = Case(math.FmaOp, [single] * 3, single, {})
    library = compiled(chosen, tmp_path)
    values = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -2.5, 1e30, -1e-40], np.float32)
    a, b = (m.reshape(-1) for m in np.meshgrid(values, values))
    for name, oracle in (("MaximumfOp", np.maximum), ("MinimumfOp", np.minimum), ("MaxnumfOp", np.fmax)):
        assert np.array_equal(computed(library, name, chosen[name], [a, b], "f4"), oracle(a, b), equal_nan=True), name
    assert np.array_equal(
        computed(library, "MinnumfOp", chosen["MinnumfOp"], [a, b], "f4"), np.fmin(a, b), equal_nan=True
    )
    with np.errstate(all="ignore"):
        near = a * b + a
    assert np.allclose(computed(library, "fma", chosen["fma"], [a, b, a], "f4"), near, rtol=1e-6, equal_nan=True)

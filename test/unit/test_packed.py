"""The packed calling convention: sizes from shapes, and what is said of arguments that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.parser import Parser

from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline
from lamina.runtime.packed import PackedFunction

VADD = """
te.func @vadd(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>},
              %B: tensor<?x2xf32> {te.shape = #te.map<(d0) -> (d0 * 3 + 1, 2)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    %b = te.read %B[%i * 3 + 1, 1] : tensor<?x2xf32>
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @vadd {
  %i = te.loops "C" [1]
  %io, %ii = te.split %i [-1, 8]
  te.vectorize %ii
}
"""


@pytest.fixture(scope="module")
def vadd() -> PackedFunction:
    module = Parser(LaminaContext(), VADD).parse_module()
    pipeline = (
        "te-to-tir,tir-make-packed-api,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-plan-memory,tir-to-llvm"
    )
    for p in parse_pipeline(pipeline):
        p.apply(LaminaContext(), module)
    return PackedFunction.of(module)


def f32(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000])
def test_sizes_follow_from_shapes(vadd: PackedFunction, n: int) -> None:
    a, b, c = f32(n), f32(3 * n + 1, 2), np.full(n, np.nan, np.float32)
    vadd(a, b, c)
    np.testing.assert_array_equal(c, a + b[1::3, 1])


def refused(vadd: PackedFunction, *args: object) -> str:
    with pytest.raises(InputError) as error:
        vadd(*args)
    return str(error.value)


def test_what_does_not_fit_is_named(vadd: PackedFunction) -> None:
    a, b, c = f32(4), f32(13, 2), f32(4)
    assert refused(vadd, a, b) == "vadd: num_args should be 3, but got 2"
    assert refused(vadd, None, b, c) == "vadd.A is expected to be an array, but got NULL"
    assert refused(vadd, [1.0], b, c) == "vadd.A is expected to be an array, but got list"
    assert refused(vadd, a, f32(13), c) == "vadd.B.ndim is expected to equal 2, but got 1"
    assert refused(vadd, a.astype(np.float64), b, c) == "vadd.A.dtype is expected to be float32, but got float64"
    swapped = a.astype(np.dtype(np.float32).newbyteorder())
    assert refused(vadd, swapped, b, c) == "vadd.A.dtype is expected to be float32, but got byte-swapped float32"
    assert refused(vadd, f32(8)[::2], b, c) == "vadd.A.strides: expected to be a compact array"
    assert refused(vadd, a, f32(14, 2), c) == (
        "Argument vadd.B.shape[0] has an unsatisfied constraint: 14 == n * 3 + 1, where n = 4"
    )
    assert refused(vadd, a, f32(13, 3), c) == "Argument vadd.B.shape[1] has an unsatisfied constraint: 3 == 2"
    output = vadd.signature.arguments[2].name
    assert refused(vadd, a, b, f32(5)) == (
        f"Argument vadd.{output}.shape[0] has an unsatisfied constraint: 5 == n, where n = 4"
    )
    c.flags.writeable = False
    assert refused(vadd, a, b, c) == f"vadd.{output} is written, but the array is read-only"
    assert refused(vadd, a, b, a) == "vadd: an output shares memory with another argument"

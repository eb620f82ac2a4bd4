"""Programs whose sizes are known only when they run, from te text to machine code."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module

MATMUL = """
func.func @main(%n: index, %m: index, %k: index,
    %A: tensor<?x?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d0, d2)>},
    %B: tensor<?x?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d2, d1)>}
  ) -> (tensor<?x?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d0, d1)>, lamina.name = "C"}) {
  %C = te.call @mm(%n, %m, %k, %A, %B)
    : (index, index, index, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %C : tensor<?x?xf32>
}
te.func @mm(%n: index, %m: index, %k: index,
    %A: tensor<?x?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d0, d2)>},
    %B: tensor<?x?xf32> {te.shape = #te.map<(d0, d1, d2) -> (d2, d1)>}) -> tensor<?x?xf32> {
  %T = te.compute "T" [%k, %m] (%r, %j) : tensor<?x?xf32> {
    %b = te.read %B[%r, %j] : tensor<?x?xf32>
    %t = arith.addf %b, %b : f32
    te.yield %t : f32
  }
  %C = te.compute "C" [%n, %m] sum [%k] (%i, %j, %r) : tensor<?x?xf32> {
    %a = te.read %A[%i, %r] : tensor<?x?xf32>
    %b = te.read %T[%r, %j] : tensor<?x?xf32>
    %c = arith.mulf %a, %b : f32
    te.yield %c : f32
  }
  te.return %C : tensor<?x?xf32>
}
"""
SCHEDULES = {
    "naive": "",
    "inlined": 'te.compute_inline "T"',
    "tiled": """
      %i, %j, %r = te.loops "C" [3]
      %io, %ii = te.split %i [-1, 4]
      %jo, %ji = te.split %j [-1, 16]
      %ro, %ri = te.split %r [-1, 3]
      te.reorder %io, %jo, %ro, %ri, %ii, %ji
      te.vectorize %ji
      te.parallel %io
    """,
    "attached": """
      %i, %j, %r = te.loops "C" [3]
      %jo, %ji = te.split %j [-1, 8]
      te.reorder %jo, %r, %i, %ji
      %tr, %tj = te.compute_at "T" at %r [2]
      te.vectorize %ji
      te.vectorize %tj
    """,
    "whole": """
      %i, %j, %r = te.loops "C" [3]
      te.set_scope "T" "local"
      %tr, %tj = te.compute_at "T" at %i [2]
    """,
    "local": """
      te.set_scope "T" "local"
      %i, %j, %r = te.loops "C" [3]
      %io, %ii = te.split %i [-1, 2]
      te.unroll %j
    """,
    "fused": """
      %i, %j, %r = te.loops "C" [3]
      %jo, %ji = te.split %j [-1, 8]
      %f = te.fuse %jo, %ji
      te.parallel %f
    """,
}
SIZES = [(4, 16, 3), (1, 1, 1), (5, 17, 7), (0, 3, 4), (3, 0, 2), (3, 5, 0), (33, 47, 21)]
PASSES = "te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-plan-memory,tir-to-llvm"


def compiled(schedule: str) -> CompiledProgram:
    ctx = LaminaContext()
    text = MATMUL + (f"te.schedule @mm {{ {schedule} }}" if schedule else "")
    module = parse_text(ctx, text, "matmul.mlir")
    run_pipeline(module, ctx, parse_pipeline(PASSES))
    return load_module(module, None)


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_size_is_right(name: str) -> None:
    program = compiled(SCHEDULES[name])
    r = np.random.default_rng(0)
    for n, m, k in SIZES:
        a, b = (r.standard_normal(shape).astype(np.float32) for shape in ((n, k), (k, m)))
        found = program.run({"A": a, "B": b})["C"]
        assert found.shape == (n, m)
        np.testing.assert_allclose(found, a @ (b + b), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"A": (4, 3), "B": (2, 5)}, "shape [2, 5] given, expected float32[k, m] with n = 4, m = 5, k = 3"),
        ({"A": (4, 3), "B": (3,)}, "input 'B': rank 1 given, expected float32[k, m]"),
        ({"A": (4, 3)}, "input 'm': no array tells this size"),
        ({"A": (4, 3), "B": (3, 5), "n": -1}, "input 'n': -1 is no size"),
        ({"A": (4, 3), "B": (3, 5), "n": 5}, "shape [4, 3] given, expected float32[n, k] with n = 5"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(inputs: dict[str, Any], message: str) -> None:
    arrays: dict[str, Any] = {
        n: np.zeros(cast("tuple[int, ...]", s), np.float32) if isinstance(s, tuple) else s for n, s in inputs.items()
    }
    with pytest.raises(InputError) as error:
        compiled("").run(arrays)
    assert message in str(error.value)

"""The memory that programs of unknown extents work in: planned once, as large as a run needs it, each run its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module

ROWS = "tensor<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}"
LAYERS = 12


def chain(layers: int = LAYERS) -> CompiledProgram:
    """So many functions one after the other; each reads its rows the other way round, so that none is in place."""
    calls = "".join(
        f"  %r{n + 1} = te.call @turned(%n, %r{n}) : (index, tensor<?x16xf32>) -> tensor<?x16xf32>\n"
        for n in range(layers)
    )
    text = f"""
func.func @main(%n: index, %r0: {ROWS}) -> (tensor<?x16xf32> {{te.shape = #te.map<(d0) -> (d0, 16)>}}) {{
{calls}  return %r{layers} : tensor<?x16xf32>
}}
te.func @turned(%n: index, %x: {ROWS}) -> tensor<?x16xf32> {{
  %y = te.compute "y" [%n, 16] (%i, %j) : tensor<?x16xf32> {{
    %a = te.read %x[%n - 1 - %i, %j] : tensor<?x16xf32>
    %b = arith.addf %a, %a : f32
    te.yield %b : f32
  }}
  te.return %y : tensor<?x16xf32>
}}
"""
    module = parse_text(ctx := LaminaContext(), text, "chain.mlir")
    run_pipeline(module, ctx, parse_pipeline("te-to-tir,tir-lower-blocks,tir-plan-memory,tir-to-llvm"))
    return load_module(module, None)


def check(program: CompiledProgram, n: int, seed: int = 0) -> None:
    x = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    (y,) = program.run({"r0": x}).values()
    np.testing.assert_array_equal(y, (x if LAYERS % 2 == 0 else x[::-1]) * np.float32(2**LAYERS))


@pytest.mark.parametrize("n", [1, 3, 1000])
def test_two_buffers_do_for_a_chain_of_any_length(n: int) -> None:
    program = chain()
    working = program.info.working_memory([n])
    assert working.size == 2 * n * 64 and sorted(working.offsets) == [0, n * 64]


def test_runs_of_larger_and_smaller_sizes_follow_each_other() -> None:
    program = chain()
    for n in (5, 1, 400, 7, 399, 401, 0, 2000, 1):
        check(program, n, n)


def test_runs_at_the_same_time_have_memory_of_their_own() -> None:
    program = chain()
    with ThreadPoolExecutor(4) as pool:
        jobs: list[Any] = [pool.submit(check, program, 1 + 37 * n % 500, n) for n in range(64)]
        for job in jobs:
            job.result()


def test_what_is_said_of_the_memory_names_the_sizes() -> None:
    assert str(chain().memory) == "0.0 MB and 128 * n bytes to work in, 0.0 MB of weights"

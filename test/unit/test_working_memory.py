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
    return compiled(text)


def compiled(text: str) -> CompiledProgram:
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


def test_few_bytes_for_each_element_are_not_a_line_for_each() -> None:
    """Three images of unknown height and width: their places lie on lines, however large they are."""
    text = """
func.func @main(%h: index, %w: index, %x: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>})
    -> (tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>}) {
  %a = te.call @turned(%h, %w, %x) : (index, index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %b = te.call @turned(%h, %w, %a) : (index, index, tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = te.call @turned(%h, %w, %b) : (index, index, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
te.func @turned(%h: index, %w: index, %x: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>})
    -> tensor<?x?xf32> {
  %y = te.compute "y" [%h, %w] (%i, %j) : tensor<?x?xf32> {
    %a = te.read %x[%h - 1 - %i, %j] : tensor<?x?xf32>
    te.yield %a : f32
  }
  te.return %y : tensor<?x?xf32>
}
"""
    program = compiled(text)
    for h, w in ((1, 1), (3, 5), (64, 64), (101, 7)):
        x = np.random.default_rng(h).standard_normal((h, w)).astype(np.float32)
        (y,) = program.run({"x": x}).values()
        np.testing.assert_array_equal(y, x[::-1])
        working = program.info.working_memory([h, w])
        assert working.size <= 8 * (h * w + 64) and not any(offset % 64 for offset in working.offsets)

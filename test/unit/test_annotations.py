"""Annotations, pragmas and samples on the way to machine code: they change how a thing is computed, never what."""

from __future__ import annotations

import random
from math import prod

import numpy as np
import pytest
from xdsl.parser import Parser

from lamina.dialects.schedule.primitives.sample_perfect_tile import (
    divisors,
    factorizations,
    nth_perfect_tile,
    perfect_tiles,
)
from lamina.driver.execute import run_module
from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE
from lamina.ir.context import LaminaContext

from . import tir_kernels as kernels

PROGRAM = """
te.func @f(%A: tensor<13x20xi32>) -> tensor<13x18xi32> {
  %b = te.compute "B" [13, 20] (%i, %j) : tensor<13x20xi32> {
    %a = te.read %A[%i, %j] : tensor<13x20xi32>
    %n = arith.addi %a, %a : i32
    te.yield %n : i32
  }
  %c = te.compute "C" [13, 18] sum [3] (%i, %j, %k) : tensor<13x18xi32> {
    %x = te.read %b[%i, %j + %k] : tensor<13x20xi32>
    te.yield %x : i32
  }
  te.return %c : tensor<13x18xi32>
}
te.schedule @f attributes {seed = SEED : i64} {
SCHEDULE
}
"""

SCHEDULES = {
    "storage_align": """
        te.storage_align "B" axis 0 factor 16 offset 3
        %i, %j, %k = te.loops "C" [3]
        %jo, %ji = te.split %j [-1, 8]
        te.reorder %i, %jo, %k, %ji
        te.vectorize %ji""",
    "double_buffer": """
        %i, %j, %k = te.loops "C" [3]
        %bi, %bj = te.compute_at "B" at %i [2]
        te.double_buffer "B" """,
    "double_buffer of rows": """
        %i, %j, %k = te.loops "C" [3]
        %io, %ii = te.split %i [-1, 4]
        %bi, %bj = te.compute_at "B" at %io [2]
        te.vectorize %bj
        te.double_buffer "B" """,
    "prefetch": """
        %i, %j, %k = te.loops "C" [3]
        te.prefetch "B" at %i offset 2
        te.prefetch "B" at %j offset 1
        te.prefetch "B" at %i offset 1 spread %k locality 2
        %bi, %bj = te.loops "B" [2]
        te.prefetch "A" at %bi offset 1
        te.parallel %bi""",
    "unrolling": """
        %i, %j, %k = te.loops "C" [3]
        te.pragma %i "auto_unroll_max_step" = 60
        te.pragma %i "unroll_explicit" = 1""",
    "partition": """
        %i, %j, %k = te.loops "C" [3]
        %io, %ii = te.split %i [-1, 4]
        %jo, %ji = te.split %j [-1, 8]
        te.reorder %io, %jo, %k, %ii, %ji
        te.pragma %io "loop_partition_hint" = 1
        te.pragma %jo "loop_partition_hint" = 1
        te.vectorize %ji""",
    "threads": """
        %t, %u = te.env_threads "C" ["threadIdx.x", "threadIdx.y"] [4, 2]
        te.store_predicate "C" where [%t == 3, %u == 0]
        te.annotate "C" "why" = "one thread is enough" """,
    "samples": """
        %i, %j, %k = te.loops "C" [3]
        %f0, %f1, %f2 = te.sample_perfect_tile %j [3] max_innermost 6
        %j0, %j1, %j2 = te.split %j [%f0, %f1, %f2]
        %g = te.sample_categorical [1, 2, 5] probs [0.25, 0.5, 0.25]
        %io, %ii = te.split %i [-1, %g]
        te.reorder %io, %j0, %j1, %k, %ii, %j2
        %v = te.sample_categorical [0, 8, 64] probs [0.3, 0.3, 0.4]
        te.pragma %io "auto_unroll_max_step" = %v""",
}


def program(schedule: str, seed: int = 0) -> str:
    return PROGRAM.replace("SEED", str(seed)).replace("SCHEDULE", schedule)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", [0, 3])
def test_a_schedule_changes_nothing_that_is_computed(name: str, seed: int) -> None:
    a = np.random.default_rng(seed).integers(-9, 10, (13, 20)).astype(np.int32)
    expected = 2 * (a[:, :18] + a[:, 1:19] + a[:, 2:])
    module = Parser(LaminaContext(), program(SCHEDULES[name], seed)).parse_module()
    for level in (TIR_PIPELINE[:2], TIR_PIPELINE[:-1]):
        lowered = kernels.passes(module, ",".join(level))
        (found,) = run_module(lowered, LaminaContext(), "f", [a]).values()
        np.testing.assert_array_equal(found, expected)
    # The te.func has become the kernel that machine code is made of.
    lowered = kernels.passes(module, ",".join(TIR_PIPELINE[:-1]))
    (found,) = kernels.execute(lowered, [a], ",".join([TIR_PIPELINE[-1], *LLVM_PIPELINE]))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(6))
def test_decisions_that_are_printed_give_the_same_loops(seed: int) -> None:
    module = Parser(LaminaContext(), program(SCHEDULES["samples"], seed)).parse_module()
    drawn = kernels.passes(module, "te-draw-decisions")
    text = str(drawn)
    assert text.count("decision") == 3
    replayed = Parser(LaminaContext(), text.replace(f"seed = {seed} :", "seed = 99 :")).parse_module()
    assert str(kernels.passes(replayed, "te-to-tir")) == str(kernels.passes(module, "te-to-tir"))


def test_seeds_make_a_difference() -> None:
    texts = {
        str(kernels.passes(Parser(LaminaContext(), program(SCHEDULES["samples"], n)).parse_module(), "te-to-tir"))
        for n in range(8)
    }
    assert len(texts) > 3


def test_perfect_tiles_are_drawn_evenly() -> None:
    """Every list of factors comes up about as often as any other."""
    r = random.Random(0)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(6000):
        drawn = tuple(nth_perfect_tile(r.randrange(perfect_tiles(24, 3, 6)), 24, 3, 6))
        assert prod(drawn) == 24 and drawn[-1] <= 6
        counts[drawn] = counts.get(drawn, 0) + 1
    wanted = sum(factorizations(24 // d, 2) for d in divisors(24) if d <= 6)
    assert len(counts) == wanted
    assert min(counts.values()) > 0.7 * 6000 / wanted

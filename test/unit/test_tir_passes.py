"""Passes of tir on random kernels: what a kernel computes is the same before and after, also as machine code."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from . import random_kernels, random_vectors
from . import tir_kernels as kernels

pytestmark = pytest.mark.slow

PIPELINES = [
    "tir-loop-partition{all=true}",
    "tir-loop-partition{all=true max-pieces=2}",
    "tir-unroll-loop{explicit-unroll=true}",
    "tir-unroll-loop{auto-max-step=12 auto-max-depth=2}",
    "tir-unroll-loop{auto-max-extent=4 explicit-unroll=true}",
    "tir-storage-flatten",
    "tir-storage-rewrite",
    "tir-storage-flatten,tir-storage-rewrite",
    "tir-hoist-if-then-else{guards=true}",
    "tir-hoist-expression",
    "tir-remove-no-op",
    "tir-loop-partition{all=true},tir-hoist-if-then-else{guards=true},tir-hoist-expression,tir-unroll-loop{auto-max-step=9},tir-remove-no-op",
]


@cache
def interpreted(seed: int, chain: bool) -> tuple[ModuleOp, str, list[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """A random kernel, its text, arrays for it and what it makes of them."""
    kernel = random_kernels.RandomKernel(seed, chain=chain)
    arrays = kernel.arrays()
    (expected,) = kernels.interpret(kernel.module, arrays)
    return kernel.module, str(kernel.module), arrays, expected


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pass_keeps_what_random_kernels_compute(pipeline: str) -> None:
    changed = 0
    for seed in range(25):
        module, text, arrays, expected = interpreted(seed, "rewrite" in pipeline and seed % 3 > 0)
        after = kernels.passes(module, pipeline)
        if str(after) == text:
            continue
        changed += 1
        try:
            (found,) = kernels.interpret(after, arrays)
            np.testing.assert_array_equal(found, expected)
        except Exception as e:
            raise AssertionError(f"seed {seed}: {e}\n{text}\n{after}") from e
    assert changed > 5, "the pass hardly ever fired"


def test_vectorized_loops_keep_what_random_kernels_compute() -> None:
    masked = 0
    for seed in range(80):
        kernel = random_vectors.RandomVectorKernel(seed)
        arrays = kernel.arrays()
        (expected,) = kernels.interpret(kernel.module, arrays)
        after = kernels.passes(kernel.module, "tir-vectorize-loop")
        masked += str(after).count("lane") > 0
        try:
            (found,) = kernels.interpret(after, arrays)
            np.testing.assert_array_equal(found, expected, "vectors")
            if seed % 4 == 0:
                (found,) = kernels.execute(after, arrays)
                np.testing.assert_array_equal(found, expected, "machine code")
        except Exception as e:
            raise AssertionError(f"seed {seed}: {e}\n{kernel.module}\n{after}") from e
    assert masked > 40


def test_random_kernels_run_as_machine_code_as_interpreted() -> None:
    for seed in range(12):
        kernel = random_kernels.RandomKernel(seed, registers=True)
        arrays = kernel.arrays()
        (expected,) = kernels.interpret(kernel.module, arrays)
        try:
            (found,) = kernels.execute(kernel.module, arrays)
            np.testing.assert_array_equal(found, expected)
        except Exception as e:
            raise AssertionError(f"seed {seed}: {e}\n{kernel.module}") from e

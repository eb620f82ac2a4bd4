"""examples/te_gemm.py: every step computes the product at any size, and its loops are what the step is about."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lamina

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def _example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("te_gemm", ROOT / "examples" / "te_gemm.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


gemm: Any = _example()


def tir_of(step: str, m: int = 70, n: int = 75, k: int = 44, simple: bool = True) -> str:
    program = gemm.STEPS[step](m, n, k)
    return str(lamina.lower(program.schedule, program.args, simple_mode=simple))


def loops_of(text: str, stage: str) -> list[str]:
    """The axes of a stage's loops, outermost first, without those of its init."""
    return re.findall(rf'tir\.for .*"{stage}\.([a-z][.\w]*)"', text)


def _check(program: Any, m: int, n: int, k: int, threads: int) -> None:
    draw = np.random.default_rng(m * n + k)
    a, b = (draw.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    gemm.build(program, threads)(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=2e-6 * k)


@pytest.mark.parametrize("sizes", [(70, 75, 44), (64, 64, 32), (3, 1, 2)], ids=str)
@pytest.mark.parametrize("step", gemm.STEPS)
def test_step_gives_the_product(step: str, sizes: tuple[int, int, int]) -> None:
    _check(gemm.STEPS[step](*sizes), *sizes, threads=1)


@pytest.mark.parametrize("step", ["parallel", "register tile"])
def test_step_gives_the_product_on_two_threads(step: str) -> None:
    _check(gemm.STEPS[step](133, 75, 44), 133, 75, 44, threads=2)


@pytest.mark.parametrize("sizes", [(19, 35, 70), (16, 64, 64)], ids=str)
def test_deep_reduction_is_cut_into_pieces_that_add_to_the_product(sizes: tuple[int, int, int]) -> None:
    program = gemm.register_tile(*sizes, depth=32, cut=24)
    text = str(lamina.lower(program.schedule, program.args))
    assert 'tir.for %p = 0 to 3 reduction "C.p"' in text
    _check(program, *sizes, threads=1)


def test_micro_kernel_adds_up_as_often_as_asked() -> None:
    m, n, k = gemm.MICRO
    draw = np.random.default_rng(0)
    a, b = (draw.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    gemm.build(gemm.micro_kernel(3), 1)(a, b, c)
    np.testing.assert_allclose(c, 3 * (a.astype(np.float64) @ b), rtol=0, atol=1e-3)


def test_naive_loops_are_three() -> None:
    text = tir_of("naive")
    assert loops_of(text, "C") == ["i", "j", "k"]
    assert not re.search("vectorized|unrolled|parallel", text)


def test_blocks_are_walked_outside_of_the_reduction() -> None:
    assert loops_of(tir_of("blocking"), "C") == ["i.0", "j.0", "k.0", "k.1", "i.1", "j.1"]


def test_columns_of_a_block_become_vectors() -> None:
    assert re.search(r'tir\.for %\w+ = 0 to 32 .*vectorized "C\.j\.1"', tir_of("vectorize"))
    assert "vector<32xf32>" in tir_of("vectorize", simple=False)


def test_permutation_puts_the_rows_outside_of_the_inner_steps() -> None:
    assert loops_of(tir_of("loop permutation"), "C") == ["i.0", "j.0", "k.0", "i.1", "k.1", "j.1"]


def test_packed_panels_are_a_stage_whose_last_loop_is_a_vector() -> None:
    text = tir_of("packing")
    assert '%packedB = tir.alloc "packedB" scope "global" : memref<3x44x32xf32>' in text
    assert 'vectorized "packedB.z"' in text
    assert "tir.load %packedB[%jo, %ki + %ko * 4, %ji]" in text  # no division is left in the index


def test_write_cache_adds_up_in_a_buffer_of_one_block() -> None:
    text = tir_of("write cache")
    block = text[text.index('"C.out.1.0"') :]
    assert '%C_global = tir.alloc "C.global" scope "global" : memref<32x32xf32>' in block
    assert loops_of(block, "C") == ["k.0", "i", "k.1", "j", "out.0.1", "out.1.1"]
    assert 'unrolled reduction "C.k.1"' in block


def test_parallel_runs_rows_of_blocks_and_panels_on_threads() -> None:
    text = tir_of("parallel")
    assert re.search(r'parallel "C\.out\.0\.0"', text) and re.search(r'parallel "packedB\.x"', text)
    assert "parallel" not in tir_of("write cache")


def test_tile_stays_in_registers_and_asks_for_no_tail_inside_the_reduction() -> None:
    text = tir_of("register tile", simple=False)
    assert re.search(r'tir\.alloc "tile" scope "register" : memref<[\dx]*8x32xf32>', text)
    inside = text[text.index('reduction "tile.k.0"') : text.index("tir.for %ii")]
    assert "math.fma" in inside
    assert "where" not in inside and "min [" not in inside and "tir.if" not in inside


def test_rows_of_a_lie_at_a_distance_that_is_no_multiple_of_256_bytes() -> None:
    text = tir_of("register tile", 64, 64, 1024, simple=False)
    (row,) = {int(r) for r in re.findall(r"tir\.load %packedA\[%i \* (\d+)", text)}
    assert row >= 1024 and row % 64

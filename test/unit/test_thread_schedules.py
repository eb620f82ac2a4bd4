"""Schedules for threads off the beaten track: run in turn, by simulated threads and as machine code, all give the same.

The programs and shapes are small, the schedules are what a user may write or a tuner may draw: reductions begun apart,
of any length, with loops within or threads around; loops of one axis within each other; buffers of any size.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lamina.backends import nvptx
from lamina.dialects.schedule.nest.threads import is_thread
from lamina.dialects.tir.ops import ForOp
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.context import LaminaContext

from . import gpu_on_cpu
from .gpu_programs import PIPELINE, Program
from .test_gpu_passes import check, host, lowered, without_threads

CTX = LaminaContext()


def integers(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(shape[0]).integers(-4, 5, shape).astype(np.float32)


def rows(name: str, schedule: str, m: int = 5, k: int = 7, free: str = "") -> Program:
    """Y[i] = sum_k X[i, k] under a schedule of its loops %i and %k; `free` names the sizes nobody knows."""
    x = integers(m, k)
    sizes = "".join(f"%{n}: index, " for n in free)
    extents = ["%m" if "m" in free else str(m), "%k" if "k" in free else str(k)]
    types = ["?" if "m" in free else str(m), "?" if "k" in free else str(k)]
    dims = ", ".join(f"d{n}" for n in range(len(free)))
    forms = [f"d{free.index(n)}" if n in free else str(v) for n, v in (("m", m), ("k", k))]
    shape = f" {{te.shape = #te.map<({dims}) -> ({', '.join(forms)})>}}" if free else ""
    text = f"""
te.func @f({sizes}%X: tensor<{"x".join(types)}xf32>{shape}) -> tensor<{types[0]}xf32> {{
  %y = te.compute "Y" [{extents[0]}] sum [{extents[1]}] (%a, %b) : tensor<{types[0]}xf32> {{
    %x = te.read %X[%a, %b] : tensor<{"x".join(types)}xf32>
    te.yield %x : f32
  }}
  te.return %y : tensor<{types[0]}xf32>
}}
te.schedule @f {{
  %i, %k = te.loops "Y" [2]
{schedule}
}}
"""
    known = {"m": m, "k": k}
    return Program(name, text, [*(known[n] for n in free), x], [x.sum(1)])


def places(name: str, schedule: str, m: int = 4, k: int = 6) -> Program:
    """The place and the value of the greatest element of each row."""
    x = np.random.default_rng(k).permutation(m * k).reshape(m, k).astype(np.float32)
    text = f"""
te.func @f(%X: tensor<{m}x{k}xf32>) -> (tensor<{m}xi32>, tensor<{m}xf32>) {{
  %p, %v = te.compute "Y" [{m}] reduce [{k}] (%i, %k) : tensor<{m}xi32>, tensor<{m}xf32> {{
    %x = te.read %X[%i, %k] : tensor<{m}x{k}xf32>
    %j = te.index [%k] : index
    %place = arith.index_cast %j : index to i32
    te.yield %place, %x : i32, f32
  }} combine (%p0, %v0, %p1, %v1) {{
    %first = arith.cmpf oge, %v0, %v1 : f32
    %a = arith.select %first, %p0, %p1 : i32
    %b = arith.select %first, %v0, %v1 : f32
    te.yield %a, %b : i32, f32
  }} identity {{
    %a = arith.constant -1 : i32
    %b = arith.constant 0xFF800000 : f32
    te.yield %a, %b : i32, f32
  }}
  te.return %p, %v : tensor<{m}xi32>, tensor<{m}xf32>
}}
te.schedule @f {{
  %i, %k = te.loops "Y" [2]
{schedule}
}}
"""
    return Program(name, text, [x], [x.argmax(1).astype(np.int32), x.max(1)])


def two_stages(name: str, schedule: str, m: int = 4, n: int = 6) -> Program:
    """Y[i, j] = D[i, n - 1 - j] with D = 2 X, for any m."""
    x = integers(m, n)
    shape = "{te.shape = #te.map<(d0) -> (d0, " + str(n) + ")>}"
    text = f"""
te.func @f(%m: index, %X: tensor<?x{n}xf32> {shape}) -> tensor<?x{n}xf32> {{
  %d = te.compute "D" [%m, {n}] (%i, %j) : tensor<?x{n}xf32> {{
    %x = te.read %X[%i, %j] : tensor<?x{n}xf32>
    %v = arith.addf %x, %x : f32
    te.yield %v : f32
  }}
  %y = te.compute "Y" [%m, {n}] (%i, %j) : tensor<?x{n}xf32> {{
    %x = te.read %d[%i, %j * -1 + {n - 1}] : tensor<?x{n}xf32>
    te.yield %x : f32
  }}
  te.return %y : tensor<?x{n}xf32>
}}
te.schedule @f {{
  %i, %j = te.loops "Y" [2]
{schedule}
}}
"""
    return Program(name, text, [m, x], [(x + x)[:, ::-1]])


BOUND = '  te.bind %i "blockIdx.x"\n  te.bind %k "threadIdx.x"\n'
PROGRAMS = [
    rows("begun_apart", '  te.decompose_reduction "Y" at %k\n' + BOUND),
    rows("of_any_length", BOUND, k=70, free="k"),
    rows("of_no_length", BOUND, k=0, free="k"),
    rows("of_any_length_begun_apart", '  te.decompose_reduction "Y" at %k\n' + BOUND, k=33, free="k"),
    rows("rows_within", '  te.reorder %k, %i\n  te.bind %k "threadIdx.x"\n'),
    rows(
        "rows_within_parts",
        "  %ko, %ki = te.split %k [3, -1]\n  te.reorder %ko, %ki, %i\n"
        '  te.bind %ko "threadIdx.x"\n  te.blockize %ki "inner"\n',
    ),
    rows("among_any_number", '  te.bind %i "threadIdx.y"\n  te.bind %k "threadIdx.x"\n', free="m"),
    rows("of_any_length_among_any_number", '  te.bind %i "threadIdx.y"\n  te.bind %k "threadIdx.x"\n', free="mk"),
    rows(
        "by_threads_that_do_the_same",
        '  te.bind %k "threadIdx.x"\n  te.env_threads "Y" ["threadIdx.y"] [3]\n'
        '  te.env_threads "Y" ["threadIdx.y"] [3]\n',
    ),
    places("places_begun_apart", '  te.decompose_reduction "Y" at %k\n' + BOUND),
    places("places_within", '  te.reorder %k, %i\n  te.bind %k "threadIdx.x"\n'),
    two_stages(
        "only_one_of_any_number",
        '  te.bind %i "threadIdx.y"\n  %e = te.env_threads "Y" ["threadIdx.x"] [2]\n'
        '  te.store_predicate "Y" where [%e == 0]\n  %a, %b = te.loops "D" [2]\n  te.bind %a "blockIdx.x"\n',
    ),
]

X8 = np.arange(8, dtype=np.float32)
X64 = integers(64, 5)


def kernel(name: str, text: str, inputs: list[Any], outputs: list[Any]) -> Program:
    """A kernel as a hand may write it."""
    return Program(name, f"tir.func @f{text}", inputs, outputs)


KERNELS = [
    kernel(
        "each_runs_the_inner_loop",
        """(%x: memref<4x4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
      tir.for %i = 0 to 4 thread "threadIdx.x" "y.i" {
        %s = tir.alloc "s" scope "local" : memref<4xf32>
        tir.for %j = 0 to 4 thread "threadIdx.x" "s.j" {
          %v = tir.load %x[%i, %j] : memref<4x4xf32>
          tir.store %v, %s[%j] : memref<4xf32>
        }
        %a = tir.load %s[3] : memref<4xf32>
        %b = tir.load %s[%i] : memref<4xf32>
        %c = arith.addf %a, %b : f32
        tir.store %c, %y[%i] : memref<4xf32>
      }
    }""",
        [x := integers(4, 4)],
        [x[:, 3] + np.diag(x)],
    ),
    kernel(
        "one_block_for_all",
        """(%x: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) attributes {outputs = 2 : i64} {
      tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
        tir.for %i = 0 to 8 thread "blockIdx.x" "b.i" {
          %v = tir.load %x[%i] : memref<8xf32>
          tir.store %v, %b[%i] : memref<8xf32>
        }
        tir.for %j = 0 to 8 thread "threadIdx.x" "c.i" {
          %w = tir.load %b[%j * -1 + 7] : memref<8xf32>
          tir.store %w, %c[%j] : memref<8xf32>
        }
      }
    }""",
        [X8],
        [X8, X8[::-1]],
    ),
    kernel(
        "shared_of_any_size",
        """(%n: index, %x: memref<8x?xf32> {te.shape = #te.map<(d0) -> (8, d0)>},
        %y: memref<8x?xf32> {te.shape = #te.map<(d0) -> (8, d0)>}) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 8 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" [%n] : memref<?xf32>
        tir.for %i = 0 to min [%n] thread "threadIdx.x" "s.i" {
          %v = tir.load %x[%b, %i] : memref<8x?xf32>
          tir.store %v, %s[%i] : memref<?xf32>
        }
        tir.for %j = 0 to min [%n] thread "threadIdx.x" "y.j" {
          %w = tir.load %s[%n + %j * -1 - 1] : memref<?xf32>
          tir.store %w, %y[%b, %j] : memref<8x?xf32>
        }
      }
    }""",
        [5, x := integers(8, 5)],
        [x[:, ::-1]],
    ),
]
EXCHANGES = [
    kernel(
        "exchange_under_a_condition",
        """(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" : memref<8xf32>
        tir.for %t = 0 to 8 thread "threadIdx.x" "t" {
          %u = tir.load %x[%t] : memref<8xf32>
          tir.store %u, %y[%t] : memref<8xf32>
          tir.if [%t * -1 + 5 >= 0] {
            %v = tir.load %x[%t] : memref<8xf32>
            %d = arith.addf %v, %v : f32
            tir.store %d, %s[%t] : memref<8xf32>
            %w = tir.load %s[%t * -1 + 5] : memref<8xf32>
            tir.store %w, %y[%t] : memref<8xf32>
          }
        }
      }
    }""",
        [X8],
        [np.concatenate([2 * X8[5::-1], X8[6:]])],
    ),
    kernel(
        "exchange_in_loops_of_different_length",
        """(%n: index, %x: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>},
        %y: memref<64x?xf32> {te.shape = #te.map<(d0) -> (64, d0)>}) attributes {outputs = 1 : i64} {
      tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" : memref<64xf32>
        tir.for %t = 0 to 64 thread "threadIdx.x" "t" {
          tir.for %j = 0 to min [%n] "j" {
            %z = arith.constant 0.0 : f32
            tir.store %z, %y[%t, %j] : memref<64x?xf32>
          }
          tir.for %i = 0 to min [%n, %n + %t * -1 + 3] "i" {
            %v = tir.load %x[%t, %i] : memref<64x?xf32>
            tir.store %v, %s[%t] : memref<64xf32>
            %w = tir.load %s[%t floordiv 8] : memref<64xf32>
            tir.store %w, %y[%t, %i] : memref<64x?xf32>
          }
        }
      }
    }""",
        [5, X64],
        [np.where(np.arange(5) + np.arange(64)[:, None] < 8, X64[np.arange(64) // 8], 0).astype(np.float32)],
    ),
]
"""What threads exchange here they exchange at once: run one after the other, it is something else."""


@pytest.fixture(scope="module")
def modules() -> dict[str, ModuleOp]:
    return {p.name: lowered(p, PIPELINE) for p in [*PROGRAMS, *KERNELS, *EXCHANGES]}


@pytest.mark.parametrize("program", [*PROGRAMS, *KERNELS], ids=lambda p: p.name)
def test_threads_give_what_one_after_the_other_gives(program: Program, modules: dict[str, ModuleOp]) -> None:
    check(program, run_tir_func(host(without_threads(lowered(program))), program.inputs))
    assert any(isinstance(op, ForOp) and is_thread(op, "threadIdx") for op in modules[program.name].walk())
    check(program, run_tir_func(host(modules[program.name]), program.inputs))


@pytest.mark.parametrize("program", EXCHANGES, ids=lambda p: p.name)
def test_threads_wait_where_only_some_have_work(program: Program, modules: dict[str, ModuleOp]) -> None:
    check(program, run_tir_func(host(modules[program.name]), program.inputs))


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_machine_code_gives_the_same(modules: dict[str, ModuleOp], tmp_path: Path) -> None:
    library = gpu_on_cpu.build_llvm({n: (m, nvptx.llvm_text(m, "sm_80")) for n, m in modules.items()}, tmp_path)
    for program in [*PROGRAMS, *KERNELS, *EXCHANGES]:
        check(program, gpu_on_cpu.run(modules[program.name], library, program.name, program.inputs))

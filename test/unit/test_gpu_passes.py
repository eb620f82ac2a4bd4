"""Schedules for threads: run one iteration after the other, and by simulated threads after the passes for them."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser

from lamina.dialects.tir.control import BarrierOp
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_memory import RaceError, UninitialisedError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline

from . import gpu_programs
from .gpu_programs import PIPELINE, Program

pytestmark = pytest.mark.slow

CTX = LaminaContext()


def lowered(program: Program, *passes: str) -> ModuleOp:
    """A module of a program's own after te-to-tir and what follows."""
    return _lowered(program.text, passes).clone()


# Most programs are asked for several times in a row: for each barrier, or to be run one iteration after the other too.
@lru_cache(maxsize=64)
def _lowered(text: str, passes: tuple[str, ...]) -> ModuleOp:
    if passes:
        module, names = _lowered(text, passes[:-1]).clone(), passes[-1]
    else:
        module, names = Parser(CTX, text).parse_module(), "te-to-tir"
    for p in parse_pipeline(names):
        p.apply(CTX, module)
        module.verify()
    return module


def host(module: ModuleOp) -> FuncOp:
    return [op for op in module.ops if isinstance(op, FuncOp)][-1]


def without_threads(module: ModuleOp) -> ModuleOp:
    """All loops of threads as loops that run one iteration after the other."""
    for op in module.walk():
        if isinstance(op, ForOp) and op.kind.data == "thread":
            op.properties["kind"] = StringAttr("serial")
            del op.properties["thread"]
    return module


def check(program: Program, results: list[np.ndarray[Any, Any]]) -> None:
    for got, expected in zip(results, program.outputs, strict=True):
        if program.exact:
            np.testing.assert_array_equal(got, expected, err_msg=program.text)
        else:
            np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-7, err_msg=program.text)


TILE = {"vy": 2, "vx": 2, "ty": 2, "tx": 4, "iy": 2, "ix": 2, "kk": 4}

PROGRAMS = [
    *(gpu_programs.vector_add(n) for n in (0, 1, 63, 64, 65, 1000)),
    gpu_programs.matmul(16, 16, 8, TILE),
    gpu_programs.matmul(13, 17, 7, TILE),
    gpu_programs.matmul(16, 16, 8, TILE, shared=False),
    gpu_programs.stencil(8, 8, 4, 4),
    gpu_programs.stencil(7, 9, 4, 2),
    gpu_programs.softmax(3, 16, 8),
    gpu_programs.softmax(2, 13, 6),
    gpu_programs.reversal(3, 8),
    gpu_programs.row_sum(6, 16, 2, 8, True),
    gpu_programs.row_sum(5, 13, 2, 5, True),
    gpu_programs.row_sum(5, 13, 2, 4, False),
    gpu_programs.nested_sums(7, 9, 3, 4, 3),
    gpu_programs.argmax(3, 17, 4),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_threads_give_what_numpy_gives(program: Program) -> None:
    check(program, run_tir_func(host(without_threads(lowered(program))), program.inputs))
    if program.in_step:
        check(program, run_tir_func(host(lowered(program)), program.inputs, "implied"))
    check(program, run_tir_func(host(lowered(program, PIPELINE)), program.inputs))


def test_drawn_programs_give_what_numpy_gives() -> None:
    random = Random(20)
    for _ in range(60):
        program = gpu_programs.draw(random)
        check(program, run_tir_func(host(without_threads(lowered(program))), program.inputs))
        check(program, run_tir_func(host(lowered(program, PIPELINE)), program.inputs))


@pytest.mark.parametrize("program", PROGRAMS[6:], ids=lambda p: p.name)
def test_every_barrier_is_needed(program: Program) -> None:
    """Without any one of them threads race, or read what no thread has written yet."""
    count = sum(isinstance(op, BarrierOp) for op in lowered(program, PIPELINE).walk())
    for n in range(count):
        module = lowered(program, PIPELINE)
        barrier = [op for op in module.walk() if isinstance(op, BarrierOp)][n]
        barrier.detach()
        with pytest.raises((RaceError, UninitialisedError)):
            run_tir_func(host(module), program.inputs)
            pytest.fail(f"barrier {n} of {count} is not needed:\n{module}")


def test_loops_along_one_axis_may_have_different_lengths() -> None:
    text = """
    tir.func @f(%x: memref<8xf32>, %z: memref<4xf32>, %y: memref<8xf32>) attributes {outputs = 2 : i64} {
      tir.for %b = 0 to 1 thread "blockIdx.x" "b" {
        %s = tir.alloc "s" scope "shared" : memref<4xf32>
        tir.for %j = 0 to 4 thread "threadIdx.x" "j" {
          %v = tir.load %x[%j * 2] : memref<8xf32>
          tir.store %v, %s[%j * -1 + 3] : memref<4xf32>
          tir.store %v, %z[%j] : memref<4xf32>
        }
        tir.for %i = 0 to 8 thread "threadIdx.x" "i" {
          %v = tir.load %s[%i floordiv 2] : memref<4xf32>
          tir.store %v, %y[%i] : memref<8xf32>
        }
      }
    }"""
    x = np.arange(8, dtype=np.float32)
    for passes in ("", "tir-unify-thread-binding,tir-thread-sync"):
        module = Parser(CTX, text).parse_module()
        for p in parse_pipeline(passes) if passes else []:
            p.apply(CTX, module)
            module.verify()
        if not passes:
            without_threads(module)
        z, y = run_tir_func(host(module), [x])
        np.testing.assert_array_equal(z, x[::2])
        np.testing.assert_array_equal(y, x[::2][::-1].repeat(2))

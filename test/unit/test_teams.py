"""Teams: random kernels get the barriers that they need, and any number of threads computes what one would."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.tir.ops import ForOp, FuncOp
from lamina.dialects.tir.team import TeamBarrierOp, TeamOp
from lamina.errors import InputError
from lamina.interpreters.tir_memory import RaceError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.tir.threads.form_teams import form_team
from lamina.passes.tir_to_llvm.cost import cycles
from lamina.runtime.compiled import CompiledProgram
from lamina.runtime.llvm_module import load_module
from lamina.runtime.program import ThreadPool

from . import tir_kernels as kernels

Array = np.ndarray[Any, Any]
N, STEPS, BUFFERS = 24, 5, 3


def statement(r: random.Random, n: int) -> str:
    """A loop that computes one buffer from another, at the same places or elsewhere; parallel, or for one thread."""
    target, source = r.sample(range(BUFFERS), 2)
    extent = r.choice([1, 2, 3, 8])
    own = N // extent
    here = f"%i * {own} + %l"
    there = r.choice([here, here, f"%i * -{own} + %l * -1 + {N - 1}", "%t", f"({here} + 1) mod {N}"])
    kind = "parallel " if extent > 1 or r.random() < 0.5 else ""
    return f"""
      tir.for %i = 0 to {extent} {kind}"s{n}.i" {{
        tir.for %l = 0 to {own} "s{n}.l" {{
          %a = tir.load %b{source}[{there}] : memref<{N}xf32>
          %b = tir.load %b{target}[{here}] : memref<{N}xf32>
          %c = arith.subf %a, %b : f32
          %d = arith.addf %c, %one : f32
          tir.store %d, %b{target}[{here}] : memref<{N}xf32>
        }}
      }}"""


def kernel(seed: int) -> ModuleOp:
    r = random.Random(seed)
    arguments = ", ".join(f"%b{n}: memref<{N}xf32>" for n in range(BUFFERS))
    fill = "".join(f"tir.store %v, %b{n}[%i] : memref<{N}xf32>\n" for n in range(BUFFERS))
    body = "".join(statement(r, n) for n in range(r.randint(1, 4)))
    return kernels.parse(f"""
tir.func @f(%x: memref<{N}xf32>, {arguments}) attributes {{outputs = {BUFFERS} : i64}} {{
  tir.for %i = 0 to {N} "fill" {{
    %v = tir.load %x[%i] : memref<{N}xf32>
    {fill} }}
  tir.for %t = 0 to {STEPS} "t" {{
    %one = arith.constant 1.0 : f32
    {body}
  }}
}}""")


def with_team(module: ModuleOp) -> ModuleOp:
    copy = module.clone()
    func = kernels.kernel_of(copy)
    loop = [op for op in func.body.block.ops if isinstance(op, ForOp)][-1]
    form_team(func, loop)
    copy.verify()
    return copy


def fused(module: ModuleOp) -> ModuleOp:
    return kernels.passes(module, "tir-fuse-parallel-loops")


@cache
def pool(threads: int) -> ThreadPool:
    made = ThreadPool(threads)
    # More threads than processors, too: they then take turns.
    made.members = threads - 1
    return made


def run(program: CompiledProgram, threads: int, x: Array) -> list[Array]:
    program.pool = pool(threads)
    return list(program.run({"arg0": x}).values())


def data() -> Array:
    return np.arange(N, dtype=np.float32) % 7


@pytest.mark.parametrize("seed", range(16))
def test_barriers_are_there_where_threads_need_each_other(seed: int) -> None:
    module = kernel(seed)
    expected = kernels.interpret(module, [data()])
    # The interpreter refuses a race.
    for changed in (with_team(module), fused(module), with_team(fused(module))):
        for a, b in zip(kernels.interpret(changed, [data()]), expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_some_loops_need_no_barrier_and_become_one() -> None:
    assert 3 < sum(loops(kernel(seed)) - loops(fused(kernel(seed))) for seed in range(16)) < loops(kernel(0)) * 16


def loops(module: ModuleOp) -> int:
    return sum(isinstance(op, ForOp) and op.kind.data == "parallel" for op in all_ops(module))


def test_any_number_of_threads_computes_the_same() -> None:
    for seed in (3, 5):
        module = kernel(seed)
        expected = kernels.interpret(module, [data()])
        program = load_module(kernels.lowered(with_team(module)), None)
        for threads in (1, 2, 3, 8):
            for _ in range(3):
                for a, b in zip(run(program, threads, data()), expected, strict=True):
                    np.testing.assert_array_equal(a, b, f"{threads} threads")


def test_without_barriers_threads_race() -> None:
    raced = 0
    for seed in range(16):
        module = with_team(kernel(seed))
        for barrier in [op for op in all_ops(module) if isinstance(op, TeamBarrierOp)]:
            barrier.detach()
            barrier.erase()
        try:
            kernels.interpret(module, [data()])
        except RaceError as e:
            assert "the threads of a team race" in str(e) and "no barrier between" in str(e)
            raced += 1
    assert raced > 8


def test_products_in_registers_cost_their_multiply_adds_and_loads() -> None:
    text = """
    tir.func @f(%a: memref<64x8xf32>, %w: memref<64x32xf32>, %y: memref<8x32xf32>) {
      %acc = tir.alloc "acc" scope "register" : memref<8x32xf32>
      tir.for %k = 0 to 64 reduction "k" {
        tir.for %p = 0 to 8 unrolled "p" {
          tir.for %v = 0 to 2 unrolled "v" {
            %s = tir.load %acc[%p, lane + %v * 16] : memref<8x32xf32>, vector<16xf32>
            %0 = tir.load %a[%k, %p] : memref<64x8xf32>
            %1 = tir.load %w[%k, lane + %v * 16] : memref<64x32xf32>, vector<16xf32>
            %2 = tir.broadcast %0 : f32 to vector<16xf32>
            %3 = math.fma %2, %1, %s : vector<16xf32>
            tir.store %3, %acc[%p, lane + %v * 16] : memref<8x32xf32>, vector<16xf32>
          }
        }
      }
    }"""
    module = parse_text(LaminaContext(), text, "product.mlir")
    func = next(op for op in module.ops if isinstance(op, FuncOp))
    scalars, vectors, products, loop = 8 * 0.5, 2, 16, 1
    assert cycles(func.body.block.ops, 512) == 64 * (scalars + vectors + products + loop)
    # Half as wide, a vector is two.
    assert cycles(func.body.block.ops, 256) == 64 * (scalars + 2 * (vectors + products) + loop)


def test_a_barrier_in_a_shared_loop_is_refused() -> None:
    module = with_team(kernel(0))
    team = next(op for op in all_ops(module) if isinstance(op, TeamOp))
    loop = next(op for op in all_ops(team) if isinstance(op, ForOp) and op.kind.data == "parallel")
    loop.body.block.add_op(TeamBarrierOp())
    with pytest.raises(VerifyException, match="threads run different iterations, and not all come"):
        module.verify()


def test_the_sanitizer_comes_before() -> None:
    with pytest.raises(InputError, match="run tir-form-teams after it"):
        kernels.passes(with_team(kernel(0)), "tir-sanitize")


def test_threads_that_call_at_once_and_forked_processes_have_teams_of_their_own() -> None:
    module = kernel(3)
    expected = kernels.interpret(module, [data()])
    program = load_module(kernels.lowered(with_team(module)), None)

    def is_right() -> bool:
        return all(np.array_equal(a, b) for a, b in zip(run(program, 2, data()), expected, strict=True))

    assert is_right()
    with ThreadPoolExecutor(4) as callers:
        calls = [callers.submit(lambda: all(is_right() for _ in range(10))) for _ in range(4)]
        assert all(call.result() for call in calls)
    child = os.fork()
    if child == 0:
        os._exit(0 if is_right() and is_right() else 1)
    assert is_right()
    assert os.waitpid(child, 0)[1] == 0

"""Cost of a schedule and of the stair to LLVM.

    python bench/schedule_cost.py [--repeats 9]

A 3x3 convolution with bias and relu is scheduled by 30 primitives: the time from the naive nest to the final tir, and
from there to LLVM text, per emitted instruction. Both are measured again on programs of 2, 4 and 8 such convolutions,
where a time per primitive or per instruction that grows would show. The goals: 30 ms for the schedule, 40 microseconds
an instruction, ratios of at most 1.5. Every measure is the least of the repeats, with the spread to the median.
"""

from __future__ import annotations

import argparse
import gc
from time import thread_time

from xdsl.dialects.builtin import ModuleOp

from lamina.backends.cpu.jit import named_target
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.primitives.loops import LoopsOp
from lamina.dialects.te import ops as te
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.te_to_tir.te_to_tir import apply_schedule, lower_function

CONVOLUTION = """
te.func @conv{n}(%X: tensor<4x58x58x16xf32>, %W: tensor<2x4x3x3x16x32xf32>, %B: tensor<2x32xf32>)
    -> tensor<2x56x56x32xf32> {{
  %acc = te.compute "acc" [2, 56, 56, 32] sum [4, 3, 3, 16] (%ko, %y, %x, %kv, %c, %r, %s, %ci)
      : tensor<2x56x56x32xf32> {{
    %a = te.read %X[%c, %y + %r, %x + %s, %ci] : tensor<4x58x58x16xf32>
    %b = te.read %W[%ko, %c, %r, %s, %ci, %kv] : tensor<2x4x3x3x16x32xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }}
  %bias = te.compute "bias" [2, 56, 56, 32] (%ko, %y, %x, %kv) : tensor<2x56x56x32xf32> {{
    %a = te.read %acc[%ko, %y, %x, %kv] : tensor<2x56x56x32xf32>
    %b = te.read %B[%ko, %kv] : tensor<2x32xf32>
    %s = arith.addf %a, %b : f32
    te.yield %s : f32
  }}
  %out = te.compute "out" [2, 56, 56, 32] (%ko, %y, %x, %kv) : tensor<2x56x56x32xf32> {{
    %a = te.read %bias[%ko, %y, %x, %kv] : tensor<2x56x56x32xf32>
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %a, %z : f32
    te.yield %m : f32
  }}
  te.return %out : tensor<2x56x56x32xf32>
}}
te.schedule @conv{n} {{
  te.compute_inline "bias"
  %ko, %y, %x, %kv, %c, %r, %s, %ci = te.loops "acc" [8]
  %yo, %yi = te.split %y [-1, 2]
  %y2 = te.fuse %yo, %yi
  %xo, %xi = te.split %x [4, 14]
  %co, %cc = te.split %c [2, 2]
  %cio, %cii = te.split %ci [4, 4]
  %kvo, %kvi = te.split %kv [2, 16]
  te.reorder %ko, %y2, %xo, %co, %cc, %r, %s, %cio, %cii, %xi, %kvo, %kvi
  %par = te.fuse %ko, %y2
  %ci2 = te.fuse %cio, %cii
  %c2 = te.fuse %co, %cc
  %oko, %oy, %ox, %okv = te.reverse_compute_at "out" at %xo [4]
  te.set_scope "acc" "register"
  %okvo, %okvi = te.split %okv [2, 16]
  te.reorder %oko, %oy, %okvo, %ox, %okvi
  %wl = te.cache_read "W" in "acc" at %ci2 scope "register" [1]
  %wlo, %wli = te.split %wl [2, 16]
  te.vectorize %kvi
  te.vectorize %okvi
  te.unroll %kvo
  te.unroll %okvo
  te.unroll %xi
  te.unroll %ox
  te.unroll %oy
  te.unroll %oko
  te.unroll %wlo
  te.vectorize %wli
  te.unroll %s
  te.annotate %par "grain" = 4
  te.parallel %par
}}
"""


def least(times: list[float]) -> tuple[float, float]:
    """The least of some times, and how far the median lies above it."""
    ordered = sorted(times)
    return ordered[0], ordered[len(ordered) // 2] / ordered[0] - 1


def measure(count: int, repeats: int) -> tuple[list[float], list[float], int, int]:
    """Seconds of scheduling and of the stair, the number of primitives and of LLVM instructions."""
    ctx = LaminaContext()
    text = "".join(CONVOLUTION.format(n=n) for n in range(count))
    target = named_target("x86-64-v4")
    passes = parse_pipeline("tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-fuse-multiply-add,tir-to-llvm")
    schedules: list[float] = []
    stairs: list[float] = []
    primitives = instructions = 0
    for _ in range(repeats):
        module = parse_text(ctx, text, "convolution.mlir")
        lowered = [(op, *lower_function(op)) for op in module.ops if isinstance(op, te.FuncOp)]
        applied = [op for op in module.ops if isinstance(op, ScheduleOp)]
        primitives = sum(not isinstance(p, LoopsOp) for op in applied for p in op.body.block.ops)
        gc.collect()
        start = thread_time()
        for schedule, (_, kernel, arguments) in zip(applied, lowered, strict=True):
            apply_schedule(schedule, kernel, arguments)
        schedules.append(thread_time() - start)
        final = ModuleOp([kernel for _, kernel, _ in lowered])
        gc.collect()
        start = thread_time()
        run_pipeline(final, ctx, passes)
        emitted = emit_module(final, target)
        stairs.append(thread_time() - start)
        instructions = sum(line.startswith("  ") for line in emitted.splitlines())
    return schedules, stairs, primitives, instructions


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    if repeats < 1:
        parser.error("--repeats is at least 1")
    first: tuple[float, float] | None = None
    print("convolutions  primitives  schedule ms  (spread)  instructions  stair us/instruction  (spread)")
    for count in (1, 2, 4, 8):
        schedules, stairs, primitives, instructions = measure(count, repeats)
        (schedule, noise), (stair, stair_noise) = least(schedules), least(stairs)
        each = stair / instructions * 1e6
        print(
            f"{count:12d}  {primitives:10d}  {schedule * 1e3:11.1f}  {noise:8.0%}  {instructions:12d}  {each:20.1f}"
            f"  {stair_noise:8.0%}"
        )
        if first is None:
            first = schedule / primitives, each
    assert first is not None
    print(f"per primitive, 8 to 1: {schedule / primitives / first[0]:.2f}; per instruction: {each / first[1]:.2f}")


if __name__ == "__main__":
    main()

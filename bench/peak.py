"""Peak rates of one core, and how near the built-in micro-kernels come with their data in the first cache.

    python bench/peak.py [--rounds 15] [--tile 14x32x64]

A peak is a loop of independent multiply-adds on registers (twelve accumulators); a micro-kernel is a tensor intrinsic
put into a matrix product by te.tensorize, run over the same small operands again and again. Times are the thread's
own (what other processes take is not counted), the two run by turns, and the figures are medians. The goal: a
register tile of at least 90 % of the peak.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable
from functools import cache
from statistics import median
from time import thread_time
from typing import Any, NamedTuple

import numpy as np

from lamina.backends.cpu.jit import compile_object, host_target
from lamina.backends.cpu.link import load_objects
from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.target import TARGET, TargetAttr
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline

Array = np.ndarray[Any, Any]

PIPELINE = (
    "te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-expand-math,tir-fuse-multiply-add,"
    "tir-plan-memory,tir-to-llvm"
)
ACCUMULATORS = 12
GOAL = 0.9


class Instruction(NamedTuple):
    """A multiply-add of the machine: its intrinsic, the accumulators' and the factors' type, operations in one."""

    intrinsic: str
    wide: str
    narrow: str
    operations: int
    accumulator_first: bool
    feature: str


FMA_512 = Instruction("llvm.fma.v16f32", "<16 x float>", "<16 x float>", 32, False, "avx512f")
FMA_256 = Instruction("llvm.fma.v8f32", "<8 x float>", "<8 x float>", 16, False, "fma")
INT8 = Instruction("llvm.x86.avx512.vpdpbusd.512", "<16 x i32>", "<64 x i8>", 128, True, "avx512vnni")
BF16 = Instruction("llvm.x86.avx512bf16.dpbf16ps.512", "<16 x float>", "<32 x bfloat>", 64, True, "avx512bf16")


def peak_text(instruction: Instruction) -> str:
    """A function `void peak(ptr factors, i64 rounds, ptr result)`: each round, every accumulator once."""
    name, wide, narrow, _, first, _ = instruction
    lines = ["define void @peak(ptr %factors, i64 %rounds, ptr %result) alignstack(64) {", "entry:"]
    lines += [f"  %x = load {narrow}, ptr %factors, align 1"]
    lines += [f"  %at = getelementptr {narrow}, ptr %factors, i64 1", f"  %y = load {narrow}, ptr %at, align 1"]
    lines += ["  br label %loop", "loop:", "  %n = phi i64 [ 0, %entry ], [ %next, %loop ]"]
    for a in range(ACCUMULATORS):
        lines.append(f"  %old{a} = phi {wide} [ zeroinitializer, %entry ], [ %new{a}, %loop ]")
    for a in range(ACCUMULATORS):
        factors = f"{narrow} %x, {narrow} %y"
        operands = f"{wide} %old{a}, {factors}" if first else f"{factors}, {wide} %old{a}"
        lines.append(f"  %new{a} = call {wide} @{name}({operands})")
    lines += ["  %next = add i64 %n, 1", "  %more = icmp slt i64 %next, %rounds"]
    lines += ["  br i1 %more, label %loop, label %exit", "exit:"]
    for a in range(ACCUMULATORS):
        lines += [f"  %p{a} = getelementptr {wide}, ptr %result, i64 {a}"]
        lines += [f"  store {wide} %new{a}, ptr %p{a}, align 1"]
    operands = ", ".join([wide, narrow, narrow] if first else [narrow, narrow, wide])
    return "\n".join([*lines, "  ret void", "}", f"declare {wide} @{name}({operands})", ""])


@cache
def peak_loop(instruction: Instruction) -> Callable[[int], None]:
    """The loop, compiled for this machine; its argument is the number of rounds."""
    library = load_objects([compile_object(peak_text(instruction), host_target(1))])
    run = library.function("peak", None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    factors, result = np.zeros(1 << 10, np.uint8), np.zeros(1 << 12, np.uint8)
    return lambda rounds: run(factors.ctypes.data, rounds, result.ctypes.data)


def peak_rate(instruction: Instruction, seconds: float = 0.02) -> float:
    """Operations a second (a multiply-add counts two), once over about `seconds` of the thread's time."""
    run = peak_loop(instruction)
    rounds = int(seconds * 3e9) // ACCUMULATORS
    run(1000)
    start = thread_time()
    run(rounds)
    return instruction.operations * ACCUMULATORS * rounds / (thread_time() - start)


def fma_peak(rounds: int = 15) -> float:
    """The machine's peak of single-precision operations a second on one core: the median of several measurements."""
    instruction = best_fma(host_target(1))
    return median(peak_rate(instruction) for _ in range(rounds))


def best_fma(target: TargetAttr) -> Instruction:
    return FMA_512 if target.has_feature(FMA_512.feature) else FMA_256


# -- micro-kernels ---------------------------------------------------------------------------------------------------


class Kernel(NamedTuple):
    """A matrix product of one tile, repeated: te text, its operands and operations."""

    text: str
    inputs: dict[str, Array]
    operations: int


def _product(
    operands: list[str], shapes: tuple[int, int, int], result: str, reads: list[str], body: str, tile: str, repeat: int
) -> str:
    """@main: C[i, j] = sum over r and k of what `body` makes of the reads; the loops under r are the intrinsic's."""
    m, n, k = shapes
    a, w = operands
    return f"""
te.func @product(%A: {a}, %W: {w}) -> {result} {{
  %C = te.compute "C" [{m}, {n}] sum [{repeat}, {k}] (%i, %j, %r, %k) : {result} {{
    %x = te.read %A[{reads[0]}] : {a}
    %y = te.read %W[{reads[1]}] : {w}
{body}
  }}
  te.return %C : {result}
}}
te.schedule @product {{
  %i, %j, %r, %k = te.loops "C" [4]
{tile}
}}
func.func @main(%A: {a}, %W: {w}) -> {result} {{
  %C = te.call @product(%A, %W) : ({a}, {w}) -> {result}
  func.return %C : {result}
}}
"""


def fma_kernel(m: int, n: int, k: int, repeat: int) -> Kernel:
    """The register tile `@cpu.fma_tile_MxNxK`."""
    body = "    %p = arith.mulf %x, %y : f32\n    te.yield %p : f32"
    tile = f"  te.reorder %r, %i, %j, %k\n  te.tensorize %i @cpu.fma_tile_{m}x{n}x{k}"
    types = [f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"]
    text = _product(types[:2], (m, n, k), types[2], ["%i, %k", "%k, %j"], body, tile, repeat)
    draw = np.random.default_rng(0)
    inputs = {"A": draw.standard_normal((m, k)), "W": draw.standard_normal((k, n))}
    return Kernel(text, {name: v.astype(np.float32) for name, v in inputs.items()}, 2 * m * n * k * repeat)


def dot_kernel(dtype: str, rows: int, k: int, repeat: int) -> Kernel:
    """`@cpu.vnni_u8s8s32_16x4` or `@cpu.bf16_dot_16x2` in a tile of rows by two vectors, its result in registers."""
    int8 = dtype == "int8"
    group, intrinsic = (4, "cpu.vnni_u8s8s32_16x4") if int8 else (2, "cpu.bf16_dot_16x2")
    wide, a, w = ("i32", "ui8", "i8") if int8 else ("f32", "bf16", "bf16")
    types = [f"tensor<{rows}x{k}x{a}>", f"tensor<2x{k // group}x16x{group}x{w}>", f"tensor<{rows}x32x{wide}>"]
    reads = ["%i, %k", f"%j floordiv 16, %k floordiv {group}, %j mod 16, %k mod {group}"]
    extend = ("extui", "extsi") if int8 else ("extf", "extf")
    source = "i8" if int8 else "bf16"
    body = "\n".join(
        [
            *(f"    %w{v} = arith.{e} %{v} : {source} to {wide}" for v, e in zip("xy", extend, strict=True)),
            f"    %p = arith.mul{wide[0]} %wx, %wy : {wide}",
            f"    te.yield %p : {wide}",
        ]
    )
    tile = f"""  te.cache_write "C" scope "register"
  %jo, %ji = te.split %j [2, 16]
  %ko, %ki = te.split %k [-1, {group}]
  te.reorder %r, %ko, %i, %jo, %ji, %ki
  te.tensorize %ji @{intrinsic}
  te.unroll %i
  te.unroll %jo
  %oi, %oj = te.loops "C.out" [2]
  %ojo, %oji = te.split %oj [2, 16]
  te.unroll %oi
  te.unroll %ojo
  te.vectorize %oji"""
    text = _product(types[:2], (rows, 32, k), types[2], reads, body, tile, repeat)
    draw = np.random.default_rng(0)
    shapes = {"A": (rows, k), "W": (2, k // group, 16, group)}
    dtypes = ("uint8", "int8") if int8 else ("bfloat16", "bfloat16")
    inputs = {
        n: draw.integers(0, 5, shape).astype(numpy_dtype(d))
        for (n, shape), d in zip(shapes.items(), dtypes, strict=True)
    }
    return Kernel(text, inputs, 2 * rows * 32 * k * repeat)


class Micro:
    """A kernel compiled for this machine, to be run again and again."""

    def __init__(self, kernel: Kernel) -> None:
        from lamina.runtime.llvm_module import load_module

        context = LaminaContext()
        module = parse_text(context, kernel.text, "kernel.mlir")
        module.attributes[TARGET] = host_target(1)
        run_pipeline(module, context, parse_pipeline(PIPELINE))
        self.kernel = kernel
        self.program = load_module(module, None)

    def rate(self) -> float:
        """Operations a second of one run."""
        start = thread_time()
        self.program.run(self.kernel.inputs)
        return self.kernel.operations / (thread_time() - start)


def by_turns(micro: Micro, instruction: Instruction, rounds: int) -> tuple[float, float, float]:
    """Median rates of kernel and peak, and the median of their ratios, from runs by turns."""
    micro.rate()
    rates = [(micro.rate(), peak_rate(instruction)) for _ in range(rounds)]
    return median(a for a, _ in rates), median(b for _, b in rates), median(a / b for a, b in rates)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--tile", action="append", help="MxNxK of a register tile; several may be given")
    given = options.parse_args()
    target = host_target(1)
    for name, instruction in {"fma": best_fma(target), "int8": INT8, "bf16": BF16}.items():
        if not target.has_feature(instruction.feature):
            print(f"{name:6} no {instruction.feature} here")
            continue
        rate = median(peak_rate(instruction) for _ in range(given.rounds))
        print(f"{name:6} {rate / 1e9:7.1f} G operations/s at most  ({instruction.intrinsic})")
    for tile in given.tile or ["14x32x64", "6x64x64", "12x32x64", "8x48x64"]:
        m, n, k = map(int, tile.split("x"))
        micro = Micro(fma_kernel(m, n, k, max(1_000_000_000 // (2 * m * n * k), 1)))
        rate, peak, ratio = by_turns(micro, best_fma(target), given.rounds)
        verdict = "" if ratio >= GOAL else f"  below the goal of {GOAL:.0%}"
        print(f"fma_tile_{tile:10} {rate / 1e9:7.1f} of {peak / 1e9:.1f} G operations/s  {ratio:6.1%}{verdict}")
    for name, instruction in {"int8": INT8, "bf16": BF16}.items():
        if target.has_feature(instruction.feature):
            micro = Micro(dot_kernel(name, 12, 64, 40_000))
            rate, peak, ratio = by_turns(micro, instruction, given.rounds)
            print(f"{name} dots, 12x32x64  {rate / 1e9:7.1f} of {peak / 1e9:.1f} G operations/s  {ratio:6.1%}")


if __name__ == "__main__":
    main()

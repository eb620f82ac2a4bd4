"""A register tile of a matrix product: `@cpu.fma_tile_14x32x64` adds 14x64 times 64x32 floats into 14x32.

The result stands in registers over the whole reduction. Of a step's operands the vectors of b come first, then each
element of a once, in every lane, for as many fused multiply-adds as the tile has vectors in a row: LLVM
keeps this order, and it needs no spills. The rows of b and of the result are contiguous; a may lie anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType, f32
from xdsl.ir import Block

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.index.accesses import INDEX
from lamina.dialects.index.index_map import IndexMap
from lamina.dialects.index.linear import Linear
from lamina.dialects.te.ops import ComputeOp, FuncOp, ReadOp, ReturnOp, YieldOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp, implementation, set_layout
from lamina.dialects.tir.body_builder import LANES, BodyBuilder

PARAMETERS = "MxNxK"

UNROLL = 4
"""Steps of the reduction in one body. With 16 of them LLVM loads elements of a ahead, and spills: 12x32 at 61 % of the
machine's peak instead of 96 %."""


def declare(numbers: Sequence[int]) -> TensorIntrinOp:
    """The intrinsic of a tile of m x n over k. Raises ValueError for a tile that is no whole number of vectors."""
    m, n, k = numbers
    if min(numbers) < 1 or n % 8:
        raise ValueError(f"fma_tile_{m}x{n}x{k}: a tile has rows, steps, and columns in vectors of 8 or 16")
    lanes = 16 if n % 16 == 0 else 8
    name = f"cpu.fma_tile_{m}x{n}x{k}"
    desc = _description(m, n, k)
    update = implementation(desc, "update", lambda b: _update(b, m, n, k, lanes))
    reset = implementation(desc, "reset", lambda b: _reset(b, m, n, lanes))
    return TensorIntrinOp.make(name, desc, [update, reset])


def _description(m: int, n: int, k: int) -> FuncOp:
    inputs, result = [tensor_type(s, "float32") for s in ((m, k), (k, n))], tensor_type((m, n), "float32")
    func = FuncOp.make("desc", inputs, [result])
    a, b = func.body.block.args
    a.name_hint, b.name_hint = "a", "b"
    body = Block(arg_types=[INDEX] * 3)
    i, j, s = body.args
    i.name_hint, j.name_hint, s.name_hint = "i", "j", "k"
    plain = IndexMap(2, (Linear.dim(0), Linear.dim(1)))
    x, y = ReadOp.make(a, [i, s], plain), ReadOp.make(b, [s, j], plain)
    product = arith.MulfOp(x.result, y.result)
    body.add_ops([x, y, product, YieldOp.create(operands=[product.result])])
    compute = ComputeOp.make("c", result, [k], "sum", body)
    compute.result.name_hint = "c"
    func.body.block.add_ops([compute, ReturnOp.create(operands=[compute.result])])
    for operand in (1, 2):
        set_layout(func, operand, [-1, 1])
    return func


def _divisor(number: int, most: int) -> int:
    return max(d for d in range(1, most + 1) if number % d == 0)


def _update(b: BodyBuilder, m: int, n: int, k: int, lanes: int) -> None:
    vectors = n // lanes
    acc = b.alloc("acc", [m, n], f32)
    row = b.alloc("row", [n], f32)
    with b.loop(m, "i.load", "unrolled") as i, b.loop(vectors, "v.load", "unrolled") as v:
        b.store(b.load(b["c"], [i, v * lanes + LANES], lanes), acc, [i, v * lanes + LANES])
    steps = _divisor(k, UNROLL)
    with b.loop(k // steps, "ko", reduction=True) as ko, b.loop(steps, "ki", "unrolled", reduction=True) as ki:
        step = ko * steps + ki
        with b.loop(vectors, "v.b", "unrolled") as v:
            b.store(b.load(b["b"], [step, v * lanes + LANES], lanes), row, [v * lanes + LANES])
        with b.loop(m, "i", "unrolled") as i:
            x = b.broadcast(b.load(b["a"], [i, step], hint="x"), lanes)
            with b.loop(vectors, "v", "unrolled") as v:
                at = [i, v * lanes + LANES]
                b.store(b.fma(x, b.load(row, at[1:], lanes), b.load(acc, at, lanes)), acc, at)
    with b.loop(m, "i.store", "unrolled") as i, b.loop(vectors, "v.store", "unrolled") as v:
        b.store(b.load(acc, [i, v * lanes + LANES], lanes), b["c"], [i, v * lanes + LANES])


def _reset(b: BodyBuilder, m: int, n: int, lanes: int) -> None:
    zero = b.constant(0.0, VectorType(f32, [lanes]))
    with b.loop(m, "i.zero", "unrolled") as i, b.loop(n // lanes, "v.zero", "unrolled") as v:
        b.store(zero, b["c"], [i, v * lanes + LANES])

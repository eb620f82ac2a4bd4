"""Small te programs of many kinds, with inputs whose sums are exact, for tests of schedules."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Tensor
from lamina.dialects.te.indices import building
from lamina.dialects.te.ops import FuncOp, ReturnOp

Arrays = list[np.ndarray[Any, Any]]


def program(shapes: list[tuple[int, ...]], build: Callable[..., Any], dtype: str = "float32") -> FuncOp:
    """A te.func from the equations that `build` makes of its arguments."""
    func = FuncOp.make("f", [tensor_type(s, dtype) for s in shapes], [])
    block = func.body.block
    for argument, name in zip(block.args, "XWBCDE", strict=False):
        argument.name_hint = name
    with building(block):
        results = build(*(Tensor(a) for a in block.args))
    values = [t.value for t in (results if isinstance(results, tuple) else (results,))]
    block.add_op(ReturnOp.create(operands=values))
    func.properties["function_type"] = type(func.function_type).from_lists(
        [a.type for a in block.args], [v.type for v in values]
    )
    func.verify()
    return func


def inputs_of(func: FuncOp, seed: int) -> Arrays:
    """Small integers in the type of each argument."""
    generator = np.random.default_rng(seed)
    arrays: Arrays = []
    for argument in func.body.block.args:
        name = "int32" if "i32" in str(argument.type) else "float32"
        arrays.append(generator.integers(-4, 5, argument.type.get_shape()).astype(name))  # type: ignore[attr-defined]
    return arrays


def matmul(r: random.Random) -> FuncOp:
    m, n, k = r.randint(1, 9), r.randint(1, 9), r.randint(1, 9)

    def build(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        kk = te.reduce_axis(k, "k")
        acc = te.compute((m, n), lambda i, j: te.sum(x[i, kk] * w[kk, j], kk), "acc")
        biased = te.compute((m, n), lambda i, j: acc[i, j] + b[j], "bias")
        return te.compute((m, n), lambda i, j: te.maximum(biased[i, j], 0.0), "relu")

    return program([(m, k), (k, n), (n,)], build)


def conv2d(r: random.Random) -> FuncOp:
    c, o, size, window = r.randint(1, 3), r.randint(1, 4), r.randint(3, 7), r.choice([1, 2, 3])
    pad, stride, dilation = r.randint(0, 2), r.randint(1, 2), r.randint(1, 2)
    out = (size + 2 * pad - dilation * (window - 1) - 1) // stride + 1
    if out < 1:
        pad, stride, dilation, out = 0, 1, 1, size - window + 1

    def build(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        padded = te.pad(x, (0, pad, pad), (0, pad, pad))
        rc, ry, rx = te.reduce_axis(c, "rc"), te.reduce_axis(window, "ry"), te.reduce_axis(window, "rx")
        conv = te.compute(
            (o, out, out),
            lambda k, y, x: te.sum(
                padded[rc, y * stride + ry * dilation, x * stride + rx * dilation] * w[k, rc, ry, rx], (rc, ry, rx)
            ),
            "conv",
        )
        return te.compute((o, out, out), lambda k, y, x: te.maximum(conv[k, y, x] + b[k], 0.0), "out")

    return program([(c, size, size), (o, c, window, window), (o,)], build)


def depthwise(r: random.Random) -> FuncOp:
    c, size = r.randint(1, 5), r.randint(3, 6)

    def build(x: Tensor, w: Tensor) -> Tensor:
        padded = te.pad(x, (0, 1, 1), (0, 1, 1))
        ry, rx = te.reduce_axis(3, "ry"), te.reduce_axis(3, "rx")
        return te.compute(
            (c, size, size), lambda k, y, x: te.sum(padded[k, y + ry, x + rx] * w[k, ry, rx], (ry, rx)), "dw"
        )

    return program([(c, size, size), (c, 3, 3)], build)


def pooling(r: random.Random) -> FuncOp:
    c, size, stride = r.randint(1, 3), r.randint(3, 7), r.randint(1, 3)
    out = (size + 2 - 3) // stride + 1

    def build(x: Tensor) -> Tensor:
        padded = te.pad(x, (0, 1, 1), (0, 1, 1), -9.0)
        ry, rx = te.reduce_axis(3, "ry"), te.reduce_axis(3, "rx")
        best = te.compute(
            (c, out, out),
            lambda k, y, x: te.max(padded[k, y * stride + ry, x * stride + rx], (ry, rx)),
            "pool",
        )
        a, b = te.reduce_axis(out, "a"), te.reduce_axis(out, "b")
        return te.compute((c,), lambda k: te.sum(best[k, a, b], (a, b)), "total")

    return program([(c, size, size)], build)


def chain(r: random.Random) -> FuncOp:
    """Elementwise stages on integers, with broadcasting and a condition on the index."""
    m, n = r.randint(1, 12), r.randint(1, 12)

    def build(x: Tensor, w: Tensor) -> Tensor:
        a = te.compute((m, n), lambda i, j: x[i, j] + w[j], "a")
        b = te.compute((m, n), lambda i, j: te.select(i >= j, a[i, j], w[j] * 3), "b")
        return te.compute((m, n), lambda i, j: b[i, j] * a[i, j] - x[i, j], "c")

    return program([(m, n), (n,)], build, "int32")


def softmax(r: random.Random) -> FuncOp:
    """The stages of a softmax, with a polynomial in the place of the exponential so that sums are exact."""
    m, n = r.randint(1, 6), r.randint(1, 10)

    def build(x: Tensor) -> Tensor:
        k = te.reduce_axis(n, "k")
        top = te.compute((m,), lambda i: te.max(x[i, k], k), "top")
        e = te.compute((m, n), lambda i, j: (x[i, j] - top[i]) * (x[i, j] - top[i]) + 1.0, "e")
        k = te.reduce_axis(n, "k")
        total = te.compute((m,), lambda i: te.sum(e[i, k], k), "total")
        return te.compute((m, n), lambda i, j: e[i, j] / total[i], "y")

    return program([(m, n)], build)


def stencil(r: random.Random) -> FuncOp:
    n = r.randint(3, 20)

    def build(x: Tensor) -> Tensor:
        a = te.compute((n,), lambda i: te.if_then_else(te.all(i >= 1, i < n - 1), x[i - 1] + x[i + 1], x[i]), "a")
        b = te.compute((n - 2,), lambda i: a[i] + a[i + 1] * 2.0 + a[i + 2], "b")
        return te.compute((n - 2,), lambda i: b[n - 3 - i] - a[i], "c")

    return program([(n,)], build)


def reshape(r: random.Random) -> FuncOp:
    """Reads through floor division and remainder, a transposition and a concatenation."""
    m, n = r.randint(1, 5), r.randint(1, 6)

    def build(x: Tensor) -> Tensor:
        flat = te.compute((m * n,), lambda i: x[i // n, i % n] + 1.0, "flat")
        turned = te.compute((n, m), lambda i, j: flat[j * n + i] * 2.0, "turned")
        both = te.compute((2 * n, m), lambda i, j: te.if_then_else(i < n, turned[i, j], turned[i - n, j] + 5.0), "both")
        return te.compute((2 * n, m), lambda i, j: both[i, j] + 1.0, "last")

    return program([(m, n)], build)


def two_results(r: random.Random) -> FuncOp:
    n, k = r.randint(1, 8), r.randint(1, 6)

    def build(x: Tensor) -> tuple[Tensor, Tensor]:
        kk = te.reduce_axis(k, "k")
        row = te.compute((n,), lambda i: te.sum(x[i, kk], kk), "row")
        return row, te.compute((n, k), lambda i, j: x[i, j] - row[i], "centred")

    return program([(n, k)], build)


PROGRAMS = [matmul, conv2d, depthwise, pooling, chain, softmax, stencil, reshape, two_results]

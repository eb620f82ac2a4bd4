"""Small te programs of many kinds, with inputs whose sums are exact, for tests of schedules."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType

from lamina.dialects.dtypes import tensor_type
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.sizes import ArgAttrs, argument_extents
from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Tensor, comm_reducer, compute_results, scan
from lamina.dialects.te.indices import Index, building
from lamina.dialects.te.ir_builder import extern
from lamina.dialects.te.ops import FuncOp, ReturnOp

Arrays: TypeAlias = "list[np.ndarray[Any, Any]]"
Extent: TypeAlias = "int | str"


def program(
    shapes: Sequence[Sequence[Extent]], build: Callable[..., Any], dtype: str = "float32", sizes: str = ""
) -> FuncOp:
    """A te.func from the equations that `build` makes of its sizes and tensors.

    `sizes` names the sizes that are known only when the function runs, one letter each; a letter in a shape is one.
    """
    types: list[Any] = [IndexType()] * len(sizes)
    types += [tensor_type(tuple(DYNAMIC_INDEX if isinstance(e, str) else e for e in s), dtype) for s in shapes]
    maps = [None] * len(sizes) + [shape_map(s, sizes) for s in shapes]
    func = FuncOp.make("f", types, [], maps)
    block = func.body.block
    for argument, name in zip(block.args, [*sizes, *"XWBCDE"], strict=False):
        argument.name_hint = name
    with building(block):
        known = [Index(Linear.dim(a)) for a in block.args[: len(sizes)]]
        results = build(*known, *(Tensor(a) for a in block.args[len(sizes) :]))
    values = [t.value for t in (results if isinstance(results, (tuple, list)) else (results,))]
    block.add_op(ReturnOp.create(operands=values))
    func.properties["function_type"] = type(func.function_type).from_lists(
        [a.type for a in block.args], [v.type for v in values]
    )
    func.verify()
    return func


def shape_map(shape: Sequence[Extent], sizes: str) -> IndexMapAttr | None:
    """The `te.shape` of an argument."""
    if all(isinstance(e, int) for e in shape):
        return None
    forms = [Linear.dim(sizes.index(e)) if isinstance(e, str) else Linear(const=e) for e in shape]
    return IndexMapAttr(IndexMap(len(sizes), tuple(forms)))


def inputs_of(func: FuncOp, seed: int) -> Arrays:
    """Sizes, and small integers in the type of each tensor argument."""
    generator = np.random.default_rng(seed)
    sizes: dict[Any, int] = {}
    arrays: Arrays = []
    for argument in func.body.block.args:
        if isinstance(argument.type, IndexType):
            sizes[argument] = int(generator.integers(1, 10))
            arrays.append(np.asarray(sizes[argument]))
            continue
        name = "int32" if "i32" in str(argument.type) else "float32"
        shape = [e.evaluate(sizes) for e in argument_extents(argument, cast("ArgAttrs", func.arg_attrs))]
        arrays.append(generator.integers(-4, 5, shape).astype(name))
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


def grouped_conv(r: random.Random) -> FuncOp:
    groups, c, o, size, window = r.randint(1, 3), r.randint(1, 2), r.randint(1, 3), r.randint(3, 6), r.choice([1, 2, 3])
    pad, stride = r.randint(0, 1), r.randint(1, 2)
    out = (size + 2 * pad - window) // stride + 1

    def build(x: Tensor, w: Tensor) -> Tensor:
        padded = te.pad(x, (0, pad, pad), (0, pad, pad))
        rc, ry, rx = te.reduce_axis(c, "rc"), te.reduce_axis(window, "ry"), te.reduce_axis(window, "rx")
        return te.compute(
            (groups * o, out, out),
            lambda k, y, x: te.sum(
                padded[k // o * c + rc, y * stride + ry, x * stride + rx] * w[k, rc, ry, rx], (rc, ry, rx)
            ),
            "conv",
        )

    return program([(groups * c, size, size), (groups * o, c, window, window)], build)


def layer_norm(r: random.Random) -> FuncOp:
    """Rows less their mean, times a scale; the mean's division by a power of two is exact."""
    n = r.choice([1, 2, 4, 8])

    def build(m: Any, x: Tensor, w: Tensor) -> Tensor:
        k = te.reduce_axis(n, "k")
        total = te.compute((m,), lambda i: te.sum(x[i, k], k), "total")
        mean = te.compute((m,), lambda i: total[i] / float(n), "mean")
        k = te.reduce_axis(n, "k")
        square = te.compute((m,), lambda i: te.sum((x[i, k] - mean[i]) * (x[i, k] - mean[i]), k), "square")
        return te.compute((m, n), lambda i, j: (x[i, j] - mean[i]) * w[j] + square[i], "y")

    return program([("m", n), (n,)], build, sizes="m")


def argmax(r: random.Random) -> FuncOp:
    """Place and value of the first of the greatest elements of each row."""
    n = r.randint(1, 9)

    def build(m: Any, x: Tensor) -> Any:
        def combine(a: Any, b: Any) -> Any:
            place = te.select(a[1] > b[1], a[0], te.select(a[1] < b[1], b[0], te.minimum(a[0], b[0])))
            return place, te.maximum(a[1], b[1])

        best = comm_reducer(combine, lambda t0, t1: (1 << 20, float("-inf")))
        k = te.reduce_axis(n, "k")
        place, value = compute_results((m,), lambda i: best((te.cast(k, "int32"), x[i, k]), k), "best")
        return place, te.compute((m,), lambda i: value[i] * 2.0, "twice")

    return program([("m", n)], build, sizes="m")


def cumsum(r: random.Random) -> FuncOp:
    steps = r.randint(1, 6)

    def build(n: Any, x: Tensor) -> Tensor:
        first = te.compute((1, n), lambda t, i: x[t, i] + 1.0, "first")
        (total,) = scan(
            steps,
            [first],
            lambda t, s: te.compute((n,), lambda i: s[t - 1, i] * 2.0 + x[t, i], "update"),
            "total",
        )
        return te.compute((steps, n), lambda t, i: total[t, i] - x[t, i], "out")

    return program([(steps, "n")], build, sizes="n")


def matmul_of_any_size(r: random.Random) -> FuncOp:
    m = r.randint(1, 9)

    def build(n: Any, k: Any, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        kk = te.reduce_axis(k, "k")
        acc = te.compute((n, m), lambda i, j: te.sum(x[i, kk] * w[kk, j], kk), "acc")
        return te.compute((n, m), lambda i, j: te.maximum(acc[i, j] + b[j], 0.0), "relu")

    return program([("n", "k"), ("k", m), (m,)], build, sizes="nk")


def stencil_of_any_size(r: random.Random) -> FuncOp:
    def build(n: Any, x: Tensor) -> Tensor:
        a = te.compute((n,), lambda i: te.if_then_else(te.all(i >= 1, i < n - 1), x[i - 1] + x[i + 1], x[i]), "a")
        b = te.compute((n,), lambda i: te.if_then_else(i < n - 2, a[i] + a[i + 1] * 2.0 + a[i + 2], a[i]), "b")
        return te.compute((n,), lambda i: b[n - 1 - i] - a[i], "c")

    return program([("n",)], build, sizes="n")


def skewed_scan(r: random.Random) -> FuncOp:
    """Each element needs its left neighbour of the time before: time and space cannot change places."""
    steps, n = r.randint(1, 6), r.randint(1, 9)

    def build(x: Tensor) -> Tensor:
        first = te.compute((1, n), lambda t, i: x[t, i], "first")

        def update(t: Any, s: Tensor) -> Tensor:
            return te.compute((n,), lambda i: te.if_then_else(i >= 1, s[t - 1, i - 1], x[t, i]) * 2.0, "update")

        return scan(steps, [first], update, "skewed")[0]

    return program([(steps, n)], build)


def recurrent_cell(r: random.Random) -> FuncOp:
    """Two states and stages between them, one of them a reduction."""
    steps, n = r.randint(1, 5), r.randint(1, 7)

    def build(x: Tensor, w: Tensor) -> Any:
        h0 = te.compute((1, n), lambda t, i: x[t, i] + 1.0, "h0")
        c0 = te.compute((1, n), lambda t, i: x[t, i] * 2.0, "c0")

        def step(t: Any, h: Tensor, c: Tensor) -> Any:
            k = te.reduce_axis(n, "k")
            gate = te.compute((n,), lambda i: te.sum(h[t - 1, k] * w[k, i], k), "gate")
            shifted = te.compute((n,), lambda i: gate[i] + x[t, i], "shifted")
            c_new = te.compute((n,), lambda i: te.maximum(c[t - 1, i] * 0.5, shifted[i]), "c_new")
            return te.compute((n,), lambda i: te.minimum(c_new[i], 8.0), "h_new"), c_new

        return tuple(scan(steps, [h0, c0], step, "cell"))

    return program([(steps, n), (n, n)], build)


def extern_between(r: random.Random) -> FuncOp:
    """A piece of tir that turns a vector round, between index equations."""
    n = r.randint(1, 9)

    def turn(ib: Any, ins: Any, outs: Any) -> None:
        with ib.for_range(0, n, "i") as i:
            outs[0][n - 1 - i] = ins[0][i]

    def build(x: Tensor) -> Tensor:
        a = te.compute((n,), lambda i: x[i] * 2.0, "a")
        (turned,) = extern([(n,)], [a], turn, "turned")
        b = te.compute((n,), lambda i: turned[i] + a[i], "b")
        return te.compute((n,), lambda i: b[i] * turned[i], "c")

    return program([(n,)], build)


PROGRAMS = [matmul, conv2d, depthwise, pooling, chain, softmax, stencil, reshape, two_results]
"""Programs whose sizes are numbers and whose stages have one result."""
ALL_PROGRAMS = [
    *PROGRAMS,
    grouped_conv,
    layer_norm,
    argmax,
    cumsum,
    skewed_scan,
    recurrent_cell,
    extern_between,
    matmul_of_any_size,
    stencil_of_any_size,
]

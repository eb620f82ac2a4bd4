"""Tensor programs whose extents are numbers or variables, with NumPy's opinion: the kernels that models consist of."""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import lamina
from lamina import te
from lamina.backends.cpu.passes.schedule import CpuSchedulePass
from lamina.dialects.target import TARGET
from lamina.ir.context import LaminaContext
from lamina.tensor.module import Module
from lamina.tensor.program import te_module
from lamina.tensor.target import target_of

Array = np.ndarray[Any, Any]
Extents = Mapping[str, Any]


@dataclass(frozen=True)
class SymbolicProgram:
    """A tensor program over named extents."""

    make: Callable[[Extents], Sequence[Any]]
    """Its tensors, the result last, for extents that are numbers or variables."""
    value: Callable[..., Array]
    """The result in NumPy, of the inputs in double precision."""
    extents: Mapping[str, int]
    """What there is by default."""
    open: str
    """The extents, of one letter each, that only a run tells."""

    def tensors(self, sizes: Mapping[str, int] | None) -> Sequence[Any]:
        """Its tensors for numbers; of no numbers, with variables for what is open."""
        return self.make({**self.extents, **({n: te.var(n) for n in self.open} if sizes is None else sizes)})

    def arrays(self, sizes: Mapping[str, int], seed: int = 0) -> list[Array]:
        """Random inputs, and a result of NaN."""
        random = np.random.default_rng(seed)
        *inputs, output = self.tensors(sizes)
        found = [random.standard_normal([int(e) for e in t.shape], dtype=np.float32) for t in inputs]
        return [*found, np.full([int(e) for e in output.shape], np.nan, np.float32)]

    def difference(self, arrays: Sequence[Array]) -> float:
        """How far a result is off, over the largest value."""
        *inputs, found = arrays
        expected = self.value(*(a.astype(np.float64) for a in inputs))
        assert found.shape == expected.shape
        same = found == expected  # infinities, too
        return float(np.abs(found - expected)[~same].max(initial=0) / max(np.abs(expected).max(initial=0), 1))

    def kernel(self, sizes: Mapping[str, int] | None = None, target: str = "llvm", sanitize: bool = False) -> Module:
        """The kernel with the processor's default schedule, for numbers or for all sizes."""
        *inputs, output = self.tensors(sizes)
        module, _ = te_module(te.create_schedule(output.op), [*inputs, output], "kernel")
        chosen = target_of(target)
        assert chosen.attr is not None
        module.attributes[TARGET] = chosen.attr
        CpuSchedulePass().apply(LaminaContext(), module)
        return lamina.build(module, target=chosen, name="kernel", sanitize=sanitize)  # type: ignore[return-value]


def _product(e: Extents) -> Sequence[Any]:
    a, b = te.placeholder((e["m"], e["k"]), name="A"), te.placeholder((e["k"], e["n"]), name="B")
    k = te.reduce_axis((0, e["k"]), name="k")
    c = te.compute((e["m"], e["n"]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C", tag="nn.matmul")
    return a, b, te.compute(c.shape, lambda i, j: te.max(c[i, j], 0.0), name="relu")


def _packed(e: Extents) -> Sequence[Any]:
    width = 32
    a, b = te.placeholder((e["m"], e["k"]), name="A"), te.placeholder((e["n"] // width, e["k"], width), name="B")
    bias = te.placeholder((e["n"],), name="bias")
    k = te.reduce_axis((0, e["k"]), name="k")
    c = te.compute(
        (e["m"], e["n"]),
        lambda i, j: te.sum(a[i, k] * b[j // width, k, j % width], axis=k),
        name="C",
        tag="nn.contrib_dense_pack",
    )
    return a, b, bias, te.compute(c.shape, lambda i, j: c[i, j] + bias[j], name="biased")


def _batch_product(e: Extents) -> Sequence[Any]:
    a, b = te.placeholder((e["b"], e["m"], e["k"]), name="A"), te.placeholder((e["b"], e["k"], e["n"]), name="B")
    k = te.reduce_axis((0, e["k"]), name="k")
    shape = e["b"], e["m"], e["n"]
    return (
        a,
        b,
        te.compute(shape, lambda p, i, j: te.sum(a[p, i, k] * b[p, k, j], axis=k), name="C", tag="nn.batch_matmul"),
    )


def _scores(e: Extents) -> Sequence[Any]:
    a, b = te.placeholder((e["b"], e["m"], e["k"]), name="A"), te.placeholder((e["b"], e["n"], e["k"]), name="B")
    k = te.reduce_axis((0, e["k"]), name="k")
    shape = e["b"], e["m"], e["n"]
    return (
        a,
        b,
        te.compute(shape, lambda p, i, j: te.sum(a[p, i, k] * b[p, j, k], axis=k), name="C", tag="nn.batch_matmul"),
    )


def _softmax(e: Extents) -> Sequence[Any]:
    b, m, n = e["b"], e["m"], e["n"]
    x = te.placeholder((b, m, n), name="x")
    k, q = te.reduce_axis((0, n), name="k"), te.reduce_axis((0, n), name="q")
    most = te.compute((b, m), lambda p, i: te.max(x[p, i, k], axis=k), name="most")
    exp = te.compute((b, m, n), lambda p, i, j: te.exp(x[p, i, j] - most[p, i]), name="exp")
    total = te.compute((b, m), lambda p, i: te.sum(exp[p, i, q], axis=q), name="total")
    return x, te.compute((b, m, n), lambda p, i, j: exp[p, i, j] / total[p, i], name="softmax")


def _softmax_value(x: Array) -> Array:
    exp = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return exp / exp.sum(-1, keepdims=True)


def _rms_norm(e: Extents) -> Sequence[Any]:
    """Over the sum of squares, which needs no count of elements."""
    m, n = e["m"], e["n"]
    x, g = te.placeholder((m, n), name="x"), te.placeholder((n,), name="g")
    k = te.reduce_axis((0, n), name="k")
    square = te.compute((m,), lambda i: te.sum(x[i, k] * x[i, k], axis=k), name="square")
    scale = te.compute((m,), lambda i: 1.0 / te.sqrt(square[i] + 1.0), name="scale")
    return x, g, te.compute((m, n), lambda i, j: x[i, j] * scale[i] * g[j], name="norm")


def _elementwise(e: Extents) -> Sequence[Any]:
    x, y = (te.placeholder((e["m"], e["n"]), name=name) for name in "xy")
    return x, y, te.compute(x.shape, lambda i, j: te.tanh(x[i, j]) * y[i, j] + x[i, j], name="z")


def _heads(e: Extents) -> Sequence[Any]:
    x = te.placeholder((e["m"], e["b"], e["n"]), name="x")
    return x, te.compute((e["b"], e["m"], e["n"]), lambda p, i, j: x[i, p, j], name="heads")


def _transpose(e: Extents) -> Sequence[Any]:
    x = te.placeholder((e["m"], e["n"]), name="x")
    return x, te.compute((e["n"], e["m"]), lambda j, i: x[i, j], name="transposed")


def _row_max(e: Extents) -> Sequence[Any]:
    x = te.placeholder((e["m"], e["n"]), name="x")
    k = te.reduce_axis((0, e["n"]), name="k")
    return x, te.compute((e["m"],), lambda i: te.max(x[i, k], axis=k), name="most")


def _column_sum(e: Extents) -> Sequence[Any]:
    x = te.placeholder((e["m"], e["n"]), name="x")
    k = te.reduce_axis((0, e["m"]), name="k")
    return x, te.compute((e["n"],), lambda j: te.sum(x[k, j], axis=k), name="total")


def _sum_of_all(e: Extents) -> Sequence[Any]:
    x = te.placeholder((e["m"], e["n"]), name="x")
    k, q = te.reduce_axis((0, e["m"]), name="k"), te.reduce_axis((0, e["n"]), name="q")
    return x, te.compute((1,), lambda _: te.sum(x[k, q] * x[k, q], axis=[k, q]), name="total")


_FACTORS = {"b": 3, "m": 40, "k": 64, "n": 48}


def _relu_of_product(a: Array, b: Array) -> Array:
    return np.maximum(a @ b, 0)


def _packed_value(a: Array, b: Array, bias: Array) -> Array:
    return a @ b.transpose(1, 0, 2).reshape(b.shape[1], -1) + bias


def _scores_value(a: Array, b: Array) -> Array:
    return a @ b.transpose(0, 2, 1)


PROGRAMS = {
    "product of open rows": SymbolicProgram(_product, _relu_of_product, _FACTORS, "m"),
    "product of open depth": SymbolicProgram(_product, _relu_of_product, _FACTORS, "k"),
    "product of open columns": SymbolicProgram(_product, _relu_of_product, _FACTORS, "n"),
    "product all open": SymbolicProgram(_product, _relu_of_product, _FACTORS, "mkn"),
    "product of packed weights": SymbolicProgram(_packed, _packed_value, _FACTORS | {"n": 64}, "m"),
    "products of open rows": SymbolicProgram(_batch_product, np.matmul, _FACTORS, "bm"),
    "products of probabilities and values": SymbolicProgram(_batch_product, np.matmul, _FACTORS, "mk"),
    "products of open columns": SymbolicProgram(_batch_product, np.matmul, _FACTORS, "mn"),
    "scores": SymbolicProgram(_scores, _scores_value, _FACTORS, "mn"),
    "softmax": SymbolicProgram(_softmax, _softmax_value, _FACTORS, "mn"),
    "softmax of open rows": SymbolicProgram(_softmax, _softmax_value, _FACTORS | {"n": 77}, "m"),
    "softmax of short rows": SymbolicProgram(_softmax, _softmax_value, _FACTORS | {"n": 12}, "m"),
    "norm of open rows": SymbolicProgram(
        _rms_norm, lambda x, g: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1) * g, _FACTORS | {"n": 256}, "m"
    ),
    "norm": SymbolicProgram(
        _rms_norm, lambda x, g: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1) * g, _FACTORS, "mn"
    ),
    "elementwise": SymbolicProgram(_elementwise, lambda x, y: np.tanh(x) * y + x, _FACTORS, "mn"),
    "elementwise of open rows": SymbolicProgram(_elementwise, lambda x, y: np.tanh(x) * y + x, _FACTORS, "m"),
    "heads": SymbolicProgram(_heads, lambda x: x.transpose(1, 0, 2), _FACTORS, "m"),
    "transpose of open rows": SymbolicProgram(_transpose, np.transpose, _FACTORS, "m"),
    "transpose": SymbolicProgram(_transpose, np.transpose, _FACTORS, "mn"),
    "maxima of rows": SymbolicProgram(_row_max, lambda x: x.max(1, initial=-np.inf), _FACTORS, "mn"),
    "sums of columns": SymbolicProgram(_column_sum, lambda x: x.sum(0), _FACTORS, "mn"),
    "sum of all": SymbolicProgram(_sum_of_all, lambda x: (x * x).sum().reshape(1), _FACTORS, "mn"),
}

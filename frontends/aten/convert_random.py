"""Operators that draw random numbers, from the key of a program (`AtenBuilder.drawn`).

The distributions are those of torch, the numbers are not: they come from Threefry, not from torch's Mersenne Twister.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import DType
from lamina.frontends.aten.table import aten_op
from lamina.frontends.builder import Value

HALF_STEP = 0.5**24
"""Half of what uniform float32 numbers are apart: with it added they lie strictly between 0 and 1."""
MOST_INTEGERS = 1 << 48
"""Integers among which one is drawn: far fewer than uniform float64 numbers there are."""


def uniform(b: AtenBuilder, shape: Sequence[int], dtype: str, low: Any = 0.0, high: Any = 1.0) -> Value:
    """Numbers from low to high, without high."""
    return b.drawn("uniform", low, high, shape, dtype)


def between(b: AtenBuilder, shape: Sequence[int]) -> Value:
    """Uniform numbers strictly between 0 and 1, float32."""
    return b.add(uniform(b, shape, "float32"), HALF_STEP)


@aten_op("rand")
def rand(b: AtenBuilder, size: Any, *, dtype: DType | None = None, **_: Any) -> Value:
    return uniform(b, b.ints(size), b.dtype(dtype, "float32"))


@aten_op("rand_like")
def rand_like(b: AtenBuilder, self: Value, *, dtype: DType | None = None, **_: Any) -> Value:
    return uniform(b, self.shape, b.dtype(dtype, self.dtype))


@aten_op("prims.uniform")
def prims_uniform(b: AtenBuilder, shape: Any, *, low: Any, high: Any, dtype: DType | None = None, **_: Any) -> Value:
    return uniform(b, b.ints(shape), b.dtype(dtype, "float32"), low, high)


@aten_op("randn")
def randn(b: AtenBuilder, size: Any, *, dtype: DType | None = None, **_: Any) -> Value:
    return b.drawn("normal", 0.0, 1.0, b.ints(size), b.dtype(dtype, "float32"))


@aten_op("randn_like")
def randn_like(b: AtenBuilder, self: Value, *, dtype: DType | None = None, **_: Any) -> Value:
    return b.drawn("normal", 0.0, 1.0, self.shape, b.dtype(dtype, self.dtype))


@aten_op("normal_functional")
def normal_functional(b: AtenBuilder, self: Value, mean: float = 0.0, std: float = 1.0, **_: Any) -> Value:
    return b.drawn("normal", mean, std, self.shape, self.dtype)


@aten_op("prims.normal")
def prims_normal(b: AtenBuilder, shape: Any, *, mean: Any, std: Any, dtype: DType | None = None, **_: Any) -> Value:
    return b.drawn("normal", mean, std, b.ints(shape), b.dtype(dtype, "float32"))


def _integers(b: AtenBuilder, bounds: Sequence[Any], shape: Sequence[int], dtype: str) -> Value:
    """Whole numbers below the last bound, from the one before it or from 0."""
    low, high = (b.number(v, "a bound") for v in ((0, *bounds)[-2:]))
    if not 0 < high - low <= MOST_INTEGERS:
        raise b.unsupported(f"one of {high - low} numbers is not drawn")
    steps = b.op("floor", uniform(b, shape, "float64", 0.0, float(high - low)))
    return b.tensor(b.add(b.cast(steps, "int64"), low), dtype)


@aten_op("randint")
def randint(b: AtenBuilder, *given: Any, dtype: DType | None = None, **_: Any) -> Value:
    *bounds, size = given
    return _integers(b, bounds, b.ints(size), b.dtype(dtype, "int64"))


@aten_op("randint_like")
def randint_like(b: AtenBuilder, self: Value, *bounds: Any, dtype: DType | None = None, **_: Any) -> Value:
    return _integers(b, bounds, self.shape, b.dtype(dtype, self.dtype))


@aten_op("randperm")
def randperm(b: AtenBuilder, n: int, *, dtype: DType | None = None, **_: Any) -> Value:
    """The order of numbers that are drawn."""
    numbers = uniform(b, (b.number(n, "the count"),), "float64")
    return b.tensor(b.op("argsort", numbers, axis=0, dtype="int64"), b.dtype(dtype, "int64"))


@aten_op("bernoulli")
def bernoulli(b: AtenBuilder, self: Value, p: Any = None, **_: Any) -> Value:
    """Ones with the chance `p`, or with chances that are the elements."""
    chance = self if p is None else p
    below = b.one("less", uniform(b, self.shape, "float32"), b.tensor(chance, "float32"))
    return b.cast(below, self.dtype)


def _dropped(b: AtenBuilder, x: Value, p: float, shape: Sequence[int]) -> tuple[Value, Value]:
    """Elements kept with the chance 1 - p, larger by as much as is lost, and whether each is."""
    kept = b.one("greater_equal", uniform(b, shape, "float32"), float(p))
    scale = 1 / (1 - p) if p < 1 else 0.0
    return b.mul(x, b.mul(b.cast(kept, x.dtype), scale)), kept


@aten_op("dropout", "dropout_", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(b: AtenBuilder, input: Value, p: float, train: bool) -> Value:
    """Nothing is dropped outside of training; features are the first two axes."""
    assert b.call is not None
    if not train or not p:
        return input
    if "alpha" in b.call.packet:
        raise b.unsupported("dropping elements to a number other than 0 is not supported", "call eval() on the model")
    shape = [e if k < 2 or "feature" not in b.call.packet else 1 for k, e in enumerate(input.shape)]
    return _dropped(b, input, p, shape)[0]


@aten_op("native_dropout")
def native_dropout(b: AtenBuilder, input: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    if train is False or not p:
        return input, b.filled(True, input.shape, "bool")
    return _dropped(b, input, p, input.shape)


@aten_op("multinomial")
def multinomial(b: AtenBuilder, self: Value, num_samples: int, replacement: bool = False, **_: Any) -> Value:
    """Places by their weights: where sums of the weights pass uniform numbers, with replacement; without it the places
    of the largest of weight / -log(u), which are drawn one after the other (Efraimidis and Spirakis, 2006)."""
    *rows, count = self.shape
    weights = b.tensor(self, "float32")
    if not replacement:
        times = b.op("negative", b.op("log", between(b, self.shape)))
        order = b.op("argsort", b.div(weights, times), axis=-1, is_ascend=False, dtype="int64")
        return b.slice(order, len(rows), 0, num_samples)
    sums = b.op("cumsum", weights, axis=-1)
    total = b.slice(sums, len(rows), count - 1, count)
    at = b.mul(uniform(b, (*rows, num_samples), "float32"), total)
    passed = b.op("less_equal", b.op("expand_dims", sums, axis=len(rows)), b.op("expand_dims", at, axis=len(rows) + 1))
    found = b.op("sum", b.cast(passed, "int64"), axis=[len(rows) + 1])
    return b.op("minimum", found, b.tensor(count - 1, "int64"))


@aten_op("rrelu_with_noise_functional")
def rrelu_with_noise(
    b: AtenBuilder, self: Value, noise: Value, lower: float = 0.125, upper: float = 1 / 3, training: bool = False,
    **_: Any,
) -> tuple[Value, Value]:  # fmt: skip
    """The result and the slopes, which are drawn for what is not positive, in training."""
    if not training:
        return b.op("nn.leaky_relu", self, alpha=(lower + upper) / 2), noise
    negative = b.one("less_equal", self, 0.0)
    slopes = b.choose(negative, uniform(b, self.shape, self.dtype, lower, upper), b.tensor(1.0, self.dtype))
    return b.mul(self, slopes), slopes


def _starts(b: AtenBuilder, samples: Value, axis: int, extent: int, pool: int, count: int) -> Value:
    """The first places of `count` windows along an axis [n, c, count], from a number of 0 to 1 for each plane."""
    sample = b.tensor(b.slice(samples, 2, axis, axis + 1), "float64")  # [n, c, 1]
    last = b.filled(extent - pool, (*samples.shape[:2], 1), "int64")
    if count == 1:
        return last
    step = (extent - pool) / (count - 1)
    places = b.op("arange", start=0.0, stop=float(count - 1), dtype="float64")
    moved = b.op("trunc", b.mul(b.add(sample, b.reshape(places, (1, 1, count - 1))), step))
    first = b.sub(moved, b.op("trunc", b.mul(sample, step)))
    return b.op("concatenate", b.cast(first, "int64"), last, axis=2)


@aten_op("fractional_max_pool2d", "fractional_max_pool3d")
def fractional_max_pool(
    b: AtenBuilder, self: Value, kernel_size: Any, output_size: Any, random_samples: Value
) -> tuple[Value, Value]:
    """The largest element of windows that begin at steps between whole numbers, and its place in the plane."""
    assert b.call is not None
    spatial = int(b.call.packet[-2])
    pools, counts = b.ints(kernel_size, spatial), b.ints(output_size, spatial)
    x = self if self.rank == spatial + 2 else b.op("expand_dims", self, axis=0)
    n, c, *extents = x.shape
    # torch has the number of the last axis first.
    place: Value | None = None
    shape = (n, c, *counts, *pools)
    for k, (extent, pool, count) in enumerate(zip(extents, pools, counts, strict=True)):
        starts = _starts(b, random_samples, spatial - 1 - k, extent, pool, count)
        outer, inner = [1] * spatial, [1] * spatial
        outer[k], inner[k] = count, pool
        offsets = b.reshape(b.op("arange", start=0.0, stop=float(pool), dtype="int64"), (1, 1, *[1] * spatial, *inner))
        along = b.add(b.reshape(starts, (n, c, *outer, *[1] * spatial)), offsets)
        along = b.mul(along, prod(extents[k + 1 :]))
        place = along if place is None else b.add(place, along)
    assert place is not None
    flat = b.reshape(b.broadcast(place, shape), (n, c, prod(counts) * prod(pools)))
    values = b.op("gather", b.reshape(x, (n, c, prod(extents))), flat, axis=2)
    rows = (n, c, prod(counts), prod(pools))
    values, flat = b.reshape(values, rows), b.reshape(flat, rows)
    best = b.op("argmax", values, axis=[3], keepdims=True)
    results = [b.reshape(b.op("gather", v, best, axis=3), (n, c, *counts)) for v in (values, flat)]
    if self.rank != x.rank:
        results = [b.op("squeeze", v, axis=[0]) for v in results]
    return results[0], results[1]

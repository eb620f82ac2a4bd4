"""Convolution, pooling, normalisation and fully connected layers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lamina.dialects.infos import is_symbolic
from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.legacy import legacy_operand
from lamina.frontends.onnx.registry import onnx_op
from lamina.frontends.padding import same_padding


def window_padding(
    n: Node, spatial: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> list[int]:
    """All befores, then all afters, from `pads` or `auto_pad`."""
    rank = len(spatial)
    mode = n.attr("auto_pad", "NOTSET")
    if mode in ("NOTSET", ""):
        pads = list(n.attr("pads", (0,) * 2 * rank))
        if len(pads) != 2 * rank:
            raise n.fail(f"pads has {len(pads)} numbers, expects {2 * rank}")
        return pads
    if mode == "VALID":
        return [0] * 2 * rank
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise n.fail(f"auto_pad {mode!r} does not exist")
    if min(strides) < 1:
        raise n.fail(f"stride {min(strides)} is out of range, it must be at least 1")
    return same_padding(spatial, kernel, strides, dilations, mode == "SAME_UPPER")


def per_axis(n: Node, name: str, rank: int) -> list[int]:
    """An attribute with a number for each spatial axis, 1 where it is absent."""
    values = list(n.attr(name, (1,) * rank))
    if len(values) != rank:
        raise n.fail(f"{name} has {len(values)} numbers, expects {rank}")
    return values


@onnx_op("Conv")
def conv(n: Node, b: Builder) -> Value:
    y = convolution(n, b, n.input(0), n.input(1))
    return b.op("nn.bias_add", y, n.input(2), axis=1) if n.has(2) else y


def convolution(n: Node, b: Builder, x: Value, w: Value, *scales: Value) -> Value:
    """The convolution of `x` and `w` by the node's attributes; with zero points and scales that of the integers."""
    rank = x.rank - 2
    if rank not in (1, 2, 3) or w.rank != x.rank:
        raise n.fail("input and weight must have the same rank of 3, 4 or 5")
    kernel = list(n.attr("kernel_shape", w.shape[2:]))
    strides, dilations = per_axis(n, "strides", rank), per_axis(n, "dilations", rank)
    attrs: dict[str, Any] = {
        "strides": strides,
        "padding": window_padding(n, x.shape[2:], w.shape[2:], strides, dilations),
        "dilation": dilations,
        "groups": n.attr("group", 1),
        "channels": w.shape[0],
        "kernel_size": kernel,
    }
    if scales:
        return b.op(f"qnn.conv{rank}d", x, w, *scales, **attrs)
    return b.contraction(f"nn.conv{rank}d", x, w, **attrs)


@onnx_op("LRN")
def lrn(n: Node, b: Builder) -> Value:
    x = n.input(0)
    if x.rank < 3:
        raise n.fail("input must have rank 3 or more")
    image = b.reshape(x, (*x.shape[:2], prod(x.shape[2:-1]), x.shape[-1]))
    y = b.op(
        "nn.lrn",
        image,
        size=n.attr("size"),
        alpha=n.attr("alpha", 1e-4),
        beta=n.attr("beta", 0.75),
        bias=n.attr("bias", 1.0),
    )
    return b.reshape(y, x.shape)


@onnx_op("Dropout")
def dropout(n: Node, b: Builder) -> list[Value]:
    x = n.input(0)
    rate = float(n.attr("ratio", 0.5))
    if n.has(1):
        rate = float(n.array(1, "ratio"))
    if n.has(2) and bool(n.array(2, "training_mode")) and rate:
        return _dropped(n, b, rate)
    results = [b.op("nn.dropout", x, rate=rate)]
    if n.wants_output(1):
        results.append(b.splat(np.bool_(True), x.shape))
    return results


def _dropped(n: Node, b: Builder, rate: float) -> list[Value]:
    """Training: with a seed what is dropped is known, by NumPy's generator as in ONNX's own reference."""
    x = n.input(0)
    if "seed" not in n.attrs:
        raise n.unsupported("training without a seed is not supported: it drops elements at random", "give it a seed")
    if not 0.0 <= rate < 1.0:
        raise n.fail(f"ratio is {rate}, expects 0 or more and less than 1")
    b.check_size(x.shape, "float64")
    kept = np.random.RandomState(n.attrs["seed"] % 2**32).uniform(0, 1, x.shape) >= rate
    mask = b.constant(kept)
    scaled = b.op("multiply", x, b.scalar(1.0 / (1.0 - rate), x))
    return [b.op("where", mask, scaled, b.scalar(0.0, x)), mask]


# -- normalisation ---------------------------------------------------------------------------------


@onnx_op("BatchNormalization")
def batch_normalization(n: Node, b: Builder) -> Value | list[Value]:
    if n.attr("training_mode", 0):
        return _trained(n, b)
    if not n.attr("spatial", 1):
        raise n.unsupported("batch normalisation with spatial = 0 is not supported")
    return b.op("nn.batch_norm", *(n.input(i) for i in range(5)), axis=1, epsilon=n.attr("epsilon", 1e-5))


def _trained(n: Node, b: Builder) -> list[Value]:
    """By the batch's own mean and variance; these are mixed into the running ones."""
    x, mean, variance = n.input(0), n.input(3), n.input(4)
    axes = [a for a in range(x.rank) if a != 1]
    own = b.op("mean", x, axis=axes)
    spread = b.op("subtract", x, b.reshape(own, _channel(x)))
    own_variance = b.op("mean", b.op("multiply", spread, spread), axis=axes)
    momentum = n.attr("momentum", 0.9)

    def mixed(running: Value, fresh: Value) -> Value:
        old = b.op("multiply", running, b.scalar(momentum, running))
        new = b.cast(fresh, running.dtype)
        return b.op("add", old, b.op("multiply", new, b.scalar(1 - momentum, new)))

    y = b.op("nn.batch_norm", x, n.input(1), n.input(2), own, own_variance, axis=1, epsilon=n.attr("epsilon", 1e-5))
    return [y, mixed(mean, own), mixed(variance, own_variance)]


def _channel(x: Value) -> list[int]:
    return [x.shape[1] if a == 1 else 1 for a in range(x.rank)]


@onnx_op("InstanceNormalization")
def instance_normalization(n: Node, b: Builder) -> Value:
    return b.op("nn.instance_norm", n.input(0), n.input(1), n.input(2), epsilon=n.attr("epsilon", 1e-5))


@onnx_op("GroupNormalization")
def group_normalization(n: Node, b: Builder) -> Value | None:
    x, scale, bias = n.input(0), n.input(1), n.input(2)
    if n.version >= 21 and x.dtype in ("float16", "bfloat16"):
        return None  # ONNX's function computes in the type `stash_type`
    groups = n.attr("num_groups")
    if n.version < 21 and x.rank > 1 and scale.shape == (groups,) != (x.shape[1],) and x.shape[1] % groups == 0:
        # Until opset 21 scale and bias were one number a group.
        scale, bias = (b.op("repeat", v, repeats=x.shape[1] // groups, axis=0) for v in (scale, bias))
    return b.op("nn.group_norm", x, scale, bias, num_groups=groups, epsilon=n.attr("epsilon", 1e-5))


@onnx_op("LayerNormalization")
def layer_normalization(n: Node, b: Builder) -> list[Value] | None:
    """Until opset 17 the operator was onnxruntime's."""
    x = n.input(0)
    if x.dtype in ("float16", "bfloat16") and n.version >= 17:
        return None  # ONNX's function computes in the type `stash_type`
    wide = b.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    bias = n.input(2) if n.has(2) else None
    y, *moments = layer_normalized(n, b, wide, n.input(1), bias, n.attr("axis", -1), n.attr("epsilon", 1e-5))
    return [b.cast(y, x.dtype), *(b.cast(m, "float32") for m in moments)]


def layer_normalized(
    n: Node, b: Builder, x: Value, scale: Value, bias: Value | None, axis: int, epsilon: float
) -> list[Value]:
    """(x - mean) / sqrt(variance + epsilon) * scale + bias over all axes from `axis` on; then, where the node's second
    or third output is wanted, the mean and the factor that a distance from it is multiplied by."""
    axis = n.axis(axis, x.rank)
    normal = x.shape[axis:]
    count = prod(normal)

    def vector(v: Value) -> Value:
        v = b.cast(v, x.dtype)
        if prod(v.shape) == 1 and count != 1:
            return b.op("broadcast_to", b.reshape(v, (1,)), shape=[count])
        if prod(v.shape) != count:
            v = b.op("broadcast_to", v, shape=list(normal))
        return b.reshape(v, (count,))

    flat = b.reshape(x, (*x.shape[:axis], count))
    shift = b.splat(np.zeros((), np.dtype(_numpy(x.dtype)))[()], (count,)) if bias is None else vector(bias)
    y = b.op("nn.layer_norm", flat, vector(scale), shift, axis=-1, epsilon=epsilon)
    results = [b.reshape(y, x.shape)]
    if n.wants_output(1) or n.wants_output(2):
        axes = list(range(axis, x.rank))
        mean = b.op("mean", x, axis=axes, keepdims=True)
        distance = b.op("subtract", x, mean)
        results += [mean, inverse_deviation(b, b.op("multiply", distance, distance), axes, epsilon)]
    return results


def inverse_deviation(b: Builder, squares: Value, axes: list[int], epsilon: float) -> Value:
    """1 / sqrt(mean + epsilon) of squares over axes, which stay with extent 1."""
    mean = b.op("mean", squares, axis=axes, keepdims=True)
    return b.op("rsqrt", b.op("add", mean, b.scalar(epsilon, mean)))


def _numpy(dtype: str) -> np.dtype[np.generic]:
    from lamina.dialects.dtypes import numpy_dtype

    return numpy_dtype(dtype)


@onnx_op("LpNormalization")
def lp_normalization(n: Node, b: Builder) -> Value:
    x = n.input(0)
    axis = n.axis(n.attr("axis", -1), x.rank)
    order = n.attr("p", 2)
    if order not in (1, 2):
        raise n.fail(f"p is {order}, expects 1 or 2")
    if order == 2:
        return b.op("nn.l2_normalize", x, eps=1e-38, axis=[axis])
    total = b.op("sum", b.op("abs", x), axis=[axis], keepdims=True)
    return b.op("divide", x, total)


@onnx_op("Hardmax")
def hardmax(n: Node, b: Builder) -> Value:
    """1 at the first maximum, 0 elsewhere; until opset 13 over all axes from `axis` on."""
    x = n.input(0)
    axis = n.attr("axis", -1 if n.version >= 13 else 1)
    axis = n.axis(axis, x.rank)
    rows = x if n.version >= 13 else b.reshape(x, (prod(x.shape[:axis]), prod(x.shape[axis:])))
    axis = axis if n.version >= 13 else 1
    top = b.op("argmax", rows, axis=[axis], keepdims=True)
    along = np.arange(rows.shape[axis]).reshape([-1 if a == axis else 1 for a in range(rows.rank)])
    return b.reshape(b.cast(b.op("equal", b.constant(along.astype(top.dtype)), top), x.dtype), x.shape)


# -- softmax ---------------------------------------------------------------------------------------


@onnx_op("Softmax", "LogSoftmax")
def softmax(n: Node, b: Builder) -> Value | None:
    """Until opset 13 the axes from `axis` on are normalised together. Of 16-bit floats ONNX's function rounds each
    step; without one they are rounded once, at the end."""
    x = n.input(0)
    if n.version >= 13 and x.dtype in ("float16", "bfloat16"):
        return None
    op = "nn.softmax" if n.op_type == "Softmax" else "nn.log_softmax"
    wide = b.cast(x, "float32") if x.dtype in ("float16", "bfloat16") else x
    if n.version >= 13:
        return b.op(op, x, axis=n.axis(n.attr("axis", -1), x.rank))
    axis = n.attr("axis", 1)
    axis = x.rank if axis == x.rank else n.axis(axis, x.rank)
    if axis == x.rank - 1:
        return b.cast(b.op(op, wide, axis=-1), x.dtype)
    rows = b.reshape(wide, (prod(x.shape[:axis]), prod(x.shape[axis:])))
    return b.cast(b.reshape(b.op(op, rows, axis=-1), x.shape), x.dtype)


# -- matrix products -------------------------------------------------------------------------------


def _dense(b: Builder, x: Value, w: Value, transposed: bool) -> Value:
    """x w, or x wᵀ when w is stored transposed; nn.dense wants the weight as [N, K]."""
    units = w.shape[0 if transposed else 1]
    rows = w if transposed else b.op("transpose", w, axes=[1, 0])
    return b.contraction("nn.dense", x, rows, units=None if is_symbolic(units) else units)


@onnx_op("Gemm")
def gemm(n: Node, b: Builder) -> Value:
    x, w = n.input(0), n.input(1)
    if x.rank != 2 or w.rank != 2:
        raise n.fail("both factors must be matrices")
    if n.attr("transA", 0):
        x = b.op("transpose", x, axes=[1, 0])
    y = _dense(b, x, w, bool(n.attr("transB", 0)))
    alpha, beta = n.attr("alpha", 1.0), n.attr("beta", 1.0)
    if alpha != 1.0:
        y = b.op("multiply", y, b.scalar(alpha, y))
    if not n.has(2) or beta == 0.0:
        return y
    c = legacy_operand(n, b, y, n.input(2))
    if beta != 1.0:
        c = b.op("multiply", c, b.scalar(beta, c))
    columns = y.shape[1]
    if c.shape in ((columns,), (1, columns)):
        return b.op("nn.bias_add", y, b.reshape(c, (columns,)), axis=1)
    if c.rank > 2 or any(e not in (1, f) for e, f in zip(c.shape[::-1], y.shape[::-1], strict=False)):
        raise n.fail(f"C of shape {list(c.shape)} does not broadcast to {list(y.shape)}")
    return b.op("add", y, c)


@onnx_op("MatMul")
def matmul(n: Node, b: Builder) -> Value:
    return product(n, b, n.input(0), n.input(1))


def product(n: Node, b: Builder, x: Value, y: Value) -> Value:
    """numpy.matmul: vectors are rows on the left and columns on the right, leading axes broadcast."""
    if not x.rank or not y.rank:
        raise n.fail("a scalar is no matrix")
    if x.shape[-1] != y.shape[-2 if y.rank > 1 else 0]:
        raise n.fail(f"shapes {list(x.shape)} and {list(y.shape)} do not multiply: the inner extents differ")
    if y.rank == 1:
        column = b.reshape(y, (1, y.shape[0]))
        return b.reshape(b.contraction("nn.dense", x, column, units=1), x.shape[:-1])
    if y.rank == 2:
        if x.rank == 2 and y.array is None:
            return b.contraction("nn.matmul", x, y)
        return _dense(b, x, y, transposed=False)
    if x.rank == 1:
        rows = matrices(n, b, b.reshape(x, (1, x.shape[0])), y)
        return b.reshape(rows, (*rows.shape[:-2], rows.shape[-1]))
    return matrices(n, b, x, y)


def matrices(n: Node, b: Builder, x: Value, y: Value) -> Value:
    """The products of two stacks of matrices."""
    try:
        return b.matrices(x, y)
    except ValueError:
        raise n.fail(f"the leading axes of {list(x.shape)} and {list(y.shape)} do not broadcast") from None

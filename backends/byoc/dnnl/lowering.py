"""Ops as primitives of oneDNN: one function each, from a node and the values it reads to the value it gives.

Convolutions and pools are told logical axes in oneDNN's order, batch, channels, space, over memory in any order: a
layout's strides say where the axes of Relay's layout strings lie. Convolutions choose the layouts of what they read and
give; everything else works in the layout in which values arrive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from lamina.backends.byoc.dnnl import library as d
from lamina.backends.byoc.dnnl.descriptors import Attributes, Layout, Primitive, row_major
from lamina.backends.byoc.dnnl.library import DnnlError, dims
from lamina.backends.byoc.dnnl.limits import COMMUTATIVE, SPATIAL
from lamina.backends.byoc.dnnl.plan import Held, Plan
from lamina.dialects.relay.windows import pairs, per_axis
from lamina.passes.relay.partition.json_graphs import Node

Ints = Sequence[int]


@dataclass
class Post:
    """Something done to a result: an activation, or an op with an operand that has one element or the result's for
    each of its axes."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0
    operand: Held | None = None


@dataclass
class Work:
    """The operands of a product or convolution, and what is done to its result."""

    plan: Plan
    attrs: dict[str, Any]
    data: Held
    weight: Held
    shape: tuple[int, ...]
    dtype: str
    bias: Held | None = None
    """With one element for each channel."""
    posts: list[Post] = field(default_factory=list[Post])


# -- activations and what has two operands ---------------------------------------------------------------------------

ACTIVATIONS: dict[str, Callable[[dict[str, Any]], tuple[str, float, float]]] = {
    "nn.relu": lambda a: ("relu", 0.0, 0.0),
    "nn.leaky_relu": lambda a: ("relu", a["alpha"], 0.0),
    "sigmoid": lambda a: ("logistic", 0.0, 0.0),
    "clip": lambda a: ("clip", a["a_min"], a["a_max"]),
    **{n: (lambda a, n=n: (n, 0.0, 0.0)) for n in ("tanh", "abs", "sqrt", "exp", "log", "round")},
}
"""By ops: the names of oneDNN's eltwise algorithms, alpha and beta."""


def eltwise(plan: Plan, x: Held, name: str, alpha: float, beta: float) -> Held:
    """A function of each element, by oneDNN's name and its two parameters, in the layout in which x arrives."""
    layout = x.layout
    described = "eltwise_forward", plan.library.engine, d.INFERENCE, d.ELTWISE[name], layout, layout, alpha, beta
    return plan.step(Primitive(plan.library, *described), {d.SRC: x}, layout)


def binary(plan: Plan, name: str, x: Held, y: Held) -> Held:
    """x op y, where y may have fewer elements."""
    if y.shape == x.shape:
        # The one in blocks stays as it is: the other is the cheaper to move where both are read again.
        if x.layout.is_plain and not y.layout.is_plain:
            x = plan.moved(x, y.layout)
        else:
            y = plan.moved(y, x.layout)
        layout = y.layout
    else:
        # It follows in blocks, too: oneDNN has fast code for equal layouts alone.
        y = plan.reshaped(y, _padded(y.shape, len(x.shape)))
        layout = Layout.any(plan.library, y.shape, y.dtype)
    described = "binary", plan.library.engine, d.BINARY[name], x.layout, layout, x.layout
    primitive = Primitive(plan.library, *described)
    y = plan.moved(y, primitive.layout(d.SRC_MD, y.shape, y.dtype, 1))
    return plan.step(primitive, {d.SRC: x, d.SRC_1: y}, x.layout)


def _padded(shape: Ints, rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + tuple(shape)


def along(plan: Plan, vector: Held, axis: int, rank: int) -> Held:
    """A vector as an operand that varies along an axis."""
    shape = [1] * rank
    shape[axis] = prod(vector.shape)
    return plan.reshaped(vector, shape)


def apply(plan: Plan, value: Held, post: Post) -> Held:
    """A post-op as a step by itself."""
    if post.operand is None:
        return eltwise(plan, value, post.name, post.alpha, post.beta)
    return binary(plan, post.name, value, post.operand)


# -- products and convolutions ---------------------------------------------------------------------------------------


def _finish(work: Work, describe: Callable[[Attributes], Primitive], order: Ints | None, reads: Any) -> Held:
    """Put a primitive down with its post-ops; where oneDNN has none that does them, they are steps of their own.

    `order` says which axis of the result each logical axis is, `reads(primitive)` what it reads.
    """
    plan = work.plan
    order = range(len(work.shape)) if order is None else order
    back = [order.index(n) for n in range(len(order))]
    logical = [work.shape[n] for n in order]
    attributes, operands = Attributes(plan.library), dict[int, Held]()
    for post in work.posts:
        if post.operand is None:
            attributes.eltwise(post.name, post.alpha, post.beta)
            continue
        operand = post.operand
        full = operand.shape == work.shape
        if full:
            wanted = Layout.any(plan.library, logical, operand.dtype)
            operands[attributes.binary(post.name, wanted)] = operand
        else:
            small = plan.reshaped(operand, _padded(operand.shape, len(order)))
            small = small.seen(small.layout.permuted(order))
            operands[attributes.binary(post.name, small.layout)] = small
    try:
        primitive = describe(attributes)
    except DnnlError:
        if not work.posts:
            raise
        posts, work.posts = work.posts, []
        value = _finish(work, describe, order, reads)
        for post in posts:
            value = apply(plan, value, post)
        return value
    for number, operand in operands.items():
        if operand.shape == work.shape:
            wanted = primitive.layout(d.ARGUMENT_MD, logical, operand.dtype, number)
            moved = plan.moved(operand, wanted.permuted(back))
            operands[number] = moved.seen(wanted)
    result = primitive.result(logical, work.dtype)
    value = plan.step(primitive, {**reads(primitive), **operands}, result, attributes)
    return value.seen(result.permuted(back))


def convolution(work: Work, spatial: str, data_letter: str = "I", is_transposed: bool = False) -> Held:
    """A convolution or a transposed one; `data_letter` of the kernel's layout counts the channels of the data."""
    plan, attrs, rank = work.plan, work.attrs, len(spatial)
    groups: int = attrs["groups"]
    layout: str = attrs["data_layout"]
    kernel: str = attrs["kernel_layout"]
    out_layout: str = attrs.get("out_layout") or layout
    letters = "NC" + spatial
    data_order, order = ([where.index(a) for a in letters] for where in (layout, out_layout))
    source = [work.data.shape[n] for n in data_order]
    # Weights as [groups, outputs of a group, inputs of a group, ...], whatever the order in memory is.
    out_letter = "O" if data_letter == "I" else "I"
    sizes, steps = (dict(zip(kernel, n, strict=True)) for n in (work.weight.shape, row_major(work.weight.shape)))
    inputs, outputs = source[1] // groups, work.shape[order[1]] // groups
    taps = [sizes[a] for a in spatial]
    weights, strides = [outputs, inputs, *taps], [steps[out_letter], steps[data_letter], *(steps[a] for a in spatial)]
    if groups > 1:
        split = (data_letter, inputs) if is_transposed else (out_letter, outputs)
        weights, strides = [groups, *weights], [steps[split[0]] * split[1], *strides]
    before, after = pairs(attrs["padding"], rank)
    slides = per_axis(attrs["strides"], rank, "stride")
    dilation = [n - 1 for n in per_axis(attrs["dilation"], rank, "dilation")]
    logical = [work.shape[n] for n in order]
    described = (
        Layout.any(plan.library, source, work.data.dtype),
        Layout.any(plan.library, weights, work.weight.dtype),
        None if work.bias is None else Layout.strided(plan.library, [logical[1]], work.bias.dtype),
        Layout.any(plan.library, logical, work.dtype),
        *map(dims, (slides, dilation, before, after)),
    )
    name, kind = ("deconvolution", d.DECONVOLUTION) if is_transposed else ("convolution", d.CONVOLUTION)

    def describe(attributes: Attributes) -> Primitive:
        start = f"{name}_forward", plan.library.engine, d.INFERENCE, kind
        return Primitive(plan.library, *start, *described, attributes=attributes)

    def reads(primitive: Primitive) -> dict[int, Held]:
        wanted = primitive.layout(d.SRC_MD, source, work.data.dtype)
        data = plan.moved(work.data, wanted.permuted([data_order.index(n) for n in range(rank + 2)])).seen(wanted)
        weight = plan.reshaped(work.weight, weights, strides)
        found = {d.SRC: data, d.WEIGHTS: plan.moved(weight, primitive.weights(weights, work.weight.dtype))}
        if work.bias is not None:
            found[d.BIAS] = plan.reshaped(work.bias, [logical[1]])
        return found

    return _finish(work, describe, order, reads)


def product(work: Work, left: Ints, left_steps: Ints, right: Ints, right_steps: Ints, out: Ints) -> Held:
    """A product of matrices, or of batches of them, each as a shape with strides of what is contiguous."""
    plan = work.plan
    data, weight = plan.reshaped(work.data, left, left_steps), plan.reshaped(work.weight, right, right_steps)
    shape, result = work.shape, Layout.strided(plan.library, out, work.dtype)
    is_constant = plan.is_constant(weight)
    bias = None if work.bias is None else plan.reshaped(work.bias, _padded((out[-1],), len(out)))
    for post in work.posts:
        if post.operand is not None and post.operand.shape == shape:
            post.operand = plan.reshaped(post.operand, out)
    described = (
        data.layout,
        Layout.any(plan.library, right, weight.dtype) if is_constant else weight.layout,
        None if bias is None else bias.layout,
        result,
    )

    def describe(attributes: Attributes) -> Primitive:
        return Primitive(plan.library, "matmul", plan.library.engine, *described, attributes=attributes)

    def reads(primitive: Primitive) -> dict[int, Held]:
        found = {d.SRC: data, d.WEIGHTS: plan.moved(weight, primitive.weights(right, weight.dtype))}
        return found if bias is None else {**found, d.BIAS: bias}

    work.shape = tuple(out)
    value = _finish(work, describe, None, reads)
    return plan.reshaped(value, shape)


def dense(work: Work) -> Held:
    """Dense layer: data [..., K] as rows of one matrix, times the weight [N, K] read as transposed."""
    rows, (units, depth) = prod(work.data.shape[:-1]), work.weight.shape
    return product(work, [rows, depth], [depth, 1], [depth, units], [1, depth], [rows, units])


def _matrix(shape: Ints, is_transposed: bool) -> tuple[list[int], list[int]]:
    """A matrix, or a batch of them, that is stored transposed or not."""
    sizes, steps = list(shape), row_major(shape)
    if is_transposed:
        sizes[-2:], steps[-2:] = sizes[:-3:-1], steps[:-3:-1]
    return sizes, steps


def matmul(work: Work) -> Held:
    """A product of matrices, or of batches of them, each transposed as the attributes say by its strides alone."""
    left = _matrix(work.data.shape, work.attrs["transpose_a"])
    right = _matrix(work.weight.shape, work.attrs["transpose_b"])
    return product(work, *left, *right, work.shape)


ANCHORS: dict[str, Callable[[Work], Held]] = {
    "nn.dense": dense,
    "nn.matmul": matmul,
    "nn.batch_matmul": matmul,
    "qnn.dense": dense,
    "qnn.conv2d": lambda work: convolution(work, "HW"),
    **{n: (lambda work, n=n: convolution(work, SPATIAL[n])) for n in ("nn.conv1d", "nn.conv2d", "nn.conv3d")},
    "nn.conv1d_transpose": lambda work: convolution(work, "W", "O", True),
    "nn.conv2d_transpose": lambda work: convolution(work, "HW", "I", True),
    "nn.conv3d_transpose": lambda work: convolution(work, "DHW", "O", True),
}
"""Lowerings of the ops that composites are made around, by TVM's name."""


# -- everything else -------------------------------------------------------------------------------------------------


def pool(plan: Plan, node: Node, x: Held) -> Held:
    """A pooling of any layout, in the layout that oneDNN chooses.

    The padding behind follows from the number of results, so that ceil mode and cut-off windows need no case.
    """
    attrs, spatial = node.attrs, SPATIAL[node.name]
    layout: str = attrs["layout"]
    # Which of the other two axes is the batch makes no difference to the values.
    letters = (
        [a for a in "NC" if a in layout] if "N" in layout and "C" in layout else [a for a in layout if a not in spatial]
    )
    order = [layout.index(a) for a in (*letters, *spatial)]
    source, logical = ([shape[n] for n in order] for shape in (x.shape, node.types[0].shape))
    rank = len(spatial)
    if "pool_size" in attrs:
        size = per_axis(attrs["pool_size"], rank, "size")
        strides = per_axis(attrs["strides"], rank, "stride")
        dilation = per_axis(attrs["dilation"], rank, "dilation")
        before = pairs(attrs["padding"], rank)[0]
    else:
        size, strides, dilation, before = tuple(source[2:]), (1,) * rank, (1,) * rank, (0,) * rank
    # As much behind as windows reach: in ceil mode that may be more than the padding, else it may be less.
    after = [
        (o - 1) * s + (k - 1) * g + 1 - n - b
        for o, s, k, g, n, b in zip(logical[2:], strides, size, dilation, source[2:], before, strict=True)
    ]
    kind = d.POOL_MAX if "max" in node.name else d.POOL_AVG
    if attrs.get("count_include_pad"):
        kind = d.POOL_AVG_WITH_PADDING
    numbers = map(dims, (strides, size, [n - 1 for n in dilation], before, after))
    seen = x.seen(x.layout.permuted(order))
    wanted = Layout.any(plan.library, logical, x.dtype)
    described = "pooling_forward", plan.library.engine, d.INFERENCE, kind, seen.layout, wanted, *numbers
    primitive = Primitive(plan.library, *described)
    result = primitive.result(logical, x.dtype)
    return plan.step(primitive, {d.SRC: seen}, result).seen(
        result.permuted([order.index(n) for n in range(len(order))])
    )


def softmax(plan: Plan, node: Node, x: Held) -> Held:
    """A softmax, or its logarithm, along one axis, in the layout in which x arrives."""
    kind = d.LOG_SOFTMAX if node.name == "nn.log_softmax" else d.SOFTMAX
    axis = node.attrs["axis"] % len(x.shape)
    described = "softmax_forward", plan.library.engine, d.INFERENCE, kind, x.layout, x.layout, axis
    return plan.step(Primitive(plan.library, *described), {d.SRC: x}, x.layout)


def _channels_second(x: Held, axis: int) -> tuple[Held, list[int]]:
    """A value with an axis in the place of channels, and the order that takes it back."""
    rank = len(x.shape)
    rest = [n for n in range(rank) if n != axis % rank]
    order = [rest[0], axis % rank, *rest[1:]]
    return x.seen(x.layout.permuted(order)), [order.index(n) for n in range(rank)]


def batch_norm(plan: Plan, node: Node, x: Held, gamma: Held, beta: Held, mean: Held, variance: Held) -> Held:
    """A batch normalisation by the given mean and variance; gamma and beta only where `scale` and `center` say."""
    seen, back = _channels_second(x, node.attrs["axis"])
    reads = {d.SRC: seen, d.MEAN: plan.plain(mean), d.VARIANCE: plan.plain(variance)}
    flags = d.USE_GLOBAL_STATS
    for flag, name, argument, value in ((d.USE_SCALE, "scale", d.SCALE, gamma), (d.USE_SHIFT, "center", d.SHIFT, beta)):
        if node.attrs[name]:
            flags |= flag
            reads[argument] = plan.plain(value)
    start = "batch_normalization_forward", plan.library.engine, d.INFERENCE, seen.layout, seen.layout
    primitive = Primitive(plan.library, *start, node.attrs["epsilon"], flags)
    return plan.step(primitive, reads, seen.layout).seen(seen.layout.permuted(back))


def layer_norm(plan: Plan, node: Node, x: Held, gamma: Held, beta: Held) -> Held:
    """A layer normalisation along the last axis, in row-major order; gamma and beta where `scale` and `center` say."""
    x = plan.plain(x)
    reads, flags = {d.SRC: x}, 0
    for flag, name, argument, value in ((d.USE_SCALE, "scale", d.SCALE, gamma), (d.USE_SHIFT, "center", d.SHIFT, beta)):
        if node.attrs[name]:
            flags |= flag
            reads[argument] = plan.plain(value)
    statistics = Layout.strided(plan.library, x.shape[:-1], x.dtype)
    start = "layer_normalization_forward", plan.library.engine, d.INFERENCE, x.layout, x.layout, statistics
    return plan.step(Primitive(plan.library, *start, node.attrs["epsilon"], flags), reads, x.layout)


def lrn(plan: Plan, node: Node, x: Held) -> Held:
    """A local response normalisation across the channels that lie along the attribute `axis`."""
    seen, back = _channels_second(x, node.attrs["axis"])
    numbers = node.attrs["size"], node.attrs["alpha"], node.attrs["beta"], node.attrs["bias"]
    start = "lrn_forward", plan.library.engine, d.INFERENCE, d.LRN_ACROSS_CHANNELS, seen.layout, seen.layout
    return plan.step(Primitive(plan.library, *start, *numbers), {d.SRC: seen}, seen.layout).seen(
        seen.layout.permuted(back)
    )


def concatenate(plan: Plan, node: Node, *parts: Held) -> Held:
    """Parts joined along one axis, in the layout that oneDNN chooses for them."""
    shape = node.types[0].shape
    wanted = Layout.any(plan.library, shape, parts[0].dtype)
    sources = (ctypes.c_void_p * len(parts))(*(p.layout.handle for p in parts))
    described = plan.library.engine, wanted, len(parts), node.attrs["axis"] % len(shape), sources
    primitive = Primitive(plan.library, "concat", *described)
    reads = {d.MULTIPLE_SRC + n: p for n, p in enumerate(parts)}
    return plan.step(primitive, reads, primitive.result(shape, parts[0].dtype))


def bias_add(plan: Plan, node: Node, x: Held, bias: Held) -> Held:
    """x plus a vector along one axis."""
    rank = len(x.shape)
    return binary(plan, "add", x, along(plan, bias, node.attrs["axis"] % rank, rank))


def two_operands(plan: Plan, node: Node, x: Held, y: Held) -> Held:
    """An op of two operands; those of a commutative one change places where the first is broadcast."""
    if node.name in COMMUTATIVE and x.shape != node.types[0].shape:
        x, y = y, x
    return binary(plan, node.name, x, y)


Lowering = Callable[..., Held]
OPS: dict[str, Lowering] = {
    **{n: pool for n in SPATIAL if "pool" in n},
    "nn.softmax": softmax,
    "nn.log_softmax": softmax,
    "nn.batch_norm": batch_norm,
    "nn.layer_norm": layer_norm,
    "nn.lrn": lrn,
    "nn.bias_add": bias_add,
    "concatenate": concatenate,
    **dict.fromkeys(d.BINARY, two_operands),
}


def lower(plan: Plan, node: Node, inputs: Sequence[Held]) -> Held:
    """Lower an op. Raises KeyError for one that is not here, DnnlError where oneDNN refuses it."""
    if node.name in ANCHORS:
        data, weight = inputs
        return ANCHORS[node.name](Work(plan, node.attrs, data, weight, node.types[0].shape, node.types[0].dtype))
    if node.name in ACTIVATIONS:
        return eltwise(plan, inputs[0], *ACTIVATIONS[node.name](node.attrs))
    return OPS[node.name](plan, node, *inputs)

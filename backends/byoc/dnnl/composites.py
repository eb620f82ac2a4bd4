"""Composites as one primitive: a product or convolution, and what stands behind it as bias and post-ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.backends.byoc.dnnl.descriptors import Layout
from lamina.backends.byoc.dnnl.library import SRC
from lamina.backends.byoc.dnnl.limits import is_along
from lamina.backends.byoc.dnnl.lowering import ACTIVATIONS, ANCHORS, Post, Work, along, binary
from lamina.backends.byoc.dnnl.plan import Held, Plan
from lamina.passes.relay.partition.external_backends import Refusal
from lamina.passes.relay.partition.json_graphs import Node, Value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

PREFIX = "dnnl."
SPELLED = {"gelu": ("gelu", 5, 0.0), "swish": ("swish", 2, 1.0), "mish": ("mish", 5, 0.0)}
"""Activations that are several ops in a graph: oneDNN's name, how many ops, and alpha."""


def lower_composite(plan: Plan, node: Node, inputs: Sequence[Held]) -> Held:
    """Lower a composite. Raises Refusal for one that is not understood, DnnlError where oneDNN refuses it."""
    graph = node.graph
    assert graph is not None
    values = {Value(n): held for n, held in zip(graph.arguments, inputs, strict=True)}
    steps = [(n, inner) for n, inner in enumerate(graph.nodes) if inner.op == "kernel"]
    at = next((i for i, (_, inner) in enumerate(steps) if inner.name in ANCHORS), None)
    if at is None:
        raise Refusal(f"{node.name} has neither a product nor a convolution")
    first, anchor = steps[at]
    given = [values[v] for v in anchor.inputs[:2]]
    work = Work(plan, anchor.attrs, given[0], given[1], node.types[0].shape, "float32")
    if not anchor.name.startswith("qnn."):
        work.dtype = node.types[0].dtype
    behind = steps[at + 1 :]
    last = node.name.rpartition("_")[2]
    spelled = SPELLED.get(last)
    if spelled is not None:
        behind = behind[: -spelled[1]]
    current, out_dtype = Value(first), ""
    layout = anchor.attrs.get("out_layout") or anchor.attrs.get("data_layout")
    channel = layout.index("C") if layout else len(work.shape) - 1
    for n, inner in behind:
        if current not in inner.inputs:
            values[Value(n)] = _beside(plan, inner, [values[v] for v in inner.inputs])
            continue
        if inner.name == "cast":
            out_dtype = inner.types[0].dtype
        elif inner.name in ACTIVATIONS:
            work.posts.append(Post(*ACTIVATIONS[inner.name](inner.attrs)))
        else:
            other = next(values[v] for v in inner.inputs if v != current)
            name = "add" if inner.name == "nn.bias_add" else inner.name
            if inner.name == "nn.bias_add" or is_along(other.shape, work.shape, channel):
                if name == "add" and work.bias is None and not work.posts:
                    work.bias = other
                else:
                    work.posts.append(Post(name, operand=along(plan, other, channel, len(work.shape))))
            else:
                work.posts.append(Post(name, operand=other))
        current = Value(n)
    if spelled is not None:
        work.posts.append(Post(spelled[0], alpha=spelled[2]))
    value = ANCHORS[anchor.name](work)
    return _truncated(plan, value, out_dtype) if out_dtype and out_dtype != value.dtype else value


def _beside(plan: Plan, node: Node, inputs: Sequence[Held]) -> Held:
    """An operand beside the product: a tensor that is added, in floats and scaled."""
    if node.name == "cast":
        wanted = Layout.strided(plan.library, inputs[0].shape, node.types[0].dtype)
        return plan.moved(inputs[0], wanted)
    x, y = sorted(inputs, key=lambda v: v.shape != node.types[0].shape)
    return binary(plan, node.name, x, y)


def _truncated(plan: Plan, value: Held, dtype: str) -> Held:
    """Floats as whole numbers: relay.cast cuts the fraction off, where oneDNN would round."""
    if not value.layout.is_dense:
        value = plan.plain(value)
    info = np.iinfo(dtype)

    def cut(source: Array, target: Array) -> None:
        np.copyto(target, np.clip(source, info.min, info.max), casting="unsafe")

    return plan.step(cut, {SRC: value}, value.layout.of_dtype(dtype))

"""Limits of oneDNN, or of how it is called here: the reason in a few words, or nothing.

For ops by their names, attributes and types; for composites by the values that their patterns bind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from xdsl.ir import Operation, SSAValue

from lamina.dialects.infos import TypeMismatch, tensor_info
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.windows import windows
from lamina.passes.relay.partition.json_graphs import Type

Attrs = dict[str, Any]
Types = Sequence[Type]
Limit = Callable[[Attrs, Types, Types], str]
SPATIAL = {
    "nn.conv1d": "W",
    "nn.conv2d": "HW",
    "nn.conv3d": "DHW",
    "nn.conv1d_transpose": "W",
    "nn.conv2d_transpose": "HW",
    "nn.conv3d_transpose": "DHW",
    "nn.max_pool1d": "W",
    "nn.max_pool2d": "HW",
    "nn.max_pool3d": "DHW",
    "nn.avg_pool1d": "W",
    "nn.avg_pool2d": "HW",
    "nn.avg_pool3d": "DHW",
    "nn.global_max_pool2d": "HW",
    "nn.global_avg_pool2d": "HW",
}
"""The spatial axes of ops that have windows."""
COMMUTATIVE = ("add", "multiply")
LARGEST_RANK = 6


def refusal(name: str, attrs: Attrs, inputs: Types, results: Types) -> str:
    """The reason why an op by TVM's name is not for oneDNN; empty where it is."""
    if any(t.dtype != "float32" for t in (*inputs, *results)):
        return "oneDNN is asked for float32 alone here"
    return misfit(name, attrs, inputs, results)


def misfit(name: str, attrs: Attrs, inputs: Types, results: Types) -> str:
    """The same, whatever the dtypes are."""
    if any(prod(t.shape) == 0 for t in (*inputs, *results)):
        return "it has no elements"
    if any(len(t.shape) > LARGEST_RANK for t in (*inputs, *results)):
        return f"oneDNN is asked for tensors up to rank {LARGEST_RANK}"
    limit = _LIMITS.get(name)
    return limit(attrs, inputs, results) if limit is not None else ""


def refusal_of(op: Operation) -> str:
    """The reason why an op is not for oneDNN; empty where it is."""
    if not isinstance(op, RelayOp):
        return "it is no op on tensors"
    try:
        infos = [tensor_info(v.type) for v in (*op.operands, *op.results)]
    except TypeMismatch:
        return "its shape is not known"
    types = [Type(tuple(i.shape), i.dtype) for i in infos]
    count = len(op.operands)
    return refusal(op.name.removeprefix("relay."), attrs_of(op), types[:count], types[count:])


def _whole(layout: str) -> bool:
    return not any(a.block for a in parse_layout(layout))


def _convolution(attrs: Attrs, inputs: Types, results: Types) -> str:
    for name in ("data_layout", "kernel_layout", "out_layout"):
        if attrs[name] and not _whole(attrs[name]):
            return f"{name} {attrs[name]} has blocks of Lamina's"
    return ""


def _pool(spatial: str) -> Limit:
    def limit(attrs: Attrs, inputs: Types, results: Types) -> str:
        layout = attrs["layout"]
        if not _whole(layout) or len(layout) != 2 + len(spatial):
            return f"layout {layout} is no order of the axes {', '.join('NC' + spatial)}"
        if not (attrs.get("count_include_pad") and attrs["ceil_mode"]):
            return ""
        sizes, outs = (extents(layout, t.shape) for t in (inputs[0], results[0]))
        numbers = (attrs[n] for n in ("pool_size", "strides", "dilation", "padding", "ceil_mode"))
        slides = windows([sizes[a] for a in spatial], *numbers)
        sticks_out = any((outs[a] - 1) * w.stride + w.reach > w.padded for a, w in zip(spatial, slides, strict=True))
        return "oneDNN counts what windows reach beyond the padding" if sticks_out else ""

    return limit


def _global_pool(attrs: Attrs, inputs: Types, results: Types) -> str:
    layout = attrs["layout"]
    return "" if _whole(layout) and len(layout) == 4 else f"layout {layout} is no order of the axes N, C, H, W"


def _ranks(least: int, most: int) -> Limit:
    def limit(attrs: Attrs, inputs: Types, results: Types) -> str:
        rank = len(inputs[0].shape)
        return "" if least <= rank <= most else f"oneDNN takes rank {least} to {most}, this has {rank}"

    return limit


def _layer_norm(attrs: Attrs, inputs: Types, results: Types) -> str:
    rank = len(inputs[0].shape)
    if normalize_axis(attrs["axis"], rank) != rank - 1:
        return "oneDNN normalises the last axis alone"
    return _ranks(2, 5)(attrs, inputs, results)


def _lrn(attrs: Attrs, inputs: Types, results: Types) -> str:
    if attrs["size"] % 2 == 0:
        return "oneDNN's windows of even size lie elsewhere"
    if not _whole(attrs["layout"]):
        return f"layout {attrs['layout']} has blocks of Lamina's"
    return _ranks(2, 5)(attrs, inputs, results)


def _broadcast(is_commutative: bool) -> Limit:
    def limit(attrs: Attrs, inputs: Types, results: Types) -> str:
        full = [t.shape == results[0].shape for t in inputs]
        if full[0] or (is_commutative and full[1]):
            return ""
        return "oneDNN broadcasts one operand, the second"

    return limit


_LIMITS: dict[str, Limit] = {
    "nn.batch_norm": _ranks(2, 5),
    "nn.layer_norm": _layer_norm,
    "nn.lrn": _lrn,
    "nn.global_max_pool2d": _global_pool,
    "nn.global_avg_pool2d": _global_pool,
    **{n: _convolution for n in SPATIAL if "conv" in n},
    **{n: _pool(s) for n, s in SPATIAL.items() if "_pool" in n and "global" not in n},
    **{n: _broadcast(n in COMMUTATIVE) for n in (*COMMUTATIVE, "subtract", "divide")},
}


# -- composites ----------------------------------------------------------------------------------------------------


def _channel(product: Operation, rank: int) -> int:
    """The number of the axis of a product's result that has its channels."""
    attrs = attrs_of(product)  # type: ignore[arg-type]
    layout = attrs.get("out_layout") or attrs.get("data_layout")
    return layout.index("C") if layout else rank - 1


def is_along(shape: Sequence[int], out: Sequence[int], axis: int) -> bool:
    """Whether an operand of that shape varies along one axis alone of a result."""
    padded = (1,) * (len(out) - len(shape)) + tuple(shape)
    return len(padded) == len(out) and padded[axis] == out[axis] and prod(padded) == out[axis]


def bias_refusal(product: SSAValue, bias: SSAValue) -> str:
    """The reason why what is added to a product is no bias; empty where it is one."""
    owner = product.owner
    assert isinstance(owner, Operation)
    out, shape = (tuple(tensor_info(v.type).shape) for v in (product, bias))
    channel = _channel(owner, len(out))
    for op in (u.operation for u in product.uses):
        if bias is product or bias not in op.operands:
            continue
        if op.name == "relay.nn.bias_add" and normalize_axis(attrs_of(op)["axis"], len(out)) == channel:  # type: ignore[arg-type]
            return ""
        if op.name == "relay.add" and is_along(shape, out, channel):
            return ""
    return f"what is added, of shape {shape}, varies along another axis than the channels"


def sum_refusal(product: SSAValue, added: SSAValue) -> str:
    """The reason why what is added to a biased product is not a tensor beside it; empty where it is."""
    owner = added.owner
    if isinstance(owner, Operation) and product in owner.operands:
        return "what is added is computed from the product"
    return ""


def quantised_refusal(product: SSAValue) -> str:
    """The reason why a quantised product with its requantisation is not for oneDNN; empty where it is."""
    owner = product.owner
    assert isinstance(owner, Operation)
    out = tuple(tensor_info(product.type).shape)
    data, weight = (tensor_info(v.type).dtype for v in owner.operands[:2])
    if data not in ("int8", "uint8") or weight != "int8" or tensor_info(product.type).dtype != "int32":
        return f"oneDNN multiplies int8 or uint8 by int8 into int32, this is {data} by {weight}"
    channel, value = _channel(owner, len(out)), product
    while True:
        users = {u.operation for u in value.uses}
        if len(users) != 1:
            return "its steps are used by others"
        (op,) = users
        for other in (v for v in op.operands if v is not value):
            shape = tuple(tensor_info(other.type).shape)
            if prod(shape) != 1 and shape != out and not is_along(shape, out, channel):
                return f"an operand of shape {shape} varies along another axis than the channels"
        value = op.results[0]
        dtype = tensor_info(value.type).dtype
        if dtype in ("int8", "uint8"):
            return ""
        if dtype != "float32":
            return f"it is computed in {dtype}, not in float32"

"""Attention as onnxruntime's optimiser writes it for encoders and GPT-2: with projections, masks of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.attention import LOWEST, attended, bias_of, by_head, causal, places, summed
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import FLOAT, INT, INTS, contributed, given, single
from lamina.frontends.onnx.convert_control import part, stacked
from lamina.frontends.onnx.convert_nn import product
from lamina.frontends.onnx.convert_quant import product_of_integers

_SELF: dict[str, Any] = {
    **dict.fromkeys(("num_heads", "unidirectional", "do_rotary", "past_present_share_buffer"), INT),
    **dict.fromkeys(("scale", "mask_filter_value"), FLOAT),
}
_NO_ROTARY: dict[str, Any] = {"do_rotary": (0,), "past_present_share_buffer": (0,)}


@contributed(
    "Attention",
    inputs="input weights bias? mask_index? past? attention_bias? past_sequence_length?",
    outputs="output present?",
    required=("num_heads",),
    only={**_NO_ROTARY, "past_sequence_length": ()},
    qkv_hidden_sizes=INTS,
    rotary_embedding_dim=INT,
    **_SELF,
)
def attention(n: Node, b: Builder) -> list[Value]:
    """Self-attention of rows that one matrix projects to query, key and value, side by side in its columns."""
    x, weights, bias = single(b, n.input(0)), n.input(1), given(n, 2)
    if x.rank != 3 or weights.rank != 2:
        raise n.fail("the input must be [batch, length, width], the weights a matrix")
    sizes = n.attr("qkv_hidden_sizes", None) or [weights.shape[1] // 3] * 3
    projected: list[Value] = []
    for first, last in _columns(n, sizes, weights.shape[1]):
        y = product(n, b, x, single(b, _cut(b, weights, first, last)))
        projected.append(y if bias is None else b.op("nn.bias_add", y, single(b, _cut(b, bias, first, last)), axis=2))
    return _self_attention(n, b, projected, 3, 4, given(n, 5))


@contributed(
    "QAttention",
    inputs="input weight bias input_scale weight_scale mask_index? input_zero_point? weight_zero_point? past?",
    outputs="output present?",
    required=("num_heads",),
    only=_NO_ROTARY,
    **_SELF,
)
def quantized_attention(n: Node, b: Builder) -> list[Value]:
    """The same, the projection one of bytes; scale and zero point of the weight are numbers, or one for each column."""
    x, weights, bias, x_scale = (n.input(i) for i in range(4))
    if x.rank != 3 or weights.rank != 2:
        raise n.fail("the input must be [batch, length, width], the weights a matrix")
    x_zero, w_zero = given(n, 6), given(n, 7)
    projected: list[Value] = []
    for first, last in _columns(n, [weights.shape[1] // 3] * 3, weights.shape[1]):
        zero = None if w_zero is None else _cut(b, w_zero, first, last)
        sums = product_of_integers(n, b, x, _cut(b, weights, first, last), x_zero, zero)
        scale = b.op("multiply", b.reshape(x_scale, ()), _cut(b, n.input(4), first, last))
        y = b.op("multiply", b.cast(sums, "float32"), scale)
        projected.append(b.op("nn.bias_add", y, _cut(b, bias, first, last), axis=2))
    return _self_attention(n, b, projected, 5, 8, None)


def _columns(n: Node, sizes: Sequence[int], total: int) -> list[tuple[int, int]]:
    """The first and the end column of query, of key and of value. Raises for sizes that do not add up to `total`."""
    ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
    if len(sizes) != 3 or ends[-1] != total:
        raise n.fail(f"{total} columns are no query, key and value of widths {list(sizes)}")
    return list(zip([0, *ends], ends, strict=False))


def _cut(b: Builder, v: Value, first: int, last: int) -> Value:
    """Some columns of a weight, or of what there is one of for each; one for all stays."""
    if v.shape in ((), (1,)):
        return b.reshape(v, ())
    if v.array is not None:
        # Weights of products of bytes have to be known, however large they are.
        cut = np.ascontiguousarray(v.array[..., first:last])
        return Value(cut.shape, v.dtype, array=cut, name=v.name and f"{v.name}[{first}:{last}]", logical=v.logical)
    return b.op("strided_slice", v, begin=[first], end=[last], strides=[1], axes=[v.rank - 1])


def _self_attention(
    n: Node, b: Builder, projected: Sequence[Value], mask: int, past: int, bias: Value | None
) -> list[Value]:
    """The rows, and the states with those of earlier steps, [2, B, N, T, H]; `mask` and `past` are input numbers."""
    heads = n.attr("num_heads")
    query, keys, values = projected
    if any(v.shape[2] % heads for v in projected) or query.shape != keys.shape:
        raise n.fail(f"rows of {[v.shape[2] for v in projected]} elements are no {heads} heads")
    before, state = 0, given(n, past)
    present: list[Value] = []
    if state is not None or n.wants_output(1):
        if keys.shape != values.shape:
            raise n.unsupported("states of keys and values of different widths are not supported")
        present = [by_head(b, v, heads) for v in (keys, values)]
    if state is not None:
        if state.rank != 5 or state.shape[0] != 2:
            raise n.fail("the past must be [2, batch, heads, length, size]")
        before = state.shape[3]
        earlier = [single(b, part(b, state, 0, k)) for k in (0, 1)]
        keys, values = present = [
            b.op("concatenate", old, new, axis=2) for old, new in zip(earlier, present, strict=True)
        ]
    length = query.shape[1]
    total = bias_sum(n, b, given(n, mask), bias, (query.shape[0], length, before + length))
    scale = n.attr("scale", 0.0) or (query.shape[2] // heads) ** -0.5
    made = attended(n, b, query, keys, values, (heads, heads), scale, total)
    dtype = n.input(0).dtype if n.op_type == "Attention" else "float32"
    return [b.cast(made.rows, dtype), *([b.cast(stacked(b, present), dtype)] if present else [])]


def bias_sum(
    n: Node, b: Builder, mask: Value | None, bias: Value | None, extents: tuple[int, int, int]
) -> Value | None:
    """The sum of what mask, bias and row order add to the scores of [batch, rows, columns]; None for nothing."""
    _, rows, columns = extents
    ordered = None
    if n.attr("unidirectional", 0) and rows > 1:
        ordered = bias_of(b, causal(b, rows, columns, columns - rows), LOWEST)
    hidden = None
    if mask is not None and (seen := _seen(n, b, mask, extents)) is not None:
        hidden = bias_of(b, seen, n.attr("mask_filter_value", -10000.0))
    return summed(b, None if bias is None else single(b, bias), hidden, ordered)


def _seen(n: Node, b: Builder, mask: Value, extents: tuple[int, int, int]) -> Value | None:
    """A mask of the scores that count, bool[B or 1, 1, S or 1, T]; None where all do."""
    batch, rows, columns = extents
    if mask.rank == 1 and mask.shape[0] in (batch, 2 * batch, 3 * batch + 2):
        # Where the keys end; where they begin is behind that, or 0 (what follows for packed rows says no more).
        at = places(b, columns, 3)
        bounds = b.cast(mask, "int32")
        ends = b.op("strided_slice", bounds, begin=[0], end=[batch], strides=[1], axes=[0])
        seen = b.op("less", at, b.reshape(ends, (batch, 1, 1, 1)))
        if mask.shape[0] == 2 * batch:
            starts = b.op("strided_slice", bounds, begin=[batch], end=[2 * batch], strides=[1], axes=[0])
            seen = b.op("logical_and", seen, b.op("greater_equal", at, b.reshape(starts, (batch, 1, 1, 1))))
        return seen
    if mask.shape == (batch, columns):
        shape = (batch, 1, 1, columns)
    elif mask.shape in ((batch, 1), (1, 1)):
        return None
    elif mask.shape == (batch, rows, columns):
        shape = (batch, 1, rows, columns)
    else:
        raise n.unsupported(
            f"a mask of shape {list(mask.shape)} is not supported",
            f"use one of [{batch}], [{2 * batch}], [{batch}, {columns}] or [{batch}, {rows}, {columns}]",
        )
    return b.reshape(b.op("greater", mask, b.scalar(0, mask)), shape)


@contributed(
    "MultiHeadAttention",
    inputs="query key? value? bias? key_padding_mask? attention_bias? past_key? past_value? past_sequence_length?"
    " cache_indirection?",
    outputs="output present_key? present_value? qk?",
    required=("num_heads",),
    only={"past_sequence_length": (), "cache_indirection": ()},
    num_heads=INT,
    unidirectional=INT,
    scale=FLOAT,
    mask_filter_value=FLOAT,
)
def multi_head_attention(n: Node, b: Builder) -> list[Value]:
    """Attention of rows that are projected already; of its three, the bias of the projections may be missing."""
    heads, dtype = n.attr("num_heads"), n.input(0).dtype
    query, keys, values = _projected(n, b, heads)
    query, keys, values = _with_bias(n, b, query, keys, values)
    columns = keys.shape[1] if keys.rank == 3 else keys.shape[2]
    if n.attr("unidirectional", 0) and columns != query.shape[1] > 1:
        raise n.unsupported("unidirectional attention of queries and keys of different lengths is not supported")
    present: list[Value] = []
    if n.has(6) or n.has(7) or n.wants_output(1) or n.wants_output(2):
        present = [v if v.rank == 4 else by_head(b, v, heads) for v in (keys, values)]
    if n.has(6) or n.has(7):
        earlier = [single(b, n.input(i)) for i in (6, 7)]
        keys, values = present = [
            b.op("concatenate", old, new, axis=2) for old, new in zip(earlier, present, strict=True)
        ]
        columns = keys.shape[2]
    bias = bias_sum(n, b, given(n, 4), given(n, 5), (query.shape[0], query.shape[1], columns))
    scale = n.attr("scale", 0.0) or (query.shape[2] // heads) ** -0.5
    made = attended(n, b, query, keys, values, (heads, heads), scale, bias)
    present = present or [made.rows, made.rows]
    return [b.cast(v, dtype) for v in (made.rows, *present)] + [made.scores]


def _projected(n: Node, b: Builder, heads: int) -> list[Value]:
    """Query, key and value, also out of one tensor [B, L, N, 3, H], or the last two out of [B, L, N, 2, H]."""
    query = single(b, n.input(0))
    if n.has(2):
        return [query, single(b, n.input(1)), single(b, n.input(2))]

    def parts(packed: Value, count: int) -> list[Value]:
        if packed.rank != 5 or packed.shape[2:4] != (heads, count):
            raise n.fail(
                f"without a value, {count} of {heads} heads must be packed as [batch, length, heads, {count}, size]"
            )
        batch, length, _, _, depth = packed.shape
        return [b.reshape(part(b, packed, 3, k), (batch, length, heads * depth)) for k in range(count)]

    return [query, *parts(single(b, n.input(1)), 2)] if n.has(1) else parts(query, 3)


def _with_bias(n: Node, b: Builder, *projected: Value) -> list[Value]:
    """Each after its part of the bias; keys and values that come head by head are done already."""
    bias = given(n, 3)
    if bias is None:
        return list(projected)
    widths = [v.shape[2] if v.rank == 3 else v.shape[1] * v.shape[3] for v in projected]
    made: list[Value] = []
    for v, (first, last) in zip(projected, _columns(n, widths, bias.shape[-1]), strict=True):
        made.append(b.op("nn.bias_add", v, single(b, _cut(b, bias, first, last)), axis=2) if v.rank == 3 else v)
    return made

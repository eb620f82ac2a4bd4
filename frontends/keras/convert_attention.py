"""Attention: products of queries with keys, their softmax, and the sums of values that it weighs."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any, cast

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.keras.table import Layer, layer, remade
from lamina.frontends.network import NodeBuilder


@layer("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention")
def multi_head_attention(
    b: NodeBuilder, layer: Layer, query: Value, value: Value, key: Value | None = None, query_mask: Any = None,
    value_mask: Any = None, key_mask: Any = None, attention_mask: Value | None = None,
    return_attention_scores: bool = False, use_causal_mask: bool = False, **_: Any,
) -> Value | list[Value]:  # fmt: skip
    """Attention in several heads, of which groups may share their keys and values."""
    grouped = layer.described.class_name != "MultiHeadAttention"
    if any(x is not None and x.rank != 3 for x in (query, value, key)):
        raise b.unsupported("attention over several axes is not supported")
    if return_attention_scores and (layer.get("flash_attention") or not grouped and layer.get("sliding_window")):
        raise b.unsupported("scores of windows are not supported")
    masks = [layer.mask_of(query), value_mask or layer.mask_of(value), key_mask or layer.mask_of(key)]
    if grouped:
        masks[0] = query_mask or masks[0]
    mask = _mask(b, query, value, masks, attention_mask, use_causal_mask, layer.get("sliding_window"))
    gate = b.op("sigmoid", projected(b, layer, "gate", query)) if layer.flag("use_gate") else None
    q = projected(b, layer, "query", query)
    k, v = projected(b, layer, "key", value if key is None else key), projected(b, layer, "value", value)
    if grouped:
        repeats = int(layer.get("num_query_heads", 1)) // int(layer.get("num_key_value_heads", 1))
        if repeats > 1:
            k, v = (b.op("repeat", t, repeats=repeats, axis=2) for t in (k, v))
    size = int(layer.get("head_dim" if grouped else "key_dim", 0))
    q, k, v = (b.transpose(t, (0, 2, 1, 3)) for t in (q, k, v))
    weights = _softmax(b, b.mul(b.matrices(q, b.swapped(k)), 1 / sqrt(size)), mask)
    y = b.transpose(b.matrices(weights, v), (0, 2, 1, 3))
    if gate is not None:
        y = b.mul(y, gate)
    found = _output(b, layer, y)
    own = layer.mask_of(query)
    if own is not None:
        b.notes[found] = own
    return [found, weights] if return_attention_scores else found


def projected(b: NodeBuilder, layer: Layer, name: str, x: Value) -> Value:
    """A tensor [batch, steps, features] by a kernel [features, heads, size]: [batch, steps, heads, size]."""
    from lamina.frontends.keras.convert_core import product

    kernel = layer.weight(f"{name}_dense/kernel")
    if kernel.rank != 3:
        raise b.fail(f"the kernel {kernel} has no heads")
    heads = kernel.shape[1:]
    y = product(b, x, _reshaped(b, kernel, (kernel.shape[0], prod(heads))))
    bias = layer.some_weight(f"{name}_dense/bias")
    if bias is not None:
        y = b.op("nn.bias_add", y, _reshaped(b, bias, (prod(heads),)), axis=2)
    return b.reshape(y, (*x.shape[:2], *heads))


def _reshaped(b: NodeBuilder, weight: Value, shape: tuple[int, ...]) -> Value:
    return remade(b, weight, lambda a: a.reshape(shape), lambda v: b.reshape(v, shape))


def _output(b: NodeBuilder, layer: Layer, y: Value) -> Value:
    """All heads [batch, steps, heads, size] by the kernel [heads, size, ...] of the result."""
    from lamina.frontends.keras.convert_core import product

    kernel = layer.weight("output_dense/kernel")
    if kernel.rank < 3 or kernel.shape[:2] != y.shape[2:]:
        raise b.fail(f"the kernel {kernel} does not fit {y}")
    rest = kernel.shape[2:]
    flat = product(
        b, b.reshape(y, (*y.shape[:2], prod(y.shape[2:]))), _reshaped(b, kernel, (prod(y.shape[2:]), prod(rest)))
    )
    bias = layer.some_weight("output_dense/bias")
    if bias is not None:
        flat = b.op("nn.bias_add", flat, _reshaped(b, bias, (prod(rest),)), axis=2)
    return b.reshape(flat, (*y.shape[:2], *rest))


def _mask(b: NodeBuilder, query: Value, value: Value, masks: list[Any], given: Value | None, causal: bool,
          window: Any) -> Value | None:  # fmt: skip
    """The keys that a query sees, [batch, 1, queries, keys]; None where it sees all."""
    of_query, of_value, of_key = masks
    parts: list[Value] = []
    if of_query is not None:
        parts.append(b.op("expand_dims", b.cast(of_query, "bool"), axis=2))
    parts += [b.op("expand_dims", b.cast(m, "bool"), axis=1) for m in (of_value, of_key) if m is not None]
    rows, columns = np.arange(query.shape[1])[:, None], np.arange(value.shape[1])[None, :]
    if causal:
        parts.append(b.constant((rows >= columns)[None]))
    if window is not None:
        parts.append(b.constant((np.abs(rows - columns) < int(window))[None]))
    found: Value | None = None
    for part in parts:
        found = part if found is None else b.op("logical_and", found, part)
    if given is not None:
        own = b.cast(given, "bool")
        if own.rank == 2:
            own = b.op("expand_dims", own, axis=0)
        if found is not None and own.rank == 4:
            found = b.op("expand_dims", found, axis=1)
        found = own if found is None else b.op("logical_and", own, found)
    return found if found is None or found.rank == 4 else b.op("expand_dims", found, axis=1)


def _softmax(b: NodeBuilder, scores: Value, mask: Value | None) -> Value:
    """The softmax of scores; those that a mask leaves out are the lowest numbers of the type."""
    if mask is not None:
        lowest = -65504.0 if scores.dtype == "float16" else float(np.finfo("float32").min) * 0.7
        scores = b.choose(mask, scores, lowest)
    return b.op("nn.softmax", scores, axis=scores.rank - 1)


@layer("Attention", "AdditiveAttention", masked=True)
def attention(b: NodeBuilder, layer: Layer, inputs: Any, mask: Any = None, return_attention_scores: bool = False,
              use_causal_mask: bool = False) -> Value | list[Value]:  # fmt: skip
    """Attention of one head, without projections, by products or by sums behind a tanh."""
    q, v = (cast("Value", x) for x in inputs[:2])
    k = cast("Value", inputs[2]) if len(inputs) > 2 else v
    given: list[Value | None] = [layer.mask_of(x) for x in inputs]
    if isinstance(mask, list):
        given = cast("list[Value | None]", mask)
    scores = _scores(b, layer, q, k)
    seen: Value | None = None
    if (of_value := given[1]) is not None:
        seen = b.op("expand_dims", b.cast(of_value, "bool"), axis=1)
    if use_causal_mask:
        lower = b.constant(np.tril(np.ones((1, *scores.shape[-2:]), bool)))
        seen = lower if seen is None else b.op("logical_and", seen, lower)
    if seen is not None:
        far = 65504.0 if scores.dtype == "float16" else 1e9
        scores = b.choose(seen, scores, b.sub(scores, far))
    weights = b.op("nn.softmax", scores, axis=scores.rank - 1)
    y = b.matrices(weights, v)
    if (of_query := given[0]) is not None:
        y = b.choose(b.op("expand_dims", b.cast(of_query, "bool"), axis=2), y, 0.0)
        b.notes[y] = of_query
    return [y, weights] if return_attention_scores else y


def _scores(b: NodeBuilder, layer: Layer, q: Value, k: Value) -> Value:
    """The score of each key for each query, [batch, queries, keys]."""
    scale = layer.some_weight("scale")
    additive = layer.described.class_name == "AdditiveAttention"
    if not additive and layer.get("score_mode", "dot") == "dot":
        scores = b.matrices(q, b.swapped(k))
        return scores if scale is None else b.mul(scores, scale)
    both = b.add(b.op("expand_dims", q, axis=q.rank - 1), b.op("expand_dims", k, axis=k.rank - 2))
    if not additive and scale is not None:
        both = b.mul(both, scale)
    bent = b.op("tanh", both)
    if additive and scale is not None:
        bent = b.mul(bent, scale)
    scores = b.op("sum", bent, axis=[bent.rank - 1], keepdims=False)
    return scores if additive else b.mul(scores, layer.weight("concat_score_weight"))

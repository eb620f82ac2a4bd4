"""Attention of decoders that keep keys and values of earlier steps: in groups of heads, with rotary embeddings.

    past_key, past_value [B, M, P, H]      states, of which the first places of each row of the batch are taken
    present [B, M, max(P, total), H]       those, the new ones behind them, zeros

How many places are taken is a tensor, `seqlens_k` (with the new ones, less 1); the total length is part of the shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.attention import (
    LOWEST,
    Attended,
    attended,
    bias_of,
    by_head,
    causal,
    places,
    rotated,
    side_by_side,
    summed,
)
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.contributed import FLOAT, INT, STRING, contributed, given, single


@contributed(
    "RotaryEmbedding",
    inputs="input position_ids cos_cache sin_cache",
    outputs="output",
    **dict.fromkeys(("num_heads", "rotary_embedding_dim", "interleaved", "is_packed_batching"), INT),
    scale=FLOAT,
)
def rotary_embedding(n: Node, b: Builder) -> Value:
    """Heads of [B, S, N*H], or [B, N, S, H], turned by the angles of their places: those given, or counted from one."""
    x, cos, sin = (single(b, n.input(i)) for i in (0, 2, 3))
    heads, turned = n.attr("num_heads", 0), n.attr("rotary_embedding_dim", 0)
    if x.rank not in (3, 4) or cos.rank != 2 or cos.shape != sin.shape:
        raise n.fail("the input must be [batch, length, width] or [batch, heads, length, size], the caches matrices")
    if x.rank == 3:
        count = heads if turned and heads else x.shape[2] // (2 * cos.shape[1])
        if not count or x.shape[2] % count:
            raise n.fail(f"rows of {x.shape[2]} elements are no heads of {2 * cos.shape[1]}")
        lined = b.reshape(x, (*x.shape[:2], count, x.shape[2] // count))
        steps, shape = x.shape[1], (-1, x.shape[1], 1, cos.shape[1])
    else:
        lined, steps, shape = x, x.shape[2], (-1, 1, x.shape[2], cos.shape[1])
    positions = n.input(1)
    if positions.shape in ((), (1,)):
        start = b.reshape(positions, (1,))
        positions = b.op("add", b.cast(places(b, steps, 0, 1), start.dtype), start)
    elif positions.shape != (x.shape[0], steps):
        raise n.fail(f"positions of shape {list(positions.shape)} are not one for each of {steps} steps")
    batch = positions.shape[0] if positions.rank == 2 else 1
    turns = [b.reshape(b.op("take", v, positions, axis=0, mode="clip"), (batch, *shape[1:])) for v in (cos, sin)]
    y = rotated(b, lined, *turns, interleaved=bool(n.attr("interleaved", 0)))
    return b.cast(b.reshape(y, x.shape), n.input(0).dtype)


@dataclass(frozen=True)
class Steps:
    """The places that the new rows have among the keys, and how many keys there are."""

    start: Value
    """The number of keys that were there before, int32: [B, 1, 1, 1], or 0"""
    rows: int
    total: int
    is_first: bool
    """Whether the new rows are all that there is."""


_GROUPED = ("num_heads", "kv_num_heads", "do_rotary", "rotary_interleaved", "local_window_size", "smooth_softmax")
_UNSUPPORTED = {
    **{name: () for name in ("k_scale", "v_scale", "q_norm_weight", "k_norm_weight")},
    **{name: ("NONE",) for name in ("k_quant_type", "v_quant_type")},
    **{name: (0,) for name in ("kv_cache_bit_width", "sliding_window_cache")},
}


@contributed(
    "GroupQueryAttention",
    inputs="query key? value? past_key? past_value? seqlens_k total_sequence_length cos_cache? sin_cache? position_ids?"
    " attention_bias? head_sink? k_scale? v_scale? q_norm_weight? k_norm_weight?",
    outputs="output present_key? present_value? output_qk?",
    required=("num_heads", "kv_num_heads"),
    only=_UNSUPPORTED,
    **dict.fromkeys((*_GROUPED, "causal", "qk_output", "kv_cache_bit_width", "sliding_window_cache"), INT),
    **dict.fromkeys(("scale", "softcap", "qk_norm_epsilon"), FLOAT),
    **dict.fromkeys(("k_quant_type", "v_quant_type"), STRING),
)
def group_query_attention(n: Node, b: Builder) -> list[Value]:
    """Causal attention in which heads share keys and values, query, key and value also packed side by side."""
    heads, shared, dtype = n.attr("num_heads"), n.attr("kv_num_heads"), n.input(0).dtype
    query, keys, values = _unpacked(n, b, heads, shared)
    steps = _steps(n, b, query)
    if n.attr("do_rotary", 0):
        turns = _angles(n, b, steps, query.shape[0])
        interleaved = bool(n.attr("rotary_interleaved", 0))
        query, keys = (rotated(b, v, *turns, interleaved=interleaved) for v in (query, keys))
    keys, values = (_kept(n, b, v, given(n, i), steps) for v, i in ((keys, 3), (values, 4)))
    columns = keys.shape[2]
    visible = _visible(n, b, steps, columns)
    bias = summed(b, _padded(n, b, steps, columns), bias_of(b, visible, LOWEST))
    scale = n.attr("scale", 0.0) or query.shape[3] ** -0.5
    sink = given(n, 11)
    if sink is None and n.attr("smooth_softmax", -1) == 1:
        sink = b.constant(np.zeros(heads, np.float32))
    made = attended(
        n, b, side_by_side(b, query), keys, values, (heads, shared), scale, bias,
        n.attr("softcap", 0.0), None if sink is None else single(b, sink),
    )  # fmt: skip
    results = [made.rows, keys, values]
    if n.wants_output(3):
        results.append(_shown(n, b, made, visible, steps))
    return [b.cast(v, dtype) for v in results]


def _unpacked(n: Node, b: Builder, heads: int, shared: int) -> list[Value]:
    """Query, key and value by head, [B, N or M, S, H]."""
    query = single(b, n.input(0))
    if query.rank != 3 or heads < 1 or shared < 1 or heads % shared:
        raise n.fail(f"the query must be [batch, length, width], {shared} heads a part of {heads}")
    if n.has(1) and n.has(2):
        counts = [(query, heads), (single(b, n.input(1)), shared), (single(b, n.input(2)), shared)]
        if any(v.rank != 3 or v.shape[:2] != query.shape[:2] or v.shape[2] % k for v, k in counts):
            raise n.fail("query, key and value must be [batch, length, heads * size]")
        return [by_head(b, v, k) for v, k in counts]
    packed = heads + 2 * shared
    if query.shape[2] % packed:
        raise n.fail(f"rows of {query.shape[2]} elements are no {packed} heads")
    return b.ops("split", by_head(b, query, packed), indices_or_sections=[heads, heads + shared], axis=1)


def _steps(n: Node, b: Builder, query: Value) -> Steps:
    """Places of the new rows: the front of an empty state if they are all there is, else behind what is taken."""
    batch, _, rows, _ = query.shape
    total = int(n.array(6, "the total length").reshape(-1)[0])
    ends = n.input(5)
    if rows > total or ends.shape not in ((batch,), (batch, 1)):
        raise n.fail(f"{rows} rows do not fit a total length of {total}, or seqlens_k is not one for each batch")
    if rows == total:
        return Steps(b.constant(np.int32(0)), rows, total, True)
    if rows > 1 and batch > 1:
        raise n.unsupported("several new rows behind states are supported for a batch of 1 only")
    taken = b.op("subtract", b.cast(ends, "int32"), b.constant(np.int32(rows - 1)))
    return Steps(b.reshape(taken, (batch, 1, 1, 1)), rows, total, False)


def _angles(n: Node, b: Builder, steps: Steps, batch: int) -> tuple[Value, Value]:
    """Cosine and sine of each new row's place, [B, 1, S, R/2]. Of places that are given, the first alone counts where
    there was nothing before."""
    cos, sin = (single(b, n.input(i)) for i in (7, 8))
    if cos.rank != 2 or cos.shape != sin.shape:
        raise n.fail("cos_cache and sin_cache must be matrices of one shape")
    at = places(b, steps.rows, 2)
    if n.has(9):
        positions = b.cast(n.input(9), "int32")
        if positions.shape != (batch, steps.rows):
            raise n.fail(f"positions of shape {list(positions.shape)} are not one for each row")
        if steps.is_first:
            first = b.op("strided_slice", positions, begin=[0, 0], end=[1, 1], strides=[1, 1], axes=[0, 1])
            at = b.op("add", at, b.reshape(first, ()))
        else:
            at = b.reshape(positions, (batch, 1, steps.rows, 1))
    else:
        at = b.op("add", at, steps.start)
    at = b.reshape(at, at.shape[:3])
    return b.op("take", cos, at, axis=0, mode="clip"), b.op("take", sin, at, axis=0, mode="clip")


def _kept(n: Node, b: Builder, new: Value, past: Value | None, steps: Steps) -> Value:
    """The states with the new rows, [B, M, max(P, total), H]; zeros behind them."""
    batch, heads, rows, depth = new.shape
    if past is not None and (past.rank != 4 or past.shape[:2] != (batch, heads) or past.shape[3] != depth):
        raise n.fail(f"states of shape {list(past.shape)} do not fit {heads} heads of {depth}")
    columns = max(steps.total, 0 if past is None else past.shape[2])

    def filled(v: Value) -> Value:
        behind = columns - v.shape[2]
        return b.op("nn.pad", v, pad_width=[*[0] * 5, behind, 0, 0]) if behind else v

    if steps.is_first:
        return filled(new)
    if past is None:
        raise n.fail(f"{rows} rows of {steps.total} are new, and there are no states")
    at, start = places(b, columns, 2), steps.start
    if rows > 1:
        # The batch is 1: its rows move to their places together.
        chosen = b.op("subtract", b.reshape(at, (columns,)), b.reshape(start, (1,)))
        new = b.op("take", new, b.op("clip", chosen, a_min=0.0, a_max=float(rows - 1)), axis=2, mode="clip")
    end = b.op("add", start, b.constant(np.int32(rows)))
    late = b.op("where", b.op("less", at, end), new, b.scalar(0, new))
    return b.op("where", b.op("less", at, start), filled(single(b, past)), late)


def _visible(n: Node, b: Builder, steps: Steps, columns: int) -> Value:
    """A mask of the keys that a row sees: those up to its own, at most the window's; without an order all there are."""
    if not n.attr("causal", 1):
        end = b.op("add", steps.start, b.constant(np.int32(steps.rows)))
        return b.op("less", places(b, columns, 3), end)
    seen = causal(b, steps.rows, columns, steps.start)
    window = n.attr("local_window_size", -1)
    if window <= 0:
        return seen
    first = b.op("add", places(b, steps.rows, 2), b.op("subtract", steps.start, b.constant(np.int32(window))))
    return b.op("logical_and", seen, b.op("greater", places(b, columns, 3), first))


def _padded(n: Node, b: Builder, steps: Steps, columns: int) -> Value | None:
    """The bias of the scores, padded to the columns behind the total length, which are not seen; None for none."""
    if not n.has(10):
        return None
    bias = single(b, n.input(10))
    if bias.rank != 4 or bias.shape[3] != steps.total:
        raise n.fail(f"attention_bias of shape {list(bias.shape)} does not end in {steps.total}")
    behind = columns - steps.total
    return b.op("nn.pad", bias, pad_width=[*[0] * 7, behind]) if behind else bias


def _shown(n: Node, b: Builder, made: Attended, visible: Value, steps: Steps) -> Value:
    """The scores before the softmax or after it, as far as the total length; 0 where a key is not seen."""
    weights = n.attr("qk_output", 0) == 2
    found = made.weights if weights else b.op("where", visible, made.scores, b.scalar(0, made.scores))
    return b.op("strided_slice", found, begin=[0], end=[steps.total], strides=[1], axes=[3])

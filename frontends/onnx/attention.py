"""Attention of several heads, as the converters of all its spellings build it.

    query [B, S, N*H]          the heads beside each other in each row
    keys, values               [B, T, M*H] likewise, or [B, M, T, H] head by head, as states of earlier steps are kept
    scores [B, N, S, T]        query keys^T * scale, bent by softcap, plus a bias
    result [B, S, N*E]         softmax(scores) values

M divides N: heads N/M at a time share keys and values. Without states, sharing, softcap and sink the ops are those that
`cpu-fuse-attention` makes one kernel of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node

LOWEST = float(np.finfo(np.float32).min)
"""A number that is added to a score that must not count. It swallows any score."""


@dataclass(frozen=True)
class Attended:
    """The values that attention computes."""

    rows: Value
    """[B, S, N*E]"""
    scores: Value
    """[B, N, S, T], before the softmax"""
    weights: Value
    """[B, N, S, T], after it"""


def by_head(b: Builder, rows: Value, heads: int) -> Value:
    """[B, S, N*H] as [B, N, S, H]."""
    batch, length, width = rows.shape
    return b.op("transpose", b.reshape(rows, (batch, length, heads, width // heads)), axes=[0, 2, 1, 3])


def side_by_side(b: Builder, x: Value) -> Value:
    """[B, N, S, H] as [B, S, N*H]."""
    batch, heads, length, width = x.shape
    return b.reshape(b.op("transpose", x, axes=[0, 2, 1, 3]), (batch, length, heads * width))


def attended(
    n: Node, b: Builder, query: Value, keys: Value, values: Value, heads: tuple[int, int], scale: float,
    bias: Value | None = None, softcap: float = 0.0, sink: Value | None = None,
) -> Attended:  # fmt: skip
    """Attention by (N, M) heads; `bias` broadcasts to the scores, `sink` [N] is a score that no value belongs to.

    Raises InputError naming the node where the operands do not fit each other.
    """
    count, shared = heads
    _check(n, query, keys, values, heads)
    batch, length, width = query.shape
    depth = width // count
    stacks, rows = batch * shared, length * (count // shared)
    lined = b.reshape(by_head(b, query, count), (stacks, rows, depth))
    if keys.rank == 3:
        total = keys.shape[1]
        parts = b.op("transpose", b.reshape(keys, (batch, total, shared, depth)), axes=[0, 2, 3, 1])
        keys = b.reshape(parts, (stacks, depth, total))
        scores = b.op("nn.batch_matmul", lined, keys, transpose_b=False)
    else:
        total = keys.shape[2]
        scores = b.op("nn.batch_matmul", lined, b.reshape(keys, (stacks, total, depth)), transpose_b=True)
    scores = b.reshape(scores, (batch, count, length, total))
    scores = b.op("multiply", scores, b.scalar(scale, scores))
    if softcap:
        cap = b.scalar(softcap, scores)
        scores = b.op("multiply", b.op("tanh", b.op("divide", scores, cap)), cap)
    if bias is not None:
        scores = b.op("add", scores, bias)
    weights = b.op("nn.softmax", scores, axis=3) if sink is None else _with_sink(b, scores, sink)
    if values.rank == 3:
        values = by_head(b, values, shared)
    extent = values.shape[-1]
    mixed = b.op(
        "nn.batch_matmul",
        b.reshape(weights, (stacks, rows, total)),
        b.reshape(values, (stacks, total, extent)),
        transpose_b=False,
    )
    return Attended(side_by_side(b, b.reshape(mixed, (batch, count, length, extent))), scores, weights)


def _check(n: Node, query: Value, keys: Value, values: Value, heads: tuple[int, int]) -> None:
    count, shared = heads
    if query.rank != 3 or keys.rank not in (3, 4) or values.rank not in (3, 4):
        raise n.fail("query, key and value must be [batch, length, heads * size], the last two also head by head")
    if count < 1 or shared < 1 or count % shared or query.shape[2] % count:
        raise n.fail(f"rows of {query.shape[2]} elements are no {count} heads on {shared} of keys and values")

    def parts(v: Value) -> tuple[int, int, int]:
        batch, *_, width = v.shape
        if v.rank == 3:
            return batch, v.shape[1], width // shared if width % shared == 0 else -1
        return batch, v.shape[2], width if v.shape[1] == shared else -1

    (batch, total, depth), (others, length, extent) = parts(keys), parts(values)
    if (batch, depth) != (query.shape[0], query.shape[2] // count) or (others, length) != (batch, total) or extent < 0:
        raise n.fail(f"query {query}, key {keys} and value {values} do not fit each other")


def _with_sink(b: Builder, scores: Value, sink: Value) -> Value:
    """The softmax of scores and of one more for each head, which nothing comes of."""
    column = b.op("broadcast_to", b.reshape(sink, (1, sink.shape[0], 1, 1)), shape=[*scores.shape[:3], 1])
    all_ = b.op("nn.softmax", b.op("concatenate", scores, column, axis=3), axis=3)
    return b.op("strided_slice", all_, begin=[0], end=[scores.shape[3]], strides=[1], axes=[3])


# -- what is seen ----------------------------------------------------------------------------------


def bias_of(b: Builder, seen: Value, hidden: float) -> Value:
    """0 for scores that count, `hidden` for those that do not."""
    return b.op("where", seen, b.constant(np.float32(0)), b.constant(np.float32(hidden)))


def summed(b: Builder, *biases: Value | None) -> Value | None:
    """The sum of those of the biases that there are."""
    given = [v for v in biases if v is not None]
    return reduce(lambda x, y: b.op("add", x, y), given) if given else None


def places(b: Builder, count: int, axis: int, rank: int = 4) -> Value:
    """0, 1, 2 ... along one axis, the others of extent 1."""
    numbers = np.arange(count, dtype=np.int32)
    return b.constant(numbers.reshape([count if a == axis else 1 for a in range(rank)]))


def causal(b: Builder, rows: int, columns: int, start: Value | int) -> Value:
    """Whether place t is none behind place `start` + s, for s and t of the last two axes of four."""
    first = start if isinstance(start, Value) else b.constant(np.int32(start))
    return b.op("less_equal", places(b, columns, 3), b.op("add", places(b, rows, 2), first))


# -- rotary embeddings -----------------------------------------------------------------------------


def rotated(b: Builder, x: Value, cos: Value, sin: Value, interleaved: bool) -> Value:
    """Pairs of elements of the last axis turned by angles, those behind the last pair as they are.

    The pairs are neighbours where they are interleaved, else elements of the first and the second half; cosine and
    sine broadcast to the pairs.
    """
    half, width = cos.shape[-1], x.shape[-1]
    turned, rest = x, None
    if 2 * half < width:
        turned, rest = b.ops("split", x, indices_or_sections=[2 * half], axis=x.rank - 1)
    if interleaved:
        pairs = b.reshape(turned, (*turned.shape[:-1], half, 2))
        first, second = (_place(b, pairs, k) for k in (0, 1))
    else:
        first, second = b.ops("split", turned, indices_or_sections=2, axis=x.rank - 1)
    one = b.op("subtract", b.op("multiply", first, cos), b.op("multiply", second, sin))
    other = b.op("add", b.op("multiply", first, sin), b.op("multiply", second, cos))
    if interleaved:
        joined = b.op("concatenate", *(b.op("expand_dims", v, axis=v.rank) for v in (one, other)), axis=x.rank)
        y = b.reshape(joined, turned.shape)
    else:
        y = b.op("concatenate", one, other, axis=x.rank - 1)
    return y if rest is None else b.op("concatenate", y, rest, axis=x.rank - 1)


def _place(b: Builder, pairs: Value, k: int) -> Value:
    cut = b.op("strided_slice", pairs, begin=[k], end=[k + 1], strides=[1], axes=[pairs.rank - 1])
    return b.reshape(cut, pairs.shape[:-1])

"""cpu-fuse-attention: the products, softmax, reshapes and transposes of attention become one op.

Before:
    %q = relay.reshape(relay.transpose(relay.reshape %query ...)) : tensor<12x128x64xf32>, %k and %v likewise
    %s = relay.divide (relay.reshape (relay.nn.batch_matmul %q, %k)), %root
    %p = relay.nn.softmax (relay.add %s, %mask) {axis = 3}
    %y = relay.reshape (relay.transpose (relay.reshape (relay.nn.batch_matmul (relay.reshape %p), %v)))
After:
    %y = relay.nn.contrib_attention %query, %key, %value, %scale, %mask {heads = 12} : ... -> tensor<1x128x768xf32>

The scores may be divided, multiplied or left, or queries, and keys, be multiplied by a number before. Then a mask may
be added to them, or choose between them and the lowest float32, which becomes a sum too: that number swallows any score
of ordinary size. Scores of windows may have a mask for each window as well, added to [images, windows, ...].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lamina.dialects import relay as r
from lamina.dialects.rules.patterns import OpPattern
from lamina.dialects.rules.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

query, key, value = var("query key value")
c, m, shown = const("c"), var("m"), var("shown")
d, windowed = const("d"), var("windowed")
q1, q2, k1, k2, v1, v2, s1, s2, o1, o2, w1, w2 = attr("q1 q2 k1 k2 v1 v2 s1 s2 o1 o2 w1 w2")

fuse_attention = Rules("cpu-fuse-attention")

LOWEST = -3.4028234663852886e38
"""The lowest float32: what is added to it, if it is of ordinary size, is lost."""
Shape = Sequence[int]


@computed
def number_of_heads(split: Shape) -> int:
    """The number of heads, H of [B, S, H, D]."""
    return split[2]


@computed
def splits(whole: Shape, split: Shape, matrices: Shape, transposed: bool) -> bool:
    """Whether rows of heads, [B, S, H * D], are reshaped to [B, S, H, D] and after a transpose to [B * H, S, D], or to
    [B * H, D, S]."""
    if len(whole) != 3 or len(split) != 4 or split[2] < 1:
        return False
    b, s, h, d = split
    return (b, s, h * d) == tuple(whole) and tuple(matrices) == ((b * h, d, s) if transposed else (b * h, s, d))


@computed
def joins(queries: Shape, keys: Shape, values: Shape, scores: Shape, matrices: Shape) -> bool:
    """Whether scores of heads are reshaped to [B, H, S, T], and back to matrices."""
    (b, s, h, d), t = queries, keys[1]
    fit = tuple(keys) == (b, t, h, d) and tuple(values[:3]) == (b, t, h)
    return fit and tuple(scores) == (b, h, s, t) and tuple(matrices) == (b * h, s, t)


@computed
def rejoins(queries: Shape, values: Shape, heads: Shape, rows: Shape) -> bool:
    """Whether the results of heads are reshaped to [B, H, S, E], and after a transpose to [B, S, H * E]."""
    (b, s, h, _), e = queries, values[3]
    return tuple(heads) == (b, h, s, e) and tuple(rows) == (b, s, h * e)


@computed
def is_number(shape: Shape) -> bool:
    """Whether a shape is that of a scalar."""
    return not len(shape)


@computed
def is_mask(shape: Shape, scores: Shape) -> bool:
    """Whether a mask broadcasts to the scores."""
    return len(shape) <= 4 and all(e in (1, f) for e, f in zip(shape[::-1], scores[::-1], strict=False))


@computed
def are_windows(windows: Shape, scores: Shape, joined: Shape, mask: Shape) -> bool:
    """Whether scores [B * W, H, S, T] are reshaped to [B, W, H, S, T] and back, and a mask broadcasts to these."""
    if len(windows) != 5 or (windows[0] * windows[1], *windows[2:]) != tuple(scores) or tuple(joined) != tuple(scores):
        return False
    return len(mask) <= 5 and all(e in (1, f) for e, f in zip(mask[::-1], windows[::-1], strict=False))


@computed
def of_windows(windows: Shape, mask: Shape, joined: bool) -> Shape:
    """The shape of a mask with an extent for each window, [B, W, ...], or [B * W, ...]."""
    first = (windows[0] * windows[1],) if joined else tuple(windows[:2])
    return (*first, *((1,) * 3 + tuple(mask))[-3:])


def heads_of(x: Any, split: Any, matrices: Any, axes: tuple[int, ...] = (0, 2, 1, 3), scale: Any = None) -> OpPattern:
    """The pattern of rows of heads reshaped to `split`, transposed by `axes`, multiplied by `scale`, and reshaped to
    `matrices`."""
    heads = r.transpose(r.reshape(x, newshape=split), axes=axes)
    return r.reshape(heads if scale is None else r.multiply(heads, scale), newshape=matrices)


# Shapes that fit are found by no chance.
B, S, T, H, D, E = 2, 3, 5, 2, 4, 3
DRAWN = {
    "query": tensor(B, S, H * D), "key": tensor(B, T, H * D), "value": tensor(B, T, H * E), "m": tensor(B, 1, 1, T),
    "q1": one_of((B, S, H, D)), "q2": one_of((B * H, S, D)), "k1": one_of((B, T, H, D)), "k2": one_of((B * H, D, T)),
    "v1": one_of((B, T, H, E)), "v2": one_of((B * H, T, E)), "s1": one_of((B, H, S, T)), "s2": one_of((B * H, S, T)),
    "o1": one_of((B, H, S, E)), "o2": one_of((B, S, H * E)), "c": tensor(), "d": tensor(),
    "shown": tensor(S, T, dtype="bool"), "windowed": tensor(B, 1, S, T), "w1": one_of((1, B, H, S, T)),
    "w2": one_of((B, H, S, T)),
}  # fmt: skip

as_they_lie: dict[str, Any] = {"transpose_a": False, "transpose_b": False, "out_dtype": ""}


def scores_of(of_queries: Any = None, of_keys: Any = None) -> OpPattern:
    """The pattern of scores [B, H, S, T] of queries and keys, multiplied by numbers."""
    queries, keys = heads_of(query, q1, q2, scale=of_queries), heads_of(key, k1, k2, (0, 2, 3, 1), of_keys)
    return r.reshape(r.nn.batch_matmul(queries, keys, **as_they_lie), newshape=s1)


scores = scores_of()
SCALED = (
    (r.divide(scores, c), r.divide(1.0, c), (c,)),
    (r.multiply(scores, c), c, (c,)),
    (scores_of(c), c, (c,)),
    (scores_of(c, d), r.multiply(c, d), (c, d)),
    (scores, 1.0, ()),
)
"""Patterns of scaled scores, their scale, and the numbers in it."""


def in_windows(scores: Any) -> OpPattern:
    """The pattern of scores to which something is added for each window."""
    return r.reshape(r.add(r.reshape(scores, newshape=w1), windowed), newshape=w2)


hidden = r.multiply(r.cast(r.logical_not(shown), dtype=query.dtype), LOWEST)
per_window = r.reshape(
    r.broadcast_to(windowed, shape=of_windows(w1, windowed.shape, False)),
    newshape=of_windows(w1, windowed.shape, True),
    allowzero=True,
)

for scaled, scale, numbers in SCALED:
    fits, are = is_mask(m.shape, s1), are_windows(w1, s1, w2, windowed.shape)
    for masked, bias, conditions in (
        (r.add(scaled, m), m, (fits,)),
        (r.where(shown, scaled, LOWEST), hidden, (is_mask(shown.shape, s1),)),
        (in_windows(r.add(scaled, m)), r.add(m, per_window), (fits, are)),
        (in_windows(scaled), per_window, (are,)),
        (scaled, 0.0, ()),
    ):
        weights = r.reshape(r.nn.softmax(masked, axis=3), newshape=s2)
        mixed = r.nn.batch_matmul(weights, heads_of(value, v1, v2), **as_they_lie)
        joined = heads_of(mixed, o1, o2)
        fused = r.nn.contrib_attention(query, key, value, scale, bias, heads=number_of_heads(q1))
        rule = (joined >> fused).when(
            splits(query.shape, q1, q2, False),
            splits(key.shape, k1, k2, True),
            splits(value.shape, v1, v2, False),
            joins(q1, k1, v1, s1, s2),
            rejoins(q1, v1, o1, o2),
            *(is_number(number.shape) for number in numbers),
            *conditions,
        )
        fuse_attention += (rule.finite() if bias is hidden else rule).drawing(**DRAWN)


@dataclass(frozen=True)
class CpuFuseAttention(ModulePass):
    """The products, softmax, reshapes and transposes of attention become one op."""

    name = "cpu-fuse-attention"
    opt_level: ClassVar[int] = 3
    numerics: ClassVar[str] = "fast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuse_attention.apply(op)

"""relay-simplify-expr: algebra on graphs.

Before:
    %0 = relay.transpose %x {axes = [0, 2, 1]} : (tensor<1x8x6xf32>) -> tensor<1x6x8xf32>
    %1 = relay.transpose %0 {axes = [0, 2, 1]} : (tensor<1x6x8xf32>) -> tensor<1x8x6xf32>
    %2 = relay.multiply %1, %one : (tensor<1x8x6xf32>, tensor<f32>) -> tensor<1x8x6xf32>
    %3 = relay.nn.relu %2 : tensor<1x8x6xf32>
After:
    %3 = relay.nn.relu %x : tensor<1x8x6xf32>

A rule that would change the type of a value does not apply, so `x + 0` stands for any constant of zeros that x
broadcasts against without growing. The sign of a zero is not kept (-0.0 + 0.0 is 0.0), NaN and infinities are.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float, itemsize
from lamina.dialects.relay.layout import extents
from lamina.dialects.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold_explicit_padding import fold_padding
from lamina.passes.rewriting import Rules

Ints = tuple[int, ...]

x, y, w = var("x y w")
c, d = const("c d")
p, q, lo, hi, k = attr("p q lo hi k")

simplify = Rules("relay-simplify-expr")

# -- a transpose is a permutation acting on axes ---------------------------------------------------


def order(axes: Ints, rank: int) -> Ints:
    """The permutation that a list of axes stands for: an empty one reverses."""
    return tuple(a % rank for a in axes) if axes else tuple(reversed(range(rank)))


@computed
def compose(first: Ints, second: Ints, rank: int) -> Ints:
    """Axes of `transpose(transpose(x, first), second)` in one."""
    inner = order(first, rank)
    return tuple(inner[a] for a in order(second, rank))


@computed
def is_identity(axes: Ints, rank: int) -> bool:
    return order(axes, rank) == tuple(range(rank))


simplify += r.transpose(r.transpose(x, axes=p), axes=q) >> r.transpose(x, axes=compose(p, q, x.rank))
simplify += (r.transpose(x, axes=p) >> x).when(is_identity(p, x.rank))

# A product takes its second factor either way round.
for flag in (False, True):
    product = r.nn.batch_matmul(x, r.transpose(y, axes=(0, 2, 1)), transpose_b=flag)
    simplify += product >> r.nn.batch_matmul(x, y, transpose_b=not flag, like=product)

# -- a reshape keeps the order of elements, so the last shape decides ------------------------------


@computed
def has_zero(shape: Ints) -> bool:
    return 0 in shape


for inner in (r.reshape(x), r.squeeze(x), r.nn.batch_flatten(x), r.expand_dims(x)):
    for outer in (r.reshape(inner), r.squeeze(inner), r.nn.batch_flatten(inner)):
        simplify += outer >> r.reshape(x, newshape=outer.shape, allowzero=has_zero(outer.shape))

simplify += r.reshape(x) >> x
simplify += r.squeeze(x, axis=()) >> x
simplify += r.nn.batch_flatten(x) >> x
simplify += r.expand_dims(x) >> x
simplify += r.broadcast_to(x) >> x
simplify += r.tile(x) >> x
simplify += r.concatenate(x) >> x
simplify += r.copy(x) >> x

# -- layouts ---------------------------------------------------------------------------------------


@computed
def same(a: str, b: str) -> bool:
    return a == b


@computed
def keeps_channels(channels: int, shape: Ints, layout: str, inner: int) -> bool:
    """Whether an outer transform sees all the channels that the inner one was given."""
    return channels in (0, inner or extents(layout, shape).get("C", 0))


simplify += (r.layout_transform(x, src_layout=p, dst_layout=q, channels=0) >> x).when(same(p, q))
inner = r.layout_transform(x, src_layout=p, dst_layout=q, channels=k)
simplify += (
    r.layout_transform(inner, src_layout=q, dst_layout=lo, channels=hi)
    >> r.layout_transform(x, src_layout=p, dst_layout=lo, channels=k)
).when(keeps_channels(hi, x.shape, p, k))

# -- casts -----------------------------------------------------------------------------------------

_MANTISSA = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


@computed
def holds(wide: str, narrow: str) -> bool:
    """Whether every value of one type is a value of the other."""
    if wide == narrow or narrow == "bool":
        return True
    if wide == "bool":
        return False
    if is_float(narrow):
        return is_float(wide) and itemsize(wide) > itemsize(narrow)
    signed, bits = narrow.startswith("int"), itemsize(narrow) * 8
    if is_float(wide):
        return _MANTISSA[wide] >= bits - signed and wide != "float16"
    wide_signed = wide.startswith("int")
    return (wide_signed or not signed) and itemsize(wide) * 8 > bits


simplify += r.cast(x) >> x
simplify += (r.cast(r.cast(x, dtype=p), dtype=q) >> r.cast(x, dtype=q)).when(holds(p, x.dtype))

# -- neutral elements ------------------------------------------------------------------------------

simplify += r.add(x, 0) >> x
simplify += r.subtract(x, 0) >> x
simplify += r.multiply(x, 1) >> x
simplify += r.divide(x, 1) >> x
simplify += r.power(x, 1) >> x
simplify += r.negative(r.negative(x)) >> x
simplify += r.abs(r.abs(x)) >> r.abs(x)
simplify += r.nn.relu(r.nn.relu(x)) >> r.nn.relu(x)
condition = var("condition")
simplify += r.where(condition, x, x) >> x

# -- constants gather, so that they fold -----------------------------------------------------------

# (x + c) + d = x + (c + d),   (x * c) * d = x * (c * d),   (x + c) * d = x * d + c * d
simplify += r.add(r.add(x, c), d) >> r.add(x, r.add(c, d))
simplify += r.multiply(r.multiply(x, c), d) >> r.multiply(x, r.multiply(c, d))
simplify += (r.multiply(r.add(x, c), d) >> r.add(r.multiply(x, d), r.multiply(c, d))).finite()

# -- clips: a chain of intervals is an interval ----------------------------------------------------


@computed
def clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


@computed
def ordered(low: float, high: float) -> bool:
    return low <= high


simplify += (
    r.clip(r.clip(x, a_min=p, a_max=q), a_min=lo, a_max=hi) >> r.clip(x, a_min=clamp(p, lo, hi), a_max=clamp(q, lo, hi))
).when(ordered(p, q), ordered(lo, hi))
simplify += r.nn.relu(r.clip(x, a_min=p, a_max=q)) >> r.clip(
    x, a_min=clamp(p, 0.0, float("inf")), a_max=clamp(q, 0.0, float("inf"))
)
clipped = r.clip(r.nn.relu(x), a_min=p, a_max=q)
simplify += (clipped >> r.clip(x, like=clipped)).when(ordered(0.0, p), ordered(p, q))

# -- pads add up, and convolutions and pools pad by themselves -------------------------------------

simplify += fold_padding


@dataclass(frozen=True)
class SimplifyExpr(ModulePass):
    """Algebra on graphs."""

    name = "relay-simplify-expr"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        simplify.apply(op)

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
from typing import Any

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float, itemsize
from lamina.dialects.lazy import np
from lamina.dialects.relay.layout import extents
from lamina.dialects.rules.terms import attr, computed, const, var
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_explicit_padding import fold_padding
from lamina.passes.relay.simplify.concretize_like import concretize, has_zero
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

Ints = tuple[int, ...]

x, y, w = var("x y w")
c, d = const("c d")
p, q, lo, hi, k = attr("p q lo hi k")

simplify = Rules("relay-simplify-expr")
distribute = Rules("relay-simplify-expr")
"""Those that round otherwise, not only in another order; they hold for finite numbers."""
after_layouts = Rules("relay-simplify-expr")
"""Those that changed layouts make room for: relay-simplify-expr-post-alter-op runs them again."""

# -- types are known -------------------------------------------------------------------------------

simplify += concretize

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
    """Whether a transpose leaves all axes in place."""
    return order(axes, rank) == tuple(range(rank))


after_layouts += r.transpose(r.transpose(x, axes=p), axes=q) >> r.transpose(x, axes=compose(p, q, x.rank))
after_layouts += (r.transpose(x, axes=p) >> x).when(is_identity(p, x.rank))

# A product takes its second factor either way round.
for flag in (False, True):
    product = r.nn.batch_matmul(x, r.transpose(y, axes=(0, 2, 1)), transpose_b=flag)
    simplify += product >> r.nn.batch_matmul(x, y, transpose_b=not flag, like=product)

# -- a reshape keeps the order of elements, so the last shape decides ------------------------------


for inner in (r.reshape(x), r.squeeze(x), r.nn.batch_flatten(x), r.expand_dims(x)):
    for outer in (r.reshape(inner), r.squeeze(inner), r.nn.batch_flatten(inner)):
        after_layouts += outer >> r.reshape(x, newshape=outer.shape, allowzero=has_zero(outer.shape))

after_layouts += r.reshape(x) >> x
after_layouts += r.squeeze(x, axis=()) >> x
after_layouts += r.nn.batch_flatten(x) >> x
after_layouts += r.expand_dims(x) >> x
after_layouts += r.broadcast_to(x) >> x
after_layouts += r.tile(x) >> x
after_layouts += r.concatenate(x) >> x
after_layouts += r.copy(x) >> x

# -- one part of an axis that was split is a slice: q, k and v of one product ----------------------


@computed
def is_part(shape: Ints, parts: Ints, axes: Ints, place: Any) -> bool:
    """Whether the last axis was split, the first of its parts moved to the front, and one place of that is meant."""
    last = len(shape) - 1
    if place is None or place.shape != () or len(parts) < last + 2 or min(parts) < 1:
        return False
    if tuple(parts[:last]) != tuple(shape[:last]):
        return False
    return order(axes, len(parts))[0] == last and 0 <= place < parts[last]


@computed
def part_at(parts: Ints, rank: int, place: Any, end: bool) -> Ints:
    """The place where such a part begins or ends on the axis that was split."""
    size = 1
    for extent in parts[rank:]:
        size *= extent
    return ((int(place) + end) * size,)


@computed
def last_axis(rank: int) -> Ints:
    """The last axis, as a list."""
    return (rank - 1,)


@computed
def without(extents: Ints, rank: int) -> Ints:
    """The extents but for those of an axis of which one place is left."""
    return (*extents[: rank - 1], *extents[rank:])


@computed
def axes_without(axes: Ints, rank: int) -> Ints:
    """The axes but for the first, counted without it."""
    return tuple(a - (a >= rank) for a in order(axes, len(axes))[1:])


heads = r.transpose(r.reshape(x, newshape=k).shared(), axes=p).shared()
part = r.strided_slice(
    x, begin=part_at(k, x.rank, c.value, False), end=part_at(k, x.rank, c.value, True), strides=(1,), slice_mode="end",
    axes=last_axis(x.rank),
)  # fmt: skip
apart = r.transpose(r.reshape(part, newshape=without(k, x.rank), allowzero=True), axes=axes_without(p, x.rank))
simplify += (
    (r.take(heads, c, axis=0, batch_dims=0) >> apart)
    .when(is_part(x.shape, k, p, c.value))
    .drawing(
        x=tensor(2, 5, 12),
        k=one_of((2, 5, 3, 2, 2), (2, 5, 3, 4)),
        p=one_of((2, 0, 3, 1, 4), (2, 1, 0, 3)),
        c=tensor(dtype="int64"),
    )  # fmt: skip
)

# -- layouts ---------------------------------------------------------------------------------------


@computed
def same(a: str, b: str) -> bool:
    """Whether two names of layouts or dtypes are equal."""
    return a == b


@computed
def keeps_channels(channels: int, shape: Ints, layout: str, inner: int) -> bool:
    """Whether an outer transform sees all the channels that the inner one was given."""
    return channels in (0, inner or extents(layout, shape).get("C", 0))


after_layouts += (r.layout_transform(x, src_layout=p, dst_layout=q, channels=0) >> x).when(same(p, q))
inner = r.layout_transform(x, src_layout=p, dst_layout=q, channels=k)
after_layouts += (
    r.layout_transform(inner, src_layout=q, dst_layout=lo, channels=hi)
    >> r.layout_transform(x, src_layout=p, dst_layout=lo, channels=k)
).when(keeps_channels(hi, x.shape, p, k))


@computed
def is_permutation(source: str, target: str) -> bool:
    """Whether a transform moves whole axes."""
    return source.isupper() and sorted(source) == sorted(target)


@computed
def moved(source: str, target: str) -> Ints:
    """The permutation that a transform of whole axes is."""
    return tuple(source.index(a) for a in target)


whole = r.layout_transform(x, src_layout=p, dst_layout=q, channels=0)
after_layouts += (r.transpose(whole, axes=lo) >> r.transpose(x, axes=compose(moved(p, q), lo, x.rank))).when(
    is_permutation(p, q)
)
turned = r.layout_transform(r.transpose(x, axes=lo), src_layout=p, dst_layout=q, channels=0)
after_layouts += (turned >> r.transpose(x, axes=compose(lo, moved(p, q), x.rank))).when(is_permutation(p, q))

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


after_layouts += r.cast(x) >> x
after_layouts += (r.cast(r.cast(x, dtype=p), dtype=q) >> r.cast(x, dtype=q)).when(holds(p, x.dtype))


@computed
def real(dtype: str) -> bool:
    """Whether a dtype is one of floats."""
    return is_float(dtype)


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

# x + x = 2x,   c / sqrt(x) = c * rsqrt(x),   a^2 + 2ab + b^2 = (a + b)^2
simplify += r.add(x, x) >> r.multiply(x, 2)
simplify += r.divide(c, r.sqrt(x)) >> r.multiply(c, r.rsqrt(x))
squares = r.multiply(x, x), r.multiply(y, y)
twice = r.multiply(r.multiply(x, y), 2) | r.multiply(x, r.multiply(y, 2))
total = r.add(x, y)
for binomial in (r.add(r.add(squares[0], twice), squares[1]), r.add(r.add(*squares), twice)):
    distribute += (binomial >> r.multiply(total, total)).when(real(x.dtype)).finite()

# -- constants gather, so that they fold -----------------------------------------------------------

# (x + c) + d = x + (c + d),   (x * c) * d = x * (c * d),   (x + c) * d = x * d + c * d
simplify += r.add(r.add(x, c), d) >> r.add(x, r.add(c, d))
simplify += r.multiply(r.multiply(x, c), d) >> r.multiply(x, r.multiply(c, d))
distribute += (r.multiply(r.add(x, c), d) >> r.add(r.multiply(x, d), r.multiply(c, d))).finite()

# -- clips: a chain of intervals is an interval ----------------------------------------------------


@computed
def clamp(value: float, low: float, high: float) -> float:
    """A number brought between `low` and `high`; `high` where the two are the wrong way round."""
    return min(max(value, low), high)


@computed
def ordered(low: float, high: float) -> bool:
    """Whether the bounds of a clip are the right way round."""
    return low <= high


after_layouts += (
    r.clip(r.clip(x, a_min=p, a_max=q), a_min=lo, a_max=hi) >> r.clip(x, a_min=clamp(p, lo, hi), a_max=clamp(q, lo, hi))
).when(ordered(p, q), ordered(lo, hi))
after_layouts += r.nn.relu(r.clip(x, a_min=p, a_max=q)) >> r.clip(
    x, a_min=clamp(p, 0.0, float("inf")), a_max=clamp(q, 0.0, float("inf"))
)


@computed
def covers(low: float, high: float, dtype: str) -> bool:
    """Whether an interval holds all values of an integer type."""
    if not dtype.lstrip("u").startswith("int"):
        return False
    least, greatest = bounds(dtype)
    return low <= least and high >= greatest


@computed
def within(low: float, high: float, narrow: str, wide: str) -> bool:
    """Whether all whole numbers of an interval are values of an integer type."""
    if not all(t.lstrip("u").startswith("int") for t in (narrow, wide)):
        return False
    least, greatest = bounds(narrow)
    return least <= low <= high <= greatest


def bounds(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    bits = itemsize(dtype) * 8
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


after_layouts += (r.clip(x, a_min=p, a_max=q) >> x).when(covers(p, q, x.dtype))
limited = r.clip(x, a_min=p, a_max=q)
after_layouts += (r.cast(r.cast(limited, dtype=lo), dtype=hi) >> limited).when(
    within(p, q, lo, x.dtype), same(hi, x.dtype)
)
clipped = r.clip(r.nn.relu(x), a_min=p, a_max=q)
after_layouts += (clipped >> r.clip(x, like=clipped)).when(ordered(0.0, p), ordered(p, q))

# -- the order of quantised numbers is that of the real ones ---------------------------------------


@computed
def keeps_order(scale: Any, zero: Any, dtype: str) -> bool:
    """Whether different narrow integers stay different and in order: one positive scale, one zero point in reach."""
    if scale is None or zero is None or scale.size != 1 or zero.size != 1 or itemsize(dtype) > 2:
        return False
    return bool(np.all((scale > 1e-30) & (scale < 1e30))) and bool(np.all(np.abs(zero) < 2**16))


real_values = r.qnn.dequantize(x, c, d, out_dtype="float32")
for op in (r.argmax, r.argmin, r.argsort):
    place = op(real_values)
    ordered_alike = (place >> op(x, like=place)).when(keeps_order(c.value, d.value, x.dtype))
    simplify += ordered_alike.drawing(c=tensor(dtype="float32"), d=tensor(dtype="int32"))

# -- pads add up, and convolutions and pools pad by themselves -------------------------------------

simplify += fold_padding
simplify += after_layouts


both = Rules("relay-simplify-expr")
"""Those that round otherwise among the others, put together when the pass first runs, after all are known."""


@dataclass(frozen=True)
class SimplifyExpr(ModulePass):
    """Algebra on graphs."""

    name = "relay-simplify-expr"
    exact: bool = False
    """Whether a sum may not be multiplied out, nor three products become one: that rounds otherwise."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not both.rules:
            both.rules += [*simplify.rules, *distribute.rules]
        (simplify if self.exact else both).apply(op)

"""relay-quantized-products: products of dequantized tensors are products of the stored integers.

Before:
    %0 = relay.qnn.dequantize %x, %s, %z : (tensor<1x8xui8>, ...) -> tensor<1x8xf32>
    %1 = relay.qnn.dequantize %w, %t, %zero : (tensor<4x8xi8>, ...) -> tensor<4x8xf32>
    %2 = relay.nn.dense %0, %1 : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<1x4xf32>
    %3 = relay.qnn.quantize %2, %u, %v {rounding = "TONEVEN"} : (tensor<1x4xf32>, ...) -> tensor<1x4xui8>
After:
    %2 = relay.qnn.dense %x, %w, %z, %zero, %s, %t : (tensor<1x8xui8>, ...) -> tensor<1x4xi32>
    %3 = relay.qnn.requantize %2, %st, %zero, %u, %v {compute_dtype = "float32", rounding = "TONEVEN", ...} : ...

Unlike relay-fake-quantization-to-integer it leaves sums, pools and functions the floats that they are written in:
they fuse into kernels between bytes, and round as the model says. Only products gain, and they lose nothing:
integers are summed exactly. What moves elements moves bytes. A bias that is whole numbers of the sums' scale is added
to the sums as these; any other is added as floats to the rescaled sums, before they are rounded. Bounds (relu, clip)
before a quantize are bounds on the integers behind it, where most of them say nothing: a quantize saturates. Ratios of
known scales below one leave 32 bits within 32 bits; rescaling is written out for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from xdsl.ir import SSAValue

from lamina.dialects import edit
from lamina.dialects import relay as r
from lamina.dialects.dtypes import integer_range
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.core import constant_array, constant_value
from lamina.dialects.relay.params import ParamStore, store_of
from lamina.dialects.relay.qnn import scales as qs
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.quantize.affine_equations import moved, moves
from lamina.passes.relay.quantize.affine_rules import Affine, Rewrite, contraction
from lamina.passes.relay.quantize.fake_quantization_to_integer import DEQUANTIZE, QUANTIZE, building, drop_dead

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array

REQUANTIZE = "relay.qnn.requantize"
SMALL_RATIO = 0.99
"""Sums of 32 bits times less, rounded and moved by a zero point of 8 bits, are within 32 bits."""
MOST_BIAS = 2**30
"""The most steps of the sums' scale that a bias may have; beyond, it stays a float."""
WHOLE = 2.0**-22
"""Of itself: how far a bias may be from whole steps. A scale of the bias and the product of two others differ so."""
MOST_STEPS = 2**20
"""A float bias is fewer steps of the result: with rescaled sums it is within 32 bits."""

Step = Callable[[RelayOp, ParamStore], "SSAValue | None"]


@dataclass(frozen=True)
class QuantizedProducts(ModulePass):
    """Products of dequantized tensors are products of the stored integers."""

    name = "relay-quantized-products"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        store = store_of(ctx)
        for each in list(op.walk()):
            step = STEPS.get(each.name)
            # What is dropped stands before what it was dropped for: whatever comes here still is in the program.
            if step is None or has_unknown_extents([*each.operand_types, *each.result_types]):
                continue
            with edit.transaction():
                with building(each, store):
                    made = step(cast(RelayOp, each), store)
                    if made is not None:
                        edit.replace_uses(each.results[0], made)
                if made is not None:
                    drop_dead([each])


# -- what is known of a value ------------------------------------------------------------------------------------


def real_of(value: SSAValue) -> Affine | None:
    """The integers that a float value is dequantized from."""
    op = value.owner
    if not isinstance(op, RelayOp) or op.name != DEQUANTIZE or qs.info_of(value).dtype != "float32":
        return None
    data, scale, zero = op.operands
    return Affine(data, scale, zero, attrs_of(op)["axis"])


def sums_of(value: SSAValue) -> Affine | None:
    """As `real_of`, of the sums of a product, which this value alone reads."""
    found = real_of(value)
    if found is None or found.dtype != "int32" or not qs.is_zero(found.zero_point) or not value.has_one_use():
        return None
    return found if isinstance(found.value.owner, RelayOp) else None


def numbers(value: SSAValue, store: ParamStore) -> Any | None:
    """The array of a constant."""
    return constant_array(value, store) if constant_value(value) is not None else None


def real(x: Affine) -> Any:
    """The float values that integers with a scale and zero point stand for: an inserted dequantize."""
    return r.qnn.dequantize(x.value, x.scale, x.zero_point, axis=x.axis)


# -- steps -------------------------------------------------------------------------------------------------------


def product(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """A convolution or dense layer of two dequantized tensors: the sums, dequantized."""
    x, w = (real_of(v) for v in op.operands)
    if x is None or w is None or x.dtype not in qs.NARROW or w.dtype not in qs.NARROW:
        return None
    if attrs_of(op).get("out_dtype") not in ("", "float32") or constant_value(x.zero_point) is None:
        return None
    made = contraction(Rewrite(store, x.scale, x.zero_point, x.dtype, -1), op, [x, w])
    return real(made) if isinstance(made, Affine) else None


def bias(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """A constant for each channel, in whole steps, added to the sums of a product."""
    found = sums_and_bias(op, store)
    if found is None:
        return None
    x, floats = found
    scale = numbers(x.scale, store)
    if scale is None:
        return None
    steps = np.rint(floats / scale.astype(np.float64))
    near = np.abs(steps * scale.astype(np.float64) - floats) <= WHOLE * np.abs(floats)
    if not np.all(near & (np.abs(steps) < MOST_BIAS)):
        return None
    integers = Rewrite(store, x.scale, x.zero_point, "int32", -1).constant(steps.astype(np.int32), "bias")
    made = r.nn.bias_add(x.value, integers, axis=channel_axis(op, x.rank))
    return real(Affine(made, x.scale, x.zero_point, x.axis))


def sums_and_bias(op: RelayOp, store: ParamStore) -> tuple[Affine, Any] | None:
    """The sums of a product and the constant for each channel, in f64, that an op adds to them."""
    x = sums_of(op.operands[0])
    if x is None or not (x.is_per_tensor or normalize_axis(x.axis, x.rank) == channel_axis(op, x.rank)):
        return None
    extent = qs.info_of(x.value).shape[channel_axis(op, x.rank)]
    if op.name == "relay.add" and channel_axis(op, x.rank) != x.rank - 1:
        return None
    given = real_of(op.operands[1])
    if given is not None:
        q, t, z = (numbers(v, store) for v in (given.value, given.scale, given.zero_point))
        if q is None or t is None or z is None:
            return None
        floats = (q.astype(np.float64) - z) * t
    else:
        found = numbers(op.operands[1], store)
        if found is None:
            return None
        floats = found.astype(np.float64)
    if floats.size != extent or floats.shape[-1:] != (extent,):
        return None
    return x, floats.reshape(-1)


def channel_axis(op: RelayOp, rank: int) -> int:
    """The axis that a bias lies along."""
    return normalize_axis(attrs_of(op)["axis"], rank) if op.name == "relay.nn.bias_add" else rank - 1


def move(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """Move or choose the integers in place of the real numbers."""
    del store
    x = real_of(op.operands[0])
    if x is None or len(op.operands) != 1:
        return None
    found = moved(op, x.value, x.scale, x.zero_point, x.axis)
    return None if found is None else real(Affine(found[0], x.scale, x.zero_point, found[1]))


def quantize(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """A quantize of sums rescales them; one that undoes a dequantize goes."""
    attrs = attrs_of(op)
    target = Affine(op.operands[0], op.operands[1], op.operands[2], attrs["axis"])
    same = real_of(op.operands[0])
    if same is not None and same.dtype == attrs["out_dtype"] in qs.NARROW and same.has_type_of(replaced(same, target)):
        return same.value
    scale, zero = numbers(target.scale, store), numbers(target.zero_point, store)
    if attrs["rounding"] != "TONEVEN" or scale is None or zero is None or scale.size != 1 or zero.size != 1:
        return None
    if attrs["out_dtype"] not in qs.NARROW:
        return None
    parts = parted(op, store)
    if parts is not None:
        return parts
    value, least, most = bounds(op.operands[0], float(scale.reshape(())), int(zero.reshape(())), attrs["out_dtype"])
    x = sums_of(value)
    made = rescaled(x, target, attrs["out_dtype"], store) if x is not None else with_bias(value, target, attrs, store)
    if made is None:
        # Bounds before a quantize that say nothing are no work either.
        says = value is op.operands[0] or (least, most) != integer_range(attrs["out_dtype"])
        return None if says else r.qnn.quantize(value, *op.operands[1:], **attrs)
    low, high = integer_range(attrs["out_dtype"])
    return made if (least, most) == (low, high) else r.clip(made, a_min=float(least), a_max=float(most))


def parted(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """A quantize of tensors put together, some of them dequantized, is one of each tensor: integers are put together.

    One that has the scale already is taken as it is.
    """
    whole = op.operands[0].owner
    if not isinstance(whole, RelayOp) or whole.name != "relay.concatenate" or not op.operands[0].has_one_use():
        return None
    if all(real_of(v) is None for v in whole.operands):
        return None
    parts: list[SSAValue] = []
    for value in whole.operands:
        made: Any = r.qnn.quantize(value, *op.operands[1:], **attrs_of(op))
        parts.append(quantize(made.owner, store) or made)
    return r.concatenate(*parts, **attrs_of(whole))


def replaced(like: Affine, target: Affine) -> Affine:
    """The scale, zero point and axis of a target, of the integers of another."""
    return Affine(like.value, target.scale, target.zero_point, target.axis)


def bounds(value: SSAValue, scale: float, zero: int, dtype: str) -> tuple[SSAValue, int, int]:
    """The value behind relus and clips that nobody else reads, and the bounds of the quantized integers.

    Quantizing never changes the order of two numbers, so that a bound may as well be quantized itself.
    """
    low, high = least, most = integer_range(dtype)

    def quantized(number: float) -> int:
        found = np.rint(np.float32(number) / np.float32(scale)) + np.float32(zero)
        return int(np.clip(found, low, high))

    while isinstance(op := value.owner, RelayOp) and value.has_one_use() and op.name in ("relay.nn.relu", "relay.clip"):
        attrs = attrs_of(op)
        a, b = (0.0, float("inf")) if op.name == "relay.nn.relu" else (attrs["a_min"], attrs["a_max"])
        floor, ceiling = quantized(a), quantized(b)
        # The outer bounds hold whatever the inner ones say.
        least, most = min(max(least, floor), most), max(min(most, ceiling), least)
        value = op.operands[0]
    return value, least, most


def with_bias(value: SSAValue, target: Affine, attrs: Mapping[str, Any], store: ParamStore) -> Any | None:
    """Sums of a product and a float bias as integers of another scale, where nobody else reads their sum."""
    op = value.owner
    if not isinstance(op, RelayOp) or STEPS.get(op.name) is not bias or not value.has_one_use():
        return None
    found, scale = sums_and_bias(op, store), numbers(target.scale, store)
    if found is None or scale is None or small_ratio(found[0].scale, target.scale, store) is None:
        return None
    x, floats = found
    offset = floats / scale.reshape(()).astype(np.float64)
    if not np.all(np.abs(offset) < MOST_STEPS):
        return None
    return rescaled(x, target, attrs["out_dtype"], store, (offset.astype(np.float32), channel_axis(op, x.rank)))


def rescaled(x: Affine, target: Affine, dtype: str, store: ParamStore, offset: tuple[Array, int] | None = None) -> Any:
    """Sums as integers of another scale, rounded to even; an offset, in steps of the result, lies along its axis.

    With an offset the ratio of the scales is a small one.
    """
    ratio = small_ratio(x.scale, target.scale, store)
    if ratio is None:
        return r.qnn.requantize(
            x.value, x.scale, x.zero_point, target.scale, target.zero_point,
            axis=normalize_axis(x.axis, x.rank), rounding="TONEVEN", compute_dtype="float32", out_dtype=dtype,
        )  # fmt: skip
    factor = Rewrite(store, x.scale, x.zero_point, dtype, -1).constant(ratio, "ratio")
    made = r.multiply(r.cast(x.value, dtype="float32"), qs.along(factor, x.axis, x.rank))
    if offset is not None:
        added = Rewrite(store, x.scale, x.zero_point, dtype, -1).constant(offset[0], "bias")
        made = r.add(made, qs.along(added, offset[1], x.rank))
    return qs.saturated(qs.shifted(r.cast(r.round(made), dtype="int32"), target.zero_point), dtype)


def small_ratio(scale: SSAValue, output_scale: SSAValue, store: ParamStore) -> Any | None:
    """The ratio of known scales in f32, where it is small enough for 32 bits."""
    first, second = numbers(scale, store), numbers(output_scale, store)
    if first is None or second is None:
        return None
    ratio = (first / second.reshape(())).astype(np.float32)
    return ratio if float(np.abs(ratio).max()) < SMALL_RATIO else None


def requantize(op: RelayOp, store: ParamStore) -> SSAValue | None:
    """As `quantize` of sums, where a model says so at once."""
    attrs = attrs_of(op)
    if attrs["rounding"] != "TONEVEN" or attrs["compute_dtype"] != "float32" or attrs["out_dtype"] not in qs.NARROW:
        return None
    data, scale, zero, out_scale, out_zero = op.operands
    x = Affine(data, scale, zero, attrs["axis"])
    if x.dtype != "int32" or not qs.is_zero(zero) or small_ratio(scale, out_scale, store) is None:
        return None
    return rescaled(x, Affine(data, out_scale, out_zero), attrs["out_dtype"], store)


STEPS: dict[str, Step] = {
    "relay.nn.conv2d": product,
    "relay.nn.conv2d_transpose": product,
    "relay.nn.dense": product,
    "relay.nn.bias_add": bias,
    "relay.add": bias,
    QUANTIZE: quantize,
    REQUANTIZE: requantize,
    **{op.name: move for op in moves.dispatch},
}

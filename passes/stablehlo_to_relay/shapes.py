"""Rules of StableHLO's ops that move elements, and change their types.

Before: %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
After:  %1 = relay.reshape %x {newshape = [1, 4]} : (tensor<4xf32>) -> tensor<1x4xf32>
        %0 = relay.broadcast_to %1 {shape = [3, 4]} : (tensor<1x4xf32>) -> tensor<3x4xf32>
"""

from __future__ import annotations

from math import prod

from xdsl.ir import SSAValue

from lamina.dialects import relay as r
from lamina.dialects.dtypes import is_float, itemsize
from lamina.dialects.stablehlo.base import HloOp
from lamina.dialects.stablehlo.chlo import ChloErfInvOp
from lamina.dialects.stablehlo.elementwise import (
    BitcastConvertOp,
    ClzOp,
    CompareOp,
    ConvertOp,
    PopcntOp,
    ReducePrecisionOp,
    ShiftRightLogicalOp,
)
from lamina.dialects.stablehlo.shape import (
    BroadcastInDimOp,
    HloConcatenateOp,
    HloPadOp,
    HloReshapeOp,
    HloReverseOp,
    IotaOp,
    OptimizationBarrierOp,
)
from lamina.dialects.stablehlo.sharding import ShardingConstraintOp
from lamina.passes.rules.rewriting import Rules
from lamina.passes.stablehlo_to_relay import emit
from lamina.passes.stablehlo_to_relay.emit import dtype_of, known_number, number, shape_of, unsupported

shapes = Rules("stablehlo-to-relay")


@shapes.lower(HloReshapeOp)
def reshape(op: HloReshapeOp) -> SSAValue:
    """Before: %0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>
    After:  %0 = relay.reshape %x {newshape = [2, 3]} : (tensor<6xf32>) -> tensor<2x3xf32>
    """
    return emit.reshape(op.operand, op.info().shape)


@shapes.lower(BroadcastInDimOp)
def broadcast_in_dim(op: BroadcastInDimOp) -> SSAValue:
    """Before: %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
    After:  %1 = relay.reshape %x ...
            %0 = relay.broadcast_to %1 {shape = [3, 4]} : (tensor<1x4xf32>) -> tensor<3x4xf32>
    """
    shape, dims, x = op.info().shape, op.ints("broadcast_dimensions"), op.operand
    if not dims:
        return emit.broadcast(x, shape)
    order = sorted(range(len(dims)), key=lambda d: dims[d])
    spread = [1] * len(shape)
    for d in order:
        spread[dims[d]] = shape_of(x)[d]
    return emit.broadcast(emit.reshape(emit.transpose(x, order), spread), shape)


@shapes.lower(HloConcatenateOp)
def concatenate(op: HloConcatenateOp) -> SSAValue:
    """Before: %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    After:  %0 = relay.concatenate %x, %y {axis = 0} : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
    """
    return emit.concatenate(list(op.operands), op.number("dimension"))


@shapes.lower(HloReverseOp)
def reverse(op: HloReverseOp) -> SSAValue:
    """Before: %0 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xf32>
    After:  a relay.reverse for each dimension
    """
    found: SSAValue = op.operand
    for dim in op.ints("dimensions"):
        found = r.reverse(found, axis=dim)
    return found


@shapes.lower(HloPadOp)
def pad(op: HloPadOp) -> SSAValue:
    """Before: %0 = stablehlo.pad %x, %c, low = [1], high = [2], interior = [0] : (...) -> tensor<11xf32>
    After:  %0 = relay.nn.pad %x {pad_width = [1, 2]} : (tensor<8xf32>) -> tensor<11xf32>
    """
    low, high, between = (op.ints(k.attribute) for k in op.KEYS)
    value = known_number(op.padding_value)
    if value is None or dtype_of(op.operand) == "bool" or not emit.is_exact(value):
        return _padded_by_choice(op, low, between)
    found: SSAValue = op.operand
    if any(between):
        found = r.nn.dilate(found, strides=tuple(n + 1 for n in between), dilation_value=float(value))
    widths = tuple(n for pair in zip(low, high, strict=True) for n in pair)
    if not any(widths):
        return found
    return r.nn.pad(found, pad_width=widths, pad_value=float(value), pad_mode="constant")


def _padded_by_choice(op: HloPadOp, low: tuple[int, ...], between: tuple[int, ...]) -> SSAValue:
    """Of a value that the program computes: a choice between it and the elements that come to each place."""
    shape, x = op.info().shape, op.operand
    if prod(shape_of(x)) == 0:
        return emit.broadcast(op.padding_value, shape)
    inside: SSAValue | None = None
    found: SSAValue = x
    for axis, (extent, before, gap) in enumerate(zip(shape_of(x), low, between, strict=True)):
        places = range(shape[axis])
        sources = [(p - before) / (gap + 1) for p in places]
        fits = [s == int(s) and 0 <= s < extent for s in sources]
        at = emit.constant([int(s) if f else 0 for s, f in zip(sources, fits, strict=True)], "int64")
        found = r.take(found, at, axis=axis, batch_dims=0, mode="clip")
        mask = emit.constant(fits, "bool")
        mask = emit.reshape(mask, [shape[axis] if d == axis else 1 for d in range(len(shape))])
        inside = mask if inside is None else r.logical_and(inside, mask)
    return found if inside is None else r.where(inside, found, op.padding_value)


@shapes.lower(IotaOp)
def iota(op: IotaOp) -> SSAValue:
    """Before: %0 = stablehlo.iota dim = 0 : tensor<4x2xi32>
    After:  %1 = relay.arange {stop = 4.0, dtype = "int32"} : tensor<4xi32>, reshaped and broadcast
    """
    info, dim = op.info(), op.number("iota_dimension")
    through = info.dtype if info.dtype not in ("bool", "float16", "bfloat16") else "int64"
    places = r.arange(start=0.0, stop=float(info.shape[dim]), step=1.0, dtype=through)
    places = emit.cast(places, info.dtype)
    return emit.broadcast(
        emit.reshape(places, [info.shape[dim] if d == dim else 1 for d in range(len(info.shape))]), info.shape
    )


@shapes.lower(OptimizationBarrierOp)
def barrier(op: OptimizationBarrierOp) -> list[SSAValue]:
    """Before: %0 = stablehlo.optimization_barrier %x : tensor<8xf32>
    After:  %x
    """
    return list(op.operands)


@shapes.lower(ShardingConstraintOp)
def sharding_constraint(op: ShardingConstraintOp) -> SSAValue:
    """Before: %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<8xf32>
    After:  %x
    """
    return op.operand


# -- types and bits ---------------------------------------------------------------------------------


@shapes.lower(ConvertOp)
def convert(op: ConvertOp) -> SSAValue:
    """Before: %0 = stablehlo.convert %x : (tensor<8xi1>) -> tensor<8xf32>
    After:  %0 = relay.cast %x {dtype = "float32"} : (tensor<8xi1>) -> tensor<8xf32>
    """
    dtype = op.info().dtype
    if dtype == "bool" and dtype_of(op.operand) != "bool":
        return r.not_equal(op.operand, number(0, op.operand))
    return emit.cast(op.operand, dtype)


@shapes.lower(BitcastConvertOp)
def bitcast(op: BitcastConvertOp) -> SSAValue:
    """Before: %0 = stablehlo.bitcast_convert %x : (tensor<8xf32>) -> tensor<8xi32>
    After:  %0 = relay.reinterpret %x {dtype = "int32"} : (tensor<8xf32>) -> tensor<8xi32>
    """
    dtype, here = op.info().dtype, dtype_of(op.operand)
    if itemsize(dtype) != itemsize(here) or "bool" in (dtype, here) and dtype != here:
        raise unsupported(op, f"{here} and {dtype} differ in their width")
    return op.operand if dtype == here else r.reinterpret(op.operand, dtype=dtype)


RELATIONS = {
    "EQ": r.equal, "NE": r.not_equal, "GE": r.greater_equal, "GT": r.greater, "LE": r.less_equal, "LT": r.less,
}  # fmt: skip


@shapes.lower(CompareOp)
def compare(op: CompareOp) -> SSAValue:
    """Before: %0 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    After:  %0 = relay.less %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    """
    x, y = op.lhs, op.rhs
    if op.word("compare_type") == "TOTALORDER" and is_float(dtype_of(x)):
        x, y = total_order(x), total_order(y)
    if dtype_of(x) == "bool":
        x, y = emit.cast(x, "int32"), emit.cast(y, "int32")
    return RELATIONS[op.word("comparison_direction")](x, y)


def total_order(x: SSAValue) -> SSAValue:
    """Integers in the order of floats in which -0 is below 0 and NaNs are at the ends."""
    width = itemsize(dtype_of(x)) * 8
    bits = r.reinterpret(x, dtype=f"int{width}")
    return r.where(r.less(bits, number(0, bits)), r.bitwise_xor(bits, number((1 << width - 1) - 1, bits)), bits)


@shapes.lower(ShiftRightLogicalOp)
def shift_right_logical(op: HloOp) -> SSAValue:
    """Before: %0 = stablehlo.shift_right_logical %x, %n : tensor<8xi32>
    After:  %1 = relay.reinterpret %x {dtype = "uint32"} ..., shifted, 0 where no bit is left, and back
    """
    x, n = op.operands
    dtype = dtype_of(x)
    unsigned = f"uint{8 * itemsize(dtype)}"
    bits, count = (v if dtype == unsigned else r.reinterpret(v, dtype=unsigned) for v in (x, n))
    places = known_number(n)
    moved = r.right_shift(bits, count)
    if places is None or not 0 <= int(places) < 8 * itemsize(dtype):
        moved = r.where(r.less(count, number(8 * itemsize(dtype), count)), moved, number(0, moved))
    return moved if dtype == unsigned else r.reinterpret(moved, dtype=dtype)


@shapes.lower(PopcntOp)
def popcnt(op: HloOp) -> SSAValue:
    """Before: %0 = stablehlo.popcnt %x : tensor<8xi32>
    After:  sums of bits side by side, by masks and shifts
    """
    return _ones(op.operands[0])


@shapes.lower(ClzOp)
def count_leading_zeros(op: HloOp) -> SSAValue:
    """Before: %0 = stablehlo.count_leading_zeros %x : tensor<8xi32>
    After:  what is not one in the number with all bits below its highest one set
    """
    x = op.operands[0]
    dtype = dtype_of(x)
    width = 8 * itemsize(dtype)
    bits = _unsigned(x)
    shift = 1
    while shift < width:
        bits = r.bitwise_or(bits, r.right_shift(bits, number(shift, bits)))
        shift *= 2
    ones = emit.cast(_ones(bits), dtype)
    return r.subtract(number(width, ones), ones)


def _unsigned(x: SSAValue) -> SSAValue:
    unsigned = f"uint{8 * itemsize(dtype_of(x))}"
    return x if dtype_of(x) == unsigned else r.reinterpret(x, dtype=unsigned)


def _ones(x: SSAValue) -> SSAValue:
    """The bits that are one, counted in halves of halves."""
    dtype = dtype_of(x)
    width = 8 * itemsize(dtype)
    bits = _unsigned(x)
    step = 1
    while step < width:
        mask = number(sum(((1 << step) - 1) << at for at in range(0, width, 2 * step)), bits)
        upper = r.bitwise_and(r.right_shift(bits, number(step, bits)), mask)
        bits = r.add(r.bitwise_and(bits, mask), upper)
        step *= 2
    return bits if dtype_of(bits) == dtype else r.reinterpret(bits, dtype=dtype)


@shapes.lower(ReducePrecisionOp)
def reduce_precision(op: ReducePrecisionOp) -> SSAValue:
    """Before: %0 = stablehlo.reduce_precision %x, format = e8m7 : tensor<8xf32>
    After:  %1 = relay.cast %x {dtype = "bfloat16"}, and back
    """
    known = {(5, 10): "float16", (8, 7): "bfloat16", (8, 23): "float32", (11, 52): "float64"}
    dtype = known.get((op.number("exponent_bits"), op.number("mantissa_bits")))
    if dtype is None:
        raise unsupported(op, "only the formats of float16, bfloat16, float32 and float64 are known")
    return emit.cast(emit.cast(op.operand, dtype), dtype_of(op.operand))


# -- functions without an equation ------------------------------------------------------------------

_CENTRE = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
           -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_TAIL = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
         1.00167406, 2.83297682)  # fmt: skip


@shapes.lower(ChloErfInvOp)
def erf_inv(op: HloOp) -> SSAValue:
    """Before: %0 = chlo.erf_inv %x : tensor<8xf32> -> tensor<8xf32>
    After:  Giles' two polynomials of w = -ln(1 - x^2) (GPU Computing Gems 2, 2010), in float64 with two Newton steps
    """
    x = op.operands[0]
    w = r.negative(r.log1p(r.negative(r.multiply(x, x))))
    centre = _polynomial(_CENTRE, r.subtract(w, number(2.5, w)))
    tail = _polynomial(_TAIL, r.subtract(r.sqrt(r.maximum(w, number(0, w))), number(3.0, w)))
    found = r.multiply(x, r.where(r.less(w, number(5.0, w)), centre, tail))
    if dtype_of(x) == "float64":
        for _ in range(2):
            error = r.subtract(r.erf(found), x)
            slope = r.multiply(r.exp(r.negative(r.multiply(found, found))), number(1.1283791670955126, x))
            found = r.subtract(found, r.divide(error, slope))
    edge = r.multiply(x, number(float("inf"), x))
    return r.where(r.equal(r.abs(x), number(1.0, x)), edge, found)


def _polynomial(coefficients: tuple[float, ...], x: SSAValue) -> SSAValue:
    """Horner's scheme, the highest power first."""
    found = number(coefficients[0], x)
    for c in coefficients[1:]:
        found = r.add(r.multiply(found, x), number(c, x))
    return found

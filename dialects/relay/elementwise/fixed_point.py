"""Multiplication by numbers with 31 fractional bits, in integers throughout: fixed_point_multiply and the one with a
multiplier for each channel.

y = floor(x * 2^left * multiplier / 2^(31 + right) + 1/2): halves are rounded up, also of negative numbers. The product
is formed in 64 bits; what does not fit wraps, and so does a result beyond 32 bits.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *

FRACTION = 31
_LARGE = (-(2.0**31), 2.0**31 - 1)
_MULTIPLIER = (2.0**30, 2.0**31 - 1)


def _rounded(product: Scalar, bits: Scalar) -> Scalar:
    """product / 2^bits to the nearest integer, halves up."""
    return (product + (te.const(1, "int64") << (bits - 1))) >> bits


def _exact(x: Array, multiplier: Any, left: Any, right: Any) -> Array:
    """The same in Python's integers, which have no width."""
    wide, by, up, down = np.broadcast_arrays(*(np.asarray(t, object) for t in (x, multiplier, left, right)))
    out = np.zeros(wide.shape, np.int64)
    for place in np.ndindex(*wide.shape):
        doubled = 2 * int(wide[place]) * 2 ** int(up[place]) * int(by[place])
        unit = 2 ** (FRACTION + int(down[place]))
        out[place] = (doubled + unit) // (2 * unit)
    return out.astype(np.int32)


@irdl_op_definition
class FixedPointMultiplyOp(Elementwise, dtypes=("int32",)):
    """y = x * multiplier * 2^(shift - 31) to the nearest integer, halves up: `multiplier` is a number with 31
    fractional bits."""

    name = "relay.fixed_point_multiply"

    multiplier: IntegerAttr = int_prop()
    shift: IntegerAttr = int_prop()

    @classmethod
    def infer_type(cls, *types: Any, **attrs: Any) -> TensorInfo:
        if not -(1 << 31) <= attrs["multiplier"] < 1 << 31:
            raise TypeMismatch(f"multiplier {attrs['multiplier']} is no 32-bit integer")
        if not -FRACTION <= attrs["shift"] <= FRACTION:
            raise TypeMismatch(f"shift {attrs['shift']} is not in -{FRACTION} .. {FRACTION}")
        return super().infer_type(*types)

    @staticmethod
    def te_element(x: Scalar, multiplier: int, shift: int) -> Scalar:
        wide = te.cast(x, "int64")
        if shift > 0:
            wide = wide << shift
        return te.cast(_rounded(wide * multiplier, te.const(FRACTION + max(-shift, 0), "int64")), "int32")

    @staticmethod
    def np_ref(x: Array, multiplier: int, shift: int) -> Array:
        return _exact(x, multiplier, max(shift, 0), max(-shift, 0))

    @classmethod
    def samples(cls) -> list[Sample]:
        def one(
            shape: tuple[int, ...], multiplier: int, shift: int, bounds: tuple[float, float] | None = None
        ) -> Sample:
            return sample((shape, "int32"), attrs={"multiplier": multiplier, "shift": shift}, ranges=(bounds,))

        attrs = {"multiplier": 1 << 30, "shift": 0}
        return [
            # Halves of both signs: x / 2, x / 4.
            one((33,), 1 << 30, 0),
            one((33,), 1 << 30, -1),
            one((3, 17), 1395864371, -7, (-100000.0, 100000.0)),
            one((3, 17), 2147483647, 0, _LARGE),
            one((3, 17), 1518500250, -31, _LARGE),
            one((2, 9), 1073741825, 3, (-1000.0, 1000.0)),
            one((7,), -1395864371, 5),
            one((7,), 1, 31, (-1000.0, 1000.0)),
            one((7,), 0, 0),
            one((1,), 1 << 29, 2),
            one((), 1717986918, -3, (-1000.0, 1000.0)),
            sample(((3,), "int64"), attrs=attrs, error="got int64"),
            sample(((3,), "int32"), attrs=attrs | {"shift": 32}, error="shift 32 is not in -31 .. 31"),
            sample(((3,), "int32"), attrs=attrs | {"multiplier": 1 << 31}, error="is no 32-bit integer"),
        ]


@irdl_op_definition
class FixedPointMultiplyPerAxisOp(RelayOp, fusion_kind=OpPattern.BROADCAST):
    """y = data * fp_multiplier * 2^(left_shift - right_shift - 31) to the nearest integer, halves up, where the last
    three are read at the place on `axes`. A shift that is not required is taken for 0. Shifts lie in 0 .. 31."""

    name = "relay.fixed_point_multiply_per_axis"

    data = operand_def(TensorType)
    fp_multiplier = operand_def(TensorType)
    left_shift = operand_def(TensorType)
    right_shift = operand_def(TensorType)
    is_lshift_required = bool_prop(False)
    is_rshift_required = bool_prop(False)
    axes = ints_prop()
    result = result_def(TensorType)

    @staticmethod
    def infer_type(
        data: TensorInfo,
        fp_multiplier: TensorInfo,
        left_shift: TensorInfo,
        right_shift: TensorInfo,
        axes: tuple[int, ...],
        **_: bool,
    ) -> TensorInfo:
        for t in (data, fp_multiplier, left_shift, right_shift):
            check_dtype(t.dtype, ("int32",))
        places = [normalize_axis(a, len(data.shape)) for a in axes]
        if places != sorted(set(places)):
            raise TypeMismatch(f"axes {list(axes)} are not in ascending order")
        expected = tuple(data.shape[a] for a in places)
        for word, t in (("fp_multiplier", fp_multiplier), ("left_shift", left_shift), ("right_shift", right_shift)):
            if t.shape != expected:
                raise TypeMismatch(f"{word} has shape {t.shape}, expected {expected}")
        return data

    @staticmethod
    def te_compute(
        data: Tensor,
        fp_multiplier: Tensor,
        left_shift: Tensor,
        right_shift: Tensor,
        is_lshift_required: bool,
        is_rshift_required: bool,
        axes: tuple[int, ...],
    ) -> Tensor:
        places = [normalize_axis(a, data.ndim) for a in axes]

        def element(*i: Index) -> Any:
            at = tuple(i[a] for a in places)

            def shift(of: Tensor) -> Scalar:
                return te.minimum(te.maximum(te.cast(of[at], "int64"), 0), FRACTION)

            wide = te.cast(data[i], "int64")
            if is_lshift_required:
                wide = wide << shift(left_shift)
            bits = te.const(FRACTION, "int64")
            if is_rshift_required:
                bits = bits + shift(right_shift)
            return te.cast(_rounded(wide * te.cast(fp_multiplier[at], "int64"), bits), "int32")

        return te.compute(data.shape, element, "fixed_point_multiply_per_axis")

    @staticmethod
    def np_ref(
        data: Array,
        fp_multiplier: Array,
        left_shift: Array,
        right_shift: Array,
        is_lshift_required: bool,
        is_rshift_required: bool,
        axes: tuple[int, ...],
    ) -> Array:
        kept = [a % data.ndim for a in axes]
        shape = [e if a in kept else 1 for a, e in enumerate(data.shape)]
        left = left_shift.reshape(shape) if is_lshift_required else 0
        right = right_shift.reshape(shape) if is_rshift_required else 0
        return _exact(data, fp_multiplier.reshape(shape), left, right)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...],
            channels: tuple[int, ...],
            axes: tuple[int, ...],
            error: str | None = None,
            dtype: str = "int32",
            **kw: bool,
        ) -> Sample:
            ranges = ((-10000.0, 10000.0), _MULTIPLIER, (0, 9), (0, 20))
            types = (shape, dtype), *[(channels, "int32")] * 3
            return sample(*types, attrs={"axes": axes, **kw}, ranges=ranges, error=error)

        return [
            one((2, 5), (5,), (1,)),
            one((2, 5), (5,), (1,), is_lshift_required=True),
            one((2, 5), (5,), (-1,), is_rshift_required=True),
            one((2, 5, 3, 3), (5,), (1,), is_lshift_required=True, is_rshift_required=True),
            one((4, 3), (4,), (0,), is_rshift_required=True),
            one((2, 3, 4), (2, 4), (0, 2), is_rshift_required=True),
            one((1,), (1,), (0,)),
            one((3, 17), (17,), (1,), is_rshift_required=True),
            one((2, 5), (2,), (1,), error="fp_multiplier has shape (2,), expected (5,)"),
            one((2, 5), (5,), (2,), error="axis 2 is out of range for rank 2"),
            one((2, 5), (5, 2), (1, 0), error="axes [1, 0] are not in ascending order"),
            one((2, 5), (5,), (1,), dtype="int8", error="got int8"),
        ]

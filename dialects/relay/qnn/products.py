"""Quantised matrix products: the sum over k of (x - a) * (y - b) for zero points a and b, in 32 bits.

Of n products it is expanded, so that the product is one of the stored integers:

    sum (x - a) * (y - b)  =  sum x * y  -  b * sum x  -  a * sum y  +  n * a * b

Zero points that are not constants are subtracted before, but for that of a dense layer's data where the weight is one:
the sums of weights are constants then. All of it is arithmetic modulo 2**32. Scales are carried, not
used: that of the result is the product of both.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.qnn import scales as qs
from lamina.dialects.relay.qnn.conv import check_convolution
from lamina.dialects.relay.qnn.scales import QnnDataAndWeight


def expanded(product: Any, a: SSAValue, b: SSAValue, x_sums: Any, y_sums: Any, count: int) -> Any:
    """`product` with its zero points; `x_sums` and `y_sums` are thunks for sums that broadcast against it."""
    dtype, rank = qs.info_of(product).dtype, rank_of(product)
    first, second = (qs.cast(qs.along(v, rank - 1, rank), dtype) for v in (a, b))
    if not qs.is_zero(b):
        product = r.subtract(product, r.multiply(x_sums(), second))
    if not qs.is_zero(a):
        rest = y_sums()
        if not qs.is_zero(b):
            rest = r.subtract(rest, r.multiply(second, count))
        product = r.subtract(product, r.multiply(rest, first))
    return product


def known(*zero_points: SSAValue) -> bool:
    """Whether all are constants, so that what depends on them and the weight is one too."""
    return all(qs.known_values(z) is not None for z in zero_points)


def is_fixed(value: SSAValue) -> bool:
    """Whether a value is a constant, or one that was moved: folding comes later."""
    while isinstance(value.owner, RelayOp) and len(value.owner.operands) == 1:
        value = value.owner.operands[0]
    return constant_value(value) is not None


def sums(value: SSAValue, axis: int, dtype: str, keepdims: bool = True) -> Any:
    """The sum of a value over one axis, converted to `dtype` before it is added up."""
    return r.sum(qs.cast(value, dtype), axis=[axis], keepdims=keepdims)


def dense_sample(
    x: tuple[int, ...], w: tuple[int, ...], types: str = "int8 int8", channels: int = 0, error: str | None = None,
    **attrs: Any,
) -> Sample:  # fmt: skip
    """Data, weight, both zero points, both scales; `channels` of the weight's where not 0."""
    names = types.split()
    bounds = [(0.0, 255.0) if d == "uint8" else (-128.0, 127.0) for d in names]
    several = (channels,) if channels else ()
    return sample(
        (x, names[0]), (w, names[1]), ((), "int32"), (several, "int32"), (), several, attrs=attrs, error=error,
        ranges=(*bounds, (-9, 99), (-5, 5), (0.01, 0.1), (0.01, 0.1)),
    )  # fmt: skip


@irdl_op_definition
class QnnDenseOp(OutFusable, QnnDataAndWeight):
    """nn.dense of (data - input_zero_point) and (weight - kernel_zero_point): [..., K] and [N, K] -> [..., N]."""

    name = "relay.qnn.dense"
    units = opt_prop_def(IntegerAttr)
    out_dtype = str_prop("int32")

    @staticmethod
    def infer_type(
        data: TensorInfo, weight: TensorInfo, *scales: TensorInfo, out_dtype: str, units: int | None = None
    ) -> TensorInfo:
        check_convolution(data, weight, scales, 0, out_dtype)
        return r.nn.dense.op.infer_type(data, weight._replace(dtype=data.dtype), out_dtype=out_dtype, units=units)

    @staticmethod
    def decompose(data: SSAValue, weight: SSAValue, a: SSAValue, b: SSAValue, *_: SSAValue, **attrs: Any) -> Any:
        dtype = attrs["out_dtype"]
        if not known(a, b) and not (known(b) and is_fixed(weight)):
            return r.nn.dense(qs.centred(data, a, 0, dtype), qs.centred(weight, b, 0, dtype), **attrs)
        return expanded(
            r.nn.dense(data, weight, **attrs), a, b,
            lambda: sums(data, -1, dtype), lambda: sums(weight, 1, dtype, keepdims=False), qs.info_of(weight).shape[1],
        )  # fmt: skip

    @staticmethod
    def np_ref(data: Array, weight: Array, *scales: Array, out_dtype: str, units: int | None = None) -> Array:
        return np.matmul(qs.ref_centred(data, scales[0]), qs.ref_centred(weight, scales[1], 0).T).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        one = dense_sample
        return [
            one((2, 3), (5, 3)), one((1, 7), (4, 7), "uint8 int8", 4, units=4), one((3,), (2, 3), "uint8 uint8"),
            one((2, 4, 3), (5, 3), "int8 uint8"), one((1, 1), (1, 1)), one((17, 33), (9, 33), "uint8 int8", 9),
            one((3, 9), (2, 9), "int16 int8", out_dtype="int64"), one((3, 65), (1, 65), channels=1),
            one((2, 3), (5, 4), error="input has 3 features, weight expects 4"),
            one((2, 3), (5, 3), units=6, error="attribute units is 6, weight has 5 rows"),
            one((2, 3), (5, 3), channels=4, error="kernel_zero_point has shape (4,), axis 0 has extent 5"),
            one((2, 3), (5, 3), "float32 int8", error="data is float32, expects int8"),
            one((2, 3), (5, 3), out_dtype="int8", error="out_dtype 'int8' is none of"),
        ]  # fmt: skip


@irdl_op_definition
class QnnContribDensePackOp(OutFusable, QnnDataAndWeight):
    """qnn.dense with packed weight [ceil(N/b), K, b] (weight_layout "NK{b}n"), zeros beyond row N = `units`."""

    name = "relay.qnn.contrib_dense_pack"
    units = int_prop()
    weight_layout = str_prop("NK16n")
    out_dtype = str_prop("int32")

    @staticmethod
    def infer_type(
        data: TensorInfo, weight: TensorInfo, *scales: TensorInfo, units: int, weight_layout: str, out_dtype: str
    ) -> TensorInfo:
        info = r.nn.contrib_dense_pack.op.infer_type(
            data, weight._replace(dtype=data.dtype), units=units, weight_layout=weight_layout, out_dtype=out_dtype
        )
        rows = TensorInfo((units, *weight.shape[1:]), weight.dtype)
        check_convolution(data, rows, scales, 0, out_dtype)
        return info

    @staticmethod
    def decompose(data: SSAValue, weight: SSAValue, a: SSAValue, b: SSAValue, *_: SSAValue, **attrs: Any) -> Any:
        dtype, units = attrs["out_dtype"], attrs["units"]
        if not known(a, b):
            return r.nn.contrib_dense_pack(
                qs.centred(data, a, 0, dtype), _centred_blocks(weight, b, units, dtype), **attrs
            )

        def rows() -> Any:
            every = r.reshape(sums(weight, 1, dtype, keepdims=False), newshape=(-1,))
            return every if qs.info_of(every).shape == (units,) else r.strided_slice(every, begin=[0], end=[units])

        product = r.nn.contrib_dense_pack(data, weight, **attrs)
        return expanded(product, a, b, lambda: sums(data, -1, dtype), rows, qs.info_of(weight).shape[1])

    @staticmethod
    def np_ref(data: Array, weight: Array, *scales: Array, units: int, weight_layout: str, out_dtype: str) -> Array:
        plain = np.swapaxes(weight, 1, 2).reshape(-1, weight.shape[1])[:units]
        return np.matmul(qs.ref_centred(data, scales[0]), qs.ref_centred(plain, scales[1], 0).T).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        one = dense_sample
        return [
            one((2, 3), (1, 3, 16), units=16), one((2, 3), (2, 3, 16), "uint8 int8", 17, units=17),
            one((1, 7), (3, 7, 8), "uint8 int8", units=20, weight_layout="NK8n"),
            one((3,), (1, 3, 4), units=1, weight_layout="NK4n"), one((1, 1), (1, 1, 16), "int8 uint8", units=1),
            one((2, 4, 3), (1, 3, 32), units=32, weight_layout="NK32n"),
            one((3, 9), (1, 9, 16), "uint8 uint8", 10, units=10),
            one((2, 3), (1, 3, 16), "int16 int8", units=16, out_dtype="int64"),
            one((2, 3), (1, 3, 16), units=17, error="17 units in NK16n need (2, 3, 16)"),
            one((2, 3), (1, 3, 16), channels=16, units=15, error="kernel_zero_point has shape (16,)"),
        ]  # fmt: skip


def _centred_blocks(weight: SSAValue, zero_point: SSAValue, units: int, dtype: str) -> Any:
    """Packed weight without its zero points; what stands beyond the last row does not matter."""
    blocks, _, block = qs.info_of(weight).shape
    if qs.info_of(zero_point).shape in ((), (1,)):
        return qs.centred(weight, zero_point, 0, dtype)
    every = r.nn.pad(zero_point, pad_width=(0, blocks * block - units))
    return r.subtract(qs.cast(weight, dtype), qs.cast(r.reshape(every, newshape=(blocks, 1, block)), dtype))


@irdl_op_definition
class QnnBatchMatmulOp(OutFusable):
    """nn.batch_matmul of (x - x_zero_point) and (y - y_zero_point): x [B, M, K], y [B, N, K]; a batch of 1 repeats."""

    name = "relay.qnn.batch_matmul"
    x = operand_def()
    y = operand_def()
    x_zero_point = operand_def()
    y_zero_point = operand_def()
    x_scale = operand_def()
    y_scale = operand_def()
    out_dtype = str_prop("int32")
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)

    @staticmethod
    def infer_type(x: TensorInfo, y: TensorInfo, *scales: TensorInfo, **attrs: Any) -> TensorInfo:
        info = r.nn.batch_matmul.op.infer_type(x, y._replace(dtype=x.dtype), **attrs)
        qs.check_quantized("x", x)
        qs.check_quantized("y", y)
        for name, scale, zero in (("x", scales[2], scales[0]), ("y", scales[3], scales[1])):
            qs.check_scales(name, (scale, zero))
        qs.check_out_dtype(attrs["out_dtype"], ("int32", "int64"))
        return info

    @staticmethod
    def decompose(x: SSAValue, y: SSAValue, a: SSAValue, b: SSAValue, *_: SSAValue, **attrs: Any) -> Any:
        dtype, inner_x, inner_y = attrs["out_dtype"], 1 if attrs["transpose_a"] else 2, 2 if attrs["transpose_b"] else 1
        if not known(a, b):
            return r.nn.batch_matmul(qs.centred(x, a, 0, dtype), qs.centred(y, b, 0, dtype), **attrs)

        def x_sums() -> Any:
            made = sums(x, inner_x, dtype)
            return r.transpose(made, axes=(0, 2, 1)) if inner_x == 1 else made

        def y_sums() -> Any:
            made = sums(y, inner_y, dtype)
            return r.transpose(made, axes=(0, 2, 1)) if inner_y == 2 else made

        return expanded(r.nn.batch_matmul(x, y, **attrs), a, b, x_sums, y_sums, qs.info_of(x).shape[inner_x])

    @staticmethod
    def np_ref(x: Array, y: Array, *scales: Array, out_dtype: str, transpose_a: bool, transpose_b: bool) -> Array:
        left, right = qs.ref_centred(x, scales[0]), qs.ref_centred(y, scales[1])
        left = np.swapaxes(left, 1, 2) if transpose_a else left
        return np.matmul(left, np.swapaxes(right, 1, 2) if transpose_b else right).astype(out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        one = dense_sample
        return [
            one((2, 3, 4), (2, 5, 4)), one((2, 3, 4), (2, 4, 5), "uint8 int8", transpose_b=False),
            one((2, 4, 3), (2, 5, 4), "uint8 uint8", transpose_a=True), one((1, 3, 4), (3, 5, 4)),
            one((3, 3, 4), (1, 4, 5), "int8 uint8", transpose_b=False), one((1, 1, 1), (1, 1, 1)),
            one((2, 3, 33), (2, 2, 33), "uint8 int8"), one((2, 3, 4), (2, 5, 4), "int16 int8", out_dtype="int64"),
            one((2, 3, 4), (3, 5, 4), error="batches of 2 and 3 matrices differ"),
            one((2, 3, 4), (2, 5, 4), channels=5, error="y_scale has shape (5,), expects one number"),
            one((2, 3, 4), (2, 5, 4), "int8 float32", error="y is float32, expects int8"),
        ]  # fmt: skip

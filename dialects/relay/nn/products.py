"""Matrix products: dense layers, matmul, batch_matmul, and bias_add beside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.contraction import matmul as product_of
from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.elements import product_gradients
from lamina.dialects.relay.nn.activation import along, vector_samples


class _Product(OutFusable, precision=Precision.ALWAYS):
    """Base of the products of matrices."""


def _product(a: NDArray[Any], b: NDArray[Any], out_dtype: str) -> NDArray[Any]:
    """numpy.matmul, accumulated in float32 for the half types and in the result's type for integers."""
    dtype = out_dtype or a.dtype.name
    wide = np.float32 if a.dtype.itemsize == 2 and a.dtype.kind not in "iu" else np.dtype(dtype)
    return product_of(a.astype(wide), b.astype(wide)).astype(dtype)


@irdl_op_definition
class DenseOp(_Product):
    """y[..., n] = sum over k of data[..., k] * weight[n, k]: data [..., K], weight [N, K] -> [..., N]."""

    name = "relay.nn.dense"
    data = operand_def()
    weight = operand_def()
    units = opt_prop_def(IntegerAttr)
    out_dtype = str_prop("")

    @staticmethod
    def infer_type(data: TensorInfo, weight: TensorInfo, *, out_dtype: str, units: int | None = None) -> TensorInfo:
        if not data.shape or len(weight.shape) != 2:
            raise TypeMismatch(f"expects data of rank 1 or more and weight of rank 2, got {data} and {weight}")
        if data.shape[-1] != weight.shape[1]:
            raise TypeMismatch(f"input has {data.shape[-1]} features, weight expects {weight.shape[1]}")
        if units is not None and units != weight.shape[0]:
            raise TypeMismatch(f"attribute units is {units}, weight has {weight.shape[0]} rows")
        dtype = out_dtype or check_dtype(same_dtype(data, weight), NUMBERS)
        return TensorInfo((*data.shape[:-1], weight.shape[0]), dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], weight: NDArray[Any], *, out_dtype: str, units: int | None = None) -> NDArray[Any]:
        return _product(data, weight.T, out_dtype)

    @staticmethod
    def te_compute(data: Tensor, weight: Tensor, *, out_dtype: str, units: int | None = None) -> Tensor:
        k = te.reduce_axis(data.shape[-1], "k")
        dtype = out_dtype or data.dtype

        def element(*i: Index) -> Any:
            return te.sum(te.cast(data[(*i[:-1], k)], dtype) * te.cast(weight[i[-1], k], dtype), [k])

        return te.compute((*data.shape[:-1], weight.shape[0]), element, "dense")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), (5, 3)),
            sample((1, 7), (4, 7), attrs={"units": 4}),
            sample((3,), (2, 3)),
            sample((2, 4, 3), (5, 3)),
            sample((1, 1), (1, 1)),
            sample(((3, 9), "float64"), ((2, 9), "float64")),
            sample(((2, 3), "float16"), ((5, 3), "float16")),
            sample(((2, 3), "int8"), ((5, 3), "int8"), attrs={"out_dtype": "int32"}),
            sample(((2, 3), "uint8"), ((5, 3), "int8"), attrs={"out_dtype": "int32"}),
            sample((17, 33), (9, 33)),
            sample((2, 3), (5, 4), error="input has 3 features, weight expects 4"),
            sample((2, 3), (5, 3), attrs={"units": 6}, error="attribute units is 6, weight has 5 rows"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **_: Any) -> Gradients:
        x, w = operands
        dy = in_dtype(grads[0], x)
        rows = (prod(shape_of(x)[:-1]), shape_of(x)[-1])
        into_w = r.nn.matmul(to_shape(dy, (rows[0], shape_of(w)[0])), to_shape(x, rows), transpose_a=True)
        return [r.nn.dense(dy, r.transpose(w)), into_w]


_PACKED = re.compile(r"NK(\d+)n(?:(\d+)k)?")


@irdl_op_definition
class ContribDensePackOp(_Product):
    """Dense with packed weight [ceil(N/b), K, b] (weight_layout "NK{b}n"), zeros beyond row N = `units`.

    In "NK{b}n{g}k" the weight is [ceil(N/b), K/g, b, g], for instructions that sum up g products of a row at once.
    """

    name = "relay.nn.contrib_dense_pack"
    data = operand_def()
    weight = operand_def()
    units = int_prop()
    weight_layout = str_prop("NK16n")
    out_dtype = str_prop("")

    @staticmethod
    def infer_type(
        data: TensorInfo, weight: TensorInfo, *, units: int, weight_layout: str, out_dtype: str
    ) -> TensorInfo:
        match = _PACKED.fullmatch(weight_layout)
        if match is None:
            raise TypeMismatch(f"weight layout {weight_layout!r} is not of the form NK16n")
        block = int(match[1])
        if not data.shape:
            raise TypeMismatch("expects data of rank 1 or more")
        depth, group = data.shape[-1], int(match[2] or 1)
        if depth % max(group, 1):
            raise TypeMismatch(f"{depth} features are no groups of {group}, which {weight_layout} has")
        expected = (-(-units // max(block, 1)), depth // max(group, 1), block, *([group] if match[2] else []))
        if weight.shape != expected:
            raise TypeMismatch(f"weight has shape {weight.shape}, {units} units in {weight_layout} need {expected}")
        dtype = out_dtype or check_dtype(same_dtype(data, weight), NUMBERS)
        return TensorInfo((*data.shape[:-1], units), dtype)

    @staticmethod
    def np_ref(
        data: NDArray[Any], weight: NDArray[Any], *, units: int, weight_layout: str, out_dtype: str
    ) -> NDArray[Any]:
        plain = np.moveaxis(weight[..., None] if weight.ndim == 3 else weight, 2, 1)
        plain = np.moveaxis(plain.reshape(-1, data.shape[-1]), 1, 0)
        return _product(data, plain[:, :units], out_dtype)

    @staticmethod
    def te_compute(data: Tensor, weight: Tensor, *, units: int, weight_layout: str, out_dtype: str) -> Tensor:
        group = weight.shape[3] if weight.ndim == 4 else 1
        k, ki = te.reduce_axis(weight.shape[1], "k"), te.reduce_axis(group, "ki")
        dtype, block = out_dtype or data.dtype, weight.shape[2]

        def element(*i: Index) -> Any:
            n = i[-1]
            if weight.ndim == 3:
                x, w = data[(*i[:-1], k)], weight[n // block, k, n % block]
            else:
                x, w = data[(*i[:-1], k * group + ki)], weight[n // block, k, n % block, ki]
            return te.sum(te.cast(x, dtype) * te.cast(w, dtype), [k] if weight.ndim == 3 else [k, ki])

        return te.compute((*data.shape[:-1], units), element, "dense")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), (1, 3, 16), attrs={"units": 16}),
            sample((2, 3), (2, 3, 16), attrs={"units": 17}),
            sample((1, 7), (3, 7, 8), attrs={"units": 20, "weight_layout": "NK8n"}),
            sample((3,), (1, 3, 4), attrs={"units": 1, "weight_layout": "NK4n"}),
            sample((2, 4, 3), (1, 3, 32), attrs={"units": 32, "weight_layout": "NK32n"}),
            sample((1, 1), (1, 1, 16), attrs={"units": 1}),
            sample(((3, 9), "float64"), ((1, 9, 16), "float64"), attrs={"units": 10}),
            sample(((2, 3), "int8"), ((1, 3, 16), "int8"), attrs={"units": 16, "out_dtype": "int32"}),
            sample(
                ((3, 8), "uint8"),
                ((2, 2, 16, 4), "int8"),
                ranges=((0, 255), (-128, 127)),
                attrs={"units": 24, "weight_layout": "NK16n4k", "out_dtype": "int32"},
            ),
            sample(
                ((2, 6), "bfloat16"),
                ((1, 3, 32, 2), "bfloat16"),
                attrs={"units": 32, "weight_layout": "NK32n2k", "out_dtype": "float32"},
            ),
            sample(
                (2, 6),
                (1, 1, 16, 4),
                attrs={"units": 16, "weight_layout": "NK16n4k"},
                error="6 features are no groups of 4",
            ),
            sample((2, 3), (1, 3, 16), attrs={"units": 17}, error="17 units in NK16n need (2, 3, 16)"),
            sample((2, 3), (1, 3, 16), attrs={"units": 16, "weight_layout": "KN"}, error="not of the form NK16n"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, units: int, **_: Any) -> Gradients:
        def plain(x: Any, w: Any) -> Any:
            axes = (0, 2, 1) if len(shape_of(w)) == 3 else (0, 2, 1, 3)
            rows = to_shape(r.transpose(w, axes=axes), (shape_of(w)[0] * shape_of(w)[2], shape_of(x)[-1]))
            return r.nn.dense(x, r.strided_slice(rows, begin=(0,), end=(units,)))

        return through(plain, grads, operands)


def _matrix(shape: Sequence[int], transpose: bool) -> tuple[int, int]:
    rows, columns = shape[-2], shape[-1]
    return (columns, rows) if transpose else (rows, columns)


def _batch(a: int, b: int) -> int:
    """The number of products of two batches of matrices, of which one may be 1."""
    try:
        return broadcast_shapes((a,), (b,))[0]
    except TypeMismatch:
        raise TypeMismatch(f"batches of {a} and {b} matrices differ") from None


def _inner(a: tuple[int, int], b: tuple[int, int]) -> None:
    if a[1] != b[0]:
        raise TypeMismatch(f"a {a[0]}x{a[1]} matrix does not multiply a {b[0]}x{b[1]} matrix")


@irdl_op_definition
class MatmulOp(_Product):
    """y = A B for A [M, K] (stored [K, M] with transpose_a) and B [K, N] (stored [N, K] with transpose_b)."""

    name = "relay.nn.matmul"
    tensor_a = operand_def()
    tensor_b = operand_def()
    units = opt_prop_def(IntegerAttr)
    out_dtype = str_prop("")
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(False)

    @staticmethod
    def infer_type(
        a: TensorInfo, b: TensorInfo, *, out_dtype: str, transpose_a: bool, transpose_b: bool, units: int | None = None
    ) -> TensorInfo:
        if len(a.shape) != 2 or len(b.shape) != 2:
            raise TypeMismatch(f"expects matrices, got {a} and {b}")
        left, right = _matrix(a.shape, transpose_a), _matrix(b.shape, transpose_b)
        _inner(left, right)
        if units is not None and units != right[1]:
            raise TypeMismatch(f"attribute units is {units}, the second matrix has {right[1]} columns")
        return TensorInfo((left[0], right[1]), out_dtype or check_dtype(same_dtype(a, b), NUMBERS))

    @staticmethod
    def np_ref(
        a: NDArray[Any], b: NDArray[Any], *, out_dtype: str, transpose_a: bool, transpose_b: bool, **_: Any
    ) -> Any:
        return _product(a.T if transpose_a else a, b.T if transpose_b else b, out_dtype)

    @staticmethod
    def te_compute(a: Tensor, b: Tensor, *, out_dtype: str, transpose_a: bool, transpose_b: bool, **_: Any) -> Tensor:
        (rows, depth), columns = _matrix(a.shape, transpose_a), _matrix(b.shape, transpose_b)[1]
        k = te.reduce_axis(depth, "k")
        dtype = out_dtype or a.dtype

        def element(m: Index, n: Index) -> Any:
            left = a[k, m] if transpose_a else a[m, k]
            right = b[n, k] if transpose_b else b[k, n]
            return te.sum(te.cast(left, dtype) * te.cast(right, dtype), [k])

        return te.compute((rows, columns), element, "matmul")

    @staticmethod
    def legalize(
        inputs: Sequence[SSAValue], *, out_dtype: str, transpose_a: bool, transpose_b: bool, **_: Any
    ) -> SSAValue | None:
        """A constant second matrix is a layer's weight, which is packed for its kernel."""
        a, b = inputs
        if constant_value(b) is None or transpose_a:
            return None
        return r.nn.dense(a, b if transpose_b else r.transpose(b, axes=(1, 0)), out_dtype=out_dtype)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3), (3, 5)),
            sample((3, 2), (3, 5), attrs={"transpose_a": True}),
            sample((2, 3), (5, 3), attrs={"transpose_b": True, "units": 5}),
            sample((3, 2), (5, 3), attrs={"transpose_a": True, "transpose_b": True}),
            sample((1, 1), (1, 1)),
            sample((17, 9), (9, 33)),
            sample(((3, 9), "float64"), ((9, 2), "float64")),
            sample(((2, 3), "int8"), ((3, 5), "int8"), attrs={"out_dtype": "int32"}),
            sample((2, 3), (5, 3), error="a 2x3 matrix does not multiply a 5x3 matrix"),
            sample((2, 3), (3, 5), attrs={"units": 6}, error="attribute units is 6"),
            sample((2, 3, 4), (4, 5), error="expects matrices"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, transpose_a: bool, transpose_b: bool, **_: Any
    ) -> Gradients:
        return product_gradients(r.nn.matmul, grads, operands, transpose_a, transpose_b)


@irdl_op_definition
class BatchMatmulOp(_Product):
    """y[b] = A[b] B[b] for A [B, M, K] and B [B, N, K] (TVM's default: B is transposed); a batch of 1 is repeated."""

    name = "relay.nn.batch_matmul"
    tensor_a = operand_def()
    tensor_b = operand_def()
    out_dtype = str_prop("")
    transpose_a = bool_prop(False)
    transpose_b = bool_prop(True)

    @staticmethod
    def infer_type(a: TensorInfo, b: TensorInfo, *, out_dtype: str, transpose_a: bool, transpose_b: bool) -> TensorInfo:
        if len(a.shape) != 3 or len(b.shape) != 3:
            raise TypeMismatch(f"expects batches of matrices (rank 3), got {a} and {b}")
        batch = _batch(a.shape[0], b.shape[0])
        left, right = _matrix(a.shape, transpose_a), _matrix(b.shape, transpose_b)
        _inner(left, right)
        return TensorInfo((batch, left[0], right[1]), out_dtype or check_dtype(same_dtype(a, b), NUMBERS))

    @staticmethod
    def np_ref(a: NDArray[Any], b: NDArray[Any], *, out_dtype: str, transpose_a: bool, transpose_b: bool) -> Any:
        left = np.swapaxes(a, 1, 2) if transpose_a else a
        right = np.swapaxes(b, 1, 2) if transpose_b else b
        return _product(left, right, out_dtype)

    @staticmethod
    def te_compute(a: Tensor, b: Tensor, *, out_dtype: str, transpose_a: bool, transpose_b: bool) -> Tensor:
        (rows, depth), (_, columns) = _matrix(a.shape, transpose_a), _matrix(b.shape, transpose_b)
        k = te.reduce_axis(depth, "k")
        dtype = out_dtype or a.dtype
        batch = _batch(a.shape[0], b.shape[0])

        def element(p: Index, m: Index, n: Index) -> Any:
            pa: Any = 0 if is_always(a.shape[0], 1) else p
            pb: Any = 0 if is_always(b.shape[0], 1) else p
            left = a[pa, k, m] if transpose_a else a[pa, m, k]
            right = b[pb, n, k] if transpose_b else b[pb, k, n]
            return te.sum(te.cast(left, dtype) * te.cast(right, dtype), [k])

        return te.compute((batch, rows, columns), element, "batch_matmul")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 4), (2, 5, 4)),
            sample((2, 3, 4), (2, 4, 5), attrs={"transpose_b": False}),
            sample((2, 4, 3), (2, 5, 4), attrs={"transpose_a": True}),
            sample((1, 3, 4), (3, 5, 4)),
            sample((3, 3, 4), (1, 4, 5), attrs={"transpose_b": False}),
            sample((1, 1, 1), (1, 1, 1)),
            sample(((2, 3, 7), "float64"), ((2, 2, 7), "float64")),
            sample(((2, 3, 4), "int8"), ((2, 5, 4), "int8"), attrs={"out_dtype": "int32"}),
            sample((2, 3, 4), (3, 5, 4), error="batches of 2 and 3 matrices differ"),
            sample((2, 3, 4), (2, 5, 3), error="a 3x4 matrix does not multiply a 3x5 matrix"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, transpose_a: bool, transpose_b: bool, **_: Any
    ) -> Gradients:
        found = product_gradients(r.nn.batch_matmul, grads, operands, transpose_a, transpose_b)
        return [collapsed(g, o) for g, o in zip(found, operands, strict=True)]


@irdl_op_definition
class BiasAddOp(RelayOp, fusion_kind=OpPattern.BROADCAST, along_axis=True):
    """y[..., c, ...] = data[..., c, ...] + bias[c], c on `axis`."""

    name = "relay.nn.bias_add"
    data = operand_def()
    bias = operand_def()
    result = result_def()
    axis = int_prop(1)

    @staticmethod
    def infer_type(data: TensorInfo, bias: TensorInfo, *, axis: int) -> TensorInfo:
        extent = data.shape[normalize_axis(axis, len(data.shape))] if data.shape else 0
        if bias.shape != (extent,):
            raise TypeMismatch(f"bias has shape {bias.shape}, axis {axis} has extent {extent}")
        return TensorInfo(data.shape, check_dtype(same_dtype(data, bias), NUMBERS))

    @staticmethod
    def np_ref(data: NDArray[Any], bias: NDArray[Any], *, axis: int) -> NDArray[Any]:
        return data + along(bias, axis, data.ndim)

    @staticmethod
    def te_compute(data: Tensor, bias: Tensor, *, axis: int) -> Tensor:
        channel = normalize_axis(axis, data.ndim)
        return te.compute(data.shape, lambda *i: data[i] + bias[i[channel]], "bias_add")

    @staticmethod
    def samples() -> list[Sample]:
        return vector_samples("int32", "bias has shape (4,), axis 1 has extent 3")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        return [grads[0], summed_to_axis(grads[0], axis)]

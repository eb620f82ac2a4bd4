"""Activations that are not plain elementwise arithmetic: relu and its variants, softmax, dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.dialects.relay.declare import *


@irdl_op_definition
class ReluOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """y = max(x, 0); NaN stays NaN."""

    name = "relay.nn.relu"
    data = operand_def()
    result = result_def()

    @staticmethod
    def infer_type(data: TensorInfo) -> TensorInfo:
        return TensorInfo(data.shape, check_dtype(data.dtype, NUMBERS))

    @staticmethod
    def np_ref(data: NDArray[Any]) -> NDArray[Any]:
        return np.where(data < 0, data.dtype.type(0), data)

    @staticmethod
    def te_compute(data: Tensor) -> Tensor:
        return te.compute(data.shape, lambda *i: te.maximum(data[i], 0), "relu")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5)),
            sample(()),
            sample((1,)),
            sample((19,), finite=False),
            sample(((7, 1), "float64")),
            sample(((3, 3), "float16")),
            sample(((9,), "int32")),
            sample(((9,), "int8")),
            sample(((5,), "uint8")),
            sample(((5,), "bool"), error="got bool"),
        ]

    relay_grad = vjp(lambda dy, x, y: selected(r.greater(y, 0.0), dy))


@irdl_op_definition
class LeakyReluOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """y = x if x > 0 else alpha * x"""

    name = "relay.nn.leaky_relu"
    data = operand_def()
    result = result_def()
    alpha = float_prop(0.01)

    @staticmethod
    def infer_type(data: TensorInfo, *, alpha: float) -> TensorInfo:
        return TensorInfo(data.shape, check_dtype(data.dtype, FLOATS))

    @staticmethod
    def np_ref(data: NDArray[Any], *, alpha: float) -> NDArray[Any]:
        return np.where(data > 0, data, data * data.dtype.type(alpha))

    @staticmethod
    def te_compute(data: Tensor, *, alpha: float) -> Tensor:
        return te.compute(data.shape, lambda *i: te.select(data[i] > 0, data[i], data[i] * alpha), "leaky_relu")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5)),
            sample((2, 3, 5), attrs={"alpha": 0.2}),
            sample((4,), attrs={"alpha": -1.5}),
            sample((19,), finite=False),
            sample(()),
            sample((1,)),
            sample(((7, 1), "float64")),
            sample(((3, 3), "float16")),
            sample(((5,), "int32"), error="got int32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, alpha: float) -> Gradients:
        return [r.where(r.greater(operands[0], 0.0), grads[0], r.multiply(grads[0], alpha))]


@irdl_op_definition
class PReluOp(RelayOp, fusion_kind=OpPattern.BROADCAST, along_axis=True):
    """y = x if x > 0 else alpha[c] * x, one alpha for each channel c of `axis`."""

    name = "relay.nn.prelu"
    data = operand_def()
    alpha = operand_def()
    result = result_def()
    axis = int_prop(1)

    @staticmethod
    def infer_type(data: TensorInfo, alpha: TensorInfo, *, axis: int) -> TensorInfo:
        channels = data.shape[normalize_axis(axis, len(data.shape))]
        if alpha.shape != (channels,):
            raise TypeMismatch(f"alpha has shape {alpha.shape}, axis {axis} has {channels} channels")
        return TensorInfo(data.shape, check_dtype(same_dtype(data, alpha), FLOATS))

    @staticmethod
    def np_ref(data: NDArray[Any], alpha: NDArray[Any], *, axis: int) -> NDArray[Any]:
        return np.where(data > 0, data, data * along(alpha, axis, data.ndim))

    @staticmethod
    def te_compute(data: Tensor, alpha: Tensor, *, axis: int) -> Tensor:
        channel = normalize_axis(axis, data.ndim)

        def element(*i: Index) -> Any:
            return te.select(data[i] > 0, data[i], data[i] * alpha[i[channel]])

        return te.compute(data.shape, element, "prelu")

    @staticmethod
    def samples() -> list[Sample]:
        return vector_samples("float16", "alpha has shape (4,), axis 1 has 3 channels")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        x, alpha = operands
        positive = r.greater(x, 0.0)
        slope = along_axis(alpha, axis, x)
        into_alpha = r.where(positive, number(0.0, x), r.multiply(grads[0], x))
        return [r.where(positive, grads[0], r.multiply(grads[0], slope)), summed_to_axis(into_alpha, axis)]


def vector_samples(dtype: str, error: str) -> list[Sample]:
    """Tensors with a vector along `axis`, which is 1 by default; `error` is that of one that is too long."""
    return [
        sample((2, 3, 5), (3,)),
        sample((2, 3, 5), (5,), attrs={"axis": -1}),
        sample((2, 3, 5), (2,), attrs={"axis": 0}),
        sample((1, 1), (1,)),
        sample((3,), (3,), attrs={"axis": 0}),
        sample(((2, 3), "float64"), ((3,), "float64")),
        sample(((2, 7), dtype), ((7,), dtype)),
        sample((1, 4, 3, 3), (4,)),
        sample((2, 3, 5), (4,), error=error),
        sample((2, 3), (3,), attrs={"axis": 2}, error="axis 2 is out of range for rank 2"),
    ]


def along(vector: NDArray[Any], axis: int, rank: int) -> NDArray[Any]:
    """A vector shaped so that numpy broadcasts it along one axis."""
    shape = [1] * rank
    shape[axis] = -1
    return vector.reshape(shape)


# -- softmax ---------------------------------------------------------------------------------------


class _Softmax(OutFusable, precision=Precision.NEVER, along_axis=True):
    data = operand_def()
    axis = int_prop(-1)

    @staticmethod
    def infer_type(data: TensorInfo, *, axis: int) -> TensorInfo:
        if not data.shape:
            raise TypeMismatch("input has rank 0, expects an axis to normalise over")
        if data.shape[normalize_axis(axis, len(data.shape))] == 0:
            raise TypeMismatch(f"axis {axis} has no elements")
        return TensorInfo(data.shape, check_dtype(data.dtype, FLOATS))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 5)),
            sample((2, 3, 5), attrs={"axis": 1}),
            sample((2, 3, 5), attrs={"axis": 0}),
            sample((1, 17), attrs={"axis": -2}),
            sample((1,)),
            sample((1, 33), ranges=((-90.0, 90.0),)),
            sample(((3, 7), "float64")),
            sample(((2, 9), "float16")),
            sample((1, 2, 3, 3), attrs={"axis": -3}),
            sample((2, 5), attrs={"axis": 2}, error="axis 2 is out of range for rank 2"),
            sample(((2, 5), "int32"), error="got int32"),
            sample((), error="input has rank 0"),
        ]


def _reduced(data: Tensor, axis: int, reducer: Any, element: Any, name: str) -> Tensor:
    """`reducer` of `element(indices)` over one axis, which is left out of the result's shape."""
    k = te.reduce_axis(data.shape[axis], "k")

    def body(*i: Index) -> Any:
        return reducer(element((*i[:axis], k, *i[axis:])), [k])

    return te.compute([e for n, e in enumerate(data.shape) if n != axis], body, name)


def _without(i: Sequence[Index], axis: int) -> tuple[Index, ...]:
    return (*i[:axis], *i[axis + 1 :])


@irdl_op_definition
class SoftmaxOp(_Softmax):
    """y = exp(x - max) / sum(exp(x - max)) over one axis: the maximum keeps exp in range."""

    name = "relay.nn.softmax"

    @staticmethod
    def np_ref(data: NDArray[Any], *, axis: int) -> NDArray[Any]:
        e = np.exp(data - np.max(data, axis=axis, keepdims=True))
        return e / np.sum(e, axis=axis, keepdims=True, dtype=e.dtype)

    @staticmethod
    def te_compute(data: Tensor, *, axis: int) -> Tensor:
        axis = normalize_axis(axis, data.ndim)
        top = _reduced(data, axis, te.max, data.__getitem__, "softmax_max")
        e = te.compute(data.shape, lambda *i: te.exp(data[i] - top[_without(i, axis)]), "softmax_exp")
        total = _reduced(data, axis, te.sum, e.__getitem__, "softmax_sum")
        return te.compute(data.shape, lambda *i: e[i] / total[_without(i, axis)], "softmax")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        share = r.multiply(grads[0], results[0])
        return [r.subtract(share, r.multiply(results[0], r.sum(share, axis=(axis,), keepdims=True)))]


@irdl_op_definition
class FastSoftmaxOp(_Softmax):
    """nn.softmax, where TVM approximates the exponential more coarsely."""

    name = "relay.nn.fast_softmax"

    @staticmethod
    def np_ref(data: NDArray[Any], *, axis: int) -> NDArray[Any]:
        return SoftmaxOp.np_ref(data, axis=axis)

    @staticmethod
    def decompose(data: SSAValue, *, axis: int) -> SSAValue:
        return SoftmaxOp.make(data, axis=axis).results[0]


@irdl_op_definition
class LogSoftmaxOp(_Softmax):
    """y = x - max - log(sum(exp(x - max))) over one axis."""

    name = "relay.nn.log_softmax"

    @staticmethod
    def np_ref(data: NDArray[Any], *, axis: int) -> NDArray[Any]:
        shifted = data - np.max(data, axis=axis, keepdims=True)
        return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True, dtype=data.dtype))

    @staticmethod
    def te_compute(data: Tensor, *, axis: int) -> Tensor:
        axis = normalize_axis(axis, data.ndim)
        top = _reduced(data, axis, te.max, data.__getitem__, "softmax_max")

        def shifted_exp(i: Sequence[Index]) -> Any:
            return te.exp(data[tuple(i)] - top[_without(i, axis)])

        total = _reduced(data, axis, te.sum, shifted_exp, "softmax_sum")

        def element(*i: Index) -> Any:
            row = _without(i, axis)
            return data[i] - top[row] - te.log(total[row])

        return te.compute(data.shape, element, "log_softmax")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int) -> Gradients:
        total = r.sum(grads[0], axis=(axis,), keepdims=True)
        return [r.subtract(grads[0], r.multiply(r.exp(results[0]), total))]


@irdl_op_definition
class DropoutOp(Opaque, precision=Precision.FOLLOW):
    """Inference: the identity. `rate` is kept for the record."""

    name = "relay.nn.dropout"
    data = operand_def()
    rate = float_prop(0.5)

    @staticmethod
    def infer_type(data: TensorInfo, *, rate: float) -> TensorInfo:
        if not 0 <= rate <= 1:
            raise TypeMismatch(f"rate {rate} is no probability")
        return data

    @staticmethod
    def np_ref(data: NDArray[Any], *, rate: float) -> NDArray[Any]:
        return data

    @staticmethod
    def te_compute(data: Tensor, *, rate: float) -> Tensor:
        return te.compute(data.shape, lambda *i: data[i], "dropout")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 3, 5)),
            sample((2, 3), attrs={"rate": 0.1}),
            sample((7,), attrs={"rate": 1.0}),
            sample(()),
            sample((1,)),
            sample(((3,), "float64")),
            sample(((3, 2), "float16")),
            sample(((3, 1, 2), "int32")),
            sample((3,), attrs={"rate": 1.5}, error="rate 1.5 is no probability"),
        ]

    relay_grad = vjp(lambda dy, x, y: dy)

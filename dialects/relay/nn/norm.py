"""Normalisations, in inference semantics. Mean and variance are two passes: the variance is that of x - mean.

batch_norm has one result, unlike TVM's three: the running statistics are inputs and do not change in inference.
The flags `center` and `scale` switch beta and gamma off; the operands are there all the same.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.norms import norm_gradients, scaled_and_moved
from lamina.dialects.relay.nn.activation import along


def _check_vectors(data: TensorInfo, axis: int, **vectors: TensorInfo) -> TensorInfo:
    """The result type of a normalisation with one parameter for each element of `axis`."""
    extent = data.shape[normalize_axis(axis, len(data.shape))] if data.shape else 0
    for name, v in vectors.items():
        if v.shape != (extent,):
            raise TypeMismatch(f"{name} has shape {v.shape}, axis {axis} has extent {extent}")
    return TensorInfo(data.shape, check_dtype(same_dtype(data, *vectors.values()), FLOATS))


def _finish(x: Scalar, mean: Scalar, deviation: Scalar, gamma: Scalar | None, beta: Scalar | None) -> Scalar:
    y = (x - mean) * deviation
    if gamma is not None:
        y = y * gamma
    return y if beta is None else y + beta


def _moments(data: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor]:
    """Mean and 1 / sqrt(variance + epsilon) over the axes, which are left out of the results' shapes."""
    kept = [n for n in range(data.ndim) if n not in axes]
    shape = [data.shape[n] for n in kept]
    count = prod(data.shape[n] for n in axes)

    def full(i: Sequence[Index], loops: dict[int, IterVar]) -> tuple[Any, ...]:
        outer = dict(zip(kept, i, strict=True))
        return tuple(loops[n] if n in loops else outer[n] for n in range(data.ndim))

    def reduce(element: Any, name: str) -> Tensor:
        loops = {n: te.reduce_axis(data.shape[n], f"k{n}") for n in axes}
        return te.compute(shape, lambda *i: te.sum(element(full(i, loops), i), list(loops.values())), name)

    def plain(at: tuple[Any, ...], i: Sequence[Index]) -> Scalar:
        return data[at]

    def square(at: tuple[Any, ...], i: Sequence[Index]) -> Scalar:
        distance = data[at] - mean[tuple(i)]
        return distance * distance

    total = reduce(plain, "sum")
    mean = te.compute(shape, lambda *i: total[i] / count, "mean")
    squares = reduce(square, "squares")
    deviation = te.compute(shape, lambda *i: te.const(1.0, data.dtype) / te.sqrt(squares[i] / count + epsilon), "rstd")
    return mean, deviation


def _normalized(x: NDArray[Any], axes: tuple[int, ...], epsilon: float) -> NDArray[Any]:
    mean = np.mean(x, axis=axes, keepdims=True, dtype=np.float64)
    variance = np.var(x.astype(np.float64), axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon)


def _affine(
    y: NDArray[Any], gamma: NDArray[Any], beta: NDArray[Any], axis: int, center: bool, scale: bool
) -> NDArray[Any]:
    if scale:
        y = y * along(gamma, axis, y.ndim)
    if center:
        y = y + along(beta, axis, y.ndim)
    return y.astype(gamma.dtype)


def _norm_samples(axis: int, off: int, **more: Any) -> list[Sample]:
    """Samples with gamma and beta on `axis` of the default, and on `off`."""
    x = (2, 4, 3, 6)
    return [
        sample(x, (x[axis],), (x[axis],), attrs=more),
        sample(x, (x[off],), (x[off],), attrs={"axis": off, **more}),
        sample(x, (x[axis],), (x[axis],), attrs={"epsilon": 0.5, **more}),
        sample(x, (x[axis],), (x[axis],), attrs={"center": False, **more}),
        sample(x, (x[axis],), (x[axis],), attrs={"scale": False, **more}),
        sample((1, 4, 1, 2), ((1, 4, 1, 2)[axis],), ((1, 4, 1, 2)[axis],), attrs=more),
        sample((x, "float64"), ((x[axis],), "float64"), ((x[axis],), "float64"), attrs=more),
        sample((3, 8, 8), ((3, 8, 8)[axis],), ((3, 8, 8)[axis],), attrs=more, ranges=((90.0, 110.0), None, None)),
        sample(x, (9,), (x[axis],), attrs=more, error=f"gamma has shape (9,), axis {axis} has extent {x[axis]}"),
        sample(x, (4,), (4,), attrs={"axis": 4, **more}, error="axis 4 is out of range for rank 4"),
    ]


class _NormAttributes(RelayOp):
    """The attributes of norms whose elements are scaled and shifted along `axis`."""

    axis = int_prop(1)
    epsilon = float_prop(1e-5)
    center = bool_prop(True)
    scale = bool_prop(True)


class _Norm(_NormAttributes, fusion_kind=OpPattern.OPAQUE, precision=Precision.NEVER):
    """Norms that find mean and variance themselves."""

    data = operand_def()
    gamma = operand_def()
    beta = operand_def()
    result = result_def()


@irdl_op_definition
class BatchNormOp(_NormAttributes, fusion_kind=OpPattern.OUT_ELEMWISE_FUSABLE, precision=Precision.FOLLOW):
    """y = (x - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta, parameters along `axis`."""

    name = "relay.nn.batch_norm"
    data = operand_def()
    gamma = operand_def()
    beta = operand_def()
    moving_mean = operand_def()
    moving_var = operand_def()
    result = result_def()

    @staticmethod
    def infer_type(
        data: TensorInfo,
        gamma: TensorInfo,
        beta: TensorInfo,
        moving_mean: TensorInfo,
        moving_var: TensorInfo,
        *,
        axis: int,
        **_: Any,
    ) -> TensorInfo:
        return _check_vectors(data, axis, gamma=gamma, beta=beta, moving_mean=moving_mean, moving_var=moving_var)

    @staticmethod
    def np_ref(
        data: NDArray[Any],
        gamma: NDArray[Any],
        beta: NDArray[Any],
        moving_mean: NDArray[Any],
        moving_var: NDArray[Any],
        *,
        axis: int,
        epsilon: float,
        center: bool,
        scale: bool,
    ) -> NDArray[Any]:
        centred = data - along(moving_mean, axis, data.ndim)
        y = centred / np.sqrt(along(moving_var, axis, data.ndim) + data.dtype.type(epsilon))
        return _affine(y, gamma, beta, axis, center, scale)

    @staticmethod
    def te_compute(
        data: Tensor,
        gamma: Tensor,
        beta: Tensor,
        moving_mean: Tensor,
        moving_var: Tensor,
        *,
        axis: int,
        epsilon: float,
        center: bool,
        scale: bool,
    ) -> Tensor:
        channel = normalize_axis(axis, data.ndim)

        def element(*i: Index) -> Any:
            c = i[channel]
            deviation = te.const(1.0, data.dtype) / te.sqrt(moving_var[c] + epsilon)
            g, b = gamma[c] if scale else None, beta[c] if center else None
            return _finish(data[i], moving_mean[c], deviation, g, b)

        return te.compute(data.shape, element, "batch_norm")

    @staticmethod
    def samples() -> list[Sample]:
        found: list[Sample] = []
        for s in _norm_samples(1, -1):
            extra = s.operands[1:]
            ranges = (None, (0.5, 1.5), None, None, (0.5, 1.5))
            found.append(Sample(s.operands + extra, s.attrs, ranges, s.error, s.rtol))
        return found

    @staticmethod
    def relay_grad(
        grads: Values, operands: Values, results: Values, *, axis: int, epsilon: float, center: bool, scale: bool
    ) -> Gradients:
        def plain(x: Any, gamma: Any, beta: Any, mean: Any, variance: Any) -> Any:
            deviation = r.rsqrt(r.add(variance, epsilon))
            y = r.multiply(r.subtract(x, along_axis(mean, axis, x)), along_axis(deviation, axis, x))
            return scaled_and_moved(y, gamma, beta, axis, center, scale)

        return through(plain, grads, operands)


class _AxesNorm(_Norm):
    """Norms whose mean and variance are those over whole axes."""

    @staticmethod
    @abc.abstractmethod
    def _over(axis: int, rank: int) -> tuple[int, ...]:
        """The axes that mean and variance are taken over, for gamma and beta along `axis`."""

    @classmethod
    def np_ref(cls, *arrays: Any, **attrs: Any) -> Array:
        data, gamma, beta = arrays
        axis = attrs["axis"]
        y = _normalized(data, cls._over(axis, data.ndim), attrs["epsilon"])
        return _affine(y, gamma, beta, axis, attrs["center"], attrs["scale"])

    @classmethod
    def te_compute(
        cls, data: Tensor, gamma: Tensor, beta: Tensor, *, axis: int, epsilon: float, center: bool, scale: bool
    ) -> Tensor:
        channel = normalize_axis(axis, data.ndim)
        axes = [normalize_axis(a, data.ndim) for a in cls._over(axis, data.ndim)]
        mean, deviation = _moments(data, axes, epsilon)

        def element(*i: Index) -> Any:
            c, at = i[channel], tuple(place for n, place in enumerate(i) if n not in axes)
            g, b = gamma[c] if scale else None, beta[c] if center else None
            return _finish(data[i], mean[at], deviation[at], g, b)

        return te.compute(data.shape, element, stage_name(cls))

    @classmethod
    def relay_grad(
        cls, grads: Values, operands: Values, results: Values, *, axis: int, epsilon: float, center: bool, scale: bool
    ) -> Gradients:
        axes = cls._over(axis, rank_of(operands[0]))
        return norm_gradients(grads, operands, axes, axis, epsilon, center, scale)


@irdl_op_definition
class LayerNormOp(_AxesNorm):
    """y = (x - mean) / sqrt(var + epsilon) * gamma + beta; mean and variance over `axis`, gamma and beta along it."""

    name = "relay.nn.layer_norm"
    axis = int_prop(-1)

    @staticmethod
    def infer_type(data: TensorInfo, gamma: TensorInfo, beta: TensorInfo, *, axis: int, **_: Any) -> TensorInfo:
        return _check_vectors(data, axis, gamma=gamma, beta=beta)

    @staticmethod
    def _over(axis: int, rank: int) -> tuple[int, ...]:
        return (axis,)

    @staticmethod
    def samples() -> list[Sample]:
        return _norm_samples(-1, 1)


@irdl_op_definition
class InstanceNormOp(_AxesNorm):
    """As layer_norm, with mean and variance over all axes but the first (batch) and `axis` (channel)."""

    name = "relay.nn.instance_norm"

    @staticmethod
    def infer_type(data: TensorInfo, gamma: TensorInfo, beta: TensorInfo, *, axis: int, **_: Any) -> TensorInfo:
        if len(data.shape) < 3:
            raise TypeMismatch(f"expects a batch, channels and more axes, got {data}")
        return _check_vectors(data, axis, gamma=gamma, beta=beta)

    @staticmethod
    def _over(axis: int, rank: int) -> tuple[int, ...]:
        channel = normalize_axis(axis, rank)
        return tuple(n for n in range(1, rank) if n != channel)

    @staticmethod
    def samples() -> list[Sample]:
        return [*_norm_samples(1, -1), sample((2, 3), (3,), (3,), error="expects a batch, channels and more axes")]


@irdl_op_definition
class GroupNormOp(_Norm):
    """As layer_norm, with mean and variance over each of `num_groups` groups of channels and all later axes."""

    name = "relay.nn.group_norm"
    num_groups = int_prop()

    @staticmethod
    def infer_type(
        data: TensorInfo, gamma: TensorInfo, beta: TensorInfo, *, num_groups: int, axis: int, **_: Any
    ) -> TensorInfo:
        result = _check_vectors(data, axis, gamma=gamma, beta=beta)
        channels = gamma.shape[0]
        if num_groups < 1 or channels % num_groups:
            raise TypeMismatch(f"{num_groups} groups do not divide {channels} channels")
        if normalize_axis(axis, len(data.shape)) == 0:
            raise TypeMismatch("axis 0 is the batch, it holds no channels")
        return result

    @staticmethod
    def np_ref(
        data: NDArray[Any], gamma: NDArray[Any], beta: NDArray[Any],
        *, num_groups: int, axis: int, epsilon: float, center: bool, scale: bool,
    ) -> NDArray[Any]:  # fmt: skip
        moved = np.moveaxis(data, axis, 1)
        grouped = moved.reshape(moved.shape[0], num_groups, -1)
        y = np.moveaxis(_normalized(grouped, (2,), epsilon).reshape(moved.shape), 1, axis)
        return _affine(y, gamma, beta, axis, center, scale)

    @staticmethod
    def te_compute(
        data: Tensor, gamma: Tensor, beta: Tensor,
        *, num_groups: int, axis: int, epsilon: float, center: bool, scale: bool,
    ) -> Tensor:  # fmt: skip
        channel = normalize_axis(axis, data.ndim)
        per_group = data.shape[channel] // num_groups
        # The channel axis as (group, channel in group): a view, which schedules inline.
        split = [*data.shape[:channel], num_groups, per_group, *data.shape[channel + 1 :]]

        def view(*i: Index) -> Any:
            return data[(*i[:channel], i[channel] * per_group + i[channel + 1], *i[channel + 2 :])]

        grouped = te.compute(split, view, "groups")
        mean, deviation = _moments(grouped, [n for n in range(1, len(split)) if n != channel], epsilon)

        def element(*i: Index) -> Any:
            c = i[channel]
            at = (i[0], c // per_group)
            g, b = gamma[c] if scale else None, beta[c] if center else None
            return _finish(data[i], mean[at], deviation[at], g, b)

        return te.compute(data.shape, element, "group_norm")

    @staticmethod
    def samples() -> list[Sample]:
        x = (2, 4, 3)
        return [
            *_norm_samples(1, -1, num_groups=2)[:-3],
            sample((1, 6, 5), (6,), (6,), attrs={"num_groups": 3}),
            sample((1, 6, 5), (6,), (6,), attrs={"num_groups": 6}),
            sample(x, (4,), (4,), attrs={"num_groups": 3}, error="3 groups do not divide 4 channels"),
            sample(x, (2,), (2,), attrs={"num_groups": 1, "axis": 0}, error="axis 0 is the batch"),
        ]

    @staticmethod
    def relay_grad(
        grads: Values,
        operands: Values,
        results: Values,
        *,
        num_groups: int,
        axis: int,
        epsilon: float,
        center: bool,
        scale: bool,
    ) -> Gradients:
        rank = rank_of(operands[0])
        axes = tuple(n for n in range(1, rank + 1) if n != normalize_axis(axis, rank))
        return norm_gradients(grads, operands, axes, axis, epsilon, center, scale, groups=num_groups)


@irdl_op_definition
class L2NormalizeOp(Opaque, precision=Precision.NEVER):
    """y = x / sqrt(max(sum of x*x over `axis`, eps)); an empty list means all axes."""

    name = "relay.nn.l2_normalize"
    data = operand_def()
    eps = float_prop()
    axis = ints_prop(())

    @staticmethod
    def infer_type(data: TensorInfo, *, eps: float, axis: Sequence[int]) -> TensorInfo:
        axes = [normalize_axis(a, len(data.shape)) for a in axis]
        if len(set(axes)) != len(axes):
            raise TypeMismatch(f"axis {list(axis)} names an axis twice")
        return TensorInfo(data.shape, check_dtype(data.dtype, FLOATS))

    @staticmethod
    def np_ref(data: NDArray[Any], *, eps: float, axis: Sequence[int]) -> NDArray[Any]:
        total = np.sum(data * data, axis=tuple(axis) or None, keepdims=True)
        return data / np.sqrt(np.maximum(total, data.dtype.type(eps)))

    @staticmethod
    def te_compute(data: Tensor, *, eps: float, axis: Sequence[int]) -> Tensor:
        axes = [normalize_axis(a, data.ndim) for a in axis] or list(range(data.ndim))
        kept = [n for n in range(data.ndim) if n not in axes]
        loops = {n: te.reduce_axis(data.shape[n], f"k{n}") for n in axes}

        def square(*i: Index) -> Any:
            outer = dict(zip(kept, i, strict=True))
            x = data[tuple(loops[n] if n in loops else outer[n] for n in range(data.ndim))]
            return te.sum(x * x, list(loops.values()))

        total = te.compute([data.shape[n] for n in kept], square, "squares")

        def element(*i: Index) -> Any:
            return data[i] / te.sqrt(te.maximum(total[tuple(i[n] for n in kept)], eps))

        return te.compute(data.shape, element, "l2_normalize")

    @staticmethod
    def samples() -> list[Sample]:
        x = (2, 3, 5)
        return [
            sample(x, attrs={"eps": 1e-12, "axis": [1]}),
            sample(x, attrs={"eps": 1e-12}),
            sample(x, attrs={"eps": 1e-3, "axis": [-1]}),
            sample(x, attrs={"eps": 4.0, "axis": [0, 2]}),
            sample((1,), attrs={"eps": 1e-12, "axis": [0]}),
            sample((1, 17), attrs={"eps": 1e-12, "axis": [1]}),
            sample((x, "float64"), attrs={"eps": 1e-12, "axis": [1]}),
            sample((2, 3), attrs={"eps": 1e-12, "axis": [1]}, ranges=((0.0, 0.0),)),
            sample(x, attrs={"eps": 1e-12, "axis": [3]}, error="axis 3 is out of range for rank 3"),
            sample(x, attrs={"eps": 1e-12, "axis": [1, -2]}, error="names an axis twice"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, eps: float, axis: Sequence[int]) -> Gradients:
        def plain(x: Any) -> Any:
            total = r.sum(r.multiply(x, x), axis=tuple(axis), keepdims=True)
            return r.multiply(x, r.rsqrt(r.maximum(total, eps)))

        return through(plain, grads, operands)

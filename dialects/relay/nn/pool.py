"""Pooling over windows, in any layout with the spatial axes of the op: W, H and W ("NCHW", "NHWC", "NCHW16c") or D, H
and W.

A window's taps outside the data are padding, in ceil mode also beyond the declared one: they never win a maximum and
count in a mean only where `count_include_pad` says so and they lie in the declared padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

from lamina.dialects.dtypes import holding
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import avg_pool_gradient, max_pool_gradient
from lamina.dialects.relay.layout import LayoutChoice, axis_of, extents, parse_layout, plain
from lamina.dialects.relay.window_fields import PoolFields1d, PoolFields2d, PoolFields3d
from lamina.dialects.relay.windows import Window, gather, windows

TAP_NAMES = {"D": "q", "H": "r", "W": "s"}


def image_axes(layout: str, spatial: str) -> tuple[int, ...]:
    """The positions of the spatial axes. Raises TypeMismatch where the layout lacks or splits one."""
    for a in parse_layout(layout):
        if a.letter.upper() in "DHW" and a.letter not in spatial:
            words = "splits a spatial axis" if a.block else f"has an axis {a.letter!r}"
            raise TypeMismatch(f"layout {layout!r} {words}")
    return tuple(axis_of(layout, letter) for letter in spatial)


def keep_layout(layouts: Sequence[str], layout: str) -> LayoutChoice:
    """Pooling touches no channel: it works in the layout that the data arrives in."""
    offered = layouts[0] if layouts and layouts[0] else layout
    kept = offered if plain(offered) == plain(layout) else layout
    return LayoutChoice((kept,), kept, {"layout": kept})


def pool_windows(shape: Sequence[int], spatial: str, attrs: dict[str, Any]) -> tuple[Window, ...]:
    """The window of each spatial axis. Raises TypeMismatch for one that can lie in padding alone."""
    axes = image_axes(attrs["layout"], spatial)
    numbers = (attrs[n] for n in ("pool_size", "strides", "dilation", "padding", "ceil_mode"))
    slides = windows([shape[a] for a in axes], *numbers)
    for w in slides:
        if w.before >= w.reach or w.after >= w.reach:
            raise TypeMismatch(f"padding {max(w.before, w.after)} reaches beyond the window of {w.reach}")
    return slides


def pool_type(data: TensorInfo, spatial: str, attrs: dict[str, Any]) -> TensorInfo:
    """The type of the pooled data."""
    extents(attrs["layout"], data.shape)
    shape = list(data.shape)
    slides = pool_windows(data.shape, spatial, attrs)
    for axis, w in zip(image_axes(attrs["layout"], spatial), slides, strict=True):
        shape[axis] = w.outputs(attrs["ceil_mode"])
    return TensorInfo(tuple(shape), data.dtype)


def padded_for_windows(data: Tensor, spatial: str, attrs: dict[str, Any], fill: Any) -> Tensor:
    """The data with `fill` around it, as far as its windows reach; taps that never lie on the data do not count."""
    before, after = [0] * data.ndim, [0] * data.ndim
    slides = pool_windows(data.shape, spatial, attrs)
    for axis, w in zip(image_axes(attrs["layout"], spatial), slides, strict=True):
        before[axis] = w.before
        # In ceil mode the last window may stick out beyond the declared padding.
        last = (w.outputs(attrs["ceil_mode"]) - 1) * w.stride
        after[axis] = greatest(0, last + w.on_data().reach - w.before - w.extent)
    return te.pad(data, before, after, fill)


def _pool_stage(data: Tensor, spatial: str, attrs: dict[str, Any], fill: Any, reducer: Any, name: str) -> Tensor:
    """`reducer` over the taps of each window of the padded data."""
    axes, slides = image_axes(attrs["layout"], spatial), pool_windows(data.shape, spatial, attrs)
    shape = list(data.shape)
    for axis, w in zip(axes, slides, strict=True):
        shape[axis] = w.outputs(attrs["ceil_mode"])
    padded = padded_for_windows(data, spatial, attrs, fill)
    taps = [te.reduce_axis(w.on_data().size, TAP_NAMES[n]) for w, n in zip(slides, spatial, strict=True)]

    def element(*i: Index) -> Any:
        at: list[Any] = list(i)
        for axis, w, tap in zip(axes, slides, taps, strict=True):
            at[axis] = i[axis] * w.stride + tap * w.dilation
        return reducer(padded[tuple(at)], taps)

    return te.compute(shape, element, name)


def lowest(dtype: str) -> float | int:
    """The neutral element of max."""
    if is_float(dtype):
        return float("-inf")
    return 0 if is_unsigned(dtype) else -(1 << (8 * itemsize(dtype) - 1))


class _Pool(OutFusable, layouts=("layout",), dtypes=NUMBERS):
    """The facets of pooling windows over the spatial axes SPATIAL."""

    SPATIAL: ClassVar[str]

    data = operand_def()

    @classmethod
    def infer_type(cls, data: TensorInfo, **attrs: Any) -> TensorInfo:
        check_dtype(data.dtype, cls.DTYPES)
        return pool_type(data, cls.SPATIAL, attrs)

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return keep_layout(layouts, attrs["layout"])


class _MaxPool(_Pool, precision=Precision.FOLLOW):
    """The maximum of each window."""

    @classmethod
    def np_ref(cls, data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = image_axes(attrs["layout"], cls.SPATIAL), pool_windows(data.shape, cls.SPATIAL, attrs)
        outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
        taps = tuple(range(-len(axes), 0))
        return gather(data, axes, slides, outs, lowest(data.dtype.name)).max(axis=taps)

    @classmethod
    def te_compute(cls, data: Tensor, **attrs: Any) -> Tensor:
        return _pool_stage(data, cls.SPATIAL, attrs, lowest(data.dtype), te.max, stage_name(cls))

    @classmethod
    def relay_grad(cls, grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return [max_pool_gradient(grads[0], operands[0], cls.SPATIAL, attrs)]


class _AvgPool(_Pool, precision=Precision.FOLLOW):
    """The mean of each window; of integers it is truncated, and their sum wraps in their own type."""

    count_include_pad = bool_prop(False)

    @classmethod
    def np_ref(cls, data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = image_axes(attrs["layout"], cls.SPATIAL), pool_windows(data.shape, cls.SPATIAL, attrs)
        outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
        taps = tuple(range(-len(axes), 0))
        total = gather(data, axes, slides, outs, 0).sum(axis=taps)
        # Counted by pooling an image of ones, whose padding counts as ones when it is included.
        counted = np.ones([s if n in axes else 1 for n, s in enumerate(data.shape)], data.dtype)
        if attrs["count_include_pad"]:
            widths = [(0, 0)] * data.ndim
            for axis, w in zip(axes, slides, strict=True):
                widths[axis] = (w.before, w.after)
            counted = np.pad(counted, widths, constant_values=1)
            slides = tuple(w._replace(extent=w.padded, before=0, after=0) for w in slides)
        count = gather(counted, axes, slides, outs, 0).sum(axis=taps)
        if data.dtype.kind in "iu":
            return np.trunc(total.astype(data.dtype).astype(np.float64) / count).astype(data.dtype)
        return total / count

    @classmethod
    def te_compute(cls, data: Tensor, **attrs: Any) -> Tensor:
        axes, slides = image_axes(attrs["layout"], cls.SPATIAL), pool_windows(data.shape, cls.SPATIAL, attrs)
        whole = not is_float(data.dtype)
        total = _pool_stage(data, cls.SPATIAL, attrs, 0, te.sum, "window_sum")
        include = attrs["count_include_pad"]
        # A count may be larger than what it divides can be.
        counted = holding(data.dtype, prod(w.size for w in slides)) if whole else data.dtype
        constant = 1
        varying: list[tuple[int, Window]] = []
        for axis, w, out in zip(axes, slides, [total.shape[a] for a in axes], strict=True):
            sticks_out = (out - 1) * w.stride + w.reach > w.padded
            if sticks_out or (not include and (w.before or w.after)):
                varying.append((axis, w))
            else:
                constant *= w.size

        def element(*i: Index) -> Any:
            count: Scalar | None = None
            for axis, w in varying:
                taps = te.cast(taps_inside(i[axis], w, include), counted)
                count = taps if count is None else count * taps
            if whole:
                divisor = constant if count is None else count * constant
                return te.cast(te.truncdiv(te.cast(total[i], counted), divisor), data.dtype)
            if count is None:
                return total[i] * (1.0 / constant)
            return total[i] / (count * float(constant) if constant > 1 else count)

        return te.compute(total.shape, element, stage_name(cls))

    @classmethod
    def relay_grad(cls, grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return [avg_pool_gradient(grads[0], operands[0], cls.SPATIAL, attrs)]


def taps_inside(out: Index, w: Window, include: bool) -> Scalar:
    """The number of taps of a window in the image (or in its declared padding): both ends are floor divisions."""
    last = w.padded if include else w.before + w.extent
    high = te.minimum(te.cast((last - out * w.stride + (w.dilation - 1)) // w.dilation, "int64"), w.size)
    if include or not w.before:
        return high
    low = te.maximum(te.cast((w.before - out * w.stride + (w.dilation - 1)) // w.dilation, "int64"), 0)
    return high - low


def _pool_samples(**extra: Any) -> list[Sample]:
    x = (1, 3, 7, 6)
    return [
        sample(x, attrs={"pool_size": [2, 2], **extra}),
        sample(x, attrs={"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1, 1, 1], **extra}),
        sample(x, attrs={"pool_size": [3, 2], "strides": [2, 3], "padding": [0, 1, 2, 0], **extra}),
        sample(x, attrs={"pool_size": [3, 3], "strides": [2, 2], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [2, 2], "strides": [3, 3], "padding": [0, 0, 1, 1], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [9, 8], "strides": [9, 4], "ceil_mode": True, **extra}),
        sample(
            x, attrs={"pool_size": [12, 3], "strides": [12, 2], "padding": [1, 1, 2, 0], "ceil_mode": True, **extra}
        ),
        sample(x, attrs={"pool_size": [3, 2], "dilation": [2, 3], "padding": [1, 1], **extra}),
        sample((2, 5, 4, 3), attrs={"pool_size": [2, 2], "layout": "NHWC", **extra}),
        sample((1, 2, 5, 5, 16), attrs={"pool_size": [3, 3], "padding": [1, 1], "layout": "NCHW16c", **extra}),
        sample((1, 1, 1, 1), attrs={"pool_size": [1, 1], **extra}),
        sample(((1, 2, 5, 5), "float64"), attrs={"pool_size": [5, 5], **extra}),
        sample(x, attrs={"pool_size": [8, 2]}, error="kernel of 8 does not fit into the padded input of 7"),
        sample(
            x,
            attrs={"pool_size": [9, 2], "strides": [2, 1], "ceil_mode": True},
            error="kernel of 9 does not fit into the padded input of 7",
        ),
        sample(x, attrs={"pool_size": [2, 2], "strides": [0, 1]}, error="stride 0 is out of range"),
        sample(x, attrs={"pool_size": [2, 2], "padding": [2, 0]}, error="padding 2 reaches beyond the window of 2"),
        sample((3, 7, 6), attrs={"pool_size": [2, 2]}, error="layout 'NCHW' has 4 axes, the tensor rank 3"),
    ]


@irdl_op_definition
class MaxPool2dOp(_MaxPool, PoolFields2d):
    """The maximum of each window; padding never wins. A NaN in a window gives NaN."""

    name = "relay.nn.max_pool2d"

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *_pool_samples(),
            sample(((1, 2, 4, 4), "int8"), attrs={"pool_size": [3, 3], "padding": [1, 1]}),
            sample(((1, 2, 4, 4), "uint8"), attrs={"pool_size": [3, 3], "padding": [1, 1]}),
            sample((1, 2, 4, 4), attrs={"pool_size": [2], "layout": "NCW"}, error="layout 'NCW' has 3 axes"),
        ]


@irdl_op_definition
class AvgPool2dOp(_AvgPool, PoolFields2d):
    """The mean of each window: of the taps inside the image, or with `count_include_pad` inside its padding too."""

    name = "relay.nn.avg_pool2d"

    @staticmethod
    def samples() -> list[Sample]:
        x = (1, 2, 5, 6)
        return [
            *_pool_samples(),
            *[s for s in _pool_samples(count_include_pad=True) if s.error is None],
            sample((x, "int32"), attrs={"pool_size": [3, 2], "padding": [1, 1]}, ranges=((-100.0, 100.0),)),
            sample((x, "uint8"), attrs={"pool_size": [2, 2]}),
            sample(((1, 2, 16, 15), "int8"), attrs={"pool_size": [14, 14]}),
            sample(((1, 2, 16, 15), "int8"), attrs={"pool_size": [14, 13], "padding": [1, 1]}),
            sample(((1, 1, 18, 18), "uint8"), attrs={"pool_size": [18, 16]}),
            sample((x, "bool"), attrs={"pool_size": [2, 2]}, error="got bool"),
        ]


def _line_samples(**extra: Any) -> list[Sample]:
    x = (2, 3, 9)
    return [
        sample(x, attrs={"pool_size": [2], **extra}),
        sample(x, attrs={"pool_size": [3], "strides": [2], "padding": [1], **extra}),
        sample(x, attrs={"pool_size": [3], "strides": [3], "padding": [0, 2], **extra}),
        sample(x, attrs={"pool_size": [2], "strides": [4], "ceil_mode": True, "padding": [1, 0], **extra}),
        sample(x, attrs={"pool_size": [16], "strides": [20], "ceil_mode": True, "padding": [1, 3], **extra}),
        sample(x, attrs={"pool_size": [3], "dilation": [3], "padding": [2, 1], **extra}),
        sample((1, 7, 3), attrs={"pool_size": [4], "layout": "NWC", **extra}),
        sample((1, 2, 5, 8), attrs={"pool_size": [3], "layout": "NCW8c", **extra}),
        sample((1, 1, 1), attrs={"pool_size": [1], **extra}),
        sample(((1, 2, 33), "float64"), attrs={"pool_size": [5], "strides": [2], **extra}),
        sample(((1, 2, 7), "int32"), attrs={"pool_size": [3], "padding": [2], **extra}),
        sample(x, attrs={"pool_size": [10]}, error="kernel of 10 does not fit into the padded input of 9"),
        sample((1, 3, 9, 2), attrs={"pool_size": [2]}, error="layout 'NCW' has 3 axes, the tensor rank 4"),
        sample(x, attrs={"pool_size": [2], "layout": "NCH"}, error="layout 'NCH' has an axis 'H'"),
    ]


def _volume_samples(**extra: Any) -> list[Sample]:
    x = (1, 2, 4, 5, 6)
    return [
        sample(x, attrs={"pool_size": [2, 2, 2], **extra}),
        sample(x, attrs={"pool_size": [3, 2, 3], "strides": [2, 2, 1], "padding": [1, 0, 1], **extra}),
        sample(x, attrs={"pool_size": [2, 3, 3], "strides": [3, 2, 2], "padding": [0, 1, 2, 1, 0, 0], **extra}),
        sample(x, attrs={"pool_size": [3, 3, 3], "strides": [2, 3, 2], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [7, 2, 8], "strides": [7, 2, 8], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [2, 2, 2], "dilation": [2, 1, 3], **extra}),
        sample((1, 3, 4, 4, 5), attrs={"pool_size": [2], "layout": "NDHWC", **extra}),
        sample((1, 2, 3, 3, 3, 8), attrs={"pool_size": [3, 2, 1], "layout": "NCDHW8c", **extra}),
        sample((1, 1, 1, 1, 1), attrs={"pool_size": [1, 1, 1], **extra}),
        sample(((1, 1, 3, 2, 17), "float64"), attrs={"pool_size": [2, 1, 3], **extra}),
        sample(((1, 2, 3, 3, 3), "int32"), attrs={"pool_size": [2, 2, 2], "padding": [1, 1, 1], **extra}),
        sample(x, attrs={"pool_size": [2, 2]}, error="kernel size has 2 numbers, expects 3"),
        sample(x, attrs={"pool_size": [2, 2, 2], "strides": [1, 0, 1]}, error="stride 0 is out of range"),
    ]


@irdl_op_definition
class MaxPool1dOp(_MaxPool, PoolFields1d):
    """The maximum of each window; padding never wins. A NaN in a window gives NaN."""

    name = "relay.nn.max_pool1d"

    @staticmethod
    def samples() -> list[Sample]:
        return _line_samples()


@irdl_op_definition
class AvgPool1dOp(_AvgPool, PoolFields1d):
    """The mean of each window: of the taps inside the data, or with `count_include_pad` inside its padding too."""

    name = "relay.nn.avg_pool1d"

    @staticmethod
    def samples() -> list[Sample]:
        return [*_line_samples(), *[s for s in _line_samples(count_include_pad=True) if s.error is None]]


@irdl_op_definition
class MaxPool3dOp(_MaxPool, PoolFields3d):
    """The maximum of each window; padding never wins. A NaN in a window gives NaN."""

    name = "relay.nn.max_pool3d"

    @staticmethod
    def samples() -> list[Sample]:
        return _volume_samples()


@irdl_op_definition
class AvgPool3dOp(_AvgPool, PoolFields3d):
    """The mean of each window: of the taps inside the data, or with `count_include_pad` inside its padding too."""

    name = "relay.nn.avg_pool3d"

    @staticmethod
    def samples() -> list[Sample]:
        return [*_volume_samples(), *[s for s in _volume_samples(count_include_pad=True) if s.error is None]]

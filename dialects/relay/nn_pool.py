"""Pooling over windows of an image, in any layout with axes H and W ("NCHW", "NHWC", "NCHW16c")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.irdl import irdl_op_definition, operand_def, result_def

from lamina.dialects.dtypes import is_float, is_unsigned, itemsize
from lamina.dialects.lazy import np, te
from lamina.dialects.relay.base import OpPattern, RelayOp, Sample, TensorInfo, TypeMismatch, sample
from lamina.dialects.relay.families import FLOATS, NUMBERS, bool_prop, check_dtype, ints_prop, str_prop
from lamina.dialects.relay.layout import LayoutChoice, axis_of, extents, parse_layout, plain
from lamina.dialects.relay.windows import Window, gather, per_axis, windows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.te.build import Index, Scalar, Tensor


def _image_axes(layout: str) -> tuple[int, int]:
    if len([a for a in parse_layout(layout) if a.letter in "hw"]):
        raise TypeMismatch(f"layout {layout!r} splits a spatial axis")
    return axis_of(layout, "H"), axis_of(layout, "W")


def _keep_layout(layouts: Sequence[str], layout: str) -> LayoutChoice:
    """Pooling touches no channel: it works in the layout that the data arrives in."""
    offered = layouts[0] if layouts and layouts[0] else layout
    kept = offered if plain(offered) == plain(layout) else layout
    return LayoutChoice((kept,), kept, {"layout": kept})


def _slides(shape: Sequence[int], attrs: dict[str, Any]) -> tuple[Window, ...]:
    axes = _image_axes(attrs["layout"])
    slides = windows(
        [shape[a] for a in axes], attrs["pool_size"], attrs["strides"], attrs["dilation"], attrs["padding"]
    )
    for w in slides:
        if w.before >= w.reach or w.after >= w.reach:
            raise TypeMismatch(f"padding {max(w.before, w.after)} reaches beyond the window of {w.reach}")
    return slides


def _pool_type(data: TensorInfo, attrs: dict[str, Any]) -> TensorInfo:
    extents(attrs["layout"], data.shape)
    shape = list(data.shape)
    for axis, w in zip(_image_axes(attrs["layout"]), _slides(data.shape, attrs), strict=True):
        shape[axis] = w.outputs(attrs["ceil_mode"])
    return TensorInfo(tuple(shape), data.dtype)


def _pool_stage(data: Tensor, attrs: dict[str, Any], fill: Any, reducer: Any, name: str) -> Tensor:
    """`reducer` over the taps of each window of the padded data."""
    axes, slides = _image_axes(attrs["layout"]), _slides(data.shape, attrs)
    outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
    before, after, shape = [0] * data.ndim, [0] * data.ndim, list(data.shape)
    for axis, w, out in zip(axes, slides, outs, strict=True):
        before[axis] = w.before
        # In ceil mode the last window may stick out beyond the declared padding.
        after[axis] = max(0, (out - 1) * w.stride + w.reach - w.before - w.extent)
        shape[axis] = out
    padded = te.pad(data, before, after, fill)
    taps = [te.reduce_axis(w.size, n) for w, n in zip(slides, "rs", strict=True)]

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


class _Pool2d(RelayOp):
    """The fields that pooling windows have, with TVM's names."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OUT_ELEMWISE_FUSABLE
    DTYPES: ClassVar[tuple[str, ...]] = NUMBERS

    @classmethod
    def infer_type(cls, data: TensorInfo, **attrs: Any) -> TensorInfo:
        check_dtype(data.dtype, cls.DTYPES)
        return _pool_type(data, attrs)

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return _keep_layout(layouts, attrs["layout"])


def _pool_samples(**extra: Any) -> list[Sample]:
    x = (1, 3, 7, 6)
    return [
        sample(x, attrs={"pool_size": [2, 2], **extra}),
        sample(x, attrs={"pool_size": [3, 3], "strides": [2, 2], "padding": [1, 1, 1, 1], **extra}),
        sample(x, attrs={"pool_size": [3, 2], "strides": [2, 3], "padding": [0, 1, 2, 0], **extra}),
        sample(x, attrs={"pool_size": [3, 3], "strides": [2, 2], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [2, 2], "strides": [3, 3], "padding": [0, 0, 1, 1], "ceil_mode": True, **extra}),
        sample(x, attrs={"pool_size": [3, 2], "dilation": [2, 3], "padding": [1, 1], **extra}),
        sample((2, 5, 4, 3), attrs={"pool_size": [2, 2], "layout": "NHWC", **extra}),
        sample((1, 2, 5, 5, 16), attrs={"pool_size": [3, 3], "padding": [1, 1], "layout": "NCHW16c", **extra}),
        sample((1, 1, 1, 1), attrs={"pool_size": [1, 1], **extra}),
        sample(((1, 2, 5, 5), "float64"), attrs={"pool_size": [5, 5], **extra}),
        sample(x, attrs={"pool_size": [8, 2]}, error="kernel of 8 does not fit into the padded input of 7"),
        sample(x, attrs={"pool_size": [2, 2], "strides": [0, 1]}, error="stride 0 is out of range"),
        sample(x, attrs={"pool_size": [2, 2], "padding": [2, 0]}, error="padding 2 reaches beyond the window of 2"),
        sample((3, 7, 6), attrs={"pool_size": [2, 2]}, error="layout 'NCHW' has 4 axes, the tensor rank 3"),
    ]


@irdl_op_definition
class MaxPool2dOp(_Pool2d):
    """The maximum of each window; padding never wins. A NaN in a window gives NaN."""

    name = "relay.nn.max_pool2d"
    data = operand_def()
    result = result_def()
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0))
    layout = str_prop("NCHW")
    ceil_mode = bool_prop(False)

    @staticmethod
    def np_ref(data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = _image_axes(attrs["layout"]), _slides(data.shape, attrs)
        outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
        return gather(data, axes, slides, outs, lowest(data.dtype.name)).max(axis=(-2, -1))

    @staticmethod
    def te_compute(data: Tensor, **attrs: Any) -> Tensor:
        return _pool_stage(data, attrs, lowest(data.dtype), te.max, "max_pool2d")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *_pool_samples(),
            sample(((1, 2, 4, 4), "int8"), attrs={"pool_size": [3, 3], "padding": [1, 1]}),
            sample(((1, 2, 4, 4), "uint8"), attrs={"pool_size": [3, 3], "padding": [1, 1]}),
        ]


@irdl_op_definition
class AvgPool2dOp(_Pool2d):
    """The mean of each window: of the taps inside the image, or with `count_include_pad` inside its padding too."""

    DTYPES: ClassVar[tuple[str, ...]] = FLOATS

    name = "relay.nn.avg_pool2d"
    data = operand_def()
    result = result_def()
    pool_size = ints_prop()
    strides = ints_prop((1, 1))
    dilation = ints_prop((1, 1))
    padding = ints_prop((0, 0))
    layout = str_prop("NCHW")
    ceil_mode = bool_prop(False)
    count_include_pad = bool_prop(False)

    @staticmethod
    def np_ref(data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = _image_axes(attrs["layout"]), _slides(data.shape, attrs)
        outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
        total = gather(data, axes, slides, outs, 0).sum(axis=(-2, -1))
        # Counted by pooling an image of ones, whose padding counts as ones when it is included.
        counted = np.ones([s if n in axes else 1 for n, s in enumerate(data.shape)], data.dtype)
        if attrs["count_include_pad"]:
            widths = [(0, 0)] * data.ndim
            for axis, w in zip(axes, slides, strict=True):
                widths[axis] = (w.before, w.after)
            counted = np.pad(counted, widths, constant_values=1)
            slides = tuple(w._replace(extent=w.padded, before=0, after=0) for w in slides)
        return total / gather(counted, axes, slides, outs, 0).sum(axis=(-2, -1))

    @staticmethod
    def te_compute(data: Tensor, **attrs: Any) -> Tensor:
        axes, slides = _image_axes(attrs["layout"]), _slides(data.shape, attrs)
        total = _pool_stage(data, attrs, 0.0, te.sum, "window_sum")
        include = attrs["count_include_pad"]
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
                taps = te.cast(_taps_inside(i[axis], w, include), data.dtype)
                count = taps if count is None else count * taps
            if count is None:
                return total[i] * (1.0 / constant)
            return total[i] / (count * float(constant) if constant > 1 else count)

        return te.compute(total.shape, element, "avg_pool2d")

    @staticmethod
    def samples() -> list[Sample]:
        x = (1, 2, 5, 6)
        return [
            *_pool_samples(),
            *[s for s in _pool_samples(count_include_pad=True) if s.error is None],
            sample((x, "int32"), attrs={"pool_size": [2, 2]}, error="got int32"),
        ]


def _taps_inside(out: Index, w: Window, include: bool) -> Scalar:
    """How many taps of a window lie in the image (or in its declared padding): both ends are floor divisions."""
    last = w.padded if include else w.before + w.extent
    high = te.minimum(te.cast((last - out * w.stride + (w.dilation - 1)) // w.dilation, "int64"), w.size)
    if include or not w.before:
        return high
    low = te.maximum(te.cast((w.before - out * w.stride + (w.dilation - 1)) // w.dilation, "int64"), 0)
    return high - low


# -- global and adaptive ---------------------------------------------------------------------------


class _Global(RelayOp):
    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OUT_ELEMWISE_FUSABLE
    DTYPES: ClassVar[tuple[str, ...]] = NUMBERS

    @classmethod
    def infer_type(cls, data: TensorInfo, *, layout: str) -> TensorInfo:
        check_dtype(data.dtype, cls.DTYPES)
        extents(layout, data.shape)
        axes = _image_axes(layout)
        if 0 in [data.shape[a] for a in axes]:
            raise TypeMismatch("pools an image without elements")
        return TensorInfo(tuple(1 if n in axes else e for n, e in enumerate(data.shape)), data.dtype)

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return _keep_layout(layouts, attrs["layout"])

    @classmethod
    def samples(cls) -> list[Sample]:
        return [
            sample((1, 3, 7, 7)),
            sample((2, 4, 1, 5)),
            sample((1, 1, 1, 1)),
            sample((1, 5, 3, 4), attrs={"layout": "NHWC"}),
            sample((1, 2, 5, 3, 16), attrs={"layout": "NCHW16c"}),
            sample(((2, 3, 4, 5), "float64")),
            sample((3, 1, 9, 1)),
            sample((1, 17, 2, 2)),
            sample((1, 3, 7), error="layout 'NCHW' has 4 axes, the tensor rank 3"),
            sample((1, 3, 0, 7), error="pools an image without elements"),
        ]


def _over_image(data: Tensor, layout: str, reducer: Any, name: str) -> Tensor:
    axes = _image_axes(layout)
    taps = {a: te.reduce_axis(data.shape[a], n) for a, n in zip(axes, "rs", strict=True)}
    shape = [1 if n in axes else e for n, e in enumerate(data.shape)]

    def element(*i: Index) -> Any:
        return reducer(data[tuple(taps.get(n, p) for n, p in enumerate(i))], list(taps.values()))

    return te.compute(shape, element, name)


@irdl_op_definition
class GlobalAvgPool2dOp(_Global):
    """The mean over the image of each channel: [N, C, H, W] -> [N, C, 1, 1]."""

    DTYPES: ClassVar[tuple[str, ...]] = FLOATS

    name = "relay.nn.global_avg_pool2d"
    data = operand_def()
    result = result_def()
    layout = str_prop("NCHW")

    @staticmethod
    def np_ref(data: NDArray[Any], *, layout: str) -> NDArray[Any]:
        return np.mean(data, axis=_image_axes(layout), keepdims=True, dtype=data.dtype)

    @staticmethod
    def te_compute(data: Tensor, *, layout: str) -> Tensor:
        total = _over_image(data, layout, te.sum, "image_sum")
        h, w = _image_axes(layout)
        count = data.shape[h] * data.shape[w]
        return te.compute(total.shape, lambda *i: total[i] * (1.0 / count), "global_avg_pool2d")


@irdl_op_definition
class GlobalMaxPool2dOp(_Global):
    """The maximum over the image of each channel: [N, C, H, W] -> [N, C, 1, 1]."""

    name = "relay.nn.global_max_pool2d"
    data = operand_def()
    result = result_def()
    layout = str_prop("NCHW")

    @staticmethod
    def np_ref(data: NDArray[Any], *, layout: str) -> NDArray[Any]:
        return np.max(data, axis=_image_axes(layout), keepdims=True)

    @staticmethod
    def te_compute(data: Tensor, *, layout: str) -> Tensor:
        return _over_image(data, layout, te.max, "global_max_pool2d")


@irdl_op_definition
class AdaptiveAvgPool2dOp(RelayOp):
    """The mean of `output_size` regions that cover the image: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the image's, one number stands for both axes."""

    FUSION_KIND: ClassVar[OpPattern] = OpPattern.OUT_ELEMWISE_FUSABLE

    name = "relay.nn.adaptive_avg_pool2d"
    data = operand_def()
    result = result_def()
    output_size = ints_prop(())
    layout = str_prop("NCHW")

    @staticmethod
    def infer_type(data: TensorInfo, *, output_size: Sequence[int], layout: str) -> TensorInfo:
        check_dtype(data.dtype, FLOATS)
        extents(layout, data.shape)
        shape = list(data.shape)
        axes = _image_axes(layout)
        if output_size:
            for axis, size in zip(axes, per_axis(output_size, 2, "output size"), strict=True):
                shape[axis] = size
        if 0 in [data.shape[a] for a in axes]:
            raise TypeMismatch("pools an image without elements")
        return TensorInfo(tuple(shape), data.dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], *, output_size: Sequence[int], layout: str) -> NDArray[Any]:
        y = data
        for axis, size in zip(_image_axes(layout), _sizes(data.shape, output_size, layout), strict=True):
            extent = data.shape[axis]
            bounds = [(o * extent // size, -(-(o + 1) * extent // size)) for o in range(size)]
            parts = [np.take(y, range(low, high), axis).mean(axis, keepdims=True) for low, high in bounds]
            y = np.concatenate(parts, axis)
        return y

    @staticmethod
    def te_compute(data: Tensor, *, output_size: Sequence[int], layout: str) -> Tensor:
        axes = _image_axes(layout)
        sizes = _sizes(data.shape, output_size, layout)
        shape = list(data.shape)
        loops: list[Any] = []
        for axis, size, n in zip(axes, sizes, "rs", strict=True):
            extent = data.shape[axis]
            shape[axis] = size
            widest = max(-(-(o + 1) * extent // size) - o * extent // size for o in range(size))
            loops.append(te.reduce_axis(widest, n))

        def region(o: Index, extent: int, size: int) -> tuple[Index, Index]:
            return o * extent // size, ((o + 1) * extent + (size - 1)) // size

        def total(*i: Index) -> Any:
            at: list[Any] = list(i)
            inside: list[Any] = []
            for axis, size, tap in zip(axes, sizes, loops, strict=True):
                low, high = region(i[axis], data.shape[axis], size)
                at[axis] = low + tap
                inside.append(low + tap < high)
            return te.sum(te.if_then_else(te.all(*inside), data[tuple(at)], 0.0), loops)

        summed = te.compute(shape, total, "region_sum")

        def mean(*i: Index) -> Any:
            value = summed[i]
            for axis, size in zip(axes, sizes, strict=True):
                low, high = region(i[axis], data.shape[axis], size)
                value = value / te.cast(high - low, data.dtype)
            return value

        return te.compute(shape, mean, "adaptive_avg_pool2d")

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return _keep_layout(layouts, attrs["layout"])

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((1, 3, 7, 7)),
            sample((1, 3, 7, 7), attrs={"output_size": [1]}),
            sample((1, 3, 7, 5), attrs={"output_size": [3, 2]}),
            sample((2, 2, 3, 4), attrs={"output_size": [5, 7]}),
            sample((1, 6, 4, 3), attrs={"output_size": [2, 2], "layout": "NHWC"}),
            sample((1, 2, 5, 3, 16), attrs={"output_size": [2, 3], "layout": "NCHW16c"}),
            sample((1, 1, 1, 1), attrs={"output_size": [1, 1]}),
            sample(((1, 2, 9, 8), "float64"), attrs={"output_size": [4, 3]}),
            sample((1, 3, 7, 7), attrs={"output_size": [0, 1]}, error="output size 0 is out of range"),
        ]


def _sizes(shape: Sequence[int], output_size: Sequence[int], layout: str) -> tuple[int, ...]:
    return per_axis(output_size, 2, "output size") if output_size else tuple(shape[a] for a in _image_axes(layout))

"""Pooling over all of an image, and over regions that adapt to it so that the result has the size that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import adaptive_avg_gradient, adaptive_max_gradients
from lamina.dialects.relay.layout import LayoutChoice, extents
from lamina.dialects.relay.nn.pool import TAP_NAMES, image_axes, keep_layout, lowest
from lamina.dialects.relay.windows import per_axis


class _Global(OutFusable, layouts=("layout",), dtypes=NUMBERS):
    data = operand_def()
    layout = str_prop("NCHW")

    @classmethod
    def infer_type(cls, data: TensorInfo, *, layout: str) -> TensorInfo:
        check_dtype(data.dtype, cls.DTYPES)
        extents(layout, data.shape)
        axes = image_axes(layout, "HW")
        if 0 in [data.shape[a] for a in axes]:
            raise TypeMismatch("pools an image without elements")
        return TensorInfo(tuple(1 if n in axes else e for n, e in enumerate(data.shape)), data.dtype)

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return keep_layout(layouts, attrs["layout"])

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
    axes = image_axes(layout, "HW")
    taps = {a: te.reduce_axis(data.shape[a], n) for a, n in zip(axes, "rs", strict=True)}
    shape = [1 if n in axes else e for n, e in enumerate(data.shape)]

    def element(*i: Index) -> Any:
        return reducer(data[tuple(taps.get(n, p) for n, p in enumerate(i))], list(taps.values()))

    return te.compute(shape, element, name)


@irdl_op_definition
class GlobalAvgPool2dOp(_Global, precision=Precision.NEVER, dtypes=FLOATS):
    """The mean over the image of each channel: [N, C, H, W] -> [N, C, 1, 1]."""

    name = "relay.nn.global_avg_pool2d"

    @staticmethod
    def np_ref(data: NDArray[Any], *, layout: str) -> NDArray[Any]:
        return np.mean(data, axis=image_axes(layout, "HW"), keepdims=True, dtype=data.dtype)

    @staticmethod
    def te_compute(data: Tensor, *, layout: str) -> Tensor:
        total = _over_image(data, layout, te.sum, "image_sum")
        h, w = image_axes(layout, "HW")
        sides = data.shape[h], data.shape[w]

        def element(*i: Index) -> Any:
            if any(map(is_symbolic, sides)):
                # The product of two quotients is no extent.
                return total[i] / (te.const(sides[0], data.dtype) * te.const(sides[1], data.dtype))
            return total[i] * (1.0 / (sides[0] * sides[1]))

        return te.compute(total.shape, element, "global_avg_pool2d")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, layout: str) -> Gradients:
        h, w = image_axes(layout, "HW")

        def plain(x: Any) -> Any:
            return r.mean(x, axis=(h, w), keepdims=True)

        return through(plain, grads, operands)


@irdl_op_definition
class GlobalMaxPool2dOp(_Global, precision=Precision.FOLLOW):
    """The maximum over the image of each channel: [N, C, H, W] -> [N, C, 1, 1]."""

    name = "relay.nn.global_max_pool2d"

    @staticmethod
    def np_ref(data: NDArray[Any], *, layout: str) -> NDArray[Any]:
        return np.max(data, axis=image_axes(layout, "HW"), keepdims=True)

    @staticmethod
    def te_compute(data: Tensor, *, layout: str) -> Tensor:
        return _over_image(data, layout, te.max, "global_max_pool2d")

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, layout: str) -> Gradients:
        h, w = image_axes(layout, "HW")

        def plain(x: Any) -> Any:
            return r.max(x, axis=(h, w), keepdims=True)

        return through(plain, grads, operands)


class _Adaptive(OutFusable, layouts=("layout",), dtypes=NUMBERS):
    """Regions that cover the data in SPATIAL: region o of n over extent E is [floor(o*E/n), ceil((o+1)*E/n))."""

    SPATIAL: ClassVar[str]

    data = operand_def()
    output_size = ints_prop(())

    @classmethod
    def infer_type(cls, data: TensorInfo, *, output_size: Sequence[int], layout: str) -> TensorInfo:
        check_dtype(data.dtype, cls.DTYPES)
        extents(layout, data.shape)
        shape = list(data.shape)
        axes = image_axes(layout, cls.SPATIAL)
        for axis, size in zip(axes, cls.sizes(data.shape, output_size, layout), strict=True):
            shape[axis] = size
        if 0 in [data.shape[a] for a in axes]:
            raise TypeMismatch("pools an image without elements")
        return TensorInfo(tuple(shape), data.dtype)

    @classmethod
    def sizes(cls, shape: Sequence[int], output_size: Sequence[int], layout: str) -> tuple[int, ...]:
        """The spatial extents of the result: those of the data where none are asked for."""
        if output_size:
            return per_axis(output_size, len(cls.SPATIAL), "output size")
        return tuple(shape[a] for a in image_axes(layout, cls.SPATIAL))

    @classmethod
    def pooled(cls, data: NDArray[Any], output_size: Sequence[int], layout: str, reduce: Any) -> NDArray[Any]:
        """Numpy reference: the regions of one axis after the other."""
        y = data
        sizes = cls.sizes(data.shape, output_size, layout)
        for axis, size in zip(image_axes(layout, cls.SPATIAL), sizes, strict=True):
            extent = data.shape[axis]
            bounds = [(o * extent // size, -(-(o + 1) * extent // size)) for o in range(size)]
            parts = [reduce(np.take(y, range(low, high), axis), axis=axis, keepdims=True) for low, high in bounds]
            y = np.concatenate(parts, axis)
        return y

    @classmethod
    def region_stage(
        cls, data: Tensor, output_size: Sequence[int], layout: str, neutral: Any, reducer: Any, name: str
    ) -> Tensor:
        """`reducer` over each region; loops are as long as the widest one."""
        axes, sizes = image_axes(layout, cls.SPATIAL), cls.sizes(data.shape, output_size, layout)
        shape = list(data.shape)
        loops: list[Any] = []
        for letter, axis, size in zip(cls.SPATIAL, axes, sizes, strict=True):
            extent = data.shape[axis]
            shape[axis] = size
            widest = max(-(-(o + 1) * extent // size) - o * extent // size for o in range(size))
            loops.append(te.reduce_axis(widest, TAP_NAMES[letter]))

        def element(*i: Index) -> Any:
            at: list[Any] = list(i)
            inside: list[Any] = []
            for axis, size, tap in zip(axes, sizes, loops, strict=True):
                low, high = _region(i[axis], data.shape[axis], size)
                at[axis] = low + tap
                inside.append(low + tap < high)
            return reducer(te.if_then_else(te.all(*inside), data[tuple(at)], neutral), loops)

        return te.compute(shape, element, name)

    @staticmethod
    def infer_layout(layouts: Sequence[str], types: Sequence[TensorInfo] = (), **attrs: Any) -> LayoutChoice:
        return keep_layout(layouts, attrs["layout"])


def _region(o: Index, extent: int, size: int) -> tuple[Index, Index]:
    return o * extent // size, ((o + 1) * extent + (size - 1)) // size


class _AdaptiveAvg(_Adaptive, precision=Precision.NEVER, dtypes=FLOATS):
    @classmethod
    def samples(cls) -> list[Sample]:
        return _adaptive_samples(cls.SPATIAL)

    @classmethod
    def np_ref(cls, data: NDArray[Any], *, output_size: Sequence[int], layout: str) -> NDArray[Any]:
        return cls.pooled(data, output_size, layout, np.mean)

    @classmethod
    def te_compute(cls, data: Tensor, *, output_size: Sequence[int], layout: str) -> Tensor:
        summed = cls.region_stage(data, output_size, layout, 0.0, te.sum, "region_sum")
        axes, sizes = image_axes(layout, cls.SPATIAL), cls.sizes(data.shape, output_size, layout)

        def mean(*i: Index) -> Any:
            value = summed[i]
            for axis, size in zip(axes, sizes, strict=True):
                low, high = _region(i[axis], data.shape[axis], size)
                value = value / te.cast(high - low, data.dtype)
            return value

        return te.compute(summed.shape, mean, stage_name(cls))

    @classmethod
    def relay_grad(
        cls, grads: Values, operands: Values, results: Values, *, output_size: Sequence[int], layout: str
    ) -> Gradients:
        sizes = cls.sizes(shape_of(operands[0]), output_size, layout)
        return [adaptive_avg_gradient(grads[0], operands[0], image_axes(layout, cls.SPATIAL), sizes)]


class _AdaptiveMax(_Adaptive, precision=Precision.FOLLOW):
    @classmethod
    def np_ref(cls, data: NDArray[Any], *, output_size: Sequence[int], layout: str) -> NDArray[Any]:
        return cls.pooled(data, output_size, layout, np.max)

    @classmethod
    def te_compute(cls, data: Tensor, *, output_size: Sequence[int], layout: str) -> Tensor:
        return cls.region_stage(data, output_size, layout, lowest(data.dtype), te.max, stage_name(cls))

    @classmethod
    def relay_grad(
        cls, grads: Values, operands: Values, results: Values, *, output_size: Sequence[int], layout: str
    ) -> Gradients:
        sizes = cls.sizes(shape_of(operands[0]), output_size, layout)
        return adaptive_max_gradients(grads, operands, image_axes(layout, cls.SPATIAL), sizes)


def _adaptive_samples(spatial: str) -> list[Sample]:
    """The same over any number of axes: whole, one region, regions that overlap, more regions than pixels."""
    rank = len(spatial)
    blocked, last = f"NC{spatial}16c", f"N{spatial}C"
    return [
        sample((1, 3, *(7, 5, 4)[:rank])),
        sample((1, 3, *(7, 6, 4)[:rank]), attrs={"output_size": [1]}),
        sample((1, 3, *(7, 5, 3)[:rank]), attrs={"output_size": [3, 2, 2][:rank]}),
        sample((2, 2, *(3, 4, 2)[:rank]), attrs={"output_size": [5, 7, 3][:rank]}),
        sample((1, *(6, 4, 5)[:rank], 3), attrs={"output_size": [2], "layout": last}),
        sample((1, 2, *(5, 3, 2)[:rank], 16), attrs={"output_size": [2, 3, 1][:rank], "layout": blocked}),
        sample((1, 1, *(1, 1, 1)[:rank]), attrs={"output_size": [1]}),
        sample(((1, 2, *(9, 8, 3)[:rank]), "float64"), attrs={"output_size": [4, 3, 2][:rank]}),
        sample((1, 3, *(7, 7, 7)[:rank]), attrs={"output_size": [0]}, error="output size 0 is out of range"),
        sample((1, 3, *(7, 0, 7)[3 - rank :]), attrs={"output_size": [1]}, error="without elements")
        if rank > 1
        else sample((1, 3, 0), attrs={"output_size": [1]}, error="without elements"),
        sample((1, 3), error=f"layout 'NC{spatial}' has {2 + rank} axes, the tensor rank 2"),
        sample(((1, 3, *(7, 7, 7)[:rank]), "bool"), error="got bool"),
    ]


@irdl_op_definition
class AdaptiveAvgPool1dOp(_AdaptiveAvg):
    """The mean of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's."""

    SPATIAL: ClassVar[str] = "W"

    name = "relay.nn.adaptive_avg_pool1d"
    layout = str_prop("NCW")


@irdl_op_definition
class AdaptiveAvgPool2dOp(_AdaptiveAvg):
    """The mean of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's, one number stands for all axes."""

    SPATIAL: ClassVar[str] = "HW"

    name = "relay.nn.adaptive_avg_pool2d"
    layout = str_prop("NCHW")


@irdl_op_definition
class AdaptiveAvgPool3dOp(_AdaptiveAvg):
    """The mean of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's, one number stands for all axes."""

    SPATIAL: ClassVar[str] = "DHW"

    name = "relay.nn.adaptive_avg_pool3d"
    layout = str_prop("NCDHW")


@irdl_op_definition
class AdaptiveMaxPool1dOp(_AdaptiveMax):
    """The maximum of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's."""

    SPATIAL: ClassVar[str] = "W"

    name = "relay.nn.adaptive_max_pool1d"
    layout = str_prop("NCW")

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*_adaptive_samples(cls.SPATIAL), sample(((1, 2, 5), "int8"), attrs={"output_size": [2]})]


@irdl_op_definition
class AdaptiveMaxPool2dOp(_AdaptiveMax):
    """The maximum of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's, one number stands for all axes."""

    SPATIAL: ClassVar[str] = "HW"

    name = "relay.nn.adaptive_max_pool2d"
    layout = str_prop("NCHW")

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*_adaptive_samples(cls.SPATIAL), sample(((1, 2, 5, 3), "int8"), attrs={"output_size": [2]})]


@irdl_op_definition
class AdaptiveMaxPool3dOp(_AdaptiveMax):
    """The maximum of `output_size` regions that cover the data: region o of n over extent E is
    [floor(o*E/n), ceil((o+1)*E/n)). An empty `output_size` keeps the data's, one number stands for all axes."""

    SPATIAL: ClassVar[str] = "DHW"

    name = "relay.nn.adaptive_max_pool3d"
    layout = str_prop("NCDHW")

    @classmethod
    def samples(cls) -> list[Sample]:
        return [*_adaptive_samples(cls.SPATIAL), sample(((1, 2, 5, 3, 4), "int8"), attrs={"output_size": [2]})]

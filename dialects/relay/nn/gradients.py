"""Gradients that are ops of their own: of pooling with respect to its data, of convolution to its weight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import weight_gradient_gradients
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.nn.conv import Convolution, padded_stage
from lamina.dialects.relay.nn.pool import (
    TAP_NAMES,
    image_axes,
    lowest,
    padded_for_windows,
    pool_type,
    pool_windows,
    taps_inside,
)
from lamina.dialects.relay.window_fields import PoolFields2d
from lamina.dialects.relay.windows import gather, windows

# -- pooling ---------------------------------------------------------------------------------------


class _PoolGrad(OutFusable, layouts=("layout", "layout")):
    """The sum that each element of the data gets from the windows that it lies in."""

    out_grad = operand_def()
    data = operand_def()

    @staticmethod
    def infer_type(out_grad: TensorInfo, data: TensorInfo, **attrs: Any) -> TensorInfo:
        check_dtype(same_dtype(out_grad, data), FLOATS)
        pooled = pool_type(data, "HW", attrs)
        if out_grad.shape != pooled.shape:
            raise TypeMismatch(f"the gradient has shape {out_grad.shape}, the pooled data {pooled.shape}")
        return data


def _over_windows(data: Tensor, attrs: dict[str, Any], element: Any, name: str) -> Tensor:
    """The sum of `element(window, offset)` over the windows whose reach an element of the data lies in: the window's
    index, and how far from its start the element is on each axis, both for the axes of the image."""
    axes, slides = image_axes(attrs["layout"], "HW"), pool_windows(data.shape, "HW", attrs)
    outs = [w.outputs(attrs["ceil_mode"]) for w in slides]
    back = [te.reduce_axis(-(-w.reach // w.stride), TAP_NAMES[a]) for a, w in zip("HW", slides, strict=True)]

    def summed(*i: Index) -> Any:
        at: list[Any] = list(i)
        there: list[Any] = []
        offsets: list[Any] = []
        for axis, w, out, step in zip(axes, slides, outs, back, strict=True):
            at[axis] = (i[axis] + w.before) // w.stride - step
            offset = i[axis] + w.before - at[axis] * w.stride
            offsets.append(offset)
            there += [at[axis] >= 0, at[axis] < out, offset < w.reach]
            if w.dilation > 1:
                there.append((offset % w.dilation).equals(0))
        return te.sum(te.if_then_else(te.all(*there), element(i, tuple(at)), te.const(0, data.dtype)), back)

    return te.compute(data.shape, summed, name)


@irdl_op_definition
class MaxPool2dGradOp(_PoolGrad, PoolFields2d):
    """The gradient of nn.max_pool2d with respect to its data: each window's goes to its maximum, the first one of
    several. (out_grad [N, C, H', W'], data [N, C, H, W]) -> [N, C, H, W]. Data must not be NaN."""

    name = "relay.nn.max_pool2d_grad"
    NO_GRADIENT: ClassVar[str] = "a maximum is taken no further than its first derivative"

    @staticmethod
    def np_ref(out_grad: NDArray[Any], data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = image_axes(attrs["layout"], "HW"), pool_windows(data.shape, "HW", attrs)
        found = np.zeros_like(data)
        rest = [range(1) if n in axes else range(e) for n, e in enumerate(data.shape)]
        for window in product(*(range(out_grad.shape[a]) for a in axes)):
            places = [
                [p for t in range(w.size) if 0 <= (p := o * w.stride - w.before + t * w.dilation) < w.extent]
                for o, w in zip(window, slides, strict=True)
            ]
            for other in product(*rest):
                inside: list[tuple[int, ...]] = []
                for pixel in product(*places):
                    at = list(other)
                    for axis, p in zip(axes, pixel, strict=True):
                        at[axis] = p
                    inside.append(tuple(at))
                if inside:
                    at = list(other)
                    for axis, o in zip(axes, window, strict=True):
                        at[axis] = o
                    found[max(inside, key=lambda place: data[place])] += out_grad[tuple(at)]
        return found

    @staticmethod
    def te_compute(out_grad: Tensor, data: Tensor, **attrs: Any) -> Tensor:
        axes, slides = image_axes(attrs["layout"], "HW"), pool_windows(data.shape, "HW", attrs)
        padded = padded_for_windows(data, "HW", attrs, lowest(data.dtype))
        width = padded.shape[axes[1]]

        def tap_loops() -> list[Any]:
            return [te.reduce_axis(w.on_data().size, TAP_NAMES[a]) for a, w in zip("HW", slides, strict=True)]

        def tap_at(i: Sequence[Index], taps: Sequence[Any]) -> list[Any]:
            at: list[Any] = list(i)
            for axis, w, tap in zip(axes, slides, taps, strict=True):
                at[axis] = i[axis] * w.stride + tap * w.dilation
            return at

        def largest(*i: Index) -> Any:
            taps = tap_loops()
            return te.max(padded[tuple(tap_at(i, taps))], taps)

        top = te.compute(out_grad.shape, largest, "window_max")
        none = padded.shape[axes[0]] * width

        def first(*i: Index) -> Any:
            taps = tap_loops()
            at = tap_at(i, taps)
            place = te.cast(at[axes[0]] * width + at[axes[1]], "int32")
            return te.min(te.select(te.equal(padded[tuple(at)], top[i]), place, none), taps)

        where = te.compute(out_grad.shape, first, "window_argmax")
        (before_h, before_w) = (w.before for w in slides)

        def share(i: Sequence[Index], window: tuple[Any, ...]) -> Any:
            own = te.cast((i[axes[0]] + before_h) * width + (i[axes[1]] + before_w), "int32")
            return te.select(te.equal(where[window], own), out_grad[window], 0.0)

        return _over_windows(data, attrs, share, "max_pool2d_grad")

    @staticmethod
    def samples() -> list[Sample]:
        return _grad_samples()


@irdl_op_definition
class AvgPool2dGradOp(_PoolGrad, PoolFields2d):
    """The gradient of nn.avg_pool2d with respect to its data: each window's is shared by its taps.
    (out_grad [N, C, H', W'], data [N, C, H, W]) -> [N, C, H, W]."""

    name = "relay.nn.avg_pool2d_grad"
    count_include_pad = bool_prop(False)

    @staticmethod
    def np_ref(out_grad: NDArray[Any], data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        axes, slides = image_axes(attrs["layout"], "HW"), pool_windows(data.shape, "HW", attrs)
        found = np.zeros_like(data)
        for window in product(*(range(out_grad.shape[a]) for a in axes)):
            places: list[list[int]] = []
            count = 1
            for o, w in zip(window, slides, strict=True):
                reached = [o * w.stride - w.before + t * w.dilation for t in range(w.size)]
                places.append([p for p in reached if 0 <= p < w.extent])
                counted = [p for p in reached if p < w.extent + w.after]
                count *= len(counted if attrs["count_include_pad"] else places[-1])
            there: list[Any] = [slice(None)] * data.ndim
            there[axes[0]], there[axes[1]] = window
            share = out_grad[tuple(there)] / max(count, 1)
            for pixel in product(*places):
                at: list[Any] = [slice(None)] * data.ndim
                for axis, p in zip(axes, pixel, strict=True):
                    at[axis] = p
                found[tuple(at)] += share
        return found

    @staticmethod
    def te_compute(out_grad: Tensor, data: Tensor, **attrs: Any) -> Tensor:
        axes, slides = image_axes(attrs["layout"], "HW"), pool_windows(data.shape, "HW", attrs)

        def shared(*i: Index) -> Any:
            value = out_grad[i]
            for axis, w in zip(axes, slides, strict=True):
                value = value / te.cast(taps_inside(i[axis], w, attrs["count_include_pad"]), data.dtype)
            return value

        shares = te.compute(out_grad.shape, shared, "share")

        def share(i: Sequence[Index], window: tuple[Any, ...]) -> Any:
            return shares[window]

        return _over_windows(data, attrs, share, "avg_pool2d_grad")

    @staticmethod
    def samples() -> list[Sample]:
        return [*_grad_samples(), *[s for s in _grad_samples(count_include_pad=True) if s.error is None]]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return [r.nn.avg_pool2d(grads[0], **attrs), None]


def _grad_samples(**extra: Any) -> list[Sample]:
    x = (1, 3, 7, 6)

    def one(out: tuple[int, ...], data: tuple[int, ...], dtype: str = "float32", **attrs: Any) -> Sample:
        return sample((out, dtype), (data, dtype), attrs={**attrs, **extra})

    return [
        one((1, 3, 6, 5), x, pool_size=[2, 2]),
        one((1, 3, 4, 3), x, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]),
        one((1, 3, 4, 2), x, pool_size=[3, 2], strides=[2, 3], padding=[0, 1, 2, 0]),
        one((1, 3, 3, 3), x, pool_size=[3, 3], strides=[2, 2], ceil_mode=True),
        one((1, 3, 2, 2), x, pool_size=[2, 2], strides=[4, 3]),
        one((1, 3, 1, 2), x, pool_size=[9, 4], strides=[9, 4], padding=[1, 0], ceil_mode=True),
        one((1, 3, 5, 5), x, pool_size=[3, 2], dilation=[2, 3], padding=[1, 1]),
        one((2, 4, 3, 3), (2, 5, 4, 3), pool_size=[2, 2], layout="NHWC"),
        one((1, 1, 1, 1), (1, 1, 1, 1), pool_size=[1, 1]),
        one((1, 2, 1, 1), (1, 2, 5, 5), "float64", pool_size=[5, 5]),
        sample((1, 3, 6, 6), x, attrs={"pool_size": [2, 2]}, error="the gradient has shape (1, 3, 6, 6), the pooled"),
        sample((1, 3, 6, 5), x, attrs={"pool_size": [2, 2], "strides": [0, 1]}, error="stride 0 is out of range"),
        sample(((1, 3, 6, 5), "int32"), (x, "int32"), attrs={"pool_size": [2, 2]}, error="got int32"),
    ]


# -- convolution -----------------------------------------------------------------------------------


@irdl_op_definition
class Conv2dBackwardWeightOp(Convolution):
    """The gradient of nn.conv2d with respect to its weight, which has `kernel_size`: grad [N, O, H', W'], data
    [N, C, H, W] -> [O, C/groups, KH, KW] (orders by the layouts).

        dw[o, c, r, s] = sum over n, y, x of grad[n, o, y, x] * data[n, c, y*stride + r*dilation - pad, ...]
    """

    name = "relay.nn.conv2d_backward_weight"
    grad = operand_def()
    data = operand_def()
    strides = ints_prop((1, 1))
    padding = ints_prop((0, 0))
    dilation = ints_prop((1, 1))
    groups = int_prop(1)
    channels = opt_prop_def(IntegerAttr)
    kernel_size = prop_def(DenseArrayBase)
    grad_layout = str_prop("NCHW")
    data_layout = str_prop("NCHW")
    kernel_layout = str_prop("OIHW")
    out_dtype = str_prop("")

    @staticmethod
    def infer_type(
        grad: TensorInfo,
        data: TensorInfo,
        *,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        kernel_size: Sequence[int],
        grad_layout: str,
        data_layout: str,
        kernel_layout: str,
        out_dtype: str,
        channels: int | None = None,
    ) -> TensorInfo:
        for layout, letters in ((grad_layout, "NCHW"), (data_layout, "NCHW"), (kernel_layout, "OIHW")):
            if sorted(a.letter for a in parse_layout(layout)) != sorted(letters):
                raise TypeMismatch(f"layout {layout!r} must be an order of the axes {', '.join(letters)}")
        dy, x = extents(grad_layout, grad.shape), extents(data_layout, data.shape)
        slides = windows([x[a] for a in "HW"], kernel_size, strides, dilation, padding)
        expected = {"N": x["N"], "H": slides[0].outputs(), "W": slides[1].outputs()}
        for a, extent in expected.items():
            if dy[a] != extent:
                raise TypeMismatch(f"the gradient has extent {dy[a]} in {a}, the convolution {extent}")
        if groups < 1 or x["C"] % groups or dy["C"] % groups:
            raise TypeMismatch(f"{groups} groups do not divide {x['C']} and {dy['C']} channels")
        if channels is not None and channels != dy["C"]:
            raise TypeMismatch(f"attribute channels is {channels}, the gradient has {dy['C']}")
        sizes = {"O": dy["C"], "I": x["C"] // groups, "H": slides[0].size, "W": slides[1].size}
        return TensorInfo(tuple(sizes[a] for a in kernel_layout), out_dtype or same_dtype(grad, data))

    @staticmethod
    def np_ref(grad: NDArray[Any], data: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        dtype = attrs["out_dtype"] or data.dtype.name
        wide = np.float32 if data.dtype.itemsize == 2 and data.dtype.kind not in "iu" else np.dtype(dtype)
        dy = np.transpose(grad, [attrs["grad_layout"].index(a) for a in "NCHW"]).astype(wide)
        x = np.transpose(data, [attrs["data_layout"].index(a) for a in "NCHW"]).astype(wide)
        slides = windows(x.shape[2:], *(attrs[n] for n in ("kernel_size", "strides", "dilation", "padding")))
        taps = gather(x, (2, 3), slides, dy.shape[2:], 0)
        groups = attrs["groups"]
        parts = zip(np.split(dy, groups, 1), np.split(taps, groups, 1), strict=True)
        dw = np.concatenate([np.einsum("noyx,ncyxrs->ocrs", g, t) for g, t in parts])
        return np.transpose(dw, ["OIHW".index(a) for a in attrs["kernel_layout"]]).astype(dtype)

    @staticmethod
    def te_compute(grad: Tensor, data: Tensor, **attrs: Any) -> Tensor:
        layout, grad_layout, groups = attrs["data_layout"], attrs["grad_layout"], attrs["groups"]
        x, dy = extents(layout, data.shape), extents(grad_layout, grad.shape)
        dtype = attrs["out_dtype"] or data.dtype
        slides = windows([x[a] for a in "HW"], *(attrs[n] for n in ("kernel_size", "strides", "dilation", "padding")))
        padded = padded_stage(data, layout, "HW", slides)
        per_in, per_out = x["C"] // groups, dy["C"] // groups
        loops = {a: te.reduce_axis(dy[a], n) for a, n in (("N", "n"), ("H", "y"), ("W", "x"))}
        last = grad
        if grad_layout != "NHWC":
            places = ["NHWC".index(a) for a in grad_layout]
            last = te.compute([dy[a] for a in "NHWC"], lambda *i: grad[tuple(i[n] for n in places)], "channels_last")

        def summed(g: Index, r: Index, s: Index, c: Index, o: Index) -> Any:
            xs: dict[str, Any] = {"N": loops["N"], "C": g * per_in + c}
            for a, w, tap in zip("HW", slides, (r, s), strict=True):
                xs[a] = loops[a] * w.stride + tap * w.dilation
            value = te.cast(padded[tuple(xs[a] for a in layout)], dtype)
            return te.sum(value * te.cast(last[(*loops.values(), g * per_out + o)], dtype), list(loops.values()))

        # Output channels last: they are neighbours in the gradient.
        sums = te.compute([groups, slides[0].size, slides[1].size, per_in, per_out], summed, "sums")

        def element(*i: Index) -> Any:
            at = dict(zip(attrs["kernel_layout"], i, strict=True))
            group, o = (at["O"] // per_out, at["O"] % per_out) if groups > 1 else (0, at["O"])
            return sums[group, at["H"], at["W"], at["I"], o]

        sizes = {"O": dy["C"], "I": per_in, "H": slides[0].size, "W": slides[1].size}
        return te.compute([sizes[a] for a in attrs["kernel_layout"]], element, "conv2d_backward_weight")

    @staticmethod
    def samples() -> list[Sample]:
        x, dy = (2, 3, 7, 6), (2, 4, 5, 4)
        three = {"kernel_size": [3, 3]}
        return [
            sample(dy, x, attrs=three),
            sample((2, 4, 7, 6), x, attrs={**three, "padding": [1, 1], "channels": 4}),
            sample((2, 4, 4, 2), x, attrs={**three, "padding": [0, 1, 2, 0], "strides": [2, 3]}),
            sample((2, 4, 3, 2), x, attrs={"kernel_size": [3, 2], "dilation": [2, 4]}),
            sample((1, 6, 3, 3), (1, 4, 4, 3), attrs={"kernel_size": [2, 1], "groups": 2}),
            sample((1, 4, 3, 3), (1, 4, 5, 5), attrs={**three, "groups": 4}),
            sample((1, 1, 1, 1), (1, 1, 1, 1), attrs={"kernel_size": [1, 1]}),
            sample(
                (2, 5, 4, 4), (2, 7, 6, 3),
                attrs={**three, "grad_layout": "NHWC", "data_layout": "NHWC", "kernel_layout": "HWIO"},
            ),
            sample(((1, 2, 3, 3), "int8"), ((1, 2, 4, 4), "int8"), attrs={"kernel_size": [2, 2], "out_dtype": "int32"}),
            sample((dy, "float64"), (x, "float64"), attrs=three),
            sample(((1, 5, 3, 3), "bfloat16"), ((1, 4, 4, 4), "bfloat16"), attrs={"kernel_size": [2, 2]}),
            sample((2, 4, 5, 5), x, attrs=three, error="the gradient has extent 5 in W, the convolution 4"),
            sample(dy, x, attrs={**three, "groups": 2}, error="2 groups do not divide 3 and 4 channels"),
            sample(dy, x, attrs={**three, "data_layout": "CHW"}, error="must be an order of the axes N, C, H, W"),
        ]  # fmt: skip

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return weight_gradient_gradients(grads[0], operands, attrs)

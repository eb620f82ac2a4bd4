"""Convolutions in any order of whole axes; those on channel blocks are in conv_blocked.py.

    y[n, o, h, w] = sum over c, r, s of x[n, c, h*stride + r*dilation - pad, ...] * weight[o, c, r, s]

This is correlation, as everywhere in deep learning. With `groups` g, output channel o reads the input channels of
group o floordiv (O/g). Padding is a te stage of its own, "pad", so that a schedule can place it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.contraction import tensordot
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import convolution_gradients
from lamina.dialects.relay.layout import axis_of, extents, parse_layout
from lamina.dialects.relay.window_fields import (
    ConvolutionFields1d,
    ConvolutionFields2d,
    ConvolutionFields3d,
    DataAndWeight,
)
from lamina.dialects.relay.windows import Window, gather, windows

ZERO = to_attribute([0, 0])


class Convolution(OutFusable, precision=Precision.ALWAYS):
    """The fields that all convolutions have, with TVM's names."""


class PlainConvolution(Convolution, DataAndWeight, layouts=("data_layout", "kernel_layout")):
    """A convolution in whole axes over the spatial axes SPATIAL: its facets, whatever their number."""

    SPATIAL: ClassVar[str]

    @classmethod
    def infer_type(
        cls,
        data: TensorInfo,
        weight: TensorInfo,
        *,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        data_layout: str = "",
        kernel_layout: str = "",
        out_layout: str = "",
        out_dtype: str = "",
        channels: int | None = None,
        kernel_size: Sequence[int] | None = None,
    ) -> TensorInfo:
        return _plain_type(
            data, weight, cls.SPATIAL, strides, padding, dilation, groups, channels, kernel_size,
            data_layout or "NC" + cls.SPATIAL, kernel_layout or "OI" + cls.SPATIAL, out_layout, out_dtype,
        )  # fmt: skip

    @classmethod
    def np_ref(cls, data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        return _plain_ref(data, weight, cls.SPATIAL, attrs)

    @classmethod
    def te_compute(cls, data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        return _plain_te(data, weight, cls.SPATIAL, attrs)

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return convolution_gradients(grads[0], operands, attrs)


def check_channels(x: int, weight: int, out: int, groups: int, channels: int | None) -> None:
    """Raises TypeMismatch where the numbers of channels do not fit each other.

    `x` and `out` are all channels in and out, `weight` the input channels of one group, `channels` the attribute.
    """
    if groups < 1:
        raise TypeMismatch(f"groups {groups} is out of range, it must be at least 1")
    if x % groups:
        raise TypeMismatch(f"input has {x} channels, which {groups} groups do not divide")
    if out % groups:
        raise TypeMismatch(f"weight has {out} output channels, which {groups} groups do not divide")
    if x // groups != weight:
        among = f" / {groups} groups" if groups > 1 else ""
        raise TypeMismatch(f"input has {x} channels{among}, weight expects {weight}")
    if channels is not None and channels != out:
        raise TypeMismatch(f"attribute channels is {channels}, weight has {out} output channels")


def check_kernel(weight: Sequence[int], kernel_size: Sequence[int] | None) -> None:
    """Raises TypeMismatch where the attribute `kernel_size` is given and is not the weight's."""
    if kernel_size is not None and tuple(kernel_size) != tuple(weight):
        raise TypeMismatch(f"attribute kernel_size is {list(kernel_size)}, weight has {list(weight)}")


def _plain_type(
    data: TensorInfo,
    weight: TensorInfo,
    spatial: str,
    strides: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    channels: int | None,
    kernel_size: Sequence[int] | None,
    data_layout: str,
    kernel_layout: str,
    out_layout: str,
    out_dtype: str,
) -> TensorInfo:
    for layout, letters in ((data_layout, "NC" + spatial), (kernel_layout, "OI" + spatial)):
        if sorted(a.letter for a in parse_layout(layout)) != sorted(letters):
            raise TypeMismatch(f"layout {layout!r} must be an order of the axes {', '.join(letters)}")
    if out_layout and sorted(a.letter for a in parse_layout(out_layout)) != sorted("NC" + spatial):
        raise TypeMismatch(f"layout {out_layout!r} must be an order of the axes {', '.join('NC' + spatial)}")
    if len(data.shape) != 2 + len(spatial) or len(weight.shape) != 2 + len(spatial):
        raise TypeMismatch(
            f"input and weight must have rank {2 + len(spatial)}, they have {len(data.shape)} and {len(weight.shape)}"
        )
    dtype = out_dtype or same_dtype(data, weight)
    x, w = extents(data_layout, data.shape), extents(kernel_layout, weight.shape)
    taps = [w[a] for a in spatial]
    check_kernel(taps, kernel_size)
    check_channels(x["C"], w["I"], w["O"], groups, channels)
    slides = windows([x[a] for a in spatial], taps, strides, dilation, padding)
    sizes = {"N": x["N"], "C": w["O"]} | {a: s.outputs() for a, s in zip(spatial, slides, strict=True)}
    return TensorInfo(tuple(sizes[a.letter] for a in parse_layout(out_layout or data_layout)), dtype)


def correlate(
    x: NDArray[Any],
    w: NDArray[Any],
    slides: Sequence[Window],
    groups: int,
    dtype: str,
) -> NDArray[Any]:
    """Channel-first correlation in numpy: x [N, C, ...], w [O, I, ...]."""
    rank = len(slides)
    wide = np.float32 if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else np.dtype(dtype)
    taps = gather(x.astype(wide), range(2, 2 + rank), slides, [s.outputs() for s in slides], 0)
    outs: list[NDArray[Any]] = []
    per_in, per_out = x.shape[1] // groups, w.shape[0] // groups
    for g in range(groups):
        part = taps[:, g * per_in : (g + 1) * per_in]
        kernel = w[g * per_out : (g + 1) * per_out].astype(wide)
        over = [1, *range(2 + rank, 2 + 2 * rank)]
        outs.append(np.moveaxis(tensordot(part, kernel, (over, list(range(1, 2 + rank)))), -1, 1))
    return np.concatenate(outs, axis=1).astype(dtype)


def _plain_ref(data: NDArray[Any], weight: NDArray[Any], spatial: str, attrs: dict[str, Any]) -> NDArray[Any]:
    first, kernel = "NC" + spatial, "OI" + spatial
    layout, kernel_layout = attrs["data_layout"], attrs["kernel_layout"]
    x = np.transpose(data, [layout.index(a) for a in first])
    w = np.transpose(weight, [kernel_layout.index(a) for a in kernel])
    slides = windows(x.shape[2:], w.shape[2:], attrs["strides"], attrs["dilation"], attrs["padding"])
    y = correlate(x, w, slides, attrs["groups"], attrs.get("out_dtype") or data.dtype.name)
    return np.transpose(y, [first.index(a) for a in attrs.get("out_layout") or layout])


def padded_stage(data: Tensor, layout: str, spatial: str, slides: Sequence[Window]) -> Tensor:
    """The stage "pad": zeros around the spatial axes, as far as windows reach outside; data itself without any."""
    before, after = [0] * data.ndim, [0] * data.ndim
    for letter, w in zip(spatial, slides, strict=True):
        before[axis_of(layout, letter)] = w.before
        after[axis_of(layout, letter)] = w.after
    return te.pad(data, before, after)


def _plain_te(data: Tensor, weight: Tensor, spatial: str, attrs: dict[str, Any]) -> Tensor:
    layout, kernel_layout, groups = attrs["data_layout"], attrs["kernel_layout"], attrs["groups"]
    out_layout = attrs.get("out_layout") or layout
    x, w = extents(layout, data.shape), extents(kernel_layout, weight.shape)
    slides = windows(
        [x[a] for a in spatial], [w[a] for a in spatial], attrs["strides"], attrs["dilation"], attrs["padding"]
    )
    padded = padded_stage(data, layout, spatial, slides)
    dtype = attrs.get("out_dtype") or data.dtype
    rc = te.reduce_axis(w["I"], "c")
    taps = [te.reduce_axis(s.size, name) for s, name in zip(slides, _TAP_NAMES[-len(spatial) :], strict=True)]
    sizes = {"N": x["N"], "C": w["O"]} | {a: s.outputs() for a, s in zip(spatial, slides, strict=True)}

    def element(*i: Index) -> Any:
        at = dict(zip(out_layout, i, strict=True))
        channel = at["C"] // (w["O"] // groups) * w["I"] + rc if groups > 1 else rc
        xs: dict[str, Any] = {"N": at["N"], "C": channel}
        ws: dict[str, Any] = {"O": at["C"], "I": rc}
        for a, s, tap in zip(spatial, slides, taps, strict=True):
            xs[a] = at[a] * s.stride + tap * s.dilation
            ws[a] = tap
        product = te.cast(padded[tuple(xs[a] for a in layout)], dtype) * te.cast(
            weight[tuple(ws[a] for a in kernel_layout)], dtype
        )
        return te.sum(product, [rc, *taps])

    return te.compute([sizes[a] for a in out_layout], _named(element, out_layout), "conv")


_TAP_NAMES = ("q", "r", "s")
_DIM_NAMES = {"N": "n", "C": "k", "D": "z", "H": "y", "W": "x"}


def _named(element: Any, layout: str) -> Any:
    """`element` with one parameter per axis, so that the loops get the axes' names."""
    import inspect

    def call(*i: Index) -> Any:
        return element(*i)

    kind = inspect.Parameter.POSITIONAL_ONLY
    parameters = [inspect.Parameter(_DIM_NAMES[a], kind) for a in layout]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


@irdl_op_definition
class Conv2dOp(PlainConvolution, ConvolutionFields2d):
    """2-D convolution: x [N, C, H, W], weight [O, C/groups, KH, KW] -> [N, O, H', W'] (orders by the layouts)."""

    name = "relay.nn.conv2d"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 3, 9, 7), (4, 3, 3, 3)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1, 1, 1, 1], "channels": 4, "kernel_size": [3, 3]}),
            sample(x, w, attrs={"padding": [1, 0], "strides": [2, 2]}),
            sample(x, w, attrs={"padding": [0, 1, 2, 3], "strides": [2, 1], "dilation": [2, 1]}),
            sample((2, 4, 5, 5), (6, 2, 1, 1), attrs={"groups": 2}),
            sample((1, 6, 8, 8), (6, 1, 3, 3), attrs={"groups": 6, "padding": [1, 1, 1, 1]}),
            sample((2, 3, 4, 5), (3, 1, 3, 2), attrs={"groups": 3, "channels": 3, "kernel_size": [3, 2]}),
            sample((1, 1, 1, 1), (1, 1, 1, 1)),
            sample(
                (1, 5, 6, 3), (2, 3, 3, 4),
                attrs={"data_layout": "NHWC", "kernel_layout": "HWIO", "out_layout": "NCHW"},
            ),
            sample(((1, 3, 4, 4), "int8"), ((2, 3, 3, 3), "int8"), attrs={"out_dtype": "int32"}),
            sample(x, (4, 4, 3, 3), error="input has 3 channels, weight expects 4"),
            sample(x, w, attrs={"strides": [0, 1]}, error="stride 0 is out of range"),
            sample(x, w, attrs={"groups": 0}, error="groups 0 is out of range"),
            sample((1, 3, 2, 2), w, error="kernel of 3 does not fit into the padded input of 2"),
        )  # fmt: skip


@irdl_op_definition
class Conv1dOp(PlainConvolution, ConvolutionFields1d):
    """1-D convolution: x [N, C, W], weight [O, C/groups, KW] -> [N, O, W'] (orders by the layouts)."""

    name = "relay.nn.conv1d"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 3, 9), (4, 3, 3)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1], "channels": 4, "kernel_size": [3]}),
            sample(x, w, attrs={"padding": [0, 2], "strides": [2]}),
            sample(x, w, attrs={"dilation": [3]}),
            sample((2, 4, 5), (6, 2, 1), attrs={"groups": 2}),
            sample((1, 3, 3), (3, 1, 3), attrs={"groups": 3, "channels": 3, "kernel_size": [3], "padding": [1]}),
            sample((1, 1, 1), (1, 1, 1)),
            sample(
                (1, 6, 3), (3, 3, 4),
                attrs={"data_layout": "NWC", "kernel_layout": "WIO", "out_layout": "NCW"},
            ),
            sample(((1, 3, 4), "int8"), ((2, 3, 3), "int8"), attrs={"out_dtype": "int32"}),
            sample(x, (4, 4, 3), error="input has 3 channels, weight expects 4"),
        )  # fmt: skip


@irdl_op_definition
class Conv3dOp(PlainConvolution, ConvolutionFields3d):
    """3-D convolution: x [N, C, D, H, W], weight [O, C/groups, KD, KH, KW] -> [N, O, D', H', W'] (orders by the
    layouts)."""

    name = "relay.nn.conv3d"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 3, 4, 5, 6), (4, 3, 2, 3, 3)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1, 1, 1], "channels": 4, "kernel_size": [2, 3, 3]}),
            sample(x, w, attrs={"padding": [0, 1, 2, 1, 0, 0], "strides": [1, 2, 3]}),
            sample(x, w, attrs={"padding": [1], "strides": [2], "dilation": [2, 1, 2]}),
            sample((2, 4, 3, 3, 5), (6, 2, 1, 1, 1), attrs={"groups": 2}),
            sample((1, 3, 3, 4, 9), (3, 1, 3, 3, 3), attrs={"groups": 3, "padding": [1, 1, 1]}),
            sample((1, 3, 4, 3, 5), (3, 1, 2, 3, 1), attrs={"groups": 3, "channels": 3, "kernel_size": [2, 3, 1]}),
            sample((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
            sample(
                (1, 3, 4, 5, 3), (2, 3, 3, 3, 2),
                attrs={"data_layout": "NDHWC", "kernel_layout": "DHWIO", "out_layout": "NCDHW"},
            ),
            sample(((1, 2, 3, 3, 3), "int8"), ((2, 2, 2, 2, 2), "int8"), attrs={"out_dtype": "int32"}),
            sample(x, (4, 4, 2, 3, 3), error="input has 3 channels, weight expects 4"),
            sample((1, 3, 9, 7), (4, 3, 3, 3), error="input and weight must have rank 5"),
            sample(x, w, attrs={"dilation": [4, 1, 1]}, error="kernel of 5 does not fit into the padded input of 4"),
        )  # fmt: skip

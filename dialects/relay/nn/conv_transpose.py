"""Transposed convolutions: the gradient of a convolution with respect to its data, as an op of its own.

    y[n, o, i*stride + r*dilation - pad] += x[n, c, i] * weight[c, o, r]       for every c, i and tap r

Gathered instead of scattered, output place y = stride*q + p (phase p < stride) reads only the taps r with
r*dilation = p + pad modulo the stride: those of a phase are a small convolution of the data as it is. The stages are
"pad", "kernel_pad" (zeros where a phase has fewer taps than others), "conv" with a result for each phase, and, where
a stride is above 1, the phases interleaved. Nothing is multiplied with zeros put between the elements of the data.
Data must be finite where phases differ in their number of taps. In groups, and where some phases have no taps at all,
the taps of each phase are first laid out by themselves ("kernel_phases").

With `groups` g, weight is [C, O/g, ...] and output channel o reads the input channels of group o floordiv (O/g).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.contraction import tensordot
from lamina.dialects.relay.core import constant_value
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import transposed_gradients
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.nn.conv import Convolution, check_kernel
from lamina.dialects.relay.window_fields import (
    ConvolutionFields1d,
    ConvolutionFields2d,
    ConvolutionFields3d,
    DataAndWeight,
)
from lamina.dialects.relay.windows import Spread, pairs, per_axis


class TransposedConvolution(Convolution, DataAndWeight, precision=Precision.ALWAYS):
    """A transposed convolution over the spatial axes SPATIAL: its facets, whatever their number.

    INPUT is the letter of the kernel layout that counts the data's channels. As in TVM that is I in two dimensions;
    in one and three the layout is that of the convolution of which this is the transpose, whose outputs O are the
    data here.
    """

    LAYOUTS: ClassVar[tuple[str, ...]] = ("data_layout", "kernel_layout")

    SPATIAL: ClassVar[str]
    INPUT: ClassVar[str]

    @classmethod
    def axes(
        cls,
        data: dict[str, int],
        weight: dict[str, int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        output_padding: Sequence[int],
    ) -> list[Spread]:
        """The spatial axes. Raises TypeMismatch when a number is out of range."""
        rank = len(cls.SPATIAL)
        before, after = pairs(padding, rank)
        per_axis(before + after, 2 * rank, "padding", 0)
        listed = [
            Spread(*axis)
            for axis in zip(
                (data[a] for a in cls.SPATIAL),
                per_axis([weight[a] for a in cls.SPATIAL], rank, "kernel size"),
                per_axis(strides, rank, "stride"),
                per_axis(dilation, rank, "dilation"),
                before,
                after,
                per_axis(output_padding, rank, "output_padding", 0),
                strict=True,
            )
        ]
        # The distance between the elements of one element is any.
        return [axis._replace(stride=1) if axis.extent == 1 else axis for axis in listed]

    @classmethod
    def infer_type(
        cls,
        data: TensorInfo,
        weight: TensorInfo,
        *,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        output_padding: Sequence[int],
        groups: int,
        data_layout: str,
        kernel_layout: str,
        out_layout: str,
        out_dtype: str,
        channels: int | None = None,
        kernel_size: Sequence[int] | None = None,
    ) -> TensorInfo:
        rank = 2 + len(cls.SPATIAL)
        for layout, letters in (
            (data_layout, "NC" + cls.SPATIAL),
            (kernel_layout, "IO" + cls.SPATIAL),
            (out_layout or data_layout, "NC" + cls.SPATIAL),
        ):
            if sorted(a.letter for a in parse_layout(layout)) != sorted(letters):
                raise TypeMismatch(f"layout {layout!r} must be an order of the axes {', '.join(letters)}")
        if len(data.shape) != rank or len(weight.shape) != rank:
            raise TypeMismatch(
                f"input and weight must have rank {rank}, they have {len(data.shape)} and {len(weight.shape)}"
            )
        x, w = extents(data_layout, data.shape), extents(kernel_layout, weight.shape)
        check_kernel([w[a] for a in cls.SPATIAL], kernel_size)
        inputs, outs = cls._channels(w)
        if groups < 1:
            raise TypeMismatch(f"groups {groups} is out of range, it must be at least 1")
        if x["C"] != inputs:
            raise TypeMismatch(f"input has {x['C']} channels, weight expects {inputs}")
        if inputs % groups:
            raise TypeMismatch(f"input has {inputs} channels, which {groups} groups do not divide")
        if channels is not None and channels != outs * groups:
            raise TypeMismatch(f"attribute channels is {channels}, weight has {outs * groups} output channels")
        sizes = {"N": x["N"], "C": outs * groups}
        for letter, axis in zip(cls.SPATIAL, cls.axes(x, w, strides, padding, dilation, output_padding), strict=True):
            if axis.extent < 1:
                raise TypeMismatch("input has no elements")
            if axis.outputs < 1:
                raise TypeMismatch(f"padding {axis.before} and {axis.after} leaves nothing of {axis.spread} outputs")
            sizes[letter] = axis.outputs
        dtype = out_dtype or same_dtype(data, weight)
        return TensorInfo(tuple(sizes[a.letter] for a in parse_layout(out_layout or data_layout)), dtype)

    @classmethod
    def _channels(cls, weight: dict[str, int]) -> tuple[int, int]:
        """Input channels, and output channels of one group."""
        return weight[cls.INPUT], weight["O" if cls.INPUT == "I" else "I"]

    @classmethod
    def np_ref(cls, data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        layout, kernel_layout, groups = attrs["data_layout"], attrs["kernel_layout"], attrs["groups"]
        first = "NC" + cls.SPATIAL
        kernel = ("IO" if cls.INPUT == "I" else "OI") + cls.SPATIAL
        dtype = attrs["out_dtype"] or data.dtype.name
        wide = np.float32 if data.dtype.itemsize == 2 and data.dtype.kind not in "iu" else np.dtype(dtype)
        x = np.transpose(data, [layout.index(a) for a in first]).astype(wide)
        w = np.transpose(weight, [kernel_layout.index(a) for a in kernel]).astype(wide)
        rank = len(cls.SPATIAL)
        strides, dilation = (per_axis(attrs[n], rank, n) for n in ("strides", "dilation"))
        before, after = pairs(attrs["padding"], rank)
        more = per_axis(attrs["output_padding"], rank, "output_padding", 0)
        per_in, per_out = x.shape[1] // groups, w.shape[1]
        reach = [(e - 1) * s + (k - 1) * d + 1 for e, s, k, d in zip(x.shape[2:], strides, w.shape[2:], dilation)]  # noqa: B905
        full = np.zeros((x.shape[0], per_out * groups, *(r + m for r, m in zip(reach, more, strict=True))), wide)
        for tap in np.ndindex(*w.shape[2:]):
            places = tuple(
                slice(t * d, t * d + (e - 1) * s + 1, s)
                for t, d, e, s in zip(tap, dilation, x.shape[2:], strides, strict=True)
            )
            for g in range(groups):
                part, taps = x[:, g * per_in : (g + 1) * per_in], w[(slice(g * per_in, (g + 1) * per_in), ..., *tap)]
                full[(slice(None), slice(g * per_out, (g + 1) * per_out), *places)] += np.moveaxis(
                    tensordot(part, taps, ([1], [0])), -1, 1
                )
        cut = tuple(slice(b, e - a) for b, a, e in zip(before, after, full.shape[2:], strict=True))
        y = full[(slice(None), slice(None), *cut)].astype(dtype)
        return np.transpose(y, [first.index(a) for a in attrs["out_layout"] or layout])

    @classmethod
    def te_compute(cls, data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        layout, groups, spatial = attrs["data_layout"], attrs["groups"], cls.SPATIAL
        x, w = extents(layout, data.shape), extents(attrs["kernel_layout"], weight.shape)
        axes = cls.axes(x, w, *(attrs[n] for n in ("strides", "padding", "dilation", "output_padding")))
        by_letter = dict(zip(spatial, axes, strict=True))
        inputs, per_out = cls._channels(w)
        per_in = inputs // groups
        dtype = attrs["out_dtype"] or data.dtype
        pads = {a: axis.padding for a, axis in by_letter.items()}
        first = "NC" + spatial
        if layout != first:
            data = _channels_first(data, layout, first)
        before, after = ([pads.get(a, (0, 0))[side] for a in first] for side in (0, 1))
        padded = te.pad(data, before, after)
        split = [a for a in spatial if by_letter[a].stride > 1]
        taps = [te.reduce_axis(axis.phase_taps, n) for axis, n in zip(axes, "qrs"[-len(axes) :], strict=True)]
        rc = te.reduce_axis(per_in, "c")
        weight_at = cls._taps(weight, by_letter, groups, attrs["kernel_layout"])

        def kernel(*i: Index) -> Any:
            o, c, rest = i[0], i[1], list(i[2:])
            return weight_at(o, c, {a: rest.pop(0) for a in split}, rest)

        counts = [by_letter[a].stride for a in split]
        kernel_phases: Tensor | None = None
        # Where the index of a tap is no more than that of its phase, the weight is read as it is.
        if groups > 1 or any(axis.common > 1 for axis in axes):
            shape = [per_out * groups, per_in, *counts, *(axis.phase_taps for axis in axes)]
            kernel_phases = te.compute(shape, kernel, "kernel_phases")

        def conv(*i: Index) -> Any:
            n, o, rest = i[0], i[1], list(i[2:])
            phases = {a: rest.pop(0) for a in split}
            at: dict[str, Any] = {"N": n, "C": o // per_out * per_in + rc if groups > 1 else rc}
            for (a, axis), q, t in zip(by_letter.items(), rest, taps, strict=True):
                at[a] = axis.place(phases.get(a, o * 0), q, t) + pads[a][0]
            value = te.cast(padded[tuple(at[a] for a in first)], dtype)
            if kernel_phases is None:
                tap = weight_at(o, rc.index(), phases, [t.index() for t in taps])
            else:
                tap = kernel_phases[(o, rc.index(), *phases.values(), *(t.index() for t in taps))]
            return te.sum(value * te.cast(tap, dtype), [rc, *taps])

        shape = [x["N"], per_out * groups, *counts, *(axis.quotients for axis in axes)]
        phased = te.compute(shape, conv, "conv")
        out_layout = attrs["out_layout"] or layout
        if not split and out_layout == first:
            return phased
        return _interleaved(phased, by_letter, out_layout)

    @classmethod
    def _taps(
        cls, weight: Tensor, axes: dict[str, Spread], groups: int, layout: str
    ) -> Callable[[Any, Any, dict[str, Any], Sequence[Any]], Any]:
        """The weight by phases: `tap(o, c, phases, numbers)` for output channel o and input channel c of its group, the
        phase of each axis that has several, and on each axis the number of one of its taps; 0 where it has fewer."""
        inputs, per_out = cls._channels(extents(layout, weight.shape))
        per_in = inputs // groups
        # As many taps for each phase.
        more = {a: axis.phase_taps * axis.step - axis.taps for a, axis in axes.items()}
        whole = te.pad(weight, [0] * weight.ndim, [more.get(a, 0) for a in layout], 0, "kernel_pad")

        def tap(o: Any, c: Any, phases: dict[str, Any], numbers: Sequence[Any]) -> Any:
            at: dict[str, Any] = {
                cls.INPUT: o // per_out * per_in + c if groups > 1 else c,
                "O" if cls.INPUT == "I" else "I": o % per_out if groups > 1 else o,
            }
            inside: list[Any] = []
            for (a, axis), t in zip(axes.items(), numbers, strict=True):
                at[a] = axis.first_tap(phases[a]) + t * axis.step if a in phases else t
                if axis.common > 1:
                    inside.append((axis.remainder(phases[a]) % axis.common).equals(0))
            value = whole[tuple(at[a] for a in layout)]
            return te.if_then_else(te.all(*inside), value, te.const(0, weight.dtype)) if inside else value

        return tap

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        return transposed_gradients(grads[0], operands, attrs)


def _channels_first(data: Tensor, layout: str, first: str) -> Tensor:
    """The data of a layout with its axes in the order of `first`."""
    places = [first.index(a) for a in layout]
    sizes = extents(layout, data.shape)
    return te.compute([sizes[a] for a in first], lambda *i: data[tuple(i[n] for n in places)], "channels_first")


def _interleaved(phased: Tensor, axes: dict[str, Spread], layout: str) -> Tensor:
    """The outputs in order, of [N, O, phases of each axis with a stride.., quotients of each axis..]."""
    split = [a for a, axis in axes.items() if axis.stride > 1]

    def interleave(*i: Index) -> Any:
        at = dict(zip(layout, i, strict=True))
        phases = [at[a] % axes[a].stride for a in split]
        return phased[(at["N"], at["C"], *phases, *(at[a] // axis.stride for a, axis in axes.items()))]

    sizes = {"N": phased.shape[0], "C": phased.shape[1]} | {a: axis.outputs for a, axis in axes.items()}
    return te.compute([sizes[a] for a in layout], interleave, "conv_transpose")


@irdl_op_definition
class Conv2dTransposeOp(TransposedConvolution, ConvolutionFields2d):
    """2-D transposed convolution: x [N, C, H, W], weight [C, O/groups, KH, KW] -> [N, O, H', W'] with
    H' = (H-1)*stride + (KH-1)*dilation + 1 - padding + output_padding (orders by the layouts)."""

    INPUT: ClassVar[str] = "I"

    name = "relay.nn.conv2d_transpose"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    output_padding = ints_prop((0, 0))
    kernel_layout = prop_def(StringAttr, default_value=StringAttr("IOHW"))

    @staticmethod
    def legalize(inputs: Sequence[SSAValue], **attrs: Any) -> SSAValue | None:
        """Windows that do not overlap: a 1x1 convolution to all places of a window, put beside each other."""
        x, w = inputs
        strides = tuple(attrs["strides"])
        channels, outs, *kernel = shape_of(w) if attrs["kernel_layout"] == "IOHW" else (0, 0)
        plain = attrs["data_layout"] == "NCHW" and attrs["out_layout"] in ("", "NCHW") and not attrs["out_dtype"]
        once = tuple(kernel) == strides and strides[0] == strides[1] > 1 and tuple(attrs["dilation"]) == (1, 1)
        apart = attrs["groups"] == 1 and not any(attrs["padding"]) and not any(attrs["output_padding"])
        if not (plain and once and apart and is_float(dtype_of(w))) or constant_value(w) is None:
            return None
        places = outs * strides[0] * strides[1]
        rows = r.reshape(r.transpose(w, axes=(2, 3, 1, 0)), newshape=(places, channels, 1, 1))
        pixels = r.nn.conv2d(x, rows, channels=places, kernel_size=(1, 1))
        return r.nn.depth_to_space(pixels, block_size=strides[0], mode="DCR")

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 3, 5, 4), (3, 4, 3, 3)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1, 1, 1, 1], "channels": 4, "kernel_size": [3, 3]}),
            sample(x, w, attrs={"strides": [2, 2], "padding": [1, 1], "output_padding": [1, 1]}),
            sample(x, (3, 2, 4, 2), attrs={"strides": [2, 2], "padding": [0, 1, 2, 0]}),
            sample(x, w, attrs={"strides": [3, 1], "dilation": [2, 3], "padding": [2, 1]}),
            sample(x, w, attrs={"strides": [2, 4], "dilation": [2, 6], "output_padding": [0, 3]}),
            sample((2, 4, 3, 3), (4, 3, 3, 2), attrs={"groups": 2, "strides": [2, 1]}),
            sample((1, 3, 4, 4), (3, 1, 2, 2), attrs={"groups": 3, "strides": [3, 3]}),
            sample((1, 1, 1, 1), (1, 1, 1, 1)),
            sample((1, 1, 1, 1), (1, 2, 1, 1), attrs={"strides": [4, 2], "output_padding": [3, 1]}),
            sample(x, w, attrs={"padding": [4, 0], "strides": [2, 3]}),
            sample(
                (1, 5, 4, 3), (3, 3, 2, 3),
                attrs={
                    "data_layout": "NHWC", "kernel_layout": "HWOI", "out_layout": "NCHW", "strides": [2, 2],
                    "groups": 3,
                },
            ),
            sample((1, 5, 4, 3), (3, 3, 2, 3), attrs={"data_layout": "NHWC", "kernel_layout": "HWOI"}),
            sample(((1, 3, 4, 4), "int8"), ((3, 2, 3, 3), "int8"), attrs={"out_dtype": "int32", "strides": [2, 2]}),
            sample((x, "float64"), (w, "float64"), attrs={"strides": [2, 2]}),
            sample(((1, 3, 5, 7), "float16"), (w, "float16"), attrs={"strides": [2, 2]}),
            sample(x, (4, 3, 3, 3), error="input has 3 channels, weight expects 4"),
            sample(x, w, attrs={"groups": 2}, error="input has 3 channels, which 2 groups do not divide"),
            sample(x, w, attrs={"strides": [0, 1]}, error="stride 0 is out of range"),
            sample(x, w, attrs={"output_padding": [-1, 0]}, error="output_padding -1 is out of range"),
            sample(x, w, attrs={"padding": [4, 3]}, error="padding 4 and 4 leaves nothing of 7 outputs"),
            sample(x, w, attrs={"channels": 5}, error="attribute channels is 5, weight has 4 output channels"),
            sample(x, w, attrs={"kernel_layout": "IHW"}, error="must be an order of the axes I, O, H, W"),
        )  # fmt: skip


@irdl_op_definition
class Conv1dTransposeOp(TransposedConvolution, ConvolutionFields1d):
    """1-D transposed convolution: x [N, C, W], weight [C, O/groups, KW] -> [N, O, W'] (orders by the layouts; O of the
    kernel layout counts the channels of the data, as in TVM)."""

    INPUT: ClassVar[str] = "O"

    name = "relay.nn.conv1d_transpose"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    output_padding = ints_prop((0,))

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (2, 3, 7), (3, 4, 3)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1], "channels": 4, "kernel_size": [3]}),
            sample(x, w, attrs={"strides": [2], "padding": [0, 1], "output_padding": [1]}),
            sample(x, w, attrs={"strides": [4], "dilation": [6]}),
            sample(x, (3, 5, 8), attrs={"strides": [3], "dilation": [2], "padding": [5, 3]}),
            sample((1, 4, 5), (4, 3, 2), attrs={"groups": 2, "strides": [2]}),
            sample((1, 1, 1), (1, 1, 1)),
            sample(
                (1, 6, 3), (3, 4, 3),
                attrs={"data_layout": "NWC", "kernel_layout": "WIO", "out_layout": "NCW", "strides": [2]},
            ),
            sample(((1, 3, 4), "int8"), ((3, 2, 3), "int8"), attrs={"out_dtype": "int32"}),
            sample(x, (4, 3, 3), error="input has 3 channels, weight expects 4"),
            sample((2, 3, 0), w, error="input has no elements"),
            sample((2, 3, 7, 7), w, error="input and weight must have rank 3"),
        )  # fmt: skip


@irdl_op_definition
class Conv3dTransposeOp(TransposedConvolution, ConvolutionFields3d):
    """3-D transposed convolution: x [N, C, D, H, W], weight [C, O/groups, KD, KH, KW] -> [N, O, D', H', W'] (orders by
    the layouts; O of the kernel layout counts the channels of the data, as in TVM)."""

    INPUT: ClassVar[str] = "O"

    name = "relay.nn.conv3d_transpose"
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    output_padding = ints_prop((0, 0, 0))

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 2, 2, 3, 4), (2, 3, 2, 3, 2)
        return (
            sample(x, w),
            sample(x, w, attrs={"padding": [1, 1, 0], "channels": 3, "kernel_size": [2, 3, 2]}),
            sample(x, w, attrs={"strides": [2, 1, 3], "padding": [0, 1, 1, 1, 0, 0], "output_padding": [1, 0, 2]}),
            sample(x, w, attrs={"strides": [2, 3, 2], "dilation": [1, 2, 2]}),
            sample((1, 4, 2, 2, 3), (4, 1, 2, 2, 2), attrs={"groups": 2, "strides": [2, 2, 2]}),
            sample((1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
            sample(
                (1, 2, 3, 2, 3), (2, 2, 2, 2, 3),
                attrs={
                    "data_layout": "NDHWC", "kernel_layout": "DHWIO", "out_layout": "NCDHW", "strides": [1, 2, 1],
                },
            ),
            sample(((1, 2, 2, 2, 2), "int8"), ((2, 2, 2, 2, 2), "int8"), attrs={"out_dtype": "int32"}),
            sample(x, (3, 2, 2, 3, 2), error="input has 2 channels, weight expects 3"),
        )  # fmt: skip

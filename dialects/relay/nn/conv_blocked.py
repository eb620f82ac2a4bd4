"""Convolutions on channel blocks (NCHWc), as CPUs compute them; `relay-alter-op-layout` makes them from nn.conv2d."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import block_of, extents, parse_layout, plain
from lamina.dialects.relay.nn.conv import Convolution, check_kernel, correlate, padded_stage
from lamina.dialects.relay.window_fields import ConvolutionFields2d, DataAndWeight
from lamina.dialects.relay.windows import windows

BY_TAPS = "OHWI"
"""The order of a kernel's blocks where it is read tap by tap."""


def _blocks(n: int, block: int) -> int:
    return -(-n // block)


def _group_block(channels: int, groups: int, block: int) -> int:
    """Channels of one group, padded to whole blocks."""
    return _blocks(channels // groups, block) * block


class _Blocked(Convolution, DataAndWeight, ConvolutionFields2d):
    """A convolution on blocks of channels, of which `channels` is the true number that comes out."""

    NO_GRADIENT: ClassVar[str] = "relay-alter-op-layout makes it, after gradients are taken"

    channels = prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)
    data_layout = prop_def(StringAttr, default_value=StringAttr("NCHW16c"))
    out_layout = prop_def(StringAttr, default_value=StringAttr("NCHW16c"))


@irdl_op_definition
class ContribConv2dNCHWcOp(_Blocked):
    """2-D convolution on channel blocks: x [N, C/16, H, W, 16], weight [O/32, I/16, KH, KW, 16, 32]
    (OIHW16i32o) -> [N, O/16, H', W', 16] (NCHW16c).

    `channels` is the true number of output channels. Each group's channels are padded to whole blocks, input
    channels with zero weights; output channel k*16 + v reads the kernel at [(k*16+v) floordiv 32, ..., (k*16+v)
    mod 32]. A first layer keeps its few channels plain: data layout NCHW, kernel OIHW32o [O/32, I, KH, KW, 32].
    Instructions that sum up small groups of input channels want the group innermost: kernel OIHW32o4i [O/32, I/4, KH,
    KW, 32, 4]; the data's blocks are some groups, of which the last may be more padding than the kernel has. So may
    they be of some smaller blocks of the kernel: 24 channels in two blocks of data are three of OIHW8i32o.
    Padding lanes of the result are zero where the data is finite. Those of the data that the kernel does not have are
    not read, the others must be finite.
    """

    name = "relay.nn.contrib_conv2d_NCHWc"
    kernel_layout = prop_def(StringAttr, default_value=StringAttr("OIHW16i32o"))

    @staticmethod
    def infer_type(
        data: TensorInfo,
        weight: TensorInfo,
        *,
        channels: int,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        data_layout: str = "NCHW16c",
        kernel_layout: str = "OIHW16i32o",
        out_layout: str = "NCHW16c",
        out_dtype: str = "",
        kernel_size: Sequence[int] | None = None,
    ) -> TensorInfo:
        _check_blocked(data_layout, kernel_layout, out_layout)
        x, w = extents(data_layout, data.shape), extents(kernel_layout, weight.shape)
        check_kernel([w["H"], w["W"]], kernel_size)
        if groups < 1 or channels < 1 or channels % groups:
            raise TypeMismatch(f"{groups} groups do not divide {channels} channels")
        if not _channels_fit(x["C"], w["I"], block_of(data_layout, "C"), groups, kernel_layout):
            among = f" / {groups} groups" if groups > 1 else ""
            raise TypeMismatch(f"input has {x['C']} channels{among}, weight expects {w['I']}")
        out = groups * _group_block(channels, groups, block_of(out_layout, "C"))
        block = block_of(kernel_layout, "O")
        if w["O"] != _blocks(out, block) * block:
            raise TypeMismatch(f"weight has {w['O']} output channels, expects {_blocks(out, block) * block}")
        h, v = windows((x["H"], x["W"]), (w["H"], w["W"]), strides, dilation, padding)
        inner = block_of(out_layout, "C")
        shape = (x["N"], out // inner, h.outputs(), v.outputs(), inner)
        return TensorInfo(shape, out_dtype or same_dtype(data, weight))

    @staticmethod
    def np_ref(data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        inner, groups = block_of(attrs["out_layout"], "C"), attrs["groups"]
        out = groups * _group_block(attrs["channels"], groups, inner)
        x = _unblock_data(data, attrs["data_layout"])
        w = _unblock_kernel(weight, attrs["kernel_layout"])[:out]
        # Not the kernel padded: a lane that is not read may be infinite.
        x = np.concatenate([part[:, : w.shape[1]] for part in np.split(x, groups, axis=1)], axis=1)
        slides = windows(x.shape[2:], w.shape[2:], attrs["strides"], attrs["dilation"], attrs["padding"])
        y = correlate(x, w, slides, groups, attrs.get("out_dtype") or data.dtype.name)
        n, _, h, v = y.shape
        return np.moveaxis(y.reshape(n, out // inner, inner, h, v), 2, 4)

    @staticmethod
    def te_compute(data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        layout, kernel_layout, groups = attrs["data_layout"], attrs["kernel_layout"], attrs["groups"]
        x, w = extents(layout, data.shape), extents(kernel_layout, weight.shape)
        h, v = windows((x["H"], x["W"]), (w["H"], w["W"]), attrs["strides"], attrs["dilation"], attrs["padding"])
        padded = padded_stage(data, layout, "HW", (h, v))
        dtype = attrs.get("out_dtype") or data.dtype
        inner, block = block_of(attrs["out_layout"], "C"), block_of(kernel_layout, "O")
        per_group = _group_block(attrs["channels"], groups, inner) // inner
        blocked = data.ndim == 5
        by_taps = plain(kernel_layout) == BY_TAPS
        chunks = weight.shape[3 if by_taps else 1]
        c = te.reduce_axis(chunks, "c")
        taps = te.reduce_axis(h.size, "r"), te.reduce_axis(v.size, "s")
        grouped = is_grouped(kernel_layout)
        part = weight.shape[5 if grouped else 4] if blocked else 1
        ci = te.reduce_axis(part, "ci") if blocked else None
        # Parts of a block of the data, of which the kernel says how many there are.
        fan = data.shape[4] // part if blocked else 1
        of_group = data.shape[1] * fan // groups

        def element(n: Index, ko: Index, y: Index, x: Index, kv: Index) -> Any:
            r, s = taps
            chunk = ko // per_group * of_group + c if groups > 1 else c
            row, column = y * h.stride + r * h.dilation, x * v.stride + s * v.dilation
            o, ov = (ko * inner + kv) // block, (ko * inner + kv) % block
            outer = (o, r, s, c) if by_taps else (o, c, r, s)
            if ci is None:
                a, b = padded[n, chunk, row, column], weight[*outer, ov]
            else:
                a = padded[n, chunk // fan, row, column, chunk % fan * part + ci]
                b = weight[*outer, ov, ci] if grouped else weight[*outer, ci, ov]
            axes: list[IterVar] = [c, r, s] if ci is None else [c, r, s, ci]
            return te.sum(te.cast(a, dtype) * te.cast(b, dtype), axes)

        shape = (x["N"], groups * per_group, h.outputs(), v.outputs(), inner)
        return te.compute(shape, element, "conv")

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 2, 5, 4, 16), (1, 2, 3, 3, 16, 32)
        plain_first = {"data_layout": "NCHW", "kernel_layout": "OIHW32o"}
        parts = {"channels": 32, "groups": 2, "kernel_layout": "OIHW16o4i"}
        return (
            sample(x, w, attrs={"channels": 32}),
            sample(x, w, attrs={"channels": 32, "padding": [1, 1, 1, 1], "kernel_size": [3, 3]}),
            sample(x, w, attrs={"channels": 20, "padding": [1, 0], "strides": [2, 2]}),
            sample(x, w, attrs={"channels": 7, "padding": [0, 1, 2, 3], "strides": [2, 1], "dilation": [2, 1]}),
            sample((1, 3, 7, 9), (2, 3, 3, 3, 32), attrs={"channels": 40, "padding": [1, 1, 1, 1], **plain_first}),
            sample((1, 1, 1, 1), (1, 1, 1, 1, 32), attrs={"channels": 1, **plain_first}),
            sample((1, 4, 3, 3, 16), (1, 2, 1, 1, 16, 32), attrs={"channels": 10, "groups": 2}),
            sample((1, 2, 3, 5, 16), (1, 3, 1, 1, 8, 32), attrs={"channels": 32, "kernel_layout": "OIHW8i32o"}),
            sample(
                (1, 2, 5, 4, 16), (1, 5, 3, 3, 4, 16),
                attrs={"channels": 9, "kernel_layout": "OIHW4i16o", "padding": [1, 1]},
            ),
            sample(
                x, (1, 3, 2, 4, 8, 32),
                attrs={"channels": 30, "kernel_layout": "OHWI8i32o", "padding": [1, 0, 0, 1], "kernel_size": [3, 2]},
            ),
            sample(
                (2, 2, 3, 3, 8), (3, 2, 1, 1, 8, 8),
                attrs={"channels": 24, "data_layout": "NCHW8c", "kernel_layout": "OIHW8i8o", "out_layout": "NCHW8c"},
            ),
            sample(
                (1, 3, 3, 3, 16), (3, 1, 1, 1, 16, 16),
                attrs={"channels": 33, "groups": 3, "kernel_layout": "OIHW16i16o"},
            ),
            sample((1, 4, 3, 3, 16), (2, 5, 1, 1, 16, 4), attrs=parts),
            sample(
                ((1, 1, 3, 3, 16), "int8"), ((1, 1, 2, 2, 16, 32), "int8"),
                attrs={"channels": 16, "out_dtype": "int32"},
            ),
            sample(
                ((1, 2, 5, 4, 16), "uint8"), ((2, 6, 3, 3, 16, 4), "int8"),
                attrs={"channels": 20, "kernel_layout": "OIHW16o4i", "out_dtype": "int32", "padding": [1, 1, 1, 1]},
                ranges=((0, 255), (-128, 127)),
            ),
            sample(
                ((2, 1, 7, 5, 4), "uint8"), ((1, 1, 3, 3, 32, 4), "int8"),
                attrs={
                    "channels": 32, "data_layout": "NCHW4c", "kernel_layout": "OIHW32o4i", "out_dtype": "int32",
                    "strides": [2, 2],
                },
                ranges=((0, 255), (-128, 127)),
            ),
            sample(
                ((1, 2, 3, 3, 16), "bfloat16"), ((1, 16, 1, 1, 32, 2), "bfloat16"),
                attrs={"channels": 32, "kernel_layout": "OIHW32o2i", "out_dtype": "float32"},
            ),
            sample(
                ((1, 2, 3, 3, 16), "int8"), ((1, 4, 1, 1, 16, 4), "int8"),
                attrs={"channels": 16, "kernel_layout": "OIHW16o4i"}, error="input has 32 channels, weight expects 16",
            ),
            sample(x, (1, 3, 3, 3, 16, 32), attrs={"channels": 32}, error="input has 32 channels, weight expects 48"),
            sample(x, w, attrs={"channels": 40}, error="weight has 32 output channels, expects 64"),
            sample(x, w, attrs={"channels": 32, "groups": 0}, error="0 groups do not divide 32 channels"),
        )  # fmt: skip


@irdl_op_definition
class ContribDepthwiseConv2dNCHWcOp(_Blocked):
    """Depthwise 2-D convolution on channel blocks: x [N, C/16, H, W, 16], weight [C/16, 1, KH, KW, 1, 16]
    (OIHW1i16o) -> [N, C/16, H', W', 16]; every channel has its own kernel."""

    name = "relay.nn.contrib_depthwise_conv2d_NCHWc"
    kernel_layout = prop_def(StringAttr, default_value=StringAttr("OIHW1i16o"))

    @staticmethod
    def infer_type(
        data: TensorInfo,
        weight: TensorInfo,
        *,
        channels: int,
        strides: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        groups: int,
        data_layout: str = "NCHW16c",
        kernel_layout: str = "OIHW1i16o",
        out_layout: str = "NCHW16c",
        out_dtype: str = "",
        kernel_size: Sequence[int] | None = None,
    ) -> TensorInfo:
        _check_blocked(data_layout, kernel_layout, out_layout)
        block = block_of(data_layout, "C")
        if block_of(kernel_layout, "O") != block or block_of(out_layout, "C") != block or len(data.shape) != 5:
            raise TypeMismatch(f"layouts {data_layout}, {kernel_layout} and {out_layout} need blocks of one size")
        x, w = extents(data_layout, data.shape), extents(kernel_layout, weight.shape)
        check_kernel([w["H"], w["W"]], kernel_size)
        if w["I"] != 1:
            raise TypeMismatch(f"weight has {w['I']} input channels, a depthwise convolution 1")
        if x["C"] != w["O"]:
            raise TypeMismatch(f"input has {x['C']} channels, weight expects {w['O']}")
        if not 0 < channels <= x["C"] or _blocks(channels, block) * block != x["C"]:
            raise TypeMismatch(f"attribute channels is {channels}, input has {x['C']} channels in whole blocks")
        h, v = windows((x["H"], x["W"]), (w["H"], w["W"]), strides, dilation, padding)
        shape = (x["N"], data.shape[1], h.outputs(), v.outputs(), block)
        return TensorInfo(shape, out_dtype or same_dtype(data, weight))

    @staticmethod
    def np_ref(data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        x, w = _unblock_data(data, attrs["data_layout"]), _unblock_kernel(weight, attrs["kernel_layout"])
        slides = windows(x.shape[2:], w.shape[2:], attrs["strides"], attrs["dilation"], attrs["padding"])
        y = correlate(x, w, slides, x.shape[1], attrs.get("out_dtype") or data.dtype.name)
        n, c, h, v = y.shape
        inner = data.shape[4]
        return np.moveaxis(y.reshape(n, c // inner, inner, h, v), 2, 4)

    @staticmethod
    def te_compute(data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        _, _, height, width, _ = data.shape
        size = weight.shape[2], weight.shape[3]
        h, v = windows((height, width), size, attrs["strides"], attrs["dilation"], attrs["padding"])
        padded = padded_stage(data, attrs["data_layout"], "HW", (h, v))
        dtype = attrs.get("out_dtype") or data.dtype
        r, s = te.reduce_axis(h.size, "r"), te.reduce_axis(v.size, "s")

        def element(n: Index, ko: Index, y: Index, x: Index, kv: Index) -> Any:
            a = padded[n, ko, y * h.stride + r * h.dilation, x * v.stride + s * v.dilation, kv]
            return te.sum(te.cast(a, dtype) * te.cast(weight[ko, 0, r, s, 0, kv], dtype), [r, s])

        shape = (data.shape[0], data.shape[1], h.outputs(), v.outputs(), data.shape[4])
        return te.compute(shape, element, "conv")

    @staticmethod
    def samples() -> tuple[Sample, ...]:
        x, w = (1, 2, 5, 4, 16), (2, 1, 3, 3, 1, 16)
        return (
            sample(x, w, attrs={"channels": 32, "groups": 32}),
            sample(x, w, attrs={"channels": 32, "padding": [1, 1, 1, 1], "kernel_size": [3, 3]}),
            sample(x, w, attrs={"channels": 20, "padding": [1, 0], "strides": [2, 2]}),
            sample(x, w, attrs={"channels": 17, "padding": [0, 1, 2, 3], "strides": [2, 1], "dilation": [2, 1]}),
            sample((1, 1, 1, 1, 16), (1, 1, 1, 1, 1, 16), attrs={"channels": 1}),
            sample((3, 1, 7, 3, 16), (1, 1, 5, 1, 1, 16), attrs={"channels": 9}),
            sample(
                (1, 3, 3, 3, 8), (3, 1, 2, 2, 1, 8),
                attrs={"channels": 24, "data_layout": "NCHW8c", "kernel_layout": "OIHW1i8o", "out_layout": "NCHW8c"},
            ),
            sample(
                ((1, 1, 3, 3, 16), "int8"), ((1, 1, 2, 2, 1, 16), "int8"),
                attrs={"channels": 16, "out_dtype": "int32"},
            ),
            sample(x, (1, 1, 3, 3, 1, 16), attrs={"channels": 32}, error="input has 32 channels, weight expects 16"),
        )  # fmt: skip


def _check_blocked(data_layout: str, kernel_layout: str, out_layout: str) -> None:
    kernel = "OIHW" if plain(kernel_layout) == BY_TAPS else plain(kernel_layout)
    if plain(data_layout) != "NCHW" or kernel != "OIHW" or plain(out_layout) != "NCHW":
        raise TypeMismatch(
            f"layouts {data_layout}, {kernel_layout} and {out_layout} must be NCHW, OIHW and NCHW in blocks"
        )
    letters = [a.letter for a in parse_layout(kernel_layout)][4:]
    if letters not in (["i", "o"], ["o"], ["o", "i"]) or len(parse_layout(out_layout)) != 5:
        raise TypeMismatch(f"kernel layout {kernel_layout} and output layout {out_layout} must end in blocks")
    if ("i" in letters) != (len(parse_layout(data_layout)) == 5):
        raise TypeMismatch(f"data layout {data_layout} does not fit kernel layout {kernel_layout}")


def is_grouped(kernel_layout: str) -> bool:
    """Whether small groups of input channels are innermost in a kernel, as in OIHW32o4i."""
    return parse_layout(kernel_layout)[-1].letter == "i"


def _channels_fit(channels: int, expected: int, block: int, groups: int, kernel_layout: str) -> bool:
    """Whether data of so many channels, in blocks, is what a kernel reads, which may end within the last block."""
    part = block_of(kernel_layout, "I")
    parts = part < block and block % part == 0 and (groups == 1 or is_grouped(kernel_layout))
    return channels == (_blocks(expected, block) * block if parts else expected) * groups


def _unblock_data(x: NDArray[Any], layout: str) -> NDArray[Any]:
    """[N, C/b, H, W, b] -> [N, C, H, W]."""
    if len(parse_layout(layout)) == 4:
        return x
    n, c, h, w, b = x.shape
    return np.moveaxis(x, 4, 2).reshape(n, c * b, h, w)


def _unblock_kernel(w: NDArray[Any], layout: str) -> NDArray[Any]:
    """[O/a, I/b, H, W, b, a], [O/a, I/b, H, W, a, b] or [O/a, I, H, W, a], the taps before I or not -> [O, I, H, W]."""
    if plain(layout) == BY_TAPS:
        w = np.moveaxis(w, 3, 1)
    if w.ndim == 5:
        w = w[:, :, :, :, None, :]
    elif is_grouped(layout):
        w = np.swapaxes(w, 4, 5)
    o, i, h, v, b, a = w.shape
    return np.transpose(w, (0, 5, 1, 4, 2, 3)).reshape(o * a, i * b, h, v)

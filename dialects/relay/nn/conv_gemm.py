"""Convolution as a matrix product whose weight is stored in tiles: [KH*KW*C, O], taps before channels, in tiles of
tile_K x tile_N that are transposed, each one contiguous. Both sides are padded with zeros to whole tiles.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.nn.conv import Convolution, check_channels, correlate, padded_stage
from lamina.dialects.relay.window_fields import ConvolutionFields2d, DataAndWeight
from lamina.dialects.relay.windows import Window, windows


@irdl_op_definition
class ContribConv2dGemmWeightTransformOp(OutFusable):
    """weights [KH, KW, I, O] -> [O/tile_N, KH*KW*I/tile_K, tile_N, tile_K], rounded up to whole tiles with zeros."""

    name = "relay.nn.contrib_conv2d_gemm_weight_transform"
    NO_GRADIENT: ClassVar[str] = "relay-alter-op-layout makes it, after gradients are taken"
    weights = operand_def()
    tile_N = int_prop()
    tile_K = int_prop()

    @staticmethod
    def infer_type(weights: TensorInfo, *, tile_N: int, tile_K: int) -> TensorInfo:
        check_dtype(weights.dtype, NUMBERS)
        if len(weights.shape) != 4:
            raise TypeMismatch(f"weights must be [KH, KW, I, O], they are {weights.shape}")
        for name, tile in (("tile_N", tile_N), ("tile_K", tile_K)):
            if tile < 1:
                raise TypeMismatch(f"{name} {tile} is out of range, it must be at least 1")
        kh, kw, channels, out = weights.shape
        return TensorInfo((-(-out // tile_N), -(-kh * kw * channels // tile_K), tile_N, tile_K), weights.dtype)

    @staticmethod
    def np_ref(weights: NDArray[Any], *, tile_N: int, tile_K: int) -> NDArray[Any]:
        matrix = weights.reshape(-1, weights.shape[3])
        k, n = matrix.shape
        matrix = np.pad(matrix, [(0, -k % tile_K), (0, -n % tile_N)])
        tiles = matrix.reshape(matrix.shape[0] // tile_K, tile_K, matrix.shape[1] // tile_N, tile_N)
        return tiles.transpose(2, 0, 3, 1)

    @staticmethod
    def te_compute(weights: Tensor, *, tile_N: int, tile_K: int) -> Tensor:
        kh, kw, channels, out = weights.shape
        rows = kh * kw * channels

        def element(no: Index, ko: Index, ni: Index, ki: Index) -> Any:
            k, n = ko * tile_K + ki, no * tile_N + ni
            value = weights[k // (kw * channels), k // channels % kw, k % channels, n]
            return te.if_then_else(te.all(k < rows, n < out), value, te.const(0, weights.dtype))

        return te.compute((-(-out // tile_N), -(-rows // tile_K), tile_N, tile_K), element, "gemm_weight")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((3, 3, 4, 8), attrs={"tile_N": 4, "tile_K": 6}),
            sample((3, 2, 5, 7), attrs={"tile_N": 4, "tile_K": 16}),
            sample((1, 1, 3, 2), attrs={"tile_N": 1, "tile_K": 1}),
            sample((1, 1, 1, 1), attrs={"tile_N": 4, "tile_K": 4}),
            sample((2, 2, 3, 5), attrs={"tile_N": 5, "tile_K": 7}),
            sample(((3, 3, 2, 6), "int8"), attrs={"tile_N": 4, "tile_K": 16}),
            sample(((1, 5, 3, 17), "float64"), attrs={"tile_N": 16, "tile_K": 2}),
            sample((2, 1, 9, 3), attrs={"tile_N": 2, "tile_K": 4}),
            sample((3, 3, 4), attrs={"tile_N": 4, "tile_K": 4}, error="weights must be [KH, KW, I, O]"),
            sample((3, 3, 4, 8), attrs={"tile_N": 0, "tile_K": 4}, error="tile_N 0 is out of range"),
            sample((3, 3, 4, 8), attrs={"tile_N": 4, "tile_K": -1}, error="tile_K -1 is out of range"),
        ]


@irdl_op_definition
class ContribConv2dGemmWithoutWeightTransformOp(Convolution, DataAndWeight, ConvolutionFields2d):
    """nn.conv2d of x [N, H, W, C] (order by `data_layout`) with a weight that
    nn.contrib_conv2d_gemm_weight_transform has laid out, of `kernel_size` and `channels` outputs."""

    name = "relay.nn.contrib_conv2d_gemm_without_weight_transform"
    NO_GRADIENT: ClassVar[str] = "relay-alter-op-layout makes it, after gradients are taken"
    channels = prop_def(IntegerAttr)
    kernel_size = prop_def(DenseArrayBase)

    @staticmethod
    def windows_of(shape: tuple[int, ...], attrs: dict[str, Any]) -> tuple[Window, ...]:
        """The windows over H and W of the data."""
        x = extents(attrs["data_layout"], shape)
        return windows(
            [x[a] for a in "HW"], attrs["kernel_size"], attrs["strides"], attrs["dilation"], attrs["padding"]
        )

    @classmethod
    def infer_type(cls, data: TensorInfo, weight: TensorInfo, **attrs: Any) -> TensorInfo:
        layout, out_layout = attrs["data_layout"], attrs["out_layout"] or attrs["data_layout"]
        for given, letters in ((layout, "NCHW"), (out_layout, "NCHW"), (attrs["kernel_layout"], "OIHW")):
            if sorted(a.letter for a in parse_layout(given)) != sorted(letters):
                raise TypeMismatch(f"layout {given!r} must be an order of the axes {', '.join(letters)}")
        x = extents(layout, data.shape)
        h, w = cls.windows_of(data.shape, attrs)
        channels, groups = attrs["channels"], attrs["groups"]
        check_channels(x["C"], x["C"] // max(groups, 1), channels, groups, None)
        if len(weight.shape) != 4:
            raise TypeMismatch(f"weight must be [O/tile_N, K/tile_K, tile_N, tile_K], it is {weight.shape}")
        rows = h.size * w.size * x["C"] // groups
        for what, extent, tiles, tile in (
            ("outputs", channels, weight.shape[0], weight.shape[2]),
            ("products a sum", rows, weight.shape[1], weight.shape[3]),
        ):
            if tile < 1 or tiles != -(-extent // tile):
                raise TypeMismatch(f"weight has {tiles} tiles of {tile} for {extent} {what}")
        sizes = {"N": x["N"], "C": channels, "H": h.outputs(), "W": w.outputs()}
        return TensorInfo(tuple(sizes[a] for a in out_layout), attrs["out_dtype"] or same_dtype(data, weight))

    @classmethod
    def np_ref(cls, data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        layout, groups, channels = attrs["data_layout"], attrs["groups"], attrs["channels"]
        x = np.transpose(data, [layout.index(a) for a in "NCHW"])
        slides = cls.windows_of(data.shape, attrs)
        kh, kw = (s.size for s in slides)
        no, ko, ni, ki = weight.shape
        matrix = weight.transpose(1, 3, 0, 2).reshape(ko * ki, no * ni)[: kh * kw * x.shape[1] // groups, :channels]
        kernel = matrix.reshape(kh, kw, x.shape[1] // groups, channels).transpose(3, 2, 0, 1)
        y = correlate(x, kernel, slides, groups, attrs["out_dtype"] or data.dtype.name)
        return np.transpose(y, ["NCHW".index(a) for a in attrs["out_layout"] or layout])

    @classmethod
    def te_compute(cls, data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        layout, groups, channels = attrs["data_layout"], attrs["groups"], attrs["channels"]
        x, slides = extents(layout, data.shape), cls.windows_of(data.shape, attrs)
        padded = padded_stage(data, layout, "HW", slides)
        dtype = attrs["out_dtype"] or data.dtype
        per_in, per_out = x["C"] // groups, channels // groups
        _, _, tile_n, tile_k = weight.shape
        kh, kw = (s.size for s in slides)

        def stored(r: Index, s: Index, c: Index, o: Index) -> Any:
            k = (r * kw + s) * per_in + c
            return weight[o // tile_n, k // tile_k, o % tile_n, k % tile_k]

        # Neighbours again, for vectors of any width.
        kernel = te.compute((kh, kw, per_in, channels), stored, "kernel")
        taps = [te.reduce_axis(s.size, n) for s, n in zip(slides, "rs", strict=True)]
        rc = te.reduce_axis(per_in, "c")
        out_layout = attrs["out_layout"] or layout

        def element(*i: Index) -> Any:
            at = dict(zip(out_layout, i, strict=True))
            xs: dict[str, Any] = {"N": at["N"], "C": at["C"] // per_out * per_in + rc if groups > 1 else rc}
            for a, s, tap in zip("HW", slides, taps, strict=True):
                xs[a] = at[a] * s.stride + tap * s.dilation
            product = te.cast(padded[tuple(xs[a] for a in layout)], dtype) * te.cast(kernel[*taps, rc, at["C"]], dtype)
            return te.sum(product, [rc, *taps])

        sizes = {"N": x["N"], "C": channels, "H": slides[0].outputs(), "W": slides[1].outputs()}
        return te.compute([sizes[a] for a in out_layout], element, "conv2d_gemm")

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            x: tuple[int, ...],
            w: tuple[int, ...],
            channels: int,
            kernel: tuple[int, int],
            error: str | None = None,
            dtype: str = "float32",
            **attrs: Any,
        ) -> Sample:
            given = {
                "channels": channels,
                "kernel_size": kernel,
                "data_layout": "NHWC",
                "kernel_layout": "HWIO",
                **attrs,
            }
            return sample((x, dtype), (w, dtype), attrs=given, error=error)

        x = (1, 6, 5, 4)
        return [
            one(x, (2, 6, 4, 6), 8, (3, 3)),
            one(x, (2, 3, 4, 16), 7, (3, 3), padding=[1, 1, 1, 1]),
            one(x, (1, 5, 4, 5), 3, (3, 2), padding=[0, 1, 2, 0], strides=[2, 3]),
            one(x, (2, 2, 2, 8), 3, (2, 2), dilation=[2, 4]),
            one((2, 3, 3, 4), (3, 1, 2, 4), 6, (1, 1), groups=2),
            one((1, 4, 6, 5), (1, 9, 8, 4), 5, (3, 3), data_layout="NCHW", kernel_layout="OIHW"),
            one((1, 1, 1, 1), (1, 1, 4, 4), 1, (1, 1)),
            one(x, (1, 4, 4, 4), 3, (2, 2), out_layout="NCHW"),
            one(x, (1, 1, 4, 16), 4, (2, 2), dtype="int8", out_dtype="int32"),
            one(x, (1, 6, 16, 6), 9, (3, 3), dtype="float64"),
            one(x, (2, 6, 4, 6), 9, (3, 3), error="weight has 2 tiles of 4 for 9 outputs"),
            one(x, (2, 5, 4, 6), 8, (3, 3), error="weight has 5 tiles of 6 for 36 products a sum"),
            one(x, (2, 6, 4, 6), 8, (3, 3), groups=3, error="input has 4 channels, which 3 groups do not divide"),
            one(x, (12, 6, 6), 8, (3, 3), error="weight must be [O/tile_N"),
        ]

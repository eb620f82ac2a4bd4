"""Deformable convolution: each tap reads the data where an offset, a tensor of its own, moves it to.

    y[n, o, h, w] = sum over c, r, s of
        data(n, c, h*stride + r*dilation - pad + offset[n, k, h, w], ... + offset[n, k + 1, h, w]) * weight[o, c, r, s]

with k = 2*((g*KH + r)*KW + s), g the deformable group of channel c. Between elements data is bilinear, and elements
outside of it are 0: a place less than one step before the first element or behind the last is a part of that element,
and farther away it is 0. ONNX says so; TVM 0.8 has 0 before the first element and the last one itself behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import extents, parse_layout
from lamina.dialects.relay.nn.conv import Convolution, check_channels, check_kernel
from lamina.dialects.relay.window_fields import ConvolutionFields2d
from lamina.dialects.relay.windows import Window, windows


def _slides(data: dict[str, int], weight: dict[str, int], attrs: dict[str, Any]) -> tuple[Window, ...]:
    return windows(
        [data[a] for a in "HW"], [weight[a] for a in "HW"], attrs["strides"], attrs["dilation"], attrs["padding"]
    )


@irdl_op_definition
class DeformableConv2dOp(Convolution, ConvolutionFields2d, layouts=("data_layout", "data_layout", "kernel_layout")):
    """2-D deformable convolution: x [N, C, H, W], offset [N, 2*G*KH*KW, H', W'], weight [O, C/groups, KH, KW] ->
    [N, O, H', W'] with G `deformable_groups` (orders by the layouts; the offset's is the data's)."""

    name = "relay.nn.deformable_conv2d"
    NO_GRADIENT: ClassVar[str] = "an image sampled at places that are computed"
    data = operand_def()
    offset = operand_def()
    weight = operand_def()
    deformable_groups = int_prop(1)
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def infer_type(
        data: TensorInfo,
        offset: TensorInfo,
        weight: TensorInfo,
        *,
        deformable_groups: int,
        groups: int,
        data_layout: str,
        kernel_layout: str,
        out_layout: str,
        out_dtype: str,
        channels: int | None = None,
        kernel_size: Sequence[int] | None = None,
        **attrs: Any,
    ) -> TensorInfo:
        out_layout = out_layout or data_layout
        for layout, letters in ((data_layout, "NCHW"), (kernel_layout, "OIHW"), (out_layout, "NCHW")):
            if sorted(a.letter for a in parse_layout(layout)) != sorted(letters):
                raise TypeMismatch(f"layout {layout!r} must be an order of the axes {', '.join(letters)}")
        dtype = check_dtype(same_dtype(data, offset, weight), FLOATS)
        x, w = extents(data_layout, data.shape), extents(kernel_layout, weight.shape)
        check_kernel([w[a] for a in "HW"], kernel_size)
        check_channels(x["C"], w["I"], w["O"], groups, channels)
        if deformable_groups < 1 or x["C"] % deformable_groups:
            raise TypeMismatch(
                f"input has {x['C']} channels, which {deformable_groups} deformable groups do not divide"
            )
        if 0 in (x["H"], x["W"]):
            raise TypeMismatch("input has no elements")
        slides = _slides(x, w, attrs)
        sizes = {"N": x["N"], "C": w["O"]} | {a: s.outputs() for a, s in zip("HW", slides, strict=True)}
        expected = sizes | {"C": 2 * deformable_groups * w["H"] * w["W"]}
        shape = tuple(expected[a] for a in data_layout)
        if offset.shape != shape:
            raise TypeMismatch(f"offset has shape {offset.shape}, expects {shape}")
        return TensorInfo(tuple(sizes[a] for a in out_layout), out_dtype or dtype)

    @staticmethod
    def np_ref(data: NDArray[Any], offset: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        layout = attrs["data_layout"]
        wide = np.promote_types(np.float32, data.dtype) if data.dtype.kind == "f" else np.float32
        x, moves = (np.transpose(a, [layout.index(n) for n in "NCHW"]).astype(wide) for a in (data, offset))
        w = np.transpose(weight, [attrs["kernel_layout"].index(n) for n in "OIHW"]).astype(wide)
        (n, c, height, width), (kh, kw) = x.shape, w.shape[2:]
        moves = moves.reshape(n, attrs["deformable_groups"], kh, kw, 2, *moves.shape[2:])
        slides = _slides({"H": height, "W": width}, {"H": kh, "W": kw}, attrs)
        taps = np.zeros((n, c, kh, kw, *moves.shape[-2:]), wide)
        per_move = c // attrs["deformable_groups"]
        starts = [np.arange(s.outputs()) * s.stride - s.before for s in slides]
        for b, channel, r, s in np.ndindex(n, c, kh, kw):
            dy, dx = moves[b, channel // per_move, r, s]
            py = starts[0][:, None] + r * slides[0].dilation + dy
            px = starts[1][None, :] + s * slides[1].dilation + dx
            inside = (py > -1) & (py < height) & (px > -1) & (px < width)
            # Zeros around, and an element of the image wherever it does not count.
            image = np.pad(x[b, channel], 1)
            py, px = np.where(inside, py, 0), np.where(inside, px, 0)
            fy, fx = py - np.floor(py), px - np.floor(px)
            y0, x0 = np.floor(py).astype(int) + 1, np.floor(px).astype(int) + 1
            low = image[y0, x0] * (1 - fx) + image[y0, x0 + 1] * fx
            high = image[y0 + 1, x0] * (1 - fx) + image[y0 + 1, x0 + 1] * fx
            taps[b, channel, r, s] = np.where(inside, low * (1 - fy) + high * fy, 0)
        parts = zip(np.split(taps, attrs["groups"], 1), np.split(w, attrs["groups"], 0), strict=True)
        y = np.concatenate([np.einsum("ncrshw,ocrs->nohw", t, k) for t, k in parts], axis=1)
        out_layout = attrs["out_layout"] or layout
        return np.transpose(y, ["NCHW".index(a) for a in out_layout]).astype(attrs["out_dtype"] or data.dtype)

    @staticmethod
    def te_compute(data: Tensor, offset: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        layout, kernel_layout, groups = attrs["data_layout"], attrs["kernel_layout"], attrs["groups"]
        x, w = extents(layout, data.shape), extents(kernel_layout, weight.shape)
        slides = _slides(x, w, attrs)
        wide = data.dtype if data.dtype == "float64" else "float32"
        dtype = attrs["out_dtype"] or data.dtype
        per_move = x["C"] // attrs["deformable_groups"]
        outs = [s.outputs() for s in slides]

        def sampled(n: Index, c: Index, r: Index, s: Index, y: Index, i: Index) -> Any:
            first = ((c // per_move * w["H"] + r) * w["W"] + s) * 2
            near: list[list[tuple[Any, Any]]] = []
            part: list[Any] = []
            inside: list[Any] = []
            for d, (a, slide, out, tap) in enumerate(zip("HW", slides, (y, i), (r, s), strict=True)):
                at = {"N": n, "C": first + d, "H": y, "W": i}
                start = te.cast(out * slide.stride + tap * slide.dilation - slide.before, wide)
                place = start + te.cast(offset[tuple(at[b] for b in layout)], wide)
                inside += [place > -1.0, place < float(x[a])]
                # Beside the data, so that it may become an index whatever the offset is.
                held = te.minimum(te.maximum(place, -1.0), float(x[a]))
                floor = te.floor(held)
                below = te.cast(floor, "int64")
                last = float(x[a] - 1)
                near.append([(te.clamped(below, x[a]), place >= 0.0), (te.clamped(below + 1, x[a]), place < last)])
                part.append(held - floor)

            def pixel(below: int, right: int) -> Any:
                (row, in_rows), (column, in_columns) = near[0][below], near[1][right]
                at: dict[str, Any] = {"N": n, "C": c, "H": row, "W": column}
                return te.select(te.all(in_rows, in_columns), te.cast(data[tuple(at[a] for a in layout)], wide), 0.0)

            def between(a: Any, b: Any, fraction: Any) -> Any:
                return a * (1.0 - fraction) + b * fraction

            upper = between(pixel(0, 0), pixel(0, 1), part[1])
            lower = between(pixel(1, 0), pixel(1, 1), part[1])
            return te.select(te.all(*inside), between(upper, lower, part[0]), 0.0)

        shape = [x["N"], x["C"], w["H"], w["W"], *outs]
        taps = te.compute(shape, sampled, "sampled")
        rc = te.reduce_axis(w["I"], "c")
        loops = {a: te.reduce_axis(w[a], name) for a, name in (("H", "r"), ("W", "s"))}
        out_layout = attrs["out_layout"] or layout
        per_out = w["O"] // groups

        def conv(*i: Index) -> Any:
            at = dict(zip(out_layout, i, strict=True))
            channel = at["C"] // per_out * w["I"] + rc if groups > 1 else rc
            value = taps[(at["N"], channel, loops["H"], loops["W"], at["H"], at["W"])]
            ws: dict[str, Any] = {"O": at["C"], "I": rc, **loops}
            return te.sum(
                te.cast(value, dtype) * te.cast(weight[tuple(ws[a] for a in kernel_layout)], dtype),
                [rc, *loops.values()],
            )

        sizes = {"N": x["N"], "C": w["O"], "H": outs[0], "W": outs[1]}
        return te.compute([sizes[a] for a in out_layout], conv, "conv")

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            x: tuple[int, ...],
            offset: tuple[int, ...],
            w: tuple[int, ...],
            dtype: str = "float32",
            error: str | None = None,
            **attrs: Any,
        ) -> Sample:
            # Offsets reach beyond the data on all sides.
            return sample(
                (x, dtype), (offset, dtype), (w, dtype), attrs=attrs, ranges=(None, (-4.0, 4.0), None), error=error
            )

        x, w = (1, 4, 6, 5), (3, 4, 3, 3)
        return [
            one(x, (1, 18, 4, 3), w),
            one(x, (1, 18, 6, 5), w, padding=[1, 1, 1, 1], channels=3, kernel_size=[3, 3]),
            one(x, (1, 36, 3, 2), w, strides=[2, 3], padding=[0, 1, 2, 0], deformable_groups=2),
            one(x, (1, 8, 4, 1), (2, 4, 2, 2), dilation=[2, 4]),
            one((2, 4, 3, 3), (2, 2, 3, 3), (6, 2, 1, 1), groups=2),
            one(x, (1, 72, 4, 3), (4, 1, 3, 3), groups=4, deformable_groups=4),
            one((1, 1, 1, 1), (1, 2, 1, 1), (1, 1, 1, 1)),
            one((1, 4, 5, 3), (1, 3, 4, 8), (2, 2, 3, 2), data_layout="NHWC", kernel_layout="HWIO"),
            one((1, 4, 5, 3), (1, 3, 4, 8), (2, 2, 3, 2), data_layout="NHWC", kernel_layout="HWIO", out_layout="NCHW"),
            one(x, (1, 18, 4, 3), w, "float64"),
            one((1, 2, 4, 4), (1, 8, 3, 3), (2, 2, 2, 2), "float16", out_dtype="float32"),
            one(x, (1, 18, 4, 4), w, error="offset has shape (1, 18, 4, 4), expects (1, 18, 4, 3)"),
            one(x, (1, 54, 4, 3), w, deformable_groups=3, error="3 deformable groups do not divide"),
            one(x, (1, 18, 4, 3), (3, 2, 3, 3), error="input has 4 channels, weight expects 2"),
        ]

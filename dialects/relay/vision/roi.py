"""Regions of images pooled to one size: vision.roi_align and vision.roi_pool.

A region is a row (image, x0, y0, x1, y1) of `rois`, in pixels of the picture that the data is `spatial_scale` times as
large as. The number of pixels that a part of a region has depends on its values, hence loops in place of equations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.image.sampling import one_of, working_dtype
from lamina.dialects.relay.row_loops import each_place, extern_tensor

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place

_MODES = ("avg", "max", "max_part")
_FINEST = 4096
"""More samples than this are not taken of a part of a region, however large its values say it is."""
_FAR = float(1 << 24)


def _region_type(data: TensorInfo, rois: TensorInfo, pooled_size: Sequence[int], layout: str) -> TensorInfo:
    """The type of the regions in one size. Raises TypeMismatch where something does not fit."""
    check_dtype(same_dtype(data, rois), FLOATS)
    one_of("layout", layout, ("NCHW", "NHWC"))
    if len(data.shape) != 4 or 0 in data.shape:
        raise TypeMismatch(f"data has shape {data.shape}, expects images of four axes, none of them empty")
    if len(rois.shape) != 2 or rois.shape[1] != 5:
        raise TypeMismatch(f"rois have shape {rois.shape}, expects rows of 5 numbers: image, x0, y0, x1, y1")
    if len(pooled_size) != 2 or min(pooled_size) < 1:
        raise TypeMismatch(f"pooled_size {list(pooled_size)} must be two positive numbers")
    sizes = {"N": rois.shape[0], "C": data.shape[layout.index("C")], "H": pooled_size[0], "W": pooled_size[1]}
    return TensorInfo(tuple(sizes[a] for a in layout), data.dtype)


def _bounded(x: Scalar, low: float, high: float) -> Scalar:
    """x between two bounds, the lower one where it is no number."""
    return te.select(x > low, te.select(x < high, x, high), low)


def _ordered(layout: str, n: Any, c: Any, h: Any, w: Any) -> tuple[Any, ...]:
    at = {"N": n, "C": c, "H": h, "W": w}
    return tuple(at[a] for a in layout)


def _image(number: Scalar, batch: int) -> Scalar:
    """The image that the first number of a region names."""
    wide = te.cast(number, working_dtype(number.dtype))
    return te.clamped(te.cast(_bounded(wide, 0.0, _FAR), "int64"), batch)


class _Line(NamedTuple):
    """A part of a region on one axis: where it begins, how long it is, and how many samples are taken of it."""

    start: Scalar
    length: Scalar
    samples: Scalar

    @staticmethod
    def cut(start: Scalar, end: Scalar, part: tuple[Index, int], aligned: bool, sample_ratio: int) -> _Line:
        """Part `part[0]` of the `part[1]` equal ones of a region from `start` to `end`."""
        cell, cells = part
        length = end - start if aligned else te.maximum(end - start, 1.0)
        step = length / float(cells)
        count = te.const(float(sample_ratio), start.dtype)
        if sample_ratio <= 0:
            count = te.ceil(_bounded(step, 0.0, float(_FINEST)))
        return _Line(start + te.cast(te.cast(cell, "int64"), start.dtype) * step, step, count)

    def taps(self, i: Index, extent: int) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """The two pixels around sample i, the weight of the second, and whether the sample is in the image."""
        p = self.start + (te.cast(te.cast(i, "int64"), self.start.dtype) + 0.5) * (self.length / self.samples)
        inside = (p >= -1.0) & (p <= float(extent))
        p = _bounded(p, 0.0, float(extent - 1))
        low = te.floor(p)
        index = te.cast(low, "int64")
        return te.clamped(index, extent), te.clamped(index + 1, extent), p - low, inside


@irdl_op_definition
class RoiAlignOp(OutFusable, layouts=("layout", "")):
    """Each region is cut into `pooled_size` parts; of each the mean (`mode` avg) or the greatest (max) of
    `sample_ratio` x `sample_ratio` bilinear samples in it, or as many as it has pixels where `sample_ratio` is not
    positive. Samples more than one pixel outside the image are 0.

    Regions are at least one pixel wide and high. With `aligned` they are not, and pixel 0 reaches from -1/2 to 1/2 (the
    pixels are then the same as those of PyTorch's and ONNX's half_pixel). max_part is the greatest of the four weighted
    pixels of all samples, not of their sums: what ONNX calls max.
    """

    name = "relay.vision.roi_align"
    NO_GRADIENT: ClassVar[str] = "an image sampled at places that are computed"

    data = operand_def(TensorType)
    rois = operand_def(TensorType)
    pooled_size = ints_prop()
    spatial_scale = float_prop()
    sample_ratio = int_prop(-1)
    layout = str_prop("NCHW")
    mode = str_prop("avg")
    aligned = bool_prop(False)

    @staticmethod
    def infer_type(
        data: TensorInfo, rois: TensorInfo, *, pooled_size: Sequence[int], layout: str, mode: str, sample_ratio: int,
        **_: Any,
    ) -> TensorInfo:  # fmt: skip
        one_of("mode", mode, _MODES)
        if sample_ratio > _FINEST:
            raise TypeMismatch(f"sample_ratio {sample_ratio} is above {_FINEST}")
        return _region_type(data, rois, pooled_size, layout)

    @staticmethod
    def te_compute(data: Tensor, rois: Tensor, *, pooled_size: Sequence[int], layout: str, **attrs: Any) -> Tensor:
        info = _region_type(TensorInfo(data.shape, data.dtype), TensorInfo(rois.shape, rois.dtype), pooled_size, layout)
        batch, channels, height, width = (data.shape[layout.index(a)] for a in "NCHW")
        wide = working_dtype(data.dtype)
        mean, parts = attrs["mode"] == "avg", attrs["mode"] == "max_part"

        def part(ib: IRBuilder, x: Buffer, regions: Buffer, out: Buffer, place: Place) -> None:
            r, ph, pw = place

            def line(first: int, cell: Index, cells: int) -> _Line:
                shift = 0.5 if attrs["aligned"] else 0.0
                start, end = (te.cast(regions[r, k], wide) * attrs["spatial_scale"] - shift for k in (first, first + 2))
                return _Line.cut(start, end, (cell, cells), attrs["aligned"], attrs["sample_ratio"])

            columns, rows = line(1, pw, pooled_size[1]), line(2, ph, pooled_size[0])
            image = _image(regions[r, 0], batch)
            sums = ib.allocate(wide, (channels,), "roi_sums")
            with ib.for_range(0, channels, "c") as c:
                # Where no sample is taken, the region is empty.
                start = te.const(0.0 if mean else -float("inf"), wide)
                sums[c] = te.select((rows.samples > 0.0) & (columns.samples > 0.0), start, 0.0)
            with (
                ib.for_range(0, te.cast(rows.samples, "int64"), "sy") as sy,
                ib.for_range(0, te.cast(columns.samples, "int64"), "sx") as sx,
            ):
                top, bottom, v, within_rows = rows.taps(sy, height)
                left, right, u, within_columns = columns.taps(sx, width)
                inside = within_rows & within_columns
                with ib.for_range(0, channels, "c") as c:
                    corners = [
                        te.cast(x[_ordered(layout, image, c, h, w)], wide) * (a * b)
                        for h, a in ((top, 1.0 - v), (bottom, v))
                        for w, b in ((left, 1.0 - u), (right, u))
                    ]
                    first = corners[0]
                    for other in corners[1:]:
                        first = te.maximum(first, other) if parts else first + other
                    value = te.select(inside, first, 0.0)
                    sums[c] = sums[c] + value if mean else te.maximum(sums[c], value)
            with ib.for_range(0, channels, "c") as c:
                value = sums[c] / te.maximum(rows.samples * columns.samples, 1.0) if mean else sums[c]
                out[_ordered(layout, r, c, ph, pw)] = te.cast(value, data.dtype)

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            extents = (rois.shape[0], *pooled_size)
            each_place(ib, extents, lambda place: part(ib, ins[0], ins[1], outs[0], place), parallel=True)

        return extern_tensor(info.shape, data.dtype, [data, rois], body, "roi_align")

    @staticmethod
    def np_ref(
        data: Array, rois: Array, *, pooled_size: Sequence[int], layout: str, spatial_scale: float, sample_ratio: int,
        mode: str, aligned: bool,
    ) -> Array:  # fmt: skip
        """Sample by sample, in the float of the regions up to their places."""
        x = np.transpose(data, [layout.index(a) for a in "NCHW"]).astype(np.float64)
        out = np.zeros((len(rois), x.shape[1], *pooled_size))
        for r, ph, pw in np.ndindex(len(rois), *pooled_size):
            image = x[int(np.clip(np.float64(rois[r, 0]), 0, len(x) - 1))]
            lines: list[list[tuple[list[int], list[float]] | None]] = []
            for k, cell, extent in ((1, ph, x.shape[2]), (0, pw, x.shape[3])):
                start, end = (float(rois[r, 1 + k + j]) * spatial_scale - 0.5 * aligned for j in (0, 2))
                length = end - start if aligned else max(end - start, 1.0)
                step = length / pooled_size[1 - k]
                count = sample_ratio if sample_ratio > 0 else max(ceil(step), 0)
                taps: list[tuple[list[int], list[float]] | None] = []
                for i in range(count):
                    p = start + cell * step + (i + 0.5) * step / count
                    if p < -1 or p > extent:
                        taps.append(None)
                        continue
                    p = min(max(p, 0.0), extent - 1.0)
                    low = int(p)
                    taps.append(([low, min(low + 1, extent - 1)], [1 - (p - low), p - low]))
                lines.append(taps)
            values: list[Array] = []
            for row, column in product(*lines):
                if row is None or column is None:
                    values.append(np.zeros(len(image)))
                    continue
                (h, a), (w, b) = row, column
                corners = image[:, h][:, :, w] * np.outer(a, b)
                values.append(corners.max((1, 2)) if mode == "max_part" else corners.sum((1, 2)))
            if values:
                out[r, :, ph, pw] = np.mean(values, 0) if mode == "avg" else np.max(values, 0)
        return np.transpose(out, ["NCHW".index(a) for a in layout]).astype(numpy_dtype(str(data.dtype)))

    @staticmethod
    def samples() -> list[Sample]:
        size = {"pooled_size": (2, 3), "spatial_scale": 0.5}
        return [
            *_region_samples(size),
            *(one_region(size, {**attrs}) for attrs in (
                {"mode": "max"}, {"mode": "max_part"}, {"sample_ratio": 2}, {"sample_ratio": 3, "mode": "max"},
                {"aligned": True}, {"aligned": True, "mode": "max", "sample_ratio": 1},
                {"aligned": True, "mode": "max_part"}, {"spatial_scale": 1.0},
            )),
            sample((1, 1, 4, 4), (2, 5), attrs={**size, "aligned": True}, ranges=(None, (3.0, 3.0))),
            sample((1, 1, 4, 4), (2, 5), attrs={**size, "mode": "least"}, error="mode 'least' is none of avg, max"),
            sample((1, 1, 4, 4), (2, 5), attrs={**size, "sample_ratio": 5000}, error="sample_ratio 5000 is above"),
        ]  # fmt: skip


def one_region(size: dict[str, Any], attrs: dict[str, Any]) -> Sample:
    """Three images, four regions, in and outside of them."""
    return sample((3, 2, 6, 5), (4, 5), attrs={**size, **attrs}, ranges=(None, (-3.0, 16.0)))


def _region_samples(size: dict[str, Any]) -> list[Sample]:
    wide = (None, (-1.0, 12.0))
    d = (2, 3, 5, 6)
    return [
        sample(d, (3, 5), attrs=size, ranges=wide),
        sample((1, 1, 1, 1), (1, 5), attrs=size, ranges=wide),
        sample((2, 5, 6, 3), (3, 5), attrs={**size, "layout": "NHWC"}, ranges=wide),
        sample(d, (3, 5), attrs={**size, "pooled_size": (1, 1)}, ranges=wide),
        sample(d, (0, 5), attrs=size),
        sample((d, "float64"), ((3, 5), "float64"), attrs=size, ranges=wide),
        # Numbers of few bits, which 16-bit floats hold: the same pixels are chosen in each of the two computations.
        sample((d, "float16"), ((2, 5), "float16"), attrs=size, ranges=(None, (4.0, 4.0))),
        sample((d, "bfloat16"), ((2, 5), "bfloat16"), attrs=size, ranges=(None, (1.0, 1.0))),
        sample((d, "int32"), ((3, 5), "int32"), attrs=size, error="got int32"),
        sample(d, ((3, 5), "float64"), attrs=size, error="float32 and float64"),
        sample(d, (3, 4), attrs=size, error="expects rows of 5 numbers"),
        sample((2, 3, 5), (3, 5), attrs=size, error="expects images of four axes"),
        sample(d, (3, 5), attrs={**size, "layout": "CHWN"}, error="layout 'CHWN' is none of NCHW, NHWC"),
        sample(d, (3, 5), attrs={**size, "pooled_size": (2,)}, error="must be two positive numbers"),
    ]


@irdl_op_definition
class RoiPoolOp(OutFusable, layouts=("layout", "")):
    """The greatest pixel in each of the `pooled_size` parts of each region, whose corners are rounded to whole pixels,
    halves away from zero; 0 for a part outside the image."""

    name = "relay.vision.roi_pool"
    NO_GRADIENT: ClassVar[str] = "an image sampled at places that are computed"

    data = operand_def(TensorType)
    rois = operand_def(TensorType)
    pooled_size = ints_prop()
    spatial_scale = float_prop()
    layout = str_prop("NCHW")

    @staticmethod
    def infer_type(
        data: TensorInfo, rois: TensorInfo, *, pooled_size: Sequence[int], spatial_scale: float, layout: str
    ) -> TensorInfo:
        return _region_type(data, rois, pooled_size, layout)

    @staticmethod
    def te_compute(
        data: Tensor, rois: Tensor, *, pooled_size: Sequence[int], spatial_scale: float, layout: str
    ) -> Tensor:
        info = _region_type(TensorInfo(data.shape, data.dtype), TensorInfo(rois.shape, rois.dtype), pooled_size, layout)
        batch, channels, height, width = (data.shape[layout.index(a)] for a in "NCHW")
        wide = working_dtype(data.dtype)

        def part(ib: IRBuilder, x: Buffer, regions: Buffer, out: Buffer, place: Place) -> None:
            r, ph, pw = place

            def corner(k: int) -> Scalar:
                p = _bounded(te.cast(regions[r, k], wide) * spatial_scale, -_FAR, _FAR)
                return te.cast(te.select(p < 0.0, te.ceil(p - 0.5), te.floor(p + 0.5)), "int64")

            def span(first: int, cell: Any, cells: int, extent: int) -> tuple[Scalar, Scalar]:
                """The pixels of a part on one axis, from the first to the one behind the last."""
                start = corner(first)
                length = te.maximum(corner(first + 2) - start + 1, 1)
                at = te.cast(cell, "int64")
                begin = te.safe_floordiv(at * length, te.const(cells, "int64")) + start
                end = te.safe_floordiv((at + 1) * length + (cells - 1), te.const(cells, "int64")) + start
                begin = te.minimum(te.maximum(begin, 0), extent)
                return begin, te.maximum(te.minimum(end, extent), begin)

            (left, right), (top, bottom) = span(1, pw, pooled_size[1], width), span(2, ph, pooled_size[0], height)
            image = _image(regions[r, 0], batch)
            best = ib.allocate(data.dtype, (1,), "roi_best")
            with ib.for_range(0, channels, "c") as c:
                best[0] = te.select((left < right) & (top < bottom), te.const(-float("inf"), data.dtype), 0.0)
                with ib.for_range(top, bottom, "h") as h, ib.for_range(left, right, "w") as w:
                    best[0] = te.maximum(best[0], x[_ordered(layout, image, c, h, w)])
                out[_ordered(layout, r, c, ph, pw)] = best[0]

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            extents = (rois.shape[0], *pooled_size)
            each_place(ib, extents, lambda place: part(ib, ins[0], ins[1], outs[0], place), parallel=True)

        return extern_tensor(info.shape, data.dtype, [data, rois], body, "roi_pool")

    @staticmethod
    def np_ref(data: Array, rois: Array, *, pooled_size: Sequence[int], spatial_scale: float, layout: str) -> Array:
        x = np.transpose(data, [layout.index(a) for a in "NCHW"])
        out = np.zeros((len(rois), x.shape[1], *pooled_size), data.dtype)
        scaled = rois.astype(np.float64)[:, 1:] * spatial_scale
        corners = (np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)).astype(int)
        for r, ph, pw in np.ndindex(len(rois), *pooled_size):
            image = x[int(np.clip(np.float64(rois[r, 0]), 0, len(x) - 1))]
            cuts: list[slice] = []
            for k, cell in ((1, ph), (0, pw)):
                start, end = int(corners[r, k]), int(corners[r, k + 2])
                edges: Array = np.linspace(start, max(end, start) + 1, pooled_size[1 - k] + 1)
                # The edges of the parts, unless they are whole but for an error of rounding.
                low, high = np.floor(edges[cell] + 1e-9), np.ceil(edges[cell + 1] - 1e-9)
                cuts.append(slice(max(int(low), 0), max(int(high), 0)))
            pixels = image[:, cuts[0], cuts[1]]
            if pixels.size:
                out[r, :, ph, pw] = pixels.max((1, 2))
        return np.transpose(out, ["NCHW".index(a) for a in layout])

    @staticmethod
    def samples() -> list[Sample]:
        size = {"pooled_size": (2, 3), "spatial_scale": 0.5}
        return [
            *_region_samples(size),
            one_region(size, {"spatial_scale": 0.75}),
            one_region(size, {"pooled_size": (5, 4)}),
        ]

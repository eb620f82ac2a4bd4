"""Images sampled at places that a tensor holds: image.grid_sample, and image.affine_grid, which makes such places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from lamina.dialects.relay.contraction import tensordot
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.grad.windows import affine_grid_gradients
from lamina.dialects.relay.image.sampling import cubic_weights, one_of, working_dtype

_METHODS = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")
_LAYOUTS = {4: "NCHW", 5: "NCDHW"}
_ALPHA = -0.75
"""The coefficient of bicubic sampling, PyTorch's."""
_FAR = float(1 << 30)
"""Places further out than this are taken to lie there: they must be numbers that an index can be."""


@irdl_op_definition
class GridSampleOp(Injective):
    """y[n, c, i, j] is the image data[n, c] at the place x = grid[n, 0, i, j], y = grid[n, 1, i, j]; of a volume data
    [N, C, D, H, W] the grid [N, 3, D', H', W'] holds x, y and z.

    -1 and 1 are the centres of the first and the last pixel, without `align_corners` their outer edges. Outside,
    `padding_mode` zeros has zeros, border the nearest pixel, reflection the image mirrored at those places. `method`
    bilinear takes two pixels in each axis, nearest one (of two equally near the even one), bicubic four, in images
    only. A place that is no number lies before the first pixel.
    """

    name = "relay.image.grid_sample"
    NO_GRADIENT: ClassVar[str] = "an image sampled at places that are computed"

    data = operand_def(TensorType)
    grid = operand_def(TensorType)
    method = str_prop("bilinear")
    layout = str_prop("NCHW")
    padding_mode = str_prop("zeros")
    align_corners = bool_prop(True)

    @staticmethod
    def infer_type(
        data: TensorInfo, grid: TensorInfo, *, method: str, layout: str, padding_mode: str, align_corners: bool
    ) -> TensorInfo:
        check_dtype(data.dtype, FLOATS)
        check_dtype(grid.dtype, FLOATS)
        one_of("method", method, _METHODS)
        one_of("padding_mode", padding_mode, _PADDINGS)
        rank = len(data.shape)
        if rank not in _LAYOUTS or len(grid.shape) != rank:
            raise TypeMismatch(f"data of rank {rank} and a grid of rank {len(grid.shape)}, expects 4 or 5 of both")
        if layout != _LAYOUTS[rank]:
            raise TypeMismatch(f"layout {layout!r} for rank {rank}, only {_LAYOUTS[rank]!r} is supported")
        if method == "bicubic" and rank == 5:
            raise TypeMismatch("bicubic sampling is of images, the data is a volume")
        if grid.shape[:2] != (data.shape[0], rank - 2):
            raise TypeMismatch(
                f"the grid begins with {grid.shape[:2]}, expects ({data.shape[0]}, {rank - 2}): the batch, and a "
                "coordinate for each axis"
            )
        if 0 in data.shape[2:]:
            raise TypeMismatch(f"there is nothing to sample in {data.shape}")
        return TensorInfo((*data.shape[:2], *grid.shape[2:]), data.dtype)

    @staticmethod
    def te_compute(
        data: Tensor, grid: Tensor, *, method: str, layout: str, padding_mode: str, align_corners: bool
    ) -> Tensor:
        extents = data.shape[2:]
        rank = len(extents)
        wide = "float64" if "float64" in (data.dtype, grid.dtype) else "float32"

        def place(axis: int, n: Index, at: tuple[Index, ...]) -> Scalar:
            """The place of the result at `at` on an axis of the image, in pixels."""
            g, extent = te.cast(grid[(n, rank - 1 - axis, *at)], wide), extents[axis]
            p = (g + 1.0) * ((extent - 1) / 2) if align_corners else ((g + 1.0) * float(extent) - 1.0) * 0.5
            if padding_mode == "border" and method != "bicubic":
                p = te.minimum(te.maximum(p, 0.0), float(extent - 1))
            elif padding_mode == "reflection" and method != "bicubic":
                p = te.minimum(te.maximum(_mirrored(p, extent, align_corners), 0.0), float(extent - 1))
            return _within(p, -_FAR, _FAR)

        def pixel(n: Index, c: Index, whole: list[Scalar]) -> Scalar:
            """The pixel with these whole coordinates, and what stands for it outside the image."""
            if method == "bicubic" and padding_mode == "reflection":
                # The mirror of a whole place is whole; it is made in floats, which hold it exactly.
                whole = [_mirrored(w, e, align_corners) for w, e in zip(whole, extents, strict=True)]
            index = [te.cast(w, "int64") for w in whole]
            value = te.cast(data[(n, c, *(te.clamped(i, e) for i, e in zip(index, extents, strict=True)))], wide)
            if padding_mode != "zeros":
                return value
            inside = te.all(*(k for i, e in zip(index, extents, strict=True) for k in (i >= 0, i < e)))
            return te.select(inside, value, 0.0)

        def element(*i: Index) -> Scalar:
            n, c, at = i[0], i[1], i[2:]
            places = [place(axis, n, at) for axis in range(rank)]
            if method == "nearest":
                return te.cast(pixel(n, c, [te.roundeven(p) for p in places]), data.dtype)
            below = [te.floor(p) for p in places]
            rest = [p - b for p, b in zip(places, below, strict=True)]
            first, count = (0, 2) if method == "bilinear" else (-1, 4)
            weights = [cubic_weights(r, _ALPHA) if count == 4 else [1.0 - r, r] for r in rest]

            def total(axis: int, chosen: list[Scalar]) -> Scalar:
                """The weighted sum over an axis and those behind it."""
                if axis == rank:
                    return pixel(n, c, chosen)
                terms = [
                    total(axis + 1, [*chosen, below[axis] + float(first + t)]) * weights[axis][t] for t in range(count)
                ]
                found = terms[0]
                for term in terms[1:]:
                    found = found + term
                return found

            return te.cast(total(0, []), data.dtype)

        return te.compute([*data.shape[:2], *grid.shape[2:]], element, "grid_sample")

    @staticmethod
    def np_ref(data: Array, grid: Array, *, method: str, layout: str, padding_mode: str, align_corners: bool) -> Array:
        """Over a padded copy of the image, element by element of the grid, in f64."""
        extents = data.shape[2:]
        x = data.astype(np.float64)
        out = np.zeros((*data.shape[:2], *grid.shape[2:]))
        for n, *at in np.ndindex(grid.shape[0], *grid.shape[2:]):
            point = grid[(n, slice(None), *at)][::-1].astype(np.float64)
            taps = [_taps_ref(p, e, method, padding_mode, align_corners) for p, e in zip(point, extents, strict=True)]
            value = x[n]
            for index, weight in taps:
                # Each step takes away the axis behind the channels.
                value = tensordot(value[:, index], weight, ([1], [0]))
            out[(n, slice(None), *at)] = value
        return out.astype(data.dtype)

    @staticmethod
    def samples() -> list[Sample]:
        wide = (None, (-2.5, 2.5))

        def one(image: Any, grid: Any, error: str | None = None, **attrs: Any) -> Sample:
            volume = len(image[0] if isinstance(image[0], tuple) else image) == 5
            return sample(
                image, grid, attrs={**({"layout": "NCDHW"} if volume else {}), **attrs}, ranges=wide, error=error
            )

        a, g = (1, 2, 5, 4), (1, 2, 3, 6)
        v, h = (2, 1, 3, 2, 4), (2, 3, 2, 2, 3)
        each: list[dict[str, Any]] = [
            {"method": m, "padding_mode": p, "align_corners": c}
            for m in _METHODS
            for p in _PADDINGS
            for c in (True, False)
        ]
        found = [one(a, g, **attrs) for attrs in each]
        found += [one(v, h, **attrs) for attrs in each if attrs["method"] != "bicubic"]
        found += [one((1, 1, 1, 1), (1, 2, 3, 2), padding_mode="reflection", align_corners=c) for c in (True, False)]
        return [
            *found,
            one((1, 1, 1, 1), (1, 2, 1, 1), method="bicubic", padding_mode="reflection"),
            one((2, 3, 1, 7), (2, 2, 4, 1), padding_mode="border"),
            one((a, "float64"), (g, "float64"), method="bicubic"),
            one((a, "float64"), g),
            one((a, "float16"), g, padding_mode="border"),
            one((a, "bfloat16"), (g, "float64")),
            one((a, "int32"), g, error="got int32"),
            one(a, (1, 3, 3, 6), error="the grid begins with (1, 3), expects (1, 2)"),
            one(a, (1, 2, 3), error="data of rank 4 and a grid of rank 3"),
            one(a, g, method="bilinearly", error="method 'bilinearly' is none of bilinear, nearest, bicubic"),
            one(a, g, padding_mode="wrap", error="padding_mode 'wrap' is none of zeros, border, reflection"),
            one(a, g, layout="NHWC", error="only 'NCHW' is supported"),
            one(v, h, method="bicubic", error="bicubic sampling is of images"),
            one((1, 1, 0, 3), (1, 2, 1, 1), error="nothing to sample"),
        ]  # fmt: skip


def _within(p: Scalar, low: float, high: float) -> Scalar:
    """p between two bounds; what is no number is the lower one."""
    return te.select(p > low, te.select(p < high, p, high), low)


def _mirrored(p: Scalar, extent: int, align_corners: bool) -> Scalar:
    """p mirrored at both ends of an axis, the centres of the outer pixels or their edges, until it lies between."""
    start, length = (0.0, extent - 1) if align_corners else (-0.5, extent)
    if length == 0:
        return te.const(0.0, p.dtype)
    away = te.abs(_within(p, -_FAR, _FAR) - start)
    turns = te.floor(away / float(length))
    rest = away - turns * float(length)
    odd = te.not_equal(turns - te.floor(turns * 0.5) * 2.0, 0.0)
    return te.select(odd, float(length) - rest, rest) + start


def _taps_ref(p: float, extent: int, method: str, padding: str, align_corners: bool) -> tuple[Any, Any]:
    """The pixels of an axis that a place is made from, and the part of each."""
    low, high = (0.0, extent - 1.0) if align_corners else (-0.5, extent - 0.5)

    def fold(q: float) -> float:
        while not low <= q <= high and high > low:
            q = 2 * low - q if q < low else 2 * high - q
        return q if high > low else low

    def bounded(q: float) -> float:
        return min(max(fold(q) if padding == "reflection" else q, 0.0), extent - 1.0)

    at = low + (p + 1) / 2 * (high - low)
    if method != "bicubic" and padding != "zeros":
        at = bounded(at)
    if method == "nearest":
        taps = {int(np.rint(at)): 1.0}
    elif method == "bilinear":
        taps = {int(np.floor(at)) + t: 1 - abs(at - np.floor(at) - t) for t in (0, 1)}
    else:
        a = _ALPHA
        near: Callable[[float], float] = lambda d: (a + 2) * d**3 - (a + 3) * d**2 + 1  # noqa: E731
        far: Callable[[float], float] = lambda d: a * (d**3 - 5 * d**2 + 8 * d - 4)  # noqa: E731
        taps = {}
        for t in range(-1, 3):
            d = abs(at - np.floor(at) - t)
            taps[int(np.floor(at)) + t] = near(d) if d <= 1 else far(d)
    index: list[int] = []
    parts: list[float] = []
    for tap, part in taps.items():
        if padding == "zeros" and not 0 <= tap < extent:
            continue  # a zero there; a part of zero of a pixel would be NaN where that is infinite
        # A place that is bounded has but a tap behind the edge, of which its part is zero: it is the edge's.
        index.append(round(bounded(tap) if method == "bicubic" else min(max(tap, 0), extent - 1)))
        parts.append(part)
    return np.asarray(index, np.int64), np.asarray(parts)


@irdl_op_definition
class AffineGridOp(Injective):
    """The places of a grid of `target_shape` [H, W] moved by the matrices data [N, 2, 3], for image.grid_sample:
    y[n, d, i, j] = data[n, d] . (x_j, y_i, 1), where x and y go from -1 to 1 over the grid."""

    name = "relay.image.affine_grid"

    data = operand_def(TensorType)
    target_shape = ints_prop()

    @staticmethod
    def infer_type(data: TensorInfo, *, target_shape: tuple[int, ...]) -> TensorInfo:
        check_dtype(data.dtype, FLOATS)
        if len(data.shape) != 3 or data.shape[1:] != (2, 3):
            raise TypeMismatch(f"data has shape {data.shape}, expects matrices [N, 2, 3]")
        if len(target_shape) != 2 or min(target_shape) < 2:
            raise TypeMismatch(f"target_shape {list(target_shape)} must be two numbers greater than 1")
        return TensorInfo((data.shape[0], 2, *target_shape), data.dtype)

    @staticmethod
    def te_compute(data: Tensor, *, target_shape: tuple[int, ...]) -> Tensor:
        wide = working_dtype(data.dtype)

        def line(place: Index, count: int) -> Scalar:
            # (2 i - (count - 1)) / (count - 1) is exact at both ends.
            steps: Any = place * 2 - (count - 1)
            return te.cast(te.cast(steps, "int64"), wide) / float(count - 1)

        def element(n: Index, d: Index, i: Index, j: Index) -> Scalar:
            a, b, c = (te.cast(data[n, d, k], wide) for k in range(3))
            return te.cast(a * line(j, target_shape[1]) + b * line(i, target_shape[0]) + c, data.dtype)

        return te.compute([data.shape[0], 2, *target_shape], element, "affine_grid")

    @staticmethod
    def np_ref(data: Array, *, target_shape: tuple[int, ...]) -> Array:
        y, x = np.meshgrid(*(np.linspace(-1, 1, e) for e in target_shape), indexing="ij")
        grid = np.stack([x, y, np.ones_like(x)])
        return np.einsum("ndk,kij->ndij", data.astype(np.float64), grid).astype(numpy_dtype(str(data.dtype)))

    @staticmethod
    def samples() -> list[Sample]:
        def one(data: Any, *size: int, error: str | None = None) -> Sample:
            return sample(data, attrs={"target_shape": size}, error=error)

        return [
            one((1, 2, 3), 3, 5),
            one((2, 2, 3), 2, 2),
            one((3, 2, 3), 7, 2),
            one((1, 2, 3), 2, 17),
            one((0, 2, 3), 2, 3),
            one(((2, 2, 3), "float64"), 4, 3),
            one(((1, 2, 3), "float16"), 3, 4),
            one(((1, 2, 3), "bfloat16"), 5, 4),
            one((1, 3, 4), 3, 5, error="expects matrices [N, 2, 3]"),
            one(((1, 2, 3), "int32"), 3, 5, error="got int32"),
            one((1, 2, 3), 3, error="must be two numbers greater than 1"),
            one((1, 2, 3), 1, 5, error="must be two numbers greater than 1"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, target_shape: tuple[int, ...]) -> Gradients:
        return affine_grid_gradients(grads, target_shape)

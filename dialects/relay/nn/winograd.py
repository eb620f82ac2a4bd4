"""Winograd's convolution: tiles of m x m outputs from (m + k - 1)^2 products instead of m^2 * k^2, for kernels k x k.

With the matrices A, B, G of `winograd_matrices`, one axis of a tile is y = A^T ((G w) * (B^T x)), * by elements; in two
dimensions each matrix stands on both sides. The weight's part is an op of its own, computed once where it is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.layout import axis_of, extents
from lamina.dialects.relay.nn.conv import Convolution, check_channels, check_kernel
from lamina.dialects.relay.window_fields import ConvolutionFields2d, DataAndWeight
from lamina.dialects.relay.windows import Window, windows

Matrix = tuple[tuple[Fraction, ...], ...]

_POINTS = tuple(Fraction(*p) for p in ((0,), (1,), (-1,), (2,), (-2,), (1, 2), (-1, 2), (3,), (-3,), (1, 3), (-1, 3)))
_FIVE_POINTS = tuple(Fraction(p, 8) for p in (0, 5, -5, 13, -13))
"""Those of F(4, 3): p, -p and nearly 1/p, -1/p, whose powers binary numbers hold exactly. Rounding errors are half as
large in the mean, and a fifth at most, as with 0, 1, -1, 2, -2, for as much work. (Alam, Anderson, Barabasz and Gregg,
"Winograd Convolution for Deep Neural Networks: Efficient Point Selection", 2022.)"""
LARGEST_TILE = len(_POINTS) + 1
"""Rows of a transformed tile: one for each point and one for infinity. Larger ones lose all precision."""


@cache
def winograd_matrices(m: int, k: int) -> tuple[Matrix, Matrix, Matrix]:
    """A [a, m], B [a, a] and G [a, k], a = m + k - 1: the polynomials of Cook and Toom at a - 1 points and infinity.

    Row j of G evaluates the kernel at point p_j, divided by the product of p_j - p_l; row j of B^T has the
    coefficients of the product of x - p_l, each over l != j; row j of A has the powers of p_j.
    """
    a = m + k - 1
    points = _FIVE_POINTS if a - 1 == len(_FIVE_POINTS) else _POINTS[: a - 1]

    def product(roots: Sequence[Fraction]) -> list[Fraction]:
        coefficients = [Fraction(1)]
        for root in roots:
            shifted = [Fraction(0), *coefficients]
            for n, c in enumerate(coefficients):
                shifted[n] -= root * c
            coefficients = shifted
        return coefficients

    out_rows: list[tuple[Fraction, ...]] = []
    in_rows: list[tuple[Fraction, ...]] = []
    kernel_rows: list[tuple[Fraction, ...]] = []
    for j, p in enumerate(points):
        others = [q for n, q in enumerate(points) if n != j]
        scale = Fraction(1)
        for q in others:
            scale *= p - q
        out_rows.append(tuple(p**n for n in range(m)))
        in_rows.append((*product(others), Fraction(0)))
        kernel_rows.append(tuple(p**n / scale for n in range(k)))
    out_rows.append((*([Fraction(0)] * (m - 1)), Fraction(1)))
    in_rows.append(tuple(product(points)))
    kernel_rows.append((*([Fraction(0)] * (k - 1)), Fraction(1)))
    return tuple(out_rows), tuple(zip(*in_rows, strict=True)), tuple(kernel_rows)


def behind_tiles(slides: Sequence[Window], tile_size: int) -> list[int]:
    """Zeros behind each axis of the data: tiles are whole, the last ones beyond the padding that was asked for."""
    counts = [-(-s.outputs() // tile_size) for s in slides]
    return [
        max(0, count * tile_size + s.size - 1 - s.before - s.extent) for count, s in zip(counts, slides, strict=True)
    ]


def matrix_stage(matrix: Matrix, dtype: str, name: str) -> Tensor:
    """The matrix as a tensor: few elements, each chosen by its index."""

    def element(i: Index, j: Index) -> Any:
        value: Any = te.const(0, dtype)
        for r, row in enumerate(matrix):
            for c, number in enumerate(row):
                if number:
                    here = te.all(i.equals(r), j.equals(c))
                    value = te.select(here, te.const(float(number), dtype), value)
        return value

    return te.compute((len(matrix), len(matrix[0])), element, name)


def tile_rows(tile_size: int, kernel: int) -> int:
    """The rows of a transformed tile. Raises TypeMismatch for a tile that has no matrices."""
    a = tile_size + kernel - 1
    if tile_size < 1 or kernel < 1 or a > LARGEST_TILE or a < 2:
        raise TypeMismatch(f"tile_size {tile_size} with a kernel of {kernel}: tiles have 2 to {LARGEST_TILE} rows")
    return a


class TileWeight:
    """Fields of an op that looks at the weight of a convolution by tiles, once where it is constant."""

    weight = operand_def()
    result = result_def()
    tile_size = int_prop()


@irdl_op_definition
class ContribConv2dWinogradWeightTransformOp(TileWeight, RelayOp, fusion_kind=OpPattern.OUT_ELEMWISE_FUSABLE):
    """G w G^T of each kernel: weight [O, I, K, K] -> [a, a, O, I] with a = tile_size + K - 1."""

    name = "relay.nn.contrib_conv2d_winograd_weight_transform"
    NO_GRADIENT: ClassVar[str] = "relay-alter-op-layout makes it, after gradients are taken"

    @staticmethod
    def infer_type(weight: TensorInfo, *, tile_size: int) -> TensorInfo:
        check_dtype(weight.dtype, FLOATS)
        if len(weight.shape) != 4 or weight.shape[2] != weight.shape[3]:
            raise TypeMismatch(f"weight must be [O, I, K, K], it is {weight.shape}")
        a = tile_rows(tile_size, weight.shape[2])
        return TensorInfo((a, a, *weight.shape[:2]), weight.dtype)

    @staticmethod
    def np_ref(weight: NDArray[Any], *, tile_size: int) -> NDArray[Any]:
        _, _, g = winograd_matrices(tile_size, weight.shape[2])
        exact = np.array(g, np.float64)
        return np.einsum("er,oirs,ns->enoi", exact, weight.astype(np.float64), exact).astype(weight.dtype)

    @staticmethod
    def te_compute(weight: Tensor, *, tile_size: int) -> Tensor:
        out, channels, k, _ = weight.shape
        a = tile_size + k - 1
        g = matrix_stage(winograd_matrices(tile_size, k)[2], weight.dtype, "G")
        r, s = te.reduce_axis(k, "r"), te.reduce_axis(k, "s")

        def rows(e: Index, s: Index, o: Index, i: Index) -> Any:
            return te.sum(g[e, r] * weight[o, i, r, s], r)

        half = te.compute((a, k, out, channels), rows, "kernel_rows")

        def columns(e: Index, n: Index, o: Index, i: Index) -> Any:
            return te.sum(half[e, s, o, i] * g[n, s], s)

        return te.compute((a, a, out, channels), columns, "winograd_weight")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((3, 5, 3, 3), attrs={"tile_size": 2}),
            sample((4, 2, 3, 3), attrs={"tile_size": 4}),
            sample((1, 1, 3, 3), attrs={"tile_size": 6}, rtol=1e-4),
            sample((2, 3, 5, 5), attrs={"tile_size": 2}),
            sample((2, 3, 2, 2), attrs={"tile_size": 3}),
            sample((2, 1, 1, 1), attrs={"tile_size": 2}),
            sample((1, 2, 3, 3), attrs={"tile_size": 1}),
            sample(((2, 7, 3, 3), "float64"), attrs={"tile_size": 4}),
            sample((2, 3, 3, 2), attrs={"tile_size": 2}, error="weight must be [O, I, K, K]"),
            sample((2, 3, 3, 3), attrs={"tile_size": 0}, error="tile_size 0 with a kernel of 3"),
            sample((2, 3, 7, 7), attrs={"tile_size": 8}, error="tile_size 8 with a kernel of 7"),
            sample(((2, 3, 3, 3), "int8"), attrs={"tile_size": 2}, error="got int8"),
        ]


@irdl_op_definition
class ContribConv2dWinogradWithoutWeightTransformOp(Convolution, DataAndWeight, ConvolutionFields2d):
    """nn.conv2d (stride 1) of x [N, C, H, W] with a weight [a, a, O, C/groups] that
    nn.contrib_conv2d_winograd_weight_transform has made of kernels of a - tile_size + 1 -> [N, O, H', W']."""

    name = "relay.nn.contrib_conv2d_winograd_without_weight_transform"
    NO_GRADIENT: ClassVar[str] = "relay-alter-op-layout makes it, after gradients are taken"
    tile_size = int_prop()
    channels = opt_prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def windows_of(shape: Sequence[int], weight: Sequence[int], attrs: dict[str, Any]) -> tuple[Window, ...]:
        """The windows over H and W of the data."""
        k = weight[0] - attrs["tile_size"] + 1
        image = [shape[axis_of(attrs["data_layout"], a)] for a in "HW"]
        return windows(image, (k, k), (1, 1), (1, 1), attrs["padding"])

    @classmethod
    def infer_type(
        cls, data: TensorInfo, weight: TensorInfo, *, kernel_size: Any = None, channels: int | None = None, **attrs: Any
    ) -> TensorInfo:
        layout = attrs["data_layout"]
        if layout not in ("NCHW", "NHWC") or attrs["out_layout"] not in ("", layout):
            raise TypeMismatch(f"layouts {layout!r} and {attrs['out_layout']!r}: both must be NCHW, or both NHWC")
        if attrs["kernel_layout"] not in ("OIHW", "HWIO"):
            raise TypeMismatch(f"layout {attrs['kernel_layout']!r} is neither 'OIHW' nor 'HWIO'")
        x = extents(layout, data.shape)
        if len(weight.shape) != 4 or weight.shape[0] != weight.shape[1]:
            raise TypeMismatch(f"weight must be [a, a, O, C], it is {weight.shape}")
        k = weight.shape[0] - attrs["tile_size"] + 1
        tile_rows(attrs["tile_size"], k)
        check_kernel((k, k), kernel_size)
        if set(attrs["strides"]) != {1} or set(attrs["dilation"]) != {1}:
            raise TypeMismatch("takes strides 1 and dilation 1")
        check_channels(x["C"], weight.shape[3], weight.shape[2], attrs["groups"], channels)
        h, w = cls.windows_of(data.shape, weight.shape, attrs)
        sizes = {"N": x["N"], "C": weight.shape[2], "H": h.outputs(), "W": w.outputs()}
        dtype = check_dtype(same_dtype(data, weight), FLOATS)
        return TensorInfo(tuple(sizes[a] for a in layout), attrs["out_dtype"] or dtype)

    @classmethod
    def np_ref(cls, data: NDArray[Any], weight: NDArray[Any], **attrs: Any) -> NDArray[Any]:
        layout, m, a, groups = attrs["data_layout"], attrs["tile_size"], weight.shape[0], attrs["groups"]
        x = np.transpose(data, [layout.index(n) for n in "NCHW"]).astype(np.float64)
        slides = cls.windows_of(data.shape, weight.shape, attrs)
        outs = [s.outputs() for s in slides]
        down, across = (-(-o // m) for o in outs)
        out, into, _ = (np.array(n, np.float64) for n in winograd_matrices(m, a - m + 1))
        edges = zip((s.before for s in slides), behind_tiles(slides, m), strict=True)
        x = np.pad(x, [(0, 0), (0, 0), *edges])
        y = np.zeros((x.shape[0], weight.shape[2], down * m, across * m))
        parts = np.split(weight.astype(np.float64), groups, 2)
        for i, j in np.ndindex(down, across):
            tiles = into.T @ x[:, :, i * m : i * m + a, j * m : j * m + a] @ into
            pairs = zip(parts, np.split(tiles, groups, 1), strict=True)
            products = np.concatenate([np.einsum("enoi,bien->boen", w, t) for w, t in pairs], axis=1)
            y[:, :, i * m : (i + 1) * m, j * m : (j + 1) * m] = out.T @ products @ out
        y = y[:, :, : outs[0], : outs[1]]
        y = np.transpose(y, ["NCHW".index(n) for n in layout])
        return y.astype(attrs["out_dtype"] or data.dtype)

    @classmethod
    def te_compute(cls, data: Tensor, weight: Tensor, **attrs: Any) -> Tensor:
        layout, m, a = attrs["data_layout"], attrs["tile_size"], weight.shape[0]
        dtype = attrs["out_dtype"] or data.dtype
        x = extents(layout, data.shape)
        slides = cls.windows_of(data.shape, weight.shape, attrs)
        outs = [s.outputs() for s in slides]
        down, across = (-(-o // m) for o in outs)
        out_matrix, in_matrix, _ = winograd_matrices(m, a - m + 1)
        to_tile, from_tile = (matrix_stage(n, dtype, s) for n, s in ((in_matrix, "B"), (out_matrix, "A")))
        before = {"H": slides[0].before, "W": slides[1].before}
        after = dict(zip("HW", behind_tiles(slides, m), strict=True))
        padded = te.pad(data, [before.get(n, 0) for n in layout], [after.get(n, 0) for n in layout])
        channels, count = x["C"], x["N"] * down * across
        rc = te.reduce_axis(weight.shape[3], "c")

        def pixel(p: Index, c: Any, row: Any, column: Any) -> Any:
            at = {
                "N": p // (down * across),
                "C": c,
                "H": p // across % down * m + row,
                "W": p % across * m + column,
            }
            return te.cast(padded[tuple(at[n] for n in layout)], dtype)

        tiles = _transformed(pixel, to_tile, channels, count)

        def multiply(e: Index, n: Index, o: Index, p: Index) -> Any:
            channel = o // per_out * weight.shape[3] + rc if attrs["groups"] > 1 else rc
            return te.sum(tiles[e, n, channel, p] * te.cast(weight[e, n, o, rc], dtype), rc)

        out = weight.shape[2]
        per_out = out // attrs["groups"]
        products = te.compute((a, a, out, count), multiply, "winograd_product")
        result = _transformed_back(products, from_tile)
        sizes = {"N": x["N"], "C": out, "H": outs[0], "W": outs[1]}

        def place(*i: Index) -> Any:
            at = dict(zip(layout, i, strict=True))
            p = at["W"] // m + (at["H"] // m + at["N"] * down) * across
            return result[at["H"] % m, at["W"] % m, at["C"], p]

        return te.compute([sizes[n] for n in layout], place, "conv2d_winograd")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((1, 3, 8, 8), (4, 4, 5, 3), attrs={"tile_size": 2}),
            sample((1, 3, 7, 9), (6, 6, 2, 3), attrs={"tile_size": 4, "padding": [1, 1]}, rtol=1e-4),
            sample((2, 2, 6, 5), (4, 4, 3, 2), attrs={"tile_size": 2, "padding": [0, 1, 2, 0], "kernel_size": [3, 3]}),
            sample((1, 2, 9, 9), (6, 6, 3, 2), attrs={"tile_size": 2, "channels": 3}, rtol=1e-4),
            sample((1, 5, 4, 3), (4, 4, 2, 3), attrs={"tile_size": 2, "data_layout": "NHWC", "kernel_layout": "HWIO"}),
            sample((1, 1, 3, 3), (4, 4, 1, 1), attrs={"tile_size": 2}),
            sample((1, 2, 5, 4), (4, 4, 3, 2), attrs={"tile_size": 3}),
            sample(((1, 2, 5, 6), "float64"), ((4, 4, 3, 2), "float64"), attrs={"tile_size": 2, "out_layout": "NCHW"}),
            sample((1, 4, 5, 5), (4, 4, 6, 2), attrs={"tile_size": 2, "groups": 2, "strides": [1], "dilation": [1]}),
            sample((1, 2, 5, 5), (4, 4, 3, 2), attrs={"tile_size": 2, "out_dtype": "float64"}),
            sample((1, 3, 8, 8), (4, 4, 5, 2), attrs={"tile_size": 2}, error="input has 3 channels, weight expects 2"),
            sample((1, 3, 8, 8), (4, 4, 5, 3), attrs={"tile_size": 2, "strides": [2, 2]}, error="takes strides 1"),
            sample((1, 3, 8, 8), (4, 4, 5, 3), attrs={"tile_size": 5}, error="tile_size 5 with a kernel of 0"),
            sample((1, 3, 8, 8), (4, 3, 5, 3), attrs={"tile_size": 2}, error="weight must be [a, a, O, C]"),
        ]


def _transformed(pixel: Callable[[Index, Index, Any, Any], Any], b: Tensor, channels: int, count: int) -> Tensor:
    """B^T x B of `count` tiles [a, a, C, tiles] of the data, x = `pixel(tile, channel, row, column)`."""
    a = b.shape[0]
    r, s = te.reduce_axis(a, "r"), te.reduce_axis(a, "s")

    def rows(e: Index, s: Index, c: Index, p: Index) -> Any:
        return te.sum(b[r, e] * pixel(p, c, r, s), r)

    half = te.compute((a, a, channels, count), rows, "data_rows")

    def columns(e: Index, n: Index, c: Index, p: Index) -> Any:
        return te.sum(half[e, s, c, p] * b[s, n], s)

    return te.compute((a, a, channels, count), columns, "winograd_data")


def _transformed_back(products: Tensor, a: Tensor) -> Tensor:
    """A^T x A [m, m, O, tiles] of the products [a, a, O, tiles]: the outputs of each tile."""
    (rows, m), (_, _, out, count) = a.shape, products.shape
    e, n = te.reduce_axis(rows, "e"), te.reduce_axis(rows, "n")

    def rows_back(i: Index, n: Index, o: Index, p: Index) -> Any:
        return te.sum(a[e, i] * products[e, n, o, p], e)

    half = te.compute((m, rows, out, count), rows_back, "result_rows")

    def columns_back(i: Index, j: Index, o: Index, p: Index) -> Any:
        return te.sum(half[i, n, o, p] * a[n, j], n)

    return te.compute((m, m, out, count), columns_back, "winograd_result")

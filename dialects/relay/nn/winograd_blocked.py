"""Winograd's convolution on channel blocks (NCHWc), as CPUs compute it; `cpu-winograd` makes it.

The matrices are those of `winograd.py`. Each transform is a sum with the nonzero entries of one row of its matrix:
which row, its index says, which schedules unroll. Between the transforms stand (tile_size + 2)^2 matrix products of
tiles by channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, TypeAlias

from lamina.dialects.numpy_dtypes import largest
from lamina.dialects.relay.declare import *
from lamina.dialects.relay.nn.conv import ZERO, Convolution, check_kernel
from lamina.dialects.relay.nn.winograd import Matrix, TileWeight, behind_tiles, tile_rows, winograd_matrices
from lamina.dialects.relay.nn.winograd_accuracy import far_tiles, largest_top, np_far_tiles
from lamina.dialects.relay.windows import Window, windows


def _transposed(matrix: Matrix) -> Matrix:
    return tuple(zip(*matrix, strict=True))


def _row(matrix: Matrix, index: Index, part: Callable[[int], Any]) -> Any:
    """The element `index` of a matrix times a vector of parts."""
    rows = _rows(matrix, part)
    result = rows[-1]
    for n, one in reversed(list(enumerate(rows[:-1]))):
        result = te.select(index.equals(n), one, result)
    return result


def _rows(matrix: Matrix, part: Callable[[int], Any]) -> list[Any]:
    """A matrix times a vector of parts, in the order of `_sums`."""

    def value(terms: Sequence[_Term]) -> Any:
        total: Any = None
        for k, sign, number in terms:
            here = part(k)
            if sign:
                here = here + part(k + 1) if sign > 0 else here - part(k + 1)
            term = here if number == 1 else here * number
            total = term if total is None else total + term
        return total

    rows: list[Any] = []
    for even, odd in _sums(matrix):
        if odd is None:
            rows.append(value(even))
            continue
        first, second = value(even), value(odd)
        rows += [first + second, first - second]
    return rows


_Term: TypeAlias = tuple[int, int, float]
"""Number of a part, the sign by which the next one is added to it (0: it is not), what both are multiplied by."""


@cache
def _sums(matrix: Matrix) -> list[tuple[list[_Term], list[_Term] | None]]:
    """The terms of the rows of a matrix: each row adds up what it has, and nothing else.

    The points p and -p give neighbours whose even powers are the same and whose odd ones are opposite: rows are a sum
    and a difference of two halves, columns have the sum or the difference of two parts.
    """
    pairs = _pairs(_transposed(matrix))

    def terms(row: Sequence[Fraction]) -> list[_Term]:
        found: list[_Term] = []
        for k, number in enumerate(row):
            if number and k - 1 not in pairs:
                sign = 0 if k not in pairs else 1 if row[k + 1] == number else -1
                found.append((k, sign, float(number)))
        return found

    sums: list[tuple[list[_Term], list[_Term] | None]] = []
    halved = _pairs(matrix)
    for n, row in enumerate(matrix):
        if n in halved:
            both = list(zip(row, matrix[n + 1], strict=True))
            sums.append((terms([(x + y) / 2 for x, y in both]), terms([(x - y) / 2 for x, y in both])))
        elif n - 1 not in halved:
            sums.append((terms(row), None))
    return sums


def _pairs(rows: Matrix) -> set[int]:
    """The first of each two neighbouring rows that differ in signs, and have equal ones and opposite ones."""
    found: set[int] = set()
    for n, (row, after) in enumerate(zip(rows, rows[1:], strict=False)):
        same = [x == y for x, y in zip(row, after, strict=True) if x]
        if n - 1 not in found and list(map(abs, row)) == list(map(abs, after)) and True in same and False in same:
            found.add(n)
    return found


PIECE = 1 << 18
"""Elements of transformed weights that are computed at once: two megabytes."""


@irdl_op_definition
class ContribConv2dWinogradNCHWcWeightTransformOp(
    TileWeight, RelayOp, fusion_kind=OpPattern.OUT_ELEMWISE_FUSABLE, exact=True
):
    """G w G^T of each kernel on blocks of channels: weight [O/32, I/16, 3, 3, 16, 32] -> [a, a, O/32, I/16, 16, 32]
    with a = tile_size + 2 for kernels of 3.

    Computed in double precision, in an order that is part of the meaning: a library that computes it when it is loaded
    gives the same bits as one that has it."""

    name = "relay.nn.contrib_conv2d_winograd_NCHWc_weight_transform"
    NO_GRADIENT: ClassVar[str] = "cpu-winograd makes it, after gradients are taken"

    @staticmethod
    def infer_type(weight: TensorInfo, *, tile_size: int) -> TensorInfo:
        check_dtype(weight.dtype, FLOATS)
        if len(weight.shape) != 6 or weight.shape[2] != weight.shape[3]:
            raise TypeMismatch(f"weight must be [O/b, I/c, K, K, c, b], it is {weight.shape}")
        o, i, k, _, c, b = weight.shape
        a = tile_rows(tile_size, k)
        return TensorInfo((a, a, o, i, c, b), weight.dtype)

    @staticmethod
    def np_ref(weight: NDArray[Any], *, tile_size: int) -> NDArray[Any]:
        from lamina.dialects.aligned_arrays import aligned_zeros

        o, i, k, _, c, b = weight.shape
        g = winograd_matrices(tile_size, k)[2]
        a = len(g)
        kernels = weight.reshape(o * i, k, k, c * b)
        result = aligned_zeros((a, a, o * i, c * b), weight.dtype)  # where a program can leave it
        # The pieces stay in the cache: in double precision the whole is eight times as large as the weights.
        step = max(1, PIECE // (a * a * c * b))
        for n in range(0, o * i, step):
            piece = np.ascontiguousarray(np.moveaxis(kernels[n : n + step], 0, 2), np.float64)
            for e, half in enumerate(_rows(g, piece.__getitem__)):
                for f, whole in enumerate(_rows(g, half.__getitem__)):
                    result[e, f, n : n + step] = whole
        return result.reshape(a, a, o, i, c, b)

    @staticmethod
    def te_compute(weight: Tensor, *, tile_size: int) -> Tensor:
        o, i, k, _, c, b = weight.shape
        a = tile_size + k - 1
        g = winograd_matrices(tile_size, k)[2]

        def rows(e: Index, s: Index, o: Index, i: Index, ci: Index, ov: Index) -> Any:
            return _row(g, e, lambda r: te.cast(weight[o, i, r, s, ci, ov], "float64"))

        half = te.compute((a, k, o, i, c, b), rows, "kernel_rows")

        def columns(e: Index, n: Index, o: Index, i: Index, ci: Index, ov: Index) -> Any:
            return te.cast(_row(g, n, lambda s: half[e, s, o, i, ci, ov]), weight.dtype)

        return te.compute((a, a, o, i, c, b), columns, "winograd_weight")

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((2, 1, 3, 3, 4, 32), attrs={"tile_size": 4}),
            sample((1, 2, 3, 3, 4, 8), attrs={"tile_size": 2}),
            sample((1, 1, 3, 3, 1, 1), attrs={"tile_size": 6}, rtol=1e-4),
            sample((3, 1, 5, 5, 2, 3), attrs={"tile_size": 2}),
            sample((1, 2, 2, 2, 2, 2), attrs={"tile_size": 3}),
            sample((2, 1, 1, 1, 2, 2), attrs={"tile_size": 2}),
            sample((1, 1, 3, 3, 2, 5), attrs={"tile_size": 1}),
            sample(((1, 2, 3, 3, 2, 2), "float64"), attrs={"tile_size": 4}),
            sample((2, 3, 3, 3), attrs={"tile_size": 2}, error="weight must be [O/b, I/c, K, K, c, b]"),
            sample((1, 1, 3, 3, 2, 2), attrs={"tile_size": 0}, error="tile_size 0 with a kernel of 3"),
            sample(((1, 1, 3, 3, 2, 2), "int8"), attrs={"tile_size": 2}, error="got int8"),
        ]


@irdl_op_definition
class ContribConv2dWinogradNCHWcLimitOp(TileWeight, RelayOp, fusion_kind=OpPattern.OPAQUE):
    """Bound of a tile of data for a transformed weight [a, a, O/b, C/c, c, b]: the squared norm, of all its
    channels, up to which no product and no sum overflows. 0, or no number, for a weight that is not finite."""

    name = "relay.nn.contrib_conv2d_winograd_NCHWc_limit"
    NO_GRADIENT: ClassVar[str] = "cpu-winograd makes it, after gradients are taken"

    @staticmethod
    def infer_type(weight: TensorInfo, *, tile_size: int) -> TensorInfo:
        check_dtype(weight.dtype, FLOATS)
        if len(weight.shape) != 6 or weight.shape[0] != weight.shape[1]:
            raise TypeMismatch(f"weight must be [a, a, O/b, C/c, c, b], it is {weight.shape}")
        tile_rows(tile_size, weight.shape[0] - tile_size + 1)
        return TensorInfo((), weight.dtype)

    @staticmethod
    def np_ref(weight: NDArray[Any], *, tile_size: int) -> NDArray[Any]:
        product = largest_top(weight.shape, str(weight.dtype), tile_size)
        with np.errstate(all="ignore"):
            norm = product / np.abs(weight.astype(np.float64)).max()
            return np.minimum(norm * norm, largest(str(weight.dtype))).astype(weight.dtype)

    @staticmethod
    def te_compute(weight: Tensor, *, tile_size: int) -> Tensor:
        axes = [te.reduce_axis(extent, f"k{n}") for n, extent in enumerate(weight.shape)]
        top = te.compute((), lambda: te.max(te.abs(weight[tuple(axes)]), axes), "top")
        product = largest_top(weight.shape, weight.dtype, tile_size)

        def limit_of() -> Any:
            norm = te.const(product, weight.dtype) / top[()]
            return te.minimum(norm * norm, largest(weight.dtype))

        return te.compute((), limit_of, "limit")

    @staticmethod
    def samples() -> list[Sample]:
        small, large = (-1e-30, 1e-30), (1e20, 1e30)
        return [
            sample((6, 6, 1, 2, 4, 8), attrs={"tile_size": 4}),
            sample((4, 4, 2, 1, 16, 32), attrs={"tile_size": 2}, ranges=(large,)),
            sample((6, 6, 1, 1, 1, 1), attrs={"tile_size": 4}, ranges=(small,)),
            sample((4, 4, 1, 3, 2, 5), attrs={"tile_size": 2}, ranges=(large,)),
            sample((6, 6, 1, 1, 3, 4), attrs={"tile_size": 2}, ranges=(large,)),
            sample((4, 4, 1, 1, 2, 2), attrs={"tile_size": 3}, ranges=(large,)),
            sample(((4, 4, 1, 1, 2, 2), "float64"), attrs={"tile_size": 2}, ranges=((1e200, 1e220),)),
            sample((2, 2, 1, 1, 2, 2), attrs={"tile_size": 1}, ranges=(large,)),
            sample((4, 3, 1, 1, 2, 2), attrs={"tile_size": 2}, error="weight must be [a, a, O/b, C/c, c, b]"),
            sample((3, 3, 1, 1, 2, 2), attrs={"tile_size": 0}, error="tile_size 0 with a kernel of 4"),
            sample(((4, 4, 1, 1, 2, 2), "int8"), attrs={"tile_size": 2}, error="got int8"),
        ]


@irdl_op_definition
class ContribConv2dWinogradNCHWcOp(Convolution):
    """nn.contrib_conv2d_NCHWc (stride 1, one group) of x [N, C/16, H, W, 16] with a weight [a, a, O/32, C/16, 16, 32]
    that nn.contrib_conv2d_winograd_NCHWc_weight_transform has made of the kernel [O/32, C/16, K, K, 16, 32], with K =
    a - tile_size + 1 -> [N, O/16, H', W', 16]. `channels` is the true number of output channels. Tiles whose inputs
    differ too much in size, or are beyond the limit, are summed directly, from the kernel (winograd_accuracy.py)."""

    name = "relay.nn.contrib_conv2d_winograd_NCHWc"
    NO_GRADIENT: ClassVar[str] = "cpu-winograd makes it, after gradients are taken"
    data = operand_def()
    weight = operand_def()
    kernel = operand_def()
    limit = operand_def()
    tile_size = int_prop()
    padding = prop_def(DenseArrayBase, default_value=ZERO)
    channels = prop_def(IntegerAttr)
    kernel_size = opt_prop_def(DenseArrayBase)

    @staticmethod
    def windows_of(data: Sequence[int], weight: Sequence[int], attrs: dict[str, Any]) -> tuple[Window, ...]:
        """The windows over H and W of the data."""
        k = weight[0] - attrs["tile_size"] + 1
        return windows(data[2:4], (k, k), (1, 1), (1, 1), attrs["padding"])

    @classmethod
    def infer_type(
        cls,
        data: TensorInfo,
        weight: TensorInfo,
        kernel: TensorInfo,
        limit: TensorInfo,
        *,
        channels: int,
        kernel_size: Any = None,
        **attrs: Any,
    ) -> TensorInfo:
        if len(data.shape) != 5 or len(weight.shape) != 6 or weight.shape[0] != weight.shape[1]:
            raise TypeMismatch(
                f"takes [N, C/c, H, W, c] and [a, a, O/b, C/c, c, b], got {data.shape} and {weight.shape}"
            )
        a, _, blocks, chunks, inner, block = weight.shape
        k = a - attrs["tile_size"] + 1
        tile_rows(attrs["tile_size"], k)
        check_kernel((k, k), kernel_size)
        if kernel.shape != (blocks, chunks, k, k, inner, block):
            raise TypeMismatch(f"the transformed weight {weight.shape} is not that of {kernel.shape}")
        if limit.shape:
            raise TypeMismatch(f"the limit is a number, not {limit.shape}")
        if (chunks, inner) != (data.shape[1], data.shape[4]):
            raise TypeMismatch(
                f"input has {data.shape[1]} blocks of {data.shape[4]} channels, weight {chunks} of {inner}"
            )
        out = -(-channels // inner)
        if channels < 1 or block % inner or blocks != -(-out * inner // block):
            raise TypeMismatch(f"{channels} channels do not fill {blocks} blocks of {block}")
        h, w = cls.windows_of(data.shape, weight.shape, attrs)
        dtype = check_dtype(same_dtype(data, weight, kernel, limit), FLOATS)
        return TensorInfo((data.shape[0], out, h.outputs(), w.outputs(), inner), dtype)

    @classmethod
    def np_ref(
        cls, data: NDArray[Any], weight: NDArray[Any], kernel: NDArray[Any], limit: NDArray[Any], **attrs: Any
    ) -> NDArray[Any]:
        a, m, inner = weight.shape[0], attrs["tile_size"], data.shape[4]
        k = a - m + 1
        back, into, _ = (np.array(n, np.float64) for n in winograd_matrices(m, k))
        slides = cls.windows_of(data.shape, weight.shape, attrs)
        outs = [s.outputs() for s in slides]
        down, across = (-(-o // m) for o in outs)
        edges = zip((s.before for s in slides), behind_tiles(slides, m), strict=True)
        x = np.pad(data.astype(np.float64), [(0, 0), (0, 0), *edges, (0, 0)])
        chunks = -(-attrs["channels"] // inner)
        y = np.zeros((data.shape[0], chunks, down * m, across * m, inner))
        far = np_far_tiles(x, outs, (m, k), limit)
        plain = kernel.astype(np.float64)
        for i, j in np.ndindex(down, across):
            tile = x[:, :, i * m : i * m + a, j * m : j * m + a]
            with np.errstate(all="ignore"):
                v = np.einsum("re,ncrsk,sf->ncefk", into, tile, into)
                products = np.einsum("ncefk,efockv->nefov", v, weight.astype(np.float64))
                products = products.reshape(*products.shape[:3], -1, inner)[:, :, :, :chunks]
                tiled = np.einsum("ei,nefov,fj->noijv", back, products, back)
                for p, q in np.ndindex(m, m) if far[:, i, j].any() else ():
                    direct = np.einsum("ncrsk,ocrskv->nov", tile[:, :, p : p + k, q : q + k], plain)
                    direct = direct.reshape(len(x), -1, inner)[:, :chunks]
                    tiled[:, :, p, q] = np.where(far[:, i, j, None, None], direct, tiled[:, :, p, q])
            y[:, :, i * m : (i + 1) * m, j * m : (j + 1) * m] = tiled
        return y[:, :, : outs[0], : outs[1]].astype(data.dtype)

    @classmethod
    def te_compute(cls, data: Tensor, weight: Tensor, kernel: Tensor, limit: Tensor, **attrs: Any) -> Tensor:
        """Stages: pad, if it is asked for; tile_rows, tiles (the data transformed), products, result_rows; which tiles
        are far (`far_tiles` has its stages); own_tiles and direct, the sums of these; conv.

        Tiles are counted row after row."""
        a, m, block = weight.shape[0], attrs["tile_size"], weight.shape[5]
        k = a - m + 1
        n, chunks, _, _, inner = data.shape
        back, into, _ = winograd_matrices(m, k)
        from_tile, to_tile = _transposed(back), _transposed(into)
        slides = cls.windows_of(data.shape, weight.shape, attrs)
        outs = [s.outputs() for s in slides]
        down, across = (-(-o // m) for o in outs)
        padded = te.pad(data, [0, 0, *(s.before for s in slides), 0], [0, 0, *behind_tiles(slides, m), 0])

        def tile_rows_of(n: Index, e: Index, s: Index, c: Index, t: Index, ci: Index) -> Any:
            return _row(to_tile, e, lambda r: padded[n, c, t // across * m + r, t % across * m + s, ci])

        half = te.compute((n, a, a, chunks, down * across, inner), tile_rows_of, "tile_rows")

        def tiles_of(n: Index, e: Index, f: Index, c: Index, t: Index, ci: Index) -> Any:
            return _row(to_tile, f, lambda s: half[n, e, s, c, t, ci])

        tiles = te.compute((n, a, a, chunks, down * across, inner), tiles_of, "tiles")
        c, ci = te.reduce_axis(chunks, "c"), te.reduce_axis(inner, "ci")

        def products_of(n: Index, e: Index, f: Index, ko: Index, t: Index, kv: Index) -> Any:
            o, ov = (ko * inner + kv) // block, (ko * inner + kv) % block
            return te.sum(tiles[n, e, f, c, t, ci] * weight[e, f, o, c, ci, ov], [c, ci])

        out = -(-attrs["channels"] // inner)
        products = te.compute((n, a, a, out, down * across, inner), products_of, "products")

        def result_rows_of(n: Index, i: Index, f: Index, ko: Index, t: Index, kv: Index) -> Any:
            return _row(from_tile, i, lambda e: products[n, e, f, ko, t, kv])

        rows = te.compute((n, m, a, out, down * across, inner), result_rows_of, "result_rows")
        far = far_tiles(padded, outs, (m, k), limit)
        direct = _direct_sums(padded, kernel, m, (down, across), out)

        def result_of(n: Index, ko: Index, y: Index, x: Index, kv: Index) -> Any:
            t = y // m * across + x // m
            tiled = _row(from_tile, x % m, lambda f: rows[n, y % m, f, ko, t, kv])
            return te.select(te.index(far[n, t]) >= 1, direct[n, y % m, x % m, ko, t, kv], tiled)

        return te.compute((n, out, *outs, inner), result_of, "conv")

    @staticmethod
    def samples() -> list[Sample]:
        x, none = (1, 2, 6, 5, 16), ()
        # No tile is far by the limit, or all tiles are.
        near = (None, None, None, (1e9, 2e9))
        far = (None, None, None, (-2.0, -1.0))

        def of(data: Any, weight: Any, kernel: Any, ranges: Any = near, **attrs: Any) -> Sample:
            if not isinstance(data[0], tuple):
                return sample(data, weight, kernel, none, attrs=attrs, ranges=ranges, rtol=1e-4)
            return sample(data, weight, kernel, (none, data[1]), attrs=attrs, ranges=ranges, rtol=1e-4)

        def wrong(error: str, weight: Any, kernel: Any, limit: Any = none, **attrs: Any) -> Sample:
            return sample(x, weight, kernel, limit, attrs=attrs, error=error)

        f64 = "float64"
        return [
            of(x, (4, 4, 1, 2, 16, 32), (1, 2, 3, 3, 16, 32), tile_size=2, channels=32),
            of((1, 1, 7, 9, 16), (6, 6, 2, 1, 16, 16), (2, 1, 3, 3, 16, 16), tile_size=4, channels=32, padding=[1, 1]),
            of(
                (2, 1, 6, 5, 4), (4, 4, 1, 1, 4, 8), (1, 1, 3, 3, 4, 8),
                tile_size=2, channels=5, padding=[0, 1, 2, 0], kernel_size=[3, 3],
            ),
            of((1, 2, 9, 9, 4), (6, 6, 3, 2, 4, 4), (3, 2, 3, 3, 4, 4), far, tile_size=4, channels=12, padding=[1, 1]),
            of((1, 2, 9, 9, 4), (6, 6, 3, 2, 4, 4), (3, 2, 5, 5, 4, 4), tile_size=2, channels=12),
            of((1, 1, 3, 3, 1), (4, 4, 1, 1, 1, 1), (1, 1, 3, 3, 1, 1), far, tile_size=2, channels=1),
            of((1, 1, 5, 4, 2), (4, 4, 2, 1, 2, 2), (2, 1, 2, 2, 2, 2), tile_size=3, channels=4),
            of((1, 3, 13, 13, 4), (6, 6, 1, 3, 4, 8), (1, 3, 3, 3, 4, 8), tile_size=4, channels=8, padding=[1] * 4),
            of(
                ((1, 1, 5, 6, 2), f64), ((4, 4, 1, 1, 2, 2), f64), ((1, 1, 3, 3, 2, 2), f64),
                tile_size=2, channels=2,
            ),
            wrong("input has 2 blocks of 16 channels", (4, 4, 1, 1, 16, 32), (1, 1, 3, 3, 16, 32), tile_size=2,
                  channels=32),
            wrong("64 channels do not fill 1 blocks of 32", (4, 4, 1, 2, 16, 32), (1, 2, 3, 3, 16, 32), tile_size=2,
                  channels=64),
            wrong("tile_size 5 with a kernel of 0", (4, 4, 1, 2, 16, 32), (1, 2, 3, 3, 16, 32), tile_size=5,
                  channels=32),
            wrong("takes [N, C/c, H, W, c]", (4, 3, 1, 2, 16, 32), (1, 2, 3, 3, 16, 32), tile_size=2, channels=32),
            wrong("is not that of (1, 2, 5, 5, 16, 32)", (4, 4, 1, 2, 16, 32), (1, 2, 5, 5, 16, 32), tile_size=2,
                  channels=32),
            wrong("the limit is a number, not (1,)", (4, 4, 1, 2, 16, 32), (1, 2, 3, 3, 16, 32), (1,), tile_size=2,
                  channels=32),
        ]  # fmt: skip


def _direct_sums(padded: Tensor, kernel: Tensor, m: int, tiles: tuple[int, int], out: int) -> Tensor:
    """The outputs [N, m, m, O/c, tiles, c] of tiles in so many rows and columns, as nn.conv2d sums them. Stages:
    own_tiles, the data of each tile by itself, and direct."""
    down, across = tiles
    n, chunks, _, _, inner = padded.shape
    k, block = kernel.shape[2], kernel.shape[5]
    a = m + k - 1

    def own_tiles_of(n: Index, t: Index, c: Index, e: Index, f: Index, ci: Index) -> Any:
        return padded[n, c, t // across * m + e, t % across * m + f, ci]

    own = te.compute((n, down * across, chunks, a, a, inner), own_tiles_of, "own_tiles")
    r, s = te.reduce_axis(k, "r"), te.reduce_axis(k, "s")
    c, ci = te.reduce_axis(chunks, "c"), te.reduce_axis(inner, "ci")

    def direct_of(n: Index, i: Index, j: Index, ko: Index, t: Index, kv: Index) -> Any:
        o, ov = (ko * inner + kv) // block, (ko * inner + kv) % block
        return te.sum(own[n, t, c, i + r, j + s, ci] * kernel[o, c, r, s, ci, ov], [c, r, s, ci])

    return te.compute((n, m, m, out, down * across, inner), direct_of, "direct")

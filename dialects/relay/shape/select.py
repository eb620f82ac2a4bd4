"""Ops that keep or replace parts of a tensor by where they lie: trilu, matrix_set_diag, strided_set."""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.shape.indexing import INDEX_DTYPES


@irdl_op_definition
class TriluOp(RelayOp, fusion_kind=OpPattern.ELEMWISE):
    """The upper triangle of each matrix, on and above the k-th diagonal, or the lower, on and below it; else 0."""

    name = "relay.trilu"

    data = operand_def(TensorType)
    k = operand_def(TensorType)
    upper = bool_prop(True)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, k: TensorInfo, upper: bool) -> TensorInfo:
        check_dtype(k.dtype, INTEGERS)
        if len(data.shape) < 2:
            raise TypeMismatch(f"data of shape {data.shape} holds no matrices")
        if k.shape:
            raise TypeMismatch(f"k has shape {k.shape}, expected a scalar")
        return data

    @staticmethod
    def te_compute(data: Tensor, k: Tensor, upper: bool) -> Tensor:
        def element(*i: Index) -> Any:
            diagonal = te.cast(i[-1] - i[-2], "int64")
            first = te.cast(k[()], "int64")
            kept = diagonal >= first if upper else diagonal <= first
            return te.select(kept, data[i], te.const(0, data.dtype))

        return te.compute(data.shape, element, "trilu")

    @staticmethod
    def np_ref(data: Array, k: Array, upper: bool) -> Array:
        triangle: Any = np.triu if upper else np.tril
        return triangle(data, k.astype(np.int64))

    @staticmethod
    def samples() -> list[Sample]:
        def one(shape: tuple[int, ...], dtype: str = "float32", k: str = "int64", **kw: Any) -> Sample:
            error = kw.pop("error", None)
            low = 0 if k.startswith("u") else -3
            return sample((shape, dtype), ((), k), attrs=kw, ranges=(None, (low, 3)), error=error)

        return [
            one((3, 5)),
            one((5, 3), upper=False),
            one((4, 4)),
            one((2, 5, 5), upper=False),
            one((1, 1)),
            one((2, 3, 1, 7)),
            one((7, 1), upper=False),
            one((3, 3), "float64", "int32"),
            one((5, 4), "int32", "int8"),
            one((4, 5), "bool", "uint8", upper=False),
            one((0, 3), "int8"),
            sample((5, 5), ((), "int64"), ranges=(None, (0, 0)), finite=False),
            one((3,), error="data of shape (3,) holds no matrices"),
            one((3, 3), k="float32", error="got float32"),
            sample((3, 3), ((1,), "int64"), error="k has shape (1,), expected a scalar"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, upper: bool) -> Gradients:
        return [r.trilu(grads[0], operands[1], upper=upper), None]


@irdl_op_definition
class MatrixSetDiagOp(Injective):
    """Matrices with their diagonals k1 to k2 replaced: row k2 - k of `diagonal` is the k-th, and without an axis of
    rows the only one. A shorter diagonal stands at the left of its row, or at the right as `super_diag_right_align`
    (k >= 0) and `sub_diag_right_align` (k < 0) say."""

    name = "relay.matrix_set_diag"

    input = operand_def(TensorType)
    diagonal = operand_def(TensorType)
    k1 = int_prop(0)
    k2 = int_prop(0)
    super_diag_right_align = bool_prop(True)
    sub_diag_right_align = bool_prop(False)

    @staticmethod
    def infer_type(input: TensorInfo, diagonal: TensorInfo, k1: int, k2: int, **_: bool) -> TensorInfo:  # noqa: A002
        same_dtype(input, diagonal)
        if len(input.shape) < 2:
            raise TypeMismatch(f"input of shape {input.shape} holds no matrices")
        rows, columns = input.shape[-2:]
        if not -rows < k1 <= k2 < columns:
            raise TypeMismatch(f"diagonals {k1} to {k2} of matrices of {rows} x {columns}")
        longest = min(rows + min(k2, 0), columns - max(k1, 0))
        expected = (*input.shape[:-2], *(() if k1 == k2 else (k2 - k1 + 1,)), longest)
        if diagonal.shape != expected:
            raise TypeMismatch(f"diagonal has shape {diagonal.shape}, expected {expected}")
        return input

    @staticmethod
    def te_compute(
        input: Tensor,  # noqa: A002
        diagonal: Tensor,
        k1: int,
        k2: int,
        super_diag_right_align: bool,
        sub_diag_right_align: bool,
    ) -> Tensor:
        rows, columns = input.shape[-2:]
        longest = diagonal.shape[-1]

        def element(*i: Index) -> Any:
            row, column = te.cast(i[-2], "int64"), te.cast(i[-1], "int64")
            k = column - row
            place = te.minimum(row, column)
            if k1 != k2:
                above = k >= 0
                length = te.minimum(te.minimum(k, 0) + rows, columns - te.maximum(k, 0))
                right = te.select(above, super_diag_right_align, te.const(sub_diag_right_align, "bool"))
                place = place + te.select(right, longest - length, te.const(0, "int64"))
            at: list[Scalar] = [] if k1 == k2 else [te.clamped(k2 - k, k2 - k1 + 1)]
            new = diagonal[(*i[:-2], *at, te.clamped(place, longest))]
            return te.select((k >= k1) & (k <= k2), new, input[i])

        return te.compute(input.shape, element, "matrix_set_diag")

    @staticmethod
    def np_ref(
        input: Array,  # noqa: A002
        diagonal: Array,
        k1: int,
        k2: int,
        super_diag_right_align: bool,
        sub_diag_right_align: bool,
    ) -> Array:
        out = np.copy(input)
        for k in range(k1, k2 + 1):
            row, column = max(-k, 0), max(k, 0)
            length = min(out.shape[-2] - row, out.shape[-1] - column)
            line = diagonal if k1 == k2 else diagonal[..., k2 - k, :]
            line = line[..., -length:] if (super_diag_right_align if k >= 0 else sub_diag_right_align) else line
            for n in range(length):
                out[..., row + n, column + n] = line[..., n]
        return out

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            matrix: tuple[int, ...],
            diagonal: tuple[int, ...],
            dtype: str = "float32",
            error: str | None = None,
            **kw: Any,
        ) -> Sample:
            return sample((matrix, dtype), (diagonal, dtype), attrs=kw, error=error)

        return [
            one((3, 5), (3,)),
            one((5, 3), (3,)),
            one((2, 4, 4), (2, 3), k1=1, k2=1),
            one((2, 5, 3), (2, 3), k1=-2, k2=-2),
            one((4, 5), (3, 4), k1=-1, k2=1),
            one((5, 4), (4, 4), k1=-2, k2=1, super_diag_right_align=False),
            one((5, 5), (4, 5), k1=-2, k2=1, sub_diag_right_align=True),
            one((2, 5, 6), (2, 2, 5), k1=0, k2=1, super_diag_right_align=False, sub_diag_right_align=True),
            one((6, 5), (2, 4), k1=-3, k2=-2),
            one((1, 1), (1,)),
            one((3, 3), (3,), "int32"),
            one((3, 3), (3, 3), "bool", k1=-1, k2=1),
            one((3, 3), (3,), "float64"),
            one((3,), (3,), error="input of shape (3,) holds no matrices"),
            one((3, 3), (3,), k1=1, error="diagonals 1 to 0"),
            one((3, 3), (2,), error="diagonal has shape (2,), expected (3,)"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, **attrs: Any) -> Gradients:
        data, diagonal = operands
        kept = r.matrix_set_diag(grads[0], zeros(diagonal), **attrs)
        places = r.matrix_set_diag(r.zeros_like(places_of(data)), places_of(diagonal, 1), **attrs)
        return [kept, scattered(grads[0], places, diagonal, absent=True)]


@irdl_op_definition
class StridedSetOp(Injective):
    """`data` with data[begin:end:strides] on its leading axes replaced by `v`. The bounds are values, negative ones
    count from the end; where the slice is larger than `v`, the last elements of `v` go on."""

    name = "relay.strided_set"

    data = operand_def(TensorType)
    v = operand_def(TensorType)
    begin = operand_def(TensorType)
    end = operand_def(TensorType)
    strides = operand_def(TensorType)

    @staticmethod
    def infer_type(
        data: TensorInfo, v: TensorInfo, begin: TensorInfo, end: TensorInfo, strides: TensorInfo
    ) -> TensorInfo:
        same_dtype(data, v)
        check_dtype(same_dtype(begin, end, strides), INDEX_DTYPES)
        if len(v.shape) != len(data.shape) or 0 in v.shape:
            raise TypeMismatch(f"sets elements of a tensor of shape {data.shape} by one of shape {v.shape}")
        if not begin.shape == end.shape == strides.shape or len(begin.shape) != 1:
            raise TypeMismatch(f"begin, end and strides have shapes {begin.shape}, {end.shape} and {strides.shape}")
        if begin.shape[0] > len(data.shape):
            raise TypeMismatch(f"slices {begin.shape[0]} axes of a tensor of rank {len(data.shape)}")
        return data

    @staticmethod
    def te_compute(data: Tensor, v: Tensor, begin: Tensor, end: Tensor, strides: Tensor) -> Tensor:
        def element(*i: Index) -> Any:
            inside: Any = te.const(1, "bool")
            source: list[Any] = []
            for a, extent in enumerate(data.shape):
                at = te.cast(i[a], "int64")
                if a < begin.shape[0]:
                    first, last, step = (te.cast(t[a], "int64") for t in (begin, end, strides))
                    back = step < 0
                    # Python's rule: from the end, then into 0 .. extent, one lower for a slice that goes back.
                    low, high = (
                        te.select(back, -1, te.const(0, "int64")),
                        te.select(back, extent - 1, te.const(extent, "int64")),
                    )
                    first = te.minimum(te.maximum(te.select(first < 0, first + extent, first), low), high)
                    last = te.minimum(te.maximum(te.select(last < 0, last + extent, last), low), high)
                    away = te.select(back, first - at, at - first)
                    short = te.select(back, at > last, at < last)
                    width = te.abs(step)
                    inside = inside & (away >= 0) & short & te.equal(te.safe_truncmod(away, width), 0)
                    inside = inside & te.not_equal(step, 0)
                    at = te.safe_truncdiv(away, width)
                source.append(te.clamped(at, v.shape[a]))
            return te.select(inside, v[tuple(source)], data[i])

        return te.compute(data.shape, element, "strided_set")

    @staticmethod
    def np_ref(data: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
        out = np.copy(data)
        ranges = [range(e) for e in data.shape]
        for a, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
            ranges[a] = range(data.shape[a])[int(b) : int(e) : int(s)] if s else range(0)
        places = np.ix_(*ranges)
        source = np.ix_(*(np.minimum(np.arange(len(r)), n - 1) for r, n in zip(ranges, v.shape, strict=True)))
        out[places] = v[source]
        return out

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            shape: tuple[int, ...],
            v: tuple[int, ...],
            axes: int,
            bounds: tuple[tuple[float, float], ...],
            dtype: str = "float32",
            index: str = "int64",
            error: str | None = None,
        ) -> Sample:
            types = (shape, dtype), (v, dtype), *[((axes,), index)] * 3
            return sample(*types, ranges=(None, None, *bounds), error=error)

        forward = (0, 1), (4, 6), (1, 2)
        return [
            one((7,), (6,), 1, forward),
            one((7, 5), (6, 6), 2, forward),
            one((7, 5), (6, 5), 1, forward),
            one((7, 5), (2, 2), 2, ((-7, -6), (-3, -1), (1, 1))),
            one((7, 5), (7, 5), 2, ((5, 6), (-9, -6), (-2, -1))),
            one((7, 9), (2, 3), 2, ((-12, 12), (-12, 12), (-3, 3))),
            one((9, 9), (9, 9), 2, ((-12, 12), (-12, 12), (-3, 3))),
            one((1,), (1,), 1, ((0, 0), (1, 1), (1, 1))),
            one((7,), (6,), 1, forward, "int32", "int32"),
            one((7,), (6,), 1, forward, "bool", "int8"),
            one((3, 4), (3, 4), 0, ((0, 0),) * 3),
            one((7,), (6, 1), 1, forward, error="of shape (7,) by one of shape (6, 1)"),
            one((7,), (6,), 2, forward, error="slices 2 axes of a tensor of rank 1"),
            one((7,), (6,), 1, forward, index="float32", error="got float32"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values) -> Gradients:
        data, new, *bounds = operands
        kept = r.strided_set(grads[0], zeros(new), *bounds)
        places = r.strided_set(r.zeros_like(places_of(data)), places_of(new, 1), *bounds)
        return [kept, scattered(grads[0], places, new, absent=True), *(None for _ in bounds)]

"""Ops on shapes and places as values: shape_of, ndarray_size, unravel_index, invert_permutation."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import each_place, extern_tensor
from lamina.dialects.relay.shape.indexing import INDEX_DTYPES

if TYPE_CHECKING:
    from lamina.dialects.relay.row_loops import Place

COUNTS = ("int32", "int64", "int16", "int8", "uint8", "uint16", "uint32", "uint64", "float32", "float64")


class ExtentsOf(Opaque):
    """Base of the ops that give the extents of a tensor as a vector of `dtype`."""

    data = operand_def(TensorType)
    dtype = str_prop("int32")

    @staticmethod
    def infer_type(data: TensorInfo, dtype: str) -> TensorInfo:
        return TensorInfo((len(data.shape),), check_dtype(dtype, COUNTS))

    @staticmethod
    def te_compute(data: Tensor, dtype: str) -> Tensor:
        def element(i: Index) -> Any:
            extent: Any = te.const(0, dtype)
            for axis, e in enumerate(data.shape):
                extent = te.select(te.equal(te.cast(i, "int64"), axis), te.const(e, dtype), extent)
            return extent

        return te.compute((data.ndim,), element, "shape_of")

    @staticmethod
    def np_ref(data: Array, dtype: str) -> Array:
        return np.array(data.shape, numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        return measured_samples()

    relay_grad = vjp(lambda dy, x, y: None)


@irdl_op_definition
class ShapeOfOp(ExtentsOf):
    """The extents of a tensor as a vector of `dtype`."""

    name = "relay.shape_of"


@irdl_op_definition
class NdarraySizeOp(Injective):
    """The number of elements that a tensor has, as a scalar of `dtype`."""

    name = "relay.ndarray_size"

    data = operand_def(TensorType)
    dtype = str_prop("int32")

    @staticmethod
    def infer_type(data: TensorInfo, dtype: str) -> TensorInfo:
        return TensorInfo((), check_dtype(dtype, COUNTS))

    @staticmethod
    def te_compute(data: Tensor, dtype: str) -> Tensor:
        return te.compute((), lambda: te.const(prod(data.shape), dtype), "ndarray_size")

    @staticmethod
    def np_ref(data: Array, dtype: str) -> Array:
        return np.array(data.size, numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        return measured_samples()

    relay_grad = vjp(lambda dy, x, y: None)


def measured_samples() -> list[Sample]:
    """Tensors of several shapes and dtypes, measured in several dtypes; the last one in a dtype that is refused."""
    return [
        sample((2, 3, 5)),
        sample((7,), attrs={"dtype": "int64"}),
        sample(((1, 1, 9, 2), "int8")),
        sample(()),
        sample(((0, 3), "float64")),
        sample((1,), attrs={"dtype": "uint8"}),
        sample((3, 11), attrs={"dtype": "float32"}),
        sample(((4, 2), "bool"), attrs={"dtype": "int16"}),
        sample((3,), attrs={"dtype": "bool"}, error="got bool"),
    ]


@irdl_op_definition
class UnravelIndexOp(Injective):
    """The coordinates, in a tensor whose extents are the elements of `shape`, of the places that `indices` count in
    row-major order: a column for each. The first coordinate is not reduced by its extent, an extent of 0 gives 0."""

    name = "relay.unravel_index"

    indices = operand_def(TensorType)
    shape = operand_def(TensorType)

    @staticmethod
    def infer_type(indices: TensorInfo, shape: TensorInfo) -> TensorInfo:
        check_dtype(indices.dtype, INTEGERS)
        check_dtype(shape.dtype, INTEGERS)
        if len(indices.shape) > 1 or len(shape.shape) != 1 or not shape.shape[0]:
            raise TypeMismatch(f"indices of shape {indices.shape} in a shape of shape {shape.shape}")
        return TensorInfo((shape.shape[0], *indices.shape), indices.dtype)

    @staticmethod
    def te_compute(indices: Tensor, shape: Tensor) -> Tensor:
        rank, dtype = shape.shape[0], indices.dtype

        def element(axis: Index, *place: Index) -> Any:
            left = indices[place]
            found: Any = te.const(0, dtype)
            for a in range(rank - 1, -1, -1):
                extent = te.cast(shape[a], dtype)
                coordinate = te.safe_floormod(left, extent) if a else left
                found = te.select(te.equal(te.cast(axis, "int64"), a), coordinate, found)
                left = te.safe_floordiv(left, extent)
            return found

        return te.compute((rank, *indices.shape), element, "unravel_index")

    @staticmethod
    def np_ref(indices: Array, shape: Array) -> Array:
        left, rows = indices, list[Any]()
        with np.errstate(divide="ignore"):  # both are 0 of integers where an extent is 0
            for extent in shape.astype(indices.dtype)[:0:-1]:
                rows.append(np.mod(left, extent))
                left = np.floor_divide(left, extent)
        return np.stack([left, *reversed(rows)])

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            indices: tuple[int, ...],
            rank: int,
            dtype: str = "int64",
            shape_dtype: str = "int64",
            low: float = 1.0,
            **kw: Any,
        ) -> Sample:
            return sample((indices, dtype), ((rank,), shape_dtype), ranges=((0, 100), (low, 9)), **kw)

        return [
            one((7,), 2),
            one((7,), 3),
            one((), 4),
            one((1,), 1),
            one((0,), 2),
            one((13,), 2, "int32", "int32"),
            one((13,), 3, "int32", "int64", 0.0),
            one((13,), 3, "uint8", "uint8"),
            one((13,), 2, "int8", "int64"),
            one((2, 2), 2, error="indices of shape (2, 2) in a shape of shape (2,)"),
            one((2,), 2, "float32", error="got float32"),
        ]


@irdl_op_definition
class InvertPermutationOp(Injective):
    """y[data[i]] = i. Where `data` is no permutation: indices are clamped, of equal ones the last counts, and places
    that none names hold 0."""

    name = "relay.invert_permutation"

    data = operand_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo) -> TensorInfo:
        check_dtype(data.dtype, INDEX_DTYPES)
        if len(data.shape) != 1:
            raise TypeMismatch(f"a permutation is a vector, got shape {data.shape}")
        return data

    @staticmethod
    def te_compute(data: Tensor) -> Tensor:
        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (x,), (y,) = ins, outs

            def clear(place: Place) -> None:
                y[place] = 0

            def one(place: Place) -> None:
                y[te.clamped(x[place], data.shape[0])] = te.cast(place[0], data.dtype)

            each_place(ib, data.shape, clear)
            each_place(ib, data.shape, one)

        return extern_tensor(data.shape, data.dtype, [data], body, "invert_permutation")

    @staticmethod
    def np_ref(data: Array) -> Array:
        out = np.zeros_like(data)
        for i, place in enumerate(np.clip(data.astype(np.int64), 0, len(data) - 1)):
            out[place] = i
        return out

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *(sample(((n,), "int64"), ranges=((0, max(n - 1, 0)),)) for n in (1, 2, 3, 7, 33, 0)),
            *(sample(((11,), dtype), ranges=((0, 12),)) for dtype in ("int32", "int8", "uint8")),
            sample(((5,), "int64"), ranges=((-3, 9),)),
            sample((3,), error="got float32"),
            sample(((2, 2), "int64"), error="a permutation is a vector, got shape (2, 2)"),
        ]

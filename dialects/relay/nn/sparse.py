"""Products with a sparse matrix, whose stored elements are in rows: CSR, or BSR with blocks instead of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from lamina.dialects.relay.declare import *


@irdl_op_definition
class SparseDenseOp(OutFusable):
    """x S^T of dense x [M, K] and sparse S [N, K] -> [M, N]; with `sparse_lhs` S x^T of x [N, K] and S [M, K].

    S is (data, indices, indptr): row n has the elements indptr[n] .. indptr[n + 1] - 1 of data [E], in the columns
    indices [E]. Data [E, R, C] are blocks: row n stands for R rows, a column for C. Entries of indptr are clamped to
    0 .. E, columns to those of x.
    """

    name = "relay.nn.sparse_dense"
    NO_GRADIENT: ClassVar[str] = "the places of the weights are data"
    dense_data = operand_def()
    sparse_data = operand_def()
    sparse_indices = operand_def()
    sparse_indptr = operand_def()
    sparse_lhs = bool_prop(False)

    @staticmethod
    def infer_type(
        dense_data: TensorInfo,
        sparse_data: TensorInfo,
        sparse_indices: TensorInfo,
        sparse_indptr: TensorInfo,
        *,
        sparse_lhs: bool,
    ) -> TensorInfo:
        dtype = check_dtype(same_dtype(dense_data, sparse_data), NUMBERS)
        for t in (sparse_indices, sparse_indptr):
            check_dtype(t.dtype, ("int32", "int64"))
        if len(dense_data.shape) != 2 or len(sparse_data.shape) not in (1, 3):
            raise TypeMismatch(
                f"dense data must have rank 2, sparse data 1 or 3, they are {dense_data.shape}, {sparse_data.shape}"
            )
        if sparse_indices.shape != sparse_data.shape[:1]:
            raise TypeMismatch(f"indices have shape {sparse_indices.shape} for {sparse_data.shape[0]} elements")
        if len(sparse_indptr.shape) != 1 or sparse_indptr.shape[0] < 1:
            raise TypeMismatch(f"indptr has shape {sparse_indptr.shape}, expects one number more than there are rows")
        rows, columns = sparse_data.shape[1:] or (1, 1)
        if dense_data.shape[1] < 1 or dense_data.shape[1] % max(columns, 1):
            raise TypeMismatch(f"{dense_data.shape[1]} columns of the dense data are no whole blocks of {columns}")
        shape = (dense_data.shape[0], (sparse_indptr.shape[0] - 1) * rows)
        return TensorInfo(shape[::-1] if sparse_lhs else shape, dtype)

    @staticmethod
    def np_ref(
        dense_data: NDArray[Any],
        sparse_data: NDArray[Any],
        sparse_indices: NDArray[Any],
        sparse_indptr: NDArray[Any],
        *,
        sparse_lhs: bool,
    ) -> NDArray[Any]:
        data = sparse_data.reshape(-1, 1, 1) if sparse_data.ndim == 1 else sparse_data
        count, rows, columns = data.shape
        blocks = dense_data.shape[1] // columns
        matrix = np.zeros(((len(sparse_indptr) - 1) * rows, dense_data.shape[1]), dense_data.dtype)
        bounds = np.clip(sparse_indptr, 0, count)
        for n in range(len(sparse_indptr) - 1):
            for e in range(bounds[n], bounds[n + 1]):
                at = int(np.clip(sparse_indices[e], 0, blocks - 1)) * columns
                matrix[n * rows : (n + 1) * rows, at : at + columns] += data[e]
        found = matrix @ dense_data.T if sparse_lhs else dense_data @ matrix.T
        return found.astype(dense_data.dtype)  # numpy has no product of bfloat16

    @staticmethod
    def te_compute(
        dense_data: Tensor, sparse_data: Tensor, sparse_indices: Tensor, sparse_indptr: Tensor, *, sparse_lhs: bool
    ) -> Tensor:
        from lamina.dialects.te.indices import Index, index_form
        from lamina.dialects.te.ir_builder import extern

        many, width = dense_data.shape
        count = sparse_data.shape[0]
        rows, columns = sparse_data.shape[1:] or (1, 1)
        heads = sparse_indptr.shape[0] - 1

        # An element of S meets a whole row of the transposed data, whose neighbours lie side by side.
        def transposed(of: Tensor) -> Callable[[Index, Index], Any]:
            return lambda i, j: of[j, i]

        turned = te.compute((width, many), transposed(dense_data), "dense_transposed")

        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            (x, data, indices, indptr), (y,) = ins, outs
            with ib.for_range(0, heads, "row") as n:
                with ib.for_range(0, rows, "zero") as i, ib.for_range(0, many, "m") as m:
                    y[n * rows + i, m] = te.const(0, dense_data.dtype)
                bounds = [te.cast(indptr[n + d], "int64") for d in (0, 1)]
                first, last = (Index(index_form(te.minimum(te.maximum(b, 0), count))) for b in bounds)
                with ib.for_range(first, last, "e") as e:
                    head = te.clamped(indices[e], width // columns)
                    with ib.for_range(0, rows, "i") as i, ib.for_range(0, columns, "j") as j:
                        value = data[(e, i, j) if len(data.shape) == 3 else (e,)]
                        with ib.for_range(0, many, "m") as m:
                            place = (n * rows + i, m)
                            y[place] = y[place] + value * x[head * columns + te.cast(j, "int64"), m]

        (found,) = extern(
            [(heads * rows, many)],
            [turned, sparse_data, sparse_indices, sparse_indptr],
            body,
            "sparse_rows",
            [dense_data.dtype],
        )
        if sparse_lhs:
            return found
        return te.compute((many, heads * rows), transposed(found), "sparse_dense")

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            dense: tuple[int, int],
            data: tuple[int, ...],
            rows: int,
            dtype: str = "float32",
            index: str = "int32",
            error: str | None = None,
            **attrs: Any,
        ) -> Sample:
            # Row bounds are drawn: out of order they make empty rows and rows that overlap.
            blocks = dense[1] // (data[2] if len(data) == 3 else 1)
            ranges = (None, None, (0.0, max(blocks - 1, 0)), (0.0, data[0]))
            return sample(
                (dense, dtype),
                (data, dtype),
                ((data[0],), index),
                ((rows + 1,), index),
                attrs=attrs,
                ranges=ranges,
                error=error,
            )

        return [
            one((3, 8), (11,), 5),
            one((3, 8), (11,), 5, sparse_lhs=True),
            one((4, 6), (7, 2, 3), 4),
            one((2, 8), (5, 3, 1), 3, index="int64", sparse_lhs=True),
            one((1, 1), (1,), 1),
            one((17, 9), (30,), 13, "float64"),
            one((5, 4), (6,), 3, "int32", index="int64"),
            one((2, 4), (0,), 2),
            sample((3, 4), (9,), ((9,), "int32"), ((6,), "int32"), ranges=(None, None, (-9.0, 9.0), (-5.0, 15.0))),
            one((3, 8), (7, 2, 3), 5, error="8 columns of the dense data are no whole blocks of 3"),
            one((3, 8), (7, 2), 5, error="sparse data 1 or 3"),
            one((3, 8), (7,), 5, index="int8", error="got int8"),
            sample((3, 8), (7,), ((6,), "int32"), ((4,), "int32"), error="indices have shape (6,) for 7 elements"),
        ]

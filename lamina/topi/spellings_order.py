"""TVM's signatures of ops on orders, diagonals and places, where they differ from Relay's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from lamina.te.expr import const, fail
from lamina.te.intrinsics import select
from lamina.te.tensor import Tensor, compute
from lamina.topi.calls import call_relay


def _integers(values: Sequence[Any], name: str) -> Tensor:
    """Numbers as a vector of int64."""
    listed = [int(v) for v in values]

    def element(i: Any) -> Any:
        found: Any = const(listed[0], "int64")
        for n, v in enumerate(listed[1:], 1):
            found = select(i.equal(n), const(v, "int64"), found)
        return found

    return compute((len(listed),), element, name)


def argsort(
    data: Tensor, valid_count: Any = None, axis: int = -1, is_ascend: Any = 1, dtype: str = "float32"
) -> Tensor:
    """The places of the elements of each row along `axis`, in order, as numbers of `dtype`: the shape of `data`.

    The order is stable, with NaN last. Raises InputError where `valid_count` is given.
    """
    if valid_count is not None:
        raise fail("topi.argsort: valid_count is not there; mask the elements that are not to count")
    return call_relay("argsort", data, axis=axis, is_ascend=bool(is_ascend), dtype=dtype)


def sort(data: Tensor, axis: int = -1, is_ascend: Any = 1) -> Tensor:
    """The elements of each row along `axis` in order, NaN last; the shape and dtype of `data`."""
    return call_relay("sort", data, axis=axis, is_ascend=bool(is_ascend))


def topk(
    data: Tensor,
    k: int = 1,
    axis: int = -1,
    ret_type: str = "both",
    is_ascend: Any = False,
    dtype: str = "int64",
) -> Any:
    """The first `k` elements along `axis` of the sorted rows, the greatest unless `is_ascend`; all where k < 1.

    `ret_type` is "both" (values, indices), "values" or "indices"; indices are of `dtype`. Of equal elements the first.
    """
    return call_relay("topk", data, k=k, axis=axis, ret_type=ret_type, is_ascend=bool(is_ascend), dtype=dtype)


def searchsorted(sorted_sequence: Tensor, values: Tensor, right: bool = False, out_dtype: str = "int64") -> Tensor:
    """The places at which `values` would be put into a sorted vector, or each row of them into its sorted row.

    The place is before equal elements, behind them with `right`. `out_dtype` is int32 or int64.
    """
    return call_relay("searchsorted", sorted_sequence, values, right=right, dtype=out_dtype)


def einsum(subscripts: str, *operand: Tensor) -> Tensor:
    """The product of the operands, summed over each label that the result lacks: `subscripts` as in numpy.einsum."""
    return call_relay("einsum", list(operand), equation=subscripts)


def trilu(data: Tensor, k: Any, upper: bool) -> Tensor:
    """`k` is a number, or a tensor of rank 0."""
    diagonal = k if isinstance(k, Tensor) else compute((), lambda: const(int(k), "int64"), "k")
    return call_relay("trilu", data, diagonal, upper=upper)


def matrix_set_diag(data: Tensor, diagonal: Tensor, k: Any = 0, align: str = "RIGHT_LEFT") -> Tensor:
    """`k` is a number or a pair of them; `align` says where diagonals above, then below the main one stand."""
    bounds: list[Any] = list(cast("Sequence[Any]", k)) if isinstance(k, (list, tuple)) else [k]
    first, last = int(bounds[0]), int(bounds[-1])
    above, _, below = align.partition("_")
    if {above, below} - {"LEFT", "RIGHT"}:
        raise fail(f"topi.matrix_set_diag: align is of the form 'RIGHT_LEFT', not {align!r}")
    return call_relay(
        "matrix_set_diag",
        data,
        diagonal,
        k1=first,
        k2=last,
        super_diag_right_align=above == "RIGHT",
        sub_diag_right_align=below == "RIGHT",
    )


def sparse_to_dense(
    sparse_indices: Tensor, output_shape: Sequence[Any], sparse_values: Tensor, default_value: Any = 0
) -> Tensor:
    """A tensor of `output_shape` with sparse_values[n] at the place sparse_indices[n], `default_value` elsewhere.

    Indices are coordinates [n, rank], or a vector (or scalar) for a result of rank 1; the default may be a number.
    """
    dtype = sparse_values.dtype
    if not isinstance(default_value, Tensor):
        number = default_value
        default_value = compute((), lambda: const(number, dtype), "default_value")
    shape = [int(e) for e in output_shape]
    return call_relay("sparse_to_dense", sparse_indices, sparse_values, default_value, output_shape=shape)


def strided_set(a: Tensor, v: Tensor, begin: Any, end: Any, strides: Any = None) -> Tensor:
    """The bounds are tensors or lists of numbers."""
    if not isinstance(begin, Tensor):
        listed = [begin, end, strides if strides is not None else [1] * len(begin)]
        begin, end, strides = (_integers(b, n) for b, n in zip(listed, ("begin", "end", "strides"), strict=True))
    elif strides is None:
        raise fail("topi.strided_set: strides are missing")
    return call_relay("strided_set", a, v, begin, end, strides)


def collapse_sum(data: Tensor, target_shape: Sequence[Any]) -> Tensor:
    """The sum over the axes that broadcasting from `target_shape` to the shape of `data` adds or stretches."""
    return call_relay("collapse_sum_to", data, shape=[int(e) for e in target_shape])


def adv_index(data: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """data[i0, i1, ...] for index tensors that broadcast against each other; indices are taken modulo the extent."""
    return call_relay("adv_index", [data, *indices])


def shape(array: Tensor, dtype: str = "int32") -> Tensor:
    """The extents of a tensor as a vector of `dtype`."""
    return call_relay("shape_of", array, dtype=dtype)


ORDER_SPELLINGS: dict[str, Callable[..., Any]] = {
    "adv_index": adv_index,
    "argsort": argsort,
    "collapse_sum": collapse_sum,
    "einsum": einsum,
    "matrix_set_diag": matrix_set_diag,
    "searchsorted": searchsorted,
    "shape": shape,
    "sort": sort,
    "sparse_to_dense": sparse_to_dense,
    "strided_set": strided_set,
    "topk": topk,
    "trilu": trilu,
}

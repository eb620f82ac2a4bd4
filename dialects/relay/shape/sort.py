"""Ops that order elements: argsort, sort, topk, searchsorted.

Sorting is a merge sort from the bottom up, over places in a row: stage t merges runs of 2^t, and each place of a pair
of runs takes the front of one of the two: O(n log n), with one loop body for all stages. Where few elements of a row
are wanted, they are inserted instead, one by one, into those that were the first so far. NaN stands last in either
direction, equal elements stay in their order. Rows are independent, and run in parallel.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import each_place, empty, inserted, statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.dialects.relay.row_loops import Place
    from lamina.dialects.tir.ops import LoopKind


def sorted_axis(data: TensorInfo, axis: int) -> int:
    """The axis counted from the front. Raises TypeMismatch where a tensor has no such axis."""
    check_dtype(data.dtype, ALL)
    if not data.shape:
        raise TypeMismatch("a tensor of rank 0 has no axis to sort along")
    return normalize_axis(axis, len(data.shape))


def before(a: Scalar, b: Scalar, ascending: bool) -> Scalar:
    """Whether a must stand before b: NaN comes after everything else."""
    first = a < b if ascending else a > b
    if is_float(a.dtype):
        first = first | (te.equal(a, a) & te.not_equal(b, b))
    return first


UNROLLED = 32
"""Elements that are held in registers; more of them are in memory."""
MOVES = 24
"""Moves of elements by an insertion in the time of a step of a merge, and a little more: few elements are inserted
at all, unless a row comes in order."""


def is_inserted(count: int, extent: int) -> bool:
    """Whether the first `count` elements of a row are inserted one by one, rather than all of it sorted."""
    return count < extent and (count <= UNROLLED or count <= MOVES * extent.bit_length())


def held(count: int) -> tuple[str, LoopKind]:
    """The memory scope of so many elements, and the kind of a loop over them."""
    return ("register", "unrolled") if count <= UNROLLED else ("global", "serial")


def inserting(
    ib: IRBuilder, element: Callable[[Any], Scalar], extent: int, ascending: bool, count: int
) -> tuple[Buffer, Buffer]:
    """The first `count` elements of a row in order, and their places."""
    scope, kind = held(count)
    values = ib.allocate(element(0).dtype, (count,), "first_values", scope)
    places = ib.allocate("int64", (count,), "first_places", scope)
    with ib.for_range(0, count, "n", kind) as n:
        values[n], places[n] = element(0), -1
    with ib.for_range(0, extent, "p") as p:

        def takes(n: Any) -> Scalar:
            return before(element(p), values[n], ascending) | (places[n] < 0)

        # Most elements stand behind the last one: a loop of one iteration, or of none, passes over the rest.
        with ib.for_range(0, te.cast(takes(count - 1), "int64"), "e"):
            with ib.for_range(1, count, "n", kind) as n:
                # They are in order: from the last on, those behind the first one that it stands before move on by one.
                m = count - n
                here, further = takes(m), takes(m - 1)
                values[m] = te.select(here, te.select(further, values[m - 1], element(p)), values[m])
                places[m] = te.select(here, te.select(further, places[m - 1], te.cast(p, "int64")), places[m])
            here = takes(0)
            values[0] = te.select(here, element(p), values[0])
            places[0] = te.select(here, te.cast(p, "int64"), places[0])
    return values, places


def merging(
    ib: IRBuilder, element: Callable[[Any], Scalar], extent: int, ascending: bool, name: str
) -> tuple[Buffer, int]:
    """The places of the elements of a row in order, as a line of a buffer, and which of its two lines."""
    # Two lines of places, read and written in turn; the fronts of the two runs that are merged, and their ends.
    order = ib.allocate("int64", (2, extent), f"{name}_order")
    front = ib.allocate("int64", (4,), f"{name}_front")
    stages = max(extent - 1, 0).bit_length()
    with ib.for_range(0, 4, "f") as f:
        front[f] = 0
    with ib.for_range(0, extent, "p") as p:
        order[0, p] = te.cast(p, "int64")
    with ib.for_range(0, stages, "t") as t, ib.for_range(0, extent, "p") as p:
        at = te.cast(p, "int64")
        width = te.const(1, "int64") << te.cast(t, "int64")
        starts = te.equal(at & (width + width - 1), 0)
        left = te.select(starts, at, front[0])
        middle = te.select(starts, te.minimum(at + width, extent), front[2])
        right = te.select(starts, middle, front[1])
        end = te.select(starts, te.minimum(at + width + width, extent), front[3])
        a = order[t % 2, te.minimum(left, extent - 1)]
        b = order[t % 2, te.minimum(right, extent - 1)]
        takes_right = before(element(te.clamped(b, extent)), element(te.clamped(a, extent)), ascending)
        takes_right = (right < end) & (takes_right | (left >= middle))
        order[(t + 1) % 2, p] = te.select(takes_right, b, a)
        step = te.cast(takes_right, "int64")
        front[0] = left + 1 - step
        front[1] = right + step
        front[2] = middle
        front[3] = end
    return order, stages % 2


def sorted_rows(
    data: Tensor, axis: int, ascending: bool, count: int, wanted: list[tuple[str, str]], name: str
) -> list[Tensor]:
    """The first `count` places or elements of each row along `axis` in order.

    `wanted` lists the results: ("indices", dtype) or ("values", dtype of data).
    """
    extent = data.shape[axis]
    shape = [*data.shape[:axis], count, *data.shape[axis + 1 :]]
    if te.has_no_elements(shape):
        return [empty(shape, dtype, name) for _, dtype in wanted]

    def first(ib: IRBuilder, x: Buffer, outs: list[Buffer], outer: Place) -> None:
        values, places = inserting(ib, lambda p: x[inserted(outer, axis, p)], extent, ascending, count)
        with ib.for_range(0, count, "n", held(count)[1]) as n:
            for (what, dtype), out in zip(wanted, outs, strict=True):
                out[inserted(outer, axis, n)] = te.cast(places[n], dtype) if what == "indices" else values[n]

    def row(ib: IRBuilder, x: Buffer, outs: list[Buffer], outer: Place) -> None:
        order, line = merging(ib, lambda p: x[inserted(outer, axis, p)], extent, ascending, name)
        with ib.for_range(0, count, "p") as p:
            source = order[line, p]
            for (what, dtype), out in zip(wanted, outs, strict=True):
                out[inserted(outer, axis, p)] = (
                    te.cast(source, dtype)
                    if what == "indices"
                    else x[inserted(outer, axis, te.clamped(source, extent))]
                )

    def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
        others = [e for a, e in enumerate(data.shape) if a != axis]
        fill = first if is_inserted(count, extent) else row
        each_place(ib, others, lambda outer: fill(ib, ins[0], outs, outer), parallel=True)

    return statements.extern([shape] * len(wanted), [data], body, name, [dtype for _, dtype in wanted])


def ordered_ref(data: Array, axis: int, ascending: bool) -> Array:
    """numpy's stable argsort, in the other direction of what falls where the elements rise; NaN is last in both."""
    wide = data.astype(np.float64) if data.dtype.kind not in "iub" else data
    if not ascending:
        wide = np.negative(wide) if wide.dtype.kind == "f" else np.invert(wide)
    return np.argsort(wide, axis=axis, kind="stable")


def _sort_samples(*dtype_of_indices: str) -> list[Sample]:
    """Odd sizes, ties, each direction, NaN and infinities, many dtypes, axes that are wrong."""
    few = ((-3.0, 3.0),)
    return [
        sample((7,)),
        sample((2, 3, 5), attrs={"axis": 0}),
        sample((2, 3, 5), attrs={"axis": -2, "is_ascend": False}),
        sample((1,), attrs={"axis": 0}),
        sample((3, 1), attrs={"axis": -1}),
        sample(((3, 33), "int32"), ranges=few),
        sample(((3, 33), "int32"), attrs={"is_ascend": False}, ranges=few),
        sample((2, 17), finite=False),
        sample((2, 17), attrs={"is_ascend": False}, finite=False),
        sample(((19,), "float64"), attrs={"axis": -1}),
        sample(((9,), "float16"), attrs={"is_ascend": False}),
        sample(((9,), "bfloat16")),
        sample(((2, 8), "uint8")),
        sample(((9,), "bool"), attrs={"is_ascend": False}),
        sample(((0, 3), "int64")),
        *(sample(((2, 6), "int8"), attrs={"dtype": d}) for d in dtype_of_indices),
        sample((), error="rank 0"),
        sample((3,), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
    ]


@irdl_op_definition
class ArgsortOp(Opaque):
    """The places of the elements along `axis` in ascending or descending order, in `dtype`."""

    name = "relay.argsort"

    data = operand_def(TensorType)
    axis = int_prop(-1)
    is_ascend = bool_prop(True)
    dtype = str_prop("int32")

    @staticmethod
    def infer_type(data: TensorInfo, axis: int, is_ascend: bool, dtype: str) -> TensorInfo:
        sorted_axis(data, axis)
        return TensorInfo(data.shape, check_dtype(dtype, NUMBERS))

    @staticmethod
    def te_compute(data: Tensor, axis: int, is_ascend: bool, dtype: str) -> Tensor:
        place = normalize_axis(axis, data.ndim)
        (order,) = sorted_rows(data, place, is_ascend, data.shape[place], [("indices", dtype)], "argsort")
        return order

    @staticmethod
    def np_ref(data: Array, axis: int, is_ascend: bool, dtype: str) -> Array:
        return ordered_ref(data, axis, is_ascend).astype(numpy_dtype(dtype))

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *_sort_samples("int64", "float32", "uint8"),
            sample((3,), attrs={"dtype": "bool"}, error="got bool"),
        ]


@irdl_op_definition
class SortOp(Opaque):
    """The elements along `axis` in ascending or descending order."""

    name = "relay.sort"

    data = operand_def(TensorType)
    axis = int_prop(-1)
    is_ascend = bool_prop(True)

    @staticmethod
    def infer_type(data: TensorInfo, axis: int, is_ascend: bool) -> TensorInfo:
        sorted_axis(data, axis)
        return data

    @staticmethod
    def te_compute(data: Tensor, axis: int, is_ascend: bool) -> Tensor:
        place = normalize_axis(axis, data.ndim)
        (ordered,) = sorted_rows(data, place, is_ascend, data.shape[place], [("values", data.dtype)], "sort")
        return ordered

    @staticmethod
    def np_ref(data: Array, axis: int, is_ascend: bool) -> Array:
        return np.take_along_axis(data, ordered_ref(data, axis, is_ascend), axis)

    @staticmethod
    def samples() -> list[Sample]:
        return _sort_samples()

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, axis: int, is_ascend: bool) -> Gradients:
        (x,) = operands
        order = r.argsort(x, axis=axis, is_ascend=is_ascend, dtype="int64")
        return [scattered(grads[0], r.gather(places_of(x), order, axis=axis), x)]


class TopkFields:
    """The results of the ops that pick the first elements in order, and the attributes that say which these are."""

    axis = int_prop(-1)
    ret_type = str_prop("both")
    is_ascend = bool_prop(False)
    dtype = str_prop("int32")
    outputs = var_result_def(TensorType)


@irdl_op_definition
class TopkOp(RelayOp, TopkFields):
    """The `k` greatest elements along `axis` (the smallest with `is_ascend`), all where k < 1, and their places.

    `ret_type` names the results: `both` (values, indices), `values` or `indices`. Of equal elements the first.
    """

    name = "relay.topk"

    data = operand_def(TensorType)
    k = int_prop(1)

    @staticmethod
    def infer_type(
        data: TensorInfo, k: int, axis: int, ret_type: str, is_ascend: bool, dtype: str
    ) -> tuple[TensorInfo, ...]:
        place = sorted_axis(data, axis)
        if ret_type not in ("both", "values", "indices"):
            raise TypeMismatch(f"ret_type {ret_type!r} is none of 'both', 'values', 'indices'")
        check_dtype(dtype, NUMBERS)
        extent = data.shape[place]
        if k > extent:
            raise TypeMismatch(f"k is {k}, axis {place} has {extent} elements")
        shape = (*data.shape[:place], k if k > 0 else extent, *data.shape[place + 1 :])
        values, indices = TensorInfo(shape, data.dtype), TensorInfo(shape, dtype)
        return {"both": (values, indices), "values": (values,), "indices": (indices,)}[ret_type]

    @staticmethod
    def te_compute(data: Tensor, k: int, axis: int, ret_type: str, is_ascend: bool, dtype: str) -> tuple[Tensor, ...]:
        place = normalize_axis(axis, data.ndim)
        kinds = ("values", "indices") if ret_type == "both" else (ret_type,)
        wanted = [(kind, data.dtype if kind == "values" else dtype) for kind in kinds]
        return tuple(sorted_rows(data, place, is_ascend, k if k > 0 else data.shape[place], wanted, "topk"))

    @staticmethod
    def np_ref(data: Array, k: int, axis: int, ret_type: str, is_ascend: bool, dtype: str) -> tuple[Array, ...]:
        order = np.take(ordered_ref(data, axis, is_ascend), np.arange(k if k > 0 else data.shape[axis]), axis)
        values, indices = np.take_along_axis(data, order, axis), order.astype(numpy_dtype(dtype))
        return {"both": (values, indices), "values": (values,), "indices": (indices,)}[ret_type]

    @staticmethod
    def samples() -> list[Sample]:
        return [
            sample((7,)),
            sample((3, 17), attrs={"k": 5}),
            sample((3, 17), attrs={"k": 5, "is_ascend": True}),
            sample((4, 9, 3), attrs={"k": 2, "axis": 1, "dtype": "int64"}),
            sample((4, 9), attrs={"k": 0, "axis": 0}),
            sample((4, 9), attrs={"k": 3, "ret_type": "values"}),
            sample((4, 9), attrs={"k": 3, "ret_type": "indices", "axis": -2, "dtype": "float32"}),
            sample((1,), attrs={"k": 1}),
            sample(((2, 33), "int32"), attrs={"k": 9}, ranges=((-3.0, 3.0),)),
            sample((2, 17), attrs={"k": 14}, finite=False),
            sample((2, 97), attrs={"k": 40}, finite=False),
            sample(((97, 2), "int32"), attrs={"k": 40, "axis": 0, "is_ascend": True}, ranges=((-9.0, 9.0),)),
            sample(((2, 9), "float64"), attrs={"k": -1}),
            sample(((9,), "uint8"), attrs={"k": 4}),
            sample(((9,), "float16"), attrs={"k": 4}),
            sample((3,), attrs={"k": 4}, error="k is 4, axis 0 has 3 elements"),
            sample((3,), attrs={"ret_type": "all"}, error="ret_type 'all' is none of"),
            sample((3,), attrs={"axis": 1}, error="axis 1 is out of range for rank 1"),
            sample((3,), attrs={"dtype": "bool"}, error="got bool"),
        ]

    @staticmethod
    def relay_grad(grads: Values, operands: Values, results: Values, *, ret_type: str, **attrs: Any) -> Gradients:
        (x,) = operands
        if ret_type == "indices" or grads[0] is None:
            return [None]
        order = r.topk(x, ret_type="indices", **{**attrs, "dtype": "int64"})
        return [scattered(grads[0], r.gather(places_of(x), order, axis=attrs["axis"]), x)]


@irdl_op_definition
class SearchSortedOp(Opaque):
    """Places at which each of `values` would be put in without disturbing the order: in the one row that
    `sorted_sequence` has, or in the row at its place. Before elements equal to it, behind them with `right`. NaN goes
    last."""

    name = "relay.searchsorted"

    sorted_sequence = operand_def(TensorType)
    values = operand_def(TensorType)
    right = bool_prop(False)
    dtype = str_prop("int32")

    @staticmethod
    def infer_type(sorted_sequence: TensorInfo, values: TensorInfo, right: bool, dtype: str) -> TensorInfo:
        check_dtype(same_dtype(sorted_sequence, values), ALL)
        check_dtype(dtype, ("int32", "int64"))
        rank = len(sorted_sequence.shape)
        if not rank or (rank > 1 and sorted_sequence.shape[:-1] != values.shape[:-1]):
            raise TypeMismatch(f"rows of shape {sorted_sequence.shape} for values of shape {values.shape}")
        return TensorInfo(values.shape, dtype)

    @staticmethod
    def te_compute(sorted_sequence: Tensor, values: Tensor, right: bool, dtype: str) -> Tensor:
        extent = sorted_sequence.shape[-1]

        def element(*i: Index) -> Any:
            value = values[i]
            row = i[:-1] if sorted_sequence.ndim > 1 else ()
            low, high = te.const(0, "int64"), te.const(extent, "int64")
            # The answer is one of extent + 1 places; each step halves them.
            for _ in range(extent.bit_length()):
                middle = (low + high) >> 1
                there = sorted_sequence[(*row, te.clamped(middle, extent))]
                behind = te.equal(before(value, there, True), False) if right else before(there, value, True)
                behind = behind & (low < high)
                low, high = te.select(behind, middle + 1, low), te.select(behind, high, te.minimum(high, middle))
            return te.cast(low, dtype)

        return te.compute(values.shape, element, "searchsorted")

    @staticmethod
    def np_ref(sorted_sequence: Array, values: Array, right: bool, dtype: str) -> Array:
        side: Any = "right" if right else "left"
        if sorted_sequence.ndim == 1:
            return np.asarray(np.searchsorted(np.sort(sorted_sequence), values, side)).astype(dtype)
        flat = sorted_sequence.reshape(prod(sorted_sequence.shape[:-1]), -1)
        found = [
            np.searchsorted(s, v, side) for s, v in zip(flat, values.reshape(len(flat), values.shape[-1]), strict=True)
        ]
        return np.asarray(found).reshape(values.shape).astype(dtype)

    @staticmethod
    def samples() -> list[Sample]:
        def one(
            row: tuple[int, ...], values: tuple[int, ...], dtype: str = "float32", finite: bool = True, **attrs: Any
        ) -> Sample:
            ranges = (Ascending(0 if dtype == "uint8" else -4, 4), (0 if dtype == "uint8" else -5, 5))
            return sample((row, dtype), (values, dtype), attrs=attrs, ranges=ranges, finite=finite)

        return [
            one((7,), (3, 5)),
            one((7,), (3, 5), right=True),
            one((1,), (9,), right=True),
            one((0,), (3,)),
            one((8,), ()),
            one((3, 9), (3, 5)),
            one((2, 3, 4), (2, 3, 1), right=True),
            one((16,), (33,), "int32"),
            one((17,), (33,), "int32", right=True),
            one((33,), (2, 9), "uint8"),
            one((9,), (5,), "float64"),
            one((29,), (29,), finite=False),
            one((2, 29), (2, 29), finite=False, right=True),
            sample(((15,), "int64"), ((4,), "int64"), attrs={"dtype": "int64"}, ranges=(Ascending(-3, 3), (-4, 4))),
            sample((3, 4), (2, 4), error="rows of shape (3, 4) for values of shape (2, 4)"),
            sample((3,), ((2,), "int32"), error="float32 and int32"),
            sample((3,), (2,), attrs={"dtype": "int8"}, error="got int8"),
        ]

"""Ops whose results are as long as what they find, relay.argwhere and relay.unique; and rows, of which there are more
each time, relay.append.

    %p = relay.argwhere %c : (tensor<4x3xi1>) -> tensor<?x2xi32>
    %u, %first, %inverse, %n = relay.unique %x : (tensor<8xi32>) -> (tensor<?xi32>, tensor<?xi32>, ...)

They are computed on the host, by numpy: no kernel makes a tensor whose size only its elements tell.
"""

from __future__ import annotations

from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.dyn.views import OPEN
from lamina.dialects.relay.value_dependent import OnHost


@irdl_op_definition
class ArgWhereOp(OnHost):
    """The places of the elements that are not zero, one row for each, in row-major order."""

    name = "relay.argwhere"

    condition = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(condition: TensorInfo) -> TensorInfo:
        check_dtype(condition.dtype, ALL)
        return TensorInfo((OPEN, len(condition.shape)), "int32")

    @staticmethod
    def on_host(condition: Array) -> tuple[Array, ...]:
        return (np.argwhere(condition).astype(np.int32),)


@irdl_op_definition
class UniqueOp(OnHost):
    """The different elements of a vector, each once: their values, where each stands first, for each element of the
    vector the place of its value among them, and how many they are; with `return_counts` also how often each occurs.

    In ascending order, or where `is_sorted` is false in the order in which they come first.
    """

    name = "relay.unique"

    data = operand_def(TensorType)
    is_sorted = bool_prop(True)
    return_counts = bool_prop(False)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, is_sorted: bool, return_counts: bool) -> tuple[TensorInfo, ...]:
        if len(data.shape) != 1:
            raise TypeMismatch(f"takes a vector, got shape {data.shape}")
        check_dtype(data.dtype, ALL)
        found = TensorInfo((OPEN,), "int32")
        counts = (found,) if return_counts else ()
        inverse, number = TensorInfo(data.shape, "int32"), TensorInfo((1,), "int32")
        return (TensorInfo((OPEN,), data.dtype), found, inverse, number, *counts)

    @staticmethod
    def on_host(data: Array, is_sorted: bool, return_counts: bool) -> tuple[Array, ...]:
        whole: Any = np.unique(data, return_index=True, return_inverse=True, return_counts=True)
        first, *places = _in_order(whole, is_sorted, return_counts)
        return (data[first], first.astype(np.int32), *places)


def _in_order(whole: tuple[Array, ...], is_sorted: bool, return_counts: bool) -> tuple[Array, ...]:
    """Of what numpy.unique gives: where each value stands first, which each element is, how many, and how often."""
    _, first, inverse, counts = whole
    inverse = inverse.reshape(-1)
    if not is_sorted:
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        first, inverse, counts = first[order], rank[inverse], counts[order]
    places = [inverse, np.array([len(first)]), *([counts] if return_counts else [])]
    return (first, *(a.astype(np.int32) for a in places))


@irdl_op_definition
class UniqueSlicesOp(OnHost):
    """relay.unique of the slices of an axis: in ascending order, compared element by element, or as they come."""

    name = "relay.unique_slices"

    data = operand_def(TensorType)
    axis = int_prop(0)
    is_sorted = bool_prop(True)
    return_counts = bool_prop(False)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, axis: int, is_sorted: bool, return_counts: bool) -> tuple[TensorInfo, ...]:
        check_dtype(data.dtype, ALL)
        place = normalize_axis(axis, len(data.shape))
        found = TensorInfo((OPEN,), "int32")
        counts = (found,) if return_counts else ()
        values = TensorInfo((*data.shape[:place], OPEN, *data.shape[place + 1 :]), data.dtype)
        return (values, found, TensorInfo((data.shape[place],), "int32"), TensorInfo((1,), "int32"), *counts)

    @staticmethod
    def on_host(data: Array, axis: int, is_sorted: bool, return_counts: bool) -> tuple[Array, ...]:
        whole: Any = np.unique(data, return_index=True, return_inverse=True, return_counts=True, axis=axis)
        first, *places = _in_order(whole, is_sorted, return_counts)
        return (np.take(data, first, axis), first.astype(np.int32), *places)


@irdl_op_definition
class AppendOp(OnHost):
    """The rows [n, ...] and one more, [...]: what a loop collects trip by trip. Without rows any extents fit."""

    name = "relay.append"

    data = operand_def(TensorType)
    row = operand_def(TensorType)
    result = result_def(TensorType)

    @staticmethod
    def infer_type(data: TensorInfo, row: TensorInfo) -> TensorInfo:
        if data.dtype != row.dtype or len(data.shape) != len(row.shape) + 1:
            raise TypeMismatch(f"{row} is no row of {data}")
        return TensorInfo((data.shape[0] + 1, *row.shape), data.dtype)

    @staticmethod
    def on_host(data: Array, row: Array) -> tuple[Array, ...]:
        if not len(data):
            return (row[None].copy(),)
        if data.shape[1:] != row.shape:
            raise TypeMismatch(f"a row of shape {list(row.shape)} behind rows of shape {list(data.shape[1:])}")
        return (np.concatenate([data, row[None]]),)

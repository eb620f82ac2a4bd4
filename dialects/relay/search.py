"""Ops whose results are as long as what they find: relay.argwhere and relay.unique.

    %p = relay.argwhere %c : (tensor<4x3xi1>) -> tensor<?x2xi32>
    %u, %first, %inverse, %n = relay.unique %x : (tensor<8xi32>) -> (tensor<?xi32>, tensor<?xi32>, ...)

They are computed on the host, by numpy: no kernel makes a tensor whose size only its elements tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType
from xdsl.irdl import irdl_op_definition, operand_def, result_def, var_result_def

from lamina.dialects.lazy import np
from lamina.dialects.relay.base import TensorInfo, TypeMismatch
from lamina.dialects.relay.dyn import OPEN
from lamina.dialects.relay.families import ALL, bool_prop, check_dtype
from lamina.dialects.relay.value_dependent import OnHost

if TYPE_CHECKING:
    from lamina.dialects.relay.families import Array


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
        values, first, inverse, counts = whole
        if not is_sorted:
            order = np.argsort(first, kind="stable")
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            values, first, inverse, counts = values[order], first[order], rank[inverse], counts[order]
        indices = [first, inverse.reshape(data.shape), np.array([len(values)])]
        return (values, *(a.astype(np.int32) for a in indices), *([counts.astype(np.int32)] if return_counts else []))

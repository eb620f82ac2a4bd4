"""Functions of TVM's on weights in blocks of rows, and on dtypes that are simulated."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.relay.op_functions import op_function
from lamina.errors import UsageError
from lamina.frontends.tvm_text.expr import Expr, as_expr, const


def _f(name: str, *args: Any) -> Any:
    return op_function(name)(*args)


def contrib_dense_pack(
    data: Any, weight: Any, weight_layout: str = "NC", units: int | None = None, out_dtype: Any = ""
) -> Any:
    """The product with a weight in blocks of rows, `NC16n`: [N / 16, C, 16]; in the layout `NC` it is nn.dense."""
    weight = as_expr(weight)
    if weight_layout == "NC":
        return _f("nn.dense", data, weight, units, out_dtype)
    rows = _rows(weight) if units is None else units
    return _f("nn.contrib_dense_pack", data, weight, rows, weight_layout, out_dtype)


def qnn_contrib_dense_pack(
    data: Any, weight: Any, input_zero_point: Any, kernel_zero_point: Any, input_scale: Any, kernel_scale: Any,
    kernel_layout: str = "NC", units: int | None = None, out_dtype: Any = "int32",
) -> Any:  # fmt: skip
    """qnn.dense with a weight in blocks of rows; in the layout `NC` it is qnn.dense."""
    weight = as_expr(weight)
    given = [data, weight, input_zero_point, kernel_zero_point, input_scale, kernel_scale]
    if kernel_layout == "NC":
        return _f("qnn.dense", *given, units, out_dtype)
    return _f("qnn.contrib_dense_pack", *given, _rows(weight) if units is None else units, kernel_layout, out_dtype)


def _rows(weight: Expr) -> int:
    shape = weight.checked_type.shape
    return shape[0] * shape[2]


def simulated_quantize(
    data: Any, output_scale: Any, output_zero_point: Any, axis: int = -1, out_dtype: Any = "int8"
) -> Any:
    """qnn.quantize in floats, to a dtype by its name or by a number that is known when the program runs."""
    return _f("qnn.simulated_quantize", data, _dtype_code(out_dtype), output_scale, output_zero_point, axis)


def simulated_dequantize(
    data: Any, input_scale: Any, input_zero_point: Any, axis: int = -1, in_dtype: Any = "int8"
) -> Any:
    """qnn.dequantize in floats, of a dtype by its name or by a number that is known when the program runs."""
    return _f("qnn.simulated_dequantize", data, _dtype_code(in_dtype), input_scale, input_zero_point, axis)


def _dtype_code(dtype: Any) -> Any:
    from lamina.dialects.relay.qnn.simulated import CODES

    if not isinstance(dtype, str):
        return dtype
    if dtype not in CODES:
        raise UsageError(f"a simulated dtype is {', '.join(CODES)}, not {dtype!r}")
    return const(CODES.index(dtype), "int32")


PACKED_COMPOSITES: dict[str, Any] = {
    "nn.contrib_dense_pack": contrib_dense_pack,
    "qnn.contrib_dense_pack": qnn_contrib_dense_pack,
    "qnn.simulated_quantize": simulated_quantize,
    "qnn.simulated_dequantize": simulated_dequantize,
}
"""By the names that operators have."""

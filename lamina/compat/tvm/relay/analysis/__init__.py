"""`relay.analysis`: what can be asked of expressions, types and modules."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.relay.analysis.feature import Feature, detect_feature
from lamina.compat.tvm.relay.analysis.kinds import check_kind, unmatched_cases
from lamina.compat.tvm.relay.analysis.operators import (
    count_layers,
    extract_fused_functions,
    extract_intermdeiate_expr,
    get_calibration_data,
    get_total_mac_number,
    list_fake_quantized_op_freqs,
    list_op_freqs,
    search_fc_transpose,
)
from lamina.compat.tvm.relay.analysis.variables import (
    all_dtypes,
    all_type_vars,
    bound_type_vars,
    check_basic_block_normal_form,
    check_constant,
    free_type_vars,
    post_order_visit,
    well_formed,
)
from lamina.frontends.tvm_text.walk import all_vars, bound_vars, free_vars


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(f"relay.analysis.{name}", list(__all__))


__all__ = [
    "Feature", "all_dtypes", "all_type_vars", "all_vars", "bound_type_vars", "bound_vars",
    "check_basic_block_normal_form", "check_constant", "check_kind", "count_layers", "detect_feature",
    "extract_fused_functions", "extract_intermdeiate_expr", "free_type_vars", "free_vars", "get_calibration_data",
    "get_total_mac_number", "list_fake_quantized_op_freqs", "list_op_freqs", "post_order_visit",
    "search_fc_transpose", "unmatched_cases", "well_formed",
]  # fmt: skip

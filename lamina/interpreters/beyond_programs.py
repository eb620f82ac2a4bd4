"""Ops that no program of kernels in a fixed order has: control flow, closures, data, unknown extents."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.infos import SYMBOLS
from lamina.dialects.relay.core import CallOp, FnOp, ProgramOp
from lamina.dialects.relay.symbolic import has_open_extent
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.dialects.relay.value_types import is_dynamic


def needs_machine(module: ModuleOp) -> bool:
    """Whether a module has anything that ordinary programs have not. Extents that are forms over symbols they have."""
    is_open = has_open_extent if SYMBOLS in module.attributes else is_dynamic
    for op in all_ops(module):
        if isinstance(op, (ProgramOp, ValueDependent)) or any(map(is_open, op.result_types)):
            return True
        if type(op) is FnOp and (op.operands or op.recursive is not None):
            return True
        if type(op) is CallOp and op.function() is None:
            return True
        if isinstance(op, func.FuncOp) and not all(type(t) is TensorType for t in op.function_type.inputs):
            return True
        if isinstance(op, func.FuncOp) and any(map(is_open, op.function_type.inputs)):
            return True
    return False

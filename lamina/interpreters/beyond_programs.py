"""Ops that no program of kernels in a fixed order has: control flow, closures, data, unknown extents."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.core import CallOp, FnOp, ProgramOp
from lamina.dialects.relay.value_dependent import ValueDependent
from lamina.dialects.relay.value_types import is_dynamic


def needs_machine(module: ModuleOp) -> bool:
    """Whether a module has anything that ordinary programs have not."""
    for op in all_ops(module):
        if isinstance(op, (ProgramOp, ValueDependent)) or any(map(is_dynamic, op.result_types)):
            return True
        if type(op) is FnOp and (op.operands or op.recursive is not None):
            return True
        if type(op) is CallOp and op.function() is None:
            return True
        if isinstance(op, func.FuncOp) and not all(map(_is_array, op.function_type.inputs)):
            return True
    return False


def _is_array(type_: Attribute) -> bool:
    return type(type_) is TensorType and not is_dynamic(type_)

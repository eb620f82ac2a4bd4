"""Whether the virtual machine runs a model, or a program of kernels in a fixed order does. Asked of every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from lamina.dialects.relay.core import FnOp
from lamina.interpreters.beyond_programs import needs_machine as has_beyond
from lamina.passes.relay.functional.inline import is_kernel

if TYPE_CHECKING:
    from lamina.driver.pipelines import Pipeline
    from lamina.ir.context import LaminaContext


def needs_machine(module: ModuleOp, ctx: LaminaContext, pipeline: Pipeline) -> bool:
    """Whether the virtual machine has to run a model. Where its calls might hide that it need not, they are inlined."""
    if not _is_beyond_programs(module):
        return False
    for p in pipeline.functions_away:
        pipeline.run_pass(p, module, ctx)
    return _is_beyond_programs(module)


def _is_beyond_programs(module: ModuleOp) -> bool:
    """Whether a module has what no program of kernels in a fixed order has. Calls count."""
    if has_beyond(module):
        return True
    functions = {f.sym_name.data: f for f in module.body.block.ops if isinstance(f, FuncOp)}
    for op in module.walk():
        if isinstance(op, FnOp) and not is_kernel(op):
            return True
        if isinstance(op, CallOp):
            callee = functions.get(op.callee.string_value())
            if callee is not None and not is_kernel(callee):
                return True
    return False

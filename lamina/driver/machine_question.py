"""Whether the machine runs a model, or a program of kernels in a fixed order does. Asked of every model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp

from lamina.dialects.relay.core import FnOp
from lamina.driver.compiler import functions_away
from lamina.interpreters.beyond_programs import needs_machine as has_beyond
from lamina.passes.relay.functional.inline import is_kernel
from lamina.transform import PassContext, pass_info

if TYPE_CHECKING:
    from lamina.ir.context import LaminaContext


def needs_machine(module: ModuleOp, ctx: LaminaContext, opt_level: int | PassContext) -> bool:
    """Whether the machine has to run a model. Where its calls might hide that it need not, they are inlined."""
    if not _is_beyond_programs(module):
        return False
    context = PassContext.of(opt_level)
    for p in functions_away(context):
        context.run(pass_info(type(p)), module, partial(p.apply, ctx, module))
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

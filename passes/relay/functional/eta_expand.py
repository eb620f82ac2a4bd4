"""relay-eta-expand: a function of the module that is used as a value becomes a local function that calls it.

Before:
    %f = relay.global @double : (tensor<8xf32>) -> tensor<8xf32>
After:
    %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> {
      %r = func.call @double(%p) : (tensor<8xf32>) -> tensor<8xf32>
      relay.return %r : tensor<8xf32>
    }

After it all calls of functions of the module name them. Calls of `%f` itself are made to name @double right away.
Constructors of data types, which TVM expands too, are no values here. relay-inline undoes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.ir import Block

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, FnOp, GlobalOp, ReturnOp
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class EtaExpand(ModulePass):
    """A function of the module that is used as a value becomes a local function that calls it."""

    name = "relay-eta-expand"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for used in [o for o in op.walk() if isinstance(o, GlobalOp)]:
            expand(used)


def expand(op: GlobalOp) -> None:
    """Put calls by name, and a local function where that is not enough, in the place of a function value."""
    for use in list(op.result.uses):
        call = use.operation
        if isinstance(call, CallOp) and use.index == 0 and _fits(call, op):
            named = func.CallOp(op.callee, list(call.arguments), list(call.result_types))
            edit.replace(call, named)
    if op.result.first_use is not None:
        edit.replace(op, _calling(op))
    else:
        edit.erase(op)


def _fits(call: CallOp, op: GlobalOp) -> bool:
    """Whether a call by name can stand for a call: it must not know more of its arguments than the function."""
    return [v.type for v in call.arguments] == list(op.result.type.inputs)


def _calling(op: GlobalOp) -> FnOp:
    type_ = op.result.type
    body = Block(arg_types=list(type_.inputs))
    call = func.CallOp(op.callee, list(body.args), list(type_.outputs))
    body.add_ops([call, ReturnOp.make(*call.results)])
    return FnOp.make(body)

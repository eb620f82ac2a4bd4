"""relay-defuse-ops: the inverse of relay-fuse-ops, primitive functions become the ops that they are made of.

Before:
    %f = relay.fn (%p0: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.exp %p0 : tensor<8xf32>
      %1 = relay.nn.relu %0 : tensor<8xf32>
      relay.return %1 : tensor<8xf32>
    }
    %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
After:
    %0 = relay.exp %x : tensor<8xf32>
    %y = relay.nn.relu %0 : tensor<8xf32>

Functions for an external compiler and composites stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, FnOp
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name


@dataclass(frozen=True)
class DefuseOps(ModulePass):
    """Primitive functions become the ops that they are made of."""

    name = "relay-defuse-ops"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in [o for o in op.walk() if isinstance(o, CallOp)]:
            function = call.function()
            if function is not None and is_kernel(function):
                with edit.transaction(call):
                    unfold(call, function)


def is_kernel(function: FnOp) -> bool:
    """Whether fusion made the function."""
    return "Primitive" in function.attributes and not {"Composite", "Compiler"} & set(function.attributes)


def unfold(call: CallOp, function: FnOp) -> None:
    """Put the ops of a function in the place of a call; a function that nobody calls any more goes."""
    block = call.parent
    assert block is not None
    mapped: dict[SSAValue, SSAValue] = dict(zip(function.body.block.args, call.arguments, strict=True))
    made: list[Operation] = []
    for op in list(function.body.block.ops)[:-1]:
        copy = op.clone(mapped)
        inherit_location(copy, op)
        for old, new in zip(op.results, copy.results, strict=True):
            inherit_name(new, old)
        made.append(copy)
    edit.insert_before(call, *made)
    for old, value in zip(call.results, function.returned, strict=True):
        new = mapped[value]
        if old.name_hint is not None:
            new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    edit.erase(call)
    if function.result.first_use is None and function.parent is not None:
        edit.erase(function)

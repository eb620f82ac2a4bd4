"""relay-split-args: concatenations of more tensors than a kernel may take are made in steps.

Before (max_function_args = 2):
    %y = relay.concatenate %a, %b, %c : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6xf32>
After:
    %0 = relay.concatenate %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %1 = relay.annotation.stop_fusion %0 : tensor<4xf32>
    %y = relay.concatenate %1, %c : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>

For targets that limit the arguments of a kernel; 0 is no limit. The steps are kept in kernels of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.base import RelayOp, attrs_of
from lamina.dialects.relay.functional.annotations import StopFusionOp
from lamina.dialects.relay.shape.join import ConcatenateOp
from lamina.errors import UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location


@dataclass(frozen=True)
class SplitArgs(ModulePass):
    """Concatenations of many tensors are made in steps."""

    name = "relay-split-args"
    opt_level: ClassVar[int] = 1
    max_function_args: int = 0
    """The most tensors that one op may put together, at least 2; 0: as many as there are."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_function_args == 0:
            return
        if self.max_function_args < 2:
            raise UsageError(f"relay-split-args: max-function-args is {self.max_function_args}, it must be at least 2")
        for found in [o for o in op.walk() if o.name == "relay.concatenate"]:
            if len(found.operands) > self.max_function_args:
                assert isinstance(found, RelayOp)
                with edit.transaction(found):
                    split(found, self.max_function_args)


def split(op: RelayOp, most: int) -> None:
    """Make a concatenation in steps of at most `most` tensors."""
    axis = attrs_of(op)["axis"]
    values: list[SSAValue] = list(op.operands)
    while len(values) > most:
        values = [_part(op, values[i : i + most], axis) for i in range(0, len(values), most)]
    last = _insert(op, ConcatenateOp.make(*values, axis=axis))
    edit.replace(op, [last])


def _part(op: RelayOp, values: list[SSAValue], axis: int) -> SSAValue:
    if len(values) == 1:
        return values[0]
    joined = _insert(op, ConcatenateOp.make(*values, axis=axis))
    return _insert(op, StopFusionOp.make(joined))


def _insert(before: Operation, made: RelayOp) -> SSAValue:
    inherit_location(made, before)
    edit.insert_before(before, made)
    return made.results[0]

"""relay-infer-type: the types of results are computed again from those of operands, in program order.

Before:
    func.func @main(%x: tensor<4x8xf32>) -> tensor<?x8xf32> {
      %0 = relay.nn.relu %x : (tensor<4x8xf32>) -> tensor<?x8xf32>
      return %0 : tensor<?x8xf32> }
After:
    func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = relay.nn.relu %x : tensor<4x8xf32>
      return %0 : tensor<4x8xf32> }

Every value has its type anyway, so this matters only where the inputs of a function were made more precise: extents
that follow from them are no longer open. What is no tensor operator keeps its types, and so does a value that such an
op reads. A function that is called keeps what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.relay.base import RelayOp
from lamina.dialects.relay.core import GlobalOp
from lamina.dialects.relay.value_types import accepts
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class InferType(ModulePass):
    """The types of results are computed again from those of operands."""

    name = "relay-infer-type"
    opt_level: ClassVar[int] = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        users = (o for o in op.walk() if isinstance(o, (func.CallOp, GlobalOp)))
        called = {user.callee.string_value() for user in users}
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and len(function.body.blocks) == 1:
                with edit.transaction():
                    refine(function.body.block, function.sym_name.data not in called)
                    returned = function.body.block.last_op
                    if isinstance(returned, func.ReturnOp) and function.sym_name.data not in called:
                        outputs = [v.type for v in returned.arguments]
                        function.function_type = FunctionType.from_lists(list(function.function_type.inputs), outputs)


def refine(block: Block, outputs: bool) -> None:
    """Give results of unknown extents the types that follow from their operands; returned ones only with `outputs`."""
    for op in list(block.ops):
        if isinstance(op, RelayOp) and not op.regions and has_unknown_extents(op.result_types):
            found = op.infer_types([v.type for v in op.operands], op.properties, op.operands)
            for result, type_ in zip(list(op.results), found, strict=True):
                if type_ != result.type and accepts(result.type, type_) and all_read_tensors(result, outputs):
                    edit.change(op)
                    Rewriter.replace_value_with_new_type(result, type_)


def all_read_tensors(value: SSAValue, outputs: bool) -> bool:
    """Whether nothing that uses the value insists on its type."""
    users = [use.operation for use in value.uses]
    return all((isinstance(u, RelayOp) and not u.regions) or (outputs and isinstance(u, func.ReturnOp)) for u in users)

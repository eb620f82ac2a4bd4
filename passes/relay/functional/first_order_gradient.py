"""relay-first-order-gradient: a function also gives the gradient of its result with respect to its parameters.

Before: func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %y = relay.exp %x : tensor<8xf32>
          return %y : tensor<8xf32>
After:  func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %y = relay.exp %x : tensor<8xf32>
          %1 = relay.ones_like %y : tensor<8xf32>
          %grad_x = relay.multiply %1, %y : tensor<8xf32>
          return %y, %grad_x : tensor<8xf32>, tensor<8xf32>

After its results the function returns a gradient for each parameter, of the parameter's type: of the sum of all
elements of all results that are floats, as in TVM; a parameter that it does not depend on, and one of integers, has
zeros. The program has tensors, tuples, data types, choices, matches, calls of global and local functions, recursion.
Where functions are handed on, as arguments, results or in data, they are made data before (relay-defunctionalization),
whose fields, what the functions capture, have gradients as any. Cells have none.
What else calls the function goes on calling it as it was, as @<function>_alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr, SymbolRefAttr
from xdsl.rewriter import InsertPoint

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.core import GlobalOp
from lamina.dialects.relay.functional.tuples import TupleOp
from lamina.dialects.rules.terms import inserting
from lamina.dialects.value_names import NAME
from lamina.errors import UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location
from lamina.passes.relay.functional.defunctionalization import defunctionalize, hands_functions_on
from lamina.passes.relay.functional.reverse_leaves import inserted
from lamina.passes.relay.functional.reverse_mode import Adjoints, Differentiator
from lamina.passes.relay.simplify.dead_code_elimination import eliminate_dead_code


@dataclass(frozen=True)
class FirstOrderGradient(ModulePass):
    """A function also gives the gradient of its result with respect to its parameters."""

    name = "relay-first-order-gradient"

    function: str = "main"
    """The function that changes."""

    nested: bool = False
    """The gradients are one result, a tuple, as TVM has them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data == self.function and function.body.blocks:
                with edit.transaction(function):
                    add_gradients(op, function, self.nested)
                return
        raise UsageError(f"there is no function @{self.function} with a body in the module")


def add_gradients(module: ModuleOp, function: func.FuncOp, nested: bool = False) -> None:
    """Let a function of a module return its gradients, with `nested` as one tuple."""
    block = function.body.block
    last = block.last_op
    assert last is not None
    _keep_for_others(module, function)
    if hands_functions_on(module, function):
        defunctionalize(module, function)
    differentiator = Differentiator(module)
    types = differentiator.types
    if not any(types.of_type(v.type) for v in last.operands):
        raise UsageError(f"@{function.sym_name.data} gives no floats: there is nothing to differentiate")
    for argument in block.args:
        types.of_type(argument.type)
    differentiator.forward(block)
    builder = Builder(InsertPoint.before(last))
    adjoints = Adjoints(differentiator)
    with inserting(builder):
        for value in last.operands:
            adjoints.add(value, [types.ones(leaf) for leaf in types.values(value)])
        differentiator.reverse(block, adjoints, builder)
        gradients = [types.packed(a, iter(differentiator.filled(a, adjoints.of(a)))) for a in block.args]
    for argument, gradient in zip(block.args, gradients, strict=True):
        # A gradient may be that of two parameters, or one of them.
        if gradient.name_hint is None and argument.name_hint is not None:
            gradient.name_hint = f"grad_{argument.name_hint}"
    if nested:
        with inserting(builder):
            gradients = [inserted(TupleOp.make(*gradients))]
    returned = func.ReturnOp(*last.operands, *gradients)
    inherit_location(returned, last)
    edit.insert_before(last, returned)
    edit.erase(last)
    outputs = [*function.function_type.outputs, *(g.type for g in gradients)]
    function.properties["function_type"] = FunctionType.from_lists(function.function_type.inputs.data, outputs)
    if function.res_attrs is not None:
        named = [DictionaryAttr({NAME: StringAttr(g.name_hint)} if g.name_hint else {}) for g in gradients]
        function.properties["res_attrs"] = ArrayAttr([*function.res_attrs, *named])
    differentiator.finish()
    eliminate_dead_code(function)


def _keep_for_others(module: ModuleOp, function: func.FuncOp) -> None:
    """Let other functions of the module that refer to a function refer to a copy of it."""
    name = function.sym_name.data
    names = {op.sym_name.data for op in module.body.block.ops if isinstance(op, func.FuncOp)}
    users = [
        op
        for op in all_ops(module)
        if isinstance(op, (func.CallOp, GlobalOp)) and op.callee.string_value() == name and not function.is_ancestor(op)
    ]
    if not users:
        return
    alone = f"{name}_alone"
    while alone in names:
        alone += "_"
    copy = function.clone()
    copy.properties["sym_name"] = StringAttr(alone)
    edit.insert_after(function, copy)
    for op in [*users, *all_ops(copy)]:
        if isinstance(op, (func.CallOp, GlobalOp)) and op.callee.string_value() == name:
            op.properties["callee"] = SymbolRefAttr(alone)

"""relay-lambda-lift: local functions become functions of the module, their captures further parameters.

Before:
    func.func @main(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<8xf32> {
      %f = relay.fn captures(%k = %c : tensor<f32>) (%y: tensor<8xf32>) -> tensor<8xf32> { ... }
      %r = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
      return %r : tensor<8xf32> }
After:
    func.func @lifted_f(%y: tensor<8xf32>, %k: tensor<f32>) -> tensor<8xf32> { ... }
    func.func @main(%x: tensor<8xf32>, %c: tensor<f32>) -> tensor<8xf32> {
      %r = func.call @lifted_f(%x, %c) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      return %r : tensor<8xf32> }

Calls inside the function of itself pass the captures on. Where it is used other than by a call it becomes relay.global,
or, with captures, a closure that does no more than call. Kernels (Primitive, Composite, Compiler) stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, FnOp, GlobalOp, ReturnOp
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location, inherit_name
from lamina.passes.relay.fusion.fuse_ops import KERNEL_ATTRIBUTES


@dataclass(frozen=True)
class LambdaLift(ModulePass):
    """Local functions become functions of the module."""

    name = "relay-lambda-lift"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        taken = {n.data for o in op.body.block.ops if isinstance(n := o.properties.get("sym_name"), StringAttr)}
        for function in [f for f in op.body.block.ops if isinstance(f, func.FuncOp)]:
            # The inner ones first: what is lifted has none inside.
            local = [f for f in function.walk() if isinstance(f, FnOp) and _is_lifted(f)]
            following = function
            for fn in reversed(local):
                with edit.transaction(fn):
                    lifted = _lift(fn, _name(fn, taken))
                    edit.insert_before(following, lifted)
                following = lifted


def _name(fn: FnOp, taken: set[str]) -> str:
    wanted = f"lifted_{fn.result.name_hint or 'fn'}"
    name, n = wanted, 0
    while name in taken:
        n += 1
        name = f"{wanted}_{n}"
    taken.add(name)
    return name


def _is_lifted(fn: FnOp) -> bool:
    if any(name in fn.attributes for name in KERNEL_ATTRIBUTES):
        return False
    first = fn.body.block.first_op
    if isinstance(first, func.CallOp) and isinstance(first.next_op, ReturnOp):
        return False  # a closure that this pass has made
    return tuple(v.type for v in fn.returned) == fn.function_type.outputs.data


def _lift(fn: FnOp, name: str) -> func.FuncOp:
    """The function of the module; the uses of the local one are changed."""
    block = fn.body.block
    captured, itself = list(fn.captured), fn.itself
    if itself is not None:
        _redirect(itself, fn, name, captured, block)
        block.erase_arg(itself)
    _redirect(fn.result, fn, name, list(fn.operands), None)
    end_as_function(block)
    type_ = FunctionType.from_lists(list(block.arg_types), list(fn.function_type.outputs))
    attributes = dict(fn.attributes)
    fn.body.detach_block(block)
    lifted = func.FuncOp(name, type_, Region(block))
    lifted.attributes.update(attributes)
    lifted.location = fn.location
    edit.erase(fn)
    return lifted


def end_as_function(block: Block) -> None:
    """Let the body of a local function return as that of a function of the module does."""
    last = block.last_op
    assert last is not None
    returned = func.ReturnOp(*last.operands)
    inherit_location(returned, last)
    edit.erase(last)
    block.add_op(returned)


def _redirect(value: SSAValue, fn: FnOp, name: str, captures: Sequence[SSAValue], block: Block | None) -> None:
    """Let the users of a function value use the function of the module."""
    type_ = fn.function_type
    for use in list(value.uses):
        op = use.operation
        if isinstance(op, CallOp) and use.index == 0 and [v.type for v in op.arguments] == list(type_.inputs):
            if value in op.arguments:
                continue  # it is passed to itself: the argument is changed first, then the call
            _to_named_call(op, name, captures)
    if value.first_use is None:
        return
    made = _as_value(fn, name, captures)
    if block is not None:
        first = block.first_op
        assert first is not None
        edit.insert_before(first, made)
    else:
        edit.insert_before(fn, made)
    result = made.results[0]
    edit.replace_uses(value, result)


def _to_named_call(op: CallOp, name: str, captures: Sequence[SSAValue]) -> None:
    edit.replace(op, func.CallOp(SymbolRefAttr(name), [*op.arguments, *captures], op.result_types))


def _as_value(fn: FnOp, name: str, captures: Sequence[SSAValue]) -> Operation:
    """The function of the module as a value: with captures a closure that calls it."""
    if not captures:
        made: Operation = GlobalOp.make(name, fn.function_type)
    else:
        body = Block(arg_types=[*fn.function_type.inputs, *(c.type for c in captures)])
        for argument, old in zip(body.args, fn.body.block.args, strict=False):
            inherit_name(argument, old)
        call = func.CallOp(SymbolRefAttr(name), list(body.args), list(fn.function_type.outputs))
        body.add_ops([call, ReturnOp.make(*call.results)])
        made = FnOp.make(body, captures=captures)
    inherit_location(made, fn)
    return made

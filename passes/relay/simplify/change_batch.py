"""relay-change-batch: the same program for another number of samples.

Before:
    func.func @main(%x: tensor<1x3x8x8xf32>) -> tensor<1x192xf32> {
      %0 = relay.nn.relu %x : tensor<1x3x8x8xf32>
      %1 = relay.nn.batch_flatten %0 : (tensor<1x3x8x8xf32>) -> tensor<1x192xf32>
After (batch-size = 16):
    func.func @main(%x: tensor<16x3x8x8xf32>) -> tensor<16x192xf32> {
      %0 = relay.nn.relu %x : tensor<16x3x8x8xf32>
      %1 = relay.nn.batch_flatten %0 : (tensor<16x3x8x8xf32>) -> tensor<16x192xf32>

`data` names parameters, with the axis that counts samples where it is not the first: `x` or `x:1`. Where it names none
the first parameter is meant. All types are inferred again; an op that holds the old number in an attribute is named.
Calls, choices and tuples are first inlined and folded (relay-inline, relay-fold-tuples), or the pass refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, StringAttr
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from lamina.dialects import edit
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import TypeMismatch, tensor_info
from lamina.dialects.relay.base import RelayOp, normalize_axis
from lamina.dialects.value_names import NAME
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class ChangeBatch(ModulePass):
    """The same program for another number of samples."""

    name = "relay-change-batch"

    data: tuple[str, ...] = ()
    """Parameters by name, each with `:axis` where the samples are not along the first; the first parameter if empty."""
    batch_size: int = 16
    function: str = "main"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.batch_size < 1:
            raise UsageError(f"relay-change-batch: batch-size is {self.batch_size}, it must be at least 1")
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data == self.function and function.body.blocks:
                with edit.transaction(function):
                    change_batch(function, self.data, self.batch_size)
                return
        raise UsageError(f"there is no function @{self.function} with a body in the module")


def change_batch(function: func.FuncOp, data: tuple[str, ...], batch_size: int) -> None:
    """Give parameters of a function another extent, and all that depends on them the type that follows."""
    block = function.body.block
    names = parameter_names(function)
    for n, axis in [_parameter(d, names) for d in data] or [(0, 0)]:
        if n >= len(block.args):
            raise UsageError(f"@{function.sym_name.data} has no parameters")
        argument = block.args[n]
        info = tensor_info(argument.type)
        try:
            at = normalize_axis(axis, len(info.shape))
        except TypeMismatch as e:
            raise UsageError(f"relay-change-batch: {names[n] or n}: {e}") from None
        shape = (*info.shape[:at], batch_size, *info.shape[at + 1 :])
        Rewriter.replace_value_with_new_type(argument, tensor_type(shape, info.dtype))
    changed: set[SSAValue] = set(block.args)
    for op in list(block.ops):
        if changed.isdisjoint(op.operands) and not op.regions:
            continue
        if isinstance(op, func.ReturnOp):
            inputs, outputs = [a.type for a in block.args], [v.type for v in op.arguments]
            function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
        elif not isinstance(op, RelayOp) or op.regions:
            raise InputError(f"{op.name} may depend on the number of samples", hint="relay-inline comes first", op=op)
        else:
            changed.update(_infer_again(op))


def parameter_names(function: func.FuncOp) -> list[str]:
    """The users' names of the parameters of a function."""
    attrs = function.arg_attrs
    given = list(attrs) if attrs is not None else [DictionaryAttr({})] * len(function.body.block.args)
    names = [a.data.get(NAME) for a in given]
    hints = [argument.name_hint or "" for argument in function.body.block.args]
    return [n.data if isinstance(n, StringAttr) else hint for n, hint in zip(names, hints, strict=True)]


def _parameter(text: str, names: list[str]) -> tuple[int, int]:
    """The number of a parameter and the axis that an option names. Raises UsageError."""
    name, axis = text, "0"
    if name not in names and ":" in text:
        name, _, axis = text.rpartition(":")
    if name not in names:
        hint = did_you_mean(name, names) or f"there are {', '.join(names) or 'none'}"
        raise UsageError(f"relay-change-batch: no parameter is called {name!r}", hint=hint)
    try:
        return names.index(name), int(axis)
    except ValueError:
        raise UsageError(f"relay-change-batch: {axis!r} is no axis", hint="as in x:1") from None


def _infer_again(op: RelayOp) -> list[SSAValue]:
    """Give the results of an op the types that follow from its operands."""
    try:
        found = op.infer_types(op.operand_types, op.properties, op.operands)
    except TypeMismatch as e:
        hint = "its attributes hold the number of samples of before"
        raise InputError(f"{op.name.removeprefix('relay.')}: {e}", hint=hint, op=op) from None
    pairs = zip(list(op.results), found, strict=True)
    return [Rewriter.replace_value_with_new_type(result, type_) for result, type_ in pairs]

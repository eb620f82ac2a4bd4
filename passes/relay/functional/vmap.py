"""relay-vmap: a function of one example becomes a function of many, with an axis for them in front.

Before: func.func @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<f32> {
          %y = relay.multiply %x, %w : tensor<3xf32>
          %z = relay.sum %y {axis = [0]} : (tensor<3xf32>) -> tensor<f32>
          return %z : tensor<f32>
After, with size=8 arguments=0:
        func.func @main(%x: tensor<8x3xf32>, %w: tensor<3xf32>) -> tensor<8xf32> {
          %y = relay.multiply %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
          %z = relay.sum %y {axis = [1]} : (tensor<8x3xf32>) -> tensor<8xf32>
          return %z : tensor<8xf32>

Every result has the axis; one that does not depend on the arguments with it is the same at each place. An op without a
rule (`vmap_rules.py`) is done once for each place, up to 64; beyond that it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import tensor_type
from lamina.dialects.infos import tensor_info
from lamina.dialects.relay.base import RelayOp
from lamina.errors import UnsupportedError, UsageError
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.functional.vmap_rules import Batch, batched


@dataclass(frozen=True)
class Vmap(ModulePass):
    """A function of one example becomes a function of many, with an axis for them in front."""

    name = "relay-vmap"

    size: int
    """The extent of the axis."""

    function: str = "main"
    """The function that changes."""

    arguments: tuple[int, ...] | None = None
    """The numbers of the arguments that get the axis; all where there are none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.size < 1:
            raise UsageError(f"an axis of {self.size} places", hint="size is at least 1")
        for function in op.body.block.ops:
            if isinstance(function, func.FuncOp) and function.sym_name.data == self.function and function.body.blocks:
                count = len(function.body.block.args)
                for n in self.arguments or ():
                    if not 0 <= n < count:
                        raise UsageError(
                            f"@{self.function} has no argument {n}", hint=f"it has {count}, counted from 0"
                        )
                with edit.transaction(function):
                    chosen = range(count) if self.arguments is None else self.arguments
                    add_axis(function, self.size, [n in chosen for n in range(count)])
                return
        raise UsageError(f"there is no function @{self.function} with a body in the module")


def add_axis(function: func.FuncOp, size: int, arguments: Sequence[bool]) -> None:
    """Give a function an axis in front of arguments and of all its results.

    Raises UnsupportedError for an op that has no rule, where the axis is long, or that holds other ops.
    """
    block = function.body.block
    last = block.last_op
    assert last is not None
    grown: dict[SSAValue, SSAValue] = {}
    narrow = [a for a, has in zip(block.args, arguments, strict=True) if has]
    for argument in narrow:
        info = tensor_info(argument.type)
        wider = block.insert_arg(tensor_type((size, *info.shape), info.dtype), argument.index)
        wider.name_hint = argument.name_hint
        grown[argument] = wider
    done: list[RelayOp] = []
    for op in list(block.ops):
        if op is last or not any(o in grown for o in op.operands):
            continue
        if not isinstance(op, RelayOp):
            raise UnsupportedError(f"{op.name} cannot have an axis in front", op=op)
        operands = [(grown.get(o, o), o in grown) for o in op.operands]
        results = batched(Batch(size, op), op, operands)
        for before, after in zip(op.results, results, strict=True):
            if after.name_hint is None:
                after.name_hint = before.name_hint
            grown[before] = after
        done.append(op)
    b = Batch(size, last)
    returned = [grown[v] if v in grown else b.spread(v, False) for v in last.operands]
    edit.insert_before(last, func.ReturnOp(*returned))
    edit.erase(last)
    for op in reversed(done):
        edit.erase(op)
    for argument in narrow:
        block.erase_arg(argument)
    types = [a.type for a in block.args], [r.type for r in returned]
    function.properties["function_type"] = FunctionType.from_lists(*types)

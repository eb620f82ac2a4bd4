"""relay-to-graph-normal-form: a program is the graph of what its results need.

Before:
    %0 = relay.exp %x : tensor<8xf32>
    %t = relay.tuple(%x, %0) : tuple<tensor<8xf32>, tensor<8xf32>>
    %1 = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
    return %1 : tensor<8xf32>
After:
    return %x : tensor<8xf32>

TVM puts values in the place of the names that lets give them: lets that nobody needs are gone then, and tuples do not
come between a value and its use. SSA has no lets; what they would leave behind goes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.fold.fold_tuples import FoldTuples
from lamina.passes.relay.simplify.dead_code_elimination import eliminate_dead_code


@dataclass(frozen=True)
class ToGraphNormalForm(ModulePass):
    """A program is the graph of what its results need."""

    name = "relay-to-graph-normal-form"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        FoldTuples().apply(ctx, op)
        eliminate_dead_code(op)

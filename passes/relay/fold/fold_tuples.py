"""relay-fold-tuples: a field taken out of a tuple that was made here is the value that was put in.

Before:
    %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<4xf32>>
    %x = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<4xf32>>
    %y = relay.exp %x : tensor<8xf32>
After:
    %y = relay.exp %a : tensor<8xf32>

Tuples that nobody reads are dropped. One that comes out of a choice, a call or a cell stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

fold = Rules("relay-fold-tuples")


# A function, and no equation: tuples have any number of fields.
@fold.lower(TupleGetItemOp)
def take_field(op: TupleGetItemOp) -> SSAValue | None:
    """Before: %x = tuple_get_item (tuple %a, %b)[0]    After: %a"""
    made = op.tuple_value.owner
    return made.operands[op.index.value.data] if isinstance(made, TupleOp) else None


@dataclass(frozen=True)
class FoldTuples(ModulePass):
    """A field taken out of a tuple that was made here is the value that was put in."""

    name = "relay-fold-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold.apply(op)
        # A tuple is made after what is in it: inner ones lose their last use before they are met.
        for each in reversed(all_ops(op)):
            if isinstance(each, (TupleOp, TupleGetItemOp)) and each.result.first_use is None:
                edit.erase(each)

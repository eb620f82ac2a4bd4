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

from lamina.dialects import edit
from lamina.dialects.relay.functional.tuples import TupleGetItemOp, TupleOp
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class FoldTuples(ModulePass):
    """A field taken out of a tuple that was made here is the value that was put in."""

    name = "relay-fold-tuples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = [o for o in op.walk() if isinstance(o, (TupleOp, TupleGetItemOp))]
        for taken in found:
            if isinstance(taken, TupleGetItemOp) and isinstance(made := taken.tuple_value.owner, TupleOp):
                field = made.operands[taken.index.value.data]
                edit.replace(taken, [field])
        # A tuple is made after what is in it: inner ones lose their last use before they are met.
        for unread in reversed(found):
            if unread.parent is not None and unread.result.first_use is None:
                edit.erase(unread)

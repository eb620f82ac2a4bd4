"""relay-to-a-normal-form: every value by a name, in the scope and the order in which it is computed.

Before:
    %1 = relay.tanh %x : tensor<8xf32>
    %0 = relay.exp %x : tensor<8xf32>
    %2 = relay.add %0, %1 : tensor<8xf32>
After:
    %0 = relay.exp %x : tensor<8xf32>
    %1 = relay.tanh %x : tensor<8xf32>
    %2 = relay.add %0, %1 : tensor<8xf32>

Every value of ours has a name: what is left of TVM's pass are the scopes (relay-to-basic-block-normal-form) and the
order, operands first and from left to right as the results need them. What may be seen (cells, calls of unknown
functions) keeps its order, and what nobody needs stands where it stood among these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from lamina.dialects import edit
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.functional.to_basic_block_normal_form import place_in_scopes
from lamina.passes.relay.simplify.dead_code_elimination import Purity


@dataclass(frozen=True)
class ToANormalForm(ModulePass):
    """Every value by a name, in the scope and the order in which it is computed."""

    name = "relay-to-a-normal-form"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        place_in_scopes(op)
        purity = Purity.of(op)
        blocks = [f.regions[0].block for f in op.body.block.ops if f.regions and f.regions[0].blocks]
        while blocks:
            block = blocks.pop()
            order_as_needed(block, purity)
            blocks += (b for o in block.ops for region in o.regions for b in region.blocks)


def order_as_needed(block: Block, purity: Purity) -> None:
    """Put the ops of a block in the order in which its end, and what may be seen before it, needs them."""
    ops = list(block.ops)
    # What nobody uses is needed as little as it was before: in its place.
    fixed = [
        op
        for op in ops
        if op.has_trait(IsTerminator) or not purity.is_pure(op) or all(r.first_use is None for r in op.results)
    ]
    order: dict[Operation, None] = {}
    for start in fixed:
        stack = [(start, False)]
        while stack:
            op, ready = stack.pop()
            if op in order:
                continue
            if ready:
                order[op] = None
                continue
            stack.append((op, True))
            stack += ((v.owner, False) for v in reversed(_read(op)) if _stands_in(v, block))  # type: ignore[misc]
    if list(order) == ops:
        return
    with edit.transaction():
        edit.move_into(block, order)


def _read(op: Operation) -> list[SSAValue]:
    """The values that an op and all ops in its regions read."""
    return [v for inner in op.walk() for v in inner.operands] if op.regions else list(op.operands)


def _stands_in(value: SSAValue, block: Block) -> bool:
    return isinstance(value.owner, Operation) and value.owner.parent is block

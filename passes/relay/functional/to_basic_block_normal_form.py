"""relay-to-basic-block-normal-form: what one branch alone uses is computed in that branch.

Before:
    %0 = relay.exp %x : tensor<8xf32>
    %r = relay.if %c -> tensor<8xf32> { relay.yield %0 : tensor<8xf32> } else { relay.yield %x : tensor<8xf32> }
After:
    %r = relay.if %c -> tensor<8xf32> {
      %0 = relay.exp %x : tensor<8xf32>
      relay.yield %0 : tensor<8xf32>
    } else { relay.yield %x : tensor<8xf32> }

As in TVM a value belongs to the innermost scope that holds all its uses; values of outer scopes are shared by name,
which in SSA they have anyway. Only what can be left out unseen moves: pure ops, into relay.if and relay.match.
Functions are isolated, and what they capture stays outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Block, Operation

from lamina.dialects import edit
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.simplify.dead_code_elimination import CHOICES, Purity


@dataclass(frozen=True)
class ToBasicBlockNormalForm(ModulePass):
    """Compute in a branch what that branch alone uses."""

    name = "relay-to-basic-block-normal-form"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        place_in_scopes(op)


def place_in_scopes(root: Operation) -> int:
    """Move pure ops into the branches that alone use them: how many moves, from a scope to the next."""
    if not any(op.name in CHOICES for op in root.walk()):
        return 0
    purity = Purity.of(root)
    blocks = [b for region in root.regions for b in region.blocks]
    moved = 0
    while blocks:
        block = blocks.pop()
        moved += _sink(block, purity)
        blocks += (b for op in block.ops for region in op.regions for b in region.blocks)
    return moved


def _sink(block: Block, purity: Purity) -> int:
    """From the end to the beginning, so that what feeds an op that has moved can follow it."""
    moved = 0
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        inner = _only_branch(op, block)
        if inner is not None and purity.is_pure(op):
            assert inner.first_op is not None
            edit.move_before(inner.first_op, op)
            moved += 1
        op = previous
    return moved


def _only_branch(op: Operation, block: Block) -> Block | None:
    """The block one scope further in that has all uses of an op, None where there is none."""
    found: Block | None = None
    for result in op.results:
        for use in result.uses:
            inner, at = use.operation.parent, use.operation
            while inner is not None and inner is not block:
                at = inner.parent_op()
                if at is None or at.name not in CHOICES:
                    return None
                if at.parent is block:
                    break
                inner = at.parent
            if inner is None or inner is block or (found is not None and inner is not found):
                return None
            found = inner
    return found

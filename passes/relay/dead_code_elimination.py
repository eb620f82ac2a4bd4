"""relay-dead-code-elimination: drops pure ops whose results nobody uses.

Before:
    %0 = relay.exp %x : tensor<8xf32>
    %1 = relay.nn.relu %x : tensor<8xf32>
    return %1 : tensor<8xf32>
After:
    %1 = relay.nn.relu %x : tensor<8xf32>
    return %1 : tensor<8xf32>

One sweep against the program order. Calls are no pure ops unless the called function value holds only such.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation
from xdsl.traits import Pure

from lamina.dialects.relay.core import CallOp
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Drops pure ops whose results nobody uses."""

    name = "relay-dead-code-elimination"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_dead_code(op)


def eliminate_dead_code(root: Operation) -> int:
    """Drop dead ops inside an op: how many."""
    dropped = 0
    blocks = [b for region in root.regions for b in region.blocks]
    while blocks:
        block = blocks.pop()
        dropped += _sweep(block)
        blocks.extend(b for op in block.ops for region in op.regions for b in region.blocks)
    return dropped


def _sweep(block: Block) -> int:
    dropped = 0
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        if op.results and all(r.first_use is None for r in op.results) and is_pure(op):
            op.detach()
            op.erase()
            dropped += 1
        op = previous
    return dropped


def is_pure(op: Operation) -> bool:
    """Whether leaving the op out changes nothing but its results."""
    if type(op) is CallOp:
        function = op.function()
        return function is not None and all(o.has_trait(Pure) or not o.results for o in function.body.walk())
    return op.has_trait(Pure)

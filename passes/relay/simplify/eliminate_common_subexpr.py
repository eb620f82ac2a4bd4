"""relay-eliminate-common-subexpr: computes equal things once.

Before:
    %0 = relay.exp %x : tensor<8xf32>
    %1 = relay.exp %x : tensor<8xf32>
    %2 = relay.add %0, %1 : tensor<8xf32>
After:
    %0 = relay.exp %x : tensor<8xf32>
    %2 = relay.add %0, %0 : tensor<8xf32>

Equal are pure ops of one name with the same operands (in any order for add and multiply) and attributes, and equal
constants. One sweep with a hash table a block; a function value has a table of its own, since it sees nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import Block, Operation
from xdsl.traits import Pure

from lamina.dialects import edit
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class EliminateCommonSubexpr(ModulePass):
    """Computes equal things once."""

    name = "relay-eliminate-common-subexpr"
    opt_level: ClassVar[int] = 3

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_common_subexpr(op)


def eliminate_common_subexpr(root: Operation) -> int:
    """Merge equal ops inside an op: how many were dropped."""
    dropped = 0
    blocks = [b for region in root.regions for b in region.blocks]
    while blocks:
        block = blocks.pop()
        dropped += _sweep(block)
        blocks.extend(b for op in block.ops for region in op.regions for b in region.blocks)
    return dropped


def _sweep(block: Block) -> int:
    seen: dict[Any, Operation] = {}
    dropped = 0
    for op in list(block.ops):
        if op.regions or not op.results or not op.has_trait(Pure):
            continue
        operands: Any = tuple(op.operands)
        if getattr(op, "COMMUTES", False):
            operands = frozenset(operands)
        key = (
            type(op),
            operands,
            tuple(op.result_types),
            frozenset(op.properties.items()),
            frozenset(op.attributes.items()),
        )
        first = seen.setdefault(key, op)
        if first is not op:
            edit.replace(op, first.results)
            dropped += 1
    return dropped

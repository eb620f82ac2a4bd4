"""relay-dead-code-elimination: drops pure ops whose results nobody uses.

Before:
    %0 = relay.exp %x : tensor<8xf32>
    %1 = relay.nn.relu %x : tensor<8xf32>
    return %1 : tensor<8xf32>
After:
    %1 = relay.nn.relu %x : tensor<8xf32>
    return %1 : tensor<8xf32>

One sweep against the program order, inner blocks before those around them. A choice is pure where its regions are; a
call where the called function is known and does no more than pure ops: none that writes a cell, may fail to match, or
calls itself, since that need not end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator, Pure

from lamina.dialects import edit
from lamina.dialects.relay.core import CallOp, GlobalOp
from lamina.passes.base import Context, ModuleOp, ModulePass

CHOICES = ("relay.if", "relay.match")


@dataclass(frozen=True)
class DeadCodeElimination(ModulePass):
    """Drops pure ops whose results nobody uses."""

    name = "relay-dead-code-elimination"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate_dead_code(op)


def eliminate_dead_code(root: Operation) -> int:
    """Drop dead ops inside an op: how many."""
    purity = Purity.of(root)
    blocks: list[Block] = []
    waiting = [b for region in root.regions for b in region.blocks]
    while waiting:
        block = waiting.pop()
        blocks.append(block)
        waiting.extend(b for op in block.ops for region in op.regions for b in region.blocks)
    return sum(_sweep(block, purity) for block in reversed(blocks))


def _sweep(block: Block, purity: Purity) -> int:
    dropped = 0
    op = block.last_op
    while op is not None:
        previous = op.prev_op
        if op.results and all(r.first_use is None for r in op.results) and purity.is_pure(op):
            edit.erase(op)
            dropped += 1
        op = previous
    return dropped


@dataclass
class Purity:
    """Whether leaving an op out changes nothing but its results."""

    functions: Mapping[str, func.FuncOp] = field(default_factory=dict[str, func.FuncOp])
    _known: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    @staticmethod
    def of(root: Operation) -> Purity:
        """With the functions of a module known."""
        ops = root.regions[0].block.ops if isinstance(root, ModuleOp) else ()
        return Purity({op.sym_name.data: op for op in ops if isinstance(op, func.FuncOp) and op.body.blocks})

    def is_pure(self, op: Operation) -> bool:
        if isinstance(op, CallOp):
            owner = op.callee.owner
            if isinstance(owner, GlobalOp):
                return self._function(self.functions.get(owner.callee.string_value()))
            return self._function(op.function())
        if isinstance(op, func.CallOp):
            return self._function(self.functions.get(op.callee.string_value()))
        if op.name in CHOICES:
            return "partial" not in op.properties and self._all(o for r in op.regions for o in r.block.ops)
        return op.has_trait(Pure)

    def _all(self, ops: Iterable[Operation]) -> bool:
        return all(self.is_pure(o) or o.has_trait(IsTerminator) for o in ops)

    def _function(self, function: Operation | None) -> bool:
        if function is None:
            return False
        known = self._known.get(function)
        if known is None:
            self._known[function] = False  # while it is looked at: a function that calls itself is not pure
            known = self._known[function] = self._all(o for b in function.regions[0].blocks for o in b.ops)
        return known


def is_pure(op: Operation) -> bool:
    """Whether leaving an op out changes nothing but its results, as far as one sees without its module."""
    return Purity().is_pure(op)

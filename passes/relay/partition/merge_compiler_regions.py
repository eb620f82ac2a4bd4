"""relay-merge-compiler-regions: neighbouring ops of one external compiler become one region, cycles excepted.

Before:
    %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
    %1 = relay.exp %0 : tensor<8xf32>
    %2 = relay.annotation.compiler_end %1 {compiler = "dnnl"} : tensor<8xf32>
    %3 = relay.annotation.compiler_begin %2 {compiler = "dnnl"} : tensor<8xf32>
    %4 = relay.abs %3 : tensor<8xf32>
After:
    %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
    %1 = relay.exp %0 : tensor<8xf32>
    %4 = relay.abs %1 : tensor<8xf32>

Of a diamond with an op of another compiler on one side two of the three others merge: all three would need what is
computed from them. Annotations between ops of `default` go as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation

from lamina.dialects import edit
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.partition.compiler_regions import (
    BEGIN,
    DEFAULT,
    END,
    Regions,
    compiler_of,
    open_blocks,
    source,
)


@dataclass(frozen=True)
class MergeCompilerRegions(ModulePass):
    """Neighbouring ops of one external compiler become one region, cycles excepted."""

    name = "relay-merge-compiler-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in open_blocks(op):
            with edit.transaction():
                merge_regions(block)


def merge_regions(block: Block) -> None:
    """Merge the regions of a block and take away the annotations inside the merged ones."""
    regions = Regions(block)
    regions.merge()
    for begin in [op for op in block.ops if op.name == BEGIN]:
        before = source(begin.operands[0])
        producer = before.owner
        if not isinstance(producer, Operation) or producer not in regions.node:
            continue
        end = begin.operands[0].owner
        for use in list(begin.results[0].uses):
            user = use.operation
            if user not in regions.node:
                continue
            same = regions.find(regions.node[user]) == regions.find(regions.node[producer])
            # Between ops of `default` there is no border either.
            open_ = isinstance(end, Operation) and end.name == END and compiler_of(end) == DEFAULT
            if same or (open_ and compiler_of(begin) == DEFAULT):
                edit.change(user)
                user.operands[use.index] = before
    for op in reversed(list(block.ops)):
        if op.name in (BEGIN, END) and op.results[0].first_use is None:
            edit.erase(op)

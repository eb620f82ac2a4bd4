"""relay-explain-partition: remarks on every op that no external compiler took, with what kept it.

Before: %d = relay.nn.dense %x, %w : (...) -> tensor<1x8xf32>
After:  the same, and `remark: nn.dense stays: bnns.dense_bias: operand 1 of nn.dense: expected a constant, ...`

Run it behind relay-partition-graph with the same `targets`. `lamina.passes.relay.partition.partition_report` gives it
as one text.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.dialects.listener import listener_of
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.partition.partition_report import partition_report
from lamina.passes.relay.partition.pattern_tables import find_table
from lamina.passes.rules.pattern_explaining import word


@dataclass(frozen=True)
class ExplainPartition(ModulePass):
    """Remarks on every op that no external compiler took, with what kept it."""

    name = "relay-explain-partition"
    targets: tuple[str, ...] = ()
    """The compilers whose tables are asked."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        listener = listener_of(ctx)
        if not listener.wants_remarks:
            return
        for left, reason in partition_report(op, [find_table(t) for t in self.targets]).left:
            listener.message("remark", f"{word(left)} stays: {reason}", left)

"""relay-merge-composite: puts what the patterns of a table match into functions that carry the composite's name.

Before:
    %1 = relay.nn.dense %x, %w : (...) -> tensor<1x8xf32>
    %2 = relay.nn.relu %1 : tensor<1x8xf32>
After:
    %f = relay.fn (%a: ..., %b: ...) -> tensor<1x8xf32>
        attributes {Composite = "dnnl.dense_relu", PartitionedFromPattern = "nn.dense_nn.relu_"} {...}
    %2 = relay.call %f(%x, %w) : (...) -> tensor<1x8xf32>

The patterns are tried in order over the whole module, so the first has priority. `patterns` names tables (`dnnl`),
or patterns written in the file itself as pdl.pattern (`@name`); without it all of the file's are taken, in order.
The name of a composite is the one behind `rewrite %root with`, else the symbol. Patterns that were used are removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import pdl

from lamina.dialects import edit
from lamina.errors import InputError
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.relay.partition.pattern_tables import TableEntry, find_table
from lamina.passes.rules.dataflow_partition import OpIndex, partition
from lamina.passes.rules.pdl_patterns import composite_name, patterns_of, read_pattern


@dataclass(frozen=True)
class MergeComposite(ModulePass):
    """Puts what the patterns of a table match into functions that carry the composite's name."""

    name = "relay-merge-composite"
    patterns: tuple[str, ...] = ()
    """Tables by name, patterns of the file by symbol (`@name`); by default all of the file's."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        inline = patterns_of(op)
        used: list[pdl.PatternOp] = []
        entries: list[TableEntry] = []
        for name in self.patterns or tuple(f"@{n}" for n in inline):
            if not name.startswith("@"):
                entries += find_table(name).entries
                continue
            pattern = inline.get(name[1:])
            if pattern is None:
                there = ", ".join(f"@{n}" for n in inline) or "none"
                raise InputError(f"there is no pdl.pattern {name} in the module", hint=f"there is {there}")
            used.append(pattern)
            entries.append(TableEntry(composite_name(pattern), read_pattern(pattern)))
        for pattern in used:
            edit.erase(pattern)
        merge_composites(op, entries)


def merge_composites(module: ModuleOp, entries: Iterable[TableEntry]) -> dict[str, int]:
    """Partition a module by the entries in order: how often each composite was found."""
    index = OpIndex(module)
    counts: dict[str, int] = {}
    for entry in entries:
        found = partition(entry.compiled, module, {"Composite": entry.name}, entry.check, index)
        counts[entry.name] = counts.get(entry.name, 0) + found
    return counts

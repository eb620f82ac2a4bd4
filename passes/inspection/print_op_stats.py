"""print-op-stats: how many ops of each name there are, on stderr; MLIR's pass, and its format.

Before: %0 = arith.addi %x, %x : i32
        %1 = arith.addi %0, %x : i32
After:  the same; on stderr

        Operations encountered:
        -----------------------
          arith.addi, 2
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import UnregisteredOp

from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class PrintOpStats(ModulePass):
    """The number of ops by name, nested ones and the module itself among them."""

    name = "print-op-stats"
    json: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = (o.op_name.data if isinstance(o, UnregisteredOp) else o.name for o in op.walk())
        counts = dict(sorted(Counter(names).items()))
        sys.stderr.write(_as_json(counts) if self.json else _as_table(counts))


def _as_json(counts: dict[str, int]) -> str:
    return json.dumps(counts, indent=2, separators=(",", " : ")) + "\n"


def _as_table(counts: dict[str, int]) -> str:
    """A line an op; the dots after the dialects stand in one column."""
    split = [(*name.partition(".")[::2], n) for name, n in counts.items()]
    left = max((len(dialect) for dialect, _, _ in split), default=0)
    right = max((len(op) for _, op, _ in split), default=0)
    lines = ["Operations encountered:", "-----------------------"]
    lines += [f"{dialect:>{left + 2}}.{op:<{right}} , {n}" for dialect, op, n in split]
    return "\n".join(lines) + "\n"

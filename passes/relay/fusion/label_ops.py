"""relay-label-ops: every primitive function is labelled with a digest of what it computes.

Before:
    %f = relay.fn (%p0: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
      %0 = relay.nn.relu %p0 : tensor<8xf32>
      relay.return %0 : tensor<8xf32>
    }
After:
    %f = relay.fn (%p0: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64, hash = "86b5a0dd53d1a3c8"} {
      ...

Functions of equal ops, attributes, types and wiring have equal labels, in every model and on every machine: logs of
measurements find a kernel by it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue

from lamina.dialects.relay.core import FnOp
from lamina.passes.base import Context, ModuleOp, ModulePass


@dataclass(frozen=True)
class LabelOps(ModulePass):
    """Every primitive function is labelled with a digest of what it computes."""

    name = "relay-label-ops"
    opt_level: ClassVar[int] = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.walk():
            if isinstance(function, FnOp) and "Primitive" in function.attributes:
                function.attributes["hash"] = StringAttr(label(function))


def label(function: FnOp) -> str:
    """A digest of ops, attributes, types and wiring; names and locations do not count."""
    block = function.body.block
    number: dict[SSAValue, int] = {a: n for n, a in enumerate(block.args)}
    lines = [", ".join(map(str, block.arg_types))]
    for op in block.ops:
        attrs = ", ".join(f"{n} = {a}" for n, a in sorted(op.properties.items()))
        operands = ", ".join(str(number[v]) for v in op.operands)
        lines.append(f"{op.name}({operands}) {{{attrs}}} -> {', '.join(map(str, op.result_types))}")
        for result in op.results:
            number[result] = len(number)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]

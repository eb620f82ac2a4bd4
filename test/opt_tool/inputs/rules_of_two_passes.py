"""Two passes in one file, each a set of rules: of the second the right side has another type than the left one."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import var
from lamina.passes.rules.rewriting import Rules

x = var("x")
chosen = Rules("own-chosen")
chosen += r.nn.relu(x) >> r.where(r.greater(x, 0.0), x, 0.0)
refused = Rules("own-refused")
refused += r.nn.relu(x) >> r.cast(x, dtype="int32")


@dataclass(frozen=True)
class OwnChosen(ModulePass):
    """Write a relu as a choice."""

    name = "own-chosen"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chosen.apply(op)


@dataclass(frozen=True)
class OwnRefused(ModulePass):
    """Try to make integers of a relu."""

    name = "own-refused"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        refused.apply(op)

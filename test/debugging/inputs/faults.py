"""Faults put in on purpose, for the tests of what finds them: each pass does wrong when it meets a certain program.

    faulty-rule      relu(x - y) becomes relu(y - x), by the rule engine
    faulty-stride    a load from a square buffer reads the transposed element
    faulty-lookup    raises at a subtraction of a product
    faulty-end       ends the process there
    faulty-loop      has no end there

To load the file is to make the first reorder of a schedule wrong as well, where FAULTY_REORDER is set.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from lamina.dialects import relay as r
from lamina.dialects.rules.terms import var
from lamina.dialects.schedule.primitive import ScheduleState
from lamina.dialects.schedule.primitives.reorder import ReorderOp
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import LoadOp
from lamina.passes.base import Context, ModuleOp, ModulePass
from lamina.passes.rules.rewriting import Rules

x, y = var("x y")
faulty = Rules("faulty-rule")
faulty += r.nn.relu(r.subtract(x, y)) >> r.nn.relu(r.add(y, x))


@dataclass(frozen=True)
class FaultyRule(ModulePass):
    """The wrong rule."""

    name = "faulty-rule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        faulty.apply(op)


@dataclass(frozen=True)
class FaultyStride(ModulePass):
    """Two strides exchanged."""

    name = "faulty-stride"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for load in op.walk():
            if isinstance(load, LoadOp) and len(set(shape := type_of(load.buffer).get_shape())) == 1 < len(shape) == 2:
                row, column = load.forms()
                load.set_access([column, row], load.conditions())


def differences_of_products(op: ModuleOp) -> Iterator[Operation]:
    """Subtractions of a product."""
    for found in op.walk():
        if found.name == "relay.subtract" and getattr(found.operands[1].owner, "name", "") == "relay.nn.matmul":
            yield found


@dataclass(frozen=True)
class FaultyLookup(ModulePass):
    """Raises what no user's mistake raises."""

    name = "faulty-lookup"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in differences_of_products(op):
            raise KeyError(f"no scale for {found.name}")


@dataclass(frozen=True)
class FaultyEnd(ModulePass):
    """Ends the process."""

    name = "faulty-end"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for _ in differences_of_products(op):
            os.abort()


@dataclass(frozen=True)
class FaultyLoop(ModulePass):
    """Marks subtractions that it then does not see to be marked."""

    name = "faulty-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        while found := next(differences_of_products(op), None):
            found.attributes["test.mark"] = StringAttr("seen")


if "FAULTY_REORDER" in os.environ:
    right = ReorderOp.apply

    def apply(self: ReorderOp, state: ScheduleState) -> None:
        """Reads the first element of each row of what is reordered first."""
        right(self, state)
        load = next(o for o in state.func.walk() if isinstance(o, LoadOp) and len(o.forms()) == 2)
        first, last = load.forms()
        load.set_access([first, last * 0], load.conditions())

    ReorderOp.apply = apply

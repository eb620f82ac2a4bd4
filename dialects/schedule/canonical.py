"""Kernels and schedules under canonical names: the same work has the same text, whatever its model called it.

    te.func @conv(%p0: ...) { %pad = te.compute "pad" ... }    is    te.func @task(%0: ...) { %1 = te.compute "$0" ... }

Arguments become `arg0`, `arg1`, ..., stages `$0`, `$1`, ... in the order of the text. A schedule of the kernel names
them alike, so that it fits every kernel with the same canonical text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute
from xdsl.printer import Printer

from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.te.extern import ExternOp
from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.dialects.te.scan import ScanOp

TASK = "task"
"""The name of a canonical kernel."""
NAMING = ("stage", "stages", "tensor", "consumer")
"""Properties of schedule primitives that name stages, or tensors: arguments and what stages compute."""


def canonical_names(func: FuncOp) -> dict[str, str]:
    """The canonical name of each argument and stage of a kernel, by its own."""
    names = {a.name_hint or f"arg{n}": f"arg{n}" for n, a in enumerate(func.body.block.args)}
    stages = [op for op in func.body.walk() if isinstance(op, (ComputeOp, ScanOp, ExternOp))]
    return names | {op.stage.data: f"${n}" for n, op in enumerate(stages)}


def canonical_text(func: FuncOp) -> str:
    """The text of a kernel under canonical names, without the names of values."""
    names = canonical_names(func)
    copy = func.clone()
    copy.properties["sym_name"] = StringAttr(TASK)
    for op in copy.walk():
        for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
            value.name_hint = None
        if isinstance(op, (ComputeOp, ScanOp, ExternOp)):
            op.properties["stage"] = StringAttr(names[op.stage.data])
        op.attributes = dict(sorted(op.attributes.items()))
    out = StringIO()
    Printer(out).print_op(copy)
    return out.getvalue()


def task_of(func: FuncOp) -> str:
    """The key of a kernel's work: the SHA-256 of its canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_text(func).encode()).hexdigest()


def renamed(schedule: ScheduleOp, func: str, names: Mapping[str, str]) -> ScheduleOp:
    """A copy of a schedule for a function of another name, whose stages and arguments have the names given.

    What a schedule makes of a stage, `conv.rf` of `conv`, keeps its ending.
    """
    copy = schedule.clone()
    copy.properties["func"] = SymbolRefAttr(func)
    # `a.b` may be a stage of its own: the longest name that fits is the one that is meant.
    known = sorted(names, key=len, reverse=True)

    def name(old: str) -> str:
        stem = next((n for n in known if old == n or old.startswith(f"{n}.")), "")
        return names[stem] + old[len(stem) :] if stem else old

    def attribute(old: Attribute) -> Attribute:
        if isinstance(old, ArrayAttr):
            return ArrayAttr([attribute(a) for a in cast("ArrayAttr[Attribute]", old)])
        return StringAttr(name(old.data)) if isinstance(old, StringAttr) else old

    for op in copy.body.walk():
        for key in NAMING:
            if key in op.properties:
                op.properties[key] = attribute(op.properties[key])
    return copy


def fitted(schedule: ScheduleOp, func: FuncOp) -> ScheduleOp:
    """A copy of a schedule under canonical names for a kernel of the work, under the kernel's own."""
    return renamed(schedule, func.sym_name.data, {canonical: own for own, canonical in canonical_names(func).items()})

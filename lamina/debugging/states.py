"""Running a program at whatever level it has come to: by the checking interpreters, or as machine code.

Relay is run by the oracles in any case. Te and tir interpreters see what machine code does not: an index out of bounds,
a race, an element that nothing has written; tir's takes a microsecond and more for each operation. Machine code takes
the shortest way down, by the passes that no program can do without, so that what it computes is what the steps before
have made of the program rather than what later ones would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, VectorType
from xdsl.ir import Operation

from lamina.debugging.entry import MAIN
from lamina.dialects.entry_names import level_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.driver.execute import run_module
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.user_code import users_mistake

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

NEEDED = (
    "te-to-tir",
    "tir-lower-blocks",
    "tir-vectorize-loop",
    "tir-demote-registers",
    "tir-plan-memory",
    "tir-to-llvm",
)
"""Passes that every program needs on the way from te to machine code. All but the last two may come twice."""
FEW_OPERATIONS = 300_000
"""Operations on single elements that tir's interpreter does in a fraction of a second."""
FEW_IN_GRIDS = 2_000_000_000
"""The same for te's interpreter, which computes whole grids at a time, and some seconds."""


def run_state(
    module: ModuleOp,
    ctx: LaminaContext,
    arrays: Mapping[str, Any],
    checked: bool | None = None,
    step: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """The results of `@main`. The module is used up.

    `checked` says whether te and tir are interpreted; by default where that takes no longer than machine code does.
    `step` hears which pass is next.
    """
    level = level_of(module)
    if level in ("relay", "llvm"):
        return run_module(module, ctx, MAIN, arrays)
    if checked is None:
        few = FEW_IN_GRIDS if level == "te" else FEW_OPERATIONS
        checked = operations(module) <= few or TARGET not in module.attributes
    if not checked:
        to_machine_code(module, ctx, step)
        if step is not None:
            step("run")
    return run_module(module, ctx, MAIN, arrays)


def to_machine_code(module: ModuleOp, ctx: LaminaContext, step: Callable[[str], object] | None = None) -> None:
    """Take a module of the te or tir level to the llvm level, by the passes that are needed.

    Schedules of te are left out: loops are as the equations say.
    """
    names = NEEDED
    if level_of(module) == "tir":
        names = NEEDED[1:]
        if any(isinstance(op, tir.ViewOp) for op in module.walk()):
            names = tuple(n for n in names if n != "tir-plan-memory")
    else:
        for op in [op for op in module.ops if isinstance(op, ScheduleOp)]:
            op.detach()
            op.erase()
    for name in names:
        if step is not None:
            step(name)
        run_pipeline(module, ctx, parse_pipeline(name))


def operations(module: ModuleOp) -> int:
    """About how many operations on single elements a run of `@main` takes; without one, of all kernels."""
    kernels = {op.sym_name.data: _operations(op) for op in module.ops if isinstance(op, te.FuncOp | tir.FuncOp)}
    calls = [op.callee.root_reference.data for op in module.walk() if isinstance(op, te.CallOp | tir.CallOp)]
    return sum(kernels.get(name, 0) for name in calls or kernels)


def _operations(op: Operation) -> int:
    if isinstance(op, te.ComputeOp):
        extents = [e for e in (*op.spatial, *op.reduced) if e != DYNAMIC_INDEX]
        return prod(extents) * len(op.body.block.ops)
    inside = sum(_operations(o) for region in op.regions for block in region.blocks for o in block.ops)
    if isinstance(op, tir.ForOp):
        return inside * (1 if op.is_dynamic else op.trip)
    types: list[Any] = [r.type for r in op.results]
    return inside or max((prod(t.get_shape()) for t in types if type(t) is VectorType), default=1)


def explain(error: BaseException) -> str:
    """An exception in one line."""
    said = " ".join(str(error).split())
    if isinstance(error, LaminaError):
        return said
    mistake = users_mistake(error)
    return f"{mistake.where}: {mistake.what}" if mistake is not None else f"{type(error).__name__}: {said}"

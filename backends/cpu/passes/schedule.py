"""Give every te.func that has no schedule the CPU's default one (`backends/cpu/schedules/`).

Before:
    te.func @relu(%x: tensor<64x16xf32>) -> tensor<64x16xf32> { %y = te.compute "relu" [64, 16] (%i, %j) ... }
After:
    te.func @relu(...) { ... }
    te.schedule @relu {
      %i, %j = te.loops "relu" [2]
      te.parallel %i
      te.vectorize %j
    }

Assumes the module attribute `lamina.target`. Where the tile of a kernel is a matter of taste, `lamina.choices` decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.schedules.function import schedule_function
from lamina.dialects import edit
from lamina.dialects.choices import Choices
from lamina.dialects.listener import listener_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import module_target
from lamina.dialects.te.ops import CallOp, FuncOp
from lamina.passes.base import Context, ModulePass, inherit_location, node_names


@dataclass(frozen=True)
class CpuSchedulePass(ModulePass):
    name = "cpu-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-schedule: the module names no 'lamina.target'")
        scheduled = {s.func.root_reference.data for s in op.ops if isinstance(s, ScheduleOp)}
        choices = Choices.of(op, ctx)
        nodes = nodes_of_functions(op) if listener_of(ctx).wants_nodes else {}
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            if func.sym_name.data in scheduled:
                continue
            schedule = schedule_function(func, target, partial(choices.pick, nodes=nodes.get(func.sym_name.data, ())))
            if schedule.body.block.ops:
                inherit_location(schedule, func)
                edit.insert_after(func, schedule)
            else:
                edit.erase(schedule)
        choices.tell(ctx)


def nodes_of_functions(module: ModuleOp) -> dict[str, list[str]]:
    """The nodes of the model that each function computes, in all its calls."""
    found: dict[str, list[str]] = {}
    for call in module.walk():
        if isinstance(call, CallOp):
            found.setdefault(call.callee.root_reference.data, []).extend(node_names(call.location))
    return found

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

Assumes the module attribute `lamina.target`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.schedules.function import schedule_function
from lamina.dialects.target import module_target
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.te.schedule import ScheduleOp
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class CpuSchedulePass(ModulePass):
    name = "cpu-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-schedule: the module names no 'lamina.target'")
        scheduled = {s.func.root_reference.data for s in op.ops if isinstance(s, ScheduleOp)}
        for func in [f for f in op.ops if isinstance(f, FuncOp)]:
            if func.sym_name.data in scheduled:
                continue
            schedule = schedule_function(func, target)
            if schedule.body.block.ops:
                inherit_location(schedule, func)
                op.body.block.insert_op_after(schedule, func)
            else:
                schedule.erase()

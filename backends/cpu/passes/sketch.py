"""Give every te.func that has no schedule a space of schedules, made of its structure (`backends/cpu/sketches/`).

Before:
    te.func @f(%A: tensor<64x64xf32>, %B: tensor<64x64xf32>) -> tensor<64x64xf32> { %c = te.compute "C" ... }
After:
    te.func @f(...) { ... }
    te.schedule @f {
      te.cache_write "C" scope "register"
      %i, %j, %k = te.loops "C" [3]
      %v = te.sample_categorical [1, 2, 3, 4, 6, 8] knob "C_0_vectors" decision 1
      %jo, %ja, %jb = te.split %j [-1, %v, 16]
      ... }

As it stands the space is a schedule: its decisions are defaults, which a search replaces (`te-draw-decisions`). Assumes
the module attribute `lamina.target`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.sketches import sketch_function
from lamina.dialects import edit
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import module_target
from lamina.dialects.te.ops import FuncOp
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class CpuSketchPass(ModulePass):
    """Makes spaces of schedules without templates."""

    name = "cpu-sketch"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-sketch: the module names no 'lamina.target'")
        scheduled = {s.func.root_reference.data for s in op.ops if isinstance(s, ScheduleOp)}
        for func in [f for f in op.ops if isinstance(f, FuncOp) and f.sym_name.data not in scheduled]:
            schedule = sketch_function(func, target)
            inherit_location(schedule, func)
            edit.insert_after(func, schedule)

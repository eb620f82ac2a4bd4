"""Give each kernel the schedule that was found fastest for its work, where a file of records has one.

Before: te.func @conv(...) { ... }
After `te-apply-records{file="records.jsonl"}`, whose best record of this work, machine and number of threads it is:
        te.func @conv(...) { ... }
        te.schedule @conv { %k, %y, %x, %c = te.loops "acc" [4] ... }

A kernel that has a schedule keeps it, and one without a record gets none here: both are the default's business
(`cpu-schedule`). Records are found by the kernel's text under canonical names, so that they hold in every model that
does the same work. A record that cannot be applied, such as one of a version with other primitives, is left with a
warning. Assumes the module attribute `lamina.target`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from lamina.dialects import edit
from lamina.dialects.listener import listener_of
from lamina.dialects.schedule.canonical import fitted, task_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.records import Record, best_records, read_records
from lamina.dialects.target import machine_of, module_target
from lamina.dialects.te.ops import FuncOp
from lamina.errors import InputError, LaminaError, UsageError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.te.draw_decisions import schedules
from lamina.passes.te_to_tir.te_to_tir import TeToTirPass


@dataclass(frozen=True)
class ApplyRecordsPass(ModulePass):
    """Gives kernels the schedules of a file of records."""

    name = "te-apply-records"

    file: str = ""
    """The file of records, which `lamina tune` writes."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        if target is None:
            raise VerifyException("te-apply-records: the module names no 'lamina.target'")
        if not self.file:
            raise UsageError("te-apply-records: which file?", hint='te-apply-records{file="records.jsonl"}')
        found, notes = read_records(self.file)
        for note in notes:
            listener_of(ctx).message("warning", note)
        best, machine, threads = best_records(found), machine_of(target), target.threads.data
        scheduled = {s.func.root_reference.data for s in schedules(op)}
        for func in [f for f in op.ops if isinstance(f, FuncOp) and f.sym_name.data not in scheduled]:
            record = best.get((task_of(func), machine, threads)) if best else None
            if record is None:
                continue
            try:
                schedule = schedule_of(record, func, ctx)
                # Before it stands there it is tried: te-to-tir would stop at what it refuses.
                trial = ModuleOp([func.clone(), schedule.clone()], attributes=dict(op.attributes))
                with edit.counted_elsewhere():
                    TeToTirPass().apply(ctx, trial)
            except LaminaError as e:
                said = f"te-apply-records: the record of @{func.sym_name.data} in {self.file} cannot be applied: {e}"
                listener_of(ctx).message("warning", said, func)
                continue
            inherit_location(schedule, func)
            edit.insert_after(func, schedule)


def schedule_of(record: Record, func: FuncOp, ctx: Context) -> ScheduleOp:
    """The schedule of a record for a kernel of its work. Raises LaminaError where there is none."""
    try:
        module = Parser(ctx, record.trace, "trace").parse_module()
        module.verify()
    except Exception as e:  # parsers of attributes and ops meet bad text with all kinds of them
        said = e.msg if isinstance(e, ParseError) else f"{e}".strip().rpartition("\n")[2]
        raise InputError(f"its text is wrong: {said or type(e).__name__}") from e
    found = list(schedules(module))
    if len(found) != 1 or len(list(module.ops)) != 1:
        raise InputError("it holds no te.schedule alone")
    return fitted(found[0], func)

"""Search for the step that makes a fault: the pass, the schedule primitive or the edit, and the op that it rewrites.

The state after each step is a program by itself. That after the first is right and that after the last is wrong, so
halving finds a step before which the program is right and after which it is wrong: of sixty passes with six programs.
Within a pass its edits, firings of rules and those made by hand, are halved by the fuel; where the fault needs none of
them, the first op that the pass changes is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from math import ceil, log2
from time import monotonic
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lamina.debugging.fuel import ALL
from lamina.debugging.judge import Judge, Tell, silent
from lamina.debugging.outcome import Kind
from lamina.debugging.program import Program
from lamina.debugging.states import NEEDED, operations
from lamina.debugging.verdict import How, Verdict, registry_of
from lamina.dialects.entry_names import level_of
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET
from lamina.errors import UsageError
from lamina.ir.diagnostics import op_text
from lamina.ir.pipeline import print_pipeline, run_pipeline
from lamina.ir.printing import module_text

SCHEDULES = "te-to-tir"
FEW_INTERPRETED = 30_000_000
"""Operations on single elements that tir's interpreter does in some twenty seconds."""
_RULE = re.compile(r"in the rule (\S+)")


@dataclass(frozen=True)
class Guilt:
    """The step that makes a fault."""

    verdict: Verdict
    """With the step."""
    passes: tuple[str, ...]
    """The pipeline."""
    index: int | None = None
    """Of the guilty pass; None where all of them together show no fault: it is in the driver or the run-time."""
    primitive: Operation | None = None
    """The schedule primitive, where te-to-tir is guilty of how it applies one."""
    firing: str = ""
    """The guilty edit: `simplify/simplify_expr.py:55  %7 -> %9`."""
    number: tuple[int, int] = (0, 0)
    """The number of the guilty firing, and of all firings."""
    changed: str = ""
    """The first op that the pass changed."""

    @property
    def step(self) -> str:
        """The guilty pass with its options; empty where it is none."""
        return self.passes[self.index] if self.index is not None else ""

    def __str__(self) -> str:
        if self.index is None:
            return "no pass: the fault is in the driver or the run-time"
        lines = [f"pass {self.step} ({self.index + 1} of {len(self.passes)})"]
        if self.primitive is not None:
            lines.append(f"primitive {op_text(self.primitive)} of @{scheduled(self.primitive)}")
        if self.firing:
            lines.append(f"edit {self.firing} ({self.number[0]} of {self.number[1]})")
        elif self.changed:
            lines.append(f"first op that changes: {self.changed}")
        return "\n".join(lines)


def first_bad(last: int, bad: Callable[[int], bool]) -> int:
    """The least n up to `last` that is bad, given that 0 is not and `last` is, and that bad stays bad."""
    good, wrong = 0, last
    while wrong - good > 1:
        middle = (good + wrong) // 2
        if bad(middle):
            wrong = middle
        else:
            good = middle
    return wrong


class Bisection:
    """The search in one program; what it asks, the judge remembers."""

    def __init__(
        self, judge: Judge, program: Program, passes: Sequence[ModulePass], how: How, tell: Tell | None = None
    ) -> None:
        """`program` has its target; `how` says what is loaded and whether numbers count."""
        self.judge = judge
        self.program = program
        self.passes = list(passes)
        self.names = tuple(print_pipeline([p]) for p in passes)
        self.how = how
        self.tell = tell or silent

    def ask(self, count: int, firings: int | None = None, checked: bool | None = None) -> Verdict:
        """The verdict after so many passes."""
        pipeline = ",".join(self.names[:count])
        return self.judge.ask(self.program, replace(self.how, pipeline=pipeline, firings=firings, checked=checked))

    def guilt(self) -> Guilt:
        """The step that makes the fault. Raises UsageError where the program shows none and was to."""
        fault = self.ask(len(self.passes))
        if not fault.is_fault:
            return Guilt(fault, self.names)
        index = self.guilty_pass(fault)
        self.tell(f"pass {self.names[index]}")
        found = Guilt(self.ask(index + 1), self.names, index)
        if not found.verdict.is_fault:
            found = replace(found, verdict=fault)
        return self.within(found)

    def guilty_pass(self, fault: Verdict) -> int:
        """The index of the first pass after which the fault shows."""
        where = fault.outcome.where
        names = [p.name for p in self.passes]
        if where in names:
            # The pass in which it stopped. One of this name may have gone well before.
            places = [n for n, name in enumerate(names) if name == where]
            return next((n for n in places[:-1] if fault.same_fault(self._without_numbers(n + 1))), places[-1])
        index = first_bad(len(self.passes), self._halving(lambda n: self._wrong(fault, n))) - 1
        if self.passes[index].name != SCHEDULES or not self.primitive_is_wrong(fault, index):
            return self._interpreted(fault, index)
        return index

    def primitive_is_wrong(self, fault: Verdict, index: int) -> bool:
        """Whether the naive loops that a pass makes are right, so that it is a primitive of a schedule which is not."""
        before = self.before(index)
        how = replace(self.how, pipeline=self.names[index])
        return bool(primitives_of(before.module)) and not fault.same_fault(
            self.judge.ask(with_primitives(before, 0), how)
        )

    def _without_numbers(self, count: int) -> Verdict:
        pipeline = ",".join(self.names[:count])
        return self.judge.ask(self.program, replace(self.how, pipeline=pipeline, numbers=False))

    def _wrong(self, fault: Verdict, count: int) -> bool:
        return fault.same_fault(self.ask(count))

    def _interpreted(self, fault: Verdict, index: int) -> int:
        """The first pass from an index on after which the interpreter, too, finds the fault.

        Where every state from there on is compiled, the passes that this needs may be to blame instead of the first.
        The index where that is not so, or the interpreter would take too long.
        """
        names = [p.name for p in self.passes]
        compiled = [n for n in range(index, len(names)) if names[n] in NEEDED]
        if not compiled or compiled[0] != index or NEEDED[-1] not in names:
            return index
        below = names.index(NEEDED[-1])
        if operations(self.before(index + 1).module) > FEW_INTERPRETED:
            suspects = ", ".join(names[n] for n in compiled)
            self.tell(f"all that is compiled differs: one of {suspects}, which interpreters would tell (--checked)")
            return index
        return next((n for n in range(index, below) if fault.same_fault(self.ask(n + 1, checked=True))), below)

    def _halving(self, bad: Callable[[int], bool]) -> Callable[[int], bool]:
        """The question, with what is left of the search told after each answer."""
        start, done = monotonic(), 0
        total = ceil(log2(max(len(self.passes), 2)))

        def asked(count: int) -> bool:
            nonlocal done
            answer = bad(count)
            done += 1
            left = max(total - done, 0) * (monotonic() - start) / done
            self.tell(f"{'differs' if answer else 'same   '}  after {self.names[count - 1]}; about {left:.0f} s left")
            return answer

        return asked

    # -- within a pass -----------------------------------------------------------------------------------------

    def before(self, index: int) -> Program:
        """The program that a pass is given."""
        found = self.program.clone()
        run_pipeline(found.module, found.context(), self.passes[:index])
        return found

    def within(self, found: Guilt) -> Guilt:
        """The primitive, the firing, or the first op that the guilty pass changes."""
        index = found.index
        assert index is not None
        scheduled = self.passes[index].name == SCHEDULES  # its edits are primitives, and what it makes first
        fired = () if scheduled else self.ask(index + 1, ALL).fired
        if fired:
            found = self.firing(found, len(fired))
        if found.firing or found.verdict.outcome.kind in (Kind.CRASH, Kind.HANG):
            return found  # it would do the same to this process
        before = self.before(index)
        if scheduled:
            found = replace(found, primitive=self.primitive(before, found))
        return found if found.primitive is not None else replace(found, changed=self.changed(before, index))

    def firing(self, found: Guilt, count: int) -> Guilt:
        """The first edit of the guilty pass with which the fault shows."""
        assert found.index is not None
        end = found.index + 1

        def wrong(firings: int) -> bool:
            return found.verdict.same_fault(self.ask(end, firings))

        # A rule that raises or has no end is not among those that have fired.
        count += not wrong(count)
        if not wrong(count) or wrong(0):
            return found  # not by what is counted
        number = first_bad(count, wrong)
        fired = self.ask(end, number).fired
        if len(fired) < number:
            named = _RULE.search(found.verdict.outcome.said)
            firing = named[1] if named else f"the next after {fired[-1]}" if fired else "the first"
            return replace(found, firing=firing, number=(number, count))
        return replace(found, firing=fired[number - 1], number=(number, count))

    def primitive(self, before: Program, found: Guilt) -> Operation | None:
        """The primitive of a schedule with which the fault shows; None where the naive loops are wrong already."""
        total = len(primitives_of(before.module))
        how = replace(self.how, pipeline=self.names[found.index or 0], checked=None)

        def wrong(count: int) -> bool:
            return found.verdict.same_fault(self.judge.ask(with_primitives(before, count), how))

        if not total or wrong(0) or not wrong(total):
            return None
        return primitives_of(before.module)[first_bad(total, wrong) - 1]

    def changed(self, before: Program, index: int) -> str:
        """The first op that a pass changes, as text; empty where it does not come so far."""
        after = before.clone()
        try:
            run_pipeline(after.module, after.context(), [self.passes[index]])
        except Exception as e:
            op = getattr(e, "op", None)
            return " ".join(str(op).split("\n")[0].split()) if isinstance(op, Operation) else ""
        return first_changed(before.module, after.module)


def first_changed(before: ModuleOp, after: ModuleOp) -> str:
    """The first line of a module that is not in the other, or the first new one where none is gone.

    Empty where they are of different levels: then every line is new.
    """
    if level_of(before) != level_of(after):
        return ""
    a, b = ([row.strip() for row in module_text(m).splitlines() if TARGET not in row] for m in (before, after))
    for kind, start, end, new, _ in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            return a[start] if end > start else b[new]
    return ""


def primitives_of(module: ModuleOp) -> list[Operation]:
    """The primitives of all schedules, in order."""
    return [op for s in module.ops if isinstance(s, ScheduleOp) for block in s.body.blocks for op in block.ops]


def scheduled(primitive: Operation) -> str:
    """The function whose schedule a primitive stands in."""
    schedule = primitive.parent_op()
    assert isinstance(schedule, ScheduleOp)
    return schedule.func.root_reference.data


def with_primitives(program: Program, count: int) -> Program:
    """The program with the first primitives alone."""
    copy = replace(program.clone(), computes=program.computes or program.text())
    for op in reversed(primitives_of(copy.module)[count:]):
        op.detach()
        op.erase()
    return copy


def whole_pipeline(how: How, target: Any) -> list[ModulePass]:
    """The passes that a program goes through in that way. Raises UsageError for one that is not known."""
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.pipeline import parse_pipeline

    text = how.pipeline
    if text is None:
        text = pipeline_text(how.opt_level, target=target)
    if not text:
        raise UsageError("there are no passes", hint="give them with -p")
    return parse_pipeline(text, registry_of(how))

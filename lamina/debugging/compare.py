"""Runs one program at every level on the same inputs and names the first step after which it computes something else.

The steps are what the compiler does: te as it is written, its naive loops, each schedule primitive, each pass, machine
code. A step differs where a result does, or where the run fails: an index out of bounds, a race, an element that
nothing has written. Relay is run by the oracles, te and tir by the checking interpreters, llvm as machine code.

    >>> found = compare_levels(text, "conv.mlir")
    >>> print(found.difference)
    te.split %i [4] (conv.mlir:12:3): result 'y'[0, 4] is 3.0, expected 7.0

Interpreters take minutes for a layer of a real model. Such a program is compiled between the steps instead, by the
passes that none can do without, and the first step that differs is found by halving (`sampled.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lamina.debugging.agreement import first_difference
from lamina.debugging.bisect import first_bad, first_changed, primitives_of
from lamina.debugging.difference import Comparison, Difference, Source, is_step
from lamina.debugging.entry import MAIN, draw_inputs, entry_of
from lamina.debugging.fuel import ALL, counted_firings
from lamina.debugging.judge import Tell, silent
from lamina.debugging.program import Program
from lamina.debugging.states import explain, operations
from lamina.debugging.verdict import How, compiled_results
from lamina.dialects.entry_names import level_of
from lamina.dialects.relay.base import OpPattern, RelayOp
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET, TargetAttr, module_target
from lamina.dialects.te import ops as te
from lamina.dialects.tir import ops as tir
from lamina.driver.execute import run_module
from lamina.errors import InputError, UsageError, did_you_mean
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, print_pipeline, run_pipeline

THREADS = (
    "tir-lower-thread-allreduce,tir-lower-blocks,tir-unify-thread-binding,tir-inject-virtual-thread,tir-thread-sync"
)
"""The pipeline that makes kernels of loops that are bound to threads."""
FEW = 300_000
"""Operations on single elements of a program that interpreters run after each of sixty steps, in some ten seconds."""


def compare_levels(
    text: str,
    file: str,
    *,
    pipeline: str | Sequence[ModulePass] | None = None,
    target: TargetAttr | None = None,
    sizes: Mapping[str, int] | None = None,
    inputs: Mapping[str, Any] | None = None,
    seed: int = 0,
    tell: Tell | None = None,
    ctx: LaminaContext | None = None,
    checked: bool | None = None,
    start: str = "",
    load: Sequence[str] = (),
    progress: Tell | None = None,
    compiled: How | None = None,
) -> Comparison:
    """Run a program of the relay, te or tir level after each step down to machine code.

    `@main` is run, or the only te.func or tir.func where there is none. `pipeline` are the passes (by default those of
    the compiler; for loops bound to threads, those up to the barriers), `target` is the one to compile for (by default
    the program's own, or this machine), `sizes` and `inputs` what is given of the inputs by name: the others are drawn
    from `seed`, small whole numbers. `tell` hears of each step when it is done. Weights are those of `ctx`, and of the
    file that the text names, beside the path that `ctx` has.

    With `checked` every step is interpreted, without it none is and steps are found by halving; by default the size of
    the program decides. `start` is the first step that is looked at, a pass or the text of a primitive. `load` are the
    files that passes of the pipeline come from: other processes read them again. `progress` hears what to expect.
    `compiled` says how `lamina.compile` is to make the program as the last step of all.
    Raises LaminaError where the program itself cannot be read or run.
    """
    from lamina.backends.cpu.jit import host_target

    ctx = ctx or LaminaContext()
    module = parse_text(ctx, text, file)
    ctx.open_params(module)
    main = entry_of(module)
    if target is not None or TARGET not in module.attributes:
        module.attributes[TARGET] = target or host_target(1)
    passes = list(parse_pipeline(pipeline) if isinstance(pipeline, str) else pipeline or ())
    arrays = dict(inputs or {}) | draw_inputs(main, sizes or {}, inputs or {}, seed)
    given = pipeline is not None
    passes = passes if given else default_passes(module)
    source = Source(text.splitlines(), file)
    if checked is None:
        checked = has_threads(module) or work_of(module) <= FEW
    if not checked:
        from lamina.debugging.sampled import compare_sampled

        program = Program(module, arrays, ctx.params)
        return compare_sampled(program, passes, source, start, load, tell or silent)
    if progress is not None and work_of(module) > FEW:
        progress(f"interpreted after each step: about {work_of(module) * 6e-5:.0f} s; compiled without --checked")
    comparer = _Comparer(ctx, arrays, source, tell, start)
    given_module = module.clone()
    comparer.steps(module, passes, given)
    if compiled is not None and comparer.result.difference is None:
        comparer.compiled(given_module, compiled)
    comparer.check_start(passes)
    return comparer.result


def _has_sizes(module: ModuleOp) -> bool:
    """Whether a function has sizes that only a run tells."""
    return any(isinstance(a.type, IndexType) for f in module.ops if isinstance(f, te.FuncOp) for a in f.body.block.args)


def default_passes(module: ModuleOp) -> list[ModulePass]:
    """The compiler's passes from the level of a module on."""
    from lamina.driver.pipelines import LLVM_PIPELINE, TIR_PIPELINE, pipeline_text

    level = level_of(module)
    if level == "relay":
        target = module_target(module)
        return parse_pipeline(pipeline_text(3, target=target))
    if level == "llvm":
        raise UsageError("the program is at the llvm level already; there is nothing to compare it with")
    passes = [*TIR_PIPELINE, *LLVM_PIPELINE]
    if level == "tir":
        passes.remove("te-to-tir")
        if has_threads(module):
            return parse_pipeline(THREADS)
    return parse_pipeline(",".join(passes))


def has_threads(module: ModuleOp) -> bool:
    """Whether loops are bound to the threads of a GPU: such kernels are interpreted alone."""
    return any(isinstance(op, tir.ForOp) and op.thread is not None for op in module.walk()) or any(
        op.name == "te.bind" for op in primitives_of(module)
    )


def work_of(module: ModuleOp) -> int:
    """About how many operations on single elements one run takes, of any level."""
    if level_of(module) != "relay":
        return operations(module)
    total = 0
    for op in module.walk():
        if isinstance(op, RelayOp):
            sizes = [prod(max(e, 1) for e in t.get_shape()) for v in (*op.operands, *op.results) if (t := _tensor(v))]
            # A product reads a row of its weights for each element of its result.
            many = op.FUSION_KIND >= OpPattern.OUT_ELEMWISE_FUSABLE and len(sizes) > 2
            total += int((sizes[0] * sizes[1] * sizes[-1]) ** 0.5) * 4 if many else max(sizes, default=0) * 2
    return total


def _tensor(value: Any) -> Any:
    return value.type if hasattr(value.type, "get_shape") else None


class _Comparer:
    """The steps one after the other, each interpreted."""

    def __init__(
        self, ctx: LaminaContext, arrays: Mapping[str, Any], source: Source, tell: Tell | None, start: str
    ) -> None:
        self.ctx = ctx
        self.arrays = arrays
        self.source = source
        self.tell = tell
        self.start = start
        """The step from which on they are run; empty when it has come."""
        self.expected: dict[str, Any] = {}
        self.result = Comparison()
        self.refused = False
        """Whether the last failure was a refusal."""

    def steps(self, module: ModuleOp, passes: Sequence[ModulePass], given: bool) -> None:
        """The program as it is, then after each pass, up to the first difference.

        Passes that nobody has given are those for threads where schedules bind loops to them.
        """
        self.expected = run_module(module.clone(), self.ctx, MAIN, self.arrays)
        self.done(level_of(module))
        pending = list(passes)
        while pending and self.result.difference is None:
            p = pending.pop(0)
            if p.name == "te-to-tir":
                self.primitives(module)
                if self.result.difference is not None:
                    break
            self.after_pass(p, module)
            if p.name == "te-to-tir" and not given and has_threads(module):
                pending = parse_pipeline(THREADS)

    def check_start(self, passes: Sequence[ModulePass]) -> None:
        """Raise UsageError where the step from which on they are run has not come."""
        if self.start:
            hint = did_you_mean(self.start, [print_pipeline([p]) for p in passes])
            raise UsageError(f"there is no step {self.start!r}", hint=hint or "a pass, or a primitive as it is written")

    def done(self, step: str, where: str = "") -> None:
        self.result.steps.append(step)
        if self.tell is not None:
            self.tell(f"same  {step}{f' ({where})' if where else ''}")

    def primitives(self, module: ModuleOp) -> None:
        """The naive loops, then each primitive of each schedule, the schedules in their order."""
        from lamina.passes.te_to_tir.te_to_tir import TeToTirPass

        schedules = [op for op in module.ops if isinstance(op, ScheduleOp)]
        primitives = [_ops_of(s) for s in schedules]
        counts = [len(p) for p in primitives]
        stages: list[tuple[list[int], str, str, bool]] = [([0] * len(schedules), "te-to-tir, naive loops", "", False)]
        for n, ops in enumerate(primitives):
            for k, primitive in enumerate(ops):
                taken = [*counts[:n], k + 1, *[0] * (len(schedules) - n - 1)]
                if primitive.name != "te.loops":
                    stages.append((taken, *self.source.told(primitive), k + 1 < len(ops) and _has_sizes(module)))
        for taken, step, where, is_part in stages:
            if self.skips(step):
                continue
            copy = module.clone()
            for schedule, keep in zip([op for op in copy.ops if isinstance(op, ScheduleOp)], taken, strict=True):
                for op in reversed(_ops_of(schedule)[keep:]):
                    op.detach()
                    op.erase()
            if not self.check(step, where, copy, TeToTirPass()):
                # Registers for as many elements as only a run tells are refused until other primitives share them out.
                if not is_part or not self.refused:
                    return
                self.result.difference = None

    def skips(self, step: str) -> bool:
        """Whether a step comes before those that are looked at."""
        if self.start and is_step(step, self.start):
            self.start = ""
        return bool(self.start)

    def after_pass(self, p: ModulePass, module: ModuleOp) -> None:
        text = print_pipeline([p])
        step = f"{text}, machine code" if p.name == "tir-to-llvm" else text
        if self.skips(text):
            run_pipeline(module, self.ctx, [p])
            return
        before = module.clone()
        if not self.check(step, "", module, p):
            self.explain(before, p)

    def check(self, step: str, where: str, module: ModuleOp, p: ModulePass) -> bool:
        """Apply a pass and run what it made; remembers a difference."""
        found = self.difference(step, where, module, p)
        if found is None:
            self.done(step, where)
        self.result.difference = found
        return found is None

    def difference(self, step: str, where: str, module: ModuleOp, p: ModulePass) -> Difference | None:
        """The first difference in results after a pass; None where they agree."""

        def run() -> dict[str, Any]:
            run_pipeline(module, self.ctx, [p])
            return run_module(module, self.ctx, MAIN, self.arrays)

        return self.differing(step, where, run)

    def differing(self, step: str, where: str, run: Callable[[], dict[str, Any]]) -> Difference | None:
        """The first result that differs from what is expected, or the failure of the run; None where all agree."""
        try:
            found = run()
            for (name, wanted), got in zip(self.expected.items(), found.values(), strict=True):
                place = first_difference(wanted, got)
                if place is not None:
                    return Difference(step, where, name, place, wanted[place], got[place])
        except Exception as e:
            self.refused = isinstance(e, InputError)
            return Difference(step, where, failure=explain(e))
        return None

    def compiled(self, module: ModuleOp, how: How) -> None:
        """The program as the driver builds it and callers run it."""
        step = f"lamina.compile ({how})"
        found = self.differing(step, "", lambda: compiled_results(module, self.ctx, self.arrays, how))
        if found is None:
            self.done(step)
        self.result.difference = found

    def explain(self, before: ModuleOp, p: ModulePass) -> None:
        """Find the edit that makes the difference, or the op that the pass changes first."""
        assert self.result.difference is not None
        found = self.result.difference

        def tried(firings: int) -> tuple[bool, list[str]]:
            with counted_firings(firings) as fired:
                wrong = self.difference("", "", before.clone(), p) is not None
            return wrong, fired

        fired = tried(ALL)[1]
        if fired and not tried(0)[0] and tried(len(fired))[0]:
            number = first_bad(len(fired), lambda n: tried(n)[0])
            rule = f"{fired[number - 1]} ({number} of {len(fired)})"
            self.result.difference = replace(found, rule=rule)
            return
        after = before.clone()
        try:
            run_pipeline(after, self.ctx, [p])
        except Exception:
            return  # the difference says what it raises
        self.result.difference = replace(found, changed=first_changed(before, after))


def _ops_of(schedule: ScheduleOp) -> list[Operation]:
    return [op for block in schedule.body.blocks for op in block.ops]

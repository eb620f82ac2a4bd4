"""The outcome of one program, asked in a process of its own (`isolate.py`): called there by name, with JSON.

A program is a text and the arrays that belong to it, each in a file. It is compiled as `lamina.compile` does, or taken
through passes as opt-tool does; where numbers count, results are compared with what the program gives before that.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.utils.exceptions import DiagnosticException

from lamina.debugging.agreement import furthest
from lamina.debugging.entry import MAIN, entry_of
from lamina.debugging.outcome import Kind, Outcome, one_line
from lamina.debugging.reference import Reference
from lamina.debugging.states import explain, run_state
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.dialects.relay.params import ParamAttr
from lamina.dialects.target import TARGET
from lamina.errors import InternalError, LaminaError
from lamina.ir.context import LaminaContext, with_dialects
from lamina.ir.printing import module_text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from lamina.ir.registry import Registry

_REPRODUCER = re.compile(r"; (?:reproducer written to \S+; )?please report it")
_EXCEPTION = re.compile(r"\b(\w*(?:Error|Exception|Interrupt)): ")
CANDIDATE = "candidate"
"""The place of a refusal of what is no program, or none that can be run."""
LOAD = "load"
"""The place of what goes wrong when a compiled program is loaded."""
RUN = "run"
"""The place of what goes wrong when results are computed."""
FIRINGS = ".firings"
"""Suffix of the file of firings, after the name of that of the steps."""
COARSE = 1e-2
"""From this part of the largest value on an error is no matter of rounding."""


@dataclass(frozen=True)
class How:
    """In which way a program is compiled and run."""

    pipeline: str | None = None
    """The passes, as opt-tool runs them; None for what `lamina.compile` does."""
    target: str = ""
    """As TargetSpec has it in text; empty for the module's own, or this machine."""
    opt_level: int = 3
    threads: int = 1
    sanitize: bool = False
    """Whether kernels check their accesses."""
    copies: bool = False
    """Whether kernels are lowered in copies of the process, as they are where there are many."""
    load: tuple[str, ...] = ()
    """Files of passes."""
    numbers: bool = True
    """Whether results are computed and compared."""
    firings: int | None = None
    """The most edits that the last pass of the pipeline may make; None for no limit."""
    plain: bool = False
    """Whether a difference counts as it is, also where roundings could make it."""
    checked: bool | None = None
    """Whether te and tir are interpreted rather than compiled; by default where that takes no longer."""

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def of_json(data: Mapping[str, Any]) -> How:
        given: dict[str, Any] = {**data, "load": tuple(data["load"])}
        return How(**given)

    def __str__(self) -> str:
        if self.pipeline is not None:
            return f"-p {self.pipeline}" if len(self.pipeline) < 60 else "the pipeline"
        words = [f"opt level {self.opt_level}", f"{self.threads} thread{'s' * (self.threads > 1)}", self.target]
        words += ["checked accesses"] * self.sanitize + ["kernels lowered in copies"] * self.copies
        return ", ".join(w for w in words if w)


@dataclass(frozen=True)
class Verdict:
    """The outcome for a program, and how far off its numbers are."""

    outcome: Outcome
    error: float = 0.0
    """Of a MISMATCH: the part of the largest value."""
    fired: tuple[str, ...] = ()
    """The edits of the last pass, where they are counted: `simplify/simplify_expr.py:55  %7 -> %9`."""

    def json(self) -> dict[str, Any]:
        return {"outcome": self.outcome.json(), "error": self.error, "fired": self.fired}

    @staticmethod
    def of_json(data: Mapping[str, Any]) -> Verdict:
        return Verdict(Outcome.of_json(data["outcome"]), float(data["error"]), tuple(data["fired"]))

    @property
    def is_fault(self) -> bool:
        """Whether the program goes wrong; it does, too, where what can be imported is refused later."""
        outcome = self.outcome
        return outcome.kind.is_fault or outcome.kind is Kind.REFUSAL and outcome.where != CANDIDATE

    def same_fault(self, other: Verdict) -> bool:
        """Whether the other is the fault that this one is: not another one that came up while the program shrank."""
        if self.outcome.kind is Kind.MISMATCH:
            coarse = self.error >= COARSE
            return other.outcome.kind is Kind.MISMATCH and (other.error >= COARSE or not coarse)
        mine, its = self.outcome, other.outcome
        if not self.is_fault or mine.kind is not its.kind or mine.where != its.where:
            return False
        # What an exception says depends on what the program has first of what it cannot bear.
        raised = _EXCEPTION.search(mine.said)
        if mine.kind is Kind.INTERNAL_ERROR and raised is not None:
            found = _EXCEPTION.search(its.said)
            return found is not None and found[1] == raised[1]
        return mine.signature == its.signature


def warm() -> None:
    """Import what every verdict needs, and compile a small program, so that it is there in each copy of the process.

    Where the compiler cannot do even that, and may take the process with it, the last of it is left to each copy.
    """
    from lamina.dialects.lazy_formats import read_formats_late

    needed = ("driver.api", "driver.compilation", "driver.lowering_here", "backends.llvm.emit", "debugging.precise")
    for name in needed:
        import_module(f"lamina.{name}")
    read_formats_late()
    _try_passes()
    pid = os.fork()
    if pid == 0:
        signal.alarm(WARMING)
        try:
            _try_machine_code()
            os._exit(0)
        except BaseException:
            os._exit(1)
    if os.waitpid(pid, 0)[1] == 0:
        _try_machine_code()


def _try_passes() -> None:
    """Take the small program through all passes: an exception does no harm."""
    from lamina.driver.pipelines import pipeline_text
    from lamina.ir.parsing import parse_text

    ctx, how = LaminaContext(), How()
    try:
        module = parse_text(ctx, _SMALL, "small.mlir")
        module.attributes[TARGET] = target_of(how)
        _judged(
            module_text(module), ctx, {}, How(pipeline_text(3), numbers=False), registry_of(how), StepFile(""), None
        )
    except Exception:
        pass  # what is looked for, perhaps


def _try_machine_code() -> None:
    """Compile the small program and run it."""
    from lamina.backends.cpu.jit import host_spec
    from lamina.backends.cpu.runtime.modules import runtime_library
    from lamina.store.program_cache import object_cache

    host_spec(1)
    runtime_library(cache=object_cache())
    given: dict[str, Any] = {"x": np.zeros(8, np.float32)}
    _judged(_SMALL, LaminaContext(), given, How(), registry_of(How()), StepFile(""), None)


WARMING = 30
"""Seconds that the first compilation may take."""
_SMALL = """func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = relay.exp %x : tensor<8xf32>
  return %y : tensor<8xf32>
}"""


def judged(
    text: str, arrays: Mapping[str, Any], params: Mapping[str, Any], how: Mapping[str, Any], trace: str, known: str
) -> dict[str, Any]:
    """The verdict on a program, as JSON.

    `arrays` are the inputs by name, `params` the weights by key and digest with a zero byte between; each is a file and
    a dtype. The step that is next is added to the file `trace`, for whoever wants to know in which one it died.
    What the program gives as it is stands in the file `known`, once it has been computed.
    """
    given = How.of_json(how)
    step = StepFile(trace)
    step(CANDIDATE)
    registry = registry_of(given)
    with with_dialects(registry.dialects):
        ctx = LaminaContext()
        for key, stored in params.items():
            ctx.params.hold(ParamAttr.of(*key.split("\0")), read_array(stored))
        inputs = {name: read_array(stored) for name, stored in arrays.items()}
        return _judged(text, ctx, inputs, given, registry, step, Path(known)).json()


class StepFile:
    """Notes the step that is next, in a line of a file, where the process that waits can read it."""

    def __init__(self, path: str) -> None:
        self.firings = Path(f"{path}{FIRINGS}") if path else None
        # Left open: a file that is written anew costs more than most passes do.
        self.file = open(path, "a", buffering=1) if path else None  # noqa: SIM115
        self.now = ""

    def __call__(self, step: str) -> None:
        self.now = step
        if self.file is not None:
            self.file.write(f"{step}\n")


def read_array(stored: Sequence[str]) -> Any:
    """The array in a file, of a dtype."""
    path, dtype = stored
    return np.load(path, mmap_mode="r", allow_pickle=False).view(numpy_dtype(dtype))


def _judged(
    text: str,
    ctx: LaminaContext,
    inputs: Mapping[str, Any],
    how: How,
    registry: Registry,
    step: StepFile,
    known: Path | None,
) -> Verdict:
    from lamina.ir.parsing import parse_text
    from lamina.ir.pipeline import parse_pipeline
    from lamina.ir.verification import verify_module

    passes = parse_pipeline(how.pipeline, registry) if how.pipeline is not None else None
    try:
        module = parse_text(ctx, text, "candidate.mlir")
        verify_module(module)
        if how.numbers:
            entry_of(module)
        reference = Reference(module.clone() if how.numbers else module, ctx, inputs, known)
        if how.numbers:
            reference.results()
    except Exception as e:
        # Even where it is an oracle that fails: this program says nothing about what is being looked for.
        return Verdict(Outcome(Kind.REFUSAL, explain(e), CANDIDATE))
    fired: list[str] = []
    try:
        if passes is None:
            got = compiled_results(module, ctx, inputs, how, step)
        else:
            _through(passes, module, ctx, how.firings, fired, step)
            step(RUN)
            got = run_state(module, ctx, inputs, how.checked, step) if how.numbers else {}
    except Exception as e:
        return Verdict(_failed(e, step.now), fired=tuple(fired))
    if not how.numbers:
        return Verdict(Outcome(Kind.SAME), fired=tuple(fired))
    return replace(_compared(reference, got, how.plain), fired=tuple(fired))


def _failed(error: Exception, now: str) -> Outcome:
    """The outcome of an error in a step."""
    outcome = Outcome.of_error(error, now)
    if isinstance(error, DiagnosticException):  # a pass says that it was misused
        outcome = Outcome(Kind.REFUSAL, one_line(str(error)), now)
    notes: list[str] = getattr(error, "__notes__", [])  # the rule that was being applied
    said = outcome.said.removeprefix(f"{MAIN}: ") + (f" ({', '.join(notes)})" if notes else "")
    outcome = replace(outcome, said=one_line(_REPRODUCER.sub("", said)))
    # Where results are computed, a refusal is a fault: the same program ran before.
    if now == RUN and isinstance(error, LaminaError) and not isinstance(error, InternalError):
        return Outcome(Kind.MISMATCH, f"the run fails: {outcome.said}", RUN)
    return outcome


def _compared(reference: Reference, got: Mapping[str, Any], plain: bool) -> Verdict:
    try:
        apart = furthest(reference.results(), got)
        if apart is not None and not plain:
            # Is it the program that makes large differences of small ones?
            apart = furthest(reference.results(), got, reference.decided)
    except LaminaError as e:
        return Verdict(Outcome(Kind.MISMATCH, e.what, RUN), np.inf)
    return Verdict(Outcome(Kind.MISMATCH, str(apart), RUN), apart.error) if apart is not None else SAME


SAME = Verdict(Outcome(Kind.SAME))


def _through(
    passes: Sequence[ModulePass],
    module: ModuleOp,
    ctx: LaminaContext,
    firings: int | None,
    fired: list[str],
    step: StepFile,
) -> None:
    """Take a module through passes, each followed by the verifier; notes the edits of the last one."""
    from lamina.debugging.fuel import counted_firings
    from lamina.ir.instrumentation import Timer, VerifyHook
    from lamina.ir.pipeline import run_pipeline

    hooks = [VerifyHook(Timer())]
    for n, p in enumerate(passes):
        step(p.name)
        if firings is None or n < len(passes) - 1:
            run_pipeline(module, ctx, [p], hooks)
            continue
        counted: list[str] = []
        try:
            with counted_firings(firings, step.firings) as counted:
                run_pipeline(module, ctx, [p], hooks)
        finally:
            fired += counted


def compiled_results(
    module: ModuleOp,
    ctx: LaminaContext,
    inputs: Mapping[str, Any],
    how: How,
    step: Callable[[str], object] = lambda _: None,
) -> dict[str, Any]:
    """The results of the program that `lamina.compile` makes, by name; none where numbers do not count."""
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.driver.compilation import Compilation, Source, build
    from lamina.driver.relay_source import of_module
    from lamina.driver.settings import Settings
    from lamina.ir.instrument import PassInfo, PassInstrument
    from lamina.runtime.compiled import load_program
    from lamina.runtime.program_file import StoredProgram
    from lamina.transform import PassContext

    read = of_module(module, ctx.params, MAIN)

    def fresh() -> Source:
        return Source(read.module.clone(), ctx.params, MAIN, read.inputs)

    class Told(PassInstrument):
        def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
            step(info.name)

    step("compile")
    # An instrument keeps the passes in this process.
    context = PassContext(how.opt_level, instruments=[] if how.copies else [Told()])
    made = build(Compilation(fresh, Settings(TargetSpec.of(target_of(how)), context, how.sanitize)))
    if not how.numbers:
        return {}
    step(LOAD)
    program: Any = load_program(made) if isinstance(made, StoredProgram) else made
    step(RUN)
    return program.run(inputs)


def registry_of(how: How) -> Registry:
    """The passes and dialects that are known: those of installed packages and of the files that are loaded."""
    from lamina.ir.registry import Registry

    registry = Registry()
    registry.load_universes()
    for file in how.load:
        registry.load_file(Path(file))
    return registry


def target_of(how: How) -> Any:
    """The target that a program is compiled for."""
    from lamina.ir import targets

    return targets.target_of(how.target or "cpu", how.threads)

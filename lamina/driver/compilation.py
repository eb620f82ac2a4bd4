"""From a model to a program, step by step: load, plan, lower, emit, link.

    model ── load ──► relay ── lower ──► te ── emit ──► machine code ── link ──► program
                        └─ plan: the virtual machine runs it, or kernels in a fixed order, lowered here or in copies

Kernels are lowered and compiled in copies of this process, while the weights are packed here (`lowering_processes.py`);
where it cannot be copied, in this process (`lowering_here.py`). That is one choice, which `plan` makes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from lamina.dialects.listener import Listener
from lamina.dialects.relay.program_state import STATE, state_of
from lamina.dialects.target import TARGET
from lamina.driver.call_graph import call_graph
from lamina.driver.faults import Faults
from lamina.driver.pipelines import CODEGEN, Progress
from lamina.driver.settings import Settings
from lamina.driver.step_notes import relay_ops, step_note
from lamina.errors import UnsupportedError
from lamina.ir.collector import quiet_gc
from lamina.ir.context import LaminaContext
from lamina.passes.relay.partition.external_backends import compiler_of
from lamina.runtime.ports import Port
from lamina.runtime.program_file import StoredProgram
from lamina.transform import find_pass

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation

    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.choices import Question
    from lamina.dialects.relay.params import ParamStore
    from lamina.driver.lowering_here import Kernels, LoweringHere
    from lamina.driver.machine_program import MachineProgram
    from lamina.driver.weight_packing import WeightPacking

WEIGHTS = "relay.safetensors"
"""The file of a module's weights, where its text is written."""


@dataclass
class Source:
    """A module at the relay level, owned by whoever lowers it, and its weights."""

    module: ModuleOp
    params: ParamStore
    label: str
    inputs: tuple[Port, ...] = ()
    """The inputs that the user gives, where they say more than the module."""


Fresh: TypeAlias = Callable[[], Source]
"""Gives the module as imported, a new one each time."""


@dataclass
class Compilation(Listener):
    """All that a compilation needs: what the user has given, and what the steps and the passes have found so far."""

    fresh: Fresh
    settings: Settings
    objects: ObjectCache | None = None
    """The cache of machine code of kernels; None for none."""
    progress: Progress | None = None
    meanwhile: Callable[[], object] = lambda: None
    """Called while others compile the last kernels, if at all: what is needed when there is a program."""
    placement: list[str] = field(default_factory=list[str])
    """The report of what external backends took."""
    questions: list[Question] = field(default_factory=list["Question"])
    """The questions of passes that choose among candidates."""
    graph: dict[str, Any] = field(default_factory=dict[str, Any])
    """The call graph of the kernels (`call_graph.py`)."""
    constants: list[Attribute] = field(default_factory=list["Attribute"])
    """The constants of the program, in the order of its weights."""
    state: list[list[Any]] = field(default_factory=list["list[Any]"])
    """The values that the program keeps from run to run, as plain values (`lamina.runtime.session`)."""

    @cached_property
    def source(self) -> Source:
        """The module; it knows its target."""
        # Modules are imported here, and many ops made.
        with quiet_gc():
            source = self.fresh()
        source.module.attributes[TARGET] = self.settings.attr
        source.module.attributes["lamina.params"] = StringAttr(WEIGHTS)
        return source

    @cached_property
    def ctx(self) -> LaminaContext:
        """The context that the passes run in: they speak to this compilation."""
        ctx = LaminaContext(listener=self)
        ctx.params = self.source.params
        return ctx

    @cached_property
    def faults(self) -> Faults:
        return Faults(self)

    def again(self) -> Compilation:
        """The same from the beginning."""
        return Compilation(self.fresh, self.settings)

    def run_passes(self, start: str, until: str, progress: Progress | None = None) -> None:
        """Take the module from one level down to another."""
        with self.faults:
            self.settings.pipeline.run(self.source.module, self.ctx, progress or self.step, start, until)

    def report(self, name: str, seconds: float, note: str) -> None:
        """Say that a step is done."""
        if self.progress is not None:
            self.progress(name, seconds, note)

    def step(self, name: str, seconds: float, note: str) -> None:
        """Say that a pass is done."""
        self.faults.done.append(name)
        if name == "relay-to-te":
            self.graph.update(call_graph(self.source.module))
        if self.progress is not None:
            self.progress(name, seconds, note or step_note(name, self.source.module))

    # -- what passes say -------------------------------------------------------------------------------------------

    def message(self, severity: str, text: str, op: Operation | None = None) -> None:
        if severity == "warning":
            warnings.warn(text, stacklevel=2)

    def placed(self, report: Callable[[], str]) -> None:
        self.placement.append(report())

    def asked(self, questions: Iterable[Question]) -> None:
        self.questions.extend(questions)


# -- the steps -----------------------------------------------------------------------------------------------------


def build(compilation: Compilation) -> StoredProgram | MachineProgram:
    """Compile a model, or make it ready for the virtual machine where it has more than kernels in a fixed order."""
    load(compilation)
    lowering = plan(compilation)
    if lowering is None:
        return machine_program(compilation)
    from lamina.driver.weight_packing import WeightPacking

    with quiet_gc(), lowering, WeightPacking(compilation.source.params) as weights:
        lower(compilation)
        kernels = emit(lowering, weights)
        return link(compilation, kernels, weights)


def load(compilation: Compilation) -> None:
    """Import the model."""
    start = perf_counter()
    source = compilation.source
    compilation.state = _state_of(source.module)
    if compilation.progress is not None:
        seconds = perf_counter() - start
        compilation.progress("import", seconds, f"{source.label}: {relay_ops(source.module)} relay ops")


def _state_of(module: ModuleOp) -> list[list[Any]]:
    """The values that a program keeps, as plain values."""
    mains = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"]
    if not mains or STATE not in mains[0].attributes:
        return []
    from lamina.runtime.session import KeptValue

    return [KeptValue(*variable).plain() for variable in state_of(mains[0])]


def plan(compilation: Compilation) -> LoweringHere | None:
    """The object that lowers and compiles the kernels; None where the virtual machine runs the model."""
    if is_for_machine(compilation):
        return None
    from lamina.driver.lowering_here import LoweringHere
    from lamina.driver.lowering_processes import LoweringInCopies, can_copy

    # Instruments look at whole modules, in this process.
    copied = can_copy() and not compilation.settings.context.instruments
    return (LoweringInCopies if copied else LoweringHere)(compilation)


def lower(compilation: Compilation) -> None:
    """Run the passes on graphs: kernels are what they are, each with its schedule."""
    compilation.run_passes("relay", "te")
    compilation.state = _state_of(compilation.source.module)  # some of it may grow where it lies now


def emit(lowering: LoweringHere, weights: WeightPacking) -> Kernels:
    """Take the kernels from te to machine code; weights may be packed meanwhile."""
    return lowering.kernels(weights)


def link(compilation: Compilation, kernels: Kernels, weights: WeightPacking) -> StoredProgram:
    """Put kernels and packed weights together."""
    start = perf_counter()
    params = weights.result(kernels.params)
    compilation.constants = kernels.params
    compilation.report("pack-weights", perf_counter() - start, f"{sum(p.nbytes for p in params) / 1e6:.1f} MB")
    said = {"placement": "\n".join(compilation.placement), "graph": compilation.graph, "state": compilation.state}
    description = describe(kernels.program, compilation.settings.target.threads, said)
    return StoredProgram(description, kernels.objects, tuple(params))


# -- models for the machine ----------------------------------------------------------------------------------------


def is_for_machine(compilation: Compilation) -> bool:
    """Whether the virtual machine has to run a model. Its calls may be gone then."""
    from lamina.driver.machine_question import needs_machine

    with compilation.faults:
        return needs_machine(compilation.source.module, compilation.ctx, compilation.settings.pipeline)


def machine_program(compilation: Compilation) -> MachineProgram:
    """A program for the virtual machine, which compiles its parts as it meets shapes."""
    from lamina.driver.machine_program import MachineProgram

    module = compilation.source.module
    # Functions that a user has partitioned; parts of the others are when they are compiled.
    if any(compiler_of(op) is not None for op in module.body.block.ops):
        with compilation.faults:
            find_pass(CODEGEN).load()().apply(compilation.ctx, module)
    placed = "\n".join(compilation.placement)
    return MachineProgram(compilation.source, compilation.settings, compilation.objects is not None, placed)


# -- what a model asks ---------------------------------------------------------------------------------------------


def questions_of(compilation: Compilation) -> list[Question]:
    """The questions of passes that choose among candidates, each question once."""
    if is_for_machine(compilation):
        what = "this model's kernels are in no fixed order: there is nothing to choose"
        raise UnsupportedError(what, where=compilation.source.label)
    compilation.wants_nodes = compilation.wants_estimates = True
    lower(compilation)
    found: dict[str, Question] = {}
    for q in compilation.questions:
        nodes = q.nodes | (found[q.name].nodes if q.name in found else frozenset[str]())
        found[q.name] = q._replace(nodes=nodes)
    return list(found.values())


# -- what there is to say ------------------------------------------------------------------------------------------


def describe(program: Mapping[str, Any], threads: int, said: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Describe a program besides its code and weights, as plain values.

    `program` is what `ProgramInfo.plain` says of it; of what is `said`, such as the report of external backends, what
    says nothing is left out.
    """
    return {**program, "threads": threads, **{name: value for name, value in (said or {}).items() if value}}

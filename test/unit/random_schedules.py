"""Random schedules: primitives drawn blind over small programs, and an oracle that knows better.

A draw names loops and stages that exist and is otherwise random: most draws are nonsense. What is accepted becomes the
next line of the schedule; what is refused for its meaning is applied all the same to a copy, with legality switched
off, and run on expressions instead of numbers. Where that gives the expressions of the unscheduled program without a
race, the refusal was wrong.
"""

from __future__ import annotations

import ctypes
import functools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from drawn_primitives import DRAWS, INTRINSICS, WEIGHTS, Place
from te_programs import ALL_PROGRAMS, inputs_of
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.backends.cpu.jit import compile_object, host_target
from lamina.backends.cpu.link import load_objects
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.index.sizes import argument_extents
from lamina.dialects.schedule.nest.edits import accesses, blocks_of, stage_loops
from lamina.dialects.schedule.nest.refusals import IllegalError, ScheduleError, unchecked
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.schedule.primitives.loops import LoopsOp
from lamina.dialects.schedule.primitives.unroll import UnrollOp
from lamina.dialects.te.ops import ComputeOp, FuncOp
from lamina.dialects.te.tensor_intrin import TensorIntrinOp
from lamina.dialects.tir.memory import AllocOp, StoreOp
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.ops import FuncOp as Kernel
from lamina.driver.pipelines import DEVICE_PIPELINE, TIR_PIPELINE
from lamina.errors import InputError, LaminaError
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.interpreters.tir_tracing import TraceTable, trace_tir_func
from lamina.ir.context import LaminaContext
from lamina.ir.dominance import find_violation
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.passes.te_to_tir.intrinsics import IntrinsicTable
from lamina.passes.te_to_tir.te_to_tir import lower_function
from lamina.passes.tir.memory.plan_memory import lift_allocations
from lamina.passes.tir_to_llvm.tir_to_llvm import lower_function as lower_kernel

TO_MACHINE_CODE = (
    ",".join(TIR_PIPELINE[TIR_PIPELINE.index("te-to-tir") + 1 : TIR_PIPELINE.index("tir-plan-memory")]),
    "tir-lower-blocks,tir-inject-prefetch,tir-inject-double-buffer,tir-loop-partition{all=true},tir-alternate-direction,tir-simplify,"
    "tir-storage-flatten{aligned-only=true},tir-vectorize-loop,tir-unroll-loop,tir-demote-registers,tir-hoist-if-then-else{guards=true},"
    "tir-hoist-expression,tir-storage-rewrite,tir-remove-no-op",
)
"""The compiler's passes, and more of them; seeds take one or the other."""
TO_THREADS = ",".join(
    DEVICE_PIPELINE[DEVICE_PIPELINE.index("te-to-tir") + 1 : DEVICE_PIPELINE.index("tir-thread-sync") + 1]
)
"""From what te-to-tir leaves to kernels that simulated threads run."""


@functools.cache
def _declared() -> list[TensorIntrinOp]:
    """The tensor intrinsics that drawn schedules may name."""
    module = parse_text(LaminaContext(), INTRINSICS, "intrinsics.mlir")
    return [op for op in module.ops if isinstance(op, TensorIntrinOp)]


@functools.cache
def _intrinsics() -> IntrinsicTable:
    """The same, ready to be matched."""
    return IntrinsicTable({op.sym_name.data: op for op in _declared()}, LaminaContext(), lower_function)


class NoKernelError(LaminaError):
    """The passes do not make a kernel for threads of this schedule."""


class LooseState(ScheduleState):
    """Takes any number of results: a random primitive cannot know how many loops it will give."""

    given: int = 0

    def bind(self, handles: Any, loops: Any) -> None:
        self.given = len(loops)


@dataclass
class Statistics:
    """What became of the draws of many schedules."""

    accepted: Counter[str] = field(default_factory=Counter[str])
    schedules_with: Counter[str] = field(default_factory=Counter[str])
    """How many schedules each primitive occurs in."""
    lengths: list[int] = field(default_factory=list[int])
    refused: Counter[str] = field(default_factory=Counter[str])
    """Refused for the meaning, and the oracle agrees."""
    wrongly: Counter[str] = field(default_factory=Counter[str])
    """Refused for the meaning although it is kept, by primitive and reason."""
    inapplicable: Counter[str] = field(default_factory=Counter[str])
    """Cannot be done at all, by primitive."""
    uncompiled: Counter[str] = field(default_factory=Counter[str])
    """Schedules that machine code cannot be made of, by message."""

    def draws(self) -> int:
        return sum(map(sum, (c.values() for c in (self.accepted, self.refused, self.wrongly, self.inapplicable))))


def reason_of(error: ScheduleError) -> str:
    """A message without the names in it."""
    words = str(error).split("'")
    return "'…'".join(words[::2])


WAITING = "the number of registers is not; a later primitive computes it in a loop over tiles"
"""The end of a schedule refuses it."""


class RandomSchedule:
    """A program, its kernel, and the primitives that have been accepted so far."""

    def __init__(self, seed: int, statistics: Statistics | None = None, without: Sequence[str] = ()) -> None:
        self.bag = [name for name in DRAWS for _ in range(WEIGHTS.get(name, 1)) if name not in without]
        self.seed = seed
        self.r = random.Random(seed)
        self.statistics = statistics or Statistics()
        self.source: FuncOp = self.r.choice(ALL_PROGRAMS)(self.r)
        self.kernel, self.arguments = lower_function(self.source)
        self.naive = str(self.kernel)
        self.state = LooseState(self.kernel, self.arguments, intrinsics=_intrinsics())
        self.ops: list[Operation] = []
        """te.loops and primitives, in turn."""
        count = sum(isinstance(a.type, IndexType) for a in self.source.body.block.args)
        self.sizes = [[self.r.randint(low, 7) for _ in range(count)] for low in ((1, 3) if count else (1,))]
        """What the sizes are: small ones, which may be 1, and some that are not."""
        self.table = TraceTable()
        self.expected = self.trace(lower_function(self.source)[0])
        self.has_reducer = any(op.regions[1:] for op in self.source.walk() if isinstance(op, ComputeOp))
        self.names: list[str] = []

    # -- drawing -------------------------------------------------------------------------------------------------

    def draw(self, length: int, attempts: int = 5) -> None:
        """Draw until so many primitives have been accepted, or `attempts` times as many have been drawn."""
        for _ in range(length * attempts):
            if len(self.names) == length:
                break
            self.step()
        if self.seed % 3:
            self.unroll_registers()
        self.statistics.lengths.append(len(self.names))
        self.statistics.schedules_with.update(set(self.names))

    def step(self) -> None:
        """Draw one primitive and apply it, or say why it was refused."""
        stages, top = self.stages(), self.kernel.body.block
        if not stages:
            return
        stage = self.r.choice(stages)
        loops = stage_loops(self.kernel, stage)
        named = LoopsOp.make(stage, len(loops))
        stores = (op for op in blocks_of(self.kernel)[stage][0].body.walk() if isinstance(op, StoreOp))
        rank = len(next(stores).forms())
        trips = [v.trip for v in loops]
        tensors = [*stages, *self.arguments]
        tiles = [op.stage.data for op in self.kernel.walk() if isinstance(op, AllocOp) and op.parent is not top]
        place = Place(self.r, stage, list(named.results), trips, rank, stages, tensors, tiles)
        made = DRAWS[self.r.choice(self.bag)](place)
        if made is None:
            return
        self.state.loops.update(zip(named.results, loops, strict=True))
        before = str(self.kernel)
        self.state.given = len(made.results)
        name = made.name[3:]
        try:
            cast(PrimitiveOp, made).apply(self.state)
        except ScheduleError as error:
            assert str(self.kernel) == before, f"{made.name} was refused ({error}) after it had changed the function"
            kind = "inapplicable"
            if isinstance(error, IllegalError):
                kind = "wrongly" if self.keeps_meaning(named, made) else "refused"
            counter = cast("Counter[str]", getattr(self.statistics, kind))
            counter[f"{name}: {reason_of(error)}"] += 1
            return
        self.statistics.accepted[name] += 1
        self.names.append(name)
        self.ops += [named, made]
        if len(made.results) != self.state.given and all(r.type == LOOP for r in made.results):
            results = [LOOP] * self.state.given
            again = type(made).create(
                operands=list(made.operands), properties=dict(made.properties), result_types=results
            )
            self.ops[-1] = again

    def unroll_registers(self) -> None:
        """Unroll the loops that index registers, as a schedule that is in earnest about them says too."""
        for stage in self.stages():
            loops = stage_loops(self.kernel, stage)
            found = [(op, op.buffer_value().owner) for op in accesses(blocks_of(self.kernel)[stage][0])]
            indices = [op.forms() for op, o in found if isinstance(o, AllocOp) and o.scope.data == "register"]
            used = {d for forms in indices for form in forms for d in form.dims()}
            named = LoopsOp.make(stage, len(loops))
            self.state.loops.update(zip(named.results, loops, strict=True))
            ops = [
                UnrollOp.create(operands=[handle])
                for handle, loop in zip(named.results, loops, strict=True)
                if loop.var in used and loop.kind.data == "serial" and not loop.is_dynamic
            ]
            for op in ops:
                op.apply(self.state)
            self.ops += [named, *ops]

    def stages(self) -> list[str]:
        """The stages that a primitive can name: those of one block."""
        return [name for name, blocks in blocks_of(self.kernel).items() if len(blocks) == 1]

    def keeps_meaning(self, named: Operation, made: Operation) -> bool:
        """Whether the schedule so far and one primitive more, unchecked, give the program's expressions."""
        kernel, arguments = lower_function(self.source)
        state = LooseState(kernel, arguments, intrinsics=_intrinsics())
        try:
            with unchecked():
                for op in [*self.ops, named, made]:
                    if isinstance(op, LoopsOp):
                        loops = stage_loops(kernel, op.stage.data)
                        state.loops.update(zip(op.results, loops, strict=True))
                    else:
                        cast(PrimitiveOp, op).apply(state)
            return self.in_turn(kernel) == self.expected and self.by_threads(kernel) == self.expected
        except (LaminaError, ScheduleError, AssertionError):
            return False

    # -- judging -----------------------------------------------------------------------------------------------------

    def in_turn(self, kernel: Kernel) -> list[list[int]]:
        """The expressions of a kernel whose loops of threads run one iteration after the other."""
        alone = kernel.clone()
        take_turns(alone)
        return self.trace(alone)

    def trace(self, kernel: Kernel) -> list[list[int]]:
        """The expressions that a kernel stores, for all sizes."""
        return [found for sizes in self.sizes for found in trace_tir_func(kernel, sizes, self.table)]

    def by_threads(self, kernel: Kernel) -> list[list[int]]:
        """The expressions of a kernel as threads compute them, with the barriers that the passes put in.

        Raises NoKernelError where the passes refuse it.
        """
        if not any(isinstance(op, ForOp) and op.thread is not None for op in kernel.walk()):
            return self.expected
        alone = kernel.clone()
        module = ModuleOp([alone])
        try:
            run_pipeline(module, LaminaContext(), parse_pipeline(TO_THREADS))
        except InputError as error:
            raise NoKernelError(str(error)) from error
        if self.has_reducer:
            # Its terms in another order are another expression once they no longer stand in a block.
            arrays = inputs_of(self.source, self.seed)
            pairs = zip(run_tir_func(alone, arrays), run_te_func(self.source, arrays), strict=True)
            return self.expected if all(np.array_equal(a, b) for a, b in pairs) else []
        return self.trace(alone)

    def text(self) -> str:
        """The program with its schedule, as `te-to-tir` takes it."""
        block = Block()
        values: dict[SSAValue, SSAValue] = {}
        for op in self.ops:
            block.add_op(op.clone(values))
        declared = [op.clone() for op in _declared()]
        return str(ModuleOp([*declared, self.source.clone(), ScheduleOp.make("f", Region(block))]))

    def check(self, compiled: bool = True) -> None:
        """Raises AssertionError, with the texts, where the schedule is not what the program is."""
        step = "scheduled"
        try:
            module = ModuleOp([self.kernel])
            module.verify()
            assert find_violation(module) is None, "a value is used where it is not defined"
            axes = [v.axis.data for v in self.kernel.walk() if type(v) is ForOp]
            assert len(axes) == len(set(axes)), "an axis name is not unique"
            assert self.in_turn(self.kernel) == self.expected, "other expressions"
            step = "run by threads"
            assert self.by_threads(self.kernel) == self.expected, "other expressions"
            step = "read back from its text"
            ctx = LaminaContext()
            again = parse_text(ctx, self.text(), "schedule.mlir")
            try:
                run_pipeline(again, ctx, parse_pipeline("te-to-tir"))
            except LaminaError as error:
                # Registers of unknown number wait for a primitive that makes them a tile's, which was not drawn.
                assert WAITING in str(error), error
                return
            assert str(again) == str(module), "the schedule's text gives another kernel"
            if compiled:
                step = "compiled"
                self.check_compiled(again, ctx)
        except Exception as error:
            text = f"seed {self.seed}, {step}: {type(error).__name__}: {error}\n{self.text()}\n{self.kernel}"
            raise AssertionError(text) from error

    def check_compiled(self, module: ModuleOp, ctx: LaminaContext) -> None:
        """Machine code gives the numbers of the unscheduled program."""
        arrays = inputs_of(self.source, self.seed)
        expected = run_te_func(self.source, arrays)
        kernel = next(op for op in module.ops if isinstance(op, Kernel))
        try:
            run_pipeline(module, ctx, parse_pipeline(TO_MACHINE_CODE[self.seed % len(TO_MACHINE_CODE)]))
        except LaminaError as error:
            self.statistics.uncompiled[reason_of(ScheduleError(str(error)))] += 1
            return
        alone = kernel.clone()
        take_turns(alone)
        for found, wanted in zip(run_tir_func(alone, arrays), expected, strict=True):
            np.testing.assert_array_equal(found, wanted, "before it became machine code")
        try:
            found = run_compiled(kernel, arrays)
        except LaminaError as error:
            self.statistics.uncompiled[reason_of(ScheduleError(str(error)))] += 1
            return
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value, wanted, "as machine code")


def take_turns(kernel: Kernel) -> None:
    """Make the loops of threads run one iteration after the other."""
    for op in kernel.walk():
        if isinstance(op, ForOp) and op.thread is not None:
            op.properties["kind"] = StringAttr("serial")
            del op.properties["thread"]


def run_compiled(kernel: Kernel, arrays: Sequence[Any]) -> list[Any]:
    """The outputs of a kernel as machine code of this computer, phase after phase in this thread."""
    sizes: dict[Any, int] = {
        a: int(v) for a, v in zip(kernel.body.block.args, arrays, strict=False) if isinstance(a.type, IndexType)
    }
    count = len(arrays)
    outputs = kernel.outputs.value.data
    lift_allocations(kernel)
    held: list[Any] = [np.ascontiguousarray(np.asarray(a, np.int64) if np.ndim(a) == 0 else a) for a in arrays]
    for argument in kernel.body.block.args[count:]:
        shape = [e.evaluate(sizes) for e in argument_extents(argument, cast(Any, kernel.arg_attrs))]
        dtype = {"i1": "bool", "i32": "int32", "f32": "float32", "f64": "float64", "i64": "int64"}
        held.append(np.full(shape, 77, dtype[str(cast(Any, argument.type).element_type)]))
    declarations: dict[str, Any] = {}
    target = host_target(1)
    functions, phases = lower_kernel(kernel, declarations, {}, target)
    text = emit_module(ModuleOp([*functions, *declarations.values()]), target)
    symbols = [symbol for p in phases for symbol in (p.symbol, p.limit) if symbol is not None]
    library = load_objects([compile_object(text, target)], symbols)
    pointer = ctypes.c_void_p
    for phase in phases:
        bases = (pointer * len(phase.arguments))(*(held[n].ctypes.data for n in phase.arguments))
        extent = phase.extent
        if phase.limit is not None:
            extent = library.function(phase.limit, ctypes.c_int64, pointer)(bases)
        library.function(phase.symbol, None, pointer, ctypes.c_int64, ctypes.c_int64)(bases, 0, extent)
    return held[count : count + outputs]

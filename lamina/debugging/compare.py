"""Runs one program at every level on the same inputs and names the first step after which it computes something else.

The steps are what the compiler does: te as it is written, its naive loops, each schedule primitive, each pass, machine
code. A step differs where a result does, or where the run fails: an index out of bounds, a race, an element that
nothing has written. Relay is run by the oracles, te and tir by the checking interpreters, llvm as machine code.

    >>> found = compare_levels(text, "conv.mlir")
    >>> print(found.difference)
    te.split %i [4] (conv.mlir:12:3): result 'y'[0, 4] is 3.0, expected 7.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp as MainOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass

from lamina.context import LaminaContext
from lamina.diagnostics import source_position
from lamina.dialects.sizes import SHAPE, shape_of
from lamina.dialects.target import TARGET, TargetAttr, module_target
from lamina.dialects.te import ops as te
from lamina.dialects.te.schedule import ScheduleOp
from lamina.dialects.tir import ops as tir
from lamina.errors import InputError, LaminaError, UsageError
from lamina.parsing import parse_text
from lamina.pipeline import parse_pipeline, print_pipeline, run_pipeline
from lamina.runtime.entry_names import argument_names, level_of
from lamina.runtime.execute import run_module
from lamina.runtime.scalar_ops import element_dtype
from lamina.user_code import users_mistake

MAIN = "main"
TOLERANCES = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-5, "float64": 1e-9}
"""How far a number may be off, relative to the expected one or to 1 where that is smaller."""
THREADS = (
    "tir-lower-thread-allreduce,tir-lower-blocks,tir-unify-thread-binding,tir-inject-virtual-thread,tir-thread-sync"
)
"""What makes kernels of loops that are bound to threads."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Difference:
    """What a step changed, or how a run failed after it."""

    step: str
    """The text of a primitive or the name of a pass."""
    where: str
    """`file:line:col` of a primitive."""
    buffer: str = ""
    index: tuple[int, ...] = ()
    expected: Any = None
    got: Any = None
    failure: str = ""

    def __str__(self) -> str:
        step = f"{self.step} ({self.where})" if self.where else self.step
        if self.failure:
            return f"{step}: {self.failure}"
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return f"{step}: result {self.buffer!r}{place} is {self.got}, expected {self.expected}"


@dataclass
class Comparison:
    """The steps that were run, in order, and the first that differs."""

    steps: list[str] = field(default_factory=list[str])
    difference: Difference | None = None


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
) -> Comparison:
    """Run a program of the relay, te or tir level after each step down to machine code.

    `@main` is run, or the only te.func or tir.func where there is none. `pipeline` are the passes (by default those of
    the compiler; for loops bound to threads, those up to the barriers), `target` is the one to compile for (by default
    the program's own, or this machine), `sizes` and `inputs` what is given of the inputs by name: the others are drawn
    from `seed`, small whole numbers. `tell` hears of each step when it is done. Weights are those of `ctx`, and of the
    file that the text names, beside the path that `ctx` has.
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
    comparer = _Comparer(ctx, arrays, text.splitlines(), file, tell)
    comparer.expected = run_module(module.clone(), ctx, MAIN, arrays)
    comparer.done(level_of(module))
    given = pipeline is not None
    pending = passes if given else default_passes(module)
    while pending and comparer.result.difference is None:
        p = pending.pop(0)
        if p.name == "te-to-tir":
            comparer.primitives(module)
            if comparer.result.difference is not None:
                break
        comparer.after_pass(p, module)
        if p.name == "te-to-tir" and not given and _has_threads(module):
            pending = parse_pipeline(THREADS)
    return comparer.result


def default_passes(module: ModuleOp) -> list[ModulePass]:
    """The compiler's passes from the level of a module on."""
    from lamina.compiler import LLVM_PIPELINE, TIR_PIPELINE, pipeline_text

    level = level_of(module)
    if level == "relay":
        target = module_target(module)
        return parse_pipeline(pipeline_text(3, backends=target.backend_list() if target is not None else ()))
    if level == "llvm":
        raise UsageError("the program is at the llvm level already; there is nothing to compare it with")
    passes = [*TIR_PIPELINE, *LLVM_PIPELINE]
    if level == "tir":
        passes.remove("te-to-tir")
        if _has_threads(module):
            return parse_pipeline(THREADS)
    return parse_pipeline(",".join(passes))


def _has_threads(module: ModuleOp) -> bool:
    return any(isinstance(op, tir.ForOp) and op.thread is not None for op in module.walk())


class _Comparer:
    def __init__(
        self, ctx: LaminaContext, arrays: Mapping[str, Any], lines: Sequence[str], file: str, tell: Tell | None
    ) -> None:
        self.ctx = ctx
        self.arrays = arrays
        self.lines = lines
        self.file = file
        self.tell = tell
        self.expected: dict[str, Any] = {}
        self.result = Comparison()

    def done(self, step: str, where: str = "") -> None:
        self.result.steps.append(step)
        if self.tell is not None:
            self.tell(f"same  {step}{f' ({where})' if where else ''}")

    def primitives(self, module: ModuleOp) -> None:
        """The naive loops, then each primitive of each schedule, the schedules in their order."""
        from lamina.passes.te_to_tir import TeToTirPass

        schedules = [op for op in module.ops if isinstance(op, ScheduleOp)]
        primitives = [_ops_of(s) for s in schedules]
        counts = [len(p) for p in primitives]
        stages: list[tuple[list[int], str, str]] = [([0] * len(schedules), "te-to-tir, naive loops", "")]
        for n, ops in enumerate(primitives):
            for k, primitive in enumerate(ops):
                taken = [*counts[:n], k + 1, *[0] * (len(schedules) - n - 1)]
                if primitive.name != "te.loops":
                    stages.append((taken, *self._told(primitive)))
        for taken, step, where in stages:
            copy = module.clone()
            for schedule, keep in zip([op for op in copy.ops if isinstance(op, ScheduleOp)], taken, strict=True):
                for op in reversed(_ops_of(schedule)[keep:]):
                    op.detach()
                    op.erase()
            if not self.check(step, where, copy, TeToTirPass()):
                return

    def after_pass(self, p: ModulePass, module: ModuleOp) -> None:
        text = print_pipeline([p])
        self.check(f"{text}, machine code" if p.name == "tir-to-llvm" else text, "", module, p)

    def check(self, step: str, where: str, module: ModuleOp, p: ModulePass) -> bool:
        """Apply a pass and run what it made; remembers a difference."""
        try:
            run_pipeline(module, self.ctx, [p])
            found = run_module(module, self.ctx, MAIN, self.arrays)
        except LaminaError as e:
            said = " ".join(str(e).split())
            self.result.difference = Difference(step, where, failure=said)
            return False
        except Exception as e:
            mistake = users_mistake(e)
            said = f"{mistake.where}: {mistake.what}" if mistake else f"{type(e).__name__}: {' '.join(str(e).split())}"
            self.result.difference = Difference(step, where, failure=said)
            return False
        for (name, wanted), got in zip(self.expected.items(), found.values(), strict=True):
            place = first_difference(wanted, got)
            if place is not None:
                self.result.difference = Difference(step, where, name, place, wanted[place], got[place])
                return False
        self.done(step, where)
        return True

    def _told(self, primitive: Operation) -> tuple[str, str]:
        """The text of a primitive as it stands in the file, and its place."""
        found = source_position(primitive.location)
        if found is None or found[0] != self.file or not 0 < found[1] <= len(self.lines):
            return primitive.name, ""
        file, line, column = found
        text = self.lines[line - 1].strip()
        count = sum(1 for n in _names_on(self.lines[line - 1]) if n == primitive.name)
        if count != 1:  # several on one line: its own part of the line
            text = self.lines[line - 1][column - 1 :].strip()
        return text, f"{file}:{line}:{column}"


def _ops_of(schedule: ScheduleOp) -> list[Operation]:
    return [op for block in schedule.body.blocks for op in block.ops]


def _names_on(line: str) -> list[str]:
    return [word for word in line.split() if word.startswith("te.")]


def first_difference(expected: Any, got: Any) -> tuple[int, ...] | None:
    """The index of the first element that is too far off; None where all are near enough."""
    if expected.shape != got.shape or expected.dtype != got.dtype:
        raise InputError(f"a result is {got.dtype}{list(got.shape)}, expected {expected.dtype}{list(expected.shape)}")
    tolerance = TOLERANCES.get(str(expected.dtype))
    if tolerance is None:
        wrong = expected != got
    else:
        a, b = expected.astype(np.float64), got.astype(np.float64)
        with np.errstate(invalid="ignore"):
            near = np.abs(a - b) <= tolerance * np.maximum(np.abs(a), 1)
        wrong = ~(near | (a == b) | (np.isnan(a) & np.isnan(b)))
    if not wrong.any():
        return None
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))


# -- inputs ------------------------------------------------------------------------------------------------------


def draw_inputs(main: MainOp, sizes: Mapping[str, int], given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Small whole numbers for the inputs of `@main` that are not given. Raises UsageError for an unknown size."""
    generator = np.random.default_rng(seed)
    args = list(main.body.block.args)
    count = main.attributes.get("lamina.outputs")
    names = argument_names(main, args)
    if isinstance(count, IntegerAttr):
        args = args[: len(args) - int(count.value.data)]
    known: dict[str, Any] = {}
    values: dict[int, int] = {}
    for n, (name, argument) in enumerate(zip(names, args, strict=False)):
        if isinstance(argument.type, IndexType):
            known[name] = int(given.get(name, sizes.get(name, generator.integers(3, 10))))
            values[len(values)] = known[name]
        elif name not in given:
            known[name] = _array(main, n, argument.type, values, generator)
    unknown = [s for s in sizes if not isinstance(known.get(s), int)]
    if unknown:
        has = ", ".join(n for n, v in known.items() if isinstance(v, int)) or "none"
        raise UsageError(f"the program has no size {unknown[0]!r}", hint=f"its sizes: {has}")
    return known


def _array(main: MainOp, n: int, type_: Attribute, sizes: Mapping[int, int], generator: np.random.Generator) -> Any:
    shape = shape_of(type_)
    attrs = main.arg_attrs
    if attrs is not None and SHAPE in attrs.data[n].data:
        map_: Any = attrs.data[n].data[SHAPE]
        shape = tuple(int(f.evaluate(sizes)) for f in map_.data.results)
    dtype = element_dtype(type_)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    # Whole numbers that are not negative where they may be indices.
    low, high = (-4, 5) if dtype.kind not in "iu" or (dtype.kind == "i" and dtype.itemsize < 8) else (0, 3)
    return generator.integers(low, high, shape).astype(dtype)


# -- @main -------------------------------------------------------------------------------------------------------


def entry_of(module: ModuleOp) -> MainOp:
    """`@main`; made to call the only kernel of the module where there is none. Raises UsageError."""
    mains = [op for op in module.ops if isinstance(op, MainOp) and not op.is_declaration]
    found = next((m for m in mains if m.sym_name.data == MAIN), mains[0] if len(mains) == 1 else None)
    if found is not None:
        found.properties["sym_name"] = StringAttr(MAIN)
        return found
    kernels = [op for op in module.ops if isinstance(op, (te.FuncOp, tir.FuncOp))]
    if len(kernels) != 1:
        raise UsageError(f"there is no @main and {len(kernels)} kernels", hint="add a @main that calls them")
    (kernel,) = kernels
    main = _calling(kernel) if isinstance(kernel, te.FuncOp) else _calling_loops(kernel)
    module.body.block.add_op(main)
    main.verify()
    return main


def _calling(kernel: te.FuncOp) -> MainOp:
    from lamina.passes.te_to_tir import lower_function

    inputs, outputs = kernel.function_type.inputs.data, kernel.function_type.outputs.data
    block = Block(arg_types=inputs)
    for mine, its in zip(block.args, kernel.body.block.args, strict=True):
        mine.name_hint = its.name_hint
    call = te.CallOp.make(kernel.sym_name.data, block.args, outputs)
    returned = kernel.body.block.last_op
    assert returned is not None
    for result, value in zip(call.results, returned.operands, strict=True):
        result.name_hint = value.name_hint
    block.add_ops([call, ReturnOp(*call.results)])
    main = MainOp(MAIN, FunctionType.from_lists(list(inputs), list(outputs)), Region(block))
    if kernel.arg_attrs is not None:
        # The extents of the results are those that their buffers get.
        lowered, _ = lower_function(kernel.clone())
        assert lowered.arg_attrs is not None
        attrs = list(lowered.arg_attrs.data)
        main.properties["arg_attrs"] = ArrayAttr(attrs[: len(inputs)])
        main.properties["res_attrs"] = ArrayAttr(attrs[len(inputs) :])
    return main


def _calling_loops(kernel: tir.FuncOp) -> MainOp:
    inputs = kernel.function_type.inputs.data
    block = Block(arg_types=inputs)
    for mine, its in zip(block.args, kernel.body.block.args, strict=True):
        mine.name_hint = its.name_hint
    callee = SymbolRefAttr(kernel.sym_name.data)
    block.add_ops([tir.CallOp.create(operands=block.args, properties={"callee": callee}), ReturnOp()])
    main = MainOp(MAIN, FunctionType.from_lists(list(inputs), []), Region(block))
    main.attributes["lamina.outputs"] = IntegerAttr(kernel.outputs.value.data, i64)
    main.properties["arg_attrs"] = kernel.arg_attrs or ArrayAttr([DictionaryAttr({}) for _ in inputs])
    return main

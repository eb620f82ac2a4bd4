"""From a model to a program: import, the pass pipeline, machine code. And back to the texts on the way, when asked.

Kernels are lowered and compiled in copies of this process, while the weights are packed here
(`lowering_processes.py`). Where it cannot be copied, it lowers the kernels itself: LLVM compiles the first ones in
other processes while the next ones are still being lowered, and a thread packs the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr

from lamina.dialects.fast_ir import all_ops, discard
from lamina.dialects.target import TARGET, TargetAttr
from lamina.driver.call_graph import call_graph
from lamina.driver.compiler import CODEGEN, LEVELS, LLVM_PIPELINE, Progress, lower, pipeline_text, step_note
from lamina.errors import InputError, InternalError, LaminaError, UnsupportedError, UsageError, did_you_mean
from lamina.ir.collector import quiet_gc
from lamina.ir.context import LaminaContext
from lamina.ir.diagnostics import location_name, op_name, source_position
from lamina.ir.user_code import users_mistake
from lamina.passes.relay.partition.external_backends import CONSTANTS, compiler_of
from lamina.runtime.compiled import Port, ProgramInfo
from lamina.runtime.program_file import StoredProgram
from lamina.transform import PassContext, find_pass

if TYPE_CHECKING:
    from lamina.backends.cpu.compile_kernels import KernelCompiler
    from lamina.backends.cpu.object_cache import ObjectCache
    from lamina.dialects.choices import Question
    from lamina.dialects.llvm_target.ops import FuncOp
    from lamina.dialects.relay.params import ParamAttr, ParamStore
    from lamina.driver.lowering_processes import Kernels
    from lamina.driver.machine_program import MachineProgram

TEXTS = (*LEVELS, "ll", "asm")
FILES = {**{level: f"{level}.mlir" for level in LEVELS}, "ll": "kernels.ll", "asm": "kernels.s"}
WEIGHTS = "relay.safetensors"


@dataclass
class Source:
    """A module at the relay level, owned by whoever lowers it, and its weights."""

    module: ModuleOp
    params: ParamStore
    label: str
    inputs: tuple[Port, ...] = ()
    """What the user gives, where that says more than the module."""


MANY_KERNELS = 8
"""From so many kernels on a worker is started before the first of them is finished."""
MANY_OPS = 64
"""From so many ops on a graph surely has many kernels: the workers load LLVM while the graph is still being changed."""
Fresh: TypeAlias = Callable[[], Source]
"""Gives the module as imported, a new one each time."""


def _prepare(source: Source, target: TargetAttr) -> LaminaContext:
    """Write into the module what passes read from it; the context to lower it in."""
    source.module.attributes[TARGET] = target
    source.module.attributes["lamina.params"] = StringAttr(WEIGHTS)
    ctx = LaminaContext()
    ctx.placement = []
    ctx.params = source.params
    return ctx


# -- programs ------------------------------------------------------------------------------------------------


def build(
    fresh: Fresh,
    target: TargetAttr,
    opt_level: int | PassContext,
    progress: Progress | None,
    cache: ObjectCache | None,
    sanitize: bool = False,
    meanwhile: Callable[[], object] | None = None,
) -> StoredProgram | MachineProgram:
    """Compile a model, or make it ready for the machine where it has more than kernels in a fixed order.

    `meanwhile` is called while LLVM is at the last kernels, if it is called at all.
    """
    from lamina.driver.machine_question import needs_machine

    start = perf_counter()
    # Modules are imported here, and many ops made.
    with quiet_gc():
        source = fresh()
    module = source.module
    if progress is not None:
        progress("import", perf_counter() - start, f"{source.label}: {_relay_ops(module)} relay ops")
    ctx = _prepare(source, target)
    with _Faults(fresh, source.label, target, opt_level, sanitize) as faults:
        if needs_machine(module, ctx, opt_level):
            from lamina.driver.machine_program import MachineProgram

            # Functions that a user has partitioned; parts of the others are when they are compiled.
            if any(compiler_of(op) is not None for op in module.body.block.ops):
                find_pass(CODEGEN).load()().apply(ctx, module)
            given = source.params, source.label, source.inputs
            placed = "\n".join(ctx.placement or ())
            return MachineProgram(module, *given, target, opt_level, cache, sanitize, placement=placed)
    with quiet_gc():
        return _compile(source, ctx, target, opt_level, progress, cache, sanitize, faults, meanwhile)


def _compile(
    source: Source,
    ctx: LaminaContext,
    target: TargetAttr,
    opt_level: int | PassContext,
    progress: Progress | None,
    cache: ObjectCache | None,
    sanitize: bool,
    faults: _Faults,
    meanwhile: Callable[[], object] | None,
) -> StoredProgram:
    """Lower a graph and compile its kernels; its weights are packed meanwhile."""
    from lamina.backends.cpu.compile_kernels import KernelCompiler
    from lamina.driver.lowering_processes import CannotCopy, Lowering, LoweringCopy, can_copy, constants_of
    from lamina.driver.weight_packing import WeightPacking

    module = source.module
    graph: dict[str, Any] = {}
    context = PassContext.of(opt_level)
    # Instruments look at whole modules, in this process.
    copied = can_copy() and not context.instruments

    def step(name: str, seconds: float, note: str) -> None:
        if name == "relay-to-te":
            graph.update(call_graph(module))
        if progress is not None:
            progress(name, seconds, note or step_note(name, module))

    watched = faults.watch(step)
    with KernelCompiler(target, None, cache) as compiler, WeightPacking(source.params) as weights:
        if not copied and _relay_ops(module) >= MANY_OPS:
            compiler.start_worker()
            compiler.start_worker()
        with faults:
            lower(module, ctx, context, progress=watched, until="te", sanitize=sanitize)
        constants = constants_of(module)
        many = sum(1 for op in module.ops if op.name == "te.func") >= MANY_KERNELS
        kernels = None
        start = perf_counter()
        if many and copied:
            try:
                with LoweringCopy(Lowering(module, ctx, target, context, cache, sanitize)) as copy:
                    weights.result(constants)
                    if meanwhile is not None:
                        meanwhile()
                    kernels = copy.result(watched)
                    start = perf_counter()
            except CannotCopy:
                pass  # too little memory, or a thread has come
        if kernels is None:
            weights.start(constants)
            if many and not compiler.has_workers():
                compiler.start_worker()
            with faults:
                kernels = _kernels(module, ctx, target, context, compiler, sanitize, watched, meanwhile)
            start = perf_counter()
        params = weights.result(kernels.params)
        if progress is not None:
            progress("pack-weights", perf_counter() - start, f"{sum(p.nbytes for p in params) / 1e6:.1f} MB")
    placement = "\n".join(ctx.placement or ())
    return StoredProgram(describe(kernels.program, target, placement, graph), kernels.objects, tuple(params))


def _kernels(
    module: ModuleOp,
    ctx: LaminaContext,
    target: TargetAttr,
    context: PassContext,
    compiler: KernelCompiler,
    sanitize: bool,
    progress: Progress,
    meanwhile: Callable[[], object] | None,
) -> Kernels:
    """Lower a module of the te level in this process; each kernel is compiled as soon as the last pass is done."""
    from lamina.backends.llvm.emit import emit_kernel, emit_kernels
    from lamina.driver.lowering_processes import Kernels

    pieces: list[int] = []
    emitting = ops = 0

    def submit(texts: Iterable[tuple[str, str]]) -> None:
        for name, text in texts:
            compiler.submit(name, text)
            pieces.append(len(text))

    def finished(functions: Sequence[FuncOp], declared: Mapping[str, FuncOp]) -> None:
        nonlocal emitting, ops
        start = perf_counter()
        submit(emit_kernel(functions, declared, target))
        ops += len(functions) + sum(discard(f.body) for f in functions)
        emitting += perf_counter() - start

    def step(name: str, seconds: float, note: str) -> None:
        # The kernels that were finished early are written out within the pass.
        early = emitting if name == LLVM_PIPELINE[-1] else 0
        progress(name, seconds - early, f"{ops} ops" if early else note)

    if not context.instruments:
        ctx.kernel_done = finished
    lower(module, ctx, context, progress=step, sanitize=sanitize, start="te")
    info = ProgramInfo.of(module)
    start = perf_counter()
    submit(emit_kernels(module, target))
    emitting += perf_counter() - start
    progress("emit-llvm", emitting, f"{len(pieces)} pieces, {sum(pieces) / 1e6:.1f} MB of LLVM assembly")
    start = perf_counter()
    if meanwhile is not None and compiler.has_workers():
        meanwhile()
    objects = compiler.result()
    progress("llvm-codegen", perf_counter() - start, f"{sum(map(len, objects.values())) / 1e6:.2f} MB of machine code")
    return Kernels(info.plain(), list(info.params), objects)


def _relay_ops(module: ModuleOp) -> int:
    """The ops of a graph, without constants."""
    return sum(1 for op in all_ops(module) if op.name.startswith("relay.") and op.name != "relay.constant")


def describe(program: Mapping[str, Any], target: TargetAttr, placement: str = "", graph: Any = None) -> dict[str, Any]:
    """What is to know of a program besides its code and weights, as plain values.

    `program` is what `ProgramInfo.plain` says of it, `placement` the report of what external backends took, `graph`
    which kernel reads which one's results.
    """
    return {
        **program,
        "threads": target.threads.data,
        **({"placement": placement} if placement else {}),
        **({"graph": graph} if graph else {}),
    }


def questions_of(fresh: Fresh, target: TargetAttr, opt_level: int | PassContext) -> list[Question]:
    """What the passes ask that choose among candidates, each question once."""
    from lamina.dialects.choices import Question
    from lamina.driver.machine_question import needs_machine

    source = fresh()
    ctx = _prepare(source, target)
    ctx.questions = []
    if needs_machine(source.module, ctx, opt_level):
        what = "this model's kernels are in no fixed order: there is nothing to choose"
        raise UnsupportedError(what, where=source.label)
    with _Faults(fresh, source.label, target, opt_level, False) as faults:
        lower(source.module, ctx, opt_level, progress=faults.watch(None), until="te")
    found: dict[str, Question] = {}
    for q in ctx.questions:
        nodes = q.nodes | (found[q.name].nodes if q.name in found else frozenset[str]())
        found[q.name] = Question(q.name, q.candidates, nodes)
    return list(found.values())


# -- texts ---------------------------------------------------------------------------------------------------


class StageTexts:
    """The texts of a model at every level, made when first asked for."""

    def __init__(self, fresh: Fresh, target: TargetAttr, opt_level: int | PassContext, sanitize: bool = False) -> None:
        self._fresh = fresh
        self._target = target
        self._opt_level = opt_level
        self._sanitize = sanitize
        self._texts: dict[str, str] = {}

    def get(self, level: str) -> str:
        """One text. Relay's carries locations: the names of the model's nodes come from there."""
        if level not in TEXTS:
            hint = did_you_mean(str(level), list(TEXTS)) or f"there are {', '.join(TEXTS)}"
            raise UsageError(f"no level {level!r}", hint=hint)
        if level not in self._texts:
            self._make(level)
        return self._texts[level]

    def save(self, folder: Path) -> list[Path]:
        """Write all texts and, beside them, the weights that they name."""
        source = self._make("asm")
        assert source is not None
        paths = [folder / FILES[level] for level in TEXTS]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for level, path in zip(TEXTS, paths, strict=True):
                path.write_text(self._texts[level], "utf-8", newline="\n")
        except OSError as e:
            raise InputError(f"cannot write: {e.strerror}", where=str(e.filename or folder)) from None
        source.params.save(folder / WEIGHTS, self._weights)
        return [*paths, folder / WEIGHTS]

    def _make(self, level: str) -> Source:
        """Lower the model as far as the level needs, keeping every text on the way."""
        from lamina.driver.machine_question import needs_machine
        from lamina.ir.printing import print_op

        source = self._fresh()
        ctx = _prepare(source, self._target)
        self._texts["relay"] = print_op(source.module, ctx, locations=True) + "\n"
        self._weights = named_weights(source.module)
        if level == "relay":
            return source
        if needs_machine(source.module, ctx, self._opt_level):
            what = f"the machine compiles this model piece by piece as it runs: it has no text of the level {level}"
            raise UnsupportedError(what, hint="that of relay there is", where=source.label)
        until = level if level in LEVELS else "llvm"
        with _Faults(self._fresh, source.label, self._target, self._opt_level, self._sanitize) as faults:
            lowered = lower(source.module, ctx, self._opt_level, LEVELS[1:], faults.watch(None), until, self._sanitize)
        self._texts.update(lowered.texts)
        if level in ("ll", "asm"):
            from lamina.backends.cpu.jit import assembly
            from lamina.backends.llvm.emit import emit_kernels, emit_module
            from lamina.dialects.relay.params import ParamAttr

            packed = [p for p in ProgramInfo.of(source.module).params if isinstance(p, ParamAttr)]
            self._weights = list(dict.fromkeys([*self._weights, *packed]))
            self._texts["ll"] = emit_module(source.module, self._target)
            if level == "asm":
                # Of each piece by itself, as they are compiled; each numbers its labels from 0.
                pieces = [assembly(text, self._target) for _, text in emit_kernels(source.module, self._target)]
                self._texts["asm"] = "\n".join(p.replace(".L", f".L{n}_") for n, p in enumerate(pieces))
        return source


def named_weights(module: ModuleOp) -> list[ParamAttr]:
    """The weights that constants of a module name, and those of external functions."""
    from lamina.dialects.relay.params import ParamAttr

    values: list[Any] = [op.properties.get("value") for op in module.walk() if op.name == "relay.constant"]
    for op in module.body.block.ops:
        values += getattr(op.attributes.get(CONSTANTS), "data", ())
    return list(dict.fromkeys(v for v in values if isinstance(v, ParamAttr)))


# -- faults --------------------------------------------------------------------------------------------------


class _Faults:
    """Around the passes: errors of the user's get the node they are about, faults of ours become a reproducer."""

    def __init__(
        self, fresh: Fresh, label: str, target: TargetAttr, opt_level: int | PassContext, sanitize: bool
    ) -> None:
        self.fresh = fresh
        self.label = label
        self.target = target
        self.pipeline = pipeline_text(opt_level, sanitize, target.backend_list())
        self.done: list[str] = []

    def watch(self, progress: Progress | None) -> Progress:
        def step(name: str, seconds: float, note: str) -> None:
            self.done.append(name)
            if progress is not None:
                progress(name, seconds, note)

        return step

    def __enter__(self) -> _Faults:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, LaminaError) and not isinstance(error, InternalError):
            if error.op is not None and not error.where:
                node, position = location_name(error.op.location), source_position(error.op.location)
                place = f'{self.label}: node "{node}"' if node else f"{self.label}: {op_name(error.op)}"
                error.where = "{}:{}:{}".format(*position) if position is not None and not node else place
        elif isinstance(error, Exception):
            self._fault(error)

    def _fault(self, error: Exception) -> NoReturn:
        from lamina.ir.pipeline import parse_pipeline

        names = [p.name for p in parse_pipeline(self.pipeline)]
        failed = names[len(self.done)] if len(self.done) < len(names) else names[-1]
        mistake = users_mistake(error, f"in pass '{failed}'")
        if mistake is not None:
            raise mistake from error
        said = " ".join(str(error).split())[:300]
        what = f"internal error in pass '{failed}': {type(error).__name__}: {said}"
        path = self._reproducer(what)
        hint = f"reproducer written to {path}; please report it" if path else "please report it"
        raise InternalError(what, where=self.label, hint=hint) from error

    def _reproducer(self, what: str) -> Path | None:
        from lamina.ir import reproducer
        from lamina.ir.printing import print_op

        try:
            source = self.fresh()
            ctx = _prepare(source, self.target)
            text = print_op(source.module, ctx, locations=True)
        except Exception:
            return None
        return reproducer.write(text, self.pipeline, [], what, None)

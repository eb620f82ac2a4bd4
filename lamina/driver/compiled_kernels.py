"""The tensor ops of the virtual machine's programs as machine code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.infos import TypeMismatch
from lamina.dialects.listener import Listener
from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.errors import ExtentError, LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.printing import module_text
from lamina.passes.relay.functional.infer_symbols import InferSymbols
from lamina.runtime.compiled import load_program
from lamina.runtime.llvm_module import compile_module
from lamina.runtime.ports import SIZE
from lamina.store.program_cache import object_cache
from lamina.vm.segments import Kernels, Ready, Segment, array_types, concrete_ops, key_of, open_ops
from lamina.vm.vm import VirtualMachine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.relay.params import ParamStore
    from lamina.dialects.target import TargetAttr
    from lamina.runtime.compiled import CompiledProgram
    from lamina.runtime.program_file import StoredProgram
    from lamina.transform import PassContext
    from lamina.vm.values import Value

    Array: TypeAlias = NDArray[Any]


def evaluate(
    module: ModuleOp,
    args: Sequence[Any] = (),
    entry: str = "main",
    store: ParamStore | None = None,
    kernels: Kernels | None = None,
) -> list[Value]:
    """The results of a function of the module on arrays, tuples and data (`vm.values.AdtValue`).

    `kernels` says how tensor ops run, by default as machine code for this machine. Raises InputError.
    """
    return VirtualMachine(module, kernels or CompiledKernels(store)).run(args, entry)


class _Placement(Listener):
    """Keeps what external backends took."""

    def __init__(self) -> None:
        self.reports: list[str] = []

    def placed(self, report: Callable[[], str]) -> None:
        self.reports.append(report())


class CompiledKernels(Kernels):
    """Machine code for a target, made by the ordinary pipeline when a part first runs, or has shapes of its own."""

    def __init__(
        self,
        store: ParamStore | None = None,
        target: TargetAttr | None = None,
        opt_level: int | PassContext = 3,
        cache: bool = True,
        sanitize: bool = False,
    ) -> None:
        from lamina.backends.cpu.jit import host_target

        super().__init__(store)
        self.target = target or host_target(1)
        self.threads = self.target.threads.data
        self.opt_level = opt_level
        self.sanitize = sanitize
        self.programs: dict[str, Ready] = {}
        """By the digest of the module's text: equal segments are one program."""
        self._loaded: list[CompiledProgram] = []
        self.stored: dict[str, StoredProgram] = {}
        """Programs that have been compiled, or that a saved program brings, by the digest of the module's text."""
        self.objects = object_cache(cache)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The passes that all segments go through."""
        return Pipeline(self.opt_level, self.sanitize, self.target)

    def run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None = None) -> Sequence[Array]:
        if not segment.is_closed:
            self.prepare_for_all(segment)
        if segment.for_all is not None:
            try:
                return segment.for_all(arrays, into)
            except ExtentError:
                pass
        ready = segment.ready.get(key_of(arrays))
        if ready is None:
            ready = self.prepare(segment, array_types(arrays))
        return ready(arrays, into)

    def prepare_for_all(self, segment: Segment) -> None:
        """Compile a segment for all sizes of its inputs, or for those from 1 on, if it can be."""
        if segment.for_all is not None or segment.is_closed:
            return
        # What is there already comes first: the other one was refused.
        for module in sorted(self._open_modules(segment), key=lambda m: _digest(m) not in self.stored):
            try:
                segment.for_all = self._ready(module)
                return
            except (LaminaError, TypeMismatch):
                continue
        segment.is_closed = True

    def _open_modules(self, segment: Segment) -> Iterator[ModuleOp]:
        """Modules for all sizes, and for those from 1 on: none are another matter to some ops."""
        for empty in (True, False):
            block, outputs, names = open_ops(segment)
            module = self._module(block, outputs)
            try:
                InferSymbols(", ".join(f"{n}=?" for n in names if empty)).apply(LaminaContext(), module)
            except (LaminaError, TypeMismatch):
                continue
            yield module

    def prepare(self, segment: Segment, types: Sequence[TensorType[Any]]) -> Ready:
        """Compile a segment for inputs of concrete types."""
        key = tuple((t.get_shape(), numpy_dtype(dtype_name(t.element_type)).num) for t in types)
        ready = segment.ready[key] = self.compile(*concrete_ops(segment, types))
        segment.types.append(types)
        return ready

    def close(self) -> None:
        """End the threads of the programs; the next run starts others."""
        for program in self._loaded:
            program.close()

    def compile(self, block: Block, outputs: Sequence[SSAValue]) -> Ready:
        """A program of a block of concrete tensor ops."""
        return self._ready(self._module(block, outputs))

    def _module(self, block: Block, outputs: Sequence[SSAValue]) -> ModuleOp:
        block.add_op(ReturnOp(*outputs))
        type_ = FunctionType.from_lists(list(block.arg_types), [v.type for v in outputs])
        module = ModuleOp([FuncOp("main", type_, Region(block))])
        module.attributes[TARGET] = self.target
        return module

    def _ready(self, module: ModuleOp) -> Ready:
        digest = _digest(module)
        found = self.programs.get(digest)
        if found is not None:
            return found
        stored = self.stored.get(digest)
        if stored is None:
            placement = _Placement()
            ctx = LaminaContext(listener=placement)
            ctx.params = self.store
            self.pipeline.run(module, ctx)
            _, stored = compile_module(module, self.store, self.target, self.objects, workers=1)
            if placement.reports:
                stored.description["placement"] = "\n".join(placement.reports)
            self.stored[digest] = stored
        program = load_program(stored, self.objects)
        self._loaded.append(program)
        run = self.programs[digest] = _on_sizes(program) if program.sized is not None else _on_shapes(program)
        return run


def _digest(module: ModuleOp) -> str:
    return hashlib.sha256(module_text(module).encode()).hexdigest()


def _on_shapes(program: CompiledProgram) -> Ready:
    """A program of known shapes on arrays that have them."""
    made = [(p.shape, numpy_dtype(p.dtype)) for p in program.info.outputs]

    def run(arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
        results = into or [np.empty(shape, dtype) for shape, dtype in made]
        program.run_into([*map(_in_order, arrays)], results)
        return results

    return run


def _on_sizes(program: CompiledProgram) -> Ready:
    """A program for all sizes on arrays, which tell them."""
    names = [p.name for p in program.info.inputs if p.dtype != SIZE]
    results = [p.name for p in program.info.outputs]

    def run(arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
        given = dict(zip(names, map(_in_order, arrays), strict=True))
        if into is None:
            return [*program.run(given).values()]
        return [*program.run_out(given, dict(zip(results, into, strict=True))).values()]

    return run


def _in_order(array: Array) -> Array:
    # ascontiguousarray makes rank 1 of rank 0, which always is contiguous.
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)

"""The tensor ops of the virtual machine's programs as machine code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from lamina.dialects.dtypes import dtype_name, numpy_dtype
from lamina.dialects.listener import Listener
from lamina.dialects.target import TARGET
from lamina.driver.pipelines import Pipeline
from lamina.ir.context import LaminaContext
from lamina.ir.printing import module_text
from lamina.runtime.compiled import load_program
from lamina.runtime.llvm_module import compile_module
from lamina.store.program_cache import object_cache
from lamina.vm.segments import Kernels, Ready, Segment, array_types, concrete_ops, key_of
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
    """Machine code for a target, made by the ordinary pipeline when shapes are seen for the first time."""

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
        """By the text of the module: equal segments are one program."""
        self._loaded: list[CompiledProgram] = []
        self.stored: dict[str, StoredProgram] = {}
        """Programs that have been compiled, or that a saved program brings, by the digest of the module's text."""
        self.objects = object_cache(cache)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The passes that all segments go through."""
        return Pipeline(self.opt_level, self.sanitize, self.target)

    def run(self, segment: Segment, arrays: Sequence[Array], into: Sequence[Array] | None = None) -> Sequence[Array]:
        ready = segment.ready.get(key_of(arrays))
        if ready is None:
            ready = self.prepare(segment, array_types(arrays))
        return ready(arrays, into)

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
        block.add_op(ReturnOp(*outputs))
        type_ = FunctionType.from_lists(list(block.arg_types), [v.type for v in outputs])
        module = ModuleOp([FuncOp("main", type_, Region(block))])
        module.attributes[TARGET] = self.target
        text = module_text(module)
        found = self.programs.get(text)
        if found is not None:
            return found
        digest = hashlib.sha256(text.encode()).hexdigest()
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
        made = [(p.shape, numpy_dtype(p.dtype)) for p in program.info.outputs]

        def run(arrays: Sequence[Array], into: Sequence[Array] | None) -> Sequence[Array]:
            results = into or [np.empty(shape, dtype) for shape, dtype in made]
            # ascontiguousarray makes rank 1 of rank 0, which always is contiguous.
            program.run_into([a if a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays], results)
            return results

        self.programs[text] = run
        return run

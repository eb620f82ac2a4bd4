"""The levels below te in this process: each kernel is compiled as soon as the last pass is done with it.

LLVM compiles the first kernels in other processes while the next ones are still being lowered; a thread packs the
weights meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lamina.backends.cpu.compile_kernels import KernelCompiler
from lamina.backends.llvm.emit import emit_kernel, emit_kernels
from lamina.dialects.fast_ir import all_ops, discard
from lamina.dialects.te.ops import ParamOp
from lamina.driver.pipelines import LLVM
from lamina.driver.step_notes import relay_ops
from lamina.passes.relay.partition.external_backends import CONSTANTS
from lamina.runtime.llvm_module import info_of_module

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

    from lamina.dialects.llvm_target.ops import FuncOp
    from lamina.dialects.tir.ops import FuncOp as Kernel
    from lamina.driver.compilation import Compilation
    from lamina.driver.weight_packing import WeightPacking

MANY_KERNELS = 8
"""From so many kernels on a worker is started before the first of them is finished."""
MANY_OPS = 64
"""From so many ops on a graph surely has many kernels: the workers load LLVM while the graph is still being changed."""
LAST = LLVM[-1].name
"""The pass that finishes kernels."""


class Kernels(NamedTuple):
    """The result of the levels below te for a module."""

    program: dict[str, Any]
    """The program as `ProgramInfo.plain` describes it."""
    params: list[Attribute]
    objects: dict[str, bytes]


class LoweringHere:
    """Lowers and compiles the kernels of a compilation; it takes them from the last pass."""

    ahead = True
    """Whether workers may be needed as soon as there are kernels."""

    def __init__(self, compilation: Compilation) -> None:
        self.compilation = compilation
        self.target = compilation.settings.attr
        self.compiler = KernelCompiler(self.target, None, compilation.objects)
        self._pieces: list[int] = []
        self._ops = 0
        self._emitting = 0.0

    def __enter__(self) -> LoweringHere:
        self.compiler.__enter__()
        if self.ahead and relay_ops(self.compilation.source.module) >= MANY_OPS:
            self.compiler.start_worker()
            self.compiler.start_worker()
        return self

    def __exit__(self, *error: object) -> None:
        self.compiler.__exit__(*error)

    def kernels(self, weights: WeightPacking) -> Kernels:
        """Take the module, which is at the te level, to machine code."""
        compilation = self.compilation
        module = compilation.source.module
        weights.start(constants_of(module))
        if has_many_kernels(module) and not self.compiler.has_workers():
            self.compiler.start_worker()
        # Instruments look at whole modules.
        compilation.kernels = None if compilation.settings.context.instruments else self
        with compilation.faults:
            compilation.settings.pipeline.run(module, compilation.ctx, self._step, "te")
            info = info_of_module(module)
            start = perf_counter()
            self._submit(emit_kernels(module, self.target))
            self._emitting += perf_counter() - start
            size = sum(self._pieces) / 1e6
            note = f"{len(self._pieces)} pieces, {size:.1f} MB of LLVM assembly"
            compilation.report("emit-llvm", self._emitting, note)
            start = perf_counter()
            if self.compiler.has_workers():
                compilation.meanwhile()
            objects = self.compiler.result()
        size = sum(map(len, objects.values())) / 1e6
        compilation.report("llvm-codegen", perf_counter() - start, f"{size:.2f} MB of machine code")
        return Kernels(info.plain(), list(info.params), objects)

    def share(self, kernels: Sequence[Kernel]) -> Iterable[Kernel]:
        return kernels

    def finished(self, functions: Sequence[FuncOp], declared: Mapping[str, FuncOp]) -> None:
        start = perf_counter()
        self._submit(emit_kernel(functions, declared, self.target))
        self._ops += len(functions) + sum(discard(f.body) for f in functions)
        self._emitting += perf_counter() - start

    def _submit(self, texts: Iterable[tuple[str, str]]) -> None:
        for name, text in texts:
            self.compiler.submit(name, text)
            self._pieces.append(len(text))

    def _step(self, name: str, seconds: float, note: str) -> None:
        # The kernels that were finished early are written out within the pass.
        early = self._emitting if name == LAST else 0
        self.compilation.step(name, seconds - early, f"{self._ops} ops" if early else note)


def has_many_kernels(module: ModuleOp) -> bool:
    """Whether compiling the kernels of a module of the te level is worth a process."""
    return sum(1 for op in module.ops if op.name == "te.func") >= MANY_KERNELS


def constants_of(module: ModuleOp) -> list[Attribute]:
    """The constants that a module of the te level may need when it runs, each once."""
    found: dict[Attribute, None] = {}
    for op in all_ops(module):
        if isinstance(op, ParamOp):
            found[op.param] = None
        elif CONSTANTS in op.attributes:
            found.update(dict.fromkeys(cast(Any, op.attributes[CONSTANTS]).data))
    return list(found)

"""Kernels built from tensor programs: called on arrays, timed, and read at every level.

fadd = lamina.build(s, [A, B, C], target="llvm", name="myadd")
fadd(a, b, c)                                        # writes c
fadd.time_evaluator(fadd.entry_name, lamina.cpu(0))(a, b, c).mean
print(fadd.get_source("asm"))
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

from lamina.dialects.machine_spec import TargetSpec
from lamina.driver import artefact
from lamina.driver.settings import Settings
from lamina.errors import UnsupportedError, UsageError, did_you_mean
from lamina.ir.location import placed
from lamina.passes.tir.threads.make_packed_api import PACKED
from lamina.runtime.compiled import CompiledProgram, load_program
from lamina.runtime.llvm_module import PROGRAM, compile_module, info_of_attribute
from lamina.runtime.packed import PackedSignature
from lamina.runtime.program_file import StoredProgram
from lamina.store.program_cache import object_cache
from lamina.te.expr import Var
from lamina.te.function import TensorFunction
from lamina.te.tensor import Tensor, placeholder
from lamina.tensor.call_arguments import CallArguments, Parameters
from lamina.tensor.exported_kernel import KernelPorts, export_kernel, is_linked, saved_kernel
from lamina.tensor.timing import EntryFunction
from lamina.transform import PassContext

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

    Array = np.ndarray[Any, np.dtype[Any]]

FORMATS = ("te", "tir", "llvm", "ll", "asm")
"""Formats of `get_source`: the program at each level, LLVM assembly, machine code."""


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel as it is saved."""

    stored: StoredProgram
    attributes: DictionaryAttr
    """The attributes of its module, which describe the program and its signature."""


class Module(EntryFunction):
    """A kernel. Called on arrays (and numbers for sizes and scalars) in the order of its arguments, it writes outputs.

    An array is anything with numpy's interface; an output must be a numpy array that can be written.
    """

    def __init__(
        self,
        source: ModuleOp,
        function: TensorFunction | None,
        args: Sequence[Any],
        target: TargetAttr,
        name: str,
        sanitize: bool = False,
    ) -> None:
        """`source` is a module of the te or tir level; it is not changed. With `sanitize` the kernel checks itself.

        Without a function the arguments are those of the kernel: sizes that no extent tells, then the buffers.
        """
        self.entry_name = name
        self.target = target
        self.type_key = "llvm"
        self.imported_modules: list[Any] = []
        self._source: ModuleOp | None = source.clone()
        self._passes = _pipeline(sanitize)
        self._texts: dict[str, str] = {}
        signature, self._program, self._compiled = self._compile()
        self._call = CallArguments.of(name, signature, function, args)

    # -- running ---------------------------------------------------------------------------------------------

    @placed
    def __call__(self, *args: Any) -> None:
        """Run once. Raises LaminaError for a wrong number, dtype, rank or shape of arguments."""
        if len(args) == len(self._call.args):
            read, written = self._places
            direct = self._program.direct
            if direct is not None and direct.into([args[n] for n in read], [args[n] for n in written]):
                return
        inputs, outputs, copies = self._bound(args)
        self._program.run_into(inputs, outputs)
        for target, source in copies:
            target[...] = source

    @contextmanager
    def timed(self, args: Sequence[Any]) -> Generator[Callable[[int], None]]:
        inputs, outputs, _ = self._bound(args)
        self._program.run_into(inputs, outputs)

        def run(count: int) -> None:
            for _ in range(count):
                self._program.run_into(inputs, outputs)

        yield run

    # -- reading ---------------------------------------------------------------------------------------------

    @placed
    def get_source(self, fmt: str = "ll") -> str:
        """The program at a level: `te`, `tir`, `llvm`, `ll` (LLVM assembly) or `asm` (machine code)."""
        fmt = {"": "ll", "s": "asm"}.get(fmt, fmt)
        if fmt not in FORMATS:
            hint = did_you_mean(str(fmt), list(FORMATS)) or f"there are {', '.join(FORMATS)}"
            raise UsageError(f"no format {fmt!r}", hint=hint)
        if fmt not in self._texts:
            if self._source is None:
                raise UnsupportedError("a kernel that was loaded from a file has no texts")
            self._make_texts(self._source)
        return self._texts[fmt]

    def _make_texts(self, source: ModuleOp) -> None:
        from lamina.backends.cpu.jit import assembly
        from lamina.backends.llvm.emit import emit_module
        from lamina.driver.pipelines import LLVM_PIPELINE
        from lamina.ir.printing import module_text
        from lamina.tensor.passes import run_passes

        module = source.clone()
        self._texts["te"] = module_text(module)
        self._texts["tir"] = module_text(run_passes(module, self._passes))
        self._texts["llvm"] = module_text(run_passes(module, LLVM_PIPELINE))
        self._texts["ll"] = emit_module(module, self.target)
        self._texts["asm"] = assembly(self._texts["ll"], self.target)

    def _compile(self) -> tuple[PackedSignature, CompiledProgram, CompiledKernel]:
        from lamina.driver.pipelines import LLVM_PIPELINE
        from lamina.ir.collector import quiet_gc
        from lamina.tensor.passes import run_passes

        with quiet_gc():
            assert self._source is not None
            module = run_passes(self._source.clone(), [*self._passes, *LLVM_PIPELINE])
        info, stored = compile_module(module, None, self.target)
        attributes = DictionaryAttr({name: module.attributes[name] for name in (PROGRAM, PACKED)})
        program = load_program(stored, object_cache(), info)
        return PackedSignature.of(module), program, CompiledKernel(stored, attributes)

    # -- files -----------------------------------------------------------------------------------------------

    @placed
    def export_library(
        self, file_name: str | os.PathLike[str], *, fcompile: Any = None, addons: Any = None, **_: Any
    ) -> str:
        """Write the kernel into one file, for `Module.load`; its path.

        With the suffix .so it is a shared library, with .a an archive, of the C interface of `lamina.h`, where the
        arguments are sizes (or none of them), inputs and outputs in this order, and each extent is known or a size;
        else it is in our own format, whatever the suffix. No compiler or linker is called: `fcompile` is left out.
        Raises LaminaError.
        """
        if addons:
            raise UsageError("addons cannot be exported", hint="the file holds the kernel alone")
        ports = KernelPorts.of(self._call.signature) if is_linked(file_name) and self._is_in_order() else None
        if ports is not None:
            export_kernel(file_name, self._saved(), self.entry_name, ports)
        else:
            artefact.write(file_name, self._saved())
        return str(file_name)

    save = export_library

    def __reduce__(self) -> tuple[Callable[[bytes], Module], tuple[bytes]]:
        """Pickled and copied deeply as `save` and `load` do it; it has no texts then. Like a saved one it is code."""
        return _of_bytes, (artefact.to_bytes(self._saved()),)

    def __copy__(self) -> Module:
        return self

    def _is_in_order(self) -> bool:
        """Whether the program takes the arguments as they come, and has all that it works in."""
        sizes, others = list(self._call.parameters.sizes), self._call.parameters.all_parameters()
        orders = [[*sizes, *others], others]
        same = any(len(o) == len(self._call.args) and all(map(operator.is_, o, self._call.args)) for o in orders)
        return same and not self._program.info.workspaces

    def _saved(self) -> artefact.Saved:
        """The contents of a file of the kernel."""
        description = {
            **self._compiled.stored.description,
            "attributes": str(self._compiled.attributes),
            "name": self.entry_name,
            "sizes": [v.name for v in self._call.parameters.sizes],
            "parameters": [
                [p.name, p.dtype, len(p.shape) if isinstance(p, Tensor) else None]
                for p in self._call.parameters.all_parameters()
            ],
            "outputs": len(self._call.parameters.outputs),
            "arguments": [self._place(a) for a in self._call.args],
        }
        stored = self._compiled.stored
        contents = StoredProgram(description, stored.objects, stored.params)
        return artefact.Saved(artefact.KERNEL, contents, Settings(TargetSpec.of(self.target), PassContext(0)))

    def _place(self, argument: Any) -> list[Any]:
        """The kind ("size" or "parameter") and the number of an argument."""
        for kind, values in (
            ("size", self._call.parameters.sizes),
            ("parameter", self._call.parameters.all_parameters()),
        ):
            for n, value in enumerate(values):
                if value is argument:
                    return [kind, n]
        raise AssertionError(argument)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Module:
        """The kernel of a file that `export_library` wrote. Raises InputError for other files."""
        return Module.of_saved(saved_kernel(path) or artefact.read(path, (artefact.KERNEL,)))

    @staticmethod
    def of_saved(saved: artefact.Saved) -> Module:
        """The kernel of a file that was read."""
        from xdsl.parser import Parser

        from lamina.ir.context import LaminaContext

        contents, told = saved.contents, saved.contents.description
        attributes = Parser(LaminaContext(), told["attributes"]).parse_attribute()
        assert isinstance(attributes, DictionaryAttr)
        program = attributes.data[PROGRAM]
        assert isinstance(program, DictionaryAttr)
        bearer = ModuleOp([])
        bearer.attributes[PACKED] = attributes.data[PACKED]

        made = Module.__new__(Module)
        made.entry_name, made.target, made.type_key, made.imported_modules = (
            told["name"],
            saved.settings.attr,
            "llvm",
            [],
        )
        made._source, made._passes, made._texts = None, [], {}
        parameters: list[Tensor | Var] = [
            Var(name, dtype) if rank is None else placeholder((1,) * rank, dtype, name)
            for name, dtype, rank in told["parameters"]
        ]
        first = len(parameters) - told["outputs"]
        outputs = [p for p in parameters[first:] if isinstance(p, Tensor)]
        known = Parameters([Var(name) for name in told["sizes"]], parameters[:first], outputs)
        places = {"size": known.sizes, "parameter": parameters}
        args: list[Any] = [places[kind][n] for kind, n in told["arguments"]]
        signature = PackedSignature.of(bearer)
        arguments = tuple(replace(a, name=p.name) for a, p in zip(signature.arguments, parameters, strict=True))
        signature = replace(signature, name=made.entry_name, arguments=arguments)
        made._call = CallArguments(made.entry_name, known, args, signature)
        info = info_of_attribute(program, told["entries"])
        made._program = load_program(contents, object_cache(), info)
        made._compiled = CompiledKernel(contents, attributes)
        return made

    # -- arguments -------------------------------------------------------------------------------------------

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """The positions of the inputs and of the outputs among the arguments."""
        places = {id(a): n for n, a in enumerate(self._call.args)}
        read, written = self._call.parameters.inputs, self._call.parameters.outputs
        return [places[id(t)] for t in read], [places[id(t)] for t in written]

    def _bound(self, args: Sequence[Any]) -> tuple[list[Array], list[Array], list[tuple[Array, Array]]]:
        """Checked inputs and outputs in the program's order, and the outputs to copy to their arrays afterwards."""
        sizes, inputs, outputs, copies = self._call.bound(args)
        return [*(np.asarray(n, np.int64) for n in sizes), *inputs], outputs, copies


def _of_bytes(data: bytes) -> Module:
    """The kernel of a saved form."""
    return Module.of_saved(artefact.of_bytes(data, (artefact.KERNEL,)))


def _pipeline(sanitize: bool) -> list[str]:
    """The passes to the end of the tir level, with the calling convention once there is a kernel."""
    from lamina.driver.pipelines import tir_pipeline

    stair, *passes = tir_pipeline(PassContext.active() or PassContext(0), sanitize)
    return [stair, "tir-make-packed-api", *passes]

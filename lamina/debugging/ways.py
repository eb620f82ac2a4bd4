"""The ways to run a program, and the pairs of them that must agree.

A way takes a program and gives its results by name. The compiled ones differ in level, threads, target or precision;
the interpreted ones are what the passes make for a machine that need not be here. The others are no compilers: the ops'
oracles in double precision, onnxruntime, ONNX's own reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lamina.debugging.generators.draw import Sizes
from lamina.debugging.precise import PreciseModule, rounded
from lamina.errors import InputError, InternalError, LaminaError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.driver.api import Executable
    from lamina.driver.model import Model
    from lamina.driver.pipelines import Pipeline
    from lamina.ir.instrument import PassInstrument

Arrays = Mapping[str, Any]


@dataclass
class Program:
    """A program to run: an ONNX file, or a module's text; its inputs by name."""

    source: bytes
    is_onnx: bool
    inputs: Arrays
    shapes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Numbers or ranges for the extents of an ONNX file that are names."""
    states: Mapping[str, str] = field(default_factory=dict[str, str])
    """Outputs of an ONNX file that go to inputs in the next run, by the names of these."""
    _model: Model | None = field(default=None, repr=False)

    @property
    def model(self) -> Model:
        """The program imported to Relay. Raises LaminaError."""
        if self._model is None:
            self._model = load(self.source, self.is_onnx, self.shapes, self.states)
        return self._model

    def at(self, sizes: Mapping[str, int], inputs: Arrays) -> Program:
        """The program for one number for each name."""
        return Program(self.source, self.is_onnx, inputs, sizes)


def load(
    source: bytes, is_onnx: bool, shapes: Mapping[str, Any] | None = None, states: Mapping[str, str] | None = None
) -> Model:
    """Import a program. Raises LaminaError."""
    import lamina

    if is_onnx:
        return lamina.load(source, shapes or None, states=states or None)
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text

    return lamina.load(parse_text(LaminaContext(), source.decode(), "program.mlir"))


class Way(Protocol):
    """Interface of the ways that the fuzzer takes by turns."""

    @property
    def name(self) -> str: ...

    @property
    def threads(self) -> int: ...

    @property
    def is_partial(self) -> bool:
        """Whether it may refuse a program that the others take."""
        ...

    def takes(self, program: Program, sizes: str, special: bool) -> bool:
        """Whether to run a program of a kind of sizes so, whose inputs have special values or have not."""
        ...

    def run(self, program: Program, instruments: list[PassInstrument] | None = None) -> dict[str, Any]:
        """The results by name. Raises LaminaError."""
        ...


@dataclass(frozen=True)
class Compiled:
    """A way to compile."""

    name: str
    target: str = "cpu"
    threads: int = 1
    opt_level: int = 3
    sanitize: bool = False
    double: bool = False
    """Whether single precision is made double precision."""

    def executable(self, program: Program, instruments: list[PassInstrument] | None = None) -> Executable:
        """The program, compiled. Raises LaminaError."""
        import lamina
        from lamina.ir.instrument import PassInstrument
        from lamina.transform import PassContext

        # An instrument keeps the passes in this process.
        context = PassContext(self.opt_level, instruments=instruments or [PassInstrument()])
        model = in_double_precision(program.source) if self.double else program.model
        return lamina.compile(
            model, self.target, threads=self.threads, opt_level=context, cache=False, sanitize=self.sanitize
        )

    @property
    def is_partial(self) -> bool:
        """Not every operator takes double precision, not every kernel can be checked."""
        return self.double or self.sanitize

    def takes(self, program: Program, sizes: str, special: bool) -> bool:
        """Whether to run a program so: checks take long, double precision neither overflows nor underflows."""
        if self.sanitize and sizes == Sizes.REAL or self.double and (special or not program.is_onnx):
            return False
        return self.runs_here()

    def runs_here(self) -> bool:
        """Whether this machine has what the code needs."""
        from lamina.ir.targets import check_host, spec_of

        try:
            check_host(spec_of(self.target, self.threads))
        except LaminaError:
            return False
        return True

    def input(self, array: Any) -> Any:
        """An input as this way takes it."""
        return array.astype(np.float64) if self.double and array.dtype == np.float32 else array

    def run(self, program: Program, instruments: list[PassInstrument] | None = None) -> dict[str, Any]:
        """The results by name. Raises LaminaError."""
        inputs = {n: self.input(a) for n, a in program.inputs.items()}
        results = self.executable(program, instruments).run(inputs)
        if self.double:
            dtypes = {p.name: p.dtype for p in program.model.outputs}
            results = {n: a.astype(np.float32) if dtypes[n] == "float32" else a for n, a in results.items()}
        return results


@dataclass(frozen=True)
class Exported(Compiled):
    """A way by a shared library: the same code as the linker and the loader put it together."""

    @property
    def is_partial(self) -> bool:
        """Not every program has kernels in a fixed order."""
        return True

    def run(self, program: Program, instruments: list[PassInstrument] | None = None) -> dict[str, Any]:
        from tempfile import TemporaryDirectory

        from lamina.runtime.exported import ExportedNet

        with TemporaryDirectory() as folder:
            self.executable(program, instruments).export(f"{folder}/net.so")
            with ExportedNet(f"{folder}/net.so") as net:
                return net.run(program.inputs)


@dataclass(frozen=True)
class CSource(Compiled):
    """A way by C source, which the C compiler of this machine builds: another schedule and another code generator."""

    @property
    def is_partial(self) -> bool:
        """Not every program has kernels in a fixed order, and not every op has a rule."""
        return True

    def takes(self, program: Program, sizes: str, special: bool) -> bool:
        """Whether there is a compiler; it takes long for many kernels."""
        from lamina.debugging.c_source import c_compiler

        return c_compiler() is not None and sizes != Sizes.REAL

    def run(self, program: Program, instruments: list[PassInstrument] | None = None) -> dict[str, Any]:
        from pathlib import Path
        from tempfile import TemporaryDirectory

        import lamina
        from lamina.debugging.c_source import CSourceNet, build

        with TemporaryDirectory() as folder:
            source, library = Path(folder, "net.c"), Path(folder, "net.so")
            lamina.export(program.model, source)
            try:
                build(source, library, ["-O1", "-shared", "-fPIC"])
            except InputError as e:  # ours is the text, not the user's
                raise InternalError(e.what) from e
            return CSourceNet(library, "net").run(program.inputs)


@dataclass(frozen=True)
class Interpreted:
    """A way to interpret what the passes make of a program for a machine that need not be here.

    They are all passes before machine code where few loops run, those on graphs otherwise.
    """

    name: str
    target: str
    threads: int = 1
    is_partial: bool = False

    def takes(self, program: Program, sizes: str, special: bool) -> bool:
        """Whether a program is a graph, without what only compiled kernels run."""
        from lamina.interpreters.beyond_programs import needs_machine

        return not needs_machine(program.model.module)

    def passes(self, module: ModuleOp, instruments: list[PassInstrument] | None = None) -> tuple[Pipeline, list[Any]]:
        """A pipeline for this machine and those of its passes that a program is taken through."""
        from lamina.debugging.compare import work_of
        from lamina.debugging.states import FEW_OPERATIONS
        from lamina.driver.pipelines import Pipeline
        from lamina.ir.targets import spec_of
        from lamina.transform import PassContext

        pipeline = Pipeline(PassContext(3, instruments=instruments or []), target=spec_of(self.target, self.threads))
        few = work_of(module) <= FEW_OPERATIONS
        return pipeline, [*pipeline.passes("te"), *pipeline.passes("tir")] if few else pipeline.graph

    def run(self, program: Program, instruments: list[PassInstrument] | None = None) -> dict[str, Any]:
        """The results by name. Raises LaminaError."""
        from lamina.debugging.entry import MAIN
        from lamina.dialects.target import TARGET
        from lamina.driver.execute import run_module
        from lamina.ir.context import LaminaContext
        from lamina.ir.targets import target_of

        model, ctx = program.model, LaminaContext()
        module, ctx.params = model.module.clone(), model.params
        module.attributes[TARGET] = target_of(self.target, self.threads)
        pipeline, passes = self.passes(module, instruments)
        for each in passes:
            pipeline.run_pass(each, module, ctx)
        found = run_module(module, ctx, MAIN, [program.inputs[p.name] for p in model.inputs])
        return dict(zip([p.name for p in model.outputs], found.values(), strict=True))


NATIVE = Compiled("this machine, opt level 3, one thread")
HERE: tuple[Compiled, ...] = (
    Compiled("opt level 0 against 3", opt_level=0),
    Compiled("two threads against one", threads=2),
    Compiled("x86-64-v2 against this machine", target="x86-64-v2"),
    Compiled("x86-64-v3 against this machine", target="x86-64-v3"),
    Compiled("double against single precision", double=True),
    Compiled("checked accesses against unchecked", sanitize=True),
    Exported("a shared library against this machine", threads=2),
    CSource("C source against this machine"),
)
"""Other code that this machine runs."""
ELSEWHERE = tuple(
    Interpreted(f"passes for {name} against this machine", name)
    for name in ("x86-64-v4", "cascadelake", "sapphirerapids", "sierraforest", "znver4", "aarch64")
)
"""Machines whose code differs: vectors of 512, 256 or 128 bits, with or without products of bytes, bf16 and tiles."""
OTHERS: tuple[Compiled | Interpreted, ...] = (*HERE, *ELSEWHERE)
"""Ways that are compared with this machine's code, by turns."""


def in_double_precision(source: bytes) -> bytes:
    """An ONNX model with double precision where it has single precision."""
    import onnx
    from onnx import TensorProto, numpy_helper

    model = onnx.ModelProto.FromString(source)
    single, double = TensorProto.FLOAT, TensorProto.DOUBLE

    def tensor(proto: TensorProto) -> None:
        if proto.data_type == single:
            proto.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(proto).astype(np.float64), proto.name))

    def graph(proto: onnx.GraphProto) -> None:
        for info in (*proto.input, *proto.output, *proto.value_info):
            if info.type.tensor_type.elem_type == single:
                info.type.tensor_type.elem_type = double
        for initializer in proto.initializer:
            tensor(initializer)
        for node in proto.node:
            for a in node.attribute:
                if a.name in ("to", "dtype", "output_dtype") and a.i == single:
                    a.i = double
                elif a.type == onnx.AttributeProto.TENSOR:
                    tensor(a.t)
                elif a.type == onnx.AttributeProto.GRAPH:
                    graph(a.g)

    graph(model.graph)
    return model.SerializeToString()


# -- no compilers --------------------------------------------------------------------------------------------------


def by_oracles(program: Program) -> tuple[dict[str, Any], Callable[[int | None], list[Any]]]:
    """The results of the ops' oracles, and what computes them with roundings."""
    results = results_of(program)
    return dict(zip([p.name for p in program.model.outputs], results(None), strict=True)), results


def results_of(program: Program, others: bool = False) -> Callable[[int | None], list[Any]]:
    """Return a function that computes a program by the ops' oracles with the roundings of a seed, or exactly; with
    `others`, as programs that are none of ours may (`PreciseModule`)."""
    from lamina.driver.compiled_kernels import evaluate
    from lamina.interpreters.beyond_programs import needs_machine
    from lamina.vm.vm import ReferenceKernels

    model = program.model
    arrays = [program.inputs[p.name] for p in model.inputs]
    if needs_machine(model.module):

        def evaluated(noise: int | None) -> list[Any]:
            compute = rounded(noise, others) if noise is not None or others else None
            return list(evaluate(model.module.clone(), arrays, kernels=ReferenceKernels(model.params, compute)))

        return evaluated
    precise = PreciseModule(model.module, model.params, arrays, others)
    dtypes = [p.dtype for p in model.outputs]

    def results(noise: int | None) -> list[Any]:
        found = precise.run(noise)
        return [r.astype(np.float32) if d == "float32" else r for r, d in zip(found, dtypes, strict=True)]

    return results

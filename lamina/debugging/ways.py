"""The ways to run a program, and the pairs of them that must agree.

A way takes a program and gives its results by name. The compiled ones differ in level, threads, target or precision;
the others are no compilers: the ops' oracles in double precision, onnxruntime, ONNX's own reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.precise import PreciseModule, rounded
from lamina.errors import LaminaError, UnsupportedError
from lamina.measure.timing import exact_session

if TYPE_CHECKING:
    from onnx import NodeProto

    from lamina.driver.api import Executable
    from lamina.driver.model import Model
    from lamina.ir.instrument import PassInstrument

Arrays = Mapping[str, Any]


@dataclass
class Program:
    """A program to run: an ONNX file, or a module's text; its inputs by name."""

    source: bytes
    is_onnx: bool
    inputs: Arrays
    _model: Model | None = field(default=None, repr=False)

    @property
    def model(self) -> Model:
        """The program imported to Relay. Raises LaminaError."""
        if self._model is None:
            self._model = load(self.source, self.is_onnx)
        return self._model


def load(source: bytes, is_onnx: bool) -> Model:
    """Import a program. Raises LaminaError."""
    import lamina

    if is_onnx:
        return lamina.load(source)
    from lamina.ir.context import LaminaContext
    from lamina.ir.parsing import parse_text

    return lamina.load(parse_text(LaminaContext(), source.decode(), "program.mlir"))


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


NATIVE = Compiled("this machine, opt level 3, one thread")
OTHERS: tuple[Compiled, ...] = (
    Compiled("opt level 0 against 3", opt_level=0),
    Compiled("two threads against one", threads=2),
    Compiled("x86-64-v2 against this machine", target="x86-64-v2"),
    Compiled("x86-64-v3 against this machine", target="x86-64-v3"),
    Compiled("double against single precision", double=True),
    Compiled("checked accesses against unchecked", sanitize=True),
)
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
    from lamina.driver.compiled_kernels import evaluate
    from lamina.interpreters.beyond_programs import needs_machine
    from lamina.vm.vm import ReferenceKernels

    model = program.model
    arrays = [program.inputs[p.name] for p in model.inputs]
    names = [p.name for p in model.outputs]
    if needs_machine(model.module):

        def evaluated(noise: int | None) -> list[Any]:
            kernels = ReferenceKernels(model.params, None if noise is None else rounded(noise))
            return list(evaluate(model.module.clone(), arrays, kernels=kernels))

        return dict(zip(names, evaluated(None), strict=True)), evaluated
    precise = PreciseModule(model.module, model.params, arrays)
    dtypes = [p.dtype for p in model.outputs]

    def results_of(noise: int | None) -> list[Any]:
        found = precise.run(noise)
        return [r.astype(np.float32) if d == "float32" else r for r, d in zip(found, dtypes, strict=True)]

    return dict(zip(names, results_of(None), strict=True)), results_of


def by_onnxruntime(program: Program) -> dict[str, Any]:
    """The results of onnxruntime, not optimised. Raises UnsupportedError where it does not take the model."""
    try:
        import onnxruntime  # type: ignore[import-untyped]
    except ImportError as e:
        raise UnsupportedError("onnxruntime is not installed", where="onnxruntime") from e
    ort: Any = onnxruntime
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = exact_session(program.source, options)
        names: list[str] = [o.name for o in session.get_outputs()]
        return dict(zip(names, session.run(None, dict(program.inputs)), strict=True))
    except Exception as e:  # its errors have no common base but this
        raise UnsupportedError(" ".join(str(e).split())[:200], where="onnxruntime") from e


REFERENCE_DIFFERS = {
    "GlobalMaxPool": (1, 99),  # in two axes whatever the image has
    "LRN": (1, 99),  # sums over one channel less where the size is larger than the number of channels allows
    "AveragePool": (1, 6),  # with zeros of the padding
    "BatchNormalization": (1, 13),  # in training mode
    "Loop": (1, 99),  # joins along the first axis what it has scanned
    # As if the axis were that of later versions: these join the axes from it on.
    "PRelu": (1, 6),  # with one slope a channel
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 99)),  # without lengths, limits and coupled gates
    "QLinearConv": (1, 99),  # adds the zero point before it rounds: ties fall otherwise
    "OptionalGetElement": (1, 99),  # with an axis more
    "TreeEnsemble": (1, 99),  # the least and the greatest of no votes
    "TreeEnsembleRegressor": (1, 99),  # sums in the type of the rows, which may be integers
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), (1, 12)),
    # These line up the last axes, whatever `axis` says.
    **dict.fromkeys("Add And Div Equal Greater Less Mul Or Pow Sub Xor".split(), (1, 6)),
}
"""Operators that ONNX's reference evaluator computes otherwise than the standard says, in these operator sets."""


def reference_differs(node: NodeProto, opset: int) -> bool:
    """Whether ONNX's reference evaluator computes a node otherwise than the standard says."""
    first, last = REFERENCE_DIFFERS.get(node.op_type, (1, 0))
    if first <= opset <= last:
        return True
    # Of a window that is wider than what SAME with strides leaves it has fewer results, or none.
    same = any(a.name == "auto_pad" and a.s.startswith(b"SAME") for a in node.attribute)
    return same and any(a.name == "strides" and max(a.ints) > 1 for a in node.attribute)


def by_onnx_reference(program: Program) -> dict[str, Any]:
    """The results of ONNX's reference evaluator. Raises UnsupportedError where it does not take the model."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    model = onnx.ModelProto.FromString(program.source)
    opset = next(o.version for o in model.opset_import if o.domain == "")
    for node in model.graph.node:
        if reference_differs(node, opset):
            raise UnsupportedError(f"{node.op_type} is not what the standard says", where="onnx.reference")
    names = [o.name for o in model.graph.output]
    try:
        with np.errstate(all="ignore"):
            found: list[Any] = ReferenceEvaluator(model).run(None, dict(program.inputs))  # type: ignore[assignment]
    except Exception as e:  # whatever numpy raises there
        raise UnsupportedError(" ".join(str(e).split())[:200], where="onnx.reference") from e
    dtypes = {p.name: p.dtype for p in program.model.outputs}
    # Some of its functions compute in double precision whatever they are given.
    return {n: np.asarray(v).astype(dtypes[n]) if n in dtypes and v is not None else v
            for n, v in zip(names, found, strict=True)}  # fmt: skip

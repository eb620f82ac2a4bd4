"""Faults of the importer: an ONNX graph whose Relay computes something else than ONNX says, and the least of it.

Nodes are left out as ops of a program are: what others have made becomes an input of the graph, with the value that it
has in a run of the whole by onnxruntime, or by ONNX's reference evaluator where that is not installed.
Faults of programs for ranges of sizes are made smaller in the same way: what is compiled for the ranges is run at one
size, and the extents of an input are the forms over names that they are at other sizes, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from lamina.debugging.agreement import furthest
from lamina.debugging.comparison import Comparer
from lamina.debugging.engines import by_onnx_reference, by_onnxruntime, names_read
from lamina.debugging.finding import NoFault
from lamina.debugging.judge import Judge
from lamina.debugging.minimise import minimised
from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase
from lamina.debugging.verdict import CANDIDATE, RUN, How, StepFile, Verdict, read_array, registry_of
from lamina.debugging.ways import Program, results_of
from lamina.dialects.index.linear import Linear
from lamina.dialects.index.symbol_forms import extent_text
from lamina.errors import InternalError, LaminaError, UnsupportedError, UsageError
from lamina.frontends.onnx.tensors import dtype_of
from lamina.ir.reproducer import FOLDER
from lamina.measure.timing import random_inputs
from lamina.runtime.ports import Port

JUDGED = "lamina.debugging.onnx_graph:judged_import"
IMPORTED_PAIR = "imported against onnxruntime"
"""The ways that a case of the importer compares."""


@dataclass
class OnnxProgram:
    """A model and its inputs by name."""

    model: onnx.ModelProto
    arrays: dict[str, Any]
    ranges: Mapping[str, str] = field(default_factory=dict[str, str])
    """The ranges of extents that are names, each of an input; the arrays are of one size."""
    dims: Mapping[str, Sequence[int | str]] = field(default_factory=dict[str, Sequence[int | str]])
    """The extents of values as forms over names, where there are ranges and as far as they are known."""

    @staticmethod
    def of(source: bytes, arrays: Mapping[str, Any], ranges: Mapping[str, str]) -> OnnxProgram:
        """The program of a model in bytes."""
        return OnnxProgram(onnx.ModelProto.FromString(source), dict(arrays), ranges)

    def part(self, kept: Sequence[int], values: Mapping[str, Any]) -> OnnxProgram:
        """The model of the nodes at some places; what they read from others is an input with the value that it has."""
        graph = self.model.graph
        nodes = [graph.node[n] for n in kept]
        made = {name for node in nodes for name in node.output if name}
        weights = {t.name: t for t in graph.initializer}
        read = {name: None for node in nodes for name in names_read(node)}
        given = [name for name in read if name not in made and name not in weights]
        results = [name for node in nodes for name in node.output if name and name not in read]
        if any(name not in values for name in (*given, *results)):
            raise UsageError("a value of the graph is no tensor")
        if self.ranges and any(name not in self.dims for name in given):
            raise UsageError("the extents of a value are no forms over names")
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.node[:], model.graph.initializer[:], model.graph.value_info[:]
        del model.graph.input[:], model.graph.output[:]
        model.graph.node.extend(nodes)
        model.graph.initializer.extend(weights[name] for name in read if name in weights)
        model.graph.input.extend(_described(name, values[name], self.dims.get(name)) for name in given)
        model.graph.output.extend(_described(name, values[name], self.dims.get(name)) for name in results)
        named = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim}
        ranges = {name: said for name, said in self.ranges.items() if name in named}
        return OnnxProgram(model, {name: values[name] for name in given}, ranges, self.dims)

    def write(self, folder: Path | None, fault: Verdict) -> Path:
        """Write the model and its inputs into a folder, by default among the reproducers; where the model is."""
        data = self.model.SerializeToString()
        named = Path(os.environ.get("LAMINA_REPRODUCER_DIR") or FOLDER) / f"import-{sha256(data).hexdigest()[:8]}"
        case = StoredCase(data, True, self.arrays, None, "", IMPORTED_PAIR, fault.outcome, self.ranges)
        return case.write(folder or named)

    def values(self) -> dict[str, Any]:
        """Every tensor of the graph. Raises LaminaError where nobody takes the model."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        declared = {o.name for o in model.graph.output}
        names = [n for node in model.graph.node for n in node.output if n and n not in declared]
        model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
        return {**self.arrays, **run_by_others(model.SerializeToString(), self.arrays)}

    def with_dims(self, values: Mapping[str, Any]) -> OnnxProgram:
        """The same, with the extents of its values as forms over names: as they are at other sizes."""
        sizes = self.sizes()
        points: dict[tuple[int, ...], Mapping[str, Any]] = {}
        for more in product(range(3), repeat=len(sizes)):
            if sum(more) < 3:
                there = {name: size + step for (name, size), step in zip(sizes.items(), more, strict=True)}
                points[more] = OnnxProgram(self.model, self._resized(there)).values() if any(more) else values
        dims = {name: found for name in values if (found := _forms(name, points, sizes)) is not None}
        return replace(self, dims=dims)

    def sizes(self) -> dict[str, int]:
        """The size of each name."""
        dims = {i.name: i.type.tensor_type.shape.dim for i in self.model.graph.input}
        pairs = [(d.dim_param, e) for n, a in self.arrays.items() for d, e in zip(dims[n], a.shape, strict=True)]
        return {name: size for name, size in pairs if name in self.ranges}

    def _resized(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """The arrays at other sizes: what is more are the first elements again."""
        found: dict[str, Any] = {}
        for info in self.model.graph.input:
            if info.name not in self.arrays:
                continue  # a weight, in the first versions
            array = self.arrays[info.name]
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                if dim.dim_param in sizes:
                    array = np.take(array, range(sizes[dim.dim_param]), axis, mode="wrap")
            found[info.name] = array
        return found


def _forms(
    name: str, points: Mapping[tuple[int, ...], Mapping[str, Any]], sizes: Mapping[str, int]
) -> list[int | str] | None:
    """The extents of a value as linear forms over names; None where they are not, or it is not everywhere."""
    shapes = {more: np.shape(values[name]) for more, values in points.items() if name in values}
    if len(shapes) < len(points) or len({*map(len, shapes.values())}) > 1:
        return None
    found: list[int | str] = []
    here = (0,) * len(sizes)
    for axis, extent in enumerate(shapes[here]):
        steps = [shapes[tuple(int(k == n) for k in range(len(sizes)))][axis] - extent for n in range(len(sizes))]
        if any(s[axis] != extent + int(np.dot(steps, more)) for more, s in shapes.items()):
            return None
        constant = extent - int(np.dot(steps, [*sizes.values()]))
        form = Linear({n: s for n, s in zip(sizes, steps, strict=True) if s}, constant)
        found.append(form.const if form.is_constant else extent_text(form))
    return found


def _described(name: str, value: Any, dims: Sequence[int | str] | None = None) -> onnx.ValueInfoProto:
    array = np.asarray(value)
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.helper.make_tensor_value_info(name, kind, list(array.shape if dims is None else dims))


def run_by_others(model: bytes, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The results of onnxruntime, and of ONNX's reference where it has none. Raises UnsupportedError where neither has.

    Results for which neither of them answers are left out.
    """
    program = Program(model, True, arrays)
    try:
        found = by_onnxruntime(program)
    except UnsupportedError:
        return by_onnx_reference(program)
    if any(o.name not in found for o in onnx.ModelProto.FromString(model).graph.output):
        with suppress(UnsupportedError):
            found = {**by_onnx_reference(program), **found}
    return found


# -- in a process of its own ---------------------------------------------------------------------------------------


def judged_import(
    model: str, arrays: Mapping[str, Any], ranges: Mapping[str, str], load: Sequence[str], trace: str
) -> dict[str, Any]:
    """The verdict on the Relay that a model in a file becomes, run by the oracles, as JSON; on what is compiled for
    ranges where there are some."""
    registry_of(How(load=tuple(load)))
    given = {name: read_array(stored) for name, stored in arrays.items()}
    step = StepFile(trace)
    step(CANDIDATE)
    source = Path(model).read_bytes()
    return (_judged_ranges(source, given, ranges, step) if ranges else _judged(source, given, step)).json()


def _judged_ranges(model: bytes, arrays: dict[str, Any], ranges: Mapping[str, str], step: StepFile) -> Verdict:
    import lamina

    sizes = OnnxProgram.of(model, arrays, ranges).sizes()
    try:
        expected = run_by_others(model, arrays)
        for shapes in (sizes, ranges):
            lamina.load(model, shapes)
    except InternalError as e:
        return Verdict(Outcome.of_error(e, "import"))
    except LaminaError as e:
        return Verdict(Outcome(Kind.REFUSAL, str(e), CANDIDATE))
    except Exception as e:
        return Verdict(Outcome.of_error(e, "import"))
    step("compile")
    try:
        program = lamina.compile(model, shapes=ranges, threads=1, cache=False)
    except Exception as e:
        return Verdict(Outcome.of_error(e, "compile"))
    step(RUN)
    try:
        named = program.run(arrays)
        apart = furthest(expected, {name: named[name] for name in expected})
    except LaminaError as e:
        return Verdict(Outcome(Kind.MISMATCH, str(e), RUN), np.inf)
    except Exception as e:
        return Verdict(Outcome.of_error(e, RUN))
    if apart is None or _is_rounding(Program(model, True, arrays, sizes), named):
        return Verdict(Outcome(Kind.SAME))
    return Verdict(Outcome(Kind.MISMATCH, str(apart), RUN), apart.error)


def _judged(model: bytes, arrays: Mapping[str, Any], step: StepFile) -> Verdict:
    import lamina
    from lamina.driver.compiled_kernels import evaluate
    from lamina.interpreters.beyond_programs import needs_machine
    from lamina.interpreters.relay_reference import main_function, run_relay
    from lamina.vm.vm import ReferenceKernels

    try:
        expected = run_by_others(model, arrays)
    except LaminaError as e:
        return Verdict(Outcome(Kind.REFUSAL, str(e), CANDIDATE))
    step("import")
    try:
        imported = lamina.load(model)
    except Exception as e:
        return Verdict(Outcome.of_error(e, "import"))
    step(RUN)
    inputs = [np.asarray(arrays[p.name]) for p in imported.inputs]
    try:
        if needs_machine(imported.module):
            results = evaluate(imported.module, inputs, kernels=ReferenceKernels(imported.params))
        else:
            results = run_relay(main_function(imported.module), inputs, imported.params)
        names = [o.name for o in onnx.ModelProto.FromString(model).graph.output]
        named = dict(zip(names, results, strict=True))
        apart = furthest(expected, {name: named[name] for name in expected})
    except LaminaError as e:
        return Verdict(Outcome(Kind.MISMATCH, str(e), RUN), np.inf)
    except Exception as e:
        return Verdict(Outcome.of_error(e, RUN))
    if apart is None or _is_rounding(Program(model, True, arrays), named):
        return Verdict(Outcome(Kind.SAME))
    return Verdict(Outcome(Kind.MISMATCH, str(apart), RUN), apart.error)


def _is_rounding(program: Program, got: Mapping[str, Any]) -> bool:
    """Whether the results differ from those of other programs by no more than what roundings make of them."""
    from lamina.debugging.fuzz_case import against_others, tolerance_of

    names = [p.name for p in program.model.outputs]
    comparer = Comparer(names, tolerance_of(program), results_of(program, others=True), persistent=False)
    return not against_others(program, comparer, got, "onnxruntime")[1]


# -- the search ----------------------------------------------------------------------------------------------------


def verdict_of(judge: Judge, program: OnnxProgram, load: Sequence[str]) -> Verdict:
    """The verdict on importing and running a model."""
    path = judge.folder / "model.onnx"
    path.write_bytes(program.model.SerializeToString())
    arrays = {name: judge.stored(a) for name, a in program.arrays.items()}
    given = {"model": str(path), "arrays": arrays, "ranges": dict(program.ranges), "load": list(load)}
    return judge.call(JUDGED, given)


def fewest_nodes(judge: Judge, program: OnnxProgram, fault: Verdict, load: Sequence[str]) -> OnnxProgram:
    """The model of as few nodes as show the fault. Raises LaminaError where no other program runs the model."""
    values = program.values()
    best = program = program.with_dims(values) if program.ranges else program

    def holds(kept: list[int]) -> bool:
        nonlocal best
        try:
            part = program.part(kept, values)
        except LaminaError:
            return False
        if judge.over or not fault.same_fault(verdict_of(judge, part, load)):
            return False
        best = part
        return True

    minimised(range(len(program.model.graph.node)), holds, lambda: judge.over)
    return best


def least_model(
    path: str,
    given: Mapping[str, Any],
    seed: int,
    seconds: float,
    limit: float,
    load: Sequence[str],
    tell: Callable[[str], object],
    ranges: Mapping[str, str] | None = None,
) -> tuple[OnnxProgram, Verdict]:
    """The least part of the model in a file of which the importer makes something else, and how that goes wrong.

    With `ranges` of extents that are names, that of which the compiler does.

    Raises NoFault where it makes the same, UsageError where no other program runs the model.
    """
    model = onnx.ModelProto.FromString(Path(path).read_bytes())
    weights = {t.name for t in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    drawn = random_inputs([_port(i) for i in inputs if i.name not in given], seed)
    program = OnnxProgram(model, {**drawn, **given}, ranges or {})
    with Judge(limit, monotonic() + seconds) as judge:
        fault = verdict_of(judge, program, load)
        if not fault.is_fault:
            raise NoFault(f"there is no fault: {fault.outcome.kind}", where=path, hint=fault.outcome.said)
        tell(f"{fault.outcome.kind}: {fault.outcome.said}")
        least = fewest_nodes(judge, program, fault, load)
        tell(f"{len(model.graph.node)} nodes -> {len(least.model.graph.node)} in {judge.asked} models")
        return least, verdict_of(judge, least, load)


def _port(info: onnx.ValueInfoProto) -> Port:
    dims = tuple(d.dim_value if d.HasField("dim_value") else -1 for d in info.type.tensor_type.shape.dim)
    return Port(info.name, dims, dtype_of(info.type.tensor_type.elem_type, info.name))


def text_of(model: onnx.ModelProto) -> str:
    """The model in ONNX's text, small weights written out."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.HasField("raw_data"):
            tensor.CopyFrom(_spelt(tensor))
    return onnx.printer.to_text(copy)


def _spelt(tensor: onnx.TensorProto) -> onnx.TensorProto:
    """The tensor with its elements as numbers rather than bytes, which the text would leave out."""
    array = numpy_helper.to_array(tensor)
    return onnx.helper.make_tensor(tensor.name, tensor.data_type, array.shape, array.reshape(-1).tolist())

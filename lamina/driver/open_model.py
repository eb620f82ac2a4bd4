"""ONNX models that leave extents open, `batch` or `sequence`: one program for all sizes, or one for each shape.

What no program for all sizes can be, and sizes that such a program is not for, are imported and compiled again for each
shape that is met. How these programs are guarded and kept stands in `programs_by_shape.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from warnings import warn
from weakref import WeakSet

import numpy as np

from lamina.dialects.index.symbol_ranges import parse_range
from lamina.dialects.relay.value_types import dynamic_tensor, is_dynamic
from lamina.driver.machine_program import MachineInfo
from lamina.driver.programs_by_shape import ProgramsByShape, Runs, as_model
from lamina.driver.relay_source import port_of_type
from lamina.errors import ExtentError, InputError, did_you_mean
from lamina.frontends.onnx.source import read_model
from lamina.frontends.onnx.tensors import dtype_of
from lamina.runtime.fork_lock import ForkLock
from lamina.runtime.given_arrays import check_names, copied_outputs
from lamina.runtime.ports import Port, check_inputs
from lamina.vm.values import check_tensor

if TYPE_CHECKING:
    from lamina.dialects.relay.program_state import StateVariable
    from lamina.driver.model import Model, Origin
    from lamina.frontends.onnx import ImportedModel
    from lamina.runtime.runnable import Runnable


class OpenProgram:
    """A model and the programs that it has become so far. Calls from several threads take turns."""

    def __init__(self, origin: Origin, build: Callable[[Model], Runnable]) -> None:
        """`build` compiles the model for shapes that are known: what runs it, by names of ports.

        Each program is said, as it takes its time.
        """
        source: Any = origin.source
        model = read_model(source).model
        initialised = {t.name for t in model.graph.initializer}
        ports = [_port(i, origin.shapes) for i in model.graph.input if i.name not in initialised]
        outputs = [_port(o, origin.shapes) for o in model.graph.output]
        self.info = MachineInfo(tuple(ports), tuple(outputs))
        self._executables: WeakSet[Runnable] = WeakSet()

        def built(imported: ImportedModel) -> Runs:
            made = build(as_model(model, imported))
            self._executables.add(made)
            shapes = ", ".join(f"{p.name}: {p.describe()}" for p in made.inputs)
            warn(f"{imported.label} is compiled for {shapes} alone", stacklevel=2)
            return made.run

        self._ranges = {n: parse_range(given) for n, given in origin.shapes.items() if isinstance(given, str)}
        """Of the dimensions for which the user has given some."""
        self._programs = ProgramsByShape(model, source, built)
        self._lock = ForkLock()

    def run(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """One run; extents of one name are equal. Raises LaminaError, UnsupportedError for what cannot be compiled."""
        sizes: dict[str, int] = {}
        names = [p.name for p in self.info.inputs]
        for name in inputs:
            if name not in names:
                hint = did_you_mean(name, names) or f"it has {', '.join(names)}"
                raise InputError("the model has no such input", where=f"input {name!r}", hint=hint)
        arrays: dict[str, Any] = {}
        for p in self.info.inputs:
            type_ = getattr(p, "type", None)
            if p.name in inputs and type_ is not None:
                arrays[p.name] = np.asarray(inputs[p.name])
                check_tensor(arrays[p.name], type_, sizes, f"input {p.name!r}")
            elif p.name in inputs or type_ is None:
                (arrays[p.name],) = check_inputs([p], {n: a for n, a in inputs.items() if n == p.name})
            else:
                raise InputError(f"missing; expected {p.describe()}", where=f"input {p.name!r}")
        for name, range_ in self._ranges.items():
            problem = range_.problem(sizes[name]) if name in sizes else None
            if problem is not None:
                raise ExtentError(f"{sizes[name]} given, {problem}", where=f"size {name!r}")
        with self._lock:
            results = self._programs.run(arrays)
        return {p.name: r for p, r in zip(self.info.outputs, results, strict=True)}

    def run_out(self, inputs: Mapping[str, Any], out: Mapping[str, Any]) -> dict[str, Any]:
        """The same, with the results of `out` in its arrays."""
        check_names(self.info.outputs, out)
        return copied_outputs(self.run(inputs), out)

    def close(self) -> None:
        """End the threads of the programs; the next run starts others."""
        for program in list(self._executables):
            program.close()

    def placement(self) -> str:
        """Nothing: each of the programs has its own."""
        return ""

    def state(self) -> list[StateVariable]:
        """The values that the program keeps: none."""
        return []

    def describe(self) -> str:
        """Text in the place of a number of kernels."""
        return "compiled for each shape"


def _port(proto: Any, shapes: Mapping[str, Any]) -> Port:
    """The port of an input or output as declared, with what `shapes` says of it."""
    tensor, given = proto.type.tensor_type, shapes.get(proto.name)
    if proto.type.WhichOneof("value") != "tensor_type" or not (tensor.HasField("shape") or given is not None):
        return Port(proto.name, (), "")
    dims: list[int | str] = [d.dim_value if d.HasField("dim_value") else d.dim_param or "_" for d in tensor.shape.dim]
    numbers = {n: size for n, size in shapes.items() if isinstance(size, int)}
    dims = [numbers.get(d, d) if isinstance(d, str) else d for d in dims]
    type_ = dynamic_tensor(dims if given is None else [int(e) for e in given], dtype_of(tensor.elem_type, proto.name))
    port = port_of_type(proto.name, type_)
    assert is_dynamic(type_) == hasattr(port, "type")
    return port

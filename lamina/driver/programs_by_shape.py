"""Programs of an ONNX model whose extents are open, or decided by values: one for each shape that it is given.

A model is compiled when it first runs. Inputs that decide a shape, an axis or a count (the shape of a Reshape, the pads
of a Pad) are fixed to their values then: the compiled program is kept with those values as its guard, and other values
lead to another program. What is too large to be fixed, the virtual machine runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, cast

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from lamina.driver.model import Model, Origin, port_of
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.onnx import load_onnx
from lamina.frontends.onnx.builder import NeedsDataError, NeedsMachineError, NeedsValueError
from lamina.frontends.onnx.narrow import HELD, plain_array
from lamina.frontends.onnx.strings import Strings
from lamina.frontends.onnx.tensors import code_of, type_name

if TYPE_CHECKING:
    from lamina.frontends.onnx import ImportedModel
    from lamina.frontends.onnx import Port as ImportedPort

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Given: TypeAlias = "Array | list[Array] | None"
Runs: TypeAlias = "Callable[[Mapping[str, Array]], dict[str, Array]]"

MOST_PROGRAMS = 16
"""Programs kept for one model; the one unused for longest goes first."""
MOST_FIXED = {"i": 64, "u": 64, "b": 64, "f": 16, "V": 16}
"""The most elements of an input that may be fixed to its value, by its kind: shapes and axes are that small."""


@dataclass(frozen=True)
class _Program:
    """A program that was compiled for inputs of some shapes and, where they decide shapes, values."""

    run: Runs
    fixed: frozenset[str]
    outputs: tuple[ImportedPort, ...]
    sequences: dict[str, int | None]
    strings: tuple[str, ...]


class ProgramsByShape:
    """A model to run on arrays; `build` makes what runs an imported one, by the names of ports."""

    def __init__(self, model: ModelProto, source: Any, build: Callable[[ImportedModel], Runs]) -> None:
        self.model = model
        self.source = source
        """The source to import: the model, or a file where weights lie beside it."""
        self.build = build
        initialised = {t.name for t in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in initialised]
        self._fixed: set[str] = set()
        self._programs: OrderedDict[Any, _Program] = OrderedDict()

    def run(self, inputs: Any) -> list[Any]:
        """The outputs in order, of a list of arrays in the order of the model's inputs, or of a dict of them by name.

        A sequence is a list of arrays, an optional value that is missing None. Raises UnsupportedError naming the
        operators that are missing, LaminaError for bad inputs.
        """
        given = self._named(inputs)
        key = self._key(given)
        if key not in self._programs:
            program = self._compile(given)
            key = self._key(given)  # compiling finds out what to fix
            self._programs[key] = program
            if len(self._programs) > MOST_PROGRAMS:
                self._programs.popitem(last=False)
        self._programs.move_to_end(key)
        program = self._programs[key]
        arrays = {name: v for name, v in given.items() if name not in program.fixed}
        strings = Strings(program.strings)
        numbers = {name: strings.encoded(v) if v.dtype.kind == "O" else v for name, v in _flat(arrays)}
        results = program.run(numbers)
        for port in program.outputs:
            found = results[port.name]
            results[port.name] = (
                strings.decoded(found) if port.logical == "string" else _as_declared(found, port.logical)
            )
        return [_output(o.name, results, program.sequences) for o in self.model.graph.output]

    def _named(self, inputs: Any) -> dict[str, Given]:
        if isinstance(inputs, Mapping):
            pairs = list(cast("Mapping[str, Any]", inputs).items())
        else:
            arrays = cast("Sequence[Any]", inputs if isinstance(inputs, list | tuple) else [inputs])
            if len(arrays) != len(self.inputs):
                raise InputError(
                    f"{len(arrays)} inputs given, {len(self.inputs)} expected", hint=f"they are {self.inputs}"
                )
            pairs = list(zip(self.inputs, arrays, strict=True))
        return {name: _given(name, value) for name, value in pairs}

    def _key(self, given: Mapping[str, Given]) -> Any:
        """The key of a compiled program: the shapes, and the values of those inputs that decide shapes."""
        missing = [name for name, value in given.items() if value is None]
        arrays = [
            (name, a.shape, str(a.dtype), a.tobytes() if name in self._fixed else None) for name, a in _flat(given)
        ]
        return tuple(missing), tuple(arrays)

    def _compile(self, given: Mapping[str, Given]) -> _Program:
        while True:
            fixed = {name: v.copy() for name, v in given.items() if name in self._fixed and _is_small(v)}
            shapes: dict[str, Any] = {name: _shape(v) for name, v in given.items() if name not in fixed}
            try:
                imported = load_onnx(self.source, shapes, values=fixed, machine=False)
                break
            except (NeedsMachineError, NeedsValueError) as e:
                names = e.names if isinstance(e, NeedsValueError) else ()
                fresh = set(names) - self._fixed
                fixable = bool(fresh) and all(_is_small(given.get(n)) for n in fresh)
                imported = self._for_machine(shapes, fixed, fixable) if self._wants_machine(e, fixable) else None
                if imported is not None:
                    break
                self._fixed |= fresh
        return _Program(self.build(imported), frozenset(fixed), imported.outputs, imported.sequences, imported.strings)

    def _wants_machine(self, error: UnsupportedError, fixable: bool) -> bool:
        """Whether the machine is to run a model: shapes are rather fixed to their values, data is rather not."""
        return not fixable or isinstance(error, NeedsDataError)

    def _for_machine(
        self, shapes: Mapping[str, Any], fixed: Mapping[str, Array], fixable: bool
    ) -> ImportedModel | None:
        """The model for the virtual machine; None where it cannot be, and values may still be fixed instead."""
        try:
            return load_onnx(self.source, shapes, values=fixed)
        except UnsupportedError:
            if not fixable:
                raise
            return None


def as_model(model: ModelProto, imported: ImportedModel) -> Model:
    """An imported model as users hold one."""
    inputs, outputs = (tuple(map(port_of, side)) for side in (imported.inputs, imported.outputs))
    return Model(
        Origin(model, {}, None), imported.label, inputs, outputs, imported.opset, imported.module, imported.store
    )


def _given(name: str, value: Any) -> Given:
    if value is None:
        return None
    if isinstance(value, list):
        return [_array(name, v) for v in cast("list[Any]", value)]
    return _array(name, value)


def _array(name: str, value: Any) -> Array:
    array = numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
    if array.dtype.kind in "OUST":
        return array.astype(object)
    if array.dtype.kind not in "biufV":
        raise UnsupportedError(f"elements of type {array.dtype} are not supported", where=f"input {name!r}")
    logical = type_name(helper.np_dtype_to_tensor_dtype(array.dtype))
    return plain_array(array, logical) if logical in HELD and str(array.dtype) != HELD[logical] else array


def _flat(given: Mapping[str, Given]) -> Iterator[tuple[str, Array]]:
    """The arrays of inputs under the names of their ports."""
    for name, value in given.items():
        if isinstance(value, list):
            yield from ((f"{name}[{k}]", v) for k, v in enumerate(value))
        elif value is not None:
            yield name, value


def _shape(value: Given) -> Any:
    return None if value is None else [v.shape for v in value] if isinstance(value, list) else value.shape


def _is_small(value: Given) -> TypeGuard[Array]:
    """Whether an input may be fixed to its value."""
    return isinstance(value, np.ndarray) and value.size <= MOST_FIXED.get(value.dtype.kind, 0)


def _as_declared(array: Array, logical: str) -> Array:
    """An output of an element type that programs hold in another one, in its own."""
    if not logical:
        return array
    dtype = helper.tensor_dtype_to_np_dtype(code_of(logical))
    return array.view(dtype) if logical.startswith("float") else array.astype(dtype)


def _output(name: str, results: Mapping[str, Array], sequences: Mapping[str, int | None]) -> Any:
    if name not in sequences:
        return results[name]
    length = sequences[name]
    return None if length is None else [results[f"{name}[{k}]"] for k in range(length)]

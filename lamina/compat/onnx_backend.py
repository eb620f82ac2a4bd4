"""Lamina as a backend of the `onnx` package: what `onnx.backend.test` and other users of that interface drive.

    import lamina.compat.onnx_backend as backend
    outputs = backend.prepare(model).run([x, y])

A model is compiled when it first runs, for the shapes that it is given. Inputs that decide a shape, an axis or a
count (the shape of a Reshape, the pads of a Pad) are fixed to their values then: the compiled program is kept with
those values as its guard, and other values lead to another program.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import lamina
from lamina.errors import InputError, UnsupportedError
from lamina.frontends.onnx import check_model, load_onnx
from lamina.frontends.onnx.builder import NeedsValueError
from lamina.frontends.onnx.narrow import plain_array
from lamina.frontends.onnx.tensors import HELD, code_of, type_name
from lamina.model import Model, Origin, Port

if TYPE_CHECKING:
    from lamina.api import Executable

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

MOST_PROGRAMS = 16
"""Programs kept for one model; the one unused for longest goes first."""
MOST_FIXED = {"i": 64, "u": 64, "b": 64, "f": 16}
"""The most elements of an input that may be fixed to its value, by its kind: shapes and axes are that small."""


class LaminaRep(BackendRep):
    """A model to run on arrays. `run` gives its outputs in order; names work as indices of the result too."""

    def __init__(self, model: ModelProto, opt_level: int = 3) -> None:
        self.model = model
        self.opt_level = opt_level
        initialised = {t.name for t in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in initialised]
        self._fixed: set[str] = set()
        self._programs: OrderedDict[Any, tuple[Executable, dict[str, Array]]] = OrderedDict()
        self._logical: dict[str, str] = {}
        self._outputs: Any = namedtupledict("Outputs", [o.name for o in model.graph.output])

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """Run on a list of arrays in the order of the model's inputs, or on a dict of them by name.

        Raises BackendIsNotSupposedToImplementIt naming the operators that are missing, LaminaError for bad inputs.
        """
        try:
            given = self._named(inputs)
            key = self._key(given)
            if key not in self._programs:
                program = self._compile(given)
                key = self._key(given)  # compiling finds out what to fix
                self._programs[key] = program
                if len(self._programs) > MOST_PROGRAMS:
                    self._programs.popitem(last=False)
            self._programs.move_to_end(key)
            exe, fixed = self._programs[key]
            results = exe.run({name: _plain(a) for name, a in given.items() if name not in fixed})
        except UnsupportedError as e:
            raise BackendIsNotSupposedToImplementIt(str(e)) from e
        return self._outputs(
            *(_as_declared(results[o.name], self._logical.get(o.name)) for o in self.model.graph.output)
        )

    def _named(self, inputs: Any) -> dict[str, Array]:
        if isinstance(inputs, Mapping):
            pairs = list(inputs.items())
        else:
            arrays: Sequence[Any] = inputs if isinstance(inputs, list | tuple) else [inputs]
            if len(arrays) != len(self.inputs):
                raise InputError(
                    f"{len(arrays)} inputs given, {len(self.inputs)} expected", hint=f"they are {self.inputs}"
                )
            pairs = list(zip(self.inputs, arrays, strict=True))
        return {name: _array(name, value) for name, value in pairs}

    def _key(self, given: Mapping[str, Array]) -> Any:
        """What a program was compiled for: the shapes, and the values of those inputs that decide shapes."""
        return tuple(
            (name, a.shape, str(a.dtype), a.tobytes() if name in self._fixed else None) for name, a in given.items()
        )

    def _compile(self, given: Mapping[str, Array]) -> tuple[Executable, dict[str, Array]]:
        while True:
            fixed = {name: given[name].copy() for name in self._fixed if name in given}
            shapes = {name: a.shape for name, a in given.items() if name not in fixed}
            try:
                imported = load_onnx(self.model, shapes, values=fixed)
                break
            except NeedsValueError as e:
                fresh = set(e.names) - self._fixed
                if not fresh or any(given[n].size > MOST_FIXED.get(given[n].dtype.kind, 0) for n in fresh):
                    raise
                self._fixed |= fresh
        inputs, outputs = (
            tuple(Port(p.name, p.shape, p.dtype) for p in side) for side in (imported.inputs, imported.outputs)
        )
        self._logical = {p.name: p.logical for p in imported.outputs if p.logical}
        origin = Origin(self.model, {}, None)
        model = Model(origin, imported.label, inputs, outputs, imported.opset, imported.module, imported.store)
        return lamina.compile(model, opt_level=self.opt_level, cache=False), fixed


def _array(name: str, value: Any) -> Array:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if value is None or isinstance(value, list):
        raise UnsupportedError("sequences and optional values are not supported", where=f"input {name!r}")
    array = np.asarray(value)
    if array.dtype == object:
        raise UnsupportedError("strings are not supported", where=f"input {name!r}")
    return array


def _plain(array: Array) -> Array:
    """An array of an element type that programs hold in another one, in that one."""
    logical = type_name(helper.np_dtype_to_tensor_dtype(array.dtype))
    return plain_array(array, logical) if logical in HELD and str(array.dtype) != HELD[logical] else array


def _as_declared(array: Array, logical: str | None) -> Array:
    """The other way round."""
    if logical is None:
        return array
    dtype = helper.tensor_dtype_to_np_dtype(code_of(logical))
    return array.view(dtype) if logical.startswith("float") else array.astype(dtype)


class LaminaBackend(Backend):
    """The class that `onnx.backend.test.BackendTest` takes."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> bool:
        """Whether every operator of a model has a converter."""
        try:
            return cls.supports_device(device) and check_model(model).ok
        except UnsupportedError:
            return False

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **kwargs: Any) -> LaminaRep:
        """A model to run. Raises BackendIsNotSupposedToImplementIt with all the operators that are missing."""
        if not cls.supports_device(device):
            raise BackendIsNotSupposedToImplementIt(f"device {device!r} is not supported; CPU is")
        try:
            report = check_model(model)
            if not report.ok:
                raise report.error()
        except UnsupportedError as e:
            raise BackendIsNotSupposedToImplementIt(str(e)) from e
        return LaminaRep(model, kwargs.get("opt_level", 3))

    @classmethod
    def run_model(cls, model: ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> Any:
        """Run a model once."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Programs run on the processor."""
        return device.split(":")[0] == "CPU"


prepare = LaminaBackend.prepare
run_model = LaminaBackend.run_model
supports_device = LaminaBackend.supports_device
is_compatible = LaminaBackend.is_compatible

"""Lamina as a backend of the `onnx` package: what `onnx.backend.test` and other users of that interface drive.

    import lamina.compat.onnx_backend as backend
    outputs = backend.prepare(model).run([x, y])

A model is compiled when it first runs, for the shapes that it is given (`lamina.driver.programs_by_shape`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep, namedtupledict
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import lamina
from lamina.driver.programs_by_shape import ProgramsByShape, Runs, as_model
from lamina.errors import UnsupportedError
from lamina.frontends.onnx import check_model

if TYPE_CHECKING:
    from lamina.frontends.onnx import ImportedModel


class LaminaRep(BackendRep):
    """A model to run on arrays. `run` gives its outputs in order; names work as indices of the result too."""

    def __init__(self, model: ModelProto, opt_level: int = 3) -> None:
        self.model = model
        self.opt_level = opt_level
        self._programs = ProgramsByShape(model, model, self.build)
        self._outputs: Any = namedtupledict("Outputs", [o.name for o in model.graph.output])

    def run(self, inputs: Any, **kwargs: Any) -> Any:
        """Run on a list of arrays in the order of the model's inputs, or on a dict of them by name.

        A sequence is a list of arrays, an optional value that is missing None. Raises
        BackendIsNotSupposedToImplementIt naming the operators that are missing, LaminaError for bad inputs.
        """
        try:
            return self._outputs(*self._programs.run(inputs))
        except UnsupportedError as e:
            raise BackendIsNotSupposedToImplementIt(str(e)) from e

    def build(self, imported: ImportedModel) -> Runs:
        """Compile an imported model to a function from arrays to arrays, both by the names of ports."""
        return lamina.compile(as_model(self.model, imported), opt_level=self.opt_level, cache=False).run


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

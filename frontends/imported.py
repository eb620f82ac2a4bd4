"""Results of importers of models: a module, its weights, and the names and types of its ports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp, TensorType

    from lamina.dialects.relay.params import ParamStore


@dataclass(frozen=True)
class Port:
    """An input or output of a model, with the model's own name."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    logical: str = ""
    """The type that the elements are codes of, where that is another one: `float8e4m3fn` held in uint8."""
    type: TensorType[Any] | None = None
    """Set where extents are known at run time only; these are -1 in `shape`."""


@dataclass(frozen=True)
class ImportedModel:
    """A model as a Relay module; the bytes of its weights are in `store`."""

    module: ModuleOp
    store: ParamStore
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    opset: dict[str, int]
    label: str
    sequences: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    """The outputs that are sequences, with their lengths, or optional and missing; `y` has the ports `y[0]`, `y[1]`."""
    strings: tuple[str, ...] = ()
    """Those that the model knows, by the numbers that ports of the type `string` hold."""

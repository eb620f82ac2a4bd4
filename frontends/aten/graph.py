"""Graphs of ATen calls as data, independent of where they come from.

A call has the arguments of ATen's schema: references to values, numbers, strings, element types, lists of these; one of
control flow has graphs among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lamina.frontends.aten.quantization import PackedCell, PackedWeights, Quantization

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lamina.dialects.infos import TensorInfo
    from lamina.dialects.relay.program_state import StateVariable


@dataclass(frozen=True)
class Ref:
    """A value of the graph, by its name."""

    name: str


@dataclass(frozen=True)
class DType:
    """An element type as an argument, by Lamina's name of it."""

    name: str


@dataclass(frozen=True)
class Other:
    """An argument that says nothing of values: a device, a memory format, a layout."""

    text: str


@dataclass(frozen=True)
class SourcePlace:
    """The place of a call in the user's program."""

    module: str = ""
    """The module that it belongs to: `layer1.0.conv1`."""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else ""
        return ", ".join(p for p in (self.module, place) if p)


_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def place_in(module: str, stack: str) -> SourcePlace:
    """The place of a call from its module and Python's stack at it: the innermost frame that is not torch's own."""
    frames = _FRAME.findall(stack)
    own = [f for f in frames if "/torch/" not in f[0]] or frames
    file, line = own[-1] if own else ("", "0")
    return SourcePlace(module, file.rsplit("/", 1)[-1], int(line))


@dataclass(frozen=True)
class AtenCall:
    """A call of an operator, `aten.add.Tensor`; `name` is its result, or the tuple of its results."""

    name: str
    target: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    place: SourcePlace = SourcePlace()
    results: TensorInfo | list[Any] | None = None
    """The type of the result, or a list with one (or None) for each, where the source tells them."""
    refusal: str = ""
    """The reason why it cannot be converted, where an argument already says so."""
    in_place: bool = False
    """Whether its result stands for its first operand from there on, with its shape and element type."""

    @property
    def packet(self) -> str:
        """The operator without its overload: `add`; those of other namespaces with theirs: `prims.iota`."""
        parts = self.target.split(".")
        return parts[1] if parts[0] == "aten" else ".".join(parts[:2])


@dataclass(frozen=True)
class Input:
    """A value that the graph takes: an input of the model, or a weight where it has an array."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    key: str = ""
    """The name of a weight in the model: `layer1.0.conv1.weight`."""
    array: NDArray[Any] | None = None
    quantization: Quantization | None = None
    """That of a quantised tensor, whose integers are the array."""


@dataclass(frozen=True)
class Output:
    """A value that the graph gives, by the name that the user knows: a reference, a number or None."""

    name: str
    value: Any


@dataclass
class AtenGraph:
    """A graph of calls in order."""

    label: str
    inputs: list[Input]
    calls: list[AtenCall]
    outputs: list[Output]
    states: tuple[StateVariable, ...] = ()
    """Inputs and outputs that hold what a script keeps from call to call."""


def refs(argument: Any) -> Iterator[Ref]:
    """The references in an argument or a result, in order."""
    if isinstance(argument, Ref):
        yield argument
    elif isinstance(argument, (PackedWeights, PackedCell)):
        yield from refs(argument.parts)
    elif isinstance(argument, (list, tuple)):
        for item in argument:  # pyright: ignore[reportUnknownVariableType]
            yield from refs(item)
    elif isinstance(argument, dict):
        yield from refs(list(argument.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

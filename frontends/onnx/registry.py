"""Registry of the converters of ONNX operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from onnx.defs import OpSchema

    from lamina.frontends.onnx.builder import AnyValue, Builder, Node

Converter: TypeAlias = "Callable[[Node, Builder], AnyValue | Sequence[AnyValue] | None]"

_CONVERTERS: dict[tuple[str, str], Converter] = {}
_SCHEMAS: dict[tuple[str, str], OpSchema] = {}
_LIMITS: dict[tuple[str, str], Mapping[str, Sequence[Any]]] = {}
_HELD: set[tuple[str, str]] = set()
_OPEN: dict[tuple[str, str], Converter] = {}
_FIRST: set[tuple[str, str]] = set()
_loaded = False


def onnx_op(*names: str, domain: str = "", held: bool = False) -> Callable[[Converter], Converter]:
    """Registers a converter for operators; it is given the node and the builder and returns the outputs' values,
    or None where the function by which ONNX defines the operator is to be used. With `held` it takes tensors whose
    element type is held in another one: it must look at `Value.logical`."""

    def register(convert: Converter) -> Converter:
        for name in names:
            if (domain, name) in _CONVERTERS:
                raise TypeError(f"{name} has two converters")
            _CONVERTERS[(domain, name)] = convert
            if held:
                _HELD.add((domain, name))
        return convert

    return register


def declare(schema: OpSchema, only: Mapping[str, Sequence[Any]]) -> None:
    """Declares an operator that ONNX does not know, so that its nodes are checked like those of others.

    `only` has the supported values of attributes that have others, and nothing for inputs and outputs that are not.
    """
    _SCHEMAS[(schema.domain, schema.name)] = schema
    _LIMITS[(schema.domain, schema.name)] = only


def declared(domain: str, op_type: str) -> OpSchema | None:
    """The declaration of an operator by a file of this folder."""
    converters()
    return _SCHEMAS.get((domain, op_type))


def declarations() -> Mapping[tuple[str, str], OpSchema]:
    """All declarations by files of this folder."""
    converters()
    return _SCHEMAS


def limits(domain: str, op_type: str) -> Mapping[str, Sequence[Any]]:
    """The supported part of an operator, where not all is: values of attributes; of inputs and outputs nothing."""
    converters()
    return _LIMITS.get((domain, op_type), {})


def open_op(*names: str, domain: str = "", first: bool = False) -> Callable[[Converter], Converter]:
    """Registers what imports operators whose shapes only the run tells, for the machine: where the ordinary converter
    needs a value that is not known, or before it with `first`. It may return None for what it does not take."""

    def register(convert: Converter) -> Converter:
        for name in names:
            if (domain, name) in _OPEN:
                raise TypeError(f"{name} has two converters")
            _OPEN[(domain, name)] = convert
            if first:
                _FIRST.add((domain, name))
        return convert

    return register


def open_converter(domain: str, op_type: str, first: bool) -> Converter | None:
    """The converter for what only the run tells: one that comes before the ordinary one, or any."""
    converters()
    return _OPEN.get((domain, op_type)) if not first or (domain, op_type) in _FIRST else None


def converters() -> dict[tuple[str, str], Converter]:
    """All converters by (domain, operator): the files `convert_*.py` and `open_convert_*.py` of this folder."""
    global _loaded
    if not _loaded:
        folder = Path(__file__).parent
        for path in sorted([*folder.glob("convert_*.py"), *folder.glob("open_convert_*.py")]):
            import_module(f"lamina.frontends.onnx.{path.stem}")
        _loaded = True
    return _CONVERTERS


def takes_held(domain: str, op_type: str) -> bool:
    """Whether an operator's converter knows of element types that are held in others."""
    return (domain, op_type) in _HELD

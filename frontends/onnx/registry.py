"""Which function imports which ONNX operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from lamina.frontends.onnx.builder import AnyValue, Builder, Node

Converter: TypeAlias = "Callable[[Node, Builder], AnyValue | Sequence[AnyValue] | None]"

_CONVERTERS: dict[tuple[str, str], Converter] = {}
_loaded = False


def onnx_op(*names: str, domain: str = "") -> Callable[[Converter], Converter]:
    """Registers a converter for operators; it is given the node and the builder and returns the outputs' values,
    or None where the function by which ONNX defines the operator is to be used."""

    def register(convert: Converter) -> Converter:
        for name in names:
            if (domain, name) in _CONVERTERS:
                raise TypeError(f"{name} has two converters")
            _CONVERTERS[(domain, name)] = convert
        return convert

    return register


def converters() -> dict[tuple[str, str], Converter]:
    """All converters by (domain, operator): the files `convert_*.py` of this folder."""
    global _loaded
    if not _loaded:
        for path in sorted(Path(__file__).parent.glob("convert_*.py")):
            import_module(f"lamina.frontends.onnx.{path.stem}")
        _loaded = True
    return _CONVERTERS

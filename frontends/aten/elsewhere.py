"""Operators of ATen for converters of other formats: what the table has need not be written again."""

from __future__ import annotations

from typing import Any

from lamina.frontends.aten.builder import AtenBuilder
from lamina.frontends.aten.graph import AtenCall, SourcePlace
from lamina.frontends.aten.importer import converted
from lamina.frontends.builder import RelayBuilder


def aten(b: RelayBuilder, name: str, *args: Any, **kwargs: Any) -> Any:
    """The results of an operator, emitted where a builder stands and as part of what it converts."""
    inner = AtenBuilder(b.block, b.store, b.where, b.limit)
    inner.frame = b.frame
    call = AtenCall(name, f"aten.{name}", args, kwargs, SourcePlace())
    inner.enter(call)
    inner.location = b.location
    return converted(inner, call, args, kwargs)

"""Relay's text in TVM's format: `def @main(%x: Tensor[(1, 3), float32]) { nn.relu(%x) }`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.frontends.formats import TextFormat

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.dialects.relay.params import ParamStore


def parse(text: str, name: str) -> tuple[ModuleOp, ParamStore]:
    """The module of a text, which may be an expression: then it is the body of @main. Raises LaminaError."""
    from lamina.frontends.tvm_text.lexer import Source
    from lamina.frontends.tvm_text.module import build_module, function_of
    from lamina.frontends.tvm_text.parser import Parser

    parser = Parser(Source(text, name))
    definitions, body = parser.module()
    return build_module(definitions if body is None else dict([function_of(body)]), parser.types)


FORMAT = TextFormat(name="relay-text", what="Relay in TVM's format", suffixes=(".relay", ".rly"), parse=parse)

"""`tvm.parser`: Relay's text format as modules and expressions."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.ir_module import IRModule
from lamina.errors import UsageError
from lamina.frontends.tvm_text.lexer import Source
from lamina.frontends.tvm_text.parser import Parser


def parse(source: str, source_name: str = "from_string", init_module: Any = None, init_meta_table: Any = None) -> Any:
    """The module of a text: its definitions, or an expression as the body of `main`. Raises LaminaError."""
    known = init_module if init_module is not None else IRModule()
    parser = Parser(Source(source, source_name), known.functions, known.type_definitions.values())
    definitions, body = parser.module()
    mod = IRModule(definitions, {**known.type_definitions, **parser.types})
    for g, f in known.functions.items():
        if g.name_hint not in {d.name_hint for d in definitions}:
            mod[g] = f
    if body is not None:
        return IRModule.from_expr(body, mod.functions, mod.type_definitions)
    mod.ir()
    return mod


def parse_expr(source: str) -> Any:
    """The expression of a text. Raises LaminaError."""
    parser = Parser(Source(source, "from_string"))
    definitions, body = parser.program()
    if body is None or definitions:
        raise UsageError("the text is no expression", hint="relay.parse reads modules")
    return body


def fromtext(data: str, source_name: str | None = None) -> Any:
    """The module or the expression of a text. Raises LaminaError."""
    parser = Parser(Source(data, source_name or "from_string"))
    definitions, body = parser.program()
    return body if body is not None and not definitions else parse(data, source_name or "from_string")


class SpanCheck:
    """TVM's marker for parsers that keep places: here all do."""


__all__ = ["SpanCheck", "fromtext", "parse", "parse_expr"]

"""`tvm.parser`: Relay's text format."""

from __future__ import annotations

from lamina.compat.tvm.relay.text_parser import SpanCheck, fromtext, parse, parse_expr

__all__ = ["SpanCheck", "fromtext", "parse", "parse_expr"]

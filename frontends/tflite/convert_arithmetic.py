"""Arithmetic on elements, of floats and integers."""

from __future__ import annotations

from lamina.frontends.builder import Value
from lamina.frontends.tflite.builder import TABLE, TfliteBuilder
from lamina.frontends.tflite.graph import TfliteNode


@TABLE.op("ADD")
def add(b: TfliteBuilder, node: TfliteNode, x: Value, y: Value) -> Value:
    """x + y."""
    return b.activated(b.add(x, y), node)

"""The attributes of a node as Python values, checked against the declaration of its operator."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import AttributeProto

from lamina.errors import InputError, did_you_mean, shown
from lamina.frontends.onnx.bodies import RawNode
from lamina.frontends.onnx.registry import declared

_KIND = AttributeProto.AttributeType


def attribute_values(node: RawNode, where: str) -> dict[str, Any]:
    """The attributes as Python values (tensors and graphs as protos), checked against the operator's schema."""
    schema = schema_of(node)
    values: dict[str, Any] = {}
    for name, a in node.attrs.items():
        if schema is not None:
            declared = schema.attributes.get(name)
            if declared is None:
                known = sorted(schema.attributes)
                raise InputError(
                    f"there is no attribute {shown(name)}",
                    where=where,
                    hint=did_you_mean(name, known) or f"the operator has {', '.join(known) or 'none'}",
                )
            if int(declared.type.value) != a.type:
                raise InputError(
                    f"attribute {shown(name)} is of type {_kind_name(a.type)}, expects {declared.type.name}",
                    where=where,
                    hint="export the model again",
                )
        values[name] = _attribute(a, where)
    if schema is not None:
        for name, declared in schema.attributes.items():
            if declared.required and name not in values:
                raise InputError(f"the attribute {shown(name)} is missing", where=where, hint="export the model again")
        if not schema.min_input <= len(node.inputs) <= schema.max_input:
            raise InputError(
                f"{len(node.inputs)} inputs, expects {_span(schema.min_input, schema.max_input)}",
                where=where,
                hint="export the model again",
            )
        if not schema.min_output <= len(node.outputs) <= schema.max_output:
            raise InputError(
                f"{len(node.outputs)} outputs, expects {_span(schema.min_output, schema.max_output)}",
                where=where,
                hint="export the model again",
            )
    return values


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} or more" if high > 1000 else f"{low} to {high}"


def _kind_name(kind: int) -> str:
    try:
        return _KIND.Name(kind)
    except ValueError:
        return str(kind)


_SCHEMAS: dict[tuple[str, str, int], Any] = {}


def schema_of(node: RawNode) -> Any:
    """The declaration of the operator by ONNX, at the node's version, or by us; None when there is none."""
    key = (node.op_type, node.domain, node.version)
    if key not in _SCHEMAS:
        try:
            _SCHEMAS[key] = onnx.defs.get_schema(node.op_type, max(node.version, 1), node.domain)
        except onnx.defs.SchemaError:
            _SCHEMAS[key] = declared(node.domain, node.op_type)
    return _SCHEMAS[key]


def _attribute(a: AttributeProto, where: str) -> Any:
    if a.type == _KIND.INT:
        return int(a.i)
    if a.type == _KIND.FLOAT:
        return float(a.f)
    if a.type == _KIND.STRING:
        return _text(a.s, a.name, where)
    if a.type == _KIND.INTS:
        return tuple(int(v) for v in a.ints)
    if a.type == _KIND.FLOATS:
        return tuple(float(v) for v in a.floats)
    if a.type == _KIND.STRINGS:
        return tuple(_text(s, a.name, where) for s in a.strings)
    if a.type == _KIND.TENSOR:
        return a.t
    if a.type == _KIND.GRAPH:
        return a.g
    return a


def _text(raw: bytes, name: str, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"attribute {shown(name)} is not UTF-8", where=where, hint="export the model again") from None

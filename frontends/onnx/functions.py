"""Operators whose meaning ONNX states as a function of others: their bodies, for what has no converter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto, helper

from lamina.frontends.onnx.attributes import schema_of
from lamina.frontends.onnx.bodies import RawNode
from lamina.frontends.onnx.tensors import code_of

if TYPE_CHECKING:
    from lamina.frontends.onnx.builder import AnyValue


def has_function(node: RawNode) -> bool:
    """Whether ONNX gives the operator's meaning as a function."""
    schema = schema_of(node)
    return schema is not None and bool(schema.has_function or schema.has_context_dependent_function)


def plain_function(node: RawNode) -> FunctionProto | None:
    """The body of an operator where it is the same for inputs of every type."""
    schema = schema_of(node)
    if schema is None or not schema.has_function:
        return None
    data = schema.get_function_with_opset_version(schema.function_opset_versions[-1])
    return _with_defaults(FunctionProto.FromString(data), schema) if data else None


def function_of(node: RawNode, inputs: Sequence[AnyValue | None]) -> FunctionProto | None:
    """The body of an operator for inputs of these types, None where ONNX gives none."""
    schema = schema_of(node)
    if schema is None:
        return None
    if schema.has_context_dependent_function:
        version = schema.context_dependent_function_opset_versions[-1]
        types = [_type(v).SerializeToString() for v in inputs]
        data = schema.get_context_dependent_function_with_opset_version(
            version, _proto(node).SerializeToString(), types
        )
        if data:
            return _with_defaults(FunctionProto.FromString(data), schema)
    return plain_function(node)


def _with_defaults(function: FunctionProto, schema: object) -> FunctionProto:
    """The body refers to attributes by name; those that a node may omit have their values in the schema."""
    known = {a.name for a in function.attribute_proto}
    attributes: dict[str, object] = getattr(schema, "attributes")  # noqa: B009 - onnx has no type for a schema
    for name, declared in attributes.items():
        default: AttributeProto = getattr(declared, "default_value")  # noqa: B009
        if default.name and name not in known:
            function.attribute_proto.append(default)
    return function


def _proto(node: RawNode) -> NodeProto:
    proto = helper.make_node(node.op_type, node.inputs, node.outputs, domain=node.domain)
    proto.attribute.extend(node.attrs.values())
    return proto


def _type(value: AnyValue | None) -> TypeProto:
    from lamina.frontends.builder import Value
    from lamina.frontends.onnx.builder import SequenceValue
    from lamina.frontends.onnx.open_values import OpenValue

    if isinstance(value, Value | OpenValue):
        # What depends on symbols is no int.
        dims = [d if isinstance(d, int) else None for d in (value.shape if isinstance(value, Value) else value.dims)]
        return helper.make_tensor_type_proto(code_of(value.logical), dims)
    if isinstance(value, SequenceValue):
        return helper.make_sequence_type_proto(
            _type(value.items[0]) if value.items else helper.make_tensor_type_proto(1, None)
        )
    return TypeProto()

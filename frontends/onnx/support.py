"""Report of what Lamina can compile of a model: all missing operators at once, with counts and node names."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from lamina.frontends.onnx.attributes import attribute_values, schema_of
from lamina.frontends.onnx.bodies import RawNode, subgraphs
from lamina.frontends.onnx.functions import has_function, plain_function
from lamina.frontends.onnx.graph import Graph, read_graph
from lamina.frontends.onnx.registry import converters, declared, limits
from lamina.frontends.onnx.source import Source, read_model
from lamina.frontends.support import SupportReport, UnsupportedOp


def check_model(source: Source) -> SupportReport:
    """Report which operators of a model are supported. Raises LaminaError for what is no valid model."""
    model = read_model(source)
    graph = read_graph(model.model, model.label)
    dims = [d for i in graph.inputs for d in i.type.tensor_type.shape.dim if not d.HasField("dim_value")]
    return replace(report_of(graph), open_extents=tuple(dict.fromkeys(d.dim_param or "?" for d in dims)))


def report_of(graph: Graph) -> SupportReport:
    """The report on a graph that was read."""
    known = converters()
    supported: dict[str, int] = {}
    missing: dict[tuple[str, str, int, str], list[str]] = {}
    pending = deque(graph.nodes)
    while pending:
        node = pending.popleft()
        if schema_of(node) is not None:  # of other operators' bodies nothing is known
            for body in subgraphs(node):
                pending.extend(graph.bodies.flatten(body.node, node.scope.inside(body, f"{node.index}")))
        limit = ""
        if (node.domain, node.op_type) in known and (node.domain or _exists(node)):
            limit = _limit(node, f"{graph.label}: {node.title}")
            if not limit:
                supported[node.op_type] = supported.get(node.op_type, 0) + 1
                continue
        function = plain_function(node)
        if not limit and (function is not None or has_function(node)):
            pending.extend(graph.bodies.expand(function, node) if function is not None else ())
            supported[node.op_type] = supported.get(node.op_type, 0) + 1
            continue
        key = (node.domain, node.op_type, node.version, limit or _reason(node, graph))
        missing.setdefault(key, []).append(node.name or next((o for o in node.outputs if o), str(node.index)))
    listed = (UnsupportedOp(*key[:3], len(nodes), tuple(nodes), key[3]) for key, nodes in missing.items())
    return SupportReport.of(graph.label, len(graph.nodes), supported, listed, "frontends/onnx")


def _limit(node: RawNode, where: str) -> str:
    """The part of a declared operator that the node needs and that is not supported; "" where all is."""
    only, schema = limits(node.domain, node.op_type), schema_of(node)
    if not only or schema is not declared(node.domain, node.op_type):
        return ""
    values = attribute_values(node, where)
    for name, value in values.items():
        if name in only and value not in only[name]:
            return f"{name} is {value!r}, only {' and '.join(map(repr, only[name]))} is supported"
    for kind, formal, actual in (("input", schema.inputs, node.inputs), ("output", schema.outputs, node.outputs)):
        for parameter, name in zip(formal, actual, strict=False):
            if name and parameter.name in only:
                return f"the {kind} {parameter.name} is not supported"
    return ""


def _exists(node: RawNode) -> bool:
    schema = schema_of(node)
    return schema is not None and not schema.deprecated


def _reason(node: RawNode, graph: Graph) -> str:
    if node.domain and node.domain not in graph.opset and not node.version:
        return "its domain is not imported and no local function has its name"
    if node.domain == "com.microsoft.nchwc":
        return "onnxruntime's own layout, whose block the file does not tell: save with ORT_ENABLE_EXTENDED"
    if node.domain not in ("", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training"):
        return "not a standard ONNX operator"
    schema = schema_of(node)
    if schema is None:
        return f"ONNX has no such operator at opset {node.version}"
    if schema.deprecated:
        return f"deprecated at opset {node.version}"
    return "no converter"

"""SavedModels: the graph for serving, one of its signatures, and the variables of the checkpoint beside it.

Which tensor of the checkpoint is the value of a variable is said by the graph that restores it: an assignment takes
the k-th result of a RestoreV2, whose names are a constant. What that leaves out is said by the objects: a function
captures some of them, and the checkpoint has the same objects, with keys, under the same names of attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, UnsupportedError, UsageError, shown
from lamina.frontends.network import Network
from lamina.frontends.protobuf import Message
from lamina.frontends.tensorflow.bundle import Bundle
from lamina.frontends.tensorflow.graph import INPUT_ARG, NODE_DEF, SIGNATURE, VARIABLES, GraphDef
from lamina.frontends.tensorflow.nodes import FunctionName, NodeDef, place_of, source_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

META_GRAPHS = 2
"""SavedModel."""
META_INFO, GRAPH_DEF, SAVER, SIGNATURES, OBJECTS = 1, 2, 3, 5, 7
"""MetaGraphDef; the tags are field 4 of its META_INFO, the name of the restoring node is field 3 of its SAVER."""
SERVE, DEFAULT = "serve", "serving_default"
INITIALISE = "__saved_model_init_op"
"""The signature of what is done once."""
ASSIGNMENTS = ("AssignVariableOp", "Assign")
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The key of what a checkpoint says of its objects (tensorflow/core/protobuf/trackable_object_graph.proto)."""
STRINGS = 8
"""TensorProto: the elements of a tensor of strings."""


def saved_network(model: Message, folder: Path | None, label: str, shapes: Mapping[str, Any] | None) -> Network:
    """The network of the signature for serving; the variables are in a folder. Raises LaminaError."""
    chosen = _for_serving(model, label)
    graph = GraphDef(chosen.message(GRAPH_DEF), label)
    sides = _signature(chosen, label)
    graph.variables = _variables(graph, chosen.message(SAVER).text(3), chosen.message(OBJECTS), folder)
    inputs, outputs = ({name: _tensor_name(info, name, label) for name, info in side.items()} for side in sides)
    return graph.network(outputs, inputs, shapes)


def _for_serving(model: Message, label: str) -> Message:
    graphs = model.messages(META_GRAPHS)
    tags = [g.message(META_INFO).texts(4) for g in graphs]
    found = next((g for g, t in zip(graphs, tags, strict=True) if SERVE in t), graphs[0] if len(graphs) == 1 else None)
    if found is None:
        listed = "; ".join(",".join(t) for t in tags)[:200] or "none"
        raise UnsupportedError(f"no graph has the tag {SERVE!r}: {listed}", where=label, hint="save it for serving")
    return found


def _signature(graph: Message, label: str) -> tuple[dict[str, Message], dict[str, Message]]:
    """The inputs and outputs of a signature, by their names in order."""
    known = {name: s for name, s in graph.table(SIGNATURES).items() if name != INITIALISE}
    found = known.get(DEFAULT) or (next(iter(known.values())) if len(known) == 1 else None)
    if found is None:
        listed = ", ".join(map(shown, sorted(known)[:20])) or "none"
        hint = "tf.saved_model.save(model, FOLDER, signatures=FUNCTION) names one"
        raise UsageError(f"no signature is {DEFAULT!r}: there are {listed}", where=label, hint=hint)
    inputs, outputs = (dict(sorted(found.table(side).items())) for side in (1, 2))
    if not outputs:
        raise InputError("the signature has no outputs", where=label)
    return inputs, outputs


def _tensor_name(info: Message, name: str, label: str) -> str:
    if not info.has(1):
        raise UnsupportedError(f"{shown(name)} is sparse, or made of several tensors", where=label)
    return info.text(1)


# -- variables ---------------------------------------------------------------------------------------


def _variables(graph: GraphDef, restoring: str, objects: Message, folder: Path | None) -> dict[str, NDArray[Any]]:
    """The values of variables by the names of their nodes."""
    nodes = [name for name, node in graph.nodes.items() if node.op in VARIABLES]
    if not nodes or folder is None or not (folder / "variables").is_dir():
        return {}
    bundle = Bundle(folder / "variables" / "variables")
    keys = dict(_captured(graph, objects, bundle))
    keys |= dict(_restored(graph.nodes, {}))
    call = graph.nodes.get(source_of(restoring))
    function = call.attributes.get("f") if call is not None else None
    if call is not None and isinstance(function, FunctionName) and function.name in graph.functions:
        body = graph.functions[function.name]
        arguments = [arg.text(1) for arg in body.message(SIGNATURE).messages(INPUT_ARG)]
        given = {name: source_of(value) for name, value in zip(arguments, call.inputs, strict=False)}
        inner = (NodeDef.of(n, k, True) for k, n in enumerate(body.messages(NODE_DEF)))
        keys |= dict(_restored({node.name: node for node in inner}, given))
    found: dict[str, NDArray[Any]] = {}
    for name in nodes:
        shared = str(graph.nodes[name].attributes.get("shared_name") or "")
        key = keys.get(name) or next((k for k in (name, shared) if k in bundle), None)
        if key is not None and (key in bundle or name in keys):
            found[name] = bundle.array(key)
    return found


def _captured(graph: GraphDef, saved: Message, bundle: Bundle) -> Iterator[tuple[str, str]]:
    """The variables that functions are called with, with the keys of the objects that these capture."""
    if OBJECT_GRAPH not in bundle:
        return
    keys = _keys_of_objects(saved.messages(1), Message(bundle.text(OBJECT_GRAPH)).messages(1))
    functions = saved.table(2)
    for node in graph.nodes.values():
        called = node.attributes.get("f")
        bound = (
            functions[called.name].numbers(2) if isinstance(called, FunctionName) and called.name in functions else []
        )
        for value, place in zip(reversed(node.inputs), reversed(bound), strict=False):
            if place in keys:
                yield source_of(value), keys[place]


def _keys_of_objects(saved: Sequence[Message], kept: Sequence[Message]) -> dict[int, str]:
    """The keys of saved objects: both graphs are followed from their first objects, by the names of attributes."""
    found: dict[int, str] = {}
    places = [(0, 0)] if saved and kept else []
    seen = {0}
    for ours, theirs in places:
        values = [a.text(3) for a in kept[theirs].messages(2) if a.text(1) == "VARIABLE_VALUE"]
        found |= {ours: values[0]} if values else {}
        children = {c.text(2): c.number(1) for c in kept[theirs].messages(1)}
        for child in saved[ours].messages(1):
            pair = child.number(1), children.get(child.text(2), -1)
            if pair[0] not in seen and 0 <= pair[0] < len(saved) and 0 <= pair[1] < len(kept):
                seen.add(pair[0])
                places.append(pair)
    return found


def _restored(nodes: Mapping[str, NodeDef], given: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Variables with their keys; `given` has the variables of arguments."""
    for node in nodes.values():
        if node.op not in ASSIGNMENTS or len(node.inputs) != 2:
            continue
        target, value = source_of(node.inputs[0]), node.inputs[1]
        for _ in range(8):
            source = nodes.get(source_of(value))
            if source is None or source.op != "Identity" or not source.inputs:
                break
            value = source.inputs[0]
        source = nodes.get(source_of(value))
        if source is None or source.op != "RestoreV2" or len(source.inputs) < 2:
            continue
        names = nodes.get(source_of(source.inputs[1]))
        listed = names.attributes.get("value") if names is not None else None
        texts = listed.texts(STRINGS) if isinstance(listed, Message) else []
        place = place_of(value, source.op)
        if 0 <= place < len(texts):
            yield given.get(target, target), texts[place]

"""Nodes of a GraphDef or of a function: their attributes as Python's values, what they take, what they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lamina.frontends.protobuf import Message
from lamina.frontends.tensorflow.tensors import shape_of, type_name

NAME, OP, INPUT, ATTR = 1, 2, 3, 5
"""NodeDef."""
FUNCTION_OUTPUTS: Mapping[str, Sequence[str]] = {
    "TopK": ("values", "indices"), "TopKV2": ("values", "indices"), "Unique": ("y", "idx"),
    "FusedBatchNorm": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV2": ("y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"),
    "FusedBatchNormV3": (
        "y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"),
    "LSTMBlockCell": ("i", "cs", "f", "o", "ci", "co", "h"), "BlockLSTM": ("i", "cs", "f", "o", "ci", "co", "h"),
    "BlockLSTMV2": ("i", "cs", "f", "o", "ci", "co", "h"), "GRUBlockCell": ("r", "u", "c", "h"),
    "NonMaxSuppressionV4": ("selected_indices", "valid_outputs"),
    "NonMaxSuppressionV5": ("selected_indices", "selected_scores", "valid_outputs"),
    "CombinedNonMaxSuppression": ("nmsed_boxes", "nmsed_scores", "nmsed_classes", "valid_detections"),
    "SoftmaxCrossEntropyWithLogits": ("loss", "backprop"),
    "SparseSoftmaxCrossEntropyWithLogits": ("loss", "backprop"), "BroadcastGradientArgs": ("r0", "r1"),
    "TensorListPopBack": ("output_handle", "tensor"),
    "TensorListConcatV2": ("tensor", "lengths"), "UniqueWithCounts": ("y", "idx", "count"),
    "Switch": ("output_false", "output_true"), "Merge": ("output", "value_index"),
}  # fmt: skip
"""The outputs of operators that have several by name: a function names them, a graph numbers them. Others have one, or
one list."""


@dataclass(frozen=True)
class FunctionName:
    """The function that an attribute names."""

    name: str


@dataclass(frozen=True)
class NodeDef:
    """A node as the file states it; `inputs` are values, without what is only to be done before it."""

    name: str
    op: str
    inputs: tuple[str, ...]
    index: int
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inside: bool = False
    """Whether it stands in a function, where references name outputs."""

    @staticmethod
    def of(node: Message, index: int, inside: bool = False) -> NodeDef:
        """Read a NodeDef."""
        inputs = tuple(i for i in node.texts(INPUT) if not i.startswith("^"))
        attributes = {name: _attribute(value) for name, value in node.table(ATTR).items()}
        return NodeDef(node.text(NAME), node.text(OP), inputs, index, attributes, inside)


def source_of(reference: str) -> str:
    """The name of the node that a reference is to: `a`, `a:1`, `a:output:1`."""
    return reference.partition(":")[0]


def place_of(reference: str, op: str) -> int:
    """The output, of a node of that operator, that a reference is to; -1 where it is no such reference."""
    _, *parts = reference.split(":")
    if len(parts) > 2 or parts and not parts[-1].isdecimal() or len(reference) > 1 << 16:
        return -1
    place = int(parts[-1][:9]) if parts else 0
    named = FUNCTION_OUTPUTS.get(op)
    if len(parts) == 2 and named is not None:
        return named.index(parts[0]) + place if parts[0] in named else -1
    return place


def _attribute(value: Message) -> Any:
    """The value of an AttrValue: a number, text, shape, the name of a type, a tensor's message, a list of such."""
    if value.has(1):
        items = value.message(1)
        kinds = [number for number in range(2, 10) if items.has(number)]
        return _items(items, kinds[0]) if kinds else []
    number = next((n for n in range(2, 11) if n != 9 and value.has(n)), None)
    if number is None:
        return None
    return _items(value, number)[-1]


def _items(value: Message, kind: int) -> list[Any]:
    if kind == 2:
        return value.texts(2)
    if kind == 3:
        return value.numbers(3)
    if kind == 4:
        return [float(v) for v in value.floats(4)]
    if kind == 5:
        return [bool(v) for v in value.numbers(5)]
    if kind == 6:
        return [type_name(v) for v in value.numbers(6)]
    if kind == 7:
        return [shape_of(m) for m in value.messages(7)]
    if kind == 8:
        return list(value.messages(8))
    return [FunctionName(m.text(1)) for m in value.messages(kind)]

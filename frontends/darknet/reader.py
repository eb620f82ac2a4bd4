"""A network of layers: each takes what the one before it gives, unless it names others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lamina.errors import InputError, printable
from lamina.frontends.companion import path_of, same_stem, text_of
from lamina.frontends.darknet.sections import LayerOptions, sections_of
from lamina.frontends.darknet.weights import Weights
from lamina.frontends.formats import Shapes
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.network import ConverterTable, Network, NetworkNode, import_network

TABLE = ConverterTable("darknet")
INPUT = "data"
"""The name of what a network takes."""
HEAD = "anchors of a head"
"""The operator of what TVM gives with a head; no section has a name with spaces."""
LARGEST = 1 << 20
"""Extent of an input."""
_NAMES = {"conv": "convolutional", "deconv": "deconvolutional", "conn": "connected", "max": "maxpool",
          "avg": "avgpool", "soft": "softmax", "lrn": "normalization", "silence": "empty"}  # fmt: skip
"""Short names of sections."""
_WITH_PREVIOUS = ("shortcut", "scale_channels", "sam")
"""Layers that take the one before and those under `from`."""


def import_darknet(
    source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None, *, weights: Any = None,
    with_anchors: bool = False,
) -> ImportedModel:  # fmt: skip
    """Import a network: the path of its `.cfg`; `weights` is that of its numbers, by default the file beside it.

    A network of layers without weights needs none.
    `with_anchors` gives the results and the named weights of TVM's importer. Raises LaminaError.
    """
    path = path_of(source, "weights")
    _described(path)
    second = path_of(weights, "weights") if weights is not None else same_stem(path, ".weights")
    numbers = None if second is None else Weights(second)
    network = read_network(path, shapes, numbers, with_anchors)
    imported = import_network(network, TABLE, shapes, max_tensor_bytes, named_weights=with_anchors)
    if numbers is not None:
        numbers.finish()
    return imported


def read_network(
    source: Any, shapes: Shapes | None = None, weights: Weights | None = None, with_anchors: bool = False
) -> Network:
    """Read the text of a network; its layers take the weights in the order in which they are imported."""
    path = path_of(source, "weights")
    _described(path)
    label = printable(str(path))
    first, *layers = sections_of(text_of(path), label)
    nodes: list[NetworkNode] = []
    for section in layers:
        nodes.append(_layer(section, nodes, weights))
    if not nodes:
        raise InputError("has no layers", where=label, hint="is the file whole?")
    taken = {name for node in nodes for name in node.inputs}
    results = {node.name: node.name for node in nodes if node.name not in taken}
    if with_anchors:
        results = _as_tvm(nodes)
    return Network.named(label, [_input(first, shapes or {})], nodes, results, {})


def _described(path: Any) -> None:
    if path.suffix != ".weights":
        return
    found = same_stem(path, ".cfg")
    hint = "give the .cfg of the network" if found is None else f"give {found.name}"
    raise InputError("holds weights without the network", where=printable(str(path)), hint=hint)


def _input(section: LayerOptions, shapes: Shapes) -> Port:
    """The port of the images; a network without connected layers takes them in any size."""
    extents = [section.int(key) for key in ("channels", "height", "width")]
    if not any(extents[1:]):
        extents = [section.int("inputs")]
    given = shapes.get(INPUT)
    if len(extents) == 3 and isinstance(given, (list, tuple)) and len(given) == 4:
        extents = [extents[0], *given[2:]]
    if not all(0 < e <= LARGEST for e in extents):
        raise InputError(f"an input has the extents {extents}", where=section.where, hint="give width and height")
    return Port(INPUT, (-1, *extents), "float32")


def _layer(section: LayerOptions, before: Sequence[NetworkNode], weights: Weights | None) -> NetworkNode:
    op, index = _NAMES.get(section.name, section.name), len(before)
    previous = before[-1].name if before else INPUT
    if op == "route":
        inputs = [before[place].name for place in _places(section, "layers", index)]
    elif op in _WITH_PREVIOUS:
        inputs = [previous, *(before[place].name for place in _places(section, "from", index))]
    else:
        inputs = [previous]
    name = f"{op}_{index}"
    return NetworkNode(op, name, tuple(inputs), (name,), {"section": section, "weights": weights}, section.line)


def _places(section: LayerOptions, key: str, index: int) -> list[int]:
    """The numbers of other layers: those below zero count from this one."""
    found = [n if n >= 0 else index + n for n in section.ints(key)]
    if not found:
        raise InputError(f"has no {key}", where=section.where)
    if wrong := [n for n in found if not 0 <= n < index]:
        raise InputError(f"{key}: there is no layer {wrong[0]} before layer {index}", where=section.where)
    return found


def _as_tvm(nodes: list[NetworkNode]) -> dict[str, str]:
    """The results in the order of TVM's importer: the last layer, and behind each head its anchors and sizes.

    Of a yolo layer `mask`, `bias` and `attr` follow, of a region layer `bias` and `attr`; the heads stand last first.
    """
    last = nodes[-1].name
    results = {last: last}
    behind: list[NetworkNode] = []
    for node in reversed([n for n in nodes if n.op in ("yolo", "region")]):
        parts = tuple(f"{node.name}.{part}" for part in ("mask", "bias", "attr") if node.op == "yolo" or part != "mask")
        behind.append(NetworkNode(HEAD, node.name, (node.name,), parts, node.attributes, node.index))
        results.update({name: name for name in (node.name, *parts)})
    nodes += behind
    return results

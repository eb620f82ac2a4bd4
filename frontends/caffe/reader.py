"""The layers of a network that take part when it is used, in their order, each blob under a name of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, UnsupportedError, printable, shown
from lamina.frontends.caffe.blobs import blobs_of
from lamina.frontends.caffe.text_format import TextMessage, parse_text
from lamina.frontends.companion import bytes_of, path_of, same_stem, text_of
from lamina.frontends.formats import Shapes
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.network import ConverterTable, Network, NetworkNode, import_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = ConverterTable("caffe")
MOST_LAYERS = 10_000
_V1 = {"ABSVAL": "AbsVal", "BNLL": "BNLL", "LRN": "LRN", "MVN": "MVN", "RELU": "ReLU", "TANH": "TanH",
       "ARGMAX": "ArgMax", "SOFTMAX_LOSS": "SoftmaxWithLoss", "HDF5_DATA": "HDF5Data"}  # fmt: skip
"""Types of the form before 2014 that are not as others: INNER_PRODUCT is InnerProduct."""
_DATA = ("Data", "ImageData", "HDF5Data", "MemoryData", "WindowData", "DummyData", "AnnotatedData", "VideoData")
_TRAINING = ("Accuracy", "HDF5Output", "DetectionEvaluate")
"""Layers beside losses that count in training and tests only."""
_DEPLOY = "give the network for use (deploy.prototxt): it has an input in the place of data layers, and no losses"


def import_caffe(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a network: the path of its `.prototxt`; a network of layers without weights is all of it.

    Raises LaminaError.
    """
    path, text = described_at(source)
    second = same_stem(path, ".caffemodel")
    blobs = None if second is None else blobs_of(bytes_of(second), printable(str(second)))
    return import_network(read_network(text, str(path), shapes, blobs), TABLE, shapes, max_tensor_bytes)


def described_at(source: Any) -> tuple[Path, str]:
    """The path and the text of a network."""
    path = path_of(source, "weights")
    if path.suffix == ".caffemodel":
        found = same_stem(path, ".prototxt")
        hint = "give the .prototxt of the network" if found is None else f"give {found.name}"
        raise InputError("holds weights without the network", where=printable(str(path)), hint=hint)
    return path, text_of(path)


def read_network(
    text: str, label: str, shapes: Shapes | None = None, blobs: Mapping[str, list[NDArray[Any]]] | None = None
) -> Network:
    """Read the text of a network; `blobs` are the weights of layers by name, None where no file has them."""
    label = printable(label)
    net = parse_text(text, label)
    layers = [(m, m.word("type")) for m in net.messages("layer")]
    layers += [(m, _of_v1(m)) for m in net.messages("layers")]
    if len(layers) > MOST_LAYERS:
        raise InputError(f"has more than {MOST_LAYERS} layers", where=label)
    used = [(m, kind) for m, kind in layers if _is_used(m)]
    if not used:
        raise InputError("has no layers", where=label, hint="is it a network of Caffe?")
    return _Graph(label, shapes or {}, blobs).network(net, used)


def _of_v1(layer: TextMessage) -> str:
    if layer.messages("layer"):
        raise UnsupportedError("is of the form before 2013", where=layer.where, hint="upgrade_net_proto_text of Caffe")
    kind = layer.word("type")
    return _V1.get(kind, "".join(part.capitalize() for part in kind.split("_")))


def _is_used(layer: TextMessage) -> bool:
    """Whether a layer takes part at the phase TEST, at level 0 without a stage."""

    def holds(rule: TextMessage) -> bool:
        return (
            rule.word("phase", "TEST") in ("TEST", "1")
            and rule.int("min_level", 0) <= 0 <= rule.int("max_level", 0)
            and not rule.words("stage")
        )

    include, exclude = layer.messages("include"), layer.messages("exclude")
    if layer.word("phase", "TEST") not in ("TEST", "1"):
        return False
    return any(map(holds, include)) if include else not any(map(holds, exclude))


def _refusal(kind: str) -> str:
    if kind in _DATA:
        return f"reads data; {_DEPLOY}"
    if kind in _TRAINING or kind.endswith("Loss"):
        return f"is for training; {_DEPLOY}"
    return ""


class _Graph:
    """Layers may write a blob that they take: each time it gets another name."""

    def __init__(self, label: str, shapes: Shapes, blobs: Mapping[str, list[NDArray[Any]]] | None) -> None:
        self.label = label
        self.shapes = shapes
        self.blobs = blobs
        self.current: dict[str, str] = {}
        """The value of each blob at this place."""
        self.taken: set[str] = set()
        self.inputs: list[Port] = []

    def network(self, net: TextMessage, layers: Sequence[tuple[TextMessage, str]]) -> Network:
        """The whole network."""
        self._old_inputs(net)
        nodes: list[NetworkNode] = []
        for index, (layer, kind) in enumerate(layers):
            if kind == "Input":
                given = [m.ints("dim") for m in layer.message("input_param").messages("shape")]
                tops = layer.words("top")
                for k, top in enumerate(tops):
                    if not given:
                        raise InputError(f"the input {shown(top)} has no shape", where=layer.where)
                    self._input(top, given[min(k, len(given) - 1)])
            elif kind != "Silence":
                nodes.append(self._node(layer, kind, index))
            else:
                self.taken.update(self.current.get(name, "") for name in layer.words("bottom"))
        results = {blob: value for blob, value in self.current.items() if value not in self.taken}
        if not results:
            raise InputError("has no output", where=self.label)
        return Network.named(self.label, self.inputs, nodes, results, {})

    def _old_inputs(self, net: TextMessage) -> None:
        names = net.words("input")
        shapes = [m.ints("dim") for m in net.messages("input_shape")]
        dims = net.ints("input_dim")
        shapes = shapes or [dims[k : k + 4] for k in range(0, len(dims), 4)]
        if len(shapes) < len(names):
            raise InputError(f"{len(names)} inputs have {len(shapes)} shapes", where=self.label)
        for name, shape in zip(names, shapes, strict=False):
            self._input(name, shape)

    def _input(self, name: str, shape: Sequence[int]) -> None:
        """An input; the user may give another shape of the same rank, as Caffe's reshape does."""
        given = self.shapes.get(name)
        if isinstance(given, (list, tuple)) and len(given) == len(shape):
            shape = given
        if any(p.name == name for p in self.inputs):
            raise InputError(f"the input {shown(name)} is there twice", where=self.label)
        self.inputs.append(Port(name, tuple(shape), "float32"))
        self.current[name] = name

    def _node(self, layer: TextMessage, kind: str, index: int) -> NetworkNode:
        name = layer.word("name") or f"{kind}_{index}"
        inputs: list[str] = []
        for bottom in layer.words("bottom"):
            if bottom not in self.current:
                raise InputError(f"takes the blob {shown(bottom)}, which no layer gives", where=layer.where)
            inputs.append(self.current[bottom])
        tops = layer.words("top")
        self.taken.update(inputs)
        outputs = tuple(top if top not in self.current else f"{top}/{name}/{index}" for top in tops)
        self.current.update(zip(tops, outputs, strict=True))
        attributes = {"layer": layer, "blobs": None if self.blobs is None else self.blobs.get(name, [])}
        return NetworkNode(kind, name, tuple(inputs), outputs, attributes, index, _refusal(kind))

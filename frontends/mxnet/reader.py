"""A symbol as a network: nodes of operators, and variables that are inputs or weights."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, LaminaError, UnsupportedError, printable, shown
from lamina.frontends.companion import no_weights, path_of, text_of
from lamina.frontends.formats import Shapes
from lamina.frontends.imported import ImportedModel, Port
from lamina.frontends.mxnet.arrays import DTYPES, arrays_at, params_beside
from lamina.frontends.mxnet.attributes import TextAttributes
from lamina.frontends.network import ConverterTable, Network, NetworkNode, import_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE = ConverterTable("mxnet")
MOST_NODES = 30_000
_LABELLED = ("SoftmaxOutput", "Softmax", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput",
             "SVMOutput", "MakeLoss")  # fmt: skip
"""Operators whose second input is a label, which counts in training only."""


def import_mxnet(source: Any, shapes: Shapes | None = None, max_tensor_bytes: int | None = None) -> ImportedModel:
    """Import a symbol and its arrays: the path of its JSON. Raises LaminaError."""
    path, text = described_at(source)
    second = params_beside(path)
    if second is None:
        raise no_weights(path, path.name.replace("-symbol.json", "") + "-0000.params")
    weights = {name.partition(":")[2] or name: array for name, array in arrays_at(second).items()}
    network = read_symbol(text, str(path), shapes or {}, weights)
    return import_network(network, TABLE, shapes, max_tensor_bytes)


def described_at(source: Any) -> tuple[Path, str]:
    """The path and the text of a symbol."""
    path = path_of(source, "weights")
    if path.suffix == ".params":
        found = sorted(path.parent.glob("*-symbol.json"))
        hint = f"give {found[0].name}" if len(found) == 1 else "give the -symbol.json of the network"
        raise InputError("holds weights without the network", where=printable(str(path)), hint=hint)
    return path, text_of(path)


def read_symbol(
    text: str, label: str, shapes: Shapes | None = None, weights: Mapping[str, NDArray[Any]] | None = None,
    dtypes: Mapping[str, str] | None = None,
) -> Network:  # fmt: skip
    """Read the JSON of a symbol. Without `shapes` inputs have none, and the network is good for a report only."""
    label = printable(label)
    try:
        graph = _Symbol(json.loads(text), label)
        return graph.network(shapes, weights or {}, dtypes or {})
    except LaminaError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as e:
        what = f"is no symbol of MXNet: {type(e).__name__}: {e}"
        raise InputError(what[:200].replace("\n", " "), where=label, hint="is the file whole?") from None


class _Symbol:
    def __init__(self, graph: Any, label: str) -> None:
        self.label = label
        self.nodes: list[Any] = graph["nodes"]
        if len(self.nodes) > MOST_NODES:
            raise InputError(f"has more than {MOST_NODES} nodes", where=label)
        self.heads: list[Any] = graph["heads"]
        if not self.heads:
            raise InputError("has no output", where=label)
        self.names: list[str] = [str(n["name"]) for n in self.nodes]
        self.count = Counter(self.names)
        if any(self.count[n] > 1 and m["op"] == "null" for n, m in zip(self.names, self.nodes, strict=True)):
            raise InputError("has two variables of one name", where=label)

    def _attributes(self, node: Any) -> dict[str, str]:
        """Versions before 1.0 have `attr` for the user and `param` for the operator, later ones `attrs` for both."""
        found: dict[str, str] = {}
        for key in ("attr", "param", "attrs"):
            found.update({str(k): str(v) for k, v in node.get(key, {}).items()})
        return found

    def _value(self, entry: Any) -> str:
        """The name of a result: of a node by its place, as two may have one name."""
        index, output = int(entry[0]), int(entry[1])
        if not 0 <= index < len(self.nodes) or not 0 <= output < 4096:
            raise InputError(f"there is no node {index}", where=self.label)
        return self._named(index, output)

    def _named(self, index: int, output: int) -> str:
        name = self.names[index] if self.count[self.names[index]] == 1 else f"#{index}"
        return f"{name}#{output}" if output else name

    def network(self, shapes: Shapes | None, weights: Mapping[str, NDArray[Any]], dtypes: Mapping[str, str]) -> Network:
        """The whole network; inputs are the variables that have no array and are taken."""
        used = [0] * len(self.nodes)
        inputs: list[list[Any]] = []
        for index, node in enumerate(self.nodes):
            given = [] if node["op"] == "null" else list(node["inputs"])
            given = given[:1] if node["op"] in _LABELLED else given
            if any(not 0 <= int(entry[0]) < index for entry in given):
                raise InputError(f"takes what is not there yet: node {shown(self.names[index])}", where=self.label)
            inputs.append(given)
            for entry in given:
                used[int(entry[0])] = max(used[int(entry[0])], int(entry[1]) + 1)
        for entry in self.heads:
            self._value(entry)
            used[int(entry[0])] = max(used[int(entry[0])], int(entry[1]) + 1)
        ports: list[Port] = []
        held: dict[str, NDArray[Any]] = {}
        nodes: list[NetworkNode] = []
        for index, node in enumerate(self.nodes):
            name, attributes = self.names[index], self._attributes(node)
            if node["op"] != "null":
                outputs = tuple(self._named(index, k) for k in range(min(max(used[index], 1), 4096)))
                taken = tuple(self._value(entry) for entry in inputs[index])
                nodes.append(NetworkNode(str(node["op"]), name, taken, outputs, attributes, index))
            elif name in weights:
                held[name] = weights[name]
            elif used[index]:
                ports.append(self._port(name, attributes, shapes, dtypes))
        results = {self._result(entry): self._value(entry) for entry in self.heads}
        return Network.named(self.label, ports, nodes, results, held)

    def _result(self, entry: Any) -> str:
        """The name of an output, as MXNet's list_outputs has it but for its `_output`."""
        index, output = int(entry[0]), int(entry[1])
        several = sum(int(e[0]) == index for e in self.heads) > 1
        return f"{self.names[index]}_{output}" if several else self.names[index]

    def _port(self, name: str, attributes: dict[str, str], shapes: Shapes | None, dtypes: Mapping[str, str]) -> Port:
        attrs = TextAttributes(NetworkNode("null", name, (), (), attributes))
        kind = int(attrs.word("__dtype__", "0"))
        dtype = dtypes.get(name) or (DTYPES[kind] if 0 <= kind < len(DTYPES) else "float32")
        if shapes is None:
            return Port(name, (), dtype)
        given = shapes.get(name)
        shape = tuple(given) if isinstance(given, (list, tuple)) else attrs.ints("__shape__")
        if not shape or min(shape) < 0 or given is None and 0 in shape:
            hint = f"give it: --shape {name}=1,3,224,224"
            raise UnsupportedError(f"the input {shown(name)} has no shape", where=self.label, hint=hint)
        return Port(name, tuple(int(e) for e in shape), dtype)

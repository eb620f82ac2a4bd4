"""Files and folders of TensorFlow's as networks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lamina.errors import InputError, LaminaError, UnsupportedError, printable
from lamina.frontends.network import Network
from lamina.frontends.protobuf import Message
from lamina.frontends.tensor_builder import UNFIT
from lamina.frontends.tensorflow.graph import Graph, chosen
from lamina.frontends.wire_format import Odd

MOST_BYTES = 1 << 31
"""Bytes of a message: more than protobuf writes."""
FREEZE = "tf.io.write_graph(graph_def, FOLDER, FILE, as_text=False) writes it in binary form"


def read_network(source: Any, shapes: Mapping[str, Any] | None = None, outputs: Sequence[str] | None = None) -> Network:
    """The network of a GraphDef: a path or bytes. Raises LaminaError."""
    label = "model" if isinstance(source, (bytes, memoryview)) else printable(os.fspath(source))
    try:
        return _network(source, label, shapes, outputs)
    except LaminaError:
        raise
    except (Odd, RecursionError, OSError, *UNFIT) as e:
        what = f"is no graph of TensorFlow: {str(e) or 'the bytes are no message'}"
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


def _network(source: Any, label: str, shapes: Mapping[str, Any] | None, outputs: Sequence[str] | None) -> Network:
    if isinstance(source, (bytes, memoryview)):
        data = source
    else:
        path = Path(source)
        if path.name.endswith(".pbtxt"):
            raise UnsupportedError("is a graph in text form", where=label, hint=FREEZE)
        data = whole(path, label)
    graph = Graph(Message(data), label)
    if not graph.nodes:
        raise InputError("the graph has no nodes", where=label, hint="is the file whole?")
    return graph.network(chosen(graph, outputs), shapes=shapes)


def whole(path: Path, label: str) -> bytes:
    """The bytes of a file. Raises InputError where it cannot be read or is too large."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path.name} has more than {MOST_BYTES} bytes", where=label)
        return path.read_bytes()
    except OSError as e:
        raise InputError(f"cannot be read: {e.strerror}", where=label) from None

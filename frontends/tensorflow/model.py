"""Files and folders of TensorFlow's as networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lamina.errors import InputError, LaminaError, UnsupportedError, UsageError, printable
from lamina.frontends.network import Network
from lamina.frontends.protobuf import Message
from lamina.frontends.tensor_builder import UNFIT
from lamina.frontends.tensorflow.graph import GraphDef, chosen
from lamina.frontends.tensorflow.saved_model import saved_network
from lamina.frontends.wire_format import Odd

MOST_BYTES = 1 << 31
"""Bytes of a message: more than protobuf writes."""
SAVED_MODEL = "saved_model.pb"
BEGIN = b"\x08\1\x12"
"""A SavedModel: field 1, the version of its schema, is 1; a graph follows."""
FREEZE = "tf.io.write_graph(graph_def, FOLDER, FILE, as_text=False) writes it in binary form"


def read_network(source: Any, shapes: Mapping[str, Any] | None = None, outputs: Sequence[str] | None = None) -> Network:
    """The network of a GraphDef or a SavedModel: a path or bytes. Raises LaminaError."""
    label = "model" if isinstance(source, bytes) else printable(str(source))
    try:
        return _network(source, label, shapes, outputs)
    except LaminaError:
        raise
    except (Odd, RecursionError, OSError, *UNFIT) as e:
        what = f"is no graph of TensorFlow: {str(e) or 'the bytes are no message'}"
        raise InputError(what[:200], where=label, hint="is the file whole?") from None


def _network(source: Any, label: str, shapes: Mapping[str, Any] | None, outputs: Sequence[str] | None) -> Network:
    folder: Path | None = None
    if isinstance(source, bytes):
        data = source
    else:
        path = Path(source)
        if path.is_dir():
            binary = path / SAVED_MODEL
            path = binary if binary.is_file() else binary.with_suffix(".pbtxt")
        if path.name.endswith(".pbtxt"):
            raise UnsupportedError("is a graph in text form", where=label, hint=FREEZE)
        folder, data = path.parent, whole(path, label)
    message = Message(data)
    if data[: len(BEGIN)] == BEGIN:
        if outputs:
            raise UsageError("the signature says the outputs of a SavedModel", where=label)
        return saved_network(message, folder, label, shapes)
    graph = GraphDef(message, label)
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

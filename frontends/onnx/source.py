"""Reads a model: from a path, bytes or a ModelProto to a ModelProto that is whole and of a version we know."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto

from lamina.dialects.relay.params import array_digest
from lamina.errors import InputError, UnsupportedError, printable, shown
from lamina.frontends.wire_format import Odd, fields, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

Source: TypeAlias = "str | os.PathLike[str] | bytes | ModelProto"

OLDEST_OPSET = 1
NEWEST_OPSET: int = onnx.defs.onnx_opset_version()
OLDEST_IR = 3
NEWEST_IR: int = int(onnx.IR_VERSION)
# protobuf refuses messages nested deeper than 100; a subgraph takes four levels.
DEEPEST_SUBGRAPH = 24


@dataclass(frozen=True)
class ModelSource:
    """A parsed model, the name it has in messages, and the folder its external data must be in."""

    model: ModelProto
    label: str
    folder: Path | None
    apart: Mapping[str, Future[NDArray[np.uint8]]] = field(default_factory=dict[str, "Future[NDArray[np.uint8]]"])
    """The bytes of initialisers that the message is without."""
    digests: Mapping[tuple[str, tuple[int, ...]], Future[str]] = field(
        default_factory=dict[tuple[str, tuple[int, ...]], "Future[str]"]
    )
    """The digests of those that are float32, by name and shape."""


def check_text(names: Iterable[Any], where: str) -> None:
    """Raise InputError for a name that is not UTF-8: protobuf gives it as bytes."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the name {name[:60]!r} is not UTF-8", where=where, hint="export the model again")


def read_model(source: Source, apart: bool = False) -> ModelSource:
    """Parse and check versions. Raises LaminaError for anything that is no usable ONNX model.

    With `apart` the message of a model from a file is without its large weights, which are being read meanwhile.
    """
    if isinstance(source, ModelProto):
        return _checked(ModelSource(source, source.graph.name.split("/")[-1][:40] or "model", None))
    if isinstance(source, bytes):
        return _checked(ModelSource(_parse(source, "model"), "model", None))
    path = Path(source)
    if "\0" in str(path):
        raise InputError("the file name contains a NUL character", where=shown(str(path)))
    try:
        if path.is_dir():
            raise InputError("is a folder, not an ONNX file", where=str(path))
        data, weights, pool = _read_apart(path) if apart else (path.read_bytes(), {}, None)
    except OSError as e:
        raise InputError(f"cannot read the model: {e.strerror or e}", where=str(path)) from None
    label = printable(path.name)
    try:
        model = _parse(data, label)
        digests = _digests(model, weights, pool) if pool is not None else {}
    finally:
        if pool is not None:
            pool.shutdown(wait=False)
    return _checked(ModelSource(model, label, path.resolve().parent, weights, digests))


APART_FROM = 1 << 20
"""Bytes of a file whose weights are read apart."""


def _read_apart(path: Path) -> tuple[bytes, dict[str, Future[NDArray[np.uint8]]], ThreadPoolExecutor | None]:
    """A file's message without its large weights, these, and who reads them. Raises OSError."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size < APART_FROM or not hasattr(os, "preadv"):
            return file.read(), {}, None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as view:
            data, spans = split(view)
        if not spans:
            return data, {}, None
        handle = os.dup(file.fileno())
    # One reads while the other computes a digest: both wait for memory more than they work.
    pool = ThreadPoolExecutor(2, "lamina-read")
    found = {name: pool.submit(_read_span, handle, *span, path.name) for name, span in spans.items()}
    pool.submit(_close_after, handle, [*found.values()])
    return data, found, pool


def _digests(
    model: ModelProto, apart: Mapping[str, Future[NDArray[np.uint8]]], pool: ThreadPoolExecutor
) -> dict[tuple[str, tuple[int, ...]], Future[str]]:
    """Have the digests of weights computed behind their reader, while the graph is imported."""
    found: dict[tuple[str, tuple[int, ...]], Future[str]] = {}
    for tensor in model.graph.initializer:
        weight = apart.get(tensor.name)
        if weight is not None and tensor.data_type == TensorProto.FLOAT:
            shape = tuple(tensor.dims)
            found[tensor.name, shape] = pool.submit(_digest_of, weight, shape)
    return found


def _digest_of(weight: Future[NDArray[np.uint8]], shape: tuple[int, ...]) -> str:
    return array_digest(np.frombuffer(weight.result(), np.float32).reshape(shape))


def _close_after(handle: int, reads: Sequence[Future[Any]]) -> None:
    wait(reads)
    os.close(handle)


def _read_span(handle: int, start: int, end: int, label: str) -> NDArray[np.uint8]:
    """A part of a file in an array of its own, aligned as any element wants it."""
    array = np.empty(end - start, np.uint8)
    done = 0
    while done < end - start:
        count = os.preadv(handle, [array.data[done:]], start + done)
        if not count:
            raise InputError("the file was cut while it was read", where=label, hint="compile it when it is written")
        done += count
    return array


def _parse(data: bytes, label: str) -> ModelProto:
    model = ModelProto()
    hint = "export the model again, or check that the file was copied completely"
    try:
        model.ParseFromString(data)
    except DecodeError:
        if nesting(data) > DEEPEST_SUBGRAPH:
            raise UnsupportedError(
                f"subgraphs are nested deeper than {DEEPEST_SUBGRAPH}", where=label, hint="flatten the control flow"
            ) from None
        raise InputError(f"not a whole ONNX file ({len(data)} bytes)", where=label, hint=hint) from None
    if not data:
        raise InputError("not a whole ONNX file (0 bytes)", where=label, hint=hint)
    return model


def _checked(source: ModelSource) -> ModelSource:
    model, label = source.model, source.label
    hint = "export the model again, or check that the file was copied completely"
    if not model.ir_version:
        raise InputError("not a whole ONNX file: it states no ir_version", where=label, hint=hint)
    if not OLDEST_IR <= model.ir_version <= NEWEST_IR:
        raise UnsupportedError(
            f"ONNX IR version {model.ir_version} is not supported",
            where=label,
            hint=f"versions {OLDEST_IR} to {NEWEST_IR} are",
        )
    if not model.HasField("graph"):
        raise InputError("not a whole ONNX file: it has no graph", where=label, hint=hint)
    if not model.opset_import:
        raise InputError("the model imports no operator set", where=label, hint=hint)
    opset_versions(model.opset_import, label)
    return source


def opset_versions(imports: Any, label: str) -> dict[str, int]:
    """Domain -> version; the standard domain is "". Raises UnsupportedError for a version outside the known range."""
    versions: dict[str, int] = {}
    for entry in imports:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions[domain] = entry.version
        if not domain and not OLDEST_OPSET <= entry.version <= NEWEST_OPSET:
            raise UnsupportedError(
                f"opset {entry.version} is not supported",
                where=label,
                hint=f"opsets {OLDEST_OPSET} to {NEWEST_OPSET} are; convert the model with onnx.version_converter",
            )
    return versions


# -- depth of nested subgraphs, read from the wire without a parser --------------------------------

# The fields that lead from a graph to a graph in it: GraphProto.node, NodeProto.attribute, AttributeProto.g.
_DOWN = (7, 1, 5, 6)


def nesting(data: bytes) -> int:
    """The depth of nested subgraphs along the chain of each level's last branch; 0 for what is no ONNX model."""
    depth, begin, end, level = 0, 0, len(data), 0
    while True:
        field = _DOWN[0] if level == 0 else _DOWN[1 + (level - 1) % 3]
        found = _last_field(data, begin, end, field)
        if found is None:
            return depth
        begin, end = found
        level += 1
        if level > 1 and (level - 1) % 3 == 0:
            depth += 1


def _last_field(data: bytes, begin: int, end: int, field: int) -> tuple[int, int] | None:
    """The bounds in bytes of a message's field of this number: of several the longest, the one with something in it."""
    best: tuple[int, int] | None = None
    try:
        for f in fields(data, begin, end):
            if f.number == field and f.kind == 2 and (best is None or f.end - f.payload >= best[1] - best[0]):
                best = f.payload, f.end
    except Odd:
        pass  # what was cut off is not asked for
    return best

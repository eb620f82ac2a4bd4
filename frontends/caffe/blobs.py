"""The blobs of a `.caffemodel`: a NetParameter as protobuf writes it, of which names and weights are read.

Numbers of fields are those of caffe.proto: layers of the form since 2014 and of the one before it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import InputError
from lamina.frontends.wire_format import Field, Odd, fields, varint

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAYER, LAYERS = 100, 2
"""NetParameter.layer and NetParameter.layers."""
_NAME_AND_BLOBS = {LAYER: (1, 7), LAYERS: (4, 6)}
DATA, SHAPE, DOUBLE_DATA = 5, 7, 8
"""BlobProto; 1 to 4 are the extents of an old one."""
_SINGLE = {5: ("<f4", 5), 8: ("<f8", 1)}
MOST_SINGLE = 1 << 16
"""Numbers of a blob that have a field each, as no writer of Caffe's leaves them."""


def blobs_of(data: NDArray[np.uint8], label: str) -> dict[str, list[NDArray[Any]]]:
    """The blobs of each layer by its name, float32. Raises InputError for what is no model of Caffe."""
    found: dict[str, list[NDArray[Any]]] = {}
    view: memoryview = data.data
    try:
        for layer in fields(view, 0, len(view)):
            if layer.number not in _NAME_AND_BLOBS:
                continue
            if layer.kind != 2:
                raise Odd
            name_field, blobs_field = _NAME_AND_BLOBS[layer.number]
            name, blobs = "", list[Any]()
            for f in fields(view, layer.payload, layer.end):
                if f.number == name_field and f.kind == 2:
                    name = bytes(view[f.payload : f.end]).decode("utf-8", "replace")
                elif f.number == blobs_field and f.kind == 2:
                    blobs.append(_blob(data, view, f, f"{label}: {name[:80]!r}"))
            if blobs:
                found[name] = blobs
    except Odd:
        raise InputError("is no model of Caffe", where=label, hint="is the file whole?") from None
    return found


def _blob(data: NDArray[np.uint8], view: memoryview, blob: Field, where: str) -> NDArray[Any]:
    parts: list[NDArray[Any]] = []
    old = [0, 0, 0, 0]
    shape: list[int] | None = None
    single = 0
    for f in fields(view, blob.payload, blob.end):
        if f.number in _SINGLE:
            dtype, kind = _SINGLE[f.number]
            if f.kind not in (2, kind) or (f.end - f.payload) % int(dtype[-1]):
                raise Odd
            single += f.kind != 2
            if single > MOST_SINGLE:
                raise InputError("has a field for each of its numbers", where=where, hint="write it with Caffe")
            parts.append(data[f.payload : f.end].view(dtype))
        elif f.number == SHAPE and f.kind == 2:
            shape = _extents(view, f)
        elif 1 <= f.number <= 4 and f.kind == 0:
            old[f.number - 1] = varint(view, f.payload, f.end)[0]
    shape = old if shape is None else shape
    values = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, "<f4")
    if prod(shape) != values.size:
        what = f"a blob of shape {shape[:8]} has {values.size} numbers"
        raise InputError(what, where=where, hint="is the file whole?")
    return values.astype(np.float32, copy=False).reshape(shape)


def _extents(view: memoryview, shape: Field) -> list[int]:
    found: list[int] = []
    for f in fields(view, shape.payload, shape.end):
        position = f.payload
        while f.number == 1 and f.kind in (0, 2) and position < f.end:
            extent, position = varint(view, position, f.end)
            found.append(extent)
    if len(found) > 32 or any(e >= 1 << 40 for e in found):
        raise Odd
    return found

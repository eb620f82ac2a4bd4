"""Sparse tensors: levels of dense or compressed axes over blocks (F. Kjolstad et al., The tensor algebra compiler)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import InputError
from lamina.frontends.tflite.graph import TfliteTensor
from lamina.frontends.tflite.schema import names, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

SPARSEST = 64
"""A tensor has at most so many bytes for each byte of its file."""
_DENSE, _COMPRESSED = 0, 1


def dense_of(
    sparsity: Any, raw: NDArray[np.uint8], tensor: TfliteTensor, dtype: np.dtype[Any],
    count: Callable[[Any, str], int], file_bytes: int, where: str,
) -> NDArray[Any]:  # fmt: skip
    """All elements of a tensor of which the file has those that are not zero. Raises InputError where they do not fit.

    The axes in `traversal_order` are those of the tensor and then those within blocks; `block_map` says which axis of
    the tensor each of the latter belongs to.
    """

    def fail(what: str) -> InputError:
        return InputError(f"its sparsity does not fit: {what}", where=where, hint="is the file whole?")

    def vector(name: str) -> list[int]:
        return [int(v) for v in getattr(sparsity, f"{name}AsNumpy")()] if count(sparsity, name) else []

    shape, rank = tensor.shape, len(tensor.shape)
    if prod(shape) * dtype.itemsize > SPARSEST * file_bytes:
        raise fail(f"{list(shape)} has more than {SPARSEST} bytes for each one of the file")
    order, blocks = vector("TraversalOrder"), vector("BlockMap")
    levels = [sparsity.DimMetadata(k) for k in range(count(sparsity, "DimMetadata"))]
    if sorted(order) != list(range(rank + len(blocks))) or len(levels) != len(order):
        raise fail(f"{len(levels)} levels, {len(order)} axes in order")
    if any(not 0 <= a < rank for a in blocks):
        raise fail(f"the block map {blocks}")
    sizes = [1] * len(order)  # of the axes, those in blocks among them
    for axis, level in zip(order, levels, strict=True):
        if axis >= rank:
            sizes[axis] = int(level.DenseSize())
    for axis in range(rank):
        size = prod(sizes[rank + k] for k, a in enumerate(blocks) if a == axis)
        if size < 1 or shape[axis] % size:
            raise fail(f"blocks of {size} on an axis of {shape[axis]}")
        sizes[axis] = shape[axis] // size
    values = raw[: raw.size // dtype.itemsize * dtype.itemsize].view(dtype)
    places = _places(levels, [sizes[a] for a in order], count, values.size, fail)
    index = [np.zeros(values.size, np.int64)] * rank
    found = {axis: column for axis, column in zip(order, places, strict=True)}
    for axis in range(rank):
        column = found[axis]
        for k, a in enumerate(blocks):
            if a == axis:
                column = column * sizes[rank + k] + found[rank + k]
        index[axis] = column
    result = np.zeros(shape, dtype)
    result[tuple(index)] = values
    return result


def _places(
    levels: list[Any], sizes: list[int], count: Callable[[Any, str], int], elements: int,
    fail: Callable[[str], InputError],
) -> list[Ints]:  # fmt: skip
    """The place of each element on the axis of each level."""
    columns: list[Ints] = []
    paths = 1
    for level, size in zip(levels, sizes, strict=True):
        if int(level.Format()) == _DENSE:
            if int(level.DenseSize()) != size:
                raise fail(f"a level of {level.DenseSize()}, the axis has {size}")
            columns = [np.repeat(c, size) for c in columns]
            columns.append(np.tile(np.arange(size), paths))
            paths *= size
            continue
        segments = _indices(level.ArraySegments(), int(level.ArraySegmentsType()), count)
        indices = _indices(level.ArrayIndices(), int(level.ArrayIndicesType()), count)
        lengths = np.diff(segments)
        if segments.size != paths + 1 or segments[0] or np.any(lengths < 0) or segments[-1] != indices.size:
            raise fail(f"{segments.size} segments for {paths} rows")
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < size:
            raise fail(f"a place outside of an axis of {size}")
        columns = [np.repeat(c, lengths) for c in columns]
        columns.append(indices)
        paths = indices.size
    if paths != elements:
        raise fail(f"{elements} elements, {paths} places")
    return columns


def _indices(union: Any, kind: int, count: Callable[[Any, str], int]) -> Ints:
    name = names("SparseIndexVector").get(kind, "NONE")
    if union is None or name == "NONE":
        return np.zeros(0, np.int64)
    vector = table(name)()
    vector.Init(union.Bytes, union.Pos)
    return vector.ValuesAsNumpy().astype(np.int64) if count(vector, "Values") else np.zeros(0, np.int64)

"""Sparse constants are laid out as LiteRT lays them out; what does not fit is refused."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check, draw  # noqa: E402
from tflite_build import Graph, Op, T, build  # noqa: E402

import lamina  # noqa: E402
from lamina.errors import InputError  # noqa: E402

Level = int | tuple[Sequence[int], Sequence[int]]
"""The extent of a dense level, or the segments and the places of a compressed one."""


def sparsity(order: Sequence[int], levels: Sequence[Level], blocks: Sequence[int] = ()) -> Callable[[Any], int]:
    """What writes the table SparsityParameters."""

    def vector(b: Any, values: Sequence[int]) -> int:
        m: Any = import_module("tflite.Int32Vector")
        numbers = b.CreateNumpyVector(np.asarray(values, np.int32))
        m.Int32VectorStart(b)
        m.Int32VectorAddValues(b, numbers)
        return m.Int32VectorEnd(b)

    def level(b: Any, given: Level) -> int:
        m: Any = import_module("tflite.DimensionMetadata")
        parts = [] if isinstance(given, int) else [vector(b, v) for v in given]
        m.DimensionMetadataStart(b)
        m.DimensionMetadataAddFormat(b, int(bool(parts)))
        if isinstance(given, int):
            m.DimensionMetadataAddDenseSize(b, given)
        else:
            m.DimensionMetadataAddArraySegmentsType(b, 1)
            m.DimensionMetadataAddArraySegments(b, parts[0])
            m.DimensionMetadataAddArrayIndicesType(b, 1)
            m.DimensionMetadataAddArrayIndices(b, parts[1])
        return m.DimensionMetadataEnd(b)

    def write(b: Any) -> int:
        m: Any = import_module("tflite.SparsityParameters")
        offsets = [level(b, given) for given in levels]
        b.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            b.PrependUOffsetTRelative(offset)
        tables = b.EndVector()
        axes = b.CreateNumpyVector(np.asarray(order, np.int32))
        map_ = b.CreateNumpyVector(np.asarray(blocks, np.int32))
        m.SparsityParametersStart(b)
        m.SparsityParametersAddTraversalOrder(b, axes)
        m.SparsityParametersAddBlockMap(b, map_)
        m.SparsityParametersAddDimMetadata(b, tables)
        return m.SparsityParametersEnd(b)

    return write


def model(shape: Sequence[int], values: Sequence[float], write: Callable[[Any], int]) -> bytes:
    """x + the dense form of a constant."""
    w = T(shape, data=np.asarray(values, np.float32), sparsity=write)
    x, dense, y = T(shape), T(shape), T(shape)
    return build(Graph([x], [y], [Op("DENSIFY", [w], [dense]), Op("ADD", [x, dense], [y])]))


ROWS: Level = ([0, 2, 2, 3], [0, 3, 1])
"""Three rows: elements 0 and 3, none, element 1."""


def test_compressed_rows() -> None:
    check(model((3, 4), [1, 2, 3], sparsity([0, 1], [3, ROWS])), [draw((3, 4))])


def test_blocks() -> None:
    write = sparsity([0, 1, 2, 3], [2, ([0, 1, 3], [1, 0, 2]), 2, 2], [0, 1])
    check(model((4, 6), list(range(1, 13)), write), [draw((4, 6))])


@pytest.mark.parametrize(
    ("order", "levels", "blocks"),
    [
        ([0, 1], [3], ()),
        ([0, 0], [3, ROWS], ()),
        ([0, 1], [2, ROWS], ()),
        ([0, 1], [3, ([0, 2, 2, 9], [0, 3, 1])], ()),
        ([0, 1], [3, ([0, 2, 1, 3], [0, 3, 1])], ()),
        ([0, 1], [3, ([0, 2, 2, 3], [0, 4, 1])], ()),
        ([0, 1], [3, ([0, 2, 2, 2], [0, 3])], ()),
        ([0, 1, 2], [3, ROWS, 3], (1,)),
        ([0, 1, 2], [3, ROWS, 0], (1,)),
        ([0, 1, 2], [3, ROWS, 2], (7,)),
    ],
)
def test_what_does_not_fit_is_refused(order: list[int], levels: list[Level], blocks: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="its sparsity does not fit: "):
        lamina.load(model((3, 4), [1, 2, 3], sparsity(order, levels, blocks)))


def test_what_is_much_larger_than_the_file_is_refused() -> None:
    with pytest.raises(InputError, match="has more than 64 bytes for each one of the file"):
        lamina.load(model((1 << 12, 1 << 12), [1], sparsity([0, 1], [1 << 12, ([0], [0])])))

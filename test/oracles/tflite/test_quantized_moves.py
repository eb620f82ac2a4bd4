"""Operators that move quantised elements give LiteRT's integers."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")
pytest.importorskip("tflite")

from litert import check  # noqa: E402
from quantized_cases import check_whole, integers, q  # noqa: E402
from tflite_build import T, one  # noqa: E402

POINT, UNIT = -13, 0.03


def of(*shape: int, dtype: str = "int8") -> T:
    """Quantised data of one scale."""
    return q(shape, UNIT, {"uint8": 115, "int16": 0}.get(dtype, POINT), dtype)


def ints(*numbers: Any) -> T:
    return T.of(np.array(numbers if len(numbers) != 1 or not isinstance(numbers[0], list) else numbers[0], np.int32))


CASES: list[tuple[str, tuple[int, ...], list[T], list[tuple[int, ...]], dict[str, Any]]] = [
    ("RESHAPE", (2, 6), [ints(3, -1)], [(3, 4)], {"new_shape": [3, -1]}),
    ("TRANSPOSE", (2, 3, 4), [ints(2, 0, 1)], [(4, 2, 3)], {}),
    ("SQUEEZE", (2, 1, 4, 1), [], [(2, 4)], {"squeeze_dims": [1, 3]}),
    ("EXPAND_DIMS", (2, 4), [T.of(np.array(1, np.int32))], [(2, 1, 4)], {}),
    ("TILE", (2, 3), [ints(2, 3)], [(4, 9)], {}),
    ("BROADCAST_TO", (1, 3), [ints(4, 3)], [(4, 3)], {}),
    ("SLICE", (5, 7), [ints(1, 2), ints(3, 4)], [(3, 4)], {}),
    ("STRIDED_SLICE", (5, 7), [ints(4, 0), ints(0, 7), ints(-2, 3)], [(2, 3)], {}),
    ("GATHER", (5, 7), [ints(3, 0, 4)], [(5, 3)], {"axis": 1}),
    ("GATHER_ND", (5, 7), [ints([[0, 1], [4, 6], [2, 2]])], [(3,)], {}),
    ("REVERSE_V2", (5, 7), [ints(1)], [(5, 7)], {}),
    ("DEPTH_TO_SPACE", (1, 2, 3, 8), [], [(1, 4, 6, 2)], {"block_size": 2}),
    ("SPACE_TO_DEPTH", (1, 4, 6, 2), [], [(1, 2, 3, 8)], {"block_size": 2}),
    ("BATCH_TO_SPACE_ND", (4, 2, 3, 2), [ints(2, 2), ints([[0, 1], [0, 0]])], [(1, 3, 6, 2)], {}),
    ("MIRROR_PAD", (3, 4), [ints([[1, 1], [2, 0]])], [(5, 6)], {"mode": 0}),
    ("RESIZE_NEAREST_NEIGHBOR", (1, 3, 4, 2), [ints(5, 9)], [(1, 5, 9, 2)], {}),
    ("UNPACK", (2, 3, 4), [], [(2, 4)] * 3, {"axis": 1, "num": 3}),
    ("SPLIT_V", (2, 7), [ints(3, 4), T.of(np.array(1, np.int32))], [(2, 3), (2, 4)], {"num_splits": 2}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize(("name", "shape", "more", "out", "options"), CASES, ids=[c[0] for c in CASES])
def test_moves(name: str, shape: Any, more: Any, out: Any, options: Any, dtype: str) -> None:
    x = of(*shape, dtype=dtype)
    check_whole(one(name, [x, *more], [of(*s, dtype=dtype) for s in out], **options), x)


def test_split() -> None:
    x = of(2, 6)
    check_whole(one("SPLIT", [T.of(np.array(1, np.int32)), x], [of(2, 3), of(2, 3)], num_splits=2), x)


@pytest.mark.parametrize("name", ["SELECT", "SELECT_V2"])
def test_select(name: str) -> None:
    where = T.of(np.random.default_rng(0).random((5, 7)) < 0.5)
    x, y = of(5, 7), of(5, 7)
    check_whole(one(name, [where, x, y], [of(5, 7)]), x, y)


@pytest.mark.parametrize("name", ["ARG_MAX", "ARG_MIN"])
def test_places(name: str) -> None:
    x = of(5, 9)
    data = one(name, [x, T.of(np.array(1, np.int32))], [T((5,), "int32")], output_type=2)
    check_whole(data, x)


def test_greatest() -> None:
    x = of(5, 9)
    data = one("TOPK_V2", [x, T.of(np.array(3, np.int32))], [of(5, 3), T((5, 3), "int32")])
    check(data, [np.argsort(integers((5, 9)).astype(np.int32), axis=1).astype(np.int8)])


def test_dynamic_update_slice() -> None:
    x, y = of(5, 7), of(2, 3)
    check_whole(one("DYNAMIC_UPDATE_SLICE", [x, y, ints(2, 3)], [of(5, 7)]), x, y)


def test_cast() -> None:
    x = of(5, 7)
    check_whole(one("CAST", [x], [T((5, 7), "int32")]), x)

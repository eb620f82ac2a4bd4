"""Matrix products as machine code give NumPy's numbers: tails of rows, columns and vectors, few rows, batches, factors
that are copied by panels, read as they lie, or packed at compile time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.driver import api

Shape = tuple[int, ...]


def product(a: Shape, b: Shape, constant: bool, bias: bool) -> tuple[Any, dict[str, Any], Any]:
    """relu(a @ b + c), or a @ b alone; its inputs and what it gives."""
    random = np.random.default_rng([*a, *b])
    x, w = (random.uniform(-1, 1, s).astype(np.float32) for s in (a, b))
    c = random.uniform(-1, 1, b[-1]).astype(np.float32)
    expected = np.matmul(x.astype(np.float64), w.astype(np.float64))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p" if bias else "y"])]
    if bias:
        nodes += [helper.make_node("Add", ["p", "c"], ["s"]), helper.make_node("Relu", ["s"], ["y"])]
        expected = np.maximum(expected + c, 0)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, a)]
    if not constant:
        inputs.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, b))
    weights = [numpy_helper.from_array(w, "w")] if constant else []
    weights += [numpy_helper.from_array(c, "c")] if bias else []
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, expected.shape)
    graph = helper.make_graph(nodes, "g", inputs, [output], weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made, {"x": x} if constant else {"x": x, "w": w}, expected


CASES: dict[str, tuple[Shape, Shape, bool, bool]] = {
    "panels_copied_with_tails": ((37, 700), (700, 403), False, True),
    "factor_read_as_it_lies_with_tails": ((70, 300), (300, 403), False, True),
    "rows_that_share_cache_lines": ((33, 1024), (1024, 64), False, False),
    "one_row_streamed": ((1, 516), (516, 407), False, True),
    "few_rows_streamed_depth_prime": ((3, 251), (251, 300), False, False),
    "one_row_of_a_small_factor": ((1, 37), (37, 50), False, False),
    "columns_fewer_than_lanes": ((29, 40), (40, 7), False, True),
    "one_vector_and_one_column": ((20, 30), (30, 17), False, False),
    "one_column": ((20, 30), (30, 1), False, False),
    "depth_of_one": ((9, 1), (1, 33), False, False),
    "batch_with_tails": ((3, 19, 24), (3, 24, 83), False, True),
    "batch_of_one": ((1, 40, 300), (1, 300, 403), False, False),
    "packed_with_tails": ((37, 61), (61, 83), True, True),
    "packed_one_row": ((1, 61), (61, 150), True, False),
    "packed_few_columns": ((11, 31), (31, 5), True, True),
    "packed_two_columns": ((11, 31), (31, 2), True, True),
    "packed_four_columns": ((2, 9, 31), (31, 4), True, False),
}
USUAL = {
    "panels_copied_with_tails", "one_row_streamed", "columns_fewer_than_lanes", "batch_with_tails",
    "packed_few_columns",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        pytest.param(name, threads, marks=[] if name in USUAL and threads == 1 else pytest.mark.long)
        for name in CASES
        for threads in (1, 2)
    ],
)
def test_kernel_gives_the_product(name: str, threads: int) -> None:
    made, inputs, expected = product(*CASES[name])
    (found,) = lamina.compile(made, threads=threads).run(inputs).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "name", ["panels_copied_with_tails", pytest.param("packed_with_tails", marks=pytest.mark.long)]
)
def test_every_choice_gives_the_product(name: str) -> None:
    made, inputs, expected = product(*CASES[name])
    questions = api.questions(made, threads=1)
    kinds = {q.name.split()[0] for q in questions}
    assert kinds == ({"tile"} if CASES[name][2] else {"tile", "copy"})
    for nth in (1, 2) if name.startswith("packed") else (-1,):
        chosen = {q.name: q.candidates[nth] for q in questions}
        (found,) = lamina.compile(made, threads=1, choices=chosen).run(inputs).values()
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("target", ["cpu", "x86-64-v3"])
@pytest.mark.parametrize("shape", [(21, 21), (1, 6, 64, 64), (3, 133, 133)])
def test_square_of_a_matrix(shape: Shape, target: str) -> None:
    """Both factors are one tensor: a copy of what the vectors read would hold what is broadcast, too."""
    x = np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (found,) = lamina.compile(made, target=target, threads=1).run({"x": x}).values()
    expected = np.matmul(x.astype(np.float64), x)
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("columns", [8, 10, 12, 24])
def test_bytes_by_a_panel_wider_than_their_columns(columns: int) -> None:
    """16 columns lie in a panel; with four lanes, some vectors of it are beyond the result."""
    x, w = np.arange(2, dtype=np.uint8).reshape(1, 2), np.arange(2 * columns, dtype=np.int8).reshape(2, columns)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.INT32, (1, columns))],
        [numpy_helper.from_array(w, "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (found,) = lamina.compile(made, target="x86-64-v2", threads=1).run({"x": x}).values()
    np.testing.assert_array_equal(found, x.astype(np.int32) @ w)


def test_last_panel_within_the_rows() -> None:
    """One row at a time, so that the loop over panels, whose last is narrower, is the inner one."""
    random = np.random.default_rng(0)
    x, w = random.integers(-9, 9, (7, 23), np.int16), random.integers(-9, 9, (23, 31), np.int16)
    graph = helper.make_graph(
        [helper.make_node("MatMulInteger16", ["x", "w"], ["y"], domain="com.microsoft")],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.INT16, v.shape) for n, v in (("x", x), ("w", w))],
        [helper.make_tensor_value_info("y", TensorProto.INT32, (7, 31))],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    (found,) = lamina.compile(made, target="x86-64-v2", threads=1).run({"x": x, "w": w}).values()
    np.testing.assert_array_equal(found, x.astype(np.int32) @ w)

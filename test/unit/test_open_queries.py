"""Attention of an open number of queries to a number of keys: one kernel, in tiles that fill its blocks or do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

from .turns import by_turns


def attention(keys: int | str, heads: int, depth: int, masked: bool) -> Any:
    """softmax(x k^T / sqrt(depth) + mask) v of x [1, queries, heads * depth] and k, v [1, keys, heads * depth]."""
    width = heads * depth
    split = numpy_helper.from_array(np.array([0, 0, heads, depth]), "split")
    joined = numpy_helper.from_array(np.array([0, 0, width]), "joined")
    scale = numpy_helper.from_array(np.array(depth**-0.5, np.float32), "scale")
    nodes: list[Any] = []
    for name, source, perm in (("q", "x", [0, 2, 1, 3]), ("k", "keys", [0, 2, 3, 1]), ("v", "values", [0, 2, 1, 3])):
        nodes.append(helper.make_node("Reshape", [source, "split"], [f"{name}_split"]))
        nodes.append(helper.make_node("Transpose", [f"{name}_split"], [name], perm=perm))
    nodes.append(helper.make_node("MatMul", ["q", "k"], ["products"]))
    nodes.append(helper.make_node("Mul", ["products", "scale"], ["scores"]))
    if masked:
        nodes.append(helper.make_node("Add", ["scores", "mask"], ["masked"]))
    nodes.append(helper.make_node("Softmax", ["masked" if masked else "scores"], ["shares"], axis=-1))
    nodes.append(helper.make_node("MatMul", ["shares", "v"], ["mixed"]))
    nodes.append(helper.make_node("Transpose", ["mixed"], ["rows"], perm=[0, 2, 1, 3]))
    nodes.append(helper.make_node("Reshape", ["rows", "joined"], ["y"]))
    rows = [1, keys, width]
    inputs = [("x", [1, "queries", width]), ("keys", rows), ("values", rows)] + [("mask", [1, 1, 1, keys])] * masked
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in inputs]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "attention", ports, [result], [split, joined, scale])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(program: Any, heads: int, depth: int, queries: int, keys: int, masked: bool) -> None:
    random, width = np.random.default_rng(queries), heads * depth
    x, m, n = (random.standard_normal((1, rows, width)).astype(np.float32) for rows in (queries, keys, keys))
    mask = random.standard_normal((1, 1, 1, keys)).astype(np.float32) * masked
    q, k, v = (a.reshape(-1, heads, depth).transpose(1, 0, 2).astype(np.float64) for a in (x, m, n))
    scores = q @ k.transpose(0, 2, 1) / depth**0.5 + mask[0]
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    expected = (shares / shares.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(1, queries, width)
    (found,) = program.run({"x": x, "keys": m, "values": n} | ({"mask": mask} if masked else {})).values()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


pytestmark = pytest.mark.slow

TARGETS = (None, "x86-64-v3", "x86-64")
"""Of the last the blocks of queries are of no whole number of tiles, without care."""


@pytest.mark.parametrize(
    ("case", "target"),
    by_turns([(20, 2, 16, True), (77, 2, 64, False), (64, 1, 32, True), (150, 1, 40, False)], TARGETS),
)
def test_a_number_of_keys(case: tuple[int, int, int, bool], target: str | None) -> None:
    keys, heads, depth, masked = case
    given: dict[str, Any] = {} if target is None else {"target": target}
    model = attention(keys, heads, depth, masked)
    program = lamina.compile(model, shapes={"queries": "1..200"}, threads=1, cache=False, **given)
    assert "nn.contrib_attention" in program.text("te")
    for queries in (1, 7, 8, 13, 24, 47, 48, 97, 200):
        check(program, heads, depth, queries, keys, masked)


@pytest.mark.parametrize(("depth", "target"), by_turns([16, 40, 64], TARGETS))
def test_an_open_number_of_keys(depth: int, target: str | None) -> None:
    given: dict[str, Any] = {} if target is None else {"target": target}
    ranges = {"queries": "1..200", "count": "1..400"}
    program = lamina.compile(attention("count", 2, depth, True), shapes=ranges, threads=1, cache=False, **given)
    for queries, keys in ((1, 1), (7, 63), (48, 64), (50, 65), (97, 127), (200, 400), (3, 399)):
        check(program, 2, depth, queries, keys, True)

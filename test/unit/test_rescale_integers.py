"""Factors of small integers give every rounded number of the expression that they stand for, as floats give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from onnx import ModelProto, TensorProto, helper

import lamina
from lamina.passes.tir.arithmetic.integer_factors import Bounds, Term, factors

BYTES = (0.0, 255.0, 0.0)
BOUNDS = Bounds(-128.0, 127.0)


def quotient_of_a_sum(s: float, t: float, u: float) -> Term:
    a, b = ("multiply", ("leaf", 0), ("number", s)), ("multiply", ("leaf", 1), ("number", t))
    return ("divide", ("add", a, b), ("number", u))


@pytest.mark.parametrize("seed", range(6))
def test_all_pairs_of_bytes_are_rounded_alike(seed: int) -> None:
    s, t, u = (float(f) for f in np.random.default_rng(seed).uniform(0.01, 0.5, 3).astype(np.float32))
    ranges = (BYTES, (-128.0, 127.0, -7.0))
    found = factors(quotient_of_a_sum(s, t, u), ranges, BOUNDS)
    assert found is not None
    a, b = np.meshgrid(np.arange(256), np.arange(-135, 121), indexing="ij")
    f = np.float32
    expected = np.rint((a.astype(f) * f(s) + b.astype(f) * f(t)) / f(u))
    p = (f(found[0]) * a.astype(f)).astype(np.longdouble)
    fused = (np.longdouble(found[1]) * b + p).astype(f)
    assert np.array_equal(np.clip(np.rint(fused), *BOUNDS), np.clip(expected, *BOUNDS))


@pytest.mark.parametrize(
    "term",
    [
        ("multiply", ("leaf", 0), ("leaf", 0)),
        ("add", ("leaf", 0), ("number", 0.25)),
        ("divide", ("number", 3.0), ("leaf", 0)),
        ("multiply", ("leaf", 0), ("number", float("inf"))),
        ("subtract", ("leaf", 0), ("leaf", 0)),
    ],
    ids=["square", "moved", "inverse", "infinite", "nothing"],
)
def test_what_is_no_sum_of_multiples_has_no_factors(term: Term) -> None:
    assert factors(term, (BYTES,), Bounds()) is None


@pytest.mark.parametrize(("s", "u", "exists"), [(0.25, 0.5, True), (0.375, 0.75, True), (0.1, 0.2, False)])
def test_halves_go_where_the_expression_takes_them_or_it_stays(s: float, u: float, exists: bool) -> None:
    """0.1 * n / 0.2 is a half for odd n, or next to one: some steps round it up, and some down, as no factor does."""
    first, second = np.float32(s), np.float32(u)
    found = factors(
        ("divide", ("multiply", ("leaf", 0), ("number", float(first))), ("number", float(second))), (BYTES,), Bounds()
    )
    assert (found is not None) == exists
    x = np.arange(256, dtype=np.float32)
    assert found is None or np.array_equal(np.rint(x * np.float32(found[0])), np.rint(x * first / second))


def sum_of_bytes(relu: bool, kind: int) -> ModelProto:
    """y = quantize(relu(quantize(dequantize(a) + dequantize(b)))) with a scale and a zero point for each."""
    signed = kind == TensorProto.INT8
    points = [-30, 11, -128, -128] if signed else [98, 139, 0, 0]
    scales = [0.0313271, 0.0171903, 0.0402557, 0.0217719]
    constants = [helper.make_tensor(f"s{i}", TensorProto.FLOAT, [], [s]) for i, s in enumerate(scales)]
    constants += [helper.make_tensor(f"z{i}", kind, [], [z]) for i, z in enumerate(points)]
    nodes = [helper.make_node("DequantizeLinear", [x, f"s{i}", f"z{i}"], [f"{x}f"]) for i, x in enumerate("ab")]
    nodes += [
        helper.make_node("Add", ["af", "bf"], ["c"]),
        helper.make_node("QuantizeLinear", ["c", "s2", "z2"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "s2", "z2"], ["d"]),
        helper.make_node("Relu" if relu else "Neg", ["d"], ["e"]),
        helper.make_node("QuantizeLinear", ["e", "s3", "z3"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(n, kind, [256, 256]) for n in "aby"]
    graph = helper.make_graph(nodes, "g", ports[:2], ports[2:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("kind", [TensorProto.UINT8, TensorProto.INT8], ids=["unsigned", "signed"])
@pytest.mark.parametrize("relu", [True, False], ids=["relu", "negative"])
def test_sums_of_all_bytes_are_those_of_floats(relu: bool, kind: int) -> None:
    model = sum_of_bytes(relu, kind)
    dtype = np.int8 if kind == TensorProto.INT8 else np.uint8
    a, b = np.meshgrid(np.arange(256).astype(np.uint8).view(dtype), np.arange(256).astype(np.uint8).view(dtype))
    inputs = {"a": np.ascontiguousarray(a), "b": np.ascontiguousarray(b)}
    engine: Any = onnxruntime
    options = engine.SessionOptions()
    options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = engine.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    exe = lamina.compile(model.SerializeToString(), threads=1, cache=False)
    assert np.array_equal(exe.run(inputs)["y"], session.run(None, inputs)[0])

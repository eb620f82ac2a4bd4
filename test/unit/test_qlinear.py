"""The quantised operators of com.microsoft: against onnxruntime by a step at most, and against their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.errors import LaminaError

Array = Any


class Nodes:
    """A model whose nodes each give an output; 8-bit tensors of rank 1 and more are inputs unless told otherwise."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.nodes: list[Any] = []
        self.feeds: dict[str, Array] = {}
        self.weights: list[TensorProto] = []
        self.outputs: list[Any] = []

    def bytes_(self, kind: str, *shape: int) -> Array:
        info = np.iinfo(kind)
        return self.rng.integers(info.min, info.max + 1, shape).astype(kind)

    def add(
        self, op: str, inputs: Sequence[Array | None], given: tuple[int, ...] = (0,), kind: str = "", **attrs: Any
    ) -> None:
        names: list[str] = []
        for k, v in enumerate(inputs):
            name = "" if v is None else f"i{len(self.nodes)}.{k}"
            names.append(name)
            if k in given:
                self.feeds[name] = v
            elif v is not None:
                self.weights.append(numpy_helper.from_array(np.asarray(v), name))
        y = f"y{len(self.nodes)}"
        kinds = [str(np.asarray(v).dtype) for v in inputs if v is not None]
        type_ = helper.np_dtype_to_tensor_dtype(np.dtype(kind or next(k for k in kinds if k in ("int8", "uint8"))))
        self.nodes.append(helper.make_node(op, names, [y], f"{op}.{y}", domain="com.microsoft", **attrs))
        self.outputs.append(helper.make_tensor_value_info(y, type_, None))

    def model(self) -> ModelProto:
        given = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), list(v.shape))
            for n, v in self.feeds.items()
        ]
        graph = helper.make_graph(self.nodes, "qlinear", given, self.outputs, self.weights)
        sets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=sets, ir_version=8)

    def ours(self) -> list[Array]:
        return list(lamina.compile(self.model().SerializeToString(), threads=1, cache=False).run(self.feeds).values())

    def theirs(self) -> list[Array]:
        import onnxruntime  # pyright: ignore[reportMissingTypeStubs]

        session: Any = onnxruntime.InferenceSession(
            self.model().SerializeToString(), providers=["CPUExecutionProvider"]
        )
        return session.run(None, self.feeds)


F = np.float32


@pytest.mark.parametrize("kind", ["uint8", pytest.param("int8", marks=pytest.mark.long)])
def test_each_is_onnxruntimes_by_a_step(kind: str) -> None:
    g = Nodes()

    def z(v: int) -> Array:
        return np.asarray(v, kind)

    for op in ("QLinearAdd", "QLinearMul"):
        for a, b in (((2, 3, 5, 7), (3, 1, 1)), ((3, 1), (1, 33)), ((), ())):
            operands = [g.bytes_(kind, *a), F(0.02), z(3), g.bytes_(kind, *b), F(0.03), z(7)]
            g.add(op, [*operands, F(0.05), z(11)], given=(0, 3))
    g.add("QLinearSigmoid", [g.bytes_(kind, 2, 19), F(0.05), z(3), F(1 / 255), z(0)])
    g.add("QLinearLeakyRelu", [g.bytes_(kind, 2, 19), F(0.05), z(3), F(0.02), z(9)], alpha=0.3)
    for axis, opset in ((1, 11), (1, 13)):
        operands = [g.bytes_(kind, 2, 5, 7), F(0.05), z(3), F(1 / 255), z(0 if kind == "uint8" else -128)]
        g.add("QLinearSoftmax", operands, axis=axis, opset=opset)
    for last in (0, 1):
        operands = [g.bytes_(kind, 2, 5, 7, 6), F(0.05), z(3), F(0.03), z(9)]
        g.add("QLinearGlobalAveragePool", operands, channels_last=last)
        window: dict[str, Any] = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
        g.add("QLinearAveragePool", operands, channels_last=last, **window)
    parts = [g.bytes_(kind, 2, 3, 5), F(0.05), z(4), g.bytes_(kind, 2, 4, 5), F(0.03), z(9)]
    g.add("QLinearConcat", [F(0.05), z(4), *parts], given=(2, 5), axis=1)
    choices = [g.bytes_(kind, 2, 3), F(0.05), z(4), g.bytes_(kind, 2, 3), F(0.03), z(9)]
    g.add("QLinearWhere", [np.array([True, False, True]), *choices, F(0.05), z(4)], given=(0, 1, 4))
    for node, found, expected in zip(g.nodes, g.ours(), g.theirs(), strict=True):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), node.op_type
        steps = np.abs(found.astype(int) - expected)
        assert steps.max() <= 1, node.op_type
        # Rounding of halves in onnxruntime's own order of arithmetic; its softmax is one of a table.
        assert np.mean(steps) < 0.25, node.op_type


def test_products_are_onnxruntimes() -> None:
    g = Nodes()
    for transposed, flipped in ((0, 0), (1, 1)):
        x, w = g.bytes_("uint8", *((36, 5) if flipped else (5, 36))), g.bytes_("int8", 36, 19)
        w = w.T.copy() if transposed else w
        scales = g.rng.uniform(0.005, 0.02, 19).astype(F)
        c = g.rng.integers(-9999, 9999, 19).astype(np.int32)
        operands = [x, F(0.02), np.uint8(3), w, scales, np.zeros(19, np.int8), c]
        attrs: dict[str, Any] = {"transB": transposed, "transA": flipped, "alpha": 0.7}
        g.add("QGemm", [*operands, F(0.9), np.uint8(7)], **attrs)
        g.add("QGemm", operands, kind="float32", **attrs)
    x, bias = g.rng.standard_normal((2, 3, 36)).astype(F), g.rng.standard_normal(19).astype(F)
    g.add("DynamicQuantizeMatMul", [x, g.bytes_("int8", 36, 19), F(0.02), np.int8(3), bias], kind="float32")
    sums = [g.bytes_("uint8", 3, 5, 36), g.bytes_("int8", 36, 19), F(0.02), F(0.01), np.uint8(3), None, bias]
    g.add("MatMulIntegerToFloat", sums, kind="float32")
    for node, found, expected in zip(g.nodes, g.ours(), g.theirs(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4, err_msg=node.op_type)


def quantized(x: Array, scale: float, kind: str) -> Array:
    info = np.iinfo(kind)
    return np.clip(np.rint(x / F(scale)), info.min, info.max).astype(kind)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_zero_points_may_be_missing(kind: str) -> None:
    """They are 0 then, and the result has the dtype of the operands. onnxruntime refuses some of these, or crashes."""
    g = Nodes()
    a, b = g.bytes_(kind, 2, 9), g.bytes_(kind, 9)
    x, y = a * F(0.02), b * F(0.03)
    g.add("QLinearAdd", [a, F(0.02), None, b, F(0.03), None, F(0.05)], given=(0, 3))
    g.add("QLinearMul", [a, F(0.02), None, b, F(0.03), None, F(0.05), None])
    g.add("QLinearLeakyRelu", [a, F(0.02), None, F(0.01)])
    g.add("QLinearReduceMean", [a, F(0.02), None, F(0.01)], axes=[1], keepdims=0)
    g.add("QLinearConcat", [F(0.02), np.asarray(0, kind), a, F(0.02), None, a, F(0.03), None], given=(2, 5), axis=0)
    expected = [
        quantized(x + y, 0.05, kind),
        quantized(x * y, 0.05, kind),
        quantized(np.where(x < 0, x * F(0.01), x), 0.01, kind),
        quantized(x.mean(1, dtype=np.float64), 0.01, kind),
        np.concatenate([a, quantized(a * F(0.03), 0.02, kind)]),
    ]
    for node, found, wanted in zip(g.nodes, g.ours(), expected, strict=True):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), node.op_type
        steps = np.abs(found.astype(int) - wanted)
        assert steps.max() <= 1 and np.mean(steps) < 0.1, node.op_type


def test_scales_of_slices_are_refused() -> None:
    g = Nodes()
    g.add("QLinearSigmoid", [g.bytes_("int8", 2, 3), np.ones(3, F), None, F(1)])
    with pytest.raises(LaminaError, match=r"a scale or zero point of shape \[3\] is not supported"):
        g.ours()


LEFT, RIGHT = ([np.ones(shape, np.uint8), F(1), np.uint8(0)] for shape in ((2, 3), (3, 5)))
"""Two matrices with their scales and zero points."""


@pytest.mark.parametrize(
    ("name", "inputs", "words"),
    [
        ("MatMulIntegerToFloat", [LEFT[0], np.ones((3, 5), F), F(1), F(1)], "takes products of integers, got float32"),
        ("QGemm", [*LEFT, *RIGHT, np.ones((7, 2, 1), np.int32), F(1)], r"C of shape \[7, 2, 1\] does not .* \[2, 5\]"),
        ("QLinearConcat", [F(1), np.uint8(0), *LEFT], "has no attribute 'axis'"),
    ],
)
def test_what_the_operators_do_not_take_is_refused(name: str, inputs: list[Any], words: str) -> None:
    g = Nodes()
    g.add(name, inputs, given=())
    with pytest.raises(LaminaError, match=words):
        g.ours()


@pytest.mark.parametrize(
    ("inputs", "attrs", "words"),
    [(5, {"alhpa": 0.1}, r"there is no attribute .alhpa.; did you mean 'alpha'"), (1, {}, "1 inputs, expects 4 to 5")],
)
def test_nodes_are_checked_against_their_declaration(inputs: int, attrs: dict[str, Any], words: str) -> None:
    g = Nodes()
    g.add("QLinearLeakyRelu", [g.bytes_("int8", 2, 3), F(1), None, F(1), np.int8(0)][:inputs], **attrs)
    with pytest.raises(LaminaError, match=words):
        g.ours()

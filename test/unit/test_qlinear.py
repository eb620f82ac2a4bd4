"""The quantised operators of com.microsoft: against onnxruntime by a step at most, and against their definitions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina.errors import LaminaError
from lamina.frontends.onnx.contributed import MICROSOFT

sys.path.insert(0, str(Path(__file__).resolve().parent))

from contributed_nodes import Nodes  # noqa: E402

pytestmark = pytest.mark.slow

Array = Any
F = np.float32


class Quantised(Nodes):
    """Nodes whose results are of the dtype of the first bytes among their inputs, unless told otherwise."""

    def add(
        self, op: str, inputs: Sequence[Array | None], given: Sequence[int] = (0,), outputs: Sequence[str] = (),
        domain: str = MICROSOFT, **attrs: Any,
    ) -> None:  # fmt: skip
        kinds = [str(np.asarray(v).dtype) for v in inputs if v is not None]
        usual = next((k for k in kinds if k in ("int8", "uint8")), "int8")
        super().add(op, inputs, given, outputs or [usual], domain, **attrs)


@pytest.mark.parametrize("kind", ["uint8", pytest.param("int8", marks=pytest.mark.long)])
def test_each_is_onnxruntimes_by_a_step(kind: str) -> None:
    g = Quantised()

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
    for node, found, expected in zip(g.nodes, g.compiled().values(), g.expected().values(), strict=True):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype), node.op_type
        steps = np.abs(found.astype(int) - expected)
        assert steps.max() <= 1, node.op_type
        # Rounding of what is nearly a half in onnxruntime's own order of arithmetic; its softmax is one of a table.
        assert np.mean(steps) < 0.25, node.op_type


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_exact_halves_are_rounded_as_onnxruntime_rounds_them(kind: str) -> None:
    """To even ones, once an odd zero point is added; of all pairs of integers, with scales that make no roundings."""
    g = Quantised()
    info = np.iinfo(kind)
    whole = np.arange(info.min, info.max + 1).astype(kind)
    zero, end = np.asarray(3, kind), np.asarray(117 if kind == "uint8" else -5, kind)
    pairs = [whole.reshape(256, 1).copy(), whole.reshape(1, 256).copy()]
    for op in ("QLinearAdd", "QLinearMul"):
        for a, b, c in ((1, 1, 2), (0.5, 0.5, 0.5), (1 / 32, 1 / 32, 1 / 16)):
            g.add(op, [pairs[0], F(a), zero, pairs[1], F(b), zero, F(c), end], given=(0, 3))
    x = g.bytes_(kind, 1, 5, 9, 9)
    for a, c in ((0.5, 0.5), (1, 2), (0.25, 1)):
        windows: tuple[dict[str, Any], ...] = (
            {"kernel_shape": [2, 2]},
            {"kernel_shape": [2, 4], "pads": [0, 1, 1, 1], "count_include_pad": 1},
        )
        for window in windows:
            g.add("QLinearAveragePool", [x, F(a), zero, F(c), end], **window)
    for node, found, expected in zip(g.nodes, g.compiled().values(), g.expected().values(), strict=True):
        np.testing.assert_array_equal(found, expected, node.op_type)


def test_products_are_onnxruntimes() -> None:
    g = Quantised()
    for transposed, flipped in ((0, 0), (1, 1)):
        x, w = g.bytes_("uint8", *((36, 5) if flipped else (5, 36))), g.bytes_("int8", 36, 19)
        w = w.T.copy() if transposed else w
        scales = g.rng.uniform(0.005, 0.02, 19).astype(F)
        c = g.rng.integers(-9999, 9999, 19).astype(np.int32)
        operands = [x, F(0.02), np.uint8(3), w, scales, np.zeros(19, np.int8), c]
        attrs: dict[str, Any] = {"transB": transposed, "transA": flipped, "alpha": 0.7}
        g.add("QGemm", [*operands, F(0.9), np.uint8(7)], **attrs)
        g.add("QGemm", operands, outputs=["float32"], **attrs)
    x, bias = g.rng.standard_normal((2, 3, 36)).astype(F), g.rng.standard_normal(19).astype(F)
    g.add("DynamicQuantizeMatMul", [x, g.bytes_("int8", 36, 19), F(0.02), np.int8(3), bias], outputs=["float32"])
    sums = [g.bytes_("uint8", 3, 5, 36), g.bytes_("int8", 36, 19), F(0.02), F(0.01), np.uint8(3), None, bias]
    g.add("MatMulIntegerToFloat", sums, outputs=["float32"])
    for node, found, expected in zip(g.nodes, g.compiled().values(), g.expected().values(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4, err_msg=node.op_type)


def quantized(x: Array, scale: float, kind: str) -> Array:
    info = np.iinfo(kind)
    return np.clip(np.rint(x / F(scale)), info.min, info.max).astype(kind)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_zero_points_may_be_missing(kind: str) -> None:
    """They are 0 then, and the result has the dtype of the operands. onnxruntime refuses some of these, or crashes."""
    g = Quantised()
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
    for node, found, wanted in zip(g.nodes, g.compiled().values(), expected, strict=True):
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), node.op_type
        steps = np.abs(found.astype(int) - wanted)
        assert steps.max() <= 1 and np.mean(steps) < 0.1, node.op_type


def test_scales_of_slices_are_refused() -> None:
    g = Quantised()
    g.add("QLinearSigmoid", [g.bytes_("int8", 2, 3), np.ones(3, F), None, F(1)])
    with pytest.raises(LaminaError, match=r"a scale or zero point of shape \[3\] is not supported"):
        g.compiled()


LEFT, RIGHT = ([np.ones(shape, np.uint8), F(1), np.uint8(0)] for shape in ((2, 3), (3, 5)))
"""Two matrices with their scales and zero points."""


@pytest.mark.parametrize(
    ("name", "inputs", "words"),
    [
        ("MatMulIntegerToFloat", [LEFT[0], np.ones((3, 5), F), F(1), F(1)], "takes products of integers, got float32"),
        ("QGemm", [*LEFT, *RIGHT, np.ones((7, 2, 1), np.int32), F(1)], r"C of shape \[7, 2, 1\] does not .* \[2, 5\]"),
        ("QLinearConcat", [F(1), np.uint8(0), *LEFT], "the attribute .axis. is missing"),
    ],
)
def test_what_the_operators_do_not_take_is_refused(name: str, inputs: list[Any], words: str) -> None:
    g = Quantised()
    g.add(name, inputs, given=())
    with pytest.raises(LaminaError, match=words):
        g.compiled()


@pytest.mark.parametrize(
    ("inputs", "attrs", "words"),
    [(5, {"alhpa": 0.1}, r"there is no attribute .alhpa.; did you mean 'alpha'"), (1, {}, "1 inputs, expects 4 to 5")],
)
def test_nodes_are_checked_against_their_declaration(inputs: int, attrs: dict[str, Any], words: str) -> None:
    g = Quantised()
    g.add("QLinearLeakyRelu", [g.bytes_("int8", 2, 3), F(1), None, F(1), np.int8(0)][:inputs], **attrs)
    with pytest.raises(LaminaError, match=words):
        g.compiled()


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_an_lstm_of_bytes_is_one_of_floats(kind: str) -> None:
    """onnxruntime rounds the input and the states of each step to bytes besides: a part in 255 of the largest."""
    g, (steps, batch, width, hidden) = Quantised(), (4, 2, 7, 5)
    feed, bias = g.floats(steps, batch, width), g.floats(2, 8 * hidden)
    lengths, first = np.array([4, 2], np.int32), g.floats(2, batch, hidden)
    middle = 0 if kind == "int8" else 128
    for per_column in (False, True):
        shape = (2, 4 * hidden) if per_column else (2,)
        numbers = [g.rng.uniform(0.002, 0.004, shape).astype(F), np.full(shape, middle, kind)]
        weights = [g.bytes_(kind, 2, n, 4 * hidden) for n in (width, hidden)]
        rest: list[Any] = [bias, lengths, first, None, None, *numbers, *numbers]
        g.add(
            "DynamicQuantizeLSTM", [feed, *weights, *rest], given=(0, 4), outputs=["float32"] * 3,
            direction="bidirectional", hidden_size=hidden,
        )  # fmt: skip
        real = [(w.astype(F) - F(middle)) * numbers[0].reshape(2, 1, -1) for w in weights]
        plain = [np.ascontiguousarray(w.transpose(0, 2, 1)) for w in real]
        g.add(
            "LSTM", [feed, *plain, *rest[:3]], given=(0, 4), outputs=["float32"] * 3, domain="",
            direction="bidirectional", hidden_size=hidden,
        )  # fmt: skip
    found, expected = g.imported(), g.expected()
    for k in range(2):
        for quantised, plain in zip(g.names[2 * k], g.names[2 * k + 1], strict=True):
            np.testing.assert_allclose(found[quantised], expected[plain], rtol=0, atol=1e-5)
            np.testing.assert_allclose(found[quantised], expected[quantised], rtol=0, atol=1 / 128)

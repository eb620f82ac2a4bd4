"""Lanes beyond the channels take part in no sum, whatever infinities, NaN and elements of zeros are in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

ROWS, COLUMNS = 6, 7
CHANNELS = (3, 17, 20, 24, 33)
TARGETS = ("x86-64-v3", "x86-64-v4")
USUAL = ((17, "x86-64-v3"), (24, "x86-64-v4"))
"""They take turns: the ops by which processors differ are in both kinds of convolutions."""
SPECIAL = (np.inf, -np.inf, np.nan)


class Net:
    """A model of convolutions and what is between them; its one input has 20 channels."""

    def __init__(self, seed: int, signed: bool = False) -> None:
        self.signed = signed
        self.draw = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def weight(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, np.float32), name))
        return name

    def op(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def conv(self, x: str, inputs: int, outputs: int, size: int, group: int = 1, **attributes: Any) -> str:
        shape = (outputs, inputs // group, size, size)
        # An output's weights have one sign: products of an infinity add up to one, whatever the order.
        w, b = self.draw.uniform(0.5, 1, shape), self.draw.uniform(1, 2, outputs)
        if self.signed:
            w[::3] *= -1
        pads = [size // 2] * 4
        return self.op("Conv", x, self.weight(w), self.weight(b), pads=pads, group=group, **attributes)

    def model(self, result: str) -> bytes:
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", SHAPE), (result, None))]
        graph = helper.make_graph(self.nodes, "g", info[:1], info[1:], self.weights)
        opsets = [helper.make_opsetid("", 17)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


SHAPE = (1, 20, ROWS, COLUMNS)


def kinds(array: Any) -> Any:
    """0 for a number, else which infinity, or NaN."""
    return np.select([np.isnan(array), array == np.inf, array == -np.inf], [3, 1, 2], 0)


def check(model: bytes, target: str, numerics: str, values: tuple[float, ...] = SPECIAL) -> None:
    """An input of ordinary numbers, and each with one other number in it, give what onnxruntime makes of them,
    which in plain order adds nothing to the channels."""
    ort: Any = pytest.importorskip("onnxruntime")
    exe = lamina.compile(model, target=target, threads=1, numerics=numerics)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    x = np.random.default_rng(1).uniform(0.5, 1, SHAPE).astype(np.float32)
    for value in (1.0, *values):
        x[0, 5, 2, 3] = value
        (found,) = exe.run({"x": x}).values()
        (expected,) = session.run(None, {"x": x})
        np.testing.assert_array_equal(kinds(found), kinds(expected), str(value))
        finite = np.isfinite(expected)
        scale = np.abs(expected[finite]).max(initial=1)
        np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-4, atol=1e-4 * scale, err_msg=str(value))


@pytest.mark.parametrize(
    ("channels", "size", "target", "numerics"),
    [
        pytest.param(c, s, t, n, marks=[] if n == "fast" and (c, t) == USUAL[s // 2] else pytest.mark.long)
        for c in CHANNELS
        for s in (1, 3)
        for t in TARGETS
        for n in ("fast", "exact")
    ],
)
def test_convolutions_one_after_the_other(channels: int, size: int, target: str, numerics: str) -> None:
    net = Net(channels, signed=True)
    c = net.op("Relu", net.conv("x", 20, channels, size))
    check(net.model(net.conv(c, channels, 33, size)), target, numerics)


def one_channel_more(net: Net, value: str, channels: int) -> str:
    """A value with the mean of its channels as one more, which another convolution makes as many as there were."""
    whole = net.conv(value, channels, 32, 1)
    joined = net.op("Concat", whole, net.op("ReduceMean", whole, axes=[1], keepdims=1), axis=1)
    return net.conv(joined, 33, channels, 3)


def last_piece(net: Net, value: str, channels: int) -> str:
    """A value behind 32 channels, which another convolution makes as many as it has itself."""
    joined = net.op("Concat", net.conv("x", 20, 32, 1), value, axis=1)
    return net.conv(joined, channels + 32, channels, 3)


BETWEEN: dict[str, Callable[[Net, str, int], str]] = {
    "Reciprocal": lambda n, c, _: n.op("Reciprocal", c),
    "Div": lambda n, c, _: n.op("Div", n.weight(3.0), c),
    "DivByTensor": lambda n, c, _: n.op("Div", n.op("Relu", c), c),
    "Log": lambda n, c, _: n.op("Log", n.op("Abs", c)),
    "Exp": lambda n, c, _: n.op("Exp", n.op("Mul", c, n.weight(0.01))),
    "Pow": lambda n, c, _: n.op("Pow", n.op("Abs", c), n.weight(-1.5)),
    "AddInfinity": lambda n, c, _: n.op("Min", n.op("Add", c, n.weight(np.inf)), n.weight(4.0)),
    "Infinity": lambda n, c, _: n.op("Add", c, n.weight(np.inf)),
    "MaxPool": lambda n, c, _: n.op("MaxPool", c, kernel_shape=[3, 3], pads=[1] * 4),
    "AveragePool": lambda n, c, _: n.op("AveragePool", c, kernel_shape=[2, 2]),
    "Depthwise": lambda n, c, m: n.op("Relu", n.conv(c, m, m, 3, group=m)),
    "Residual": lambda n, c, m: n.op("Add", n.op("Relu", n.conv(c, m, m, 3)), c),
    "Batches": lambda n, c, m: n.op("Relu", n.op("Concat", c, n.conv("x", 20, m, 3), axis=0)),
    "JoinedBatches": lambda n, c, m: n.op("Concat", c, n.conv("x", 20, m, 3), axis=0),
    "LastPiece": last_piece,
    "OneChannelMore": one_channel_more,
    "Scale": lambda n, c, m: n.op("Mul", c, n.op("Sigmoid", n.conv(n.op("GlobalAveragePool", c), m, m, 1))),
}
"""What may stand between two convolutions: of the network, a value and its channels."""
ALIKE = {"Div", "Log", "Pow", "Infinity", "JoinedBatches"}
"""They give their zeros or their pieces what another of them gives."""


@pytest.mark.parametrize(
    ("between", "channels", "target"),
    [
        pytest.param(b, c, t, marks=[] if (c, t) == USUAL[turn % 2] and b not in ALIKE else pytest.mark.long)
        for turn, b in enumerate(BETWEEN)
        for c in (17, 20, 24)
        for t in TARGETS
    ],
)
def test_what_stands_between(between: str, channels: int, target: str) -> None:
    net = Net(channels)
    m = BETWEEN[between](net, net.conv("x", 20, channels, 1), channels)
    # A maximum with NaN is nowhere defined: onnxruntime's pools leave it out.
    values = SPECIAL[:2] if between == "MaxPool" else SPECIAL
    check(net.model(net.conv(m, channels, 18, 3)), target, "fast", values)

"""Direct convolutions on channel blocks as machine code give the numbers of the sum, in whatever order they read."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina

# Shape of the data, output channels, stride: data beyond the second-level cache and not, rows that no tile fills.
CASES = {
    "data_meets_all_weights_at_once": ((1, 256, 37, 41), 72, 1),
    "the_same_of_two_images": ((2, 272, 33, 31), 32, 1),
    "the_same_at_stride_2": ((1, 256, 37, 41), 32, 2),
    "weights_that_no_cache_holds": ((1, 320, 31, 29), 512, 1),
    "fetched_ahead": ((1, 160, 19, 23), 48, 1),
    "little_data": ((1, 16, 7, 7), 33, 1),
}


USUAL = ("data_meets_all_weights_at_once", "the_same_at_stride_2", "fetched_ahead")


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        pytest.param(name, threads, marks=[] if threads == 1 and name in USUAL else pytest.mark.long)
        for name in CASES
        for threads in (1, 2)
    ],
)
def test_pointwise_convolution(name: str, threads: int) -> None:
    shape, channels, stride = CASES[name]
    random = np.random.default_rng(sum(shape))
    x = random.uniform(-1, 1, shape).astype(np.float32)
    w = random.uniform(-1, 1, (channels, shape[1], 1, 1)).astype(np.float32)
    b = random.uniform(-1, 1, channels).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], strides=[stride, stride]),
        helper.make_node("Relu", ["c"], ["y"]),
    ]
    sides = (("x", shape), ("y", None))
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in sides]
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    found = lamina.compile(model, threads=threads).run({"x": x})["y"]
    kept = x[:, :, ::stride, ::stride].astype(np.float64)
    expected = np.maximum(np.einsum("oc,ncyx->noyx", w[:, :, 0, 0].astype(np.float64), kept) + b[:, None, None], 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())

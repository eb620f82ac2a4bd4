"""bench/convolutions.py: the convolutions of a model as models of their own, measured and compared with onnxruntime."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina.backends.cpu.jit import host_target


def _bench() -> ModuleType:
    folder = Path(__file__).parents[2] / "bench"
    for name in ("peers", "peak", "zoo", "convolutions"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["convolutions"]


bench: Any = _bench()


def test_convolutions_of_a_model() -> None:
    weights = [
        numpy_helper.from_array(np.ones((8, 3, 3, 5), np.float32), "v"),
        numpy_helper.from_array(np.ones((8, 2, 1, 1), np.float32), "w"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "v"], ["h"], strides=[2, 1], pads=[1, 0, 0, 2], dilations=[1, 2]),
        helper.make_node("Conv", ["h", "w"], ["y"], group=4),
    ]
    info = [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 3, 11, 13))]
    info += [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    first, second = bench.convolutions(model)
    assert first == bench.Convolution(3, 11, 13, 8, (3, 5), (2, 1), (1, 0, 0, 2), (1, 2), 1)
    assert second == bench.Convolution(8, *first.outputs(), 8, (1, 1), (1, 1), (0, 0, 0, 0), (1, 1), 4)
    # Of 15 rows that the windows meet one is padding, and so are two columns of 35.
    assert first.outputs() == (5, 7) and first.operations() == 2 * (15 - 1) * (35 - 2) * 8 * 3
    (port,) = lamina.compile(first.model(), threads=1).outputs
    assert port.shape == (1, 8, 5, 7)


def test_a_convolution_is_given_as_it_is_spelled() -> None:
    conv = bench.Convolution(64, 9, 7, 32, (3, 1), (2, 2), (1, 0, 1, 0), (1, 1), 4)
    assert bench.of_shape(str(conv)) == conv
    with pytest.raises(ValueError, match="'3x3' is no convolution"):
        bench.of_shape("3x3")


def test_a_convolution_is_measured() -> None:
    conv = bench.Convolution(16, 9, 9, 16, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1)
    row = bench.measure(conv, 2, True, True, bench.peak.best_fma(host_target(1)))
    assert row["difference"] < 1e-5
    assert min(row[name] for name in ("kernel", "lamina", "onnxruntime", "low", "roof", "high", "gflops", "peak")) > 0

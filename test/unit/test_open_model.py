"""ONNX models whose extents are open: compiled for each shape that they meet, without being told any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import lamina
from lamina.errors import InputError, UnsupportedError, UsageError

pytestmark = pytest.mark.slow

W = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)


def model_of(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any]) -> ModelProto:
    ports = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in side.items()]
        for side in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "g", ports[0], ports[1], [numpy_helper.from_array(W, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


ROWS = ["batch", 4]
PRODUCT = model_of(
    [helper.make_node("Add", ["x", "b"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])],
    {"x": ROWS, "b": ROWS},
    {"y": ["batch", 3]},
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAMINA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "open-cache"))


def test_each_batch_size_is_compiled_once_and_computed_right(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(PRODUCT.SerializeToString())
    exe = lamina.compile(path, threads=1)
    assert [p.describe() for p in exe.inputs] == ["float32[batch, 4]"] * 2
    assert [p.describe() for p in exe.outputs] == ["float32[batch, 3]"]
    assert "compiled for each shape" in repr(exe)
    for rows in (2, 5, 2):
        x, b = np.random.default_rng(rows).standard_normal((2, rows, 4)).astype(np.float32)
        assert np.allclose(exe(x, b), (x + b) @ W, atol=1e-5)
    programs = exe._program._programs._programs  # type: ignore[union-attr] # pyright: ignore
    assert len(programs) == 2  # pyright: ignore
    assert exe.benchmark({"x": x, "b": b}, repeats=2).times


def test_what_does_not_fit_is_named() -> None:
    exe = lamina.compile(PRODUCT, threads=1)
    x = np.ones((2, 4), np.float32)
    for inputs, said in (
        ({"x": x, "b": np.ones((3, 4), np.float32)}, "input 'b' has batch = 3, elsewhere it is 2"),
        ({"x": x, "b": np.ones((2, 5), np.float32)}, "input 'b' is float32"),
        ({"x": x}, r"input 'b': missing; expected float32\[batch, 4\]"),
        ({"x": x, "b": x, "c": x}, "input 'c': the model has no such input"),
    ):
        with pytest.raises(InputError, match=said):
            exe.run(inputs)
    with pytest.raises(UsageError, match="no values can be drawn for the input 'x'"):
        exe.benchmark()
    with pytest.raises(UnsupportedError, match="compiled for each shape: it has no kernels in a fixed order"):
        exe.profile({"x": x, "b": x})
    with pytest.raises(UsageError, match='the dimension "batch" has no fixed size'):
        exe.text("te")


def test_some_extents_may_be_given() -> None:
    model = model_of([helper.make_node("Add", ["x", "b"], ["y"])], {"x": ["n", "m"], "b": ["m"]}, {"y": ["n", "m"]})
    exe = lamina.compile(model, shapes={"m": 4}, threads=1)
    assert [p.describe() for p in exe.inputs] == ["float32[n, 4]", "float32[4]"]
    x, b = np.ones((3, 4), np.float32), np.arange(4, dtype=np.float32)
    assert np.array_equal(exe(x, b), x + b)
    with pytest.raises(UsageError, match="a shape is given for .*k.*, which is no input"):
        lamina.compile(model, shapes={"k": 4})
    with pytest.raises(InputError, match="input 'x' is float32"):
        exe(np.ones((3, 5), np.float32), b)
    fixed = lamina.compile(model, shapes={"m": 4, "n": 3}, threads=1)
    assert "1 kernels" in repr(fixed)


def test_an_operator_that_is_missing_is_said_when_shapes_are_known() -> None:
    node = helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")
    model = model_of([node], {"x": ROWS}, {"y": ROWS})
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    exe = None
    with pytest.raises(UnsupportedError, match="Frobnicate"):
        exe = lamina.compile(model, threads=1)
        exe(np.ones((2, 4), np.float32))

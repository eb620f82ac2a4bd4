"""What an imported model looks like: names, places, weights, folded shapes, functions put in place."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import Counter
from io import StringIO
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import StringAttr
from xdsl.printer import Printer

from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.params import ParamAttr
from lamina.frontends.onnx import ImportedModel, check_model, load_onnx
from lamina.interpreters.relay_reference import main_function, run_relay

sys.path.insert(0, str(Path(__file__).parents[1]))
import models  # noqa: E402


def model_of(nodes: list[Any], shape: list[int], weights: dict[str, Any] | None = None, **more: Any) -> ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, **more)


def run(imported: ImportedModel, *arrays: np.ndarray) -> np.ndarray:
    return run_relay(main_function(imported.module), list(arrays), imported.store)[0]


def ops_of(imported: ImportedModel) -> Counter[str]:
    return Counter(op.name for op in main_function(imported.module).body.block.ops)


def test_names_places_and_weights_are_the_models_own() -> None:
    w = np.arange(2 * 512, dtype=np.float32).reshape(2, 512)
    nodes = [
        helper.make_node("Gemm", ["x", "layer/w:0"], ["h 1"], "layer/Gemm", transB=1),
        helper.make_node("Relu", ["h 1"], ["y"]),
    ]
    imported = load_onnx(model_of(nodes, [1, 512], {"layer/w:0": w}))
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(imported.module)
    text = stream.getvalue()
    assert '%x: tensor<1x512xf32> {lamina.name = "x"}' in text
    assert '%layer_w = relay.constant #relay.param<"layer/w:0", ' in text
    assert "%h = relay.nn.dense %x, %layer_w {units = 2}" in text
    assert 'loc(fused["layer/Gemm", "g":1:0])' in text
    assert 'loc(fused["y", "g":2:0])' in text, "a node without a name goes by its first output"
    assert imported.module.attributes["lamina.params"] == StringAttr("g.safetensors")
    (constant,) = (op for op in imported.module.walk() if isinstance(op, ConstantOp))
    assert isinstance(constant.value, ParamAttr)
    np.testing.assert_array_equal(imported.store.get(constant.value), w)


def test_shape_arithmetic_leaves_no_ops_behind() -> None:
    imported = load_onnx(models.encoder_block(heads=2, width=8, length=4))
    ops = ops_of(imported)
    assert "relay.take" not in ops and "relay.concatenate" not in ops
    assert not [op for op in imported.module.walk() if "i64" in str(op.result_types[:1]) and "mask" not in str(op)]


def test_weights_of_constant_of_shape_are_made_when_asked_for() -> None:
    imported = load_onnx(models.light_path("vgg19"))
    params = [
        op.value for op in imported.module.walk() if isinstance(op, ConstantOp) and isinstance(op.value, ParamAttr)
    ]
    assert len(params) > 16 and all(imported.store.is_derived(p) for p in params)
    value = imported.store.get(params[0])
    assert value.size > 256 and (value == value.flat[0]).all()


def test_local_functions_are_put_in_place() -> None:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    slope = helper.make_node("LeakyRelu", ["a"], ["t"])
    slope.attribute.add(name="alpha", ref_attr_name="slope", type=1)
    inner = helper.make_function(
        "local", "Inner", ["a"], ["b"], [slope, helper.make_node("Neg", ["t"], ["b"])], opsets, ["slope"]
    )
    calls = [
        helper.make_node("Inner", ["a"], ["t"], "one", domain="local", slope=0.5),
        helper.make_node("Inner", ["t"], ["b"], "two", domain="local", slope=0.25),
    ]
    outer = helper.make_function("local", "Outer", ["a"], ["b", "a"], calls, opsets)
    model = model_of(
        [helper.make_node("Outer", ["x"], ["y", "same"], "call", domain="local")], [3], functions=[outer, inner]
    )
    model.opset_import.append(opsets[1])
    assert check_model(model).ok
    imported = load_onnx(model)
    assert ops_of(imported)["relay.nn.leaky_relu"] == 2
    x = np.array([-4, 0, 2], np.float32)
    once = -np.where(x > 0, x, x * 0.5)
    np.testing.assert_allclose(run(imported, x), -np.where(once > 0, once, once * 0.25))
    assert "call.1/one.2" in "".join(str(op.location) for op in imported.module.walk())


def test_indices_from_the_end_and_beyond() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT64),
        helper.make_node("Gather", ["w", "i"], ["y"]),
    ]
    imported = load_onnx(model_of(nodes, [4], {"w": np.array([10, 20, 30], np.float32)}))
    np.testing.assert_array_equal(run(imported, np.array([0, -1, 2, 9], np.float32)), [10, 30, 30, 30])


def test_named_dimensions_are_given_sizes() -> None:
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [1, 4])
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    assert load_onnx(model, shapes={"batch": 7}).outputs[0].shape == (7, 4)
    assert load_onnx(model, shapes={"x": [2, 4]}).inputs[0].shape == (2, 4)


@pytest.mark.parametrize("how", ["path", "bytes", "model"])
def test_every_kind_of_source_gives_the_same_graph(how: str, tmp_path: Path) -> None:
    model = models.encoder_block(heads=2, width=8, length=4)
    path = tmp_path / "encoder_block.onnx"
    path.write_bytes(model.SerializeToString())
    source: Any = {"path": path, "bytes": path.read_bytes(), "model": model}[how]
    by_text = load_onnx(str(path))
    assert ops_of(load_onnx(source)) == ops_of(by_text)


def test_imports_are_byte_identical_in_other_processes(tmp_path: Path) -> None:
    program = (
        "import sys; from lamina.frontends.onnx import load_onnx; from xdsl.printer import Printer\n"
        "m = load_onnx(sys.argv[1]); Printer(print_debuginfo=True).print_op(m.module)"
    )
    texts: set[str] = set()
    for seed in ("0", "7"):
        folder = tmp_path / f"folder{seed}"
        folder.mkdir()
        (folder / "m.onnx").write_bytes(models.encoder_block(heads=2, width=32, length=4).SerializeToString())
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder / "m.onnx")],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed},
        )  # fmt: skip
        texts.add(done.stdout)
    assert len(texts) == 1 and "relay.nn.layer_norm" in texts.pop()


def test_weights_read_from_a_file_have_the_names_of_those_in_memory(tmp_path: Path) -> None:
    """Their digests are computed while the graph is imported; of those that nobody wants none is waited for."""
    draw = np.random.default_rng(0)
    large = draw.standard_normal((512, 600), np.float32)
    nodes = [
        helper.make_node("Gemm", ["x", "large"], ["h"]),
        helper.make_node("Gemm", ["h", "turned"], ["t"], transB=1),
        helper.make_node("Cast", ["whole"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["t", "c"], ["y"]),
    ]
    whole = draw.integers(0, 9, (1, 512))
    model = model_of(nodes, [1, 512], {"large": large, "turned": large, "whole": whole, "unused": large + 1})
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    from_file, in_memory = load_onnx(path), load_onnx(model)
    names = [
        [op.value for op in m.module.walk() if isinstance(op, ConstantOp) and isinstance(op.value, ParamAttr)]
        for m in (from_file, in_memory)
    ]
    assert len(names[0]) >= 3 and names[0] == names[1]
    np.testing.assert_array_equal(run(from_file, large[:1, :512]), run(in_memory, large[:1, :512]))


def test_a_slow_reader_is_not_left_without_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads read: the file is closed when both have."""
    weights = {f"w{n}": np.full((512, 600), n, np.float32) for n in range(3)}
    nodes = [helper.make_node("Sum", ["w0", "w1", "w2"], ["s"]), helper.make_node("MatMul", ["x", "s"], ["y"])]
    path = tmp_path / "large.onnx"
    path.write_bytes(model_of(nodes, [1, 512], weights).SerializeToString())
    read = os.preadv

    def slow(*args: Any) -> int:
        sleep(0.05 * (threading.current_thread().name[-1] == "1"))
        return read(*args)

    monkeypatch.setattr(os, "preadv", slow)
    x = np.ones((1, 512), np.float32)
    np.testing.assert_allclose(run(load_onnx(path), x), np.full((1, 600), 3 * 512, np.float32))

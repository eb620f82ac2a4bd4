"""The models that other tests use: their weights differ, their values stay tame, onnxruntime runs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # pyright: ignore[reportMissingTypeStubs]
import pytest
from onnx import ModelProto, numpy_helper

from lamina.frontends.onnx import load_onnx
from lamina.interpreters.relay_reference import main_function, run_relay

sys.path.insert(0, str(Path(__file__).parents[1]))
import models  # noqa: E402

pytestmark = pytest.mark.slow


def onnxruntime_outputs(model: ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    runtime: Any = onnxruntime  # it has no type stubs
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    return runtime.InferenceSession(model.SerializeToString(), options).run(None, feeds)


def reference_outputs(model: ModelProto, feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    imported = load_onnx(model)
    imported.module.verify()
    return run_relay(main_function(imported.module), [feeds[p.name] for p in imported.inputs], imported.store)


def weights(model: ModelProto) -> dict[str, np.ndarray]:
    return {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}


@pytest.mark.parametrize(
    "name", ["squeezenet", "shufflenet", pytest.param("densenet121", marks=pytest.mark.long), "resnet50"]
)
def test_light_models_agree_with_onnxruntime_inside_and_out(name: str) -> None:
    model = models.light_model(name)
    names = models.named_inner_tensors(model)
    assert len(names) == len(set(names)) == 10
    model = models.with_extra_outputs(model, [*names, models.before_softmax(model)])
    feeds = models.random_input(model)
    expected = onnxruntime_outputs(model, feeds)
    for value, ours, theirs in zip(model.graph.output, reference_outputs(model, feeds), expected, strict=True):
        assert np.std(theirs) > 0 or value.name == model.graph.output[0].name, f"{value.name} is constant"
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max(), err_msg=value.name)


@pytest.mark.parametrize("name", ["squeezenet", "shufflenet", "inception_v1"])
def test_models_as_shipped_give_the_stored_output(name: str) -> None:
    outputs = reference_outputs(models.shipped_with_sums(name), models.stored_input(name))
    models.assert_stored_outputs(name, outputs)


@pytest.mark.parametrize("name", models.LIGHT_MODELS)
def test_all_light_models_are_imported_as_shipped(name: str) -> None:
    imported = load_onnx(models.light_path(name))
    imported.module.verify()
    assert [p.shape for p in imported.inputs] == [(1, 3, 224, 224)]


@pytest.mark.parametrize("opset", [13, 17, 22])
def test_encoder_block_agrees_with_onnxruntime(opset: int) -> None:
    model = models.encoder_block(opset=opset)
    model = models.with_extra_outputs(model, models.named_inner_tensors(model))
    feeds = models.random_input(model)
    feeds["mask"][:, 100:] = 0
    for ours, theirs in zip(reference_outputs(model, feeds), onnxruntime_outputs(model, feeds), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())


def test_the_chain_agrees_with_onnxruntime() -> None:
    model = models.chain_model(500)
    feeds = models.random_input(model)
    (ours,), (theirs,) = reference_outputs(model, feeds), onnxruntime_outputs(model, feeds)
    assert len({n.op_type for n in model.graph.node}) == 6
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


def test_weights_follow_from_the_seed_and_fit_their_role() -> None:
    first, again, other = (weights(models.light_model("densenet121", seed)) for seed in (1, 1, 2))
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])
    floats = {n: a for n, a in first.items() if a.dtype == np.float32}
    assert all(a.size == 1 or a.std() > 0 for a in floats.values()), "a weight is one number repeated"
    assert any((floats[n] != other[n]).any() for n in floats)
    scale, variance = floats["conv1/bn_w_0"], floats["conv1/bn_var_0"]
    assert scale.min() >= 0.5 and scale.max() <= 1.5 and variance.min() >= 0.5
    assert abs(floats["conv1/bn_b_0"]).max() < 0.6, "biases are small"
    kernel = floats["conv1_w_0"]
    assert np.isclose(kernel.std(), np.sqrt(2 / np.prod(kernel.shape[1:])), rtol=0.1), "He-normal"

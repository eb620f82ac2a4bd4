"""HDF5 files as Keras 2 wrote them, put together here: Keras 3 reads them, too, and is what Lamina is compared with."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
h5py = pytest.importorskip("h5py")

RNG = np.random.default_rng(0)


def write(path: Path, config: Any, weights: Mapping[str, Mapping[str, Any]], version: str = "2.11.0") -> None:
    """A file with the description of a model, and the weights of each layer by names."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config).encode()
        file.attrs["keras_version"] = version.encode()
        file.attrs["backend"] = b"tensorflow"
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [n.encode() for n in weights]
        group.attrs["keras_version"] = version.encode()
        for name, arrays in weights.items():
            inner = group.create_group(name)
            inner.attrs["weight_names"] = [n.encode() for n in arrays]
            for key, array in arrays.items():
                inner.create_dataset(key, data=array)


def layer(class_name: str, name: str, nodes: Sequence[Any] = (), **config: Any) -> Any:
    return {"class_name": class_name, "config": {"name": name, "trainable": True, "dtype": "float32", **config},
            "name": name, "inbound_nodes": list(nodes)}  # fmt: skip


def given(name: str, *shape: int | None) -> Any:
    config = {"batch_input_shape": list(shape), "dtype": "float32", "sparse": False, "ragged": False, "name": name}
    return {"class_name": "InputLayer", "config": config, "name": name, "inbound_nodes": []}


def drawn(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("float32")


FUNCTIONAL = {"class_name": "Functional", "config": {"name": "model", "trainable": True, "layers": [
    given("x", None, 4), given("y", None, 4),
    layer("Dense", "dense", [[["x", 0, 0, {}]], [["y", 0, 0, {}]]], units=4, activation="relu", use_bias=True),
    layer("Add", "add", [[["dense", 0, 0, {}], ["dense", 1, 0, {}]]]),
    layer("BatchNormalization", "bn", [[["add", 0, 0, {}]]], axis=[1], momentum=0.99, epsilon=0.001, center=True,
          scale=True),
    layer("LeakyReLU", "leaky", [[["bn", 0, 0, {}]]], alpha=0.1),
], "input_layers": [["x", 0, 0], ["y", 0, 0]], "output_layers": [["leaky", 0, 0], ["dense", 1, 0]]}}  # fmt: skip


def test_a_functional_model(tmp_path: Path) -> None:
    path = tmp_path / "m.h5"
    bn = {f"bn/{n}:0": drawn(4) for n in ("gamma", "beta", "moving_mean")} | {"bn/moving_variance:0": np.ones(4, "f4")}
    dense = {"dense/kernel:0": drawn(4, 4), "dense/bias:0": drawn(4)}
    weights = {"x": {}, "y": {}, "dense": dense, "add": {}, "bn": bn, "leaky": {}}
    write(path, FUNCTIONAL, weights)
    model = keras.models.load_model(path, compile=False)
    x, y = drawn(1, 4), drawn(1, 4)
    found = lamina.compile(lamina.load(path), threads=1)(x, y)
    for value, expected in zip(found, model([x, y]), strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-5)
    assert [p.name for p in lamina.load(path).outputs] == ["leaky", "dense"]


@pytest.mark.parametrize("version, slope", [("2.11.0", 1 / 5), ("3.0.0", 1 / 6)])
def test_a_sequence_whose_first_layer_tells_the_input(tmp_path: Path, version: str, slope: float) -> None:
    """And the hard_sigmoid that the version had: Keras 3 takes its own for all files."""
    path = tmp_path / "m.h5"
    config = {"class_name": "Sequential", "config": {"name": "s", "layers": [
        layer("Dense", "dense", units=3, activation="hard_sigmoid", use_bias=False, batch_input_shape=[None, 4]),
    ]}}  # fmt: skip
    kernel = drawn(4, 3)
    write(path, config, {"dense": {"dense/kernel:0": kernel}}, version)
    x = drawn(1, 4)
    found = lamina.compile(lamina.load(path), threads=1)(x)
    np.testing.assert_allclose(found, np.clip(x @ kernel * slope + 0.5, 0, 1), atol=1e-6)
    assert lamina.load(path).inputs[0].name == "dense_input"


def test_calls_of_models_count_from_one(tmp_path: Path) -> None:
    """A model in a model, called twice, with arguments of Keras 2."""
    path = tmp_path / "m.h5"
    inner = {"class_name": "Sequential", "config": {"name": "inner", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [None, 4], "dtype": "float32", "name": "i"}},
        layer("Dense", "dense", units=4, activation="linear", use_bias=True),
    ]}, "name": "inner", "inbound_nodes": [[["x", 0, 0, {}]], [["inner", 1, 0, {}]]]}  # fmt: skip
    config = {"class_name": "Functional", "config": {"name": "model", "layers": [given("x", None, 4), inner],
              "input_layers": [["x", 0, 0]], "output_layers": [["inner", 2, 0]]}}  # fmt: skip
    kernel, bias = drawn(4, 4), drawn(4)
    write(path, config, {"x": {}, "inner": {"dense/kernel:0": kernel, "dense/bias:0": bias}})
    x = drawn(1, 4)
    found = lamina.compile(lamina.load(path), threads=1)(x)
    np.testing.assert_allclose(found, (x @ kernel + bias) @ kernel + bias, rtol=1e-5, atol=1e-5)

"""Models saved by Keras, read by Lamina, and compared with what Keras computes."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

import lamina

TOLERANCE = 1e-5
"""Of the largest number in a result."""


def random_weights(model: Any, seed: int = 0) -> None:
    """Give a model weights that are not those of its initialisers; variances are positive."""
    rng = np.random.default_rng(seed)
    for weight in model.weights:
        shape, name = weight.shape, weight.name
        low, high = (0.5, 1.5) if "variance" in name or name in ("gamma", "scale") else (-0.5, 0.5)
        if np.dtype(weight.dtype if weight.dtype != "bfloat16" else "float32").kind == "f":
            weight.assign(rng.uniform(low, high, shape))
    for layer in model._flatten_layers():
        if hasattr(layer, "finalize_state"):
            layer.finalize_state()


def drawn(model: Any, batch: int = 2, seed: int = 1, high: int = 4) -> list[np.ndarray[Any, Any]]:
    """Random inputs of a model."""
    rng = np.random.default_rng(seed)
    found: list[np.ndarray[Any, Any]] = []
    for tensor in model.inputs:
        shape = [batch if e is None else e for e in tensor.shape]
        if tensor.dtype.startswith(("int", "uint")):
            found.append(rng.integers(0, high, shape).astype(tensor.dtype))
        elif tensor.dtype == "bool":
            found.append(rng.random(shape) < 0.7)
        else:
            found.append(rng.standard_normal(shape).astype(tensor.dtype))
    return found


def flat(results: Any) -> list[np.ndarray[Any, Any]]:
    """The results of a model in a list, those of a dict by their keys."""
    if isinstance(results, Mapping):
        return [a for key in sorted(results) for a in flat(results[key])]
    if isinstance(results, (list, tuple)):
        return [a for r in results for a in flat(r)]
    return [np.asarray(results)]


def check(model: Any, folder: Path, suffix: str = ".keras", inputs: Sequence[Any] | None = None,
          tolerance: float = TOLERANCE) -> Any:  # fmt: skip
    """Save a model, compile the file and compare the results; gives what Lamina imports."""
    path = folder / f"model{suffix}"
    model.save(path)
    arrays = list(inputs) if inputs is not None else drawn(model)
    names = [port.name for port in lamina.load(path, shapes_of(model, arrays)).inputs]
    loaded = lamina.load(path, dict(zip(names, [a.shape for a in arrays], strict=True)))
    expected = flat(model(arrays if len(arrays) > 1 else arrays[0], training=False))
    found = lamina.compile(loaded, threads=1)(*arrays)
    listed = list(found) if isinstance(found, (list, tuple)) else [found]
    assert len(listed) == len(expected)
    for value, wanted in zip(listed, expected, strict=True):
        wanted = wanted.astype("float32") if wanted.dtype.name == "bfloat16" else wanted
        value = np.asarray(value).astype("float32") if value.dtype.name == "bfloat16" else np.asarray(value)
        assert value.shape == wanted.shape
        assert value.dtype == wanted.dtype, (value.dtype, wanted.dtype)
        scale = max(np.abs(wanted).max(initial=0), 1e-30)
        np.testing.assert_allclose(value, wanted, rtol=0, atol=tolerance * scale)
    return loaded


def shapes_of(model: Any, arrays: Sequence[Any]) -> dict[str, Any]:
    """The shapes of arrays by the names of a model's inputs."""
    return {t._keras_history[0].name: a.shape for t, a in zip(model.inputs, arrays, strict=True)}


def one_layer(layer: Any, *shapes: Any, dtype: str = "float32") -> Any:
    """A model of one layer, which gets a list where it takes several tensors."""
    inputs = [keras.Input(batch_shape=s) for s in shapes] if dtype == "float32" else [
        keras.Input(batch_shape=s, dtype=dtype) for s in shapes]  # fmt: skip
    outputs = layer(inputs if len(inputs) > 1 else inputs[0])
    model = keras.Model(inputs, outputs)
    random_weights(model)
    return model

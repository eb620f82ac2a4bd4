"""Networks of keras.applications with random weights, saved and compiled: equal to Keras."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
pytest.importorskip("h5py")

from keras_models import check, drawn  # noqa: E402

APPLICATIONS = keras.applications
NETWORKS: dict[str, Callable[[], Any]] = {
    "MobileNetV2": lambda: APPLICATIONS.MobileNetV2(input_shape=(96, 96, 3), weights=None),
    "MobileNetV3Small": lambda: APPLICATIONS.MobileNetV3Small(input_shape=(96, 96, 3), weights=None),
    "ResNet50": lambda: APPLICATIONS.ResNet50(input_shape=(64, 64, 3), weights=None),
    "DenseNet121": lambda: APPLICATIONS.DenseNet121(input_shape=(64, 64, 3), weights=None),
    "EfficientNetB0": lambda: APPLICATIONS.EfficientNetB0(input_shape=(64, 64, 3), weights=None),
    "Xception": lambda: APPLICATIONS.Xception(input_shape=(71, 71, 3), weights=None),
    "ConvNeXtTiny": lambda: APPLICATIONS.ConvNeXtTiny(input_shape=(64, 64, 3), weights=None),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_computes_what_keras_computes(tmp_path: Path, name: str) -> None:
    """With the initialisers' weights, before the last activation: it makes small differences smaller still."""
    keras.utils.set_random_seed(0)
    model = NETWORKS[name]()
    model.layers[-1].activation = keras.activations.linear if hasattr(model.layers[-1], "activation") else None
    check(model, tmp_path, ".h5" if name == "ResNet50" else ".keras", inputs=drawn(model, batch=1))

"""`relay.frontend.from_keras` takes a model that Keras has in memory, as TVM's does."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lamina.compat import tvm
from lamina.errors import UnsupportedError

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
pytest.importorskip("h5py")

from keras import layers as L  # noqa: E402
from keras_models import drawn, random_weights  # noqa: E402


def run(mod: Any, params: Any, **inputs: Any) -> Any:
    """The first result of a module by TVM's graph executor."""
    from lamina.compat.tvm.contrib import graph_executor

    built = tvm.relay.build(mod, target="llvm", params=params)
    executor = graph_executor.GraphModule(built["default"](tvm.cpu()))
    executor.run(**inputs)
    return executor.get_output(0).numpy()


def image_model() -> Any:
    model = keras.Sequential([keras.Input((8, 6, 3), name="x"), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU()])
    random_weights(model)
    return model


def test_images_stand_as_the_layout_says() -> None:
    model = image_model()
    (x,) = drawn(model)
    expected = np.asarray(model(x, training=False))
    mod, params = tvm.relay.frontend.from_keras(model, {"x": (2, 3, 8, 6)})
    found = run(mod, params, x=x.transpose(0, 3, 1, 2))
    np.testing.assert_allclose(found.transpose(0, 2, 3, 1), expected, atol=1e-5)
    mod, params = tvm.relay.frontend.from_keras(model, {"x": (2, 8, 6, 3)}, layout="NHWC")
    np.testing.assert_allclose(run(mod, params, x=x), expected, atol=1e-5)


def test_weights_are_parameters_with_the_names_of_layers() -> None:
    model = keras.Sequential([keras.Input((4,), name="x"), L.Dense(3, name="first"), L.Dense(2, name="second")])
    mod, params = tvm.relay.frontend.from_keras(model)
    assert set(params) == {"first/kernel", "first/bias", "second/kernel", "second/bias"}
    np.testing.assert_array_equal(params["first/kernel"].numpy(), model.layers[0].kernel.numpy().T)
    assert mod["main"].params[0].name_hint == "x"
    (x,) = drawn(model, batch=1)
    np.testing.assert_allclose(run(mod, params, x=x), model(x), atol=1e-5)


def test_a_layout_that_is_none_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="the layout 'CHWN' is not supported"):
        tvm.relay.frontend.from_keras(image_model(), layout="CHWN")

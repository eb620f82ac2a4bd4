"""TensorFlow's graphs, read without TensorFlow: what it computed is stored (test/tensorflow/make.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina

INPUTS = Path(__file__).parent / "inputs" / "tensorflow"
GRAPHS = sorted(p.stem for p in INPUTS.glob("*.pb"))


def stored(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The inputs and the outputs by their names."""
    with np.load(INPUTS / f"{name}.npz") as file:
        arrays = dict(file)
    return tuple({k.split(" ", 1)[1]: v for k, v in arrays.items() if k.startswith(way)} for way in ("in ", "out "))


def compare(results: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(results) == list(expected)
    for name, value in expected.items():
        assert results[name].dtype == value.dtype and results[name].shape == value.shape, name
        if value.dtype.kind == "f":
            np.testing.assert_allclose(results[name], value, rtol=2e-5, atol=2e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(results[name], value, err_msg=name)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_computes_what_tensorflow_computed(name: str) -> None:
    inputs, outputs = stored(name)
    model = lamina.compile(INPUTS / f"{name}.pb", threads=1)
    compare(model.run(inputs), outputs)

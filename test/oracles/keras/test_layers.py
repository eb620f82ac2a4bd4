"""Every layer with several sets of options: saved by Keras, compiled by Lamina, equal to Keras."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from pathlib import Path

import pytest

keras = pytest.importorskip("keras")
pytest.importorskip("jax", reason="Keras computes with it")
pytest.importorskip("h5py")

from keras_models import check  # noqa: E402
from layer_cases import CASES  # noqa: E402


@pytest.mark.parametrize("name", CASES)
def test_a_layer_computes_what_keras_computes(tmp_path: Path, name: str) -> None:
    check(CASES[name](), tmp_path)


@pytest.mark.parametrize("name", list(CASES)[::5])
def test_a_layer_from_hdf5_does_too(tmp_path: Path, name: str) -> None:
    check(CASES[name](), tmp_path, ".h5")

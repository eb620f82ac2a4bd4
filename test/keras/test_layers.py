"""Every layer with several sets of options: saved by Keras, compiled by Lamina, equal to Keras."""

from __future__ import annotations

from pathlib import Path

import pytest
from keras_models import check
from layer_cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_a_layer_computes_what_keras_computes(tmp_path: Path, name: str) -> None:
    check(CASES[name](), tmp_path)


@pytest.mark.parametrize("name", list(CASES)[::5])
def test_a_layer_from_hdf5_does_too(tmp_path: Path, name: str) -> None:
    check(CASES[name](), tmp_path, ".h5")

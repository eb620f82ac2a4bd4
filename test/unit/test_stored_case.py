"""Cases on disk: what is written is read, and what is none is refused."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from lamina.debugging.outcome import Kind, Outcome
from lamina.debugging.stored_case import StoredCase
from lamina.errors import InputError


def test_a_case_comes_back(tmp_path: Path) -> None:
    inputs = {"x": np.array([1, np.nan], np.float32), "b": np.array([True]), "h": np.array([1.5], ml_dtypes.bfloat16)}
    outcome = Outcome(Kind.MISMATCH, "y[0] is 1, expected 2", "numpy")
    StoredCase(b"func", False, inputs, 7, "layout", "numpy", outcome).write(tmp_path / "c")
    found = StoredCase.read(tmp_path / "c")
    assert (found.program, found.is_onnx, found.seed, found.kind, found.pair) == (b"func", False, 7, "layout", "numpy")
    assert found.outcome == outcome
    for name, array in inputs.items():
        assert found.inputs[name].dtype == array.dtype
        assert found.inputs[name].tobytes() == array.tobytes()


def test_another_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a case is a folder with model.onnx"):
        StoredCase.read(tmp_path)

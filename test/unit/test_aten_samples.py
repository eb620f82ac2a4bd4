"""Rows of the table of ATen's operators against what torch computed: calls with their inputs and results as text.

`tools/aten_samples.py` writes the samples; no torch is needed to read them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.dialects.numpy_dtypes import numpy_dtype
from lamina.frontends.aten.fx_text import read_graph
from lamina.frontends.aten.importer import import_graph
from lamina.interpreters.relay_reference import main_function, run_relay

from .turns import each_second

FOLDER = Path(__file__).resolve().parents[1] / "frontends" / "aten" / "samples"
FILES = sorted(FOLDER.glob("*.fx"))
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-5}


def arrays_of(text: str) -> dict[str, Any]:
    """The arrays in the comments of a sample: `# x: float32[2] 0.5 nan`."""
    found: dict[str, Any] = {}
    for name, dtype, shape, values in re.findall(r"^# (\w+): (\w+)\[([\d, ]*)\] ?(.*)$", text, re.M):
        extents = [int(e) for e in shape.split(",") if e.strip()]
        words = values.split()
        numbers: list[Any] = [w == "True" for w in words] if dtype == "bool" else [
            int(w) if re.fullmatch(r"-?\d+", w) else float(w) for w in words]  # fmt: skip
        found[name] = np.asarray(numbers, numpy_dtype(dtype)).reshape(extents)
    return found


def check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, value in found.items():
        expected = wanted[name]
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape), name
        if value.dtype.kind in "iub":
            np.testing.assert_array_equal(value, expected, err_msg=name)
        else:
            wide = expected.astype(np.float64)
            largest = np.max(np.abs(wide), where=np.isfinite(wide), initial=1.0)
            near = TOLERANCE[str(expected.dtype)]
            atol = near * float(largest)
            np.testing.assert_allclose(value.astype(np.float64), wide, 10 * near, atol, err_msg=name)


def test_there_are_samples_of_most_rows() -> None:
    assert len(FILES) > 300


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_an_imported_call_means_what_torch_computes(path: Path) -> None:
    text = path.read_text("utf-8")
    arrays, made = arrays_of(text), import_graph(read_graph(text, path.name))
    results = run_relay(main_function(made.module), [arrays[p.name] for p in made.inputs], made.store)
    check(dict(zip([p.name for p in made.outputs], map(np.asarray, results), strict=True)), arrays)


@pytest.mark.slow
@pytest.mark.parametrize("path", each_second(FILES), ids=lambda path: path.stem)
def test_a_compiled_call_computes_what_torch_does(path: Path) -> None:
    text = path.read_text("utf-8")
    arrays = arrays_of(text)
    exe = lamina.compile(path, threads=1, cache=False)
    check(exe.run({p.name: arrays[p.name] for p in exe.inputs}), arrays)

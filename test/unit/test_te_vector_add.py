"""examples/te_vector_add.py: runs whole, for this machine and for GPUs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lamina.runtime.opencl import devices


def _example() -> ModuleType:
    path = Path(__file__).parents[2] / "examples" / "te_vector_add.py"
    spec = importlib.util.spec_from_file_location("te_vector_add", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


example: Any = _example()


def test_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main([]) == 0
    text = capsys.readouterr().out
    assert 'parallel "C.i.0"' in text and 'vectorized "C.i.1"' in text
    assert all(f"n = {size:>9,}: right" in text for size in example.SIZES)


@pytest.mark.parametrize(
    ("target", "kernel"),
    [
        ("cuda", "__global__ void"),
        ("nvptx", ".visible .entry myadd_kernel0"),
        ("opencl", "void myadd_kernel0(const long n, __global const float* restrict A"),
    ],
)
def test_for_a_gpu(target: str, kernel: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main([target]) == 0
    text = capsys.readouterr().out
    assert 'thread "threadIdx.x"' in text and kernel in text
    runs = target == "opencl" and bool(devices())
    assert all((f"n = {size:>9,}: right" in text) == runs for size in example.SIZES)

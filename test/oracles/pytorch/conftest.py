"""Tests of this folder need torch; they import its helpers by their names."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def fresh() -> Iterator[None]:
    """A compiler of torch's that knows no program yet, and the same random numbers."""
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def fbgemm() -> Iterator[None]:
    """FBGEMM's kernels for quantised tensors, on one thread, without warnings."""
    torch = pytest.importorskip("torch")
    threads, engine = torch.get_num_threads(), torch.backends.quantized.engine
    torch.set_num_threads(1)
    torch.backends.quantized.engine = "fbgemm"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = engine

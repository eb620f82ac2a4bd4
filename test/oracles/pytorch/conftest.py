"""Tests of this folder need torch; they import its helpers by their names."""
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import sys
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

"""What tests of external backends share: compiling a text for a target, and whether OpenBLAS is here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.passes.external_backends import find_backend

Array = np.ndarray[Any, np.dtype[Any]]


def missing_openblas() -> str:
    backend = find_backend("openblas")
    return backend.unavailable() if backend is not None else "there is no such backend"


needs_openblas = pytest.mark.skipif(bool(missing_openblas()), reason=missing_openblas() or "here")


def compiled(tmp_path: Path, text: str, target: str, **options: Any) -> lamina.Executable:
    path = tmp_path / "net.mlir"
    path.write_text(text)
    return lamina.compile(path, target, cache=False, **options)


def arrays_for(exe: lamina.Executable, seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(p.shape).astype(p.dtype) for p in exe.inputs]

"""`tvm.testing`: comparing results."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.compat.tvm.devices import Device, device, enabled
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.ir.tvm_names import missing

__path__ = NO_FOLDER


def device_enabled(target: object) -> bool:
    """Whether programs for a target can run."""
    return enabled(target)


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets whose programs can run, with their devices."""
    return [("llvm", device("llvm"))]


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise AssertionError where two arrays differ in shape or by more than the tolerances."""
    found, wanted = (np.asarray(getattr(a, "numpy_view", a)) for a in (actual, desired))
    np.testing.assert_allclose(found.shape, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, verbose=True)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())

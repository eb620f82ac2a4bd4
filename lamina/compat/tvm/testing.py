"""`tvm.testing`: comparing results."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.compat.tvm.runtime import enabled


def device_enabled(target: object) -> bool:
    """Whether programs for a target can run."""
    return enabled(target)


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise AssertionError where two arrays differ in shape or by more than the tolerances."""
    found, wanted = (np.asarray(getattr(a, "numpy_view", a)) for a in (actual, desired))
    np.testing.assert_allclose(found.shape, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, verbose=True)

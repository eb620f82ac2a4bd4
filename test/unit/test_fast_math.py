"""The accuracy that fast_exp, fast_tanh and fast_erf state, in f32 against the functions in f64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from lamina.dialects.infos import TensorInfo
from lamina.dialects.relay.elementwise.fast_math import FastErfOp, FastExpOp, FastTanhOp
from lamina.dialects.relay.meaning import te_func
from lamina.interpreters.te_interpreter import run_te_func


def errors(op_type: Any, function: Any, low: float, high: float, relative: bool) -> float:
    """The greatest error on 20001 places."""
    x = np.linspace(low, high, 20001).astype("float32")
    (actual,) = run_te_func(te_func(op_type, [TensorInfo(x.shape, "float32")], {}), [x])
    expected = np.array([function(float(v)) for v in x])
    return float(np.max(np.abs(actual - expected) / (np.abs(expected) if relative else 1.0)))


@pytest.mark.parametrize(
    ("op_type", "function", "low", "high", "relative", "stated"),
    [
        (FastExpOp, math.exp, -1.0, 1.0, True, 5e-7),
        (FastExpOp, math.exp, -87.0, 88.0, True, 5e-6),
        (FastTanhOp, math.tanh, -12.0, 12.0, False, 3e-7),
        (FastErfOp, math.erf, -6.0, 6.0, False, 4e-7),
    ],
)
def test_the_approximation_is_as_close_as_it_says(
    op_type: Any, function: Any, low: float, high: float, relative: bool, stated: float
) -> None:
    assert errors(op_type, function, low, high, relative) < stated


def test_fast_exp_of_what_is_out_of_range() -> None:
    x = np.array([-np.inf, -200.0, 200.0, np.inf, np.nan], "float32")
    (y,) = run_te_func(te_func(FastExpOp, [TensorInfo(x.shape, "float32")], {}), [x])
    assert y[0] == y[1] == 0
    assert 2e38 < y[2] < np.inf
    assert y[3] == np.inf
    assert np.isnan(y[4])

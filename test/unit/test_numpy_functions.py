"""Every function of NumPy that can be traced, on arrays, against NumPy itself."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false
from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lamina.dialects.dtypes import is_float
from lamina.frontends.numpy import ufuncs
from lamina.frontends.numpy.table import names
from lamina.interpreters.relay_reference import main_function, run_relay
from lamina.numpy.jit import traced

sys.path.insert(0, str(Path(__file__).parent))

from numpy_cases import FUNCTIONS, UFUNCS, arrays  # noqa: E402

RTOL = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-9}
PROGRAMS = [(n, k, p) for n, programs in (UFUNCS | FUNCTIONS).items() for k, p in enumerate(programs)]


def given(program: Callable[..., Any]) -> list[Any]:
    """The arrays that a program is called on, by the names of its parameters."""
    known = arrays()
    # A parameter with a default says which function it is.
    return [known[n] for n, p in inspect.signature(program).parameters.items() if p.default is inspect.Parameter.empty]


def listed(result: Any) -> list[Any]:
    return [np.asarray(r) for r in (result if isinstance(result, (tuple, list)) else (result,))]


@pytest.mark.parametrize("name, number, program", PROGRAMS, ids=[f"{n}-{k}" for n, k, _ in PROGRAMS])
def test_function_is_that_of_numpy(name: str, number: int, program: Callable[..., Any]) -> None:
    operands = given(program)
    with np.errstate(all="ignore"):
        try:
            expected = listed(program(*[o.copy() for o in operands]))
        except TypeError:
            pytest.skip("NumPy has it for other types only")
        found = traced(program, operands, {}, operands)
        got = [np.asarray(r) for r in run_relay(main_function(found.model.module), operands, found.model.store)]
    order = [found.places[id(r)] for r in (found.result if isinstance(found.result, (tuple, list)) else [found.result])]
    assert len(order) == len(expected)
    for place, wanted in zip(order, expected, strict=True):
        actual = got[place]
        assert (actual.dtype, actual.shape) == (wanted.dtype, wanted.shape)
        if is_float(wanted.dtype.name):
            rtol = RTOL[wanted.dtype.name]
            scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)
            np.testing.assert_allclose(actual, wanted, rtol=rtol, atol=rtol * scale)
        else:
            np.testing.assert_array_equal(actual, wanted)


def test_every_ufunc_has_a_program() -> None:
    assert set(ufuncs.names()) == set(UFUNCS)


def test_every_function_has_a_program() -> None:
    assert set(names()) == {f"numpy.{n}" for n in FUNCTIONS}

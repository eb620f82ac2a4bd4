"""Results of LiteRT's interpreter, and their comparison with ours."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import (  # pyright: ignore[reportMissingTypeStubs]
    Interpreter,
    OpResolverType,
)

import lamina


def interpreter(data: bytes, reference: bool = True) -> Any:
    """LiteRT's interpreter of a model, with the reference kernels or with those that it takes by itself."""
    kinds = [OpResolverType.BUILTIN_REF, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES]
    for kind in kinds if reference else [OpResolverType.AUTO]:
        try:
            found = Interpreter(model_content=data, experimental_op_resolver_type=kind, num_threads=1)
        except ValueError:  # not all operators have a reference kernel
            continue
        found.allocate_tensors()
        return found
    raise ValueError("LiteRT does not take the model")


def expected(data: bytes, inputs: Sequence[Any], reference: bool = True) -> list[Any]:
    """LiteRT's results for inputs in order."""
    return run(interpreter(data, reference), inputs)


def run(it: Any, inputs: Sequence[Any]) -> list[Any]:
    """The results of a run of an interpreter, which keeps its variables."""
    for detail, array in zip(it.get_input_details(), inputs, strict=True):
        it.set_tensor(detail["index"], array)
    it.invoke()
    return [it.get_tensor(d["index"]) for d in it.get_output_details()]


def ours(data: bytes, inputs: Sequence[Any]) -> list[Any]:
    """Our results for inputs in order; variables have their initial values."""
    exe = lamina.compile(data, cache=False)
    return list(exe.run(dict(zip((p.name for p in exe.inputs), inputs, strict=True))).values())


def draw(shape: Sequence[int], dtype: str = "float32", seed: int = 0, low: float = -2, high: float = 2) -> Any:
    """Numbers of a type, drawn between bounds."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith("float"):
        return rng.uniform(low, high, shape).astype(dtype)
    return rng.integers(int(low), int(high) + 1, shape).astype(dtype)


def check(data: bytes, inputs: Sequence[Any], tolerance: float = 1e-5, reference: bool = True) -> None:
    """Our results are LiteRT's: floats within a part of the greatest one, all else exactly."""
    same(ours(data, inputs), expected(data, inputs, reference), tolerance)


def same(found: Sequence[Any], wanted: Sequence[Any], tolerance: float = 1e-5) -> None:
    """Results are those that are expected: floats within a part of the greatest one, all else exactly."""
    assert len(found) >= len(wanted)
    for y, z in zip(found, wanted, strict=False):
        assert y.shape == z.shape and y.dtype == z.dtype, (y.shape, y.dtype, z.shape, z.dtype)
        if z.dtype.kind != "f":
            np.testing.assert_array_equal(y, z)
            continue
        finite = np.isfinite(z)
        np.testing.assert_array_equal(np.isfinite(y), finite)
        most = float(np.abs(z[finite]).max(initial=0))
        np.testing.assert_allclose(y[finite], z[finite], rtol=0, atol=tolerance * max(most, 1e-30))
        np.testing.assert_array_equal(y[~finite], z[~finite])

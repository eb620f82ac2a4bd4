"""Programs of JAX that `test/oracles/jax/store_programs.py` has stored as texts, and their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "frontends" / "stablehlo" / "inputs"
NAMES = ("mlp", "cnn", "gpt", "lstm", "gather_scatter", "newton", "custom_gradient")


def stored_inputs(types: Sequence[tuple[Sequence[int], Any]]) -> list[np.ndarray[Any, Any]]:
    """Arrays of these shapes and types: floats from 0.1 to 1, integers from 0 to 7."""
    random = np.random.default_rng(5)
    arrays: list[np.ndarray[Any, Any]] = []
    for shape, dtype in types:
        floats = np.dtype(dtype).kind == "f"
        values = random.uniform(0.1, 1, shape) if floats else random.integers(0, 8, shape)
        arrays.append(np.asarray(values, dtype))
    return arrays

"""Networks with weights: what `get_workload` of each gives."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from lamina.compat.tvm.ir_module import IRModule
from lamina.compat.tvm.nd import NDArray, array

Initializer = Callable[[str, Any], None]
"""Writes a weight, by its name, into an array."""


class Xavier:
    """Weights whose size keeps that of values from layer to layer; scales are 1, shifts are 0."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, name: str, arr: Any) -> None:
        if name.endswith(("gamma", "var")):
            arr[...] = 1
        elif name.endswith(("beta", "mean", "bias")):
            arr[...] = 0
        else:
            fan = max(1, prod(arr.shape[1:]))
            arr[...] = self._rng.standard_normal(arr.shape, "float32") * np.float32(np.sqrt(2.0 / fan))


def create_workload(
    net: Any, initializer: Initializer | None = None, seed: int = 0
) -> tuple[IRModule, dict[str, NDArray]]:
    """A network as a module, and weights for all its parameters but `data`, by Xavier's rule unless given."""
    mod = IRModule.from_expr(net)
    fill = initializer or Xavier(seed)
    params: dict[str, NDArray] = {}
    function = mod.ir()[0] and mod["main"]
    for p in function.params:
        if p.name_hint != "data":
            type_ = p.checked_type
            values: Any = np.zeros(type_.concrete_shape, type_.dtype)
            fill(p.name_hint, values)
            params[p.name_hint] = array(values)
    return mod, params


__all__ = ["Initializer", "Xavier", "create_workload"]

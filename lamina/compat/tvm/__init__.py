"""TVM's module layout: `from lamina.compat import tvm`, `from lamina.compat.tvm import te, tir, topi`.

The objects are Lamina's own. What is here serves programs written for TVM 0.8 to 0.19: tensor programs (expressions,
schedules, `lower`, `build`, arrays and devices) and Relay (`tvm.relay`, `tvm.IRModule`, `tvm.transform`).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from lamina import te, topi
from lamina.compat.tvm import imports, nd, runtime, target, testing, tir
from lamina.compat.tvm.nd import NDArray, array
from lamina.compat.tvm.runtime import Device, cpu, cuda, device, gpu, opencl, rocm
from lamina.errors import LaminaError as TVMError
from lamina.ir.tvm_names import VERSION
from lamina.te import Range, const, max_value, min_value
from lamina.tensor.module import Module
from lamina.tensor.program import build, lower

__version__ = VERSION

context = device
imports.install()

_MODULES = (
    *("auto_scheduler", "autotvm", "contrib", "driver", "error", "instrument", "ir", "micro", "parser", "relay"),
    "transform",
)
"""Loaded when they are asked for: tensor programs do without."""


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name == "module":  # as it was before TVM 0.6
        from types import SimpleNamespace

        return SimpleNamespace(load=runtime.load_module)
    if name == "convert":
        return runtime.convert
    if name in ("get_global_func", "register_func"):
        return getattr(import_module(f"{__name__}.global_functions"), name)
    if name == "IRModule":
        return import_module(f"{__name__}.ir_module").IRModule
    if name.startswith("__"):
        raise AttributeError(name)
    from lamina.ir.tvm_names import not_bridged

    raise not_bridged(name, [*__all__, *_MODULES, "IRModule"])


__all__ = [
    "Device",
    "Module",
    "NDArray",
    "Range",
    "TVMError",
    "array",
    "build",
    "const",
    "context",
    "cpu",
    "cuda",
    "device",
    "gpu",
    "lower",
    "max_value",
    "min_value",
    "nd",
    "opencl",
    "rocm",
    "runtime",
    "target",
    "te",
    "testing",
    "tir",
    "topi",
]

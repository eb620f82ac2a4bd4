"""`tvm.runtime`: devices, files of programs and of weights, values of Python's as TVM's functions take them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from lamina.compat.tvm.devices import Device, cpu, cuda, device, enabled, gpu, opencl, rocm
from lamina.compat.tvm.imports import NO_FOLDER, modules_elsewhere

__path__ = NO_FOLDER


def load_module(path: str | os.PathLike[str], fmt: str = "") -> Any:
    """Load what `export_library` wrote. Raises InputError for other files, also for those of TVM's."""
    from lamina.compat.tvm.relay.library import load_library

    return load_library(path)


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Weights by their names, as bytes in TVM's format."""
    from lamina.compat.tvm.relay import param_dict

    return param_dict.save_param_dict(params)


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, Any]:
    """Load what `save_param_dict` saved, also TVM's. Raises InputError where the bytes are others."""
    from lamina.compat.tvm.relay import param_dict

    return param_dict.load_param_dict(param_bytes)


def save_param_dict_to_file(params: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write weights into a file."""
    with open(path, "wb") as file:
        file.write(save_param_dict(params))


def load_param_dict_from_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Weights from a file. Raises InputError where its bytes are others."""
    with open(path, "rb") as file:
        return load_param_dict(file.read())


def convert(value: Any) -> Any:
    """A value of Python's as TVM's functions take it: numbers as expressions, also inside lists and dictionaries."""
    if isinstance(value, (list, tuple)):
        return [convert(v) for v in cast("Sequence[Any]", value)]
    if isinstance(value, Mapping):
        return {k: convert(v) for k, v in cast("Mapping[Any, Any]", value).items()}
    if not isinstance(value, (bool, int, float)):
        return value
    from lamina.te.expr import as_expr

    return as_expr(value)


_MODULES = modules_elsewhere(
    __name__,
    {
        "vm": "lamina.compat.tvm.relay.backend.vm",
        "profiling": "lamina.compat.tvm.profiling",
        "ndarray": "lamina.compat.tvm.nd",
        "module": "lamina.tensor.module",
    },
)
_HOMES = {"Module": "lamina.tensor.module", **dict.fromkeys(("NDArray",), "lamina.compat.tvm.nd")}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _MODULES[name]
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    from lamina.ir.tvm_names import missing

    raise missing(__name__, name, [*globals(), *_MODULES])


__all__ = [
    "Device", "convert", "cpu", "cuda", "device", "enabled", "gpu", "load_module", "load_param_dict",
    "load_param_dict_from_file", "opencl", "rocm", "save_param_dict", "save_param_dict_to_file",
]  # fmt: skip

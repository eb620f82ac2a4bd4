"""Devices: there is the processor; what a program asks about another device is answered with `exist == False`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from lamina.compat.tvm.imports import NO_FOLDER
from lamina.errors import UsageError, did_you_mean

__path__ = NO_FOLDER

KINDS = {"cpu": 1, "llvm": 1, "cuda": 2, "gpu": 2, "opencl": 4, "vulkan": 7, "metal": 8, "rocm": 10}
"""TVM's numbers of device types."""


@dataclass(frozen=True)
class Device:
    """A device by its kind and number."""

    kind: str
    device_id: int = 0

    @property
    def device_type(self) -> int:
        return KINDS[self.kind]

    @property
    def exist(self) -> bool:
        """Whether programs can run on it."""
        return self.device_type == 1

    def sync(self) -> None:
        """Wait for what was started: nothing, calls return when they are done."""

    def __str__(self) -> str:
        return f"{self.kind}({self.device_id})"

    __repr__ = __str__


def device(dev_type: object, dev_id: int = 0) -> Device:
    """A device by its kind or by a target's string."""
    kind = str(dev_type).split()[0] if str(dev_type).split() else ""
    if kind not in KINDS:
        hint = did_you_mean(kind, list(KINDS)) or f"there are {', '.join(KINDS)}"
        raise UsageError(f"no device {kind!r}", hint=hint)
    return Device("cpu" if KINDS[kind] == 1 else "cuda" if KINDS[kind] == 2 else kind, dev_id)


def enabled(target: object) -> bool:
    """Whether programs for a target can run: tutorials ask before they build for another machine."""
    words = str(target).split()
    return bool(words) and KINDS.get(words[0], 0) == 1


def cpu(dev_id: int = 0) -> Device:
    return Device("cpu", dev_id)


def cuda(dev_id: int = 0) -> Device:
    return Device("cuda", dev_id)


gpu = cuda


def opencl(dev_id: int = 0) -> Device:
    return Device("opencl", dev_id)


def rocm(dev_id: int = 0) -> Device:
    return Device("rocm", dev_id)


def load_module(path: str | os.PathLike[str], fmt: str = "") -> Any:
    """What `export_library` wrote. Raises InputError for other files, also for those of TVM's."""
    from lamina.compat.tvm.relay.library import load_library

    return load_library(path)


def save_param_dict(params: Mapping[str, Any]) -> bytearray:
    """Weights by their names, as bytes in TVM's format."""
    from lamina.compat.tvm.relay import param_dict

    return param_dict.save_param_dict(params)


def load_param_dict(param_bytes: bytes | bytearray) -> dict[str, Any]:
    """What `save_param_dict` saved, also TVM's. Raises InputError where the bytes are others."""
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


class Elsewhere(ModuleType):
    """A module that TVM has below another one; here its file stands where it belongs, and is read when it is used."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name)
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self._home), name)

    def __dir__(self) -> list[str]:
        return dir(import_module(self._home))


def modules_elsewhere(parent: str, homes: Mapping[str, str]) -> dict[str, Elsewhere]:
    """Modules below another one by their names, as `import` finds them; `homes` says where each one's file stands."""
    found = {name: Elsewhere(f"{parent}.{name}", home) for name, home in homes.items()}
    sys.modules.update({module.__name__: module for module in found.values()})
    return found


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

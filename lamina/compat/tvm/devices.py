"""Devices: there is the processor, and what OpenCL finds; what a program asks about another device is answered with
`exist == False`.
"""

from __future__ import annotations

from dataclasses import dataclass

from lamina.errors import UsageError, did_you_mean

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
        return self.device_type == 1 or self.kind == "opencl" and 0 <= self.device_id < _opencl_devices()

    def sync(self) -> None:
        """Wait for what was started: nothing, calls return when they are done."""

    def __str__(self) -> str:
        return f"{self.kind}({self.device_id})"

    __repr__ = __str__


def _opencl_devices() -> int:
    from lamina.runtime.opencl import devices

    return len(devices())


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
    return bool(words) and words[0] in KINDS and device(words[0]).exist


def cpu(dev_id: int = 0) -> Device:
    """The processor, on which programs run: `exist` is true for any number."""
    return Device("cpu", dev_id)


def cuda(dev_id: int = 0) -> Device:
    """An NVIDIA GPU by its number, also as `gpu`; `exist` is false, so that programs fall back."""
    return Device("cuda", dev_id)


gpu = cuda


def opencl(dev_id: int = 0) -> Device:
    """A device of OpenCL by its number; `exist` is true where a driver has it.

    Its arrays stay in the processor's memory, and are copied for each call.
    """
    return Device("opencl", dev_id)


def rocm(dev_id: int = 0) -> Device:
    """An AMD GPU by its number; `exist` is false."""
    return Device("rocm", dev_id)

"""Devices of OpenCL by its loader, libOpenCL.so.1: programs built from text, buffers, launches.

    for device in devices():                  # empty where there is no loader, or no driver behind it
        program = OpenClProgram(device, text)
        buffer = device.buffer(nbytes)

The loader is opened at the first question, by ctypes: nothing has to be installed for Lamina to be imported.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Sequence
from functools import cache, cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from lamina.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

LOADER = "libOpenCL.so.1"
OPTIONS = "-cl-std=CL1.2"
ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
"""Quotients and roots of f32 as IEEE has them, where a device can."""

_EVERY_TYPE = 0xFFFFFFFF
_DEVICE_NAME, _SINGLE_CONFIG, _DOUBLE_CONFIG = 0x102B, 0x101B, 0x1032
_BUILD_LOG, _READ_WRITE, _ROUNDS_DIVISION = 0x1183, 1, 1 << 7
_ERRORS = {
    -3: "compiler not available",
    -4: "allocation failed",
    -5: "out of resources",
    -6: "out of host memory",
    -11: "build failed",
    -46: "invalid kernel name",
    -52: "invalid kernel arguments",
    -54: "invalid work-group size",
    -55: "invalid work-item size",
    -61: "invalid buffer size",
}
"""The meaning of codes that a program may meet."""
_RETURNS_HANDLE = (
    "clCreateContext",
    "clCreateCommandQueue",
    "clCreateBuffer",
    "clCreateProgramWithSource",
    "clCreateKernel",
)


@cache
def _library() -> Any:
    """The loader, None where it is not installed."""
    try:
        library = ctypes.CDLL(LOADER)
    except OSError:
        return None
    for name in _RETURNS_HANDLE:
        getattr(library, name).restype = ctypes.c_void_p
    return library


def _check(code: int, what: str) -> None:
    if code:
        raise InputError(f"OpenCL: {what}: {_ERRORS.get(code, 'error')} ({code})")


def _made(name: str, what: str, *arguments: Any) -> ctypes.c_void_p:
    """The handle that a function of the loader gives."""
    code = ctypes.c_int(0)
    handle = getattr(_library(), name)(*arguments, ctypes.byref(code))
    _check(code.value, what)
    return ctypes.c_void_p(handle)


def _handles(function: Any, *arguments: Any) -> list[ctypes.c_void_p]:
    """The handles that a function lists; none where it fails, as it does where there is no driver."""
    count = ctypes.c_uint(0)
    if function(*arguments, 0, None, ctypes.byref(count)) or not count.value:
        return []
    found = (ctypes.c_void_p * count.value)()
    _check(function(*arguments, count, found, None), "devices cannot be listed")
    return [ctypes.c_void_p(h) for h in found]


@cache
def devices() -> tuple[OpenClDevice, ...]:
    """All devices of all drivers that can compile."""
    library = _library()
    if library is None:
        return ()
    platforms = _handles(library.clGetPlatformIDs)
    kind = ctypes.c_ulong(_EVERY_TYPE)
    return tuple(OpenClDevice(d) for p in platforms for d in _handles(library.clGetDeviceIDs, p, kind))


def device(number: int = 0) -> OpenClDevice:
    """A device by its number. Raises UnsupportedError where there is none."""
    found = devices()
    if not 0 <= number < len(found):
        if _library() is None:
            what = f"{LOADER} is not installed"
        else:
            what = (
                f"there are {len(found)} OpenCL devices, none of number {number}" if found else "no driver has a device"
            )
        raise UnsupportedError(
            f"OpenCL programs do not run here: {what}", hint="on Debian, pocl-opencl-icd runs them on the processor"
        )
    return found[number]


class OpenClDevice:
    """A device, with a context and a queue of its own."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle
        self._process = os.getpid()

    def check_process(self) -> None:
        """Raise UnsupportedError in a copy of the process (fork): the driver's threads are not in it."""
        if os.getpid() != self._process:
            what = "OpenCL programs do not run in a copy of the process that has asked for devices"
            raise UnsupportedError(what, hint='start processes by "spawn"')

    def _info(self, what: int, size: int) -> bytes:
        data = ctypes.create_string_buffer(size)
        code = _library().clGetDeviceInfo(self.handle, what, ctypes.c_size_t(size), data, None)
        return b"" if code else data.raw

    @cached_property
    def name(self) -> str:
        return self._info(_DEVICE_NAME, 1024).split(b"\0")[0].decode(errors="replace")

    @cached_property
    def has_double(self) -> bool:
        """Whether the device computes in float64."""
        return any(self._info(_DOUBLE_CONFIG, 8))

    @cached_property
    def options(self) -> bytes:
        """The options that programs are built with."""
        rounds = int.from_bytes(self._info(_SINGLE_CONFIG, 8), "little") & _ROUNDS_DIVISION
        return f"{OPTIONS} {ROUNDED}".encode() if rounds else OPTIONS.encode()

    @cached_property
    def context(self) -> ctypes.c_void_p:
        return _made("clCreateContext", "no context", None, 1, ctypes.byref(self.handle), None, None)

    @cached_property
    def queue(self) -> ctypes.c_void_p:
        return _made("clCreateCommandQueue", "no queue", self.context, self.handle, ctypes.c_ulong(0))

    def buffer(self, size: int) -> ctypes.c_void_p:
        """Memory of the device, which `release` frees. Raises InputError where there is too little."""
        what = f"no buffer of {size} bytes"
        flags, length = ctypes.c_ulong(_READ_WRITE), ctypes.c_size_t(max(size, 1))
        return _made("clCreateBuffer", what, self.context, flags, length, None)

    def release(self, buffer: ctypes.c_void_p) -> None:
        _library().clReleaseMemObject(buffer)

    def write(self, buffer: ctypes.c_void_p, array: Array) -> None:
        """Copy a compact array into a buffer."""
        self._copy(_library().clEnqueueWriteBuffer, buffer, array)

    def read(self, buffer: ctypes.c_void_p, array: Array) -> None:
        """Copy a buffer into a compact array, behind all that was launched before."""
        self._copy(_library().clEnqueueReadBuffer, buffer, array)

    def _copy(self, function: Any, buffer: ctypes.c_void_p, array: Array) -> None:
        if array.nbytes:
            place, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            code = function(self.queue, buffer, ctypes.c_uint(1), ctypes.c_size_t(0), size, place, 0, None, None)
            _check(code, "a buffer cannot be copied")

    def finish(self) -> None:
        """Wait until all that was launched is done."""
        _check(_library().clFinish(self.queue), "the program failed on the device")


class OpenClProgram:
    """Kernels, built from their text for a device."""

    def __init__(self, device: OpenClDevice, text: str) -> None:
        """Raises UnsupportedError where the device lacks what the text needs, InputError where it refuses it."""
        device.check_process()
        self.device = device
        if "cl_khr_fp64" in text and not device.has_double:
            raise UnsupportedError(f"OpenCL: {device.name} has no float64")
        library, data = _library(), ctypes.c_char_p(text.encode())
        source = ctypes.byref(data)
        self.handle = _made("clCreateProgramWithSource", "no program", device.context, 1, source, None)
        weakref.finalize(self, library.clReleaseProgram, self.handle)
        code = library.clBuildProgram(self.handle, 1, ctypes.byref(device.handle), device.options, None, None)
        if code:
            _check(code, f"{device.name} does not build the program: {self._log()}")
        self._kernels: dict[str, ctypes.c_void_p] = {}
        self._lock = Lock()

    def _log(self) -> str:
        """The first words of what the compiler said."""
        data = ctypes.create_string_buffer(1 << 16)
        size = ctypes.c_size_t(len(data))
        _library().clGetProgramBuildInfo(self.handle, self.device.handle, _BUILD_LOG, size, data, None)
        return " ".join(data.value.decode(errors="replace").split())[:300]

    def _kernel(self, name: str) -> ctypes.c_void_p:
        if name not in self._kernels:
            made = _made("clCreateKernel", f"no kernel {name!r}", self.handle, name.encode())
            weakref.finalize(self, _library().clReleaseKernel, made)
            self._kernels[name] = made
        return self._kernels[name]

    def launch(
        self, name: str, grid: Sequence[int], block: Sequence[int], arguments: Sequence[int | ctypes.c_void_p]
    ) -> None:
        """Start a kernel on a grid of blocks of threads, sizes as numbers and buffers as handles; it is not waited for.

        Raises InputError where the device cannot run it.
        """
        with self._lock:
            kernel = self._kernel(name)
            for n, value in enumerate(arguments):
                given = ctypes.c_int64(value) if isinstance(value, int) else value
                code = _library().clSetKernelArg(kernel, n, ctypes.c_size_t(8), ctypes.byref(given))
                _check(code, f"argument {n} of {name}")
            rank = max(len(grid), len(block))
            blocks, threads = ([*extents, *[1] * (rank - len(extents))] for extents in (grid, block))
            local = (ctypes.c_size_t * rank)(*threads)
            whole = (ctypes.c_size_t * rank)(*(b * t for b, t in zip(blocks, threads, strict=True)))
            code = _library().clEnqueueNDRangeKernel(self.device.queue, kernel, rank, None, whole, local, 0, None, None)
            _check(code, f"{self.device.name} does not run {name} on {list(grid)} blocks of {list(block)} threads")


__all__ = ["OpenClDevice", "OpenClProgram", "device", "devices"]

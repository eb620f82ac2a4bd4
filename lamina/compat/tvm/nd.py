"""`tvm.nd`: arrays that kernels take and write, over numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from lamina.compat.tvm import devices
from lamina.compat.tvm.devices import Device, cpu, cuda, gpu, opencl, rocm
from lamina.compat.tvm.imports import NO_FOLDER
from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import InputError
from lamina.ir.tvm_names import missing
from lamina.te.expr import dtype_of

__path__ = NO_FOLDER

__all__ = [
    "NDArray", "array", "cpu", "cuda", "device", "empty", "from_dlpack", "gpu", "numpyasarray", "opencl", "rocm",
]  # fmt: skip

Array = np.ndarray[Any, np.dtype[Any]]


class NDArray:
    """An array of a device. `numpy()` is a copy; kernels write the array itself."""

    def __init__(self, data: Array, dev: Device) -> None:
        self.numpy_view = data
        """The memory itself."""
        self.device = dev

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numpy_view.shape

    @property
    def dtype(self) -> str:
        return self.numpy_view.dtype.name

    @property
    def size(self) -> int:
        return self.numpy_view.size

    @property
    def ndim(self) -> int:
        return self.numpy_view.ndim

    @property
    def ctx(self) -> Device:
        return self.device

    def numpy(self) -> Array:
        return self.numpy_view.copy()

    asnumpy = numpy

    def copyfrom(self, source: Any) -> NDArray:
        """Take the values of an array of the same shape."""
        values = np.asarray(getattr(source, "numpy_view", source))
        if values.shape != self.shape:
            raise InputError(f"an array of shape {list(values.shape)} does not fit into one of {list(self.shape)}")
        self.numpy_view[...] = values
        return self

    def copyto(self, target: Any) -> Any:
        """Give the values to an array, or to a new one on a device."""
        return target.copyfrom(self) if isinstance(target, NDArray) else NDArray(self.numpy_view.copy(), target)

    def same_as(self, other: Any) -> bool:
        """Whether both are one array."""
        return isinstance(other, NDArray) and self.numpy_view is other.numpy_view

    def asscalar(self) -> Any:
        """The number of an array of one element. Raises ValueError for others."""
        return self.numpy_view.item()

    def to_dlpack(self) -> Any:
        """The memory for another library that speaks DLPack; it is not copied."""
        return self.numpy_view.__dlpack__()

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy_view.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device.device_type, self.device.device_id

    def __getitem__(self, index: Any) -> Any:
        return self.numpy_view[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.numpy_view[index] = getattr(value, "numpy_view", value)

    def __len__(self) -> int:
        return len(self.numpy_view)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        found = self.numpy_view if dtype is None else self.numpy_view.astype(dtype)
        return found.copy() if copy else found

    def __repr__(self) -> str:
        return f"<NDArray shape={self.shape}, {self.device}>\n{self.numpy_view!r}"


def _here(device: Device | None) -> Device:
    found = device or cpu(0)
    if not found.exist:
        raise InputError(f"there is no device {found}", hint="ask `tvm.cuda(0).exist` before you use it")
    return found


def array(arr: Any, device: Device | None = None, mem_scope: Any = None) -> NDArray:
    """A copy of an array, or of numbers, on a device; Python floats become float32."""
    values = np.asarray(getattr(arr, "numpy_view", arr))
    if not isinstance(arr, (np.ndarray, NDArray)) and values.dtype == np.float64:
        values = values.astype(np.float32)
    return NDArray(np.array(values, order="C"), _here(device))


def empty(shape: Any, dtype: Any = "float32", device: Device | None = None, mem_scope: Any = None) -> NDArray:
    """An array to be written; it holds zeros."""
    extents = cast("Sequence[int]", shape) if isinstance(shape, (list, tuple)) else (shape,)
    return NDArray(np.zeros([int(e) for e in extents], numpy_dtype(dtype_of(dtype))), _here(device))


def from_dlpack(tensor: Any) -> NDArray:
    """The array that another library gives by DLPack; both see what is written."""
    return NDArray(np.from_dlpack(tensor), cpu(0))


def numpyasarray(np_data: Any) -> NDArray:
    """The array over the memory of a numpy array, which is not copied."""
    return NDArray(np.asarray(np_data), cpu(0))


def as_ndarray(value: Any) -> NDArray:
    """A value as an array of ours."""
    return value if isinstance(value, NDArray) else array(np.asarray(value))


def device(dev_type: object, dev_id: int = 0) -> Device:
    """A device by its kind or by a target's string."""
    return devices.device(dev_type, dev_id)


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())

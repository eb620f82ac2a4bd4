"""Tensor data in a model: element types, sizes checked before anything is allocated, external files."""

from __future__ import annotations

import mmap
import os
import stat
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, numpy_helper

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import InputError, UnsupportedError, shown
from lamina.frontends.builder import checked_nbytes
from lamina.frontends.onnx.narrow import HELD, plain_array

if TYPE_CHECKING:
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from lamina.frontends.onnx.strings import Strings

DEFAULT_MAX_TENSOR_BYTES = 1 << 34

_DTYPE: dict[int, str] = {
    TensorProto.FLOAT: "float32",
    TensorProto.DOUBLE: "float64",
    TensorProto.FLOAT16: "float16",
    TensorProto.BFLOAT16: "bfloat16",
    TensorProto.BOOL: "bool",
    **{getattr(TensorProto, f"INT{n}"): f"int{n}" for n in (8, 16, 32, 64)},
    **{getattr(TensorProto, f"UINT{n}"): f"uint{n}" for n in (8, 16, 32, 64)},
}

# Where each type's values lie when they are not in raw_data.
_TYPED_FIELD: dict[str, str] = {
    "float32": "float_data",
    "float64": "double_data",
    "int64": "int64_data",
    "uint32": "uint64_data",
    "uint64": "uint64_data",
}


def dtype_of(code: int, where: str) -> str:
    """The dtype that holds an ONNX element type. Raises UnsupportedError for complex numbers."""
    found = _DTYPE.get(code)
    if found is None:
        try:
            name = TensorProto.DataType.Name(code)
        except ValueError:
            raise InputError(
                f"element type {code} does not exist", where=where, hint="export the model again"
            ) from None
        if name.lower() in HELD:
            return HELD[name.lower()]
        raise UnsupportedError(
            f"element type {name} is not supported", where=where, hint="convert the model to float32 or integers"
        )
    return found


def type_name(code: int) -> str:
    """Our name of an ONNX element type: numpy's name, also for those that are held in another type."""
    return _DTYPE.get(code) or TensorProto.DataType.Name(code).lower()


def code_of(name: str) -> int:
    """The ONNX element type of a name that `type_name` gives."""
    codes = [code for code, known in _DTYPE.items() if known == name]
    return codes[0] if codes else TensorProto.DataType.Value(name.upper())


def decode(
    tensor: TensorProto, where: str, folder: Path | None, limit: int, strings: Strings,
    apart: Future[NDArray[np.uint8]] | None = None,
) -> NDArray[Any]:  # fmt: skip
    """The values of a tensor. Raises LaminaError where dims, type and data do not fit each other.

    `strings` are the model's, which those of the tensor join; `apart` are its bytes where the message is without them.
    """
    dtype = dtype_of(tensor.data_type, where)
    shape = tuple(tensor.dims)
    size = checked_nbytes(shape, dtype, limit, where)
    if tensor.HasField("segment"):
        raise UnsupportedError("tensors in segments are not supported", where=where, hint="save the model in one piece")
    if (held := type_name(tensor.data_type)) in HELD:
        return _held(tensor, held, shape, where, strings)
    if tensor.data_location == TensorProto.EXTERNAL:
        return _external(tensor, where, folder, size).view(numpy_dtype(dtype)).reshape(shape)
    if apart is not None or tensor.HasField("raw_data"):
        raw = tensor.raw_data if apart is None else apart.result()
        if len(raw) != size:
            raise _misfit(shape, dtype, size, len(raw), "bytes", where)
        return np.frombuffer(raw, numpy_dtype(dtype)).reshape(shape)
    field = _TYPED_FIELD.get(dtype, "int32_data")
    given = len(getattr(tensor, field))
    if given != prod(shape):
        raise _misfit(shape, dtype, prod(shape), given, "values", where)
    try:
        return np.ascontiguousarray(numpy_helper.to_array(tensor)).astype(numpy_dtype(dtype)).reshape(shape)
    except (ValueError, TypeError, OverflowError) as e:
        raise InputError(f"the values cannot be read: {e}", where=where, hint="export the model again") from None


def _held(tensor: TensorProto, logical: str, shape: tuple[int, ...], where: str, strings: Strings) -> NDArray[Any]:
    """A tensor of a type that numpy lacks, in the type that holds it."""
    if tensor.data_location == TensorProto.EXTERNAL:
        raise UnsupportedError(f"external data of {logical} is not supported", where=where, hint="store it inside")
    try:
        if logical == "string":
            return np.array([strings.code(s) for s in tensor.string_data], np.int64).reshape(shape)
        return plain_array(numpy_helper.to_array(tensor), logical).reshape(shape)
    except (ValueError, TypeError, OverflowError) as e:
        raise InputError(f"the values cannot be read: {e}", where=where, hint="export the model again") from None


def _misfit(shape: tuple[int, ...], dtype: str, needed: int, given: int, unit: str, where: str) -> InputError:
    return InputError(
        f"shape {list(shape)} of {dtype} needs {needed} {unit}, the data has {given}",
        where=where,
        hint="the file is damaged or was written wrongly: export the model again",
    )


# -- external data ---------------------------------------------------------------------------------


def _external(tensor: TensorProto, where: str, folder: Path | None, size: int) -> NDArray[np.uint8]:
    """The bytes of a tensor in a file beside the model, mapped. The file must be a plain one inside the folder."""
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")

    def refuse(why: str) -> InputError:
        return InputError(
            f"external data {shown(location)} {why}", where=where, hint="data files must lie beside the model"
        )

    if folder is None:
        raise InputError(
            f"external data {shown(location)} needs the model's folder", where=where, hint="give the path of the model"
        )
    if not location or "\0" in location or os.path.isabs(location) or "\\" in location or ".." in Path(location).parts:
        raise refuse("is no path inside the model's folder")
    base = os.path.realpath(folder)
    path = os.path.join(base, os.path.normpath(location))
    # A link anywhere on the way, even one that stays inside, could be turned between check and use.
    if os.path.realpath(path) != path:
        raise refuse("is reached through a symbolic link")
    offset, length = _number(entries, "offset", 0, refuse), _number(entries, "length", size, refuse)
    if length != size:
        raise refuse(f"has {length} bytes, the tensor needs {size}")
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise refuse("is no regular file")
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
                raise refuse("is no regular file of its own (a device, a pipe or a hard link)")
            if offset + length > status.st_size:
                raise refuse(f"ends at byte {status.st_size}, the tensor at {offset + length}")
            if not length:
                return np.empty(0, np.uint8)
            mapped = mmap.mmap(handle, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(handle)
    except OSError as e:
        raise refuse(f"cannot be read: {e.strerror or e}") from None
    return np.frombuffer(mapped, np.uint8, length, offset)


def _number(entries: dict[str, str], key: str, default: int, refuse: Any) -> int:
    text = entries.get(key)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        raise refuse(f"has the {key} {shown(text)}")
    return int(text)

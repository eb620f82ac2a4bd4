"""The schema of TensorFlow Lite's files: the classes of the package `tflite`, and the names of its enumerations."""

from __future__ import annotations

import re
import struct
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, cast

from lamina.errors import UnsupportedError

DTYPES = {
    "FLOAT32": "float32", "FLOAT16": "float16", "FLOAT64": "float64", "BFLOAT16": "bfloat16", "BOOL": "bool",
    "INT4": "int4", "INT8": "int8", "INT16": "int16", "INT32": "int32", "INT64": "int64", "UINT8": "uint8",
    "UINT16": "uint16", "UINT32": "uint32", "UINT64": "uint64", "STRING": "string", "RESOURCE": "resource",
    "VARIANT": "variant", "COMPLEX64": "complex64", "COMPLEX128": "complex128",
}  # fmt: skip
"""Names of our types by those of `TensorType`."""
_PARTS = ("Length", "AsNumpy", "IsNone")


def check_installed(where: str) -> None:
    """Raise UnsupportedError where the packages that read these files are not there."""
    try:
        import_module("flatbuffers")
        import_module("tflite")
    except ImportError:
        what = "TensorFlow Lite models are read with the packages tflite and flatbuffers"
        raise UnsupportedError(what, where=where, hint="pip install 'lamina[tflite]'") from None


def table(name: str) -> Any:
    """The class of a table or enumeration of the schema."""
    return getattr(import_module(f"tflite.{name}"), name)


@cache
def names(enumeration: str) -> dict[int, str]:
    """The names of an enumeration by their numbers."""
    return {v: k for k, v in _declared(enumeration).items() if isinstance(v, int)}


def _declared(name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", vars(table(name)))


class TableField(NamedTuple):
    """A field of a table: the method that reads it, our name, and whether it is a vector."""

    method: str
    name: str
    is_vector: bool


@cache
def fields(name: str) -> tuple[TableField, ...]:
    """The fields of a table."""
    declared = list(_declared(name))
    methods = [m for m in declared if m[0].isupper() and m != "Init" and "GetRoot" not in m and "BufferHas" not in m]
    plain = [m for m in methods if not any(m.endswith(p) and m.removesuffix(p) in methods for p in _PARTS)]
    return tuple(TableField(m, _snake(m), f"{m}Length" in methods) for m in plain)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def flexible(data: bytes, *wanted: str) -> dict[str, bool | int | float]:
    """The numbers of these names in a FlexBuffers map, as options of custom operators are; those that are there.

    Raises ValueError for what is none.
    """
    if not data:
        return {}
    found: dict[str, bool | int | float] = {}
    try:
        root: Any = import_module("flatbuffers.flexbuffers").GetRoot(data)
        entries = root.AsMap
        for name in wanted:
            try:
                value = entries[name]
            except KeyError:
                continue
            found[name] = value.AsBool if value.IsBool else value.AsInt if value.IsInt else value.AsFloat
    except (struct.error, IndexError, TypeError) as e:
        raise ValueError(f"its options are no map: {e}") from None
    return found

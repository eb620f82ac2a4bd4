"""Labels for others: each element that is a key becomes the value of that key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.registry import onnx_op

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ENTRIES = 1 << 16
"""Integer keys that lie no farther apart than this are places in a table."""
_KEYS = {"keys_strings": "string", "keys_int64s": "int64", "keys_floats": "float32", "keys_tensor": ""}
_VALUES = {"values_strings": "string", "values_int64s": "int64", "values_floats": "float32", "values_tensor": ""}
_DEFAULTS: dict[str, Any] = {"string": "_Unused", "float32": -0.0, "float64": -0.0}


@onnx_op("LabelEncoder", domain="ai.onnx.ml", held=True)
def label_encoder(n: Node, b: Builder) -> Value:
    """A key that is there twice has the last value. Until version 2 there were only strings for 0, 1, 2 and so on."""
    x = n.input(0)
    if n.version < 2:
        names = np.array([b.strings.code(s) for s in n.attr("classes_strings", ())], np.int64)
        numbers = np.arange(len(names))
        if x.logical == "string":
            return _looked_up(n, b, x, names, numbers, np.int64(n.attr("default_int64", -1)))
        default = np.int64(b.strings.code(n.attr("default_string", "_Unused")))
        return b.held(_looked_up(n, b, x, numbers, names, default), "string")
    (keys, kind), (values, made) = _listed(n, b, _KEYS), _listed(n, b, _VALUES)
    if kind != x.logical or len(keys) != len(values):
        raise n.fail(f"{len(keys)} keys of type {kind} and {len(values)} values do not fit elements of {x.logical}")
    y = _looked_up(n, b, b.plain(x), keys, values, _default(n, b, made).astype(values.dtype))
    return b.held(y, made) if made == "string" else y


def _listed(n: Node, b: Builder, kinds: Mapping[str, str]) -> tuple[NDArray[Any], str]:
    """The keys or values, by the types of the attributes that may have them, and their type: those of strings are
    numbers in the model's table."""
    name = next((k for k in kinds if k in n.attrs), None)
    if name is None:
        raise n.fail(f"there is none of {', '.join(kinds)}")
    kind, given = kinds[name], n.attrs[name]
    if not kind:
        found = b.tensor(given)
        assert found.array is not None
        return found.array.reshape(-1), found.logical
    if kind == "string":
        return np.array([b.strings.code(s) for s in given], np.int64), kind
    return np.array(given, kind), kind


def _default(n: Node, b: Builder, kind: str) -> NDArray[Any]:
    """The value of elements that are no key."""
    if "default_tensor" in n.attrs:
        found = b.tensor(n.attrs["default_tensor"]).array
        assert found is not None
        return found.reshape(-1)[0]
    name = {"string": "default_string", "float32": "default_float"}.get(kind, "default_int64")
    value = n.attr(name, _DEFAULTS.get(kind, -1))
    return np.asarray(b.strings.code(value) if kind == "string" else value)


def _looked_up(n: Node, b: Builder, x: Value, keys: NDArray[Any], values: NDArray[Any], default: Any) -> Value:
    """The values of elements that are keys, the default for others."""
    last = {k: i for i, k in enumerate(keys.tolist()) if k == k}
    missing = values[keys != keys][-1:] if keys.dtype.kind == "f" else values[:0]
    row = np.append(np.asarray(default, values.dtype), values[list(last.values())])
    low, high = (min(last, default=0), max(last, default=0)) if keys.dtype.kind in "iu" else (0, 0)
    if keys.dtype.kind in "iu" and high - low < MOST_ENTRIES:
        # Place 0 of the table is for what is below all keys, the last one for what is above.
        table = np.zeros(high - low + 3, np.int32)
        table[[k - low + 1 for k in last]] = np.arange(1, len(last) + 1)
        whole = b.cast(x, "int64")
        place = b.op("subtract", whole, b.scalar(low - 1, whole))
        bounds = b.scalar(0, place), b.scalar(high - low + 2, place)
        place = b.op("minimum", b.op("maximum", place, bounds[0]), bounds[1])
        return b.op("take", b.constant(row[table]), place, axis=0, mode="clip")
    ascending = np.array(list(last), keys.dtype)
    order = np.argsort(ascending)
    wanted, places = b.constant(ascending[order]), b.constant(np.append(order + 1, 0).astype(np.int32))
    found = b.op("searchsorted", wanted, x)
    same = b.op("equal", b.op("take", wanted, found, axis=0, mode="clip"), x)
    place = b.op("take", places, found, axis=0, mode="clip")
    y = b.op("take", b.constant(row), b.op("where", same, place, b.scalar(0, place)), axis=0, mode="clip")
    return b.op("where", b.op("isnan", x), b.constant(missing[0]), y) if len(missing) else y

"""The table of converters of Keras's layers, and what a converter knows of a layer.

    @layer("Flatten")
    def flatten(b: NodeBuilder, layer: Layer, x: Value) -> Value: ...

A converter gets the arguments of the call as the file has them: tensors, lists of tensors, numbers. Tensors of floats
have the type that the layer computes in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from lamina.dialects.dtypes import is_float
from lamina.frontends.builder import Value
from lamina.frontends.keras.config import LayerConfig, compute_dtype, dtype_in
from lamina.frontends.keras.graph import Slot
from lamina.frontends.keras.tensors import listed
from lamina.frontends.network import ConverterTable, NetworkNode, NodeBuilder

TABLE = ConverterTable("keras")

LayerConverter: TypeAlias = "Callable[..., Value | Sequence[Value]]"
_C = TypeVar("_C", bound=LayerConverter)

_FLOATS = ("float16", "bfloat16", "float32", "float64")
_IGNORED = ("training", "mask")


class Layer:
    """A layer in a call: its configuration, its weights, the masks of what it takes."""

    def __init__(self, b: NodeBuilder, node: NetworkNode, values: Sequence[Value | None]) -> None:
        self.b = b
        self.described: LayerConfig = node.attr("layer")
        self.config = self.described.config
        policy = dtype_in(self.config.get("dtype"))
        self.dtype = compute_dtype(policy)
        """The type that it computes in."""
        places: dict[str, int] = node.attr("weights")
        self._weights = {name: values[k] for name, k in places.items()}
        if self.dtype not in _FLOATS and self._weights:
            raise b.unsupported(f"computes in the type {policy!r}")

    def get(self, key: str, default: Any = None) -> Any:
        """A part of the configuration, the default where it is absent or null."""
        return self.described.get(key, default)

    def flag(self, key: str, default: bool = False) -> bool:
        """A part of the configuration that is true or false."""
        return bool(self.get(key, default))

    def ints(self, key: str, count: int, default: Any = 1) -> list[int]:
        """A number for each of `count` axes; one in the file stands for all."""
        given = self.get(key, default)
        found = [int(v) for v in listed(given)] * (1 if isinstance(given, (list, tuple)) else count)
        if len(found) == 1:
            found *= count
        if len(found) != count:
            raise self.b.fail(f"{key} has {len(found)} numbers, expects {count}")
        return found

    def weight(self, name: str) -> Value:
        """A weight in the type that the layer computes in."""
        found = self._weights.get(name)
        if found is None:
            raise self.b.fail(f"has no weight {name!r}")
        return self.b.cast(found, self.dtype) if is_float(found.dtype) else found

    def some_weight(self, name: str) -> Value | None:
        """A weight that the layer need not have."""
        return self.weight(name) if name in self._weights else None

    @property
    def channels_first(self) -> bool:
        """Whether channels stand before the axes of an image."""
        return self.get("data_format", "channels_last") == "channels_first"

    # -- masks ---------------------------------------------------------------------------------------

    def mask_of(self, x: Any) -> Value | None:
        """The mask of a tensor: true for the steps of its sequences that are there."""
        return self.b.notes.get(x) if isinstance(x, Value) else None


def remade(b: NodeBuilder, v: Value, change: Callable[[Any], Any], emit: Callable[[Value], Value]) -> Value:
    """A weight in another form, under its name: changed as an array, or by ops where it is computed."""
    if v.array is None:
        return emit(v)
    return b.constant(np.ascontiguousarray(change(v.array)), name=v.name)


def layer(*names: str, casts: bool = True, masked: bool = False, passes: bool = False) -> Callable[[_C], _C]:
    """Registers the converter of classes of layers.

    `casts` False leaves tensors in their own types. A `masked` converter takes the keyword argument `mask`; with
    `passes` the result has the mask of the first operand.
    """

    def register(convert: _C) -> _C:
        def called(b: NodeBuilder, node: NetworkNode, *values: Value | None) -> Value | Sequence[Value]:
            found = Layer(b, node, values)

            def given(nested: Any) -> Any:
                if isinstance(nested, Slot):
                    value = values[nested.index]
                    assert value is not None
                    if casts and is_float(value.dtype) and value.dtype != found.dtype and found.dtype in _FLOATS:
                        mask = b.notes.get(value)
                        value = b.cast(value, found.dtype)
                        if mask is not None:
                            b.notes[value] = mask
                    return value
                if isinstance(nested, (list, tuple)):
                    return [given(v) for v in cast("Sequence[Any]", nested)]
                return (
                    {k: given(v) for k, v in cast("dict[str, Any]", nested).items()}
                    if isinstance(nested, dict)
                    else nested
                )  # noqa: E501

            args = [given(a) for a in node.attr("args")]
            kwargs = {k: given(v) for k, v in node.attr("kwargs").items()}
            mask = kwargs.get("mask")
            kwargs = {k: v for k, v in kwargs.items() if k not in _IGNORED}
            if masked:
                kwargs["mask"] = mask
            elif isinstance(mask, Value) and not passes:
                raise b.unsupported("a mask is not supported here")
            made = convert(b, found, *args, **kwargs)
            if passes and args and isinstance(made, Value) and isinstance(args[0], Value):
                own = mask if isinstance(mask, Value) else b.notes.get(args[0])
                if own is not None and made is not args[0]:
                    b.notes[made] = own
            return made

        TABLE.op(*names)(called)
        return convert

    return register


def operation(*names: str) -> Callable[[_C], _C]:
    """Registers the converter of operations of keras.ops; it takes what the call and the operation itself say."""

    def register(convert: _C) -> _C:
        def called(b: NodeBuilder, layer: Layer, *args: Any, **kwargs: Any) -> Value | Sequence[Value]:
            own = {k: v for k, v in layer.config.items() if k != "name" and not (k == "dtype" and isinstance(v, dict))}
            return convert(b, *args, **{**own, **kwargs})

        layer(*(f"ops.{name}" for name in names), casts=False)(called)
        return convert

    return register

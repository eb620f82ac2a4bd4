"""Arguments of calls: nested lists of tensors and constants, as files of Keras 2 and 3 have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from lamina.frontends.keras.config import TensorRef

_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call; tensors are TensorRefs."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


def arguments_of(node: Any, is_model: Callable[[str], bool]) -> Arguments:
    """The arguments of a call. `is_model` says which layers are models: Keras 2 counts their calls from 1."""
    if isinstance(node, dict):
        given = cast("dict[str, Any]", node)
        kwargs = cast("dict[str, Any]", given.get("kwargs") or {})
        return Arguments(tuple(_value(a) for a in given["args"]), {k: _value(v) for k, v in kwargs.items()})
    listed = cast("list[Any]", node)
    if listed and isinstance(listed[0], str):
        listed = [listed]
    tensors: list[Any] = []
    kwargs = {}
    for entry in listed:
        name, call, index, *rest = entry
        if name == "_CONSTANT_VALUE":
            tensors.append(index)
        else:
            tensors.append(_old_ref(name, call, index, is_model))
        if rest:
            kwargs = {k: _old_value(v, is_model) for k, v in rest[0].items()}
    return Arguments((tensors[0] if len(tensors) == 1 else tensors,), kwargs)


def _old_ref(name: Any, call: Any, index: Any, is_model: Callable[[str], bool]) -> TensorRef:
    return TensorRef(str(name), max(int(call) - 1, 0) if is_model(str(name)) else int(call), int(index))


def _old_value(given: Any, is_model: Callable[[str], bool]) -> Any:
    """A keyword argument of Keras 2: a tensor is a list of three."""
    if isinstance(given, list):
        listed = cast("list[Any]", given)
        if len(listed) == 3 and isinstance(listed[0], str) and isinstance(listed[1], int):
            if listed[0] == "_CONSTANT_VALUE":
                return listed[2]
            return _old_ref(listed[0], listed[1], listed[2], is_model)
        return [_old_value(v, is_model) for v in listed]
    return _value(given)


def _value(given: Any) -> Any:
    """An argument of Keras 3: plain, nested, or an object by the name of its kind."""
    if isinstance(given, _PLAIN):
        return given
    if isinstance(given, list):
        return [_value(v) for v in cast("list[Any]", given)]
    described = cast("dict[str, Any]", given)
    kind = described.get("class_name")
    if kind is None or "config" not in described:
        return {k: _value(v) for k, v in described.items()}
    config = described["config"]
    if kind == "__keras_tensor__":
        layer, call, index = config["keras_history"]
        return TensorRef(str(layer), int(call), int(index))
    if kind in ("__tensor__", "__numpy__"):
        return array_of(config)
    if kind == "__slice__":
        return slice(*(_value(config[k]) for k in ("start", "stop", "step")))
    if kind == "__ellipsis__":
        return ...
    return described


def array_of(config: Any) -> np.ndarray[Any, Any]:
    """The array of a serialised tensor."""
    return np.asarray(config["value"]).astype(np.dtype(str(config["dtype"])))


def listed(given: Any) -> list[Any]:
    """One entry or several as a list."""
    return list(cast("Sequence[Any]", given)) if isinstance(given, (list, tuple)) else [given]


def refs_in(nested: Any) -> list[TensorRef]:
    """The tensors of a nested structure in Keras's order: entries of dicts by their keys."""
    if isinstance(nested, TensorRef):
        return [nested]
    if isinstance(nested, (list, tuple)):
        return [r for v in cast("Sequence[Any]", nested) for r in refs_in(v)]
    if isinstance(nested, dict):
        entries = cast("dict[str, Any]", nested)
        return [r for k in sorted(entries) for r in refs_in(entries[k])]
    return []


def replaced(nested: Any, replace: Callable[[TensorRef], Any]) -> Any:
    """A nested structure with something else in the place of each tensor, in the order of `refs_in`."""
    if isinstance(nested, TensorRef):
        return replace(nested)
    if isinstance(nested, (list, tuple)):
        return [replaced(v, replace) for v in cast("Sequence[Any]", nested)]
    if isinstance(nested, dict):
        entries = cast("dict[str, Any]", nested)
        return {k: replaced(entries[k], replace) for k in sorted(entries)}
    return nested


def ports_of(given: Any, call_of: Callable[[str, int], int]) -> Any:
    """The tensors of `input_layers` or `output_layers`, nested as they are; `call_of` corrects the number of a call."""
    if isinstance(given, dict):
        return {str(k): ports_of(v, call_of) for k, v in cast("dict[str, Any]", given).items()}
    listed = cast("list[Any]", given)
    if len(listed) == 3 and isinstance(listed[0], str) and isinstance(listed[1], int):
        return TensorRef(listed[0], call_of(listed[0], listed[1]), int(listed[2]))
    return [ports_of(v, call_of) for v in listed]

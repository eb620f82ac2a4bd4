"""Arguments and results: nested tuples, lists and dicts of arrays and of what is no array."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from lamina.errors import UsageError
from lamina.frontends.numpy.array import TracedArray
from lamina.frontends.numpy.trace import ComplexResult


def is_array(x: Any) -> bool:
    """Whether an argument is an array: NumPy's, one of its numbers, or what hands its memory on by DLPack."""
    return isinstance(x, (np.ndarray, np.generic, TracedArray)) or hasattr(x, "__dlpack__")


def flattened(tree: Any, name: str = "") -> tuple[Hashable, list[tuple[str, Any]]]:
    """The structure of arguments, equal where one program serves both, and the arrays with their names.

    Raises UsageError for an argument that is neither.
    """
    leaves: list[tuple[str, Any]] = []

    def walk(x: Any, name: str) -> Hashable:
        if is_array(x):
            leaves.append((name, x))
            return None
        if isinstance(x, dict):
            given: dict[Any, Any] = x  # pyright: ignore[reportUnknownVariableType]
            return dict, tuple((k, walk(given[k], f"{name}_{k}" if name else str(k))) for k in given)
        if isinstance(x, (tuple, list)):
            return type(x), tuple(walk(e, f"{name}_{k}") for k, e in enumerate(x))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        if isinstance(x, slice):
            ends: Any = x  # pyright: ignore[reportUnknownVariableType]
            return slice, (ends.start, ends.stop, ends.step)
        # What has a hash is a constant: numbers and strings by their values, objects as the ones that they are.
        if type(x).__hash__ is None:
            hint = "arrays, what has a hash, and tuples, lists and dicts of these can be arguments"
            raise UsageError(f"an argument is a {type(x).__name__}", hint=hint)
        return type(x), x  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]

    return walk(tree, name), leaves


def replaced(tree: Any, make: Callable[[Any], Any]) -> Any:
    """The tree with other things in the place of its arrays, in order."""
    if is_array(tree):
        return make(tree)
    if isinstance(tree, dict):
        given: dict[Any, Any] = tree  # pyright: ignore[reportUnknownVariableType]
        return {k: replaced(v, make) for k, v in given.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # pyright: ignore[reportUnknownArgumentType]
        return type(tree)(*(replaced(e, make) for e in tree))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(tree, (list, tuple)):
        return type(tree)(replaced(e, make) for e in tree)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return tree


def filled(tree: Any, leaves: Sequence[Any]) -> Any:
    """The tree with these leaves in the place of its arrays."""
    rest = iter(leaves)
    return replaced(tree, lambda _: next(rest))


def arrays_in(tree: Any) -> list[Any]:
    """The arrays of a tree, in order."""
    found: list[Any] = []
    replaced(tree, found.append)
    return found


def has_complex(tree: Any) -> bool:
    """Whether there is a complex array among results."""
    if isinstance(tree, ComplexResult):
        return True
    parts: Any = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType]
    return any(map(has_complex, parts))


def joined(tree: Any) -> Any:
    """Results with complex arrays in the place of their parts."""
    if isinstance(tree, ComplexResult):
        found = np.empty(np.shape(tree.real), np.result_type(tree.real.dtype, np.complex64))
        found.real, found.imag = tree.real, tree.imag
        return found if found.ndim else found[()]
    if isinstance(tree, dict):
        given: dict[Any, Any] = tree  # pyright: ignore[reportUnknownVariableType]
        return {k: joined(v) for k, v in given.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):  # pyright: ignore[reportUnknownArgumentType]
        return type(tree)(*map(joined, tree))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(joined, tree))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    return tree

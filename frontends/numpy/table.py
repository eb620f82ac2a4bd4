"""The table of NumPy's functions.

    @implements("concatenate")
    def concatenate(b: NumpyBuilder, arrays: Any, axis: int | None = 0) -> Value: ...

A function has NumPy's parameters; traced arrays among its arguments are tensors (`Value`), all else is what the user
gave. It returns a tensor, a tuple or list of tensors, or what else the function returns. One that is said to be a view
gives a part of its first argument, or all of it in another shape or order, and is written through. `out`, `dtype` of
reductions and the rest of NumPy's protocol are seen to before (`array.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Function: TypeAlias = Callable[..., Any]

_FUNCTIONS: dict[Any, Function] = {}
_VIEWS: set[Any] = set()
_WRITTEN: set[Any] = set()
_COMPLEX: set[Any] = set()


def implements(
    *names: str, view: bool = False, writes: bool = False, of_complex: bool = False
) -> Callable[[Function], Function]:
    """Registers what functions of NumPy are; `view` where the result is a view of the first argument.

    With `writes` the result is written to the first argument, and the function has none. With `of_complex` its
    arguments may be complex arrays, which it is given as they are.

    A name that this NumPy does not have is passed over, as newer ones have more.
    """

    def register(made: Function) -> Function:
        found = [f for name in names if (f := _named(name)) is not None]
        for function in dict.fromkeys(found):
            if function in _FUNCTIONS:
                raise TypeError(f"{function.__name__} is there twice")
            _FUNCTIONS[function] = made
            if view:
                _VIEWS.add(function)
            if writes:
                _WRITTEN.add(function)
            if of_complex:
                _COMPLEX.add(function)
        return made

    return register


def _named(name: str) -> Any:
    """A function of NumPy by its name, `linalg.norm`; None where there is none."""
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


@cache
def functions() -> dict[Any, Function]:
    """NumPy's functions, once the files of this folder have been read."""
    for path in sorted(Path(__file__).parent.glob("functions_*.py")):
        import_module(f"lamina.frontends.numpy.{path.stem}")
    return _FUNCTIONS


def is_view(function: Any) -> bool:
    """Whether the result of a function is a view of its first argument."""
    return function in _VIEWS


def is_written(function: Any) -> bool:
    """Whether a function writes its result to its first argument."""
    return function in _WRITTEN


def is_complex_function(function: Any) -> bool:
    """Whether a function takes complex arrays."""
    functions()
    return function in _COMPLEX


def full_name(function: Any) -> str:
    """The name of a function as users write it: `numpy.linalg.norm`."""
    module = getattr(function, "__module__", None) or "numpy"
    return f"{module}.{getattr(function, '__name__', function)}"


def names() -> list[str]:
    """The names of all functions of the table, ufuncs not among them."""
    return sorted(full_name(f) for f in functions() if not isinstance(f, np.ufunc))

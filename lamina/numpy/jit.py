"""`lamina.jit`: functions of NumPy as compiled programs, one for each set of shapes, types and constants."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, update_wrapper
from typing import Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.driver.api import Executable, compile
from lamina.errors import UnsupportedError, UsageError
from lamina.frontends.imported import ImportedModel
from lamina.frontends.numpy.array import TracedArray, current
from lamina.frontends.numpy.trace import Traced, trace
from lamina.numpy.trees import arrays_in, filled, flattened, has_complex, joined, replaced


@dataclass(frozen=True)
class JitOptions:
    """The options of `lamina.jit`."""

    target: str = "cpu"
    threads: int | None = None
    opt_level: int | None = None
    cache: bool = True
    numerics: str | None = None


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function of NumPy that is compiled when it is first called on arrays of given shapes and element types.

    Arrays are arguments of the program, all else (numbers of Python, strings, None, functions) are constants of it; all
    may stand in tuples, lists and dicts. The results are as the function gives them, new arrays always; arrays that the
    function writes to are written to. `options` are `target`, `threads`, `opt_level`, `cache` and `numerics`, as in
    `lamina.compile`. Without a function it is a decorator: `@lamina.jit(threads=1)`.

    Raises LaminaError, with the user's line, for what cannot be compiled: a Python `if` on values of arrays, a function
    that is not supported.
    """
    known = JitOptions.__dataclass_fields__
    for name in options:
        if name not in known:
            raise UsageError(f"there is no option {name!r}", where="lamina.jit", hint=", ".join(known))
    made = JitOptions(**options)
    if function is None:
        return partial(CompiledFunction, options=made)
    return CompiledFunction(function, made)


class CompiledFunction:
    """A function and its programs, the last ones kept."""

    MOST = 128

    def __init__(self, function: Callable[..., Any], options: JitOptions) -> None:
        self.function = function
        self.options = options
        self._programs: dict[Any, _Program] = {}
        self._lock = threading.Lock()
        update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return self.function(*args, **kwargs)  # a part of the function that is traced
        structure, leaves = flattened((args, kwargs))
        arrays = [_as_array(a) for _, a in leaves]
        key = structure, tuple((a.shape, a.dtype) for a in arrays)
        try:
            program = self._programs.pop(key, None)
        except TypeError:
            raise UsageError("an argument that is no array cannot be hashed", where=self._name) from None
        if program is None:
            program = self._compiled(args, kwargs, arrays)
        with self._lock:
            self._programs[key] = program  # the last one used stands last
            while len(self._programs) > self.MOST:
                del self._programs[next(iter(self._programs))]
        return program(arrays, [a for _, a in leaves])

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        # A method has its instance as the first argument, a constant of the program.
        return self if instance is None else partial(self, instance)

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", "function")

    def model(self, *args: Any, **kwargs: Any) -> ImportedModel:
        """The function as a Relay module, for arguments of these shapes and types."""
        _, leaves = flattened((args, kwargs))
        return traced(self.function, args, kwargs, [_as_array(a) for _, a in leaves]).model

    def _compiled(self, args: Any, kwargs: Any, arrays: list[Any]) -> _Program:
        made = traced(self.function, args, kwargs, arrays)
        o = self.options
        if not made.model.outputs:
            return _Program(made, None)
        executable = compile(
            made.model, o.target, threads=o.threads, opt_level=o.opt_level, cache=o.cache, numerics=o.numerics
        )
        return _Program(made, executable)


def traced(function: Callable[..., Any], args: Any, kwargs: Any, arrays: list[Any]) -> Traced:
    """A function as a module, for arguments like these."""
    tree = (args, kwargs)

    def run(leaves: list[Any]) -> Any:
        given, named = filled(tree, leaves)
        return function(*given, **named)

    return trace(function, list(zip(_names(function, args, kwargs), arrays, strict=True)), run)


def _names(function: Callable[..., Any], args: Any, kwargs: Any) -> list[str]:
    """The names of the arrays among arguments: those of the parameters, with their places in what nests."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
        parameters = list(bound.arguments)
    except (TypeError, ValueError):
        parameters = []
    named: list[str] = []
    for k, argument in enumerate(args):
        name = parameters[k] if k < len(parameters) else f"argument_{k}"
        named += [n for n, _ in flattened(argument, name)[1]]
    for name, argument in kwargs.items():
        named += [n for n, _ in flattened(argument, name)[1]]
    seen: dict[str, int] = {}
    for k, n in enumerate(named):
        seen[n] = seen.get(n, -1) + 1
        named[k] = f"{n}_{seen[n]}" if seen[n] else n
    return named


class _Program:
    """A compiled program as the function: results as it gives them, and arrays that it writes to."""

    def __init__(self, made: Traced, executable: Executable | None) -> None:
        self._written = made.written
        order = {id(a): k for a, k in _ordered(made)}
        # What the function gave, with the numbers of the program's results in the place of arrays.
        self._places = [order.get(id(a)) for a in arrays_in(made.result)]
        self._result = replaced(made.result, lambda a: np.empty(0) if isinstance(a, TracedArray) else a)
        self._is_complex = has_complex(made.result)
        self._run = None
        self._arrays = executable
        self._outputs: list[tuple[Any, Any]] = []
        if executable is not None:
            self._outputs = [(p.shape, numpy_dtype(p.dtype)) for p in executable.outputs]
            try:
                self._run = executable.on_addresses()
            except UnsupportedError:
                self._run = None

    def __call__(self, arrays: list[Any], given: list[Any]) -> Any:
        outputs = self._computed([np.ascontiguousarray(a).reshape(a.shape) for a in arrays])
        for k, place in self._written.items():
            np.copyto(given[k], outputs[place])
        kept = arrays_in(self._result)
        leaves = [
            a if p is None else outputs[p] if outputs[p].ndim else outputs[p][()]
            for p, a in zip(self._places, kept, strict=True)
        ]
        return joined(filled(self._result, leaves)) if self._is_complex else filled(self._result, leaves)

    def _computed(self, arrays: list[Any]) -> list[Any]:
        if self._arrays is None:
            return []
        if self._run is None:
            found = self._arrays(*arrays)
            return list(found) if isinstance(found, tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
        outputs = [np.empty(shape, dtype) for shape, dtype in self._outputs]
        self._run([a.ctypes.data for a in arrays], [a.ctypes.data for a in outputs])
        return outputs


def _ordered(made: Traced) -> list[tuple[Any, int]]:
    return [(a, made.places[id(a)]) for a in arrays_in(made.result) if id(a) in made.places]


def _as_array(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else np.from_dlpack(x)  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]

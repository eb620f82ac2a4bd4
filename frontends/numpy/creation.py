"""NumPy's functions that make arrays from none, which NumPy does not hand to traced arrays.

`numpy.zeros(shape)` has no array among its arguments (NEP 18 leaves such functions out), and what it gives cannot take
a traced value: `out = numpy.zeros(n); out[0] = x`. While a function is traced these functions of the module `numpy`
are wrapped: in the thread that traces they give traced arrays of known values, in others what they always give.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.frontends.numpy.array import TracedArray
from lamina.frontends.numpy.builder import OURS

if TYPE_CHECKING:
    from lamina.frontends.numpy.trace import FunctionTrace

FILLED = ("empty", "full", "ones", "zeros", "array", "copy", "empty_like", "full_like", "ones_like", "zeros_like")
"""Functions whose result is a new array that programs write to."""
CONVERTING = ("asanyarray", "asarray", "ascontiguousarray", "asfortranarray")
"""Functions that give their argument where it is an array."""

OF_LISTS = (
    *("all", "amax", "amin", "any", "argmax", "argmin", "argsort", "average", "cumprod", "cumsum", "max", "mean"),
    *("median", "min", "prod", "sort", "std", "sum", "transpose", "var"),
)
"""Functions of one array, for which NumPy takes a list of arrays as well: it does not look for traced ones there."""
WRAPPED = (*FILLED, *CONVERTING, *OF_LISTS)
MATH = {math.erf: "erf", math.erfc: "erfc", math.lgamma: "lgamma"}
"""Functions of numbers that NumPy has none of, by ATen's names: `numpy.vectorize(math.erf)` is one of arrays."""

_state = threading.local()
_lock = threading.Lock()
_originals: dict[str, Any] = {n: getattr(np, n) for n in (*WRAPPED, "vectorize")}
_count = 0


def active() -> FunctionTrace | None:
    """The trace that the user's program of this thread runs in; None in our own code."""
    return getattr(_state, "trace", None)


@contextmanager
def tracing(trace: FunctionTrace | None) -> Generator[None]:
    """Let this thread's program be traced by a trace, or by none."""
    before = active()
    _state.trace = trace
    try:
        yield
    finally:
        _state.trace = before


@contextmanager
def wrapped() -> Generator[None]:
    """Wrap the functions for as long as any thread traces."""
    global _count
    with _lock:
        if not _count:
            for name in WRAPPED:
                setattr(np, name, _wrapper(name, _originals[name]))
            np.vectorize = _Vectorize  # type: ignore[misc]
        _count += 1
    try:
        yield
    finally:
        with _lock:
            _count -= 1
            if not _count:
                for name, original in _originals.items():
                    setattr(np, name, original)


def _wrapper(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = active()
        # NumPy's own Python calls these as well, for what is none of the program's.
        if trace is None or sys._getframe(1).f_code.co_filename.startswith(OURS):  # pyright: ignore[reportPrivateUsage]
            return original(*args, **kwargs)
        given = args[0] if args else None
        if name in OF_LISTS:
            if isinstance(given, (list, tuple)) and _has_traced(given):  # pyright: ignore[reportUnknownArgumentType]
                args = (trace.stacked(given), *args[1:])
            return original(*args, **kwargs)
        if name in CONVERTING or name == "array":
            if _has_traced(given):
                return _converted(trace, name, given, *args[1:], **kwargs)
            if name in CONVERTING:
                return original(*args, **kwargs)
        if name not in ("array", "full") and _has_traced(given):
            return original(*args, **kwargs)
        if name == "full" and len(args) > 1 and _has_traced(args[1]):
            return np.full_like(args[1], args[1], *args[2:], shape=args[0], **kwargs)
        with tracing(None):
            plain = [_plain(a) for a in args]
            found = original(*plain, **{k: _plain(v) for k, v in kwargs.items() if k != "like"})
        return trace.lift(found) if found.dtype.kind in "biuf" else found

    return call


class _Vectorize(np.vectorize):  # pyright: ignore[reportIncompatibleVariableOverride]
    """`numpy.vectorize`: a function of one element is called on traced arrays once, as on all elements."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = active()
        if trace is None or not any(_has_traced(a) for a in args):
            return super().__call__(*args, **kwargs)
        if self.excluded or self.signature:
            return trace.refuse("numpy.vectorize", "excluded arguments and signatures are not supported")
        function: Any = self.pyfunc
        found = trace.by_name(MATH[function], args[0]) if function in MATH else function(*args, **kwargs)
        if self.otypes is None:
            return found
        results = found if isinstance(found, tuple) else (found,)  # pyright: ignore[reportUnknownVariableType]
        made = tuple(r.astype(t) for r, t in zip(results, self.otypes, strict=True))  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType,reportUnknownMemberType]
        return made if isinstance(found, tuple) else made[0]


def _plain(argument: Any) -> Any:
    return argument.__array__() if isinstance(argument, TracedArray) else argument


def _has_traced(given: Any) -> bool:
    if isinstance(given, (list, tuple)):
        return any(_has_traced(g) for g in given)  # pyright: ignore[reportUnknownVariableType]
    return isinstance(given, TracedArray)


def _converted(trace: FunctionTrace, name: str, given: Any, dtype: Any = None, *_: Any, **kwargs: Any) -> Any:
    """A traced array, or nested lists of some, as an array."""
    if isinstance(given, TracedArray):
        found = given if dtype is None else given.astype(dtype, copy=False)
        copies = name == "array" and kwargs.get("copy", True) and found is given
        found = found.copy() if copies else found
    else:
        found = trace.stacked(given)
        found = found if dtype is None else found.astype(dtype, copy=False)
    least = max(int(kwargs.get("ndmin", 0)), int(name == "ascontiguousarray"))
    return found if found.ndim >= least else found.reshape((1,) * (least - found.ndim) + found.shape)

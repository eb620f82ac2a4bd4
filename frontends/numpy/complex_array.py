"""Complex arrays: two traced ones, real and imaginary parts, in which NumPy's functions are those of real arrays.

They come of `numpy.fft`, of `x.astype(complex)` and of complex numbers: `x + 1j * y`. Results of a function may be
complex; its arguments are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lamina.errors import UsageError
from lamina.frontends.numpy.array import TracedArray, TracedAttributeError, current, is_complex, method_of
from lamina.frontends.numpy.table import full_name, is_complex_function

Parts = tuple[Any, Any]


def part_type(dtype: Any) -> Any:
    """The type of the parts of a complex array that an array of a type is promoted to."""
    return np.dtype(np.float32 if np.result_type(dtype, np.complex64) == np.complex64 else np.float64)


class TracedComplex(NDArrayOperatorsMixin):
    """A complex array whose values are known when the compiled function runs."""

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.real.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.real.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.real.size

    @property
    def dtype(self) -> Any:
        """NumPy's element type."""
        return np.result_type(self.real.dtype, np.complex64)

    @property
    def T(self) -> TracedComplex:
        """The array with its axes turned around."""
        return TracedComplex(self.real.T, self.imag.T)

    def __len__(self) -> int:
        return len(self.real)

    def __iter__(self) -> Iterator[TracedComplex]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"TracedComplex({self.dtype}{list(self.shape)})"

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise TracedAttributeError(f"traced complex arrays have no attribute {name!r}")

    def _unknown(self, *_: Any, **__: Any) -> Any:
        return refused("", "a traced complex array as a number or an array of NumPy: its values are known at run time")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __array__ = item = tolist = _unknown

    def __getitem__(self, key: Any) -> TracedComplex:
        return TracedComplex(self.real[key], self.imag[key])

    def __setitem__(self, key: Any, given: Any) -> None:
        self.real[key], self.imag[key] = parts(given)

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array in another element type; in a real one the real part."""
        if np.dtype(dtype).kind != "c":
            return self.real.astype(dtype)
        return TracedComplex(*(p.astype(part_type(dtype), copy=copy) for p in (self.real, self.imag)))

    def copy(self) -> TracedComplex:
        """The same values in another array."""
        return TracedComplex(self.real.copy(), self.imag.copy())

    def conj(self) -> TracedComplex:
        """The array with the imaginary parts negated."""
        return TracedComplex(self.real.copy(), -self.imag)

    conjugate = conj

    def reshape(self, *shape: Any) -> TracedComplex:
        """The array in another shape."""
        return TracedComplex(self.real.reshape(*shape), self.imag.reshape(*shape))

    def transpose(self, *axes: Any) -> TracedComplex:
        """The array with its axes in another order."""
        return TracedComplex(self.real.transpose(*axes), self.imag.transpose(*axes))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return called_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return called_function(func, args, kwargs)


for _name in "cumsum diagonal dot mean ravel repeat squeeze sum swapaxes take trace".split():
    setattr(TracedComplex, _name, method_of(_name))


def refused(function: str, what: str) -> Any:
    """Raise UnsupportedError for a call."""
    trace = current()
    if trace is None:
        raise UsageError("a traced array is used after its function has ended")
    return trace.refuse(function, what)


def parts(x: Any) -> Parts:
    """The real and the imaginary part of an array or a number; those of Python's numbers are weak as they are."""
    if isinstance(x, TracedComplex):
        return x.real, x.imag
    if _is_weak(x):
        return complex(x).real, complex(x).imag
    if isinstance(x, TracedArray):
        real = x.astype(part_type(x.dtype), copy=False)
        return real, np.zeros_like(real)
    array: Any = np.asarray(x)
    kind = part_type(array.dtype)
    return array.real.astype(kind), array.imag.astype(kind)


# -- ufuncs ----------------------------------------------------------------------------------------


def _bilinear(function: Callable[..., Any], x: Any, y: Any, *args: Any, **kwargs: Any) -> TracedComplex:
    """A product of any kind, from those of the parts."""
    (a, b), (c, d) = parts(x), parts(y)

    def of(p: Any, q: Any) -> Any:
        return function(p, q, *args, **kwargs)

    return TracedComplex(of(a, c) - of(b, d), of(a, d) + of(b, c))


def _divide(x: Any, y: Any) -> TracedComplex:
    if not is_complex(y):
        return TracedComplex(*(p / y for p in parts(x)))
    if isinstance(y, complex):
        return _bilinear(np.multiply, x, 1 / y)
    # The greater part of the divisor is divided by, so that no square overflows (Smith, CACM 5 (8), 1962).
    (a, b), (c, d) = parts(x), parts(y)
    big, choose = np.abs(c) >= np.abs(d), cast("Callable[..., Any]", np.where)
    great, small = choose(big, c, d), choose(big, d, c)
    ratio = small / great
    whole = great + small * ratio
    real, imag = choose(big, a + b * ratio, a * ratio + b), choose(big, b - a * ratio, b * ratio - a)
    return TracedComplex(real / whole, imag / whole)


def _both(function: Callable[..., Any]) -> Callable[..., TracedComplex]:
    """A function that is that of both parts."""

    def call(*operands: Any) -> TracedComplex:
        real, imag = zip(*map(parts, operands), strict=True)
        return TracedComplex(function(*real), function(*imag))

    return call


def _of_parts(ufunc: Callable[..., Any], joined: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The answers of a ufunc on both parts, joined."""

    def call(*operands: Any) -> Any:
        real, imag = zip(*map(parts, operands), strict=True)
        return joined(ufunc(*real), ufunc(*imag))

    return call


def _square(x: Any) -> TracedComplex:
    return _bilinear(np.multiply, x, x)


def _reciprocal(x: Any) -> TracedComplex:
    return _divide(1.0, x)


def _absolute(x: TracedComplex) -> Any:
    return np.hypot(x.real, x.imag)


def _exp(x: TracedComplex) -> TracedComplex:
    return TracedComplex(np.exp(x.real) * np.cos(x.imag), np.exp(x.real) * np.sin(x.imag))


def _power(x: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int) or not 1 <= exponent <= 16:
        return refused("numpy.power", "only complex arrays to a power of a number from 1 to 16 are supported")
    found = x
    for _ in range(exponent - 1):
        found = _bilinear(np.multiply, found, x)
    return found


UFUNCS: dict[str, Callable[..., Any]] = {
    **{f: _both(getattr(np, f)) for f in ("add", "subtract", "negative", "positive")},
    **{f: partial(_bilinear, getattr(np, f)) for f in ("multiply", "matmul")},
    "divide": _divide,
    "conjugate": TracedComplex.conj,
    "absolute": _absolute,
    "square": _square,
    "reciprocal": _reciprocal,
    "exp": _exp,
    "power": _power,
    "equal": _of_parts(np.equal, np.logical_and),
    "not_equal": _of_parts(np.not_equal, np.logical_or),
    "isfinite": _of_parts(np.isfinite, np.logical_and),
    "isinf": _of_parts(np.isinf, np.logical_or),
    "isnan": _of_parts(np.isnan, np.logical_or),
}
"""NumPy's ufuncs of complex arrays."""


def called_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a ufunc of operands some of which are complex."""
    made, name = UFUNCS.get(ufunc.__name__), f"numpy.{ufunc.__name__}"
    (out,) = kwargs.pop("out", (None,))
    if made is None or method != "__call__" or kwargs:
        return refused(name, "this is not supported of complex arrays")
    kind = np.result_type(*(x if _is_weak(x) else x.dtype for x in map(_as_operand, inputs)))
    found = made(*(_promoted(x, kind) for x in map(_as_operand, inputs)))
    if out is None:
        return found
    if isinstance(out, TracedComplex) or not isinstance(found, TracedComplex):
        out[...] = found
        return out
    return refused(name, "a complex result cannot be written to a real array")


def _is_weak(x: Any) -> bool:
    """Whether an operand is a number of Python, which is weak in NumPy's promotion."""
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


def _as_operand(x: Any) -> Any:
    return x if _is_weak(x) or isinstance(x, (TracedArray, TracedComplex)) else np.asarray(x)


def _promoted(x: Any, kind: Any) -> Any:
    """An operand whose parts have the type of those of the result."""
    return x if _is_weak(x) else x.astype(kind if is_complex(x) else part_type(kind), copy=False)


# -- functions -------------------------------------------------------------------------------------

_PARTWISE = (
    *("append", "broadcast_to", "concatenate", "cumsum", "diag", "diagonal", "diff", "expand_dims", "flip", "fliplr"),
    *("flipud", "hstack", "mean", "moveaxis", "permute_dims", "ravel", "repeat", "reshape", "roll", "rollaxis"),
    *("rot90", "squeeze", "stack", "sum", "swapaxes", "take", "take_along_axis", "tile", "trace", "transpose", "tril"),
    *("triu", "vstack", "where"),
)
_OPERANDS = {"append": (0, 1), "where": (1, 2)}
"""The arguments that are complex, where it is not the first one."""
_PRODUCTS = ("convolve", "dot", "inner", "kron", "outer", "tensordot")


def called_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy of arguments some of which are complex."""
    name, trace = full_name(function).removeprefix("numpy."), current()
    if is_complex_function(function) and trace is not None:
        return trace.call(function, args, kwargs)
    if name in _PARTWISE:
        places = _OPERANDS.get(name, (0,))
        given = [[_part(a, which) if k in places else a for k, a in enumerate(args)] for which in (0, 1)]
        return TracedComplex(*(function(*g, **kwargs) for g in given))
    if name in _PRODUCTS and len(args) >= 2:
        return _bilinear(function, *args, **kwargs)
    if name == "einsum" and len(args) == 3:
        return _bilinear(partial(np.einsum, args[0]), *args[1:], **kwargs)
    return refused(f"numpy.{name}", "this is not supported of complex arrays")


def _part(x: Any, which: int) -> Any:
    """One part of an array, or of each in a list."""
    if isinstance(x, (list, tuple)):
        return [_part(e, which) for e in x]  # pyright: ignore[reportUnknownVariableType]
    return parts(x)[which]

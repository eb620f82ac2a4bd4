"""NumPy's ufuncs by ATen's operators, and their methods: reduce, accumulate, outer, at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamina.dialects.dtypes import is_float, numpy_dtype
from lamina.errors import InputError, UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy.builder import NumpyBuilder, known_type

RENAMED = {
    **{"absolute": "abs", "fabs": "abs", "negative": "neg", "subtract": "sub"},
    **{"multiply": "mul", "divide": "div", "power": "pow", "float_power": "pow"},
    **{"equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le"},
    **{f"arc{f}{h}": f"a{f}{h}" for f in ("sin", "cos", "tan") for h in ("", "h")},
    **{"arctan2": "atan2", "invert": "bitwise_not", "left_shift": "bitwise_left_shift"},
    **{"right_shift": "bitwise_right_shift", "degrees": "rad2deg", "radians": "deg2rad"},
}
"""ATen's names of ufuncs that it names otherwise."""
SAME = frozenset(
    (
        "add bitwise_and bitwise_or bitwise_xor ceil copysign cos cosh deg2rad exp exp2 expm1 floor floor_divide fmax "
        "fmin fmod gcd heaviside hypot isfinite isinf isnan log log10 log1p log2 logaddexp logaddexp2 logical_and "
        "logical_not logical_or logical_xor matmul maximum minimum nextafter rad2deg reciprocal remainder signbit sin "
        "sinh sqrt square tan tanh trunc"
    ).split()
)
"""Ufuncs that have the same name there."""

_OWN: dict[str, Callable[..., Any]] = {}


def names() -> list[str]:
    """The ufuncs that there are, by NumPy's names."""
    return sorted({*RENAMED, *SAME, *_OWN})


def _ufunc(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what a ufunc is that ATen does not have, or has otherwise."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _OWN[name] = function
        return function

    return register


@_ufunc("conjugate")
@_ufunc("positive")
def _itself(b: NumpyBuilder, x: Value) -> Value:
    return x


@_ufunc("sign")
def _sign(b: NumpyBuilder, x: Value) -> Value:
    return b.op("sign", x)


@_ufunc("rint")
def _rint(b: NumpyBuilder, x: Value) -> Value:
    return b.op("round", x)


@_ufunc("lcm")
def _lcm(b: NumpyBuilder, x: Value, y: Value) -> Value:
    divisor = b.aten("gcd", x, y)
    some = b.choose(b.one("equal", divisor, 0), 1, divisor)
    return b.aten("abs", b.mul(b.op("floor_divide", x, some), y))


@_ufunc("cbrt")
def _cbrt(b: NumpyBuilder, x: Value) -> Value:
    wide = b.cast(x, "float64")
    root = b.op("power", b.op("abs", wide), b.scalar(1 / 3, wide))
    return b.cast(b.aten("copysign", root, wide), x.dtype)


@_ufunc("divmod")
def _divmod(b: NumpyBuilder, x: Value, y: Value) -> tuple[Value, Value]:
    return b.aten("floor_divide", x, y), b.aten("remainder", x, y)


@_ufunc("modf")
def _modf(b: NumpyBuilder, x: Value) -> tuple[Value, Value]:
    whole = b.op("trunc", x)
    part = b.choose(b.aten("isinf", x), 0, b.sub(x, whole))
    return b.aten("copysign", part, x), whole


@_ufunc("ldexp")
def _ldexp(b: NumpyBuilder, x: Value, exponent: Value) -> Value:
    wide = b.cast(x, "float64")
    # Beyond twice the range of double precision the result is decided; each half of the exponent is within it.
    most = b.op(
        "minimum", b.op("maximum", b.cast(exponent, "int64"), b.constant(np.int64(-4000))), b.constant(np.int64(4000))
    )
    parts = [b.op("floor_divide", most, b.constant(np.int64(4)))] * 3
    parts.append(b.sub(most, b.mul(parts[0], 3)))
    two = b.scalar(2, wide)
    for part in parts:
        wide = b.mul(wide, b.op("power", two, b.cast(part, "float64")))
    return b.cast(wide, x.dtype)


@_ufunc("frexp")
def _frexp(b: NumpyBuilder, x: Value) -> tuple[Value, Value]:
    return b.aten("frexp", x)


@_ufunc("bitwise_count")
def _bitwise_count(b: NumpyBuilder, x: Value) -> Value:
    size = b.aten("abs", x) if x.dtype.startswith("int") else x
    bits = size.dtype if size.dtype.startswith("uint") else f"u{size.dtype}"
    found = b.zeros(x.shape, "uint8")
    rest = b.cast(size, bits)
    one = b.scalar(1, rest)
    for _ in range(numpy_dtype(bits).itemsize * 8):
        found = b.add(found, b.cast(b.op("bitwise_and", rest, one), "uint8"))
        rest = b.op("right_shift", rest, one)
    return found


@_ufunc("vecdot")
def _vecdot(b: NumpyBuilder, x: Value, y: Value) -> Value:
    return b.aten("linalg_vecdot", x, y)


@_ufunc("matvec")
def _matvec(b: NumpyBuilder, x: Value, y: Value) -> Value:
    column = b.reshape(y, (*y.shape, 1))
    product = b.aten("matmul", x, column)
    return b.reshape(product, product.shape[:-1])


@_ufunc("vecmat")
def _vecmat(b: NumpyBuilder, x: Value, y: Value) -> Value:
    row = b.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
    product = b.aten("matmul", row, y)
    return b.reshape(product, (*product.shape[:-2], product.shape[-1]))


def loop(b: NumpyBuilder, ufunc: np.ufunc, operands: Sequence[Any], dtype: Any = None) -> list[str]:
    """The element types of a ufunc's operands and results, as NumPy chooses them. Raises UsageError as NumPy does."""
    kinds = [_kind(o) for o in operands]
    try:
        # Where a type is asked for it is the result's, and the operands' too where the ufunc has such a loop.
        asked: dict[str, Any] = (
            {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)}
        )
        found = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout), **asked)
    except TypeError as e:
        raise UsageError(" ".join(str(e).split()), where=b.where) from None
    return [known_type(d, b.where) for d in found]


def _kind(operand: Any) -> Any:
    """The element type of an operand, or the type of a number of Python, which is weak in NumPy's promotion."""
    if isinstance(operand, Value):
        return numpy_dtype(operand.dtype)
    if type(operand) in (int, float):
        return type(operand)  # pyright: ignore[reportUnknownVariableType]
    return np.asarray(operand).dtype


def call(b: NumpyBuilder, ufunc: np.ufunc, operands: Sequence[Any], dtype: Any = None) -> Any:
    """The results of a ufunc on tensors, arrays and numbers."""
    types = loop(b, ufunc, operands, dtype)
    tensors = [_operand(b, o, t) for o, t in zip(operands, types, strict=False)]
    name = ufunc.__name__
    own = _OWN.get(name)
    try:
        if own is not None:
            made = own(b, *tensors)
        elif name in RENAMED or name in SAME:
            made = b.aten(RENAMED.get(name, name), *tensors)
        else:
            raise b.unsupported(f"the ufunc {name} is not supported")
    except InputError as e:
        raise UsageError(e.what, where=b.where, hint=e.hint) from None
    several = isinstance(made, tuple)
    found: list[Value] = list(made) if several else [made]  # pyright: ignore[reportUnknownArgumentType]
    results = [b.cast(r, t) for r, t in zip(found, types[len(operands) :], strict=True)]
    return tuple(results) if several else results[0]


def _operand(b: NumpyBuilder, x: Any, dtype: str) -> Value:
    if type(x) is int and not is_float(dtype) and dtype != "bool":
        try:
            return b.constant(np.asarray(x, dtype))
        except OverflowError as e:
            raise UsageError(str(e), where=b.where) from None
    return b.tensor(x, dtype)


REDUCED = {
    **{"add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min},
    **{"logical_and": np.all, "logical_or": np.any},
}
"""Functions that the reductions of ufuncs are."""
ACCUMULATED: dict[str, Any] = {"add": np.cumsum, "multiply": np.cumprod}
"""Functions that the accumulations of ufuncs are."""


def reduced(b: NumpyBuilder, ufunc: np.ufunc, x: Value, axis: Any, keepdims: bool, initial: Any) -> Value:
    """The reduction of a tensor by a ufunc that no function of NumPy is, one element after another."""
    axes = b.axes(axis, x.rank) if axis is not None else list(range(x.rank))
    for a in sorted(axes, reverse=True):
        extent = x.shape[a]
        shape = (*x.shape[:a], *x.shape[a + 1 :])
        if initial is None and not extent:
            if ufunc.identity is None:
                raise UsageError(f"{ufunc.__name__} of no elements has no value", where=b.where)
            initial = ufunc.identity
        parts = [b.reshape(b.slice(x, a, k, k + 1), shape) for k in range(extent)]
        found = parts.pop(0) if initial is None else b.broadcast(b.tensor(initial, x.dtype), shape)
        for part in parts:
            found = call(b, ufunc, (found, part))
        x = found
    if keepdims:
        for a in axes:
            x = b.reshape(x, (*x.shape[:a], 1, *x.shape[a:]))
    return x


def accumulated(b: NumpyBuilder, ufunc: np.ufunc, x: Value, axis: int) -> Value:
    """The partial results of a reduction, one element after another."""
    a = b.axis(axis, x.rank)
    parts = [b.slice(x, a, k, k + 1) for k in range(x.shape[a])]
    for k in range(1, len(parts)):
        parts[k] = call(b, ufunc, (parts[k - 1], parts[k]))
    return b.aten("cat", parts, a) if parts else x


def outer(b: NumpyBuilder, ufunc: np.ufunc, x: Any, y: Any) -> Any:
    """A ufunc of all pairs of elements of two tensors."""
    x, y = b.tensor(x), b.tensor(y)
    return call(b, ufunc, (b.reshape(x, (*x.shape, *[1] * y.rank)), y))

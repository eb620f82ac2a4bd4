"""NumPy's Fourier transforms, as products with matrices of cosines and sines.

A transform of n = p q elements is one of p and one of q (Cooley and Tukey, Math. Comp. 19 (90), 1965), each a product
that all rows share. A length that has no divisors is one matrix, or relay.dft where that would be too large.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.dialects.relay.reduce.spectrum import turns
from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy.array import TracedArray, current
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.complex_array import TracedComplex, part_type
from lamina.frontends.numpy.functions_shape import normal_axes, normal_axis
from lamina.frontends.numpy.table import implements

DIRECT = 64
"""Elements that are transformed by one matrix, whatever their divisors."""
LARGEST = 1024
"""Elements that are transformed by a matrix at most: it has four times their square."""

Parts = tuple[Value, Value | None]
"""Real and imaginary parts; None for zeros."""


def _parts(b: NumpyBuilder, x: Any) -> Parts:
    if isinstance(x, TracedComplex):
        return x.real.tensor(), x.imag.tensor()
    value = b.tensor(x)
    return b.cast(value, str(part_type(numpy_dtype(value.dtype)))), None


def _array(*values: Value) -> Any:
    """Tensors as an array of the user's: a real one, or a complex one of two parts."""
    trace = current()
    assert trace is not None
    arrays = [TracedArray(trace, v) for v in values]
    return arrays[0] if len(arrays) == 1 else TracedComplex(*arrays)


def _resized(b: NumpyBuilder, x: Value, count: int) -> Value:
    """The first elements of the last axis, zeros behind them where there are not so many."""
    if count <= x.shape[-1]:
        return b.slice(x, x.rank - 1, 0, count)
    return b.aten("constant_pad_nd", x, [0, count - x.shape[-1]], 0)


def _moved(b: NumpyBuilder, x: Parts, source: int, target: int) -> Parts:
    real, imag = x
    return b.aten("movedim", real, source, target), imag and b.aten("movedim", imag, source, target)


# -- the transform along the last axis, not scaled -------------------------------------------------


def _turned(n: int, rows: int, columns: int, inverse: bool) -> tuple[Any, Any]:
    """cos and sin of i k / n of a turn, backwards unless `inverse`, [rows, columns]."""
    cos, sin = turns(n)
    places = np.outer(np.arange(rows), np.arange(columns)) % n
    return cos[places], sin[places] if inverse else -sin[places]


def _by_matrix(b: NumpyBuilder, x: Parts, inverse: bool, is_real: bool) -> Parts:
    real, imag = x
    n, last = real.shape[-1], real.rank - 1
    cos, sin = _turned(n, n, n, inverse)
    matrix = np.block([[cos, sin]] if imag is None else [[cos, sin], [-sin, cos]])[:, : n if is_real else 2 * n]
    operand = real if imag is None else b.aten("cat", [real, imag], last)
    found = b.aten("matmul", operand, b.constant(matrix.astype(numpy_dtype(real.dtype))))
    if is_real:
        return found, None
    return b.slice(found, last, 0, n), b.slice(found, last, n, 2 * n)


def _transformed(b: NumpyBuilder, x: Parts, inverse: bool, is_real: bool = False) -> Parts:
    """The transform along the last axis: sums of x[j] exp(-2 pi i j k / n), or with `inverse` exp(2 pi i j k / n).

    With `is_real` its real part alone.
    """
    real, imag = x
    n = real.shape[-1]
    p = max(k for k in range(1, isqrt(n) + 1) if n % k == 0)
    if n <= DIRECT or p == 1:
        if n <= LARGEST:
            return _by_matrix(b, x, inverse, is_real)
        found = b.ops("dft", real, b.zeros(real.shape, real.dtype) if imag is None else imag, inverse=inverse)
        whole = (b.mul(found[0], n), b.mul(found[1], n)) if inverse else (found[0], found[1])
        return (whole[0], None) if is_real else whole
    q, shape = n // p, real.shape
    # Element q i + j stands at [j, i]: of each j the transform over i, turned by j k / n, and then over j for each k.
    rows = (b.swapped(b.reshape(real, (*shape[:-1], p, q))), imag and b.swapped(b.reshape(imag, (*shape[:-1], p, q))))
    first, other = _transformed(b, rows, inverse)
    assert other is not None
    cos, sin = (b.constant(t.astype(numpy_dtype(real.dtype))) for t in _turned(n, q, p, inverse))
    turned = (
        b.sub(b.mul(first, cos), b.mul(other, sin)),
        b.add(b.mul(first, sin), b.mul(other, cos)),
    )
    second = _transformed(b, (b.swapped(turned[0]), b.swapped(turned[1])), inverse, is_real)
    # What is at [k, l] is element p l + k of the result.
    return b.reshape(b.swapped(second[0]), shape), second[1] and b.reshape(b.swapped(second[1]), shape)


def _scaled(b: NumpyBuilder, x: Parts, count: int, norm: str | None, inverse: bool, is_real: bool = False) -> Parts:
    """The transform of so many elements along the last axis, as `norm` says."""
    if count < 1:
        raise UsageError(f"invalid number of data points ({count}) specified", where=b.where)
    scales = {"backward": 1 / count if inverse else 1.0, "ortho": count**-0.5, "forward": 1.0 if inverse else 1 / count}
    if (norm or "backward") not in scales:
        raise UsageError(f"norm is {norm!r}: there are backward, ortho and forward", where=b.where)
    real, imag = x
    found = _transformed(b, (_resized(b, real, count), imag and _resized(b, imag, count)), inverse, is_real)
    scale = scales[norm or "backward"]
    return found if scale == 1.0 else (b.mul(found[0], scale), found[1] and b.mul(found[1], scale))


# -- NumPy's functions -----------------------------------------------------------------------------


@implements("fft.fft", "fft.ifft", "fft.rfft", of_complex=True)
def fft(b: NumpyBuilder, a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    name = b.function.rpartition(".")[2]
    x = _parts(b, a)
    at = normal_axis(b, axis, x[0].rank)
    count = x[0].shape[at] if n is None else int(b.known(n, "the length of a transform"))
    if name == "rfft" and isinstance(a, TracedComplex):
        raise UsageError("rfft is one of real arrays", where=b.where, hint="numpy.fft.fft")
    found = [p for p in _scaled(b, _moved(b, x, at, -1), count, norm, name == "ifft") if p is not None]
    if name == "rfft":
        found = [_resized(b, p, count // 2 + 1) for p in found]
    return _array(*(b.aten("movedim", p, -1, at) for p in found))


@implements("fft.irfft", of_complex=True)
def irfft(b: NumpyBuilder, a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    x = _parts(b, a)
    at = normal_axis(b, axis, x[0].rank)
    count = 2 * (x[0].shape[at] - 1) if n is None else int(b.known(n, "the length of a transform"))
    half = max(count // 2 + 1, 1)
    # The other half is conjugate to this one: its terms have the same real parts, which count twice.
    twice = np.full(half, 2.0)
    twice[0] = twice[count - half + 1 :] = 1.0
    weights = b.constant(twice.astype(numpy_dtype(x[0].dtype)))
    real, imag = (p and b.mul(_resized(b, p, half), weights) for p in _moved(b, x, at, -1))
    assert real is not None
    found = b.aten("movedim", _scaled(b, (real, imag), count, norm, True, is_real=True)[0], -1, at)
    # Of a half-precision array NumPy gives one.
    return _array(b.cast(found, "float16") if getattr(a, "dtype", "") == "float16" else found)


@implements("fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn", of_complex=True)
def fftn(b: NumpyBuilder, a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    name = b.function.rpartition(".")[2]
    x = _parts(b, a)
    given = (-2, -1) if axes is None and name.endswith("2") else axes
    if given is None and s is not None:
        given = tuple(range(-len(s), 0))
    places = normal_axes(b, given, x[0].rank)
    counts = [x[0].shape[k] for k in places] if s is None else [int(b.known(e, "a length")) for e in s]
    for at, count in reversed(list(zip(places, counts, strict=True))):
        x = _moved(b, _scaled(b, _moved(b, x, at, -1), count, norm, name.startswith("i")), -1, at)
    return _array(*(p for p in x if p is not None))


@implements("fft.fftshift", "fft.ifftshift", of_complex=True)
def fftshift(b: NumpyBuilder, x: Any, axes: Any = None) -> Any:
    sign = -1 if b.function.endswith("ifftshift") else 1
    shape: tuple[int, ...] = x.shape
    places = normal_axes(b, axes, len(shape))
    shifts = [sign * (shape[k] // 2) for k in places]
    parts = (x,) if isinstance(x, Value) else (x.real.tensor(), x.imag.tensor())
    return _array(*(b.aten("roll", p, shifts, places) for p in parts))

"""NumPy's functions of signals: even places, sums over a window that moves, Fourier transforms.

The transforms are relay.dft, which takes the square of the length in time: the length is at most `LONGEST`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.errors import UsageError
from lamina.frontends.builder import Value
from lamina.frontends.numpy import ufuncs
from lamina.frontends.numpy.array import TracedArray, current
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.complex_array import TracedComplex, part_type
from lamina.frontends.numpy.functions_shape import normal_axes, normal_axis
from lamina.frontends.numpy.table import implements

LONGEST = 1 << 14


@implements("linspace")
def linspace(
    b: NumpyBuilder, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False,
    dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    given = [numpy_dtype(e.dtype) if isinstance(e, Value) else e for e in (start, stop)]
    kind, count = str(np.result_type(*given, 1.0)), int(b.known(num, "the number of places"))
    first, last = b.spread(b.tensor(start, kind), b.tensor(stop, kind))
    steps = count - bool(endpoint)
    places = b.constant(np.arange(count, dtype=kind).reshape(-1, *(1,) * first.rank))
    width = b.sub(last, first)
    step = b.div(width, steps) if steps > 0 else b.splat(np.asarray(np.nan, kind)[()], first.shape)
    moved = b.op("multiply", places, step if steps > 0 else width)
    found = b.op("add", moved, first)
    if endpoint and count > 1:
        # The last place is the end itself, whatever the rounding of the step.
        found = b.aten("cat", [b.slice(found, 0, 0, count - 1), b.reshape(last, (1, *last.shape))], 0)
    found = b.aten("movedim", found, 0, axis) if axis else found
    if dtype is not None:
        name = b.dtype_of(dtype, "")
        found = b.cast(ufuncs.call(b, np.floor, (found,)) if "int" in name else found, name)
    return (found, step) if retstep else found


@implements("convolve", "correlate")
def convolve(b: NumpyBuilder, a: Any, v: Any, mode: str = "") -> Value:
    is_convolution = b.function.endswith("convolve")
    mode = mode or ("full" if is_convolution else "valid")
    x, w = b.alike(a, v)
    if not is_convolution and w.shape[0] > x.shape[0]:
        raise b.unsupported("the second array is longer than the first", "change them for each other")
    if w.shape[0] > x.shape[0]:
        x, w = w, x
    if is_convolution:
        w = b.aten("flip", w, [0])
    n = w.shape[0]
    before, after = {"full": (n - 1, n - 1), "valid": (0, 0), "same": (n // 2, (n - 1) // 2)}[mode]
    windows = b.aten("unfold", b.aten("constant_pad_nd", x, [before, after], 0), 0, n, 1)
    return b.aten("matmul", windows, w)


# -- Fourier transforms ----------------------------------------------------------------------------


def _pair(b: NumpyBuilder, x: Any) -> tuple[Value, Value]:
    """The parts of what is transformed."""
    if isinstance(x, TracedComplex):
        return x.real.tensor(), x.imag.tensor()
    value = b.tensor(x)
    real = b.cast(value, str(part_type(numpy_dtype(value.dtype))))
    return real, b.zeros(real.shape, real.dtype)


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


def _checked(b: NumpyBuilder, count: int) -> int:
    if count < 1:
        raise UsageError(f"invalid number of data points ({count}) specified", where=b.where)
    if count > LONGEST:
        raise b.unsupported(f"a transform of {count} elements is longer than {LONGEST}", "call it outside")
    return count


def _transformed(
    b: NumpyBuilder, x: tuple[Value, Value], count: int, norm: str | None, inverse: bool
) -> tuple[Value, Value]:
    """The transform of so many elements along the last axis."""
    real, imag = b.ops("dft", *(_resized(b, p, _checked(b, count)) for p in x), inverse=inverse)
    if norm not in (None, "backward", "ortho", "forward"):
        raise UsageError(f"Invalid norm value {norm}; should be backward, ortho or forward", where=b.where)
    scale = {"ortho": count**-0.5, "forward": 1 / count}.get(norm or "", 1.0)
    if scale == 1.0:
        return real, imag
    scale = 1 / scale if inverse else scale
    return b.mul(real, scale), b.mul(imag, scale)


def _moved(b: NumpyBuilder, x: tuple[Value, Value], source: int, target: int) -> tuple[Value, Value]:
    real, imag = (b.aten("movedim", p, source, target) for p in x)
    return real, imag


@implements("fft.fft", "fft.ifft", "fft.rfft", of_complex=True)
def fft(b: NumpyBuilder, a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    name = b.function.rpartition(".")[2]
    x = _pair(b, a)
    at = normal_axis(b, axis, x[0].rank)
    count = x[0].shape[at] if n is None else int(b.known(n, "the length of a transform"))
    if name == "rfft" and isinstance(a, TracedComplex):
        raise UsageError("rfft is one of real arrays", where=b.where, hint="numpy.fft.fft")
    found = _transformed(b, _moved(b, x, at, -1), count, norm, name == "ifft")
    if name == "rfft":
        found = (_resized(b, found[0], count // 2 + 1), _resized(b, found[1], count // 2 + 1))
    return _array(*_moved(b, found, -1, at))


@implements("fft.irfft", of_complex=True)
def irfft(b: NumpyBuilder, a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
    x = _pair(b, a)
    at = normal_axis(b, axis, x[0].rank)
    count = _checked(b, 2 * (x[0].shape[at] - 1) if n is None else int(b.known(n, "the length of a transform")))
    half, last = count // 2 + 1, x[0].rank - 1
    real, imag = (_resized(b, p, half) for p in _moved(b, x, at, -1))
    # The other half has the same numbers the other way round, conjugated.
    rest = [b.aten("flip", b.slice(p, last, 1, count - half + 1), [last]) for p in (real, imag)]
    whole = (b.aten("cat", [real, rest[0]], last), b.aten("cat", [imag, b.aten("neg", rest[1])], last))
    found = _transformed(b, whole, count, norm, True)
    real = b.aten("movedim", found[0], -1, at)
    # Of a half-precision array NumPy gives one.
    return _array(b.cast(real, "float16") if getattr(a, "dtype", "") == "float16" else real)


@implements("fft.fft2", "fft.ifft2", "fft.fftn", "fft.ifftn", of_complex=True)
def fftn(b: NumpyBuilder, a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Any:
    name = b.function.rpartition(".")[2]
    x = _pair(b, a)
    given = (-2, -1) if axes is None and name.endswith("2") else axes
    if given is None and s is not None:
        given = tuple(range(-len(s), 0))
    places = normal_axes(b, given, x[0].rank)
    counts = [x[0].shape[k] for k in places] if s is None else [int(b.known(e, "a length")) for e in s]
    for at, count in reversed(list(zip(places, counts, strict=True))):
        x = _moved(b, _transformed(b, _moved(b, x, at, -1), count, norm, name.startswith("i")), -1, at)
    return _array(*x)


@implements("fft.fftshift", "fft.ifftshift", of_complex=True)
def fftshift(b: NumpyBuilder, x: Any, axes: Any = None) -> Any:
    sign = -1 if b.function.endswith("ifftshift") else 1
    shape: tuple[int, ...] = x.shape
    places = normal_axes(b, axes, len(shape))
    shifts = [sign * (shape[k] // 2) for k in places]
    parts = (x,) if isinstance(x, Value) else (x.real.tensor(), x.imag.tensor())
    return _array(*(b.aten("roll", p, shifts, places) for p in parts))

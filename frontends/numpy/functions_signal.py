"""NumPy's functions of signals: even places, sums over a window that moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from lamina.dialects.dtypes import numpy_dtype
from lamina.frontends.builder import Value
from lamina.frontends.numpy import ufuncs
from lamina.frontends.numpy.builder import NumpyBuilder
from lamina.frontends.numpy.table import implements


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

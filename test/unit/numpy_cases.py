"""NumPy programs of one function each, for `test_numpy_functions.py`: what they are called on are the arrays below."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[..., Any]


def arrays() -> dict[str, Any]:
    """The arrays by the names of parameters: x, y of floats, p of positive ones, u between -1 and 1, i, j of integers,
    m of booleans, v, w vectors, s sorted, n with NaN, a, c matrices."""
    r = np.random.default_rng(7)
    x = r.uniform(-2, 2, (3, 4, 2)).astype(np.float32)
    n = r.uniform(-2, 2, (3, 4))
    n[0, 1], n[2, 3] = np.nan, np.inf
    return {
        "x": x,
        "y": r.uniform(-2, 2, (4, 1)),
        "p": r.uniform(0.5, 3, (3, 4)),
        "u": r.uniform(-0.9, 0.9, (3, 4)).astype(np.float32),
        "i": r.integers(-6, 7, (3, 4)),
        "j": r.integers(1, 5, (3, 4)).astype(np.int32),
        "m": r.integers(0, 2, (3, 4)).astype(bool),
        "v": r.uniform(-2, 2, 5),
        "w": r.uniform(-2, 2, 3),
        "s": np.sort(r.uniform(-2, 2, 6)),
        "n": n,
        "a": r.uniform(-1, 1, (4, 5)),
        "c": r.uniform(-1, 1, (5, 3)),
        "k": r.integers(0, 3, (2, 3)),
        "h": r.uniform(-2, 2, (3, 4)).astype(np.float16),
    }


def _unary(*names: str) -> dict[str, list[Program]]:
    """Ufuncs of one array, on floats of both precisions, on integers and on half precision."""

    def of(ufunc: Any) -> list[Program]:
        return [lambda u: ufunc(u), lambda p: ufunc(p), lambda j: ufunc(j), lambda h: ufunc(h)]

    return {n: of(getattr(np, n)) for n in names}


def _binary(*names: str) -> dict[str, list[Program]]:
    """Ufuncs of two arrays: of two types, with a number of Python, with integers."""

    def of(ufunc: Any) -> list[Program]:
        return [lambda x, y: ufunc(x, y), lambda x: ufunc(x, 1.5), lambda i, j: ufunc(i, j), lambda i: ufunc(3, i)]

    return {n: of(getattr(np, n)) for n in names}


def _of_integers(*names: str) -> dict[str, list[Program]]:
    def of(ufunc: Any) -> list[Program]:
        return [lambda i, j: ufunc(i, j), lambda j: ufunc(j, 2)]

    return {n: of(getattr(np, n)) for n in names}


def _reductions(*names: str) -> dict[str, list[Program]]:
    def of(f: Any) -> list[Program]:
        return [
            lambda x: f(x),
            lambda x: f(x, axis=1),
            lambda x: f(x, axis=(0, -1)),
            lambda i: f(i, axis=0, keepdims=True),
            lambda h: f(h),
            lambda m: f(m, 1) if f not in (np.ptp,) else f(m.astype(int), 1),
        ]

    return {n: of(getattr(np, n)) for n in names}


def _split(z: Any) -> Any:
    """A complex result as its parts."""
    return (z.real, z.imag) if np.iscomplexobj(z) else z


UFUNCS: dict[str, list[Program]] = {
    **_unary(
        *("absolute", "fabs", "positive", "negative", "conjugate", "ceil", "floor", "trunc", "rint", "sign", "sqrt"),
        *("square", "reciprocal", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
        *("sinh", "cosh", "tanh", "arcsinh", "arctan", "deg2rad", "rad2deg", "degrees", "radians"),
        *("isnan", "isinf", "isfinite", "signbit", "logical_not"),
    ),
    **{f: [lambda u, f=f: getattr(np, f)(u)] for f in ("arcsin", "arccos", "arctanh")},
    "arccosh": [lambda p: np.arccosh(p + 1)],
    **_binary(
        *("add", "subtract", "multiply", "divide", "maximum", "minimum", "fmax", "fmin", "fmod", "remainder"),
        *("floor_divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "hypot", "arctan2"),
        *("copysign", "heaviside", "logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor"),
    ),
    "power": [lambda p, y: np.power(p, y[0]), lambda x: x**2, lambda x: x**3.0, lambda i, j: i**j, lambda p: 2**p],
    "float_power": [lambda p: np.float_power(p, 1.5), lambda j: np.float_power(j, 2)],
    "nextafter": [lambda p: np.nextafter(p, 0.0)],
    "divmod": [lambda i, j: np.divmod(i, j), lambda x: divmod(x, 0.7)],
    "modf": [lambda x: np.modf(x)],
    "frexp": [
        lambda x: np.frexp(x),
        lambda p: np.frexp(p * 2.0**-1070),
        lambda h: np.frexp(h),
        lambda n: np.frexp(np.concatenate([n, -n, np.zeros_like(n)])),
        lambda j: np.frexp(j),
    ],
    "ldexp": [lambda x: np.ldexp(x, 5), lambda p, j: np.ldexp(p, j - 2), lambda p: np.ldexp(p, -1074)],
    **_of_integers("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "left_shift", "right_shift"),
    "invert": [lambda i: ~i, lambda m: ~m],
    "bitwise_count": [lambda i: np.bitwise_count(i), lambda j: np.bitwise_count(j)],
    "matmul": [lambda a, c: a @ c, lambda a, v: a @ v, lambda v, c: v @ c, lambda x, a: x.transpose(0, 2, 1) @ a],
    "vecdot": [lambda a: np.vecdot(a, a[::-1])],
    "matvec": [lambda a, v: np.matvec(a, v)],
    "vecmat": [lambda v, c: np.vecmat(v, c)],
}

FUNCTIONS: dict[str, list[Program]] = {
    **_reductions(
        "sum", "prod", "mean", "var", "std", "max", "min", "amax", "amin", "any", "all", "ptp", "count_nonzero"
    ),
    **{
        n: [lambda n, f=n: getattr(np, f)(n), lambda n, f=n: getattr(np, f)(n, 1), lambda i, f=n: getattr(np, f)(i)]
        for n in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nancumsum", "nancumprod")
    },
    **{
        n: [lambda x, f=n: getattr(np, f)(x), lambda x, f=n: getattr(np, f)(x, 1), lambda n, f=n: getattr(np, f)(n, 0)]
        for n in ("argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "median")
    },
    "average": [lambda x: np.average(x, 1), lambda p, u: np.average(p, weights=u, axis=0, returned=True)],
    "partition": [lambda a: np.sort(np.partition(a, 2)[:, 2])],
    "argpartition": [lambda a: np.take_along_axis(a, np.argpartition(a, 2), 1)[:, 2]],
    "diff": [
        lambda x: np.diff(x, axis=1),
        lambda v: np.diff(v, 2),
        lambda v: np.diff(v, prepend=0.0),
        lambda m: np.diff(m),
    ],
    "ediff1d": [lambda v: np.ediff1d(v, 9.0, 8.0)],
    "trapezoid": [lambda a: np.trapezoid(a), lambda v: np.trapezoid(v, dx=0.5), lambda a, v: np.trapezoid(a, v)],
    "searchsorted": [lambda s, v: np.searchsorted(s, v), lambda s, v: np.searchsorted(s, v, "right")],
    "digitize": [lambda v: np.digitize(v, [-1.0, 0.0, 1.0]), lambda v: np.digitize(v, [1.0, 0.0], right=True)],
    "quantile": [
        lambda a: np.quantile(a, 0.3),
        lambda a: np.quantile(a, [0.25, 0.9], axis=1),
        lambda n: np.quantile(n, 0.5, 1),
    ],
    "percentile": [lambda a: np.percentile(a, 40, axis=0, keepdims=True)],
    "reshape": [lambda x: np.reshape(x, (4, -1)), lambda x: x.reshape(2, 12), lambda x: np.reshape(x, 24, "F")],
    "ravel": [lambda x: x.ravel(), lambda x: np.ravel(x, "F")],
    "transpose": [lambda x: x.T, lambda x: np.transpose(x, (1, 0, 2)), lambda x: np.permute_dims(x, (2, 0, 1))],
    "matrix_transpose": [lambda x: np.matrix_transpose(x), lambda x: x.mT],
    "swapaxes": [lambda x: np.swapaxes(x, 0, -1)],
    "moveaxis": [lambda x: np.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, (0, 1), (2, 0))],
    "rollaxis": [lambda x: np.rollaxis(x, 2), lambda x: np.rollaxis(x, 0, 3)],
    "expand_dims": [lambda x: np.expand_dims(x, 1), lambda v: np.expand_dims(v, (0, 2))],
    "squeeze": [lambda y: np.squeeze(y), lambda y: np.squeeze(y, -1)],
    "broadcast_to": [lambda y: np.broadcast_to(y, (3, 4, 2))],
    "broadcast_arrays": [lambda x, y: np.broadcast_arrays(x, y)],
    "atleast_1d": [lambda x: np.atleast_1d(x.sum())],
    "atleast_2d": [lambda v: np.atleast_2d(v)],
    "atleast_3d": [lambda v, a: np.atleast_3d(v, a)],
    "copy": [lambda x: np.copy(x)],
    "astype": [
        lambda x: np.astype(x, np.int32),
        lambda x: x.astype("f8"),
        lambda i: i.astype(bool),
        lambda i: i.astype("u1"),
    ],
    "zeros_like": [lambda x: np.zeros_like(x)],
    "ones_like": [lambda x: np.ones_like(x, dtype=np.int64)],
    "empty_like": [lambda x: np.empty_like(x).shape[0] * x],
    "full_like": [lambda x: np.full_like(x, 2.5), lambda x: np.full_like(x, x[0, 0, 0], shape=(2, 2))],
    "concatenate": [
        lambda a, c: np.concatenate([a, c.T]),
        lambda i, u: np.concatenate([i, u], 1),
        lambda a: np.concatenate([a, a], None),
    ],
    "stack": [lambda p, u: np.stack([p, u], -1), lambda x: np.stack(list(x))],
    "vstack": [lambda a, v: np.vstack([a, v])],
    "hstack": [lambda v, w: np.hstack([v, w])],
    "dstack": [lambda p, u: np.dstack([p, u])],
    "column_stack": [lambda v: np.column_stack([v, v * 2])],
    "append": [lambda v, w: np.append(v, w), lambda a: np.append(a, a, 1)],
    "block": [lambda a: np.block([[a, a], [a, a * 2]])],
    "tile": [lambda v: np.tile(v, 2), lambda p: np.tile(p, (2, 1, 3))],
    "repeat": [lambda a: np.repeat(a, 2), lambda a: np.repeat(a, [1, 0, 2, 1], axis=0)],
    "split": [lambda x: np.split(x, 2, 1), lambda v: np.split(v, [1, 3])],
    "array_split": [lambda v: np.array_split(v, 3)],
    "hsplit": [lambda p: np.hsplit(p, 2)],
    "vsplit": [lambda p: np.vsplit(p, 3)],
    "dsplit": [lambda x: np.dsplit(x, 2)],
    "unstack": [lambda x: np.unstack(x, axis=1)],
    "flip": [lambda x: np.flip(x), lambda x: np.flip(x, (0, 2))],
    "fliplr": [lambda a: np.fliplr(a)],
    "flipud": [lambda a: np.flipud(a)],
    "rot90": [lambda a: np.rot90(a), lambda x: np.rot90(x, 3, (1, 2))],
    "roll": [lambda a: np.roll(a, 3), lambda a: np.roll(a, (1, -2), (0, 1))],
    "pad": [
        lambda a: np.pad(a, 2),
        lambda a: np.pad(a, ((1, 2), (0, 3)), constant_values=1.5),
        lambda a: np.pad(a, 1, "edge"),
        lambda a: np.pad(a, 2, "reflect"),
        lambda a: np.pad(a, 2, "symmetric"),
        lambda a: np.pad(a, 2, "wrap"),
    ],
    "shape": [lambda x: np.zeros_like(x, shape=np.shape(x)[::-1]) + 1],
    "ndim": [lambda x: x * np.ndim(x)],
    "size": [lambda x: x * np.size(x, 1)],
    "meshgrid": [lambda v, w: np.meshgrid(v, w), lambda v, w: np.meshgrid(v, w, indexing="ij", sparse=True)],
    "lib.stride_tricks.sliding_window_view": [
        lambda v: np.lib.stride_tricks.sliding_window_view(v, 3),
        lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 3)),
    ],
    "clip": [
        lambda x: np.clip(x, -1, 1),
        lambda x: x.clip(min=0.5),
        lambda i: np.clip(i, None, 3),
        lambda x, y: np.clip(x, y, 1.0),
    ],
    "round": [lambda x: np.round(x), lambda x: np.round(x, 2), lambda x: np.round(x * 100, -1), lambda i: np.round(i)],
    "around": [lambda x: np.around(x, 1)],
    "fix": [lambda x: np.fix(x)],
    "where": [lambda x: np.where(x > 0, x, 0.0), lambda m, i, u: np.where(m, i, u)],
    "select": [lambda x: np.select([x > 1, x > 0], [x, x * 2], -1.0)],
    "choose": [lambda k: np.choose(k, [k * 10, k * 20, k * 30])],
    "nan_to_num": [lambda n: np.nan_to_num(n), lambda n: np.nan_to_num(n, nan=1.0, posinf=2.0)],
    "isclose": [lambda n: np.isclose(n, n + 1e-9), lambda n: np.isclose(n, n, equal_nan=True)],
    "allclose": [lambda p: np.array(np.allclose(p, p + 1e-12))],
    "array_equal": [lambda p, u: np.array(np.array_equal(p, u)), lambda p: np.array(np.array_equal(p, p.copy()))],
    "isin": [lambda i: np.isin(i, [1, 2, -3]), lambda i, j: np.isin(i, j, invert=True)],
    "cov": [
        lambda a: np.cov(a),
        lambda v: np.cov(v),
        lambda a: np.cov(a, rowvar=False, ddof=0),
        lambda v: np.cov(v, v**2),
    ],
    "corrcoef": [lambda a: np.corrcoef(a), lambda v: np.corrcoef(v, v**3)],
    "isneginf": [lambda n: np.isneginf(n)],
    "isposinf": [lambda n: np.isposinf(n)],
    "real": [lambda x: np.real(x)],
    "real_if_close": [lambda x: np.real_if_close(x)],
    "iscomplexobj": [lambda x: x * np.iscomplexobj(x)],
    "isrealobj": [lambda x: x * np.isrealobj(x)],
    "result_type": [lambda x, i: x.astype(np.result_type(x, i))],
    "can_cast": [lambda x: x * np.can_cast(x.dtype, np.float64)],
    "sinc": [lambda x: np.sinc(x)],
    "gradient": [lambda v: np.gradient(v), lambda a: np.gradient(a, 0.5), lambda a: np.gradient(a, axis=1)],
    "polyval": [lambda w, x: np.polyval(w, x), lambda x: np.polyval([1, 2, 3], x)],
    "interp": [lambda v, s: np.interp(v, s, s**2), lambda v, s: np.interp(v, s, s**2, left=-9.0, right=9.0)],
    "convolve": [
        lambda v, w: np.convolve(v, w),
        lambda v, w: np.convolve(v, w, "same"),
        lambda v, w: np.convolve(w, v, "valid"),
    ],
    "correlate": [
        lambda v, w: np.correlate(v, w),
        lambda v, w: np.correlate(v, w, "full"),
        lambda v, w: np.correlate(v, w, "same"),
    ],
    "take": [
        lambda a, k: np.take(a, k),
        lambda a, k: np.take(a, k, 1),
        lambda a: np.take(a, [-1, 0], axis=0),
        lambda a, i: np.take(a, i, 0, mode="wrap"),
        lambda a, i: np.take(a, i, 0, mode="clip"),
    ],
    "take_along_axis": [
        lambda a: np.take_along_axis(a, np.argsort(a, 1), 1),
        lambda a: np.take_along_axis(a[:0], np.argsort(a[:0], 1), 1),
        lambda x: np.take_along_axis(x[:, :0], np.argsort(x[:, :0, :1], 1), 1),
        lambda v: np.take_along_axis(v, np.argsort(v), None),
    ],
    "compress": [lambda a: np.compress([True, False, True], a, axis=1)],
    "delete": [lambda a: np.delete(a, 1, 0), lambda a: np.delete(a, [0, 2], 1)],
    "insert": [lambda v: np.insert(v, 2, 9.0), lambda a: np.insert(a, [1, 3], 7.0, axis=1)],
    "tril": [lambda a: np.tril(a), lambda x: np.tril(x, -1), lambda a, k: np.tril(a, -k[0, 0])],
    "triu": [lambda a: np.triu(a, 1), lambda v: np.triu(v), lambda a, k: np.triu(a, k[0, 1])],
    "diagonal": [lambda a: np.diagonal(a, 1), lambda x: np.diagonal(x, 0, 1, 2)],
    "diag": [lambda a: np.diag(a), lambda v: np.diag(v, -1)],
    "diagflat": [lambda p: np.diagflat(p)],
    "vander": [lambda v: np.vander(v), lambda v: np.vander(v, 3, increasing=True)],
    "dot": [
        lambda a, c: np.dot(a, c),
        lambda v: np.dot(v, v),
        lambda x, a: np.dot(x[..., 0], a),
        lambda x: np.dot(2.0, x),
        lambda x: np.dot(x, x.transpose(0, 2, 1)),
    ],
    "inner": [lambda a, v: np.inner(a, v), lambda a: np.inner(a, a)],
    "vdot": [lambda a: np.vdot(a, a)],
    "outer": [lambda v, w: np.outer(v, w), lambda p: np.outer(p, p)],
    "tensordot": [lambda x, p: np.tensordot(x, p, ([0, 1], [0, 1])), lambda a, c: np.tensordot(a, c, 1)],
    "einsum": [
        lambda a, c: np.einsum("ij,jk->ik", a, c),
        lambda x: np.einsum("ijk->k", x),
        lambda a: np.einsum("ij,ij->i", a, a),
        lambda a, c: np.einsum("ij, jk -> ik", a[:, :0], c[:0]),
        lambda a, c: np.einsum("ij,jk", a[:0], c),
    ],
    "kron": [lambda w, v: np.kron(w, v), lambda p: np.kron(p, p)],
    "cross": [lambda w: np.cross(w, w[::-1]), lambda c: np.cross(c, c[::-1])],
    "trace": [lambda a: np.trace(a), lambda x: np.trace(x, 1)],
    "imag": [lambda x: np.imag(x), lambda v: np.fft.fft(v).imag, lambda x: np.imag(x * (1 - 2j))],
    "angle": [
        lambda x: np.angle(x),
        lambda i: np.angle(i, deg=True),
        lambda v, w: np.angle(v[:3] + 1j * w, deg=True),
    ],
    **{
        f"fft.{n}": [
            lambda v, f=f: _split(f(v)),
            lambda x, f=f: _split(f(x, 5, 1, norm="ortho")),
            lambda x, f=f: _split(f(x, 3, axis=0, norm="forward")),
            lambda i, f=f: _split(f(i)),
            lambda h, f=f: _split(f(h)),
            *[lambda x, f=f, n=n: _split(f(np.cos(x), n, 1)) for n in (1, 96, 134, 257, 1031)],
            *([] if n == "rfft" else [lambda a, u, f=f: _split(f(a[:3, :4] + 1j * u))]),
        ]
        for n, f in (("fft", np.fft.fft), ("ifft", np.fft.ifft), ("rfft", np.fft.rfft), ("irfft", np.fft.irfft))
    },
    "fft.fft2": [lambda x: _split(np.fft.fft2(x))],
    "fft.ifft2": [lambda a: _split(np.fft.ifft2(a * 1j, (3, 6)))],
    "fft.fftn": [lambda x: _split(np.fft.fftn(x)), lambda x: _split(np.fft.fftn(x, (2, 2), (0, 2), norm="ortho"))],
    "fft.ifftn": [lambda x: _split(np.fft.ifftn(np.fft.fftn(x), axes=[0, 2]))],
    "fft.fftshift": [lambda a: np.fft.fftshift(a), lambda v: _split(np.fft.fftshift(np.fft.fft(v)))],
    "fft.ifftshift": [lambda a: np.fft.ifftshift(a), lambda a: np.fft.ifftshift(a, 1)],
    "linspace": [
        lambda v, w: np.linspace(v[:3], w, 5),
        lambda x: np.linspace(x, 1.0, 4, axis=-1),
        lambda i: np.linspace(0, i, 3, endpoint=False, retstep=True),
        lambda w: np.linspace(w, w + 9, 4, axis=1, dtype=int),
        lambda w: np.linspace(w, 7.0, 1),
    ],
    "linalg.norm": [
        lambda a: np.linalg.norm(a),
        lambda v: np.linalg.norm(v, 3),
        lambda a: np.linalg.norm(a, axis=1),
        lambda v: np.linalg.norm(v, np.inf),
        lambda a: np.linalg.norm(a, 1),
        lambda a: np.linalg.norm(a, -np.inf),
        lambda v: np.linalg.norm(v, 0),
        lambda i: np.linalg.norm(i),
        lambda a: np.linalg.norm(a, "fro", keepdims=True),
    ],
    "linalg.vector_norm": [lambda a: np.linalg.vector_norm(a, axis=0)],
    "linalg.matrix_norm": [lambda x: np.linalg.matrix_norm(x)],
    "linalg.matrix_transpose": [lambda x: np.linalg.matrix_transpose(x)],
    "linalg.matrix_power": [
        lambda a: np.linalg.matrix_power(a[:, :4], 5),
        lambda a: np.linalg.matrix_power(a[:, :4], 0),
    ],
    "linalg.multi_dot": [lambda v, a, c: np.linalg.multi_dot([a, c, c.T])],
    "linalg.matmul": [lambda a, c: np.linalg.matmul(a, c)],
    "linalg.outer": [lambda v, w: np.linalg.outer(v, w)],
    "linalg.tensordot": [lambda a, c: np.linalg.tensordot(a, c, axes=1)],
    "linalg.vecdot": [lambda a: np.linalg.vecdot(a, a)],
    "linalg.cross": [lambda c: np.linalg.cross(c, c[::-1])],
    "linalg.trace": [lambda x: np.linalg.trace(x)],
    "linalg.diagonal": [lambda x: np.linalg.diagonal(x)],
}


def _copyto(x: Any, y: Any) -> Any:
    z = x.copy()
    np.copyto(z, y, where=x > 0, casting="unsafe")
    return z


def _putmask(x: Any) -> Any:
    z = x.copy()
    np.putmask(z, z > 0, [1.0, 2.0, 3.0])
    return z


def _fill_diagonal(a: Any, w: Any) -> Any:
    z, t = a.copy(), a.copy()
    np.fill_diagonal(z, 7.0)
    np.fill_diagonal(t, w)
    return z, t


def _put_along_axis(a: Any) -> Any:
    z = a.copy()
    np.put_along_axis(z, np.argmax(z, 1)[:, None], 99.0, 1)
    return z


FUNCTIONS |= {
    "copyto": [_copyto],
    "putmask": [_putmask],
    "fill_diagonal": [_fill_diagonal],
    "put_along_axis": [_put_along_axis],
}

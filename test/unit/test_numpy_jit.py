"""lamina.jit, lamina.grad and lamina.vmap: NumPy programs compiled, against the same programs run by NumPy."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false
from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamina
from lamina.errors import LaminaError, UsageError
from lamina.frontends.numpy.array import TracedArray

pytestmark = pytest.mark.slow

R = np.random.default_rng(5)
X = R.uniform(-1, 1, (6, 5))
Y = R.uniform(-1, 1, (6, 5)).astype(np.float32)
V = R.uniform(-1, 1, 5)
K = R.integers(0, 6, 4)


def same(program: Callable[..., Any], *arguments: Any) -> None:
    """Compile a program, and compare its results and what it writes to its arguments."""
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    got, expected = lamina.jit(program)(*ours), program(*theirs)
    assert type(got) is type(expected)
    _compare(got, expected)
    for a, b in zip(ours, theirs, strict=True):
        _compare(a, b)


def _compare(got: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for k in expected:
            _compare(got[k], expected[k])
    elif isinstance(expected, (tuple, list)):
        assert len(got) == len(expected)
        for g, e in zip(got, expected, strict=True):
            _compare(g, e)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert type(got) is type(expected)
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    else:
        assert got == expected


# -- programs --------------------------------------------------------------------------------------


def mlp(p: Any, x: Any) -> Any:
    for w, b in p["layers"]:
        x = np.maximum(x @ w + b, 0)
    return {"out": x, "mean": x.mean(), "name": p["name"], "shape": x.shape}


def filled(x: Any) -> Any:
    out = np.zeros((x.shape[0], 4))
    for i in range(4):
        out[:, i] = x[:, 0] * i
    out[1:] += out[:-1]
    first = out[0]
    first *= 2
    out[-1, -1] = 7
    return out


def views(x: Any) -> Any:
    y = x.copy()
    t = y.T
    t[1] = 5.0
    r = y.reshape(-1)
    r[::7] = -1
    rows = np.split(y, 2)
    rows[1][...] = rows[0] * 2
    d = y[2:4, ::2]
    d += 1
    y[y > 0.9] = 0.5
    return y, t, r, d


def indexed(x: Any, k: Any, v: Any) -> Any:
    y = x.copy()
    y[k] = v
    y[[0, 1], [2, 3]] = [9.0, 8.0]
    y[k, 1:3] = 4
    return x[k], x[k, :3], x[:, None, [1, 0]], x[..., -1], x[::-1, 1], x[[0, 2]][:, [1, 1]], x[K, K - 1], y, x[-1][0]


def ufunc_methods(x: Any, k: Any, v: Any) -> Any:
    y = np.zeros(6)
    np.add.at(y, k, 1.5)
    z = x.copy()
    np.multiply(x, 2, out=z, where=x > 0)
    np.exp(z, out=z)
    return (
        np.add.reduce(x), np.multiply.reduce(x, axis=1), np.maximum.reduce(x, axis=None), np.logical_or.reduce(x > 0.5),
        np.subtract.reduce(x, axis=0), np.add.accumulate(x, 1), np.maximum.accumulate(x, 0), np.multiply.outer(v, v), y,
        z, np.add(x, v, dtype=np.float32), np.bitwise_xor.reduce(k),
        np.add.reduce(x, axis=1, where=x > 0), np.add.accumulate(k, dtype=np.float32),
    )  # fmt: skip


def written(x: Any, y: Any) -> Any:
    x += 1
    y[0] = x[0]
    y *= 2


def lists(x: Any) -> Any:
    return (
        np.max([x[0], x[1]], axis=0),
        np.array([x[0, 0], 1.0, x[1, 1]]),
        np.asarray([x[0], x[1]]).sum(0),
        np.stack([*x]),
    )


def of_elements(x: Any) -> Any:
    return np.vectorize(math.erf)(x), np.vectorize(lambda t: t * 2 + 1)(x), np.vectorize(math.erf, otypes=[float])(x)


def created(x: Any, n: int = 3) -> Any:
    base = np.arange(n, dtype=x.dtype)
    grid = np.zeros_like(base)
    grid[1] = x[0, 0]
    full = np.full((2, n), x[0, 1])
    return base + x[0, :n], grid, full, np.eye(n) @ x[:n], np.linspace(0, 1, n) * x[0, :n], np.ones(n)


def complex_arrays(x: Any, y: Any) -> Any:
    z, w = x + 1j * y, np.fft.fft(x)
    copies = x.astype(complex), z.conj(), np.positive(z)
    for one in copies:
        one[1] = 5
    z.T[2] -= 1j
    z[0] = w[1]
    z[1, 2] *= 2j
    z += y
    both = np.concatenate([z, x]), np.stack([w, z], 1), np.where(x > 0, z, w)
    quotients = z / w, z / 2, 1 / w, x / z, z / (1 + 2j), (z * w).astype(np.complex64)
    products = z @ w.T, np.dot(x, w.T), np.einsum("ij,kj->ik", z, w), z**3, np.exp(z), np.abs(w), abs(z)
    small = x.astype(np.float32)
    types = small * 1j, np.fft.rfft(small), (np.abs(small + 1j) > 1) * 1j, np.arange(5) * w[0], z == w, np.isfinite(z)
    rest = z.conj().T.sum(1), w.reshape(-1)[::2].copy(), z[0, 0], {"mean": [z.mean()]}, -z.real, len(z), z.dtype.name
    moved = np.fft.irfft(np.fft.rfft(x) * np.exp(-2j * np.fft.rfftfreq(5)))
    return copies, both, quotients, products, types, rest, moved


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "complex_arrays": (complex_arrays, (X, Y)),
    "mlp": (mlp, ({"layers": [(X.T @ X, V), (X.T, R.uniform(-1, 1, 6))], "name": "two"}, X)),
    "filled": (filled, (X,)),
    "views": (views, (X,)),
    "indexed": (indexed, (X, K, V)),
    "ufunc_methods": (ufunc_methods, (X, K, V)),
    "written": (written, (X, Y)),
    "lists": (lists, (X,)),
    "of_elements": (of_elements, (X,)),
    "created": (created, (X,)),
    "scalars": (lambda a, b: (a + b, a * 2, a**2), (np.float32(2), np.float64(3))),
    "numbers": (lambda x, n, flag: x[:n] if flag else x, (X, 2, True)),
    "nothing_traced": (lambda x: 3, (X,)),
    "same_twice": (lambda x: (x, x, (x * 2,)), (X,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_is_that_of_numpy(name: str) -> None:
    program, arguments = PROGRAMS[name]
    same(program, *arguments)


def test_a_real_size() -> None:
    """A layer of attention at a size of real models, with the names that its users write."""
    r = np.random.default_rng(1)
    q, k, v = (r.standard_normal((4, 128, 64)).astype(np.float32) for _ in range(3))

    def attention(q: Any, k: Any, v: Any) -> Any:
        s = np.einsum("bid,bjd->bij", q, k) / np.float32(np.sqrt(q.shape[-1]))
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    same(attention, q, k, v)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_first_of_extremes_among_zeros_infinities_and_what_is_no_number(dtype: str) -> None:
    r = np.random.default_rng(2)
    odd = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, -np.nan, 6e-8, -6e-8, 3, 65504, 0.5, 0.5, 0.5])
    few, many = (r.choice(odd, shape).astype(dtype) for shape in ((200, 3), (50, 97)))
    many[:25] = np.nan_to_num(many[:25], nan=-2)
    same(lambda x, y: (x.argmax(1), x.argmin(1), y.argmax(1), y.argmin(1), y.argmin(), y.argmax(0)), few, many)


@pytest.mark.needs("x86-64-v3")
def test_another_processor() -> None:
    program = lamina.jit(lambda x, v: np.tanh(x @ v).sum(), target="x86-64-v3", threads=1)
    np.testing.assert_allclose(program(X, V), np.tanh(X @ V).sum(), rtol=1e-12)


# -- programs by shapes, types and constants ---------------------------------------------------------


def test_one_program_for_shapes_types_and_constants() -> None:
    runs: list[Any] = []

    @lamina.jit
    def scaled(x: Any, n: float) -> Any:
        runs.append(x.shape)
        return x * n

    for x, n in ((X, 2.0), (X + 1, 2.0), (X, 3.0), (X[:2], 2.0), (Y, 2.0), (X, 2)):
        np.testing.assert_allclose(scaled(x, n), x * n, rtol=1e-6)
    assert len(runs) == 5  # the second call had a program


def test_strides_and_orders_of_arguments() -> None:
    program = lamina.jit(lambda x: x * 2)
    for x in (X.T, X[::2, ::-1], np.asfortranarray(X), X[:, :0], np.float64(2)):
        np.testing.assert_array_equal(program(x), x * 2)


def test_methods_of_classes() -> None:
    class Net:
        def __init__(self) -> None:
            self.w = V

        @lamina.jit
        def __call__(self, x: Any) -> Any:
            return x @ self.w

        @lamina.jit
        def twice(self, x: Any) -> Any:
            return self(x) * 2

    class Plain:
        scale = 3.0

        @lamina.jit
        def scaled(self, x: Any) -> Any:
            return x * self.scale

    np.testing.assert_allclose(Net()(X), X @ V)
    np.testing.assert_allclose(Net().twice(X), X @ V * 2)
    np.testing.assert_allclose(Plain().scaled(X), X * 3)


def test_compiled_functions_call_one_another() -> None:
    inner = lamina.jit(lambda x: x * 2)
    same(lambda x: inner(x) + inner(np.ones(5)), X)


def test_options() -> None:
    @lamina.jit(threads=1, opt_level=0)
    def twice(x: Any) -> Any:
        return x * 2

    np.testing.assert_array_equal(twice(X), X * 2)
    assert twice.__name__ == "twice"
    with pytest.raises(UsageError, match="there is no option 'thread'"):
        lamina.jit(lambda x: x, thread=1)


def test_numpy_is_as_before_and_in_other_threads() -> None:
    """While a function is traced, NumPy's functions that make arrays are others: for it alone."""
    zeros, seen = np.zeros, []
    started, go = threading.Event(), threading.Event()

    def other() -> None:
        started.wait()
        seen.append(type(np.zeros(3)))
        go.set()

    thread = threading.Thread(target=other)
    thread.start()

    def program(x: Any) -> Any:
        seen.append(type(np.zeros(3)))
        started.set()
        go.wait(10)
        return x * 2

    lamina.jit(program)(X)
    thread.join()
    assert sorted(t.__name__ for t in seen) == ["TracedArray", "ndarray"]
    assert np.zeros is zeros
    with pytest.raises(ZeroDivisionError):
        lamina.jit(lambda x: x / (1 // 0))(X)
    assert np.zeros is zeros


# -- gradients ---------------------------------------------------------------------------------------


def numeric(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """The gradient by differences."""
    found = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[place] = step
        found[place] = (f(x + d) - f(x - d)) / (2 * step)
    return found


LOSSES: dict[str, Callable[[Any], Any]] = {
    "products": lambda x: np.mean((x @ V) ** 2),
    "softmax": lambda x: np.sum(np.log(np.sum(np.exp(x), 1))) + np.sum(x[0] * 2),
    "where": lambda x: np.sum(np.where(x > 0, np.sin(x), x**3)),
    "written": lambda x: np.sum(filled(x) ** 2),
    "views": lambda x: np.sum(views(x * 2)[0] * X),
    "norm": lambda x: np.linalg.norm(x) + np.sum(np.abs(x).max(0)),
    "indexed": lambda x: np.sum(x[K] ** 2) + np.prod(x[0]),
    "cumsum": lambda x: np.sum(np.cumsum(x, 1) ** 2),
    "einsum": lambda x: np.einsum("ij,kj,ik->", x, x, X @ X.T),
    "spectrum": lambda x: (
        np.sum(np.abs(np.fft.rfft(x, 72) * (V[0] + 1j)) ** 2) + np.fft.ifft(x * 1j, axis=0).imag[1, 2]
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_that_of_differences(name: str) -> None:
    loss = LOSSES[name]
    value, gradient = lamina.value_and_grad(loss)(X)
    np.testing.assert_allclose(value, loss(X), rtol=1e-9)
    np.testing.assert_allclose(gradient, numeric(loss, X), rtol=1e-5, atol=1e-7)


def test_gradients_have_the_form_of_the_arguments() -> None:
    def loss(p: Any, x: Any, scale: Any) -> Any:
        return np.sum((x @ p["w"] + p["b"][0]) ** 2) * scale

    p = {"w": V, "b": (np.float64(0.5),)}
    g, s = lamina.grad(loss, argnums=(0, 2))(p, X, np.float64(2))
    assert set(g) == {"w", "b"}
    np.testing.assert_allclose(g["w"], numeric(lambda w: loss({"w": w, "b": p["b"]}, X, 2.0), V), rtol=1e-6)
    np.testing.assert_allclose(g["b"][0], 4 * np.sum(X @ V + 0.5), rtol=1e-9)
    np.testing.assert_allclose(s, np.sum((X @ V + 0.5) ** 2), rtol=1e-9)


def test_gradients_of_gradients_and_of_captured_arrays() -> None:
    f = lamina.grad(lamina.grad(lambda t: np.sin(t) * t**2))
    t = 0.7
    expected = -(t**2) * np.sin(t) + 4 * t * np.cos(t) + 2 * np.sin(t)
    np.testing.assert_allclose(f(np.float64(t)), expected, rtol=1e-12)

    @lamina.jit
    def inner(x: Any, y: Any) -> Any:
        z = y * 2
        return lamina.grad(lambda a: np.sum(z * a**2))(x)

    np.testing.assert_allclose(inner(X, X + 1), 4 * (X + 1) * X)


def test_training_is_one_program() -> None:
    @lamina.jit
    def step(p: Any, x: Any, y: Any) -> Any:
        loss, g = lamina.value_and_grad(lambda p: np.mean((np.tanh(x @ p[0]) @ p[1] - y) ** 2))(p)
        return loss, [a - 0.1 * b for a, b in zip(p, g, strict=True)]

    r = np.random.default_rng(3)
    p, x = [r.standard_normal((5, 8)), r.standard_normal(8)], r.standard_normal((32, 5))
    y = np.sin(x[:, 0])
    losses: list[float] = []
    for _ in range(60):
        loss, p = step(p, x, y)
        losses.append(float(loss))
    assert losses[-1] < 0.3 * losses[0]


# -- many examples -----------------------------------------------------------------------------------


def test_many_examples() -> None:
    for f, x in (
        (lambda a: np.tanh(a @ X.T)[1:] * 2, X),
        (lambda a: np.sort(a)[::-1], X),
        (lambda a: np.convolve(a, V[:3], "same"), X),
        (lambda a: a[K % 5] / np.linalg.norm(a), X),
        (lambda a: np.where(a > 0, a, a.min()), X),
        (lambda a: np.pad(a.reshape(1, -1), 1), X),
        (lambda a: np.angle(np.fft.rfft(a)), X),
    ):
        np.testing.assert_allclose(lamina.vmap(f)(x), np.stack([f(a) for a in x]), rtol=1e-9)


def test_axes_of_arguments_and_results() -> None:
    f = lamina.vmap(lambda a, p: (a * p["w"]).sum() + np.zeros(2), in_axes=(1, None), out_axes=1)
    np.testing.assert_allclose(f(X.T, {"w": V}), np.stack([(a * V).sum() + np.zeros(2) for a in X], 1), rtol=1e-12)
    pairs = lamina.vmap(lamina.vmap(np.dot, in_axes=(None, 0)), in_axes=(0, None))
    np.testing.assert_allclose(pairs(X, X), X @ X.T, rtol=1e-12)
    np.testing.assert_array_equal(lamina.vmap(lambda a: V)(X), np.stack([V] * 6))


def test_a_gradient_for_each_example() -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.tanh(x @ w) ** 2

    found = lamina.vmap(lamina.grad(loss), in_axes=(None, 0))(V, X)
    t = np.tanh(X @ V)
    np.testing.assert_allclose(found, (2 * t * (1 - t**2))[:, None] * X, rtol=1e-9)


# -- mistakes ----------------------------------------------------------------------------------------


def _branch(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return -x


def _into_numpy(x: Any) -> Any:
    out = np.arange(3.0)
    out[0] = x[0, 0]
    return out


def _unknown(x: Any) -> Any:
    return np.linalg.svd(x)


LEAKED: list[Any] = []


def _used_later(x: Any) -> Any:
    LEAKED.append(x)
    return x


MISTAKES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "if": (_branch, (X,), r"test_numpy_jit\.py:\d+: a traced array as a Python truth value.*numpy\.where"),
    "int": (lambda x: range(int(x[0, 0])), (X,), r"test_numpy_jit\.py:\d+: a traced array as a Python int"),
    "into_numpy": (_into_numpy, (X,), r"test_numpy_jit\.py:\d+: a traced array as "),
    "unknown": (_unknown, (X,), r"test_numpy_jit\.py:\d+: numpy\.linalg\.svd: this function is not supported"),
    "mask": (lambda x: x[x > 0], (X,), "a mask as an index"),
    "shapes": (lambda x, v: x @ v[:3], (X, V), r"numpy\.matmul"),
    "uneven": (lambda x: np.hsplit(x, 2), (X,), "5 elements are not 2 equal parts"),
    "reshape": (lambda x: x.reshape(7, -1), (X,), "cannot reshape an array of size 30"),
    "index": (lambda x: x[9], (X,), "out of bounds"),
    "axis": (lambda x: x.sum(3), (X,), "axis 3 is out of bounds for an array of 2 axes"),
    "complex": (lambda x: x, (X + 1j,), "the element type complex128 is not supported"),
    "complex_function": (lambda x: np.sort(np.fft.fft(x)), (X,), r"numpy\.sort: this is not supported of complex"),
    "complex_ufunc": (lambda x: np.tanh(x * 1j), (X,), r"py:\d+: numpy\.tanh: this is not supported of complex"),
    "complex_number": (lambda x: abs(complex(np.fft.fft(x)[0, 0])), (X,), "values are known at run time"),
    "complex_attribute": (lambda x: np.fft.fft(x).ctypes, (X,), "traced complex arrays have no attribute 'ctypes'"),
    "complex_into_real": (lambda x: x.__iadd__(1j), (X,), "a complex result cannot be written to a real array"),
    "complex_of_vmap": (lambda x: lamina.vmap(np.fft.fft)(x), (X,), "a complex result is not supported here"),
    "bits": (lambda x: x & 1, (X,), "bitwise_and"),
    "broadcast": (lambda x, v: x + v[:3], (X, V), "."),
    "set": (lambda x: x, ({1, 2},), "an argument is a set"),
    "attribute": (lambda x: x.ctypes, (X,), "traced arrays have no attribute 'ctypes'"),
    "iadd": (lambda x: x.__iadd__(1.5), (K,), "cannot cast"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    program, arguments, said = MISTAKES[name]
    with pytest.raises(LaminaError, match=said):
        lamina.jit(program)(*arguments)


def test_an_array_that_is_kept() -> None:
    lamina.jit(_used_later)(X)
    assert isinstance(LEAKED[0], TracedArray)
    with pytest.raises(UsageError, match="used after its function has ended"):
        LEAKED[0] + 1


def test_mistakes_of_gradients_and_axes() -> None:
    for call, said in (
        (lambda: lamina.grad(lambda x: x)(X), r"gives float64\[6, 5\], and a gradient is one of a float alone"),
        (lambda: lamina.grad(np.sum)(K), "with respect to an array of int64"),
        (lambda: lamina.grad(np.sum, argnums=1)(X), "has no argument 1"),
        (lambda: lamina.grad(lambda x: 3.0)(X), "gives float"),
        (lambda: lamina.vmap(np.add)(X, V), r"the axes have \[5, 6\] elements"),
        (lambda: lamina.vmap(np.sum, in_axes=2)(X), "has no axis 2"),
        (lambda: lamina.vmap(np.add, in_axes=(0,))(X, X), "1 axes for 2 arguments"),
        (lambda: lamina.vmap(np.sum, in_axes=None)(X), "no argument has an axis"),
    ):
        with pytest.raises(UsageError, match=said):
            call()


def test_a_function_as_text(tmp_path: Path) -> None:
    """The module of a function has the user's names and lines."""
    model = lamina.jit(mlp).model({"layers": [(X.T @ X, V)], "name": "one"}, X)
    assert [p.name for p in model.inputs] == ["p_layers_0_0", "p_layers_0_1", "x"]
    assert [p.name for p in model.outputs] == ["result", "result_1"]
    lines = {str(op.location) for op in model.module.walk() if "matmul" in op.name or "dense" in op.name}
    assert any("test_numpy_jit.py" in line for line in lines)


def test_conformance_of_a_few_oracles() -> None:
    """Oracles of ops are NumPy programs; `test/frontends/numpy/np_refs.py` runs all of them."""
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frontends" / "numpy"))
    import np_refs  # pyright: ignore[reportMissingImports]

    for name, op_type in np_refs.ops(["relay.nn.conv2d_transpose", "relay.nn.softmax", "relay.topk", "relay.erf"]):
        found = np_refs.run_op(name, op_type, 1)
        assert found.samples and not found.wrong and not found.refused, found

"""Tensor programs in TVM's spelling: what they build, what they compute, and what is said of mistakes in them."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamina
import lamina.compat.tvm.testing
from lamina import te
from lamina.compat import tvm
from lamina.dialects.entry_names import unique
from lamina.dialects.te.ops import ComputeOp, ReadOp
from lamina.errors import LaminaError
from lamina.opt_tool.command import run_opt_tool
from lamina.te.function import build_function

Array = np.ndarray[Any, np.dtype[Any]]


def run(args: list[Any], *arrays: Any) -> list[Array]:
    """Build the naive program and run it; the last tensors of `args` without an array are outputs."""
    outputs = args[len(arrays) :]
    kernel = lamina.build(te.create_schedule([t.op for t in outputs]), args, "llvm")
    sizes: dict[Any, int] = {}
    for a, value in zip(args, arrays, strict=False):
        sizes.update(zip(getattr(a, "shape", ()), np.shape(value), strict=True))
    made = [np.full([e if isinstance(e, int) else sizes[e] for e in t.shape], 7, t.dtype) for t in outputs]
    kernel(*arrays, *made)
    return made


def elementwise(dtype: str, function: Callable[..., Any], *arrays: Array) -> Array:
    inputs = [te.placeholder(a.shape, str(a.dtype), name=f"x{n}") for n, a in enumerate(arrays)]
    y = te.compute(arrays[0].shape, lambda *i: function(*(x(*i) for x in inputs)), name="y")
    assert y.dtype == dtype
    return run([*inputs, y], *arrays)[0]


def test_the_vector_add_of_the_tutorial_runs_with_changed_imports_only() -> None:
    tgt_host, tgt = "llvm", "llvm"
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    assert "Tensor" in str(type(C))
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    if tgt in ("cuda", "rocm") or tgt.startswith("opencl"):
        s[C].bind(bx, te.thread_axis("blockIdx.x"))
        s[C].bind(tx, te.thread_axis("threadIdx.x"))
    fadd = tvm.build(s, [A, B, C], tgt, target_host=tgt_host, name="myadd")
    dev = tvm.device(tgt, 0)
    assert dev.exist
    for size in (0, 1, 63, 64, 65, 10**6 + 1):
        a = tvm.nd.array(np.random.default_rng(size).random(size, np.float32), dev)
        b = tvm.nd.array(np.arange(size, dtype=B.dtype), dev)
        c = tvm.nd.array(np.full(size, 7, dtype=C.dtype), dev)
        fadd(a, b, c)
        tvm.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy(), rtol=0, atol=0)
    assert fadd.entry_name == "myadd"


def test_the_vector_add_bound_to_threads_has_the_loops_and_the_guard() -> None:
    n = te.var("n")
    A, B = (te.placeholder((n,), name=name) for name in "AB")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].bind(tx, te.thread_axis("threadIdx.x"))
    text = str(lamina.lower(s, [A, B, C], simple_mode=True))
    for line in (
        'tir.for %io = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x"',
        'tir.for %ii = 0 to 64 thread "threadIdx.x"',
        'tir.block "C" where [%n + %io * -64 + %ii * -1 - 1 >= 0]',
        "tir.load %A[%ii + %io * 64]",
    ):
        assert line in text, text


def test_one_module_under_two_names() -> None:
    from lamina.compat.tvm import te as te_there
    from lamina.compat.tvm import topi as topi_there

    assert te_there is te is tvm.te
    assert topi_there is lamina.topi is tvm.topi
    assert tvm.tir.Var is te.Var


# -- expressions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [
        ("float32", "int32", "float32"),
        ("int8", "int32", "int32"),
        ("int8", "uint8", "int8"),
        ("float16", "float32", "float32"),
        ("int64", "float16", "float16"),
        ("uint8", "int32", "int32"),
    ],
)
def test_operands_meet_in_a_type(left: str, right: str, dtype: str) -> None:
    a, b = te.var("a", left), te.var("b", right)
    assert (a + b).dtype == (b * a).dtype == te.max(a, b).dtype == dtype
    assert (a < b).dtype == "bool"


def test_constants_fold_and_know_their_type() -> None:
    assert isinstance(te.const(3, "int8"), te.IntImm)
    assert (te.const(3, "int8") + te.const(4, "int8")).dtype == "int8"
    assert te.placeholder((3, 4), name="A").shape[1] * 2 == 8
    assert te.const(2.5).dtype == "float32"
    assert repr(te.const(1, "float64")) == "float64(1)"
    n = te.var("n")
    assert (n + 0) is n and (n * 1) is n
    assert te.placeholder((4,)).shape[0].value == 4


def test_constants_are_values_of_their_type() -> None:
    # A constant may be given by its bits, as the value of the other sign that has them.
    assert (te.const(200, "int8"), te.const(-1, "uint8")) == (-56, 255)
    assert te.floordiv(te.const(200, "int8"), te.const(3, "int8")) == -19
    x = np.array([3], np.int8)
    # -128 / -1 wraps as values do that are not constant.
    wraps = elementwise("int8", lambda a: a + te.floordiv(te.const(-128, "int8"), te.const(-1, "int8")), x)
    assert wraps.tolist() == [-125]


def test_expressions_print_as_tvm_prints_them() -> None:
    x, a = te.var("x"), te.var("a", "float32")
    texts = {
        "((x + 1)*2)": (x + 1) * 2,
        "floordiv(x, 4)": x // 4,
        "max(floormod(x, 8), 3)": te.max(x % 8, 3),
        "float32(x)": te.cast(x, "float32"),
        "select((x < 3), a, (a*float32(-1)))": te.select(x < 3, a, -a),
        "if_then_else((x < 3), a, float32(1))": te.if_then_else(x < 3, a, 1.0),
        "power(a, float32(2))": a**2.0,
        "!(x == 3)": te.logical_not(x.equal(3)),
        "((x >= 1) && (x < 9))": te.all(x >= 1, x < 9),
    }
    assert {text: str(expression) for text, expression in texts.items()} == {text: text for text in texts}


def test_comparing_expressions_compares_identity_in_python() -> None:
    a, b = te.var("a"), te.var("b")
    assert a == a and not (a == b) and a != b
    assert {a: 1, b: 2}[a] == 1
    with pytest.raises(LaminaError, match="no truth value"):
        bool(a < b)


def test_arithmetic_is_numpys() -> None:
    r = np.random.default_rng(1)
    x, y = r.standard_normal((2, 33)).astype(np.float32)
    i, j = r.integers(-50, 50, 33).astype(np.int32), r.choice([-7, -3, 2, 5], 33).astype(np.int32)
    np.testing.assert_array_equal(elementwise("float32", lambda a, b: a - b * 2, x, y), x - y * np.float32(2))
    np.testing.assert_array_equal(elementwise("int32", lambda a, b: te.floordiv(a, b), i, j), i // j)
    np.testing.assert_array_equal(elementwise("int32", lambda a, b: a // b, i, j), i // j)
    np.testing.assert_array_equal(elementwise("int32", lambda a, b: a % b, i, j), i % j)
    np.testing.assert_array_equal(elementwise("int32", te.truncmod, i, j), np.fmod(i, j))
    np.testing.assert_array_equal(elementwise("int32", te.truncdiv, i, j), (i / j).astype(np.int32))
    np.testing.assert_array_equal(
        elementwise("int32", lambda a, b: -(a << 2) ^ (b & 12) | ~a, i, j), -(i << 2) ^ (j & 12) | ~i
    )
    np.testing.assert_array_equal(
        elementwise("float32", lambda a, b: te.max(a, b) - te.min(a, 0.5), x, y),
        np.maximum(x, y) - np.minimum(x, np.float32(0.5)),
    )
    np.testing.assert_array_equal(elementwise("int8", lambda a: a.astype("int8"), i), i.astype(np.int8))
    np.testing.assert_array_equal(
        elementwise("bool", lambda a, b: te.all(a > 0, b > 0, te.any(a > b, b > 3)), i, j),
        (i > 0) & (j > 0) & ((i > j) | (j > 3)),
    )
    np.testing.assert_array_equal(elementwise("float32", lambda a, b: a + b, x, i), x + i.astype(np.float32))


@pytest.mark.parametrize(
    "name",
    ["exp", "tanh", "sqrt", "log", "sigmoid", "erf", "floor", "rsqrt", "log2", "cos", "round", "abs", "trunc", "sin"],
)
def test_mathematics_by_name(name: str) -> None:
    x = np.random.default_rng(2).uniform(0.25, 4, 50).astype(np.float32)
    expected: Array = {
        "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
        "rsqrt": lambda v: 1 / np.sqrt(v),
        "erf": lambda v: np.array([math.erf(e) for e in v]),
        **{n: getattr(np, n) for n in (name,) if hasattr(np, n)},
    }[name](x.astype(np.float64))
    np.testing.assert_allclose(elementwise("float32", getattr(te, name), x), expected, rtol=3e-6)
    np.testing.assert_allclose(elementwise("float32", getattr(tvm.tir, name), x), expected, rtol=3e-6)


def test_intrinsics_by_c_names() -> None:
    x = np.linspace(0, 1, 9, dtype=np.float32)
    np.testing.assert_allclose(
        elementwise("float32", lambda a: tvm.tir.call_pure_extern("float32", "__expf", a), x), np.exp(x), rtol=1e-6
    )
    np.testing.assert_allclose(
        elementwise("float32", lambda a: tvm.tir.call_intrin("float32", "tir.pow", a, a + 1), x),
        x ** (x + 1),
        rtol=1e-6,
    )
    with pytest.raises(LaminaError, match="external function 'my_fast_exp'"):
        tvm.tir.call_pure_extern("float32", "my_fast_exp", te.const(1.0))


# -- computes ----------------------------------------------------------------------------------------------------


def test_shapes_axes_and_names() -> None:
    A = te.placeholder((4, 5), name="A", dtype="int32")
    B = te.compute((5, 4), lambda i, j: A[j, i], name="B", tag="injective", attrs={"x": 1})
    assert B.op.name == "B" and B.op.tag == "injective" and B.op.attrs["x"] == 1
    assert [a.var.name for a in B.op.axis] == ["i", "j"]
    assert [a.dom.extent for a in B.op.axis if a.dom] == [5, 4]
    assert B.op.input_tensors == [A] and B.ndim == 2 and B.dtype == "int32"
    assert B.op.output(0) is B
    C = te.compute(B.shape, lambda *i: B(*i) + B[i][()], name="C")
    assert [a.var.name for a in C.op.axis] == ["i0", "i1"]
    value = np.arange(20, dtype=np.int32).reshape(4, 5)
    np.testing.assert_array_equal(run([A, C], value)[0], 2 * value.T)
    assert str(B.op.body[0]) == "A[j, i]"


def test_reductions_over_several_axes_with_a_condition() -> None:
    n = te.var("n")
    A = te.placeholder((n, 6, 3), name="A")
    j, k = te.reduce_axis((0, 6), "j"), te.reduce_axis((1, 3), "k")
    total = te.compute((n,), lambda i: te.sum(A[i, j, k], axis=[j, k], where=j % 2 == 0), name="total")
    best = te.compute((n,), lambda i: te.max(A[i, j, k], axis=[j, k]), name="best")
    product = te.compute((n,), lambda i: te.prod(A[i, j, k], axis=[j, k]), name="product")
    assert [a.name for a in total.op.reduce_axis] == ["j", "k"]
    value = np.random.default_rng(3).standard_normal((5, 6, 3)).astype(np.float32)
    results = run([A, total, best, product], value)
    part = value[:, :, 1:]
    for found, expected in zip(results, (part[:, ::2].sum((1, 2)), part.max((1, 2)), part.prod((1, 2))), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_reducer_of_tuples() -> None:
    m, n = te.var("m"), te.var("n")
    idx = te.placeholder((m, n), "int32", name="idx")
    val = te.placeholder((m, n), "float32", name="val")
    argmax = te.comm_reducer(
        lambda x, y: (te.select(x[1] >= y[1], x[0], y[0]), te.select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )
    k = te.reduce_axis((0, n), "k")
    T = te.compute((m,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="T")
    values = np.random.default_rng(4).standard_normal((3, 8)).astype(np.float32)
    places = np.broadcast_to(np.arange(8, dtype=np.int32), (3, 8)).copy()
    first, second = run([idx, val, *T], places, values)
    np.testing.assert_array_equal(first, values.argmax(1))
    np.testing.assert_array_equal(second, values.max(1))


def test_a_reducer_of_ones_own() -> None:
    A = te.placeholder((4, 9), "int64", name="A")
    k = te.reduce_axis((0, 9), "k")
    xor = te.comm_reducer(lambda a, b: a ^ b, lambda t: te.const(0, t), name="xor")
    B = te.compute((4,), lambda i: xor(A[i, k], axis=k), name="B")
    value = np.random.default_rng(5).integers(0, 1 << 40, (4, 9))
    np.testing.assert_array_equal(run([A, B], value)[0], np.bitwise_xor.reduce(value, axis=1))


def test_what_is_not_chosen_is_not_read() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    idx = te.placeholder((n,), "int32", name="idx")
    last = te.compute((n,), lambda i: te.if_then_else(te.any(i < 1, i >= n - 1), 0.0, A[i - 1] + A[i + 1]), name="s")
    other = te.compute((n,), lambda i: te.if_then_else(i == 0, A[i], A[i - 1]), name="o")
    both = te.compute((n,), lambda i: te.if_then_else(te.all(i > 0, i < n - 1), A[i], A[n - 1 - i]), name="b")
    gathered = te.compute((n,), lambda i: te.if_then_else(idx[i] >= 0, A[idx[i]], -1.0), name="g")
    by_value = te.compute((n,), lambda i: te.if_then_else(A[i] > 0.5, A[te.min(i, 2)], 0.0), name="v")
    value = np.random.default_rng(6).random(7).astype(np.float32)
    places = np.array([-9, 3, 0, -1, 6, 2, -4], np.int32)
    found = run([A, idx, last, other, both, gathered, by_value], value, places)
    inner = np.zeros(7, np.float32)
    inner[1:-1] = value[:-2] + value[2:]
    np.testing.assert_array_equal(found[0], inner)
    np.testing.assert_array_equal(found[1], [value[0], *value[:-1]])
    mirrored = value.copy()
    mirrored[[0, -1]] = value[[-1, 0]]
    np.testing.assert_array_equal(found[2], mirrored)
    np.testing.assert_array_equal(found[3], np.where(places >= 0, value[np.maximum(places, 0)], -1))
    np.testing.assert_array_equal(found[4], np.where(value > 0.5, value[np.minimum(np.arange(7), 2)], 0))


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_an_axis_is_compared_as_python_does(compare: Callable[[Any, Any], Any]) -> None:
    A = te.placeholder((7,), name="A")
    k = te.reduce_axis((0, 7), "k")
    chosen = te.compute((1,), lambda _: te.sum(te.if_then_else(compare(k, 3), A[k], 0.0), axis=k), name="chosen")
    powers = np.float32(2) ** np.arange(7, dtype=np.float32)
    (found,) = run([A, chosen], powers)
    assert found[0] == sum(p for n, p in enumerate(powers) if compare(n, 3))


def test_choices_within_choices_keep_their_conditions_apart() -> None:
    """The conditions that a choice is taken apart into are made and dropped; no other may be taken for them."""
    A = te.placeholder((8,), name="A")

    def element(i: te.Var) -> te.Expr:
        otherwise = te.if_then_else(i % 4 == 0, A[i // 4 + 1], A[i // 4 + 2])
        return te.if_then_else(i % 4 == 1, A[i // 4], otherwise)

    value = np.arange(8, dtype=np.float32)
    for _ in range(5):
        B = te.compute((8,), element, name="B")
        np.testing.assert_array_equal(run([A, B], value)[0], [1, 0, 2, 2, 2, 1, 3, 3])


def test_reads_that_are_in_bounds_get_no_guard() -> None:
    n = te.var("n")
    A = te.placeholder((n + 2,), name="A")
    B = te.compute((n,), lambda i: te.if_then_else(te.all(i > 0, i < 5), 1.0, A[i + 2] + A[n - i]), name="B")
    func = build_function([B], [A, B], "f").func
    guards = [op.guard for op in func.walk() if isinstance(op, ReadOp)]
    assert len(guards) == 2 and guards == [None, None]


def test_indices_that_are_not_affine() -> None:
    A = te.placeholder((16,), "int32", name="A")
    B = te.compute((4, 4), lambda i, j: A[i * j] + A[te.min(i * i, 15)] + i * j, name="B")
    value = np.arange(16, dtype=np.int32)[::-1].copy()
    i, j = np.mgrid[:4, :4]
    np.testing.assert_array_equal(run([A, B], value)[0], value[i * j] + value[i * i] + i * j)


def test_sizes_in_every_place() -> None:
    n, m = te.var("n"), te.size_var("m")
    A = te.placeholder((n * 2, m + 1), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i * 2, k] + k, axis=k), name="B")
    C = te.compute((n,), lambda i: B[i] * m, name="C")
    value = np.random.default_rng(7).random((6, 5)).astype(np.float32)
    out = np.empty(3, np.float32)
    lamina.build(te.create_schedule(C.op), [A, C])(value, out)
    np.testing.assert_allclose(out, (value[::2, :4] + np.arange(4)).sum(1) * 4, rtol=1e-5)


def test_scalar_arguments() -> None:
    n = te.var("n")
    alpha, step = te.var("alpha", "float32"), te.var("step", "int32")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * alpha + step, name="B")
    kernel = lamina.build(te.create_schedule(B.op), [alpha, A, step, n, B])
    value, out = np.arange(5, dtype=np.float32), np.empty(5, np.float32)
    kernel(0.5, value, -3, 5, out)
    np.testing.assert_array_equal(out, value * 0.5 - 3)
    with pytest.raises(LaminaError, match="n is 4, the arrays have n = 5"):
        kernel(0.5, value, -3, 4, out)
    with pytest.raises(LaminaError, match="alpha is a number of type float32, not 'half'"):
        kernel("half", value, -3, 5, out)


def test_a_size_that_no_extent_tells() -> None:
    n = te.var("n")
    A = te.placeholder((n // 4,), name="A")
    B = te.compute(A.shape, lambda i: A[i] + n, name="B")
    s = te.create_schedule(B.op)
    with pytest.raises(LaminaError, match="no argument tells the size 'n'"):
        lamina.build(s, [A, B])
    value, out = np.arange(3, dtype=np.float32), np.empty(3, np.float32)
    lamina.build(s, [A, n, B], name="main")(value, 14, out)
    np.testing.assert_array_equal(out, value + 14)


def test_whole_tensors_in_arithmetic() -> None:
    A, B = te.placeholder((3, 1), name="A"), te.placeholder((4,), name="B")
    a, b = np.arange(3, dtype=np.float32).reshape(3, 1), np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(run([A, B, (A + B) * 2.0 - A], a, b)[0], (a + b) * 2 - a)


# -- calls of kernels ----------------------------------------------------------------------------------------------


def doubled(shape: Any = (4, 3)) -> Any:
    A = te.placeholder(shape, name="A")
    B = te.compute(A.shape, lambda *i: A(*i) * 2.0, name="B")
    return lamina.build(te.create_schedule(B.op), [A, B], name="double")


def test_outputs_are_written_in_place_whatever_their_strides() -> None:
    kernel = doubled()
    wide = np.zeros((3, 8), np.float32)
    source = np.random.default_rng(8).random((3, 4), np.float32).T
    kernel(source, wide.T[::2])
    np.testing.assert_array_equal(wide[:, ::2], (source * 2).T)
    assert not wide[:, 1::2].any()
    same = np.ones((4, 3), np.float32)
    kernel(same, same)
    np.testing.assert_array_equal(same, 2)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([np.zeros((4, 3), np.float32)], r"double takes 2 arguments \(A, B\), got 1"),
        ([np.zeros((4, 3)), np.zeros((4, 3), np.float32)], "double.A.dtype is expected to be float32, but got float64"),
        (
            [np.zeros((4, 2), np.float32), np.zeros((4, 3), np.float32)],
            r"double.A.shape\[1\].*: 2 == 3",
        ),
        ([np.zeros(4, np.float32), np.zeros((4, 3), np.float32)], "double.A.ndim is expected to equal 2, but got 1"),
        ([np.zeros((4, 3), np.float32), np.zeros((4, 3), np.int32)], "double.B.dtype is expected to be float32"),
        (
            [np.zeros((4, 3), np.float32), np.zeros((3, 4), np.float32)],
            r"double.B.shape\[0\].*: 3 == 4",
        ),
        ([np.zeros((4, 3), np.float32), [[0.0] * 3] * 4], "double.B is expected to be an array, but got list"),
        ([[[1.0], [1.0, 2.0]], np.zeros((4, 3), np.float32)], "not an array"),
    ],
)
def test_arrays_that_do_not_fit(arrays: list[Any], message: str) -> None:
    with pytest.raises(LaminaError, match=message):
        doubled()(*arrays)


def test_the_sources_of_a_kernel_and_its_time() -> None:
    kernel = doubled()
    assert 'te.compute "B"' in kernel.get_source("te")
    assert "tir.for" in kernel.get_source("tir")
    assert "define" in kernel.get_source("ll") and kernel.get_source() == kernel.get_source("ll")
    assert "ret" in kernel.get_source("asm")
    with pytest.raises(LaminaError, match="no format 'ptx'"):
        kernel.get_source("ptx")
    a, b = np.ones((4, 3), np.float32), np.empty((4, 3), np.float32)
    timing = kernel.time_evaluator("double", tvm.cpu(0), number=3, repeat=4)(a, b)
    assert len(timing.results) == 4 and 0 < timing.min <= timing.mean <= timing.max < 1
    with pytest.raises(LaminaError, match="no function 'other'"):
        kernel.time_evaluator("other")


# -- mistakes --------------------------------------------------------------------------------------------------------


def two() -> tuple[Any, Any]:
    return te.placeholder((4, 5), name="A"), te.placeholder((5,), name="B")


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "too_few_indices": (lambda: two()[0](1), "tensor 'A' has rank 2, it is read at 1 indices"),
    "a_float_as_an_index": (lambda: two()[1][te.const(1.0)] + 1, "read at an index of type float32"),
    "division_of_integers": (lambda: te.var("i") / 2, "integers are not divided by /"),
    "division_by_zero": (lambda: te.var("i") // 0, "division by the constant 0"),
    "an_unknown_dtype": (lambda: te.placeholder((2,), "float31"), "no dtype 'float31'"),
    "a_negative_extent": (lambda: te.placeholder((2, -1)), "the extent -1"),
    "a_float_extent": (lambda: te.placeholder((2.5,)), "an extent is an integer, not float32"),
    "parameters_that_do_not_fit": (lambda: te.compute((2, 3), lambda i: i), "takes 1 indices, the shape has 2"),
    "a_reduction_inside": (
        lambda: te.compute((4,), lambda i: te.sum(two()[0][i, te.reduce_axis((0, 5))], te.reduce_axis((0, 5))) * 2),
        "a reduction is the outermost operation",
    ),
    "a_sum_over_no_reduction_axis": (
        lambda: te.compute((4,), lambda i: te.sum(two()[0][i, 0], te.compute((2,), lambda j: j).op.axis[0])),
        "is no reduction axis",
    ),
    "a_thread_axis_without_a_tag": (lambda: te.thread_axis((0, 4)), "needs a tag"),
    "a_tensor_as_an_expression": (lambda: te.var("i") + [1], "is no scalar expression"),
    "an_unknown_target": (lambda: lamina.build(*program(), target="lvm"), "no target 'lvm'; did you mean 'llvm'"),
    "a_placeholder_that_is_no_argument": (
        lambda: lamina.lower(te.create_schedule(program()[1][1].op), [program()[1][0]]),
        "the output 'B' is not among the arguments",
    ),
}  # fmt: skip


def program() -> tuple[Any, list[Any]]:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i], name="B")
    return te.create_schedule(B.op), [A, B]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place(mistake: str) -> None:
    action, message = MISTAKES[mistake]
    with pytest.raises(LaminaError) as error:
        action()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    if mistake != "an_unknown_target":
        assert error.value.where.startswith(__file__ + ":"), error.value.where


def test_a_tensor_that_is_read_but_not_given() -> None:
    A, B = te.placeholder((4,), name="A"), te.placeholder((4,), name="B")
    C = te.compute((4,), lambda i: A[i] + B[i], name="C")
    with pytest.raises(LaminaError, match="tensor 'B' is read, but it is not among the arguments"):
        lamina.lower(te.create_schedule(C.op), [A, C])


def test_an_expression_that_cannot_be_built_is_blamed_on_its_compute() -> None:
    A = te.placeholder((4,), name="A")
    stranger = te.var("stranger")
    C = te.compute((4,), lambda i: A[i] + stranger, name="C")
    line = C.op.place.line if C.op.place else 0
    with pytest.raises(LaminaError, match="'stranger' is no axis") as error:
        lamina.lower(te.create_schedule(C.op), [A, C])
    assert f"{__file__}:{line}:" in error.value.where


def test_computes_carry_their_place_to_the_ir() -> None:
    _, (A, B) = program()
    func = build_function([B], [A, B], "f").func
    (compute,) = [op for op in func.walk() if isinstance(op, ComputeOp)]
    assert "test_te_api.py" in str(compute.location)


def test_two_stages_and_arguments_of_one_name() -> None:
    A, B = te.placeholder((4,), name="x"), te.placeholder((4,), name="x")
    C = te.compute((4,), lambda i: A[i] - B[i], name="x")
    D = te.compute((4,), lambda i: C[i] * 2.0, name="x")
    a, b = np.arange(4, dtype=np.float32), np.ones(4, np.float32)
    np.testing.assert_array_equal(run([A, B, D], a, b)[0], (a - b) * 2)


def test_a_numbered_name_is_none_that_is_given() -> None:
    assert unique(["a", "a", "a_1", "a", "b"]) == ["a", "a_2", "a_1", "a_3", "b"]
    assert unique(["a"] * 20_000)[-1] == "a_19999"  # in linear time


@pytest.mark.parametrize("names", [("é", "ñ", "ö", "aé", "a b"), ("_", "__", "_1", "2x", "a-b"), ("é",) * 5])
def test_names_that_no_value_of_the_ir_can_have(names: tuple[str, str, str, str, str]) -> None:
    n = te.var(names[0])
    A = te.placeholder((8, n), name=names[1])
    B = te.compute(A.shape, lambda i, j: A[i, j] + 1, name=names[2])
    k = te.reduce_axis((0, 8), names[3])
    C = te.compute((n,), lambda j: te.sum(B[k, j], axis=k), name=names[4])
    s = te.create_schedule(C.op)
    s.cache_read(A, "local", [B])
    s.cache_write(B, "local")
    s[C].split(C.op.axis[0], 4)
    status, _, error = run_opt_tool(["--verify-roundtrip"], str(lamina.lower(s, [A, C])))
    assert (status, error) == (0, "")
    value, out = np.arange(40, dtype=np.float32).reshape(8, 5), np.zeros(5, np.float32)
    lamina.build(s, [A, C])(value, out)
    np.testing.assert_array_equal(out, (value + 1).sum(0))


def test_an_extent_may_be_a_quotient_of_numbers_that_is_one() -> None:
    x = te.placeholder((64 / 16, 3), name="x")
    assert [int(e) for e in x.shape] == [4, 3] and isinstance(x.shape[0], te.IntImm)

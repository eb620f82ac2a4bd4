"""Users' mistakes in tensor programs: each ends in one line that says where, what, and mostly what to do.

Every row is a line of a user's program, with the names of `program`, and a part of its message, which begins with the
place of the row in this file.
"""
# Tensor expressions are lambdas over loops, whose parameters no checker can tell; arguments are wrong on purpose.
# pyright: standard, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lamina
from lamina import te, topi
from lamina.errors import LaminaError

Row = tuple[Callable[[Any], Any], str]

EXPRESSIONS: list[Row] = [
    (lambda p: te.placeholder(None), "None is no scalar expression"),
    (lambda p: te.placeholder((3, -1)), "the extent -1 of shape [3, -1] is negative"),
    (lambda p: te.placeholder((3, 1.5)), "an extent is an integer, not float32"),
    (lambda p: te.placeholder((2**41,)), "the extent 2199023255552 of shape [2199023255552] is more than"),
    (lambda p: te.placeholder((2**70,)), "1180591620717411303424 is no constant of type int64"),
    (lambda p: te.placeholder((3,), dtype="float8"), "no dtype 'float8'"),
    (lambda p: te.placeholder((3,), name=7), "a name is text, not 7"),
    (lambda p: te.var(None), "a name is text, not None"),
    (lambda p: te.const("a", "int32"), "'a' is no constant of type int32"),
    (lambda p: te.const(float("nan"), "int32"), "nan is no constant of type int32"),
    (lambda p: te.const(2**40, "int32"), "1099511627776 is no constant of type int32: it has more than 32 bits"),
    (lambda p: te.reduce_axis((0, 3, 4)), "a range is (begin, end), not (0, 3, 4)"),
    (lambda p: te.reduce_axis((3, 0)), "a range from 3 to 0 ends before it begins"),
    (lambda p: te.thread_axis(), "a thread axis needs a tag"),
    (lambda p: te.compute((3,), 5), "compute takes a function of the indices, not 5"),
    (lambda p: te.compute((3,), lambda i, j: 1), "the function takes 2 indices, the shape has 1 dimensions"),
    (lambda p: te.compute((3,), lambda i: None), "None is no scalar expression"),
    (lambda p: te.compute((3,), lambda i: []), "the function of a compute gives at least one expression"),
    (lambda p: te.compute((3,), lambda i: p.A[i]), "tensor 'A' has rank 2, it is read at 1 indices"),
    (lambda p: te.compute((3,), lambda i: p.A[i, 0.5]), "tensor 'A' is read at an index of type float32"),
    (lambda p: te.compute((3,), lambda i: p.A[i, 0] if i > 2 else 0), "an expression has no truth value"),
    (lambda p: te.compute((3,), lambda i: i // 0), "division by the constant 0"),
    (lambda p: te.compute((3,), lambda i: te.truncdiv(i, 0)), "division by the constant 0"),
    (lambda p: te.compute((3,), lambda i: te.sum(p.A[i, p.k], axis=p.k) + 1), "a reduction is the outermost operation"),
    (lambda p: te.compute((3,), lambda i: te.sum(p.A[i, p.k], axis=[p.k, p.k])), "sum over an axis twice"),
    (lambda p: te.compute((3,), lambda i: 1, attrs=3), "attrs of 'compute' is a dict, not 3"),
    (lambda p: te.comm_reducer(3, 4), "comm_reducer: fcombine is a function, not 3"),
    (lambda p: te.comm_reducer(lambda x: x, lambda t: 0.0)(p.A[0, p.k], axis=p.k), "is called with 2 arguments"),
    (lambda p: te.scan(1, 2, 3), "scan takes tensors, not 1"),
    (lambda p: te.extern((3,), [p.A], None), "is a function of 2 arguments, not None"),
    (lambda p: te.extern((3,), [p.A], lambda ins: None), "is called with 2 arguments"),
    (lambda p: te.extern((3,), [3], lambda ins, outs: None), "extern 'extern' takes tensors, not 3"),
    (lambda p: te.decl_tensor_intrin(None, None), "decl_tensor_intrin takes one compute of placeholders"),
    (lambda p: te.create_schedule(3), "create_schedule takes operations, not 3"),
    (lambda p: topi.sum(p.A, axis="a"), "topi.sum with axis=('a',): invalid literal"),
    (lambda p: topi.nn.dense(p.A, p.B), "input has 32 features, weight expects 16"),
]

SCHEDULES: list[Row] = [
    (lambda p: p.s[p.X], "the schedule has no stage of 'X'; there is A, B, C, D"),
    (lambda p: p.s[p.C].split(p.i), "split takes either a factor or nparts"),
    (lambda p: p.s[p.C].split(p.i, 0), "factor is a positive number, not 0"),
    (lambda p: p.s[p.C].split(p.i, factor=p.n), "factor is a positive number, not n"),
    (lambda p: p.s[p.C].split(p.di, 2), "'i' is no loop of it; its loops are i, j, k"),
    (
        lambda p: [p.s[p.C].split(p.i, 2), p.s[p.C].fuse(p.i, p.j)],
        "'i' is no loop of it any more; its loops are i.outer, i.inner, j, k",
    ),
    (lambda p: p.s[p.C].fuse(p.j, p.i), "they do not stand directly inside each other"),
    (lambda p: p.s[p.C].reorder(p.i, p.i), "reorder names a loop twice"),
    (lambda p: p.s[p.C].vectorize(None), "vectorize of stage 'C' takes loops, not None"),
    (lambda p: p.s[p.C].bind(p.i, "threadIdx.x"), "bind takes a thread axis"),
    (lambda p: p.s[p.C].compute_at(p.D, p.dj), "compute_at of stage 'C' takes a stage, s[C], and one of its loops"),
    (
        lambda p: p.s[p.C].compute_at(p.s[p.D], None),
        "compute_at of stage 'C': the loop of stage 'D' takes loops, not None",
    ),
    (lambda p: p.s[p.C].compute_at(p.s[p.C], p.i), "it cannot be computed inside itself"),
    (lambda p: p.s.cache_read(p.A, "shared", [p.D]), "stage 'D' does not read it"),
    (lambda p: p.s.cache_write([p.C, p.D], "local"), "cache_write takes the results of one operation"),
    (lambda p: p.s.rfactor(p.C, p.i), "'i' is no reduction loop"),
    (lambda p: p.s.rfactor(p.C, p.k, "a"), "the factor_axis of rfactor is a whole number, not 'a'"),
    (lambda p: p.s[p.C].prefetch(p.A, p.i, "a"), "the offset of a prefetch is a whole number, not 'a'"),
    (lambda p: p.s[p.C].prefetch(p.X, p.i, 1), "the schedule has no stage of 'X'"),
    (lambda p: p.s[p.C].storage_align(None, 2, 0), "None is no dimension of its result"),
    (lambda p: p.s[p.C].storage_align(p.i, 2.5, 0), "the factor of storage_align is a whole number, not 2.5"),
    (lambda p: p.s[p.C].tensorize(p.i, None), "tensorize of stage 'C' takes an intrinsic or its name, not None"),
    (lambda p: p.s[p.C].env_threads(None), "env_threads of stage 'C' takes thread axes, not None"),
    (lambda p: p.s[p.C].transform_layout(3), "the mapping of transform_layout is a function of 2 arguments, not 3"),
    (lambda p: p.s[p.C].transform_layout(lambda i: i), "the mapping of transform_layout is called with 2 arguments"),
]

LOWERED: list[Row] = [
    (lambda p: p.s[p.C].vectorize(p.k), "its iterations add into the same element"),
    (lambda p: p.s[p.C].parallel(p.k), "its iterations add into the same element"),
    (lambda p: p.s[p.C].compute_inline(), "a reduction has no equation to inline"),
    (lambda p: p.s[p.D].compute_at(p.s[p.C], p.i), "stage 'D' writes an output of the function"),
    (lambda p: p.s[p.C].set_scope("foo"), "unknown memory scope 'foo'"),
    (lambda p: p.s.cache_read(p.A, "foo", [p.C]), "unknown memory scope 'foo'"),
    (lambda p: p.s[p.C].pragma(p.i, "foo"), "there is no such pragma"),
    (lambda p: p.s[p.C].bind(p.i, te.thread_axis("threadIdx.q")), "there is no such thread axis"),
    (lambda p: p.s[p.C].tensorize(p.i, "foo"), "there is no tensor intrinsic @foo"),
    (lambda p: p.s[p.C].rolling_buffer(), "it is computed in no loop of another stage"),
    (lambda p: [p.s[p.C].compute_at(p.s[p.D], p.di), p.s[p.D].split(p.di, 2)], "'i' is no loop of stage 'D' any more"),
]

COMPUTED: list[Row] = [
    (
        lambda p: te.compute((3,), lambda i: p.A[100, 0], name="Z"),
        "reads dimension 0 of %A at 37 beyond its last element",
    ),
    (
        lambda p: te.compute((3,), lambda i: p.A[i - 1, 0], name="Z"),
        "reads dimension 0 of %A at -1, before its first element",
    ),
    (
        lambda p: te.compute((p.n,), lambda i: p.X[i + 1], name="Z"),
        "reads dimension 0 of %X at 1 beyond its last element",
    ),
    (lambda p: te.compute((3,), lambda i: p.A[i, p.k], name="Z"), "the variable 'k' is no axis of this compute"),
    (lambda p: te.compute((3,), lambda i: p.A[i, 0] << 2, name="Z"), "the operation is not defined for float32"),
    (lambda p: te.compute((p.n * p.m,), lambda i: 1.0, name="Z"), "the extent (n*m) is not affine in"),
]

BUILT: list[Row] = [
    (lambda p: lamina.lower(None, [p.A]), "create_schedule takes operations, not None"),
    (lambda p: lamina.lower(p.s, p.A), "the arguments of a kernel are a list of tensors and variables"),
    (lambda p: lamina.lower(p.s, [p.A, p.B]), "the output 'D' is not among the arguments"),
    (lambda p: lamina.lower(p.s, [p.A, p.D]), "tensor 'B' is read, but it is not among the arguments"),
    (lambda p: lamina.lower(p.s, [p.A, p.B, p.D, 3]), "an argument is a tensor or a variable, not 3"),
    (lambda p: lamina.lower(p.s, [p.A, p.B, p.D], name=3), "a name is text, not 3"),
    (lambda p: te.create_prim_func(None), "create_prim_func takes a list of tensors, not None"),
    (lambda p: lamina.build(p.s), "build takes a schedule and the arguments of the kernel"),
    (lambda p: lamina.build(p.s, [p.A, p.B, p.D], target="foo"), "no target 'foo'"),
    (lambda p: lamina.build(p.s, [p.A, p.B, p.D], target=3), "a target is a string such as 'llvm', not 3"),
    (lambda p: lamina.build(p.s, [p.A, p.B, p.D], name="llvm.sqrt"), "a kernel cannot be called 'llvm.sqrt'"),
    (lambda p: p.kernel(), "takes 3 arguments (A, B, D), got 0"),
    (lambda p: p.kernel(p.a, p.b, None), "D is expected to be an array"),
    (lambda p: p.kernel("a", p.b, p.d), "A.ndim is expected to equal 2, but got 0"),
    (lambda p: p.kernel(p.a.astype("float64"), p.b, p.d), "A.dtype is expected to be float32, but got float64"),
    (lambda p: p.kernel(p.a[:32], p.b, p.d), "A.shape[0] has an unsatisfied constraint: 32 == 64"),
    (lambda p: p.kernel(p.a, p.b, p.readonly), "D is written, but the array is read-only"),
    (lambda p: p.kernel(p.a.byteswap().view(p.a.dtype.newbyteorder()), p.b, p.d), "got byte-swapped float32"),
    (lambda p: p.kernel["foo"], "no function 'foo'"),
    (lambda p: p.kernel.get_source(3), "no format 3"),
    (lambda p: p.kernel.time_evaluator(number="a"), "the number of runs is a whole number, not 'a'"),
    (lambda p: p.sized(p.a, p.x, p.y), "n is an array, the arrays have n = 10"),
    (lambda p: p.sized(9, p.x, p.y), "n is 9, the arrays have n = 10"),
    (lambda p: p.sized(10, p.x, p.y[:5]), "Y.shape[0] has an unsatisfied constraint: 5 == n, where n = 10"),
]


def program(**more: Any) -> SimpleNamespace:
    """The names that a row may use: a matrix product with something added, and a program of a size."""
    n, m = te.var("n"), te.var("m")
    A, B = te.placeholder((64, 32), name="A"), te.placeholder((32, 16), name="B")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute((64, 16), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    D = te.compute((64, 16), lambda i, j: C[i, j] + 1.0, name="D")
    X = te.placeholder((n,), name="X")
    (i, j), (di, dj) = C.op.axis, D.op.axis
    names = {"n": n, "m": m, "A": A, "B": B, "C": C, "D": D, "X": X, "k": k, "i": i, "j": j, "di": di, "dj": dj}
    return SimpleNamespace(s=te.create_schedule(D.op), **names, **more)


def refusal(line: Callable[[Any], Any], names: SimpleNamespace, after: Callable[[Any], Any] | None = None) -> str:
    """The message that a row ends in, at once or when something is done with its value."""
    with pytest.raises(LaminaError) as caught:
        value = line(names)
        if after is not None:
            after(value)
    message = str(caught.value)
    file, number, _ = message.split(":", 2)
    first = line.__code__.co_firstlineno
    assert file == __file__ and first <= int(number) <= first + 3, message
    assert "\n" not in message
    return message


def rows(table: list[Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("line", "said"), table, ids=[said[:40] for _, said in table])


@rows(EXPRESSIONS)
def test_expression(line: Any, said: str) -> None:
    assert said in refusal(line, program())


@rows(SCHEDULES)
def test_schedule(line: Any, said: str) -> None:
    assert said in refusal(line, program())


@rows(LOWERED)
def test_schedule_that_cannot_be_applied(line: Any, said: str) -> None:
    p = program()
    assert said in refusal(line, p, lambda _: lamina.lower(p.s, [p.A, p.B, p.D]))


@rows(COMPUTED)
def test_compute_that_has_no_loops(line: Any, said: str) -> None:
    message = refusal(line, program(), lambda Z: lamina.lower(te.create_schedule(Z.op), [*Z.op.input_tensors, Z]))
    assert said in message


@pytest.fixture(scope="module")
def kernels() -> dict[str, Any]:
    p = program()
    Y = te.compute((p.n,), lambda i: p.X[i] * 2.0, name="Y")
    return {
        "kernel": lamina.build(p.s, [p.A, p.B, p.D]),
        "sized": lamina.build(te.create_schedule(Y.op), [p.n, p.X, Y]),
    }


@rows(BUILT)
def test_build_and_call(line: Any, said: str, kernels: dict[str, Any]) -> None:
    d = np.zeros((64, 16), np.float32)
    readonly = d.copy()
    readonly.flags.writeable = False
    arrays = {"a": np.ones((64, 32), np.float32), "b": np.ones((32, 16), np.float32), "d": d, "readonly": readonly}
    sized = {"x": np.ones(10, np.float32), "y": np.zeros(10, np.float32)}
    assert said in refusal(line, program(**kernels, **arrays, **sized))
    assert not d.any()


def test_buffer_that_no_memory_holds() -> None:
    p = program()
    p.s[p.C].storage_align(p.i, 2**38, 0)
    with pytest.raises(LaminaError, match="the program works in .* bytes of memory, which there are not"):
        lamina.build(p.s, [p.A, p.B, p.D])

"""te.extern with TVM's ir_builder: statements over sizes that are not known, choices, and mistakes in them."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamina
from lamina import te
from lamina.compat.tvm import tir
from lamina.errors import LaminaError

Array = np.ndarray[Any, np.dtype[Any]]


def run(args: list[Any], *arrays: Array, out: Array) -> Array:
    """Build the program of the last argument and run it, with checks in the kernel."""
    lamina.build(te.create_schedule(args[-1].op), args, sanitize=True)(*arrays, out)
    return out


def test_statements_over_any_sizes() -> None:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")

    def reversed_rows(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        row = ib.allocate("float32", (m,), "row")
        with ib.for_range(0, n, "i") as i:
            with ib.for_range(0, m, "j") as j:
                row[j] = x[i, m - 1 - j]
            with ib.for_range(1, m, "j") as j:
                y[i, j] = te.exp(row[j]) + ins[0].shape[1]
            with ib.for_range(0, m, "j") as j, ib.if_scope(tir.likely(te.all(j < 1, i >= 0))):
                y[i, j] = (i + 100).astype("float32")
        return ib.get()

    B = te.extern((n, m), [A], reversed_rows, name="B")
    C = te.compute((n, m), lambda i, j: B[i, j] + 1.0, name="C")
    for shape in ((4, 9), (1, 1), (3, 2)):
        a = np.random.default_rng(0).random(shape, np.float32)
        expected = np.exp(a[:, ::-1]) + shape[1] + 1
        expected[:, 0] = np.arange(shape[0]) + 101
        np.testing.assert_allclose(run([A, C], a, out=np.empty_like(a)), expected, rtol=1e-6)


def test_what_is_not_chosen_is_not_read() -> None:
    A = te.placeholder((8,), name="A")
    places = te.placeholder((8,), "int32", name="places")

    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        x, p, y = (ib.buffer_ptr(b) for b in (*ins, *outs))
        with ib.for_range(0, 8, "i") as i:
            y[i] = te.if_then_else(te.all(i > 0, i < 7), x[i - 1] + x[i + 1], te.if_then_else(i == 0, x[0], x[i - 1]))
            y[i] = y[i] * te.if_then_else(p[i] >= 0, x[p[i]], 1.0)
        return ib.get()

    B = te.extern((8,), [A, places], body, name="B", dtype="float32")
    a, p = np.arange(1, 9, dtype=np.float32), np.array([-1, 3, 7, -5, 0, 2, -9, 1], np.int32)
    expected = np.concatenate([a[:1], a[:-2] + a[2:], a[-2:-1]]) * np.where(p >= 0, a[p.clip(0)], 1)
    np.testing.assert_allclose(run([A, places, B], a, p, out=np.empty_like(a)), expected)


def test_an_element_is_read_when_its_statement_runs() -> None:
    A = te.placeholder((4, 3), name="A")

    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 12, "i", kind="unroll") as i:
            y[i] = x[i]
            with ib.if_scope(i % 2 == 0):
                y[i] = y[i] + 1.0
            with ib.else_scope():
                y[i] = y[i] - 1.0
            y[i] = y[i] * y[i]
        return ib.get()

    a = np.random.default_rng(1).random((4, 3), np.float32)
    B = te.extern(A.shape, [A], body, name="B")
    expected = (a.reshape(-1) + np.where(np.arange(12) % 2 == 0, 1, -1)) ** 2
    with pytest.raises(LaminaError, match="the condition .* is no conjunction"):  # an equality has no single opposite
        run([A, B], a, out=np.empty_like(a))

    def other(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 12, "i") as i:
            y[i] = x[i]
            with ib.if_scope(i % 2 < 1):
                y[i] = y[i] + 1.0
            with ib.else_scope():
                y[i] = y[i] - 1.0
            y[i] = y[i] * y[i]
        return ib.get()

    B = te.extern(A.shape, [A], other, name="B")
    np.testing.assert_allclose(run([A, B], a, out=np.empty_like(a)).reshape(-1), expected, rtol=1e-6)


n = te.var("n")

MISTAKES: dict[str, tuple[Any, Callable[[Any, Any, Any], Any], str]] = {
    "one_index_of_unknown_sizes": ((n, n), lambda ib, x, y: y[0], "has sizes that are not known; write its 2 indices"),
    "too_many_indices": ((4, 4), lambda ib, x, y: x[0, 1, 2], "has rank 2, it is used at 3 indices"),
    "a_condition_on_values": (
        (4, 4),
        lambda ib, x, y: ib.if_scope(x[0, 0] > 0.0).__enter__(),
        "is no conjunction of comparisons of indices",
    ),
    "a_bound_that_is_no_index": (
        (4, 4),
        lambda ib, x, y: ib.for_range(0, x[0, 0]).__enter__(),
        "a bound is an affine expression of sizes and loops",
    ),
    "else_without_if": ((4, 4), lambda ib, x, y: ib.else_scope().__enter__(), "else_scope comes after an if_scope"),
    "another_variable": ((4, 4), lambda ib, x, y: y.__setitem__((0, te.var("k")), 1.0), "'k' is no axis"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place(mistake: str) -> None:
    shape, action, message = MISTAKES[mistake]
    A = te.placeholder(shape, name="A")

    def body(ins: Any, outs: Any) -> Any:
        ib = tir.ir_builder.create()
        action(ib, ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0]))

    B = te.extern(shape, [A], body, name="B")
    with pytest.raises(LaminaError) as error:
        lamina.lower(te.create_schedule(B.op), [A, B])
    assert message in str(error.value) and error.value.where.startswith(f"{__file__}:")


def test_statements_stand_in_an_extern() -> None:
    with pytest.raises(LaminaError, match="an ir_builder works inside the function given to te.extern"):
        tir.ir_builder.create()

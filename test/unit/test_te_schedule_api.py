"""Schedules in TVM's spelling: the loops they give, in whatever order they are said, and what is said of mistakes."""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import lamina
from lamina import te
from lamina.errors import LaminaError
from lamina.tensor.program import te_module

from .te_tutorials import TUTORIALS, Calls, gemv

pytestmark = pytest.mark.slow

ORDERS = 12


def by_name(tutorial: Any) -> str:
    return tutorial.__name__


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=by_name)
def test_every_order_of_the_calls_gives_the_same_loops(tutorial: Any) -> None:
    calls = Calls()
    program = tutorial(calls)
    calls.make(program.schedule)
    wanted = str(lamina.lower(program.schedule, program.args))
    ops = str(te_module(program.schedule, program.args)[0])
    r = random.Random(tutorial.__name__)
    seen: set[tuple[int, ...]] = set()
    for _ in range(ORDERS):
        order = calls.order(r)
        again = Calls()
        other = tutorial(again)
        again.make(other.schedule, order)
        assert str(te_module(other.schedule, other.args)[0]) == ops, order
        assert str(lamina.lower(other.schedule, other.args)) == wanted, order
        seen.add(tuple(order))
    assert len(seen) > 2, "the calls are in one order only"


def array_for(tensor: Any, shape: tuple[int, ...], r: np.random.Generator) -> np.ndarray[Any, Any]:
    """Random numbers; of integers the place in the last dimension."""
    if tensor.dtype == "int32":
        return np.ascontiguousarray(np.broadcast_to(np.arange(shape[-1], dtype=np.int32), shape))
    return r.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=by_name)
def test_what_the_tutorials_compute_is_right(tutorial: Any) -> None:
    calls = Calls()
    program = tutorial(calls)
    calls.make(program.schedule)
    r = np.random.default_rng(0)
    inputs = [array_for(t, shape, r) for t, shape in zip(program.args, program.shapes, strict=False)]
    expected = program.expected(*inputs)
    wanted = [np.asarray(e) for e in (expected if isinstance(expected, tuple) else (expected,))]
    found = [np.full(w.shape, -7, t.dtype) for w, t in zip(wanted, program.args[len(inputs) :], strict=True)]
    lamina.build(program.schedule, program.args)(*inputs, *found)  # loops of threads run in turn
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f, w, rtol=1e-4, atol=1e-5)


# -- single primitives ---------------------------------------------------------------------------------------------


def two_stages() -> tuple[Any, Any, Any, Any]:
    A = te.placeholder((8, 12), name="A")
    B = te.compute((8, 12), lambda i, j: A[i, j] + 1.0, name="B")
    C = te.compute((8, 12), lambda i, j: B[i, j] * 2.0, name="C")
    return te.create_schedule(C.op), A, B, C


def ops_of(s: Any, args: list[Any]) -> list[str]:
    """The schedule ops as lines of text."""
    text = str(te_module(s, args)[0])
    _, _, body = text.partition("te.schedule @main {\n")
    return [line.strip() for line in body.split("\n") if line.strip() not in ("", "}")]


def test_an_untouched_schedule_is_empty() -> None:
    s, A, _, C = two_stages()
    assert ops_of(s, [A, C]) == []
    assert s.normalize() is s


def test_stages_and_loops_can_be_asked_for() -> None:
    s, A, B, C = two_stages()
    assert [stage.op.name for stage in s.stages] == ["A", "B", "C"]
    outer, inner = s[C].split(C.op.axis[0], nparts=2)
    assert [v.var.name for v in s[C].leaf_iter_vars] == ["i.outer", "i.inner", "j"]
    assert s[C.op] is s[C] and s[B] is not s[C]
    assert [v.name for v in s[C].all_iter_vars] == ["i", "j", "i.outer", "i.inner"]
    assert (outer.name, inner.name) == ("i.outer", "i.inner")


def test_fuse_brings_loops_together_first() -> None:
    s, A, _, C = two_stages()
    i, j = C.op.axis
    io, ii = s[C].split(i, 2)
    s[C].reorder(ii, io, j)
    s[C].fuse(io, j)
    assert ops_of(s, [A, C]) == [
        '%i, %j = te.loops "C" [2]',
        "%io, %ii = te.split %i [-1, 2]",
        "te.reorder %j, %ii",
        "%io_j = te.fuse %io, %j",
        "te.reorder %ii, %io_j",
    ]


def test_the_last_word_on_how_a_loop_runs_counts() -> None:
    s, A, _, C = two_stages()
    s[C].unroll(C.op.axis[1])
    s[C].vectorize(C.op.axis[1])
    s[C].pragma(C.op.axis[0], "auto_unroll_max_step", 8)
    assert ops_of(s, [A, C])[1:] == ['te.pragma %i "auto_unroll_max_step" = 8 : i64', "te.vectorize %j"]


def test_compute_root_takes_back_where_a_stage_is_computed() -> None:
    s, A, B, C = two_stages()
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].compute_root()
    s[B].compute_inline()
    s[B].compute_root()
    assert ops_of(s, [A, C]) == []


def test_a_cache_of_a_cache() -> None:
    s, A, B, C = two_stages()
    shared = s.cache_read(A, "shared", [B])
    local = s.cache_read(shared, "local", [B])
    assert (shared.op.name, local.op.name) == ("A.shared", "A.shared.local")
    s[B].compute_inline()
    s[local].compute_at(s[C], C.op.axis[0])
    lines = ops_of(s, [A, C])
    assert lines[:2] == ['te.cache_read "A" in "B" scope "shared"', 'te.cache_read "A.shared" in "B" scope "local"']
    text = str(lamina.lower(s, [A, C]))
    assert 'scope "shared"' in text and 'scope "local"' in text


def test_readers_follow_a_cache_write() -> None:
    for first in (True, False):
        s, A, B, C = two_stages()
        if first:
            s.cache_read(B, "local", [C])
        computing = s.cache_write(C, "local")
        if not first:
            s.cache_read(B, "local", [computing])
        assert ops_of(s, [A, C]) == [
            'te.cache_write "C" scope "local"',
            'te.cache_read "B" in "C" scope "local"',
        ]


def test_create_prim_func_is_the_naive_program() -> None:
    _, A, _, C = two_stages()
    text = str(te.create_prim_func([A, C]))
    assert "tir.func @main" in text and 'tir.block "C"' in text


def test_what_is_said_of_stages() -> None:
    s, A, B, C = two_stages()
    s[B].storage_align(B.op.axis[0], 16, 1)
    s[B].double_buffer()
    s[B].compute_at(s[C], C.op.axis[0])
    s[C].prefetch(A, C.op.axis[0], 1)
    lines = ops_of(s, [A, C])
    assert lines[:2] == ['%i, %j = te.loops "C" [2]', '%i_at, %j_at = te.compute_at "B" at %i [2]']
    assert lines[2:] == [
        'te.storage_align "B" axis 0 factor 16 offset 1',
        'te.double_buffer "B"',
        'te.prefetch "A" at %i offset 1',
    ]


def test_threads_around_a_stage_and_a_store_that_one_of_them_does() -> None:
    s, A, B, C = two_stages()
    thread = te.thread_axis((0, 12), "threadIdx.x")
    s[C].bind(C.op.axis[1], thread)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].set_store_predicate(te.all(thread.var.equal(0), B.op.axis[0] < 5))
    s[B].env_threads(te.thread_axis((0, 2), "threadIdx.y"))
    assert ops_of(s, [A, C])[1:] == [
        'te.bind %j "threadIdx.x"',
        '%i_at, %j_at = te.compute_at "B" at %i [2]',
        '%y = te.env_threads "B" ["threadIdx.y"] [2]',
        'te.store_predicate "B" where [%j == 0, %i_at * -1 + 4 >= 0]',
    ]


def test_an_intrinsic_that_computes_something_else_is_refused() -> None:
    A, B = te.placeholder((4, 8), name="A"), te.placeholder((16, 8), name="B")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((4, 16), lambda i, j: te.sum(A[i, k] + B[j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].tensorize(C.op.axis[1], gemv(16, 8))
    with pytest.raises(LaminaError, match="te.tensorize") as error:
        lamina.lower(s, [A, B, C])
    assert "test_te_schedule_api.py" in error.value.where
    with pytest.raises(LaminaError, match="one compute of placeholders"):
        te.decl_tensor_intrin(A.op, lambda ins, outs: None)


# -- mistakes ------------------------------------------------------------------------------------------------------


def _twice(s: Any, C: Any) -> None:
    s[C].split(C.op.axis[0], 2)
    s[C].split(C.op.axis[0], 2)


def _not_adjacent(s: Any, C: Any) -> None:
    s[C].split(C.op.axis[0], 2)
    s[C].fuse(s[C].leaf_iter_vars[0], C.op.axis[1])


MISTAKES: dict[str, tuple[Any, str]] = {
    "split_twice": (
        lambda s, A, B, C: _twice(s, C),
        "split of stage 'C': 'i' is no loop of it any more; its loops are i.outer, i.inner, j",
    ),
    "split_by_zero": (
        lambda s, A, B, C: s[C].split(C.op.axis[0], 0),
        "split of stage 'C': factor is a positive number, not 0",
    ),
    "split_without_a_factor": (lambda s, A, B, C: s[C].split(C.op.axis[0]), "either a factor or nparts"),
    "the_loop_of_another_stage": (
        lambda s, A, B, C: s[C].unroll(B.op.axis[0]),
        "unroll of stage 'C': 'i' is no loop of it",
    ),
    "fuse_loops_apart": (lambda s, A, B, C: _not_adjacent(s, C), "they do not stand directly inside each other"),
    "reorder_twice": (lambda s, A, B, C: s[C].reorder(C.op.axis[0], C.op.axis[0]), "reorder names a loop twice"),
    "bind_to_a_name": (lambda s, A, B, C: s[C].bind(C.op.axis[0], "threadIdx.x"), "bind takes a thread axis"),
    "a_stage_of_another_schedule": (
        lambda s, A, B, C: s[te.placeholder((2,), name="Z")],
        "the schedule has no stage of 'Z'",
    ),
    "inline_a_placeholder": (lambda s, A, B, C: s[A].compute_inline(), "a placeholder has no equation"),
    "a_cache_that_nobody_reads": (lambda s, A, B, C: s.cache_read(A, "shared", [C]), "stage 'C' does not read it"),
    "a_cache_write_of_a_placeholder": (lambda s, A, B, C: s.cache_write(A, "local"), "a placeholder is not computed"),
    "rfactor_of_no_reduction": (lambda s, A, B, C: s.rfactor(C, C.op.axis[0]), "'i' is no reduction loop"),
    "compute_at_itself": (lambda s, A, B, C: s[C].compute_at(s[C], C.op.axis[0]), "cannot be computed inside itself"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place(mistake: str) -> None:
    action, message = MISTAKES[mistake]
    with pytest.raises(LaminaError) as error:
        action(*two_stages())
    assert message in str(error.value), str(error.value)
    assert error.value.where.startswith(__file__ + ":")


def test_a_primitive_that_cannot_be_applied_is_blamed_on_the_line_of_the_call() -> None:
    A = te.placeholder((8,), name="A")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((1,), lambda i: te.sum(A[k], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].parallel(k)
    with pytest.raises(LaminaError, match="te.parallel") as error:
        lamina.lower(s, [A, C])
    assert "test_te_schedule_api.py" in error.value.where
    line = int(error.value.where.split(":")[1])
    assert "s[C].parallel(k)" in open(__file__).read().split("\n")[line - 1]
    assert "\n" not in str(error.value)


def test_a_loop_that_a_stage_was_put_into_and_that_is_no_more() -> None:
    s, A, B, C = two_stages()
    s[B].compute_at(s[C], C.op.axis[0])
    s[C].split(C.op.axis[0], 4)
    with pytest.raises(LaminaError, match="compute_at: 'i' is no loop of stage 'C' any more") as error:
        lamina.lower(s, [A, C])
    assert "test_te_schedule_api.py" in error.value.where


def test_loops_of_an_inlined_stage_cannot_be_scheduled() -> None:
    s, A, B, C = two_stages()
    s[B].compute_inline()
    s[B].unroll(B.op.axis[1])
    with pytest.raises(LaminaError, match="stage 'B' is inlined"):
        lamina.lower(s, [A, C])

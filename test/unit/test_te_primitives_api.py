"""Primitives that TE has no name for, and those that add stages or move several, in TVM's spelling."""

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

from .te_tutorials import Calls

pytestmark = pytest.mark.slow

Array = np.ndarray[Any, np.dtype[Any]]


def ops_of(s: Any, args: list[Any]) -> list[str]:
    """The schedule ops as lines of text."""
    _, _, body = str(te_module(s, args)[0]).partition("te.schedule @main {\n")
    return [line.strip() for line in body.split("\n") if line.strip() not in ("", "}")]


def check(s: Any, args: list[Any], *inputs: Array, expected: Array) -> None:
    """Compile and compare."""
    out = np.full(expected.shape, -7, expected.dtype)
    lamina.build(s, args)(*inputs, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


def numbers(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def chain(rows: int = 8, columns: int = 12) -> tuple[Any, ...]:
    """D = (A + 1) * 2 - 3 in three stages."""
    A = te.placeholder((rows, columns), name="A")
    B = te.compute(A.shape, lambda i, j: A[i, j] + 1.0, name="B")
    C = te.compute(A.shape, lambda i, j: B[i, j] * 2.0, name="C")
    D = te.compute(A.shape, lambda i, j: C[i, j] - 3.0, name="D")
    return te.create_schedule(D.op), A, B, C, D


def product(m: int = 6, n: int = 10, depth: int = 12) -> tuple[Any, ...]:
    A, B = te.placeholder((m, depth), name="A"), te.placeholder((depth, n), name="B")
    k = te.reduce_axis((0, depth), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return te.create_schedule(C.op), A, B, C, k


# -- loops ---------------------------------------------------------------------------------------------------------


def test_split_into_several_loops() -> None:
    s, A, B, C, D = chain()
    s[B].compute_inline()
    s[C].compute_inline()
    loops = s[D].split(D.op.axis[1], factors=[2, None, 3])
    assert [v.name for v in loops] == ["j.0", "j.1", "j.2"]
    s[D].reorder(loops[2], loops[0])
    assert ops_of(s, [A, D])[3:] == [
        "%jo, %ja, %jb = te.split %j [2, -1, 3]",
        "te.reorder %jb, %ja, %jo",
    ]
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)
    for wrong in ({"factors": [None, -1]}, {"factors": [2], "factor": 2}, {"factors": []}, {"factors": [0, None]}):
        with pytest.raises(LaminaError, match="split"):
            s[D].split(D.op.axis[0], **wrong)


def test_what_cannot_be_split_so() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].split(B.op.axis[0], nparts=4)
    with pytest.raises(LaminaError, match="its extent is known only when the program runs") as error:
        lamina.lower(s, [A, B])
    assert "test_te_primitives_api.py" in error.value.where
    with pytest.raises(LaminaError, match="cache_write of 'B': it comes before the stage's splits and fuses"):
        s.cache_write(B, "local")


def test_partition_and_annotate() -> None:
    s, A, B, C, D = chain()
    outer, inner = s[D].split(D.op.axis[1], 5)
    s[D].partition(outer)
    s[D].annotate(inner, "speed", "fast")
    s[D].annotate(inner, "speed", 3)
    s[D].annotate(None, "exact", True)
    s[D].annotate(None, "weight", 0.5)
    lines = ops_of(s, [A, D])
    assert lines[2:] == [
        'te.annotate "D" "exact" = true',
        'te.annotate "D" "weight" = 5.000000e-01 : f64',
        "te.partition %jo",
        'te.annotate %ji "speed" = 3 : i64',
    ]
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)
    with pytest.raises(LaminaError, match="is no number, text or truth value"):
        s[D].annotate(outer, "speed", [1])


def test_normalize_comes_last() -> None:
    s, A, _, _, D = chain()
    assert s.normalize() is s
    s[D].unroll(D.op.axis[1])
    assert ops_of(s, [A, D])[-2:] == ["te.unroll %j", "te.normalize"]


# -- the order of calls ----------------------------------------------------------------------------------------------


def padded_product(calls: Calls) -> tuple[Any, list[Any], Any]:
    s, A, B, C, k = product(6, 10, 11)
    calls("pa pb out", lambda e: s[C].pad_einsum([4, 8, 4]), fixed=True)
    calls("f0 f1", lambda e: s[C].sample_perfect_tile(C.op.axis[1], 2, 8, decision=[4, 4]))
    calls("jo ji", lambda e: s[C].split(C.op.axis[1], factors=[e.f0, e.f1]))
    calls("ko ki", lambda e: s[C].split(k, 4))
    calls("", lambda e: s[C].reorder(C.op.axis[0], e.jo, e.ko, e.ki, e.ji))
    calls("start", lambda e: s[C].decompose_reduction(e.ko), fixed=True)
    calls("", lambda e: e.start.vectorize(e.start.op.axis[0]))
    calls("", lambda e: s[C].vectorize(e.ji))
    calls("", lambda e: s[C].annotate(None, "note", 1))
    calls("", lambda e: s[C].annotate(e.jo, "note", "outer"))
    calls("", lambda e: s[C].annotate(e.jo, "also", 2.5))
    calls("", lambda e: s[e.out].parallel(s[e.out].op.axis[0]))
    calls("", lambda e: s[e.pa].unroll(s[e.pa].op.axis[1]))
    calls("", lambda e: s[e.pb].set_scope("local"))
    calls("", lambda e: s.normalize())
    return s, [A, B, C], lambda a, b: a @ b


def moved_chain(calls: Calls) -> tuple[Any, list[Any], Any]:
    s, A, B, C, D = chain()
    calls("copy", lambda e: s.cache_read(A, "global", [B]), fixed=True)
    calls("group", lambda e: s.create_group(outputs=B, inputs=A), fixed=True)
    calls("x y z", lambda e: s[B].transform_layout(lambda i, j: [j // 4, i, j % 4]), fixed=True)
    calls("jo ji", lambda e: s[C].split(C.op.axis[1], 4))
    calls("", lambda e: s[C].reorder(e.jo, C.op.axis[0], e.ji))
    calls("", lambda e: s[e.copy].set_scope("local"))
    calls("", lambda e: e.group.compute_at(s[C], e.jo))
    calls("", lambda e: s[e.copy].compute_at(s[B], e.y))
    calls("", lambda e: s[D].reverse_compute_at(s[C], e.jo))
    calls("", lambda e: s[B].vectorize(e.z))
    calls("", lambda e: s[D].unroll(D.op.axis[1]))
    calls("", lambda e: s[D].blockize(D.op.axis[1]))
    calls("", lambda e: s[B].storage_align(B.op.axis[0], 16, 0))
    return s, [A, D], lambda a: (a + 1) * 2 - 3


@pytest.mark.parametrize("program", [padded_product, moved_chain], ids=lambda p: p.__name__)
def test_every_order_of_the_calls_gives_the_same_loops(program: Any) -> None:
    calls = Calls()
    s, args, expected = program(calls)
    calls.make(s)
    wanted = ops_of(s, args)
    inputs = [numbers(*map(int, t.shape)) for t in args[:-1]]
    check(s, args, *inputs, expected=expected(*inputs))
    r = random.Random(program.__name__)
    orders = {tuple(calls.order(r)) for _ in range(16)}
    assert len(orders) > 8
    for order in orders:
        again = Calls()
        s, args, _ = program(again)
        again.make(s, list(order))
        assert ops_of(s, args) == wanted, order


# -- where stages are computed -------------------------------------------------------------------------------------


def test_reverse_compute_at_goes_after_the_loops_of_the_producer() -> None:
    def scheduled(order: list[int]) -> tuple[Any, list[Any]]:
        s, A, B, C, D = chain()
        loops: list[Any] = []
        calls = [
            lambda: loops.extend(s[C].split(C.op.axis[0], 4)),
            lambda: s[D].reverse_compute_at(s[C], loops[0]),
            lambda: s[D].unroll(D.op.axis[0]),
            lambda: s[B].compute_at(s[C], loops[0]),
        ]
        for n in order:
            calls[n]()
        return s, [A, D]

    s, args = scheduled([0, 1, 2, 3])
    assert ops_of(s, args) == [
        '%i, %j = te.loops "C" [2]',
        "%io, %ii = te.split %i [-1, 4]",
        '%i_out, %j_out = te.reverse_compute_at "D" at %io [2]',
        '%i_at, %j_at = te.compute_at "B" at %io [2]',
        "te.unroll %i_out",
    ]
    for order in ([0, 3, 1, 2], [2, 0, 3, 1], [0, 2, 1, 3]):
        again, other = scheduled(order)
        assert ops_of(again, other) == ops_of(s, args)
    a = numbers(8, 12)
    check(s, args, a, expected=(a + 1) * 2 - 3)


def test_reverse_compute_inline_leaves_the_loops_of_the_producer() -> None:
    s, A, B, C, D = chain()
    s[D].reverse_compute_inline()
    s[B].compute_inline()
    outer, inner = s[C].split(C.op.axis[1], 4)
    s[C].vectorize(inner)
    assert ops_of(s, [A, D])[:2] == ['te.compute_inline "B"', 'te.reverse_compute_inline "D"']
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)
    s[D].unroll(D.op.axis[0])
    with pytest.raises(LaminaError, match="stage 'D' is inlined"):
        lamina.lower(s, [A, D])


@pytest.mark.parametrize("method", ["compute_at", "reverse_compute_at", "compute_inline", "reverse_compute_inline"])
def test_compute_root_takes_back_where_a_stage_is_computed(method: str) -> None:
    s, A, B, C, D = chain()
    arguments = (s[D], D.op.axis[0]) if method == "compute_at" else (s[B], B.op.axis[0])
    getattr(s[C], method)(*(arguments if method.endswith("at") else ()))
    s[C].compute_root()
    assert ops_of(s, [A, D]) == []


def test_a_group_moves_as_one() -> None:
    s, A, B, C, D = chain()
    group = s.create_group(outputs=C, inputs=A)
    assert [m.name for m in group.members] == ["B", "C"]
    group.compute_at(s[D], D.op.axis[0])
    s[C].unroll(C.op.axis[1])
    assert ops_of(s, [A, D]) == [
        '%i, %j = te.loops "D" [2]',
        'te.create_group "group0" ["B", "C"]',
        '%B_i_at, %B_j_at, %C_i_at, %C_j_at = te.compute_at "group0" at %i [4]',
        "te.unroll %C_j_at",
    ]
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)


def test_what_is_said_of_a_member_counts_more_than_what_is_said_of_its_group() -> None:
    s, A, B, C, D = chain()
    group = s.create_group(outputs=C, inputs=A)
    group.compute_at(s[D], D.op.axis[0])
    copy = s.cache_read(B, "local", [C])
    assert s[copy] in group.members
    s[copy].compute_at(s[C], C.op.axis[1])
    s[B].compute_inline()
    lines = ops_of(s, [A, D])
    assert 'te.create_group "group0" ["C"]' in lines and 'te.compute_inline "B"' in lines
    assert any('te.compute_at "B.local" at %C_j_at' in line for line in lines)
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)


def test_a_rolling_buffer() -> None:
    A = te.placeholder((10, 8), name="A")
    B = te.compute(A.shape, lambda i, j: A[i, j] * 2.0, name="B")
    k = te.reduce_axis((0, 3), "k")
    C = te.compute((8, 8), lambda i, j: te.sum(B[i + k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    s[B].rolling_buffer()
    assert ops_of(s, [A, C])[-1] == 'te.rolling_buffer "B" at %i'
    a = numbers(10, 8)
    check(s, [A, C], a, expected=2 * (a[:8] + a[1:9] + a[2:]))
    s[B].compute_root()
    with pytest.raises(LaminaError, match="rolling_buffer of stage 'B': it is computed in no loop"):
        lamina.lower(s, [A, C])


# -- layouts -------------------------------------------------------------------------------------------------------


def test_transform_layout_gives_the_new_loops() -> None:
    s, A, B, C, D = chain()
    loops = s[B].transform_layout(lambda i, j: [j // 4, i, te.AXIS_SEPARATOR, j % 4])
    assert [v.name for v in loops] == ["B.0", "B.1", "B.2"] and s[B].leaf_iter_vars == loops
    s[B].vectorize(loops[2])
    s[C].compute_inline()
    assert ops_of(s, [A, D])[1:] == [
        '%B0, %B1, %B2 = te.transform_layout "B" #te.map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)> [3]',
        "te.vectorize %B2",
    ]
    text = str(lamina.lower(s, [A, D]))
    assert "memref<3x8x4xf32>" in text
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)


def test_a_stage_in_another_layout_computed_in_a_loop_of_its_reader() -> None:
    s, A, B, C, D = chain()
    s[B].transform_layout(lambda i, j: [j // 4, i, j % 4])
    outer, inner = s[C].split(C.op.axis[1], 4)
    s[C].reorder(outer, C.op.axis[0], inner)
    s[B].compute_at(s[C], outer)
    text = str(lamina.lower(s, [A, D]))
    assert "memref<1x8x4xf32>" in text, text
    a = numbers(8, 12)
    check(s, [A, D], a, expected=(a + 1) * 2 - 3)


def test_a_layout_that_is_no_map_of_the_dimensions() -> None:
    s, A, B, C, D = chain()
    with pytest.raises(LaminaError, match=r"the new dimension \(i\*j\) is not affine in i, j"):
        s[B].transform_layout(lambda i, j: [i * j])
    s[B].transform_layout(lambda i, j: [i + j])
    with pytest.raises(LaminaError, match="gives two elements one place") as error:
        lamina.lower(s, [A, D])
    assert "test_te_primitives_api.py" in error.value.where
    s[D].transform_layout(lambda i, j: [j, i])
    s[B].transform_layout(lambda i, j: [j, i])
    with pytest.raises(LaminaError, match="whose layout is the caller's"):
        lamina.lower(s, [A, D])


# -- reductions ----------------------------------------------------------------------------------------------------


def test_decompose_reduction_gives_a_stage_to_schedule() -> None:
    s, A, B, C, k = product()
    i, j = C.op.axis
    jo, ji = s[C].split(j, 5)
    s[C].reorder(i, jo, k, ji)
    start = s[C].decompose_reduction(k)
    assert [v.name for v in start.leaf_iter_vars] == ["j.inner.init"]
    start.unroll(start.leaf_iter_vars[0])
    s[C].unroll(ji)
    assert ops_of(s, [A, B, C])[3:] == [
        'te.decompose_reduction "C" at %k',
        '%i_1, %j_outer, %j_inner_init = te.loops "C.init" [3]',
        "te.unroll %j_inner_init",
        "te.unroll %ji",
    ]
    a, b = numbers(6, 12), numbers(12, 10)
    check(s, [A, B, C], a, b, expected=a @ b)
    s[C].split(ji, 2)
    with pytest.raises(LaminaError, match="decompose_reduction of stage 'C': it comes after what changes its loops"):
        lamina.lower(s, [A, B, C])


def test_decompose_reduction_of_what_is_none() -> None:
    s, A, B, C, k = product()
    copy = s.cache_read(A, "local", [C])
    with pytest.raises(LaminaError, match="it is no reduction"):
        s[copy].decompose_reduction(copy.op.axis[0])
    s[C].decompose_reduction(k)
    s[C].reorder(C.op.axis[0], k, C.op.axis[1])
    with pytest.raises(LaminaError, match="comes after what changes its loops"):
        lamina.lower(s, [A, B, C])


def factored(r: random.Random) -> tuple[Any, list[Any], Any]:
    """A reduction of rows of any length, factored somehow; what NumPy says it is."""
    kind, expected = r.choice([(te.sum, np.sum), (te.max, np.max), (te.min, np.min), (te.prod, np.prod)])
    n, m = te.var("n"), te.var("m")
    rows, columns = r.choice([n, 5]), r.choice([m, 11])
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), "k")
    B = te.compute((rows,), lambda i: kind(te.exp(A[i, k]), axis=k), name="B")
    s = te.create_schedule(B.op)
    ko, ki = s[B].split(k, factor=r.choice([1, 2, 4, 5, 16]))
    if r.random() < 0.3:
        ki, _ = s[B].split(ki, factor=2)
    partial = s.rfactor(B, r.choice([ko, ki]), r.choice([0, 1, -1]))
    outer, inner = s[B].split(B.op.axis[0], factor=r.choice([2, 3, 8]))
    choice = r.randrange(4)
    if choice == 0:
        s[partial].compute_at(s[B], r.choice([outer, inner]))
    elif choice == 1:
        s[B].reorder(s[B].op.reduce_axis[0], outer, inner)
    dims = list(s[partial].op.axis)
    r.choice([s[partial].unroll, s[partial].parallel] if choice != 0 else [s[partial].unroll])(r.choice(dims))
    s[partial].reorder(*r.sample(s[partial].leaf_iter_vars, len(s[partial].leaf_iter_vars)))
    r.choice([s[B].vectorize, s[B].unroll])(inner)
    return s, [A, B], lambda a: expected(np.exp(a), 1)


@pytest.mark.parametrize("seed", range(24))
def test_partial_results_whatever_the_sizes(seed: int) -> None:
    s, args, expected = factored(random.Random(seed))
    kernel = lamina.build(s, args, sanitize=seed % 3 == 0)
    fixed = [int(e) if isinstance(e, te.IntImm) else None for e in args[0].shape]
    for rows, columns in ((5, 11), (1, 1), (8, 16), (3, 4)):
        shape = (fixed[0] or rows, fixed[1] or columns)
        a = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        out = np.full(shape[0], -7, np.float32)
        kernel(a, out)
        np.testing.assert_allclose(out, expected(a), rtol=1e-4)


def test_blockize() -> None:
    s, A, B, C, k = product()
    jo, ji = s[C].split(C.op.axis[1], 5)
    s[C].reorder(C.op.axis[0], jo, k, ji)
    s[C].blockize(k)
    assert ops_of(s, [A, B, C])[-1] == 'te.blockize %k "C_o"'
    assert 'tir.block "C_o"' in str(lamina.lower(s, [A, B, C]))
    a, b = numbers(6, 12), numbers(12, 10)
    check(s, [A, B, C], a, b, expected=a @ b)


def test_pad_einsum_gives_the_copies() -> None:
    s, A, B, C, k = product(6, 10, 11)
    copies = s[C].pad_einsum([4, 1, 4])
    assert [t.op.name for t in copies] == ["A.pad", "B.pad", "C.out"]
    io, ii = s[C].split(C.op.axis[0], 4)
    s[C].unroll(ii)
    s[copies[0]].unroll(copies[0].op.axis[1])
    s[copies[2]].parallel(copies[2].op.axis[0])
    lines = ops_of(s, [A, B, C])
    assert lines[0] == 'te.pad_einsum "C" [4, 1, 4]'
    assert lines[1] == '%ax0, %ax1 = te.loops "C.out" [2]'
    a, b = numbers(6, 11), numbers(11, 10)
    check(s, [A, B, C], a, b, expected=a @ b)
    other, *_, D, _ = product(8, 10, 12)
    assert other[D].pad_einsum([4, 5, 6]) == []
    with pytest.raises(LaminaError, match="3 loops, 2 numbers are given"):
        other[D].pad_einsum([4, 5])


# -- numbers that are drawn ----------------------------------------------------------------------------------------


def test_sampled_factors() -> None:
    s, A, B, C, k = product(6, 16, 12)
    factors = s[C].sample_perfect_tile(C.op.axis[1], 3, max_innermost_factor=4, decision=[2, 2, 4])
    steps = s.sample_categorical([0, 16, 64], [0.25, 0.25, 0.5], decision=1)
    jo, jm, ji = s[C].split(C.op.axis[1], factors=factors)
    s[C].reorder(jo, C.op.axis[0], k, jm, ji)
    s[C].pragma(jo, "auto_unroll_max_step", steps)
    s[C].annotate(ji, "drawn", factors[2])
    assert ops_of(s, [A, B, C]) == [
        '%i, %j, %k = te.loops "C" [3]',
        "%j_f0, %j_f1, %j_f2 = te.sample_perfect_tile %j [3] max_innermost 4 decision [2, 2, 4]",
        "%jo, %ja, %jb = te.split %j [%j_f0, %j_f1, %j_f2]",
        "te.reorder %jo, %i, %k, %ja, %jb",
        "%v = te.sample_categorical [0, 16, 64] probs [0.25, 0.25, 0.5] decision 1",
        'te.pragma %jo "auto_unroll_max_step" = %v',
        'te.annotate %jb "drawn" = %j_f2',
    ]
    a, b = numbers(6, 12), numbers(12, 16)
    check(s, [A, B, C], a, b, expected=a @ b)


def test_what_nobody_has_decided_is_drawn() -> None:
    s, A, B, C, k = product(6, 16, 12)
    outer, inner = s[C].split(C.op.axis[1], factors=s[C].sample_perfect_tile(C.op.axis[1], 2))
    s[C].split(k, factor=s.sample_categorical([2, 3], [0.5, 0.5]))
    text = str(lamina.lower(s, [A, B, C]))
    assert text == str(lamina.lower(s, [A, B, C]))
    a, b = numbers(6, 12), numbers(12, 16)
    check(s, [A, B, C], a, b, expected=a @ b)


def test_mistakes_in_sampling() -> None:
    s, A, B, C, k = product()
    with pytest.raises(LaminaError, match="which add up to 1"):
        s.sample_categorical([1, 2], [0.5, 0.25])
    with pytest.raises(LaminaError, match="is none of 2 positions"):
        s.sample_categorical([1, 2], [0.5, 0.5], decision=2)
    with pytest.raises(LaminaError, match="2 factors, the decision is"):
        s[C].sample_perfect_tile(k, 2, decision=[12])
    wrong = s[C].sample_perfect_tile(k, 2, decision=[5, 3])
    s[C].split(k, factors=wrong)
    with pytest.raises(LaminaError, match="the decision \\[5, 3\\] is not 2 factors of 12") as error:
        lamina.lower(s, [A, B, C])
    assert "test_te_primitives_api.py" in error.value.where
    s, A, B, C, D = chain()
    inner = s[B].sample_perfect_tile(B.op.axis[0], 2)
    s[D].split(D.op.axis[0], factors=inner)
    with pytest.raises(LaminaError, match="the factor of 'i' is used before that loop is made"):
        lamina.lower(s, [A, D])

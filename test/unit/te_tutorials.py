"""Programs after TVM's tutorials, with their schedules as lists of calls that can be made in other orders.

A tutorial is a function of `Calls`: it makes the program, then names each call of the schedule and what it gives.
`Calls.order` draws an order that TE permits: a call comes after those whose results it takes, a loop is taken apart
after all else that was said of it, and caches come before what is said of the stages that they change.
"""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lamina import te
from lamina.te.statements import create

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass
class Call:
    gives: list[str]
    run: Callable[[Results], Any]
    fixed: bool
    reads: set[str] = field(default_factory=set[str])
    ends: set[str] = field(default_factory=set[str])


class Results:
    """What the calls so far have given, by name; remembers what is asked for."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.asked: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        self.asked.add(name)
        return self.values[name]


class Calls:
    """The calls of one schedule, made when they have all been named."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __call__(self, gives: str, run: Callable[[Results], Any], fixed: bool = False) -> None:
        self.calls.append(Call(gives.split(), run, fixed))

    def make(self, s: Any, order: list[int] | None = None) -> None:
        """Make the calls in an order of their positions, by default as named; notes what each of them takes."""
        results = Results()
        for position in order or range(len(self.calls)):
            call = self.calls[position]
            before = {n for n, v in results.values.items() if _is_loop(s, v)}
            results.asked = set()
            made = call.run(results)
            values = list(made) if isinstance(made, (tuple, list)) else [made]
            results.values.update(zip(call.gives, values, strict=False))
            call.reads = set(results.asked)
            call.ends = before - {n for n, v in results.values.items() if _is_loop(s, v)}

    def order(self, r: random.Random) -> list[int]:
        """A random order that TE permits, from what `make` has noted."""
        after: list[set[int]] = []
        for n, call in enumerate(self.calls):
            needed = {m for m in range(n) if set(self.calls[m].gives) & call.reads}
            needed |= {m for m in range(n) if self.calls[m].reads & call.ends}
            needed |= {m for m in range(n) if self.calls[m].fixed or call.fixed}
            after.append(needed)
        found: list[int] = []
        while len(found) < len(self.calls):
            ready = [n for n in range(len(self.calls)) if n not in found and after[n] <= set(found)]
            found.append(r.choice(ready))
        return found


def _is_loop(s: Any, value: Any) -> bool:
    return isinstance(value, te.IterVar) and any(value in stage.leaf_iter_vars for stage in s.stages)


@dataclass
class Program:
    """A scheduled program; `expected` gives the outputs for inputs, on a GPU's `threads` or here."""

    schedule: Any
    args: list[Any]
    expected: Callable[..., Any]
    shapes: list[tuple[int, ...]]
    threads: bool = False


def vector_add(calls: Calls) -> Program:
    n = te.var("n")
    A, B = (te.placeholder((n,), name=name) for name in "AB")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    calls("outer inner", lambda e: s[C].split(C.op.axis[0], factor=16))
    calls("", lambda e: s[C].parallel(e.outer))
    calls("", lambda e: s[C].vectorize(e.inner))
    calls("", lambda e: s[C].pragma(e.outer, "auto_unroll_max_step", 4))
    return Program(s, [A, B, C], lambda a, b: a + b, [(1003,), (1003,)])


def gemm(calls: Calls) -> Program:
    M, N, K, bn = 64, 96, 32, 32
    A, B = te.placeholder((M, K), name="A"), te.placeholder((K, N), name="B")
    k = te.reduce_axis((0, K), "k")
    packed = te.compute((N // bn, K, bn), lambda x, y, z: B[y, x * bn + z], name="packedB")
    C = te.compute((M, N), lambda m, n: te.sum(A[m, k] * packed[n // bn, k, te.indexmod(n, bn)], axis=k), name="C")
    s = te.create_schedule(C.op)
    calls("CC", lambda e: s.cache_write(C, "global"), fixed=True)
    calls("mo no mi ni", lambda e: s[C].tile(C.op.axis[0], C.op.axis[1], bn, bn))
    calls("", lambda e: s[e.CC].compute_at(s[C], e.no))
    calls("mc nc", lambda e: s[e.CC].op.axis)
    calls("ko ki", lambda e: s[e.CC].split(s[e.CC].op.reduce_axis[0], factor=4))
    calls("", lambda e: s[e.CC].reorder(e.ko, e.mc, e.ki, e.nc))
    calls("", lambda e: s[e.CC].unroll(e.ki))
    calls("", lambda e: s[e.CC].vectorize(e.nc))
    calls("", lambda e: s[C].parallel(e.mo))
    calls("big _ little", lambda e: s[packed].op.axis)
    calls("", lambda e: s[packed].vectorize(e.little))
    calls("", lambda e: s[packed].parallel(e.big))
    return Program(s, [A, B, C], lambda a, b: a @ b, [(M, K), (K, N)])


def reduction(calls: Calls) -> Program:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), "k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    calls("ko ki", lambda e: s[B].split(B.op.reduce_axis[0], factor=16), fixed=True)
    calls("BF", lambda e: s.rfactor(B, e.ki), fixed=True)
    calls("xo xi", lambda e: s[B].split(s[B].op.axis[0], factor=8))
    calls("", lambda e: s[e.BF].compute_at(s[B], e.xo))
    calls("", lambda e: s[B].parallel(e.xo))
    calls("", lambda e: s[B].unroll(e.xi))
    return Program(s, [A, B], lambda a: a.sum(1), [(33, 70)])


def cumulative_sum(calls: Calls) -> Program:
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n))
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    scanned = te.scan(init, update, state, inputs=[X])
    s = te.create_schedule(scanned.op)
    calls("io ii", lambda e: s[init].split(init.op.axis[1], factor=4))
    calls("uo ui", lambda e: s[update].split(update.op.axis[1], factor=4))
    calls("", lambda e: s[update].unroll(e.ui))
    calls("", lambda e: s[init].vectorize(e.ii))
    return Program(s, [X, scanned], lambda x: np.cumsum(x, 0), [(7, 13)])


def scan_of_two_states(calls: Calls) -> Program:
    m, n, other = te.var("m"), te.var("n"), te.var("l")
    X = te.placeholder((m, n), name="X")
    first, second = te.placeholder((m, n)), te.placeholder((m, other))
    init1 = te.compute((1, n), lambda _, i: X[0, i], name="init1")
    init2 = te.compute((1, other), lambda _, i: 0.0, name="init2")
    update1 = te.compute((m, n), lambda t, i: first[t - 1, i] + X[t, i], name="update1")
    update2 = te.compute((m, other), lambda t, i: second[t - 1, i] + first[t - 1, 0], name="update2")
    outs = te.scan([init1, init2], [update1, update2], [first, second], inputs=[X])
    s = te.create_schedule(outs[0].op)
    calls("ao ai", lambda e: s[update1].split(update1.op.axis[1], factor=8))
    calls("bo bi", lambda e: s[update2].split(update2.op.axis[1], factor=2))
    calls("", lambda e: s[update1].unroll(e.ai))

    def expected(x: Array) -> Any:
        first = np.cumsum(x, 0)
        second = np.concatenate([np.zeros(1, np.float32), np.cumsum(first[:-1, 0])])
        return first, np.broadcast_to(second[:, None], (len(x), 3))

    return Program(s, [X, *outs], expected, [(5, 9)])


def extern_op(calls: Calls) -> Program:
    n, m = 6, 8
    A = te.placeholder((n, m), name="A")

    def reversed_rows(ins: Any, outs: Any) -> None:
        ib = create()
        x, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, n, "i") as i, ib.for_range(0, m, "j") as j:
            y[i, j] = x[i * m + (m - 1) - j]
        return ib.get()

    B = te.extern((n, m), [A], reversed_rows, name="B")
    C = te.compute((n, m), lambda i, j: B[i, j] + 1.0, name="C")
    s = te.create_schedule(C.op)
    calls("jo ji", lambda e: s[C].split(C.op.axis[1], nparts=2))
    calls("", lambda e: s[C].vectorize(e.ji))
    calls("", lambda e: s[C].parallel(C.op.axis[0]))
    return Program(s, [A, C], lambda a: a[:, ::-1] + 1, [(n, m)])


def intrinsics(calls: Calls) -> Program:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute(A.shape, lambda i: te.exp(A[i]), name="B")
    C = te.compute(A.shape, lambda i: te.call_pure_extern("float32", "__expf", B[i] * 0.25), name="C")
    s = te.create_schedule(C.op)
    calls("bx tx", lambda e: s[C].split(C.op.axis[0], factor=64))
    calls("", lambda e: s[C].bind(e.bx, te.thread_axis("blockIdx.x")))
    calls("", lambda e: s[C].bind(e.tx, te.thread_axis("threadIdx.x")))
    calls("", lambda e: s[B].compute_inline())
    return Program(s, [A, C], lambda a: np.exp(np.exp(a) * 0.25), [(150,)], threads=True)


def tuple_inputs(calls: Calls) -> Program:
    m, n = 6, 10
    idx = te.placeholder((m, n), name="idx", dtype="int32")
    val = te.placeholder((m, n), name="val")
    argmax = te.comm_reducer(
        lambda x, y: (te.select(x[1] >= y[1], x[0], y[0]), te.select(x[1] >= y[1], x[1], y[1])),
        lambda t0, t1: (te.const(-1, t0), te.min_value(t1)),
        name="argmax",
    )
    k = te.reduce_axis((0, n), "k")
    places, values = te.compute((m,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="T")
    s = te.create_schedule(places.op)
    calls("io ii", lambda e: s[places].split(places.op.axis[0], factor=2))
    calls("ko ki", lambda e: s[values].split(values.op.reduce_axis[0], factor=5))
    calls("", lambda e: s[places].reorder(e.io, e.ko, e.ii, e.ki))
    calls("", lambda e: s[places].unroll(e.ki))
    calls("", lambda e: s[values].parallel(e.io))
    return Program(s, [idx, val, places, values], lambda i, v: (v.argmax(1), v.max(1)), [(m, n), (m, n)])


def convolution(calls: Calls) -> Program:
    C, H, K, R = 3, 8, 5, 3
    data, kernel = te.placeholder((C, H, H), name="data"), te.placeholder((K, C, R, R), name="kernel")
    bias = te.placeholder((K,), name="bias")
    padded = te.compute(
        (C, H + 2, H + 2),
        lambda c, y, x: te.if_then_else(te.all(y >= 1, y <= H, x >= 1, x <= H), data[c, y - 1, x - 1], 0.0),
        name="padded",
    )
    c, r, q = te.reduce_axis((0, C), "c"), te.reduce_axis((0, R), "r"), te.reduce_axis((0, R), "q")
    conv = te.compute(
        (K, H, H), lambda o, y, x: te.sum(padded[c, y + r, x + q] * kernel[o, c, r, q], axis=[c, r, q]), name="conv"
    )
    biased = te.compute((K, H, H), lambda o, y, x: conv[o, y, x] + bias[o], name="biased")
    out = te.compute((K, H, H), lambda o, y, x: te.max(biased[o, y, x], 0.0), name="out")
    s = te.create_schedule(out.op)
    calls("", lambda e: s[biased].compute_inline())
    calls("yo xo yi xi", lambda e: s[out].tile(out.op.axis[1], out.op.axis[2], 4, 4))
    calls("f", lambda e: s[out].fuse(out.op.axis[0], e.yo))
    calls("", lambda e: s[out].parallel(e.f))
    calls("", lambda e: s[conv].compute_at(s[out], e.xo))
    calls("", lambda e: s[padded].compute_at(s[out], e.f))
    calls("", lambda e: s[conv].reorder(c, *conv.op.axis, r, q))
    calls("", lambda e: s[conv].unroll(q))

    def expected(x: Array, w: Array, b: Array) -> Array:
        wide = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        taps = np.lib.stride_tricks.sliding_window_view(wide, (R, R), (1, 2))
        return np.maximum(np.einsum("cyxrq,ocrq->oyx", taps, w) + b[:, None, None], 0)

    return Program(s, [data, kernel, bias, out], expected, [(C, H, H), (K, C, R, R), (K,)])


def schedule_primitives(calls: Calls) -> Program:
    m, n = 12, 20
    A, B = te.placeholder((m, n), name="A"), te.placeholder((m, n), name="B")
    P = te.compute((m, n), lambda i, j: A[i, j] * 2.0, name="P")
    Q = te.compute((m, n), lambda i, j: P[i, j] + B[i, j], name="Q")
    R = te.compute((m, n), lambda i, j: Q[i, j] * P[i, j], name="R")
    T = te.compute((m, n), lambda i, j: R[i, j] - 1.0, name="T")
    s = te.create_schedule(T.op)
    calls("to ti", lambda e: s[T].split(T.op.axis[0], factor=5))
    calls("jo ji", lambda e: s[T].split(T.op.axis[1], nparts=3))
    calls("", lambda e: s[T].reorder(e.jo, e.to, e.ji, e.ti))
    calls("tf", lambda e: s[T].fuse(e.jo, e.to))
    calls("", lambda e: s[R].compute_inline())
    calls("xo yo xi yi", lambda e: s[Q].tile(Q.op.axis[0], Q.op.axis[1], x_factor=4, y_factor=8))
    calls("", lambda e: s[Q].unroll(e.xi))
    calls("pf", lambda e: s[P].fuse(*P.op.axis))
    calls("po pi", lambda e: s[P].split(e.pf, 16))
    calls("", lambda e: s[P].vectorize(e.pi))
    calls("", lambda e: s[T].parallel(e.tf))
    return Program(s, [A, B, T], lambda a, b: (2 * a + b) * 2 * a - 1, [(m, n), (m, n)])


def tuned_matmul(calls: Calls) -> Program:
    N, L, M = 32, 24, 40
    A, B = te.placeholder((N, L), name="A"), te.placeholder((L, M), name="B")
    k = te.reduce_axis((0, L), name="k")
    C = te.compute((N, M), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    calls("yo yi", lambda e: s[C].split(s[C].op.axis[0], 8))
    calls("xo xi", lambda e: s[C].split(s[C].op.axis[1], 8))
    calls("", lambda e: s[C].reorder(e.yo, e.xo, s[C].op.reduce_axis[0], e.yi, e.xi))
    calls("", lambda e: s[C].vectorize(e.xi))
    return Program(s, [A, B, C], lambda a, b: a @ b, [(N, L), (L, M)])


def tensorized_gemv(calls: Calls) -> Program:
    N, M, L, factor = 8, 32, 16, 16
    A, B = te.placeholder((N, L), name="A"), te.placeholder((M, L), name="B")
    k = te.reduce_axis((0, L), name="k")
    C = te.compute((N, M), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    calls("x y", lambda e: C.op.axis)
    calls("yo yi", lambda e: s[C].split(C.op.axis[1], factor=factor))
    calls("", lambda e: s[C].reorder(C.op.axis[0], e.yo, e.yi, k))
    calls("", lambda e: s[C].tensorize(e.yi, gemv(factor, L)))
    calls("", lambda e: s[C].parallel(C.op.axis[0]))
    return Program(s, [A, B, C], lambda a, b: a @ b.T, [(N, L), (M, L)])


def gemv(m: int, l: int) -> Any:  # noqa: E741
    """A matrix of m rows times a vector, as an instruction."""
    a, b = te.placeholder((l,), name="a"), te.placeholder((m, l), name="b")
    k = te.reduce_axis((0, l), name="k")
    c = te.compute((m,), lambda i: te.sum(a[k] * b[i, k], axis=k), name="c")

    def statements(ins: Any, outs: Any) -> Any:
        def update() -> Any:
            ib = create()
            x, w, y = ib.buffer_ptr(ins[0]), ib.buffer_ptr(ins[1]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, "i") as i, ib.for_range(0, l, "k") as j:
                y[i] = y[i] + x[j] * w[i, j]
            return ib.get()

        def reset() -> Any:
            ib = create()
            y = ib.buffer_ptr(outs[0])
            with ib.for_range(0, m, "i") as i:
                y[i] = 0.0
            return ib.get()

        return None, reset(), update()

    return te.decl_tensor_intrin(c.op, statements, name="gemv")


def cuda_convolution(calls: Calls) -> Program:
    batch, in_channel, out_channel, size, taps = 32, 8, 32, 3, 3
    threads, vthreads, part = 4, 2, 4
    A = te.placeholder((size, size, in_channel, batch), name="A")
    W = te.placeholder((taps, taps, in_channel, out_channel), name="W")
    padded = te.compute(
        (size + 2, size + 2, in_channel, batch),
        lambda yy, xx, cc, nn: te.if_then_else(
            te.all(yy >= 1, yy - 1 < size, xx >= 1, xx - 1 < size), A[yy - 1, xx - 1, cc, nn], te.const(0.0, "float32")
        ),
        name="Apad",
    )
    rc, ry, rx = (te.reduce_axis((0, e), n) for e, n in ((in_channel, "rc"), (taps, "ry"), (taps, "rx")))
    B = te.compute(
        (size, size, out_channel, batch),
        lambda yy, xx, ff, nn: te.sum(padded[yy + ry, xx + rx, rc, nn] * W[ry, rx, rc, ff], axis=[ry, rx, rc]),
        name="B",
    )
    s = te.create_schedule(B.op)
    calls("AA", lambda e: s.cache_read(padded, "shared", [B]), fixed=True)
    calls("WW", lambda e: s.cache_read(W, "shared", [B]), fixed=True)
    calls("AL", lambda e: s.cache_read(e.AA, "local", [B]), fixed=True)
    calls("WL", lambda e: s.cache_read(e.WW, "local", [B]), fixed=True)
    calls("BL", lambda e: s.cache_write(B, "local"), fixed=True)
    calls("", lambda e: s[padded].compute_inline())
    calls("hi wi fi ni", lambda e: s[B].op.axis)
    calls("bz", lambda e: s[B].fuse(e.hi, e.wi))
    calls("by fi1", lambda e: s[B].split(e.fi, factor=16))
    calls("bx ni1", lambda e: s[B].split(e.ni, factor=16))
    calls("", lambda e: s[B].bind(e.bz, te.thread_axis("blockIdx.z")))
    calls("", lambda e: s[B].bind(e.by, te.thread_axis("blockIdx.y")))
    calls("", lambda e: s[B].bind(e.bx, te.thread_axis("blockIdx.x")))
    thread_x, thread_y = (te.thread_axis((0, threads), f"threadIdx.{axis}") for axis in "xy")
    calls("tyz fi2", lambda e: s[B].split(e.fi1, nparts=vthreads))
    calls("txz ni2", lambda e: s[B].split(e.ni1, nparts=vthreads))
    calls("ty fi3", lambda e: s[B].split(e.fi2, nparts=threads))
    calls("tx ni3", lambda e: s[B].split(e.ni2, nparts=threads))
    calls("", lambda e: s[B].reorder(e.bz, e.by, e.bx, e.tyz, e.txz, e.ty, e.tx, e.fi3, e.ni3))
    calls("", lambda e: s[B].bind(e.tyz, te.thread_axis((0, vthreads), "vthread", name="vy")))
    calls("", lambda e: s[B].bind(e.txz, te.thread_axis((0, vthreads), "vthread", name="vx")))
    calls("", lambda e: s[B].bind(e.ty, thread_y))
    calls("", lambda e: s[B].bind(e.tx, thread_x))
    calls("", lambda e: s[e.BL].compute_at(s[B], e.tx))
    calls("yl xl fl nl", lambda e: s[e.BL].op.axis)
    calls("ryl rxl rcl", lambda e: s[e.BL].op.reduce_axis)
    calls("rco rci", lambda e: s[e.BL].split(e.rcl, factor=part))
    calls("", lambda e: s[e.BL].reorder(e.rco, e.ryl, e.rxl, e.rci, e.fl, e.nl))
    calls("", lambda e: s[e.AA].compute_at(s[e.BL], e.rxl))
    calls("", lambda e: s[e.WW].compute_at(s[e.BL], e.rxl))
    calls("", lambda e: s[e.AL].compute_at(s[e.BL], e.rci))
    calls("", lambda e: s[e.WL].compute_at(s[e.BL], e.rci))
    for copy in ("AA", "WW"):  # fetched by all threads of the block together
        y, x, c, n = (f"{copy}_{name}" for name in ("y", "x", "c", "n"))
        calls(f"{y} {x} {c} {n}", lambda e, copy=copy: s[getattr(e, copy)].op.axis)
        calls(
            f"{copy}_ty {copy}_ci", lambda e, copy=copy, c=c: s[getattr(e, copy)].split(getattr(e, c), nparts=threads)
        )
        calls(
            f"{copy}_tx {copy}_ni", lambda e, copy=copy, n=n: s[getattr(e, copy)].split(getattr(e, n), nparts=threads)
        )
        calls(f"{copy}_no {copy}_v", lambda e, copy=copy: s[getattr(e, copy)].split(getattr(e, f"{copy}_ni"), factor=4))
        order = [f"{copy}_ty", f"{copy}_tx", y, x, f"{copy}_ci", f"{copy}_no", f"{copy}_v"]
        calls("", lambda e, copy=copy, order=order: s[getattr(e, copy)].reorder(*(getattr(e, name) for name in order)))
        calls("", lambda e, copy=copy: s[getattr(e, copy)].bind(getattr(e, f"{copy}_ty"), thread_y))
        calls("", lambda e, copy=copy: s[getattr(e, copy)].bind(getattr(e, f"{copy}_tx"), thread_x))
        calls("", lambda e, copy=copy: s[getattr(e, copy)].vectorize(getattr(e, f"{copy}_v")))

    def expected(a: Array, w: Array) -> Array:
        wide = np.pad(a, ((1, 1), (1, 1), (0, 0), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, (taps, taps), (0, 1))
        return np.einsum("yxcnrq,rqcf->yxfn", windows, w)

    return Program(s, [A, W, B], expected, [tuple(map(int, A.shape)), tuple(map(int, W.shape))], threads=True)


TUTORIALS = [
    vector_add, gemm, reduction, cumulative_sum, scan_of_two_states, extern_op, intrinsics, tuple_inputs, convolution,
    schedule_primitives, tuned_matmul, tensorized_gemv, cuda_convolution,
]  # fmt: skip

"""A matrix product, C = A B, by eight schedules: from three plain loops to a register tile at the speed of NumPy.

    python examples/te_gemm.py [--size 1024] [--repeats 9] [--threads 1] [--text "write cache"]

Each step is a program and a schedule of its own in the spelling of TVM's tutorial on this product; what a step adds to
the one before it stands above it. All are checked against NumPy and then measured in one run, by turns: every round
times each step, NumPy's product (OpenBLAS on as many threads) and the peak of multiply-adds, so that ratios compare
what ran side by side. With one thread, times are the thread's own: what other processes take is not counted.
"""
# Tensor expressions are lambdas over loops, whose parameters no checker can tell.
# pyright: standard

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

ROOT = Path(__file__).resolve().parents[1]

BLOCK = 32
"""Rows and columns of a block of C that stays in the first cache, up to the write cache."""
LANES = 16
"""Floats of a vector."""
ROWS, COLUMNS = 8, 2 * LANES
"""The register tile: 16 accumulators, which hide the latency of multiply-adds; it divides powers of two."""
STEPS_INSIDE = 8
"""Steps of the reduction in one body; with 16, LLVM loads elements of A ahead and loses a tenth of the speed."""
DEPTH = 1024
"""Up to this depth the whole reduction stays in registers. A deeper one is cut: each band of rows walks through all
panels of B, and these should not leave the last cache meanwhile."""
CUT = 512
MICRO = (ROWS, COLUMNS, 128)
"""The micro-kernel alone: both operands, 20 KB, lie in the first cache."""


class Program(NamedTuple):
    """A schedule and the arguments of its kernel: A, B, C."""

    schedule: Any
    args: list[Any]


# -- the steps -------------------------------------------------------------------------------------------------------


def naive(m: int, n: int, k: int) -> Program:
    """Three loops; each element of C is read and written in memory k times, and B is walked down its columns."""
    from lamina import te

    A, B, C = _product(m, n, k)
    return Program(te.create_schedule(C.op), [A, B, C])


def blocking(m: int, n: int, k: int) -> Program:
    """Blocks of C of 32 x 32, computed by four steps of the reduction at a time: their data stay in the cache."""
    from lamina import te

    A, B, C = _product(m, n, k)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    return Program(s, [A, B, C])


def vectorize(m: int, n: int, k: int) -> Program:
    """The innermost loop runs along rows of B and C, which lie in order: it becomes vectors."""
    from lamina import te

    A, B, C = _product(m, n, k)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(mo, no, ko, ki, mi, ni)
    s[C].vectorize(ni)
    s[C].pragma(no, "loop_partition_hint")
    return Program(s, [A, B, C])


def loop_permutation(m: int, n: int, k: int) -> Program:
    """Rows outside of the four steps: A is read along its rows, and a row of C is used four times in turn."""
    from lamina import te

    A, B, C = _product(m, n, k)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    s[C].pragma(no, "loop_partition_hint")
    return Program(s, [A, B, C])


def packing(m: int, n: int, k: int) -> Program:
    """B in panels of 32 columns, row by row, as the blocks read it: one stream instead of a jump for each row."""
    from lamina import te

    A, B, packed, C = _packed_product(m, n, k)
    s = te.create_schedule(C.op)
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=4)
    s[C].reorder(mo, no, ko, mi, ki, ni)
    s[C].vectorize(ni)
    s[C].pragma(no, "loop_partition_hint")
    s[packed].vectorize(packed.op.axis[-1])
    return Program(s, [A, B, C])


def write_cache(m: int, n: int, k: int) -> Program:
    """A block of C is added up in a buffer of its own and written to C once; the four steps are written out."""
    from lamina import te

    A, B, packed, C = _packed_product(m, n, k)
    s = te.create_schedule(C.op)
    cache = s.cache_write(C, "global")
    mo, no, mi, ni = s[C].tile(C.op.axis[0], C.op.axis[1], BLOCK, BLOCK)
    s[C].vectorize(ni)
    s[C].pragma(no, "loop_partition_hint")
    s[cache].compute_at(s[C], no)
    ci, cj = s[cache].op.axis
    ko, ki = s[cache].split(s[cache].op.reduce_axis[0], factor=4)
    s[cache].reorder(ko, ci, ki, cj)
    s[cache].unroll(ki)
    s[cache].vectorize(cj)
    s[packed].vectorize(packed.op.axis[-1])
    return Program(s, [A, B, C])


def parallel(m: int, n: int, k: int) -> Program:
    """Rows of blocks, and panels of B, on the threads of the pool."""
    program = write_cache(m, n, k)
    s = program.schedule
    C = s.outputs[0].output(0)
    s[C].parallel(s[C].leaf_iter_vars[0])
    packed = next(stage for stage in s.stages if stage.name == "packedB")
    packed.parallel(packed.leaf_iter_vars[0])
    return program


def register_tile(m: int, n: int, k: int, depth: int = DEPTH, cut: int = CUT) -> Program:
    """Eight rows by two vectors of C stay in registers over the reduction: sixteen multiply-adds for ten loads.

    The rows of A are packed, too, eight at a time and at a distance that is no multiple of 4 KB: rows of a power of two
    compete for the same few places of the cache. Packing fills both operands up with zeros to whole tiles, so that the
    micro-kernel has no tails; only the copy to C asks where C ends. A reduction deeper than `depth` is cut into pieces
    of about `cut`, each of which adds to C.
    """
    from lamina import te

    pieces = 1 if k <= depth else _parts(k, cut)
    inner = _parts(_parts(k, pieces), STEPS_INSIDE) * STEPS_INSIDE
    bands, panels = _parts(m, ROWS), _parts(n, COLUMNS)
    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    packedA = te.compute(
        (pieces, bands, ROWS, inner),
        lambda p, x, r, y: te.if_then_else(
            te.all(x * ROWS + r < m, p * inner + y < k), A[x * ROWS + r, p * inner + y], 0.0
        ),
        name="packedA",
    )
    packedB = te.compute(
        (pieces, panels, inner, COLUMNS),
        lambda p, x, y, c: te.if_then_else(
            te.all(p * inner + y < k, x * COLUMNS + c < n), B[p * inner + y, x * COLUMNS + c], 0.0
        ),
        name="packedB",
    )
    q, p = te.reduce_axis((0, inner), "k"), te.reduce_axis((0, pieces), "p")
    tile = te.compute(
        (pieces, bands * ROWS, panels * COLUMNS),
        lambda p, i, j: te.sum(packedA[p, i // ROWS, i % ROWS, q] * packedB[p, j // COLUMNS, q, j % COLUMNS], axis=q),
        name="tile",
    )
    whole = (lambda i, j: te.sum(tile[p, i, j], axis=p)) if pieces > 1 else lambda i, j: tile[0, i, j]
    C = te.compute((m, n), whole, name="C")

    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(C.op.axis[0], C.op.axis[1], ROWS, COLUMNS)
    s[C].reorder(*C.op.reduce_axis, io, jo, ii, ji)
    jv, lanes = s[C].split(ji, factor=LANES)
    s[C].unroll(ii)
    s[C].unroll(jv)
    s[C].vectorize(lanes)
    s[C].parallel(io)
    s[tile].compute_at(s[C], jo)
    _micro_kernel(s, tile, packedB)
    # Eight rows of A for one row of tiles; a copy of the rows, each behind the one before it.
    s[packedA].compute_at(s[C], io)
    s[packedA].storage_align(packedA.op.axis[2], 64, 16)
    _, lanes = s[packedA].split(packedA.op.axis[3], factor=LANES)
    s[packedA].vectorize(lanes)
    # All of B at first; a few rows at a time into all panels, so that both sides are walked along lines of memory.
    piece, panel, y, c = packedB.op.axis
    yo, yi = s[packedB].split(y, factor=STEPS_INSIDE)
    co, lanes = s[packedB].split(c, factor=LANES)
    s[packedB].reorder(piece, yo, panel, yi, co, lanes)
    s[packedB].unroll(yi)
    s[packedB].unroll(co)
    s[packedB].vectorize(lanes)
    s[packedB].parallel(yo)
    return Program(s, [A, B, C])


def micro_kernel(repeats: int) -> Program:
    """The register tile alone, on operands in the first cache, as often as asked."""
    from lamina import te

    m, n, k = MICRO
    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    again, q = te.reduce_axis((0, repeats), "again"), te.reduce_axis((0, k), "k")
    tile = te.compute((m, n), lambda i, j: te.sum(A[i, q] * B[q, j], axis=[again, q]), name="tile")
    C = te.compute((m, n), lambda i, j: tile[i, j], name="C")
    s = te.create_schedule(C.op)
    io, ii = s[C].split(C.op.axis[0], factor=ROWS)
    jo, lanes = s[C].split(C.op.axis[1], factor=LANES)
    s[C].unroll(ii)
    s[C].unroll(jo)
    s[C].vectorize(lanes)
    s[tile].compute_at(s[C], io)
    _micro_kernel(s, tile, B)
    return Program(s, [A, B, C])


def _micro_kernel(s: Any, tile: Any, panel: Any) -> None:
    """The tile in registers: of each step the vectors of B first, then one element of A after the other."""
    *_, i, j = tile.op.axis
    *outer, q = tile.op.reduce_axis
    qo, qi = s[tile].split(q, factor=STEPS_INSIDE)
    jv, lanes = s[tile].split(j, factor=LANES)
    s[tile].set_scope("register")
    s[tile].reorder(*outer, qo, qi, i, jv, lanes)
    s[tile].unroll(qi)
    s[tile].unroll(i)
    s[tile].unroll(jv)
    s[tile].vectorize(lanes)
    vectors = s.cache_read(panel, "register", [tile])
    s[vectors].compute_at(s[tile], qi)
    cv, lanes = s[vectors].split(s[vectors].op.axis[-1], factor=LANES)
    s[vectors].unroll(cv)
    s[vectors].vectorize(lanes)


STEPS: dict[str, Callable[[int, int, int], Program]] = {
    "naive": naive,
    "blocking": blocking,
    "vectorize": vectorize,
    "loop permutation": loop_permutation,
    "packing": packing,
    "write cache": write_cache,
    "parallel": parallel,
    "register tile": register_tile,
}


def _product(m: int, n: int, k: int) -> tuple[Any, Any, Any]:
    from lamina import te

    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    q = te.reduce_axis((0, k), "k")
    return A, B, te.compute((m, n), lambda i, j: te.sum(A[i, q] * B[q, j], axis=q), name="C")


def _packed_product(m: int, n: int, k: int) -> tuple[Any, Any, Any, Any]:
    from lamina import te

    A, B = te.placeholder((m, k), name="A"), te.placeholder((k, n), name="B")
    packed = te.compute(
        (_parts(n, BLOCK), k, BLOCK),
        lambda x, y, z: te.if_then_else(x * BLOCK + z < n, B[y, x * BLOCK + z], 0.0),
        name="packedB",
    )
    q = te.reduce_axis((0, k), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, q] * packed[j // BLOCK, q, j % BLOCK], axis=q), name="C")
    return A, B, packed, C


def _parts(extent: int, size: int) -> int:
    return -(-extent // size)


# -- measuring -------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line of the table: what runs, its operations, and its seconds in each round that it took part in."""

    name: str
    run: Callable[[], Any]
    operations: int
    seconds: list[float | None]


SLOW = 3.0
"""Seconds that a step may take of the whole run, beyond its first round; the naive loops take their time."""
WARM = 0.05
"""A shorter run follows one of the same kind that does not count: all find the caches as they leave them."""


def build(program: Program, threads: int) -> Callable[..., None]:
    """The kernel of a step, to be called on A, B and C."""
    import lamina

    return lamina.build(program.schedule, program.args, target=f"llvm -num-cores={threads}", name="gemm")


def measure(rows: list[Row], peak: Callable[[], float], repeats: int, clock: Callable[[], float]) -> list[float]:
    """Run all by turns, `repeats` rounds; slow ones take part in fewer. Returns the peak of each round."""
    peaks: list[float] = []
    for turn in range(repeats):
        for row in rows:
            spent = sum(filter(None, row.seconds))
            if spent > SLOW:
                row.seconds.append(None)
                continue
            if turn and spent < WARM * turn:
                row.run()
            start = clock()
            row.run()
            row.seconds.append(clock() - start)
        peaks.append(peak())
    return peaks


def table(rows: list[Row], peaks: list[float], reference: Row) -> str:
    """Medians over the rounds, each ratio taken within a round, with its spread (10th and 90th percentile)."""
    from lamina.measure.timing import columns

    lines: list[tuple[str, ...]] = [("ms", "GFLOP/s", "of peak", "of NumPy", "spread", "step")]
    for row in rows:
        taken = [(t, p, r) for t, p, r in zip(row.seconds, peaks, reference.seconds, strict=True) if t and r]
        seconds = median(t for t, _, _ in taken)
        of_peak = median(row.operations / t / p for t, p, _ in taken)
        ratios = [row.operations / t / (reference.operations / r) for t, _, r in taken]
        low, *_, high = quantiles(ratios, n=10, method="inclusive") if len(ratios) > 1 else ratios * 2
        figures = f"{seconds * 1e3:.2f}", f"{row.operations / seconds / 1e9:.1f}", f"{of_peak:.1%}"
        lines.append((*figures, f"{median(ratios):.3f}", f"{low:.3f} .. {high:.3f}", row.name))
    return columns(lines)


def _drawn(seed: int, rows: int, columns: int) -> Array:
    import numpy as np

    from lamina.dialects.aligned_arrays import aligned_bytes

    found = aligned_bytes(4 * rows * columns).view(np.float32).reshape(rows, columns)
    np.random.default_rng(seed).standard_normal(dtype=np.float32, out=found)
    return found


def _script(folder: str, name: str) -> Any:
    """A script of the checkout as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(size: int, repeats: int, threads: int) -> int:
    import numpy as np

    from lamina.backends.cpu.jit import host_target
    from lamina.measure.timing import largest_difference

    peak = _script("bench", "peak")
    # Arrays start at lines of the cache: where each vector crosses two, the middle steps take up to four times as long.
    a, b, c, theirs = (_drawn(seed, size, size) for seed in range(4))
    expected, worst = np.matmul(a.astype(np.float64), b.astype(np.float64)), 0.0
    operations = 2 * size**3
    rows: list[Row] = []
    for name, step in STEPS.items():
        kernel = build(step(size, size, size), threads)
        c.fill(np.nan)
        kernel(a, b, c)
        worst = max(worst, largest_difference(c, expected))
        rows.append(Row(name, lambda kernel=kernel: kernel(a, b, c), operations, []))
    reference = Row("NumPy", lambda: np.matmul(a, b, out=theirs), operations, [])
    reference.run()
    error = largest_difference(theirs, expected)
    print(f"{size} x {size} x {size}, {threads} thread{'s' if threads > 1 else ''}, {repeats} rounds by turns")
    print(f"largest difference from float64, of the largest value: {worst:.1e} in all steps, NumPy {error:.1e}\n")

    rows.append(reference)
    if threads == 1:
        m, n, k = MICRO
        alone = max(2_000_000_000 // (2 * m * n * k), 1)
        micro, x, y, z = build(micro_kernel(alone), 1), _drawn(0, m, k), _drawn(1, k, n), _drawn(2, m, n)
        rows.append(Row(f"the tile alone, {m}x{n}x{k}", lambda: micro(x, y, z), 2 * m * n * k * alone, []))
    fma = peak.best_fma(host_target(1))
    clock = thread_time if threads == 1 else perf_counter
    peaks = measure(rows, lambda: peak.peak_rate(fma) * threads, repeats, clock)
    print(table(rows, peaks, reference))
    print(f"\npeak: {median(peaks) / 1e9:.1f} GFLOP/s of multiply-adds ({fma.intrinsic})")
    if worst > 10 * max(error, 1e-6):
        print("error: the results differ from NumPy's")
        return 1
    return 0


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--size", type=int, default=1024, help="rows and columns of all matrices (default: 1024)")
    options.add_argument("--repeats", type=int, default=9, help="rounds (default: 9)")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--text", choices=STEPS, help="print the loops of a step instead, as its schedule leaves them")
    given = options.parse_args()
    if min(given.size, given.threads) < 1 or given.repeats < 2:
        options.error("--size and --threads are at least 1, --repeats at least 2")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if given.threads > processors:
        options.error(f"--threads is at most {processors}, the processors of this machine")
    if given.text:
        import lamina

        program = STEPS[given.text](given.size, given.size, given.size)
        print(lamina.lower(program.schedule, program.args))
        return 0
    variable = "OPENBLAS_NUM_THREADS"
    if os.environ.get(variable) != str(given.threads):
        # OpenBLAS asks for it while NumPy is loaded, and never again.
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, variable: str(given.threads)})
    return run(given.size, given.repeats, given.threads)


if __name__ == "__main__":
    sys.exit(main())

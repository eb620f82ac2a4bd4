"""Matrix products: square ones against NumPy's OpenBLAS, constant second factors against onnxruntime.

    python bench/gemm.py [--repeats 30] [--json FILE]

One thread. All sides run by turns in this process, and the time is the thread's own, so that what other processes take
is not counted. Rates are of the medians; the ratio is theirs over ours: above 1, ours is faster. The square products
are called as kernels (`lamina.build`), both factors computed, NumPy's into an array that is there; products with
constant factors are models of one node on both sides, with the cost of the call.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

SQUARES = (256, 384, 512, 640, 768, 1024)
CONSTANT = ((128, 768, 768), (128, 768, 3072), (128, 3072, 768), (197, 768, 768), (197, 768, 3072), (1, 768, 768))
TOLERANCE = 1e-5
"""Of the largest value."""

Array = np.ndarray[Any, np.dtype[Any]]
Run = Callable[[], Any]


def square(n: int) -> tuple[Run, Run, float]:
    """Our kernel and NumPy's for n x n products, and how far ours is off."""
    import lamina
    from lamina import te
    from lamina.backends.cpu.passes.schedule import CpuSchedulePass
    from lamina.dialects.target import TARGET
    from lamina.ir.context import LaminaContext
    from lamina.tensor.program import te_module
    from lamina.tensor.target import target_of

    a, b = (te.placeholder((n, n), name=name) for name in "AB")
    k = te.reduce_axis((0, n), name="k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(a[i, k] * b[k, j], axis=k)

    c = te.compute((n, n), element, name="C", tag="nn.matmul")
    module, _ = te_module(te.create_schedule(c.op), [a, b, c], "gemm")
    target = target_of("llvm -num-cores=1")
    assert target.attr is not None
    module.attributes[TARGET] = target.attr
    CpuSchedulePass().apply(LaminaContext(), module)
    kernel = lamina.build(module, target=target)
    random = np.random.default_rng(n)
    x, y = (random.standard_normal((n, n)).astype(np.float32) for _ in "xy")
    ours, theirs = np.empty((n, n), np.float32), np.empty((n, n), np.float32)
    kernel(x, y, ours)
    np.matmul(x, y, out=theirs)
    return lambda: kernel(x, y, ours), lambda: np.matmul(x, y, out=theirs), _difference(ours, theirs)


def constant(m: int, k: int, n: int) -> tuple[Run, Run, float]:
    """Our program and onnxruntime's for [m, k] times a constant [k, n], and how far ours is off."""
    from onnx import TensorProto, helper, numpy_helper

    import lamina
    from lamina.measure.timing import onnxruntime_session

    random = np.random.default_rng(m + n)
    w = random.standard_normal((k, n)).astype(np.float32)
    x = random.standard_normal((m, k)).astype(np.float32)
    ports = [helper.make_tensor_value_info(p, TensorProto.FLOAT, s) for p, s in (("x", (m, k)), ("y", (m, n)))]
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "product", ports[:1], ports[1:], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    executable = lamina.compile(model, threads=1)
    session = onnxruntime_session(model.SerializeToString(), 1)
    feed = {"x": x}
    difference = _difference(executable.run(feed)["y"], session.run(None, feed)[0])
    return lambda: executable.run(feed), lambda: session.run(None, feed), difference


def _difference(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def by_turns(runs: Sequence[Run], repeats: int) -> list[float]:
    """Nanoseconds of the thread, the median of each."""
    times: list[list[int]] = [[] for _ in runs]
    for turn in range(repeats + 2):
        for run, found in zip(runs, times, strict=True):
            start = thread_time_ns()
            run()
            took = thread_time_ns() - start
            if turn >= 2:
                found.append(took)
    return [float(median(t)) for t in times]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'product':<24}{'lamina':>10}{'theirs':>10}  Gflop/s{'ratio':>8}{'difference':>12}")
    cases = [(n, n, n, "numpy") for n in SQUARES] + [(*shape, "onnxruntime") for shape in CONSTANT]
    for m, k, n, peer in cases:
        ours, theirs, difference = square(n) if peer == "numpy" else constant(m, k, n)
        mine, other = by_turns((ours, theirs), args.repeats)
        operations = 2.0 * m * k * n
        row = {"shape": [m, k, n], "peer": peer, "gflops": operations / mine, "peer_gflops": operations / other}
        rows.append(row | {"ratio": other / mine, "difference": difference})
        print(
            f"{f'{m} x {k} x {n}':<24}{operations / mine:>10.1f}{operations / other:>10.1f}  {peer:<12}"
            f"{other / mine:>4.2f}{difference:>12.0e}",
            flush=True,
        )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0 if all(row["difference"] <= TOLERANCE for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

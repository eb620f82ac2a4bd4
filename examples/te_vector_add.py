"""The sum of two vectors of any length, as in TVM's first tutorial: run here, and printed for a GPU.

python examples/te_vector_add.py            # builds for this machine, checks and times it
python examples/te_vector_add.py cuda       # CUDA C; also nvptx
python examples/te_vector_add.py opencl     # OpenCL C, and the same run where a driver is installed
"""

# The functions of programs are lambdas, as TVM's users write them.
# pyright: standard
from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from lamina.compat import tvm
from lamina.compat.tvm import te

GPUS = ("cuda", "nvptx", "opencl")
SIZES = (0, 1, 63, 64, 65, 10**6 + 1)


def vector_add(tgt: str) -> tuple[Any, list[Any]]:
    """The program and its schedule: parts of 64 elements, for the threads of blocks or as vectors in parallel."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.placeholder((n,), name="B")
    C = te.compute(A.shape, lambda i: A[i] + B[i], name="C")
    s = te.create_schedule(C.op)
    bx, tx = s[C].split(C.op.axis[0], factor=64)
    if tgt in GPUS:
        s[C].bind(bx, te.thread_axis("blockIdx.x"))
        s[C].bind(tx, te.thread_axis("threadIdx.x"))
    else:
        s[C].parallel(bx)
        s[C].vectorize(tx)
    return s, [A, B, C]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", nargs="?", default="llvm", choices=("llvm", *GPUS))
    tgt = parser.parse_args(arguments).target
    s, args = vector_add(tgt)
    print(tvm.lower(s, args, simple_mode=True))
    fadd = tvm.build(s, args, tgt, target_host="llvm", name="myadd")
    if fadd.imported_modules:
        print(fadd.imported_modules[0].get_source())
    dev = tvm.device(tgt if tgt != "nvptx" else "cuda", 0)
    if not dev.exist:
        return 0
    for size in SIZES:
        a, b = np.random.default_rng(size).random((2, size), np.float32)
        c = tvm.nd.array(np.zeros(size, np.float32), dev)
        fadd(tvm.nd.array(a, dev), tvm.nd.array(b, dev), c)
        np.testing.assert_array_equal(c.numpy(), a + b)
        seconds = fadd.time_evaluator(fadd.entry_name, dev, number=3)(a, b, c).mean
        print(f"n = {size:>9,}: right, {seconds * 1e6:8.1f} us a call")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""NumPy programs compiled by `lamina.jit`, by turns with NumPy on the same arrays.

    python bench/numpy_programs.py [PART OF A NAME...] [--rounds 15] [--threads 1]

Times are medians of the wall clock of one call; the first call, which compiles, is told beside them. NumPy's products
run in its BLAS with as many threads (OPENBLAS_NUM_THREADS is set before it is loaded).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from math import exp, log
from statistics import median
from time import perf_counter
from typing import Any

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = THREADS

import numpy as np  # noqa: E402

import lamina  # noqa: E402

R = np.random.default_rng(0)


def floats(*shape: int) -> Any:
    """Random numbers of single precision."""
    return R.standard_normal(shape).astype(np.float32)


def attention(q: Any, k: Any, v: Any) -> Any:
    """Softmax attention."""
    s = np.einsum("bid,bjd->bij", q, k) / np.float32(np.sqrt(q.shape[-1]))
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def layer_norm(x: Any, g: Any, b: Any) -> Any:
    """Normalisation of rows."""
    off = x - x.mean(-1, keepdims=True)
    return off / np.sqrt((off * off).mean(-1, keepdims=True) + np.float32(1e-5)) * g + b


def black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    """Prices of calls, the normal distribution by tanh."""
    root = np.sqrt(years) * 0.2
    d = (np.log(spot / strike) + (0.01 + 0.02) * years) / root

    def normal(t: Any) -> Any:
        return 0.5 * (1 + np.tanh(0.7978845608 * (t + 0.044715 * t**3)))

    return spot * normal(d) - strike * np.exp(-0.01 * years) * normal(d - root)


def k_means(x: Any, centres: Any) -> Any:
    """The nearest centre of each point."""
    d = (x * x).sum(1)[:, None] - 2 * (x @ centres.T) + (centres * centres).sum(1)
    return d.argmin(1)


def n_body(x: Any, m: Any) -> Any:
    """Accelerations of bodies."""
    d = x[None, :, :] - x[:, None, :]
    r2 = (d * d).sum(-1) + np.float32(0.01)
    return np.einsum("ijk,ij->ik", d, m[None, :] / (r2 * np.sqrt(r2)))


def heat(u: Any) -> Any:
    """Ten steps of the heat equation, in place."""
    u = u.copy()
    for _ in range(10):
        u[1:-1, 1:-1] += np.float32(0.1) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return u


def mlp_step(w: Any, v: Any, x: Any, y: Any) -> Any:
    """A training step written by hand."""
    h = np.tanh(x @ w)
    e = h @ v - y
    dv = h.T @ e
    dw = x.T @ ((e @ v.T) * (1 - h * h))
    return w - np.float32(1e-3) * dw, v - np.float32(1e-3) * dv


def smoothed(x: Any, h: Any) -> Any:
    """Rows filtered by their spectra."""
    return np.fft.irfft(np.fft.rfft(x) * h)


def doubled(x: Any, y: Any) -> Any:
    """Little work: what a call costs."""
    return x * 2 + y


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "attention 12x256x64": (attention, tuple(floats(12, 256, 64) for _ in range(3))),
    "layer_norm 1024x768": (layer_norm, (floats(1024, 768), floats(768), floats(768))),
    "black_scholes 1000000": (black_scholes, tuple(np.abs(floats(1_000_000)) + np.float32(0.5) for _ in range(3))),
    "k_means 20000x32, 64 centres": (k_means, (floats(20000, 32), floats(64, 32))),
    "n_body 512": (n_body, (floats(512, 3), np.abs(floats(512)))),
    "heat 512x512": (heat, (floats(512, 512),)),
    "mlp_step 256, 512, 128": (mlp_step, (floats(512, 256), floats(256, 128), floats(256, 512), floats(256, 128))),
    "smoothed 256x1024": (smoothed, (floats(256, 1024), floats(513))),
    "a sum of 4x4": (doubled, (floats(4, 4), floats(4, 4))),
}


def once(f: Callable[..., Any], arguments: tuple[Any, ...], calls: int) -> float:
    """Seconds of a call, of so many."""
    start = perf_counter()
    for _ in range(calls):
        f(*arguments)
    return (perf_counter() - start) / calls


def main() -> int:
    """Run the programs and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="PART OF A NAME")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    ratios: list[float] = []
    for name, (f, arguments) in PROGRAMS.items():
        if args.names and not any(n in name for n in args.names):
            continue
        ours = lamina.jit(f, threads=args.threads, cache=False)
        start = perf_counter()
        got = ours(*arguments)
        first = perf_counter() - start
        expected = f(*arguments)
        results: list[Any] = list(expected) if isinstance(expected, tuple) else [expected]  # pyright: ignore[reportUnknownArgumentType]
        found: list[Any] = list(got) if isinstance(got, tuple) else [got]  # pyright: ignore[reportUnknownArgumentType]
        off = max(
            float(np.max(np.abs(g - e)) / max(np.max(np.abs(e)), 1e-30)) for g, e in zip(found, results, strict=True)
        )
        calls = max(1, int(0.02 / once(f, arguments, 1)))
        times = [(once(f, arguments, calls), once(ours, arguments, calls)) for _ in range(args.rounds)]
        theirs, own = (median(t) for t in zip(*times, strict=True))
        ratios.append(theirs / own)
        print(
            f"{name:30} NumPy {theirs * 1e6:10.1f} us  Lamina {own * 1e6:10.1f} us  {theirs / own:6.2f}"
            f"  first call {first:5.2f} s  off {off:.1e}",
            flush=True,
        )
    if ratios:
        print(
            f"geometric mean of {len(ratios)}: {exp(sum(map(log, ratios)) / len(ratios)):.2f}, least {min(ratios):.2f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Errors and speed of what `tir-expand-math` makes, and the coefficients it uses.

    python bench/math_ulp.py                      random arguments and all special ranges, in seconds
    python bench/math_ulp.py --exhaustive exp     all 2^32 arguments, a minute or two a function
    python bench/math_ulp.py --plain              without the instructions that only this machine has
    python bench/math_ulp.py --fit                the coefficients of passes/tir/arithmetic/polynomials.py, computed
    anew

An error is the distance to the float64 reference in units in the last place of float32 at the reference (2^-149 for
denormals). A float32 that has overflowed counts as 2^128.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal, getcontext
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.parser import Parser

from lamina.backends.cpu.jit import compile_object, host_target
from lamina.backends.cpu.link import load_objects
from lamina.backends.llvm.emit import emit_module
from lamina.dialects.target import TARGET
from lamina.ir.context import LaminaContext
from lamina.ir.pipeline import parse_pipeline

Array = np.ndarray[Any, np.dtype[Any]]

CHUNK = 1 << 16
LANES = 16
FUNCTIONS = ("exp", "exp2", "log", "log1p", "log2", "tanh", "erf", "sigmoid")


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x) in float64, exact also where e^-x is large."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + e), e / (1 + e))


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp, "exp2": np.exp2, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "tanh": np.tanh, "sigmoid": sigmoid,
}  # fmt: skip
PIPELINE = "tir-expand-math,tir-fuse-multiply-add,tir-to-llvm"


def kernel_text(function: str, count: int, dtype: str = "f32", lanes: int = LANES) -> str:
    """A kernel that applies a function to `count` elements, `lanes` at a time."""
    value = f"vector<{lanes}x{dtype}>" if lanes > 1 else dtype
    access, suffix = (f"%i * {lanes} + lane", f", {value}") if lanes > 1 else ("%i", "")
    buffer = f"memref<{count}x{dtype}>"
    one = "1.0" if lanes == 1 else "dense<1.0>"
    steps = [f"%b = math.{function} %a : {value}"]
    if function == "sigmoid":
        steps = [
            f"%one = arith.constant {one} : {value}",
            f"%n = arith.negf %a : {value}",
            f"%e = math.exp %n : {value}",
        ]
        steps += [f"%s = arith.addf %e, %one : {value}", f"%b = arith.divf %one, %s : {value}"]
    body = "\n    ".join(steps)
    return f"""
tir.func @f(%x: {buffer}, %y: {buffer}) attributes {{outputs = 1 : i64}} {{
  tir.for %i = 0 to {count // lanes} "i" {{
    %a = tir.load %x[{access}] : {buffer}{suffix}
    {body}
    tir.store %b, %y[{access}] : {buffer}{suffix}
  }}
}}"""


def compiled(text: str, pipeline: str = PIPELINE, plain: bool = False) -> Callable[[Array, Array], None]:
    """The kernel @f of a tir module as a function of its buffers; `plain`: the passes know of no machine."""
    ctx = LaminaContext()
    module = Parser(ctx, text).parse_module()
    target = host_target(1)
    if not plain:
        module.attributes[TARGET] = target
    for p in parse_pipeline(pipeline):
        p.apply(ctx, module)
    library = load_objects([compile_object(emit_module(module, target), target)])
    call = library.function("f", None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

    def run(*buffers: Array) -> None:
        pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
        call(pointers, 0, 1)

    return run


def reference(function: str) -> Callable[[Array], Array]:
    """The function in float64: numpy's, or for erf the C library's."""
    if function in REFERENCES:
        return REFERENCES[function]
    kernel = compiled(kernel_text(function, CHUNK, "f64", 1), "tir-to-llvm")

    def run(x: Array) -> Array:
        padded, y = np.zeros(CHUNK), np.empty(CHUNK)
        padded[: len(x)] = x
        kernel(padded, y)
        return y[: len(x)]

    return run


def errors(got: Array, expected: Array) -> Array:
    """Distances in ulp; infinite where one is NaN and the other is not, or where the sign of a zero is wrong."""
    limit = 2.0**128
    clipped = np.clip(expected, -limit, limit)
    powers = (clipped.view(np.int64) & 0x7FF0000000000000).view(np.float64)
    ulp = np.maximum(powers * 2.0**-23, 2.0**-149)
    distance = np.abs(np.clip(got.astype(np.float64), -limit, limit) - clipped) / ulp
    nan = np.isnan(expected)
    wrong = (np.isinf(expected) & (got != expected)) | (np.signbit(got) != np.signbit(expected))
    distance[np.where(nan, ~np.isnan(got), wrong | np.isnan(got))] = np.inf
    distance[nan & np.isnan(got)] = 0.0
    return distance


def special_arguments() -> Array:
    """Bit patterns near every power of two of either sign, zeros, infinities, NaNs, and dense near the thresholds."""
    exponents = np.arange(256, dtype=np.int64) << 23
    near = (exponents[:, None] + np.arange(-64, 64)).ravel()
    near = near[(near >= 0) & (near < 1 << 31)]
    points = [88.72284, -87.33655, -103.97208, -103.27893, 128.0, -126.0, -149.0, -150.0, 9.0109, 10.0, 3.9192, 4.0,
              1.0, 0.5**0.5, 2.0**0.5, 0.34657, 1.0397, 0.17328, 0.5, -0.5]  # fmt: skip
    dense = np.array(points, np.float32).view(np.uint32).astype(np.int64)[:, None] + np.arange(-4096, 4096)
    positive = np.concatenate([near, dense.ravel() & 0x7FFFFFFF, np.arange(1 << 12)])
    both = np.concatenate([positive, positive | 1 << 31])
    return np.unique(both).astype(np.uint32).view(np.float32)


def arguments(count: int, seed: int = 0) -> Array:
    """Special arguments, random bit patterns, and random numbers of everyday size: `count` of each kind."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 1 << 32, count, np.uint32).view(np.float32)
    return np.concatenate(
        [
            special_arguments(),
            patterns,
            rng.uniform(-12, 12, count).astype(np.float32),
            rng.uniform(-105, 105, count).astype(np.float32),
            np.exp(rng.uniform(-2, 2, count)).astype(np.float32),
        ]
    )


class Check:
    """One function, compiled, beside its reference."""

    def __init__(self, function: str, plain: bool = False) -> None:
        self.function = function
        self.kernel = compiled(kernel_text(function, CHUNK), plain=plain)
        self.reference = reference(function)

    def worst(self, x: Array) -> tuple[float, float]:
        """The largest error in ulp on at most CHUNK arguments, and where it is."""
        padded, y = np.zeros(CHUNK, np.float32), np.empty(CHUNK, np.float32)
        padded[: len(x)] = x
        self.kernel(padded, y)
        got = y[: len(x)]
        with np.errstate(all="ignore"):
            expected = self.reference(x.astype(np.float64))
            nearest = expected.astype(np.float32)
            # Where the nearest float32 was found, there is no more to see.
            rest = np.flatnonzero(
                (got.view(np.uint32) != nearest.view(np.uint32)) & ~(np.isnan(got) & np.isnan(nearest))
            )
            if not len(rest):
                return 0.5, float(x[0])
            error = errors(got[rest], expected[rest])
        at = int(np.argmax(error))
        return float(error[at]), float(x[rest[at]])

    def worst_of(self, x: Array) -> tuple[float, float]:
        return max(self.worst(x[n : n + CHUNK]) for n in range(0, len(x), CHUNK))

    def worst_of_all(self, threads: int) -> tuple[float, float]:
        def chunk(n: int) -> tuple[float, float]:
            return self.worst(np.arange(n * CHUNK, (n + 1) * CHUNK, dtype=np.uint32).view(np.float32))

        with ThreadPoolExecutor(threads) as pool:
            return max(pool.map(chunk, range((1 << 32) // CHUNK)))


def nanoseconds(function: str, pipeline: str, plain: bool, lanes: int = LANES, count: int = 1 << 13) -> float:
    """Time for an element, on arguments in cache."""
    kernel = compiled(kernel_text(function, count, lanes=lanes), pipeline, plain)
    x = np.random.default_rng(0).uniform(0.1, 8, count).astype(np.float32)
    y = np.empty_like(x)
    best = float("inf")
    for _ in range(200):
        start = perf_counter()
        kernel(x, y)
        best = min(best, perf_counter() - start)
    return best / count * 1e9


# -- coefficients --------------------------------------------------------------------------------------------------

Exact = Callable[[Decimal], Decimal]


def fit(
    target: Exact, weight: Exact, low: float, high: float, degree: int, given: Sequence[float] = (), nodes: int = 400
) -> tuple[list[float], float]:
    """Float32 coefficients, lowest first, that nearly minimise the largest weighted error, and that error."""
    at = 0.5 * (low + high) + 0.5 * (high - low) * np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes)
    y = np.array([float(target(Decimal(v))) for v in at.tolist()])
    w = np.array([float(weight(Decimal(v))) for v in at.tolist()])
    found = [float(np.float32(c)) for c in given]
    while len(found) <= degree:
        rest = y - (np.polyval(found[::-1], at) if found else 0.0)
        basis = at[:, None] ** np.arange(len(found), degree + 1)
        scale = np.abs(basis).max(0)
        solve: Any = np.linalg.lstsq
        lawson = np.full(nodes, 1.0 / nodes)
        best = (np.inf, scale)
        for _ in range(120):
            s = np.sqrt(lawson) * w
            c: Array = solve(basis / scale * s[:, None], rest * s, rcond=None)[0] / scale
            error = np.abs(basis @ c - rest) * w
            best = min(best, (float(error.max()), c), key=lambda b: b[0])
            lawson = lawson * error / (lawson * error).sum()
        found.append(float(np.float32(best[1][0])))
    return found, float((np.abs(np.polyval(found[::-1], at) - y) * w).max())


_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")


def exact_erf(x: Decimal) -> Decimal:
    """By its Taylor series."""
    term = total = x
    n = 0
    while abs(term) > Decimal(10) ** -58:
        n += 1
        term = -term * x * x / n
        total += term / (2 * n + 1)
    return 2 * total / _PI.sqrt()


def fits() -> dict[str, tuple[list[float], float]]:
    """The polynomials of `arithmetic/polynomials.py` by name."""
    from lamina.passes.tir.arithmetic import polynomials

    getcontext().prec = 60
    ln2 = Decimal(2).ln()
    log2_e = Decimal(float(np.float32(float(1 / ln2))))
    high = Decimal(float(np.float32(float(2 / _PI.sqrt()))))
    table: dict[str, tuple[Exact, Exact, Sequence[float]]] = {
        "EXP": (lambda r: r.exp(), lambda r: 1 / r.exp(), (1, 1)),
        "EXP2": (lambda r: (r * ln2).exp(), lambda r: 1 / (r * ln2).exp(), (1,)),
        "EXPM1": (lambda r: (r.exp() - 1 - r) / r**2, lambda r: r**2 / abs(r.exp() - 1), (0.5,)),
        "LOG1P": (lambda f: ((1 + f).ln() - f) / f**2, lambda f: f**2 / abs((1 + f).ln()), (-0.5,)),
        "LOG2_1P": (
            lambda f: ((1 + f).ln() / ln2 - f * log2_e) / f**2,
            lambda f: f**2 / abs((1 + f).ln() / ln2),
            (),
        ),
        "LOG_ERFC": (
            lambda a: (1 - exact_erf(a)).ln() / a + high,
            lambda a: a * (1 - exact_erf(a)) / exact_erf(a),
            (),
        ),
    }
    found: dict[str, tuple[list[float], float]] = {}
    for name, (target, weight, given) in table.items():
        p = getattr(polynomials, name)
        found[name] = fit(target, weight, p.low, p.high, len(p.coefficients) - 1, given)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", default=FUNCTIONS, help=", ".join(FUNCTIONS))
    parser.add_argument("--exhaustive", action="store_true", help="all 2^32 arguments")
    parser.add_argument("--plain", action="store_true", help="without instructions that only this machine has")
    parser.add_argument("--count", type=int, default=1 << 22, help="random arguments of each kind (%(default)s)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fit", action="store_true", help="compute the coefficients")
    options = parser.parse_args()
    unknown = [f for f in options.functions if f not in FUNCTIONS]
    if unknown:
        parser.error(f"no function {unknown[0]!r}; there are {', '.join(FUNCTIONS)}")
    if options.fit:
        for name, (coefficients, error) in fits().items():
            print(f"{name}: {coefficients}  error {error:.2e}")
        return
    print("function   max ulp   at                       ns/element   C library")
    for function in options.functions:
        check = Check(function, options.plain)
        found, at = (
            check.worst_of_all(options.threads) if options.exhaustive else check.worst_of(arguments(options.count))
        )
        ours = nanoseconds(function, PIPELINE, options.plain)
        theirs = nanoseconds(function, "tir-to-llvm", options.plain)
        print(f"{function:8} {found:9.3f}   {at.hex():24} {ours:10.2f} {theirs:11.2f}", flush=True)


if __name__ == "__main__":
    main()

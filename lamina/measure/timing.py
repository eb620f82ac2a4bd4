"""Measuring: random inputs, repeated runs with their spread, and a comparison with onnxruntime.

No figure stands alone: medians come with the 10th and 90th percentile, and whatever is compared runs interleaved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.errors import UnsupportedError, UsageError, did_you_mean

if TYPE_CHECKING:
    from lamina.runtime.ports import Port

    Array = np.ndarray[Any, np.dtype[Any]]


def peak_memory() -> int:
    """The most bytes of memory that this process has had at once, pages that it shares with others included."""
    try:
        # Not getrusage: on Linux a new process starts with the peak of the one that started it.
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    from resource import RUSAGE_SELF, getrusage

    return getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


FILL_MODES = ("zeros", "ones", "random")
"""Arrays for inputs that nobody gives, by tvmc's names."""


def check_fill_mode(mode: str) -> None:
    """Raise UsageError for a name that no arrays have."""
    if mode not in FILL_MODES:
        near = did_you_mean(mode, [*FILL_MODES])
        raise UsageError(f"no fill mode {mode!r}", hint=near or f"there are {', '.join(FILL_MODES)}")


def filled_inputs(ports: Sequence[Port], mode: str = "random", seed: int = 0) -> dict[str, Array]:
    """Arrays of zeros, of ones, or random ones as `random_inputs` draws them. Raises UsageError as it does."""
    check_fill_mode(mode)
    drawn = random_inputs(ports, seed)
    return drawn if mode == "random" else {n: np.full_like(a, mode == "ones") for n, a in drawn.items()}


def random_inputs(ports: Sequence[Port], seed: int = 0) -> dict[str, Array]:
    """Standard normal values, integers of 0 to 9, booleans: the same for the same seed and ports.

    Raises UsageError for a port that says too little: no tensor, or one of unknown extents.
    """
    from lamina.dialects.dtypes import numpy_dtype

    made: dict[str, Array] = {}
    for position, p in enumerate(ports):
        if not p.dtype or any(e < 0 for e in p.shape):
            what = f"no values can be drawn for the input {p.name!r}, {p.describe()}"
            raise UsageError(what, hint="give it, or its extents with shapes= (--shape)")
        rng = np.random.default_rng([seed, position])
        kind = numpy_dtype(p.dtype)
        if p.dtype == "bool":
            made[p.name] = rng.integers(0, 2, p.shape).astype(kind)
        elif "int" in p.dtype:
            made[p.name] = rng.integers(0, 10, p.shape).astype(kind)
        else:
            made[p.name] = rng.standard_normal(p.shape).astype(kind)
    return made


@dataclass(frozen=True)
class Benchmark:
    """Seconds of single runs."""

    times: tuple[float, ...]

    def quantile(self, q: float) -> float:
        return float(np.quantile(self.times, q))

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def p10(self) -> float:
        return self.quantile(0.1)

    @property
    def p90(self) -> float:
        return self.quantile(0.9)

    def __str__(self) -> str:
        return f"{duration(self.median)} [{duration(self.p10)} .. {duration(self.p90)}] (n = {len(self.times)})"

    __repr__ = __str__


_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))


def duration(seconds: float) -> str:
    """`12.3 ms`: three digits and a unit."""
    unit, size = next((u for u in _UNITS if seconds >= u[1]), _UNITS[-1])
    value = seconds / size
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def repeated(run: Callable[[], Any], repeats: int | None, seconds: float, warmup: int = 2) -> Benchmark:
    """Time a call: `repeats` times, or as often as `seconds` allow, but at least 5 and at most 1000 times."""
    if repeats is not None and (type(repeats) is not int or repeats < 1):
        raise UsageError(f"repeats is a positive integer or None, not {repeats!r}")
    for _ in range(warmup):
        run()
    times: list[float] = []
    end = perf_counter() + seconds
    while len(times) < (repeats or 1000):
        start = perf_counter()
        run()
        now = perf_counter()
        times.append(now - start)
        if repeats is None and now > end and len(times) >= 5:
            break
    return Benchmark(tuple(times))


def columns(rows: Sequence[Sequence[str]]) -> str:
    """A table in plain text: numbers to the right, the last column to the left."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]) - 1)]
    return "\n".join(
        "  ".join([*(cell.rjust(w) for cell, w in zip(row, widths, strict=False)), row[-1]]) for row in rows
    )


@dataclass(frozen=True)
class Comparison:
    """Lamina and onnxruntime on the same model, inputs and threads, run by turns."""

    ours: Benchmark
    theirs: Benchmark
    difference: float
    """The largest difference of any output, relative to that output's largest value."""
    ratios: tuple[float, ...]
    """Ours over theirs, of each pair of runs."""

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return self.ours.median / self.theirs.median

    def __str__(self) -> str:
        low, high = (float(np.quantile(self.ratios, q)) for q in (0.1, 0.9))
        return "\n".join(
            [
                f"lamina       {self.ours}",
                f"onnxruntime  {self.theirs}",
                f"ratio        {self.ratio:.3f} [{low:.3f} .. {high:.3f}] (below 1: lamina is faster)",
                f"difference   {self.difference:.1e} of the largest value",
            ]
        )


def onnxruntime_session(model: str | bytes, threads: int, exact: bool = False) -> Any:
    """An inference session of onnxruntime with as many threads; with exact sums of bytes where that is asked for.

    Raises UsageError where it is not installed, UnsupportedError where it refuses the model.
    """
    try:
        import onnxruntime  # type: ignore[import-untyped]
    except ImportError:
        raise UsageError("onnxruntime is not installed", hint="pip install onnxruntime") from None
    runtime: Any = onnxruntime
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        if exact:
            return exact_session(model, options)
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as e:
        # Its exceptions have no class in common but this one.
        raise UnsupportedError(f"onnxruntime refuses the model: {' '.join(str(e).split())[:200]}") from e


def exact_session(model: str | bytes, options: Any = None) -> Any:
    """A session of onnxruntime whose sums of products of bytes do not saturate, as they do where there is no VNNI.

    It has not all operators on all types so; those that it lacks it has with its own sums.
    """
    import onnxruntime  # type: ignore[import-untyped]

    ort: Any = onnxruntime
    options = options or ort.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except ort.capi.onnxruntime_pybind11_state.NotImplemented:
        options.add_session_config_entry("session.x64quantprecision", "0")
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def named(names: Sequence[str], values: Iterable[Any]) -> dict[str, Any]:
    """Results in order under their names; the tensors of a sequence `y` are y[0], y[1], as we call them."""
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, list):
            found |= {f"{name}[{k}]": v for k, v in enumerate(value)}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        elif value is not None:
            found[name] = value
    return found


def compare(
    run: Callable[[Mapping[str, Any]], Mapping[str, Array]],
    session: Any,
    inputs: Mapping[str, Array],
    repeats: int | None = None,
    seconds: float = 5.0,
    warmup: int = 2,
) -> Comparison:
    """Run both by turns, each run timed by itself, and compare what they compute."""
    theirs = named([o.name for o in session.get_outputs()], session.run(None, dict(inputs)))
    ours = run(inputs)
    times: tuple[list[float], list[float]] = [], []
    for _ in range(warmup):
        run(inputs)
        session.run(None, dict(inputs))
    end = perf_counter() + seconds
    while len(times[0]) < (repeats or 1000):
        start = perf_counter()
        run(inputs)
        middle = perf_counter()
        session.run(None, dict(inputs))
        now = perf_counter()
        times[0].append(middle - start)
        times[1].append(now - middle)
        if repeats is None and now > end and len(times[0]) >= 5:
            break
    ratios = tuple(a / b for a, b in zip(*times, strict=True))
    difference = max((largest_difference(ours[n], theirs[n]) for n in theirs), default=0.0)
    return Comparison(Benchmark(tuple(times[0])), Benchmark(tuple(times[1])), difference, ratios)


def largest_difference(found: Array, expected: Array) -> float:
    """The largest absolute difference over the largest absolute expected value.

    Infinite where shapes differ, or where one has a NaN or an infinity that the other has not.
    """
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return float("inf")
    a, b = found.astype(np.float64), expected.astype(np.float64)
    compared = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~compared], b[~compared], equal_nan=True):
        return float("inf")
    if not compared.any():
        return 0.0
    worst = float(np.max(np.abs(a[compared] - b[compared])))
    return worst / (float(np.max(np.abs(b[compared]))) or 1.0)

"""Random convolutions and matrix products against onnxruntime: shapes that nobody has listed.

    python bench/random_shapes.py [--count 200] [--seed 0] [--json FILE] [--only 17 42] [--families dilated conv1d]

Every case is a model of one node. Case n of a seed is the same whatever else is run. Both sides have one thread and run
by turns in this process; the time is the thread's own (what other processes take is not counted), the ratio that of the
medians, theirs over ours: above 1, ours is faster. What they compute is compared in the same run. Exit status 1 where a
case fails or its numbers differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from math import exp, log, prod
from pathlib import Path
from statistics import median
from time import thread_time_ns
from typing import Any, cast

import numpy as np

FLOOR = 0.7
"""No case should be slower than that, as a ratio of theirs to ours."""
TOLERANCE = 1e-4
"""Of the largest value. F(4,3) has errors of 1e-5."""
WORK = (2e6, 4e8)
"""Operations of a case; fewer are the cost of a call."""

CONV_FAMILIES = {
    "dense": 34, "pointwise": 12, "depthwise": 12, "grouped": 10, "dilated": 10, "conv1d": 8, "conv3d": 6,
    "transposed": 8,
}  # fmt: skip
MATMUL_FAMILIES = {"constant": 28, "computed": 20, "batched": 24, "gemm": 16, "vector": 12}


@dataclass(frozen=True)
class Case:
    """One node: its operator, attributes, the shape of each operand and how many operations it takes."""

    number: int
    family: str
    operator: str
    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    constants: tuple[int, ...] = ()
    """The positions of operands that are constant."""
    operations: float = 0.0

    def __str__(self) -> str:
        shapes = " ".join("x".join(map(str, s)) for s in self.shapes)
        plain = {"strides": 1, "dilations": 1, "group": 1, "pads": 0, "kernel_shape": None}
        shown: list[str] = []
        for name, value in self.attributes.items():
            values = cast("list[Any]", value) if isinstance(value, list) else [value]
            if name != "kernel_shape" and set(values) != {plain.get(name, 0)}:
                shown.append(f"{name}={'x'.join(map(str, values))}")
        constant = "" if self.operator != "MatMul" else " constant" if self.constants else " computed"
        return f"{self.operator} {shapes} {' '.join(shown)}".rstrip() + constant


def draw(seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    rng = np.random.default_rng([seed, number])
    # Of five cases three are convolutions.
    families, make = (CONV_FAMILIES, _convolution) if number % 5 < 3 else (MATMUL_FAMILIES, _product)
    weights = np.array(list(families.values()), float)
    family = str(rng.choice(list(families), p=weights / weights.sum()))
    while True:
        case = make(rng, number, family)
        if case is not None and WORK[0] <= case.operations <= WORK[1]:
            return case


def _pick(rng: Any, *values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


def _size(rng: Any, low: int, high: int) -> int:
    """Log-uniform, every other time a multiple of 8 or 16 or a power of two."""
    found = round(exp(rng.uniform(log(low), log(high))))
    unit = _pick(rng, 1, 1, 8, 16)
    return max(low, min(high, round(found / unit) * unit))


def _convolution(rng: Any, number: int, family: str) -> Case | None:
    rank = {"conv1d": 1, "conv3d": 3}.get(family, 2)
    batch = int(_pick(rng, 1, 1, 1, 2, 3, 4))
    groups = 1
    channels, features = _size(rng, 3, 512), _size(rng, 3, 512)
    if family == "depthwise":
        groups = channels
        features = channels * int(_pick(rng, 1, 1, 1, 2))
    elif family == "grouped":
        groups = int(_pick(rng, 2, 3, 4, 8, 32))
        channels, features = groups * _size(rng, 1, 64), groups * _size(rng, 1, 64)
    largest = {1: 2048, 2: 112, 3: 24}[rank]
    extents = [_size(rng, 5, largest) for _ in range(rank)]
    if rank == 2 and rng.integers(2):
        extents[1] = extents[0]
    kernel = [1] * rank if family == "pointwise" else [int(_pick(rng, 1, 3, 3, 3, 5, 7)) for _ in range(rank)]
    if rng.integers(4) and family != "pointwise":
        kernel = [max(kernel[0], 3)] * rank
    stride = [int(_pick(rng, 1, 1, 1, 2, 2, 3))] * rank
    dilation = [int(_pick(rng, 2, 2, 3, 4))] * rank if family == "dilated" else [1] * rank
    padding = [int(_pick(rng, 0, d * (k - 1) // 2, d * (k - 1) // 2)) for k, d in zip(kernel, dilation, strict=True)]
    attributes = {
        "kernel_shape": kernel, "strides": stride, "dilations": dilation, "group": groups, "pads": padding * 2,
    }  # fmt: skip
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if family == "transposed":
        weight = (channels, features, *kernel)
        out = [(n - 1) * s + r - 2 * p for n, s, r, p in zip(extents, stride, reach, padding, strict=True)]
        operations = 2.0 * batch * channels * features * prod(extents) * prod(kernel)
    else:
        weight = (features, channels // groups, *kernel)
        out = [(n + 2 * p - r) // s + 1 for n, s, r, p in zip(extents, stride, reach, padding, strict=True)]
        operations = 2.0 * batch * features * (channels // groups) * prod(out) * prod(kernel)
    if min(out) < 1 or prod(out) * features * batch > 1 << 23:
        return None
    operator = "ConvTranspose" if family == "transposed" else "Conv"
    shapes = ((batch, channels, *extents), weight, (features,))
    return Case(number, family, operator, shapes, attributes, (1, 2), operations)


def _product(rng: Any, number: int, family: str) -> Case:
    m, n, k = _size(rng, 2, 1024), _size(rng, 2, 3072), _size(rng, 2, 3072)
    if family == "vector":
        shapes: tuple[tuple[int, ...], ...] = ((1, k), (k, n))
        constants = _pick(rng, (1,), (1,), ())
        return Case(number, family, "MatMul", shapes, {}, constants, 2.0 * n * k)
    if family == "gemm":
        a, b = int(rng.integers(2)), int(_pick(rng, 0, 1, 1))
        shapes = ((k, m) if a else (m, k), (n, k) if b else (k, n), (n,))
        constants = _pick(rng, (1, 2), (1, 2), (2,))
        return Case(number, family, "Gemm", shapes, {"transA": a, "transB": b}, constants, 2.0 * m * n * k)
    if family == "batched":
        m, n, k = _size(rng, 1, 512), _size(rng, 1, 512), _size(rng, 1, 512)
        batch = _pick(rng, (12,), (1, 12), (int(rng.integers(2, 33)),), (2, int(rng.integers(1, 17))))
        right = _pick(rng, (*batch, k, n), (*batch, k, n), (k, n))
        constants = _pick(rng, (), (1,)) if len(right) == 2 else ()
        return Case(number, family, "MatMul", ((*batch, m, k), right), {}, constants, 2.0 * prod(batch) * m * n * k)
    constants = (1,) if family == "constant" else ()
    return Case(number, family, "MatMul", ((m, k), (k, n)), {}, constants, 2.0 * m * n * k)


def model(case: Case) -> tuple[bytes, dict[str, Any]]:
    """The case as an ONNX model, and its inputs."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(case.number)
    names = ["x", "w", "b"][: len(case.shapes)]
    arrays = [rng.standard_normal(s).astype(np.float32) for s in case.shapes]
    node = helper.make_node(case.operator, names, ["y"], name="node", **case.attributes)
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape)
        for i, (n, a) in enumerate(zip(names, arrays, strict=True))
        if i not in case.constants
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    constants = [numpy_helper.from_array(arrays[i], names[i]) for i in case.constants]
    graph = helper.make_graph([node], "case", inputs, [output], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    given = {n: a for i, (n, a) in enumerate(zip(names, arrays, strict=True)) if i not in case.constants}
    return made.SerializeToString(), given


@dataclass(frozen=True)
class Row:
    """The figures of a case: medians in microseconds, theirs over ours, the largest difference."""

    case: Case
    ours: float
    theirs: float
    difference: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    def __str__(self) -> str:
        rates = f"{self.case.operations / self.ours / 1e3:7.1f} {self.case.operations / self.theirs / 1e3:7.1f}"
        return f"{self.ratio:6.2f} {self.ours:9.1f} {self.theirs:9.1f} {rates}  #{self.case.number:<4}{self.case.family:<11}{self.case}"  # noqa: E501

    def plain(self) -> dict[str, Any]:
        return {**asdict(self.case), "text": str(self.case), "ours_us": self.ours, "theirs_us": self.theirs,
                "ratio": self.ratio, "difference": self.difference}  # fmt: skip


HEAD = f"{'ratio':>6} {'us ours':>9} {'us theirs':>9} {'GF/s':>7} {'theirs':>7}  case"


def measure(case: Case, samples: int = 9, least: float = 2e-3) -> Row:
    """Both sides by turns, each sample as many calls as take `least` seconds."""
    import lamina
    from lamina.measure.timing import largest_difference, onnxruntime_session

    data, inputs = model(case)
    exe = lamina.compile(data, threads=1, cache=False)
    session = onnxruntime_session(data, 1)
    runs: list[Callable[[], Any]] = [lambda: exe.run(inputs)["y"], lambda: session.run(None, inputs)[0]]
    difference = largest_difference(runs[0](), runs[1]())
    calls = [max(1, round(least / max(_seconds(run, 1), 1e-7))) for run in runs]
    times = [[_seconds(run, n) for run, n in zip(runs, calls, strict=True)] for _ in range(samples)]
    ours, theirs = (median(t[side] for t in times) * 1e6 for side in range(2))
    return Row(case, ours, theirs, difference)


def _seconds(run: Callable[[], Any], calls: int) -> float:
    start = thread_time_ns()
    for _ in range(calls):
        run()
    return (thread_time_ns() - start) / 1e9 / calls


def mean(ratios: list[float]) -> float:
    """Geometric."""
    return exp(sum(map(log, ratios)) / len(ratios))


def report(rows: list[Row], worst: int) -> str:
    """The slowest cases, the means by family and in all."""
    rows = sorted(rows, key=lambda r: r.ratio)
    lines = [
        HEAD,
        *map(str, rows[:worst]),
        "",
        f"{'family':<12}{'cases':>6}{'mean':>7}{'least':>7}{'<' + str(FLOOR):>6}",
    ]
    for family in [*CONV_FAMILIES, *MATMUL_FAMILIES]:
        found = [r.ratio for r in rows if r.case.family == family]
        if found:
            below = sum(r < FLOOR for r in found)
            lines.append(f"{family:<12}{len(found):>6}{mean(found):>7.2f}{min(found):>7.2f}{below:>6}")
    ratios = [r.ratio for r in rows]
    below = sum(r < FLOOR for r in ratios)
    lines.append(f"{'all':<12}{len(ratios):>6}{mean(ratios):>7.2f}{min(ratios):>7.2f}{below:>6}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--worst", type=int, default=20, help="how many of the slowest are printed (%(default)s)")
    parser.add_argument("--only", type=int, nargs="+", metavar="N", help="these cases")
    parser.add_argument("--families", nargs="+", choices=[*CONV_FAMILIES, *MATMUL_FAMILIES], metavar="FAMILY")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    cases = [draw(args.seed, n) for n in args.only or range(args.count)]
    cases = [c for c in cases if not args.families or c.family in args.families]
    rows: list[Row] = []
    failed = 0
    for case in cases:
        try:
            row = measure(case, args.samples)
        except Exception as e:  # a case that fails is a result
            failed += 1
            print(f"failed #{case.number} {case}: {type(e).__name__}: {e}", flush=True)
            continue
        rows.append(row)
        if not row.difference <= TOLERANCE:
            failed += 1
            print(f"differs by {row.difference:.1e}: #{case.number} {case}", flush=True)
        if args.json:
            args.json.write_text(json.dumps([r.plain() for r in rows], indent=1) + "\n")
        print(f"\r{len(rows)} of {len(cases)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if rows:
        print(report(rows, args.worst))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

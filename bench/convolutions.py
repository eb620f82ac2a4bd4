"""Every distinct convolution of the convolutional models: ours, onnxruntime's, and the peak of one core.

    python bench/convolutions.py [MODEL...] [--only 3x3] [--direct] [--warm] [--rounds 9] [--json FILE]
    python bench/convolutions.py --shape "3x3 s1 512->64 @7x7" [--shape ...]

Or those of given shapes, spelled as in the table, with half of the kernel as padding. Each is a model of one
convolution with its ReLU. Its kernels are timed by themselves and the two whole models, with what they need to change
layouts, by turns. Times are the thread's own, so what other processes take is not counted; figures are medians. `of
peak` is the direct sum's operations per second (products with the padding left out) over those of a loop of
multiply-adds on registers, timed before and after each run of the kernels, so that a clock or a core that is shared
slows both alike: the median of these ratios, the 10th and 90th percentile behind it. It is above 1 where Winograd's
kernels multiply less. Between two runs other memory is read, so that weights and data come from where a network finds
them; with `--warm` they are where a run just before left them. `--direct` leaves Winograd's kernels out. A kernel that
loses its core for a moment finds other data in the caches, which costs a run of 2 ms a twentieth: such runs are
repeated, twice as often as there are rounds at most.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from statistics import median
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))

import models
import peak
import zoo

import lamina
from lamina.backends.cpu.jit import host_target
from lamina.measure.timing import largest_difference, onnxruntime_session
from lamina.runtime.compiled import CompiledProgram
from lamina.transform import PassContext

LIGHT = ("resnet50", "vgg19", "inception_v1", "inception_v2", "densenet121")
MODELS = (*LIGHT, "unet")
EVICTED = 48 << 20
"""Bytes read between two runs: more than a third-level cache holds."""


class Convolution(NamedTuple):
    """A 2-D convolution of one image."""

    channels: int
    rows: int
    columns: int
    out: int
    kernel: tuple[int, int]
    strides: tuple[int, int]
    pads: tuple[int, int, int, int]
    dilations: tuple[int, int]
    groups: int

    def outputs(self) -> tuple[int, int]:
        top, left, bottom, right = self.pads
        sizes = (self.rows + top + bottom, self.columns + left + right)
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        rows, columns = ((n - k) // s + 1 for n, k, s in zip(sizes, spans, self.strides, strict=True))
        return rows, columns

    def operations(self) -> int:
        """Multiplications and additions of the direct sum, those with the padding left out."""
        top, left, _, _ = self.pads
        taps = 1
        for n, outputs, before, axis in (
            (self.rows, self.outputs()[0], top, 0),
            (self.columns, self.outputs()[1], left, 1),
        ):
            stride, dilation = self.strides[axis], self.dilations[axis]
            places = ((o * stride + k * dilation - before for o in range(outputs)) for k in range(self.kernel[axis]))
            taps *= sum(0 <= place < n for row in places for place in row)
        return 2 * taps * self.out * self.channels // self.groups

    def __str__(self) -> str:
        kernel, stride = ("x".join(map(str, pair)) for pair in (self.kernel, self.strides))
        groups = f" g{self.groups}" if self.groups > 1 else ""
        return f"{kernel} s{stride[0]} {self.channels}->{self.out} @{self.rows}x{self.columns}{groups}"

    def model(self) -> ModelProto:
        """relu(conv(x, w) + b)."""
        random = np.random.default_rng(0)
        shape = (self.out, self.channels // self.groups, *self.kernel)
        w = random.standard_normal(shape).astype(np.float32) * np.float32((2 / np.prod(shape[1:])) ** 0.5)
        weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.zeros(self.out, np.float32), "b")]
        more: dict[str, Any] = {
            "strides": self.strides,
            "pads": self.pads,
            "dilations": self.dilations,
            "group": self.groups,
        }
        nodes = [
            helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", kernel_shape=self.kernel, **more),
            helper.make_node("Relu", ["c"], ["y"], "act"),
        ]
        sides = {"x": (1, self.channels, self.rows, self.columns), "y": (1, self.out, *self.outputs())}
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in sides.items())
        graph = helper.make_graph(nodes, "convolution", [x], [y], weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def of_shape(text: str) -> Convolution:
    """The convolution that is spelled so in the table. Raises ValueError."""
    found = re.fullmatch(r"(\d+)x(\d+) s(\d+) (\d+)->(\d+) @(\d+)x(\d+)(?: g(\d+))?", text)
    if found is None:
        raise ValueError(f"{text!r} is no convolution: 3x3 s1 64->64 @56x56")
    *kernel, stride, channels, out, rows, columns = (int(n) for n in found.groups()[:7])
    pads = (kernel[0] // 2, kernel[1] // 2, kernel[0] // 2, kernel[1] // 2)
    taps, groups = (kernel[0], kernel[1]), int(found[8] or 1)
    return Convolution(channels, rows, columns, out, taps, (stride, stride), pads, (1, 1), groups)


def convolutions(model: ModelProto) -> Iterator[Convolution]:
    """The 2-D convolutions of a model, each as often as it is there."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {
        v.name: tuple(d.dim_value for d in v.type.tensor_type.shape.dim)
        for v in (*graph.value_info, *graph.input, *graph.output)
    }
    shapes |= {i.name: tuple(i.dims) for i in graph.initializer}
    for node in graph.node:
        if node.op_type != "Conv" or len(shapes[node.input[1]]) != 4:
            continue
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        (_, channels, rows, columns), (out, _, *kernel) = (shapes[n] for n in node.input[:2])
        pairs = [tuple(given.get(n, [default] * k)) for n, default, k in
                 (("strides", 1, 2), ("pads", 0, 4), ("dilations", 1, 2))]  # fmt: skip
        yield Convolution(channels, rows, columns, out, tuple(kernel), *pairs, given.get("group", 1))  # type: ignore[arg-type]


PEAK_SECONDS = 5e-4
"""Of a measurement of the peak beside a run."""


def _switches() -> int:
    """The number of times that this thread has lost its core; of the process where threads are not counted apart."""
    return resource.getrusage(getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)).ru_nivcsw


def measure(conv: Convolution, rounds: int, warm: bool, direct: bool, top: peak.Instruction) -> dict[str, Any]:
    """Seconds of our kernels and of both whole models; the peak is measured around each run of the kernels."""
    model = conv.model().SerializeToString()
    passes = PassContext(opt_level=3, disabled_pass=("cpu-winograd",) if direct else ())
    ours, theirs = lamina.compile(model, threads=1, opt_level=passes), onnxruntime_session(model, 1)
    inputs = {"x": np.random.default_rng(1).standard_normal((1, *conv[:3])).astype(np.float32)}
    program = ours._program  # type: ignore[reportPrivateUsage]
    assert isinstance(program, CompiledProgram)
    entries = [n for n, label in enumerate(program.info.entries) if "act" in label.split(" + ")]
    arrays = program.check(inputs)
    outputs = program.outputs(arrays)
    bases = program.bases(arrays, outputs)
    other = np.ones(EVICTED // 4, np.float32)
    found: dict[str, list[float]] = {"kernel": [], "lamina": [], "onnxruntime": []}

    def timed(name: str, run: Callable[[], Any]) -> bool:
        """Whether the thread kept its core."""
        if not warm:
            np.dot(other, other)
        switches, start = _switches(), thread_time()
        run()
        found[name].append(thread_time() - start)
        return switches == _switches()

    def kernels() -> None:
        for n in entries:
            program.program.run(bases, program.pool, n, n + 1)

    again = 2 * rounds

    def undisturbed() -> float:
        """The peak around a run of the kernels, which is run again where the thread was switched out."""
        nonlocal again
        while True:
            if warm:
                kernels()
            around = peak.peak_rate(top, PEAK_SECONDS)
            if timed("kernel", kernels) or again == 0:
                return (around + peak.peak_rate(top, PEAK_SECONDS)) / 2
            again -= 1
            del found["kernel"][-1]

    ours_result, theirs_result = ours.run(inputs)["y"], theirs.run(None, inputs)[0]
    peaks: list[float] = []
    for _ in range(rounds):
        timed("onnxruntime", lambda: theirs.run(None, inputs))
        timed("lamina", lambda: program.program.run(bases, program.pool))
        peaks.append(undisturbed())
    figures: dict[str, Any] = {name: median(values) for name, values in found.items()}
    rates = [conv.operations() / seconds for seconds in found["kernel"]]
    ratios = [rate / at_most for rate, at_most in zip(rates, peaks, strict=True)]
    figures["low"], figures["roof"], figures["high"] = (float(q) for q in np.quantile(ratios, (0.1, 0.5, 0.9)))
    figures["difference"] = largest_difference(ours_result, theirs_result)
    return figures | {"convolution": str(conv), "gflops": median(rates) / 1e9, "peak": median(peaks)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--shape", action="append", default=[], help="a convolution as the table spells it")
    parser.add_argument("--only", default="", help="convolutions with this in their name")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--direct", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    names: list[str] = args.models or ([] if args.shape else [*MODELS])
    if strange := sorted(set(names).difference(MODELS)):
        parser.error(f"no model {strange[0]!r}; there are {', '.join(MODELS)}")
    counts: dict[Convolution, dict[str, int]] = {}
    for text in args.shape:
        try:
            counts.setdefault(of_shape(text), {})
        except ValueError as e:
            parser.error(str(e))
    for name in names:
        for conv in convolutions(models.light_model(name) if name in LIGHT else zoo.ZOO[name]()):
            of_model = counts.setdefault(conv, {})
            of_model[name] = of_model.get(name, 0) + 1
    head = ("convolution", "kernel us", "GFLOP/s", "of peak", "", "lamina us", "onnxruntime us", "ratio", "diff")
    print("{:<30}{:>10}{:>9}{:>9} {:<13}{:>11}{:>16}{:>7}{:>9}  models".format(*head), flush=True)
    rows: list[dict[str, Any]] = []
    top = peak.best_fma(host_target(1))
    for conv, of_models in counts.items():
        if args.only not in str(conv):
            continue
        row = measure(conv, args.rounds, args.warm, args.direct, top)
        row["ratio"] = row["onnxruntime"] / row["lamina"]
        rows.append({**row, "models": of_models})
        used = " ".join(f"{name}:{count}" for name, count in of_models.items())
        for name in ("kernel", "lamina", "onnxruntime"):
            row[name] *= 1e6
        kernel = "{kernel:>10.0f}{gflops:>9.1f}{roof:>9.3f} {low:.3f}..{high:.3f} ".format(**row)
        whole = "{lamina:>11.0f}{onnxruntime:>16.0f}{ratio:>7.2f}{difference:>9.0e}".format(**row)
        print(f"{row['convolution']:<30}{kernel}{whole}  {used}", flush=True)
    if rows:
        print(f"peak: {median(r['peak'] for r in rows) / 1e9:.1f} GFLOP/s")
        print(f"geometric mean of the ratios: {exp(sum(log(r['ratio']) for r in rows) / len(rows)):.3f}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

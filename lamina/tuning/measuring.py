"""Measurement of a candidate, in a process that it may take down: drawn, compiled, checked, and timed by turns.

`lamina.tuning.runner` calls `measure` in a copy of a warm process. The candidate runs beside the schedule that the
kernel has, on the same arrays: both are timed in every round, in changing order, so that what else the machine does
meets both. Arrays are rotated, so that weights come from where they come from in a model and not from the first cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from lamina.debugging.comparison import TOLERANCES, Comparer
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.target import TARGET, module_target
from lamina.driver.te_program import compiled_module, compiled_text
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.verification import verify_module
from lamina.measure.timing import random_inputs
from lamina.passes.te.draw_decisions import decisions
from lamina.tuning.boosted_trees import Ranker, rows_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from lamina.runtime.compiled import CompiledProgram

    Array = np.ndarray[Any, np.dtype[Any]]

COLD_BYTES = 4 << 20
"""Bytes of arrays that are gone through before they are met again: more than a second cache holds."""
MOST_COPIES = 16
"""Copies of the arrays at most."""
ROUNDS = (9, 31)
"""Rounds of a first look, and of a gain that is looked at again."""
LOOKS = {2: 1.5, 5: 1.0}
"""A candidate that was so many times slower in each of so many rounds is not looked at further. Of those that are as
fast as the control or faster, one in 32 at most is given up so after five; most candidates are far slower, and what
they are given is what costs a search its time."""
HOPELESS = 6.0
"""A candidate whose first two runs take so many times the control's is not timed any more: it is as slow as that."""
POISON = 0x7F
"""The byte that results are filled with before a run: who leaves an element out is found."""

_SMALL = """
te.func @task(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = te.compute "y" [16] (%i) : tensor<16xf32> {
    %v = te.read %x[%i] : tensor<16xf32>
    te.yield %v : f32
  }
  te.return %y : tensor<16xf32>
}
te.schedule @task {
  %i = te.loops "y" [1]
  te.sample_annotation %i ["none", "unroll", "vectorize"] knob "i"
}
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = te.call @task(%x) : (tensor<16xf32>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}
"""


def measure(
    control: str,
    space: str,
    seeds: Sequence[int],
    share: float,
    known: Sequence[str],
    again: bool = False,
    ranking: Any = None,
    index: int | None = None,
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Draw a configuration of a kernel's space, and time it beside a control; both are texts of whole programs.

    Of several seeds the one is taken whose decisions a `ranking`, a Ranker in JSON with the names of its columns, puts
    first. An `index` is the number of a configuration; with neither the space is taken as it is decided. Inputs are
    random but for `constants`, values by their positions. The result has the schedule, `trace`, and its `ratio` and
    `seconds`; or `known` where every trace is one of those; or `wrong`, what was wrong with its results. Raises
    LaminaError where all seeds are refused.
    """
    module, trace = chosen(space, seeds, share, known, ranking, index)
    if trace in known:
        return {"trace": trace, "known": True}
    target = module_target(module)
    assert target is not None
    candidate, other = compiled_module(module, target), compiled_text(control, "control", target)
    inputs = random_inputs(other.info.inputs)
    for n, value in (constants or {}).items():
        port = other.info.inputs[int(n)]
        inputs[port.name] = np.array(value, inputs[port.name].dtype)
    (expected, quick), (found, slow) = (_results(program, inputs) for program in (other, candidate))
    wrong = difference(expected, found, dtypes_of(other))
    if wrong:
        return {"trace": trace, "wrong": wrong}
    if slow > HOPELESS * quick:  # somebody else may have had the processor
        slow = min(slow, _results(candidate, inputs)[1])
    if slow > HOPELESS * quick:
        return {"trace": trace, "ratio": (slow / quick,) * 3, "seconds": slow}
    ratio, seconds = timed(other, candidate, inputs, ROUNDS[again])
    return {"trace": trace, "ratio": ratio, "seconds": seconds}


def chosen(
    space: str,
    seeds: Sequence[int],
    share: float,
    known: Sequence[str],
    ranking: Any = None,
    index: int | None = None,
) -> tuple[ModuleOp, str]:
    """A configuration of a space, as `measure` takes it, and its schedule: one of those `known` where all are."""
    module = parse_text(LaminaContext(), space, "space")
    verify_module(module)
    draws = [f"seed={seed} share={share}" for seed in seeds] if index is None else [f"index={index}"]
    drawn = [(m, _trace(m)) for m in (_drawn(module, draws) if draws else [module])]
    fresh = [found for found in drawn if found[1] not in known]
    if ranking is None or not fresh:
        return (fresh or drawn)[0]
    columns, trees = ranking
    rows = rows_of([decisions(m) for m, _ in fresh], columns)
    return fresh[int(np.argmin(Ranker.of_json(trees).scores(rows)))]


def _trace(module: ModuleOp) -> str:
    return str(next(op for op in module.ops if isinstance(op, ScheduleOp)))


def _drawn(space: ModuleOp, draws: Sequence[str]) -> list[ModuleOp]:
    """The configurations of some options of te-draw-decisions that are not refused.

    Raises the last refusal where all are.
    """
    found: list[ModuleOp] = []
    refusal: LaminaError | None = None
    for options in draws:
        module = space.clone()
        try:
            run_pipeline(module, LaminaContext(), parse_pipeline(f"te-draw-decisions{{{options}}}"))
        except LaminaError as e:
            refusal = e
        else:
            found.append(module)
    if refusal is not None and not found:
        raise refusal
    return found


def warm() -> None:
    """Measure a small kernel: what a measurement imports is there afterwards."""
    from lamina.backends.cpu.jit import host_target

    target = host_target(1)
    text = f"builtin.module attributes {{{TARGET} = {target}}} {{{_SMALL}}}"
    measure(text, text, [0], 1.0, [])


def difference(expected: Mapping[str, Array], found: Mapping[str, Array], dtypes: Iterable[str]) -> str:
    """The first result that differs from what is expected by more than an order of sums of these dtypes may make."""
    tolerance = max(TOLERANCES.get(dtype, 0.0) for dtype in dtypes)
    return Comparer(list(expected), tolerance).difference(found, expected)


def dtypes_of(program: CompiledProgram) -> list[str]:
    """The dtypes of a program's arrays."""
    return [p.dtype for p in (*program.info.inputs, *program.info.outputs)]


def _results(program: CompiledProgram, inputs: Mapping[str, Any]) -> tuple[dict[str, Array], float]:
    """The results of a first run, and its seconds."""
    arrays = program.check(inputs)
    outputs = program.outputs(arrays)
    for o in outputs:
        o.view(np.uint8).fill(POISON)
    start = perf_counter_ns()
    program.run_into(arrays, outputs)
    seconds = max(perf_counter_ns() - start, 1) / 1e9
    return {p.name: o for p, o in zip(program.info.outputs, outputs, strict=True)}, seconds


class _Timed:
    """A program and as many sets of its arrays as are gone through in turn."""

    def __init__(self, program: CompiledProgram, sets: Sequence[tuple[list[Array], list[Array]]]) -> None:
        self.program = program
        self._bases = [program.bases(i, o) for i, o in sets]
        self._next = 0

    def seconds(self) -> float:
        """The time of one run, what a call of no kernels takes left out."""
        bases = self._bases[self._next]
        self._next = (self._next + 1) % len(self._bases)
        start = perf_counter_ns()
        self.program.run_on(bases)
        between = perf_counter_ns()
        self.program.run_on(bases, 0, 0)
        end = perf_counter_ns()
        return max((between - start) - (end - between), 1) / 1e9


def timed(
    control: CompiledProgram, candidate: CompiledProgram, inputs: Mapping[str, Any], rounds: int
) -> tuple[tuple[float, float, float], float]:
    """The candidate's time over the control's with its 95 % interval, and the candidate's median in seconds."""
    arrays = control.check(inputs)
    size = sum(a.nbytes for a in arrays)
    copies = min(max(math.ceil(COLD_BYTES / max(size, 1)), 1), MOST_COPIES)
    sets = [([a.copy() for a in arrays], control.outputs(arrays)) for _ in range(copies)]
    for _, outputs in sets:
        for o in outputs:
            o.view(np.uint8).fill(POISON)  # memory is made by who writes it first
    ours, theirs = _Timed(candidate, sets), _Timed(control, sets)
    ratios: list[float] = []
    times: list[float] = []
    for n in range(rounds + 1):
        pair = (ours, theirs) if n % 2 else (theirs, ours)
        first, second = (timed.seconds() for timed in pair)
        mine, other = (first, second) if n % 2 else (second, first)
        if n:  # the first reads code and scratch memory
            times.append(mine)
            ratios.append(mine / other)
        if min(ratios, default=0.0) > LOOKS.get(len(ratios), math.inf):
            break
    return interval(ratios), sorted(times)[len(times) // 2]


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median of some values, and the ends of an interval that holds that of all with 95 %, or the extremes.

    By order statistics: the number of values below the median is binomial (Conover, Practical Nonparametric
    Statistics, 3.2).
    """
    ordered, n = sorted(values), len(values)
    below, tail = 0, 0.5**n
    while below + 1 <= (n - 1) // 2 and 2 * (tail + math.comb(n, below + 1) * 0.5**n) <= 0.05:
        below += 1
        tail += math.comb(n, below) * 0.5**n
    middle = ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2
    return middle, ordered[below], ordered[n - 1 - below]

"""Random schedules around one primitive: steps that reshape loops and move stages, the primitive, then more steps.

What is accepted must leave the results as they were, by the tir interpreter (which also finds races and reads of what
nothing has written) and, now and then, as machine code. What is refused must have changed nothing.
"""

# Equations are lambdas, whose parameters nobody annotates.
# pyright: standard

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import pytest
import te_programs as programs
from te_levels import run_compiled
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from lamina.dialects.schedule import ops as s
from lamina.dialects.schedule.nest.edits import ScheduleError, blocks_of, stage_loops
from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp
from lamina.dialects.schedule.primitives.compute_inline import ComputeInlineOp
from lamina.dialects.schedule.primitives.fuse import FuseOp
from lamina.dialects.schedule.primitives.loops import LoopsOp
from lamina.dialects.schedule.primitives.parallel import ParallelOp
from lamina.dialects.schedule.primitives.reorder import ReorderOp
from lamina.dialects.schedule.primitives.reverse_compute_at import ReverseComputeAtOp
from lamina.dialects.schedule.primitives.split import SplitOp
from lamina.dialects.schedule.primitives.unroll import UnrollOp
from lamina.dialects.schedule.primitives.vectorize import VectorizeOp
from lamina.dialects.te import lib as te
from lamina.dialects.te.build import Tensor
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.ops import FuncOp as Kernel
from lamina.interpreters.te_interpreter import run_te_func
from lamina.interpreters.tir_interpreter import run_tir_func
from lamina.ir.context import LaminaContext
from lamina.ir.dominance import find_violation
from lamina.ir.parsing import parse_text
from lamina.passes.te_to_tir.te_to_tir import lower_function

Program = Callable[[random.Random], FuncOp]
FACTORS = (1, 2, 2, 3, 4, 5)
SIZES = (0, 1, 2, 3, 5, 7, 8)


class LooseState(s.ScheduleState):
    """Takes any number of results: a random primitive cannot know how many loops it will give."""

    given: int = -1

    def bind(self, handles: Any, loops: Any) -> None:
        self.given = len(loops)


class Draws:
    """A kernel under a schedule that is drawn step by step; what is accepted is kept as text."""

    def __init__(self, func: FuncOp, r: random.Random) -> None:
        self.func: Kernel
        self.func, arguments = lower_function(func)
        self.r = r
        self.state = LooseState(self.func, arguments)
        self.block = Block()
        self.text = s.ScheduleOp.make("f", Region(self.block))
        self.refusals: list[str] = []

    def stages(self) -> list[str]:
        return [name for name, blocks in blocks_of(self.func).items() if len(blocks) == 1]

    def handles(self, stage: str) -> list[SSAValue]:
        """Handles on the loops of a stage."""
        found = stage_loops(self.func, stage)
        made = LoopsOp.make(stage, len(found))
        self.state.loops.update(zip(made.results, found, strict=True))
        self.block.add_op(made)
        return list(made.results)

    def loop(self, handle: SSAValue) -> ForOp:
        return self.state.loops[handle]

    def apply(self, op: Operation | None, watched: bool = False) -> bool:
        """Whether a primitive was accepted; a watched one must change nothing when it is refused."""
        if op is None:
            return False
        assert isinstance(op, s.PrimitiveOp)
        before = str(self.func) if watched else ""
        self.state.given = -1
        try:
            op.apply(self.state)
        except ScheduleError as e:
            assert not watched or str(self.func) == before, (
                f"{op.name} was refused ({e}) after it had changed the function"
            )
            self.refusals.append(f"{op.name}: {e}")
            return False
        if self.state.given not in (-1, len(op.results)):
            results = [s.LOOP] * self.state.given
            op_type = cast(type[Operation], type(op))
            op = op_type.create(operands=list(op.operands), properties=dict(op.properties), result_types=results)
        self.block.add_op(op)
        return True

    def step(self) -> bool:
        """Reshape a loop or move a stage, at random."""
        names = self.stages()
        stage = self.r.choice(names)
        handles = self.handles(stage)
        kind = self.r.choice(["split", "split", "reorder", "reorder", "fuse", "mark", "at", "reverse", "inline"])
        if kind == "inline":
            return self.apply(ComputeInlineOp.make(stage))
        if not handles:
            return False
        if kind == "split":
            factors = [-1, self.r.choice(FACTORS)]
            return self.apply(SplitOp.make(self.r.choice(handles), factors))
        if kind == "reorder" and len(handles) > 1:
            chosen = self.r.sample(handles, self.r.randint(2, len(handles)))
            return self.apply(ReorderOp.create(operands=chosen))
        if kind == "fuse" and len(handles) > 1:
            n = self.r.randrange(len(handles) - 1)
            return self.apply(FuseOp.create(operands=handles[n : n + 2], result_types=[s.LOOP]))
        if kind == "mark":
            op = self.r.choice([UnrollOp, ParallelOp, VectorizeOp])
            return self.apply(op.make(handles[-1] if op is VectorizeOp else self.r.choice(handles)))
        if kind == "at":
            return self.apply(ComputeAtOp.make(self.r.choice(names), self.r.choice(handles), 0))
        if kind == "reverse":
            return self.apply(ReverseComputeAtOp.make(self.r.choice(names), self.r.choice(handles), 0))
        return False


Primitive = Callable[[Draws], Operation | None]


def halves(count: int) -> list[Any]:
    """Ranges of so many seeds, as parameters: the tests of the second half are long."""
    return [range(count // 2), pytest.param(range(count // 2, count), marks=pytest.mark.long)]


def check(seed: int, program: Program, primitive: Primitive, before: int = 4, after: int = 3) -> Draws | None:
    """Draw a schedule with a primitive in it; None where it is refused. Raises AssertionError with all texts."""
    r = random.Random(seed)
    source = program(r)
    arrays = inputs_of(source, seed)
    draws = Draws(source, r)
    for _ in range(r.randint(0, before)):
        draws.step()
    accepted = draws.apply(primitive(draws), True)
    for _ in range(r.randint(0, after) if accepted else 0):
        draws.step()
    module = ModuleOp([draws.func])
    try:
        module.verify()
        assert find_violation(module) is None, "a value is used where it is not defined"
        axes = [v.axis.data for v in draws.func.walk() if type(v) is ForOp]
        assert len(axes) == len(set(axes)), "an axis name is not unique"
        text = str(module)
        assert str(parse_text(LaminaContext(), text, "scheduled.mlir")) == text, "the text does not round-trip"
        for given in arrays:
            for found, wanted in zip(run_tir_func(draws.func, given), run_te_func(source, given), strict=True):
                np.testing.assert_array_equal(found, wanted)
    except Exception as e:
        again = random.Random(seed)
        naive = Draws(program(again), again).func
        text = f"seed {seed}: {type(e).__name__}: {e}\n{naive}\n{draws.text}\n{draws.func}"
        raise AssertionError(text) from e
    return draws if accepted else None


def check_compiled(seed: int, program: Program, primitive: Primitive) -> bool:
    """The same schedules as machine code; whether the primitive was accepted."""
    draws = check(seed, program, primitive, 3, 1)
    if draws is None:
        return False
    source = program(random.Random(seed))
    for given in inputs_of(source, seed)[:2]:
        results = run_compiled(source, given, str(draws.text))
        for found, wanted in zip(results, run_te_func(source, given), strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=f"seed {seed}\n{draws.text}")
    return True


def inputs_of(func: FuncOp, seed: int) -> list[Sequence[Any]]:
    """Inputs whose sums and products are exact; several sizes where sizes are known only when the program runs."""
    block = func.body.block
    sizes = [a for a in block.args if str(a.type) == "index"]
    if not sizes:
        return [programs.inputs_of(func, seed)]
    generator = np.random.default_rng(seed)
    found: list[Sequence[Any]] = []
    for size in SIZES:
        values = {a: size + n for n, a in enumerate(sizes)}
        given: list[Any] = []
        for argument in block.args:
            if argument in values:
                given.append(values[argument])
                continue
            shape = [f.evaluate(values) for f in func_extents(argument)]
            given.append(generator.integers(-4, 5, shape).astype("float32"))
        found.append(given)
    return found


def func_extents(argument: Any) -> list[Any]:
    """The extents of a function's argument."""
    from lamina.dialects.index.sizes import argument_extents

    return argument_extents(argument, argument.block.parent_op().arg_attrs)


# -- programs --------------------------------------------------------------------------------------------------------


def reduction(r: random.Random) -> FuncOp:
    """One of the four reductions, in floats or integers, along one or two dimensions, with a stage behind it."""
    m, k, j = r.randint(1, 6), r.randint(1, 9), r.randint(1, 3)
    combine = r.choice([te.sum, te.max, te.min, te.prod])
    if combine is te.prod:  # whose floats are to be exact
        k, j = min(k, 5), min(j, 2)
    dtype = r.choice(["float32", "int32"])

    def build(x: Tensor) -> Tensor:
        a, b = te.reduce_axis(k, "k"), te.reduce_axis(j, "j")
        axes = (a, b) if r.random() < 0.5 else (b, a)
        c = te.compute((m,), lambda i: combine(x[i, a, b], axes), "C")
        return te.compute((m,), lambda i: c[i] + x[i, 0, 0], "D")

    return programs.program([(m, k, j)], build, dtype)


def elementwise(r: random.Random) -> FuncOp:
    """A stage read once an element: turned, transposed, flattened, split, in part, with a stride, or broadcast."""
    m, n = r.randint(1, 6), r.randint(1, 6)
    kind = r.choice(["same", "turned", "transposed", "flat", "split", "part", "strided", "broadcast"])

    def build(x: Tensor, w: Tensor) -> Tensor:
        b = te.compute((m, n), lambda i, j: x[i, j] + w[j], "B")
        if kind == "turned":
            return te.compute((m, n), lambda i, j: b[m - 1 - i, j] * w[j], "C")
        if kind == "transposed":
            return te.compute((n, m), lambda i, j: b[j, i] * w[i], "C")
        if kind == "flat":
            return te.compute((m * n,), lambda i: b[i // n, i % n] * 2.0, "C")
        if kind == "split":
            flat = te.compute((m * n,), lambda i: x[i // n, i % n] + 1.0, "B2")
            return te.compute((m, n), lambda i, j: flat[i * n + j] * b[i, j], "C")
        if kind == "part":
            return te.compute((m, n - n // 2), lambda i, j: b[i, j + n // 2] * x[i, j], "C")
        if kind == "strided":
            return te.compute(((m + 1) // 2, n), lambda i, j: b[i * 2, j] - w[j], "C")
        if kind == "broadcast":
            return te.compute((m, n, 2), lambda i, j, k: b[i, j] - x[i, j], "C")
        return te.compute((m, n), lambda i, j: te.maximum(b[i, j], w[j]), "C")

    return programs.program([(m, n), (n,)], build)


def chain(r: random.Random) -> FuncOp:
    """Stages each of which reads a window of the one before."""
    n = r.randint(6, 14)

    def build(x: Tensor) -> Tensor:
        last, size = x, n
        for name in "PQR":
            width = r.randint(1, 2)
            size -= width - 1
            before = last
            if width == 1:
                last = te.compute((size,), lambda i, t=before: t[i] * 2.0, name)
            else:
                last = te.compute((size,), lambda i, t=before: t[i] + t[i + 1], name)
        return te.compute((size,), lambda i, t=last: t[i] + x[i], "C")

    return programs.program([(n,)], build)


def windows(r: random.Random) -> FuncOp:
    """A stencil or a sum over windows of a stage, with or without padding, a stride and a dilation."""
    n, w = r.randint(6, 12), r.randint(2, 4)
    stride, pad, dilation = r.choice([1, 1, 2]), r.choice([0, 0, 1]), r.choice([1, 1, 2])
    out = (n + 2 * pad - dilation * (w - 1) - 1) // stride + 1
    if out < 1:
        stride, pad, dilation, out = 1, 0, 1, n - w + 1

    def build(x: Tensor) -> Tensor:
        b = te.compute((n, 3), lambda i, j: x[i, j] * 2.0, "B")
        if pad:
            b = te.pad(b, (pad, 0), (pad, 0))
        k = te.reduce_axis(w, "k")
        return te.compute((out, 3), lambda i, j: te.sum(b[i * stride + k * dilation, j], k), "C")

    return programs.program([(n, 3)], build)


def einsum(r: random.Random) -> FuncOp:
    """A contraction of two or three operands, now and then of parts of them, and a stage behind it."""
    m, n, k, d = (r.randint(1, 6) for _ in range(4))
    kind = r.choice(["matmul", "outer", "batch", "three", "part"])
    dtype = r.choice(["float32", "int32"])

    def build(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        q = te.reduce_axis(k if kind != "part" else max(k - 1, 1), "q")
        if kind == "batch":
            e = te.reduce_axis(d, "e")
            c = te.compute((m, n), lambda i, j: te.sum(x[i, q, e] * w[q, j, e], (q, e)), "C")
        elif kind == "outer":
            c = te.compute((m, n), lambda i, j: te.sum(x[i, q, 0] * b[j], q), "C")
        elif kind == "three":
            e = te.reduce_axis(d, "e")
            c = te.compute((m, n), lambda i, j: te.sum(x[i, q, e] * w[q, j, e] * x[i, q, e], (q, e)), "C")
        else:
            first = te.compute((m, k), lambda i, j: x[i, j, 0], "first")
            second = te.compute((k, n), lambda i, j: w[i, j, 0], "second")
            c = te.compute((m, n), lambda i, j: te.sum(first[i, q] * second[q, j], q), "C")
        return te.compute((m, n), lambda i, j: c[i, j] + b[j], "D")

    return programs.program([(m, k, d), (k, n, d), (n,)], build, dtype)


def symbolic(text: str) -> Program:
    """A program of sizes that are known only when it runs."""

    @cache
    def read() -> FuncOp:
        func = parse_text(LaminaContext(), text, "symbolic.mlir").body.block.first_op
        assert isinstance(func, FuncOp)
        return func

    def make(_: random.Random) -> FuncOp:
        return read().clone()

    return make


def any_program(r: random.Random) -> FuncOp:
    return r.choice([reduction, *programs.PROGRAMS])(r)


MATMUL = symbolic(
    """
te.func @f(%n: index, %k: index, %X: tensor<?x?xf32> {te.shape = #te.map<(d0, d1) -> (d0, d1)>},
           %W: tensor<?x4xf32> {te.shape = #te.map<(d0, d1) -> (d1, 4)>}) -> tensor<?x4xf32> {
  %c = te.compute "C" [%n, 4] sum [%k] (%i, %j, %q) : tensor<?x4xf32> {
    %x = te.read %X[%i, %q] : tensor<?x?xf32>
    %w = te.read %W[%q, %j] : tensor<?x4xf32>
    %p = arith.mulf %x, %w : f32
    te.yield %p : f32
  }
  %d = te.compute "D" [%n, 4] (%i, %j) : tensor<?x4xf32> {
    %y = te.read %c[%i, %j] : tensor<?x4xf32>
    %s = arith.negf %y : f32
    te.yield %s : f32
  }
  te.return %d : tensor<?x4xf32>
}
"""
)
"""Sizes n and n + 1: a product of matrices and its negation."""

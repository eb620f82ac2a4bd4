"""Random schedules on small programs: a schedule that is accepted changes neither a value nor runs into a race."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from lamina.context import LaminaContext
from lamina.dialects.te import schedule as s
from lamina.dialects.te.ops import FuncOp
from lamina.dialects.tir.nest import ScheduleError, blocks_of, stage_loops
from lamina.dialects.tir.ops import ForOp
from lamina.dialects.tir.ops import FuncOp as Kernel
from lamina.dominance import find_violation
from lamina.errors import InputError
from lamina.passes.te_to_tir import lower_function
from lamina.passes.tir.lower_blocks import LowerBlocksPass
from lamina.passes.tir.vectorize_loop import VectorizeLoopPass
from lamina.runtime.te_interpreter import run_te_func
from lamina.runtime.tir_interpreter import run_tir_func


def _programs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("te_programs", Path(__file__).with_name("te_programs.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = _programs()
STEPS = 7
FACTORS = (1, 2, 2, 3, 4, 5)


class LooseState(s.ScheduleState):
    """Takes any number of results: a random primitive cannot know how many loops it will give."""

    given: int = 0

    def bind(self, handles: Any, loops: Any) -> None:
        self.given = len(loops)


class RandomSchedule:
    """Draws primitives and applies them, keeping those that are accepted as the text of a schedule."""

    def __init__(self, func: Kernel, arguments: dict[str, SSAValue], r: random.Random) -> None:
        self.func = func
        self.r = r
        self.state = LooseState(func, arguments)
        self.block = Block()
        self.text = s.ScheduleOp.make("f", Region(self.block))
        self.refused: dict[str, int] = {}

    def step(self) -> None:
        stages = [name for name, blocks in blocks_of(self.func).items() if len(blocks) == 1]
        if not stages:
            return
        stage = self.r.choice(stages)
        loops = stage_loops(self.func, stage)
        handles = s.LoopsOp.make(stage, len(loops))
        draw = self.r.choice(self.draws())
        self.state.loops.update(zip(handles.results, loops, strict=True))
        made = draw(stage, list(handles.results), stages)
        if made is None:
            return
        before = str(self.func)
        try:
            made.apply(self.state)
        except ScheduleError as e:
            assert str(self.func) == before, f"{made.name} was refused ({e}) after it had changed the function"
            self.refused[made.name] = self.refused.get(made.name, 0) + 1
            return
        self.block.add_op(handles)
        self.block.add_op(made)
        if made.results and len(made.results) != self.state.given:
            operands, properties, op_type = (
                list(made.operands),
                dict(made.properties),
                cast(type[Operation], type(made)),
            )
            made.detach()
            results = [s.LOOP] * self.state.given
            self.block.add_op(op_type.create(operands=operands, properties=properties, result_types=results))

    def draws(self) -> list[Any]:
        return [
            self.split, self.split, self.fuse, self.reorder, self.reorder, self.tile, self.annotate, self.annotate,
            self.compute_at, self.compute_at, self.reverse_compute_at, self.inline, self.cache_read, self.cache_write,
            self.compute_at, self.reverse_compute_at, self.reverse_compute_at, self.cache_read, self.inline,
            self.set_scope, self.partition, self.partition, self.partition,
        ]  # fmt: skip

    def split(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if not loops:
            return None
        factors = [self.r.choice(FACTORS) for _ in range(self.r.randint(1, 3))]
        factors[self.r.randrange(len(factors))] = -1
        return s.SplitOp.make(self.r.choice(loops), factors)

    def tile(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if len(loops) < 2:
            return None
        y, x = self.r.sample(loops, 2)
        return s.TileOp.make(y, x, [self.r.choice(FACTORS), self.r.choice(FACTORS)])

    def fuse(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if len(loops) < 2:
            return None
        first = self.r.randrange(len(loops) - 1)
        count = self.r.choice([2, 2, 3])
        return s.FuseOp.create(operands=loops[first : first + count], result_types=[s.LOOP])

    def reorder(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if len(loops) < 2:
            return None
        return s.ReorderOp.create(operands=self.r.sample(loops, self.r.randint(2, len(loops))))

    def annotate(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if not loops:
            return None
        kind = self.r.choice([s.VectorizeOp, s.UnrollOp, s.ParallelOp])
        loop = loops[-1] if kind is s.VectorizeOp and self.r.random() < 0.7 else self.r.choice(loops)
        return kind.make(loop)

    def compute_at(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        before = stages[: stages.index(stage)] or stages
        return s.ComputeAtOp.make(self.r.choice(before), self.r.choice(loops), 0) if loops else None

    def reverse_compute_at(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        after = stages[stages.index(stage) + 1 :] or stages
        return s.ReverseComputeAtOp.make(after[0], self.r.choice(loops), 0) if loops else None

    def inline(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        return s.ComputeInlineOp.make(stage)

    def cache_read(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        if not loops:
            return None
        tensor = self.r.choice([*stages, *self.state.arguments])
        return s.CacheReadOp.make(tensor, stage, self.r.choice(loops), self.r.choice(["global", "register"]), 0)

    def cache_write(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        return s.CacheWriteOp.make(stage, self.r.choice(["global", "register"]))

    def set_scope(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        return s.SetScopeOp.make(stage, self.r.choice(["global", "register"]))

    def partition(self, stage: str, loops: list[SSAValue], stages: list[str]) -> Operation | None:
        with_tails = [v for v in loops if any(u.operation.name == "tir.for" for u in self.state.loops[v].var.uses)]
        return s.PartitionOp.make(self.r.choice(with_tails)) if with_tails else self.split(stage, loops, stages)


def check(seed: int) -> RandomSchedule:
    """One program and one schedule. Raises AssertionError with the texts where the schedule changes the program."""
    r = random.Random(seed)
    source: FuncOp = r.choice(programs.PROGRAMS)(r)
    arrays = programs.inputs_of(source, seed)
    expected = run_te_func(source, arrays)
    kernel, arguments = lower_function(source)
    naive = str(kernel)
    schedule = RandomSchedule(kernel, arguments, r)
    for _ in range(r.randint(1, STEPS)):
        schedule.step()
    module = ModuleOp([kernel])
    stage = "scheduled"
    try:
        module.verify()
        assert find_violation(module) is None, "a value is used where it is not defined"
        axes = [v.axis.data for v in kernel.walk() if type(v) is ForOp]
        assert len(axes) == len(set(axes)), "an axis name is not unique"
        compare(kernel, arrays, expected)
        stage = "read back from its text"
        ctx = LaminaContext()
        again = Parser(ctx, str(module)).parse_module()
        assert str(again) == str(module), "the text does not round-trip"
        stage = "with its blocks lowered"
        LowerBlocksPass().apply(ctx, module)
        module.verify()
        compare(kernel, arrays, expected)
        stage = "vectorized"
        vector_loops = [v for v in kernel.walk() if type(v) is ForOp and v.kind.data == "vectorized"]
        if vector_loops:
            try:
                VectorizeLoopPass().apply(ctx, module)
            except InputError:
                return schedule  # what cannot be vectorized is refused by name
            module.verify()
            compare(kernel, arrays, expected)
    except Exception as e:
        text = f"seed {seed}, {stage}: {type(e).__name__}: {e}\n{naive}\n{schedule.text}\n{kernel}"
        raise AssertionError(text) from e
    return schedule


def compare(kernel: Kernel, arrays: Any, expected: Any) -> None:
    for found, wanted in zip(run_tir_func(kernel, arrays), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("block", range(8))
def test_random_schedules_keep_values(block: int) -> None:
    for seed in range(block * 45, block * 45 + 45):
        check(seed)

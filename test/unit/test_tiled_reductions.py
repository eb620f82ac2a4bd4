"""Reductions that share what they read: tiles of drawn programs by default and as sketches, on several machines."""

# pyright: standard

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

from lamina import te
from lamina.dialects.target import TARGET
from lamina.driver.te_program import compiled_text
from lamina.errors import LaminaError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.ir.pipeline import parse_pipeline, run_pipeline
from lamina.ir.targets import target_of
from lamina.tensor.program import te_module
from lamina.tuning.kernel_task import KernelTask, tasks_of
from lamina.tuning.measuring import chosen

from .turns import by_turns


def product(r: random.Random, dtype: str) -> tuple[list[Any], Any]:
    """A product of matrices, some of them together, one of them turned, with or without an epilogue."""
    batch, n, m, k = (r.choice([[], [r.randint(2, 9)]]), *(r.randint(1, 40) for _ in range(3)))
    turned, follows = r.random() < 0.3, r.random() < 0.5
    a = te.placeholder((*batch, n, k), dtype, "A")
    b = te.placeholder((*batch, m, k) if turned else (*batch, k, m), dtype, "B")
    t = te.reduce_axis((0, k), name="t")
    c = te.compute(
        (*batch, n, m),
        lambda *i: te.sum(a[(*i[:-1], t)] * (b[(*i[:-2], i[-1], t)] if turned else b[(*i[:-2], t, i[-1])]), axis=t),
        name="C",
    )
    out = te.compute(c.shape, lambda *i: c[i] + a[(*i[:-1], 0)], name="E") if follows else c

    def wanted(x: Any, y: Any) -> Any:
        found = x @ (np.swapaxes(y, -1, -2) if turned else y)
        return found + x[..., :1] if follows else found

    return [a, b, out], wanted


def window(r: random.Random, dtype: str) -> tuple[list[Any], Any]:
    """Windows of rows: channels, two axes, strides."""
    ci, co, h, w, k, s = (r.randint(1, 9), r.randint(1, 20), *(r.randint(5, 30) for _ in range(2)), r.randint(1, 4), 1)
    s = r.choice([1, 2])
    x, f = te.placeholder((ci, h, w), dtype, "X"), te.placeholder((co, ci, k, k), dtype, "F")
    c, dy, dx = te.reduce_axis((0, ci), name="c"), te.reduce_axis((0, k), name="dy"), te.reduce_axis((0, k), name="dx")
    shape = (co, (h - k) // s + 1, (w - k) // s + 1)
    out = te.compute(
        shape, lambda o, i, j: te.sum(x[c, i * s + dy, j * s + dx] * f[o, c, dy, dx], axis=[c, dy, dx]), name="conv"
    )

    def wanted(a: Any, b: Any) -> Any:
        views = np.lib.stride_tricks.sliding_window_view(a, (k, k), (1, 2))[:, ::s, ::s]
        return np.einsum("cijyx,ocyx->oij", views, b)

    return [x, f, out], wanted


def task_of(tensors: list[Any], target: str, passes: str) -> KernelTask:
    module, _ = te_module([tensors[-1].op], tensors, "task")
    module.attributes[TARGET] = target_of(target, 1)
    run_pipeline(module, LaminaContext(), parse_pipeline(passes))
    (found,) = tasks_of(module, target_of(target, 1))
    return found


def check(task: KernelTask, schedule: str, target: str, wanted: Any, seed: int, dtype: str) -> None:
    program = compiled_text(task.program(schedule), "task", target_of(target, 1))
    r = np.random.default_rng(seed)
    arrays = [r.integers(-4, 5, p.shape).astype(p.dtype) for p in program.info.inputs]
    (found,) = program.run({p.name: a for p, a in zip(program.info.inputs, arrays, strict=True)}).values()
    np.testing.assert_array_equal(found, wanted(*arrays).astype(dtype), err_msg=schedule)


@pytest.mark.parametrize(("target", "program"), by_turns(("cpu", "x86-64-v3", "x86-64-v2"), (product, window)))
def test_drawn_reductions_in_tiles(program: Any, target: str) -> None:
    tiled = 0
    for seed in range(10):
        r = random.Random(seed)
        dtype = r.choice(["float32", "float32", "float64", "int32"])
        tensors, wanted = program(r, dtype)
        task = task_of(tensors, target, "cpu-schedule")
        tiled += "te.parallel" in task.schedule and "te.unroll" in task.schedule
        check(task, task.schedule, target, wanted, seed, dtype)
    assert tiled > 4


@pytest.mark.parametrize(("n", "m"), [(2, 300), (300, 40), (1, 300)])
def test_threads_share_whichever_side_is_long(n: int, m: int) -> None:
    """Few rows of many columns, many rows, and one row: no loop of one iteration is what they share."""
    r = random.Random(n)
    a, b = te.placeholder((n, 24), "float32", "A"), te.placeholder((24, m), "float32", "B")
    t = te.reduce_axis((0, 24), name="t")
    c = te.compute((n, m), lambda i, j: te.sum(a[i, t] * b[t, j], axis=t), name="C")
    module, _ = te_module([c.op], [a, b, c], "task")
    target = target_of("cpu", 2)
    module.attributes[TARGET] = target
    run_pipeline(module, LaminaContext(), parse_pipeline("cpu-schedule"))
    (task,) = tasks_of(module, target)
    program = compiled_text(task.program(task.schedule), "task", target)
    x, y = (np.array(r.choices(range(-4, 5), k=s[0] * s[1]), np.float32).reshape(s) for s in ((n, 24), (24, m)))
    (found,) = program.run(dict(zip((p.name for p in program.info.inputs), (x, y), strict=True))).values()
    np.testing.assert_array_equal(found, x @ y)
    lowered = parse_text(LaminaContext(), task.program(task.schedule), "task")
    run_pipeline(lowered, LaminaContext(), parse_pipeline("te-to-tir"))
    shared = [int(k) for k in re.findall(r"= 0 to (\d+) parallel", str(lowered))]
    assert shared and min(shared) >= 4


@pytest.mark.parametrize(("target", "program"), by_turns(("cpu", "x86-64-v3"), (product, window)))
def test_drawn_configurations_of_sketches(program: Any, target: str) -> None:
    """They are refused or compute the same."""
    ran = 0
    for seed in range(8):
        r = random.Random(100 + seed)
        dtype = r.choice(["float32", "int32"])
        tensors, wanted = program(r, dtype)
        task = task_of(tensors, target, "cpu-sketch")
        check(task, task.schedule, target, wanted, seed, dtype)
        for draw in range(2):
            try:
                _, trace = chosen(task.program(task.schedule), [draw], 1.0, [])
                compiled_text(task.program(trace), "task", target_of(target, 1))
            except LaminaError:
                continue
            check(task, trace, target, wanted, seed, dtype)
            ran += 1
    assert ran > 2

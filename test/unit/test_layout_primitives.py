"""transform_layout in random schedules: what is accepted computes the same."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from xdsl.ir import Operation

sys.path.insert(0, str(Path(__file__).parent))
from stage_schedules import (  # noqa: E402
    MATMUL,
    Draws,
    Primitive,
    Program,
    any_program,
    check,
    check_compiled,
    halves,
    windows,
)
from turns import by_turns  # noqa: E402

from lamina.dialects.index.index_map import IndexMap, IndexMapAttr  # noqa: E402
from lamina.dialects.index.linear import Linear, floordiv, mod  # noqa: E402
from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp  # noqa: E402
from lamina.dialects.schedule.primitives.rolling_buffer import RollingBufferOp  # noqa: E402
from lamina.dialects.schedule.primitives.transform_layout import TransformLayoutOp  # noqa: E402
from lamina.dialects.tir.memory import type_of  # noqa: E402

pytestmark = pytest.mark.slow


def layout(r: random.Random, shape: tuple[int, ...]) -> IndexMap:
    """A permutation of dimensions of which some are split, two fused or one turned; now and then nonsense."""
    forms: list[Linear] = [Linear.dim(n) for n in range(len(shape))]
    sizes: list[int] = list(shape)
    for _ in range(r.randint(0, 2)):
        n = r.randrange(len(forms))
        kind = r.choice(["split", "split", "swap", "fuse", "turn", "wrong"])
        if kind == "split":
            k = r.randint(1, 4)
            forms[n : n + 1] = [floordiv(forms[n], k), mod(forms[n], k)]
            sizes[n : n + 1] = [-(-sizes[n] // k), k]
        elif kind == "fuse" and n + 1 < len(forms) and min(sizes[n : n + 2]) > 0:
            forms[n : n + 2] = [forms[n] * sizes[n + 1] + forms[n + 1]]
            sizes[n : n + 2] = [sizes[n] * sizes[n + 1]]
        elif kind == "turn" and sizes[n] > 0:
            forms[n] = sizes[n] - 1 - forms[n]
        elif kind == "wrong" and r.random() < 0.3:
            forms[n] = r.choice([floordiv(forms[n], 2), forms[n] - 1, forms[n] * 2])
        else:
            order = r.sample(range(len(forms)), len(forms))
            forms = [forms[i] for i in order]
            sizes = [sizes[i] for i in order]
    return IndexMap(len(shape), tuple(forms))


def stored(draws: Draws) -> Operation | None:
    stage = draws.r.choice(draws.stages())
    shape = type_of(draws.state.tensor(stage)).get_shape()
    return TransformLayoutOp.make(stage, IndexMapAttr(layout(draws.r, shape)))


def iterated(draws: Draws) -> Operation | None:
    made = stored(draws)
    assert isinstance(made, TransformLayoutOp)
    return TransformLayoutOp.make(made.stage.data, made.layout, 1)


def rolling(draws: Draws) -> Operation | None:
    """A stage that was moved into a loop, if there is one."""
    stages = draws.stages()
    last = draws.r.randrange(len(stages))
    handles = draws.handles(stages[last])
    if handles and last:
        draws.apply(ComputeAtOp.make(draws.r.choice(stages[:last]), draws.r.choice(handles), 0))
    if draws.r.random() < 0.5:
        draws.step()
    moved = [s for s, a in draws.state.attached.items() if a is not None and s in draws.stages()]
    return RollingBufferOp.make(draws.r.choice(moved)) if moved else None


@pytest.mark.parametrize("seeds", halves(120), ids=str)
def test_windows_that_roll_keep_values(seeds: range) -> None:
    accepted = {p: sum(check(seed, p, rolling) is not None for seed in seeds) for p in (windows, any_program)}
    assert accepted[windows] > 4 and accepted[any_program] > 1


def test_machine_code_of_windows_that_roll() -> None:
    assert sum(check_compiled(seed, windows, rolling) for seed in range(40)) > 2


PRIMITIVES = {"stored": stored, "iterated": iterated}


@pytest.mark.parametrize(("primitive", "program"), by_turns(list(PRIMITIVES.values()), (any_program, MATMUL)))
@pytest.mark.parametrize("seeds", halves(70), ids=str)
def test_random_schedules_keep_values(seeds: range, primitive: Primitive, program: Program) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in seeds)
    assert accepted > 5


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_machine_code_of_random_schedules(primitive: Primitive) -> None:
    assert sum(check_compiled(seed, any_program, primitive) for seed in range(20)) > 3

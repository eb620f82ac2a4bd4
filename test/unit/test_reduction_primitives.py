"""rfactor and decompose_reduction in random schedules: what is accepted computes the same."""

from __future__ import annotations

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
    reduction,
)
from turns import by_turns  # noqa: E402

from lamina.dialects.schedule.primitives.decompose_reduction import DecomposeReductionOp  # noqa: E402
from lamina.dialects.schedule.primitives.rfactor import RFactorOp  # noqa: E402

pytestmark = pytest.mark.slow


def rfactor(draws: Draws) -> Operation | None:
    stage = draws.r.choice(draws.stages())
    handles = draws.handles(stage)
    reductions = [h for h in handles if draws.loop(h).is_reduction]
    if not handles:
        return None
    loop = draws.r.choice(reductions or handles)
    return RFactorOp.make(stage, loop, draws.r.randint(-2, 1), 0)


def decompose(draws: Draws) -> Operation | None:
    stage = draws.r.choice(draws.stages())
    handles = draws.handles(stage)
    return DecomposeReductionOp.make(stage, draws.r.choice(handles)) if handles else None


@pytest.mark.parametrize(("program", "primitive"), by_turns((reduction, any_program, MATMUL), (rfactor, decompose)))
@pytest.mark.parametrize("seeds", halves(70), ids=str)
def test_random_schedules_keep_values(seeds: range, primitive: Primitive, program: Program) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in seeds)
    assert accepted > 4


@pytest.mark.parametrize("primitive", [rfactor, decompose], ids=["rfactor", "decompose_reduction"])
def test_machine_code_of_random_schedules(primitive: Primitive) -> None:
    assert sum(check_compiled(seed, reduction, primitive) for seed in range(12)) > 3

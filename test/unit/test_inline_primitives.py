"""reverse_compute_inline in random schedules: what is accepted computes the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from xdsl.ir import Operation

sys.path.insert(0, str(Path(__file__).parent))
from stage_schedules import (  # noqa: E402
    Draws,
    Primitive,
    Program,
    any_program,
    check,
    check_compiled,
    elementwise,
    halves,
)

from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp  # noqa: E402
from lamina.dialects.schedule.primitives.compute_root import ComputeRootOp  # noqa: E402
from lamina.dialects.schedule.primitives.reverse_compute_inline import ReverseComputeInlineOp  # noqa: E402

pytestmark = pytest.mark.slow


def reverse_inline(draws: Draws) -> Operation | None:
    return ReverseComputeInlineOp.make(draws.r.choice(draws.stages()[1:] or draws.stages()))


def root(draws: Draws) -> Operation | None:
    """A stage that was moved into a loop, if there is one; half of the time with another step between."""
    if not draws.state.attached:
        stages = draws.stages()
        handles = draws.handles(draws.r.choice(stages))
        if handles:
            draws.apply(ComputeAtOp.make(draws.r.choice(stages), draws.r.choice(handles), 0))
    if draws.r.random() < 0.5:
        draws.step()
    stages = [s for s in draws.state.attached if s in draws.stages()] or draws.stages()
    return ComputeRootOp.make(draws.r.choice(stages), 0)


PRIMITIVES = {"compute_root": root, "reverse_compute_inline": reverse_inline}


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
@pytest.mark.parametrize(("program", "least"), [(elementwise, 10), (any_program, 1)], ids=["elementwise", "any"])
@pytest.mark.parametrize("seeds", halves(70), ids=str)
def test_random_schedules_keep_values(seeds: range, primitive: Primitive, program: Program, least: int) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in seeds)
    assert accepted > least


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_machine_code_of_random_schedules(primitive: Primitive) -> None:
    assert sum(check_compiled(seed, elementwise, primitive) for seed in range(12)) > 3

"""create_group and normalize in random schedules: what is accepted computes the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from xdsl.ir import Operation

sys.path.insert(0, str(Path(__file__).parent))
from stage_schedules import MATMUL, Draws, Primitive, Program, any_program, chain, check, check_compiled  # noqa: E402

from lamina.dialects.schedule.primitives.compute_at import ComputeAtOp  # noqa: E402
from lamina.dialects.schedule.primitives.create_group import CreateGroupOp  # noqa: E402
from lamina.dialects.schedule.primitives.normalize import NormalizeOp  # noqa: E402

pytestmark = pytest.mark.slow


def group(draws: Draws) -> Operation | None:
    """Some stages before another, as a group that moves into a loop of it."""
    stages = draws.stages()
    last = draws.r.randrange(len(stages))
    handles = draws.handles(stages[last])
    if not last or not handles:
        return None
    count = draws.r.randint(1, min(3, last))
    members = draws.r.choice([stages[last - count : last], draws.r.sample(stages[:last], count)])
    draws.apply(CreateGroupOp.make("group", members))
    return ComputeAtOp.make("group", draws.r.choice(handles), 0)


def normalize(draws: Draws) -> Operation | None:
    return NormalizeOp.make()


@pytest.mark.parametrize(
    ("primitive", "program", "least"),
    [(group, chain, 12), (group, any_program, 2), (normalize, any_program, 34), (normalize, MATMUL, 34)],
    ids=["create_group-chain", "create_group-any", "normalize-any", "normalize-symbolic"],
)
def test_random_schedules_keep_values(primitive: Primitive, program: Program, least: int) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in range(35))
    assert accepted > least


@pytest.mark.parametrize(
    ("primitive", "program"), [(group, chain), (normalize, any_program)], ids=["create_group", "normalize"]
)
def test_machine_code_of_random_schedules(primitive: Primitive, program: Program) -> None:
    assert sum(check_compiled(seed, program, primitive) for seed in range(12)) > 3

"""blockize and pad_einsum in random schedules: what is accepted computes the same."""

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
    einsum,
)

from lamina.dialects.schedule.primitives.blockize import BlockizeOp  # noqa: E402
from lamina.dialects.schedule.primitives.pad_einsum import PadEinsumOp  # noqa: E402

pytestmark = pytest.mark.slow


def blockize(draws: Draws) -> Operation | None:
    stage = draws.r.choice(draws.stages())
    handles = draws.handles(stage)
    return BlockizeOp.make(draws.r.choice(handles), f"{stage}_o") if handles else None


def pad_einsum(draws: Draws) -> Operation | None:
    stage = "C" if "C" in draws.stages() else draws.r.choice(draws.stages())
    return PadEinsumOp.make(stage, [draws.r.choice([1, 2, 3, 4]) for _ in draws.handles(stage)])


@pytest.mark.parametrize(
    ("primitive", "program", "least"),
    [
        (blockize, any_program, 20),
        (blockize, MATMUL, 20),
        (pad_einsum, einsum, 6),
        (pad_einsum, any_program, 0),
        (pad_einsum, MATMUL, 4),
    ],
    ids=["blockize-any", "blockize-symbolic", "pad_einsum-einsum", "pad_einsum-any", "pad_einsum-symbolic"],
)
def test_random_schedules_keep_values(primitive: Primitive, program: Program, least: int) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in range(25))
    assert accepted > least


@pytest.mark.parametrize(
    ("primitive", "program"), [(blockize, any_program), (pad_einsum, einsum)], ids=["blockize", "pad_einsum"]
)
def test_machine_code_of_random_schedules(primitive: Primitive, program: Program) -> None:
    assert sum(check_compiled(seed, program, primitive) for seed in range(10)) > 2

"""cache_read and cache_write in random schedules: what is accepted computes the same."""

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
)
from turns import by_turns  # noqa: E402

from lamina.dialects.schedule.primitives.cache_read import CacheReadOp  # noqa: E402
from lamina.dialects.schedule.primitives.cache_write import CacheWriteOp  # noqa: E402

pytestmark = pytest.mark.slow

SCOPES = ["global", "local", "shared"]


def reads_of(draws: Draws, stage: str) -> list[str]:
    """The tensors that a stage reads, by name."""
    from lamina.dialects.schedule.nest.edits import accesses, stage_block, stage_buffer

    names = {stage_buffer(draws.func, s): s for s in draws.stages()}
    names |= {v: n for n, v in draws.state.arguments.items()}
    found = {names.get(o.buffer_value()) for o in accesses(stage_block(draws.func, stage).body.block)}
    return sorted(n for n in found if n is not None)


def whole(draws: Draws) -> Operation | None:
    stages = draws.r.sample(draws.stages(), min(2, len(draws.stages())))
    shared = set(reads_of(draws, stages[0])).intersection(*(reads_of(draws, s) for s in stages[1:]))
    if not shared or draws.r.random() < 0.5:
        stages = stages[:1]
        shared = set(reads_of(draws, stages[0]))
    tensor = draws.r.choice(sorted(shared))
    return CacheReadOp.make(tensor, stages, None, draws.r.choice(SCOPES))


def at_loop(draws: Draws) -> Operation | None:
    stage = draws.r.choice(draws.stages())
    handles = draws.handles(stage)
    tensor = draws.r.choice(reads_of(draws, stage))
    return CacheReadOp.make(tensor, stage, draws.r.choice(handles), draws.r.choice(SCOPES)) if handles else None


def write(draws: Draws) -> Operation | None:
    return CacheWriteOp.make(draws.r.choice(draws.stages()), draws.r.choice(SCOPES))


PRIMITIVES = {"cache_read": whole, "cache_read_at": at_loop, "cache_write": write}


@pytest.mark.parametrize(("primitive", "program"), by_turns(list(PRIMITIVES.values()), (any_program, MATMUL)))
@pytest.mark.parametrize("seeds", halves(35), ids=str)
def test_random_schedules_keep_values(seeds: range, primitive: Primitive, program: Program) -> None:
    accepted = sum(check(seed, program, primitive) is not None for seed in seeds)
    assert accepted > 2


@pytest.mark.parametrize("primitive", PRIMITIVES.values(), ids=PRIMITIVES)
def test_machine_code_of_random_schedules(primitive: Primitive) -> None:
    assert sum(check_compiled(seed, any_program, primitive) for seed in range(12)) > 3

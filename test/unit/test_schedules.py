"""Random schedules: what is accepted changes nothing, and what is refused for its meaning would change something.

The full run, with 6,000 schedules, is `bench/random_schedules.py`; here are a few of them, the same every time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from drawn_primitives import DRAWS  # noqa: E402
from random_schedules import RandomSchedule, Statistics  # noqa: E402

from lamina.dialects.schedule.nest.edits import stage_loops  # noqa: E402
from lamina.dialects.schedule.ops import primitives  # noqa: E402
from lamina.dialects.schedule.primitives.loops import LoopsOp  # noqa: E402
from lamina.dialects.schedule.primitives.parallel import ParallelOp  # noqa: E402

pytestmark = pytest.mark.slow

SEEDS = 16
BLOCKS = [n if n < 2 else pytest.param(n, marks=pytest.mark.long) for n in range(10)]


def test_every_primitive_is_drawn() -> None:
    assert set(DRAWS) == {op.name for op in primitives()} - {LoopsOp.name}


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS)
def test_accepted_schedules_change_nothing(block: int) -> None:
    statistics = Statistics()
    for seed in range(block * SEEDS, block * SEEDS + SEEDS):
        schedule = RandomSchedule(seed, statistics)
        schedule.draw(schedule.r.randint(8, 14))
        schedule.check()
    assert sorted(statistics.lengths)[SEEDS // 2] >= 8
    wrongly, draws = sum(statistics.wrongly.values()), statistics.draws()
    assert wrongly <= 0.1 * draws, f"{wrongly} of {draws} draws refused without need: {statistics.wrongly}"


def test_the_oracle_sees_what_an_illegal_primitive_does() -> None:
    """A parallel reduction is refused, and applied all the same it is found to be a race."""
    for seed in range(100):
        schedule = RandomSchedule(seed)
        kernel = schedule.kernel
        stages = {
            name: stage_loops(kernel, name) for name in ("acc", "conv", "dw", "total") if name in schedule.stages()
        }
        for stage, loops in stages.items():
            wide = [n for n, v in enumerate(loops) if v.is_reduction and not v.is_dynamic and v.trip > 1]
            if wide:
                named = LoopsOp.make(stage, len(loops))
                assert not schedule.keeps_meaning(named, ParallelOp.make(named.results[wide[0]]))
                return
    raise AssertionError("no program has a reduction")

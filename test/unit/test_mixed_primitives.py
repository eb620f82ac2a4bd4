"""Several primitives one after the other, each on what the others have made; and the same from the Python builder."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.ir import Operation

sys.path.insert(0, str(Path(__file__).parent))
import te_programs  # noqa: E402
from stage_schedules import MATMUL, Draws, Program, any_program, check, einsum, windows  # noqa: E402
from te_levels import run_compiled, run_scheduled  # noqa: E402
from test_block_primitives import blockize, pad_einsum  # noqa: E402
from test_cache_primitives import at_loop, whole, write  # noqa: E402
from test_group_primitives import group, normalize  # noqa: E402
from test_inline_primitives import reverse_inline, root  # noqa: E402
from test_layout_primitives import iterated, rolling, stored  # noqa: E402
from test_reduction_primitives import decompose, rfactor  # noqa: E402

from lamina.dialects.index.index_map import IndexMap, IndexMapAttr  # noqa: E402
from lamina.dialects.index.linear import Linear, floordiv, mod  # noqa: E402
from lamina.dialects.schedule.build import Schedule  # noqa: E402
from lamina.dialects.schedule.nest.refusals import ScheduleError  # noqa: E402
from lamina.interpreters.te_interpreter import run_te_func  # noqa: E402

pytestmark = pytest.mark.slow

PRIMITIVES = [
    *(rolling, stored, iterated, root, reverse_inline, whole, at_loop, write),
    *(blockize, pad_einsum, rfactor, decompose, group, normalize),
]


def several(draws: Draws) -> Operation | None:
    """Some primitives, then one more; None where the last one drawn has nothing to name."""
    for n in range(draws.r.randint(2, 5), -1, -1):
        try:
            op = draws.r.choice(PRIMITIVES)(draws)
        except (ScheduleError, IndexError):  # no stage is whole any more, or one of several results is
            return None
        if n == 0:
            return op
        draws.apply(op, True)
    return None


@pytest.mark.parametrize(
    "program", [any_program, einsum, windows, MATMUL], ids=["any", "einsum", "windows", "symbolic"]
)
def test_primitives_after_each_other_keep_values(program: Program) -> None:
    assert sum(check(seed, program, several) is not None for seed in range(20)) > 4


def test_builder_records_what_is_applied() -> None:
    func = te_programs.matmul(random.Random(3))
    s = Schedule(func)
    s.pad_einsum("acc", [4, 4, 2])
    loops = s.loops("acc")
    name, partial = s.rfactor("acc", loops[2], 0, 3)
    s.parallel(partial[2])
    layout = IndexMap(3, (Linear.dim(1), floordiv(Linear.dim(2), 2), Linear.dim(0), mod(Linear.dim(2), 2)))
    s.transform_layout(name, IndexMapAttr(layout))
    s.reverse_compute_inline("relu")
    copy = s.cache_read_stage("X", ["X.pad"], "global")
    s.vectorize(s.loops(copy)[1])
    s.create_group("inputs", [copy])
    s.blockize(s.loops("acc.out")[1], "tail")
    s.normalize()
    given = te_programs.inputs_of(func, 3)
    text = str(s.build())
    for run in (run_scheduled, run_compiled):
        for found, wanted in zip(run(func, given, text), run_te_func(func, given), strict=True):
            np.testing.assert_array_equal(found, wanted)

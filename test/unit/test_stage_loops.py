"""Handles on a stage's loops: found without a look through the whole function, and right after every primitive."""

from __future__ import annotations

import pytest

from lamina.dialects.schedule import primitive as handles
from lamina.dialects.schedule.nest import edits as nest
from lamina.dialects.schedule.ops import ScheduleOp
from lamina.dialects.schedule.primitive import LoopPrimitiveOp, PrimitiveOp, ScheduleState
from lamina.dialects.te import ops as te
from lamina.dialects.tir.ops import BlockOp, FuncOp, enclosing_loops
from lamina.errors import InputError
from lamina.ir.context import LaminaContext
from lamina.ir.parsing import parse_text
from lamina.passes.te_to_tir.te_to_tir import apply_schedule, lower_function


def chain(stages: int, schedule: str) -> str:
    """Stage s0 doubles X, s1 doubles s0, and so on; the schedule of them."""
    lines = ["te.func @f(%X: tensor<8x10xf32>) -> tensor<8x10xf32> {"]
    for n in range(stages):
        lines.append(
            f'  %s{n} = te.compute "s{n}" [8, 10] (%i, %j) : tensor<8x10xf32> {{\n'
            f"    %a = te.read %{f's{n - 1}' if n else 'X'}[%i, %j] : tensor<8x10xf32>\n"
            "    %b = arith.addf %a, %a : f32\n    te.yield %b : f32\n  }"
        )
    return "\n".join([*lines, f"  te.return %s{stages - 1} : tensor<8x10xf32>\n}}\nte.schedule @f {{\n{schedule}\n}}"])


def lowered(text: str) -> tuple[ScheduleOp, FuncOp, ScheduleState]:
    module = parse_text(LaminaContext(), text, "chain.mlir")
    (func,) = (op for op in module.ops if isinstance(op, te.FuncOp))
    (schedule,) = (op for op in module.ops if isinstance(op, ScheduleOp))
    kernel, arguments = lower_function(func)
    return schedule, kernel, ScheduleState(kernel, arguments)


def test_a_schedule_of_loops_looks_for_stages_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[FuncOp] = []
    blocks_of = nest.blocks_of

    def counted(func: FuncOp) -> dict[str, list[BlockOp]]:
        looked.append(func)
        return blocks_of(func)

    monkeypatch.setattr(nest, "blocks_of", counted)
    monkeypatch.setattr(handles, "blocks_of", counted)
    each = '%i{0}, %j{0} = te.loops "s{0}" [2]\n%a{0}, %b{0} = te.split %j{0} [-1, 4]\nte.vectorize %b{0}'
    schedule, kernel, state = lowered(chain(30, "\n".join(each.format(n) for n in range(30))))
    apply_schedule(schedule, kernel, state.arguments)
    assert len(looked) == 1


PRIMITIVES = """
  %i0, %j0 = te.loops "s0" [2]
  %o0, %p0 = te.split %j0 [-1, 4]
  te.reorder %o0, %i0
  te.parallel %o0
  %i1, %j1 = te.loops "s1" [2]
  %f1 = te.fuse %i1, %j1
  te.annotate %f1 "grain" = 4
  te.bind %f1 "threadIdx.x"
  te.compute_inline "s3"
  %i4, %j4 = te.loops "s4" [2]
  %k = te.cache_read "s2" in "s4" at %i4 scope "local" [1]
  %i2, %j2 = te.loops "s2" [2]
  %a2, %b2, %c2, %d2 = te.tile %i2, %j2 [2, 5]
  %i5, %j5 = te.loops "s5" [2]
  %o5, %p5 = te.split %j5 [-1, 4]
  te.partition %o5
  %i6, %j6 = te.loops "s6" [2]
  te.unroll %i6
"""


def test_after_each_primitive_the_loops_of_all_stages_are_those_in_the_function() -> None:
    schedule, kernel, state = lowered(chain(7, PRIMITIVES))
    for primitive in list(schedule.body.block.ops):
        assert isinstance(primitive, PrimitiveOp)
        before = nest.blocks_of(kernel)
        state.apply(primitive)
        after = nest.blocks_of(kernel)
        if isinstance(primitive, LoopPrimitiveOp):
            assert after == before, primitive.name
        for stage, blocks in after.items():
            if len(blocks) == 1:
                assert state.stage_loops(stage) == enclosing_loops(blocks[0])
            else:
                with pytest.raises(nest.ScheduleError, match="has been partitioned"):
                    state.stage_loops(stage)
    with pytest.raises(nest.ScheduleError, match="no stage 's3'"):
        state.stage_loops("s3")


@pytest.mark.parametrize(
    "primitives, message",
    [
        ('te.compute_inline "s0"', "no stage 's0'"),
        ("%a, %b = te.split %j [-1, 4]\nte.partition %a", "'s0' has been partitioned"),
    ],
)
def test_loops_of_a_stage_that_is_gone_or_in_pieces_are_refused(primitives: str, message: str) -> None:
    text = chain(2, f'%i, %j = te.loops "s0" [2]\n{primitives}\n%k, %l = te.loops "s0" [2]')
    schedule, kernel, state = lowered(text)
    with pytest.raises(InputError, match=message):
        apply_schedule(schedule, kernel, state.arguments)

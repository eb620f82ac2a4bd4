"""Rules of the values that tir has and llvm has not: indices, conditions, broadcasts, checked values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import VectorType, i64
from xdsl.ir import Attribute

from lamina.dialects.index.accesses import over_values
from lamina.dialects.tir.checks import CheckOp
from lamina.dialects.tir.ops import BroadcastOp, ConditionOp, IndexOp
from lamina.passes.tir_to_llvm.rules import Step, tir_to_llvm
from lamina.passes.tir_to_llvm.scalars import llvm_type, splat
from lamina.passes.tir_to_llvm.spread import broadcast_lane

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay


@tir_to_llvm.lowers(IndexOp)
def index(op: IndexOp, replay: Replay) -> Step:
    """The sum of its terms, added loop by loop; of a vector one for each lane."""
    (form,) = over_values(op.map.data.results, op.operands)
    locals_ = replay.local_dims([form])
    lanes = _lanes(op.result.type)

    def step() -> None:
        replay.bind_locals(locals_)
        if lanes is not None:
            replay.values[op.result] = replay.lane_vector(replay.resolve(form), lanes)
        else:
            replay.values[op.result] = replay.b.value_of(replay.resolve(form), i64)

    return step


@tir_to_llvm.lowers(ConditionOp)
def condition(op: ConditionOp, replay: Replay) -> Step:
    """llvm.icmp of what neither ranges nor unrolled variables decide; a mask where lanes differ."""
    conditions, locals_ = replay.conditions_of(op)
    lanes = _lanes(op.result.type)

    def step() -> None:
        replay.bind_locals(locals_)
        decided = replay.decide(conditions)
        if isinstance(decided, bool):
            type_ = llvm_type(op.result.type)
            replay.values[op.result] = replay.b.constant(splat(int(decided), type_), type_)
        elif lanes is None:
            replay.values[op.result] = replay.scalar_condition(decided)
        else:
            replay.values[op.result] = replay.mask(decided, lanes)

    return step


@tir_to_llvm.lowers(BroadcastOp)
def broadcast(op: BroadcastOp, replay: Replay) -> Step:
    """llvm.shufflevector that puts a scalar, or a lane of what was loaded together, in every lane."""
    source, result = op.value, op.result
    type_ = llvm_type(result.type)
    spread = replay.spread.get(source)
    if spread is not None:
        variable, lanes = spread

        def one_lane() -> None:
            lane = replay.unrolled[variable] % lanes
            replay.values[result] = broadcast_lane(replay, replay.values[source], lane, type_)

        return one_lane

    def step() -> None:
        value = replay.values[source]
        found = replay.shared.get(value)
        if found is None or found.type != type_:
            found = replay.shared[value] = replay.broadcast(value, type_)
        replay.values[result] = found

    return step


@tir_to_llvm.lowers(CheckOp)
def check(op: CheckOp, replay: Replay) -> Step:
    """The value; a masked llvm.store leaves the message's code where the condition fails."""
    checks = replay.checks
    assert checks is not None
    code = checks.code(op.message.data)

    def step() -> None:
        checks.emit(replay.b, replay.values[op.condition], code)
        replay.values[op.result] = replay.values[op.value]

    return step


def _lanes(type_: Attribute) -> int | None:
    return type_.get_shape()[0] if type(type_) is VectorType else None

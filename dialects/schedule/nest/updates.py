"""Updates of a reduction: taking a term in, and the value that it starts from."""

from __future__ import annotations

from typing import NamedTuple, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.schedule.nest.edits import stores_beyond
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.tir.memory import LoadOp, StoreOp
from lamina.dialects.tir.ops import BlockOp


class Update(NamedTuple):
    """The update by which a reduction takes one term in: `store(combine(load, term))`."""

    load: LoadOp
    combine: Operation
    term: SSAValue
    store: StoreOp


_INFINITY = float("inf")
NEUTRAL: dict[type[Operation], float] = {
    arith.AddfOp: 0.0,
    arith.AddiOp: 0,
    arith.MulfOp: 1.0,
    arith.MuliOp: 1,
    arith.MaximumfOp: -_INFINITY,
    arith.MinimumfOp: _INFINITY,
    arith.MaxUIOp: 0,
    arith.MinUIOp: -1,
    arith.OrIOp: 0,
    arith.AndIOp: -1,
}
"""The neutral element of each associative and commutative op; that of a signed maximum depends on the width."""


def neutral(combine: Operation, type_: Attribute) -> arith.ConstantOp:
    """The constant that a combining op leaves as it is."""
    if type(type_) is IntegerType:
        lowest = -(1 << (type_.width.data - 1))
        signed: dict[type[Operation], int] = {arith.MaxSIOp: lowest, arith.MinSIOp: -1 - lowest}
        number = signed.get(type(combine))
        return arith.ConstantOp(IntegerAttr(int(NEUTRAL[type(combine)]) if number is None else number, type_))
    return arith.ConstantOp(FloatAttr(NEUTRAL[type(combine)], cast("AnyFloat", type_)))


def update_of(block: BlockOp, what: str) -> Update:
    """The one place where a reduction takes a term in. Raises ScheduleError where the stage does anything else."""
    stores = stores_beyond(block)
    if len(stores) != 1:
        raise ScheduleError(f"{what}: the stage has {len(stores)} results; one is supported")
    (store,) = stores
    combine = store.value.owner
    if store.conditions():
        raise ScheduleError(f"{what}: it is stored under a condition")
    if not isinstance(combine, Operation) or type(combine) not in {*NEUTRAL, arith.MaxSIOp, arith.MinSIOp}:
        raise ScheduleError(f"{what}: its terms are not combined by one associative op")
    for accumulator, term in (combine.operands, reversed(combine.operands)):
        load = accumulator.owner
        if isinstance(load, LoadOp) and load.buffer is store.buffer and load.forms() == store.forms():
            return Update(load, combine, term, store)
    raise ScheduleError(f"{what}: its terms are not combined with what it has stored")

"""A te.compute as a loop nest around one block, which stores each of its results once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.dtypes import dtype_name, is_float, is_unsigned, scalar_type
from lamina.dialects.index.linear import Linear
from lamina.dialects.te import ops as te
from lamina.dialects.te.reducers import inline_region
from lamina.dialects.tir import ops as tir
from lamina.passes.te_to_tir.elements import lower_body
from lamina.passes.te_to_tir.lowering import Lowering, nest_of
from lamina.passes.te_to_tir.reads import check_reads
from lamina.passes.te_to_tir.rules import stages


@stages.lowers(te.ComputeOp)
def compute(op: te.ComputeOp, lowering: Lowering) -> Iterable[Operation]:
    """A loop for each dimension and each reduced axis, around a block of its equation."""
    lowering.allocate(op.tensors, op.stage.data, op.extents()[: len(op.spatial)])
    yield lower_compute(op, lowering)


def lower_compute(op: te.ComputeOp, lowering: Lowering) -> Operation:
    """The loop nest of one compute, whose results have their places."""
    check_reads(op)
    stage = op.stage.data
    source = op.body.block
    names = [a.name_hint or f"i{n}" for n, a in enumerate(source.args)]
    rank = len(op.spatial)
    extents = op.extents()
    targets = [lowering.places[r] for r in op.tensors]
    if op.combiner is not None and 0 in op.reduced:  # a reduction over nothing: its initial value
        loops = lowering.loops(names[:rank], extents[:rank], 0, stage)
        body = Block()
        values = _identities(op, body)
    else:
        loops = lowering.loops(names, extents, len(op.reduced), stage)
        body = Block()
        values = []
    index = [Linear.dim(v.var) for v in loops[:rank]]
    init = None
    if not values:
        accumulators: list[SSAValue] = []
        if op.combiner is not None:
            loads = [tir.LoadOp.make(t.buffer, t.at(index)) for t in targets]
            body.add_ops(loads)
            accumulators = [load.result for load in loads]
        variables: dict[SSAValue, SSAValue] = dict(zip(source.args, (v.var for v in loops), strict=True))
        values = lower_body(source, body, variables, lowering)
        if op.combiner is not None:
            values = _combined(op, accumulators, values, body)
            init = Block()
            starts = _identities(op, init)
            for value, t in zip(starts, targets, strict=True):
                init.add_op(tir.StoreOp.make(value, t.buffer, t.at(index)))
    for value, t in zip(values, targets, strict=True):
        body.add_op(tir.StoreOp.make(value, t.buffer, t.at(index)))
    return nest_of(loops, tir.BlockOp.make(stage, init, body))


# -- reductions -----------------------------------------------------------------------------------------------


def _combined(
    op: te.ComputeOp, accumulators: Sequence[SSAValue], values: Sequence[SSAValue], body: Block
) -> list[SSAValue]:
    """One term added to what has been accumulated."""
    assert op.combiner is not None
    if op.reducer:
        return inline_region(op.reducer[0].block, [*accumulators, *values], body)
    combined = combine(op.combiner.data, dtype_name(_element(op)), accumulators[0], values[0])
    body.add_op(combined)
    return [combined.results[0]]


def _identities(op: te.ComputeOp, block: Block) -> list[SSAValue]:
    """The initial values of a reduction, their ops appended to a block."""
    assert op.combiner is not None
    if op.reducer:
        return inline_region(op.reducer[1].block, [], block)
    start = identity(op.combiner.data, dtype_name(_element(op)), scalar_type(_element(op)))
    block.add_op(start)
    return [start.result]


def _element(op: te.ComputeOp) -> Attribute:
    return op.result.type.element_type


_COMBINE = {
    "sum": (arith.AddfOp, arith.AddiOp, arith.AddiOp),
    "prod": (arith.MulfOp, arith.MuliOp, arith.MuliOp),
    "max": (arith.MaximumfOp, arith.MaxSIOp, arith.MaxUIOp),
    "min": (arith.MinimumfOp, arith.MinSIOp, arith.MinUIOp),
}


def combine(combiner: str, dtype: str, a: SSAValue, b: SSAValue) -> Operation:
    """The op that adds one term to a reduction; booleans are added by or, multiplied by and."""
    if dtype == "bool":
        op_type = {"sum": arith.OrIOp, "max": arith.OrIOp, "prod": arith.AndIOp, "min": arith.AndIOp}[combiner]
        return op_type.create(operands=[a, b], result_types=[a.type])
    float_op, int_op, unsigned_op = _COMBINE[combiner]
    if is_float(dtype):
        return float_op(a, b)
    return (unsigned_op if is_unsigned(dtype) else int_op)(a, b)


def identity(combiner: str, dtype: str, type_: Attribute) -> arith.ConstantOp:
    """The constant that a reduction starts from."""
    if is_float(dtype):
        value = {"sum": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}[combiner]
        return arith.ConstantOp(FloatAttr(value, cast("AnyFloat", type_)))
    assert type(type_) is IntegerType
    bits = type_.width.data
    if dtype == "bool" or is_unsigned(dtype):
        low, high = 0, -1  # all ones, as signless integers print
    else:
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    number = {"sum": 0, "prod": 1, "max": low, "min": high}[combiner]
    return arith.ConstantOp(IntegerAttr(number, type_))

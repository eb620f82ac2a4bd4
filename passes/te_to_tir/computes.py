"""A te.compute as a loop nest around one block, which stores each of its results once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.dtypes import dtype_name, is_float, is_unsigned, scalar_type
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Linear
from lamina.dialects.te import ops as te
from lamina.dialects.te.reducers import inline_region
from lamina.dialects.tir import ops as tir
from lamina.dialects.tir.checks import CheckOp
from lamina.errors import InputError
from lamina.passes.te_to_tir.lowering import Lowering, nest_of
from lamina.passes.te_to_tir.reads import check_reads


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


def lower_body(source: Block, target: Block, variables: dict[SSAValue, SSAValue], lowering: Lowering) -> list[SSAValue]:
    """Copy an equation with reads as loads; returns what it yields."""
    values = lowering.sizes | variables
    own = set(values)

    def values_of(operands: Sequence[SSAValue]) -> list[SSAValue]:
        return [_as_index(v, values) for v in operands]

    def through(value: SSAValue) -> SSAValue:
        return _through_index_op(value, target, values, own, lowering)

    for op in source.ops:
        if isinstance(op, te.YieldOp):
            return [through(v) for v in op.values]
        if isinstance(op, te.ReadOp):
            operands = values_of(op.indices)
            forms = lowering.forms(op.map.data.results, operands)
            conditions: list[Condition] = []
            if op.guard is not None:
                conditions = _conditions(op.guard.data.conditions, operands, lowering)
            place = lowering.places[op.tensor]
            new: Operation = tir.LoadOp.make(place.buffer, place.at(forms), conditions)
        elif isinstance(op, te.IndexOp):
            (form,) = lowering.forms(op.map.data.results, values_of(op.indices))
            new = tir.IndexOp.of(form)
        elif isinstance(op, te.ConditionOp):
            new = tir.ConditionOp.of(_conditions(op.set.data.conditions, values_of(op.indices), lowering))
        elif isinstance(op, te.CheckOp):
            value, condition = (through(v) for v in op.operands)
            new = CheckOp.make(value, condition, op.message.data)
        elif op.name.startswith(("arith.", "math.")):
            operands = [through(v) for v in op.operands]
            new = type(op).create(
                operands=operands,
                result_types=list(op.result_types),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
            )
        else:
            raise InputError(f"te-to-tir: {op.name} cannot stand in a te.compute", op=op)
        new.location = op.location
        target.add_op(new)
        values[op.results[0]] = new.results[0]
        new.results[0].name_hint = op.results[0].name_hint
    raise VerifyException("te-to-tir: a te.compute without te.yield")


def _conditions(found: Sequence[Condition], operands: Sequence[SSAValue], lowering: Lowering) -> list[Condition]:
    forms = lowering.forms([c.form for c in found], operands)
    return [Condition(f, c.equal) for f, c in zip(forms, found, strict=True)]


def _as_index(value: SSAValue, values: dict[SSAValue, SSAValue]) -> SSAValue:
    found = values.get(value, value)
    assert isinstance(found.type, IndexType)
    return found


def _through_index_op(
    value: SSAValue, target: Block, values: dict[SSAValue, SSAValue], own: set[SSAValue], lowering: Lowering
) -> SSAValue:
    """An operand of arithmetic; a loop variable, size or time enters arithmetic only through tir.index."""
    time = lowering.times.get(value)
    if time is None and value not in own:
        return values.get(value, value)
    index = tir.IndexOp.of(time or Linear.dim(values[value]))
    target.add_op(index)
    return index.result


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

"""pad_einsum: a contraction over loops whose extents are multiples, with what it reads filled up by zeros.

    C[i, j] = sum over k in 10 of A[i, k] * B[k, j]      becomes, for multiples of 4 along k,
    A.pad[i, k] = A[i, k] where k < 10, else 0      (B.pad likewise)
    C[i, j] = sum over k in 12 of A.pad[i, k] * B.pad[k, j]

Where a dimension of the result is padded, the contraction has a buffer of its own, and `<stage>.out` copies the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i64
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import MAX_EXTENT, Linear, floordiv
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import (
    accesses,
    reduction_loops,
    retarget,
    stage_block,
    stores_of,
    unique_axis,
    unique_stage,
)
from lamina.dialects.schedule.nest.legality import belongs, own_loops
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.updates import Update, update_of
from lamina.dialects.schedule.primitive import PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp


@irdl_op_definition
class PadEinsumOp(PrimitiveOp):
    """The loops of a contraction run to multiples, over copies of what it reads that zeros fill up.

    Before: `for i in 3: for k in 10: C[i] += A[i, k] * B[k]`
    After `te.pad_einsum "C" [1, 4]`: `for i in 3: for k in 12: P[i, k] = A[i, k] where k < 10`,
    `for k in 12: Q[k] = B[k] where k < 10`, `for i in 3: for k in 12: C[i] += P[i, k] * Q[k]`

    The copies are the stages `A.pad` and `B.pad`. Where a dimension of the result is padded, `C.out` copies the result.
    """

    name = "te.pad_einsum"
    stage = prop_def(StringAttr)
    padding = prop_def(DenseArrayBase.constr(i64))

    @staticmethod
    def make(stage: str, padding: Sequence[int]) -> PadEinsumOp:
        return PadEinsumOp.create(
            properties={"stage": StringAttr(stage), "padding": DenseArrayBase.from_list(i64, list(padding))}
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" {list(self.padding.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PadEinsumOp:
        stage = parser.parse_str_literal("the stage's name")
        padding = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return cls.make(stage, padding)

    def apply(self, state: ScheduleState) -> None:
        pad_einsum(state.func, self.stage.data, [int(p) for p in self.padding.get_values()])


PRODUCTS = (arith.MulfOp, arith.MuliOp)


CASTS = (arith.ExtFOp, arith.ExtSIOp, arith.ExtUIOp, arith.SIToFPOp, arith.UIToFPOp, arith.TruncFOp)
"""Casts that make zero of zero."""


class Einsum(NamedTuple):
    """A contraction: its loops, how a term is added, and what the terms are products of."""

    block: BlockOp
    loops: list[ForOp]
    update: Update
    factors: list[LoadOp]


def pad_einsum(func: FuncOp, stage: str, padding: Sequence[int]) -> None:
    """Run the loops of a contraction, in the order of its equation, to multiples of some numbers."""
    what = f"pad_einsum of {stage!r}"
    block = stage_block(func, stage)
    update = update_of(block, what)
    if not isinstance(update.combine, (arith.AddfOp, arith.AddiOp)):
        raise ScheduleError(f"{what}: its terms are not added up, so a zero is not nothing")
    buffer = update.store.buffer_value()
    if any(not belongs(o, block) for o in stores_of(buffer)):
        raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    back = normal_form(block, buffer, what)
    factors = _factors(update.term, what)
    loops = back.loops + reduction_loops(block) if back is not None else own_loops(block, buffer, what)
    if len(padding) != len(loops):
        raise ScheduleError(f"{what}: it has {len(loops)} loops, {len(padding)} numbers are given")
    if not all(1 <= p <= MAX_EXTENT for p in padding):
        raise ScheduleError(f"{what}: a loop is padded to a multiple of a positive number, at most {MAX_EXTENT}")
    if not loops:
        return
    if any(len(v.limits()) != 1 for v in loops) or block.conditions():
        raise ScheduleError(f"{what}: the stage has tails or runs under a condition; padding comes before that")
    home = func.body.block
    for load in factors:
        index = [f if back is None else back.form(f) for f in load.forms()]
        dims = [next(iter(f.terms), None) for f in index]
        known = {v.var for v in loops}
        plain = all(not f.const and list(f.terms.values()) == [1] for f in index)
        if not plain or load.conditions() or any(d not in known for d in dims) or len(set(dims)) != len(dims):
            raise ScheduleError(f"{what}: it reads {_name(load.buffer)} otherwise than by one loop for each dimension")
    outermost = back.chain[0] if back is not None and back.chain else (loops[0] if loops else block)
    if outermost.parent is not home:
        raise ScheduleError(f"{what}: the stage stands in a loop of another")
    padded = [_multiple(v.limits()[0], p) for v, p in zip(loops, padding, strict=True)]
    for v, extent in zip(loops, padded, strict=True):
        if extent == v.limits()[0] or not v.is_reduction or isinstance(update.combine, arith.AddiOp):
            continue
        for load in factors:
            index = [f if back is None else back.form(f) for f in load.forms()]
            if all(v.var not in f.dims() for f in index):
                refuse(
                    f"{what}: beyond the loop {v.axis.data!r} zero would be multiplied by {_name(load.buffer)}, "
                    "which may be infinite or no number"
                )
    if back is not None:
        back.apply()
        loops = own_loops(block, buffer, what)
    _pad(func, Einsum(block, loops, update, factors), padded)


def _factors(term: SSAValue, what: str) -> list[LoadOp]:
    """The loads that a product is made of."""
    op = term.owner
    if isinstance(op, LoadOp):
        return [op]
    if isinstance(op, PRODUCTS) or isinstance(op, CASTS):
        return [load for operand in op.operands for load in _factors(operand, what)]
    raise ScheduleError(f"{what}: its terms are not products of what it reads")


def _multiple(extent: Linear, factor: int) -> Linear:
    return floordiv(extent + (factor - 1), factor, RangeCache()) * factor


def _name(buffer: SSAValue) -> str:
    if isinstance(buffer.owner, AllocOp):
        return buffer.owner.stage.data
    assert isinstance(buffer, BlockArgument)
    return buffer.name_hint or f"arg{buffer.index}"


def _pad(func: FuncOp, einsum: Einsum, padded: Sequence[Linear]) -> None:
    block, loops, update, factors = einsum
    stage = block.stage.data
    nest: Operation = loops[0]
    extents = {v.var: (v.limits()[0], e) for v, e in zip(loops, padded, strict=True)}
    copies: dict[tuple[SSAValue, tuple[tuple[Linear, Linear], ...]], SSAValue] = {}
    for load in factors:
        wanted = tuple(extents[next(iter(f.terms))] for f in load.forms())  # type: ignore[index]
        if all(old == new for old, new in wanted):
            continue
        key = (load.buffer, wanted)
        if key not in copies:
            copies[key] = _filled(func, load.buffer, wanted, nest)
        retarget([load], copies[key])
    buffer = update.store.buffer_value()
    spatial = [extents[v.var] for v in loops if not v.is_reduction]
    if any(old != new for old, new in spatial):
        scope = buffer.owner.scope.data if isinstance(buffer.owner, AllocOp) else "global"
        alloc = _buffer(f"{stage}.pad", buffer, [new for _, new in spatial], scope)
        edit.insert_before(nest, alloc)
        retarget(accesses(block, buffer), alloc.result)
        out = unique_stage(func, f"{stage}.out")
        edit.insert_after(nest, _copy(func, out, alloc.result, buffer, [old for old, _ in spatial], []))
    for v, extent in zip(loops, padded, strict=True):
        v.properties["extent"] = ForOp.upto([extent], "").extent
        v.set_min_bounds([] if extent.is_constant else [extent])


def _buffer(stage: str, like: SSAValue, extents: Sequence[Linear], scope: str) -> AllocOp:
    return AllocOp.make(stage, buffer_type(shape_with(extents), type_of(like).element_type), scope, extents)


def _filled(func: FuncOp, source: SSAValue, extents: Sequence[tuple[Linear, Linear]], nest: Operation) -> SSAValue:
    """A copy of what a contraction reads in a larger buffer, with zeros behind it, before a statement."""
    name = unique_stage(func, f"{_name(source)}.pad")
    larger = [new for _, new in extents]
    alloc = _buffer(name, source, larger, "global")
    inside = [(d, old) for d, (old, new) in enumerate(extents) if old != new]
    edit.insert_before(nest, alloc)
    edit.insert_before(nest, _copy(func, name, source, alloc.result, larger, inside))
    return alloc.result


def _copy(
    func: FuncOp,
    stage: str,
    source: SSAValue,
    target: SSAValue,
    extents: Sequence[Linear],
    inside: Sequence[tuple[int, Linear]],
) -> Operation:
    """The nest that copies elements, zero where an index is not inside its dimension of the source."""
    loops = [ForOp.upto([e], unique_axis(func, f"{stage}.{d}"), hint=f"i{d}") for d, e in enumerate(extents)]
    index = [Linear.dim(v.var) for v in loops]
    load = LoadOp.make(source, index, [Condition(e - 1 - index[d]) for d, e in inside])
    return in_loops(loops, BlockOp.make(stage, None, Block([load, StoreOp.make(load.result, target, index)])))

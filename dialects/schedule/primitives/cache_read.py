"""cache_read: what a stage reads, read first into a buffer of another scope; within a loop, or whole at the top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import base, irdl_op_definition, opt_operand_def, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.schedule.nest.annotations import PADDED
from lamina.dialects.schedule.nest.decompose import in_loops
from lamina.dialects.schedule.nest.edits import (
    accesses,
    retarget,
    stage_block,
    statements_of,
    stores_of,
    unique_axis,
    unique_stage,
    wrap,
)
from lamina.dialects.schedule.nest.legality import belongs
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.regions import Region, limits_within, local_index, region_of
from lamina.dialects.schedule.nest.scopes import check_scope
from lamina.dialects.schedule.nest.threads import sharing_loops
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count, parse_loop
from lamina.dialects.schedule.primitives.fuse import fuse
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, extents_of, shape_with, type_of
from lamina.dialects.tir.ops import BlockOp, ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class CacheReadOp(PrimitiveOp):
    """A copy of what one iteration of a loop reads of a tensor, made first in a buffer of its own; or of all of it.

    Before: `for k: C += W[k]`    After `te.cache_read "W" in "C" at %k scope "register" [1]`:
    `for k: (for t in 1: R[t] = W[k]), C += R[0]`
    After `te.cache_read "W" in ["C", "D"] scope "shared"`: `for t: S[t] = W[t]`, `for k: C += S[k]`, D reads S too

    The copy is a stage called after the tensor and the scope: `W.register`, `W.shared`. It has a loop for each
    dimension in which it is longer than one element. Where fewer are named, the outer ones are fused: `[1]` makes one
    loop of any copy, so that a schedule whose tiles are drawn names the loops that it needs.
    """

    name = "te.cache_read"
    tensor = prop_def(StringAttr)
    stages = prop_def(ArrayAttr.constr(base(StringAttr)))
    scope = prop_def(StringAttr)
    loop = opt_operand_def(LOOP)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(
        tensor: str, stages: str | Sequence[str], loop: SSAValue | None, scope: str, count: int = 0
    ) -> CacheReadOp:
        names = [stages] if isinstance(stages, str) else stages
        return CacheReadOp.create(
            operands=[] if loop is None else [loop],
            properties={
                "tensor": StringAttr(tensor),
                "stages": ArrayAttr([StringAttr(n) for n in names]),
                "scope": StringAttr(scope),
            },
            result_types=[LOOP] * count,
        )

    def readers(self) -> list[str]:
        """The stages that read the copy."""
        return [s.data for s in self.stages]

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.tensor.data)
        printer.print_string(" in ")
        names = self.readers()
        if len(names) == 1:
            printer.print_string_literal(names[0])
        else:
            with printer.in_square_brackets():
                printer.print_list(names, printer.print_string_literal)
        if self.loop is not None:
            printer.print_string(" at ")
            printer.print_ssa_value(self.loop)
        printer.print_string(" scope ")
        printer.print_string_literal(self.scope.data)
        if self.loop is not None or self.loops:
            printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> CacheReadOp:
        tensor = parser.parse_str_literal("the tensor's name")
        parser.parse_keyword("in")
        stages = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_str_literal("a stage's name")
        )
        if stages is None:
            stages = [parser.parse_str_literal("the stage's name")]
        loop = None
        if parser.parse_optional_keyword("at"):
            loop = parse_loop(parser)
        parser.parse_keyword("scope")
        scope = parser.parse_str_literal("the memory scope")
        return cls.make(tensor, stages, loop, scope, parse_count(parser, loop is None))

    def apply(self, state: ScheduleState) -> None:
        buffer, name, scope = state.tensor(self.tensor.data), self.tensor.data, self.scope.data
        if self.loop is not None:
            loops = cache_read(state.func, buffer, name, self.readers(), state.loop(self.loop), scope)
        else:
            loops = cache_read_whole(state.func, buffer, name, self.readers(), scope)
        if self.results:
            spare = max(len(loops) - len(self.results), 0)
            loops = [fuse(loops[: spare + 1]), *loops[spare + 1 :]]
        if self.results or self.loop is not None:
            state.bind(self.results, loops)


def cache_read(
    func: FuncOp, tensor: SSAValue, name: str, stages: Sequence[str], loop: ForOp, scope: str
) -> list[ForOp]:
    """Read what stages need of a buffer in one iteration of a loop into a buffer of its own. Returns its loops."""
    what = f"cache_read of {name!r}"
    check_scope(scope, (), what)
    blocks = [stage_block(func, s) for s in stages]
    readers = [o for o in accesses(loop, tensor) if isinstance(o, LoadOp) and any(belongs(o, b) for b in blocks)]
    if not readers:
        raise ScheduleError(f"{what}: it is not read in the loop {loop.axis.data!r}")
    if any(isinstance(o, StoreOp) for o in accesses(loop, tensor)):
        raise ScheduleError(f"{what}: it is written in the loop {loop.axis.data!r}")
    if isinstance(tensor.owner, AllocOp) and PADDED in tensor.owner.attributes:
        raise ScheduleError(f"{what}: its layout has elements that nobody writes")
    threads = sharing_loops(loop, scope)
    region = region_of(readers, loop, threads)
    check_scope(scope, region.extent, what)
    kept = [d for d, e in enumerate(region.extent) if e != constant(1)] or [len(region.extent) - 1]
    label = unique_stage(func, f"{name}.{scope}")
    extents = [region.extent[d] for d in kept]
    alloc = AllocOp.make(label, buffer_type(shape_with(extents), type_of(tensor).element_type), scope, extents)
    ranges = RangeCache()
    written = _written(tensor)
    # The box may be larger than what is read of it: where the readers have tails, it ends beyond the tensor.
    copies = {
        d: ForOp.upto(
            limits_within(written.limits[d], region.extent[d], region.base[d], ranges),
            unique_axis(func, f"{label}.{d}"),
            hint=f"{(tensor.name_hint or 'c')}{d}",
        )
        for d in kept
    }
    loops = list(copies.values())
    source = [b + Linear.dim(copies[d].var) if d in copies else b for d, b in enumerate(region.base)]
    body = Block()
    load = LoadOp.make(tensor, source, _guard(source, region, written, copies, ranges))
    body.add_op(load)
    body.add_op(StoreOp.make(load.result, alloc.result, [Linear.dim(v.var) for v in loops]))
    holder = Block([BlockOp.make(label, None, body)])
    for op in readers:
        forms = [op.forms()[d] - region.base[d] for d in kept]
        operands = list(op.operands)
        operands[op.buffer_position()] = alloc.result
        op.operands = operands
        op.set_access([local_index(f, ranges) for f in forms], op.conditions())
    first = loop.body.block.first_op
    assert first is not None
    edit.insert_before(first, loops[0])
    outermost = threads[0] if threads else loops[0]
    edit.insert_before(outermost, alloc)
    wrap(loops, holder)
    return loops


def _guard(
    source: Sequence[Linear], region: Region, written: Written, copies: Mapping[int, ForOp], ranges: RangeCache
) -> list[Condition]:
    """Conditions on the element `source` of a tensor for it to be there; `copies` are the loops over it."""
    guard: list[Condition] = []
    for d, start in enumerate(region.base):
        bounds = start.range(ranges)
        if bounds is None or bounds[0] < 0:
            guard.append(Condition(source[d]))
        if d not in copies:
            _, *limits = limits_within(written.limits[d], region.extent[d], start, ranges)
            guard += [Condition(limit - 1) for limit in limits]
    within = (Condition(e - Linear.dim(v.var) - 1) for v in copies.values() for e in v.limits())
    facts = Facts(ranges, [*guard, *within])
    index: dict[Atom, Linear] = {v: source[d] for v, d in written.place.items()}
    conditions = [Condition(c.form.substitute(index, ranges), c.equal) for c in written.conditions]
    return [*guard, *(c for c in conditions if not facts.proves(c))]


class Written(NamedTuple):
    """The elements of a buffer that are written: a tile may have a tail, or begin before the first element."""

    limits: list[list[Linear]]
    """The upper bound of the index of each dimension: the extent, and where the stores end before it."""
    conditions: list[Condition]
    """Further conditions that hold where the stores are, over `place`."""
    place: dict[Atom, int]
    """The loop variable that a dimension is indexed by."""


def _written(tensor: SSAValue) -> Written:
    found = Written([[e] for e in extents_of(tensor)], [], {})
    stores = stores_of(tensor) if isinstance(tensor.owner, AllocOp) else []
    if not isinstance(tensor.owner, AllocOp) or not stores or any(s.forms() != stores[0].forms() for s in stores):
        return found
    inside: dict[Atom, ForOp] = {v.var: v for v in enclosing_loops(stores[0])}
    for v in enclosing_loops(tensor.owner):
        inside.pop(v.var, None)
    block = stores[0].parent_op()
    asked = [*stores[0].conditions(), *(block.conditions() if isinstance(block, BlockOp) else ())]
    for d, form in enumerate(stores[0].forms()):
        if form.dims() and form == Linear.dim(next(iter(form.dims()))):
            found.place[next(iter(form.dims()))] = d
        tails = [b + (form - Linear.dim(v)) for v in form.dims() if v in inside for b in inside[v].min_bounds()]
        tails += [c.form + form + 1 for c in asked if not c.equal]
        for tail in tails:
            if inside.keys().isdisjoint(tail.dims()) and tail not in found.limits[d]:
                found.limits[d].append(tail)
    found.conditions.extend(c for c in asked if found.place.keys() >= inside.keys() & set(c.form.dims()))
    return found


def cache_read_whole(func: FuncOp, tensor: SSAValue, name: str, stages: Sequence[str], scope: str) -> list[ForOp]:
    """Copy a buffer for some stages, before the first of them. Returns the loops of the copy."""
    what = f"cache_read of {name!r}"
    check_scope(scope, extents_of(tensor), what)
    readers: list[LoadOp] = []
    for stage in stages:
        block = stage_block(func, stage)
        found = [o for o in accesses(block, tensor) if isinstance(o, LoadOp)]
        if not found:
            raise ScheduleError(f"{what}: stage {stage!r} does not read it")
        if any(isinstance(o, StoreOp) for o in accesses(block, tensor)):
            raise ScheduleError(f"{what}: stage {stage!r} writes it")
        readers += found
    owner = tensor.owner
    home = func.body.block
    if isinstance(owner, AllocOp):
        if owner.parent is not home:
            raise ScheduleError(f"{what}: it lives in a loop, so no copy of it is made at the top")
        if PADDED in owner.attributes:
            raise ScheduleError(f"{what}: its layout has elements that nobody writes")
    first, *_ = statements_of(readers, home)
    writers = [u.operation for u in tensor.uses if not isinstance(u.operation, LoadOp)]
    if any(not w.is_before_in_block(first) for w in statements_of(writers, home)):
        refuse(f"{what}: it is not complete before {stages[0]!r} begins to read it")
    label = unique_stage(func, f"{name}.{scope}")
    extents = extents_of(tensor)
    alloc = AllocOp.make(label, buffer_type(shape_with(extents), type_of(tensor).element_type), scope, extents)
    loops = [
        ForOp.upto([e], unique_axis(func, f"{label}.{d}"), hint=f"{tensor.name_hint or 'c'}{d}")
        for d, e in enumerate(extents)
    ]
    index = [Linear.dim(v.var) for v in loops]
    load = LoadOp.make(tensor, index)
    block = BlockOp.make(label, None, Block([load, StoreOp.make(load.result, alloc.result, index)]))
    edit.insert_before(first, alloc, in_loops(loops, block))
    retarget(readers, alloc.result)
    return loops

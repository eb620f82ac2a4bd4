"""transform_layout: the elements of an intermediate buffer in another order, over other dimensions.

    B[i, j]    becomes    B[i floordiv 4, j, i mod 4]    under (d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)

The map tells different elements apart, which is proved from its digits or tried on all of them. Where it leaves gaps,
as blocks of four do behind the tenth row, the buffer is padded with elements that nobody writes or reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.digits import is_injective
from lamina.dialects.index.index_map import IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Atom, Linear, Range, constant, floordiv
from lamina.dialects.schedule.nest.annotations import PADDED
from lamina.dialects.schedule.nest.edits import scalar_only, stage_block, stores_of
from lamina.dialects.schedule.nest.normal_form import normal_form
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_count
from lamina.dialects.tir.memory import AccessOp, AllocOp, buffer_type, shape_with, type_of
from lamina.dialects.tir.ops import ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class TransformLayoutOp(PrimitiveOp):
    """The elements of a stage in another order in memory, over other dimensions.

    Before: `alloc B[8, 3]`, `B[i, j] = A[i, j]`, `C[i, j] = B[i, j]`
    After `te.transform_layout "B" #te.map<(d0, d1) -> (d0 floordiv 4, d1, d0 mod 4)>`: `alloc B[2, 3, 4]`,
    `B[i floordiv 4, j, i mod 4] = A[i, j]`, `C[i, j] = B[i floordiv 4, j, i mod 4]`

    With a number of loops behind it, the stage is also iterated in the new order, and the primitive gives its loops.
    """

    name = "te.transform_layout"
    stage = prop_def(StringAttr)
    layout = prop_def(IndexMapAttr)
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, layout: IndexMapAttr, count: int = 0) -> TransformLayoutOp:
        return TransformLayoutOp.create(
            properties={"stage": StringAttr(stage), "layout": layout}, result_types=[LOOP] * count
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_attribute(self.layout)
        if self.loops:
            printer.print_string(f" [{len(self.loops)}]")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> TransformLayoutOp:
        stage = parser.parse_str_literal("the stage's name")
        layout = parser.parse_attribute()
        if not isinstance(layout, IndexMapAttr):
            parser.raise_error("the layout is a #te.map<...>")
        return cls.make(stage, layout, parse_count(parser, True))

    def apply(self, state: ScheduleState) -> None:
        name, layout = self.stage.data, self.layout.data
        buffer = state.tensor(name)
        if self.results:
            state.bind(self.results, transform_stage(state.func, buffer, name, layout))
        else:
            transform_layout(buffer, name, layout)
        if state.attached.get(name) is not None:
            del state.attached[name]  # where its tile begins was said in the layout that it had


TRIED = 1 << 16
"""Up to so many elements a map is tried on all of them where its digits do not show that it tells them apart."""


class Plan(NamedTuple):
    """A change of layout that has been found possible."""

    alloc: AllocOp
    accesses: list[AccessOp]
    layout: IndexMap
    extents: list[Linear]


def transform_layout(buffer: SSAValue, name: str, layout: IndexMap) -> None:
    """Store a buffer in another layout."""
    _carry_out(_plan(buffer, name, layout))


def transform_stage(func: FuncOp, buffer: SSAValue, name: str, layout: IndexMap) -> list[ForOp]:
    """Store a stage in another layout and iterate over it in that order. Returns the loops around it."""
    what = f"transform_layout of {name!r}"
    plan = _plan(buffer, name, layout)
    block = stage_block(func, name)
    if any(s.parent_op() is not block for s in stores_of(buffer)):
        raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    if any(f.const for f in layout.results) or not is_injective(layout.results, _known(plan.alloc.extents())):
        raise ScheduleError(f"{what}: the stage cannot be iterated in that order, only stored so")
    back = normal_form(block, buffer, what)
    if back is not None:
        back.apply()
    new = _carry_out(plan)
    back = normal_form(block, new.result, what)
    if back is not None:
        back.apply()
    return enclosing_loops(block)


def _plan(buffer: SSAValue, name: str, layout: IndexMap) -> Plan:
    what = f"transform_layout of {name!r}"
    alloc = buffer.owner
    if not isinstance(alloc, AllocOp):
        raise ScheduleError(f"{what}: it is an argument of the function, whose layout is the caller's")
    extents = alloc.extents()
    if layout.dims != len(extents):
        raise ScheduleError(f"{what}: it has rank {len(extents)}, the map takes {layout.dims} dimensions")
    users = [u.operation for u in list(buffer.uses)]
    accesses = [o for o in users if isinstance(o, AccessOp)]
    if len(accesses) != len(users):
        raise ScheduleError(f"{what}: it is used as a whole by {next(o for o in users if o not in accesses).name}")
    scalar_only(accesses)
    ends = [_ends(form, extents) for form in layout.results]
    for form, (low, _) in zip(layout.results, ends, strict=True):
        if low < 0:
            raise ScheduleError(f"{what}: the index {form} would be negative")
    if not is_one_to_one(layout, extents):
        refuse(f"{what}: the map gives two elements one place, or it cannot be shown that it does not")
    return Plan(alloc, accesses, layout, [_extent(high) for _, high in ends])


def _extent(last: Linear) -> Linear:
    """The extent of a dimension with this last index, no less than nothing where a size is nothing."""
    least = (last + 1).evaluate(dict.fromkeys(last.dims(), 0))
    return last + 1 - min(least, 0)


def _carry_out(plan: Plan) -> AllocOp:
    alloc, accesses, layout, extents = plan
    type_ = buffer_type(shape_with(extents), type_of(alloc.result).element_type)
    new = AllocOp.make(alloc.stage.data, type_, alloc.scope.data, extents)
    new.attributes |= alloc.attributes
    if _has_gaps(layout, alloc.extents(), extents):
        new.attributes[PADDED] = UnitAttr()
    new.location = alloc.location
    ranges = RangeCache()
    for op in accesses:
        index: dict[Atom, Linear] = dict(enumerate(op.forms()))
        op.set_access([f.substitute(index, ranges) for f in layout.results], op.conditions())
    hint = alloc.result.name_hint
    alloc.result.replace_all_uses_with(new.result)
    new.result.name_hint = hint
    edit.insert_before(alloc, new)
    edit.erase(alloc)
    return new


def _ends(form: Linear, extents: Sequence[Linear]) -> tuple[int, Linear]:
    """The least value of a form over a box, or a bound of it, and the greatest."""

    def ranges(atom: Atom) -> Range | None:
        extent = extents[atom] if isinstance(atom, int) else None
        return (0, max(extent.const - 1, 0)) if extent is not None and extent.is_constant else None

    bounds = form.range(ranges)
    if bounds is not None:
        return bounds[0], constant(bounds[1])
    low, high = form.const, constant(form.const)
    for atom, coef in form.terms.items():
        first, last = _atom_ends(atom, extents)
        if coef > 0:
            low, high = low + first * coef, high + last * coef
        elif last.is_constant:
            low, high = low + last.const * coef, high + first * coef
        else:
            low = -1
    return low, high


def _atom_ends(atom: Atom, extents: Sequence[Linear]) -> tuple[int, Linear]:
    if isinstance(atom, tuple):
        kind, inner, divisor = atom
        if kind == "mod":
            return 0, constant(divisor - 1)
        low, high = _ends(inner, extents)
        return low // divisor, floordiv(high, divisor)
    assert isinstance(atom, int)
    return 0, extents[atom] - 1


def is_one_to_one(layout: IndexMap, extents: Sequence[Linear]) -> bool:
    """Whether a map gives each element of a box a place of its own."""
    if is_injective(layout.results, _known(extents)):
        return True
    sizes = [e.const for e in extents if e.is_constant]
    if len(sizes) < len(extents) or prod(sizes) > TRIED:
        return False
    points = [dict[Atom, int](enumerate(p)) for p in product(*map(range, sizes))]
    return len({tuple(f.evaluate(p) for f in layout.results) for p in points}) == len(points)


def _known(extents: Sequence[Linear]) -> dict[Atom, int | None]:
    return {n: e.const if e.is_constant else None for n, e in enumerate(extents)}


def _has_gaps(layout: IndexMap, old: Sequence[Linear], new: Sequence[Linear]) -> bool:
    """Whether some of the new places are nobody's, as far as is known."""
    if all(e.is_constant for e in [*old, *new]):
        return prod(e.const for e in old) != prod(e.const for e in new)
    permuted = [next(iter(f.terms)) for f in layout.results if not f.const and list(f.terms.values()) == [1]]
    return sorted(map(str, permuted)) != [str(n) for n in range(len(old))] or len(layout.results) != len(old)

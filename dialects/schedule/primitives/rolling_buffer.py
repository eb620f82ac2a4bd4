"""rolling_buffer: a producer in a loop of its consumer computes only what the iteration before has not left behind.

    for y: (for t in 3: B[t] = f(y + t)), C[y] = B[0] + B[1] + B[2]      becomes
    for t in 2: B[t] = f(t)
    for y: B[(y + 2) mod 3] = f(y + 2), C[y] = B[y mod 3] + B[(y + 1) mod 3] + B[(y + 2) mod 3]

The window moves by a fixed number of elements: everything that the producer does at element t of iteration y it would
do again at element t - s of the next. The buffer outlives the iterations and is used in the round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, opt_operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import Atom, Linear, constant, mod
from lamina.dialects.schedule.nest.annotations import PADDED
from lamina.dialects.schedule.nest.edits import (
    accesses,
    index_forms,
    loads_of,
    reduction_loops,
    stage_block,
    stage_buffers,
    stores_of,
    substitute,
    substitute_in,
    unique_axis,
    unique_stage,
)
from lamina.dialects.schedule.nest.legality import belongs, own_loops
from lamina.dialects.schedule.nest.normal_form import NormalForm, normal_form
from lamina.dialects.schedule.nest.recurrence import ROLLING
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import AccessOp, AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class RollingBufferOp(PrimitiveOp):
    """A stage computed in a loop of its consumer keeps what the next iteration needs again.

    Before: `for y: (for t in 3: B[t] = f(y + t)), C[y] = B[0] + B[1] + B[2]`
    After `te.rolling_buffer "B" at %y`: `for t in 2: B[t] = f(t)`, then
    `for y: B[(y + 2) mod 3] = f(y + 2), C[y] = B[y mod 3] + B[(y + 1) mod 3] + B[(y + 2) mod 3]`

    Without a loop it is the one that the stage is computed in. What comes first is the stage `<stage>.first`.
    """

    name = "te.rolling_buffer"
    stage = prop_def(StringAttr)
    loop = opt_operand_def(LOOP)

    @staticmethod
    def make(stage: str, loop: SSAValue | None = None) -> RollingBufferOp:
        return RollingBufferOp.create(operands=[] if loop is None else [loop], properties={"stage": StringAttr(stage)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        if self.loop is not None:
            printer.print_string(" at ")
            printer.print_ssa_value(self.loop)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> RollingBufferOp:
        stage = parser.parse_str_literal("the stage's name")
        loop = None
        if parser.parse_optional_keyword("at"):
            loop = parse_loop(parser)
        return cls.make(stage, loop)

    def apply(self, state: ScheduleState) -> None:
        rolling_buffer(state.func, self.stage.data, None if self.loop is None else state.loop(self.loop))
        state.attached.pop(self.stage.data, None)


@dataclass
class Window:
    """A dimension of a tile along which it moves: its loop, how long it is, and by how much an iteration moves it."""

    dimension: int
    length: int
    step: int


def rolling_buffer(func: FuncOp, stage: str, loop: ForOp | None = None) -> None:
    """Keep what the next iteration of a loop, by default the one that the stage is computed in, needs again."""
    block = stage_block(func, stage)
    buffers = stage_buffers(func, stage)
    buffer, alloc = buffers[0], buffers[0].owner
    around = enclosing_loops(alloc) if isinstance(alloc, AllocOp) else []
    what = f"rolling_buffer of {stage!r}"
    if not isinstance(alloc, AllocOp) or not around:
        raise ScheduleError(f"{what}: it is computed whole; compute_at comes first")
    loop = loop or around[-1]
    what = f"{what} at {loop.axis.data!r}"
    if around[-1] is not loop:
        raise ScheduleError(f"{what}: the stage is computed at the loop {around[-1].axis.data!r}")
    if len(buffers) > 1:
        raise ScheduleError(f"{what}: it has several results")
    if any(not belongs(o, block) for o in stores_of(buffer)):
        raise ScheduleError(f"{what}: a part of it is computed elsewhere")
    if loop.kind.data not in ("serial", "unrolled"):
        refuse(f"{what}: the loop is {loop.kind.data}, so an iteration cannot use what the one before has computed")
    for load in (o for o in accesses(block) if isinstance(o, LoadOp) and o.buffer is not buffer):
        name = load.buffer.name_hint or "a buffer"
        if isinstance(load.buffer.owner, AllocOp) and belongs(load.buffer.owner, loop):
            raise ScheduleError(f"{what}: it reads {name}, which each iteration computes anew")
        if any(belongs(o, loop) for o in stores_of(load.buffer)):
            refuse(f"{what}: it reads {name}, which is not complete before the loop")
    back = normal_form(block, buffer, what)
    tile = back.loops if back is not None else own_loops(block, buffer, what)
    tile = [v for v in tile if not v.is_reduction]
    window = _window(block, loop, tile, back, what)
    if back is not None:
        back.apply()
        tile = [v for v in own_loops(block, buffer, what) if not v.is_reduction]
    _roll(func, block, alloc, loop, tile, window)


def _window(block: BlockOp, loop: ForOp, tile: Sequence[ForOp], back: NormalForm | None, what: str) -> Window:
    """The dimension along which iterations overlap. Raises ScheduleError where none is found."""
    forms = _meaning(block, back)
    for d, v in enumerate(tile):
        length = v.trip
        for step in sorted({s for f in forms for s in _steps(f, loop.var, v.var)}):
            shift: dict[Atom, Linear] = {
                loop.var: Linear.dim(loop.var) + 1,
                v.var: Linear.dim(v.var) - step,
            }
            bounds = [b - Linear.dim(w.var) for w in tile for b in w.min_bounds()]
            if all(f.substitute(shift) == f for f in [*forms, *bounds]):
                if not v.is_dynamic and 0 < step < length:
                    return Window(d, length, step)
                raise ScheduleError(f"{what}: an iteration needs nothing that the one before has computed")
    raise ScheduleError(f"{what}: what it computes does not move by a fixed number of elements with each iteration")


def _meaning(block: BlockOp, back: NormalForm | None) -> list[Linear]:
    """The index arithmetic on which it depends what a stage computes: all but where it stores."""
    own = {s.buffer_value() for s in accesses(block) if isinstance(s, StoreOp)}
    forms = [*(b for v in reduction_loops(block) for b in v.min_bounds()), *index_forms(block, own)]
    return forms if back is None else [back.form(f) for f in forms]


def _steps(form: Linear, outer: SSAValue, inner: SSAValue) -> list[int]:
    """By how much an inner variable could fall for a form to stay as it is when the outer one grows by one."""
    found: list[int] = []
    a, b = form.terms.get(outer, 0), form.terms.get(inner, 0)
    if a and b and a % b == 0:
        found.append(a // b)
    for atom in form.terms:
        if isinstance(atom, tuple):
            found += _steps(atom[1], outer, inner)
    return found


def _roll(func: FuncOp, block: BlockOp, alloc: AllocOp, loop: ForOp, tile: Sequence[ForOp], window: Window) -> None:
    d, length, step = window.dimension, window.length, window.step
    moving = tile[d]
    ranges = RangeCache()
    first = _first_elements(func, block, loop, tile[0], moving, length - step)
    offset = Linear.dim(loop.var) * step
    buffer = alloc.result
    users = [*loads_of(buffer), *stores_of(buffer)]
    # Of the window only its end is new.
    substitute(moving.var, Linear.dim(moving.var) + (length - step))
    moving.set_min_bounds([b - (length - step) for b in moving.min_bounds()])
    moving.properties["extent"] = ForOp.make(step, "").extent
    for op in users:
        if belongs(op, first):
            continue
        forms = op.forms()
        forms[d] = mod(forms[d] + offset, length, ranges)
        op.set_access(forms, op.conditions())
    alloc.attributes |= {ROLLING: UnitAttr(), PADDED: UnitAttr()}
    edit.move_before(loop, alloc)
    edit.insert_before(loop, first)


def _first_elements(func: FuncOp, block: BlockOp, loop: ForOp, nest: ForOp, moving: ForOp, count: int) -> Operation:
    """A nest that computes what the first iteration of a loop is to find: the window but for its end."""
    label = unique_stage(func, f"{block.stage.data}.first")
    values: dict[SSAValue, SSAValue] = {}
    copy = nest.clone(values)
    taken: set[str] = set()
    for op in copy.walk():
        if type(op) is ForOp:
            axis = unique_axis(func, f"{op.axis.data}.first")
            while axis in taken:
                axis += "_"
            taken.add(axis)
            op.properties["axis"] = StringAttr(axis)
    zero: dict[Atom, Linear] = {loop.var: constant(0)}
    ranges = RangeCache()
    for op in copy.walk():
        if isinstance(op, (AccessOp, ForOp, IndexOp, ConditionOp, ConditionalBase)):
            substitute_in(op, zero, ranges)
    begun = [Condition(f - 1) for f in loop.limits() if not f.is_constant or f.const < 1]
    for op in copy.walk():
        if type(op) is BlockOp:
            op.properties["stage"] = StringAttr(label)
            op.set_conditions([*op.conditions(), *begun])
    own = next(v for v in copy.walk() if type(v) is ForOp and v.var is values[moving.var])
    own.properties["extent"] = ForOp.make(count, "").extent
    return copy

"""Write the iterations of loops out, or mark loops as unrolled, as pragmas and options say.

A loop of kind `unrolled` stays one, for `tir-to-llvm` to replay, unless `explicit-unroll` or the pragma
`unroll_explicit` of it or of a loop around it asks for its iterations in the text. A serial loop of constant extent
becomes unrolled, innermost first, where its iterations have at most `auto-max-step` stores together, or there are at
most `auto-max-extent` of them; the loops that are unrolled within each other are at most `auto-max-depth`. The pragmas
`auto_unroll_max_step` and `auto_unroll_max_depth` set these for a nest. Names and rules are those of TVM's UnrollLoop.

Before:
    tir.for %k = 0 to 2 "y.k" attributes {pragma_auto_unroll_max_step = 4 : i64, pragma_unroll_explicit = 1 : i64} {
      %x = tir.load %X[%k] : memref<2xf32>
      tir.store %x, %y[%k] : memref<2xf32> }
After:
    %x = tir.load %X[0] : memref<2xf32>
    tir.store %x, %y[0] : memref<2xf32>
    %x_1 = tir.load %X[1] : memref<2xf32>
    tir.store %x_1, %y[1] : memref<2xf32>
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import Condition
from lamina.dialects.index.linear import constant
from lamina.dialects.schedule.nest.annotations import PRAGMA, pragma_of
from lamina.dialects.schedule.nest.edits import function_of, substitute_in, unique_axis
from lamina.dialects.tir.limits import MAX_UNROLLED, UnrollError, unrolled_length
from lamina.dialects.tir.memory import StoreOp
from lamina.dialects.tir.ops import ForOp, FuncOp, IfOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.threads.phases import explicit_indices


@dataclass(frozen=True)
class UnrollLoopPass(ModulePass):
    name = "tir-unroll-loop"

    auto_max_step: int = 0
    auto_max_depth: int = 8
    auto_max_extent: int = 0
    explicit_unroll: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        options = Options(self.auto_max_step, self.auto_max_depth, self.auto_max_extent, self.explicit_unroll)
        for func in op.ops:
            if isinstance(func, FuncOp):
                explicit_indices(func)
                _visit(func.body.block, options)


@dataclass(frozen=True)
class Options:
    """The options of unrolling that hold in a nest."""

    max_step: int
    max_depth: int
    max_extent: int
    explicit: bool

    def within(self, loop: ForOp) -> Options:
        """The options with a loop's pragmas, which it loses."""
        step, depth = pragma_of(loop, "auto_unroll_max_step"), pragma_of(loop, "auto_unroll_max_depth")
        explicit = pragma_of(loop, "unroll_explicit")
        for key in ("auto_unroll_max_step", "auto_unroll_max_depth", "unroll_explicit"):
            if PRAGMA + key in loop.attributes:
                edit.change(loop)
                del loop.attributes[PRAGMA + key]
        return replace(
            self,
            max_step=self.max_step if step is None else step,
            max_depth=self.max_depth if depth is None else depth,
            explicit=self.explicit if explicit is None else bool(explicit),
        )


@dataclass
class Shape:
    """The size of a block: stores once its loops are unrolled, and how deep loops nest, unrolled and not."""

    steps: int = 0
    unrolled: int = 0
    loops: int = 0

    def add(self, other: Shape) -> None:
        self.steps += other.steps
        self.unrolled = max(self.unrolled, other.unrolled)
        self.loops = max(self.loops, other.loops)


def _visit(block: Block, options: Options) -> Shape:
    total = Shape()
    for op in list(block.ops):
        if isinstance(op, ForOp):
            total.add(_visit_loop(op, options))
        elif isinstance(op, StoreOp):
            total.steps += 1
        else:
            for region in op.regions:
                for inner in region.blocks:
                    total.add(_visit(inner, options))
    return total


def _visit_loop(loop: ForOp, outer: Options) -> Shape:
    options = outer.within(loop)
    inside = _visit(loop.body.block, options)
    asked = loop.is_unrolled
    if loop.kind.data == "serial" and not loop.is_dynamic and inside.loops == 0:
        small = loop.trip * inside.steps <= options.max_step or loop.trip <= options.max_extent
        asked = small and inside.unrolled <= options.max_depth and options.max_step + options.max_extent > 0
    if not asked:
        return Shape(inside.steps, inside.unrolled, inside.loops + 1)
    if options.explicit:
        with edit.transaction():
            write_out(loop)
    elif not loop.is_unrolled:
        edit.change(loop)
        loop.properties["kind"] = StringAttr("unrolled")
    return Shape(inside.steps * loop.trip, inside.unrolled + 1, inside.loops)


def write_out(loop: ForOp) -> None:
    """The iterations of a loop of constant extent one after the other; those beyond a tail under its condition."""
    length = loop.trip * (unrolled_length(loop.body.block.ops) + 1)
    if length > MAX_UNROLLED:
        raise InputError(f"tir-unroll-loop: {UnrollError(loop, length)}", hint="split the loop first", op=loop)
    func = function_of(loop)
    ranges = RangeCache()
    for n in range(loop.trip):
        values: dict[SSAValue, SSAValue] = {}
        copies = [op.clone(values) for op in loop.body.block.ops]
        _renumber(copies, loop, n, func if n else None, ranges)
        beyond = [Condition(bound - (n + 1)) for bound in loop.min_bounds()]
        left = [c for c in beyond if not _always(c, ranges)]
        if left:
            holder = IfOp.make(left)
            inherit_location(holder, loop)
            holder.body.block.add_ops(copies)
            copies = [holder]
        edit.insert_before(loop, *copies)
    edit.erase(loop, safe=False)


def _renumber(copies: list[Operation], loop: ForOp, n: int, func: FuncOp | None, ranges: RangeCache) -> None:
    """Put the number of an iteration for the loop's variable; loops in all but the first get names of their own."""
    for op in [o for copy in copies for o in copy.walk()]:
        if type(op) is ForOp and func is not None:
            op.properties["axis"] = StringAttr(unique_axis(func, f"{op.axis.data}.{n}"))
        if loop.var in op.operands:
            substitute_in(op, {loop.var: constant(n)}, ranges)


def _always(condition: Condition, ranges: RangeCache) -> bool:
    bounds = condition.form.range(ranges)
    return bounds is not None and bounds[0] >= 0

"""bind: the iterations of a loop on the threads of a GPU."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.index.linear import Linear
from lamina.dialects.schedule.nest.edits import bounds_to_predicate, stands_in
from lamina.dialects.schedule.nest.recurrence import check_at_once
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.threads import check_blocks_apart, is_thread, tag_of, thread_extent, thread_loops
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, ScheduleState, parse_loop
from lamina.dialects.tir.control import ConditionalBase
from lamina.dialects.tir.memory import AllocOp, StoreOp
from lamina.dialects.tir.ops import THREAD_TAGS, ForOp, enclosing_loops


@irdl_op_definition
class BindOp(LoopPrimitiveOp):
    """The iterations of a loop on the threads along an axis: of the grid, of a block, or virtual ones.

    Before: `for i in 64: C[i] = A[i]`    After `te.bind %i "threadIdx.x"`: thread i of 64 does `C[i] = A[i]`

    A tail of the loop becomes a predicate of what stands in it. A reduction loop may be bound to an axis of a block:
    its threads then add up their parts.
    """

    name = "te.bind"
    loop = operand_def(LOOP)
    thread = prop_def(StringAttr)

    @staticmethod
    def make(loop: SSAValue, thread: str) -> BindOp:
        return BindOp.create(operands=[loop], properties={"thread": StringAttr(thread)})

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        printer.print_string_literal(self.thread.data)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> BindOp:
        loop = parse_loop(parser)
        return cls.make(loop, parser.parse_str_literal("the thread axis"))

    def apply(self, state: ScheduleState) -> None:
        bind(state.loop(self.loop), self.thread.data)


def bind(loop: ForOp, tag: str) -> None:
    """Run the iterations of a loop on the threads along an axis. Its bounds become predicates of the blocks inside.

    Raises ScheduleError where the loop cannot be bound so, IllegalError where that changed what the program means.
    """
    what = f'bind of {loop.axis.data!r} to "{tag}"'
    if tag not in THREAD_TAGS:
        raise ScheduleError(f"{what}: there is no such thread axis; it is one of {', '.join(THREAD_TAGS)}")
    if is_thread(loop):
        raise ScheduleError(f'{what}: it is bound to "{tag_of(loop)}" already')
    if loop.kind.data != "serial":
        raise ScheduleError(f"{what}: it is {loop.kind.data}")
    if loop.is_dynamic and tag.startswith("vthread"):
        raise ScheduleError(f"{what}: virtual threads have a constant number of iterations")
    if loop.is_reduction and not tag.startswith("threadIdx"):
        refuse(f"{what}: its iterations add into the same element, which only the threads of one block can")
    check_at_once(loop, "bind")
    around = enclosing_loops(loop)
    if not tag.startswith("vthread"):
        for outer in around:
            if is_thread(outer) and tag_of(outer) == tag:
                _check_nested(outer, loop, what)
        for inner in thread_loops(loop):
            if tag_of(inner) == tag:
                _check_nested(loop, inner, what)
    root = next((v for v in around if is_thread(v)), loop)
    for other in thread_loops(root):
        _check_extent(loop, tag, other, what)
    if loop is root:
        first: dict[str, ForOp] = {}
        for inner in thread_loops(loop):
            _check_extent(first.setdefault(tag_of(inner), inner), tag_of(inner), inner, what)
    grids = [*([loop] if tag.startswith("blockIdx") else []), *thread_loops(root, "blockIdx")]
    check_blocks_apart(root, [v for v in grids if v is not root], what)
    if not loop.is_dynamic:
        bounds_to_predicate(loop)
    loop.properties["kind"] = StringAttr("thread")
    loop.properties["thread"] = StringAttr(tag)


def _check_extent(loop: ForOp, tag: str, other: ForOp, what: str) -> None:
    """Loops along one axis of a kernel have the same extent. The order in which virtual threads stand is their own."""
    if other is loop or tag_of(other) != tag or tag.startswith("vthread"):
        return
    ours, theirs = thread_extent(loop), thread_extent(other)
    if ours != theirs:
        raise ScheduleError(
            f"{what}: {loop.axis.data!r} has {_shown(ours)} iterations, {other.axis.data!r} in the same kernel "
            f"{_shown(theirs)}"
        )


def _shown(extent: Linear) -> str:
    return str(extent.const) if extent.is_constant else "a variable number of"


def _check_nested(outer: ForOp, inner: ForOp, what: str) -> None:
    """A loop within one of the same axis is work that threads share: nothing in it may know the outer iteration."""
    for op in inner.walk():
        if isinstance(op, StoreOp) and isinstance(op.buffer.owner, AllocOp) and not stands_in(op.buffer.owner, inner):
            if stands_in(op.buffer.owner, outer):
                name = op.buffer.owner.stage.data
                raise ScheduleError(
                    f"{what}: each iteration of {outer.axis.data!r} has a buffer {name!r} of its own, of scope "
                    f'"{op.buffer.owner.scope.data}", which threads cannot fill together'
                )
    for use in outer.var.uses:
        if not isinstance(use.operation, ConditionalBase) and stands_in(use.operation, inner):
            raise ScheduleError(
                f"{what}: {outer.axis.data!r} around {inner.axis.data!r} has that axis, and what stands inside "
                "depends on both"
            )

"""env_threads: threads launched around a stage's nest."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, StringAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects import edit
from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.linear import MAX_EXTENT
from lamina.dialects.schedule.nest.edits import accesses, stage_block, stores_beyond, unique_axis
from lamina.dialects.schedule.nest.recurrence import ROLLING
from lamina.dialects.schedule.nest.refusals import ScheduleError, refuse
from lamina.dialects.schedule.nest.threads import check_blocks_apart, thread_loops
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp
from lamina.dialects.tir.ops import THREAD_TAGS, BlockOp, ForOp, FuncOp, enclosing_loops


@irdl_op_definition
class EnvThreadsOp(PrimitiveOp):
    """Threads launched around a stage's nest: each runs all of it, and loops bound to their axes inside are shared out.

    Before: `for i: C[i] = f`
    After `%t = te.env_threads "C" ["threadIdx.x"] [64]`: thread t of 64 does `for i: C[i] = f`
    """

    name = "te.env_threads"
    stage = prop_def(StringAttr)
    tags = prop_def(ArrayAttr)
    extents = prop_def(DenseArrayBase.constr(i64))
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, tags: Sequence[str], extents: Sequence[int]) -> EnvThreadsOp:
        return EnvThreadsOp.create(
            properties={
                "stage": StringAttr(stage),
                "tags": ArrayAttr([StringAttr(t) for t in tags]),
                "extents": DenseArrayBase.from_list(i64, list(extents)),
            },
            result_types=[LOOP] * len(tags),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_attribute(self.tags)
        printer.print_string(f" {list(self.extents.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> EnvThreadsOp:
        stage = parser.parse_str_literal("the stage's name")
        tags = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_str_literal("the thread axis")
        )
        extents = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return cls.make(stage, tags, extents)

    def apply(self, state: ScheduleState) -> None:
        tags = [t.data for t in self.tags.data if isinstance(t, StringAttr)]
        extents = [int(e) for e in self.extents.get_values()]
        state.bind(self.results, env_threads(state.func, self.stage.data, tags, extents))


def env_threads(func: FuncOp, stage: str, tags: Sequence[str], extents: Sequence[int]) -> list[ForOp]:
    """Launch threads around a stage's nest, each of which runs all of it, save what loops along their axes share out.

    Raises ScheduleError where the nest stands in a loop, or an axis is not one of threads.
    """
    what = f"env_threads of {stage!r}"
    block = stage_block(func, stage)
    nest: Operation = block
    while nest.parent_op() is not func:
        parent = nest.parent_op()
        assert parent is not None
        nest = parent
    if len(tags) != len(extents):
        raise ScheduleError(f"{what}: {len(tags)} axes, {len(extents)} extents")
    for tag, extent in zip(tags, extents, strict=True):
        if tag not in THREAD_TAGS or tag.startswith("vthread"):
            known = ", ".join(t for t in THREAD_TAGS if not t.startswith("vthread"))
            raise ScheduleError(f"{what}: {tag!r} is no axis of threads; it is one of {known}")
        if not 1 <= extent <= MAX_EXTENT or tags.count(tag) > 1:
            raise ScheduleError(f"{what}: {tag!r} is launched once, with 1 to {MAX_EXTENT} threads")
    for v in (v for v in all_ops(nest) if isinstance(v, ForOp) and v.thread is not None):
        if v.thread is not None and v.thread.data in tags:
            extent = extents[tags.index(v.thread.data)]
            if v.is_dynamic or v.trip != extent:
                raise ScheduleError(
                    f"{what}: {v.axis.data!r} is bound to {v.thread.data!r}, but not with {extent} threads"
                )
    if prod(extents) > 1 and _reads_itself(nest):
        refuse(f"{what}: it reads what an earlier thread has computed: running it again changes its result")
    check_blocks_apart(nest, thread_loops(nest, "blockIdx"), what)
    loops: list[ForOp] = []
    for tag, extent in zip(tags, extents, strict=True):
        loop = ForOp.make(extent, unique_axis(func, f"{stage}.{tag}"), kind="thread", hint=tag.rpartition(".")[2])
        loop.properties["thread"] = StringAttr(tag)
        loop.location = block.location
        loops.append(loop)
    if not loops:
        return []
    edit.insert_before(nest, loops[0])
    edit.take(nest)
    for outer, inner in zip(loops, loops[1:], strict=False):
        outer.body.block.add_op(inner)
    loops[-1].body.block.add_op(nest)
    return loops


def _reads_itself(nest: Operation) -> bool:
    """Whether a nest writes elements that it has read before, other than to add up what it has begun itself.

    What one stage reads of another has been computed before, so it is a stage's own buffer that matters, and one whose
    elements are used again.
    """
    for op in accesses(nest):
        owner = op.buffer_value().owner
        if isinstance(op, StoreOp) and isinstance(owner, AllocOp) and ROLLING in owner.attributes:
            if not any(v is nest for v in enclosing_loops(owner)):
                return True
    blocks = [b for b in all_ops(nest) if isinstance(b, BlockOp)]
    begun = {s.buffer for b in blocks for s in stores_beyond(b) if not any(_loads(b, s.buffer))}
    for block in (b for b in blocks if not b.init.blocks):
        for store in stores_beyond(block):
            for load in _loads(block, store.buffer):
                if _filled_inside(load, nest) or _stored_earlier(store, load):
                    continue
                if any(op.regions for op in block.body.block.ops) or store.buffer not in begun:
                    return True
                if store.forms() != load.forms():
                    return True
    return False


def _loads(block: BlockOp, buffer: SSAValue) -> list[LoadOp]:
    return [o for o in accesses(block, buffer) if isinstance(o, LoadOp)]


def _stored_earlier(store: StoreOp, load: LoadOp) -> bool:
    """Whether an element that a load reads has been stored by an earlier iteration, or is never stored.

    So it is in a recurrence: along one dimension the stores go forward, always some elements ahead of the loads.
    """
    pairs = zip(store.forms(), load.forms(), strict=True)
    return any((a - b).is_constant and (a - b).const > 0 and all(c > 0 for c in a.terms.values()) for a, b in pairs)


def _filled_inside(load: LoadOp, nest: Operation) -> bool:
    """Whether another stage of the nest computes anew what a load reads."""
    owner = load.buffer.owner
    return isinstance(owner, AllocOp) and owner is not nest and any(v is nest for v in enclosing_loops(owner))

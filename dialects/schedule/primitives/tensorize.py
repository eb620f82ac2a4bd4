"""tensorize: a loop nest that computes what a tensor intrinsic describes becomes the intrinsic's implementation.

The nest is compared with the description (`match_intrinsic.py`); nothing is taken on trust. A reduction whose init
stands in its block gets the intrinsic's `reset` as init and `update` as body, or `body` alone where the whole reduction
is inside; one whose init stands elsewhere gets `update`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import SymbolRefAttr, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def

from lamina.dialects import edit
from lamina.dialects.index.accesses import RangeCache
from lamina.dialects.index.index_map import condition_text
from lamina.dialects.index.linear import Atom, Linear, linear_text
from lamina.dialects.schedule.nest.edits import (
    TENSORIZED,
    function_of,
    reduction_loops,
    substitute_in,
    unique_axis,
    wrap,
)
from lamina.dialects.schedule.nest.match_intrinsic import Difference, Nest, Windows, match
from lamina.dialects.schedule.nest.refusals import ScheduleError
from lamina.dialects.schedule.nest.tensor_intrinsic import TensorIntrinsic, Window, place_body
from lamina.dialects.schedule.primitive import LOOP, PrimitiveOp, ScheduleState
from lamina.dialects.tir.memory import AccessOp, type_of
from lamina.dialects.tir.ops import BlockOp, ConditionOp, ForOp, FuncOp, IndexOp, enclosing_loops


@irdl_op_definition
class TensorizeOp(PrimitiveOp):
    """A nest that computes what an intrinsic describes becomes the intrinsic's implementation.

    Before: `for i in 16: for k in 4: C[io * 16 + i] += A[k] * B[io * 16 + i, k]`
    After `te.tensorize %i @dot`: `block "C": c = C[io * 16 + lane]; C[io * 16 + lane] = dot(c, A[lane], B[...])`

    The nest is compared with the intrinsic's description op by op, whatever the order of its loops; where they differ,
    the primitive is refused with the difference.
    """

    name = "te.tensorize"
    loop = operand_def(LOOP)
    intrinsic = prop_def(SymbolRefAttr)
    assembly_format = "$loop $intrinsic attr-dict"

    @staticmethod
    def make(loop: SSAValue, intrinsic: str) -> TensorizeOp:
        return TensorizeOp.create(operands=[loop], properties={"intrinsic": SymbolRefAttr(intrinsic)})

    def apply(self, state: ScheduleState) -> None:
        name = self.intrinsic.root_reference.data
        if state.intrinsics is None:
            raise ScheduleError(f"no tensor intrinsic @{name} is known here")
        tensorize(state.loop(self.loop), state.intrinsics(name))


_TAIL = "split so that it divides, or pad (te.pad_einsum)"


def tensorize(loop: ForOp, intrinsic: TensorIntrinsic) -> BlockOp:
    """Put an intrinsic in the place of the nest at a loop. Returns its block.

    Raises ScheduleError, with nothing changed, where the nest is not what the intrinsic describes.
    """
    what = f"tensorize of {loop.axis.data!r} by @{intrinsic.name}"
    nest = _nest_at(loop, what)
    try:
        windows = match(nest, intrinsic)
    except Difference as e:
        raise ScheduleError(f"{what}: {e}") from None
    _check_layout(intrinsic, windows, what)
    init, body = _variants(nest, intrinsic, what)
    func = function_of(loop)
    stage = nest.block.stage.data
    taken: set[str] = set()
    operands = [windows[operand] for operand in intrinsic.operands]
    new_body = Block(place_body(body, operands, func, stage, taken))
    new_init: Block | None = None
    if isinstance(init, FuncOp):
        new_init = Block(place_body(init, operands[-1:], func, stage, taken))
    elif init is not None:
        new_init = _plain_init(nest, func)
    new = BlockOp.make(stage, new_init, new_body, nest.block.conditions())
    new.attributes = {**nest.block.attributes, TENSORIZED: SymbolRefAttr(intrinsic.name)}
    new.location = nest.block.location
    for op in new.walk():
        if isinstance(op.location, UnknownLoc):
            op.location = nest.block.location
    edit.insert_before(loop, new)
    for dead in [*nest.loops, nest.block]:
        edit.take(dead)
    for dead in reversed(nest.loops):
        edit.erase(dead, safe=False)
    edit.erase(nest.block, safe=False)
    return new


def _nest_at(loop: ForOp, what: str) -> Nest:
    """The loops from one inward and their block, if that is all there is. Raises ScheduleError."""
    loops = [loop]
    while True:
        ops = list(loops[-1].body.block.ops)
        if len(ops) != 1 or not isinstance(ops[0], (ForOp, BlockOp)):
            held = ", ".join(op.name for op in ops) or "nothing"
            raise ScheduleError(f"{what}: the loop {loops[-1].axis.data!r} holds {held}, not one loop or block")
        inner = ops[0]
        if isinstance(inner, BlockOp):
            break
        loops.append(inner)
    if TENSORIZED in inner.attributes:
        raise ScheduleError(f"{what}: the stage {inner.stage.data!r} is tensorized already")
    for v in loops:
        if v.kind.data != "serial":
            raise ScheduleError(f"{what}: the loop {v.axis.data!r} inside is {v.kind.data}; the intrinsic replaces it")
        if v.bounds or v.is_dynamic:
            bounds = ", ".join(linear_text(b, _name) for b in v.min_bounds())
            raise ScheduleError(f"{what}: the loop {v.axis.data!r} has a tail (min [{bounds}]); {_TAIL}")
    outside = next((v for v in enclosing_loops(loop) if v.kind.data == "vectorized"), None)
    if outside is not None:
        raise ScheduleError(f"{what}: it stands in the vectorized loop {outside.axis.data!r}")
    inside = {v.var for v in loops}
    for condition in inner.conditions():
        if any(d in inside for d in condition.form.dims()):
            text = condition_text(condition, _name)
            raise ScheduleError(f"{what}: its block has a tail (where [{text}]); {_TAIL}")
    return Nest(loops, inner)


def _name(atom: Atom) -> str:
    hint = getattr(atom, "name_hint", None)
    return f"%{hint}" if hint else str(atom) if isinstance(atom, (str, int)) else "%?"


def _variants(nest: Nest, intrinsic: TensorIntrinsic, what: str) -> tuple[FuncOp | BlockOp | None, FuncOp]:
    """(init, body): implementations; the nest's own block where its init is to stay as it is."""
    if not intrinsic.is_reduction:
        assert intrinsic.body is not None
        return None, intrinsic.body
    starts = bool(nest.block.init.blocks)
    outside = [v for v in reduction_loops(nest.block) if v not in nest.loops]
    if starts and not outside and intrinsic.body is not None:
        return None, intrinsic.body
    if intrinsic.update is None:
        why = f"the reduction goes on in the loop {outside[0].axis.data!r}" if outside else "its init stands elsewhere"
        raise ScheduleError(f"{what}: {why}, and the intrinsic has no @update that adds to what is there")
    if not starts:
        return None, intrinsic.update
    return intrinsic.reset if intrinsic.reset is not None else nest.block, intrinsic.update


def _plain_init(nest: Nest, func: FuncOp) -> Block:
    """The init of the nest as loops of its own."""
    source = nest.block.init.blocks[0]
    copies = [
        ForOp.make(v.trip, unique_axis(func, f"{v.axis.data}.init"), hint=v.var.name_hint)
        for v in nest.loops
        if not v.is_reduction
    ]
    spatial = [v for v in nest.loops if not v.is_reduction]
    mapping: dict[Atom, Linear] = {v.var: Linear.dim(c.var) for v, c in zip(spatial, copies, strict=True)}
    ranges = RangeCache({c.var: (0, c.trip - 1) for c in copies})
    ops: list[Operation] = []
    values: dict[SSAValue, SSAValue] = {}
    for op in source.ops:
        clone = op.clone(values)
        if isinstance(clone, (AccessOp, IndexOp, ConditionOp)):
            substitute_in(clone, mapping, ranges)
        ops.append(clone)
    block = Block(ops)
    if not copies:
        return block
    wrap(copies, block)
    return Block([copies[0]])


def _check_layout(intrinsic: TensorIntrinsic, windows: Windows, what: str) -> None:
    """Raise ScheduleError where an operand does not lie in memory as the implementation asks."""
    for operand, wanted, factor in zip(intrinsic.operands, intrinsic.strides, intrinsic.offset_factors, strict=True):
        window = windows[operand]
        shape = type_of(operand).get_shape()
        names = f"%{operand.name_hint} lies in %{window.buffer.name_hint}"
        strides = window.strides(len(shape))
        if wanted is not None and _differ(strides, wanted, shape):
            given = ", ".join("?" if s is None else str(s) for s in strides)
            raise ScheduleError(f"{what}: {names} with strides [{given}], the intrinsic asks for {list(wanted)}")
        if factor > 1 and not _is_multiple(window, factor):
            raise ScheduleError(f"{what}: {names} at places that are no multiples of {factor} elements")


def _differ(strides: Sequence[int | None], wanted: Sequence[int], shape: Sequence[int]) -> bool:
    return any(w != -1 and e > 1 and s != w for s, w, e in zip(strides, wanted, shape, strict=True))


def _is_multiple(window: Window, factor: int) -> bool:
    offset = window.offset()
    return offset is not None and not offset.const % factor and not any(c % factor for c in offset.terms.values())

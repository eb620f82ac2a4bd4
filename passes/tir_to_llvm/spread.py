"""Scalars that unrolled iterations read one after the other, each to put its own in every lane: one load has them all.

Before:
    tir.for %c = 0 to 16 unrolled {
      %a = tir.load %x[%p, %c] : memref<8x16xf32>
      %b = tir.broadcast %a : f32 to vector<16xf32>
After:
    %0 = llvm.load %p : !llvm.ptr -> vector<16xf32>
    %1 = llvm.shufflevector %0, %poison [0, 0, ...]     // the iteration of %c = 0
    %2 = llvm.shufflevector %0, %poison [1, 1, ...]     // that of %c = 1

That is one op for each iteration in the place of four: the address, the load, the insertion into a vector and the
shuffle. x86 has an instruction that reads an element of memory into all lanes, also as the factor of a multiply-add.
LLVM takes it for each of the shuffles and drops the load of the whole, so that the machine code stays what it was.

All iterations run, so all elements of the load are read anyway: it reaches no memory that the kernel does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, VectorType, f32, f64, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lamina.dialects.dtypes import vector_type
from lamina.dialects.fast_ir import name_new, valid_name
from lamina.dialects.index.linear import Atom, Linear
from lamina.dialects.llvm_target import ops as llvm
from lamina.dialects.target import TargetAttr
from lamina.dialects.tir.ops import BroadcastOp, ForOp, IfOp, LoadOp
from lamina.passes.tir_to_llvm.access import Access
from lamina.passes.tir_to_llvm.scalars import Properties

if TYPE_CHECKING:
    from lamina.passes.tir_to_llvm.replay import Replay

Step = Callable[[], None]

_BITS: dict[Attribute, int] = {f32: 32, i32: 32, f64: 64, i64: 64}
"""Elements that AVX reads into all lanes."""
LEAST_BITS, MOST_BITS = 128, 512
"""Of a load: LLVM takes a lane of a shorter vector out of a register."""


def spreads_from_memory(target: TargetAttr | None) -> bool:
    """Whether a machine reads one element into all lanes, whichever element of a vector in memory it is."""
    return target is not None and target.triple.data.startswith("x86_64") and target.vector_bits.data >= 256


def compile_spread_load(replay: Replay, op: LoadOp, access: Access) -> Step | None:
    """The step of a load that gives more lanes than its own; None where it is like any other.

    Its value is then a vector, and `replay.spread` has the variable and the lanes of which each broadcast takes one.
    """
    result = op.result
    bits = _BITS.get(result.type)
    if bits is None or op.buffer in replay.registers or not _is_only_broadcast(result):
        return None
    if access.conditions or access.locals or access.lane_in_row or access.lane_inside:
        return None
    candidates = [
        (_lanes_along(variable, access, op, bits), variable) for variable, step in access.numbers if step == 1
    ]
    lanes, variable = max(candidates, default=(0, None), key=lambda c: c[0])
    if lanes * bits < LEAST_BITS or variable is None:
        return None
    replay.spread[result] = variable, lanes
    access.widen(vector_type(access.element, lanes))
    values, unrolled, name = replay.values, replay.unrolled, valid_name(result.name_hint)

    def step() -> None:
        n = unrolled[variable]
        unrolled[variable] = n - n % lanes
        value = access.load()
        unrolled[variable] = n
        name_new(value, name)
        values[result] = value

    return step


def broadcast_lane(replay: Replay, vector: SSAValue, lane: int, type_: Attribute) -> SSAValue:
    """One lane of a vector in every lane of another."""
    b, key = replay.b, (vector, lane)
    found = replay.shared.get(key)
    if found is None or found.type != type_:
        assert type(type_) is VectorType
        properties: Properties = {"mask": _mask(lane, type_.get_shape()[0])}
        poison = b.constant_op(llvm.PoisonOp, vector.type)
        found = replay.shared[key] = b.emit(llvm.ShuffleVectorOp, [vector, poison], type_, properties)
    return found


@cache
def _mask(lane: int, lanes: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, [lane] * lanes)


def _is_only_broadcast(value: SSAValue) -> bool:
    return value.first_use is not None and all(type(use.operation) is BroadcastOp for use in value.uses)


def _lanes_along(variable: Atom, access: Access, op: Operation, bits: int) -> int:
    """The number of neighbours that iterations of an unrolled loop read, from a multiple of that number on."""
    assert isinstance(variable, SSAValue) and isinstance(variable.owner, Block)
    loop = variable.owner.parent_op()
    assert isinstance(loop, ForOp)
    if loop.bounds or any(variable in form.dims() for form, _ in access.rows) or variable in access.nonlinear:
        return 0
    # What stands between the loop and the load is the same for all iterations.
    around = op.parent_op()
    while around is not loop:
        if isinstance(around, IfOp):
            forms = [c.form for c in around.conditions()]
        elif isinstance(around, ForOp):
            forms = around.min_bounds()
        else:
            return 0
        if not all(_is_of_loops(form, variable) for form in forms):
            return 0
        around = around.parent_op()
    # The largest power of two that divides the number of iterations.
    return min(loop.trip & -loop.trip, MOST_BITS // bits)


def _is_of_loops(form: Linear, other: Atom) -> bool:
    """Whether a form has loop variables and sizes only, and not a given one."""
    return all(isinstance(d, BlockArgument) and d is not other for d in form.dims())

"""Turn vectorized loops into vector code: the loop's variable becomes the lane.

What does not depend on the variable stays scalar and is broadcast where vectors need it. The bound of a tail becomes
a guard, so that lanes beyond it neither read nor write. A vectorized loop is innermost. Where an index differs by
lane otherwise than by the variable (it was read from memory), the loop is unrolled instead.

Before:
    tir.for %i = 0 to 16 vectorized "y.i" {
      %a = tir.load %A[%j] : memref<8xf32>
      %b = tir.load %B[%j, %i] : memref<8x16xf32>
      %c = arith.addf %a, %b : f32
      tir.store %c, %y[%j, %i] : memref<8x16xf32> }
After:
    %a = tir.load %A[%j] : memref<8xf32>
    %b = tir.load %B[%j, lane] : memref<8x16xf32>, vector<16xf32>
    %v = tir.broadcast %a : f32 to vector<16xf32>
    %c = arith.addf %v, %b : vector<16xf32>
    tir.store %c, %y[%j, lane] : memref<8x16xf32>, vector<16xf32>
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from lamina.dialects.accesses import RangeCache, over_values
from lamina.dialects.index_map import LANE, Condition
from lamina.dialects.linear import Atom, Linear
from lamina.dialects.tir.checks import CheckOp, unless
from lamina.dialects.tir.memory import type_of
from lamina.dialects.tir.ops import (
    AccessOp,
    AllocOp,
    BroadcastOp,
    ConditionOp,
    ForOp,
    IndexOp,
    LoadOp,
    SelectOp,
    StoreOp,
)
from lamina.dialects.tir.vectors import CASTS, CastOp, CompareOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location


@dataclass(frozen=True)
class VectorizeLoopPass(ModulePass):
    name = "tir-vectorize-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in [v for v in op.walk() if type(v) is ForOp and v.kind.data == "vectorized"]:
            if indexes_by_lane(loop):
                unroll(loop)
            else:
                _Vectorizer(loop).run()


def indexes_by_lane(loop: ForOp) -> bool:
    """Whether a value that differs by lane, such as an index read from memory, is itself part of an index."""
    differing: set[SSAValue] = {loop.var}
    for op in loop.body.block.ops:
        indices = op.index_operands() if isinstance(op, AccessOp) else op.operands
        if isinstance(op, (AccessOp, IndexOp, ConditionOp)) and any(o in differing and o != loop.var for o in indices):
            return True
        if any(o in differing for o in op.operands):
            differing.update(op.results)
    return False


def unroll(loop: ForOp) -> None:
    """Leave the lanes to be taken one by one; the bound of a tail becomes a guard."""
    tail = [Condition((b - Linear.dim(loop.var)) - 1) for b in loop.min_bounds()]
    if tail:
        for op in list(loop.body.block.ops):
            if isinstance(op, AccessOp) and not in_register(op):
                op.set_access(op.forms(), [*op.conditions(), *tail])
            elif isinstance(op, CheckOp):
                new = unless(op.condition, tail)
                loop.body.block.insert_ops_before(new, op)
                op.operands[1] = new[-1].results[0]
        loop.set_min_bounds([])
    loop.properties["kind"] = StringAttr("unrolled")


_CAST_KINDS = {op_type: kind for kind, op_type in CASTS.items()}


def in_register(op: AccessOp) -> bool:
    """Whether an access goes to a register buffer: its lanes beyond a tail are dropped when they leave it."""
    owner = op.buffer_value().owner
    return isinstance(owner, AllocOp) and owner.scope.data == "register"


class _Vectorizer:
    def __init__(self, loop: ForOp) -> None:
        self.loop = loop
        self.lanes = loop.trip
        self.vectors: dict[SSAValue, SSAValue] = {}
        """Scalar values of the loop body whose value differs by lane, with the vector that replaces them."""
        self.broadcasts: dict[SSAValue, SSAValue] = {}
        self.mapping: dict[Atom, Linear] = {loop.var: Linear.dim(LANE)}
        self.ranges = RangeCache({LANE: (0, self.lanes - 1)})
        self.tail = [Condition((b - Linear.dim(LANE)) - 1) for b in loop.min_bounds()]

    def run(self) -> None:
        loop = self.loop
        place = loop.parent
        assert place is not None
        for op in list(loop.body.block.ops):
            if op.regions:
                raise InputError(
                    f"tir-vectorize-loop: {loop.axis.data!r} contains {op.name}; reorder it to be innermost",
                    op=loop,
                )
            new = self.rewrite(op)
            for n in new:
                inherit_location(n, op)
            if new and new[-1] is op:
                op.detach()
            for n in new:
                place.insert_op_before(n, loop)
        loop.detach()
        for op in reversed(list(loop.body.block.ops)):
            op.detach()
            op.erase(safe_erase=False)
        loop.erase(safe_erase=False)

    def vector_type(self, element: Attribute) -> VectorType:
        return VectorType(element, [self.lanes])

    def depends(self, forms: list[Linear], conditions: list[Condition]) -> bool:
        return any(LANE in f.dims() for f in forms) or any(LANE in c.form.dims() for c in conditions)

    def rewrite(self, op: Operation) -> list[Operation]:
        """The ops that replace one op of the body; the op itself, last, where it is kept."""
        if isinstance(op, AccessOp):
            return self.access(op)
        if isinstance(op, (IndexOp, ConditionOp)):
            return self.index_arithmetic(op)
        if isinstance(op, AllocOp):
            return [op]
        if isinstance(op, CheckOp):
            return self.check(op)
        if not any(o in self.vectors for o in op.operands):
            return [op]
        extra: list[Operation] = []
        operands: list[SSAValue] = []
        if isinstance(op, arith.SelectOp) and op.cond not in self.vectors:
            operands = [op.cond, *(self.as_vector(o, extra) for o in op.operands[1:])]
            op_type: type[Operation] = arith.SelectOp
        else:
            operands = [self.as_vector(o, extra) for o in op.operands]
            op_type = SelectOp if isinstance(op, arith.SelectOp) else type(op)
        types = [self.vector_type(r.type) for r in op.results]
        if isinstance(op, (arith.CmpiOp, arith.CmpfOp)):
            new: Operation = CompareOp.make(op.predicate, operands[0], operands[1])
        elif op_type in _CAST_KINDS:
            new = CastOp.make(_CAST_KINDS[op_type], operands[0], types[0])
        else:
            new = op_type.create(operands=operands, result_types=types, properties=dict(op.properties))
        new.attributes |= op.attributes
        self.became(op, new)
        return [*extra, new]

    def check(self, op: CheckOp) -> list[Operation]:
        """The lanes beyond the tail may fail."""
        scalar = not any(o in self.vectors for o in op.operands)
        extra: list[Operation] = []
        value, condition = op.operands if scalar else (self.as_vector(o, extra) for o in op.operands)
        if self.tail:
            asked = self.lane_zero_of_tail() if scalar else self.tail
            extra += unless(condition, asked, None if scalar else self.lanes)
            condition = extra[-1].results[0]
        if scalar:
            op.operands[1] = condition
            return [*extra, op]
        new = CheckOp.make(value, condition, op.message.data)
        self.became(op, new)
        return [*extra, new]

    def became(self, op: Operation, new: Operation) -> None:
        self.vectors[op.results[0]] = new.results[0]
        new.results[0].name_hint = op.results[0].name_hint

    def substituted(self, forms: list[Linear]) -> list[Linear]:
        return [f.substitute(self.mapping, self.ranges) for f in forms]

    def access(self, op: AccessOp) -> list[Operation]:
        forms = self.substituted(op.forms())
        old = op.conditions()
        guards = self.substituted([c.form for c in old])
        conditions = [Condition(g, c.equal) for g, c in zip(guards, old, strict=True)]
        extra: list[Operation] = []
        if isinstance(op, LoadOp):
            if not self.depends(forms, conditions):
                # One element for all lanes; read even where no lane is left, so it must be in bounds by itself.
                op.set_access(forms, conditions)
                return [op]
            tail = self.tail if self.needs_tail(op, forms) else []
            new = LoadOp.make(op.buffer, forms, [*conditions, *tail], self.vector_type(op.result.type))
            self.became(op, new)
            return [new]
        assert isinstance(op, StoreOp)
        if not self.depends(forms, conditions) and op.value not in self.vectors:
            op.set_access(forms, [*conditions, *self.lane_zero_of_tail()])
            return [op]
        if not any(LANE in f.dims() for f in forms):
            raise InputError(
                f"tir-vectorize-loop: the lanes of {self.loop.axis.data!r} all store to the same element",
                op=op,
            )
        value = self.as_vector(op.value, extra)
        tail = [] if in_register(op) else self.tail
        return [*extra, StoreOp.make(value, op.buffer, forms, [*conditions, *tail])]

    def needs_tail(self, op: LoadOp, forms: list[Linear]) -> bool:
        """Whether lanes beyond the tail would read outside of the buffer. What they read is never stored."""
        if in_register(op) or not self.tail:
            return False
        shape = type_of(op.buffer).get_shape()
        for form, extent in zip(forms, shape, strict=True):
            bounds = form.range(self.ranges)
            if bounds is None or bounds[0] < 0 or bounds[1] >= extent:
                return True
        return False

    def lane_zero_of_tail(self) -> list[Condition]:
        zero: dict[Atom, Linear] = {LANE: Linear()}
        return [Condition(c.form.substitute(zero)) for c in self.tail]

    def index_arithmetic(self, op: IndexOp | ConditionOp) -> list[Operation]:
        if isinstance(op, IndexOp):
            (form,) = self.substituted(over_values(op.map.data.results, op.operands))
            depends = LANE in form.dims()
            new: Operation = IndexOp.of(form, self.lanes if depends else None)
        else:
            old = op.set.data.conditions
            forms = self.substituted(over_values([c.form for c in old], op.operands))
            conditions = [Condition(f, c.equal) for f, c in zip(forms, old, strict=True)]
            depends = any(LANE in f.dims() for f in forms)
            new = ConditionOp.of(conditions, self.lanes if depends else None)
        if depends:
            self.became(op, new)
        else:
            op.results[0].replace_all_uses_with(new.results[0])
            new.results[0].name_hint = op.results[0].name_hint
        return [new]

    def as_vector(self, value: SSAValue, extra: list[Operation]) -> SSAValue:
        """The value in every lane; constants become vector constants."""
        found = self.vectors.get(value) or self.broadcasts.get(value)
        if found is not None:
            return found
        type_ = self.vector_type(value.type)
        owner = value.owner
        constant = owner.value if isinstance(owner, arith.ConstantOp) else None
        if type(constant) is FloatAttr or type(constant) is IntegerAttr:
            dense = DenseIntOrFPElementsAttr.from_list(cast("VectorType[AnyFloat]", type_), [constant.value.data])
            new: Operation = arith.ConstantOp.create(properties={"value": dense}, result_types=[type_])
        else:
            new = BroadcastOp.create(operands=[value], result_types=[type_])
        extra.append(new)
        self.broadcasts[value] = new.results[0]
        return new.results[0]

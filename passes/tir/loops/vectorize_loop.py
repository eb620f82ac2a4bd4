"""Turn vectorized loops into vector code: the loop's variable becomes the lane.

What does not depend on the variable stays scalar and is broadcast where vectors need it. Tails and conditions that
differ by lane become masks: guards, so that lanes that are idle neither read beyond a buffer nor write, and divide
by one. A loop inside stays a loop; a buffer allocated inside gets one element for each lane. Where an index differs
by lane otherwise than by the variable (it was read from memory), the body has vectors already, or there is only one
iteration, the loop is unrolled instead. Lanes of a loop with the pragma `masked_lanes` are a power of two: those beyond
its extent are idle, for machines that have masks, and no instructions for seven lanes.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    VectorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.dtypes import scalar_type, vector_type
from lamina.dialects.fast_ir import all_ops, operands_of
from lamina.dialects.index.accesses import RangeCache, over_values
from lamina.dialects.index.analyzer import Facts
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.tir.checks import DIVISIONS, CheckOp, unless
from lamina.dialects.tir.limits import MAX_LANES
from lamina.dialects.tir.memory import extents_of, shape_with
from lamina.dialects.tir.ops import (
    MASKED_LANES,
    AccessOp,
    AllocOp,
    BlockOp,
    BroadcastOp,
    ConditionOp,
    ForOp,
    FuncOp,
    IfOp,
    IndexOp,
    LoadOp,
    SelectOp,
    StoreOp,
    buffer_type,
)
from lamina.dialects.tir.prefetch import PrefetchOp
from lamina.dialects.tir.vectors import CASTS, CastOp, CompareOp
from lamina.errors import InputError
from lamina.passes.base import Context, ModulePass, inherit_location
from lamina.passes.tir.loops.idle_lanes import conditions_around, dead_in_idle_lanes, tail_condition
from lamina.passes.tir.threads.phases import explicit_indices


@dataclass(frozen=True)
class VectorizeLoopPass(ModulePass):
    name = "tir-vectorize-loop"
    needed: ClassVar[bool] = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [f for f in all_ops(op) if type(f) is FuncOp]:
            explicit_indices(func)
            for loop in reversed(vectorized_loops(func)):
                if loop.trip > MAX_LANES and not loop.is_dynamic:
                    what = f"{loop.axis.data!r} has {loop.trip} iterations, a vector at most {MAX_LANES} lanes"
                    raise InputError(f"tir-vectorize-loop: {what}", hint="split the loop first", op=loop)
                if loop.trip == 0:
                    edit.erase(loop, safe=False)
            for loop in vectorized_loops(func):
                if MASKED_LANES in loop.attributes and not loop.is_dynamic:
                    with edit.transaction():
                        fill_lanes(loop)
            dead = dead_in_idle_lanes(func)
            for loop in vectorized_loops(func):
                if has_vectors(loop) or indexes_by_lane(loop) or (loop.trip == 1 and not loop.is_dynamic):
                    edit.change(loop)
                    loop.properties["kind"] = StringAttr("unrolled")
                else:
                    with edit.transaction(loop):
                        _Vectorizer(loop, dead).run()


def vectorized_loops(func: FuncOp) -> list[ForOp]:
    """The loops of kind `vectorized` in a function, in program order: outer ones before those inside them."""
    return [v for v in all_ops(func) if type(v) is ForOp and v.kind.data == "vectorized"]


def fill_lanes(loop: ForOp) -> None:
    """As many iterations as the next power of two, under the condition that there are no more than before."""
    trip = loop.trip
    lanes = 1 << (trip - 1).bit_length()
    if lanes == trip or trip < 2 or lanes > MAX_LANES:
        return
    holder = IfOp.make([Condition(constant(trip - 1) - Linear.dim(loop.var))])
    inherit_location(holder, loop)
    edit.move_into(holder.body.block, loop.body.block.ops)
    loop.body.block.add_op(holder)
    loop.properties["extent"] = ForOp.make(lanes, "").extent


def has_vectors(loop: ForOp) -> bool:
    """Whether the body has vectors, or loops that become vectors, already."""
    return any(
        (type(op) is ForOp and op is not loop and op.kind.data == "vectorized")
        or any(type(v.type) is VectorType for v in [*operands_of(op), *op.results])
        for op in all_ops(loop)
    )


def indexes_by_lane(loop: ForOp) -> bool:
    """Whether a value that differs by lane, such as an index read from memory, is itself part of an index."""
    differing: set[SSAValue] = {loop.var}
    for op in all_ops(loop)[1:]:
        if isinstance(op, AccessOp):
            indices = op.index_operands()
        elif isinstance(op, (IndexOp, ConditionOp, IfOp, ForOp, AllocOp)):
            indices = op.operands
        else:
            indices = ()
        if any(o in differing and o != loop.var for o in indices):
            return True
        if any(o in differing for o in operands_of(op)):
            differing.update(op.results)
    return False


_CAST_KINDS = {op_type: kind for kind, op_type in CASTS.items()}


class _Vectorizer:
    def __init__(self, loop: ForOp, dead: set[StoreOp]) -> None:
        if loop.is_dynamic:
            raise InputError(
                f"tir-vectorize-loop: the extent of {loop.axis.data!r} is known only at run time; split it first",
                op=loop,
            )
        self.loop = loop
        self.dead = dead
        """Stores whose idle lanes nobody looks at."""
        self.lanes = loop.trip
        self.vectors: dict[SSAValue, SSAValue] = {}
        """Scalar values of the loop body whose value differs by lane, with the vector that replaces them."""
        self.broadcasts: dict[SSAValue, SSAValue] = {}
        self.expanded: set[SSAValue] = set()
        """Buffers of the body, which have got one element for each lane."""
        self.mapping: dict[Atom, Linear] = {loop.var: Linear.dim(LANE)}
        self.ranges = RangeCache({LANE: (0, self.lanes - 1)})
        self.mask: list[Condition] = self.conditions([tail_condition(loop, b) for b in loop.min_bounds()])
        """The conditions that a lane fulfils unless it is idle."""
        self.facts: Facts | None = None
        """Bounds of sizes that the loops around say, once they are asked for."""

    def run(self) -> None:
        loop = self.loop
        active = self.known_activity()
        new = self.body(loop.body.block)
        if active:
            holder = IfOp.make(active)
            inherit_location(holder, loop)
            holder.body.block.add_ops(new)
            new = [holder]
        for op in new:
            edit.insert_before(loop, op)
        edit.erase(loop, safe=False)

    def known_activity(self) -> list[Condition]:
        """The conditions under which any lane is active, where unrolled loops decide them and registers are read.

        Without them an iteration that is idle as a whole would read registers that nothing has written.
        """
        reads = (op.buffer.owner for op in all_ops(self.loop) if type(op) is LoadOp)
        if not any(isinstance(owner, AllocOp) and owner.scope.data == "register" for owner in reads):
            return []
        active = self.some_lane() or []
        return active if all(_is_unrolled(d) for c in active for d in c.form.dims()) else []

    def body(self, block: Block) -> list[Operation]:
        """The ops that replace those of a block, which is empty afterwards."""
        result: list[Operation] = []
        for op in list(block.ops):
            new = self.rewrite(op)
            for n in new:
                inherit_location(n, op)
            if any(n is op for n in new):
                edit.take(op)
            result += new
        for op in reversed(list(block.ops)):
            edit.erase(op, safe=False)
        return result

    def vector_type(self, element: Attribute) -> VectorType:
        return vector_type(element, self.lanes)

    def substituted(self, forms: Sequence[Linear]) -> list[Linear]:
        return [f.substitute(self.mapping, self.ranges) for f in forms]

    def conditions(self, old: Sequence[Condition]) -> list[Condition]:
        forms = self.substituted([c.form for c in old])
        return [Condition(f, c.equal) for f, c in zip(forms, old, strict=True)]

    def depends(self, forms: Sequence[Linear], conditions: Sequence[Condition]) -> bool:
        return any(LANE in f.dims() for f in forms) or any(LANE in c.form.dims() for c in conditions)

    # -- lanes that are idle -------------------------------------------------------------------------------------

    def some_lane(self) -> list[Condition] | None:
        """The conditions under which any lane is active; None where no conditions without the lane say so.

        Where each condition allows fewer lanes the higher they are, the first lane tells.
        """
        if any(c.equal or c.form.terms.get(LANE, 0) > 0 or _divides_lane(c.form) for c in self.mask):
            return None
        zero: dict[Atom, Linear] = {LANE: Linear()}
        found = [Condition(c.form.substitute(zero)) for c in self.mask]
        return [c for c in found if not self.holds(c)]

    def holds(self, condition: Condition) -> bool:
        bounds = condition.form.range(self.ranges)
        return bounds is not None and bounds[0] >= 0

    def in_bounds(self, buffer: SSAValue, forms: Sequence[Linear]) -> bool:
        """Whether an access stays in its buffer in every lane."""
        for form, extent in zip(forms, extents_of(buffer), strict=True):
            last = Condition(extent - form - 1)
            if not self.holds(Condition(form)) or not (self.holds(last) or self.follows(last)):
                return False
        return True

    def follows(self, condition: Condition) -> bool:
        """Whether a condition on sizes follows from the bounds of the loops around: `%i * 9 + 8 < %s` where `%i` is
        below `%s floordiv 9`."""
        dims = condition.form.dims()
        if not any(isinstance(d, BlockArgument) and isinstance(d.owner.parent_op(), FuncOp) for d in dims):
            return False
        if self.facts is None:
            self.facts = Facts(self.ranges, conditions_around(self.loop, None))
        return self.facts.proves(condition)

    # -- ops -----------------------------------------------------------------------------------------------------

    def rewrite(self, op: Operation) -> list[Operation]:
        """The ops that replace one op of the body, itself among them where it is kept."""
        if isinstance(op, LoadOp):
            return self.load(op)
        if isinstance(op, StoreOp):
            return self.store(op)
        if isinstance(op, PrefetchOp):
            return self.prefetch(op)
        if isinstance(op, (IndexOp, ConditionOp)):
            return self.index_arithmetic(op)
        if isinstance(op, AllocOp):
            return self.alloc(op)
        if isinstance(op, IfOp):
            return self.condition(op)
        if isinstance(op, ForOp):
            return self.inner_loop(op)
        if isinstance(op, CheckOp):
            return self.check(op)
        if isinstance(op, BlockOp):
            raise InputError("tir-vectorize-loop: blocks have no lanes; run tir-lower-blocks", op=op)
        extra: list[Operation] = []
        divides = (
            bool(self.mask) and isinstance(op, DIVISIONS) and not isinstance(op.operands[1].owner, arith.ConstantOp)
        )
        active = self.some_lane() if divides else []
        if active is not None and not any(o in self.vectors for o in op.operands):
            if active:
                op.operands[1] = self.or_one(op.operands[1], active, None, extra)
            return [*extra, op]
        if isinstance(op, arith.SelectOp) and op.cond not in self.vectors:
            operands = [op.cond, *(self.as_vector(o, extra) for o in op.operands[1:])]
            op_type: type[Operation] = arith.SelectOp
        else:
            operands = [self.as_vector(o, extra) for o in op.operands]
            op_type = SelectOp if isinstance(op, arith.SelectOp) else type(op)
        if divides:
            operands[1] = self.or_one(operands[1], self.mask, self.lanes, extra)
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

    def or_one(
        self, divisor: SSAValue, active: Sequence[Condition], lanes: int | None, extra: list[Operation]
    ) -> SSAValue:
        """The divisor, or one where lanes are idle: what they loaded may be zero."""
        element = scalar_type(cast("VectorType[Attribute]", divisor.type).element_type if lanes else divisor.type)
        scalar = arith.ConstantOp(IntegerAttr(1, cast("IntegerType", element)))
        extra.append(scalar)
        one = scalar.result if lanes is None else self.as_vector(scalar.result, extra)
        asked = ConditionOp.of(active, lanes)
        op_type = arith.SelectOp if lanes is None else SelectOp
        chosen = op_type.create(operands=[asked.result, divisor, one], result_types=[divisor.type])
        extra += [asked, chosen]
        return chosen.results[0]

    def check(self, op: CheckOp) -> list[Operation]:
        """The lanes that are idle may fail."""
        active = self.some_lane()
        scalar = not any(o in self.vectors for o in op.operands) and active is not None
        extra: list[Operation] = []
        value, condition = op.operands if scalar else (self.as_vector(o, extra) for o in op.operands)
        asked = active if scalar else self.mask
        if asked:
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

    def load(self, op: LoadOp) -> list[Operation]:
        forms, conditions = self.place(op)
        if not self.depends(forms, conditions):
            # One element for all lanes; where none is left it must not be read, unless it is there for sure.
            safe = not self.mask or (self.in_bounds(op.buffer, forms) and not isinstance(op.buffer.owner, AllocOp))
            active = [] if safe else self.some_lane()
            if active is not None:
                op.set_access(forms, [*conditions, *active])
                return [op]
        # What an idle lane reads is never stored, so it is masked only where it would read outside of the buffer.
        mask = [] if self.in_bounds(op.buffer, forms) else self.mask
        new = LoadOp.make(op.buffer, forms, [*conditions, *mask], self.vector_type(op.result.type))
        self.became(op, new)
        return [new]

    def store(self, op: StoreOp) -> list[Operation]:
        forms, conditions = self.place(op)
        active = self.some_lane()
        if not self.depends(forms, conditions) and op.value not in self.vectors and active is not None:
            op.set_access(forms, [*conditions, *active])
            return [op]
        if not any(LANE in f.dims() for f in forms) and op.value in self.vectors:
            raise InputError(
                f"tir-vectorize-loop: the lanes of {self.loop.axis.data!r} all store to the same element",
                op=op,
            )
        extra: list[Operation] = []
        value = self.as_vector(op.value, extra)
        mask = [] if op in self.dead and self.in_bounds(op.buffer, forms) else self.mask
        return [*extra, StoreOp.make(value, op.buffer, forms, [*conditions, *mask])]

    def prefetch(self, op: PrefetchOp) -> list[Operation]:
        """The first lane's line holds those of the others, or is next to them."""
        forms, conditions = self.place(op)
        zero: dict[Atom, Linear] = {LANE: Linear()}
        op.set_access([f.substitute(zero) for f in forms], [Condition(c.form.substitute(zero)) for c in conditions])
        return [op]

    def place(self, op: AccessOp) -> tuple[list[Linear], list[Condition]]:
        """Indices and guard with the lane in the place of the variable."""
        forms = self.substituted(op.forms())
        if op.buffer_value() in self.expanded:
            forms.append(Linear.dim(LANE))
        return forms, self.conditions(op.conditions())

    def alloc(self, op: AllocOp) -> list[Operation]:
        """Each lane has elements of its own."""
        extents = [*op.extents(), Linear(const=self.lanes)]
        type_ = buffer_type(shape_with(extents), op.result.type.element_type)
        new = AllocOp.make(op.stage.data, type_, op.scope.data, extents)
        new.attributes |= op.attributes
        new.result.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(new.result)
        self.expanded.add(new.result)
        return [new]

    # -- what stands inside ----------------------------------------------------------------------------------------

    def condition(self, op: IfOp) -> list[Operation]:
        conditions = self.conditions(op.conditions())
        masked = [c for c in conditions if LANE in c.form.dims()]
        uniform = [c for c in conditions if LANE not in c.form.dims()]
        outer = self.mask
        self.mask = [*outer, *masked]
        if not uniform:
            new = self.body(op.body.block)
            self.mask = outer
            return new
        inside = self.scoped(op.body.block)
        self.mask = outer
        kept = IfOp.make(uniform)
        kept.attributes |= op.attributes
        kept.body.block.add_ops(inside)
        return [kept]

    def inner_loop(self, op: ForOp) -> list[Operation]:
        """A loop of all lanes together, as long as the longest; the shorter ones end in idle iterations."""
        bounds = self.substituted(op.min_bounds())
        outer = self.mask
        self.mask = [*outer, *(tail_condition(op, b) for b in bounds if LANE in b.dims())]
        kept: list[Linear] = []
        for bound in bounds:
            if not _divides_lane(bound):
                last = self.lanes - 1 if bound.terms.get(LANE, 0) > 0 else 0
                kept.append(bound.substitute({LANE: Linear(const=last)}))
        if op.is_dynamic and not kept:
            raise InputError(
                f"tir-vectorize-loop: no bound of {op.axis.data!r} holds for all lanes of {self.loop.axis.data!r}",
                op=op,
            )
        op.set_min_bounds(kept)
        new = self.scoped(op.body.block)
        op.body.block.add_ops(new)
        self.mask = outer
        return [op]

    def scoped(self, block: Block) -> list[Operation]:
        """The ops of a body; what is broadcast in it is not known behind it."""
        broadcasts = dict(self.broadcasts)
        new = self.body(block)
        self.broadcasts = broadcasts
        return new

    # -- values --------------------------------------------------------------------------------------------------

    def index_arithmetic(self, op: IndexOp | ConditionOp) -> list[Operation]:
        if isinstance(op, IndexOp):
            (form,) = self.substituted(over_values(op.map.data.results, op.operands))
            depends = LANE in form.dims()
            new: Operation = IndexOp.of(form, self.lanes if depends else None)
        else:
            forms = over_values([c.form for c in op.set.data.conditions], op.operands)
            conditions = self.conditions(
                [Condition(f, c.equal) for f, c in zip(forms, op.set.data.conditions, strict=True)]
            )
            depends = self.depends([], conditions)
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


def _is_unrolled(dim: Atom) -> bool:
    """Whether it is the variable of a loop that is unrolled."""
    loop = dim.owner.parent_op() if isinstance(dim, SSAValue) and isinstance(dim.owner, Block) else None
    return isinstance(loop, ForOp) and loop.kind.data == "unrolled"


def _divides_lane(form: Linear) -> bool:
    """Whether the lane stands in a division."""
    return any(isinstance(a, tuple) and LANE in Linear({a: 1}).dims() for a in form.terms)

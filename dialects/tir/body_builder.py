"""Writes tir.func bodies from Python: what implementations of tensor intrinsics are made with.

    b = BodyBuilder("update", {"a": buffer_type([4], f32), "c": buffer_type([16], f32)})
    with b.loop(4, "k", reduction=True) as k:
        x = b.broadcast(b.load(b["a"], [k]), 16)
        b.store(b.fma(x, x, b.load(b["c"], [LANES], 16)), b["c"], [LANES])
    func = b.func()

An index is a `Linear` or a number; `LANES` numbers the elements of a vector access.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.index_map import LANE, Condition
from lamina.dialects.index.linear import Linear, constant
from lamina.dialects.tir.intrinsics import BitcastOp, IntrinsicOp
from lamina.dialects.tir.memory import AllocOp, LoadOp, StoreOp, buffer_type, type_of
from lamina.dialects.tir.ops import BroadcastOp, ForOp, FuncOp, LoopKind
from lamina.dialects.value_names import value_name

LANES = Linear.dim(LANE)

IndexLike = Linear | int


def _form(index: IndexLike) -> Linear:
    return constant(index) if isinstance(index, int) else index


class BodyBuilder:
    """A function under construction; ops go to the innermost open loop. The last `outputs` buffers are written."""

    def __init__(self, name: str, buffers: Mapping[str, MemRefType], outputs: int = 1) -> None:
        self._func = FuncOp.make(name, list(buffers.values()), outputs)
        self._block: Block = self._func.body.block
        self._buffers: dict[str, SSAValue] = dict(zip(buffers, self._block.args, strict=True))
        for given, value in self._buffers.items():
            value.name_hint = given

    def __getitem__(self, buffer: str) -> SSAValue:
        return self._buffers[buffer]

    def func(self) -> FuncOp:
        """The function that has been written."""
        return self._func

    def add(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Append an op of one result."""
        self._block.add_op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    @contextmanager
    def loop(
        self, extent: int, name: str, kind: LoopKind = "serial", reduction: bool = False
    ) -> Generator[Linear, None, None]:
        """A loop around what is written within; gives its variable."""
        loop = ForOp.make(extent, name, kind=kind, reduction=reduction, hint=value_name(name))
        self._block.add_op(loop)
        outside, self._block = self._block, loop.body.block
        try:
            yield Linear.dim(loop.var)
        finally:
            self._block = outside

    # -- buffers ---------------------------------------------------------------------------------------------------

    def alloc(self, name: str, shape: Sequence[int], element: Attribute, scope: str = "register") -> SSAValue:
        """A buffer of the implementation's own."""
        return self.add(AllocOp.make(name, buffer_type(shape, element), scope), name)

    def load(
        self,
        buffer: SSAValue,
        index: Sequence[IndexLike],
        lanes: int | None = None,
        where: Sequence[Condition] = (),
        hint: str | None = None,
    ) -> SSAValue:
        """An element, or a vector of them with LANES in the index."""
        element = scalar_type(type_of(buffer).element_type)
        type_ = element if lanes is None else VectorType(element, [lanes])
        return self.add(LoadOp.make(buffer, [_form(i) for i in index], where, type_), hint)

    def store(
        self, value: SSAValue, buffer: SSAValue, index: Sequence[IndexLike], where: Sequence[Condition] = ()
    ) -> None:
        self._block.add_op(StoreOp.make(value, buffer, [_form(i) for i in index], where))

    # -- values ----------------------------------------------------------------------------------------------------

    def constant(self, value: int | float, type_: Attribute) -> SSAValue:
        """A number, or the same in every lane."""
        attr: Attribute
        if type(type_) is VectorType:
            attr = DenseIntOrFPElementsAttr.from_list(cast("VectorType[AnyFloat]", type_), [value])
        elif isinstance(type_, AnyFloat):
            attr = FloatAttr(float(value), type_)
        else:
            attr = IntegerAttr(int(value), cast("IntegerType", type_))
        return self.add(arith.ConstantOp.create(properties={"value": attr}, result_types=[type_]))

    def broadcast(self, value: SSAValue, lanes: int) -> SSAValue:
        """A scalar in every lane."""
        return self.add(BroadcastOp.create(operands=[value], result_types=[VectorType(value.type, [lanes])]))

    def bitcast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The same bits as another type."""
        return self.add(BitcastOp.make(value, type_))

    def compute(self, op: type[Operation], *operands: SSAValue) -> SSAValue:
        """An arith op whose result has the type of its operands."""
        return self.add(op.create(operands=list(operands), result_types=[operands[0].type]))

    def addf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.add(arith.AddfOp(a, b))

    def mulf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.add(arith.MulfOp(a, b))

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """a * b + c, rounded once."""
        properties: dict[str, Attribute] = {"fastmath": arith.FastMathFlagsAttr("none")}
        return self.add(math.FmaOp.create(operands=[a, b, c], result_types=[c.type], properties=properties))

    def intrinsic(self, name: str, *operands: SSAValue) -> SSAValue:
        """A machine instruction of the table (`intrinsics.py`)."""
        return self.add(IntrinsicOp.make(name, *operands))
